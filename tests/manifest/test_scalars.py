from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.manifest.scalars import Ambiguous, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("-7", -7),
        ("0o17", 15),
        ("0x1F", 31),
        ("18446744073709551615", 2**64 - 1),
        ("1.10", 1.1),
        (".5", 0.5),
        ("1.", 1.0),
        ("57e3", 57000.0),
        ("-1.5E-3", -0.0015),
    ],
)
def test_core_values(text: str, value: object) -> None:
    assert resolve(text) == value and type(resolve(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    "NO on off y tRUE nUll 2026-11-30 12:30:45 22:22 1_000 0b1 0X1F 0o8 1e -+1 +-1 . .. - + 1.2.3 1,000 ١٢".split(),
)
def test_everything_else_is_text(text: str) -> None:
    assert resolve(text) == text


@pytest.mark.parametrize(
    "text",
    ["02142", "08", "-007", "00.5", ".inf", "-.INF", ".nan", ".NaN", "1e400", "18446744073709551616", "9" * 5000],
)
def test_what_people_read_differently_is_refused(text: str) -> None:
    with pytest.raises(Ambiguous) as fault:
        resolve(text)
    assert fault.value.message and len(fault.value.message) < 200


@given(st.text() | st.from_regex(r"[-+]?[0-9._eox]{1,20}", fullmatch=True))
def test_any_text_has_a_value_or_a_reason(text: str) -> None:
    try:
        value = resolve(text)
    except Ambiguous:
        return
    assert value is None or isinstance(value, bool | int | float | str)
