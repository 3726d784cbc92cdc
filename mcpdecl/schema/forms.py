"""The part of JSON Schema that a form may use.

Knows: the subset that the specification allows, and what to write instead of the rest. Does not know: when a form is
asked, or what is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcpdecl.schema.reading import SchemaFault
from mcpdecl.schema.walk import Pointer

# spec: client/elicitation#requested-schema
_FORM = frozenset({"$schema", "type", "properties", "required"})
_ALL = frozenset({"type", "title", "description", "default"})
_FORMATS = ("email", "uri", "date", "date-time")
_WORDS: Mapping[str, frozenset[str]] = {
    "string": _ALL | {"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"},
    "number": _ALL | {"minimum", "maximum"},
    "integer": _ALL | {"minimum", "maximum"},
    "boolean": _ALL,
    "array": _ALL | {"minItems", "maxItems", "items"},
}
_INSTEAD: Mapping[str, str] = {
    "pattern": "Leave it out and say in description what is wanted; check it with assert.",
    "anyOf": "Give the field one type, and leave it out of required (name? in the short form) if it may be empty.",
    "allOf": "Write the field out.",
    "$ref": "Write the field out.",
    "const": "Write an enum with one value.",
    "writeOnly": "A form must not ask for secrets: ask with url instead.",
    "multipleOf": "Leave it out and say in description what is wanted; check it with assert.",
    "exclusiveMinimum": "Use minimum.",
    "exclusiveMaximum": "Use maximum.",
    "uniqueItems": "Leave it out: a choice is made once.",
}


def form_faults(requested_schema: Any) -> list[SchemaFault]:
    """All that a form may not hold, each with the allowed alternative; code ``bad-form-field``."""
    if not isinstance(requested_schema, Mapping) or requested_schema.get("type") != "object":
        return [_fault((), "A form is of type object.", "Write its fields below properties.")]
    return list(_of_form(requested_schema))


def _of_form(form: Mapping[str, Any]) -> Iterator[SchemaFault]:
    for word in form:
        if word not in _FORM and not word.startswith("x-"):
            yield _fault(
                (word,), f"A form cannot have {word}.", f"It has {', '.join(sorted(_FORM - {'$schema'}))} only."
            )
    properties = form.get("properties")
    if not isinstance(properties, Mapping):
        yield _fault((), "A form has properties.", "Leave the form out if nothing is to be filled in.")
        return
    for name, schema in properties.items():
        yield from _of_field(("properties", name), schema)
    required = form.get("required")
    for index, name in enumerate(required if isinstance(required, list) else ()):
        if name not in properties:
            yield _fault(("required", index), f"There is no field {name}.", f"The fields are {', '.join(properties)}.")


def _of_field(pointer: Pointer, schema: Any) -> Iterator[SchemaFault]:
    if not isinstance(schema, Mapping):
        yield _fault(pointer, "A field is a mapping with a type.", "For instance {type: string}.")
        return
    type_ = schema.get("type")
    if not isinstance(type_, str) or type_ not in _WORDS:
        yield _of_type(pointer, schema, type_)
        return
    for word in schema:
        if word in _WORDS[type_] or word.startswith("x-"):
            continue
        if word == "enum":
            hint = "Use strings: {type: string, enum: ['1', '2']}, or oneOf with const and title."
        else:
            hint = _INSTEAD.get(word, f"A field of type {type_} has {', '.join(sorted(_WORDS[type_]))}.")
        yield _fault((*pointer, word), f"A field of type {type_} cannot have {word}.", hint)
    yield from _CHECKS.get(type_, _nothing)(pointer, schema)


def _of_type(pointer: Pointer, schema: Mapping[str, Any], type_: Any) -> SchemaFault:
    if type_ == "object":
        return _fault(pointer, f"'{pointer[-1]}' is an object; forms are flat.", "Make each of its members a field.")
    if isinstance(type_, list):
        hint = "Give the field one type, and leave it out of required (name? in the short form) if it may be empty."
        return _fault((*pointer, "type"), "A field has one type.", hint)
    if type_ is None:
        word = next((w for w in ("anyOf", "oneOf", "allOf", "$ref", "enum", "const") if w in schema), None)
        hint = _INSTEAD.get(word or "", "") or "Add type: string, number, integer, boolean or array."
        return _fault((*pointer, word) if word else pointer, "A field needs a type of its own.", hint)
    return _fault((*pointer, "type"), f"A field cannot be of type {type_}.", f"Use {', '.join(_WORDS)}.")


def _nothing(pointer: Pointer, schema: Mapping[str, Any]) -> Iterator[SchemaFault]:
    return iter(())


def _of_text(pointer: Pointer, schema: Mapping[str, Any]) -> Iterator[SchemaFault]:
    if "format" in schema and schema["format"] not in _FORMATS:
        hint = f"The formats of a form are {', '.join(_FORMATS)}."
        yield _fault((*pointer, "format"), f"A form does not know the format {schema['format']}.", hint)
    if "enum" in schema:
        yield from _of_enum((*pointer, "enum"), schema["enum"])
    if "oneOf" in schema:
        yield from _of_titled((*pointer, "oneOf"), schema["oneOf"])


def _of_choice(pointer: Pointer, schema: Mapping[str, Any]) -> Iterator[SchemaFault]:
    items = schema.get("items")
    hint = "Write items: {type: string, enum: [a, b]}, or items: {anyOf: [{const: a, title: A}]}."
    if isinstance(items, Mapping) and "anyOf" in items and set(items) == {"anyOf"}:
        yield from _of_titled((*pointer, "items", "anyOf"), items["anyOf"])
    elif isinstance(items, Mapping) and set(items) == {"type", "enum"} and items["type"] == "string":
        yield from _of_enum((*pointer, "items", "enum"), items["enum"])
    else:
        yield _fault(
            (*pointer, "items") if "items" in schema else pointer, "A list in a form is a choice of texts.", hint
        )


_CHECKS: Mapping[str, Callable[[Pointer, Mapping[str, Any]], Iterator[SchemaFault]]] = {
    "string": _of_text,
    "array": _of_choice,
}


def _of_enum(pointer: Pointer, values: Any) -> Iterator[SchemaFault]:
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if not isinstance(value, str):
            yield _fault((*pointer, index), "A choice in a form is text.", "Quote it.")


def _of_titled(pointer: Pointer, choices: Any) -> Iterator[SchemaFault]:
    for index, choice in enumerate(choices if isinstance(choices, list) else ()):
        fits = isinstance(choice, Mapping) and set(choice) == {"const", "title"}
        if not fits or not all(isinstance(v, str) for v in choice.values()):
            yield _fault(
                (*pointer, index), "A choice with a title has const and title, both text.", "{const: a, title: A}"
            )


def _fault(pointer: Pointer, message: str, hint: str) -> SchemaFault:
    return SchemaFault("bad-form-field", pointer, message, hint)
