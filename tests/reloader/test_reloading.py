"""Editing files the way editors, git and Kubernetes do, with a compiler of one-line tools."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mcpdecl import compiler
from mcpdecl.compiler import Loaded
from tests.reloader.standins import PATIENCE, Stage, lines, load, names, rename_over, stage

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "m.yaml").write_text(lines("a", "b"))
    (tmp_path / "served.txt").write_text("one")
    return tmp_path


@pytest.fixture
def manifest(root: Path) -> Path:
    return root / "manifests" / "m.yaml"


def announced(made: Stage) -> int:
    return sum(1 for changes in made.server.told if changes.tools)


@pytest.mark.parametrize("location", ["manifests", "manifests/m.yaml"])
async def test_W01_every_save_by_rename_is_seen(root: Path, manifest: Path, location: str) -> None:
    async with stage(root, location=location) as made:
        for count in (3, 4, 5):
            rename_over(manifest, lines(*names("t", count)))
            await made.serves(*names("t", count))
        assert announced(made) == 3
        assert made.log.count("reloaded") == 3


async def test_a_save_by_rename_that_takes_away_counts_at_once(root: Path, manifest: Path) -> None:
    async with stage(root, quiet=3600.0) as made:
        await made.settled()
        os.utime(manifest, ns=(10**18, 10**18))
        temporary = root / "manifests" / ".tmp"
        temporary.write_text(lines("a"))
        os.utime(temporary, ns=(10**18, 10**18))  # written long before it is renamed
        temporary.rename(manifest)
        await made.until(lambda: "b" not in made.tools)


async def test_a_write_in_place_that_takes_away_waits_for_quiet(root: Path, manifest: Path) -> None:
    async with stage(root, quiet=3600.0) as made:
        await made.settled()
        manifest.write_text(lines("a", text="2"))
        loads = made.loads
        await made.until(lambda: made.loads > loads)
        (root / "manifests" / "n.yaml").write_text("#")
        await made.until(lambda: made.loads > loads + 1)
        assert made.tools["a"] == "1" and "b" in made.tools
        manifest.write_text(lines("a", "b", text="2"))
        await made.until(lambda: made.tools["b"] == "2")


async def test_a_tool_that_is_deleted_in_place_goes(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        manifest.write_text(lines("a"))
        await made.serves("a")


@pytest.mark.parametrize("mounted", ["conf", "conf/m.yaml"])
async def test_W02_a_swapped_data_link_is_seen_each_time(root: Path, mounted: str) -> None:
    conf = root / "conf"
    _revision(conf, 1)
    (conf / "..data").symlink_to("..r1")
    (conf / "m.yaml").symlink_to("..data/m.yaml")
    async with stage(root, location=mounted) as made:
        for number in (2, 3, 4):
            _revision(conf, number)
            (conf / "..tmp").symlink_to(f"..r{number}")
            (conf / "..tmp").rename(conf / "..data")
            shutil.rmtree(conf / f"..r{number - 1}")
            await made.serves(f"t{number}")


def _revision(conf: Path, number: int) -> None:
    folder = conf / f"..r{number}"
    folder.mkdir(parents=True)
    (folder / "m.yaml").write_text(lines(f"t{number}"))


async def test_W04_without_events_polling_finds_a_change_that_no_time_tells(root: Path, manifest: Path) -> None:
    async with stage(root, hints=None, poll=0.05) as made:
        before = manifest.stat()
        other = root / "other"
        other.write_text(lines("a", "c"))
        os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
        subprocess.run(["cp", "-p", other, manifest], check=True)
        assert manifest.stat().st_mtime_ns == before.st_mtime_ns and manifest.stat().st_size == before.st_size
        await made.serves("a", "c")
        assert "polling alone" in made.log


async def test_W04_events_that_fail_leave_polling(root: Path, manifest: Path) -> None:
    async def failing(paths: list[str]) -> AsyncIterator[set[tuple[Any, str]]]:
        for path in paths:
            raise OSError(f"limit at {path}")
        yield set()

    async with stage(root, hints=failing, poll=0.05) as made:
        manifest.write_text(lines("a", "b", "c"))
        await made.serves("a", "b", "c")
        assert made.log.count("polling alone") == 1


async def test_W05_truncating_and_writing_in_two_parts_never_shows_fewer_tools(root: Path, manifest: Path) -> None:
    manifest.write_text(lines(*names("t", 5)))
    async with stage(root) as made:
        late = False
        for turn in range(8):
            with manifest.open("w") as file:
                file.write(lines(*names("t", 2), text=str(turn)))
                file.flush()
                os.fsync(file.fileno())
                began = time.monotonic()
                await asyncio.sleep(0.3)
                late = late or time.monotonic() - began > 0.55  # a machine too busy to write in time proves nothing
                file.write("".join(f"t{n}: {turn}\n" for n in (2, 3, 4)))
            await made.until(partial(made.all_say, str(turn)))
            assert late or min(made.server.sizes) == 5


async def test_W05_an_emptied_file_keeps_the_catalogue_and_recovers(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        manifest.write_text("")
        await made.until(lambda: made.server.fault == "not-ready")
        assert sorted(made.tools) == ["a", "b"] and made.log.count("m.yaml is empty") == 1
        manifest.write_text(lines("a", "b", "c"))
        await made.serves("a", "b", "c")
        await made.until(lambda: made.server.fault is None)


async def test_W06_a_single_file_that_goes_keeps_serving(root: Path, manifest: Path) -> None:
    async with stage(root, location="manifests/m.yaml") as made:
        away = root / "m.bak"
        manifest.rename(away)
        await made.until(lambda: made.server.fault == "not-ready")
        assert sorted(made.tools) == ["a", "b"]
        away.rename(manifest)
        await made.until(lambda: made.server.fault is None)
        assert made.log.count("not ready") == 1 and made.log.count("recovered") == 1
        assert announced(made) == 0


async def test_W06_a_deleted_file_of_a_folder_takes_its_tools(root: Path, manifest: Path) -> None:
    (root / "manifests" / "n.yaml").write_text(lines("c"))
    async with stage(root) as made:
        manifest.unlink()
        await made.serves("c")
        assert announced(made) == 1


async def test_a_folder_that_is_made_anew_is_seen(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        shutil.rmtree(root / "manifests")
        (root / "manifests").mkdir()
        manifest.write_text(lines("a", "b", "c"))
        await made.serves("a", "b", "c")
        manifest.write_text(lines("a", "b", "c", "d"))
        await made.serves("a", "b", "c", "d")


async def test_W11_a_folder_that_moves_in_full_is_seen_and_then_watched(root: Path) -> None:
    (root / "elsewhere" / "deep").mkdir(parents=True)
    (root / "elsewhere" / "deep" / "x.yaml").write_text(lines("x"))
    async with stage(root, poll=3600.0) as made:
        (root / "elsewhere").rename(root / "manifests" / "new")
        await made.serves("a", "b", "x")
        (root / "manifests" / "new" / "deep" / "x.yaml").write_text(lines("x", "y"))
        await made.serves("a", "b", "x", "y")


async def test_W16_files_written_one_after_the_other_never_serve_half(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        for turn in range(3):
            manifest.write_text(lines("a", "b", text=str(turn)) + f"file part{turn}.txt\n")
            await asyncio.sleep(0.2)
            (root / f"part{turn}.txt").write_text("!")
            await made.until(partial(made.all_say, f"{turn}!"))
        assert set(made.server.sizes) <= {2}


async def test_W16_a_revision_with_an_error_changes_nothing_and_is_mended(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        manifest.write_text(lines("a", "b", "c") + "bad indentation\n")
        await made.until(lambda: made.server.fault == "bad-value")
        assert sorted(made.tools) == ["a", "b"]
        assert "bad indentation" in made.log and made.log.count("reload failed") == 1
        manifest.write_text(lines("a", "b", "c"))
        await made.serves("a", "b", "c")
        assert made.server.faults == ["bad-value", None] and "recovered" in made.log


async def test_W15_a_named_file_counts_even_if_the_edit_that_names_it_failed(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        rename_over(manifest, lines("a") + "file schemas/late.json\n")
        await made.until(lambda: made.server.fault is not None)
        (root / "schemas").mkdir()
        (root / "schemas" / "late.json").write_text("{}")
        await made.until(lambda: made.tools["a"] == "1{}")
        (root / "schemas" / "late.json").write_text("{1}")
        await made.until(lambda: made.tools["a"] == "1{1}")


async def test_N04_touch_chmod_and_a_comment_tell_nobody(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        for _ in range(50):
            manifest.touch()
        manifest.chmod(0o600)
        manifest.write_text("# a comment\n" + manifest.read_text())
        await made.settled()
        assert announced(made) == 1  # that of the mark


async def test_N04_a_touch_loads_nothing(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        await made.settled()
        rename_over(root / "manifests" / "zz_mark.yaml", (root / "manifests" / "zz_mark.yaml").read_text())
        loads = made.loads
        manifest.touch()
        rename_over(root / "served.txt", "two")
        await made.until(lambda: any(c.updated for c in made.server.told))
        assert made.loads == loads


async def test_N04_two_hundred_tools_of_one_save_are_told_once(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        rename_over(manifest, lines("a", "b", *names("t", 200)))
        await made.until(lambda: len(made.tools) == 202)
        await made.settled()
        assert announced(made) == 2  # one of them that of the mark
        assert "reloaded tools=202" in made.log and "and 180 more" in made.log


async def test_N10_what_is_told_is_served_already(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        seen: list[set[str]] = []
        made.server.hear = lambda: seen.append(set(made.tools))
        for count in range(3, 8):
            rename_over(manifest, lines(*names("t", count)))
            await made.serves(*names("t", count))
            assert len(seen[-1]) == count


async def test_a_served_file_that_changes_is_told_also_while_the_manifests_are_broken(
    root: Path, manifest: Path
) -> None:
    async with stage(root) as made:
        manifest.write_text("bad\n")
        await made.until(lambda: made.server.fault is not None)
        for text in ("two", "three"):
            made.server.told.clear()
            (root / "served.txt").write_text(text)
            await made.until(lambda: any(c.updated == {"file://served"} for c in made.server.told))
        made.server.told.clear()
        (root / "served.txt").unlink()
        await made.until(lambda: any(c.updated for c in made.server.told))


async def test_git_checkout_of_another_branch(root: Path) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)

    folder = root / "manifests"
    (folder / "only_main").mkdir()
    (folder / "only_main" / "x.yaml").write_text(lines("x"))
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    shutil.rmtree(folder / "only_main")
    (folder / "m.yaml").write_text(lines("a", *names("o", 5)))
    (folder / "sub").mkdir()
    (folder / "sub" / "y.yaml").write_text(lines("y"))
    git("add", "-A")
    git("commit", "-qm", "two")
    git("checkout", "-q", "main")
    async with stage(root) as made:
        await made.serves("a", "b", "x")
        for _ in range(2):
            git("checkout", "-q", "other")
            await made.serves("a", *names("o", 5), "y")
            git("checkout", "-q", "main")
            await made.serves("a", "b", "x")
        assert made.server.fault is None


async def test_delete_and_recreate_at_once_loses_nothing(root: Path, manifest: Path) -> None:
    async with stage(root) as made:
        for count in (3, 4, 5):
            manifest.unlink()
            manifest.write_text(lines("a", "b", *names("t", count)))
            await made.serves("a", "b", *names("t", count))
        assert min(made.server.sizes) >= 2


async def test_what_changed_between_loading_and_watching_is_seen(root: Path, manifest: Path) -> None:
    made = Stage(root, root / "manifests", {})
    manifest.write_text(lines("a", "b", "c"))
    task = asyncio.create_task(made.reloader.run())
    await made.serves("a", "b", "c")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_start_without_a_change_says_nothing_of_reloading(root: Path) -> None:
    async with stage(root) as made:
        await made.settled()
        assert made.log.count("reloaded") == 1


async def test_what_changes_while_it_is_loaded_is_loaded_again(root: Path, manifest: Path) -> None:
    late = iter([lines("a", "b", "c"), lines("a", "b", "c", "d")])

    def slow(*args: Any, **more: Any) -> Loaded:
        found = load(*args, **more)
        text = next(late, None)
        if text:
            manifest.write_text(text)
        return found

    async with stage(root, load=slow, poll=3600.0) as made:
        await made.serves("a", "b", "c", "d")


async def test_a_file_that_came_and_went_around_a_load_leaves_nothing_behind(root: Path, manifest: Path) -> None:
    guest = root / "manifests" / "n.yaml"

    def visited(*args: Any, **more: Any) -> Loaded:
        if "c" in manifest.read_text() and not visits:
            guest.write_text(lines("guest"))  # after the look, before the load
            visits.append(1)
        return load(*args, **more)

    visits: list[int] = []
    async with stage(root, load=visited, poll=3600.0) as made:
        await made.settled()
        replace = made.server.replace

        def replaced(catalogue: Any) -> Any:
            changes = replace(catalogue)
            if "guest" in made.tools:
                served.append(1)
                guest.unlink(missing_ok=True)  # before the next look, which shows what the one before it showed
            return changes

        served: list[int] = []
        made.server.replace = replaced  # type: ignore[method-assign]
        manifest.write_text(lines("a", "b", "c"))
        await made.until(lambda: bool(served))
        await made.until(lambda: "guest" not in made.tools)


@pytest.mark.parametrize("error", [RuntimeError("crash"), SystemExit(3), KeyboardInterrupt(), MemoryError()])
async def test_no_exception_ends_the_watching(root: Path, manifest: Path, error: BaseException) -> None:
    broken = False

    def failing(*args: Any, **more: Any) -> Loaded:
        if broken:
            raise error
        return load(*args, **more)

    async with stage(root, load=failing, pause=0.01, poll=0.05) as made:
        await made.settled()
        broken = True
        manifest.write_text(lines("a", "b", "c"))
        await made.until(lambda: made.server.fault is not None)
        loads = made.loads
        await made.until(lambda: made.loads > loads + 2)
        assert made.log.count("incident id=") == 1
        broken = False
        await made.until(lambda: "c" in made.tools)
        await made.until(lambda: made.server.fault is None)


async def test_cancelling_ends_it_soon(root: Path) -> None:
    made = Stage(root, root / "manifests", {"poll": 3600.0})
    task = asyncio.create_task(made.reloader.run())
    await made.until(lambda: made.loads > 0)
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), PATIENCE)
    assert task.cancelled()


async def test_a_served_file_that_never_rests_keeps_no_edit_waiting(root: Path, manifest: Path) -> None:
    async def churn() -> None:
        for number in range(10**6):
            (root / "served.txt").write_text(str(number))
            await asyncio.sleep(0.02)

    async with stage(root) as made:
        churning = asyncio.create_task(churn())
        manifest.write_text(lines("a"))
        await made.serves("a")
        manifest.write_text("bad\n")
        await made.until(lambda: made.server.fault is not None)
        churning.cancel()
        assert made.log.count("reloaded") == 1


@pytest.fixture
def docs(root: Path, manifest: Path) -> Path:
    manifest.write_text("resources: {docs: {uriTemplate: 'docs://{+path}', folder: docs, include: ['**/*.md']}}\n")
    (root / "docs").mkdir()
    for name in ("a", "b"):
        (root / "docs" / f"{name}.md").write_text("one")
    return root / "docs"


def pages(made: Stage) -> list[str]:
    return [entry.name for entry in made.server.catalogue.templates["docs"].entries]


async def until_updated(made: Stage, *uris: str) -> None:
    """Until these were told; nothing else was."""
    await made.until(lambda: frozenset[str]().union(*(c.updated for c in made.server.told)) >= set(uris))
    assert all(c.updated <= set(uris) and not c.resources for c in made.server.told)
    made.server.told.clear()


async def test_an_edit_in_a_served_folder_is_told_and_loads_nothing(docs: Path) -> None:
    async with stage(docs.parent, load=compiler.load) as made:
        await made.until(lambda: "watching" in made.log)
        loads = made.loads
        for text in ("two", "three"):
            (docs / "a.md").write_text(text)
            await until_updated(made, "docs://a.md")
        assert made.loads == loads


async def test_a_file_that_is_away_for_a_moment_stays_listed(docs: Path) -> None:
    async with stage(docs.parent, load=compiler.load, quiet=3600.0) as made:
        await made.until(lambda: "watching" in made.log)
        loads = made.loads
        (docs / "a.md").unlink()
        await until_updated(made, "docs://a.md")
        await made.until(lambda: made.loads > loads)
        assert pages(made) == ["a.md", "b.md"]
        (docs / "a.md").write_text("two")
        await until_updated(made, "docs://a.md")
        rename_over(docs / "c.md", "new")
        await made.until(lambda: pages(made) == ["a.md", "b.md", "c.md"])
        assert "+c.md" in made.log and "-a.md" not in made.log


async def test_a_file_that_is_gone_is_listed_no_more(docs: Path) -> None:
    async with stage(docs.parent, load=compiler.load) as made:
        (docs / "a.md").unlink()
        await made.until(lambda: pages(made) == ["b.md"])
        assert "-a.md" in made.log


async def test_a_folder_that_is_served_anew_is_no_change_of_its_files(docs: Path, manifest: Path) -> None:
    text = manifest.read_text()
    manifest.write_text("resources: {}\n")
    async with stage(docs.parent, load=compiler.load) as made:
        rename_over(manifest, text)
        await made.until(lambda: "docs" in made.server.catalogue.templates)
        (docs / "b.md").write_text("two")
        await made.until(lambda: any(c.updated for c in made.server.told))
        assert frozenset[str]().union(*(c.updated for c in made.server.told)) == {"docs://b.md"}
