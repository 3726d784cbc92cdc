"""A prompt: its arguments, its descriptor, its handler.

Knows: what server/prompts asks of a descriptor. Does not know: how a prompt is answered.
"""

from __future__ import annotations

from typing import Any

from mcpdecl.catalogue import Prompt
from mcpdecl.compiler.arguments import arguments
from mcpdecl.compiler.descriptors import described, encoded
from mcpdecl.compiler.draft import Draft
from mcpdecl.compiler.handlers import handler, name_everything
from mcpdecl.compiler.schemas import EMPTY_INPUT, Text


def prompt(draft: Draft) -> Prompt | None:
    """Compile a prompt; None if anything is wrong with it."""
    text = draft.schema((), "arguments", "arguments", closed=True) or Text(EMPTY_INPUT, lambda pointer: ())
    name_everything(draft, text)
    known = arguments(draft, text)
    if "result" in draft.fields:
        draft.report.key("bad-value", "result has no meaning for a prompt: its value is its messages.", "result")
    made = handler(draft, None)
    wire = encoded(draft, _descriptor(draft, text))
    if made is None or known is None or wire is None or draft.faulty:
        return None
    return Prompt(draft.name, wire, made, known, draft.fields.get("description"))


def _descriptor(draft: Draft, text: Text) -> dict[str, Any]:
    """The Prompt object. spec: server/prompts#prompt"""
    listed = [
        {"name": name}
        | {key: part[key] for key in ("title", "description") if isinstance(part.get(key), str)}
        | {"required": name in text.required}
        for name, part in text.properties.items()
    ]
    return described(draft, draft.name, {"arguments": listed} if listed else {})
