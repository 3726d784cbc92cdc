"""What an author wrote, as plain data with a place for everything.

Knows: the shape of a parsed manifest. Does not know: how it was read, or what its declarations compile to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

from mcpdecl.diagnostics import Span
from mcpdecl.manifest import source

Kind: TypeAlias = Literal["tool", "prompt", "resource", "form"]
Step: TypeAlias = str | int


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a declaration and everything in it stands. Paths are those of ``fields``: keys and indexes."""

    file: str
    name: source.Scalar
    node: source.Node

    def span(self, *path: Step) -> Span:
        """The value at a path. Where there is none: the key of the nearest mapping or list that holds it."""
        found = self._find(path)
        return found[1].span if found is not None else self._nearest(path)

    def key(self, *path: Step) -> Span:
        """The key at a path (for a list's item: the item; for the empty path: the declaration's own name)."""
        found = self._find(path)
        return found[0].span if found is not None else self._nearest(path)

    def _nearest(self, path: tuple[Step, ...]) -> Span:
        while self._find(path) is None:
            path = path[:-1]
        return self.key(*path)

    def _find(self, path: tuple[Step, ...]) -> tuple[source.Node, source.Node] | None:
        key: source.Node = self.name
        node = self.node
        for step in path:
            if isinstance(node, source.Mapping) and step in node.entries:
                key, node = node.entries[str(step)]
            elif isinstance(node, source.Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
                key = node = node.items[step]
            else:
                return None
        return key, node


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """``server`` or ``defaults``."""

    fields: Mapping[str, Any]
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """One tool, prompt, resource or form. ``digest`` changes when anything in ``fields`` does, their order included."""

    kind: Kind
    name: str
    fields: Mapping[str, Any]
    place: Place
    digest: str

    @classmethod
    def of(cls, kind: Kind, name: str, fields: Mapping[str, Any], place: Place) -> Declaration:
        """Make one with its digest."""
        return cls(kind, name, fields, place, digest((kind, name, fields)))


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """All that one file declares."""

    file: str
    server: Section | None
    defaults: Section | None
    declarations: tuple[Declaration, ...]


def digest(data: Any) -> str:
    """SHA-256 over the canonical JSON of plain data, as 64 hexadecimal digits."""
    return hashlib.sha256(msgspec.json.encode(data)).hexdigest()
