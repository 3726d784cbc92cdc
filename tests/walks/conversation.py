"""A request with questions over the wire: sent, answered, sent again.

Knows: how answers and state travel, and what a refusal looks like. Does not know: what is asked, or what should follow.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from mcpdecl.protocol.seal import REJECTED
from tests import wire

ALL: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
YES = {"action": "accept"}
NO = {"action": "decline"}
GONE = {"action": "cancel"}
IDS = itertools.count(1)


def use(
    server: Any,
    params: Mapping[str, Any],
    answers: Any = None,
    state: Any = None,
    *,
    method: str = "tools/call",
    capabilities: Mapping[str, Any] = ALL,
) -> Any:
    """Send a request, with answers and state if there are any."""
    more = {"inputResponses": answers, "requestState": state}
    whole = {**params, **{key: value for key, value in more.items() if value is not None}}
    # spec: basic/patterns/mrtr#client-requirements-basic-workflow: each try is a request of its own
    return server.request(method, whole, capabilities=capabilities, id=next(IDS))


def call(
    server: Any, tool: str, arguments: Mapping[str, Any], answers: Any = None, before: Any = None, **more: Any
) -> Any:
    """Call a tool; ``before`` is the exchange that asked, whose state goes along."""
    state = None if before is None else state_of(before)
    return use(server, {"name": tool, "arguments": dict(arguments)}, answers, state, **more)


def asked(exchange: Any) -> dict[str, Any]:
    """The questions that a server puts, by key, in their order."""
    assert exchange.result["resultType"] == "input_required", exchange.result
    found: dict[str, Any] = exchange.result["inputRequests"]
    return found


def messages(exchange: Any) -> dict[str, str]:
    """What the user reads, by key."""
    return {key: question["params"]["message"] for key, question in asked(exchange).items()}


def state_of(exchange: Any) -> str:
    """The state that goes along with an answer."""
    found: str = exchange.result["requestState"]
    return found


def accept(**content: Any) -> dict[str, Any]:
    """An accepted form."""
    return {"action": "accept", "content": content}


def status(exchange: Any, expected: int) -> None:
    """Over HTTP the status says it too."""
    if isinstance(exchange, wire.Answer):
        assert exchange.status == expected


def rejected(exchange: Any) -> None:
    """A state that is not accepted, in one wording whatever the reason."""
    assert (exchange.error["code"], exchange.error["message"]) == (-32602, REJECTED)
    assert "data" not in exchange.error
    status(exchange, 400)


def lacks(exchange: Any, needed: Mapping[str, Any]) -> None:
    """A client that declares too little."""
    assert (exchange.error["code"], exchange.error["data"]) == (-32021, {"requiredCapabilities": needed})
    status(exchange, 400)
