"""Tests of mcpdecl.schema.filling: defaults and whole numbers."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.schema import compile_schema


def admitted(schema: Any, value: Any) -> Any:
    return compile_schema(schema).admit(value)


def test_J10_defaults_at_the_top_and_nested() -> None:
    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "default": 20},
            "tag": {"type": "string"},
            "sort": {"type": "object", "properties": {"by": {"default": "name"}}},
        },
    }
    assert admitted(schema, {}) == {"limit": 20}
    assert admitted(schema, {"limit": 5, "sort": {}}) == {"limit": 5, "sort": {"by": "name"}}


def test_a_null_that_was_sent_stays() -> None:
    assert admitted({"properties": {"a": {"default": 1}}}, {"a": None}) == {"a": None}


def test_the_value_itself_and_the_default_never_change() -> None:
    schema = compile_schema({"properties": {"a": {"default": []}, "n": {"type": "integer"}}})
    value = {"n": 1.0}
    first = schema.admit(value)
    first["a"].append(1)
    assert value == {"n": 1.0}
    assert schema.admit({}) == {"a": []}


def test_nothing_is_copied_where_there_is_nothing_to_do() -> None:
    value = {"a": [1]}
    assert admitted({"properties": {"a": {"type": "array"}}}, value) is value


@pytest.mark.parametrize(
    ("schema", "value", "made"),
    [
        ({"items": {"type": "integer"}}, [1.0, 2], [1, 2]),
        ({"prefixItems": [{"type": "integer"}], "items": {"type": "number"}}, [1.0, 2.0], [1, 2.0]),
        ({"additionalProperties": {"type": "integer"}}, {"x": 3.0}, {"x": 3}),
        ({"allOf": [{"properties": {"a": {"default": 1}}}]}, {}, {"a": 1}),
        ({"type": ["integer", "null"]}, 4.0, 4),
        ({"type": "number"}, 4.0, 4.0),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, 4.0, 4.0),
        ({"$defs": {"d": {"default": 7}}, "properties": {"a": {"$ref": "#/$defs/d"}}}, {}, {"a": 7}),
    ],
)
def test_where_it_is_done(schema: Any, value: Any, made: Any) -> None:
    found = admitted(schema, value)
    assert found == made
    assert str(found) == str(made), "1 and 1.0 are equal in Python"


def test_a_schema_that_leads_back_to_itself() -> None:
    node = {"properties": {"n": {"type": "integer", "default": 0}, "kids": {"items": {"$ref": "#/$defs/t"}}}}
    tree = {"$defs": {"t": node}, "$ref": "#/$defs/t"}
    assert admitted(tree, {"kids": [{"n": 2.0}, {"kids": [{}]}]}) == {
        "n": 0,
        "kids": [{"n": 2}, {"n": 0, "kids": [{"n": 0}]}],
    }


def test_a_reference_to_itself_ends() -> None:
    assert admitted({"$ref": "#", "properties": {"n": {"default": 1}}}, {}) == {"n": 1}
