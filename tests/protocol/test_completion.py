"""Completing an argument: what is offered, how it is ranked, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.catalogue import Failure
from mcpdecl.protocol import Reply
from tests.protocol.standins import (
    Client,
    argument,
    catalogue,
    fault,
    prompt,
    resource,
    result,
    runs,
    says,
    template,
    tool,
    var,
)

LANGUAGE = argument("language", {"enum": ["python", "rust", "go"]}, choices=("python", "rust", "go"))
MANY = argument("many", complete=var(runs([f"v{n}" for n in range(250)])))
LINES = argument("lines", complete=var(runs("Beta\nalpha\nalphabet\nthe alpha\n")))
OTHER = argument("other", complete=var(runs(lambda scope: [scope["language"], 5], "language")))
BROKEN = argument("broken", complete=var(runs(Failure("It broke."))))
SHA = argument("sha", complete=var(runs(["abc", "def"])))
CATALOGUE = catalogue(
    prompt("p", says("x"), LANGUAGE, MANY, LINES, OTHER, BROKEN, argument("free")),
    template("commit", "repo://commit/{sha}", says("x"), SHA),
    resource("r", "repo://readme", says("x")),
    tool("t", says("x")),
)
PROMPT = {"type": "ref/prompt", "name": "p"}


def complete(argument: str, value: str, ref: Any = PROMPT, **more: Any) -> Reply:
    params = {"ref": ref, "argument": {"name": argument, "value": value}, **more}
    return Client(CATALOGUE).send("completion/complete", params)


def values(reply: Reply) -> list[str]:
    found: list[str] = result(reply)["completion"]["values"]
    return found


def test_choices_are_filtered_whatever_their_case() -> None:
    assert values(complete("language", "")) == ["python", "rust", "go"]
    assert values(complete("language", "PY")) == ["python"]
    assert values(complete("language", "o")) == ["python", "go"]
    assert values(complete("language", "cobol")) == []
    assert values(complete("free", "x")) == []


def test_a_prefix_ranks_before_a_substring() -> None:
    assert values(complete("lines", "alpha")) == ["alpha", "alphabet", "the alpha"]


def test_at_most_a_hundred() -> None:
    completion = result(complete("many", "v"))["completion"]
    assert len(completion["values"]) == 100
    assert (completion["total"], completion["hasMore"]) == (250, True)


def test_other_arguments_are_at_hand() -> None:
    assert values(complete("other", "", context={"arguments": {"language": '"rust"'}})) == ["rust", "5"]
    assert values(complete("other", "", context={"arguments": {"language": "rust", "nonsense": "x"}})) == ["rust", "5"]


@pytest.mark.parametrize("uri", ["repo://commit/{sha}", "repo://commit/a"])
def test_templates_are_referred_to_by_template_or_uri(uri: str) -> None:
    assert values(complete("sha", "a", {"type": "ref/resource", "uri": uri})) == ["abc"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": PROMPT},
        {"ref": "p", "argument": {"name": "language", "value": ""}},
        {"ref": {"type": "ref/tool", "name": "t"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "q"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "no:where"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "repo://readme"}, "argument": {"name": "a", "value": ""}},
        {"ref": PROMPT, "argument": {"name": "nope", "value": ""}},
        {"ref": PROMPT, "argument": {"name": "language", "value": 5}},
        {"ref": PROMPT, "argument": []},
        {"ref": PROMPT, "argument": {"name": "other", "value": ""}, "context": []},
        {"ref": PROMPT, "argument": {"name": "other", "value": ""}, "context": {"arguments": {"language": 5}}},
    ],
)
def test_bad_references_are_refused(params: dict[str, Any]) -> None:
    assert fault(Client(CATALOGUE).send("completion/complete", params)).code == -32602


def test_a_failure_is_an_internal_error() -> None:
    assert fault(complete("broken", "")).code == -32603
