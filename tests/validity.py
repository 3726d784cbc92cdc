"""Whether a message of the server is valid by the official models (``mcp-types``) of revision 2026-07-28.

Knows: which model judges which message. Does not know: where a message comes from. Tests call ``check`` for every
message that they receive, so that nothing invalid leaves the server unseen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import mcp_types
from mcp_types import methods
from mcp_types.jsonrpc import (
    HEADER_MISMATCH,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCResponse,
)

REVISION = "2026-07-28"
MADE_UP = "example/"  # methods that a test invents begin so: of them JSON-RPC's envelope is judged alone
RETIRED = {-32002, -32042}  # codes of older revisions, never to be used again


def check(message: bytes | str | Mapping[str, Any], method: str | None = None) -> dict[str, Any]:
    """Validate one message and return it decoded.

    ``method`` is the request that the message answers; it is needed for results and ignored for notifications.
    Raises AssertionError (or pydantic's ValidationError) where the message is not valid.
    """
    data = _decode(message)
    assert data.get("jsonrpc") == "2.0", data
    if "method" in data:
        _check_notification(data)
    elif "error" in data:
        _check_error(data)
    else:
        _check_result(data, method)
    return data


def _decode(message: bytes | str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(message, Mapping):
        message = json.dumps(message, allow_nan=False)
    if isinstance(message, bytes):
        message = message.decode("utf-8")
    data = json.loads(message, parse_constant=_refuse, object_pairs_hook=_once)
    assert isinstance(data, dict), f"not an object: {message!r}"
    return data


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), f"a key is there twice: {pairs}"
    return dict(pairs)


def _check_notification(data: dict[str, Any]) -> None:
    assert "id" not in data, f"a request of the server; the revision has none: {data}"
    JSONRPCNotification.model_validate(data)
    if data["method"].startswith(f"notifications/{MADE_UP}"):
        return
    methods.parse_server_notification(data["method"], REVISION, data.get("params"))


def _check_error(data: dict[str, Any]) -> None:
    assert set(data) | {"id"} == {"jsonrpc", "id", "error"}, data
    # The revision's schema lets an error have no id where none could be read; the model wants null there.
    JSONRPCError.model_validate({"id": None, **data}, strict=True)
    error = data["error"]
    assert set(error) <= {"code", "message", "data"}, data
    assert error["code"] not in RETIRED, data
    if error["code"] == UNSUPPORTED_PROTOCOL_VERSION:
        mcp_types.UnsupportedProtocolVersionErrorData.model_validate(error.get("data"))
    elif error["code"] == MISSING_REQUIRED_CLIENT_CAPABILITY:
        mcp_types.MissingRequiredClientCapabilityErrorData.model_validate(error.get("data"))
    else:
        standard = error["code"] in (-32700, -32600, -32601, -32602, -32603, HEADER_MISMATCH)
        assert standard or -32019 <= error["code"] <= -32000, f"a code that nothing defines: {data}"


def _check_result(data: dict[str, Any], method: str | None) -> None:
    assert set(data) == {"jsonrpc", "id", "result"}, data
    JSONRPCResponse.model_validate(data, strict=True)
    assert method is not None, f"a result needs the method that it answers: {data}"
    if method.startswith(MADE_UP):
        return
    methods.parse_server_result(method, REVISION, data["result"])
    known = methods.serialize_server_result(method, REVISION, data["result"])
    lost = list(_lost(data["result"], known, ""))
    assert not lost, f"keys that the revision does not know, in an answer to {method}: {lost}"


def _lost(sent: Any, known: Any, path: str) -> Iterator[str]:
    """Keys that were sent and that the models dropped: a misspelt key would vanish in a client without a word."""
    if isinstance(sent, dict) and isinstance(known, dict):
        for key, value in sent.items():
            if key in known:
                yield from _lost(value, known[key], f"{path}/{key}")
            elif value is not None:
                yield f"{path}/{key}"
    elif isinstance(sent, list) and isinstance(known, list):
        for index, (one, other) in enumerate(zip(sent, known, strict=False)):
            yield from _lost(one, other, f"{path}/{index}")
