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

LIVE_TTL = 1_000  # milliseconds: a list that was got just before an edit is asked for again soon
STILL_TTL = 60_000


def capabilities(catalogue: Catalogue, live: bool) -> dict[str, Any]:
    """The ServerCapabilities. A live server offers every kind, for a first entry may appear at any time."""
    found = {
        "tools": bool(catalogue.tools),
        "prompts": bool(catalogue.prompts),
        "resources": bool(catalogue.resources or catalogue.templates),
    }
    # spec: server/tools#capabilities
    # spec: server/prompts#capabilities
    # spec: server/resources#capabilities
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
    # spec: server/utilities/caching#cacheable-results
    return Reply(request.id, Result(body, cache=Cache(_ttl(request), "public")), request=request)


def listed(request: Request, kind: str) -> Plan:
    """Plan one of the four lists; ``kind`` is the member of the result that holds the entries."""
    # spec: server/tools#capabilities: the same for everybody, whatever was called before
    # spec: server/prompts#capabilities
    # spec: server/resources#capabilities
    listing = request.catalogue.lists[kind]
    page, more = listing.page(_after(request, kind))
    body: dict[str, Any] = {kind: msgspec.Raw(page)}
    if more is not None:
        body["nextCursor"] = _cursor(kind, more)
    # spec: server/utilities/caching#cache-scope-field: public only where nobody logs in
    # spec: server/utilities/caching#cacheable-results
    # spec: server/utilities/caching#interaction-with-pagination: the same for every page
    # spec: server/utilities/caching#security-considerations: public is what everybody gets anyway
    scope: Literal["public", "private"] = "public" if request.arrival.principal is None else "private"
    return Reply(request.id, Result(body, cache=Cache(_ttl(request), scope)), request=request)


def _ttl(request: Request) -> int:
    """For how long a list may be kept: what the author says, else little where an edit may change it."""
    said = request.catalogue.settings.ttl_ms
    if said is not None:
        return said
    return LIVE_TTL if request.arrival.live else STILL_TTL


def _cursor(kind: str, name: str) -> str:
    # spec: server/utilities/pagination#implementation-guidelines: good as long as the list is
    return base64.urlsafe_b64encode(f"{kind}\n{name}".encode()).rstrip(b"=").decode()


def _after(request: Request, kind: str) -> str | None:
    cursor = request.params.get("cursor")
    if cursor is None:
        return None
    try:
        # spec: server/utilities/pagination#implementation-guidelines
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
