"""What a state binds, read back field by field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import Reply
from mcpdecl.protocol.memory import ROUNDS, SECONDS, SIZE, Memory, recalled, sealed
from tests.protocol.standins import NOW, Client, catalogue


def request(**params: Any) -> Any:
    client = Client(catalogue(), principal="alice")
    plan = client.plan(client.body("tools/nothing", params))
    assert isinstance(plan, Reply)
    return plan.request


KEPT = Memory(
    answers={"a": {"action": "accept", "content": {}}},
    shown={"a": "d"},
    asked={"q": {"method": "roots/list"}},
    given={"p": {"action": "decline"}},
    heard={"p": "e"},
    round=3,
)


def test_a_memory_comes_back_with_a_claim() -> None:
    state = sealed(request(), "t", "item", KEPT)
    found = recalled(request(requestState=state), "t", "item")
    assert found is not None
    assert found.claim is not None
    assert len(found.claim[0]) == 32
    assert found.claim[1] == NOW + SECONDS * ROUNDS
    assert replace(found, claim=None) == KEPT


def test_two_states_are_two_claims() -> None:
    states = {sealed(request(), "t", "item", KEPT) for _ in range(3)}
    found = [recalled(request(requestState=state), "t", "item") for state in states]
    assert len({memory.claim for memory in found if memory is not None}) == 3


def test_without_state_there_is_nothing_to_remember() -> None:
    assert recalled(request(), "t", "item") == Memory()
    assert recalled(request(requestState=None), "t", "item") == Memory()


def test_an_item_that_changed_forgets() -> None:
    state = sealed(request(), "t", "item", KEPT)
    assert recalled(request(requestState=state), "t", "other") is None


def test_a_state_of_a_foreign_shape_is_rejected() -> None:
    foreign = Client(catalogue()).sealer.seal({"format": 0})
    with pytest.raises(Refused):
        recalled(request(requestState=foreign), "t", "item")


def test_a_state_is_bounded() -> None:
    big = replace(KEPT, answers={"a": {"content": "x" * SIZE}})
    with pytest.raises(Refused) as refusal:
        sealed(request(), "t", "item", big)
    assert refusal.value.code == "invalid-params"
