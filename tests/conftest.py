"""What all tests share: asyncio alone, and what is not part of the repository.

Knows: where the protocol's schema and examples may lie. Does not know: what a test does with them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpdecl import protocol
from tests.validity import check

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("MCPDECL_SHARED") or REPOSITORY.parent / "shared")
ABSENT = "the protocol's schema and examples are not here (set MCPDECL_SHARED to the folder that holds spec/)"


@pytest.fixture
def anyio_backend() -> str:
    """The server is written for asyncio, and so are its tests."""
    return "asyncio"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with ``spec/``; a clone alone has none, and then the test steps aside."""
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """``@pytest.mark.shared`` says for a whole test or module what the fixture says for one."""
    if SHARED.is_dir():
        return
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(pytest.mark.skip(reason=ABSENT))


@pytest.fixture(autouse=True)
def every_reply_is_valid(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Judge what a server in the test's own process answers; ``tests.wire`` judges what real processes send."""
    encode = protocol.encode
    wrong: list[str] = []

    def judged(reply: protocol.Reply) -> bytes:
        data = encode(reply)
        try:
            check(data, reply.request.method if reply.request is not None else None)
        except (AssertionError, KeyError, ValueError) as error:
            wrong.append(f"{error}\n{data!r}")
        return data

    monkeypatch.setattr(protocol, "encode", judged)
    yield
    assert not wrong, wrong
