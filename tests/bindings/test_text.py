"""Tests of mcpdecl.bindings.text: text, templates, content blocks and messages."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from mcpdecl import bindings
from mcpdecl.catalogue import Failure, Outcome, Value
from mcpdecl.content import Blocks, Contents, Messages
from mcpdecl.templates import ABSENT
from tests.bindings.site import FakeCall, Faults, scope, site

pytestmark = pytest.mark.anyio
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def made(fields: dict[str, Any], root: Path, *, call: FakeCall | None = None, **given: Any) -> Outcome:
    faults = Faults()
    bound = bindings.bind(fields, site(root, faults, arguments={g: {} for g in given}))
    assert bound is not None, faults.found
    values = scope(given, **{k: v for k, v in given.items() if v is not ABSENT})
    return bound.render(values) if bound.pure else await bound.run(values, call or FakeCall(root))


async def blocks(content: list[Any], root: Path, **given: Any) -> Any:
    outcome = await made({"content": content}, root, **given)
    assert isinstance(outcome, Value), outcome
    assert isinstance(outcome.data, Blocks)
    return list(outcome.data.items)


def faults(fields: dict[str, Any], root: Path) -> list[str]:
    found = Faults()
    assert bindings.bind(fields, site(root, found)) is None
    return found.codes


async def test_text_and_template(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "t.j2").write_text("Hi {{ who }}\n")
    assert await made({"text": "Hello {{ who }}"}, tmp_path, who="you") == Value("Hello you")
    assert await made({"template": "t.j2"}, tmp_path, who="you") == Value("Hi you\n")
    assert faults({"template": "none.j2"}, tmp_path) == ["bad-template"]


async def test_blocks_of_every_type(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PNG)
    encoded = base64.b64encode(PNG).decode()
    found = await blocks(
        [
            {"text": "a {{ x }}", "annotations": {"priority": 0.5}},
            {"image": "dot.png"},
            {"image": {"data": encoded, "mimeType": "image/png"}},
            {"audio": {"data": "AAAA", "mimeType": "audio/wav"}},
            {"link": {"uri": "x://{{ x }}", "name": "n"}},
            {"link": "x://y"},
            {"resource": {"uri": "x://{{ x }}", "mimeType": "text/plain", "text": "t"}},
            {"resource": {"uri": "x://f", "file": "dot.png"}},
        ],
        tmp_path,
        x="1",
    )
    image = {"type": "image", "data": encoded, "mimeType": "image/png"}
    assert found == [
        {"type": "text", "text": "a 1", "annotations": {"priority": 0.5}},
        image,
        image,
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "x://1", "name": "n"},
        {"type": "resource_link", "uri": "x://y", "name": "x://y"},
        {"type": "resource", "resource": {"uri": "x://1", "mimeType": "text/plain", "text": "t"}},
        {"type": "resource", "resource": {"uri": "x://f", "mimeType": "image/png", "blob": encoded}},
    ]


async def test_a_block_may_be_left_out(tmp_path: Path) -> None:
    content = [{"text": "a", "if": "x"}, {"text": "b", "if": "not x"}, {"link": {"uri": "{{ y }}", "name": "n"}}]
    assert await blocks(content, tmp_path, x=False, y=ABSENT) == [{"type": "text", "text": "b"}]


async def test_a_block_may_run(tmp_path: Path) -> None:
    content = [
        {"text": "before"},
        {"command": ["printf", "%s", "{{ x }}"]},
        {"command": ["printf", "[1]"], "result": "json"},
    ]
    assert await blocks(content, tmp_path, x="y") == [{"type": "text", "text": t} for t in ("before", "y", "[1]")]
    outcome = await made({"content": [{"command": ["false"]}]}, tmp_path)
    assert isinstance(outcome, Failure)


async def test_binary_from_a_binding(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PNG)
    found = await blocks([{"image": {"command": ["cat", "dot.png"], "mimeType": "image/png"}}], tmp_path)
    assert found == [{"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}]


async def test_an_error_result(tmp_path: Path) -> None:
    outcome = await made({"content": [{"text": "no"}], "error": True}, tmp_path)
    assert isinstance(outcome, Value)
    assert outcome.data.error is True


async def test_messages(tmp_path: Path) -> None:
    call = FakeCall(tmp_path, resources={"x://1": Value(Contents(({"uri": "x://1", "text": "t"},)))})
    messages = [{"user": "Hi {{ n }}"}, {"user": {"resource": "x://{{ n }}"}}, {"assistant": "Yes.", "if": "n == '1'"}]
    outcome = await made({"messages": messages}, tmp_path, call=call, n="1")
    assert isinstance(outcome, Value)
    assert outcome.data == Messages(
        (
            {"role": "user", "content": {"type": "text", "text": "Hi 1"}},
            {"role": "user", "content": {"type": "resource", "resource": {"uri": "x://1", "text": "t"}}},
            {"role": "assistant", "content": {"type": "text", "text": "Yes."}},
        )
    )
    missing = await made({"messages": messages}, tmp_path, call=FakeCall(tmp_path), n="2")
    assert missing == Failure("There is no resource x://2.")


@pytest.mark.parametrize(
    ("block", "code"),
    [
        ({"image": "none.png"}, "file-not-found"),
        ({"image": "notes.txt"}, "unknown-mime"),
        ({"image": {"data": "%%", "mimeType": "image/png"}}, "bad-base64"),
        ({"text": "{{ nope }}"}, "undefined-name"),
        ({"text": "{{"}, "bad-template"),
        ({}, "no-binding"),
        ({"text": "a", "command": ["true"]}, "two-bindings"),
    ],
)
def test_faults_of_blocks(tmp_path: Path, block: Any, code: str) -> None:
    (tmp_path / "notes.txt").write_text("x")
    assert faults({"content": [block]}, tmp_path) == [code]


async def test_what_content_reads(tmp_path: Path) -> None:
    content = [{"text": "{{ a.b }}", "if": "c"}, {"link": {"uri": "{{ d }}", "name": "n"}}]
    bound = bindings.bind({"content": content}, site(tmp_path, arguments={n: {} for n in "abcd"}))
    assert bound is not None
    assert bound.reads == {("a", "b"), ("c",), ("d",)}
    assert bound.pure


async def test_R06_the_text_of_a_file_is_no_template(tmp_path: Path) -> None:
    (tmp_path / "doc.txt").write_text("{{ nope }} {% x %}")
    block = {"resource": {"uri": "x://doc", "file": "doc.txt", "_meta": {"a": 1}}}
    made = bindings.bind({"content": [block]}, site(tmp_path))
    assert made is not None and made.pure
    outcome = made.render(scope({}))
    assert isinstance(outcome, Value)
    held = {"uri": "x://doc", "_meta": {"a": 1}, "mimeType": "text/plain", "text": "{{ nope }} {% x %}"}
    assert outcome.data.items == ({"type": "resource", "resource": held},)


async def test_R08_bytes_always_say_what_they_are(tmp_path: Path) -> None:
    for word in ("blob", "data"):
        made = bindings.bind({"content": [{"resource": {"uri": "x://a", word: "aGk="}}]}, site(tmp_path))
        assert made is not None
        outcome = made.render(scope({}))
        assert isinstance(outcome, Value)
        held = {"uri": "x://a", "mimeType": "application/octet-stream", "blob": "aGk="}
        assert outcome.data.items == ({"type": "resource", "resource": held},)


@pytest.mark.parametrize(
    ("block", "code"),
    [
        ({"image": {"data": "aGk="}}, "unknown-mime"),
        ({"image": {"mimeType": "image/png"}}, "missing-key"),
        ({"resource": {"text": "x"}}, "missing-key"),
        ({"resource": {"uri": "x://a"}}, "missing-key"),
        ({"resource": {"uri": "x://a", "blob": "%%"}}, "bad-base64"),
    ],
)
def test_a_block_that_would_silently_fall_away_is_told(tmp_path: Path, block: Any, code: str) -> None:
    faults = Faults()
    assert bindings.bind({"content": [block]}, site(tmp_path, faults)) is None
    assert faults.codes == [code]
