"""Tests of mcpdecl.schema.filling: defaults and whole numbers."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from mcpdecl.schema import compile_schema
from mcpdecl.schema.filling import plan_for


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


LIMIT = {"type": "integer", "default": 20}
TREE = {
    "type": "object",
    "properties": {"n": LIMIT, "child": {"$ref": "#"}, "others": {"type": "array", "items": {"$ref": "#"}}},
}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"properties": {"limit": LIMIT}}, {}, {"limit": 20}),
        ({"properties": {"limit": LIMIT}}, {"limit": None}, {"limit": None}),
        ({"properties": {"limit": LIMIT}}, {"limit": 1.0}, {"limit": 1}),
        ({"properties": {"a": {"properties": {"limit": LIMIT}}}}, {"a": {}}, {"a": {"limit": 20}}),
        ({"properties": {"a": {"properties": {"limit": LIMIT}}}}, {}, {}),
        ({"properties": {"a": {"default": {}, "properties": {"limit": LIMIT}}}}, {}, {"a": {"limit": 20}}),
        ({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": LIMIT}}, {}, {"a": 20}),
        (
            {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"properties": {"l": LIMIT}}}},
            {"a": {}},
            {"a": {"l": 20}},
        ),
        ({"allOf": [{"properties": {"limit": LIMIT}}], "properties": {"a": {"default": 1}}}, {}, {"a": 1, "limit": 20}),
        ({"anyOf": [{"properties": {"limit": LIMIT}}]}, {}, {}),
        ({"items": {"type": "integer"}}, [1.0, 2], [1, 2]),
        ({"prefixItems": [{"type": "integer"}], "items": {}}, [1.0, 2.0], [1, 2.0]),
        (
            {"additionalProperties": {"type": "integer"}, "properties": {"a": {}}},
            {"a": 1.0, "b": 2.0},
            {"a": 1.0, "b": 2},
        ),
        ({"type": ["integer", "null"]}, 5.0, 5),
        ({"type": ["integer", "number"]}, 5.0, 5.0),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5.0, 5),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, 5.0, 5.0),
        ({"type": "number"}, 5.0, 5.0),
        ({"type": "integer"}, True, True),
        ({"type": "integer"}, 1.5, 1.5),
        (
            TREE,
            {"child": {"child": {"n": 1.0}}, "others": [{}]},
            {"n": 20, "child": {"n": 20, "child": {"n": 1}}, "others": [{"n": 20}]},
        ),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, {}, {}),
        ({"properties": {"default": {"default": 1}}}, {}, {"default": 1}),
    ],
)
def test_admit(schema: Any, value: Any, expected: Any) -> None:
    before = copy.deepcopy(value)
    admitted = compile_schema(schema).admit(value)
    assert repr(admitted) == repr(expected) or admitted == expected
    assert repr(value) == repr(before)
    for got, wanted in zip(_leaves(admitted), _leaves(expected), strict=True):
        assert type(got) is type(wanted)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    return [leaf for v in value for leaf in _leaves(v)] if isinstance(value, list) else [value]


def test_J10_defaults_are_filled_in_and_never_shared() -> None:
    schema = compile_schema({"properties": {"limit": LIMIT, "tag": {"type": "string"}, "list": {"default": []}}})
    first = schema.admit({})
    assert first == {"limit": 20, "list": []}
    first["list"].append(1)
    assert schema.admit({})["list"] == []


def test_where_there_is_nothing_to_do_nothing_is_done() -> None:
    written = {"properties": {"a": {"type": "string"}, "b": {"items": {"type": "object"}}, "c": {"$ref": "#"}}}
    assert plan_for(written) is None
    value = {"b": [{}]}
    assert compile_schema(written).admit(value) is value
    partly = compile_schema({"properties": {"a": LIMIT, "b": {"items": {"properties": {"x": {"type": "string"}}}}}})
    assert partly.admit(value)["b"] is value["b"]
