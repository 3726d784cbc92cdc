"""Getting a prompt: strings become values, and everything that is wrong is told."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.catalogue import Failure, Missing
from mcpdecl.content import Blocks, Messages
from mcpdecl.protocol import Reply
from tests.protocol.standins import Client, argument, catalogue, fault, holds, prompt, result, runs, says, sent

FILES = argument("files", {"type": "array", "items": {"type": "string"}}, required=True)
DEEP = argument("deep", {"type": "boolean"}, default=False)
WORD = argument("word")


def get(name: str, arguments: Any, *items: Any) -> Reply:
    return Client(catalogue(*items)).send("prompts/get", {"name": name, "arguments": arguments})


def said(reply: Reply) -> str:
    (message,) = result(reply)["messages"]
    assert message["role"] == "user"
    return str(message["content"]["text"])


REVIEW = prompt("rev", says("{{ files }} {{ deep }} [{{ word }}]"), FILES, DEEP, WORD, description="Reviews.")


def test_R12_strings_are_parsed_as_declared() -> None:
    reply = get("rev", {"files": '["a","b"]', "deep": "true", "word": "null"}, REVIEW)
    assert said(reply) == '["a","b"] true [null]'
    assert result(reply)["description"] == "Reviews."
    assert said(get("rev", {"files": "[]", "word": "1"}, REVIEW)) == "[] false [1]"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"files": ["a"]}, "files"),
        ({"files": "a,b"}, "files"),
        ({"files": "[1]"}, "files"),
        ({"files": "[]", "deep": "maybe"}, "deep"),
        ({"files": "[]", "deep": '"true"'}, "deep"),
        ({"files": "[]", "deep": "NaN"}, "deep"),
        ({"files": "[]", "wrod": "x"}, "wrod"),
        ({"files": None}, "files"),
        ({}, "files"),
        (None, "files"),
    ],
)
def test_R12_what_does_not_fit_is_named(arguments: Any, names: str) -> None:
    reply = get("rev", arguments, REVIEW)
    assert (fault(reply).code, reply.status) == (-32602, 400)
    assert names in fault(reply).message


def test_all_that_is_wrong_is_told_at_once() -> None:
    message = fault(get("rev", {"wrod": "x", "deep": "x"}, REVIEW)).message
    assert all(name in message for name in ("wrod", "deep", "files"))


def test_an_unknown_prompt() -> None:
    reply = get("reviwe", {}, REVIEW)
    assert (fault(reply).code, fault(reply).message) == (-32602, "Unknown prompt: reviwe")


@pytest.mark.parametrize("arguments", [[], "x", 5])
def test_arguments_must_be_an_object(arguments: Any) -> None:
    assert fault(get("rev", arguments, REVIEW)).code == -32602


def test_messages_blocks_and_text_are_messages() -> None:
    block = {"type": "text", "text": "b"}
    messages = Messages(({"role": "assistant", "content": block},))
    assert result(get("p", {}, prompt("p", runs(messages))))["messages"] == [{"role": "assistant", "content": block}]
    assert said(get("p", {}, prompt("p", runs(Blocks((block,)))))) == "b"
    assert said(get("p", {}, prompt("p", runs("text")))) == "text"
    assert fault(get("p", {}, prompt("p", runs(5)))).code == -32603


def test_failures_are_internal_errors() -> None:
    reply = get("p", {}, prompt("p", runs(Failure("It broke.", "abc"))))
    assert sent(reply)["error"] == {"code": -32603, "message": "It broke.", "data": {"incident": "abc"}}
    assert "data" not in sent(get("p", {}, prompt("p", runs(Failure("It broke.")))))["error"]
    assert fault(get("p", {}, prompt("p", runs(Missing())))).code == -32603


def test_an_assertion_that_does_not_hold_is_an_error() -> None:
    strict = prompt("p", says("x"), WORD, assertions=(holds("word", "Say a word."),))
    assert fault(get("p", {}, strict)).message == "Say a word."
    assert said(get("p", {"word": "hi"}, strict)) == "x"
