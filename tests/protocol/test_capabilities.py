"""What a client declares, held against what a question needs."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.protocol.capabilities import lacking, needs, union, view
from mcpdecl.templates import ABSENT
from tests.protocol.standins import TEMPLATES


@pytest.mark.parametrize(
    ("needed", "declared", "missing"),
    [
        ({}, {}, {}),
        ({"sampling": {}}, {"sampling": {}}, {}),
        ({"sampling": {}}, {"roots": {}}, {"sampling": {}}),
        ({"sampling": {"tools": {}}}, {"sampling": {}}, {"sampling": {"tools": {}}}),
        ({"elicitation": {"form": {}}}, {"elicitation": {}}, {}),
        ({"elicitation": {"form": {}}}, {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ({"elicitation": {"form": {}}}, {"elicitation": {"url": None}}, {}),
        ({"elicitation": {"url": {}}}, {"elicitation": {"url": {}}}, {}),
        ({"elicitation": {}}, {"elicitation": {"url": {}}}, {}),
        ({"roots": True}, {}, {"roots": {}}),
        ({"extensions": {"a/b": {}}}, {"extensions": {}}, {"extensions": {"a/b": {}}}),
    ],
)
def test_lacking(needed: Any, declared: Any, missing: Any) -> None:
    assert lacking(needed, declared) == missing


def test_needs() -> None:
    assert needs({"method": "roots/list"}) == {"roots": {}}
    assert needs({"method": "elicitation/create", "params": {"mode": "url"}}) == {"elicitation": {"url": {}}}
    sample = {"method": "sampling/createMessage", "params": {"includeContext": "allServers", "toolChoice": {}}}
    assert needs(sample) == {"sampling": {"tools": {}, "context": {}}}
    with pytest.raises(ValueError, match="tools/call"):
        needs({"method": "tools/call"})


def test_union_merges_in_depth() -> None:
    assert union({"a": {"b": {}}}, {"a": {"c": {}}, "d": {}}) == {"a": {"b": {}, "c": {}}, "d": {}}


@pytest.mark.parametrize(
    ("that", "declared", "true"),
    [
        ("client.sampling", {"sampling": {}}, True),
        ("client.sampling", {}, False),
        ("client.sampling.tools", {"sampling": {}}, False),
        ("client.sampling.tools", {"sampling": {"tools": {}}}, True),
        ("client.elicitation", {"elicitation": {}}, True),
        ("client.elicitation.form", {"elicitation": {}}, True),
        ("client.elicitation.form", {"elicitation": {"url": {}}}, False),
        ("client.elicitation.url", {"elicitation": {"url": {}}}, True),
        ("client.elicitation.url", {}, False),
        ("client.roots", {"roots": {}}, True),
        ("client.roots", {}, False),
        ("client.extensions", {}, False),
        ("not client.sampling and client.roots", {"roots": {}}, True),
    ],
)
def test_templates_may_test_any_capability(that: str, declared: Any, true: bool) -> None:
    assert TEMPLATES.expression(that).test({"client": view(declared)}) is true


def test_what_is_not_declared_is_absent() -> None:
    assert view({})["sampling"] is ABSENT
