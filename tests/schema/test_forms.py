"""Tests of mcpdecl.schema.forms: the subset of JSON Schema that clients draw as forms."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.schema import form_faults


def form(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)[:1]}


GOOD: list[dict[str, Any]] = [
    {"type": "string", "title": "t", "description": "d", "minLength": 1, "maxLength": 5, "default": "x"},
    {"type": "string", "format": "email"},
    {"type": "integer", "minimum": 0, "maximum": 5, "default": 2},
    {"type": "number", "default": 95.5},
    {"type": "boolean", "default": True},
    {"type": "string", "enum": ["a", "b"]},
    {"type": "string", "enum": ["a"], "enumNames": ["A"]},
    {"type": "string", "oneOf": [{"const": "a", "title": "A"}], "default": "a"},
    {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2, "default": ["a"]},
    {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
]


@pytest.mark.parametrize("field", GOOD)
def test_what_a_form_may_hold(field: dict[str, Any]) -> None:
    # spec: client/elicitation#requested-schema
    assert form_faults(form(f=field)) == []


@pytest.mark.parametrize(
    "field",
    [
        {"type": "integer", "enum": [1, 2]},
        {"type": "object", "properties": {}},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": ["string", "null"]},
        {"type": "string", "pattern": "^a"},
        {"type": "string", "format": "uuid"},
        {"type": "string", "enum": ["a", 1]},
        {"type": "string", "oneOf": [{"const": 1, "title": "A"}]},
        {"type": "array", "items": {"type": "object"}},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "array"},
        {"$ref": "#/$defs/x"},
        {},
    ],
)
def test_E10_what_it_may_not_hold_is_told_with_what_to_write(field: dict[str, Any]) -> None:
    faults = form_faults(form(f=field))
    assert faults
    assert all(fault.code == "bad-form-field" for fault in faults)
    assert all(fault.pointer[:2] == ("properties", "f") for fault in faults)
    assert all(fault.hint for fault in faults)


@pytest.mark.parametrize(
    "whole", [{"type": "array"}, {"type": "object"}, {"type": "object", "properties": {}, "allOf": []}]
)
def test_the_whole_is_a_flat_object(whole: dict[str, Any]) -> None:
    assert form_faults(whole) or whole == {"type": "object"}


SHOWN = [
    {
        "type": "string",
        "title": "T",
        "description": "D",
        "minLength": 3,
        "maxLength": 50,
        "format": "email",
        "default": "a@b.c",
    },
    {"type": "number", "minimum": 0, "maximum": 100, "default": 50},
    {"type": "integer"},
    {"type": "boolean", "default": False},
    {"type": "string", "enum": ["a", "b"], "default": "a"},
    {"type": "string", "enum": ["a"], "enumNames": ["A"]},
    {"type": "string", "oneOf": [{"const": "#F00", "title": "Red"}]},
    {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["a"]}, "default": ["a"]},
    {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
]


@pytest.mark.parametrize("field", SHOWN)
def test_what_the_specification_shows_is_allowed(field: Any) -> None:
    assert form_faults({"type": "object", "properties": {"x": field}, "required": ["x"]}) == []


@pytest.mark.parametrize(
    ("field", "pointer", "hint"),
    [
        ({"type": "integer", "enum": [1, 2]}, ("enum",), "type: string, enum"),
        ({"type": "object", "properties": {}}, (), "Make each of its members a field"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ("anyOf",), "leave it out of required"),
        ({"type": ["string", "null"]}, ("type",), "leave it out of required"),
        ({"type": "null"}, ("type",), "string"),
        ({"type": "string", "pattern": "^a$"}, ("pattern",), "assert"),
        ({"type": "string", "format": "ipv4"}, ("format",), "email, uri, date, date-time"),
        ({"type": "string", "enum": ["a", 1]}, ("enum", 1), "Quote"),
        ({"type": "string", "oneOf": [{"const": "a"}]}, ("oneOf", 0), "title"),
        ({"type": "string", "writeOnly": True}, ("writeOnly",), "url"),
        ({"type": "integer", "exclusiveMinimum": 0}, ("exclusiveMinimum",), "minimum"),
        ({"type": "array", "items": {"type": "object"}}, ("items",), "enum"),
        ({"type": "array"}, (), "enum"),
        ({"type": "array", "items": {"type": "string", "enum": [1]}}, ("items", "enum", 0), "Quote"),
        ({"$ref": "#/$defs/x"}, ("$ref",), "Write the field out"),
        ({"enum": ["a"]}, ("enum",), "type: string"),
        (True, (), "type: string"),
    ],
)
def test_E10_each_fault_has_the_allowed_alternative(field: Any, pointer: tuple[str | int, ...], hint: str) -> None:
    (fault,) = form_faults({"type": "object", "properties": {"x": field}})
    assert fault.code == "bad-form-field"
    assert fault.pointer == ("properties", "x", *pointer)
    assert hint in fault.hint


def test_the_form_itself() -> None:
    (fault,) = form_faults({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]})
    assert fault.pointer == ("required", 0)
    assert [f.pointer for f in form_faults({"type": "array"})] == [()]
    assert [f.pointer for f in form_faults({"type": "object"})] == [()]
    (fault,) = form_faults({"type": "object", "properties": {}, "additionalProperties": False})
    assert fault.pointer == ("additionalProperties",)
