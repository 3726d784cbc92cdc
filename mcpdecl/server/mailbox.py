"""What waits to be sent for one request, merged so that a slow reader costs little.

Knows: notifications by key, bounded logs, their pace, one answer last, and waking whoever sends, from any thread. Does
not know: what a message says, or who carries it.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

LOG_COUNT = 200
LOG_BYTES = 256 * 1024
PACE = 0.05  # seconds between two batches of notifications; the answer never waits


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a request: HTTP status and headers, and the JSON body (None: nothing to send but the status)."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes | None = None


class Mailbox:
    """Holds what one request has to say until a transport takes it.

    Made, finished and emptied (by ``take``) on the event loop; notifications may come from any thread, without waiting.
    ``wake`` is called on the loop, once for all that gathers until the next ``take``: at once for the first
    notification and for the answer, else ``pace`` seconds after the last ``take``.
    """

    __slots__ = (
        "_answer",
        "_closed",
        "_lock",
        "_log_bytes",
        "_log_keys",
        "_loop",
        "_next",
        "_pace",
        "_pending",
        "_rung",
        "_thread",
        "_timer",
        "_wake",
    )

    def __init__(self, wake: Callable[[], None] | None = None, pace: float = PACE) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._wake = wake
        self._pending: dict[Hashable, bytes] = {}
        self._log_keys: deque[tuple[Hashable, int]] | None = None
        self._log_bytes = 0
        self._answer: Answer | None = None
        self._closed = False
        self._rung = False
        self._pace = pace
        self._next = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def closed(self) -> bool:
        """Whether the answer is in, or nobody wants one: what is posted now is dropped."""
        return self._closed

    def post(self, key: Hashable, message: bytes) -> None:
        """Add a notification. One of the same key that is still waiting is replaced."""
        with self._lock:
            if self._closed:
                return
            self._pending.pop(key, None)
            self._pending[key] = message
        self._ring()

    def post_log(self, message: bytes) -> None:
        """Add a log message. The oldest waiting ones give way when there are too many."""
        with self._lock:
            if self._closed:
                return
            if self._log_keys is None:
                self._log_keys = deque()
            key = object()
            self._pending[key] = message
            self._log_keys.append((key, len(message)))
            self._log_bytes += len(message)
            # spec: server/utilities/logging#security: a flood costs the oldest
            while len(self._log_keys) > LOG_COUNT or (self._log_bytes > LOG_BYTES and len(self._log_keys) > 1):
                old, size = self._log_keys.popleft()
                self._log_bytes -= size
                del self._pending[old]
        self._ring()

    def finish(self, answer: Answer) -> None:
        """Put the answer in. It goes out last, and nothing is taken in after it."""
        with self._lock:
            if self._closed:
                return
            # spec: basic/patterns/progress#implementation-notes
            self._closed = True
            self._answer = answer
        self._rung = True
        self._now()

    def discard(self) -> None:
        """Forget everything: whoever asked has gone."""
        with self._lock:
            self._closed = True
            self._pending.clear()
            self._answer = None
        self._unset()

    def take(self) -> tuple[list[bytes], Answer | None]:
        """All notifications that wait, oldest first, and the answer if it is there."""
        with self._lock:
            self._rung = False
            messages = list(self._pending.values())
            self._pending.clear()
            if self._log_keys:
                self._log_keys.clear()
                self._log_bytes = 0
            answer, self._answer = self._answer, None
        if messages:
            self._next = self._loop.time() + self._pace
        return messages, answer

    def _ring(self) -> None:
        if self._rung or self._wake is None:
            return
        self._rung = True
        if threading.get_ident() == self._thread:
            self._in_time()
            return
        try:
            self._loop.call_soon_threadsafe(self._in_time)
        except RuntimeError:
            pass  # the loop has ended, and with it everybody who could read this

    def _in_time(self) -> None:
        # spec: basic/patterns/progress#implementation-notes: a flood is slowed down, and merges while it waits
        # spec: server/utilities/logging#implementation-considerations
        if self._closed or self._loop.time() >= self._next:
            self._now()
        elif self._timer is None:
            self._timer = self._loop.call_at(self._next, self._now)

    def _now(self) -> None:
        self._unset()
        if self._wake is not None:
            self._wake()

    def _unset(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
