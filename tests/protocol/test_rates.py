"""What a request uses, and how often that may be used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mcpdecl.catalogue import Limits, Rate
from mcpdecl.protocol import rated
from mcpdecl.protocol.rates import COMPLETIONS
from tests.protocol.standins import Client, catalogue, prompt, resource, says, template, tool

RATE = Rate(2.0, 3.0, 4)


def _at(item: Any) -> Any:
    return replace(item, handler=replace(item.handler, limits=replace(item.handler.limits, rate=RATE)))


CLIENT = Client(
    catalogue(
        _at(tool("t", says("x"))),
        _at(prompt("p", says("x"))),
        _at(resource("r", "made://r", says("x"))),
        _at(template("many", "many://{n}", says("x"))),
        tool("plain", says("x")),
    )
)


def rate(method: str, **params: Any) -> tuple[str, Rate] | None:
    plan: Any = CLIENT.plan(CLIENT.body(method, params))
    return rated(plan.request)


def test_the_rate_is_that_of_the_item_a_request_names() -> None:
    assert rate("tools/call", name="t", arguments={}) == ("t", RATE)
    assert rate("prompts/get", name="p") == ("p", RATE)
    assert rate("resources/read", uri="made://r") == ("r", RATE)
    assert rate("resources/read", uri="many://7") == ("many", RATE)
    assert rate("tools/call", name="plain", arguments={}) == ("plain", Limits().rate)


def test_completions_have_one_rate_together() -> None:
    asked = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}
    assert rate("completion/complete", **asked) == ("completion/complete", COMPLETIONS)


def test_what_is_unknown_or_only_listed_has_no_rate() -> None:
    assert rate("tools/call", name="none", arguments={}) is None
    assert rate("prompts/get", name="none") is None
    assert rate("resources/read", uri="made://none") is None
    assert rate("tools/list") is None
