"""Hears from the operating system that something may have changed.

Knows: how to listen to folders, and to go on without it. Does not know: what changed; whoever is woken looks.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

from mcpdecl.observations import Log

Hints: TypeAlias = Callable[[list[str]], AsyncIterator[set[tuple[Any, str]]]]


def events(folders: list[str]) -> AsyncIterator[set[tuple[Any, str]]]:
    """Yield whenever the operating system tells of a change in one of these folders (not below them)."""
    from watchfiles import awatch  # noqa: PLC0415 - costs 30 ms, and only those who watch need it

    return awatch(*folders, watch_filter=None, debounce=400, step=50, recursive=False, force_polling=False)


class Ear:
    """Hears of changes between looks, as long as the operating system tells of them."""

    def __init__(self, hints: Hints | None, log: Log) -> None:
        self._hints, self._log = hints, log
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._folders: frozenset[tuple[str, int, int]] = frozenset()
        self._told: str | None = None

    async def wait(self, seconds: float) -> None:
        """Wait until something is heard, or so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()

    async def turn(self, folders: frozenset[tuple[str, int, int]]) -> None:
        """Listen to these folders from now on."""
        if self._hints is None:
            self._tell("polling alone", "events are off")
        elif folders != self._folders or self._task is None or self._task.done():
            await self.close()
            self._folders = folders
            hearing = self._hear(self._hints, sorted(name for name, _, _ in folders))
            self._task = asyncio.create_task(hearing)
            await asyncio.sleep(0)  # the watch is set up in the task's first step
            if not self._task.done():
                self._tell("events and polling", f"{len(folders)} folders")
                self._wake.set()  # what happened before it was set up was not heard

    async def close(self) -> None:
        """Listen no longer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _hear(self, hints: Hints, folders: list[str]) -> None:
        try:
            async for heard in hints(folders):
                self._wake.set()
                if any(path in folders for _, path in heard):
                    return  # a folder that is made anew keeps its name and often its inode, but is not heard
        except FileNotFoundError:
            pass  # a folder went since it was seen: the next look knows
        except Exception as error:
            self._tell("polling alone", f"{type(error).__name__}: {error}")

    def _tell(self, by: str, why: str) -> None:
        if self._told != by:  # once, not with every try
            self._told = by
            self._log.event("watching", by=by, because=why)


def polling_forced() -> bool:
    """Whether the environment says that events cannot be relied on here."""
    return os.environ.get("WATCHFILES_FORCE_POLLING", "").lower() not in {"", "0", "false", "disable", "disabled"}
