"""Real servers for walks that go over both transports.

Knows: how a project is written and served in either way. Does not know: what is asked of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeAlias

import pytest

from tests import wire

Server: TypeAlias = wire.HttpServer | wire.StdioServer
Start: TypeAlias = Callable[..., Any]
WAYS = ("http", "stdio")


def project(root: Path, files: Mapping[str, str]) -> Path:
    """Write the files of a project below a folder; returns its manifests."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
    return root / "manifests"


def started(way: str, root: Path, files: Mapping[str, str], *options: str, **more: Any) -> Any:
    """Serve a project over ``way``."""
    return getattr(wire, way)(project(root, files), *options, cwd=root, **more)


def ended(server: Any) -> None:
    """End a server in order, and see that it said nothing that it should not."""
    if server.process.poll() is None:
        assert server.stop() == 0, server.stderr
    assert "Traceback" not in server.stderr, server.stderr


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """The transport, by its name."""
    return str(request.param)


@pytest.fixture(scope="module")
def served(way: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One server for all tests of a module that leave it as it was. The module's PROJECT maps its files to texts."""
    with started(way, tmp_path_factory.mktemp("served"), request.module.PROJECT) as server:
        yield server
        ended(server)


@pytest.fixture
def start(way: str, tmp_path: Path) -> Iterator[Start]:
    """Serve a project of one's own: ``start({"manifests/m.yaml": …}, "--no-watch", env={…})``."""
    servers: list[Any] = []

    def begin(files: Mapping[str, str], *options: str, root: Path = tmp_path, **more: Any) -> Any:
        servers.append(started(way, root, files, *options, **more))
        return servers[-1]

    try:
        yield begin
        for server in servers:
            ended(server)
    finally:
        for server in servers:
            server.__exit__()
