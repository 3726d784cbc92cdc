"""Tests of mcpdecl.schema.reading: faults and warnings of a schema as its author wrote it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.diagnostics import CODES
from mcpdecl.schema import SchemaFault, compile_schema, read_faults, served


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


def codes(schema: Any, **more: Any) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(f.code, f.pointer) for f in read_faults(schema, **more)]


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "code", "pointer", "told", "hint"),
    [
        ({"type": "strng"}, "invalid-schema", ("type",), "'strng'", "string"),
        ({"properties": {"a": {"type": "int"}}}, "invalid-schema", ("properties", "a", "type"), "'int'", "integer"),
        (
            {"properties": {"a": {"required": True}}},
            "invalid-schema",
            ("properties", "a", "required"),
            "list",
            "beside",
        ),
        ({"properties": []}, "invalid-schema", ("properties",), "properties must be an object", ""),
        ({"minimum": "1"}, "invalid-schema", ("minimum",), "minimum must be a number", ""),
        ({"required": ["a", "a"]}, "invalid-schema", ("required",), "twice", ""),
        ({"pattern": "("}, "invalid-schema", ("pattern",), "pattern", "lookaround"),
        ({"pattern": "(?=a)^$"}, "invalid-schema", ("pattern",), "pattern", "lookaround"),
        ({"pattern": "^(x{1000}){1000}$"}, "invalid-schema", ("pattern",), "pattern", ""),
        ([], "invalid-schema", (), "mapping", ""),
        (None, "invalid-schema", (), "mapping", ""),
        ({"properties": {1: {}}}, "invalid-schema", ("properties",), "quote", ""),
        ({"title": "\ud800"}, "invalid-schema", (), "JSON", ""),
        (nested(70), "invalid-schema", ("items",) * 8, "deep", ""),
        (nested(5000), "invalid-schema", ("items",) * 8, "deep", ""),
        ({"enum": list(range(200_000))}, "invalid-schema", (), "100000 values", ""),
        ({"allOf": [{}] * 20_000}, "invalid-schema", (), "10000 schemas", ""),
        ({"$schema": "http://x.test/s"}, "unknown-dialect", ("$schema",), "http://x.test/s", "2020-12"),
        ({"$schema": 3}, "unknown-dialect", ("$schema",), "3", ""),
        (
            {"$defs": {"a": {"$id": "http://a.test/", "$schema": "http://x.test"}}},
            "unknown-dialect",
            ("$defs", "a", "$schema"),
            "x.test",
            "",
        ),
        ({"$ref": "https://x.test/a.json"}, "remote-ref", ("$ref",), "https://x.test/a.json", "$defs"),
        ({"items": {"$ref": "other.json"}}, "remote-ref", ("items", "$ref"), "other.json", "$defs"),
        ({"items": {"$ref": "file:///etc/passwd"}}, "remote-ref", ("items", "$ref"), "file:///etc/passwd", ""),
        ({"$defs": {"unused": {"$ref": "http://x.test/"}}}, "remote-ref", ("$defs", "unused", "$ref"), "x.test", ""),
        ({"$ref": "#/$defs/nam", "$defs": {"name": {}}}, "invalid-schema", ("$ref",), "#/$defs/nam", "#/$defs/name"),
        ({"$ref": "#nowhere"}, "invalid-schema", ("$ref",), "nowhere", ""),
        (
            {"properties": {"a": {"type": "integer", "default": "x"}}},
            "bad-default",
            ("properties", "a", "default"),
            "must be an integer",
            "",
        ),
        (
            {"properties": {"a": {"type": "string", "default": None}}},
            "bad-default",
            ("properties", "a", "default"),
            "a string",
            "Leave default out",
        ),
        (
            {"properties": {"a b": {"$ref": "#/$defs/x", "default": 0}}, "$defs": {"x": {"minimum": 1}}},
            "bad-default",
            ("properties", "a b", "default"),
            "at least 1",
            "",
        ),
        (
            {"default": {"n": 0}, "properties": {"n": {"minimum": 1}}},
            "bad-default",
            ("default",),
            "n: must be at least 1",
            "",
        ),
    ],
)
def test_faults(schema: Any, code: str, pointer: tuple[str | int, ...], told: str, hint: str) -> None:
    fault = next(f for f in read_faults(schema) if CODES[f.code].severity == "error")
    assert (fault.code, fault.pointer) == (code, pointer)
    assert told in fault.message and hint in fault.hint
    with pytest.raises(SchemaFault) as raised:
        compile_schema(schema)
    assert (raised.value.code, raised.value.pointer) == (code, pointer)


def test_faults_are_told_in_the_order_of_the_document() -> None:
    schema = {
        "properties": {"a": {"type": "str"}, "b": {"minimum": "x"}, "c": {"$ref": "http://x.test/"}, "d": {"typ": 1}}
    }
    assert codes(schema) == [
        ("invalid-schema", ("properties", "a", "type")),
        ("invalid-schema", ("properties", "b", "minimum")),
        ("remote-ref", ("properties", "c", "$ref")),
        ("unknown-keyword", ("properties", "d", "typ")),
    ]


@pytest.mark.parametrize(
    ("schema", "code", "pointer", "hint"),
    [
        ({"properties": {"f": {}}, "requird": ["f"]}, "unknown-keyword", ("requird",), "required"),
        ({"items": {"nullable": True}}, "unknown-keyword", ("items", "nullable"), "x-"),
        ({"format": "datetime"}, "unknown-format", ("format",), "date-time"),
        ({"format": "colour"}, "unknown-format", ("format",), "date-time"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "format": "uuid"},
            "unknown-format",
            ("format",),
            "uuid",
        ),
        ({"properties": {"Straße nr.": {}}}, "bad-property-name", ("properties", "Straße nr."), "title"),
        ({"properties": {"a" * 65: {}}}, "bad-property-name", ("properties", "a" * 65), "64"),
    ],
)
def test_warnings(schema: Any, code: str, pointer: tuple[str | int, ...], hint: str) -> None:
    (warning,) = read_faults(schema)
    assert (warning.code, warning.pointer) == (code, pointer)
    assert hint in warning.hint and CODES[code].severity == "warning"
    compile_schema(schema)


def test_J12_names_matter_only_where_clients_send_them() -> None:
    schema = {"properties": {"Straße": {}}}
    assert codes(schema) and not codes(schema, role="output")


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"properties": {"typ": {"within": "docs", "complete": {}, "writeOnly": True}}, "x-own": {"typ": 1}},
        {"enum": [{"typ": 1, "$ref": "http://x.test/"}], "default": {"typ": 1, "$ref": 3}, "examples": [{"type": "x"}]}
        | {"enum": [{"typ": 1, "$ref": 3}]},
        {
            "$id": "http://a.test/s",
            "$defs": {"b": {"$id": "b"}},
            "items": {"$ref": "b"},
            "contains": {"$ref": "http://a.test/b"},
        },
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {
            "$anchor": "a",
            "items": {"$ref": "#a"},
            "contains": {"$ref": "#/items"},
            "not": {"$ref": "#/$defs/x~1y"},
            "$defs": {"x/y": {}},
        },
        {"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"a": {}},
            "items": {"$ref": "#/definitions/a"},
        },
        {"$schema": "http://json-schema.org/draft-04/schema", "id": "http://a.test/", "dependencies": {"a": ["b"]}},
        nested(60),
    ],
)
def test_what_is_in_order(schema: Any) -> None:
    assert codes(schema) == []
    compile_schema(schema)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "$ref", "anyOf", "default", "required", "format", "$schema", "a"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANY)
def test_any_data_is_a_schema_or_has_a_fault(data: Any) -> None:
    errors = [f for f in read_faults(data) if CODES[f.code].severity == "error"]
    if errors:
        with pytest.raises(SchemaFault):
            compile_schema(data)
    else:
        compile_schema(data).violations({"a": 1})
    for fault in errors:
        at = data
        for step in fault.pointer:
            at = at[step]


def test_served_leaves_out_our_own_words() -> None:
    written = {
        "type": "object",
        "properties": {
            "within": {"type": "string", "within": "docs", "writeOnly": True},
            "complete": {"items": {"anyOf": [{"within": "x", "type": "string"}]}, "complete": {"command": ["ls"]}},
        },
        "default": {"within": "data"},
    }
    assert served(written) == {
        "type": "object",
        "properties": {
            "within": {"type": "string", "writeOnly": True},
            "complete": {"items": {"anyOf": [{"type": "string"}]}},
        },
        "default": {"within": "data"},
    }
    assert served(True) is True
