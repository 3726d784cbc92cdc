"""The protocol as a pure function: a message and a catalogue make a plan.

Knows: MCP revision 2026-07-28. Does not know: transports, effects, or how a catalogue came to be.
"""

from mcpdecl.protocol.engine import plan, plan_read
from mcpdecl.protocol.plans import (
    Arrival,
    Ask,
    Cache,
    Cancel,
    Fault,
    Filter,
    Ignore,
    Invoke,
    Listen,
    Plan,
    Reply,
    Request,
    Result,
    Sealer,
)
from mcpdecl.protocol.rates import rated
from mcpdecl.protocol.wire import encode, notification

__all__ = [
    "Arrival",
    "Ask",
    "Cache",
    "Cancel",
    "Fault",
    "Filter",
    "Ignore",
    "Invoke",
    "Listen",
    "Plan",
    "Reply",
    "Request",
    "Result",
    "Sealer",
    "encode",
    "notification",
    "plan",
    "plan_read",
    "rated",
]
