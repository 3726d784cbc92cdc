"""Listening: what a listener asked for, cut to what is honoured, and how changes become its notifications.

Knows: the filter, the acknowledgement and the notifications of one listener. Does not know: who else listens, or how
changes come about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcpdecl.catalogue import Catalogue, Changes, RequestId
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol.plans import Filter, Listen, Plan, Reply, Request, Result
from mcpdecl.uris import is_uri

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
_KINDS = ("tools", "prompts", "resources")
_URIS = 256 * 1024  # characters of one filter; a filter is held for as long as somebody listens


def listen(request: Request) -> Plan:
    """Plan ``subscriptions/listen``: acknowledge what is honoured, then tell of changes until it ends."""
    asked = request.params.get("notifications")
    if not isinstance(asked, dict):
        raise Refused("invalid-params", "params.notifications must be an object that says what to hear.")
    kinds = {kind: _wanted(asked, kind) and request.arrival.live for kind in _KINDS}
    uris = [uri for uri in _uris(asked) if request.arrival.live]
    honoured = Filter(**kinds, uris=frozenset(uris))
    request = _lasting(request)
    # spec: basic/patterns/subscriptions#graceful-closure
    closing = Reply(request.id, Result({"_meta": {SUBSCRIPTION_ID: request.id}}), request=request)
    return Listen(
        request=request,
        filter=honoured,
        opening=_acknowledgement(request.id, kinds, uris),
        notices=lambda changes: notices(request.id, honoured, changes),
        closing=closing,
    )


def _lasting(request: Request) -> Request:
    """What is left of a request that may stay for days: it must hold neither its message nor all that was served."""
    served = request.catalogue
    empty = Catalogue.of(served.settings, (), revision=served.revision, root=served.root)
    arrival = replace(request.arrival, body=b"", headers=None)
    return replace(request, params={}, catalogue=empty, arrival=arrival)


def notices(id: RequestId, filter: Filter, changes: Changes) -> list[tuple[str, Mapping[str, Any]]]:
    """The notifications for one listener, each with the key under which a later one replaces it."""
    # spec: basic/patterns/subscriptions#opening-a-stream: nothing that was not asked for
    heard = [
        (kind, _message(id, f"notifications/{kind}/list_changed", {}))
        for kind in _KINDS
        if getattr(filter, kind) and getattr(changes, kind)
    ]
    for uri in sorted(changes.updated & filter.uris):
        heard.append((f"updated {uri}", _message(id, "notifications/resources/updated", {"uri": uri})))
    return heard


def _acknowledgement(id: RequestId, kinds: Mapping[str, bool], uris: list[str]) -> Mapping[str, Any]:
    # spec: basic/patterns/subscriptions#acknowledgment: the first message, and only what is honoured
    honoured: dict[str, Any] = {f"{kind}ListChanged": True for kind in _KINDS if kinds[kind]}
    if uris:
        honoured["resourceSubscriptions"] = uris
    return _message(id, "notifications/subscriptions/acknowledged", {"notifications": honoured})


def _message(id: RequestId, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    # spec: basic/patterns/subscriptions#receiving-notifications: each carries the id of its subscription
    # spec: basic/index#notifications: no id
    # spec: basic/index#meta: the subscription's id in each
    return {"jsonrpc": "2.0", "method": method, "params": {"_meta": {SUBSCRIPTION_ID: id}, **params}}


def _wanted(asked: Mapping[str, Any], kind: str) -> bool:
    value = asked.get(f"{kind}ListChanged")
    if value is not None and not isinstance(value, bool):
        raise Refused("invalid-params", f"notifications.{kind}ListChanged must be true or false.")
    return bool(value)


def _uris(asked: Mapping[str, Any]) -> list[str]:
    uris = asked.get("resourceSubscriptions")
    if uris is None:
        return []
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise Refused("invalid-params", "notifications.resourceSubscriptions must be a list of URIs.")
    if sum(map(len, uris)) > _URIS:
        text = f"notifications.resourceSubscriptions holds more than {_URIS // 1024} KiB; open several subscriptions."
        raise Refused("invalid-params", text)
    return [uri for uri in dict.fromkeys(uris) if is_uri(uri)]
