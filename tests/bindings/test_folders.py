"""Tests of mcpdecl.bindings.folders."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mcpdecl import bindings
from mcpdecl.bindings import files, folders
from mcpdecl.bindings.folders import Folder, Found
from mcpdecl.catalogue import Failure, Missing, Value
from mcpdecl.uris import parse
from tests.bindings.site import FakeCall, Faults, scope, site

pytestmark = pytest.mark.anyio
SECRET = b"secret"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    write(made / "docs", "a.md", "guides/b.md", "guides/deep/c.md", "notes.txt", "guides/d.txt")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_bytes(SECRET)
    (made / "secret.md").write_bytes(SECRET)
    return made


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(os.fsencode(name))


def bound(root: Path, **fields: Any) -> Folder:
    faults = Faults()
    written = {"uriTemplate": "docs://{+path}", "folder": "docs", **fields}
    made = bindings.bind(written, site(root, faults, arguments={"path": {}}, kind="resource"))
    assert isinstance(made, Folder), faults.found
    return made


def names(root: Path, **fields: Any) -> Sequence[str]:
    return bound(root, **fields).find(root).names


def read(root: Path, name: str, **fields: Any) -> Any:
    return bound(root, **fields).read(name, 1000, root)


# --- what is served ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, ["a.md", "guides/b.md", "guides/d.txt", "guides/deep/c.md", "notes.txt"]),
        ({"include": ["**/*.md"]}, ["a.md", "guides/b.md", "guides/deep/c.md"]),
        ({"include": ["*.md", "guides/*.txt"]}, ["a.md", "guides/d.txt"]),
        ({"exclude": ["guides/deep"]}, ["a.md", "guides/b.md", "guides/d.txt", "notes.txt"]),
        ({"exclude": ["**/DEEP/**", "*.TXT"]}, ["a.md", "guides/b.md", "guides/d.txt"]),
        ({"include": ["**/*.md"], "exclude": ["guides"]}, ["a.md"]),
        ({"uriTemplate": "docs://{path}"}, ["a.md", "notes.txt"]),
        ({"uriTemplate": "docs://{path}", "include": ["*.md"]}, ["a.md"]),
        ({"folder": "docs/guides/deep"}, ["c.md"]),
    ],
)
async def test_what_is_found_is_what_is_read(root: Path, fields: dict[str, Any], found: list[str]) -> None:
    folder = bound(root, **fields)
    assert list(folder.find(root).names) == found
    for name in ("a.md", "guides/b.md", "guides/d.txt", "guides/deep/c.md", "notes.txt", "c.md"):
        outcome = await folder.run(scope({"path": {}}, path=name), FakeCall(root))
        assert isinstance(outcome, Value) is (name in found), name


async def test_content_is_as_it_is_now_and_its_type_is_that_of_its_name(root: Path) -> None:
    folder = bound(root)
    (root / "docs" / "new.json").write_bytes(b"[]")
    call = FakeCall(root)
    assert await folder.run(scope({"path": {}}, path="new.json"), call) == Value(b"[]", "application/json")
    assert await folder.run(scope({"path": {}}, path="none"), call) == Missing()
    assert isinstance(folder.read("new.json", 1, root), Failure)
    assert folder.read("guides", 1000, root) == Missing()
    with pytest.raises(TypeError):
        folder.render({})


def test_hidden_names_and_leftovers_are_never_served(root: Path) -> None:
    write(
        root / "docs", ".env", ".git/x.md", "a.md~", "node_modules/p/x.md", "__pycache__/x", "guides/.b.md.swp", "~a.md"
    )
    assert [n for n in names(root) if n not in ("a.md", "notes.txt") and "guides" not in n] == ["~a.md"]
    for name in (".env", ".git/x.md", "a.md~", "node_modules/p/x.md", "guides/.b.md.swp"):
        assert read(root, name) == Missing()


def test_an_empty_folder_is_filled_later(root: Path) -> None:
    (root / "empty").mkdir()
    folder = bound(root, folder="empty")
    assert folder.find(root) == Found()
    write(root / "empty", "later.md")
    assert folder.find(root).names == ("later.md",)


def test_a_folder_that_went_is_told_from_an_empty_one(root: Path) -> None:
    folder = bound(root)
    (root / "docs").rename(root / "away")
    assert folder.find(root) == Found(there=False)


def test_no_more_than_a_bound_is_listed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST", 3)
    found = bound(root).find(root)
    assert len(found.names) == 3 and found.more
    assert not bound(root, include=["**/*.md"]).find(root).more


# --- URIs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a.md", "docs://a.md"),
        ("guides/b c.md", "docs://guides/b%20c.md"),
        ("100%.md", "docs://100%25.md"),
        ("why?#1.md", "docs://why%3F%231.md"),
        ("é.md", "docs://%C3%A9.md"),
        ("12:30 [x].md", "docs://12%3A30%20%5Bx%5D.md"),
        ("a\\b.md", "docs://a%5Cb.md"),
        ("v1..v2", "docs://v1..v2"),
        ("line\nbreak", "docs://line%0Abreak"),
        (os.fsdecode(b"\xff.md"), None),
    ],
)
def test_every_name_has_a_uri_that_leads_back(root: Path, name: str, uri: str | None) -> None:
    write(root / "docs", name)
    folder = bound(root)
    assert name in folder.find(root).names
    assert folder.uri(name) == uri == folder.uri_at(root / "docs" / name)
    assert uri is None or folder.template.match(uri) == {"path": name}


@pytest.mark.parametrize(
    ("template", "name"), [("docs://{path}", "a\\b"), ("docs://x:{+path}", "a"), ("docs://{+path}/end", "a/end/end")]
)
def test_a_name_that_no_uri_of_the_template_leads_back_to_has_none(root: Path, template: str, name: str) -> None:
    uri = bound(root, uriTemplate=template).uri(name)
    assert uri is None or parse(template).match(uri) == {"path": name}
    assert (uri is None) is (name != "a/end/end")


def test_what_is_not_served_has_no_uri(root: Path) -> None:
    folder = bound(root, include=["**/*.md"])
    assert folder.uri_at(root / "docs" / "none.md") == "docs://none.md"  # it may come
    for path in (root / "docs" / "notes.txt", root / "docs" / ".x.md", root / "secret.md", root / "docs", root):
        assert folder.uri_at(path) is None


# --- nothing outside ---------------------------------------------------------------------------------------------

OUTSIDE = [
    "../secret.md", "guides/../../secret.md", "/etc/passwd", "//etc/passwd", "./a.md", "guides//b.md", "guides/", "",
    ".", "..", "a.md/", "a.md/.", "a\0b", "guides/./b.md", "x" * 5000, "x" * 300, "é" * 200, "a.md/b",
]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_R01_a_path_that_is_not_written_as_it_is_listed_does_not_exist(root: Path, name: str) -> None:
    assert read(root, name) == Missing()


def test_R01_an_absolute_path_of_the_folder_itself_does_not_exist(root: Path) -> None:
    assert read(root, str(root / "docs" / "a.md")) == Missing()
    assert read(root, str(root / "secret.md")) == Missing()


def test_R04_links_that_lead_out_are_neither_found_nor_read(root: Path, tmp_path: Path) -> None:
    docs = root / "docs"
    (docs / "leak.md").symlink_to(tmp_path / "outside" / "x.md")
    (docs / "up.md").symlink_to(root / "secret.md")  # inside the root, and outside the folder
    (docs / "out").symlink_to(tmp_path / "outside")
    (docs / "self.md").symlink_to("self.md")
    (docs / "dangling.md").symlink_to("none")
    assert {"leak.md", "up.md", "out/x.md", "self.md", "dangling.md"}.isdisjoint(names(root))
    for name in ("leak.md", "up.md", "out/x.md", "self.md", "dangling.md"):
        assert read(root, name) == Missing(), name


def test_R04_a_name_that_only_begins_like_the_folder_is_another(root: Path) -> None:
    write(root / "docs-secret", "x.md")
    (root / "docs" / "near").symlink_to("../docs-secret")
    assert "near/x.md" not in names(root) and read(root, "near/x.md") == Missing()


def test_R04_links_inside_are_followed_and_circles_end(root: Path) -> None:
    docs = root / "docs"
    (docs / "again.md").symlink_to("guides/b.md")
    for name in ("a_link", "z_link"):
        (docs / name).symlink_to("guides")  # does not rename what is in guides
    (docs / "guides" / "loop").symlink_to("..")
    found = names(root, include=["**/*.md"])
    assert list(found) == ["a.md", "again.md", "guides/b.md", "guides/deep/c.md"]
    assert read(root, "again.md") == Value(b"guides/b.md", "text/markdown")


def test_R04_a_detour_by_a_link_does_not_lead_to_what_is_left_out(root: Path) -> None:
    docs = root / "docs"
    write(docs, "private/p.md")
    (docs / "loop").symlink_to(".")
    (docs / "open").symlink_to("private")
    (docs / "open.md").symlink_to("private/p.md")
    for name in ("private/p.md", "loop/private/p.md", "open/p.md", "open.md"):
        assert read(root, name, exclude=["private/**"]) == Missing(), name
        assert isinstance(read(root, name), Value), name
    assert not [n for n in names(root, exclude=["private/**"]) if "p.md" in n or "open" in n]


@pytest.mark.parametrize("linked", ["root", "docs", "data"])
def test_R04_a_folder_behind_a_link_works(root: Path, tmp_path: Path, linked: str) -> None:
    docs = root / "docs"
    if linked == "root":
        (tmp_path / "there").symlink_to(root)
        root = tmp_path / "there"
    elif linked == "docs":
        docs.rename(root / "real")
        docs.symlink_to("real")
    else:  # as Kubernetes mounts a configuration
        docs.rename(root / "..r1")
        docs.mkdir()
        (root / "..r1").rename(docs / "..r1")
        (docs / "..data").symlink_to("..r1")
        (docs / "guides").symlink_to("..data/guides")
        (docs / "a.md").symlink_to("..data/a.md")
    assert {"a.md", "guides/deep/c.md"} <= set(names(root))
    assert read(root, "guides/deep/c.md") == Value(b"guides/deep/c.md", "text/markdown")


def test_R04_a_folder_that_became_a_link_out_serves_nothing(root: Path, tmp_path: Path) -> None:
    folder = bound(root)
    (root / "docs").rename(root / "away")
    for target in (tmp_path / "outside", tmp_path):  # beside the root, and around it
        (root / "docs").symlink_to(target)
        assert folder.find(root) == Found(there=False)
        for name in ("x.md", "outside/x.md", "root/secret.md"):
            assert folder.read(name, 1000, root) == Missing()
        (root / "docs").unlink()


def test_R04_special_files_are_not_served(root: Path) -> None:
    os.mkfifo(root / "docs" / "pipe")
    assert "pipe" not in names(root) and read(root, "pipe") == Missing()


def test_R04_a_link_that_comes_between_looking_and_opening_is_not_followed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, below = root / "docs", files._below

    def swapped(home: Path, parts: Sequence[str]) -> int:
        (docs / "guides").rename(docs / "before")
        (docs / "guides").symlink_to(tmp_path / "outside")
        try:
            return below(home, parts)
        finally:
            (docs / "guides").unlink()
            (docs / "before").rename(docs / "guides")

    write(docs, "guides/x.md")
    monkeypatch.setattr(files, "_below", swapped)
    assert read(root, "guides/x.md") == Missing()


def test_R04_nothing_outside_is_read_while_links_are_swapped_all_the_time(root: Path, tmp_path: Path) -> None:
    docs, over = root / "docs", threading.Event()
    write(docs, "in/x.md")
    folder = bound(root)

    def swap() -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            (docs / ".new").symlink_to("in" if turn % 2 else tmp_path / "outside")
            (docs / ".new").replace(docs / "way")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen = [folder.read("way/x.md", 1000, root) for _ in range(2000)]
    finally:
        over.set()
        swapper.join()
    assert {outcome.data for outcome in seen if isinstance(outcome, Value)} <= {b"in/x.md"}


def test_W02_what_is_swapped_as_a_whole_is_there_at_every_moment(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs, below, turns = root / "docs", files._below, iter(range(1, files.TRIES))
    write(docs, "..r0/page.md")
    (docs / "..data").symlink_to("..r0")
    (docs / "page.md").symlink_to("..data/page.md")

    def swapped(home: Path, parts: Sequence[str]) -> int:
        for turn in turns:  # once for each try but the last
            write(docs, f"..r{turn}/page.md")
            (docs / "..new").symlink_to(f"..r{turn}")
            (docs / "..new").replace(docs / "..data")
            shutil.rmtree(docs / f"..r{turn - 1}")
            break
        return below(home, parts)

    monkeypatch.setattr(files, "_below", swapped)
    assert read(root, "page.md") == Value(b"..r2/page.md", "text/markdown")


# --- what a manifest may not say ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code", "path"),
    [
        ({"folder": "none"}, "folder-not-found", ("folder",)),
        ({"folder": "secret.md"}, "folder-not-found", ("folder",)),
        ({"folder": "a\0b"}, "folder-not-found", ("folder",)),
        ({"folder": "../outside"}, "folder-outside", ("folder",)),
        ({"folder": "link"}, "folder-outside", ("folder",)),
        ({"uriTemplate": "docs://all"}, "folder-variable", ("uriTemplate",)),
        ({"uriTemplate": "docs://{a}/{+b}"}, "folder-variable", ("uriTemplate",)),
        ({"uriTemplate": "docs://all{?path}"}, "folder-variable", ("uriTemplate",)),
        ({"uriTemplate": "docs://{path}", "include": ["*.md", "**/*.md"]}, "folder-variable", ("include", 1)),
        ({"uriTemplate": "docs://{path}", "include": ["**"]}, "folder-variable", ("include", 0)),
        ({"include": ["**/*.md", "*.{md,txt}"]}, "bad-pattern", ("include", 1)),
        ({"include": [".github/*"]}, "bad-pattern", ("include", 0)),
        ({"exclude": ["../x"]}, "bad-pattern", ("exclude", 0)),
    ],
)
def test_what_a_manifest_may_not_say(
    root: Path, tmp_path: Path, fields: dict[str, Any], code: str, path: tuple[str | int, ...]
) -> None:
    (root / "link").symlink_to(tmp_path / "outside")
    faults = Faults()
    written = {"uriTemplate": "docs://{+path}", "folder": "docs", **fields}
    assert bindings.bind(written, site(root, faults, arguments={"path": {}}, kind="resource")) is None
    assert [(found[0], found[2]) for found in faults.found] == [(code, path)]


def test_a_folder_that_is_missing_is_depended_on(root: Path) -> None:
    seen: list[Path] = []
    written = {"uriTemplate": "docs://{+path}", "folder": "none"}
    bindings.bind(written, site(root, depend=seen.append))
    assert seen == [root / "none"]
