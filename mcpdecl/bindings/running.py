"""One process: started in a group of its own, read in chunks, awaited, and ended with everything that it started.

Knows: pipes, process groups, exit codes and signals. Does not know: what is run, or why.
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

Watcher = Callable[[bytes], None]


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


async def spawn(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | None,
    limit: int,
    watcher: Callable[[], Watcher] | None,
) -> Ended:
    """Run a program to its end. Cancelling the task ends its process group first. Raises Refusal if it cannot start.

    ``watcher`` is asked for one watcher a pipe, since the pieces of two pipes never make one line.

    Not by the loop's own subprocesses: uvloop's are several times slower to start, and its child watcher is global.
    """
    process = _start(argv, cwd, env, stdin is not None)
    out, err = (_Sink(limit, watcher() if watcher is not None else None) for _ in range(2))
    loop = asyncio.get_running_loop()
    closers: list[Callable[[], None]] = []
    try:
        reads = [_reading(loop, pipe, sink, closers) for pipe, sink in ((process.stdout, out), (process.stderr, err))]
        if stdin is not None and process.stdin is not None:
            _writing(loop, process.stdin, stdin, closers)
        await _exit(loop, process, closers)
        # A grandchild may hold the pipes open for as long as it lives: what is there by now is the output.
        await asyncio.wait(reads, timeout=DRAIN)
    finally:
        for close in closers:
            close()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        await _end(process)
    return Ended(process.returncode or 0, out.value, err.value)


def _start(argv: Sequence[str], cwd: Path, env: Mapping[str, str], feeds: bool) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - a list of words, no shell: this is what the room is for
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE if feeds else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            process_group=0,
        )
    except FileNotFoundError:
        raise Refusal(f"{Path(argv[0]).name} was not found") from None
    except PermissionError:
        raise Refusal(f"{Path(argv[0]).name} may not be run") from None
    except OSError as error:
        raise Refusal(f"{Path(argv[0]).name} could not be started: {error.strerror}") from None


def _reading(
    loop: asyncio.AbstractEventLoop, pipe: IO[bytes] | None, sink: _Sink, closers: list[Callable[[], None]]
) -> asyncio.Future[None]:
    """Read a pipe into a sink; done at its end."""
    assert pipe is not None  # noqa: S101 - it was asked for above
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
    closers.append(lambda: _forget(loop, fd))
    return done


def _forget(loop: asyncio.AbstractEventLoop, fd: int) -> None:
    loop.remove_reader(fd)


def _writing(loop: asyncio.AbstractEventLoop, pipe: IO[bytes], data: bytes, closers: list[Callable[[], None]]) -> None:
    """Write all of stdin as fast as it is read; a program that stops reading is no fault."""
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
            with contextlib.suppress(OSError):
                pipe.close()

    def stop() -> None:
        if not pipe.closed:
            loop.remove_writer(fd)

    loop.add_writer(fd, ready)
    closers.append(stop)


async def _exit(
    loop: asyncio.AbstractEventLoop, process: subprocess.Popen[bytes], closers: list[Callable[[], None]]
) -> None:
    """Wait until the program itself has ended."""
    try:
        fd = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, an old kernel, or a sandbox that does not let it through
        await loop.run_in_executor(None, process.wait)
        return
    done: asyncio.Future[None] = loop.create_future()

    def ended() -> None:
        loop.remove_reader(fd)
        if not done.done():
            done.set_result(None)

    def close() -> None:
        loop.remove_reader(fd)
        os.close(fd)

    loop.add_reader(fd, ended)
    closers.append(close)
    await done
    process.wait()


async def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the group: politely, then not. Nothing of it outlives the call, cancelled or not."""
    try:
        if not _signal(process, signal.SIGTERM) and process.poll() is not None:
            return
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline:
            if process.poll() is not None and not _signal(process, 0):
                return
            await asyncio.sleep(0.02)
    finally:
        _signal(process, signal.SIGKILL)
        if process.poll() is None:
            process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> bool:
    """Signal the group; whether there was anyone."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
