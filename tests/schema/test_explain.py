"""Tests of mcpdecl.schema.explain: messages that a model can act on."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.schema import compile_schema


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "string"}, 1, "must be a string"),
        ({"type": ["integer", "null"]}, "x", "must be null or an integer"),
        ({"maximum": 100}, 101, "must be at most 100"),
        ({"exclusiveMinimum": 0}, 0, "must be greater than 0"),
        ({"minLength": 1}, "", "must have at least 1 character"),
        ({"maxItems": 2}, [1, 2, 3], "must have at most 2 elements"),
        ({"enum": ["red", 1]}, "blue", 'must be one of "red", 1'),
        ({"const": "x"}, "y", 'must be "x"'),
        ({"pattern": "^a"}, "b", "must match ^a"),
        ({"format": "date"}, "soon", "must be a date"),
        ({"uniqueItems": True}, [1, 1], "must not hold the same element twice"),
        ({"not": {}}, 1, "must not be what it is"),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}, "c", 'must be one of "a", "b"'),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, 1, "must be a string or an array"),
        ({"anyOf": [{"required": ["id"]}, {"required": ["from", "to"]}]}, {}, "needs id or from and to"),
    ],
)
def test_messages(schema: Any, value: Any, message: str) -> None:
    assert [v.message for v in compile_schema(schema).violations(value)] == [message]


@pytest.mark.parametrize(
    ("type_", "sent", "message"),
    [
        ("integer", "2000", 'must be an integer: send 2000, not "2000"'),
        ("boolean", "true", 'must be a boolean: send true, not "true"'),
        ("integer", "12px", "must be an integer"),
        ("integer", " 5 ", "must be an integer"),
        ("integer", "1.5", "must be an integer"),
    ],
)
def test_J08_a_number_sent_as_text_is_answered_with_what_to_send(type_: str, sent: str, message: str) -> None:
    assert [v.message for v in compile_schema({"type": type_}).violations(sent)] == [message]


def test_an_unknown_property_is_told_with_the_nearest_known_one() -> None:
    schema = compile_schema(
        {"type": "object", "properties": {"branch": {}, "force": {}}, "additionalProperties": False}
    )
    found = {v.path: v.message for v in schema.violations({"brunch": 1, "zzz": 2})}
    assert found[("brunch",)] == "is not known here; did you mean branch?"
    assert found[("zzz",)] == "is not known here; known are branch, force"


def test_the_branch_that_was_meant_is_the_one_that_is_told() -> None:
    def kind(kind_: str, **more: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"const": kind_}, **more}, "required": ["kind", *more]}

    schema = compile_schema({"oneOf": [kind("a", size={"type": "integer"}), kind("b", name={"type": "string"})]})
    assert [(v.path, v.message) for v in schema.violations({"kind": "b", "name": 5})] == [
        (("name",), "must be a string")
    ]
