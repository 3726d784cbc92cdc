"""A server that remembers, a compiler of one-line tools, and ways to wait without depending on time.

Knows: the least that the reloader asks of its neighbours. Does not know: the real ones.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from mcpdecl.catalogue import Catalogue, Changes, Handler, ResourceTemplate, Settings, Tool, diff
from mcpdecl.compiler import Loaded, Watched
from mcpdecl.diagnostics import Diagnostic, Span
from mcpdecl.observations import Log
from mcpdecl.reloader import Reloader

PATIENCE = 20.0
MARKS = count()


def tool(name: str, text: str = "") -> Tool:
    """As much of a tool as a comparison sees."""
    made: Any = Tool
    found: Tool = made(name, f"{name}={text}".encode(), Handler(None, digest=text), None, None, None)  # type: ignore[arg-type]
    return found


def catalogue(*tools: Tool | ResourceTemplate, revision: str = "") -> Catalogue:
    return Catalogue.of(Settings({}), tools, revision=revision or repr(tools), root=Path())


def load(location: Path, *, root: Path, memo: Any) -> Loaded:
    """Each line ``name: text`` of each manifest is a tool; ``file NAME`` names a file, ``bad`` is an error."""
    paths = sorted(location.rglob("*.yaml")) if location.is_dir() else [location]
    lines = [line for path in paths for line in path.read_text().splitlines() if line and not line.startswith("#")]
    files = {root / line.split()[1] for line in lines if line.startswith("file ")}
    faults = [Diagnostic("bad-value", line, Span(location.name)) for line in lines if line.startswith("bad")]
    faults += [Diagnostic("bad-value", f"{f.name} is missing", Span(location.name)) for f in files if not f.exists()]
    words = [line.split(": ") for line in lines if ": " in line]
    read = "".join(f.read_text() for f in sorted(files) if f.exists())
    made = catalogue(*(tool(name, text + read) for name, text in words))
    resources = {root / "served.txt": frozenset({"file://served"})}
    named = Watched(location, frozenset(files), resources, frozenset())
    return Loaded(None if faults else made, tuple(faults), memo, named)


class Serving:
    """A server as the reloader sees it; ``told`` is all that it was asked to tell, ``sizes`` of every swap."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.told: list[Changes] = []
        self.fault: str | None = None
        self.faults: list[str | None] = []
        self.sizes: list[int] = []
        self.hear: Callable[[], None] = lambda: None

    def replace(self, catalogue: Catalogue) -> Changes:
        changes = diff(self.catalogue, catalogue)
        self.catalogue = catalogue
        self.sizes.append(len(catalogue.tools))
        self.announce(changes)
        return changes

    def announce(self, changes: Changes) -> None:
        if changes:
            self.told.append(changes)
            self.hear()

    def troubled(self, fault: str | None) -> None:
        self.fault = fault
        self.faults.append(fault)


class Stage:
    """A folder, a server and a reloader at work in this loop."""

    def __init__(self, root: Path, location: Path, options: dict[str, Any]) -> None:
        self.root, self.location = root, location
        self.stream = io.StringIO()
        self.loads = 0
        options.setdefault("load", load)
        self._load = options.pop("load")
        loaded = self._load(location, root=root, memo=None)
        self.server = Serving(loaded.catalogue)
        log = Log("text", self.stream)
        self.reloader = Reloader(self.server, location, root, loaded, log, load=self._count, **options)

    def _count(self, *args: Any, **more: Any) -> Loaded:
        self.loads += 1
        found: Loaded = self._load(*args, **more)
        return found

    @property
    def log(self) -> str:
        return self.stream.getvalue()

    @property
    def tools(self) -> dict[str, str]:
        return {name: found.handler.digest for name, found in self.server.catalogue.tools.items()}

    def all_say(self, text: str) -> bool:
        return set(self.tools.values()) == {text}

    async def until(self, true: Callable[[], Any], patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not true():
            assert time.monotonic() < deadline, f"tools: {self.tools}\n{self.log}"
            await asyncio.sleep(0.01)

    async def serves(self, *names: str) -> None:
        await self.until(lambda: sorted(self.tools) == sorted(names))

    async def settled(self) -> None:
        """Until what was written so far has been seen: a mark is written, and it is served."""
        mark = f"mark{next(MARKS)}"
        path = (self.location if self.location.is_dir() else self.root) / "zz_mark.yaml"
        path.write_text(f"{mark}: 1\n")
        await self.until(lambda: mark in self.tools)


@asynccontextmanager
async def stage(root: Path, *, location: str = "manifests", **options: Any) -> AsyncIterator[Stage]:
    """Reload ``root`` while the block runs. The first look has been taken when it begins."""
    made = Stage(root, root / location, options)
    task = asyncio.create_task(made.reloader.run())
    try:
        await made.until(lambda: made.loads > 0)
        yield made
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def rename_over(path: Path, text: str) -> None:
    """Save as careful editors do."""
    temporary = path.with_name(f".{path.name}.swp")
    temporary.write_text(text)
    temporary.rename(path)


def lines(*names: str, text: str = "1") -> str:
    return "".join(f"{name}: {text}\n" for name in names)


def names(prefix: str, many: int) -> Iterator[str]:
    return (f"{prefix}{number}" for number in range(many))
