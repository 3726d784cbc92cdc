"""One message in, one plan out: every check, in order.

Knows: what is looked at first. Does not know: what any check or any method does, nor how a plan is carried out.
"""

from __future__ import annotations

from mcpdecl.catalogue import Catalogue, RequestId
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import envelope, faults, headers, methods, resources, wire
from mcpdecl.protocol.plans import Arrival, Plan, Request


def plan(catalogue: Catalogue, arrival: Arrival) -> Plan:
    """Decide what to do about a message. Total: whatever the bytes are, there is a plan and no exception."""
    # spec: basic/index#statelessness: all that is decided on is in the message
    id: RequestId | None = None
    request: Request | None = None
    try:
        message = envelope.message(wire.decode(arrival.body))
        if "id" not in message:
            return envelope.notified(message, arrival)
        id = envelope.request_id(message)
        request, version = envelope.request(message, id, catalogue, arrival)
        # spec: basic/transports/streamable-http#server-validation: a mismatch is told before a version not served
        if arrival.headers is not None:
            headers.check_version(arrival.headers, version)
        if version not in envelope.SUPPORTED:
            raise envelope.unsupported(version)
        if arrival.headers is not None:
            headers.check_request(arrival.headers, request)
        return methods.planner(request)(request)
    except Refused as refusal:
        return faults.refused(id, refusal, request)
    except Exception as error:
        return faults.internal(id, error, request)


def plan_read(request: Request) -> Plan:
    """Plan ``resources/read`` for a call that reads a resource of its own catalogue. Total, too."""
    return faults.guarded(request, lambda: resources.read(request))
