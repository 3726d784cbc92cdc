"""Lines over a descriptor: cut from what comes in, written whole, in order and without ever blocking the loop.

Knows: chunks, the bound of a line, when to read no further, what a pipe surely takes. Does not know: what a line says.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import Callable

LINE_LIMIT = 16 * 1024 * 1024
CHUNK = 256 * 1024
ATOM = 4096  # what a pipe that is ready takes without blocking
BUSY = 256 * 1024  # with that much waiting to be written, notifications stay in their mailboxes
FULL = 64 * 1024 * 1024  # with that much waiting to be written, nothing more is read


class Lines:
    """Cuts chunks into lines. Blank ones are skipped; of one that is too long, only its end is looked for."""

    def __init__(self, take: Callable[[bytes | None], None], limit: int = LINE_LIMIT) -> None:
        self._take = take
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> None:
        """Take in a chunk, giving every line that it completes."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._grow(piece)
            self.end()
        self._grow(rest)

    def end(self) -> None:
        """The line ends here, be it with a newline or with the input."""
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        if self._skipping:
            self._skipping = False
        elif line and not line.isspace():
            self._take(line.rstrip(b"\r"))

    def _grow(self, piece: bytes) -> None:
        if self._skipping or not piece:
            return
        self._size += len(piece)
        if self._size > self._limit:
            self._parts, self._skipping = [], True
            self._take(None)
        else:
            self._parts.append(piece)


class Reader:
    """Reads chunks from a descriptor: watched by the loop where that is possible, else (a file) in a thread."""

    def __init__(self, source: int, take: Callable[[bytes | None], None], ended: Callable[[], None]) -> None:
        self._source = source
        self._lines = Lines(take)
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._watched = False
        self._paused = False
        self._stopped = False
        self._room = threading.Semaphore(4)
        self._kept = 0

    def start(self) -> None:
        """Begin to read."""
        try:
            self._loop.add_reader(self._source, self._readable)
            self._watched = True
        except (OSError, ValueError, NotImplementedError):
            threading.Thread(target=self._read_all, name="mcpdecl-stdin", daemon=True).start()

    def pause(self) -> None:
        """Read nothing for now."""
        if self._paused or self._stopped:
            return
        self._paused = True
        if self._watched:
            self._loop.remove_reader(self._source)

    def resume(self) -> None:
        """Read on."""
        if not self._paused or self._stopped:
            return
        self._paused = False
        if self._watched:
            self._loop.add_reader(self._source, self._readable)
        for _ in range(self._kept):
            self._room.release()
        self._kept = 0

    def stop(self) -> None:
        """Read nothing any more."""
        if self._watched and not self._stopped and not self._paused:
            self._loop.remove_reader(self._source)
        self._stopped = True

    def _readable(self) -> None:
        try:
            chunk = os.read(self._source, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        self._got(chunk)

    def _got(self, chunk: bytes) -> None:
        if self._stopped:
            return
        if chunk:
            self._lines.feed(chunk)
            return
        self.stop()
        self._lines.end()
        self._ended()

    def _read_all(self) -> None:
        chunk = b"-"
        while chunk and not self._stopped:
            self._room.acquire()
            try:
                chunk = os.read(self._source, CHUNK)
            except OSError:
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._got_from_thread, chunk)
            except RuntimeError:
                return  # the loop has ended

    def _got_from_thread(self, chunk: bytes) -> None:
        self._got(chunk)
        if self._paused:
            self._kept += 1  # the thread reads no further than it has room
        else:
            self._room.release()


class Writer:
    """Writes whole messages in order, never blocking the loop.

    ``full`` is called when too much waits, ``drained`` when little does. A descriptor stays in blocking mode, since the
    other end may share it: what a pipe surely takes is written when it says that it is ready.
    """

    def __init__(self, sink: int, broke: Callable[[], None]) -> None:
        self._sink = sink
        self._broke = broke
        self._loop = asyncio.get_running_loop()
        self._queue: deque[memoryview] = deque()
        self._watching = False
        self._poll = select.poll()
        self._poll.register(sink, select.POLLOUT)
        self._empty = asyncio.Event()
        self._empty.set()
        self.waiting = 0
        self.broken = False
        self.full: Callable[[], None] = lambda: None
        self.drained: Callable[[], None] = lambda: None

    def write(self, message: bytes) -> None:
        """Write a message now if the descriptor takes it, else when it does."""
        if self.broken:
            return
        self._queue.append(memoryview(message))
        self.waiting += len(message)
        if not self._watching:
            self._push()
            if self._queue and not self.broken:
                self._empty.clear()
                self._watch()
        if self.waiting > FULL:
            self.full()

    async def flush(self, seconds: float) -> None:
        """Wait until all is written, or for so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                while self._queue:
                    await self._empty.wait()
        except TimeoutError:
            pass

    def stop(self) -> None:
        """Write nothing any more."""
        if self._watching:
            self._watching = False
            self._loop.remove_writer(self._sink)

    def _watch(self) -> None:
        try:
            self._loop.add_writer(self._sink, self._ready)
            self._watching = True
        except (OSError, ValueError, NotImplementedError):
            # a file is always ready
            while self._queue and not self.broken:
                self._put()
            self._empty.set()

    def _ready(self) -> None:
        self._push()
        if self._queue and not self.broken:
            if self.waiting < BUSY:
                self.drained()
            return
        self.stop()
        if not self.broken:
            self.drained()
        if not self._queue:
            self._empty.set()

    def _push(self) -> None:
        """Write as long as the descriptor is ready, but not for ever."""
        for _ in range(64):
            if not self._queue or self.broken or not self._poll.poll(0):
                return
            self._put()

    def _put(self) -> None:
        head = self._queue[0]
        try:
            count = os.write(self._sink, head[:ATOM])
        except BlockingIOError:
            return
        except OSError:
            self._break()
            return
        self.waiting -= count
        if count == len(head):
            self._queue.popleft()
        else:
            self._queue[0] = head[count:]

    def _break(self) -> None:
        self.broken = True
        self._queue.clear()
        self.waiting = 0
        self._empty.set()
        self._broke()
