"""Listening to folders, and going on where that is impossible."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mcpdecl.observations import Log
from mcpdecl.reloader.hearing import Ear, events, polling_forced

pytestmark = pytest.mark.anyio
LONG = 20.0


def folders(*paths: Path) -> frozenset[tuple[str, int, int]]:
    return frozenset((str(p), p.stat().st_dev, p.stat().st_ino) for p in paths)


async def heard(ear: Ear) -> bool:
    """Whether waiting ends long before its time."""
    try:
        await asyncio.wait_for(ear.wait(3 * LONG), LONG)
    except TimeoutError:
        return False
    return True


async def test_a_change_in_a_folder_ends_the_waiting(tmp_path: Path) -> None:
    ear = Ear(events, Log("text", io.StringIO()))
    await ear.turn(folders(tmp_path))
    await ear.wait(0)
    for n in range(3):
        (tmp_path / f"{n}.yaml").write_text("x")
        assert await heard(ear)
    await ear.close()


async def test_turning_wakes_once_since_nothing_was_heard_before(tmp_path: Path) -> None:
    ear = Ear(events, Log("text", io.StringIO()))
    await ear.turn(folders(tmp_path))
    assert await heard(ear)
    await ear.close()


async def test_W04_where_nothing_can_be_heard_it_says_so_once_and_waits(tmp_path: Path) -> None:
    async def failing(paths: list[str]) -> AsyncIterator[set[tuple[Any, str]]]:
        for path in paths:
            raise OSError(f"no space left on device: inotify watch limit at {path}")
        yield set()

    stream = io.StringIO()
    ear = Ear(failing, Log("text", stream))
    for _ in range(3):
        await ear.turn(folders(tmp_path))
        await ear.wait(0.01)
    assert stream.getvalue().count("polling alone") == 1
    assert "inotify watch limit" in stream.getvalue()
    await ear.close()


async def test_hearing_that_ends_by_itself_begins_again(tmp_path: Path) -> None:
    begun: list[list[str]] = []

    async def ending(paths: list[str]) -> AsyncIterator[set[tuple[Any, str]]]:
        begun.append(paths)
        await asyncio.sleep(0)
        yield set()

    ear = Ear(ending, Log("text", io.StringIO()))
    for _ in range(3):
        await ear.turn(folders(tmp_path))
        await asyncio.sleep(0.05)
    assert len(begun) == 3
    await ear.close()


async def test_the_same_folders_are_listened_to_without_a_break(tmp_path: Path) -> None:
    begun: list[list[str]] = []

    async def lasting(paths: list[str]) -> AsyncIterator[set[tuple[Any, str]]]:
        begun.append(paths)
        await asyncio.Event().wait()
        yield set()

    (tmp_path / "other").mkdir()
    ear = Ear(lasting, Log("text", io.StringIO()))
    await ear.turn(folders(tmp_path))
    await ear.turn(folders(tmp_path))
    await ear.turn(folders(tmp_path, tmp_path / "other"))
    assert begun == [[str(tmp_path)], [str(tmp_path), str(tmp_path / "other")]]
    await ear.close()


async def test_a_folder_that_is_made_anew_is_heard_again(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    seen = folders(tmp_path, inner)
    ear = Ear(events, Log("text", io.StringIO()))
    await ear.turn(seen)
    await ear.wait(0)
    inner.rmdir()
    inner.mkdir()
    assert await heard(ear)
    await ear.turn(seen)  # the inode may well be the same
    await ear.wait(0)
    (inner / "a.yaml").write_text("x")
    assert await heard(ear)
    await ear.close()


async def test_a_folder_that_went_is_no_fault(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    seen = folders(gone)
    gone.rmdir()
    stream = io.StringIO()
    ear = Ear(events, Log("text", stream))
    await ear.turn(seen)
    assert stream.getvalue() == ""
    await ear.close()


@pytest.mark.parametrize(
    ("value", "forced"), [("1", True), ("true", True), ("", False), ("0", False), ("false", False)]
)
async def test_the_environment_can_ask_for_polling(value: str, forced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", value)
    assert polling_forced() is forced
