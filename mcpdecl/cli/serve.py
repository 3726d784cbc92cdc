"""``mcpdecl serve``: load the manifests, serve them, keep serving them while they are edited.

Knows: options, exit codes, signals, and in which order things start and end. Does not know: how anything it starts
does its work.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

import click

from mcpdecl import compiler
from mcpdecl.catalogue import counted
from mcpdecl.compiler.folder import locate
from mcpdecl.diagnostics import errors, render
from mcpdecl.observations import Log
from mcpdecl.protocol.seal import Keyring
from mcpdecl.server import Server

WRONG_SETUP = 2  # what the user wrote or chose cannot be served
FAILED = 1  # the machine does not let us
KEY_LENGTH = 32
LAST_WORDS = 0.3  # seconds that children get to be ended after a second signal


def _path(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    path = "/" + value.strip("/")
    if not value or not re.fullmatch(r"[/\w.~-]+", path, re.ASCII) or path in ("/healthz", "/readyz"):
        raise click.BadParameter("must be a path such as /mcp, and neither /healthz nor /readyz")
    return path


@click.command()
@click.argument("location", type=click.Path(path_type=Path), default=Path("manifests"))
# spec: basic/transports/streamable-http#security-endpoint: this machine alone, unless told otherwise
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks one.")
@click.option("--path", default="/mcp", show_default=True, callback=_path, help="Path of the MCP endpoint.")
@click.option("--stdio", is_flag=True, help="Serve the client that started this process, over stdin and stdout.")
@click.option("--root", type=click.Path(path_type=Path), help="Folder that relative paths start from.")
@click.option("--no-watch", is_flag=True, help="Do not reload when files change.")
@click.option("--unauthenticated", is_flag=True, help="Let anyone in who reaches an address beyond this machine.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def serve(
    location: Path,
    host: str,
    port: int,
    path: str,
    stdio: bool,
    root: Path | None,
    no_watch: bool,
    unauthenticated: bool,
    log_format: Literal["text", "json"],
) -> None:
    """Serve the manifests at LOCATION, a folder or a file."""
    log = Log(log_format)
    try:
        if stdio:
            code = _serve_stdio(location, root, not no_watch, log)
        else:
            code = _serve_http(location, root, not no_watch, log, host, port, path, unauthenticated)
    except Stop as stop:
        log.write(f"error[{stop.name}]: {stop.message}")
        code = stop.code
    _leave(code)


class Stop(Exception):
    """Nothing can be served: the exit code, and what to say in one line under a code of CODES."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.message = message


def _serve_stdio(location: Path, root: Path | None, live: bool, log: Log) -> int:
    from mcpdecl.transports.stdio import Channel, converse  # noqa: PLC0415 - HTTP has no use for it

    # spec: basic/index#auth: over stdio nobody logs in; credentials are in the environment
    channel = Channel.claim()  # before the author's modules are imported, which may print
    loaded, keyring = _load(location, root, log), keyring_of(os.environ.get("MCPDECL_KEYS"))

    async def talk(server: Server, stopping: asyncio.Event) -> None:
        await converse(server, channel, stopping)

    return _run(loaded, keyring, log, (location, locate(location, root)[1]), live, talk, None)


def _serve_http(
    location: Path, root: Path | None, live: bool, log: Log, host: str, port: int, path: str, unauthenticated: bool
) -> int:
    import uvloop  # noqa: PLC0415 - stdio has no use for it

    from mcpdecl.transports.sockets import CannotListen, address_of, bind, listen  # noqa: PLC0415

    keyring = keyring_of(os.environ.get("MCPDECL_KEYS"))
    try:
        sock = bind(host, port)
    except CannotListen as error:
        raise Stop(FAILED, "cannot-listen", str(error)) from None
    loaded = _load(location, root, log)
    assert loaded.catalogue is not None  # noqa: S101 - _load sees to it; for type checkers
    _judge_exposure(sock, host, bool(loaded.catalogue.settings.hosts), unauthenticated)

    async def talk(server: Server, stopping: asyncio.Event) -> None:
        watching = ", watching" if live else ""
        log.write(f"mcpdecl: serving {address_of(sock, path)} ({server.catalogue.summary}{watching})")
        await listen(server, sock, path, stopping)

    return _run(loaded, keyring, log, (location, locate(location, root)[1]), live, talk, uvloop.new_event_loop)


def _load(location: Path, root: Path | None, log: Log) -> compiler.Loaded:
    loaded = compiler.load(location, root=root)
    _, base = locate(location, root)
    for diagnostic in loaded.diagnostics:
        log.write(render(diagnostic, lambda file: _text_of(base / file)))
    if loaded.catalogue is None:
        raise Stop(
            WRONG_SETUP,
            "nothing-served",
            f"{counted(len(errors(loaded.diagnostics)), 'error')} in {location}; nothing is served",
        )
    return loaded


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, ValueError):
        return None


def keyring_of(keys: str | None) -> Keyring:
    """The keys of MCPDECL_KEYS (comma separated, newest first), or one of this process. Raises Stop."""
    if keys is None or not keys.strip():
        return Keyring(None)
    given = [key.strip() for key in keys.split(",")]
    for number, key in enumerate(given, 1):
        if len(key) < KEY_LENGTH:
            raise Stop(
                WRONG_SETUP,
                "bad-keys",
                f"MCPDECL_KEYS: key {number} has {len(key)} characters; each needs at least {KEY_LENGTH}",
            )
    return Keyring([key.encode() for key in given])


def _judge_exposure(sock: socket.socket, host: str, hosts: bool, unauthenticated: bool) -> None:
    from mcpdecl.transports.door import is_loopback  # noqa: PLC0415 - stdio has no door

    if is_loopback(sock.getsockname()[0]):
        return
    missing = [] if hosts else ["name the hosts it is called by in server.hosts"]
    missing += [] if unauthenticated else ["add --unauthenticated if everybody may call"]
    if missing:
        raise Stop(WRONG_SETUP, "unsafe-bind", f"--host {host} lets others in: {', and '.join(missing)}")


def _run(
    loaded: compiler.Loaded,
    keyring: Keyring,
    log: Log,
    place: tuple[Path, Path],
    live: bool,
    talk: Callable[[Server, asyncio.Event], Awaitable[None]],
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None,
) -> int:
    async def life() -> int:
        assert loaded.catalogue is not None  # noqa: S101 - for type checkers
        server = Server(loaded.catalogue, log=log, keyring=keyring, live=live)
        signals = Signals(server)
        watching = asyncio.create_task(_watch(server, place, loaded, log)) if live else None
        try:
            await talk(server, signals.stopping)
        finally:
            if watching is not None:
                watching.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await watching
        return signals.code

    # What was loaded stays; the collector need not look at it again, and seldom at the rest.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    runner = asyncio.Runner(loop_factory=loop_factory)
    code = runner.run(life())
    if threading.active_count() > 1:
        _leave(code)  # a callable that never returns would be waited for
    runner.close()
    return code


async def _watch(server: Server, place: tuple[Path, Path], loaded: compiler.Loaded, log: Log) -> None:
    from mcpdecl.reloader import Reloader  # noqa: PLC0415 - only where files are watched

    location, root = place
    await Reloader(server, location, root, loaded, log).run()


class Signals:
    """SIGTERM, SIGINT and SIGHUP end in order, a second one at once. ``code`` is what the process exits with."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self.stopping = asyncio.Event()
        self.code = 0
        for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup
            self._loop.add_signal_handler(number, self._caught, code)

    def _caught(self, code: int) -> None:
        if self.stopping.is_set():
            self._server.abandon()
            self._loop.call_later(LAST_WORDS, self._leave, code or 143)
            return
        self._server.log.write("mcpdecl: stopping; a second signal stops at once")
        self.code = code
        self.stopping.set()

    def _leave(self, code: int) -> None:
        # What is cancelled a second time is killed, in the next turn of the loop at the latest.
        self._server.abandon()
        self._loop.call_soon(self._loop.call_soon, _leave, code)


def _leave(code: int) -> None:
    """Exit without waiting for threads that an author's callable may hold."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it is where the descriptor was closed from the start
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    if threading.active_count() > 1:
        os._exit(code)
    sys.exit(code)
