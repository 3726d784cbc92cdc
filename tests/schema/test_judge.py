"""Tests of mcpdecl.schema.judge: values that fit, values that do not, and what is never repeated."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.schema import Schema, SchemaFault, compile_schema


def told(schema: Any, value: Any, **more: Any) -> list[tuple[tuple[str | int, ...], str]]:
    return [(v.path, v.message) for v in compile_schema(schema, **more).violations(value)]


def test_P12_every_failing_path_is_told() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["city"],
    }
    assert set(told(schema, {"n": "five"})) == {(("city",), "is missing"), (("n",), "must be an integer")}


def test_J09_numbers() -> None:
    schema = compile_schema({"type": "object", "properties": {"n": {"type": "integer"}}})
    assert schema.valid({"n": 60.0})
    assert schema.admit({"n": 60.0}) == {"n": 60}
    assert type(schema.admit({"n": 60.0})["n"]) is int
    assert schema.admit({"n": 2**53 + 1}) == {"n": 2**53 + 1}
    assert not schema.valid({"n": True})
    assert schema.valid({"n": 10**400})


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1, 2}, object()])
def test_what_is_no_json_does_not_fit_and_does_not_raise(value: Any) -> None:
    schema = compile_schema({"type": ["number", "string", "array"]})
    assert not schema.valid(value)
    assert len(schema.violations(value)) == 1


def test_P12_values_that_are_hidden_are_never_repeated() -> None:
    written = {
        "type": "object",
        "properties": {
            "pin": {"type": "integer", "writeOnly": True},
            "inner": {"type": "object", "properties": {"key": {"type": "boolean"}}},
        },
    }
    value = {"pin": "4711", "inner": {"key": "true"}}
    shown = told(written, value, hidden=frozenset({("inner", "key")}))
    assert dict(shown) == {("pin",): "must be an integer", ("inner", "key"): "must be a boolean"}
    assert "4711" in str(told({"properties": {"pin": {"type": "integer"}}}, {"pin": "4711"}))


def test_no_more_than_twenty_violations_are_told() -> None:
    assert len(told({"items": {"type": "string"}}, [1] * 1000)) == 20


def test_a_regular_expression_that_would_hang_elsewhere_ends() -> None:
    assert not compile_schema({"pattern": "^(a+)+$"}).valid("a" * 5_000 + "!")


def of(**properties: Any) -> Schema:
    return compile_schema({"type": "object", "properties": properties})


def by_path(schema: Schema, instance: Any) -> dict[str, str]:
    return {".".join(map(str, v.path)): v.message for v in schema.violations(instance)}


# Cases in the manner of the official JSON Schema test suite; Python's jsonschema is the second opinion.
CASES: list[tuple[Any, list[Any]]] = [
    (True, [1, None, {}]),
    (False, [1]),
    ({}, [1, "a", None]),
    ({"type": "integer"}, [1, 1.0, 1.5, "1", True, None, 2**70]),
    ({"type": ["string", "null"]}, ["a", None, 1]),
    ({"type": "number"}, [1, 1.5, True, "1"]),
    ({"enum": [1, "a", None, {"a": [1]}]}, [1, 1.0, "a", None, {"a": [1]}, {"a": [2]}, False]),
    ({"const": False}, [False, 0]),
    ({"const": {"a": 1}}, [{"a": 1}, {"a": 1.0}, {"a": 2}]),
    ({"minimum": 1, "exclusiveMaximum": 3}, [0, 1, 2.9, 3, "x"]),
    ({"multipleOf": 2}, [4, 5, 4.0]),
    ({"minLength": 2, "maxLength": 3}, ["a", "ab", "abcd", "💩💩", 1]),
    ({"pattern": "^a*$"}, ["aaa", "b", 1]),
    ({"items": {"type": "integer"}}, [[], [1], ["a"], {}]),
    ({"prefixItems": [{"type": "string"}], "items": False}, [["a"], ["a", 1], [1], []]),
    ({"contains": {"const": 1}, "minContains": 2}, [[1], [1, 1], [2]]),
    ({"uniqueItems": True}, [[1, 2], [1, 1.0], [{"a": 1}, {"a": 1}], [[1], [True]]]),
    ({"required": ["a"]}, [{}, {"a": None}, []]),
    ({"properties": {"a": {"type": "string"}}, "additionalProperties": False}, [{}, {"a": "x"}, {"a": 1}, {"b": 1}]),
    ({"patternProperties": {"^x-": {"type": "integer"}}}, [{"x-a": 1}, {"x-a": "b"}, {"y": "b"}]),
    ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}, {"abc": 1}]),
    ({"dependentRequired": {"a": ["b"]}}, [{"a": 1}, {"a": 1, "b": 2}, {"b": 1}]),
    ({"dependentSchemas": {"a": {"required": ["c"]}}}, [{"a": 1}, {"a": 1, "c": 2}]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}, [{"a": 1}, {"c": 1}, {}]),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [0, 1, 3]),
    ({"anyOf": [{"type": "string"}, {"minimum": 2}]}, ["a", 3, 1]),
    ({"oneOf": [{"minimum": 2}, {"type": "integer"}]}, [3, 1, 2.5, 1.5]),
    ({"not": {"type": "string"}}, ["a", 1]),
    ({"$defs": {"n": {"minimum": 1}}, "properties": {"a": {"$ref": "#/$defs/n"}}}, [{"a": 0}, {"a": 2}]),
    (
        {"properties": {"child": {"$ref": "#"}}, "additionalProperties": False},
        [{"child": {"child": {}}}, {"child": {"x": 1}}],
    ),
    ({"$id": "http://x.test/a", "$ref": "b", "$defs": {"b": {"$id": "b", "type": "string"}}}, ["a", 1]),
    ({"$anchor": "top", "items": {"$ref": "#top"}}, [[[]], 1]),
    ({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, [{"a": 1}, {"b": 1}]),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "additionalItems": False},
        [["a"], ["a", 1]],
    ),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": True}, [2, 3]),
]


@pytest.mark.parametrize(("schema", "instances"), CASES)
def test_two_validators_agree(schema: Any, instances: list[Any]) -> None:
    ours = compile_schema(schema)
    oracle = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
    for instance in instances:
        assert ours.valid(instance) == oracle.is_valid(instance), instance
        assert ours.valid(instance) == (ours.violations(instance) == [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON)
def test_any_json_gets_a_verdict_and_is_admitted(value: Any) -> None:
    schema = compile_schema({"type": "object", "properties": {"a": {"type": "integer", "default": 1}}, "anyOf": [True]})
    assert schema.valid(value) == (not schema.violations(value))
    if schema.valid(value):
        assert schema.valid(schema.admit(value))


def test_J02_every_keyword_is_enforced_and_served_as_written() -> None:
    written = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "from": {"type": "string"}, "to": {"type": "string"}},
        "oneOf": [{"required": ["id"]}, {"required": ["from", "to"]}],
    }
    schema = compile_schema(written)
    assert schema.written is written
    assert by_path(schema, {}) == {"": "needs id or from and to"}
    assert by_path(schema, {"id": "a", "from": "b", "to": "c"}) == {"": "fits more than one of its alternatives"}
    assert schema.valid({"id": "a"})


def test_J04_nothing_is_fetched() -> None:
    with pytest.raises(SchemaFault) as fault:
        of(a={"$ref": "http://127.0.0.1:9/a.json"})
    assert (fault.value.code, fault.value.pointer) == ("remote-ref", ("properties", "a", "$ref"))
    assert "http://127.0.0.1:9/a.json" in fault.value.message


@pytest.mark.parametrize(
    ("format_", "good", "bad"),
    [
        ("date-time", "2026-01-02T03:04:05Z", "soon"),
        ("date", "2026-01-02", "2026-02-30"),
        ("time", "03:04:05Z", "3pm"),
        ("duration", "P1D", "1 day"),
        ("email", "a@b.org", "a"),
        ("uri", "https://a.b/c", "not a uri"),
        ("uuid", "00000000-0000-0000-0000-000000000000", "0"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", ":::"),
        ("hostname", "a.b", "-a-"),
        ("regex", "a+", "("),
        ("json-pointer", "/a", "a"),
        ("uri-template", "a{b}", "a{b"),
    ],
)
def test_J06_formats_are_checked(format_: str, good: str, bad: str) -> None:
    schema = of(x={"type": "string", "format": format_})
    assert schema.valid({"x": good})
    assert list(by_path(schema, {"x": bad})) == ["x"]


def test_J09_integers() -> None:
    schema = of(n={"type": "integer"})
    admitted = schema.admit({"n": 60.0})["n"]
    assert admitted == 60 and type(admitted) is int and schema.valid({"n": 60.0})
    assert schema.admit({"n": 9007199254740993})["n"] == 9007199254740993
    assert schema.valid({"n": 10**5000})
    for no in (True, 1.5, "1", float("nan"), float("inf"), None):
        assert not schema.valid({"n": no})


def test_J14_a_pattern_ends_where_the_text_ends() -> None:
    schema = of(u={"type": "string", "pattern": "^[a-z]+$"})
    assert schema.valid({"u": "abc"})
    assert by_path(schema, {"u": "abc\n"}) == {"u": "must match ^[a-z]+$"}


def test_a_hostile_pattern_takes_linear_time() -> None:
    assert not compile_schema({"pattern": "^(a+)+$"}).valid("a" * 100_000 + "b")


@pytest.mark.parametrize("instance", [{"a": {1}}, {1: 2}, "\ud800", object(), {"a": b"x"}])
def test_what_is_no_json_fits_nothing(instance: Any) -> None:
    schema = compile_schema({"type": "string"})
    assert not schema.valid(instance)
    assert by_path(schema, instance) == {"": "is no JSON data"}


def test_violations_are_bounded() -> None:
    assert len(compile_schema({"items": {"type": "string"}}).violations(list(range(10_000)))) == 20


def test_hidden_values_are_never_repeated_at_any_depth() -> None:
    secret = {"type": "integer", "writeOnly": True}
    schema = of(pin=secret, box={"type": "object", "properties": {"pin": secret}}, open={"type": "integer"})
    found = by_path(schema, {"pin": "4711", "box": {"pin": "4712"}, "open": "4713"})
    assert found == {
        "pin": "must be an integer",
        "box.pin": "must be an integer",
        "open": 'must be an integer: send 4713, not "4713"',
    }


def test_nothing_inside_a_hidden_value_is_told() -> None:
    schema = compile_schema(
        {"properties": {"key": {"type": "object", "additionalProperties": {"type": "integer"}}}},
        hidden=frozenset({("key",)}),
    )
    assert by_path(schema, {"key": {"hunter2": "x"}}) == {"key": "does not fit"}
    anywhere = compile_schema({"items": {"writeOnly": True, "type": "integer"}})
    assert by_path(anywhere, ["12"]) == {"0": "must be an integer"}
