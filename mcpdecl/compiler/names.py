"""Which names the templates of one item may read, and what is wrong with those they do read.

Knows: arguments, vars, questions, the reserved words, and what uses what. Does not know: how a template is compiled,
or which file it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from mcpdecl.catalogue import Var
from mcpdecl.compiler.written import Path, Report
from mcpdecl.templates import Reads

READABLE = frozenset({"arguments", "answers", "principal", "client", "env", "omit"})
RESERVED = READABLE | {"secrets", "result", "tmp"}


@dataclass(frozen=True, slots=True)
class Names:
    """What an item declares. ``questions`` maps a key to the fields of its form, None where it has none.

    ``closed`` says that a call holds declared arguments only.
    """

    fields: Mapping[str, Any]
    arguments: frozenset[str]
    vars: frozenset[str]
    questions: Mapping[str, frozenset[str] | None]
    closed: bool

    @property
    def known(self) -> frozenset[str]:
        """All names that a template may read."""
        return self.arguments | self.vars | READABLE

    def check(self, reads: Reads, path: Path, report: Report, *, within: frozenset[str] = frozenset()) -> None:
        """Report reads of the part at ``path`` that mean nothing. ``within`` are words known in this part alone."""
        for read in sorted(reads):
            head, rest = read[0], read[1:]
            if head in self.arguments and head in (RESERVED - {"result"}) | within:
                message = f"{head!r} is an argument and a reserved word here."
                report("ambiguous-name", message, *self.locate(path, rf"\b{head}\b"), hint=f"Write arguments.{head}.")
            elif head == "answers" and rest:
                self._answer(rest, path, report)
            elif head == "arguments" and rest and self.closed and rest[0] not in self.arguments:
                self._argument(rest[0], path, report)

    def _answer(self, rest: tuple[str, ...], path: Path, report: Report) -> None:
        key = rest[0]
        if key not in self.questions:
            place = self.locate(path, rf"\banswers\b.{{1,3}}{re.escape(key)}\b")
            report("unknown-answer", f"There is no question {key!r} in ask.", *place, hint=nearest(key, self.questions))
            return
        known = self.questions[key]
        if len(rest) > 1 and known is not None and rest[1] not in known:
            place = self.locate(path, rf"\banswers\b.{{1,3}}{re.escape(key)}\b.{{1,3}}{re.escape(rest[1])}\b")
            message = f"The question {key!r} has no field {rest[1]!r}."
            report("unknown-answer", message, *place, hint=nearest(rest[1], known))

    def _argument(self, name: str, path: Path, report: Report) -> None:
        place = self.locate(path, rf"\barguments\b.{{1,3}}{re.escape(name)}\b")
        report("undefined-name", f"There is no argument {name!r}.", *place, hint=nearest(name, self.arguments))

    def locate(self, path: Path, pattern: str) -> Path:
        """The first text at or below ``path`` in which the pattern is found; else ``path`` itself."""
        search = re.compile(pattern).search
        part: Any = self.fields
        for step in path:
            part = part[step] if _holds(part, step) else None
        return next((place for place, text in texts(part, path) if search(text)), path)


def _holds(part: Any, step: str | int) -> bool:
    return step in part if isinstance(part, dict) else isinstance(step, int) and step < len(part)


def texts(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text of some data with its path; keys are not among them."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from texts(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from texts(value, (*path, index))


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint that names the known word that was most likely meant, or all of them; empty where there is none."""
    names = sorted(known)
    close = get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known here: {', '.join(names[:30])}." if names else ""


def heads(reads: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """The first word of each read."""
    return frozenset(read[0] for read in reads if read)


def reached(reads: Iterable[tuple[str, ...]], vars: Mapping[str, Var]) -> frozenset[tuple[str, ...]]:
    """What is read in the end: also what the vars that are read read themselves."""
    found: set[tuple[str, ...]] = set()
    ahead = list(reads)
    while ahead:
        read = ahead.pop()
        if read in found:
            continue
        found.add(read)
        if read and read[0] in vars:
            ahead += vars[read[0]].binding.reads
    return frozenset(found)


def circle(edges: Mapping[str, frozenset[str]]) -> list[str]:
    """The names of one circle among edges, in order, or nothing."""
    left = dict(edges)
    while free := [name for name, others in left.items() if not any(other in left for other in others)]:
        for name in free:
            del left[name]
    way: list[str] = []
    name = min(left, default="")
    while name and name not in way:
        way.append(name)
        name = min(other for other in left[name] if other in left)
    return way[way.index(name) :] if way else []
