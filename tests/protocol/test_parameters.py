"""Reading params and the strings in them."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.diagnostics import Refused
from mcpdecl.protocol.parameters import LISTED, Misfit, defaults, mapping, parsed, text, told
from mcpdecl.schema import Violation
from tests.protocol.standins import argument


def test_text_and_mapping() -> None:
    assert text({"a": "x"}, "a") == "x"
    assert mapping({"a": {"b": 1}}, "a") == {"b": 1}
    assert mapping({"a": None}, "a") == mapping({}, "a") == {}
    for read, value in ((text, None), (text, 5), (mapping, []), (mapping, "x")):
        with pytest.raises(Refused, match=r"params\.a"):
            read({"a": value}, "a")


@pytest.mark.parametrize(
    ("schema", "sent", "value"),
    [
        ({"type": "string"}, "null", "null"),
        ({"type": "string"}, "007", "007"),
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "boolean"}, "false", False),
        ({"type": "array"}, "[1]", [1]),
        ({"type": ["integer", "null"]}, "null", None),
    ],
)
def test_J07_a_string_becomes_what_is_declared(schema: Any, sent: str, value: Any) -> None:
    found = parsed(argument("a", schema), sent)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("sent", ["12px", "", "1.5", "true", '"5"', "[" * 5000, "NaN", "0x1"])
def test_J08_what_is_no_literal_is_a_misfit(sent: str) -> None:
    with pytest.raises(Misfit):
        parsed(argument("a", {"type": "integer"}), sent)


def test_defaults_are_those_that_are_there() -> None:
    assert defaults({"a": argument("a"), "b": argument("b", default=None), "c": argument("c", default=3)}) == {
        "b": None,
        "c": 3,
    }


def test_violations_are_told_with_their_paths_and_bounded() -> None:
    assert told([Violation(("a", 0, "b"), "is bad")]) == "- a.0.b: is bad"
    assert told([Violation((), "is bad")]) == "- arguments: is bad"
    assert told([Violation((), "is bad")], "result") == "- result: is bad"
    many = told([Violation(("a",), "x")] * (LISTED + 5)).splitlines()
    assert len(many) == LISTED + 1
    assert many[-1] == "- and 5 more"
