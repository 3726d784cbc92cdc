"""Callables of the example project: what a manifest alone cannot say."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from mcpdecl import Context, ToolError

ROOT = Path(__file__).parent  # the server may have been started anywhere


def count_lines(path: str) -> dict[str, Any]:
    """Count the lines that each author wrote last. A plain function runs in a thread."""
    blame = subprocess.run(  # noqa: S603 - the words are ours; a path cannot be an option behind "--"
        ["git", "blame", "--line-porcelain", "--", path],  # noqa: S607 - git is found on PATH, as in the manifests
        cwd=ROOT,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if blame.returncode:
        raise ToolError(f"{path} is not a tracked file.")
    authors = Counter(line.removeprefix("author ") for line in blame.stdout.splitlines() if line.startswith("author "))
    return {"authors": [{"author": author, "lines": lines} for author, lines in authors.most_common()]}


async def run_tests(ctx: Context, path: str) -> str:
    """Run pytest and tell its progress. A cancelled call ends the tests too."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", "--", path,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    assert process.stdout is not None  # noqa: S101 - it was asked for above
    try:
        lines: list[str] = []
        while line := await process.stdout.readline():
            lines.append(line.decode(errors="replace").rstrip())
            if done := re.search(r"\[ *(\d+)%\]$", lines[-1]):
                ctx.progress(int(done[1]), total=100, message=lines[-1].split(" ")[0])
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    return "\n".join(lines[-30:])
