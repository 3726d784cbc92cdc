"""The one imperative room: holds the catalogue of the moment, performs plans, announces changes.

Knows: what is in flight, who listens, how a swap is done and how everything ends. Does not know: what a message means
(protocol decides) or how bytes travel (transports).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from mcpdecl import protocol
from mcpdecl.catalogue import Catalogue, Changes, diff
from mcpdecl.observations import Log
from mcpdecl.protocol.plans import Arrival, Plan, Sealer
from mcpdecl.protocol.seal import Keyring
from mcpdecl.server.connection import Connection, Exchange, refusal
from mcpdecl.server.limits import Buckets
from mcpdecl.server.listeners import Listeners
from mcpdecl.server.mailbox import Answer, Mailbox
from mcpdecl.server.performer import Performer
from mcpdecl.server.updates import Updates

__all__ = ["Answer", "Connection", "Exchange", "Mailbox", "Planner", "Server", "refusal"]

Planner: TypeAlias = Callable[[Catalogue, Arrival], Plan]
CANCELLING = 2.0  # seconds that cancelled calls get to put things away


class Server:
    """Serves one catalogue at a time.

    ``live`` says whether changes will be announced; ``threads`` bounds the sync callables that run at once. All
    methods belong to the event loop.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        log: Log,
        keyring: Sealer | None = None,
        live: bool,
        threads: int = 32,
        planner: Planner = protocol.plan,
    ) -> None:
        self.catalogue = catalogue
        self.log = log
        self.live = live
        self.planner = planner
        self.sealer: Sealer = keyring if keyring is not None else Keyring(None)
        self.listeners = Listeners()
        self.updates = Updates(self.announce)
        self.performer = Performer(log, self.updates.add, threads)
        self.buckets = Buckets()
        self.exchanges: set[Exchange] = set()
        self.closing = False
        self.fault: str | None = None

    def connect(self, principal: str | None = None, peer: str = "") -> Connection:
        """Begin a conversation. ``peer`` is where the client calls from; limits count for it where nobody logs in."""
        # spec: client/elicitation#identifying-the-user: the transport says who calls, never the client's own words
        return Connection(self, principal, principal if principal is not None else peer)

    def replace(self, catalogue: Catalogue) -> Changes:
        """Serve another catalogue from now on, and tell listeners what differs. Calls in flight finish on theirs."""
        changes = diff(self.catalogue, catalogue)
        self.catalogue = catalogue  # first, so that whoever hears of the change finds it
        # spec: server/tools#list-changed-notification
        # spec: server/prompts#list-changed-notification
        # spec: server/resources#list-changed-notification
        # spec: server/resources#subscriptions
        self.announce(changes)
        return changes

    def announce(self, changes: Changes) -> None:
        """Tell listeners of changes, whatever their origin."""
        if changes:
            self.listeners.tell(changes)

    def troubled(self, reason: str | None) -> None:
        """Note why the last edit is not served (a code without details), or None when it is."""
        self.fault = reason

    async def close(self, grace: float) -> None:
        """End: listeners get their final result at once, calls ``grace`` seconds, then they are cancelled."""
        self.closing = True
        self.updates.flush()
        calls = [e for e in self.exchanges if not e.streams]
        for listener in [e for e in self.exchanges if e.streams]:
            listener.finish()
        await _all_over(calls, grace)
        left = [e for e in calls if e in self.exchanges]
        for call in left:
            call.finish()
        await _all_over(left, CANCELLING)
        self.performer.close()

    def abandon(self) -> None:
        """End without any grace: everything in flight is cancelled, so that what it started ends too."""
        self.closing = True
        for exchange in list(self.exchanges):
            exchange.cancel()


async def _all_over(exchanges: list[Exchange], seconds: float) -> None:
    if not exchanges:
        return
    waiting = [asyncio.ensure_future(e.over()) for e in exchanges]
    _, pending = await asyncio.wait(waiting, timeout=seconds)
    for task in pending:
        task.cancel()
