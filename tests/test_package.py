"""What ``import mcpdecl`` offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mcpdecl


def test_every_public_name_is_there() -> None:
    assert all(getattr(mcpdecl, name) is not None for name in mcpdecl.__all__)
    assert len(mcpdecl.__all__) <= 10


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = mcpdecl.nonsense


def test_importing_the_package_imports_no_room() -> None:
    code = "import mcpdecl, sys; print([m for m in sys.modules if m.startswith('mcpdecl.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
