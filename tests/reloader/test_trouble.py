"""How a fault is told, and that it is over."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from mcpdecl.diagnostics import Diagnostic, Span
from mcpdecl.observations import Log
from mcpdecl.reloader.trouble import Trouble

FAULT = Diagnostic("bad-value", "timeout is no duration.", Span("a.yaml", 1, 2, 1, 9))
OTHER = Diagnostic("bad-value", "rate is no rate.", Span("a.yaml", 0, 0, 0, 5))


class Teller:
    def __init__(self, root: Path) -> None:
        self.stream = io.StringIO()
        self.ready: list[str | None] = []
        self.trouble = Trouble(self.ready.append, Log("text", self.stream), root)

    def said(self) -> str:
        text = self.stream.getvalue()
        self.stream.seek(0)
        self.stream.truncate()
        return text


@pytest.fixture
def teller(tmp_path: Path) -> Teller:
    (tmp_path / "a.yaml").write_text("tools:\n  timeout: soon\n")
    return Teller(tmp_path)


def test_a_fault_is_shown_with_its_line_and_a_caret(teller: Teller) -> None:
    teller.trouble.refused((FAULT,), "r1")
    assert "a.yaml:2:3" in (said := teller.said()) and "^^^^^^^" in said and "serving=r1" in said


def test_the_same_faults_are_told_once(teller: Teller) -> None:
    teller.trouble.refused((FAULT,), "r1")
    teller.said()
    teller.trouble.refused((FAULT,), "r1")
    assert teller.said() == ""
    teller.trouble.refused((FAULT, OTHER), "r1")
    assert "rate is no rate" in teller.said()


def test_readiness_names_codes_and_no_place(teller: Teller) -> None:
    teller.trouble.refused((FAULT, OTHER), "r1")
    assert teller.ready == ["bad-value and 1 more"]


def test_a_mended_fault_is_told_as_recovery_once(teller: Teller) -> None:
    teller.trouble.refused((FAULT,), "r1")
    teller.said()
    teller.trouble.mended(())
    teller.trouble.mended(())
    assert teller.said() == "mcpdecl: recovered\n"
    assert teller.ready == ["bad-value", None]


def test_the_same_fault_after_a_recovery_is_told_again(teller: Teller) -> None:
    teller.trouble.refused((FAULT,), "r1")
    teller.trouble.mended(())
    teller.said()
    teller.trouble.refused((FAULT,), "r1")
    assert "timeout is no duration" in teller.said()


def test_a_warning_is_told_once(teller: Teller) -> None:
    teller.trouble.known((OTHER,))
    teller.trouble.mended((OTHER,))
    assert teller.said() == "" and teller.ready == []


def test_W06_what_is_not_ready_is_told_once_and_recovers(teller: Teller) -> None:
    teller.trouble.unready("a.yaml is empty.")
    teller.trouble.unready("a.yaml is empty.")
    assert teller.said().count("a.yaml is empty.") == 1
    teller.trouble.unready(None)
    assert teller.said() == "mcpdecl: recovered\n" and teller.ready == ["not-ready", None]


def test_a_fault_outlasts_its_file_being_away(teller: Teller) -> None:
    teller.trouble.refused((FAULT,), "r1")
    teller.trouble.unready("a.yaml is empty.")
    teller.trouble.unready(None)
    assert teller.ready == ["bad-value", "not-ready", "bad-value"]


def test_an_unexpected_error_is_an_incident_told_once(teller: Teller) -> None:
    for _ in range(3):
        teller.trouble.stumbled(RuntimeError("secret"))
    assert teller.said().count("incident") == 1
    assert "secret" not in str(teller.ready) and len(teller.ready) == 1
    teller.trouble.stumbled(None)
    assert teller.ready[-1] is None


def test_a_file_that_cannot_be_read_shows_no_excerpt(teller: Teller) -> None:
    teller.trouble.refused((Diagnostic("bad-value", "x", Span("gone.yaml")),), "r1")
    assert "gone.yaml:1:1" in teller.said()
