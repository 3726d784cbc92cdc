from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.manifest.faults import Faults
from mcpdecl.manifest.plain import data, option, schema
from mcpdecl.manifest.source import Node, compose


def node(text: str) -> Node:
    nodes, found = compose(text, "m.yaml")
    assert not found
    return nodes[0]


def of_schema(text: str) -> Any:
    faults = Faults()
    made = schema(node(text), faults, ())
    assert not faults.found
    return made


ONE = {"type": "string", "const": "1"}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("{type: string, default: 02142}", {"type": "string", "default": "02142"}),
        ("{type: string, const: true}", {"type": "string", "const": "true"}),
        ("{type: string, enum: [1.10, no, null]}", {"type": "string", "enum": ["1.10", "no", "null"]}),
        ("{type: string, examples: [12:30:45, 007]}", {"type": "string", "examples": ["12:30:45", "007"]}),
        ("{type: [string, 'null'], default: null}", {"type": ["string", "null"], "default": None}),
        ("{type: [string, 'null'], default: 1.10}", {"type": ["string", "null"], "default": "1.10"}),
        ("{type: [string, integer], default: 7}", {"type": ["string", "integer"], "default": 7}),
        ("{type: integer, default: 7, minimum: 0x10}", {"type": "integer", "default": 7, "minimum": 16}),
        ("{enum: [python, 1, true]}", {"enum": ["python", 1, True]}),
        ("{type: number, default: '7'}", {"type": "number", "default": "7"}),
        ("{description: 1.10, title: null, pattern: 007}", {"description": "1.10", "title": "null", "pattern": "007"}),
        ("{required: [on, 1.10], properties: {on: true}}", {"required": ["on", "1.10"], "properties": {"on": True}}),
        ("{required: true}", {"required": True}),
        ("{type: null}", {"type": "null"}),
        ("{x-mcp-header: 007, format: date, within: 1}", {"x-mcp-header": "007", "format": "date", "within": "1"}),
        ("{$ref: a, $defs: {a: {type: string, const: 1}}}", {"$ref": "a", "$defs": {"a": ONE}}),
        ("{properties: {default: {type: string, const: 1}, title: x}}", {"properties": {"default": ONE, "title": "x"}}),
        ("{anyOf: [{type: string, const: 1}, {const: 1}]}", {"anyOf": [ONE, {"const": 1}]}),
        ("{items: {type: string}, default: [01, 02]}", {"items": {"type": "string"}, "default": ["01", "02"]}),
    ],
)  # fmt: skip
def test_schemas_keep_text_where_text_is_meant(text: str, made: Any) -> None:
    assert of_schema(text) == made


def test_defaults_of_objects_follow_their_properties() -> None:
    made = of_schema("{properties: {a: {type: string, const: 1}}, default: {a: 01, b: 2}}")
    assert made == {"properties": {"a": ONE}, "default": {"a": "01", "b": 2}}


def test_what_is_ambiguous_has_its_place() -> None:
    faults = Faults()
    schema(node("{properties: {a: {enum: [01]}}}"), faults, ("tools", "t", "inputSchema"))
    (found,) = faults.found
    assert "tools.t.inputSchema.properties.a.enum[0]" in found.message
    assert found.span is not None and found.span.column == 25


def test_data_is_json() -> None:
    faults = Faults()
    assert data(node("{a: [1, '1', 1.5, null, yes]}"), faults, ()) == {"a": [1, "1", 1.5, None, "yes"]}
    assert not faults.found


def test_options_keep_what_is_written_except_switches() -> None:
    assert option(node("[true, false, null, 'true', 1.10, 007, .inf, {a: ~}]")) == [
        True,
        False,
        None,
        "true",
        "1.10",
        "007",
        ".inf",
        {"a": None},
    ]
