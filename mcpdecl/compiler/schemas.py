"""The schemas of an item: short form, full form or a file, compiled, with every fault at the place that wrote it.

Knows: the three ways to write a schema and mcpdecl's own words in a property. Does not know: how a schema judges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mcpdecl.catalogue import Confined
from mcpdecl.compiler.written import Finding
from mcpdecl.compiler.written import Path as Steps
from mcpdecl.diagnostics import Span
from mcpdecl.schema import Schema, SchemaFault, compile_schema, properties_from_short, read_faults, served

EMPTY_INPUT: Mapping[str, Any] = {"type": "object", "additionalProperties": False}
PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)

# path in the schema -> where that was written: a path in the item, or a place in another file
Locate = Callable[[Steps], Steps | Span]


@dataclass(frozen=True)
class Text:
    """A schema as it was written, before it is judged."""

    data: Any
    locate: Locate

    def finding(self, fault: SchemaFault) -> Finding:
        """A fault of the schema as a finding."""
        where = self.locate(tuple(fault.pointer))
        if isinstance(where, Span):
            return Finding(fault.code, fault.message, hint=fault.hint, place=where)
        return Finding(fault.code, fault.message, where, fault.hint)

    def tell(self, code: str, message: str, pointer: Steps, hint: str = "") -> Finding:
        """A fault that was found here."""
        return self.finding(SchemaFault(code, pointer, message, hint))

    @cached_property
    def served(self) -> Any:
        """What clients see."""
        return served(self.data)

    @property
    def properties(self) -> dict[str, Any]:
        """The declared top-level properties and their schemas."""
        found = self.data.get("properties") if isinstance(self.data, dict) else None
        return {name: _dict(schema) for name, schema in found.items()} if isinstance(found, dict) else {}

    @property
    def required(self) -> frozenset[str]:
        """Names that must be given."""
        found = self.data.get("required") if isinstance(self.data, dict) else None
        return frozenset(name for name in found if isinstance(name, str)) if isinstance(found, list) else frozenset()

    @property
    def open(self) -> bool:
        """Whether a call may hold more than the declared properties."""
        return not (isinstance(self.data, dict) and self.data.get("additionalProperties") is False)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def from_short(fields: Mapping[str, Any], at: Steps, *, closed: bool) -> Text:
    """The schema of a short form at ``at`` in the item. Raises SchemaFault, pointing into the short form."""
    data, origins = properties_from_short(fields, closed=closed)
    return Text(data, lambda pointer: (*at, *_origin(origins, pointer)))


def _origin(origins: Mapping[Steps, Steps], pointer: Steps) -> Steps:
    for length in range(len(pointer), -1, -1):
        if pointer[:length] in origins:
            return (*origins[pointer[:length]], *pointer[length:])
    return ()


def judge(text: Text) -> tuple[Schema | None, list[Finding]]:
    """Compile a schema and find all its faults; the schema is None if there is an error among them."""
    found = [text.finding(fault) for fault in read_faults(text.data)]
    try:
        return compile_schema(text.data, hidden=hidden(text.data)), found
    except SchemaFault as fault:
        first = text.finding(fault)
        return None, found if any(
            (f.code, f.path, f.place) == (first.code, first.path, first.place) for f in found
        ) else [
            *found,
            first,
        ]


def hidden(schema: Any) -> frozenset[tuple[str, ...]]:
    """Paths of properties with ``writeOnly: true``: their values are never told."""
    return frozenset(_hidden(schema, ()))


def _hidden(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, part in _dict(_dict(schema).get("properties")).items():
        if _dict(part).get("writeOnly") is True:
            yield (*path, name)
        else:
            yield from _hidden(part, (*path, name))


def confined(text: Text, root: Path) -> tuple[list[Confined], list[Finding]]:
    """The arguments that are paths with a folder to stay in, and what is wrong with how that was said."""
    found: list[Confined] = []
    faults: list[Finding] = []
    for name, part in text.properties.items():
        if "within" not in part:
            continue
        pointer: Steps = ("properties", name, "within")
        folder = part["within"]
        if not isinstance(folder, str) or not folder or "\0" in folder:
            faults.append(text.tell("bad-confinement", "within names a folder, such as within: docs.", pointer))
        elif part.get("type") not in ("string", ["string", "null"]):
            faults.append(text.tell("bad-confinement", f"within needs type: string at {name!r}.", pointer))
        else:
            if not (root / folder).is_dir():
                hint = "Paths are relative to the root; until the folder exists, every call is refused."
                faults.append(text.tell("missing-folder", f"There is no folder {folder!r}.", pointer, hint))
            found.append(Confined(name, root / folder, folder))
    for pointer in _deep(text.data, (), 0):
        hint = "Declare the path as an argument of its own."
        faults.append(text.tell("bad-confinement", "within holds for top-level properties only.", pointer, hint))
    return found, faults


_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


def _deep(schema: Any, pointer: Steps, depth: int) -> Iterator[Steps]:
    """Where ``within`` stands in a schema below the top-level properties: a bound that would not hold."""
    if not isinstance(schema, dict):
        return
    top = len(pointer) == 2 and pointer[0] == "properties"
    if "within" in schema and not top:
        yield (*pointer, "within")
    for key in _NAMED:
        for name, part in _dict(schema.get(key)).items():
            yield from _deep(part, (*pointer, key, name), depth + 1)
    for key in _LISTED:
        listed = schema.get(key)
        for index, part in enumerate(listed if isinstance(listed, list) else []):
            yield from _deep(part, (*pointer, key, index), depth + 1)
    for key in _SINGLE:
        yield from _deep(schema.get(key), (*pointer, key), depth + 1)
