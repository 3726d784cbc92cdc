"""What an author most likely did where YAML cannot be read, and how to mend it.

Knows: the messages of libyaml and the usual mistakes behind them. Does not know: nodes, or anything about manifests.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

from mcpdecl.diagnostics import Diagnostic, Span


class _Rule(NamedTuple):
    """``problem`` is searched in libyaml's words, ``row`` in the line that it stopped at up to where it stopped."""

    problem: str
    row: str
    code: str
    message: str
    hint: str
    at_context: bool = False


_TEMPLATE = r"""(?:^|[\s\[{,:-])\{[{%#]"""

_RULES: Sequence[_Rule] = (
    _Rule(
        "exceeded maximum nesting depth",
        "",
        "manifest-too-large",
        "This is nested too deeply.",
        "A manifest needs no more than a few levels.",
    ),
    _Rule(
        "",
        r"^ *\t|^\s*- *\t",
        "yaml-syntax",
        "A tab indents this line; YAML is indented with blanks.",
        "Replace the tab by blanks.",
    ),
    _Rule(
        "",
        _TEMPLATE,
        "unquoted-template",
        "An unquoted {{ … }} is a mapping in YAML, not a template.",
        'Quote the whole value: "{{ … }}".',
    ),
    _Rule(
        "found unexpected end of stream",
        "",
        "yaml-syntax",
        "This quote is never closed.",
        "Close it, or leave both quotes out.",
        True,
    ),
    _Rule(
        "did not find expected ',' or '[\\]}]'",
        "",
        "yaml-syntax",
        "This bracket is not closed, or a comma is missing inside.",
        "Close it, and quote words that contain , [ ] { or }.",
        True,
    ),
    _Rule(
        "unknown escape|escape code|hexdecimal",
        "",
        "yaml-syntax",
        "A backslash in double quotes begins an escape, and this one does not exist.",
        "Use single quotes, where a backslash is a backslash.",
    ),
    _Rule(
        "mapping values are not allowed",
        r"^[^'\"]*: .*",
        "yaml-syntax",
        "A colon followed by a blank begins another value on this line.",
        "Quote the value if the colon belongs to it.",
    ),
    _Rule(
        "mapping values are not allowed",
        "",
        "yaml-syntax",
        "A key cannot begin here.",
        "Check the indentation: keys of one mapping stand in one column; a list item begins with a dash and a blank.",
    ),
    _Rule(
        "block sequence entries are not allowed",
        "",
        "yaml-syntax",
        "A list cannot begin on this line.",
        "Put each item on a line of its own, or write [a, b]; quote a dash that is text.",
    ),
    _Rule(
        "cannot start any token",
        "",
        "yaml-syntax",
        "A value cannot begin with this character unless it is quoted.",
        "Quote the value.",
    ),
    _Rule(
        "alphabetic or numeric character",
        "",
        "yaml-syntax",
        "A value that begins with * or & names an anchor.",
        'Quote it if it is text: "*.md".',
    ),
    _Rule(
        "did not find expected key|did not find expected '-' indicator",
        r"""["'\]}]\s+\S?$""",
        "yaml-syntax",
        "Something follows a quoted or bracketed value that is already complete.",
        "Quote the whole value, with the other kind of quotes outside.",
    ),
    _Rule(
        "did not find expected key|did not find expected '-' indicator",
        "",
        "yaml-syntax",
        "This line does not fit the lines above.",
        "Check the indentation: keys of one mapping, and dashes of one list, stand in one column.",
    ),
)


def explain(fault: yaml.MarkedYAMLError, text: str, file: str) -> Diagnostic:
    """Tell a syntax error by its likely cause, or in libyaml's words where none is known."""
    rows = text.splitlines() or [""]
    problem = str(fault.problem or "")
    places = [_place(mark, rows) for mark in (fault.problem_mark, fault.context_mark)]
    row = _upto(rows, places[0])
    for rule in _RULES:
        if re.search(rule.problem, problem) and re.search(rule.row, row):
            place = places[1] if rule.at_context and fault.context_mark is not None else places[0]
            return Diagnostic(rule.code, rule.message, _span(file, rows, *place), rule.hint)
    message = f"This is not YAML: {problem or 'it cannot be read'}."
    return Diagnostic("yaml-syntax", message, _span(file, rows, *places[0]))


def _place(mark: Any, rows: Sequence[str]) -> tuple[int, int]:
    if mark is None:
        return 0, 0
    line = min(mark.line, len(rows) - 1)
    column = mark.column if line == mark.line else len(rows[line])
    return line, min(column, len(rows[line]))


def _upto(rows: Sequence[str], place: tuple[int, int]) -> str:
    line, column = place
    return rows[line][: column + 1]


def _span(file: str, rows: Sequence[str], line: int, column: int) -> Span:
    return Span(file, line, column, line, min(column + 1, len(rows[line])))


_UNREADABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def unreadable(text: str, file: str) -> Diagnostic:
    """Tell the first character that YAML forbids."""
    found = _UNREADABLE.search(text)
    place = found.start() if found else 0
    rows = (text[:place] + ".").splitlines()
    span = Span(file, len(rows) - 1, len(rows[-1]) - 1, len(rows) - 1, len(rows[-1]))
    name = f"U+{ord(found[0]):04X}" if found else "one"
    return Diagnostic(
        "yaml-syntax",
        f"The character {name} may not stand in YAML.",
        span if text else Span(file),
        'Remove it, or write it as an escape in double quotes, such as "\\x1b".',
    )
