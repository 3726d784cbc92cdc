"""The pure part: when does a change count?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcpdecl.reloader.attention import Attention, Load, Rest, Unready, Wait, complete, loaded_from, unready
from mcpdecl.reloader.looks import Look, Print, Stamp

INODES = iter(range(1000, 10**6))


def about(seconds: float) -> Any:
    return pytest.approx(seconds)


def written(text: str, *, inode: int = 1, blank: bool = False, real: Path = Path()) -> Print:
    """A file that was written in place: both times are those of the last write."""
    return Print(text.encode(), Stamp(1, inode, len(text), 5, 5), real, blank)


def renamed(text: str) -> Print:
    """A file that was written elsewhere, and then came here under another inode."""
    return Print(text.encode(), Stamp(1, next(INODES), len(text), 5, 9), Path())


def look(missing: bool = False, **files: Print) -> Look:
    paths = frozenset(map(Path, files))
    return Look({Path(name): seen for name, seen in files.items()}, paths, paths, missing=missing)


def settled(on: Look) -> Attention:
    attention = Attention(quiet=0.6)
    assert attention.see(on, 0.0) == Load(firm=False)
    attention.settle(on)
    assert attention.see(on, 0.1) == Rest()
    return attention


def test_what_was_loaded_rests() -> None:
    assert settled(look(a=written("x"))).see(look(a=written("x")), 9.0) == Rest()


def test_a_write_in_place_is_tried_at_once_and_stands_only_if_it_gains() -> None:
    attention = settled(look(a=written("x")))
    assert attention.see(look(a=written("y")), 1.0) == Load(firm=False)


def test_what_did_not_stand_waits_for_quiet_and_is_then_loaded_firmly() -> None:
    attention = settled(look(a=written("xx")))
    assert attention.see(look(a=written("x")), 1.0) == Load(firm=False)
    attention.hold()
    assert attention.see(look(a=written("x")), 1.2) == Wait(about(0.4))
    assert attention.see(look(a=written("x")), 1.7) == Load(firm=True)


def test_a_further_write_is_tried_at_once_and_begins_the_quiet_anew() -> None:
    attention = settled(look(a=written("xx")))
    attention.see(look(a=written("x")), 1.0)
    attention.hold()
    assert attention.see(look(a=written("xy")), 1.5) == Load(firm=False)
    attention.hold()
    assert attention.see(look(a=written("xy")), 1.9) == Wait(about(0.2))


def test_a_write_that_is_taken_back_rests() -> None:
    attention = settled(look(a=written("x")))
    attention.see(look(a=written("y")), 1.0)
    attention.hold()
    assert attention.see(look(a=written("x")), 1.1) == Rest()


def test_a_file_that_was_renamed_into_place_is_loaded_firmly_at_once() -> None:
    attention = settled(look(a=written("x")))
    assert attention.see(look(a=renamed("y")), 1.0) == Load(firm=True)


def test_a_link_that_leads_elsewhere_is_loaded_firmly_at_once() -> None:
    before, after = look(a=written("x", real=Path("/r1/a"))), look(a=written("y", real=Path("/r2/a")))
    assert settled(before).see(after, 1.0) == Load(firm=True)


def test_one_file_of_several_written_in_place_makes_the_change_incomplete() -> None:
    before = look(a=written("x"), b=written("x"))
    assert not complete(before, look(a=renamed("y"), b=written("y")))
    assert complete(before, look(a=renamed("y"), b=renamed("y")))
    assert complete(before, look(a=renamed("y"), b=written("x")))


def test_a_file_that_is_made_anew_and_written_there_is_incomplete() -> None:
    assert not complete(look(a=written("x")), look(a=written("y", inode=77)))


def test_a_file_that_went_is_incomplete() -> None:
    assert not complete(look(a=written("x")), look())


def test_W05_an_emptied_manifest_is_never_loaded() -> None:
    attention = settled(look(a=written("x")))
    empty = look(a=written("", blank=True))
    assert attention.see(empty, 1.0) == Wait(about(0.6))
    assert attention.see(empty, 1.7) == Unready("a is empty.")
    assert attention.see(empty, 60.0) == Unready("a is empty.")


def test_W05_what_is_written_after_emptying_is_loaded() -> None:
    attention = settled(look(a=written("x")))
    attention.see(look(a=written("", blank=True)), 1.0)
    assert attention.see(look(a=written("xy")), 1.1) == Load(firm=False)


def test_a_new_empty_file_is_not_ready_either() -> None:
    assert unready(look(a=written("x"), b=written("", blank=True))) == "b is empty."


def test_a_template_may_be_emptied() -> None:
    assert unready(Look(look(t=written("", blank=True)).inputs, frozenset())) is None


def test_W06_a_location_that_went_is_never_loaded() -> None:
    attention = settled(look(a=written("x")))
    gone = Look({}, frozenset(), missing=True)
    assert attention.see(gone, 1.0) == Wait(about(0.6))
    assert attention.see(gone, 2.0) == Unready("The manifests are missing.")
    assert attention.see(look(a=written("x")), 9.0) == Rest()


def test_W06_a_deleted_file_of_a_folder_is_a_change_after_the_quiet_time() -> None:
    attention = settled(look(a=written("x"), b=written("x")))
    assert attention.see(look(a=written("x")), 1.0) == Load(firm=False)
    attention.hold()
    assert isinstance(attention.see(look(a=written("x")), 1.3), Wait)
    assert attention.see(look(a=written("x")), 1.7) == Load(firm=True)


def test_a_failed_load_that_stood_is_not_tried_again() -> None:
    attention = settled(look(a=written("x")))
    attention.see(look(a=renamed("broken")), 1.0)
    broken = look(a=renamed("broken"))
    attention.settle(broken)
    assert attention.see(broken, 99.0) == Rest()
    assert attention.see(look(a=written("x")), 100.0) == Load(firm=False)


def test_what_is_no_longer_looked_for_is_not_part_of_what_was_loaded() -> None:
    before, after = Look({Path("t"): written("x")}, paths=frozenset({Path("t")})), Look({})
    assert loaded_from(before, after, 10**12).inputs == {}


def test_what_went_while_it_was_loaded_is_seen_to_have_gone() -> None:
    before = Look({Path("t"): written("x")}, paths=frozenset({Path("t")}))
    after = Look({}, paths=frozenset({Path("t")}))
    assert loaded_from(before, after, 10**12).contents() == {Path("t"): b"x"}
    manifest = look(a=written("x"))
    assert loaded_from(manifest, look(), 10**12).contents() == {Path("a"): b"x"}


def test_what_a_load_found_counts_as_loaded_only_if_it_is_older() -> None:
    after = Look({Path("t"): written("x")}, paths=frozenset({Path("t")}))
    assert loaded_from(look(), after, 10**12).contents() == {Path("t"): b"x"}
    assert loaded_from(look(), after, 6).contents() == {}


def test_a_manifest_that_appeared_while_loading_is_loaded_next() -> None:
    assert loaded_from(look(), look(a=written("x")), 10**12).contents() == {}


def test_a_load_during_which_files_changed_is_done_again_though_they_look_as_before() -> None:
    attention = settled(look(a=written("x")))
    assert attention.see(look(a=written("x"), b=written("y")), 1.0) == Load(firm=False)
    attention.settle(look(a=written("x")), sure=False)
    assert attention.see(look(a=written("x")), 1.1) == Load(firm=True)
    attention.settle(look(a=written("x")))
    assert attention.see(look(a=written("x")), 1.2) == Rest()
