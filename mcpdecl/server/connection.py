"""One conversation with one client: which of its requests are in flight, and what a transport needs of each.

Knows: that a message is answered at once, later or with a stream, and that only a connection's own requests can be
cancelled on it. Does not know: bytes on a wire, HTTP, lines, or what any method means.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from mcpdecl import protocol
from mcpdecl.catalogue import RequestId
from mcpdecl.diagnostics import CODES
from mcpdecl.protocol.plans import (
    Arrival,
    Ask,
    Cancel,
    Fault,
    Ignore,
    Invoke,
    Listen,
    Plan,
    Reply,
    Request,
    Result,
)
from mcpdecl.server.mailbox import Answer, Mailbox
from mcpdecl.server.performer import name_of

if TYPE_CHECKING:
    from mcpdecl.server import Server

SHUTTING_DOWN = "The server is shutting down."


# spec: basic/index#statelessness: any number of requests, of whatever conversations, at once
class Connection:
    """What one client has in flight. stdio has one for its lifetime, HTTP one for each POST.

    ``caller`` is whom limits count for: the principal, else where the client calls from.
    """

    __slots__ = ("_exchanges", "_server", "caller", "principal")

    def __init__(self, server: Server, principal: str | None, caller: str) -> None:
        self._server = server
        self._exchanges: dict[RequestId, Exchange] = {}
        self.principal = principal
        self.caller = caller

    def receive(self, body: bytes, headers: Mapping[str, str] | None) -> Exchange:
        """Decide what one message needs. Never raises."""
        server = self._server
        arrival = Arrival(body, headers, self.principal, time.time(), server.sealer, server.live)
        try:
            return self._exchange(server.planner(server.catalogue, arrival))
        except Exception as error:  # a fault of ours must not end the connection
            incident = server.log.incident(error, during="planning")
            return self._at_once(refusal("internal-error", f"Internal error (incident {incident})"))

    def _exchange(self, plan: Plan) -> Exchange:
        match plan:
            # spec: basic/index#notifications: no answer
            # spec: basic/transports/streamable-http#sending-messages: 202 without a body
            case Ignore(status):
                return Exchange(self, plan, Answer(status))
            case Cancel():
                self._cancel(plan)
                return Exchange(self, plan, Answer(202))
            case Reply():
                return self._at_once(self._limited(plan.request) or plan)
            case Ask():
                return self._at_once(self._limited(plan.request) or plan.reply)
            case Invoke() | Listen():
                refused = self._refused(plan) or self._limited(plan.request)
                return self._at_once(refused) if refused else Exchange(self, plan, None)

    def _cancel(self, plan: Cancel) -> None:
        # spec: basic/patterns/cancellation#behavior-requirements
        # spec: basic/patterns/cancellation#timing-considerations: it may be over by now
        # spec: basic/patterns/cancellation#error-handling: an unknown id is ignored
        exchange = self._exchanges.get(plan.id)
        if exchange is None:
            return
        if plan.reason:
            # spec: basic/patterns/cancellation#implementation-notes
            self._server.log.event("cancelled", id=plan.id, reason=plan.reason)
        exchange.cancel()

    def _at_once(self, reply: Reply) -> Exchange:
        return Exchange(self, reply, self.answer(reply))

    def _limited(self, request: Request | None) -> Reply | None:
        found = protocol.rated(request) if request is not None else None
        if request is None or found is None:
            return None
        name, rate = found
        wait = self._server.buckets.spend(self.caller, f"{request.method} {name}", rate, time.monotonic())
        if not wait:
            return None
        text = f"rate limit of {name} reached ({rate.count:g} in {rate.seconds:g} s); {_later(wait)}"
        if request.method != "tools/call":
            return refusal("rate-limited", text, request)
        # The model can mend this by waiting, so it is a result.
        return Reply(
            request.id, Result({"content": [{"type": "text", "text": text}], "isError": True}), request=request
        )

    def _refused(self, plan: Invoke | Listen) -> Reply | None:
        request = plan.request
        if request.id in self._exchanges:
            # spec: basic/index#requests
            return refusal("invalid-request", f"A request with id {request.id!r} is in flight already.", request)
        if self._server.closing:
            return refusal("shutting-down", SHUTTING_DOWN, request)
        if isinstance(plan, Listen) and not self._server.listeners.room_for(self.caller):
            return refusal("too-many-listeners", "Too many listeners; close some, or try again later.", request)
        return None

    def answer(self, reply: Reply) -> Answer:
        """The bytes of a reply. What cannot be encoded becomes an internal error."""
        for event, fields in reply.notes:
            self._note(event, fields)
        try:
            return Answer(reply.status, reply.headers, protocol.encode(reply))
        except Exception as error:
            incident = self._server.log.incident(error, during="encoding")
            failed = refusal("internal-error", f"Internal error (incident {incident})", reply.request)
            return Answer(failed.status, failed.headers, protocol.encode(failed))

    def _note(self, event: str, fields: Mapping[str, Any]) -> None:
        self._server.log.event(event, **{k: v for k, v in fields.items() if k != "traceback"})
        if "traceback" in fields:
            self._server.log.write(str(fields["traceback"]).rstrip())  # of many lines, so not a field

    def opened(self, id: RequestId, exchange: Exchange) -> None:
        """An exchange has begun."""
        self._exchanges[id] = exchange
        self._server.exchanges.add(exchange)

    def ended(self, id: RequestId, exchange: Exchange) -> None:
        """An exchange is over, however it ended."""
        if self._exchanges.get(id) is exchange:
            del self._exchanges[id]
        self._server.exchanges.discard(exchange)

    def close(self) -> None:
        """The client has gone: everything of it ends, and nothing is sent."""
        for exchange in list(self._exchanges.values()):
            exchange.cancel()

    @property
    def server(self) -> Server:
        """The server that this connection talks to."""
        return self._server


# spec: basic/transports/streamable-http#receiving-messages: what is sent belongs to this one request
# spec: server/utilities/logging#per-request-log-level: on no other stream
class Exchange:
    """One message and what becomes of it. A transport uses it the same way whatever was asked.

    ``ready`` is the answer if it is decided; otherwise ``start(wake)``, and ``take()`` whenever woken until an answer
    comes. ``streams`` says that notifications will come, so that a stream may be opened at once.
    """

    __slots__ = ("_connection", "_mailbox", "_plan", "_task", "ready")

    def __init__(self, connection: Connection, plan: Plan, ready: Answer | None) -> None:
        self._connection = connection
        self._plan = plan
        self._mailbox: Mailbox | None = None
        self._task: asyncio.Task[None] | None = None
        self.ready = ready

    @property
    def streams(self) -> bool:
        """Whether the reply stays open."""
        return isinstance(self._plan, Listen)

    @property
    def answered(self) -> bool:
        """Whether the answer is in, or nobody wants one any more."""
        return self._mailbox is not None and self._mailbox.closed

    def start(self, wake: Callable[[], None]) -> None:
        """Begin. ``wake`` is called on the event loop when there is something to take."""
        plan = self._plan
        assert isinstance(plan, Invoke | Listen), "only what is not ready is started"  # noqa: S101 - for type checkers
        self._mailbox = Mailbox(wake)
        self._connection.opened(plan.request.id, self)
        if isinstance(plan, Listen):
            self._listen(plan, self._mailbox)
        else:
            self._task = asyncio.get_running_loop().create_task(self._settle(plan, self._mailbox))
            # A task that is cancelled before its first step runs nothing of itself, not even what cleans up.
            self._task.add_done_callback(lambda _: self._connection.ended(plan.request.id, self))

    def take(self) -> tuple[list[bytes], Answer | None]:
        """Notifications to send, in order, and the answer if it has come."""
        return self._mailbox.take() if self._mailbox is not None else ([], None)

    def cancel(self) -> None:
        """Stop: nothing more is sent."""
        if self._mailbox is not None:
            # spec: basic/transports/stdio#cancellation
            self._mailbox.discard()
        self._end()

    def finish(self) -> None:
        """End gracefully: a listener gets its final result, a call an error."""
        if self._mailbox is None or self._mailbox.closed:
            return
        plan = self._plan
        if isinstance(plan, Listen):
            # spec: basic/patterns/subscriptions#graceful-closure
            # spec: basic/patterns/subscriptions#cancellation
            self._mailbox.finish(self._connection.answer(plan.closing))
        elif isinstance(plan, Invoke):
            self._mailbox.finish(self._connection.answer(refusal("shutting-down", SHUTTING_DOWN, plan.request)))
        self._end()

    def notify(self, changes: Any) -> None:
        """Tell a listener what changed, as far as it wants to hear of it."""
        if not isinstance(self._plan, Listen) or self._mailbox is None:
            return
        try:
            for key, notification in self._plan.notices(changes):
                self._mailbox.post(key, msgspec.json.encode(notification))
        except Exception as error:  # the others must hear of it all the same
            self._connection.server.log.incident(error, during="telling")

    def _listen(self, plan: Listen, mailbox: Mailbox) -> None:
        # Heard from now on, so that no change is lost between the acknowledgement and the first look.
        self._connection.server.listeners.add(self, self._connection.caller)
        # spec: basic/patterns/subscriptions#acknowledgment
        mailbox.post("opening", msgspec.json.encode(plan.opening))

    async def _settle(self, plan: Invoke, mailbox: Mailbox) -> None:
        connection = self._connection
        try:
            reply = await connection.server.performer.settle(plan, mailbox)
        except asyncio.CancelledError:
            return
        except Exception as error:
            incident = connection.server.log.incident(error, item=plan.item)
            text = f"{name_of(plan.item)} failed (incident {incident})"
            reply = refusal("internal-error", text, plan.request)
        connection.ended(plan.request.id, self)  # before the answer is out, for its id may be used again then
        mailbox.finish(connection.answer(reply))

    def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
        elif isinstance(self._plan, Listen):
            self._connection.server.listeners.remove(self, self._connection.caller)
            self._connection.ended(self._plan.request.id, self)

    async def over(self) -> None:
        """Wait until nothing of this runs any more."""
        if self._task is not None:
            await asyncio.wait([self._task])


def _later(wait: float) -> str:
    return f"retry in {max(1, round(wait + 0.5))} s"


def refusal(code: str, message: str, request: Request | None = None) -> Reply:
    """A JSON-RPC error of a code of CODES, for a request if one could be read."""
    meaning = CODES[code]
    fault = Fault(meaning.rpc if meaning.rpc is not None else -32603, message)
    return Reply(request.id if request else None, fault, meaning.status, request=request)
