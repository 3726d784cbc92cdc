"""A tool: its schemas, its descriptor, its handler.

Knows: what server/tools asks of a descriptor. Does not know: how a call is answered.
"""

from __future__ import annotations

from typing import Any

from mcpdecl.catalogue import Tool
from mcpdecl.compiler.descriptors import described, encoded
from mcpdecl.compiler.draft import Draft
from mcpdecl.compiler.handlers import handler, name_everything, shape_of
from mcpdecl.compiler.names import heads
from mcpdecl.compiler.schemas import EMPTY_INPUT, Text, judge
from mcpdecl.schema import HeaderParameter, Schema, SchemaFault, header_parameters


def tool(draft: Draft) -> Tool | None:
    """Compile a tool; None if anything is wrong with it."""
    text = draft.schema((), "input", "inputSchema", closed=True)
    named = text is None and ("input" in draft.fields or "inputSchema" in draft.fields)
    if text is None:
        # spec: server/tools#tool: recommended where there are no parameters
        text = Text(EMPTY_INPUT, lambda pointer: ())
    name_everything(draft, text)
    input, headers = _input(draft, text)
    output = _output(draft)
    shape = shape_of(draft, texts=True)
    made = handler(draft, shape)
    if not draft.fields.get("description") and not draft.faulty:
        hint = "Add description: a model chooses tools by it."
        draft.report.key("missing-description", f"The tool {draft.name!r} has no description.", hint=hint)
    wire = encoded(draft, _descriptor(draft, text))
    if made is None or input is None or wire is None or named or draft.faulty:
        return None
    _patterns(draft, text, heads(made.binding.reads))
    return Tool(draft.name, wire, made, input, output, shape, headers)


def _input(draft: Draft, text: Text) -> tuple[Schema | None, tuple[HeaderParameter, ...]]:
    schema, found = judge(text)
    for finding in found:
        draft.add(finding)
    if schema is None:
        return None, ()
    if not isinstance(text.data, dict) or text.data.get("type") != "object":
        # spec: server/tools#tool: inputSchema is an object schema
        draft.add(text.tell("not-an-object", "An input schema must have type: object.", (), "Add type: object."))
    try:
        return schema, header_parameters(text.data)
    except SchemaFault as fault:
        draft.add(text.finding(fault))
        return schema, ()


def _output(draft: Draft) -> Schema | None:
    text = draft.schema((), "output", "outputSchema", closed=False)
    if text is None:
        return None
    schema, found = judge(text)
    for finding in found:
        draft.add(finding)
    return schema


def _descriptor(draft: Draft, text: Text) -> dict[str, Any]:
    """The Tool object. spec: server/tools#tool. The schema that is written is the schema that is served."""
    output = draft.schema((), "output", "outputSchema", closed=False)
    schemas = {"inputSchema": text.served} | ({"outputSchema": output.served} if output is not None else {})
    return described(draft, draft.name, schemas)


def _patterns(draft: Draft, text: Text, read: frozenset[str]) -> None:
    """Warn of a pattern that looks like a gate and is none: it is searched anywhere in the text."""
    if "command" not in draft.fields:
        return
    for name, part in text.properties.items():
        pattern = part.get("pattern")
        if name in read and isinstance(pattern, str) and not (pattern.startswith("^") and pattern.endswith("$")):
            message = f"This pattern may match a part of {name!r}, and the whole of it goes to a program."
            draft.add(
                text.tell("unanchored-pattern", message, ("properties", name, "pattern"), f"Write ^(?:{pattern})$.")
            )
