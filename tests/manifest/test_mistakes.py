from __future__ import annotations

import pytest

from mcpdecl.diagnostics import CODES, Span
from mcpdecl.manifest.mistakes import unreadable
from mcpdecl.manifest.source import compose


@pytest.mark.parametrize(
    ("text", "words", "line", "column"),
    [
        ("a:\n\tb: 1\n", "A tab indents this line", 1, 0),
        ("a:\n  b: 1\n\tc: 1\n", "A tab indents this line", 2, 0),
        ("a: 'b\nc: d\n", "This quote is never closed", 0, 3),
        ("a: [b, c\n", "This bracket is not closed", 0, 3),
        ("a: {b: c\n", "This bracket is not closed", 0, 3),
        ('a: "\\d"', "A backslash in double quotes", 0, 4),
        ("a: b: c", "A colon followed by a blank", 0, 4),
        ("a: 1\n b: 2", "A key cannot begin here", 1, 2),
        ("a: - b", "A list cannot begin on this line", 0, 3),
        ("a: @b", "A value cannot begin with this character", 0, 3),
        ("a: `b`", "A value cannot begin with this character", 0, 3),
        ("a: *.md", "names an anchor", 0, 4),
        ('a: "x" y', "already complete", 0, 7),
        ("a:\n  b: 1\n c: 2", "does not fit the lines above", 2, 1),
        ("a: b\n- c", "does not fit the lines above", 1, 0),
        ("a: {% if b %}c{% endif %}", "An unquoted {{ … }}", 0, 4),
    ],
)
def test_each_mistake_has_its_message(text: str, words: str, line: int, column: int) -> None:
    (found,) = compose(text, "m.yaml")[1]
    assert words in found.message and found.hint
    assert found.span is not None and (found.span.line, found.span.column) == (line, column)
    assert CODES[found.code].severity == "error"


def test_a_bracket_that_was_closed_once_is_no_template() -> None:
    (found,) = compose('a: "{{ x }}" y', "m.yaml")[1]
    assert "already complete" in found.message


def test_a_character_that_may_not_be_is_named() -> None:
    found = unreadable("a: é\x07\n", "m.yaml")
    assert "U+0007" in found.message and found.span == Span("m.yaml", 0, 4, 0, 5)
    assert unreadable("", "m.yaml").span == Span("m.yaml")
