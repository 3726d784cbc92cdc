"""Tests of mcpdecl.compiler.folder: which files are manifests, and where the root is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcpdecl.compiler.folder import Files, digest_of, locate, scan
from tests.compiler.folders import Project


def touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


@pytest.mark.parametrize(
    ("given", "place", "root"),
    [
        ("s", "s/manifests", "s"),
        ("s/manifests", "s/manifests", "s"),
        ("s/manifests/deep", "s/manifests/deep", "s"),
        ("s/manifests/deep/a.yaml", "s/manifests/deep/a.yaml", "s"),
        ("other", "other", "other"),
        ("other/a.yaml", "other/a.yaml", "other"),
        ("s/manifests/../manifests", "s/manifests", "s"),
        ("s/manifests/none.yaml", "s/manifests/none.yaml", "s"),
    ],
)
def test_the_root_holds_the_nearest_folder_of_manifests(tmp_path: Path, given: str, place: str, root: str) -> None:
    touch(tmp_path, "s/manifests/deep/a.yaml", "other/a.yaml")
    assert locate(tmp_path / given, None) == (tmp_path / place, tmp_path / root)


def test_the_root_may_be_said(tmp_path: Path) -> None:
    touch(tmp_path, "s/manifests/a.yaml")
    assert locate(tmp_path / "s", tmp_path)[1] == tmp_path


def test_manifests_at_any_depth_in_order_of_their_names(tmp_path: Path) -> None:
    touch(tmp_path, "b.yaml", "a.yml", "deep/er/c.json", "D.YAML", "notes.md", "a.yaml~", "x.yaml.bak", "a.toml")
    assert [p.relative_to(tmp_path).as_posix() for p in scan(tmp_path)] == [
        "D.YAML",
        "a.yml",
        "b.yaml",
        "deep/er/c.json",
    ]


def test_what_begins_with_a_dot_and_what_belongs_to_tools_is_no_manifest(tmp_path: Path) -> None:
    touch(tmp_path, ".a.yaml.swp", ".hidden.yaml", ".git/b.yaml", "node_modules/c.yaml", "#d.txt#", "e.yaml")
    assert [p.name for p in scan(tmp_path)] == ["e.yaml"]


def test_links_are_followed_and_a_circle_ends(tmp_path: Path) -> None:
    touch(tmp_path, "outside/linked.yaml", "outside/more/far.yaml", "m/own.yaml")
    (tmp_path / "m" / "linked.yaml").symlink_to(tmp_path / "outside" / "linked.yaml")
    (tmp_path / "m" / "more").symlink_to(tmp_path / "outside" / "more")
    (tmp_path / "m" / "round").symlink_to(tmp_path / "m")
    (tmp_path / "m" / "broken.yaml").symlink_to(tmp_path / "nowhere")
    found = [p.relative_to(tmp_path / "m").as_posix() for p in scan(tmp_path / "m")]
    assert found == ["broken.yaml", "linked.yaml", "more/far.yaml", "own.yaml"]


def test_a_mounted_folder_of_kubernetes_is_read_once(tmp_path: Path) -> None:
    touch(tmp_path, "..2026_01/a.yaml")
    (tmp_path / "..data").symlink_to("..2026_01")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    assert [p.name for p in scan(tmp_path)] == ["a.yaml"]


def test_a_single_file_and_nothing(tmp_path: Path) -> None:
    touch(tmp_path, "a.txt")
    assert scan(tmp_path / "a.txt") == [tmp_path / "a.txt"]
    assert scan(tmp_path / "none") == []


def test_files_are_read_once_in_a_load(tmp_path: Path) -> None:
    touch(tmp_path, "a")
    files = Files(tmp_path)
    assert files.digest(tmp_path / "a") == digest_of(b"")
    (tmp_path / "a").write_text("changed")
    assert files.read(tmp_path / "a") == b""
    assert files.read(tmp_path / "none") is None
    assert files.read(tmp_path) is None
    assert files.seen == {tmp_path / "a": digest_of(b""), tmp_path / "none": None, tmp_path: None}


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "link/x", "a\0b"])
def test_a_named_file_stays_inside_the_root(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    assert Files(root).inside(name) is None


def test_a_named_file_inside_the_root(tmp_path: Path) -> None:
    assert Files(tmp_path).inside("a/./b/../c.yaml") == tmp_path / "a" / "c.yaml"
    assert Files(tmp_path).name(tmp_path / "a" / "c.yaml") == "a/c.yaml"
    assert Files(tmp_path / "a").name(tmp_path / "c") == (tmp_path / "c").as_posix()


def test_a_manifest_that_cannot_be_read_is_told(project: Project) -> None:
    (project.root / "manifests").mkdir()
    (project.root / "manifests" / "a.yaml").symlink_to("nowhere")
    loaded = project.load()
    assert project.found(loaded) == [("unreadable-file", "manifests/a.yaml", 0, 0, "")]
    assert os.fspath(project.root) not in loaded.diagnostics[0].message


def test_files_of_all_kinds_are_merged_whatever_their_order(project: Project) -> None:
    catalogue = project.catalogue(
        {
            "manifests/z/a.json": '{"tools": {"a": {"description": "x \\ud83d\\ude00", "text": "x"}}}',
            "manifests/b.yml": "tools: {b: {description: x, text: x, ask: {q: {form: f}}}}",
            "manifests/two.yaml": "tools: {c: {description: x, text: x}}\n---\ntools: {d: {description: x, text: x}}\n",
            "manifests/zz.yaml": "forms: {f: {message: Go?, fields: {ok?: boolean}}}",
        }
    )
    assert catalogue.lists["tools"].names == ("a", "b", "c", "d")
    assert "\U0001f600".encode() in catalogue.tools["a"].wire
