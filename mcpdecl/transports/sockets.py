"""Listening: a socket, uvicorn on it, and an orderly end.

Knows: uvicorn, binding, the limit of descriptors, shutdown. Does not know: how a request comes in, or what is served.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import resource
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from mcpdecl.observations import Log
from mcpdecl.server import Server
from mcpdecl.transports.http import application
from mcpdecl.transports.incoming import BoundedProtocol

BACKLOG = 4096
DESCRIPTORS = 65_536
IDLE = 75  # seconds that a connection without a request stays open
FAREWELL = 1.0  # seconds that last bytes get to leave
GRACE = 5.0  # seconds that calls get to end


class CannotListen(Exception):
    """The address cannot be used; the text says why, in one line."""


def bind(host: str, port: int) -> socket.socket:
    """Bind before anything else, so that a port in use is told at once. Raises CannotListen."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise CannotListen(f"unknown host {host}: {error.strerror}") from None
    family, kind, protocol, _, address = found[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise CannotListen(_explained(error, host, port)) from None
    sock.setblocking(False)
    return sock


def _explained(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use ({host}); choose another with --port"
    if error.errno == errno.EACCES:
        return f"port {port} needs more rights than this user has; choose one from 1024 up with --port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine"
    return f"cannot listen on {host}:{port}: {error.strerror}"


def address_of(sock: socket.socket, path: str) -> str:
    """The URL of the endpoint at a socket that listens."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"


def raise_descriptor_limit() -> None:
    """Allow as many open sockets as the system lets this user have, up to a bound."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def listen(
    server: Server,
    sock: socket.socket,
    path: str,
    stopping: asyncio.Event,
    protocol: type[BoundedProtocol] = BoundedProtocol,
) -> None:
    """Serve on a bound socket until ``stopping`` is set, then end in order."""
    raise_descriptor_limit()
    _redirect_logs(server.log)
    config = uvicorn.Config(
        application(server, path),
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE,
    )
    await _House(config, server, stopping).serve(sockets=[sock])


class _House(uvicorn.Server):
    """uvicorn, told when to stop by us, and ending in our order."""

    def __init__(self, config: uvicorn.Config, server: Server, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._server = server
        self._stopping = stopping

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to whoever started us."""
        yield

    async def main_loop(self) -> None:
        """Refresh the Date header once a second until it is time to stop."""
        counter = 0
        while not self._stopping.is_set():
            await self.on_tick(counter)
            counter += 10
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), 1.0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no one in, let everybody finish, then cut what is left."""
        for listener in self.servers:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await self._server.close(GRACE)
        until = asyncio.get_running_loop().time() + FAREWELL
        while self.server_state.tasks and asyncio.get_running_loop().time() < until:
            await asyncio.wait(self.server_state.tasks, timeout=FAREWELL)
        left: list[Any] = list(self.server_state.connections)
        for connection in left:
            if connection.cycle is None or connection.cycle.response_complete:
                connection.transport.close()
            else:
                connection.transport.abort()
        await asyncio.sleep(0)  # let the transports close


class _Forward(logging.Handler):
    """Turns what uvicorn has to say into events of ours."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record as an event, an exception as an incident."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self._log.incident(error, during="http")
        else:
            self._log.event("http", message=record.getMessage().strip())


def _redirect_logs(log: Log) -> None:
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.handlers = [_Forward(log)] if name in ("uvicorn.error", "asyncio") else []
