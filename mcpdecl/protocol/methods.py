"""The one table of methods: name → planner, and the capability that a server must have for it.

Knows: which methods there are. Does not know: how any of them is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import completion, discovery, prompts, resources, subscriptions, tools
from mcpdecl.protocol.envelope import SUPPORTED
from mcpdecl.protocol.parameters import shown
from mcpdecl.protocol.plans import Plan, Request


@dataclass(frozen=True, slots=True)
class Method:
    """How a method is planned. ``capability`` is the one that has to be advertised, None where none has."""

    plan: Callable[[Request], Plan]
    capability: str | None = None


# spec: basic/index: the base protocol and every message pattern
# spec: basic/versioning#protocol-version-negotiation: server/discover is there
# spec: server/discover: it is there
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "server/discover": Method(discovery.discover),
        "tools/list": Method(partial(discovery.listed, kind="tools"), "tools"),
        "tools/call": Method(tools.call, "tools"),
        "prompts/list": Method(partial(discovery.listed, kind="prompts"), "prompts"),
        "prompts/get": Method(prompts.get, "prompts"),
        "resources/list": Method(partial(discovery.listed, kind="resources"), "resources"),
        "resources/templates/list": Method(partial(discovery.listed, kind="resourceTemplates"), "resources"),
        "resources/read": Method(resources.read, "resources"),
        "completion/complete": Method(completion.complete, "completions"),
        "subscriptions/listen": Method(subscriptions.listen),
    }
)


def planner(request: Request) -> Callable[[Request], Plan]:
    """The planner of a request's method. Raises Refused("method-not-found"), also for what is not advertised."""
    method = METHODS.get(request.method)
    if method is None:
        raise _unknown(request.method)
    if method.capability is not None:
        # spec: server/prompts#implementation-considerations: capabilities are respected
        offered = discovery.capabilities(request.catalogue, request.arrival.live)
        if method.capability not in offered:
            # spec: server/utilities/completion#error-handling: the capability is not supported
            raise _unknown(request.method)
    return method.plan


def _unknown(method: str) -> Refused:
    if method == "initialize":
        # spec: basic/versioning#backward-compatibility-with-initialization-based-versions: name what is spoken
        text = f"Unknown method: initialize (this server speaks {', '.join(SUPPORTED)}, which has no handshake)"
        return Refused("method-not-found", text)
    # spec: basic/transports/streamable-http#protocol-version-header: 404 and -32601
    return Refused("method-not-found", f"Unknown method: {shown(method)}")
