from __future__ import annotations

import pytest

from mcpdecl.manifest.faults import Faults, described, expected, nearest, where
from mcpdecl.manifest.format import rules
from mcpdecl.manifest.source import Mapping, Scalar, compose


def key(text: str) -> Scalar:
    ((node,), _) = compose(f"{text}: 1", "m.yaml")
    assert isinstance(node, Mapping)
    return next(iter(node.entries.values()))[0]


def test_a_place_is_named_as_an_author_would() -> None:
    assert where(("tools", "find", "command", 2, "--x=")) == "tools.find.command[2].--x="
    assert where(()) == "the manifest"


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("timeot", ["timeout", "title"], "timeout"),
        ("mimetype", ["mimeType"], "mimeType"),
        ("uri-template", ["uriTemplate", "uri"], "uriTemplate"),
        ("zzz", ["timeout"], None),
        ("", ["a"], None),
    ],
)
def test_the_nearest_word(word: str, known: list[str], meant: str | None) -> None:
    assert nearest(word, known) == meant


def test_an_unknown_key_tells_what_is_known() -> None:
    faults = Faults()
    faults.unknown_key(key("tmeout"), ("tools", "a"), ["timeout"])
    faults.unknown_key(key("zzz"), ("tools", "a"), ["b", "a"])
    faults.unknown_key(key("zzz"), (), ["b"], ["c"])
    assert [d.hint for d in faults.found] == ["Did you mean 'timeout'?", "Known here: a, b.", "'zzz' belongs in 'c'."]
    assert faults.found[0].message == "Unknown key 'tmeout' in tools.a."


def test_what_is_expected_and_what_is_there() -> None:
    assert expected(rules()["said"]) == "text or a mapping"
    assert expected(rules()["icons"]) == "a list"
    assert expected(rules()["capabilities"]) == "a mapping"
    assert [described(compose(t, "m")[0][0]) for t in ("a", "[a]", "{a: b}", "'null'", "~")] == [
        "'a'",
        "a list",
        "a mapping",
        "'null'",
        "null",
    ]


def test_long_words_are_cut() -> None:
    faults = Faults()
    faults.unknown_key(key("x" * 1000), ("tools", "y" * 1000), ["a"])
    assert len(faults.found[0].message) < 200
