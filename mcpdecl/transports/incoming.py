"""How a request comes in: never for ever, never without end, and in HTTP/1.1.

Knows: uvicorn's protocol and its parser, and what they leave unbounded. Does not know: what a request says.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mcpdecl.transports.door import HEADER_LIMIT


class BoundedProtocol(HttpToolsProtocol):
    """Ends connections on which a request does not come to its end, and reads on where another protocol is offered.

    The parser keeps all of a head, and of the trailers of a body, until they end; and nobody waits for them but us.
    """

    patience: ClassVar[float] = 30.0  # seconds that a head gets to come in whole, and then a body

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._timer: asyncio.TimerHandle | None = None
        self._loose = 0  # bytes that came since the last part of a body
        self._in_head = False
        self._whole = False
        self._refused = False

    # --- the connection --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Whoever connects has something to ask."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more is waited for."""
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, and see whether it has all of a request now."""
        if self._refused:
            return
        self._whole = False
        self._loose += len(data)
        self._feed(data)
        if self._whole:
            self._rest()
        elif self._loose > HEADER_LIMIT:
            self._refuse(b"431 Request Header Fields Too Large")
        elif self._timer is None:
            self._wait()

    def _feed(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as stopped:
            self._decline(data[stopped.args[0] :])
        except httptools.HttpParserError:
            self._refuse(b"400 Bad Request")

    # --- what the parser found -------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._in_head = True
        self._whole = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the head; what comes after the body would be taken for one."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head has ended; what it holds is judged by the application."""
        self._rest()
        if not self._offers_another():
            super().on_headers_complete()
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        """A part of the body; how much there may be is for the application to say."""
        self._loose = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is here."""
        if not self._offers_another():
            self._loose = 0
            self._whole = True
            super().on_message_complete()

    # --- another protocol ------------------------------------------------------------------------------------------

    def _offers_another(self) -> bool:
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def _decline(self, rest: bytes) -> None:
        """Read the request again without its offer of HTTP/2 or WebSocket: behind such a head the parser stops."""
        line = b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        kept = [b"%s: %s" % field for field in self.headers if field[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        self._feed(b"\r\n".join((line, *kept, b"", rest)))

    # --- time ------------------------------------------------------------------------------------------------------

    def on_response_complete(self) -> None:
        """What has begun to come in was not read while the answer was made; it gets its time now."""
        super().on_response_complete()
        if self._timer is not None:
            self._rest()
            self._wait()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.patience, self._late)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self._answering():
            self._wait()  # the next request may take as long as that
        else:
            self._refuse(b"408 Request Timeout")

    def _refuse(self, status: bytes) -> None:
        """End the connection; say why, unless that would stand in the middle of an answer, or nothing was asked."""
        self._refused = True
        begun = self._owing() and self.cycle.response_started
        if (self._in_head or self._owing()) and not begun and not self._answering():
            self.transport.write(b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % status)
        self.transport.close()

    def _answering(self) -> bool:
        return bool(self.pipeline) or (self._owing() and not self.cycle.more_body)

    def _owing(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete
