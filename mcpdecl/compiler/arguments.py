"""Arguments of prompts and resource templates: texts on the wire, each with a schema of its own.

Knows: how an argument is read and completed. Does not know: who takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from mcpdecl.catalogue import Argument, Var
from mcpdecl.compiler.draft import Draft
from mcpdecl.compiler.handlers import variable
from mcpdecl.compiler.schemas import Text, hidden, judge
from mcpdecl.schema import Schema, SchemaFault, compile_schema, served
from mcpdecl.templates import ABSENT


def arguments(draft: Draft, text: Text) -> Mapping[str, Argument] | None:
    """Compile arguments; None if anything is wrong with them."""
    schema, found = judge(text)
    for finding in found:
        draft.add(finding)
    made = {name: _argument(draft, text, name, part) for name, part in text.properties.items()}
    if schema is None:
        return None
    return MappingProxyType({name: argument for name, argument in made.items() if argument is not None})


def _argument(draft: Draft, text: Text, name: str, part: Mapping[str, Any]) -> Argument | None:
    complete = _complete(draft, text, name, part)
    schema = _schema(name, part)
    if schema is None:
        return None
    return Argument(
        name=name,
        schema=schema,
        required=name in text.required,
        text=takes_text(part),
        default=part.get("default", ABSENT),
        choices=choices(part),
        complete=complete,
    )


def _schema(name: str, part: Mapping[str, Any]) -> Schema | None:
    alone = served({"type": "object", "properties": {name: part}})["properties"].get(name, {})
    try:
        return compile_schema(alone, hidden=frozenset({()}) if part.get("writeOnly") is True else hidden(part))
    except SchemaFault:
        return None  # reported with the whole of the arguments


def _complete(draft: Draft, text: Text, name: str, part: Mapping[str, Any]) -> Var | None:
    if "complete" not in part:
        return None
    where = text.locate(("properties", name, "complete"))
    if not isinstance(where, tuple):
        draft.add(text.tell("bad-value", "complete has no meaning in a schema file.", ("properties", name)))
        return None
    made = variable(draft, where, part["complete"], "complete")
    if made is not None:
        draft.names.check(made.binding.reads, where, draft.report)
        draft.read_when_used(made.binding.reads)
    return made


def takes_text(part: Mapping[str, Any]) -> bool:
    """Whether a schema takes texts, so that what was sent is the value and not JSON for it."""
    kind = part.get("type")
    if isinstance(kind, str):
        return kind == "string"
    if isinstance(kind, list):
        return "string" in kind
    values = part["enum"] if isinstance(part.get("enum"), list) else [part["const"]] if "const" in part else None
    return values is None or any(isinstance(value, str) for value in values)


def choices(part: Mapping[str, Any]) -> tuple[str, ...]:
    """The values that a schema lists, as texts."""
    if isinstance(part.get("enum"), list):
        listed = part["enum"]
    elif "const" in part:
        listed = [part["const"]]
    elif part.get("type") == "boolean":
        listed = [True, False]
    else:
        options = part.get("oneOf") or part.get("anyOf") or []
        listed = [option["const"] for option in options if isinstance(option, dict) and "const" in option]
    return tuple(value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in listed)
