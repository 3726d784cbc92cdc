"""stdio: one message a line, over descriptors that nobody else in the process can reach.

Knows: lines, their bounds, writing without ever blocking or interleaving, end of input, a parent that died. Does not
know: any method or message pattern; an Exchange says whether an answer is there, comes later, or stays open.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import Callable

from mcpdecl import protocol
from mcpdecl.protocol.plans import Fault, Reply
from mcpdecl.server import Answer, Connection, Exchange, Server

LINE_LIMIT = 16 * 1024 * 1024
CHUNK = 256 * 1024
ATOM = 4096  # what a pipe that is ready takes without blocking
BUSY = 256 * 1024  # with that much waiting to be written, notifications stay in their mailboxes
FULL = 64 * 1024 * 1024  # with that much waiting to be written, nothing more is read
GRACE = 5.0
PARENT_EVERY = 1.0


class Channel:
    """The private copies of stdin and stdout."""

    def __init__(self, source: int, sink: int) -> None:
        self.source = source
        self.sink = sink

    @classmethod
    def claim(cls) -> Channel:
        """Take descriptors 0 and 1. What prints from now on lands on stderr; children read nothing."""
        # spec: basic/transports/stdio: nothing that is no message may reach stdout
        source, sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(source, sink)


async def converse(server: Server, channel: Channel, stopping: asyncio.Event, grace: float = GRACE) -> None:
    """Serve one client until end of input, a broken output, the parent's death or ``stopping``.

    Listeners end at once, calls get ``grace`` seconds, and what they answer is written.
    """
    parent = os.getppid()
    writer = Writer(channel.sink, stopping.set)
    talk = Conversation(server.connect(peer="stdio"), writer)
    reader = Reader(channel.source, talk.line, stopping.set)
    writer.full = reader.pause

    def drained() -> None:
        talk.pump()
        reader.resume()

    writer.drained = drained
    reader.start()
    while not stopping.is_set():
        try:
            await asyncio.wait_for(stopping.wait(), PARENT_EVERY)
        except TimeoutError:
            if os.getppid() != parent:
                break
    reader.stop()
    await server.close(0.0 if writer.broken else grace)
    talk.pump()
    await writer.flush(grace)
    writer.stop()


class Conversation:
    """Lines in, messages out, for the one connection there is."""

    def __init__(self, connection: Connection, writer: Writer) -> None:
        self._connection = connection
        self._writer = writer
        self._due: dict[Exchange, None] = {}

    def line(self, line: bytes | None) -> None:
        """Take one line. None stands for one that was too long to keep."""
        if line is None:
            self._write(protocol.encode(Reply(None, TOO_LONG)))
            return
        exchange = self._connection.receive(line, None)
        if exchange.ready is not None:
            self._answer(exchange.ready)
            return

        def wake() -> None:
            self._due[exchange] = None
            self.pump()

        exchange.start(wake)

    def pump(self) -> None:
        """Move what waits in mailboxes to the writer, as far as it keeps up."""
        while self._due and self._writer.waiting < BUSY:
            exchange = next(iter(self._due))
            del self._due[exchange]
            messages, answer = exchange.take()
            for message in messages:
                self._write(message)
            if answer is not None:
                self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        if answer.body is not None:
            self._write(answer.body)

    def _write(self, message: bytes) -> None:
        # spec: basic/transports/stdio: a message holds no newline (JSON escapes those in strings)
        self._writer.write(message.replace(b"\n", b" ") + b"\n" if b"\n" in message else message + b"\n")


TOO_LONG = Fault(-32600, f"A line is longer than {LINE_LIMIT // (1024 * 1024)} MiB.")


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

    def start(self) -> None:
        """Begin to read."""
        try:
            self._loop.add_reader(self._source, self._readable)
            self._watched = True
        except (OSError, ValueError, NotImplementedError):
            threading.Thread(target=self._read_all, name="mcpdecl-stdin", daemon=True).start()

    def pause(self) -> None:
        """Read nothing for now."""
        if self._watched and not self._paused:
            self._paused = True
            self._loop.remove_reader(self._source)

    def resume(self) -> None:
        """Read on."""
        if self._watched and self._paused and not self._stopped:
            self._paused = False
            self._loop.add_reader(self._source, self._readable)

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
        self._room.release()
        self._got(chunk)


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
