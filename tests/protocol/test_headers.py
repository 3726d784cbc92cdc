"""Headers that repeat the body must agree with it; over stdio there are none."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.protocol import Reply
from tests.protocol.standins import (
    META,
    Client,
    argument,
    catalogue,
    fault,
    mirrored,
    prompt,
    resource,
    runs,
    says,
    text,
    tool,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry"},
        "deep": {"type": "object", "properties": {"er": {"type": "string", "x-mcp-header": "Deeper"}}},
    },
}
CATALOGUE = catalogue(
    tool("t", runs("done"), SCHEMA),
    tool("wörk", runs("done")),
    prompt("p", says("Hello."), argument("a")),
    resource("r", "a:b", runs("text")),
)
CLIENT = Client(CATALOGUE, http=True)


def reply(body: dict[str, Any], **changes: str | None) -> Reply:
    headers = mirrored(body)
    for name, value in changes.items():
        key = name.replace("_", "-").lower()
        headers.pop(key, None)
        if value is not None:
            headers[key] = value
    return CLIENT.settle(CLIENT.plan(body, headers))


def mismatch(body: dict[str, Any], **changes: str | None) -> str:
    answer = reply(body, **changes)
    assert (fault(answer).code, answer.status, answer.id) == (-32020, 400, 1)
    return fault(answer).message


def call(**arguments: Any) -> dict[str, Any]:
    return CLIENT.body("tools/call", {"name": "t", "arguments": arguments})


def test_H08_headers_that_differ_or_are_missing() -> None:
    body = call()
    mismatch(body, Mcp_Name="other")
    mismatch(body, Mcp_Method="tools/list")
    mismatch(body, Mcp_Method="TOOLS/CALL")
    mismatch(body, Mcp_Method=None)
    mismatch(body, Mcp_Name=None)
    mismatch(body, MCP_Protocol_Version=None)
    mismatch(body, MCP_Protocol_Version="2025-11-25")
    mismatch(CLIENT.body("prompts/get", {}), Mcp_Name="x")
    mismatch(CLIENT.body("resources/read", {"uri": "a:b"}), Mcp_Name="a:c")


def test_H08_good_headers_also_encoded_or_padded() -> None:
    assert text(reply(call())) == "done"
    assert text(reply(call(), Mcp_Name="=?base64?dA==?=")) == "done"
    assert text(reply(call(), Mcp_Name="  t\t", Mcp_Method=" tools/call ")) == "done"
    body = CLIENT.body("tools/call", {"name": "wörk"})
    assert text(reply(body, Mcp_Name="=?base64?d8O2cms=?=")) == "done"
    assert "characters" in mismatch(body, Mcp_Name="wörk")


def test_H08_a_duplicated_header_is_a_mismatch() -> None:
    mismatch(call(), Mcp_Name="t, t")


def test_H08_a_mismatch_is_told_before_an_unsupported_version() -> None:
    body = CLIENT.body("server/discover", None, **{META + "protocolVersion": "v999.0.0"})
    mismatch(body, MCP_Protocol_Version="2026-07-28")
    assert fault(reply(body)).code == -32022


def test_the_envelope_is_looked_at_before_headers() -> None:
    body = CLIENT.body("server/discover")
    del body["params"]["_meta"][META + "clientCapabilities"]
    plan = CLIENT.plan(body, {"mcp-protocol-version": "2026-07-28"})
    assert isinstance(plan, Reply)
    assert fault(plan).code == -32602


def test_a_name_that_no_method_asks_for_is_ignored() -> None:
    assert not hasattr(reply(CLIENT.body("tools/list"), Mcp_Name="x").value, "code")


def test_a_missing_name_in_body_and_headers_is_a_bad_parameter() -> None:
    assert fault(reply(CLIENT.body("tools/call", {}))).code == -32602


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("Hello", "Hello"),
        ("Hello", "=?base64?SGVsbG8=?="),
        ("Hello", " Hello "),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("SGVsbG8=?=", "SGVsbG8=?="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("=?base64?=", "=?base64?="),
        ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
        ("", ""),
    ],
)
def test_string_parameters_compare_after_decoding(value: str, header: str) -> None:
    assert text(reply(call(region=value), Mcp_Param_Region=header)) == "done"


@pytest.mark.parametrize(
    "header",
    ["hello", "=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?SGVsbG9=?=", "=?base64?/w==?=", "Hellö", None],
)
def test_string_parameters_that_differ(header: str | None) -> None:
    mismatch(call(region="Hello"), Mcp_Param_Region=header)


@pytest.mark.parametrize("header", ["42", "42.0", "4.2e1", "=?base64?NDI=?="])
def test_integers_compare_as_numbers(header: str) -> None:
    assert text(reply(call(count=42), Mcp_Param_Count=header)) == "done"


@pytest.mark.parametrize("header", ["43", "042x", "", "NaN", "4_2", "1e999999999"])
def test_integers_that_differ(header: str) -> None:
    mismatch(call(count=42), Mcp_Param_Count=header)
    mismatch(call(count=10**500), Mcp_Param_Count=header)  # what no header can say equals nothing


def test_booleans_and_nested_properties() -> None:
    assert text(reply(call(dry=True, deep={"er": "x"}), Mcp_Param_Dry="true", Mcp_Param_Deeper="x")) == "done"
    mismatch(call(dry=True), Mcp_Param_Dry="True")
    mismatch(call(dry=False), Mcp_Param_Dry="0")
    mismatch(call(deep={"er": "x"}))


def test_null_counts_as_absent() -> None:
    body = call(region=None)
    assert not isinstance(reply(body).value, type(None))
    mismatch(body, Mcp_Param_Region="null")
    mismatch(call(), Mcp_Param_Region="x")


def test_over_stdio_nothing_is_mirrored() -> None:
    client = Client(CATALOGUE)
    assert text(client.call("t", {"region": "x"})) == "done"
