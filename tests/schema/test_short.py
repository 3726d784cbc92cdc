"""Tests of mcpdecl.schema.short: the short form of a schema."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.schema import SchemaFault, properties_from_short


def test_optional_by_question_mark_or_default() -> None:
    fields = {
        "word": {"type": "string", "minLength": 1},
        "author?": "string",
        "limit": {"type": "integer", "default": 20},
    }
    schema, places = properties_from_short(fields, closed=True)
    assert schema == {
        "type": "object",
        "properties": {
            "word": {"type": "string", "minLength": 1},
            "author": {"type": "string"},
            "limit": {"type": "integer", "default": 20},
        },
        "required": ["word"],
        "additionalProperties": False,
    }
    assert list(schema["properties"]) == ["word", "author", "limit"]
    assert places["properties", "author"] == ("author?",)


def test_open_and_empty() -> None:
    assert properties_from_short({}, closed=False)[0] == {"type": "object", "properties": {}}
    assert properties_from_short({"a?": True}, closed=False)[0]["properties"] == {"a": True}


def test_a_property_may_be_called_type() -> None:
    assert properties_from_short({"type": "string"}, closed=True)[0]["properties"] == {"type": {"type": "string"}}


@pytest.mark.parametrize(
    ("fields", "pointer", "words"),
    [
        ({"type": "object", "properties": {}}, ("type",), "type: object"),
        ({"a": "strnig"}, ("a",), "There is no type .strnig"),
        ({"a": None}, ("a",), "needs a type"),
        ({"a": "string", "a?": "string"}, ("a?",), "twice"),
        ({"?": "string"}, ("?",), "name is missing"),
    ],
)
def test_faults_point_into_the_short_form(fields: dict[str, Any], pointer: tuple[str, ...], words: str) -> None:
    with pytest.raises(SchemaFault, match=words) as caught:
        properties_from_short(fields, closed=True)
    assert caught.value.pointer == pointer


def test_a_near_miss_is_named() -> None:
    with pytest.raises(SchemaFault) as caught:
        properties_from_short({"a": "strnig"}, closed=True)
    assert caught.value.hint == "Did you mean string?"
