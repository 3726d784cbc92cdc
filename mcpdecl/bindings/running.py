"""One process: started in a group of its own, read in chunks, awaited, and ended with everything that it started.

Knows: pipes, process groups, exit codes and signals. Does not know: what is run, or why. What leaves the group on
purpose (``setsid``) is out of reach: it is not waited for, nor ended.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

CHUNK = 65_536
# How long output may still come after the program itself has ended (S07), and between SIGTERM and SIGKILL. The latter
# must be well below what a server that ends gives to cancelled calls, or what ignores SIGTERM outlives the server.
DRAIN = 0.5
GRACE = 1.0
LAST = 0.1  # seconds for the kernel to let go of what was killed
REPORTS = "MCPDECL_FD"

Watcher = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Program:
    """What is run. ``limit`` is how many bytes are kept of each of its two outputs."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes | None = None
    limit: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Watchers:
    """Who is fed what comes out while it runs: one a pipe, since the pieces of two pipes never make one line.

    Where there is one for ``reports``, the program gets a third pipe, whose number is in MCPDECL_FD.
    """

    out: Watcher | None = None
    err: Watcher | None = None
    reports: Watcher | None = None


NOBODY = Watchers()
# What could not be killed (another user's, or one that waits for a disk): looked at when the next program starts.
_left: list[subprocess.Popen[bytes]] = []


class Refusal(Exception):
    """The program was not started, or not to its end; the text is for the caller."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. ``code`` is its exit status, negative for the signal that ended it."""

    code: int
    out: bytes
    err: bytes

    @property
    def how(self) -> str:
        """In words."""
        if self.code < 0:
            with contextlib.suppress(ValueError):
                return f"was killed by {signal.Signals(-self.code).name}"
        return f"exited with {self.code}"


@dataclass(slots=True)
class _Sink:
    """What comes out of one pipe, up to ``limit`` bytes; the rest is counted and dropped."""

    limit: int
    watcher: Watcher | None = None
    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def feed(self, data: bytes) -> None:
        room = self.limit - self.size
        self.size += len(data)
        if room > 0:
            self.parts.append(data[:room])
        if self.watcher is not None:
            self.watcher(data)

    def end(self) -> None:
        """The last line may lack its newline."""
        if self.watcher is not None:
            self.watcher(b"\n")

    @property
    def value(self) -> bytes:
        data = b"".join(self.parts)
        if self.size <= self.limit:
            return data
        kept = _whole_characters(data)
        return kept + f"\n[{self.size - len(kept)} bytes more were cut off]\n".encode()


def _whole_characters(data: bytes) -> bytes:
    """Text without the half of a character that a cut has left at its end, which would make it no text at all."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data)
    except UnicodeDecodeError:
        return data
    return data[: len(data) - len(decoder.getstate()[0])]


async def spawn(program: Program, watchers: Watchers = NOBODY) -> Ended:
    """Run a program to its end. Cancelling the task ends its process group first. Raises Refusal if it cannot start.

    Not by the loop's own subprocesses: uvloop's are several times slower to start, and its child watcher is global.
    """
    _left[:] = [process for process in _left if process.poll() is None]
    out, err = _Sink(program.limit, watchers.out), _Sink(program.limit, watchers.err)
    pipes: list[tuple[IO[bytes] | None, _Sink]] = []
    with contextlib.ExitStack() as held:
        if watchers.reports is not None:
            process, reports = _start_reporting(program, held)
            pipes.append((reports, _Sink(0, watchers.reports)))
        else:
            process = _start(program)
        try:
            for pipe in (process.stdin, process.stdout, process.stderr):
                held.callback(_close, pipe)
            pipes += [(process.stdout, out), (process.stderr, err)]
            reads = [_reading(pipe, sink, held) for pipe, sink in pipes]
            if program.stdin is not None:
                _writing(process.stdin, program.stdin, held)
            await _exit(process, held)
            # A grandchild may hold the pipes open for as long as it lives: what is there by now is the output.
            await asyncio.wait(reads, timeout=DRAIN)
            for _, sink in pipes:
                sink.end()
        finally:
            held.close()
            await _end(process)
    return Ended(process.returncode or 0, out.value, err.value)


def _start(program: Program, reports: int | None = None) -> subprocess.Popen[bytes]:
    name = Path(program.argv[0]).name
    try:
        return subprocess.Popen(  # noqa: S603 - a list of words, no shell: this is what the room is for
            program.argv,
            cwd=program.cwd,
            env=program.env if reports is None else {**program.env, REPORTS: str(reports)},
            stdin=subprocess.PIPE if program.stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            process_group=0,
            pass_fds=() if reports is None else (reports,),
        )
    except FileNotFoundError:
        raise Refusal(f"{name} was not found") from None
    except PermissionError:
        raise Refusal(f"{name} may not be run") from None
    except OSError as error:
        raise Refusal(f"{name} could not be started: {error.strerror}") from None


def _start_reporting(program: Program, held: contextlib.ExitStack) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Start it with one pipe more; its end of that is closed here at once, so that the last writer's end is ours."""
    try:
        ours, theirs = os.pipe()
    except OSError as error:
        raise Refusal(f"{Path(program.argv[0]).name} could not be started: {error.strerror}") from None
    pipe = held.enter_context(os.fdopen(ours, "rb", buffering=0))
    try:
        return _start(program, theirs), pipe
    finally:
        os.close(theirs)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError):
            pipe.close()


def _reading(pipe: IO[bytes] | None, sink: _Sink, held: contextlib.ExitStack) -> asyncio.Future[None]:
    """Read a pipe into a sink; done at its end."""
    assert pipe is not None  # noqa: S101 - it was asked for above
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    fd = pipe.fileno()
    os.set_blocking(fd, False)

    def ready() -> None:
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            sink.feed(data)
            return
        loop.remove_reader(fd)
        if not done.done():
            done.set_result(None)

    loop.add_reader(fd, ready)
    held.callback(loop.remove_reader, fd)
    return done


def _writing(pipe: IO[bytes] | None, data: bytes, held: contextlib.ExitStack) -> None:
    """Write all of stdin as fast as it is read; a program that stops reading is no fault."""
    assert pipe is not None  # noqa: S101 - it was asked for above
    loop = asyncio.get_running_loop()
    fd = pipe.fileno()
    os.set_blocking(fd, False)
    left = memoryview(data)

    def ready() -> None:
        nonlocal left
        try:
            left = left[os.write(fd, left[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            left = left[:0]
        if not left:
            loop.remove_writer(fd)
            _close(pipe)

    def stop() -> None:
        if not pipe.closed:
            loop.remove_writer(fd)

    loop.add_writer(fd, ready)
    held.callback(stop)


async def _exit(process: subprocess.Popen[bytes], held: contextlib.ExitStack) -> None:
    """Wait until the program itself has ended. Where that can be told without taking note of its end, none is taken
    yet: as long as nobody has, its number, which is that of its group, is nobody else's."""
    try:
        fd = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, an old kernel, no descriptors left, or a sandbox that forbids it
        pause = 0.001
        while process.poll() is None:
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.05)
        return
    held.callback(os.close, fd)
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def ended() -> None:
        loop.remove_reader(fd)
        if not done.done():
            done.set_result(None)

    loop.add_reader(fd, ended)
    held.callback(loop.remove_reader, fd)
    await done


async def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the group: politely, then not. Nothing of it outlives the call, cancelled or not."""
    try:
        _signal(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline:
            if process.poll() is not None and not _signal(process, 0):
                return
            await asyncio.sleep(0.02)
    finally:
        _signal(process, signal.SIGKILL)
        try:
            process.wait(LAST)
        except subprocess.TimeoutExpired:
            _left.append(process)


def _signal(process: subprocess.Popen[bytes], number: int) -> bool:
    """Signal the group; whether there was anyone."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
