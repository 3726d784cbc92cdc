"""How a request comes in. Where time matters, a server in this process is given very little of it."""

from __future__ import annotations

import asyncio
import io
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

import pytest

from mcpdecl.observations import Log
from mcpdecl.server import Server
from mcpdecl.transports.incoming import BoundedProtocol
from mcpdecl.transports.sockets import bind, listen
from tests import made as catalogues
from tests import wire

HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class Impatient(BoundedProtocol):
    patience = 0.3


class Caller:
    """One connection to a server that waits for nobody."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def heard(self) -> bytes:
        """All that the server says until it hangs up."""
        return await asyncio.wait_for(self.reader.read(), wire.PATIENCE)

    async def dribbled(self, piece: bytes) -> bytes:
        """Send a piece again and again, and hear what is said until the server hangs up."""

        async def send() -> None:
            with suppress(OSError):
                while not self.reader.at_eof():
                    self.writer.write(piece)
                    await self.writer.drain()
                    await asyncio.sleep(0.02)

        sending = asyncio.create_task(send())
        try:
            return await self.heard()
        finally:
            sending.cancel()


def impatiently(sent: bytes, work: Callable[[Caller], Awaitable[bytes]]) -> bytes:
    """What comes back on a connection on which something was sent, and then worked on."""

    async def life() -> bytes:
        server = Server(catalogues.catalogue(), log=Log(stream=io.StringIO()), live=True, threads=1)
        sock, stopping = bind("127.0.0.1", 0), asyncio.Event()
        host, port = sock.getsockname()
        serving = asyncio.create_task(listen(server, sock, "/mcp", stopping, Impatient))
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(sent)
            return await work(Caller(reader, writer))
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            stopping.set()
            await serving

    return asyncio.run(life())


def posted(message: wire.Message, *fields: bytes) -> bytes:
    """The bytes of a whole request."""
    body = json.dumps(message).encode()
    lines = [f"{name}: {value}".encode() for name, value in wire.headers_of(message).items()]
    head = [b"POST /mcp HTTP/1.1", b"Host: localhost", *lines, *fields, b"Content-Length: %d" % len(body)]
    return b"\r\n".join((*head, b"", body))


def call(tool: str, id: int, **arguments: object) -> wire.Message:
    return wire.message("tools/call", {"name": tool, "arguments": arguments}, id=id)


def bodies(sock: socket.socket, many: int) -> list[wire.Message]:
    """So many JSON answers from a socket."""
    found: list[wire.Message] = []
    buffer = b""
    while len(found) < many:
        head, separator, rest = buffer.partition(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        if separator and len(rest) >= size:
            found.append(json.loads(rest[:size]))
            buffer = rest[size:]
            continue
        part = sock.recv(65536)
        assert part, buffer
        buffer += part
    return found


# --- time --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"POST /", HEAD, HEAD + b"X-Slow: "])
def test_a_head_that_does_not_end_is_not_waited_for(sent: bytes) -> None:
    assert impatiently(sent, Caller.heard).startswith(b"HTTP/1.1 408 ")
    assert impatiently(sent, lambda caller: caller.dribbled(b"a")).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("framing", "piece"),
    [
        (b"Content-Length: 1000000\r\n\r\n{", b" "),
        (b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"1\r\n \r\n"),
        (b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX-Slow: ", b"a"),
    ],
    ids=["length", "chunks", "trailers"],
)
def test_a_body_that_does_not_end_is_not_waited_for(framing: bytes, piece: bytes) -> None:
    assert impatiently(HEAD + framing, Caller.heard).startswith(b"HTTP/1.1 408 ")
    assert impatiently(HEAD + framing, lambda caller: caller.dribbled(piece)).startswith(b"HTTP/1.1 408 ")


def test_who_asks_nothing_is_not_waited_for() -> None:
    assert impatiently(b"", Caller.heard) == b""
    assert impatiently(b"", lambda caller: caller.dribbled(b"\r\n")) == b""


def test_the_body_of_what_was_refused_is_not_waited_for() -> None:
    head = HEAD.replace(b"POST", b"PUT") + b"Content-Length: 1000000\r\n\r\n"
    heard = impatiently(head, lambda caller: caller.dribbled(b" "))
    assert heard.startswith(b"HTTP/1.1 405 ")
    assert heard.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("many", [1, 2])
def test_an_answer_may_take_longer_and_nothing_stands_in_the_middle_of_it(many: int) -> None:
    calls = b"".join(posted(call("slow", n, seconds=1)) for n in range(many))
    first, *others = impatiently(calls + HEAD, Caller.heard).split(b"HTTP/1.1 ")[1:]
    assert all(answer.startswith(b"200 ") and b"slept slow" in answer for answer in [first, *others[:-1]])
    assert len(others) == many
    assert others[-1].startswith(b"408 ")


# --- size --------------------------------------------------------------------------------------------------------


def test_trailers_without_end_are_not_held(made: wire.HttpServer) -> None:
    with wire.raw(made) as sock:
        sock.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n")
        with pytest.raises(OSError):
            while True:
                sock.sendall(b"X: " + b"x" * 4096 + b"\r\n")


def test_H08_a_trailer_is_no_header(made: wire.HttpServer) -> None:
    message = call("echo", 1, text="as it was asked")
    whole, body = posted(message), json.dumps(message).encode()
    head = whole.removesuffix(body).partition(b"Content-Length")[0]
    with wire.raw(made) as sock:
        sock.sendall(
            head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nMcp-Name: other\r\n\r\n" % (len(body), body)
        )
        assert bodies(sock, 1)[0]["result"]["content"][0]["text"] == "as it was asked"


# --- other protocols ---------------------------------------------------------------------------------------------

OFFERS = [
    (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__"),
    (b"Connection: keep-alive, Upgrade", b"Upgrade: websocket"),
]


def parts(whole: bytes, size: int) -> Iterator[bytes]:
    return (whole[at : at + size] for at in range(0, len(whole), size))


@pytest.mark.parametrize("offer", OFFERS, ids=["h2c", "websocket"])
@pytest.mark.parametrize("size", [1_000_000, 100, 7], ids=str)
def test_an_offer_of_another_protocol_is_passed_over(
    made: wire.HttpServer, offer: tuple[bytes, ...], size: int
) -> None:
    whole = b"".join(posted(call("echo", n, text="x" * 300), *offer) for n in range(3))
    with wire.raw(made) as sock:
        for part in parts(whole, size):
            sock.sendall(part)
        assert [answer["id"] for answer in bodies(sock, 3)] == [0, 1, 2]


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\n\r\n",
    ],
    ids=["TLS", "HTTP/2", "CONNECT"],
)
def test_what_is_not_HTTP_1_is_refused(made: wire.HttpServer, sent: bytes) -> None:
    with wire.raw(made) as sock:
        sock.sendall(sent)
        assert sock.recv(65536).startswith(b"HTTP/1.1 400 ")
        assert sock.recv(65536) == b""
