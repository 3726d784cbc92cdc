"""JSON data and JSON Schemas inside a manifest: nodes to plain data, texts as they were written.

Knows: which keywords of a schema hold text, and that values beside ``type: string`` are text. Does not know: whether a
schema makes sense; that is judged where it is compiled.
"""

from __future__ import annotations

import re
from typing import Any

from mcpdecl.manifest.faults import Faults, Path, described, nearest, where
from mcpdecl.manifest.scalars import Ambiguous, resolve
from mcpdecl.manifest.source import Mapping, Node, Scalar, Sequence

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_TEXTS = frozenset(
    "$schema $id $ref $anchor $dynamicRef $dynamicAnchor $comment title description format pattern "
    "contentEncoding contentMediaType within x-mcp-header required enumNames type".split()
)
_VALUES = frozenset({"default", "const"})
_LISTS = frozenset({"enum", "examples"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_PORTABLE = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


def data(node: Node, faults: Faults, path: Path) -> Any:
    """Any JSON data."""
    if isinstance(node, Scalar):
        return faults.resolved(node, path)
    if isinstance(node, Sequence):
        return [data(item, faults, (*path, i)) for i, item in enumerate(node.items)]
    return {name: data(value, faults, (*path, name)) for name, (_, value) in node.entries.items()}


def option(node: Node) -> Any:
    """The value of a command's option: true, false and null mean something, all else is kept as it is written."""
    if isinstance(node, Scalar):
        return node.text if node.style else _switch(node.text)
    if isinstance(node, Sequence):
        return [option(item) for item in node.items]
    return {name: option(value) for name, (_, value) in node.entries.items()}


def _switch(text: str) -> Any:
    try:
        value = resolve(text)
    except Ambiguous:
        return text
    return value if value is None or isinstance(value, bool) else text


def schema(node: Node, faults: Faults, path: Path) -> Any:
    """A JSON Schema as it is written."""
    if not isinstance(node, Mapping):
        return data(node, faults, path)
    return {name: _keyword(name, value, node, faults, (*path, name)) for name, (_, value) in node.entries.items()}


def _keyword(name: str, value: Node, beside: Mapping, faults: Faults, path: Path) -> Any:
    if name in _TEXTS:
        return _texts(value, faults, path)
    if name in _VALUES:
        return _typed(value, beside, faults, path)
    if name in _LISTS and isinstance(value, Sequence):
        return [_typed(item, beside, faults, (*path, i)) for i, item in enumerate(value.items)]
    if name in _NAMED and isinstance(value, Mapping):
        return {key: schema(part, faults, (*path, key)) for key, (_, part) in value.entries.items()}
    if isinstance(value, Sequence):
        return [schema(part, faults, (*path, i)) for i, part in enumerate(value.items)]
    return schema(value, faults, path)


def _texts(node: Node, faults: Faults, path: Path) -> Any:
    """Text, or a list of texts. ``required: true`` and such are kept for the judge of schemas to refuse."""
    if isinstance(node, Sequence) and all(isinstance(item, Scalar) for item in node.items):
        return [item.text for item in node.items if isinstance(item, Scalar)]
    if isinstance(node, Scalar) and not node.empty and path[-1] != "required":
        return node.text
    return data(node, faults, path)


def _typed(node: Node, beside: Mapping, faults: Faults, path: Path) -> Any:
    """A value beside a type: text where the type says string."""
    if isinstance(node, Scalar):
        return _text_or_value(node, _types(beside), faults, path)
    if isinstance(node, Sequence):
        inner = beside.get("items")
        return [_under(item, inner, faults, (*path, i)) for i, item in enumerate(node.items)]
    properties = beside.get("properties")
    known = properties.entries if isinstance(properties, Mapping) else {}
    return {
        name: _under(value, known[name][1] if name in known else None, faults, (*path, name))
        for name, (_, value) in node.entries.items()
    }


def _under(node: Node, beside: Node | None, faults: Faults, path: Path) -> Any:
    return _typed(node, beside, faults, path) if isinstance(beside, Mapping) else data(node, faults, path)


def _types(beside: Mapping) -> list[str]:
    written = beside.get("type")
    if isinstance(written, Sequence):
        return [item.text for item in written.items if isinstance(item, Scalar)]
    return [written.text] if isinstance(written, Scalar) else []


def _text_or_value(node: Scalar, types: list[str], faults: Faults, path: Path) -> Any:
    if types == ["string"]:
        return node.text if not node.empty else None
    if sorted(types) == ["null", "string"]:
        return None if not node.style and node.text in ("", "~", "null", "Null", "NULL") else node.text
    return faults.resolved(node, path)


def property_(key: Scalar, node: Node, faults: Faults, path: Path) -> Any:
    """One property of a short form: a bare type or a JSON Schema. None if it was reported."""
    if isinstance(node, Mapping):
        return schema(node, faults, path)
    if isinstance(node, Scalar) and node.text in TYPES:
        return node.text
    span = key.span if isinstance(node, Scalar) and node.empty else node.span
    if isinstance(node, Scalar) and not node.empty:
        near = nearest(node.text, TYPES)
        hint = f"Did you mean {near!r}?" if near else f"Types are {', '.join(TYPES)}."
        faults.report("bad-value", f"{where(path)}: there is no type {node.text[:40]!r}.", span, hint)
    else:
        hint = "For a choice write {enum: [a, b]}." if isinstance(node, Sequence) else ""
        message = f"{where(path)} must be a type or a JSON Schema, not {described(node)}."
        faults.report("wrong-type", message, span, hint)
    return None


def property_name(key: Scalar, faults: Faults, path: Path) -> None:
    """Judge the name of a property of a short form."""
    name = key.text.removesuffix("?")
    if not name:
        faults.report("bad-name", f"A property in {where(path)} has no name.", key.span, "Give it one.")
    elif not _PORTABLE.match(name):
        message = f"The property name {name[:80]!r} is rejected by several clients."
        faults.report(
            "risky-name", message, key.span, "Use at most 64 of A-Z a-z 0-9 _ . - and put the rest in a title."
        )
