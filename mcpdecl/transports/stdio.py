"""stdio: one message a line, over descriptors that nobody else in the process can reach.

Knows: one client for the whole life, end of input, a parent that died. Does not know: how lines are read and written,
nor any method or message pattern; an Exchange says whether an answer is there, comes later, or stays open.
"""

from __future__ import annotations

import asyncio
import os

from mcpdecl import protocol
from mcpdecl.protocol.plans import Fault, Reply
from mcpdecl.server import Answer, Connection, Exchange, Server
from mcpdecl.transports.lines import BUSY, LINE_LIMIT, Reader, Writer

GRACE = 5.0
PARENT_EVERY = 1.0


class Channel:
    """The private copies of stdin and stdout, and whose they are: the process that started this one."""

    def __init__(self, source: int, sink: int) -> None:
        self.source = source
        self.sink = sink
        self.parent = os.getppid()

    @classmethod
    def claim(cls) -> Channel:
        """Take descriptors 0 and 1. What prints from now on lands on stderr; children read nothing."""
        # What was closed from the start reads and takes nothing; else the copies below would take its number.
        while (nothing := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(nothing, True)
        # spec: basic/transports/stdio: nothing that is no message may reach stdout
        source, sink = os.dup(0), os.dup(1)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(source, sink)


async def converse(server: Server, channel: Channel, stopping: asyncio.Event, grace: float = GRACE) -> None:
    """Serve one client until end of input, a broken output, the parent's death or ``stopping``.

    Listeners end at once, calls get ``grace`` seconds, and what they answer is written.
    """
    # spec: basic/transports/stdio#shutdown: the end of input ends the process
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
            if os.getppid() != channel.parent:
                break
    reader.stop()
    await server.close(0.0 if writer.broken else grace)
    talk.pump()
    await writer.flush(grace)
    writer.stop()


# spec: basic/transports/index#messages: requests and notifications in, responses and notifications out
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
            if exchange.answered:
                self._move(exchange)  # an answer waits where it is counted
            else:
                self._due[exchange] = None
                self.pump()

        exchange.start(wake)

    def pump(self) -> None:
        """Move what waits in mailboxes to the writer, as far as it keeps up."""
        while self._due and self._writer.waiting < BUSY:
            self._move(next(iter(self._due)))

    def _move(self, exchange: Exchange) -> None:
        self._due.pop(exchange, None)
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
