"""A manifest's bytes to declarations, or everything that is wrong with them at once.

Knows: the top level of a manifest, and how several documents become one. Does not know: what is below, which
format.schema.json describes, nor what other files declare.
"""

from __future__ import annotations

from typing import Any

from mcpdecl.diagnostics import Diagnostic, Span, errors
from mcpdecl.manifest.declarations import Declaration, Kind, Manifest, Place, Section
from mcpdecl.manifest.faults import Faults
from mcpdecl.manifest.format import rules
from mcpdecl.manifest.reading import FAULTY, read
from mcpdecl.manifest.source import Mapping, Node, Scalar, compose, decode

_KINDS: dict[str, Kind] = {"tools": "tool", "prompts": "prompt", "resources": "resource", "forms": "form"}
FORMAT = 1


def parse(data: bytes, file: str) -> tuple[Manifest | None, tuple[Diagnostic, ...]]:
    """Read one manifest. None if anything is an error; warnings come beside a manifest.

    ``file`` is the path to name in messages; one that ends in ``.json`` may write characters as surrogate pairs.
    """
    text, unreadable = decode(data, file)
    if unreadable:
        return None, tuple(unreadable)
    documents, misspelt = compose(text, file)
    reading = _Reading(file)
    for document in documents:
        reading.document(document)
    rows = text.splitlines() or [""]
    found = tuple(_within(d, rows) for d in misspelt + reading.faults.found)
    return (reading.manifest() if not errors(found) else None), found


class _Reading:
    """What the documents of one file declare."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults = Faults()
        self.sections: dict[str, Section] = {}
        self.declarations: list[Declaration] = []

    def manifest(self) -> Manifest:
        return Manifest(self.file, self.sections.get("server"), self.sections.get("defaults"), tuple(self.declarations))

    def document(self, node: Node) -> None:
        if isinstance(node, Mapping) and self.newer(node):
            return
        fields = read(node, rules()[""], self.faults, (), node)
        if fields is FAULTY or not isinstance(node, Mapping):
            return
        for key, value in fields.items():
            if key in _KINDS:
                self.declare(_KINDS[key], value, node.get(key))
            elif key in ("server", "defaults"):
                self.section(key, value, node)

    def newer(self, node: Mapping) -> bool:
        """Whether the manifest is written for a later format; nothing else in it is judged then."""
        number = node.get("mcpdecl")
        if not isinstance(number, Scalar) or not number.text.isdecimal() or len(number.text) > 9:
            return False
        if int(number.text) <= FORMAT:
            return False
        message = f"This manifest is of format {number.text} and needs a newer mcpdecl; this one knows format {FORMAT}."
        self.faults.report("newer-format", message, number.span, "Update mcpdecl.")
        return True

    def section(self, key: str, fields: Any, node: Mapping) -> None:
        place = Place(self.file, *node.entries[key])
        if (first := self.sections.get(key)) is not None:
            message = f"{key!r} is here twice; the documents of one file share it."
            related = ("first written here", first.place.key())
            self.faults.report("duplicate-key", message, place.key(), "Keep one of them.", related)
            return
        self.sections[key] = Section(fields, place)

    def declare(self, kind: Kind, items: dict[str, Any], node: Node | None) -> None:
        assert isinstance(node, Mapping)  # noqa: S101 - the format says so, and it was read by the format
        for name, fields in items.items():
            key, value = node.entries[name]
            if kind == "tool":
                self.judge_name(key)
            self.declarations.append(Declaration.of(kind, name, fields, Place(self.file, key, value)))

    def judge_name(self, key: Scalar) -> None:
        """Warn of names that the protocol allows and several clients do not."""
        if "." in key.text or len(key.text) > 64:
            message = f"The tool name {key.text[:80]!r} is rejected by several clients."
            self.faults.report("risky-name", message, key.span, "Use at most 64 of A-Z a-z 0-9 _ -.")


def _within(diagnostic: Diagnostic, rows: list[str]) -> Diagnostic:
    """The same with every span inside the text: libyaml counts a line after the last one."""
    span = _clamped(diagnostic.span, rows) if diagnostic.span is not None else None
    related = tuple((caption, _clamped(place, rows)) for caption, place in diagnostic.related)
    return Diagnostic(diagnostic.code, diagnostic.message, span, diagnostic.hint, related)


def _clamped(span: Span, rows: list[str]) -> Span:
    line, column = _inside(span.line, span.column, rows)
    end_line, end_column = _inside(span.end_line, span.end_column, rows)
    return Span(span.file, line, column, *max((line, column), (end_line, end_column)))


def _inside(line: int, column: int, rows: list[str]) -> tuple[int, int]:
    if line >= len(rows):
        return len(rows) - 1, len(rows[-1])
    return line, min(column, len(rows[line]))
