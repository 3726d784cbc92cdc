"""Tests of mcpdecl.schema.headers: the rules for x-mcp-header, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.schema import HeaderParameter, SchemaFault, header_parameters


def test_parameters_in_order_with_their_paths() -> None:
    schema = {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry-Run"}}},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "other": {"type": "string"},
        },
    }
    assert header_parameters(schema) == (
        HeaderParameter(("region",), "Region", "string"),
        HeaderParameter(("deep", "dry"), "Dry-Run", "boolean"),
        HeaderParameter(("n",), "N", "integer"),
    )


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"a": {"type": "string", "x-mcp-header": ""}}, "no name"),
        ({"a": {"type": "string", "x-mcp-header": "a b"}}, "no name"),
        ({"a": {"type": "string", "x-mcp-header": "a\r\nb"}}, "no name"),
        ({"a": {"type": "string", "x-mcp-header": "é"}}, "no name"),
        ({"a": {"type": "string", "x-mcp-header": 5}}, "no name"),
        ({"a": {"type": "number", "x-mcp-header": "A"}}, "type number"),
        ({"a": {"type": "object", "x-mcp-header": "A"}}, "type object"),
        ({"a": {"x-mcp-header": "A"}}, "type unknown"),
        ({"a": {"type": ["string", "null"], "x-mcp-header": "A"}}, "string or null"),
        ({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}, "is taken"),
        ({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}, "chain of properties"),
        ({"a": {"oneOf": [{"type": "string", "x-mcp-header": "A"}]}}, "chain of properties"),
        ({"a": {"type": "string", "x-mcp-header": "A", "writeOnly": True}}, "writeOnly"),
    ],
)
def test_what_clients_would_refuse_is_a_fault(properties: dict[str, Any], why: str) -> None:
    # spec: server/tools#x-mcp-header
    with pytest.raises(SchemaFault, match=why) as caught:
        header_parameters({"type": "object", "properties": properties})
    assert caught.value.code == "bad-header-parameter"
    assert caught.value.pointer[-1] == "x-mcp-header"


@pytest.mark.parametrize("word", ["$defs", "if", "allOf", "additionalProperties"])
def test_only_properties_lead_to_one(word: str) -> None:
    inner: Any = {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    held = {"$defs": {"x": inner}, "if": inner, "allOf": [inner], "additionalProperties": inner}[word]
    with pytest.raises(SchemaFault):
        header_parameters({"type": "object", word: held})


def head(name: Any = "Region", **more: Any) -> dict[str, Any]:
    return {"type": "string", "x-mcp-header": name, **more}


def test_parameters_are_found_where_properties_lead() -> None:
    schema = {
        "type": "object",
        "properties": {
            "region": head(),
            "deep": {
                "type": "object",
                "properties": {"n": head("N-1", type="integer"), "b": head("B", type="boolean")},
            },
            "x-mcp-header": {"type": "string"},
            "plain": {"type": "string", "default": {"x-mcp-header": "no annotation"}},
        },
    }
    assert header_parameters(schema) == (
        HeaderParameter(("region",), "Region", "string"),
        HeaderParameter(("deep", "n"), "N-1", "integer"),
        HeaderParameter(("deep", "b"), "B", "boolean"),
    )
    assert header_parameters(True) == ()


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"properties": {"a": head("")}}, ("properties", "a")),
        ({"properties": {"a": head("a b")}}, ("properties", "a")),
        ({"properties": {"a": head("a\r\nb")}}, ("properties", "a")),
        ({"properties": {"a": head("a\n")}}, ("properties", "a")),
        ({"properties": {"a": head("é")}}, ("properties", "a")),
        ({"properties": {"a": head(3)}}, ("properties", "a")),
        ({"properties": {"a": head(type="number")}}, ("properties", "a")),
        ({"properties": {"a": head(type=["string", "null"])}}, ("properties", "a")),
        ({"properties": {"a": {"x-mcp-header": "A"}}}, ("properties", "a")),
        ({"properties": {"a": head(), "b": head("REGION")}}, ("properties", "b")),
        ({"properties": {"a": {"items": head()}}}, ("properties", "a", "items")),
        (
            {"properties": {"a": {"items": {"properties": {"b": head()}}}}},
            ("properties", "a", "items", "properties", "b"),
        ),
        ({"anyOf": [{"properties": {"a": head()}}]}, ("anyOf", 0, "properties", "a")),
        ({"if": {"properties": {"a": head()}}}, ("if", "properties", "a")),
        ({"$defs": {"a": head()}}, ("$defs", "a")),
        ({"patternProperties": {"a": head()}}, ("patternProperties", "a")),
        (head(), ()),
        ({"properties": {"a": head(writeOnly=True)}}, ("properties", "a")),
    ],
)
def test_what_clients_refuse_is_a_fault(schema: Any, pointer: tuple[str | int, ...]) -> None:
    with pytest.raises(SchemaFault) as fault:
        header_parameters(schema)
    assert (fault.value.code, fault.value.pointer) == ("bad-header-parameter", (*pointer, "x-mcp-header"))
