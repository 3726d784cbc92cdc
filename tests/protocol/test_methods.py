"""Which methods there are, and which there are not."""

from __future__ import annotations

import pytest

from mcpdecl.protocol.methods import METHODS
from tests.protocol.standins import Client, catalogue, fault, runs, sent, tool


@pytest.mark.parametrize(
    "method",
    [
        "unknown/method",
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "",
        "notifications/cancelled",
        "TOOLS/LIST",
        "x\n" * 10_000,
    ],
)
def test_H10_unknown_and_removed_methods_are_not_found(method: str) -> None:
    reply = Client(catalogue(), http=True, live=True).send(method)
    assert (fault(reply).code, reply.status, reply.id) == (-32601, 404, 1)
    assert len(fault(reply).message) < 1000


def test_D09_initialize_with_a_modern_envelope_names_the_versions() -> None:
    assert "2026-07-28" in fault(Client(catalogue()).send("initialize")).message


@pytest.mark.parametrize(
    "method",
    [
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "completion/complete",
    ],
)
def test_what_is_not_advertised_is_not_served(method: str) -> None:
    still = Client(catalogue(tool("t", runs("x"))))
    assert fault(still.send(method)).code == -32601
    live = Client(catalogue(tool("t", runs("x"))), live=True)
    reply = live.send(method)
    assert "error" not in sent(reply) or fault(reply).code == -32602


def test_the_table_is_the_protocol() -> None:
    assert len(METHODS) == 10
