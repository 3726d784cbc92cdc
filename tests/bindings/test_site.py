"""Tests of mcpdecl.bindings.site: names are checked and faults carry their place."""

from __future__ import annotations

from pathlib import Path

from mcpdecl.bindings.site import joined, nearest
from tests.bindings.site import Faults, site


def test_a_fault_carries_its_place_within_the_item() -> None:
    faults = Faults()
    here = site(Path(), faults, arguments={"word": {}}).at("vars", "x")
    assert here.template("{{ wrod }}", "command", 1) is None
    assert faults.found == [
        ("undefined-name", "There is no 'wrod' here.", ("vars", "x", "command", 1), "Did you mean 'word'?")
    ]


def test_every_fault_of_a_tree_is_told() -> None:
    faults = Faults()
    data = {"a": ["{{ x }}", {"b": "{{ y }}"}], "c": "{{ ok }}"}
    assert site(Path(), faults, arguments={"ok": {}}).tree(data, "stdin") is None
    assert [path for _, _, path, _ in faults.found] == [("stdin", "a", 0), ("stdin", "a", 1, "b")]


def test_words_that_are_known_in_one_part_only() -> None:
    faults = Faults()
    here = site(Path(), faults)
    assert here.template("{{ result }}") is None
    assert here.knowing("result").template("{{ result }}") is not None


def test_a_template_file_and_what_it_includes_are_depended_on(tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "a.j2").write_text("{% include 'b.j2' %}")
    (folder / "b.j2").write_text("{{ word }}")
    seen: list[Path] = []
    here = site(tmp_path, arguments={"word": {}}, depend=seen.append)
    made = here.file("a.j2")
    assert made is not None
    assert made.reads == {("word",)}
    assert set(seen) == {folder / "a.j2", folder / "b.j2"}


def test_a_template_file_that_is_missing_is_depended_on_too(tmp_path: Path) -> None:
    seen: list[Path] = []
    faults = Faults()
    assert site(tmp_path, faults, depend=seen.append).file("none.j2", "template") is None
    assert faults.codes == ["bad-template"]
    assert seen == [tmp_path / "templates" / "none.j2"]


def test_hints() -> None:
    assert nearest("wrod", {"word", "limit"}) == "Did you mean 'word'?"
    assert nearest("zzz", {"word", "limit"}) == "Known here: limit, word."


def test_reads_add_up() -> None:
    here = site(Path(), arguments={"a": {}, "b": {}})
    assert joined(here.template("{{ a }}"), None, here.expression("b.c")) == {("a",), ("b", "c")}
