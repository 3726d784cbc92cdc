from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests import wire

MADE = [sys.executable, "-m", "tests.made"]


@pytest.fixture(scope="module")
def made() -> Iterator[wire.HttpServer]:
    """One server for all tests of a module that leave it as it was."""
    with wire.http(argv=MADE) as server:
        yield server
        assert server.stop() == 0, server.stderr
