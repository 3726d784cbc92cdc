"""Keeps the catalogue true to its files while they are edited: look, load, replace, tell.

Knows: the order of these. Does not know: when a change counts (attention does), what a manifest means (the compiler
does), or who is served (the server does).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from mcpdecl import compiler
from mcpdecl.catalogue import Catalogue, Changes
from mcpdecl.compiler import Loaded, Watched
from mcpdecl.observations import Log
from mcpdecl.reloader.attention import QUIET, Attention, Load, Unready, Wait, loaded_from
from mcpdecl.reloader.comparison import lost, summary
from mcpdecl.reloader.hearing import Ear, Hints, events, polling_forced
from mcpdecl.reloader.looks import Eye, Look
from mcpdecl.reloader.trouble import Trouble

THOROUGH = 20.0  # seconds between looks that read every file, whatever its times say


class Live(Protocol):
    """What the reloader needs of a server."""

    @property
    def catalogue(self) -> Catalogue:
        """What is served now."""

    def replace(self, catalogue: Catalogue) -> Changes:
        """Serve another catalogue and tell who listens."""

    def announce(self, changes: Changes) -> None:
        """Tell who listens."""

    def troubled(self, fault: str | None) -> None:
        """What ``/readyz`` says; None: all is well."""


class Reloader:
    """Watches what a catalogue was loaded from, and replaces it when that changes.

    ``loaded`` is what ``server`` serves now, ``location`` and ``root`` what it was loaded with. ``poll`` is the longest
    time in seconds between two looks; ``hints`` shorten it (None: polling alone). ``quiet`` is how long a write in
    place must rest before a failure or a loss counts; ``thorough`` the time between looks that trust no file's times;
    ``pause`` the rest after an unexpected error.
    """

    def __init__(
        self,
        server: Live,
        location: Path,
        root: Path,
        loaded: Loaded,
        log: Log,
        *,
        load: Callable[..., Loaded] = compiler.load,
        poll: float = 2.0,
        quiet: float = QUIET,
        thorough: float = THOROUGH,
        pause: float = 1.0,
        hints: Hints | None = events,
    ) -> None:
        self._server, self._log, self._load = server, log, load
        self._location, self._root = location, root.absolute()
        self._poll, self._thorough, self._pause = poll, thorough, pause
        self._eye, self._attention = Eye(self._root), Attention(quiet)
        self._memo, self._live, self._tried = loaded.memo, loaded.watched, loaded.watched
        self._ear = Ear(None if polling_forced() else hints, log)
        self._trouble = Trouble(server.troubled, log, self._root)
        self._trouble.known(loaded.diagnostics)
        self._served: Mapping[Path, bytes] | None = None
        self._searching = False
        self._quietly = True  # the first load only makes sure that nothing changed since the start
        self._read_all = time.monotonic()

    async def run(self) -> None:
        """Watch until cancelled. No exception ends it: it is logged as an incident, and the watching goes on."""
        try:
            while True:
                try:
                    seconds = await self._step()
                    self._trouble.stumbled(None)
                except Exception as error:
                    self._trouble.stumbled(error)
                    await asyncio.sleep(self._pause)
                    seconds = self._poll
                await self._ear.wait(seconds)
        finally:
            await self._ear.close()

    async def _step(self) -> float:
        """Look once and do what is to be done. The seconds until the next look at the latest."""
        look = await self._look(self._live, self._tried)
        await self._ear.turn(look.folders)
        self._announce(look)
        verdict = self._attention.see(look, time.monotonic())
        if isinstance(verdict, Load):
            await self._try(look, verdict.firm)
            return 0.0
        if isinstance(verdict, Wait):
            return min(verdict.seconds, self._poll)
        self._trouble.unready(verdict.reason if isinstance(verdict, Unready) else None)
        return self._poll

    async def _look(self, *watched: Watched) -> Look:
        thorough = time.monotonic() - self._read_all >= self._thorough
        if thorough:
            self._read_all = time.monotonic()
        see = partial(self._eye.look, self._tried.manifests, watched, thorough=thorough, searching=self._searching)
        return await asyncio.to_thread(see)

    async def _try(self, look: Look, firm: bool) -> None:
        began = time.time_ns()
        loaded = await asyncio.to_thread(self._compile)
        self._memo, self._tried = loaded.memo, loaded.watched
        new, old = loaded.catalogue, self._server.catalogue
        self._searching = new is None
        after = await self._look(self._tried, *([self._live] if new is None else []))
        steady = look.manifests == after.manifests and all(
            p in after.inputs and after.inputs[p].digest == seen.digest
            for p, seen in look.inputs.items()
            if p in after.paths
        )
        if (new is None or lost(old, new)) and not (firm and steady):
            self._attention.hold()
            return
        settled = loaded_from(look, after, began)
        whole = not after.inputs.keys() - settled.inputs.keys()
        self._attention.settle(settled, sure=steady and whole)
        if new is None:
            self._trouble.refused(loaded.diagnostics, old.revision)
        else:
            self._replace(loaded, new, after)
            self._quietly = not whole  # then the next one makes sure of these

    def _compile(self) -> Loaded:
        try:
            return self._load(self._location, root=self._root, memo=self._memo)
        except Exception:
            raise
        except BaseException as error:  # the author's module may call sys.exit when it is imported
            raise RuntimeError(f"Loading ended with {type(error).__name__}.") from error

    def _replace(self, loaded: Loaded, new: Catalogue, after: Look) -> None:
        old, before = self._server.catalogue, self._live
        self._live = loaded.watched
        # What was served already is compared with what was seen of it last; what is new begins as it is.
        fresh = {p: digest for p, digest in after.served.items() if not before.uris(p)}
        self._served = {**fresh, **{p: digest for p, digest in (self._served or {}).items() if before.uris(p)}}
        self._server.replace(new)
        self._trouble.mended(loaded.diagnostics)
        if not self._quietly or old.revision != new.revision:
            counts = {"tools": len(new.tools), "prompts": len(new.prompts)}
            counts["resources"] = len(new.resources) + len(new.templates)
            self._log.event("reloaded", **counts, changes=summary(old, new), revision=new.revision)

    def _announce(self, look: Look) -> None:
        """Tell of served files that changed on disk, also while the manifests are broken."""
        before, now = self._served, look.served
        self._served = now
        if before is None:
            return
        changed = [p for p in before.keys() | now.keys() if before.get(p) != now.get(p)]
        if uris := frozenset[str]().union(*(self._live.uris(p) for p in changed)):
            self._server.announce(Changes(updated=uris))
