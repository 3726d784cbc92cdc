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
]  # fmt: skip


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
