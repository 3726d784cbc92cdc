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


def told(schema: Any, instance: Any) -> list[str]:
    found = compile_schema(schema).violations(instance)
    return [f"{'.'.join(map(str, v.path))}: {v.message}" if v.path else v.message for v in found]


TAGGED = {
    "oneOf": [
        {"properties": {"kind": {"const": "file"}, "path": {"type": "string"}}, "required": ["kind", "path"]},
        {"properties": {"kind": {"const": "url"}, "url": {"type": "string"}}, "required": ["kind", "url"]},
    ]
}


@pytest.mark.parametrize(
    ("schema", "instance", "expected"),
    [
        ({"type": "integer"}, "x", ["must be an integer"]),
        ({"type": "integer"}, "2000", ['must be an integer: send 2000, not "2000"']),
        ({"type": "boolean"}, "true", ['must be a boolean: send true, not "true"']),
        ({"type": "integer"}, "1.5", ["must be an integer"]),
        ({"type": "integer"}, " 5 ", ["must be an integer"]),
        ({"type": "integer"}, "05", ["must be an integer"]),
        ({"type": ["integer", "null"]}, [], ["must be null or an integer"]),
        ({"type": ["string", "array", "object"]}, 1, ["must be a string, an array or an object"]),
        ({"minimum": 1}, 0, ["must be at least 1"]),
        ({"maximum": 100}, 101, ["must be at most 100"]),
        ({"exclusiveMinimum": 0.5}, 0.5, ["must be greater than 0.5"]),
        ({"exclusiveMaximum": 1}, 1, ["must be less than 1"]),
        ({"multipleOf": 5}, 6, ["must be a multiple of 5"]),
        ({"minLength": 1}, "", ["must have at least 1 character"]),
        ({"maxLength": 2}, "abc", ["must have at most 2 characters"]),
        ({"minItems": 2}, [], ["must have at least 2 elements"]),
        ({"maxItems": 1}, [1, 2], ["must have at most 1 element"]),
        ({"maxProperties": 0}, {"a": 1}, ["must have at most 0 members"]),
        ({"uniqueItems": True}, [1, 1], ["must not hold the same element twice"]),
        ({"pattern": "^a$"}, "b", ["must match ^a$"]),
        ({"format": "date"}, "b", ["must be a date"]),
        ({"enum": ["a", None, 1]}, "b", ['must be one of "a", null, 1']),
        ({"enum": ["a"]}, "b", ['must be "a"']),
        ({"const": {"a": 1}}, "b", ['must be {"a":1}']),
        ({"contains": {"const": 1}}, [], ["lacks an element of the kind it must contain"]),
        ({"properties": {"a": False}}, {"a": 1}, ["a: must not be there"]),
        ({"not": {"type": "string"}}, "a", ["must not be what it is"]),
        ({"propertyNames": {"pattern": "^a"}}, {"b": 1}, ["has a name that must match ^a"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, ["must be a string or null"]),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "c", ['must be one of "a", "b"']),
        ({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 3}]}, 1, ["must be at least 3"]),
        (TAGGED, {"kind": "url"}, ["url: is missing"]),
        (TAGGED, {"kind": "file", "path": 1}, ["path: must be a string"]),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}, {}, ["needs a or b and c"]),
        ({"items": {"properties": {"a": {"type": "null"}}}}, [{}, {"a": 1}], ["1.a: must be null"]),
        ({"prefixItems": [True], "unevaluatedItems": False}, [1, 2], ["has elements that it must not have"]),
    ],
)
def test_more_messages(schema: Any, instance: Any, expected: list[str]) -> None:
    assert told(schema, instance) == expected


def test_P12_every_fault_has_its_name() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["city"],
    }
    assert sorted(told(schema, {"n": "five"})) == ["city: is missing", "n: must be an integer"]


def test_unexpected_names_get_the_nearest() -> None:
    schema = {"properties": {"limit": {}, "word": {}}, "additionalProperties": False}
    assert told(schema, {"limt": 1}) == ["limt: is not known here; did you mean limit?"]
    assert told(schema, {"zzz": 1}) == ["zzz: is not known here; known are limit, word"]
    assert told({"additionalProperties": False}, {"zzz": 1}) == ["must have no members"]
    nested = {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": schema}}
    assert told(nested, {"a": {"wrd": 1}}) == ["a.wrd: is not known here; did you mean word?"]


def test_long_lists_are_cut() -> None:
    (message,) = told({"enum": list(range(100))}, "x")
    assert message.endswith(" and 70 more")
