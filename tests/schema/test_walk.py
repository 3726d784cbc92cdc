"""Tests of mcpdecl.schema.walk: where the subschemas of a schema are."""

from __future__ import annotations

from mcpdecl.schema.walk import at, subschemas, without_own_words

SCHEMA = {
    "properties": {"properties": {"const": {"items": {}}}, "a": {"items": [{}, {"not": {}}]}},
    "$defs": {"x": {"enum": [{"type": "no schema"}]}},
    "default": {"properties": {"no": {}}},
    "if": {},
}


def test_data_that_looks_like_a_schema_is_none() -> None:
    assert [pointer for pointer, _ in subschemas(SCHEMA)] == [
        (),
        ("properties", "properties"),
        ("properties", "a"),
        ("properties", "a", "items", 0),
        ("properties", "a", "items", 1),
        ("properties", "a", "items", 1, "not"),
        ("$defs", "x"),
        ("if",),
    ]


def test_pointers() -> None:
    document = {"a/b": [{"~": 1}]}
    assert at(document, "#/a~1b/0/~0") == (True, 1)
    assert at(document, "#") == (True, document)
    assert at(document, "#/none") == (False, None)
    assert at(document, "#/a~1b/7") == (False, None)


def test_our_own_words_are_left_out_and_names_stay() -> None:
    written = {
        "properties": {"within": {"within": "x", "type": "string"}},
        "items": {"complete": 1},
        "const": {"within": 1},
    }
    assert without_own_words(written) == {
        "properties": {"within": {"type": "string"}},
        "items": {},
        "const": {"within": 1},
    }
