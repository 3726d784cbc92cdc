"""A catalogue made by hand, and a program that serves it: what transports are tested with.

``python -m tests.made --port 0`` is ``mcpdecl serve`` with this catalogue in place of what manifests would give.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from mcpdecl.catalogue import (
    Call,
    Catalogue,
    Confined,
    Failure,
    Handler,
    Limits,
    Missing,
    Outcome,
    Rate,
    Resource,
    Settings,
    Tool,
    Value,
)
from mcpdecl.content import Blocks, Contents

UNLIMITED = Limits(rate=Rate(0, 1, 1))
OPEN = {"type": "object"}


@dataclass(frozen=True)
class AnySchema:
    """Lets everything pass."""

    written: Any = field(default_factory=lambda: OPEN)

    def violations(self, instance: Any) -> list[Any]:
        return []

    def valid(self, instance: Any) -> bool:
        return True

    def admit(self, instance: Any) -> Any:
        return instance


@dataclass(frozen=True)
class TextShape:
    """Everything is text."""

    as_: str = "auto"
    text: Any = None

    def plain(self, data: Any, mime: str | None) -> Any:
        return data

    def blocks(self, data: Any, mime: str | None, scope: Any) -> Blocks:
        return data if isinstance(data, Blocks) else Blocks(({"type": "text", "text": str(data)},))

    def contents(self, uri: str, mime: str | None, data: Any) -> Contents:
        return Contents(({"uri": uri, "text": str(data)},))


@dataclass(frozen=True)
class Runs:
    """A binding of a coroutine function over scope and call."""

    function: Any
    pure: bool = False
    reads: frozenset[tuple[str, ...]] = frozenset()

    def render(self, scope: Mapping[str, Any]) -> Outcome:
        found: Outcome = self.function(scope)
        return found

    async def run(self, scope: Mapping[str, Any], call: Call) -> Outcome:
        found: Outcome = await self.function(scope, call)
        return found


def tool(name: str, function: Any, *, pure: bool = False, limits: Limits = UNLIMITED, **handler: Any) -> Tool:
    wire = msgspec.json.encode({"name": name, "description": name, "inputSchema": OPEN})
    made = Handler(binding=Runs(function, pure), limits=limits, digest=name, **handler)
    return Tool(name, wire, made, AnySchema(), None, TextShape())  # type: ignore[arg-type]


def resource(uri: str, function: Any, *, pure: bool = False) -> Resource:
    wire = msgspec.json.encode({"name": uri, "uri": uri})
    made = Handler(binding=Runs(function, pure), limits=UNLIMITED, digest=uri)
    return Resource(uri, uri, wire, made, "text/plain", TextShape())  # type: ignore[arg-type]


def args(scope: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = scope["arguments"]
    return found


def echo(scope: Mapping[str, Any]) -> Outcome:
    return Value(args(scope).get("text", "hello"))


async def turn(scope: Mapping[str, Any], call: Call) -> Outcome:
    return Value("done without waiting")


async def slow(scope: Mapping[str, Any], call: Call) -> Outcome:
    """Sleeps, saying on stderr when it begins and when it is cancelled."""
    name = args(scope).get("mark", "slow")
    print(f"began {name}", file=sys.stderr, flush=True)
    try:
        await asyncio.sleep(args(scope).get("seconds", 60))
    except asyncio.CancelledError:
        print(f"cancelled {name}", file=sys.stderr, flush=True)
        raise
    return Value(f"slept {name}")


async def steps(scope: Mapping[str, Any], call: Call) -> Outcome:
    for step in range(1, args(scope).get("count", 3) + 1):
        call.progress(step, 3, f"step {step}")
        call.progress(step - 1)  # does not rise, so it is not sent
        call.progress(float("nan"))
        call.log("info", {"step": step})
        call.log("debug", "too quiet")
        await asyncio.sleep(args(scope).get("pause", 0.05))
    return Value("all steps")


async def noisy(scope: Mapping[str, Any], call: Call) -> Outcome:
    """Does all that soils a channel."""
    print("print from a callable")
    os.write(1, b"raw bytes from a callable\n")
    sys.stdout.flush()
    subprocess.run(["sh", "-c", "echo from a child; cat"], check=True)
    return Value("was noisy")


async def boom(scope: Mapping[str, Any], call: Call) -> Outcome:
    raise RuntimeError("secret path /etc/boom")


async def leave(scope: Mapping[str, Any], call: Call) -> Outcome:
    sys.exit(3)


async def stuck(scope: Mapping[str, Any], call: Call) -> Outcome:
    """A sync callable in a thread that looks at nothing."""
    print("began stuck", file=sys.stderr, flush=True)
    await call.in_thread(lambda: time.sleep(600))
    return Value("never")


async def threaded(scope: Mapping[str, Any], call: Call) -> Outcome:
    def work() -> str:
        call.progress(1)
        return threading.current_thread().name

    return Value(await call.in_thread(work))


async def touch(scope: Mapping[str, Any], call: Call) -> Outcome:
    call.updated(args(scope)["uri"])
    return Value("touched")


async def grow(scope: Mapping[str, Any], call: Call) -> Outcome:
    """Swaps in a catalogue with one more tool."""
    server = SERVERS[-1]
    more = len([t for t in server.catalogue.tools if t.startswith("extra")]) + 1
    server.replace(catalogue(more))
    return Value(f"extra {more}")


async def quote(scope: Mapping[str, Any], call: Call) -> Outcome:
    outcome = await call.read(args(scope)["uri"])
    if isinstance(outcome, Value):
        return Value(outcome.data.items[0]["text"])
    return Value("missing") if isinstance(outcome, Missing) else outcome


async def again(scope: Mapping[str, Any], call: Call) -> Outcome:
    """A resource that reads itself."""
    outcome = await call.read("made://again")
    return outcome if isinstance(outcome, Failure) else Value("read")


async def note(scope: Mapping[str, Any], call: Call) -> Outcome:
    return Value("the note")


SERVERS: list[Any] = []


def catalogue(extras: int = 0, root: Path | None = None, **settings: Any) -> Catalogue:
    root = root or Path.cwd()
    files = Confined("path", root / "tests", "tests")
    items = [
        tool("echo", echo, pure=True),
        tool("turn", turn),
        tool("slow", slow),
        tool("brief", slow, limits=replace(UNLIMITED, timeout=0.2)),
        tool("one", slow, limits=replace(UNLIMITED, concurrency=1)),
        tool("rare", turn, limits=replace(UNLIMITED, rate=Rate(1, 60, 2))),
        tool("file", turn, confined=(files,)),
        tool("steps", steps),
        tool("noisy", noisy),
        tool("boom", boom),
        tool("leave", leave),
        tool("stuck", stuck),
        tool("threaded", threaded),
        tool("touch", touch),
        tool("grow", grow),
        tool("quote", quote),
        resource("made://note", note),
        resource("made://again", again),
        *(tool(f"extra{n}", turn) for n in range(extras)),
    ]
    info = {"name": "made", "version": "1"}
    return Catalogue.of(Settings(info=info, **settings), items, revision=f"r{extras}", root=root)


def main() -> None:
    """``mcpdecl serve`` over the catalogue above. MADE_SETTINGS is JSON for ``Settings``."""
    from mcpdecl import compiler
    from mcpdecl.cli import serve as room
    from mcpdecl.server import Server

    given = {k: tuple(v) if isinstance(v, list) else v for k, v in _settings().items()}
    loaded = compiler.Loaded(
        catalogue(**given),
        (),
        None,
        compiler.Watched(Path.cwd(), frozenset(), {}, frozenset()),  # type: ignore[arg-type]
    )

    class Known(Server):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            SERVERS.append(self)

    async def rest(*_: Any) -> None:
        await asyncio.Event().wait()

    room.Server = Known  # type: ignore[misc]
    room._watch = rest  # type: ignore[assignment]
    room.compiler.load = lambda *_, **__: loaded  # type: ignore[assignment]
    room.serve.main([".", *sys.argv[1:]], prog_name="made")


def _settings() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(os.environ.get("MADE_SETTINGS", "{}"))
    return found


if __name__ == "__main__":
    # once as tests.made, so that its SERVERS are those of its bindings
    from tests import made

    made.main()
