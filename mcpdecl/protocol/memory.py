"""What a call remembers from round to round: carried by the client, sealed, and good for one use of one item.

Knows: what requestState binds, and when it is not accepted. Does not know: how it is sealed, or how questions are put.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mcpdecl.catalogue import digest
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol.plans import Request
from mcpdecl.protocol.seal import REJECTED

SECONDS = 600.0
SIZE = 64 * 1024
ROUNDS = 10
_FORMAT = 2


@dataclass(frozen=True, slots=True)
# spec: basic/patterns/mrtr#server-requirements-basic-workflow: nobody waits for a retry, the client holds it all
# spec: client/sampling#messages: nothing of it stays here
class Memory:
    """Everything earlier rounds left.

    ``answers`` are raw answers to declared questions and ``shown`` the digests of those questions; ``asked`` are
    questions of a callable that are still open, ``given`` the raw answers to its earlier ones and ``heard`` the digests
    of those. ``claim`` is an id that the next run uses up, and how long it could come back; None in a first round. All
    states up to that run share it, so that an answer leads to one run whichever of them is brought back.
    """

    answers: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    shown: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    asked: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    given: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    heard: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    round: int = 0
    claim: tuple[str, float] | None = None


def sealed(request: Request, name: str, item: str, memory: Memory) -> str:
    """Seal a memory for the client to bring back. ``item`` is the digest of the item that is used."""
    # spec: basic/patterns/mrtr#server-requirements-basic-workflow: principal, expiry and the request are inside
    now = request.arrival.now
    id, until = memory.claim or (secrets.token_hex(16), now + SECONDS * ROUNDS)
    payload = {
        **_binding(request, name),
        "item": item,
        "answers": dict(memory.answers),
        "shown": dict(memory.shown),
        "asked": {key: dict(question) for key, question in memory.asked.items()},
        "given": dict(memory.given),
        "heard": dict(memory.heard),
        "round": memory.round,
        "id": id,
        "until": until,
        "expires": now + SECONDS,
    }
    # spec: basic/index#statelessness: what spans requests is named by what the client brings back
    state = request.arrival.sealer.seal(payload)
    if len(state) > SIZE:
        raise Refused("invalid-params", "The answers to the questions of this call are too large; start again.")
    return state


def recalled(request: Request, name: str, item: str) -> Memory | None:
    """The memory that a request brings back; None if the item has changed since, so that all is asked again.

    Raises Refused("state-rejected") for a state that is not good here and now, with one wording for every reason.
    """
    state = request.params.get("requestState")
    if state is None:
        return Memory()
    payload = _opened(request, state)
    # spec: basic/patterns/mrtr#server-requirements-basic-workflow: verified on receipt
    # spec: basic/patterns/mrtr#security-considerations
    binding = _binding(request, name)
    if any(payload.get(key) != value for key, value in binding.items()) or payload["expires"] <= request.arrival.now:
        raise Refused("state-rejected", REJECTED)
    if payload["item"] != item:
        return None
    return Memory(
        answers=payload["answers"],
        shown=payload["shown"],
        asked=payload["asked"],
        given=payload["given"],
        heard=payload["heard"],
        round=payload["round"],
        claim=(payload["id"], payload["until"]),
    )


def _opened(request: Request, state: Any) -> dict[str, Any]:
    # spec: basic/patterns/mrtr#server-requirements-basic-workflow: what comes back is an attacker's until it is opened
    if not isinstance(state, str) or len(state) > SIZE:
        raise Refused("state-rejected", REJECTED)
    try:
        return request.arrival.sealer.open(state)
    except Refused as refusal:
        raise Refused("state-rejected", REJECTED) from refusal


def _binding(request: Request, name: str) -> dict[str, Any]:
    return {
        # spec: client/elicitation#security-considerations: bound to whoever calls
        # spec: client/elicitation#statefulness
        "format": _FORMAT,
        "principal": request.arrival.principal,
        "method": request.method,
        "name": name,
        "arguments": digest(request.params.get("arguments") or {}),
    }
