"""Tests of mcpdecl.compiler.arguments: arguments of prompts and resource templates."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.catalogue import Argument
from mcpdecl.compiler.arguments import choices, takes_text
from mcpdecl.templates import ABSENT
from tests.compiler.folders import Project


def argument(project: Project, written: str) -> Argument:
    text = f"prompts:\n  p:\n    arguments: {{a: {written}}}\n    messages: [{{user: '{{{{ a }}}}'}}]\n"
    return project.catalogue(text).prompts["p"].arguments["a"]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "string"}, True),
        ({}, True),
        ({"type": ["string", "null"]}, True),
        ({"enum": ["a", 1]}, True),
        ({"type": "integer"}, False),
        ({"enum": [1, 2]}, False),
        ({"const": True}, False),
        ({"type": "array"}, False),
    ],
)
def test_R12_what_is_read_as_json_and_what_is_kept_as_sent(part: dict[str, Any], text: bool) -> None:
    assert takes_text(part) is text


@pytest.mark.parametrize(
    ("part", "listed"),
    [
        ({"enum": ["a", 1]}, ("a", "1")),
        ({"const": "x"}, ("x",)),
        ({"type": "boolean"}, ("true", "false")),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, ("a", "b")),
        ({"type": "string"}, ()),
    ],
)
def test_values_to_offer(part: dict[str, Any], listed: tuple[str, ...]) -> None:
    assert choices(part) == listed


def test_required_and_defaults(project: Project) -> None:
    assert argument(project, "string").required
    assert argument(project, "string").default is ABSENT
    given = argument(project, "{type: integer, default: 5}")
    assert (given.required, given.default, given.text) == (False, 5, False)


def test_completion_is_a_binding(project: Project) -> None:
    made = argument(project, "{complete: {command: [ls], result: lines}}")
    assert made.complete is not None
    assert made.complete.shape.as_ == "lines"


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("invalid-schema", "{type: «strnig»}"),
        ("undefined-name", "{complete: {command: [ls, «'{{ nope }}'»]}}"),
        ("no-binding", "{complete: «{result: lines}»}"),
    ],
)
def test_faults_and_their_places(project: Project, code: str, written: str) -> None:
    project.check(
        f"prompts:\n  p:\n    arguments:\n      a: {written}\n    messages: [{{user: '{{{{ a }}}}'}}]\n", code
    )
