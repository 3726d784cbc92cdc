"""A message pattern that no revision has, in one file beside ``protocol/``, and a program that serves it.

Knows: the plans of ``mcpdecl.protocol``, which it composes. Does not know: any transport; the program hands this
planner to the two that there are, unchanged.

``example/relay`` runs tools one after the other, each fed what the one before said; before the last it asks whether to
go on, and the client's retry takes the relay up where it stood. ``example/follow`` keeps its reply open and tells names
of tools that changed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from mcpdecl import compiler, protocol
from mcpdecl.catalogue import Catalogue, Changes
from mcpdecl.observations import Log
from mcpdecl.protocol import Arrival, Ask, Invoke, Listen, Plan, Reply, Request, Result, tools
from mcpdecl.reloader import Reloader
from mcpdecl.server import Server
from mcpdecl.transports.sockets import address_of, bind, listen
from mcpdecl.transports.stdio import Channel, converse

NOTHING = {"type": "object", "properties": {}}
GO_ON = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Run the last step?", "requestedSchema": NOTHING},
}


def plan(catalogue: Catalogue, arrival: Arrival) -> Plan:
    """What the protocol plans, and two methods more."""
    try:
        message = msgspec.json.decode(arrival.body)
        method, params = message["method"], message["params"]
    except (msgspec.DecodeError, TypeError, KeyError):
        return protocol.plan(catalogue, arrival)
    if method not in ("example/relay", "example/follow"):
        return protocol.plan(catalogue, arrival)
    request = Request(message["id"], method, params, {}, None, None, None, catalogue, arrival)
    if method == "example/follow":
        return _follow(request)
    return _relay(request, params["steps"], 0, params.get("text", ""))


def _relay(request: Request, steps: list[str], at: int, text: str) -> Plan:
    state = request.params.get("requestState")
    if at == 0 and state is not None:
        kept = request.arrival.sealer.open(state)
        at, text = kept["at"], kept["text"]
    elif at == len(steps) - 1:
        kept = {"at": at, "text": text}
        body = {"inputRequests": {"go": GO_ON}, "requestState": request.arrival.sealer.seal(kept)}
        reply = Reply(request.id, Result(body, "input_required"), request=request)
        return Ask(request, {"go": GO_ON}, reply, lambda answers: _step(request, steps, at, text))
    return _step(request, steps, at, text)


def _step(request: Request, steps: list[str], at: int, text: str) -> Plan:
    if at == len(steps):
        return Reply(request.id, Result({"text": text}), request=request)
    inner = replace(request, method="tools/call", params={"name": steps[at], "arguments": {"text": text}})
    inner = replace(inner, arrival=replace(request.arrival, headers=None))
    return _with_then(tools.call(inner), lambda said: _relay(request, steps, at + 1, said))


def _with_then(plan: Plan, then: Any) -> Plan:
    """The plan of a tool's call, that goes on with its text instead of replying."""
    if isinstance(plan, Reply):
        assert isinstance(plan.value, Result)
        return then(plan.value.body["content"][0]["text"])  # type: ignore[no-any-return]
    assert isinstance(plan, Invoke)
    return replace(plan, conclude=lambda outcome: _with_then(plan.conclude(outcome), then))


def _follow(request: Request) -> Plan:
    def notices(changes: Changes) -> list[tuple[str, Mapping[str, Any]]]:
        return [(name, _told("changed", {"tool": name})) for name in sorted(changes.tools)]

    closing = Reply(request.id, Result({}), request=request)
    return Listen(request, protocol.Filter(tools=True), _told("following", {}), notices, closing)


def _told(what: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/example/{what}", "params": params}


async def main(location: Path, stdio: bool) -> None:
    """Serve the manifests of a folder with this planner."""
    log = Log("text")
    channel = Channel.claim() if stdio else None
    loaded = compiler.load(location)
    assert loaded.catalogue is not None, loaded.diagnostics
    server = Server(loaded.catalogue, log=log, live=True, planner=plan)
    watching = asyncio.create_task(Reloader(server, location, location.parent, loaded, log).run())
    if channel is not None:
        await converse(server, channel, asyncio.Event())
    else:
        sock = bind("127.0.0.1", 0)
        log.write(f"serving {address_of(sock, '/mcp')}")
        await listen(server, sock, "/mcp", asyncio.Event())
    watching.cancel()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), "--stdio" in sys.argv))
