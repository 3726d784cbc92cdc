"""Tests of mcpdecl.cli.check: the command as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

GOOD = "tools:\n  greet:\n    description: Say hello.\n    input: {who: string}\n    text: Hello {{ who }}\n"


def check(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "mcpdecl", "check", *words]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


def write(root: Path, **files: str) -> Path:
    (root / "manifests").mkdir(exist_ok=True)
    for name, text in files.items():
        (root / "manifests" / f"{name}.yaml").write_text(text)
    return root


def test_a_good_folder_is_summed_up(tmp_path: Path) -> None:
    done = check("manifests", cwd=write(tmp_path, a=GOOD))
    assert (done.returncode, done.stdout, done.stderr) == (0, "OK: 1 tool, 0 prompts, 0 resources, 0 forms\n", "")


def test_every_problem_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    broken = GOOD.replace("who }}", "wo }}").replace("greet:", "greet_too:")
    write(tmp_path, a=GOOD.replace("description", "descripton"), b=broken, c="tools: [")
    done = check("manifests", cwd=tmp_path)
    assert done.returncode == 1
    for words in (
        "manifests/a.yaml:3:5",
        "^^^^^^^^^^",
        "description",
        "manifests/b.yaml:5:",
        "'wo'",
        "manifests/c.yaml",
    ):
        assert words in done.stdout
    assert done.stdout.rstrip().endswith("in 3 files")
    assert "Traceback" not in done.stdout + done.stderr


def test_warnings_alone_are_no_failure(tmp_path: Path) -> None:
    done = check("manifests", cwd=write(tmp_path, a=GOOD.replace("    description: Say hello.\n", "")))
    assert done.returncode == 0
    assert "warning[missing-description]" in done.stdout
    assert "OK: 1 tool" in done.stdout
    assert "1 warning in 1 file" in done.stdout


def test_json_for_programs(tmp_path: Path) -> None:
    done = check("manifests", "--format", "json", cwd=write(tmp_path, a=GOOD.replace("text:", "txt:")))
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert {"unknown-key"} <= {entry["code"] for entry in found}
    assert (found[0]["file"], found[0]["line"]) == ("manifests/a.yaml", 5)


def test_no_resolve_imports_nothing(tmp_path: Path) -> None:
    write(tmp_path, a=GOOD.replace("text: Hello {{ who }}", "python: greeter:hello"))
    (tmp_path / "greeter.py").write_text("raise SystemExit(9)\n")
    assert check("manifests", "--no-resolve", cwd=tmp_path).returncode == 0
    done = check("manifests", cwd=tmp_path)
    assert done.returncode == 1
    assert "greeter cannot be imported" in done.stdout


def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    done = check("nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_single_file(tmp_path: Path) -> None:
    write(tmp_path, a=GOOD, b="tools: [")
    assert check("manifests/a.yaml", cwd=tmp_path).returncode == 0


def test_the_example_project_is_clean() -> None:
    done = check("manifests", cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (0, "OK: 7 tools, 1 prompt, 4 resources, 1 form\n")
