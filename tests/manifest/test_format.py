from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from mcpdecl.manifest.format import FREE, TEXTS, description, rules
from mcpdecl.manifest.source import Mapping, Node, Scalar, Sequence, compose
from tests.manifest.test_parser import EXAMPLE, SHOWN

TARGETS = TEXTS | FREE | {"names"}


def described() -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []

    def walk(part: Any, where: str) -> None:
        if isinstance(part, dict):
            found.append((where, part))
            for key, value in part.items():
                if key != "examples":
                    walk(value, f"{where}/{key}")
        if isinstance(part, list):
            for index, value in enumerate(part):
                walk(value, f"{where}/{index}")

    walk(description(), "")
    return found


def test_it_is_a_json_schema() -> None:
    jsonschema_rs.meta.validate(dict(description()))


def test_every_key_is_described() -> None:
    for where, part in described():
        for key, value in part.get("properties", {}).items() if "/examples" not in where else ():
            if isinstance(value, dict):
                assert "description" in value or "$ref" in value, f"{where}/{key}"


def test_annotations_are_those_that_the_parser_knows() -> None:
    for where, part in described():
        notes = part.get("x-mcpdecl")
        if isinstance(notes, dict):
            assert set(notes) <= {"target", "say", "full"}, where
            assert notes.get("target", "text") in TARGETS, where


def test_rules_follow_what_is_described() -> None:
    tool = rules()["tool"].objects[0]
    assert tool.rule("timeout") is rules()["duration"]
    assert tool.rule("nothing") is None
    assert ("input", "inputSchema") in tool.alone
    assert rules()["resource"].objects[0].one_of == ("uri", "uriTemplate")
    short = tool.rule("input")
    assert short is not None and (short.free, short.full) == ("short", "inputSchema")
    words = rules()["words"].items
    assert words is not None and words.text == "word" and len(words.objects) == 3
    assert rules()["arguments"].completes and not rules()["short"].completes


def plain(node: Node) -> Any:
    """What an editor's YAML library makes of it, near enough."""
    if isinstance(node, Scalar):
        return {"true": True, "false": False, "1": 1, "100": 100, "20": 20}.get(node.text, node.text)
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    assert isinstance(node, Mapping)
    return {key: plain(value) for key, (_, value) in node.entries.items()}


@pytest.mark.parametrize("text", [*SHOWN, *(path.read_text(encoding="utf-8") for path in EXAMPLE.glob("*.yaml"))])
def test_editors_accept_what_the_parser_accepts(text: str) -> None:
    (node,), _ = compose(text, "m.yaml")
    jsonschema_rs.validator_for(dict(description())).validate(plain(node))


@pytest.mark.parametrize(
    "text",
    [
        "tools: {a: {timeot: 5s}}",
        "tools: {New Tool: {text: x}}",
        "tools: {a: {command: ls}}",
        "tools: {a: {timeout: 5 s}}",
        "tools: {a: {input: {b: string}, inputSchema: c.json}}",
        "resources: {a: {file: b}}",
        "prompts: {a: {messages: [{user: b, assistant: c}]}}",
        "secrets: {a: b}",
    ],
)
def test_editors_refuse_what_the_parser_refuses(text: str) -> None:
    (node,), _ = compose(text, "m.yaml")
    assert not jsonschema_rs.validator_for(dict(description())).is_valid(plain(node))
