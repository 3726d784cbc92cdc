"""A copy of the example project in a git repository of its own, so that tests may edit it and delete its branches.

Knows: what the example needs around it (commits, branches, a README, a page of docs, tests to run). Does not know: who
serves it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.test",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.test",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def example(root: Path) -> Path:
    """Make the repository at ``root`` and return its ``manifests`` folder.

    ``main`` has two commits; the branches ``spare`` and ``unfinished`` have one more each; a change is staged.
    """
    root.mkdir(parents=True, exist_ok=True)
    for folder in ("manifests", "templates"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    for module in REPOSITORY.glob("*.py"):
        shutil.copy(module, root)
    write(root, "README.md", "# A repository\n\nTo be read.\n")
    write(root, "docs/style.md", "# Style\n")
    for number in range(4):
        write(root, f"tests/test_part{number}.py", "def test_it() -> None:\n    assert True\n")
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, "Begin the project")
    write(root, "notes.txt", "one\ntwo\n")
    commit(root, "Fix the notes")
    for branch in ("spare", "unfinished"):
        git(root, "checkout", "--quiet", "-b", branch, "main")
        write(root, f"{branch}.txt", f"{branch}\n")
        commit(root, f"Work on {branch}")
    git(root, "checkout", "--quiet", "main")
    write(root, "notes.txt", "one\ntwo\nthree\n")
    git(root, "add", "notes.txt")
    return root / "manifests"


def write(root: Path, name: str, text: str) -> None:
    """Write a file below ``root`` as editors do: beside, then renamed into place."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    beside.replace(path)


def commit(root: Path, message: str) -> None:
    """Commit everything."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


def git(root: Path, *words: str) -> str:
    """Run git in ``root`` and return what it said."""
    done = subprocess.run(
        ("git", *words), cwd=root, env={**os.environ, **AUTHOR}, capture_output=True, text=True, check=True
    )
    return done.stdout
