"""The short form of a schema: properties by name, optional ones with a question mark.

Knows: how it becomes JSON Schema, and where each part of that is written. Does not know: what is below a property; that
is plain JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from mcpdecl.schema.reading import SchemaFault
from mcpdecl.schema.walk import Pointer

_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


def properties_from_short(fields: Mapping[str, Any], *, closed: bool) -> tuple[dict[str, Any], dict[Pointer, Pointer]]:
    """A JSON Schema object from a short form, and where its parts are written.

    The second value maps ``("properties", name)`` to ``(key,)`` in the short form; what is deeper follows from the
    longest pointer that is there. ``closed`` forbids other properties. Raises SchemaFault; its pointer leads into the
    short form.
    """
    if fields.get("type") == "object":
        hint = (
            "Write the properties here by name, or the whole schema under inputSchema (outputSchema, requestedSchema)."
        )
        raise SchemaFault("invalid-schema", ("type",), "This is the short form: it has no type: object.", hint)
    properties: dict[str, Any] = {}
    required: list[str] = []
    places: dict[Pointer, Pointer] = {(): (), ("properties",): ()}
    for key, value in fields.items():
        name = key.removesuffix("?")
        if not name or name in properties:
            raise SchemaFault(
                "invalid-schema", (key,), f"The property {name!r} is there twice." if name else "A name is missing."
            )
        schema = _property(key, value)
        properties[name] = schema
        places["properties", name] = (key,)
        if name == key and not (isinstance(schema, Mapping) and "default" in schema):
            places["required", len(required)] = (key,)
            required.append(name)
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    if closed:
        made["additionalProperties"] = False
    return made, places


def _property(key: str, value: Any) -> Any:
    if isinstance(value, (Mapping, bool)):
        return value
    if isinstance(value, str):
        if value in _TYPES:
            return {"type": value}
        near = next(iter(get_close_matches(value, _TYPES, n=1)), None)
        hint = f"Did you mean {near}?" if near else f"The types are {', '.join(_TYPES)}."
        raise SchemaFault("invalid-schema", (key,), f"There is no type '{value}'.", hint)
    raise SchemaFault("invalid-schema", (key,), f"{key} needs a type.", f"For instance {key}: string")
