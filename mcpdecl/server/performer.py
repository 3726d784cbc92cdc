"""Carries out Invoke plans: the one place that awaits what a binding does.

Knows: claims, confinement, places, timeouts, threads, and how an exception becomes a failure with an incident. Does
not know: which message led here, or how an outcome is told.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import os
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from mcpdecl import protocol
from mcpdecl.catalogue import Changes, Failure, Limits, Missing, Outcome, Spent, Value
from mcpdecl.content import Contents
from mcpdecl.observations import Log
from mcpdecl.protocol.plans import Ask, Fault, Invoke, Plan, Reply
from mcpdecl.server.limits import Claims, Gates
from mcpdecl.server.mailbox import Mailbox

T = TypeVar("T")
READ_DEPTH = 8
TEXT_BOUND = 16_384
# spec: server/utilities/logging#log-levels
LEVELS = {
    name: rank
    for rank, name in enumerate(("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"))
}


class Performer:
    """Runs bindings. Everything alive that they need is here and outlasts every catalogue.

    ``announce`` is told, from any thread, when a binding says that a resource changed.
    """

    def __init__(self, log: Log, announce: Callable[[Changes], None], threads: int) -> None:
        self.log = log
        self.announce = announce
        self.claims = Claims()
        self.gates = Gates()
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="mcpdecl")

    async def settle(self, plan: Plan, mailbox: Mailbox, depth: int = 0, rise: Rise | None = None) -> Reply:
        """Carry a plan on until it is a reply. An Ask is answered with its questions."""
        rise = rise or Rise()
        while not isinstance(plan, Reply):
            if isinstance(plan, Invoke):
                outcome = await self.perform(plan, mailbox, depth, rise)
                if mailbox.closed:  # an author's code may swallow its cancellation; what would come next is not begun
                    raise asyncio.CancelledError
                plan = plan.conclude(outcome)
            elif isinstance(plan, Ask):
                # spec: basic/patterns/mrtr: questions travel in a result
                # spec: basic/patterns/index: a server never sends a request
                # spec: basic/transports/stdio#receiving-messages: no requests
                # spec: basic/transports/streamable-http#receiving-messages: no requests
                plan = plan.reply
            else:
                raise TypeError(f"{type(plan).__name__} has no single reply")
        return plan

    async def perform(self, invoke: Invoke, mailbox: Mailbox, depth: int = 0, rise: Rise | None = None) -> Outcome:
        """Run one binding within its limits. Never raises, except where the task itself is cancelled."""
        # spec: basic/patterns/mrtr#server-requirements-basic-workflow: consumed at most once
        if invoke.claim is not None and not self.claims.take(*invoke.claim, time.time()):
            return Spent()
        refusal = confinement(invoke)
        if refusal is not None:
            return Failure(refusal)
        running = Running(self, invoke, mailbox, depth, rise or Rise())
        try:
            async with self.gates.passage(invoke.item, invoke.limits.concurrency):
                return await self._run(invoke, running)
        finally:
            running.end()

    async def _run(self, invoke: Invoke, running: Running) -> Outcome:
        try:
            async with asyncio.timeout(invoke.limits.timeout) as limit:
                return await invoke.binding.run(invoke.scope, running)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return self._failed(invoke, error)  # the author's own code cancelled something of its own
        except TimeoutError as error:
            if limit.expired():
                return Failure(f"timed out after {invoke.limits.timeout:g} s")
            return self._failed(invoke, error)
        except GeneratorExit:
            raise
        except BaseException as error:  # whatever the author's code raises ends its own call alone
            return self._failed(invoke, error)

    def _failed(self, invoke: Invoke, error: BaseException) -> Failure:
        # spec: server/tools#security-considerations: of a fault the client reads an id alone
        incident = self.log.incident(error, item=invoke.item)
        return Failure(f"{name_of(invoke.item)} failed (incident {incident})", incident)

    def close(self) -> None:
        """Let the threads go. Those that still run are not waited for."""
        self.pool.shutdown(wait=False, cancel_futures=True)


class Rise:
    """How far a request has told that it is: all that runs for it, its vars too, tells by one token."""

    __slots__ = ("last", "lock")

    def __init__(self) -> None:
        self.last = -math.inf
        self.lock = threading.Lock()


class Running:
    """What a binding may use while it runs (``catalogue.Call``). Safe from any thread."""

    __slots__ = ("_depth", "_invoke", "_loop", "_mailbox", "_over", "_performer", "_rise")

    def __init__(self, performer: Performer, invoke: Invoke, mailbox: Mailbox, depth: int, rise: Rise) -> None:
        self._performer = performer
        self._invoke = invoke
        self._mailbox = mailbox
        self._depth = depth
        self._loop = asyncio.get_running_loop()
        self._rise = rise
        self._over = False

    @property
    def root(self) -> Path:
        """The root folder."""
        return self._invoke.request.catalogue.root

    @property
    def principal(self) -> str | None:
        """Who calls."""
        return self._invoke.request.arrival.principal

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the client declared with this request."""
        return self._invoke.request.capabilities

    @property
    def answers(self) -> Mapping[str, Any]:
        """Raw answers by question key."""
        return self._invoke.answers

    @property
    def heard(self) -> Mapping[str, str]:
        """Digests of the questions that were asked from inside a run and are answered, by key."""
        return self._invoke.heard

    @property
    def limits(self) -> Limits:
        """The limits of the item."""
        return self._invoke.limits

    def cancelled(self) -> bool:
        """Whether nobody waits for this any more: cancelled, timed out or over."""
        return self._over

    def end(self) -> None:
        """Nothing is sent for this binding from now on."""
        # spec: basic/patterns/progress#implementation-notes: its token counts no more
        self._over = True

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far it is; see ``catalogue.Call``."""
        token = self._invoke.request.progress_token
        # spec: basic/patterns/progress#behavior-requirements
        if token is None or self._over or not _finite(progress):
            return
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None and _finite(total):
            params["total"] = total
        if message is not None:
            params["message"] = message[:TEXT_BOUND]
        body = protocol.notification("notifications/progress", params)
        with self._rise.lock:
            # spec: basic/patterns/progress#progress-flow
            if progress > self._rise.last:
                self._rise.last = progress
                self._mailbox.post("progress", body)

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send a log message; see ``catalogue.Call``. Raises ValueError for an unknown level or what is not JSON."""
        rank = LEVELS.get(level)
        if rank is None:
            raise ValueError(f"unknown log level {level!r}; one of {', '.join(LEVELS)}")
        wanted = self._invoke.request.log_level
        # spec: server/utilities/logging#per-request-log-level
        if wanted is None or self._over or rank < LEVELS.get(wanted, 0):
            return
        # spec: server/utilities/logging#security: level and data are validated
        params: dict[str, Any] = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        try:
            body = protocol.notification("notifications/message", params)
        except (TypeError, ValueError) as error:
            raise ValueError(f"log data must be JSON data: {error}") from None
        self._mailbox.post_log(body)

    def updated(self, uri: str) -> None:
        """Tell subscribers that a resource changed."""
        changes = Changes(updated=frozenset({uri}))
        self._performer.announce(changes)

    async def read(self, uri: str) -> Outcome:
        """Read a resource of the catalogue that this request began with."""
        if self._depth >= READ_DEPTH:
            return Failure(f"{uri}: resources that read each other go round in a circle")
        request = replace(self._invoke.request, method="resources/read", params={"uri": uri})
        plan = protocol.plan_read(request)
        if not isinstance(plan, Reply | Invoke):
            return Failure(f"{uri} asks a question, so it cannot be read from here")
        reply = await self._performer.settle(plan, self._mailbox, self._depth + 1, self._rise)
        return _contents_of(reply, uri)

    async def _threaded(self, function: Callable[[], T]) -> T:
        copy = contextvars.copy_context()
        return await self._loop.run_in_executor(self._performer.pool, copy.run, function)

    def in_thread(self, function: Callable[[], T]) -> Awaitable[T]:
        """Run a blocking function in the bounded pool, with this task's context variables."""
        return self._threaded(function)


def _finite(value: float) -> bool:
    """Whether a number can be told: neither NaN nor infinite, nor an integer beyond every float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _contents_of(reply: Reply, uri: str) -> Outcome:
    if isinstance(reply.value, Fault):
        return Missing() if reply.value.code == -32602 else Failure(reply.value.message)
    if reply.value.type != "complete":
        return Failure(f"{uri} asks a question, so it cannot be read from here")
    return Value(Contents(tuple(reply.value.body["contents"])))


def confinement(invoke: Invoke) -> str | None:
    """Why a path among the arguments may not be used (it must stay inside its folder, links included), or None."""
    arguments = invoke.scope.get("arguments", invoke.scope)
    root = invoke.request.catalogue.root
    for confined in invoke.confined:
        given = arguments.get(confined.name)
        for path in given if isinstance(given, list) else [given]:
            if isinstance(path, str) and not _inside(root, path, confined.folder):
                return f"{confined.name}: must be inside {confined.label}"
    return None


def _inside(root: Path, path: str, folder: Path) -> bool:
    if path.startswith("-") or "\0" in path:
        return False
    real, home = os.path.realpath(root / path), os.path.realpath(folder)
    return real == home or real.startswith(home.rstrip(os.sep) + os.sep)


def name_of(item: str) -> str:
    """The name in an item, without the method: what a caller knows it by."""
    return item.rpartition(" ")[2] or item
