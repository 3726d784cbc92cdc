"""What outlasts a swap: how often a caller called, how many run at once, which states were used.

Knows: token buckets, gates by item name, ids accepted once; all bounded in memory. Does not know: what runs, or what
a caller is told.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from types import TracebackType

from mcpdecl.catalogue import Rate

BUCKETS = 10_000
CLAIMS = 100_000


class Buckets:
    """Token buckets, one for each caller and tool. The longest unused is forgotten first."""

    def __init__(self, bound: int = BUCKETS) -> None:
        self._bound = bound
        self._levels: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def spend(self, caller: str, tool: str, rate: Rate, now: float) -> float:
        """Take one token at ``now``, in seconds of a steady clock. Returns 0 for yes, else the seconds to wait."""
        if rate.count <= 0:
            return 0.0
        pace = rate.count / rate.seconds
        level, then = self._levels.pop((caller, tool), (float(rate.burst), now))
        level = min(float(rate.burst), level + (now - then) * pace)
        granted = level >= 1.0
        self._levels[caller, tool] = (level - 1.0 if granted else level, now)
        if len(self._levels) > self._bound:
            self._levels.popitem(last=False)
        return 0.0 if granted else (1.0 - level) / pace


class Claims:
    """Ids that may be used once. An id is kept until it expires; the oldest go first when there are too many."""

    def __init__(self, bound: int = CLAIMS) -> None:
        self._bound = bound
        self._expiry: dict[str, float] = {}

    def take(self, id: str, expiry: float, now: float) -> bool:
        """Use an id up. False if it was used before. Times are seconds since the epoch."""
        if self._expiry.get(id, -math.inf) >= now:
            return False
        self._expiry.pop(id, None)  # to come last again
        self._expiry[id] = expiry
        self._forget(now)
        return True

    def _forget(self, now: float) -> None:
        # Ids come in about the order in which they expire, so looking at the oldest is enough.
        while self._expiry:
            oldest = next(iter(self._expiry))
            if self._expiry[oldest] >= now and len(self._expiry) <= self._bound:
                return
            del self._expiry[oldest]


class Gates:
    """How many of an item run at once. A gate is found by the item's name, so that it holds across swaps."""

    def __init__(self) -> None:
        self._running: dict[str, int] = {}
        self._waiting: dict[str, deque[tuple[asyncio.Future[None], int]]] = {}

    def passage(self, item: str, limit: int) -> _Passage:
        """An async context that holds one of ``limit`` places of an item (0: no bound)."""
        return _Passage(self, item, limit)

    async def enter(self, item: str, limit: int) -> None:
        """Wait for a place, first come first served."""
        line = self._waiting.get(item)
        if not line and self._running.get(item, 0) < limit:
            self._running[item] = self._running.get(item, 0) + 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(item, deque()).append((turn, limit))
        try:
            await turn  # whoever leaves hands the place over
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(item)
            raise

    def leave(self, item: str) -> None:
        """Give the place to whoever waits longest, or back."""
        line = self._waiting.get(item, deque())
        while line and line[0][0].done():
            line.popleft()
        # an edit may have lowered the limit: then a place is given back until the rest fits
        handed = bool(line) and self._running[item] <= line[0][1]
        if handed:
            line.popleft()[0].set_result(None)
        else:
            self._running[item] -= 1
        if not line:
            self._waiting.pop(item, None)
        if not self._running[item]:
            del self._running[item]


class _Passage:
    __slots__ = ("_gates", "_item", "_limit")

    def __init__(self, gates: Gates, item: str, limit: int) -> None:
        self._gates = gates
        self._item = item
        self._limit = limit

    async def __aenter__(self) -> None:
        if self._limit:
            await self._gates.enter(self._item, self._limit)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._limit:
            self._gates.leave(self._item)
