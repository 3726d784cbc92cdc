"""Tests of mcpdecl.bindings.words: the dash rule, options, absent values, spelling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.bindings.running import Refusal
from mcpdecl.bindings.words import Argv, compile_words
from mcpdecl.templates import ABSENT
from tests.bindings.site import Faults, scope, site


def argv(words: list[Any], **given_: Any) -> list[str]:
    faults = Faults()
    compiled = compile_words(words, site(Path(), faults, arguments={name: {} for name in given_}))
    assert compiled is not None, faults.found
    return Argv("prog", compiled).of(scope(given_, **given_))[1:]


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (1, "1"),
        (1e21, "1e21"),
        (1.5, "1.5"),
        ({"a": [1]}, '{"a":[1]}'),
    ],
)
def test_S19_values_are_spelled_as_json(value: Any, word: str) -> None:
    assert argv(["{{ v }}"], v=value) == [word]


def test_S19_an_absent_value_drops_the_whole_word() -> None:
    assert argv(["a", "{{ v }}", "--tag={{ v }}", "x{{ v }}y", "b"], v=ABSENT) == ["a", "b"]


def test_a_lone_expression_that_is_a_list_becomes_several_words() -> None:
    assert argv(["{{ v }}"], v=["a b", 2, "c"]) == ["a b", "2", "c"]


def test_a_list_inside_a_word_is_json() -> None:
    assert argv(["x={{ v }}"], v=["a"]) == ['x=["a"]']


def test_one_placeholder_is_one_word_whatever_it_holds() -> None:
    assert argv(["{{ v }}"], v="a b; $(touch x) `y` \"'\n*") == ["a b; $(touch x) `y` \"'\n*"]


@pytest.mark.parametrize("value", ["-x", "--output=/tmp/x", "-"])
def test_S03_a_value_cannot_become_an_option(value: str) -> None:
    with pytest.raises(Refusal, match="begins with a dash"):
        argv(["log", "{{ v }}"], v=value)


def test_S03_each_element_of_a_list_is_judged() -> None:
    with pytest.raises(Refusal):
        argv(["{{ v }}"], v=["ok", "--exec=sh"])


def test_the_manifests_own_dash_is_meant() -> None:
    assert argv(["--author={{ v }}", "-n", "-x{{ v }}"], v="-e") == ["--author=-e", "-n", "-x-e"]


def test_behind_a_literal_double_dash_everything_goes() -> None:
    assert argv(["--", "{{ v }}", "{{ w }}"], v="-D", w=["-x", "-y"]) == ["--", "-D", "-x", "-y"]


def test_a_literal_word_between_ends_the_shelter_of_a_double_dash() -> None:
    with pytest.raises(Refusal):
        argv(["--", "run", "{{ v }}"], v="-D")


def test_a_double_dash_of_a_caller_shelters_nothing() -> None:
    with pytest.raises(Refusal):
        argv(["{{ v }}", "{{ w }}"], v="--", w="-x")


def test_dash_allow() -> None:
    assert argv([{"arg": "{{ v }}", "dash": "allow"}], v="-5") == ["-5"]


def test_raw_is_no_template() -> None:
    assert argv([{"raw": "{{json .}}"}]) == ["{{json .}}"]


@pytest.mark.parametrize("value", [ABSENT, None, False])
def test_an_option_is_left_out(value: Any) -> None:
    assert argv([{"--x": "{{ v }}", "--y=": "{{ v }}"}], v=value) == []


def test_options() -> None:
    words = argv([{"--flag": "{{ t }}", "--join=": "{{ s }}", "--next": "{{ s }}"}], t=True, s="a")
    assert words == ["--flag", "--join=a", "--next", "a"]


def test_a_list_repeats_an_option_and_an_object_gives_pairs() -> None:
    assert argv([{"--l=": "{{ l }}"}], l=["a", "b"]) == ["--l=a", "--l=b"]
    assert argv([{"-e": "{{ o }}"}], o={"K": "v", "N": 1}) == ["-e", "K=v", "-e", "N=1"]


def test_the_value_of_an_option_in_a_word_of_its_own_is_judged_too() -> None:
    with pytest.raises(Refusal, match="the value of --next"):
        argv([{"--next": "{{ v }}"}], v="--evil")
    assert argv([{"--join=": "{{ v }}"}], v="--fine") == ["--join=--fine"]
    assert argv([{"--next": "-5"}]) == ["--next", "-5"]


def test_a_nul_is_refused() -> None:
    with pytest.raises(Refusal, match="NUL"):
        argv(["{{ v }}"], v="a\0b")


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    faults = Faults()
    assert compile_words(["{{ wrod }}"], site(Path(), faults, arguments={"word": {}})) is None
    assert faults.found == [("undefined-name", "There is no 'wrod' here.", ("command", 1), "Did you mean 'word'?")]


@given(st.text(), st.lists(st.text(), max_size=4))
def test_no_value_ever_becomes_an_option_or_another_word(one: str, many: list[str]) -> None:
    try:
        words = argv(["show", "{{ one }}", {"--tag=": "{{ many }}"}, "x{{ one }}", "{{ many }}"], one=one, many=many)
    except Refusal:
        assert "\0" in one + "".join(many) or any(v.startswith("-") for v in (one, *many))
        return
    assert words == ["show", one, *(f"--tag={m}" for m in many), f"x{one}", *many]


def test_a_dash_that_the_manifest_writes_in_the_value_of_an_option_is_meant() -> None:
    assert argv([{"--since": "-{{ v }} days"}], v=3) == ["--since", "-3 days"]
