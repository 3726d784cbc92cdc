"""Schemas that stand in files of their own.

Knows: how such a file is found and read, JSON or YAML. Does not know: what the schema is for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpdecl.compiler.folder import Files
from mcpdecl.compiler.schemas import Text, from_short
from mcpdecl.compiler.written import Finding
from mcpdecl.diagnostics import Diagnostic, errors
from mcpdecl.manifest import plain
from mcpdecl.manifest.declarations import Place
from mcpdecl.manifest.faults import Faults
from mcpdecl.manifest.format import rules
from mcpdecl.manifest.reading import read
from mcpdecl.manifest.source import Mapping, Node, Scalar, compose, decode
from mcpdecl.schema import SchemaFault

Tell = Callable[[str, str, str], None]  # code, message, hint: about the name of the file


@dataclass(frozen=True, slots=True)
class SchemaFiles:
    """Reads schema files below a root. ``depend`` hears of every file that is named."""

    files: Files
    depend: Callable[[Path], None]

    def text(self, name: str, *, short: bool, closed: bool, tell: Tell, add: Callable[[Finding], None]) -> Text | None:
        """The schema in a file. Where ``short``, a file that is no whole JSON Schema is the short form."""
        node = self._node(name, tell, add)
        if node is None:
            return None
        whole = not short or "$schema" in node.entries or _is_object(node)
        file = node.file
        place = Place(file, Scalar("", "", node.start, node.end, file), node)
        faults = Faults()
        data = plain.schema(node, faults, ()) if whole else read(node, rules()["short"], faults, (file,), node)
        _pass_on(faults.found, add)
        if errors(faults.found):
            return None
        return Text(data, lambda pointer: place.span(*pointer)) if whole else _short(data, place, closed, add)

    def _node(self, name: str, tell: Tell, add: Callable[[Finding], None]) -> Mapping | None:
        path = self.files.inside(name)
        if path is None:
            tell("outside-root", f"{name!r} leads out of the root.", "Move the file into the folder of the server.")
            return None
        self.depend(path)
        data = self.files.read(path)
        if data is None:
            tell("missing-file", f"There is no file {name!r}.", "Paths are relative to the root.")
            return None
        node = self._read(data, self.files.name(path), add)
        if node is not None and not isinstance(node, Mapping):
            tell("bad-schema-file", f"{name!r} holds no JSON Schema: it must be a mapping.", "")
        return node if isinstance(node, Mapping) else None

    def _read(self, data: bytes, file: str, add: Callable[[Finding], None]) -> Node | None:
        text, found = decode(data, file)
        documents: list[Node] = []
        if not found:
            documents, found = compose(text, file)
        _pass_on(found, add)
        if errors(found):
            return None
        if len(documents) != 1:
            add(Finding("bad-schema-file", f"{file!r} must hold one document.", hint="Put each schema in its file."))
            return None
        return documents[0]


def _short(data: Any, place: Place, closed: bool, add: Callable[[Finding], None]) -> Text | None:
    try:
        text = from_short(data, (), closed=closed)
    except SchemaFault as fault:
        add(Finding(fault.code, fault.message, hint=fault.hint, place=place.span(*fault.pointer)))
        return None
    locate = text.locate
    return Text(text.data, lambda pointer: place.span(*_steps(locate(pointer))))


def _steps(found: Any) -> tuple[str | int, ...]:
    return found if isinstance(found, tuple) else ()


def _is_object(node: Mapping) -> bool:
    kind = node.get("type")
    return isinstance(kind, Scalar) and kind.text == "object"


def _pass_on(found: list[Diagnostic], add: Callable[[Finding], None]) -> None:
    for diagnostic in found:
        add(Finding(diagnostic.code, diagnostic.message, hint=diagnostic.hint, place=diagnostic.span))
