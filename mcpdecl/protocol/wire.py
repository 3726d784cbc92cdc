"""JSON bytes to data and replies to JSON bytes.

Knows: JSON-RPC's and the era's envelope around results and errors. Does not know: why a reply says what it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import msgspec

from mcpdecl.diagnostics import Refused
from mcpdecl.protocol.plans import Fault, Reply, Result

SERVER_INFO = "io.modelcontextprotocol/serverInfo"
DEPTH = 128
_BOM = b"\xef\xbb\xbf"


def decode(body: bytes) -> Any:
    """Decode one JSON text. Raises Refused("parse-error") for anything else, however it is broken.

    NaN, lone surrogates, invalid UTF-8 and numbers beyond what Python reads are broken JSON; a BOM is skipped, as RFC
    8259 allows.
    """
    try:
        # spec: basic/transports/index#messages: UTF-8
        data = msgspec.json.decode(body.removeprefix(_BOM))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refused("parse-error", "The body is not valid JSON.") from error
    # Only a body with that many brackets can be that deep; counting them costs little, walking the data does not.
    if body.count(b"[") + body.count(b"{") > DEPTH and _depth(data) > DEPTH:
        raise Refused("parse-error", f"The body nests deeper than {DEPTH} levels.")
    return data


def encode(reply: Reply) -> bytes:
    """Encode a reply with its id and envelope.

    Raises TypeError, ValueError, OverflowError or RecursionError for a value that is not JSON; ``content`` lets none
    through, so that this is a fault of ours.
    """
    # spec: basic/transports/index#messages: UTF-8
    return _encoder.encode(_response(reply))


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    """Encode a notification."""
    # spec: basic/index#messages
    # spec: basic/index#notifications: no id
    return _encoder.encode({"jsonrpc": "2.0", "method": method, "params": params})


def _response(reply: Reply) -> dict[str, Any]:
    # spec: basic/index#messages
    # spec: basic/index#result-responses: the id of the request, and a result
    # spec: basic/index#error-responses: the id of the request, except where none could be read
    head = {"jsonrpc": "2.0"} if reply.id is None else {"jsonrpc": "2.0", "id": reply.id}
    if isinstance(reply.value, Result):
        return {**head, "result": _result(reply, reply.value)}
    return {**head, "error": _error(reply.value)}


def _result(reply: Reply, result: Result) -> dict[str, Any]:
    # spec: basic/index#result-responses: every result says its type
    # spec: basic/index#resulttype
    body: dict[str, Any] = {"resultType": result.type, **result.body}
    if result.cache is not None:
        # spec: server/utilities/caching#cacheable-results
        # spec: server/utilities/caching#time-to-live-ttl-field: never below 0
        body["ttlMs"] = max(0, result.cache.ttl_ms)
        body["cacheScope"] = result.cache.scope
    if reply.request is not None:
        # spec: basic/index#meta: servers identify themselves in every result
        # spec: server/discover#discoverresult
        info = reply.request.catalogue.settings.info
        body["_meta"] = {**result.body.get("_meta", {}), SERVER_INFO: info}
    return body


def _error(fault: Fault) -> dict[str, Any]:
    # spec: basic/index#error-responses: an integer code and a message
    error = {"code": fault.code, "message": fault.message}
    return error if fault.data is None else {**error, "data": fault.data}


def _depth(data: Any) -> int:
    depth, level = 0, [data]
    while level and depth <= DEPTH:
        children = chain.from_iterable(value.values() if type(value) is dict else value for value in level)
        level = [child for child in children if type(child) is dict or type(child) is list]
        depth += 1
    return depth


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_encoder = msgspec.json.Encoder(enc_hook=_plain)
