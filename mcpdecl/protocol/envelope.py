"""From a decoded JSON message to a request: JSON-RPC's envelope and the fields of ``_meta``.

Knows: ids, notifications, and what every request must carry. Does not know: headers, methods, or what is served.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from mcpdecl.catalogue import Catalogue, RequestId
from mcpdecl.diagnostics import Refused, escape
from mcpdecl.protocol.plans import Arrival, Cancel, Ignore, Plan, Request

VERSION = "2026-07-28"
SUPPORTED = (VERSION,)
_PREFIX = "io.modelcontextprotocol/"
PROTOCOL_VERSION = _PREFIX + "protocolVersion"
CLIENT_CAPABILITIES = _PREFIX + "clientCapabilities"
CLIENT_INFO = _PREFIX + "clientInfo"
LOG_LEVEL = _PREFIX + "logLevel"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
ID_LENGTH = 256


def message(data: Any) -> Mapping[str, Any]:
    """The object that a message must be. Batches are none, and nobody may send a server a response."""
    if not isinstance(data, dict):
        raise Refused("invalid-request", "A message is one JSON object; batches are not part of the protocol.")
    if "method" not in data and ("result" in data or "error" in data):
        # spec: basic/transports/streamable-http#sending-messages: a client MUST NOT send responses
        raise Refused("invalid-request", "This is a response; a server takes requests and notifications only.")
    return data


def notified(message: Mapping[str, Any], arrival: Arrival) -> Plan:
    """What to do about a notification: only a cancellation over stdio is one that means something here."""
    # spec: basic/index#notifications: no answer
    params = message.get("params")
    if _method(message) != "notifications/cancelled" or arrival.headers is not None or not isinstance(params, dict):
        return Ignore()
    id = params.get("requestId")
    reason = params.get("reason")
    # spec: basic/patterns/cancellation#error-handling: one that names no request is ignored
    return Cancel(id, reason if isinstance(reason, str) else None) if _is_id(id) else Ignore()


def request_id(message: Mapping[str, Any]) -> RequestId:
    """The id, if it is one that can be echoed."""
    # spec: basic/index#requests: a string or an integer, never null
    id = message.get("id")
    if not _is_id(id):
        raise Refused("invalid-request", f"A request needs a string or integer id of at most {ID_LENGTH} characters.")
    return id


def request(message: Mapping[str, Any], id: RequestId, catalogue: Catalogue, arrival: Arrival) -> tuple[Request, str]:
    """Read the rest of a request. Returns it with the protocol version that it declares."""
    method = _method(message)
    params = message.get("params", {})
    if not isinstance(params, dict):
        raise Refused("invalid-params", "params must be an object.")
    meta = _meta(method, params)
    version = _version(meta)
    made = Request(
        id=id,
        method=method,
        params={k: v for k, v in params.items() if k != "_meta"},
        capabilities=_capabilities(meta),
        client=_client(meta),
        log_level=_log_level(meta),
        progress_token=_progress_token(meta),
        catalogue=catalogue,
        arrival=arrival,
    )
    return made, version


def unsupported(requested: str) -> Refused:
    """The error for a version that is not served; it names those that are."""
    # spec: basic/versioning#protocol-version-negotiation
    # spec: basic/transports/streamable-http#protocol-version-header: 400, and the versions that are served
    text = f"Unsupported protocol version: {escape(requested, 64)}; this server speaks {', '.join(SUPPORTED)}."
    return Refused("unsupported-version", text, {"supported": list(SUPPORTED), "requested": requested})


def _method(message: Mapping[str, Any]) -> str:
    # spec: basic/index#messages
    if message.get("jsonrpc") != "2.0":
        raise Refused("invalid-request", 'A message needs "jsonrpc": "2.0".')
    method = message.get("method")
    if not isinstance(method, str):
        raise Refused("invalid-request", "A message needs a method, a string.")
    return method


def _is_id(id: Any) -> TypeGuard[RequestId]:
    if isinstance(id, str):
        return len(id) <= ID_LENGTH
    return isinstance(id, int) and not isinstance(id, bool) and -(2**63) <= id < 2**64


def _meta(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    if method == "initialize" and not (isinstance(meta, dict) and PROTOCOL_VERSION in meta):
        raise _legacy(params)
    # spec: basic/index#meta: a request without the required fields is malformed
    if not isinstance(meta, dict):
        raise Refused("invalid-params", "params._meta is missing: every request carries its protocol version there.")
    return meta


def _legacy(params: Mapping[str, Any]) -> Refused:
    # spec: basic/versioning#backward-compatibility-with-initialization-based-versions: name what is spoken
    requested = params.get("protocolVersion")
    if isinstance(requested, str) and requested not in SUPPORTED:
        return unsupported(requested)
    text = f"initialize is not used here: this server speaks {', '.join(SUPPORTED)}, with params._meta on each request."
    return Refused("invalid-params", text)


def _version(meta: Mapping[str, Any]) -> str:
    # spec: basic/index#meta: a request without it is malformed
    version = meta.get(PROTOCOL_VERSION)
    if not isinstance(version, str):
        raise Refused("invalid-params", f"params._meta needs {PROTOCOL_VERSION}, a string.")
    return version


def _capabilities(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    # spec: basic/index#meta: a request without them is malformed; nothing is assumed of what is in them
    declared = meta.get(CLIENT_CAPABILITIES)
    if not isinstance(declared, dict):
        raise Refused("invalid-params", f"params._meta needs {CLIENT_CAPABILITIES}, an object ({{}} is one).")
    # A client that writes null for what it lacks means the same as one that leaves it out.
    told = {name: value for name, value in declared.items() if value is not None}
    for name in ("elicitation", "sampling", "roots", "experimental", "extensions"):
        if not isinstance(told.get(name, {}), dict):
            raise Refused("invalid-params", f"{CLIENT_CAPABILITIES}.{name} must be an object.")
    return told


def _client(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    # spec: basic/index#meta: nothing is assumed of it, and nothing depends on it
    info = meta.get(CLIENT_INFO)
    if info is not None and not isinstance(info, dict):
        raise Refused("invalid-params", f"{CLIENT_INFO} must be an object.")
    return info


def _log_level(meta: Mapping[str, Any]) -> str | None:
    level = meta.get(LOG_LEVEL)
    # spec: server/utilities/logging#error-handling
    if level is not None and level not in LEVELS:
        raise Refused("invalid-params", f"{LOG_LEVEL} must be one of {', '.join(LEVELS)}.")
    return level


def _progress_token(meta: Mapping[str, Any]) -> str | int | None:
    token = meta.get("progressToken")
    # spec: basic/patterns/progress#progress-flow: a string or an integer
    if token is not None and not _is_id(token):
        raise Refused("invalid-params", f"progressToken must be an integer or a string of at most {ID_LENGTH}.")
    return token
