"""Streamable HTTP: one POST, one message; the answer is JSON or a stream of events.

Knows: ASGI, JSON answers, event streams, hang-ups. Does not know: any method or message pattern; an Exchange says
whether an answer is there, comes later, or stays open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mcpdecl import protocol
from mcpdecl.server import Answer, Exchange, Server, refusal
from mcpdecl.transports import door
from mcpdecl.transports.door import Refusal

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

KEEP_ALIVE = 15.0
LINGER_SECONDS = 1.0
LINGER_BYTES = 16 * 1024 * 1024
COMMENT = b":\n\n"
STREAM_HEADERS: Mapping[str, str] = {
    "content-type": door.SSE,
    "cache-control": "no-store, no-transform",
    # spec: basic/transports/streamable-http#receiving-messages
    "x-accel-buffering": "no",
}


def application(server: Server, path: str = "/mcp") -> Application:
    """The ASGI application: the MCP endpoint at ``path``, ``/healthz`` and ``/readyz``."""
    return Application(server, path)


# spec: basic/transports/streamable-http: one endpoint that takes POST
class Application(Starlette):
    """The MCP endpoint beside what operators look at. It never redirects: clients do not repeat a POST body."""

    def __init__(self, server: Server, path: str) -> None:
        self.endpoint = Endpoint(server)
        plain = "/" + path.strip("/")
        self.paths = frozenset({plain, plain.rstrip("/") + "/"})

        async def healthy(request: Request) -> Response:
            return PlainTextResponse("ok\n")

        async def ready(request: Request) -> Response:
            if server.fault is None:
                return JSONResponse({"ready": True, "revision": server.catalogue.revision})
            return JSONResponse({"ready": False, "reason": server.fault}, 503)

        super().__init__(routes=[Route("/healthz", healthy), Route("/readyz", ready)])
        self.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Calls do not pass the middleware that costs as much as they do."""
        if scope["type"] == "http" and scope["path"] in self.paths:
            await self.endpoint(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


# spec: basic/transports/index#messages: requests and notifications in, responses and notifications out
# spec: basic/transports/streamable-http#earlier-streamable-http-revisions: no session, no resumption
class Endpoint:
    """The MCP endpoint as a raw ASGI application."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge at the door, read the body, hand it over, send what comes."""
        settings = self._server.catalogue.settings
        if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > door.HEADER_LIMIT:
            await _refuse(send, Refusal("headers-too-large", "The headers are larger than 64 KiB."), {}, receive)
            return
        headers = _joined(scope["headers"])
        more = door.cross_origin(headers, settings)
        refused = door.judge(scope["method"], headers, settings)
        if refused is not None:
            unread = "content-length" not in headers and "transfer-encoding" in headers
            long = unread or refused.code == "too-large"
            await _refuse(send, refused, more, receive if long else None)
        elif scope["method"] == "OPTIONS":
            await _send_whole(send, Answer(204, door.preflight(headers, settings)))
        else:
            received = await self._receive(receive, headers, scope)
            if isinstance(received, Refusal):
                await _refuse(send, received, more, receive)
            elif received is not None:
                await self._serve(received, door.accepted(headers.get("accept")), more, receive, send)

    async def _receive(self, receive: Receive, headers: Mapping[str, str], scope: Scope) -> Exchange | Refusal | None:
        """Read the body and hand it over. Nothing here keeps it, however long the answer may take."""
        body = await _read(receive)
        if body is None or isinstance(body, Refusal):
            return body
        peer = scope["client"][0] if scope.get("client") else ""
        return self._server.connect(peer=peer).receive(body, headers)

    async def _serve(
        self, exchange: Exchange, accepted: tuple[bool, bool], more: dict[str, str], receive: Receive, send: Send
    ) -> None:
        json, sse = accepted
        if exchange.ready is not None:
            await _Response(send, more, json, sse).end(exchange.ready)
        elif exchange.streams and not sse:
            message = f"This answers with {door.SSE}, which Accept leaves out."
            await _refuse(send, Refusal("not-acceptable", message), more)
        else:
            response = _Response(send, more, json, sse)
            await _Waiting(exchange, response, receive, self._server.catalogue.settings.stream_after).run()


class _Response:
    """What was sent of one answer: nothing, the head of a stream, all."""

    __slots__ = ("_json", "_more", "_send", "_sse", "streaming")

    def __init__(self, send: Send, more: dict[str, str], json: bool, sse: bool) -> None:
        self._send = send
        self._more = more
        self._json = json
        self._sse = sse
        self.streaming = False

    @property
    def may_stream(self) -> bool:
        return self._sse

    async def open(self) -> None:
        """Send the head of a stream."""
        if not self.streaming:
            self.streaming = True
            raw = _raw(STREAM_HEADERS.items(), self._more)
            await self._send({"type": "http.response.start", "status": 200, "headers": raw})

    async def write(self, chunk: bytes) -> None:
        """Send a part of a stream."""
        await self.open()
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def end(self, answer: Answer) -> None:
        """Send the answer: as the last event of a stream that is open, else as JSON with its own status."""
        # spec: basic/transports/streamable-http#sending-messages: JSON or a stream of events
        # spec: basic/transports/streamable-http#receiving-messages: the response ends the stream
        only_stream = not self._json and answer.status == 200 and answer.body is not None
        if not self.streaming and not only_stream:
            await _send_whole(self._send, answer, self._more)
            return
        await self.open()
        last = _event(answer.body) if answer.body is not None else b""
        await self._send({"type": "http.response.body", "body": last, "more_body": False})


class _Waiting:
    """Waits at once for messages to send, for the caller to hang up, and for the time to open or keep a stream."""

    def __init__(self, exchange: Exchange, response: _Response, receive: Receive, stream_after: float) -> None:
        self._exchange = exchange
        self._response = response
        self._receive = receive
        self._pause = stream_after
        self._loop = asyncio.get_running_loop()
        self._woken = False
        self._bell: asyncio.Future[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._gone = False

    async def run(self) -> None:
        """Send until the answer is out or the caller has gone."""
        self._exchange.start(self._wake)
        try:
            if self._exchange.streams:
                await self._response.open()
            else:
                await asyncio.sleep(0)  # most calls need one turn; only those that take longer get a watcher
            while not await self._deliver():
                self._watch()
                await self._rest()
        finally:
            if self._watcher is not None:
                self._watcher.cancel()
            # spec: basic/patterns/cancellation#transport-specific-cancellation
            # spec: basic/transports/streamable-http#cancellation
            self._exchange.cancel()

    async def _deliver(self) -> bool:
        """Send what is there; true when nothing more will come."""
        while self._woken and not self._gone:
            self._woken = False
            messages, answer = self._exchange.take()
            if messages and self._response.may_stream:
                await self._response.write(b"".join(map(_event, messages)))
            if answer is not None:
                await self._response.end(answer)
                return True
        return self._gone

    async def _rest(self) -> None:
        if self._woken or self._gone:
            return
        self._bell = self._loop.create_future()
        streaming = self._response.streaming
        timer = self._loop.call_later(KEEP_ALIVE if streaming else self._pause, self._ring)
        try:
            await self._bell
        finally:
            timer.cancel()
            self._bell = None
        if not self._woken and not self._gone:
            if not self._response.may_stream:
                self._pause = KEEP_ALIVE
            else:
                await self._response.write(COMMENT)

    def _watch(self) -> None:
        if self._watcher is None:
            self._watcher = self._loop.create_task(self._hang_up())

    async def _hang_up(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._ring()

    def _wake(self) -> None:
        self._woken = True
        self._ring()

    def _ring(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)


async def _read(receive: Receive) -> bytes | Refusal | None:
    """The body, a refusal of one that is too large, or None where the caller hung up."""
    chunks: list[bytes] = []
    size = 0
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        chunk = event.get("body", b"")
        size += len(chunk)
        if size > door.BODY_LIMIT:
            return door.TOO_LARGE
        chunks.append(chunk)
        if not event.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _joined(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


async def _refuse(send: Send, refused: Refusal, more: dict[str, str], unread: Receive | None = None) -> None:
    """Send a refusal. Where a long body is still on its way, the connection ends with it."""
    reply = refusal(refused.code, refused.message)
    headers = {"allow": door.ALLOW} if reply.status == 405 else {}
    answer = Answer(reply.status, headers, protocol.encode(reply))
    if unread is None:
        await _send_whole(send, answer, more)
        return
    await _send_whole(send, answer, {**more, "connection": "close"}, last=False)
    await _linger(unread)
    await send({"type": "http.response.body", "body": b""})


async def _linger(receive: Receive) -> None:
    """Take in some of an unwanted body: a socket closed while data comes in is reset, and the answer lost with it."""
    left = LINGER_BYTES
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0:
                event = await receive()
                left -= len(event.get("body", b""))
                if not event.get("more_body", False):
                    return
    except TimeoutError:
        return


async def _send_whole(send: Send, answer: Answer, more: Mapping[str, str] | None = None, *, last: bool = True) -> None:
    body = answer.body or b""
    raw = _raw(answer.headers.items(), more or {})
    if answer.status != 204:
        raw.append((b"content-length", str(len(body)).encode()))
    if body:
        raw.append((b"content-type", b"application/json"))
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    await send({"type": "http.response.body", "body": body, "more_body": not last})


def _raw(items: Iterable[tuple[str, str]], more: Mapping[str, str]) -> RawHeaders:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in (*items, *more.items())]


def _event(message: bytes) -> bytes:
    return b"data: " + message + b"\n\n"
