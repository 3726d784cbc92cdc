"""A project folder for each test; what it imported is gone afterwards.

Knows: where Python keeps modules. Does not know: what a test writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpdecl.bindings import modules
from tests.compiler.folders import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """An empty root folder."""
    before, path = set(sys.modules), list(sys.path)
    yield Project(tmp_path)
    for name in set(sys.modules) - before:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]
            modules._LIVE.pop(name, None)
    sys.path[:] = path
