"""Tests of mcpdecl.schema.judge: values that fit, values that do not, and what is never repeated."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.schema import compile_schema


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
