"""A raw client: starts real servers and talks to them byte for byte, over HTTP and stdio.

Knows: the envelope of a request, JSON answers, event streams, lines. Does not know: any MCP library, so that nothing
is repaired on the way; ``tests.validity`` judges each message by the official models. Everything that waits
has a deadline (``PATIENCE`` seconds).

    with wire.http("manifests") as server:                      # mcpdecl serve manifests --port 0
        answer = server.request("tools/list")                   # answer.status, .headers, .json, .result, .error
        with server.stream("subscriptions/listen", {...}) as stream:
            stream.message()                                    # the next JSON message; StreamEnd at the end
    with wire.stdio("manifests") as server:
        server.request("tools/call", {"name": "echo"})          # .answer, .notifications

Both kinds of server have ``request``, ``call``, ``listen`` and ``begin`` (send now, read ``message()`` by message,
``cancel()`` as the transport has it), so that one test can walk over both.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import Any

from tests import validity

PATIENCE = 15.0
VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
Message = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent


class StreamEnd(Exception):
    """The stream ended cleanly."""


# --- messages --------------------------------------------------------------------------------------------------


def message(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    id: str | int = 1,
    capabilities: Mapping[str, Any] | None = None,
    progress: str | int | None = None,
    log: str | None = None,
    meta: Mapping[str, Any] | None = None,
    version: str = VERSION,
) -> Message:
    """A request with a correct envelope. ``progress`` is a progress token, ``log`` a log level."""
    fields: dict[str, Any] = {
        META + "protocolVersion": version,
        META + "clientInfo": {"name": "wire", "version": "1"},
        META + "clientCapabilities": dict(capabilities or {}),
    }
    if progress is not None:
        fields["progressToken"] = progress
    if log is not None:
        fields[META + "logLevel"] = log
    return {
        "jsonrpc": "2.0",
        "id": id,
        "method": method,
        "params": {**(params or {}), "_meta": {**fields, **(meta or {})}},
    }


def headers_of(message: Mapping[str, Any]) -> dict[str, str]:
    """The HTTP headers that go with a request."""
    params = message.get("params", {})
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": str(params.get("_meta", {}).get(META + "protocolVersion", VERSION)),
        "Mcp-Method": str(message.get("method", "")),
    }
    name = params.get(NAMED.get(headers["Mcp-Method"], ""))
    if isinstance(name, str):
        plain = name.isascii() and name.isprintable() and name == name.strip()
        coded = base64.b64encode(name.encode()).decode()
        headers["Mcp-Name"] = name if plain else f"=?base64?{coded}?="
    return headers


def method_of(asked: bytes | Message) -> str | None:
    """The method of what was sent, or None where it was no request."""
    try:
        data = json.loads(asked) if isinstance(asked, bytes) else asked
    except (ValueError, RecursionError):
        return None
    method = data.get("method") if isinstance(data, dict) else None
    return method if isinstance(method, str) else None


def eventually(true: Callable[[], Any], what: str | Callable[[], object] = "", patience: float = PATIENCE) -> Any:
    """Ask again and again until it is true; fail after ``patience`` seconds, telling ``what`` (as it is then)."""
    deadline = time.monotonic() + patience
    while not (found := true()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {patience} s: {(what() if callable(what) else what) or true}")
        time.sleep(0.02)
    return found


# --- processes -------------------------------------------------------------------------------------------------


class Process:
    """A server process, its stderr read all the time."""

    def __init__(self, command: list[str], *, env: Mapping[str, str | None] | None, cwd: Path | None, **pipes: Any):
        surroundings = {**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}
        self.process = subprocess.Popen(
            command,
            stderr=subprocess.PIPE,
            cwd=cwd or ROOT,
            env={k: v for k, v in surroundings.items() if v is not None},
            bufsize=0,
            **pipes,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def stderr(self) -> str:
        """All that was written to stderr so far."""
        return "".join(self.lines)

    def says(self, pattern: str, patience: float = PATIENCE) -> re.Match[str]:
        """Wait until stderr matches."""

        def look() -> re.Match[str] | None:
            found = re.search(pattern, self.stderr)
            if found is None and self.process.poll() is not None:
                self._reader.join(PATIENCE)
                found = re.search(pattern, self.stderr)
                assert found, f"ended with {self.process.returncode} before saying {pattern!r}:\n{self.stderr}"
            return found

        match: re.Match[str] = eventually(look, f"{pattern!r} on stderr:\n{self.stderr}", patience)
        return match

    def kill(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self, patience: float = PATIENCE) -> int:
        """Wait for its end; returns the exit code."""
        code = self.process.wait(patience)
        self._reader.join(PATIENCE)
        return code

    def stop(self, number: int = signal.SIGTERM, patience: float = PATIENCE) -> int:
        """End it with a signal and return its exit code."""
        if self.process.poll() is None:
            self.kill(number)
        try:
            return self.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.wait()
            raise AssertionError(f"did not end within {patience} s of signal {number}:\n{self.stderr}") from None

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in iter(self.process.stderr.readline, b""):
            self.lines.append(line.decode("utf-8", "replace"))
        self.process.stderr.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()


def command(location: str | Path, *options: str) -> list[str]:
    """The command line of a real server."""
    return [sys.executable, "-m", "mcpdecl", "serve", str(location), *options]


def http(
    location: str | Path = "manifests",
    *options: str,
    argv: list[str] | None = None,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | None = None,
) -> HttpServer:
    """Start a server on a port of its choice and wait until it listens. ``argv`` replaces the program and location."""
    words = [*argv, *options] if argv is not None else command(location, *options)
    return HttpServer([*words, "--port", "0"], env=env, cwd=cwd)


def stdio(
    location: str | Path = "manifests",
    *options: str,
    argv: list[str] | None = None,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | None = None,
    **pipes: Any,
) -> StdioServer:
    """Start a server for this client alone."""
    words = [*argv, *options] if argv is not None else command(location, *options)
    return StdioServer([*words, "--stdio"], env=env, cwd=cwd, **pipes)


# --- HTTP ------------------------------------------------------------------------------------------------------


class Answer:
    """An HTTP answer, read to its end. ``asked`` is what was sent, so that each message can be judged."""

    def __init__(self, status: int, headers: HTTPMessage, body: bytes, asked: bytes | Message = b"") -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self._method = method_of(asked)

    @property
    def streamed(self) -> bool:
        return self.headers.get_content_type() == "text/event-stream"

    @property
    def messages(self) -> list[Message]:
        """All messages of a stream, or the one of a JSON answer."""
        lines = [self.body]
        if self.streamed:
            lines = [line[6:] for line in self.body.split(b"\n") if line.startswith(b"data: ")]
        return [validity.check(line, self._method) for line in lines]

    @property
    def notifications(self) -> list[Message]:
        """What a stream said before the response."""
        return self.messages[:-1]

    @property
    def json(self) -> Message:
        """The last message: the response."""
        return self.messages[-1]

    @property
    def result(self) -> Message:
        assert "result" in self.json, self.json
        found: Message = self.json["result"]
        return found

    @property
    def error(self) -> Message:
        assert "error" in self.json, self.json
        found: Message = self.json["error"]
        return found

    @property
    def text(self) -> str:
        """The text blocks of a tool result."""
        return "".join(block.get("text", "") for block in self.result["content"])


class Stream:
    """An event stream that is read as it comes."""

    def __init__(self, connection: HTTPConnection, response: HTTPResponse, method: str | None = None) -> None:
        assert response.chunked
        self._method = method
        self._sock = connection.sock
        self._connection = connection
        self._rest = b""
        self.response = response
        self.comments = 0

    def message(self, patience: float = PATIENCE) -> Message:
        """The next message. Raises StreamEnd at a clean end, OSError where the connection was cut or reset."""
        if self._sock is not None:
            self._sock.settimeout(patience)
        while True:
            while b"\n" not in self._rest:
                self._rest += self._chunk()
            line, self._rest = self._rest.split(b"\n", 1)
            if line.startswith(b"data: "):
                return validity.check(line[6:], self._method)
            self.comments += line.startswith(b":")

    def _chunk(self) -> bytes:
        # http.client takes a torn stream for an ended one
        source = self.response.fp
        size = source.readline()
        if not size.endswith(b"\r\n"):
            raise ConnectionError("the stream was cut")
        chunk = source.read(int(size, 16) + 2)
        if not chunk.endswith(b"\r\n"):
            raise ConnectionError("the stream was cut")
        if chunk == b"\r\n":
            assert not self._rest, self._rest
            raise StreamEnd
        return chunk[:-2]

    def rest(self) -> list[Message]:
        """All messages up to the clean end."""
        found = []
        with contextlib.suppress(StreamEnd):
            while True:
                found.append(self.message())
        return found

    def close(self) -> None:
        """Hang up."""
        self.response.close()
        self._connection.close()
        if self._sock is not None:
            self._sock.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Posted:
    """A request over HTTP that was sent, and what comes of it: the messages of a stream, or of a JSON answer."""

    def __init__(self, server: HttpServer, asked: Message, headers: Mapping[str, str | None] | None) -> None:
        self.id = asked["id"]
        self._asked = asked
        self._connection = server.connect()
        self._stream: Stream | None = None
        self._over = False
        server.post(self._connection, asked, headers)

    def message(self, patience: float = PATIENCE) -> Message:
        """The next message. Raises StreamEnd after the last one."""
        if self._over:
            raise StreamEnd
        if self._stream is None:
            assert self._connection.sock is not None
            self._connection.sock.settimeout(patience)
            response = self._connection.getresponse()
            if response.headers.get_content_type() != "text/event-stream":
                self._over = True
                return Answer(response.status, response.headers, response.read(), self._asked).json
            self._stream = Stream(self._connection, response, method_of(self._asked))
        return self._stream.message(patience)

    def rest(self) -> list[Message]:
        """All messages that are still to come."""
        return _all_of(self)

    def cancel(self, reason: str | None = None) -> None:
        """Hang up, which is how a client cancels over HTTP; nothing carries a reason."""
        self.close()

    def close(self) -> None:
        """Hang up."""
        if self._stream is not None:
            self._stream.close()
        self._connection.close()

    def __enter__(self) -> Posted:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class HttpServer(Process):
    """A server process that listens on a port of its choice."""

    def __init__(self, words: list[str], *, env: Mapping[str, str | None] | None, cwd: Path | None) -> None:
        super().__init__(words, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            found = self.says(r"serving http://(\[[^]]+\]|[^:/]+):(\d+)(/\S*)")
        except BaseException:
            self.__exit__()
            raise
        self.host, self.port, self.path = found[1].strip("[]"), int(found[2]), found[3]
        self.url = f"http://{found[1]}:{found[2]}{found[3]}"

    def connect(self, patience: float = PATIENCE) -> HTTPConnection:
        """A connection of one's own, for what is not a plain POST."""
        return HTTPConnection(self.host, self.port, timeout=patience)

    def send(
        self,
        body: bytes | Message,
        headers: Mapping[str, str | None] | None = None,
        *,
        method: str = "POST",
        path: str = "",
    ) -> Answer:
        """Send anything and read the whole answer. A header of None is left out."""
        connection = self.connect()
        try:
            response = self._open(connection, body, headers, method, path)
            return Answer(response.status, response.headers, response.read(), body)
        finally:
            connection.close()

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        **envelope: Any,
    ) -> Answer:
        """Send a request with a correct envelope and read the whole answer."""
        return self.send(message(method, params, **envelope), headers)

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Answer:
        """Call a tool."""
        return self.request("tools/call", {"name": tool, "arguments": dict(arguments or {})}, **more)

    def stream(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        **envelope: Any,
    ) -> Stream:
        """Send a request and read its stream as it comes."""
        connection = self.connect()
        response = self._open(connection, message(method, params, **envelope), headers, "POST", "")
        if response.headers.get_content_type() != "text/event-stream":
            body = response.read()
            connection.close()
            raise AssertionError(f"no stream: {response.status} {body!r}")
        return Stream(connection, response, method)

    def listen(self, *, id: str | int = 1, **filter: Any) -> Stream:
        """Open a listen stream and take its acknowledgement."""
        stream = self.stream("subscriptions/listen", {"notifications": filter}, id=id)
        first = stream.message()
        assert first["method"] == "notifications/subscriptions/acknowledged", first
        return stream

    def begin(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        **envelope: Any,
    ) -> Posted:
        """Send a request and wait for nothing."""
        return Posted(self, message(method, params, **envelope), headers)

    def _open(
        self,
        connection: HTTPConnection,
        body: bytes | Message,
        headers: Mapping[str, str | None] | None,
        method: str,
        path: str,
    ) -> HTTPResponse:
        self.post(connection, body, headers, method, path)
        return connection.getresponse()

    def post(
        self,
        connection: HTTPConnection,
        body: bytes | Message,
        headers: Mapping[str, str | None] | None,
        method: str = "POST",
        path: str = "",
    ) -> None:
        """Send a request and read nothing."""
        sent = headers_of(body) if isinstance(body, dict) else {"Content-Type": "application/json"}
        merged = {**sent, **(headers or {})}
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        kept = {k: v for k, v in merged.items() if v is not None}
        connection.request(method, path or self.path, data, kept)


# --- stdio -----------------------------------------------------------------------------------------------------


class Exchange:
    """A response and the notifications that came before it."""

    def __init__(self, answer: Message, notifications: list[Message]) -> None:
        self.answer = answer
        self.notifications = notifications

    @property
    def result(self) -> Message:
        assert "result" in self.answer, self.answer
        found: Message = self.answer["result"]
        return found

    @property
    def error(self) -> Message:
        assert "error" in self.answer, self.answer
        found: Message = self.answer["error"]
        return found

    @property
    def text(self) -> str:
        return "".join(block.get("text", "") for block in self.result["content"])


class Sent:
    """A request over stdio that was sent, and those messages of the channel that belong to it."""

    def __init__(self, server: StdioServer, asked: Message) -> None:
        self.id = asked["id"]
        self._server = server
        self._token = asked["params"]["_meta"].get("progressToken")
        self._over = False
        server.awaiting.append(self)
        server.send(asked)

    def message(self, patience: float = PATIENCE) -> Message:
        """The next message. Raises StreamEnd after the response."""
        if self._over:
            raise StreamEnd
        # What carries neither token nor subscription (a log message) may be anybody's.
        found = self._server.next_of(lambda found: self.owns(found) is not False, patience)
        self._over = "method" not in found
        return found

    def owns(self, found: Message) -> bool | None:
        """Whether a message belongs to this request; None if nothing in it tells."""
        if "method" not in found:
            return bool(found.get("id") == self.id)
        params = found["params"]
        told = params.get("requestId", params.get("_meta", {}).get(META + "subscriptionId"))
        if told is not None:
            return bool(told == self.id)
        return bool(params["progressToken"] == self._token) if "progressToken" in params else None

    def rest(self) -> list[Message]:
        """All messages that are still to come."""
        return _all_of(self)

    def cancel(self, reason: str | None = None) -> None:
        """Send ``notifications/cancelled``."""
        params = {"requestId": self.id, **({"reason": reason} if reason is not None else {})}
        self._server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def close(self) -> None:
        """Cancel what is not answered."""
        if self in self._server.awaiting:
            self._server.awaiting.remove(self)
        if not self._over and self._server.process.poll() is None:
            with contextlib.suppress(OSError, ValueError):
                self.cancel()

    def __enter__(self) -> Sent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _all_of(source: Posted | Sent) -> list[Message]:
    found = []
    with contextlib.suppress(StreamEnd):
        while True:
            found.append(source.message())
    return found


class StdioServer(Process):
    """A server process at the other end of two pipes."""

    def __init__(
        self, words: list[str], *, env: Mapping[str, str | None] | None, cwd: Path | None, **pipes: Any
    ) -> None:
        super().__init__(words, env=env, cwd=cwd, **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **pipes})
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        if self.process.stdout is not None:
            threading.Thread(target=self._read_stdout, daemon=True).start()
        self._kept: list[Message] = []
        self.awaiting: list[Sent] = []
        self._asked: dict[Any, str | None] = {}

    def send(self, what: bytes | Message) -> None:
        """Write a message as a line, or bytes as they are."""
        assert self.process.stdin is not None
        self._note(what)
        data = json.dumps(what).encode() + b"\n" if isinstance(what, dict) else what
        while data:
            data = data[self.process.stdin.write(data) :]

    def line(self, patience: float = PATIENCE) -> bytes:
        """The next line as it came. Raises StreamEnd at the end of output."""
        try:
            found = self._lines.get(timeout=patience)
        except queue.Empty:
            raise AssertionError(f"nothing within {patience} s; stderr:\n{self.stderr}") from None
        if found is None:
            self._lines.put(None)
            raise StreamEnd
        return found

    def message(self, patience: float = PATIENCE) -> Message:
        """The next message, whatever it belongs to."""
        if self._kept:
            return self._kept.pop(0)
        line = self.line(patience)
        found: Message = json.loads(line)
        return validity.check(line, self._asked.get(found.get("id")))

    def next_of(self, mine: Callable[[Message], bool], patience: float = PATIENCE) -> Message:
        """Wait for the next message that is somebody's; others are kept for ``message``."""
        for found in self._kept:
            if mine(found):
                self._kept.remove(found)
                return found
        kept, self._kept = self._kept, []
        try:
            while not mine(found := self.message(patience)):
                kept.append(found)
        finally:
            self._kept = kept
        return found

    def _note(self, what: bytes | Message) -> None:
        """Remember which method an id stands for, so that its answer can be judged."""
        for line in what.split(b"\n") if isinstance(what, bytes) else [what]:
            with contextlib.suppress(ValueError, AttributeError, TypeError, RecursionError):
                sent = json.loads(line) if isinstance(line, bytes) else line
                self._asked[sent.get("id")] = method_of(sent)

    def answer(self, id: str | int, patience: float = PATIENCE) -> Exchange:
        """Wait for the response with an id; other messages are kept for ``message``."""
        before: list[Message] = []
        notifications: list[Message] = []
        while True:
            found = self.message(patience)
            if found.get("id") == id and ("result" in found or "error" in found):
                self._kept = before + self._kept
                return Exchange(found, notifications)
            others = "id" in found or any(sent.owns(found) for sent in self.awaiting)
            (before if others else notifications).append(found)

    def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, id: str | int = 1, **envelope: Any
    ) -> Exchange:
        """Send a request and wait for its response."""
        self.send(message(method, params, id=id, **envelope))
        return self.answer(id)

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Exchange:
        """Call a tool."""
        return self.request("tools/call", {"name": tool, "arguments": dict(arguments or {})}, **more)

    def begin(self, method: str, params: Mapping[str, Any] | None = None, **envelope: Any) -> Sent:
        """Send a request and wait for nothing."""
        return Sent(self, message(method, params, **envelope))

    def listen(self, *, id: str | int = 1, **filter: Any) -> Sent:
        """Open a subscription and take its acknowledgement."""
        sent = self.begin("subscriptions/listen", {"notifications": filter}, id=id)
        first = sent.message()
        assert first["method"] == "notifications/subscriptions/acknowledged", first
        return sent

    def rest(self) -> list[Message]:
        """All messages up to the end of output."""
        found = []
        with contextlib.suppress(StreamEnd):
            while True:
                found.append(self.message())
        return found

    def end_input(self) -> None:
        """Close the server's stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        buffer = b""
        while chunk := self.process.stdout.read(1 << 20):
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                self._lines.put(line)
        if buffer:
            self._lines.put(buffer)
        self._lines.put(None)
        self.process.stdout.close()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self.process.stdin is not None and not self.process.stdin.closed:
            with contextlib.suppress(OSError):
                self.process.stdin.close()


@contextlib.contextmanager
def raw(server: HttpServer, patience: float = PATIENCE) -> Iterator[Any]:
    """A bare socket to a server, for bytes that no HTTP library sends."""
    import socket

    with socket.create_connection((server.host, server.port), timeout=patience) as sock:
        yield sock
