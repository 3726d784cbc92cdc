"""Tests of mcpdecl.bindings.globs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.bindings.globs import GlobFault, Globs, parts_of


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.md", "a.md", True),
        ("*.md", "b/a.md", False),
        ("**/*.md", "a.md", True),
        ("**/*.md", "b/c/a.md", True),
        ("**/*.md", "b/a.txt", False),
        ("b/**", "b/c/a", True),
        ("b/**", "bc/a", False),
        ("b/**/c/*.md", "b/c/x.md", True),
        ("b/**/c/*.md", "b/1/2/c/x.md", True),
        ("b/**/c/*.md", "b/1/2/x.md", False),
        ("**", "a/b/c", True),
        ("**/**/x", "x", True),
        ("?[0-9].md", "a1.md", True),
        ("?[!0-9].md", "a1.md", False),
        ("*", "a\nb", True),
        ("A.md", "a.md", False),
        ("[", "[", True),
    ],
)
def test_what_a_pattern_matches(pattern: str, path: str, matches: bool) -> None:
    assert Globs.of([pattern]).match(path.split("/")) is matches


@pytest.mark.parametrize(
    "pattern", ["", "/", "/a", "a/", "a//b", "./a", "../a", "a/..", "**.md", "a/***", "a\\b", "!a", "*.{md,txt}", "a\0"]
)
def test_patterns_that_are_refused_say_why(pattern: str) -> None:
    with pytest.raises(GlobFault) as caught:
        parts_of(pattern)
    assert caught.value.message and caught.value.hint


def test_any_of_several_may_match_and_of_none_none_does() -> None:
    several = Globs.of(["*.md", "b/*"])
    assert several.match(["a.md"]) and several.match(["b", "x"]) and not several.match(["c", "x"])
    assert not Globs.of([]).match(["a"])


def test_an_empty_state_says_that_nothing_below_can_match() -> None:
    globs = Globs.of(["b/*.md"])
    assert globs.step(globs.start, "b") and not globs.step(globs.start, "c")


def test_many_stars_take_no_time_that_grows_with_them() -> None:
    assert not Globs.of(["*a" * 100 + "b"]).match(["a" * 4000])
    assert not Globs.of(["**/" * 50 + "b"]).match(["a"] * 500)


@given(st.text(max_size=20), st.lists(st.text(max_size=5), max_size=5))
def test_any_text_is_a_pattern_or_refused(pattern: str, path: list[str]) -> None:
    try:
        Globs.of([pattern]).match(path)
    except GlobFault:
        return
