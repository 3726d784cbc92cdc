"""Who listens for changes, and how many may.

Knows: the listeners that are open and their number for each caller. Does not know: what they asked to hear (each one
does), or how it is sent.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mcpdecl.catalogue import Changes

if TYPE_CHECKING:
    from mcpdecl.server.connection import Exchange

IN_ALL = 10_000
FOR_EACH_CALLER = 8_000  # so that nobody takes all of them


class Listeners:
    """The open ``subscriptions/listen`` exchanges."""

    def __init__(self, in_all: int = IN_ALL, for_each: int = FOR_EACH_CALLER) -> None:
        self._in_all = in_all
        self._for_each = for_each
        self._open: dict[Exchange, None] = {}
        self._callers: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def room_for(self, caller: str) -> bool:
        """Whether one more may be opened by a caller."""
        return len(self._open) < self._in_all and self._callers[caller] < self._for_each

    def add(self, exchange: Exchange, caller: str) -> None:
        """Hear from now on."""
        self._open[exchange] = None
        self._callers[caller] += 1

    def remove(self, exchange: Exchange, caller: str) -> None:
        """Hear no more."""
        if exchange not in self._open:
            return
        del self._open[exchange]
        self._callers[caller] -= 1
        if self._callers[caller] <= 0:
            del self._callers[caller]

    def tell(self, changes: Changes) -> None:
        """Tell everybody who wants to hear of it."""
        for exchange in tuple(self._open):
            exchange.notify(changes)
