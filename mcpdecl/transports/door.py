"""Who may come in over HTTP, judged by headers alone, before a body is read.

Knows: Host, Origin, method, media types, sizes, CORS. Does not know: sockets, bodies, or what is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from mcpdecl.catalogue import Settings
from mcpdecl.diagnostics import escape

BODY_LIMIT = 4 * 1024 * 1024
HEADER_LIMIT = 64 * 1024
JSON = "application/json"
SSE = "text/event-stream"
ALLOW = "POST, OPTIONS"
MAX_AGE = "7200"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request stays outside: a code of CODES and what the client reads."""

    code: str
    message: str


def judge(method: str, headers: Mapping[str, str], settings: Settings) -> Refusal | None:
    """The first reason to refuse a request to the MCP endpoint, or None."""
    host = headers.get("host", "")
    if not host_served(host, settings.hosts):
        message = f"Host '{escape(host, 200)}' is not served here; add it to server.hosts in the manifest."
        return Refusal("host-refused", message)
    origin = headers.get("origin")
    # spec: basic/transports/streamable-http#security-endpoint
    if origin is not None and not origin_allowed(origin, host, settings.origins):
        message = f"Origin '{escape(origin, 200)}' is not allowed; add it to server.origins in the manifest."
        return Refusal("origin-refused", message)
    if method == "OPTIONS":
        return None
    # spec: basic/transports/streamable-http#earlier-streamable-http-revisions: 405
    if method != "POST":
        return Refusal("method-not-allowed", f"The MCP endpoint takes POST, not {method}.")
    return _media(headers)


def _media(headers: Mapping[str, str]) -> Refusal | None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        return Refusal("media-type-refused", f"Content-Type must be {JSON}.")
    if not any(accepted(headers.get("accept"))):
        return Refusal("not-acceptable", f"The answer is {JSON} or {SSE}; Accept allows neither.")
    length = headers.get("content-length", "").lstrip("0")
    if length.isdecimal() and (len(length) > len(str(BODY_LIMIT)) or int(length) > BODY_LIMIT):
        return TOO_LARGE
    return None


TOO_LARGE = Refusal("too-large", f"The body is larger than {BODY_LIMIT // (1024 * 1024)} MiB.")


@lru_cache(256)
def accepted(accept: str | None) -> tuple[bool, bool]:
    """Whether JSON and whether an event stream may be sent. Proxies rewrite Accept, so anything plausible counts."""
    if accept is None or not accept.strip():
        return True, True
    ranges = {part.partition(";")[0].strip().lower() for part in accept.split(",") if not _worthless(part)}
    json = bool(ranges & {"*/*", "application/*", JSON})
    sse = bool(ranges & {"*/*", "text/*", SSE})
    return json, sse


def _worthless(part: str) -> bool:
    weights = [p.strip()[2:] for p in part.split(";")[1:] if p.strip().lower().startswith("q=")]
    return bool(weights) and not weights[0].strip("0.")


@lru_cache(256)
def host_served(host: str, hosts: tuple[str, ...]) -> bool:
    """Whether a Host header names this machine from itself, or an entry of ``server.hosts`` (any port, or its own)."""
    name, port = split_host(host)
    if is_loopback(name):
        return True
    return any(name == wanted and wanted_port in ("", port) for wanted, wanted_port in map(split_host, hosts))


@lru_cache(256)
def origin_allowed(origin: str, host: str, origins: tuple[str, ...]) -> bool:
    """Whether pages of an origin may call: this machine's own, those of the host that was asked, ``server.origins``."""
    if listed(origin, origins):
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        return False
    return is_loopback(split_host(parts.netloc)[0]) or split_host(parts.netloc) == split_host(host)


def listed(origin: str | None, origins: tuple[str, ...]) -> bool:
    """Whether an origin is one of ``server.origins``."""
    return origin is not None and origin.lower().rstrip("/") in {o.lower().rstrip("/") for o in origins}


def split_host(host: str) -> tuple[str, str]:
    """A host's name in lower case without a last dot, and its port or "". Nothing usable gives ("", "")."""
    name, colon, port = host.strip().lower().rpartition(":")
    if not colon or name.endswith(":") or (":" in name and not name.endswith("]")):
        name, port = host.strip().lower(), ""  # no port: a name, or an address of many colons
    if port and not port.isdecimal():
        return "", ""
    return name.removesuffix("."), port


@lru_cache(256)
def is_loopback(name: str) -> bool:
    """Whether a host name or address (with or without brackets) means this machine."""
    if name == "localhost":
        return True
    try:
        return ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def cross_origin(headers: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The headers that let a page of ``server.origins`` read an answer; none where no origin is declared."""
    if not settings.origins:
        return {}
    origin = headers.get("origin")
    if origin is None or not listed(origin, settings.origins):
        return {"vary": "Origin"}
    return {"access-control-allow-origin": origin, "vary": "Origin"}


def preflight(headers: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The headers that answer OPTIONS."""
    found = {"allow": ALLOW, **cross_origin(headers, settings)}
    if "access-control-allow-origin" in found:
        found["access-control-allow-methods"] = "POST"
        found["access-control-allow-headers"] = headers.get("access-control-request-headers", "content-type")
        found["access-control-max-age"] = MAX_AGE
    return found
