"""Callables of the conformance fixture: what its manifests cannot say."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from mcpdecl import Context

MANIFESTS = Path(__file__).parent / "manifests"


async def log_three(ctx: Context) -> str:
    """Log three messages; they are sent only where the request asks for logs."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        ctx.log("info", message)
        await asyncio.sleep(0.05)
    return "Logged three messages."


def change_tool() -> str:
    """Edit a manifest so that a tool changes."""
    return _next_edition(MANIFESTS / "changing-tool.yaml")


def change_prompt() -> str:
    """Edit a manifest so that a prompt changes."""
    return _next_edition(MANIFESTS / "changing-prompt.yaml")


def _next_edition(manifest: Path) -> str:
    text = manifest.read_text("utf-8")
    edition = int(re.findall(r"Edition (\d+)", text)[0]) + 1
    beside = manifest.with_name(f".{manifest.name}")  # a name that begins with a dot is no manifest
    beside.write_text(re.sub(r"Edition \d+", f"Edition {edition}", text), "utf-8")
    beside.rename(manifest)
    return f"Edition {edition} is written."
