"""Tests of mcpdecl.bindings.running: nothing that a call started outlives it."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from mcpdecl.bindings.running import GRACE, Refusal, spawn
from mcpdecl.server import CANCELLING

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"]}


def alive(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be reaped by whoever adopted it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    return not alive(pid)


async def pid_in(file: Path) -> int:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if file.exists() and file.read_text().strip().isdigit():
            return int(file.read_text())
        await asyncio.sleep(0.02)
    raise AssertionError("the program did not start")


async def start(script: str, folder: Path) -> bytes:
    ended = await spawn(["sh", "-c", script], cwd=folder, env=ENV, stdin=None, limit=10_000, watcher=None)
    return ended.out


async def test_S07_a_grandchild_that_holds_the_output_holds_no_call(tmp_path: Path) -> None:
    assert await asyncio.wait_for(start("sleep 300 & echo $! > pid; echo started", tmp_path), 60) == b"started\n"
    assert await gone(await pid_in(tmp_path / "pid"))


async def test_S09_cancelling_ends_the_program_and_its_children(tmp_path: Path) -> None:
    task = asyncio.create_task(start("sleep 300 & echo $! > child; echo $$ > own; wait", tmp_path))
    child, own = await pid_in(tmp_path / "child"), await pid_in(tmp_path / "own")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(own)
    assert await gone(child)


async def test_a_program_that_ignores_a_polite_signal_is_killed(tmp_path: Path) -> None:
    task = asyncio.create_task(start("trap '' TERM; echo $$ > own; while true; do sleep 1; done", tmp_path))
    own = await pid_in(tmp_path / "own")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(own)


async def test_no_file_descriptor_is_left(tmp_path: Path) -> None:
    await start("true", tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        await start("echo x", tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_fifty_at_once(tmp_path: Path) -> None:
    assert await asyncio.gather(*(start(f"echo {n}", tmp_path) for n in range(50))) == [b"%d\n" % n for n in range(50)]


async def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    file = tmp_path / "plain"
    file.write_text("no program")
    for argv, why in ((["none-such"], "not found"), ([str(file)], "may not be run")):
        with pytest.raises(Refusal, match=why):
            await spawn(argv, cwd=tmp_path, env=ENV, stdin=None, limit=10, watcher=None)


async def test_S09_a_second_cancel_kills_at_once(tmp_path: Path) -> None:
    task = asyncio.create_task(start("trap '' TERM; echo $$ > own; while true; do sleep 1; done", tmp_path))
    own = await pid_in(tmp_path / "own")
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(own)


def test_S09_a_server_that_ends_waits_longer_than_a_stubborn_program_gets() -> None:
    assert GRACE <= CANCELLING / 2, "else what ignores SIGTERM outlives the server"


async def test_where_there_is_no_pidfd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int, flags: int = 0) -> int:
        raise OSError("not permitted in this sandbox")

    monkeypatch.setattr(os, "pidfd_open", refused, raising=False)
    assert await start("echo x", tmp_path) == b"x\n"
