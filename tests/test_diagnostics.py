"""Tests of mcpdecl.diagnostics."""

from __future__ import annotations

import pytest

from mcpdecl.diagnostics import CODES, Diagnostic, Refused, Span, errors, escape, render

TEXT = "tools:\n  greet:\n    descripton: Say hello.\n"
SPAN = Span("manifests/a.yaml", 2, 4, 2, 14)


def told(diagnostic: Diagnostic, text: str | None = TEXT) -> str:
    return render(diagnostic, lambda file: text if file == "manifests/a.yaml" else None)


def test_a_diagnostic_shows_place_line_caret_and_remedy() -> None:
    shown = told(Diagnostic("unknown-key", "descripton is not a key of a tool", SPAN, hint="did you mean description?"))
    assert shown.splitlines() == [
        "error[unknown-key]: descripton is not a key of a tool",
        "  --> manifests/a.yaml:3:5",
        "    |",
        "  3 |     descripton: Say hello.",
        "    |     ^^^^^^^^^^",
        "  help: did you mean description?",
    ]


def test_a_related_place_is_shown_with_its_caption() -> None:
    first = Span("manifests/a.yaml", 1, 2, 1, 7)
    shown = told(Diagnostic("duplicate-key", "greet is there twice", SPAN, related=(("first here", first),)))
    assert "first here:" in shown
    assert "manifests/a.yaml:2:3" in shown


def test_a_file_that_cannot_be_read_still_gives_its_place() -> None:
    assert "manifests/a.yaml:3:5" in told(Diagnostic("unknown-key", "x", SPAN), text=None)


def test_a_span_past_the_end_of_a_file_that_shrank_is_no_fault() -> None:
    assert "a.yaml:3:5" in told(Diagnostic("unknown-key", "x", SPAN), text="tools:\n")


def test_a_span_over_several_lines_marks_the_first() -> None:
    shown = told(Diagnostic("unknown-key", "x", Span("manifests/a.yaml", 1, 2, 2, 14)))
    assert shown.splitlines()[-1].endswith("^^^^^^")


def test_control_characters_of_a_manifest_do_not_reach_the_terminal() -> None:
    shown = told(Diagnostic("unknown-key", "x", Span("manifests/a.yaml", 0, 0, 0, 1)), text="a\x1b[31mred\n")
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("text", "safe"),
    [("plain", "plain"), ("a\nb", "a\\nb"), ("\x1b[0m", "\\x1b[0m"), ("é", "é"), ("\u202e", "\\u202e")],
)
def test_escape(text: str, safe: str) -> None:
    assert escape(text) == safe


def test_escape_cuts_long_text() -> None:
    assert escape("x" * 1000, limit=10) == "x" * 10 + "…"


def test_errors_leaves_warnings_out() -> None:
    warning = next(code for code, entry in CODES.items() if entry.severity == "warning")
    found = [Diagnostic("unknown-key", "a"), Diagnostic(warning, "b")]
    assert [d.message for d in errors(found)] == ["a"]


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_title_an_example_and_a_sensible_wire_form(code: str) -> None:
    entry = CODES[code]
    assert entry.title
    assert entry.example
    assert code == code.lower().replace("_", "-")
    if entry.rpc is not None:
        assert entry.severity == "error"
        # spec: basic/index#error-codes, reserved ranges
        assert entry.rpc in {-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022} or entry.rpc > -32000


def test_refused_carries_what_a_client_reads() -> None:
    refused = Refused("unknown-tool", "Unknown tool: x", {"name": "x"})
    assert (refused.code, refused.message, refused.data) == ("unknown-tool", "Unknown tool: x", {"name": "x"})
    assert str(refused) == "Unknown tool: x"
