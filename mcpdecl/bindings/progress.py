"""Progress from what a program prints: a pattern over its lines, or simply its lines.

Knows: how lines become progress. Does not know: who is told, or how often.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from mcpdecl.bindings.running import Watcher
from mcpdecl.bindings.site import Site
from mcpdecl.catalogue import Call

LONGEST = 4_096
GROUPS = frozenset({"progress", "total", "message"})


@dataclass(frozen=True, slots=True)
class Watch:
    """``pattern`` has groups progress, total and message; None counts lines and tells each."""

    pattern: re.Pattern[str] | None

    def of(self, call: Call) -> Callable[[], Watcher]:
        """Makes what is fed one pipe of a call. Each puts its own lines together; all are counted together."""
        count = 0

        def watcher() -> Watcher:
            rest = b""

            def feed(data: bytes) -> None:
                nonlocal rest, count
                *lines, rest = re.split(rb"[\r\n]+", rest + data)
                rest = rest[-LONGEST:]
                for line in lines:
                    text = line[-LONGEST:].decode("utf-8", "replace")
                    if text.strip():
                        count += 1
                        self._tell(call, text, count)

            return feed

        return watcher

    def _tell(self, call: Call, line: str, count: int) -> None:
        if self.pattern is None:
            call.progress(count, message=line)
            return
        found = self.pattern.search(line)
        if found is None:
            return
        groups = found.groupdict()
        progress, total = _number(groups.get("progress")), _number(groups.get("total"))
        call.progress(count if progress is None else progress, total, groups.get("message"))


def compile_watch(written: str, site: Site) -> Watch | None:
    """Compile ``progress``; None if a fault was reported."""
    if written == "lines":
        return Watch(None)
    try:
        # ECMA-262 writes (?<name>…), Python (?P<name>…); an escaped parenthesis opens no group.
        pattern = re.compile(re.sub(r"(\\.)|\(\?<(?![=!])", lambda found: found[1] or "(?P<", written, flags=re.DOTALL))
    except re.error as error:
        site.report("bad-pattern", f"This is no regular expression: {error}.", "progress")
        return None
    if not set(pattern.groupindex) & GROUPS or set(pattern.groupindex) - GROUPS:
        hint = r"Write, for instance, '\[ *(?<progress>\d+)%\]', or the word lines."
        site.report("bad-pattern", "Groups are progress, total and message; one at least.", "progress", hint=hint)
        return None
    return Watch(pattern)


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
