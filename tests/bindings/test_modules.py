"""Tests of mcpdecl.bindings.modules: generations of the root's Python modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpdecl.bindings.modules import Modules, Unresolved


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    before, path = set(sys.modules), list(sys.path)
    yield tmp_path
    for name in set(sys.modules) - before:
        sys.modules.pop(name, None)
    sys.path[:] = path


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        file = root / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)


def test_a_callable_of_a_module_of_the_root(root: Path) -> None:
    write(root, first_mod="class A:\n    @staticmethod\n    def go(): return 1\n")
    modules = Modules(root)
    assert modules.resolve("first_mod:A.go")() == 1
    assert modules.files == {root / "first_mod.py"}


def test_an_installed_module_may_be_named_too(root: Path) -> None:
    modules = Modules(root)
    assert modules.resolve("os.path:basename")("a/b") == "b"
    assert modules.files == frozenset()


def test_W15_a_changed_helper_makes_a_new_generation(root: Path) -> None:
    write(root, gen_main="import gen_help\ndef go(): return gen_help.WORD\n", gen_help="WORD = 'old'\n")
    old = Modules(root)
    old_go = old.resolve("gen_main:go")
    assert old.renew() is old
    write(root, gen_help="WORD = 'newer'\n")
    new = old.renew()
    assert new is not old
    assert new.generation != old.generation
    assert new.resolve("gen_main:go")() == "newer"
    assert old_go() == "old", "a call in flight keeps what it began with"


def test_P06_generations_are_not_mixed(root: Path) -> None:
    write(root, mix_err="class E(Exception): pass\n", mix_main="from mix_err import E\ndef go(): raise E\n")
    old = Modules(root)
    old.resolve("mix_main:go")
    write(root, mix_main="from mix_err import E\nimport mix_err\ndef go(): return E is mix_err.E\n")
    assert old.renew().resolve("mix_main:go")() is True


def test_P06_what_was_removed_is_gone(root: Path) -> None:
    write(root, rem_mod="def old(): pass\ndef other(): pass\n")
    modules = Modules(root)
    modules.resolve("rem_mod:old")
    write(root, rem_mod="def other(): pass\n")
    with pytest.raises(Unresolved, match="rem_mod has no 'old'") as caught:
        modules.renew().resolve("rem_mod:old")
    assert "other" in caught.value.hint


def test_a_failed_generation_gives_its_place_back(root: Path) -> None:
    write(root, back_a="import back_b\ndef go(): return 1\n", back_b="X = 1\n")
    old = Modules(root)
    old.resolve("back_a:go")
    kept = sys.modules["back_b"]
    write(root, back_b="X = = 2\n")
    new = old.renew()
    with pytest.raises(Unresolved, match=r"back_b\.py:1"):
        new.resolve("back_a:go")
    new.withdraw()
    assert sys.modules["back_b"] is kept
    write(root, back_b="X = 3\n")
    assert new.renew().resolve("back_a:go")() == 1


def test_a_generation_that_failed_half_way_gives_its_place_back(root: Path) -> None:
    write(root, half_a="def go(): return 1\n", half_b="def go(): return 1\n")
    old = Modules(root)
    old.resolve("half_a:go"), old.resolve("half_b:go")
    kept = sys.modules["half_a"]
    write(root, half_a="def go(): return 22\n", half_b="1 / 0\n")
    new = old.renew()
    assert new.resolve("half_a:go")() == 22
    with pytest.raises(Unresolved, match=r"ZeroDivisionError.*half_b\.py:1"):
        new.resolve("half_b:go")
    new.withdraw()
    assert sys.modules["half_a"] is kept


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "names no callable"),
        ("no_such_module_x:go", "There is no module 'no_such_module_x'"),
        ("val_mod:VALUE", "is a int and cannot be called"),
        ("val_mod:goo", "val_mod has no 'goo'"),
        ("exits:go", "SystemExit"),
    ],
)
def test_what_cannot_be_resolved_says_why(root: Path, name: str, message: str) -> None:
    write(root, val_mod="VALUE = 1\ndef go(): pass\n", exits="import sys\nsys.exit(3)\n")
    with pytest.raises(Unresolved, match=message):
        Modules(root).resolve(name)


def test_a_file_called_like_an_installed_module_is_told(root: Path) -> None:
    write(root, json="def go(): pass\n", jinja2="def go(): pass\n")
    for name in ("json", "jinja2"):
        with pytest.raises(Unresolved, match="like the installed module"):
            Modules(root).resolve(f"{name}:go")


def test_the_root_comes_last_on_the_path(root: Path) -> None:
    write(root, last_mod="def go(): pass\n")
    Modules(root).resolve("last_mod:go")
    assert sys.path[-1] == str(root)


def test_P06_a_folder_without_init_is_not_shared_by_two_generations(root: Path) -> None:
    write(root, bare__main="import bare.word\ndef go(): return bare.word.WORD\n", bare__word="WORD = 'old'\n")
    old = Modules(root)
    old_go = old.resolve("bare.main:go")
    write(root, bare__main="import bare.word\n1 / 0\n", bare__word="WORD = 'newer'\n")
    new = old.renew()
    with pytest.raises(Unresolved, match="ZeroDivisionError"):
        new.resolve("bare.main:go")
    new.withdraw()
    assert old_go() == "old"
    assert old.files == {root / "bare" / "main.py", root / "bare" / "word.py"}
