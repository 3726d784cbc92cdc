"""What a look sees."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mcpdecl.bindings.folders import Folder
from mcpdecl.bindings.globs import Globs
from mcpdecl.compiler import Watched
from mcpdecl.reloader import looks
from mcpdecl.reloader.attention import complete
from mcpdecl.reloader.looks import Eye, Look, Stamp, holders, walk
from mcpdecl.uris import parse


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "a.yaml").write_text("aaa")
    return tmp_path


def watched(
    root: Path,
    *files: Path,
    place: Path | None = None,
    resources: dict[Path, frozenset[str]] | None = None,
    modules: frozenset[Path] = frozenset(),
    folders: frozenset[Folder] = frozenset(),
) -> Watched:
    return Watched(place or root / "manifests", frozenset(files), resources or {}, modules, folders)


def folder(root: Path) -> Folder:
    return Folder(root / "docs", parse("docs://{+path}"), Globs.of(["**/*.md"]), Globs.of([]), deep=True)


def at(eye: Eye, named: Watched, *, thorough: bool = False) -> Look:
    return eye.look(named.manifests, (named,), thorough=thorough)


def names(look: Look) -> set[str]:
    return {given.name for given in look.inputs if isinstance(given, Path)}


def test_manifests_are_found_at_any_depth_and_dot_names_are_not(root: Path) -> None:
    for name in ("deep/er/b.yml", "c.json", "D.YAML", ".hidden.yaml", ".git/x.yaml", "node_modules/x.yaml", "note.txt"):
        path = root / "manifests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert names(at(Eye(root), watched(root))) == {"a.yaml", "b.yml", "c.json", "D.YAML"}


def test_templates_named_files_and_modules_are_inputs(root: Path) -> None:
    (root / "templates" / "part").mkdir(parents=True)
    (root / "templates" / "part" / "t.j2").write_text("x")
    (root / "schemas").mkdir()
    (root / "schemas" / "s.json").write_text("x")
    (root / "lib").mkdir()
    (root / "lib" / "inner.py").write_text("x")
    named = watched(root, root / "schemas" / "s.json", root / ".env", modules=frozenset({root / "lib" / "inner.py"}))
    seen = at(Eye(root), named)
    assert names(seen) == {"a.yaml", "t.j2", "s.json", "inner.py"}
    assert root / ".env" in seen.paths


def test_a_module_that_is_not_imported_yet_is_found_when_it_is_searched(root: Path) -> None:
    for name in ("entry.py", "lib/inner.py", "lib/deep/er.py", "data/more/not.py", ".venv/x.py", "venv/x.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "lib" / "again").symlink_to("..", target_is_directory=True)
    assert names(at(Eye(root), watched(root))) == {"a.yaml"}
    named = watched(root)
    seen = Eye(root).look(named.manifests, (named,), searching=True)
    assert names(seen) == {"a.yaml", "entry.py", "inner.py", "er.py"}


def test_virtual_environments_are_not_watched(root: Path) -> None:
    for name in (".venv/lib/x", ".git/objects", "node_modules/y", "src/deep"):
        (root / name).mkdir(parents=True)
    folders = {Path(name) for name, _, _ in at(Eye(root), watched(root)).folders}
    assert folders == {root.resolve(), root.resolve() / "manifests"}


def test_only_the_parent_of_a_single_named_file_is_watched(root: Path) -> None:
    (root / "data" / "more").mkdir(parents=True)
    (root / "data" / "s.json").write_text("x")
    folders = {Path(name).name for name, _, _ in at(Eye(root), watched(root, root / "data" / "s.json")).folders}
    assert "data" in folders and "more" not in folders


def test_the_nearest_folder_there_is_waits_for_a_missing_file(root: Path) -> None:
    assert holders(root / "no" / "such" / "file.json") == {root.resolve()}


def test_a_file_that_did_not_change_is_not_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    eye, path = Eye(root), root / "manifests" / "a.yaml"
    monkeypatch.setattr(looks, "RACY", 0)
    at(eye, watched(root))
    reads: list[Path] = []

    def read_bytes(self: Path) -> bytes:
        reads.append(self)
        return b"bbb"

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    at(eye, watched(root))
    assert reads == []
    at(eye, watched(root), thorough=True)
    assert reads == [path]


def test_W04_an_edit_that_keeps_time_and_size_is_found(root: Path) -> None:
    eye, path = Eye(root), root / "manifests" / "a.yaml"
    os.utime(path, ns=(10**18, 10**18))
    before = at(eye, watched(root))
    path.write_text("bbb")
    os.utime(path, ns=(10**18, 10**18))
    assert at(eye, watched(root)).contents() != before.contents()


def test_W04_a_thorough_look_finds_an_edit_that_no_time_tells(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    eye, path = Eye(root), root / "manifests" / "a.yaml"
    monkeypatch.setattr(looks, "RACY", 0)
    monkeypatch.setattr(looks, "Stamp", lambda *_: Stamp(0, 0, 3, 0, 0))  # such file systems exist
    before = at(eye, watched(root))
    path.write_text("bbb")
    assert at(eye, watched(root)).contents() == before.contents()
    assert at(eye, watched(root), thorough=True).contents() != before.contents()


def test_a_young_file_is_read_again_since_its_times_may_stand_still(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    eye, path = Eye(root), root / "manifests" / "a.yaml"
    stamp = looks.Stamp(0, 0, 3, 10**30, 10**30)
    monkeypatch.setattr(looks, "Stamp", lambda *_: stamp)
    before = at(eye, watched(root))
    path.write_text("bbb")
    assert at(eye, watched(root)).contents() != before.contents()


def test_touch_and_chmod_change_no_content(root: Path) -> None:
    eye, path = Eye(root), root / "manifests" / "a.yaml"
    before = at(eye, watched(root))
    path.touch()
    path.chmod(0o600)
    assert at(eye, watched(root)).contents() == before.contents()


def test_white_space_and_a_byte_order_mark_are_blank(root: Path) -> None:
    path = root / "manifests" / "a.yaml"
    for data, blank in ((b"", True), (b" \n\t", True), (b"\xef\xbb\xbf\n", True), (b"# note\n", False)):
        path.write_bytes(data)
        assert at(Eye(root), watched(root)).inputs[path].blank is blank


def test_W02_a_swapped_link_leads_elsewhere_and_its_folder_is_watched(root: Path) -> None:
    conf = root / "conf"
    for revision in ("..r1", "..r2"):
        (conf / revision).mkdir(parents=True)
        (conf / revision / "m.yaml").write_text(revision)
    (conf / "..data").symlink_to("..r1")
    (conf / "m.yaml").symlink_to("..data/m.yaml")
    assert holders(conf / "m.yaml") == {conf.resolve(), conf.resolve() / "..r1"}
    eye, place = Eye(root), conf / "m.yaml"
    before = at(eye, watched(root, place=place))
    (conf / "..tmp").symlink_to("..r2")
    (conf / "..tmp").rename(conf / "..data")
    after = at(eye, watched(root, place=place))
    assert after.inputs[place].real != before.inputs[place].real
    assert after.contents() != before.contents()
    assert conf.resolve() / "..r2" in {Path(name) for name, _, _ in after.folders}


def test_W02_a_mounted_folder_shows_each_manifest_once(root: Path) -> None:
    conf = root / "conf"
    (conf / "..r1").mkdir(parents=True)
    (conf / "..r1" / "m.yaml").write_text("x")
    (conf / "..data").symlink_to("..r1")
    (conf / "m.yaml").symlink_to("..data/m.yaml")
    assert at(Eye(root), watched(root, place=conf)).manifests == {conf / "m.yaml"}


def test_links_in_a_circle_end(root: Path) -> None:
    (root / "manifests" / "again").symlink_to("..", target_is_directory=True)
    (root / "manifests" / "self.yaml").symlink_to("self.yaml")
    seen = at(Eye(root), watched(root))
    assert names(seen) >= {"a.yaml"}
    assert walk(root / "manifests")[0]


def test_a_folder_that_is_made_anew_is_another_folder(root: Path) -> None:
    eye = Eye(root)
    before = at(eye, watched(root)).folders
    shutil.move(root / "manifests", root / "old")
    (root / "manifests").mkdir()
    assert at(eye, watched(root)).folders != before


def test_W06_a_missing_location_is_told(root: Path) -> None:
    assert at(Eye(root), watched(root, place=root / "m.yaml")).missing
    assert not at(Eye(root), watched(root)).missing


def test_a_resource_is_served_and_only_its_being_there_is_an_input(root: Path) -> None:
    eye, path = Eye(root), root / "README.md"
    named = watched(root, resources={path: frozenset({"repo://readme"})})
    gone = at(eye, named)
    path.write_text("one")
    one = at(eye, named)
    path.write_text("two")
    two = at(eye, named)
    assert gone.contents() != one.contents() == two.contents()
    assert gone.served == {} and one.served[path] != two.served[path]


@pytest.mark.parametrize("name", ["schema.json", "logo.png"])  # a schema, an image in a tool's content
def test_a_resource_that_is_also_read_at_load_is_an_input(root: Path, name: str) -> None:
    eye, path = Eye(root), root / name
    named = watched(root, path, resources={path: frozenset({"repo://schema"})})
    path.write_text("one")
    one = at(eye, named)
    path.write_text("two")
    assert at(eye, named).contents() != one.contents()


def test_of_a_served_folder_the_names_are_an_input_and_the_contents_are_served(root: Path) -> None:
    eye, docs = Eye(root), root / "docs"
    (docs / "sub" / "empty").mkdir(parents=True)
    named = watched(root, folders=frozenset({folder(root)}))
    empty = at(eye, named)
    (docs / "sub" / "a.md").write_text("one")
    one = at(eye, named)
    (docs / "sub" / "a.md").write_text("two")
    for other in ("x.txt", ".b.md.swp", "c.md~"):
        (docs / other).write_text("not served")
    two = at(eye, named)
    assert empty.contents() != one.contents() == two.contents()
    assert one.served.keys() == two.served.keys() == {docs / "sub" / "a.md"} and one.served != two.served
    assert {str(p.resolve()) for p in (docs, docs / "sub", docs / "sub" / "empty")} <= {f for f, _, _ in empty.folders}


def test_a_served_folder_that_is_missing_is_told_from_an_empty_one_and_awaited(root: Path) -> None:
    eye, named = Eye(root), watched(root, folders=frozenset({folder(root)}))
    missing = at(eye, named)
    (root / "docs").mkdir()
    assert missing.contents() != at(eye, named).contents()
    assert str(root.resolve()) in {name for name, _, _ in missing.folders}


def test_what_is_read_at_load_is_an_input_in_a_served_folder_too(root: Path) -> None:
    eye, path = Eye(root), root / "docs" / "schema.md"
    path.parent.mkdir()
    path.write_text("one")
    named = watched(root, path, folders=frozenset({folder(root)}))
    one = at(eye, named)
    path.write_text("two")
    assert at(eye, named).contents() != one.contents()


def test_a_folder_whose_link_leads_elsewhere_came_whole(root: Path) -> None:
    for name in ("r1", "r2"):
        (root / name).mkdir()
        (root / name / f"{name}.md").write_text("x")
    (root / "docs").symlink_to("r1")
    eye, named = Eye(root), watched(root, folders=frozenset({folder(root)}))
    before = at(eye, named)
    (root / "new").symlink_to("r2")
    (root / "new").replace(root / "docs")
    assert complete(before, at(eye, named))


def test_what_is_no_file_is_not_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    seen = at(Eye(root), watched(root, root / "pipe", root / "folder"))
    assert names(seen) == {"a.yaml", "pipe", "folder"}


def test_a_large_file_is_told_by_its_time_and_size(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "LARGE", 2)
    eye, path = Eye(root), root / "manifests" / "a.yaml"
    before = at(eye, watched(root))
    path.write_text("bbbb")
    assert at(eye, watched(root)).contents() != before.contents()
