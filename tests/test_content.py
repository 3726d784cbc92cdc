"""Tests of mcpdecl.content: how values become content."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import mcp_types
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.content import (
    Blocks,
    ContentFault,
    Contents,
    Shape,
    binary_block,
    is_text_mime,
    jsonable,
    text_block,
)
from mcpdecl.templates import ABSENT, Templates

PNG = b"\x89PNG\r\n\x1a\n\x00\xff"
ENCODED = base64.b64encode(PNG).decode()
T = Templates(None)


@dataclass
class Point:
    x: int
    y: list[float]


class Model(pydantic.BaseModel):
    a: int
    b: str | None = None


def blocks(data: Any, as_: str = "auto", mime: str | None = None, text: str | None = None) -> Blocks:
    shape = Shape(as_, T.template(text) if text is not None else None)
    return shape.blocks(data, mime, {"word": "w"})


def texts(found: Blocks) -> list[str]:
    return [block["text"] for block in found.items]


@pytest.mark.parametrize(
    ("data", "text", "structured"),
    [
        ("hello", "hello", ABSENT),
        (b"caf\xc3\xa9\n", "café\n", ABSENT),
        ({"a": 1}, '{"a":1}', {"a": 1}),
        ([1, "x"], '[1,"x"]', [1, "x"]),
        (3.5, "3.5", 3.5),
        (True, "true", True),
        (Point(1, [2.0]), '{"x":1,"y":[2.0]}', {"x": 1, "y": [2.0]}),
        (Model(a=1), '{"a":1,"b":null}', {"a": 1, "b": None}),
        ([Model(a=1)], '[{"a":1,"b":null}]', [{"a": 1, "b": None}]),
        ([], "[]", []),
    ],
)
def test_P04_values_without_a_declared_result(data: Any, text: str, structured: Any) -> None:
    found = blocks(data)
    assert texts(found) == [text]
    assert found.structured == structured or found.structured is structured


def test_P04_nothing_is_no_block() -> None:
    assert blocks(None) == Blocks(())
    assert blocks(ABSENT) == Blocks(())


def test_P04_bytes_are_binary_by_their_kind() -> None:
    assert blocks(PNG, mime="image/png").items == ({"type": "image", "data": ENCODED, "mimeType": "image/png"},)
    assert blocks(PNG).items[0]["resource"]["mimeType"] == "application/octet-stream"
    assert blocks(PNG, "audio/wav").items[0]["type"] == "audio"


def test_P04_content_objects_pass_through() -> None:
    block = {"type": "image", "data": ENCODED, "mimeType": "image/png"}
    assert blocks(block).items == (block,)
    assert blocks([block, {"type": "text", "text": "x"}]).items == (block, {"type": "text", "text": "x"})
    assert blocks(mcp_types.TextContent(type="text", text="hi")).items == ({"type": "text", "text": "hi"},)
    link = mcp_types.ResourceLink(type="resource_link", uri="x://1", name="n", mime_type="text/plain")
    assert blocks([link]).items == ({"type": "resource_link", "uri": "x://1", "name": "n", "mimeType": "text/plain"},)
    assert blocks(Blocks((text_block("x"),), error=True)).error


def test_data_that_has_a_type_of_its_own_is_data() -> None:
    assert blocks({"type": "text", "size": 3}).structured == {"type": "text", "size": 3}
    assert blocks([{"type": "text", "text": "a"}, {"id": 1}]).structured == [{"type": "text", "text": "a"}, {"id": 1}]


@pytest.mark.parametrize(
    "data", [{1, 2}, object(), float("nan"), [float("inf")], "\ud800", {"a": "\udfff"}, {1: 2}, {"a": b"x"}, Point]
)
def test_P03_what_is_no_json_is_a_fault_and_never_its_repr(data: Any) -> None:
    with pytest.raises(ContentFault):
        blocks(data)
    with pytest.raises(ContentFault):
        blocks(data, "json")


@pytest.mark.parametrize(
    ("as_", "data", "plain"),
    [
        ("auto", b"a\nb\n", "a\nb"),
        ("text", "a\n\n", "a\n"),
        ("lines", b"a\nb\n", ["a", "b"]),
        ("lines", "", []),
        ("json", b'{"a": [1]}', {"a": [1]}),
        ("json", {"a": 1}, {"a": 1}),
        ("jsonl", b'{"a":1}\n\n2\n', [{"a": 1}, 2]),
        ("auto", {"a": Point(1, [])}, {"a": {"x": 1, "y": []}}),
        ("auto", b"\xff", "\ufffd"),
    ],
)
def test_plain_values(as_: str, data: Any, plain: Any) -> None:
    assert Shape(as_).plain(data, None) == plain


def test_declared_results() -> None:
    assert blocks(b"a\nb\n", "lines") == Blocks((text_block('["a","b"]'),), structured=["a", "b"])
    assert blocks(b'{"a":1}', "json").structured == {"a": 1}
    assert blocks(b"# x", "text/markdown").items == (text_block("# x"),)
    assert blocks(PNG, "image/png").items == (binary_block(PNG, "image/png"),)
    assert texts(blocks({"a": 1}, "text")) == ['{"a":1}']


def test_a_text_over_the_value() -> None:
    found = blocks(b'{"a": [1, 2]}', "json", text="{{ word }}: {{ result.a | length }}")
    assert texts(found) == ["w: 2"]
    assert found.structured == {"a": [1, 2]}
    assert texts(blocks(b"x\n", "text", text="[{{ result }}]")) == ["[x]"]


@pytest.mark.parametrize("data", [b"{", b"nope", b'{"a": NaN}', b"\xff"])
def test_promised_json_that_is_none_is_a_fault(data: bytes) -> None:
    with pytest.raises(ContentFault):
        Shape("json").plain(data, None)


@pytest.mark.parametrize(
    ("mime", "data", "expected"),
    [
        (None, "text", {"mimeType": "text/plain", "text": "text"}),
        (None, b"text", {"mimeType": "text/plain", "text": "text"}),
        (None, PNG, {"mimeType": "application/octet-stream", "blob": ENCODED}),
        ("image/png", PNG, {"mimeType": "image/png", "blob": ENCODED}),
        ("application/xml", b"<a/>", {"mimeType": "application/xml", "text": "<a/>"}),
        ("text/plain", b"caf\xe9", {"mimeType": "text/plain", "text": "caf\ufffd"}),
        ("application/json", {"a": 1}, {"mimeType": "application/json", "text": '{"a":1}'}),
        ("image/png", b"plain text", {"mimeType": "image/png", "blob": base64.b64encode(b"plain text").decode()}),
    ],
)
def test_R08_contents_of_a_resource(mime: str | None, data: Any, expected: dict[str, Any]) -> None:
    assert Shape().contents("x://1", mime, data).items == ({"uri": "x://1", **expected},)


def test_R08_blocks_as_contents() -> None:
    found = Shape().contents("x://1", None, Blocks((text_block("a"), binary_block(PNG, "image/png"))))
    assert [set(item) for item in found.items] == [{"uri", "mimeType", "text"}, {"uri", "mimeType", "blob"}]
    assert Shape().contents("x://1", None, found) is found
    with pytest.raises(ContentFault):
        Shape().contents("x://1", None, Blocks(({"type": "resource_link", "uri": "a:b", "name": "n"},)))


def test_contents_as_a_tool_result() -> None:
    item = {"uri": "x://1", "text": "t"}
    assert blocks(Contents((item,))).items == ({"type": "resource", "resource": item},)


@pytest.mark.parametrize("mime", ["text/plain", "text/x-any; charset=utf-8", "application/json", "application/ld+json"])
def test_text_types(mime: str) -> None:
    assert is_text_mime(mime)
    assert not is_text_mime("application/octet-stream")
    assert not is_text_mime(None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
    max_leaves=10,
)


@given(JSON, st.sampled_from(["auto", "text", "json", "jsonl", "lines", "image/png", "text/html"]))
def test_what_comes_out_can_always_be_sent(data: Any, as_: str) -> None:
    try:
        found = blocks(data, as_)
    except ContentFault:
        return
    sent = msgspec.json.decode(msgspec.json.encode({"content": found.items}))
    assert "NaN" not in str(sent)
    mcp_types.CallToolResult.model_validate(sent)


def test_numbers_of_other_kinds_become_plain_ones() -> None:
    class Level(int):
        pass

    assert type(jsonable(Level(5))) is int
    assert jsonable((1, 2)) == [1, 2]
