from __future__ import annotations

from mcpdecl.diagnostics import Span
from mcpdecl.manifest.declarations import Declaration, digest
from tests.manifest.test_parser import good

TEXT = """\
x-limits: &limits
  timeout: 5s
tools:
  find:
    <<: *limits
    input:
      word?: {type: string}
    command:
      - git
      - --grep=: "{{ word }}"
"""


def tool() -> Declaration:
    return good(TEXT).declarations[0]


def test_values_and_keys_have_places() -> None:
    place = tool().place
    assert place.file == "m.yaml"
    assert place.key() == Span("m.yaml", 3, 2, 3, 6)
    assert place.span("input", "word?", "type") == Span("m.yaml", 6, 20, 6, 26)
    assert place.key("input", "word?", "type") == Span("m.yaml", 6, 14, 6, 18)
    assert place.span("command", 1, "--grep=") == Span("m.yaml", 9, 17, 9, 29)
    assert place.key("command", 0) == place.span("command", 0) == Span("m.yaml", 8, 8, 8, 11)


def test_what_was_merged_has_the_place_where_it_is_written() -> None:
    assert tool().place.span("timeout") == Span("m.yaml", 1, 11, 1, 13)


def test_what_is_absent_has_the_place_of_what_would_hold_it() -> None:
    place = tool().place
    assert place.span("output", "x") == place.key()
    assert place.span("input", "word?", "enum", 3) == place.key("input", "word?")
    assert place.span("command", 7) == place.key("command", "x") == place.key("command")


def test_the_digest_tells_declarations_apart() -> None:
    def one(text: str) -> str:
        return good(text).declarations[0].digest

    same = one("tools: {a: {text: x, title: y}}")
    assert same == one("# comment\ntools:\n  a:\n    text: 'x'\n    title: y\n")
    others = [
        one("tools: {b: {text: x, title: y}}"),
        one("prompts: {a: {text: x, title: y}}"),
        one("tools: {a: {text: x, title: z}}"),
        one("tools: {a: {title: y, text: x}}"),  # the order of options and properties means something
    ]
    assert len({same, *others}) == 5
    assert len(digest(("tool", "a", {}))) == 64
