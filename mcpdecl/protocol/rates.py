"""How often what a request uses may be used.

Knows: which item a request names, and its rate. Does not know: who calls, or how often they have.
"""

from __future__ import annotations

from mcpdecl.catalogue import Rate
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import resources
from mcpdecl.protocol.plans import Request

COMPLETIONS = Rate(100.0, 1.0, 1000)  # of one caller; they are typed at, and no item of their own


def rated(request: Request) -> tuple[str, Rate] | None:
    """What a request uses, by its name, and the rate that holds for it; None where there is no bound."""
    catalogue, params = request.catalogue, request.params
    match request.method:
        case "tools/call":
            # spec: server/tools#security-considerations: calls are rate limited
            item = catalogue.tools.get(str(params.get("name")))
            return (item.name, item.handler.limits.rate) if item is not None else None
        case "prompts/get":
            prompt = catalogue.prompts.get(str(params.get("name")))
            return (prompt.name, prompt.handler.limits.rate) if prompt is not None else None
        case "resources/read":
            try:
                resource, _ = resources.found(catalogue, str(params.get("uri")))
            except Refused:
                return None
            return resource.name, resource.handler.limits.rate
        case "completion/complete":
            # spec: server/utilities/completion#security: completions are rate limited
            # spec: server/utilities/completion#implementation-considerations
            return request.method, COMPLETIONS
        case _:
            return None
