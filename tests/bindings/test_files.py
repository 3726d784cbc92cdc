"""Tests of mcpdecl.bindings.files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcpdecl import bindings
from mcpdecl.bindings.files import read
from mcpdecl.catalogue import Failure, Missing, Value
from tests.bindings.site import FakeCall, Faults, run, scope, site

pytestmark = pytest.mark.anyio


async def test_the_bytes_as_they_are_now(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(b"\x00old")
    bound = bindings.bind({"file": "a.bin"}, site(tmp_path))
    assert bound is not None
    file.write_bytes(b"\x00new")
    assert await bound.run(scope({}), FakeCall(tmp_path)) == Value(b"\x00new")
    file.unlink()
    assert await bound.run(scope({}), FakeCall(tmp_path)) == Missing()


async def test_only_a_file_that_is_missing_is_depended_on(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    seen: list[Path] = []
    for name in ("a", "b"):
        bindings.bind({"file": name}, site(tmp_path, depend=seen.append))
    assert seen == [tmp_path / "b"]


def test_R04_special_files_and_large_ones_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "big").write_bytes(b"x" * 100)
    assert read(tmp_path / "pipe", 10, tmp_path) == Missing()
    assert read(tmp_path, 10, tmp_path) == Missing()
    assert isinstance(read(tmp_path / "big", 99, tmp_path), Failure)
    assert read(tmp_path / "big", 100, tmp_path) == Value(b"x" * 100)


@pytest.mark.parametrize(
    ("name", "code"), [("none", "file-not-found"), ("link", "file-outside"), ("dir", "file-not-found")]
)
def test_R04_what_a_manifest_may_not_name(tmp_path: Path, name: str, code: str) -> None:
    root = tmp_path / "root"
    (root / "dir").mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path / "secret")
    faults = Faults()
    assert bindings.bind({"file": name}, site(root, faults)) is None
    assert faults.codes == [code]


async def test_R04_a_root_behind_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("x")
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert await run({"file": "a"}, tmp_path / "root") == Value(b"x")


async def test_R04_a_file_that_became_a_link_out_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").write_text("secret")
    (root / "a.txt").write_text("fine")
    made = bindings.bind({"file": "a.txt"}, site(root))
    assert made is not None
    assert await made.run({}, FakeCall(root)) == Value(b"fine")
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to(tmp_path / "outside")
    assert await made.run({}, FakeCall(root)) == Missing()


async def test_R04_a_file_that_became_a_link_to_itself_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fine")
    made = bindings.bind({"file": "a.txt"}, site(tmp_path))
    assert made is not None
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").symlink_to("a.txt")
    assert await made.run({}, FakeCall(tmp_path)) == Missing()
