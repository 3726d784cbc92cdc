"""What a program tells while it runs: by what it prints, or by lines of JSON on a descriptor of its own.

Knows: how lines become progress, log messages and changes, and how long a pattern may look at them. Does not know:
pipes, who is told, or how often.
"""

from __future__ import annotations

import math
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import msgspec

from mcpdecl.bindings.running import REPORTS, Watcher, Watchers
from mcpdecl.bindings.site import Site
from mcpdecl.catalogue import Call

GROUPS = frozenset({"progress", "total", "message"})
LONGEST_LINE = 4_096  # bytes at the end of a printed line
LONGEST_REPORT = 65_536
SEEN = 512  # characters at the end of a line that a pattern looks at
# What a program prints may come from anywhere, and a pattern such as (a+)+$ looks at 40 characters of it for hours.
LOOKING = 0.02  # seconds of processor time that a pattern gets for what comes at once
RESTING = 1.0  # seconds that it looks at nothing if that was not enough for the newest lines
NEWEST = 100  # lines that it always looks at; at older ones only until one tells something
OURS = "mcpdecl"  # the logger of what is told about a program, not by it


class Watch(Protocol):
    """What ``progress`` says: how to hear a program."""

    def of(self, call: Call) -> Watchers:
        """Those who hear one run of it for a call."""


class Told(NamedTuple):
    """How far a program says it is."""

    progress: float
    total: float | None
    message: str | None


@dataclass(frozen=True, slots=True)
class Lines:
    """Each line that is printed is a message, and the lines are counted."""

    def of(self, call: Call) -> Watchers:
        """Each pipe puts its own lines together; all are counted together."""
        count = 0

        def take(lines: list[bytes]) -> None:
            nonlocal count
            count += len(lines)
            call.progress(count, message=_text(lines[-1]))

        return Watchers(_lined(take, LONGEST_LINE), _lined(take, LONGEST_LINE))


@dataclass(frozen=True, slots=True)
class Pattern:
    """Lines that are printed tell progress by the groups of a pattern; without a group progress, by their number."""

    pattern: re.Pattern[str]

    def of(self, call: Call) -> Watchers:
        """Each pipe puts its own lines together; all are counted together."""
        count, rested, warned = 0, 0.0, False

        def take(lines: list[bytes]) -> None:
            nonlocal count, rested, warned
            first, count = count + 1, count + len(lines)
            if time.monotonic() < rested:
                return
            looked: list[Told | None] = []
            try:
                with _at_most(LOOKING):
                    # the newest first: where time runs out, what is left is old
                    looked.extend(self._found(lines, first))
            except OutOfTime:
                slow = len(looked) < NEWEST  # the pattern is, or else there were only many lines
                if slow:
                    rested = time.monotonic() + RESTING
                if slow and not warned:
                    warned = True
                    call.log("warning", "the pattern of progress takes too long, so some lines are left out", OURS)
            told = [one for one in looked if one is not None]
            if told:
                call.progress(*_furthest(told))

        return Watchers(_lined(take, LONGEST_LINE), _lined(take, LONGEST_LINE))

    def _found(self, lines: list[bytes], first: int) -> Iterator[Told | None]:
        """What each line tells, the newest first."""
        anything = False
        for number in reversed(range(len(lines))):
            if anything and number < len(lines) - NEWEST:
                return
            found = self.pattern.search(_text(lines[number])[-SEEN:])
            anything = anything or found is not None
            yield self._told(found, first + number) if found is not None else None

    def _told(self, found: re.Match[str], number: int) -> Told:
        groups = found.groupdict()
        progress = _number(groups.get("progress"))
        return Told(number if progress is None else progress, _number(groups.get("total")), groups.get("message"))


class Report(msgspec.Struct, forbid_unknown_fields=True):
    """One line on the descriptor: one thing told, or several."""

    progress: float | None = None
    total: float | None = None
    message: str | None = None
    log: str | None = None
    data: Any = msgspec.UNSET
    logger: str | None = None
    updated: str | None = None


@dataclass(frozen=True, slots=True)
class Reports:
    """Lines of JSON on a descriptor that is there for nothing else."""

    def of(self, call: Call) -> Watchers:
        """Of lines that tell nothing the first one is told of in a warning, and all are dropped."""
        count, warned = 0, False
        decode = msgspec.json.Decoder(Report).decode

        def take(lines: list[bytes]) -> None:
            nonlocal count, warned
            told: list[Told] = []
            updated: dict[str, None] = {}
            for line in lines:
                count += 1
                try:
                    report = decode(line)
                    _heard(report, call, told, updated)
                except (ValueError, RecursionError) as error:
                    if not warned:
                        warned = True
                        why = "too long" if len(line) >= LONGEST_REPORT else str(error)
                        call.log("warning", f"report {count} on {REPORTS} was dropped, others may follow: {why}", OURS)
            if told:
                call.progress(*_furthest(told))
            for uri in updated:
                call.updated(uri)

        return Watchers(reports=_lined(take, LONGEST_REPORT))


def _heard(report: Report, call: Call, told: list[Told], updated: dict[str, None]) -> None:
    """Pass on what a report logs, and keep what else it tells. Raises ValueError if that is nothing."""
    if report.log is not None:
        if report.data is msgspec.UNSET:
            raise ValueError("log needs data")
        call.log(report.log, report.data, report.logger)
    if report.progress is not None:
        told.append(Told(report.progress, report.total, report.message))
    if report.updated:
        updated[report.updated] = None
    if report.log is None and report.progress is None and not report.updated:
        raise ValueError("none of progress, log and updated")


def compile_watch(written: str, site: Site) -> Watch | None:
    """Compile ``progress``; None if a fault was reported."""
    if written == "lines":
        return Lines()
    if written == "fd":
        return Reports()
    try:
        # ECMA-262 writes (?<name>…), Python (?P<name>…); an escaped parenthesis opens no group.
        pattern = re.compile(re.sub(r"(\\.)|\(\?<(?![=!])", lambda found: found[1] or "(?P<", written, flags=re.DOTALL))
    except (re.error, OverflowError, RecursionError) as error:
        site.report("bad-pattern", f"This is no regular expression: {error}.", "progress")
        return None
    if not set(pattern.groupindex) & GROUPS or set(pattern.groupindex) - GROUPS:
        hint = r"Write, for instance, '\[ *(?<progress>\d+)%\]', or one of the words lines and fd."
        site.report("bad-pattern", "Groups are progress, total and message; one at least.", "progress", hint=hint)
        return None
    return Pattern(pattern)


def _lined(take: Callable[[list[bytes]], None], longest: int) -> Watcher:
    """Puts lines together from chunks. ``take`` gets those that a chunk ends, without blank ones, if there are any.

    Of a line that is longer than ``longest`` bytes the end is kept.
    """
    rest = b""

    def feed(data: bytes) -> None:
        nonlocal rest
        *lines, rest = re.split(rb"[\r\n]+", rest + data)
        rest = rest[-longest:]
        whole = [line[-longest:] for line in lines if line and not line.isspace()]
        if whole:
            take(whole)

    return feed


def _furthest(told: list[Told]) -> Told:
    """Of what comes at once, only what goes furthest: progress that does not rise is not sent, and that which is
    overtaken before anybody could look at it need not be."""
    return max(told, key=lambda one: one.progress)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class OutOfTime(Exception):
    """The body of ``_at_most`` took too long."""


_looking = False  # whether the alarm still has something to end


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the body after so much processor time.

    ``re`` has no bound of its own, but looks for signals while it works. Only the main thread, where the loop runs,
    gets them; anywhere else there is no bound. The handler stays: without one a late signal would end the process, and
    with one that raises it would end whatever runs by then.
    """
    global _looking
    try:
        signal.signal(signal.SIGVTALRM, _ring)
    except ValueError:
        yield
        return
    _looking = True
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)  # again: the first may be lost in a finalizer
    try:
        yield
    finally:
        _looking = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _ring(number: int, frame: object) -> None:
    if _looking:
        raise OutOfTime
