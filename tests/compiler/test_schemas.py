"""Tests of mcpdecl.compiler.schemas: schemas with their places, confinement, hidden values."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.compiler.schemas import Text, from_short, hidden, judge
from tests.compiler.folders import Project


def test_a_fault_in_a_short_form_is_placed_in_the_short_form() -> None:
    text = from_short({"a?": {"type": "strnig"}}, ("input",), closed=True)
    schema, found = judge(text)
    assert schema is None
    assert [(f.code, f.path) for f in found] == [("invalid-schema", ("input", "a?", "type"))]


def test_what_is_hidden() -> None:
    schema = {"properties": {"a": {"writeOnly": True}, "b": {"properties": {"c": {"writeOnly": True}, "d": {}}}}}
    assert hidden(schema) == {("a",), ("b", "c")}


def test_open_and_closed() -> None:
    assert Text({"type": "object"}, lambda pointer: ()).open
    assert not Text({"additionalProperties": False}, lambda pointer: ()).open


CONFINED: list[tuple[str, str]] = [
    ("bad-confinement", "{path: {type: integer, within: «docs»}}"),
    ("bad-confinement", "{path: {type: string, within: «5»}}"),
    ("missing-folder", "{path: {type: string, within: «none»}}"),
    ("bad-confinement", "{path: {type: object, properties: {p: {type: string, within: «docs»}}}}"),
    ("bad-confinement", "{path: {type: array, items: {type: string, within: «docs»}}}"),
]


@pytest.mark.parametrize(("code", "fields"), [c for c in CONFINED if "«5»" not in c[1]])
def test_a_confinement_that_would_not_hold_is_a_fault(project: Project, code: str, fields: str) -> None:
    (project.root / "docs").mkdir()
    project.check(f"tools:\n  a:\n    description: x\n    input: {fields}\n    text: '{{{{ path }}}}'\n", code)


def test_a_hidden_argument_is_never_told(project: Project) -> None:
    catalogue = project.catalogue(
        "tools: {a: {description: x, text: y, input: {pin: {type: integer, writeOnly: true}}}}\n"
    )
    told: list[Any] = catalogue.tools["a"].input.violations({"pin": "4711"})
    assert told
    assert "4711" not in str(told)
