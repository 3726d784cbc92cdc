"""Tests of mcpdecl.schema: what the rooms above use, held against the official second opinion."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.schema import SchemaFault, compile_schema, read_faults, served

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
WORDS = st.sampled_from(
    "type properties items required enum const allOf anyOf not if $ref $defs default minimum maxLength pattern format"
    " additionalProperties uniqueItems $schema x-mcp-header".split()
)
SCHEMAS = st.recursive(
    JSON | st.sampled_from(["string", "integer", "object", "#", "#/$defs/a"]),
    lambda inner: st.dictionaries(WORDS | st.just("a"), inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=15,
)

CLOSED = {"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
BRANCH = {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}
CHAIN = {
    "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}, "additionalProperties": False}},
    "$ref": "#/$defs/n",
}
TABLE: list[tuple[dict[str, Any], list[Any]]] = [
    ({"type": "integer"}, [1, 1.0, 1.5, True, "1", None, 2**70]),
    ({"type": ["string", "null"], "minLength": 2}, ["a", "ab", None, 3]),
    ({"enum": [1, "a", None, {"b": []}]}, [1, 1.0, "a", None, {"b": []}, {"b": [1]}]),
    ({"items": {"type": "string"}, "uniqueItems": True, "maxItems": 2}, [[], ["a", "a"], ["a", 1], ["a", "b", "c"]]),
    (CLOSED, [{}, {"a": ""}, {"a": 1}, {"a": "", "b": 1}, []]),
    ({"oneOf": [{"type": "string"}, {"type": "integer", "minimum": 3}]}, ["x", 1, 4, None]),
    (BRANCH, [{"a": 1}, {"a": 1, "b": 1}, {"c": 1}, {}]),
    (CHAIN, [{}, {"next": {"next": {}}}, {"next": {"x": 1}}]),
    ({"multipleOf": 5, "exclusiveMaximum": 20}, [5, 20, 7]),
    ({"prefixItems": [{"type": "string"}], "items": False}, [["a"], ["a", 1], [1], []]),
    ({"contains": {"const": 1}, "minContains": 2}, [[1, 1], [1], []]),
    ({"dependentRequired": {"a": ["b"]}}, [{"a": 1}, {"a": 1, "b": 2}, {}]),
]


@pytest.mark.parametrize(("schema", "values"), TABLE)
def test_verdicts_agree_with_the_second_opinion(schema: dict[str, Any], values: list[Any]) -> None:
    ours, theirs = compile_schema(schema), jsonschema.Draft202012Validator(schema)
    for value in values:
        assert ours.valid(value) == theirs.is_valid(value), value
        assert (ours.violations(value) == []) == ours.valid(value)


def test_J14_the_end_of_a_pattern_is_the_end_of_the_text() -> None:
    schema = compile_schema({"type": "string", "pattern": "^[a-z]+$"})
    assert schema.valid("abc")
    assert not schema.valid("abc\n"), "where Python's own engine would let it pass"


@given(SCHEMAS)
def test_anything_as_a_schema_is_a_schema_or_a_fault(written: Any) -> None:
    faults = read_faults(written)
    try:
        schema = compile_schema(written)
    except SchemaFault as fault:
        assert fault.code
        assert faults
        return
    schema.valid({"a": 1})


@given(SCHEMAS, JSON)
def test_what_is_admitted_is_still_valid(written: Any, value: Any) -> None:
    try:
        schema = compile_schema(written)
    except SchemaFault:
        return
    if schema.valid(value):
        schema.violations(schema.admit(value))


def test_what_is_written_is_what_is_served_but_for_our_own_words() -> None:
    written = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "path": {"type": "string", "within": "docs", "x-mcp-header": "Path"},
            "within": {"type": "string", "complete": {"command": ["ls"]}},
        },
        "$defs": {"a": {"$anchor": "a", "const": {"within": 1}}},
        "if": {"required": ["path"]},
        "x-own": {"within": "stays: no schema is in here"},
    }
    shown = served(written)
    assert shown["properties"] == {"path": {"type": "string", "x-mcp-header": "Path"}, "within": {"type": "string"}}
    assert {k: v for k, v in shown.items() if k != "properties"} == {
        k: v for k, v in written.items() if k != "properties"
    }
    assert written["properties"]["path"]["within"] == "docs"  # type: ignore[index]
