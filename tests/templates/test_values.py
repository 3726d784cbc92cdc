"""The absent value, and values as text."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import msgspec
import pytest

from mcpdecl.templates.values import ABSENT, RenderFault, plain, shown


def test_absent_is_one_and_false() -> None:
    assert not ABSENT and str(ABSENT) == "" and repr(ABSENT) == "ABSENT" and len(ABSENT) == 0 and list(ABSENT) == []
    assert copy.copy(ABSENT) is ABSENT and copy.deepcopy([ABSENT])[0] is ABSENT
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT


def test_absent_stays_absent() -> None:
    assert ABSENT + 1 is ABSENT and 1 - ABSENT is ABSENT and -ABSENT is ABSENT and ABSENT["a"] is ABSENT
    assert not (ABSENT < 1) and not (1 >= ABSENT) and ABSENT != "" and 1 not in ABSENT


def test_nothing_encodes_absent_by_accident() -> None:
    with pytest.raises(TypeError):
        msgspec.json.encode({"a": ABSENT})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1e21, "1e21"),
        ([1, ABSENT], "[1]"),
        ({"ä": "\n"}, '{"ä":"\\n"}'),
    ],
)
def test_shown(value: Any, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize("value", [float("nan"), b"x", object(), {1}, len, [float("inf")], ["\ud800"], [10**5000]])
def test_what_is_no_data(value: Any) -> None:
    with pytest.raises(RenderFault):
        shown(value)


def test_a_value_that_holds_itself() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(RenderFault):
        plain(circle)
