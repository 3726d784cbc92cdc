"""What an unquoted word means: the scalars of YAML 1.2's core schema, as JSON values.

Knows: null, booleans, integers and floats of the core schema, and which spellings are refused because people mean
different things by them. Does not know: which type a place in a manifest wants.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str | None

WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_FIRST = frozenset("0123456789+-.")
_DECIMAL = re.compile(r"[-+]?[0-9]+\Z", re.ASCII)
_BASED = re.compile(r"0(?:o[0-7]+|x[0-9a-fA-F]+)\Z", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z", re.ASCII)
_NO_NUMBER = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
_PADDED = re.compile(r"[-+]?0[0-9]")
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1


class Ambiguous(Exception):
    """A spelling that is refused. ``message`` says why; the remedy is always to quote the value."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def resolve(text: str) -> Value:
    """The value of a plain (unquoted) scalar. Raises Ambiguous for 02142, .inf, .nan and numbers beyond 64 bits."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _FIRST:
        return text
    if _DECIMAL.match(text) or _BASED.match(text):
        return _integer(text)
    if _FLOAT.match(text):
        return _float(text)
    if _NO_NUMBER.match(text):
        raise Ambiguous(f"{text} is no number that JSON knows")
    return text


def _integer(text: str) -> int:
    if _PADDED.match(text):
        raise Ambiguous(f"{text} has a leading zero, which some read as octal and some drop")
    if len(text) > 40:
        raise Ambiguous("This number has more than 40 digits")
    value = int(text, 0)
    if not _SMALLEST <= value <= _LARGEST:
        raise Ambiguous(f"{text} does not fit 64 bits")
    return value


def _float(text: str) -> float:
    if _PADDED.match(text):
        raise Ambiguous(f"{text} has a leading zero, which some read as octal and some drop")
    value = float(text) if len(text) <= 400 else float("inf")
    if value in (float("inf"), float("-inf")):
        raise Ambiguous(f"{text[:40]} does not fit a number")
    return value
