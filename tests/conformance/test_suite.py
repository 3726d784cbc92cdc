"""The official conformance suite, against ``mcpdecl serve`` on the manifests of this folder.

Everything runs on a copy: two tools of the fixture edit their manifests.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import wire
from tests.conformance.suite import EXTENSIONS, REVISION, Check, Suite, Unavailable, install, missing, recorded

HERE = Path(__file__).parent
SCORED = 37  # scenarios of the frozen set of the revision

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def suite() -> Suite:
    try:
        return install()
    except Unavailable as reason:
        if os.environ.get("CI", "").lower() in ("1", "true"):
            raise
        pytest.skip(f"the official suite is not to be had here: {reason}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wire.HttpServer]:
    root = tmp_path_factory.mktemp("fixture")
    for name in ("manifests", "files"):
        shutil.copytree(HERE / name, root / name)
    shutil.copy(HERE / "running.py", root)
    with wire.http(root / "manifests", cwd=root) as served:
        yield served


def told(checks: list[Check], *statuses: str) -> str:
    return "\n".join(str(check) for check in checks if check.status in statuses)


def test_every_scored_scenario_passes(suite: Suite, server: wire.HttpServer, tmp_path: Path) -> None:
    scored = suite.scenarios("--requirements", REVISION)
    assert len(scored) == SCORED
    checks = [c for c in suite.run(server.url, tmp_path, "--requirements", REVISION) if c.scenario in scored]
    assert not missing(scored, checks), server.stderr
    assert not told(checks, "FAILURE"), server.stderr
    skipped = {c.scenario for c in checks if c.status == "SKIPPED"} - {
        c.scenario for c in checks if c.status != "SKIPPED"
    }
    assert not skipped


def test_nothing_fails_or_warns_in_any_modern_scenario(suite: Suite, server: wire.HttpServer, tmp_path: Path) -> None:
    every = {name for name in suite.scenarios("--spec-version", REVISION) if not EXTENSIONS.match(name)}
    assert len(every) >= 40
    checks = [
        c
        for c in suite.run(server.url, tmp_path, "--suite", "all", "--spec-version", REVISION)
        if not EXTENSIONS.match(c.scenario)
    ]
    assert not missing(every, checks), server.stderr
    assert not told(checks, "FAILURE", "WARNING", "SKIPPED"), server.stderr


def test_a_crash_is_no_pass(tmp_path: Path) -> None:
    (tmp_path / "server-ping-2026-01-01T00-00-00").mkdir()
    (tmp_path / "server-empty-2026-01-01T00-00-00").mkdir()
    (tmp_path / "server-empty-2026-01-01T00-00-00" / "checks.json").write_text("[]")
    assert missing({"ping", "empty"}, recorded(tmp_path)) == ["empty", "ping"]
