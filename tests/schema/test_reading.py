"""Tests of mcpdecl.schema.reading: faults and warnings of a schema as its author wrote it."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.diagnostics import CODES
from mcpdecl.schema import SchemaFault, compile_schema, read_faults


def found(schema: Any) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(fault.code, fault.pointer) for fault in read_faults(schema)]


@pytest.mark.parametrize(
    ("schema", "code", "pointer"),
    [
        (5, "invalid-schema", ()),
        ({"type": "strnig"}, "invalid-schema", ("type",)),
        ({"properties": {"a": {"minimum": "x"}}}, "invalid-schema", ("properties", "a", "minimum")),
        ({"properties": {"a": {"required": True}}}, "invalid-schema", ("properties", "a", "required")),
        ({"pattern": "(?=x)"}, "invalid-schema", ("pattern",)),
        ({"pattern": "("}, "invalid-schema", ("pattern",)),
        ({"$ref": "#/$defs/none"}, "invalid-schema", ("$ref",)),
        ({"$ref": "https://a.test/b.json"}, "remote-ref", ("$ref",)),
        ({"items": {"$ref": "file:///etc/passwd"}}, "remote-ref", ("items", "$ref")),
        ({"$schema": "https://example.com/mine"}, "unknown-dialect", ("$schema",)),
        ({"properties": {"a": {"type": "integer", "default": "x"}}}, "bad-default", ("properties", "a", "default")),
        ({"default": {"a": 1}, "properties": {"a": {"type": "string"}}}, "bad-default", ("default",)),
        ({"requird": ["a"]}, "unknown-keyword", ("requird",)),
        ({"properties": {"a": {"format": "datetime"}}}, "unknown-format", ("properties", "a", "format")),
        ({"properties": {"Straße nr.": {}}}, "bad-property-name", ("properties", "Straße nr.")),
        ({1: 2}, "invalid-schema", ()),
    ],
)
def test_each_fault_has_its_code_and_place(schema: Any, code: str, pointer: tuple[str | int, ...]) -> None:
    assert found(schema) == [(code, pointer)]
    if CODES[code].severity == "error":
        with pytest.raises(SchemaFault):
            compile_schema(schema)
    else:
        compile_schema(schema)


def test_all_faults_are_told_at_once() -> None:
    schema = {"properties": {"a": {"type": "int"}, "b": {"minLength": -1}, "c d": {}}}
    assert {code for code, _ in found(schema)} == {"invalid-schema", "bad-property-name"}
    assert len(found(schema)) == 3


def test_hints_name_what_was_meant() -> None:
    assert read_faults({"type": "str"})[0].hint == "Did you mean string?"
    assert read_faults({"requird": []})[0].hint == "Did you mean required?"
    assert read_faults({"$defs": {"size": {}}, "$ref": "#/$defs/szie"})[0].hint == "Did you mean #/$defs/size?"
    assert read_faults({"format": "datetime"})[0].hint in {
        "Did you mean date-time?",
        "Did you mean date?",
        "Did you mean time?",
    }


def test_J12_names_that_clients_refuse_are_warned_of() -> None:
    assert [c for c, _ in found({"properties": {"ok_1.x-y": {}, "a" * 65: {}}})] == ["bad-property-name"]


def test_words_of_ones_own_begin_with_x() -> None:
    assert found({"x-mine": 1, "properties": {"a": {"within": "docs"}}}) == []


def test_bounds() -> None:
    deep: Any = {}
    for _ in range(80):
        deep = {"not": deep}
    assert found(deep)[0][0] == "invalid-schema"
    assert found({"anyOf": [{} for _ in range(10_001)]})[0][0] == "invalid-schema"


def test_anchors_and_ids_of_the_schema_itself_are_no_other_place() -> None:
    schema = {
        "$id": "https://a.test/root.json",
        "$defs": {"a": {"$anchor": "here", "type": "string"}, "b": {"$id": "b.json", "type": "integer"}},
        "properties": {"x": {"$ref": "#here"}, "y": {"$ref": "b.json"}},
    }
    assert found(schema) == []
    assert not compile_schema(schema).valid({"x": 1})
