"""What a server tells about itself: its capabilities and its four lists.

Knows: which capabilities a catalogue gives, and pagination. Does not know: how any item is used.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Literal

import msgspec

from mcpdecl.catalogue import Catalogue
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol.envelope import SUPPORTED
from mcpdecl.protocol.plans import Cache, Plan, Reply, Request, Result


def capabilities(catalogue: Catalogue, live: bool) -> dict[str, Any]:
    """The ServerCapabilities. A live server offers every kind, for a first entry may appear at any time."""
    found = {
        "tools": bool(catalogue.tools),
        "prompts": bool(catalogue.prompts),
        "resources": bool(catalogue.resources or catalogue.templates),
    }
    told: dict[str, Any] = {kind: {"listChanged": True} if live else {} for kind in found if live or found[kind]}
    if live:
        told["resources"]["subscribe"] = True
    if "prompts" in told or "resources" in told:
        # spec: server/utilities/completion#capabilities
        told["completions"] = {}
    # spec: server/utilities/logging#capabilities
    told["logging"] = {}
    return told


def discover(request: Request) -> Plan:
    """Plan ``server/discover``."""
    # spec: server/discover#response
    settings = request.catalogue.settings
    body: dict[str, Any] = {
        "supportedVersions": list(SUPPORTED),
        "capabilities": capabilities(request.catalogue, request.arrival.live),
    }
    if settings.instructions is not None:
        body["instructions"] = settings.instructions
    return Reply(request.id, Result(body, cache=Cache(settings.ttl_ms, "public")), request=request)


def listed(request: Request, kind: str) -> Plan:
    """Plan one of the four lists; ``kind`` is the member of the result that holds the entries."""
    listing = request.catalogue.lists[kind]
    page, more = listing.page(_after(request, kind))
    body: dict[str, Any] = {kind: msgspec.Raw(page)}
    if more is not None:
        body["nextCursor"] = _cursor(kind, more)
    # spec: server/utilities/caching#cache-scope-field: public only where nobody logs in
    scope: Literal["public", "private"] = "public" if request.arrival.principal is None else "private"
    return Reply(request.id, Result(body, cache=Cache(request.catalogue.settings.ttl_ms, scope)), request=request)


def _cursor(kind: str, name: str) -> str:
    return base64.urlsafe_b64encode(f"{kind}\n{name}".encode()).rstrip(b"=").decode()


def _after(request: Request, kind: str) -> str | None:
    cursor = request.params.get("cursor")
    if cursor is None:
        return None
    try:
        tagged = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
        tag, name = tagged.split("\n", 1)
    except (binascii.Error, ValueError, TypeError) as error:
        raise _bad_cursor() from error
    if tag != kind or _cursor(kind, name) != cursor:
        raise _bad_cursor()
    return name


def _bad_cursor() -> Refused:
    # spec: server/utilities/pagination#error-handling
    return Refused("invalid-params", "params.cursor is not one of this list; list again without it.")
