"""Tests of mcpdecl.bindings.running: nothing that a call started outlives it."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import time
from pathlib import Path

import pytest

from mcpdecl.bindings.running import GRACE, Program, Refusal, Watchers, spawn
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


def shell(script: str, folder: Path) -> Program:
    return Program(["sh", "-c", script], folder, ENV, limit=10_000)


async def start(script: str, folder: Path) -> bytes:
    return (await spawn(shell(script, folder))).out


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


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_no_file_descriptor_is_left_however_a_run_ends(tmp_path: Path) -> None:
    heard: list[bytes] = []
    listening = Watchers(reports=heard.append)

    async def every_way() -> None:
        await spawn(shell("echo x", tmp_path))
        await spawn(shell("echo x > /dev/fd/$MCPDECL_FD", tmp_path), listening)
        for argv in (["none-such"], [str(tmp_path)]):
            for watchers in (listening, Watchers()):
                with pytest.raises(Refusal):
                    await spawn(Program(argv, tmp_path, ENV, b"x"), watchers)
        task = asyncio.create_task(spawn(shell("echo $$ > own; exec sleep 300", tmp_path), listening))
        await pid_in(tmp_path / "own")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (tmp_path / "own").unlink()

    await every_way()
    before = descriptors()
    for _ in range(10):
        await every_way()
    assert descriptors() == before
    assert heard.count(b"x\n") == 11


async def test_a_run_that_may_open_nothing_more_is_refused(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = descriptors()
    # one after the other, each of the descriptors that a run needs is the first that it does not get
    for room in range(9):
        with os.scandir("/proc/self/fd") as found:
            lowest = [n for n in range(1_000) if n not in {int(fd.name) for fd in found}]
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest[room], hard))
        try:
            with pytest.raises(Refusal, match="Too many open files"):
                await spawn(Program(["cat"], tmp_path, ENV, b"x"), Watchers(reports=lambda data: None))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert descriptors() == before


async def test_fifty_at_once(tmp_path: Path) -> None:
    assert await asyncio.gather(*(start(f"echo {n}", tmp_path) for n in range(50))) == [b"%d\n" % n for n in range(50)]


async def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    file = tmp_path / "plain"
    file.write_text("no program")
    for argv, why in ((["none-such"], "not found"), ([str(file)], "may not be run")):
        with pytest.raises(Refusal, match=why):
            await spawn(Program(argv, tmp_path, ENV))


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


# --- a pipe for reports ----------------------------------------------------------------------------------------


async def reported(script: str, folder: Path) -> tuple[bytes, bytes]:
    heard: list[bytes] = []
    ended = await spawn(shell(script, folder), Watchers(reports=heard.append))
    return b"".join(heard), ended.out


async def test_reports_come_by_a_pipe_of_their_own_and_are_no_output(tmp_path: Path) -> None:
    assert await reported("echo printed; echo told > /dev/fd/$MCPDECL_FD", tmp_path) == (b"told\n\n", b"printed\n")


async def test_who_wants_no_reports_gives_no_pipe(tmp_path: Path) -> None:
    assert await start('echo "${MCPDECL_FD-none}"', tmp_path) == b"none\n"


async def test_reports_are_read_as_fast_as_they_come(tmp_path: Path) -> None:
    told, _ = await reported("head -c 1000000 /dev/zero > /dev/fd/$MCPDECL_FD", tmp_path)
    assert len(told) == 1_000_001


async def test_S07_a_grandchild_that_holds_the_reports_holds_no_call(tmp_path: Path) -> None:
    script = "sleep 300 >/dev/null 2>&1 & echo $! > pid; echo told > /dev/fd/$MCPDECL_FD"
    assert (await asyncio.wait_for(reported(script, tmp_path), 60))[0] == b"told\n\n"
    assert await gone(await pid_in(tmp_path / "pid"))


async def test_a_program_that_closes_its_pipe_runs_on(tmp_path: Path) -> None:
    close = "import os, time; os.close(int(os.environ['MCPDECL_FD'])); print('on')"
    heard: list[bytes] = []
    ended = await spawn(Program(["python3", "-c", close], tmp_path, ENV), Watchers(reports=heard.append))
    assert (ended.code, ended.out, heard) == (0, b"on\n", [b"\n"])


async def test_the_last_line_needs_no_newline(tmp_path: Path) -> None:
    heard: list[bytes] = []
    await spawn(shell("printf half", tmp_path), Watchers(out=heard.append))
    assert b"".join(heard) == b"half\n"


# --- what cannot be ended --------------------------------------------------------------------------------------


async def test_a_program_of_another_user_is_left_and_does_not_stop_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = asyncio.create_task(start("echo $$ > own; exec sleep 300", tmp_path))
    own = await pid_in(tmp_path / "own")

    def refused(group: int, number: int) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(os, "killpg", refused)
        task.cancel()
        left = await asyncio.gather(task, return_exceptions=True)
    assert [type(error) for error in left] == [asyncio.CancelledError]
    assert alive(own)
    os.kill(own, signal.SIGKILL)
    assert await gone(own)
    await start("true", tmp_path)
    assert not Path(f"/proc/{own}").exists(), "it was never waited for"


async def test_nothing_is_left_to_be_reaped(tmp_path: Path) -> None:
    tasks = [asyncio.create_task(start(f"echo $$ > own{n}; exec sleep 300", tmp_path)) for n in range(10)]
    pids = [await pid_in(tmp_path / f"own{n}") for n in range(10)]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await start("true", tmp_path)
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


async def test_what_leaves_the_group_on_purpose_is_let_go(tmp_path: Path) -> None:
    script = "setsid sh -c 'echo $$ > pid; exec sleep 300' & while [ ! -s pid ]; do sleep 0.02; done; echo started"
    assert await asyncio.wait_for(start(script, tmp_path), 60) == b"started\n"
    pid = await pid_in(tmp_path / "pid")
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)


async def test_a_program_dies_of_a_broken_pipe_as_in_a_shell(tmp_path: Path) -> None:
    assert await start("{ yes; echo $? > code; } | head -n 1", tmp_path) == b"y\n"
    assert int((tmp_path / "code").read_text()) == 128 + signal.SIGPIPE
