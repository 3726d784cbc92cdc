from __future__ import annotations

import subprocess
import sys

from click.testing import CliRunner

import mcpdecl
from mcpdecl.cli import COMMANDS, main
from tests import wire


def test_commands_are_listed() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert all(name in result.output for name in COMMANDS)


def test_the_version_is_told() -> None:
    assert mcpdecl.__version__ in CliRunner().invoke(main, ["--version"]).output


def test_an_unknown_command_is_an_error() -> None:
    result = CliRunner().invoke(main, ["sevre"])
    assert result.exit_code == 2
    assert "sevre" in result.output


def test_commands_are_imported_when_they_are_used() -> None:
    program = "import sys, mcpdecl.cli; print([m for m in sys.modules if m.startswith('mcpdecl.')])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=wire.ROOT)
    assert found.stdout.strip() == "['mcpdecl.cli']"


def test_it_runs_as_a_module() -> None:
    words = [sys.executable, "-m", "mcpdecl", "--version"]
    found = subprocess.run(words, capture_output=True, text=True, check=True, cwd=wire.ROOT)
    assert found.stdout.strip() == f"mcpdecl, version {mcpdecl.__version__}"
