"""The built wheel, installed where nothing else is: it checks and serves a folder."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
MANIFEST = """\
server: {name: alone, version: "1"}
tools:
  greet:
    description: Say hello.
    input: {who: string}
    template: hello.j2
  listing:
    description: Run a program.
    command: [printf, "%s", ran]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    argv = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(REPOSITORY)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"mcpdecl"}
    assert {"mcpdecl/py.typed", "mcpdecl/manifest/format.schema.json"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.timeout(600)
def test_the_wheel_serves_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "-c", REPOSITORY / "constraints.txt", wheel]
    subprocess.run(pip, check=True, timeout=500)
    root = tmp_path / "project"
    (root / "manifests").mkdir(parents=True)
    (root / "templates").mkdir()
    (root / "manifests" / "all.yaml").write_text(MANIFEST)
    (root / "templates" / "hello.j2").write_text("Hello {{ who }}")
    mcpdecl = home / "bin" / "mcpdecl"
    checked = subprocess.run([mcpdecl, "check", "manifests"], cwd=root, capture_output=True, text=True, check=False)
    assert checked.stdout == "OK: 2 tools, 0 prompts, 0 resources, 0 forms\n", checked.stderr
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    calls = [("greet", {"who": "you"}), ("listing", {})]
    lines = [
        json.dumps(
            {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": n, "arguments": a, "_meta": meta}}
        )
        for id, (n, a) in enumerate(calls)
    ]
    argv = [mcpdecl, "serve", "manifests", "--stdio"]
    served = subprocess.run(
        argv, cwd=root, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False, timeout=60
    )
    assert served.returncode == 0, served.stderr
    answers = {a["id"]: a["result"]["content"][0]["text"] for a in map(json.loads, served.stdout.splitlines())}
    assert answers == {0: "Hello you", 1: "ran"}
