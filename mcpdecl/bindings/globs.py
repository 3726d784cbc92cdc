"""Patterns of paths, such as ``guides/**/*.md``, matched in time linear in the length of a path.

Knows: what a pattern means and which are refused. Does not know: disks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias

ANY_DEPTH = "**"
State: TypeAlias = frozenset[tuple[int, int]]  # (pattern, how many of its parts are matched)


class GlobFault(Exception):
    """A pattern that cannot be used. ``message`` says why, ``hint`` what to write instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def parts_of(pattern: str) -> tuple[str, ...]:
    """The parts of a pattern. Raises GlobFault."""
    parts = tuple(pattern.split("/"))
    if "\\" in pattern or "\0" in pattern:
        raise GlobFault(f"{pattern!r} holds a character that no pattern has.", "Write / between folders.")
    if pattern.startswith("!"):
        raise GlobFault(f"{pattern!r} says what is left out.", f"Write exclude: [{pattern[1:]!r}].")
    if "{" in pattern or "}" in pattern:
        raise GlobFault(f"{pattern!r} has braces, which mean nothing here.", "Write one pattern for each choice.")
    if pattern.startswith("/") and pattern.strip("/"):
        raise GlobFault(f"{pattern!r} begins with a /.", f"Paths start in the folder: {pattern.lstrip('/')!r}.")
    if pattern.endswith("/") and pattern.strip("/"):
        raise GlobFault(f"{pattern!r} ends with a /.", f"Write {pattern.rstrip('/') + '/**'!r} for all that is in it.")
    if set(parts) & {"", ".", ".."}:
        raise GlobFault(f"{pattern!r} has an empty part, or one of dots alone.", "Paths start in the folder.")
    if any(ANY_DEPTH in part and part != ANY_DEPTH for part in parts):
        raise GlobFault(f"In {pattern!r} ** is not a part of its own.", "Write **/*.md, for instance.")
    return parts


@dataclass(frozen=True, slots=True)
class Globs:
    """Patterns, of which any one may match.

    A path is followed name by name: ``start``, then ``step`` for each name; ``ends`` says whether a pattern matches
    all names so far, an empty state that none matches anything below them either.
    """

    patterns: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Globs:
        """Read patterns. Raises GlobFault."""
        return cls(tuple(parts_of(pattern) for pattern in patterns))

    @property
    def start(self) -> State:
        """Nothing is matched yet."""
        return self._with_depth((which, 0) for which in range(len(self.patterns)))

    def step(self, state: State, name: str) -> State:
        """Go on to the next name."""
        after: list[tuple[int, int]] = []
        for which, at in state:
            part = self.patterns[which][at] if at < len(self.patterns[which]) else None
            if part == ANY_DEPTH:
                after.append((which, at))
            elif part is not None and fnmatchcase(name, part):
                after.append((which, at + 1))
        return self._with_depth(after)

    def ends(self, state: State) -> bool:
        """Whether a pattern matches what was followed."""
        return any(at == len(self.patterns[which]) for which, at in state)

    def match(self, names: Sequence[str]) -> bool:
        """Whether a pattern matches a path."""
        state = self.start
        for name in names:
            state = self.step(state, name)
        return self.ends(state)

    def _with_depth(self, state: Iterable[tuple[int, int]]) -> State:
        """``**`` may also stand for no folder at all."""
        found: set[tuple[int, int]] = set()
        for which, at in state:
            found.add((which, at))
            while at < len(self.patterns[which]) and self.patterns[which][at] == ANY_DEPTH:
                at += 1
                found.add((which, at))
        return frozenset(found)
