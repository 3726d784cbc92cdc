"""Resources that authors' code says have changed: a flood of them becomes few.

Knows: which URIs wait to be told, from any thread, and how often they are. Does not know: who listens.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from mcpdecl.catalogue import Changes

PACE = 0.05  # seconds; a callable may announce faster than thousands of listeners can be told


class Updates:
    """Gathers updates and tells them: the first at once, what comes within ``pace`` seconds after it as one.

    Made, and ``tell`` called, on the event loop; ``add`` is safe from any thread.
    """

    def __init__(self, tell: Callable[[Changes], None], pace: float = PACE) -> None:
        self._tell = tell
        self._pace = pace
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._waiting: set[str] = set()
        self._next = 0.0

    def add(self, changes: Changes) -> None:
        """Tell soon which resources were updated."""
        with self._lock:
            begins = not self._waiting
            self._waiting |= changes.updated
        if begins:
            try:
                self._loop.call_soon_threadsafe(self._in_time)
            except RuntimeError:
                pass  # the loop has ended, and with it everybody who listened

    def flush(self) -> None:
        """Tell now what waits."""
        with self._lock:
            waiting, self._waiting = self._waiting, set()
        if waiting:
            self._next = self._loop.time() + self._pace
            self._tell(Changes(updated=frozenset(waiting)))

    def _in_time(self) -> None:
        if self._loop.time() >= self._next:
            self.flush()
        else:
            self._loop.call_at(self._next, self.flush)
