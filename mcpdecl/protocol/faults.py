"""What goes wrong while a request is decided on, as replies.

Knows: how a refusal and an unexpected error become a JSON-RPC error, a status and a note for the log. Does not know:
which request was made.
"""

from __future__ import annotations

import secrets
import traceback
from collections.abc import Callable
from typing import Any

from mcpdecl.catalogue import Failure, RequestId
from mcpdecl.diagnostics import CODES, Refused, escape
from mcpdecl.protocol.plans import Fault, Plan, Reply, Request


def guarded(request: Request, step: Callable[[], Plan]) -> Plan:
    """Take a step; whatever it raises is answered."""
    try:
        return step()
    except Refused as refusal:
        return refused(request.id, refusal, request)
    except Exception as error:
        return internal(request.id, error, request)


def refused(id: RequestId | None, refusal: Refused, request: Request | None = None) -> Reply:
    """Answer a request that is not carried out, with the code and the HTTP status that CODES gives."""
    # spec: basic/patterns/mrtr#error-handling: a protocol error is a JSON-RPC error
    # spec: basic/transports/streamable-http#sending-messages: what is not accepted gets an error status
    code = CODES[refusal.code]
    fault = Fault(code.rpc or -32603, refusal.message, refusal.data)
    return Reply(id, fault, code.status, request=request)


def failed(failure: Failure) -> Refused:
    """The error for a run that failed, where the protocol has no error result."""
    data = None if failure.incident is None else {"incident": failure.incident}
    return Refused("internal-error", failure.text, data)


def internal(id: RequestId | None, error: Exception, request: Request | None = None) -> Reply:
    """Answer a fault of ours: the client gets an incident id, the log all the rest."""
    return incident(id, request, error=f"{type(error).__name__}: {error}", trace=_trace(error))


def incident(id: RequestId | None, request: Request | None, **fields: Any) -> Reply:
    """Answer "internal error" under a new incident id; ``fields`` are for the log alone."""
    code = CODES["internal-error"]
    name = secrets.token_hex(4)
    fault = Fault(code.rpc or -32603, f"Internal error (incident {name})", {"incident": name})
    note = ("incident", {"id": name, **_asked(request), **fields})
    return Reply(id, fault, code.status, request=request, notes=(note,))


def _asked(request: Request | None) -> dict[str, str]:
    """What was asked for, in the words of the log: the method, and the item that it names."""
    if request is None:
        return {}
    named = request.params.get("name", request.params.get("uri"))
    item = {"item": f"{request.method} {escape(named, 200)}"} if isinstance(named, str) else {}
    return {"method": escape(request.method, 200), **item}


def _trace(error: Exception) -> str:
    """The innermost frames, innermost first, on one line: a log line is cut where a whole traceback would begin."""
    frames = traceback.extract_tb(error.__traceback__)[:-10:-1]
    return " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames)
