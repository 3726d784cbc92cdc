"""Tests of mcpdecl.bindings.progress."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from mcpdecl.bindings.progress import LONGEST_REPORT, Lines, Pattern, Reports, compile_watch
from mcpdecl.bindings.running import Watchers
from tests.bindings.site import FakeCall, Faults, site

CATASTROPHE = r"(a+)+$|(?<progress>\d+)%"  # looks at 40 letters a that are not at the end for hours


def watched(written: str) -> tuple[Watchers, FakeCall]:
    watch = compile_watch(written, site(Path()))
    assert watch is not None
    call = FakeCall(Path())
    return watch.of(call), call


def told(written: str, *chunks: bytes) -> list[tuple[float, float | None, str | None]]:
    """What is told of chunks on one output."""
    watchers, call = watched(written)
    assert watchers.out is not None and watchers.reports is None
    for chunk in chunks:
        watchers.out(chunk)
    return call.told


def reported(*chunks: bytes) -> FakeCall:
    """What is told of chunks on the descriptor for reports."""
    watchers, call = watched("fd")
    assert watchers.reports is not None and watchers.out is watchers.err is None
    for chunk in chunks:
        watchers.reports(chunk)
    return call


# --- what it prints --------------------------------------------------------------------------------------------


def test_lines_are_put_together_from_chunks() -> None:
    assert told("lines", b"on", b"e\ntw", b"o\n\nthr") == [(1, None, "one"), (2, None, "two")]


def test_a_carriage_return_ends_a_line() -> None:
    assert told(r"(?<progress>\d+)%", b" 5%\r", b"10%\r\n") == [(5.0, None, None), (10.0, None, None)]


def test_groups() -> None:
    pattern = r"(?P<progress>\d+)/(?P<total>\d+) (?<message>.*)"
    assert told(pattern, b"1/4 first\nnothing\n") == [(1.0, 4.0, "first")]


def test_a_message_without_a_number_counts() -> None:
    assert told(r"^step: (?<message>.*)", b"step: a\nx\n", b"step: b\n") == [(1, None, "a"), (3, None, "b")]


def test_what_is_no_finite_number_counts_too() -> None:
    assert told(r"at (?<progress>\S+)", b"at nan\n", b"at inf\n", b"at x\n") == [(n, None, None) for n in (1, 2, 3)]


def test_of_what_comes_at_once_the_furthest_is_told() -> None:
    assert told(r"(?<progress>\d+)%", b"1%\n70%\n7%\nnoise\n") == [(70.0, None, None)]
    assert told("lines", b"one\ntwo\nthree\n") == [(3, None, "three")]


def test_a_lookbehind_stays_what_it_is() -> None:
    assert told(r"(?<=at )(?<progress>\d+)", b"at 7\n") == [(7.0, None, None)]


def test_an_escaped_parenthesis_opens_no_group() -> None:
    assert told(r"\(?<(?<progress>\d+)", b"(<7\n") == [(7.0, None, None)]


def test_bytes_that_are_no_text_and_endless_lines_do_no_harm() -> None:
    assert told("lines", b"\xff\xfe\n", b"x" * 100_000, b"\n")[0] == (1, None, "\ufffd\ufffd")


def test_two_pipes_never_make_one_line_and_are_counted_together() -> None:
    watchers, call = watched("lines")
    for feed, chunk in ((watchers.out, b"out-"), (watchers.err, b"err\n"), (watchers.out, b"put\n")):
        assert feed is not None
        feed(chunk)
    assert call.told == [(1, None, "err"), (2, None, "out-put")]


# --- patterns --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", ["(", "none", "(?<other>x)", "(?<progress>1)(?<other>x)", "x{99999999999999}"])
def test_patterns_that_cannot_be_used(written: str) -> None:
    faults = Faults()
    assert compile_watch(written, site(Path(), faults)) is None
    assert faults.codes == ["bad-pattern"]


def test_the_words() -> None:
    compiled = [compile_watch(written, site(Path())) for written in ("lines", "fd", "(?<message>fd)")]
    assert [type(watch) for watch in compiled] == [Lines, Reports, Pattern]


def test_a_pattern_that_would_look_for_hours_is_stopped_and_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    watchers, call = watched(CATASTROPHE)
    assert watchers.out is not None
    watchers.out(b"1%\n" + b"a" * 4_096 + b"!\n2%\n")
    assert call.told == [(2.0, None, None)], "the newest line is looked at first"
    assert [level for level, _ in call.logged] == ["warning"]
    watchers.out(b"3%\n")  # it rests
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 60)
    watchers.out(b"4%\n" + b"a" * 4_096 + b"!\n")
    watchers.out(b"5%\n")
    assert call.told == [(2.0, None, None)]
    monkeypatch.setattr(time, "monotonic", lambda: now + 120)
    watchers.out(b"6%\n")
    assert call.told == [(2.0, None, None), (6.0, None, None)]
    assert len(call.logged) == 1, "it is told once a run"


def test_no_alarm_is_left_behind() -> None:
    told(r"(?<progress>\d+)%", b"5%\n")
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_an_alarm_that_comes_late_ends_nothing() -> None:
    told(CATASTROPHE, b"a" * 4_096 + b"!\n")
    signal.raise_signal(signal.SIGVTALRM)


def test_many_lines_without_a_match_do_not_make_it_rest() -> None:
    slowly = r"(?<progress>\d+)%|no.*no"
    watchers, call = watched(slowly)
    assert watchers.out is not None
    watchers.out((b"n" * 500 + b"\n") * 20_000)
    watchers.out(b"7%\n")
    assert (call.told, call.logged) == ([(7.0, None, None)], [])


def test_in_another_thread_a_pattern_works_without_a_bound() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(told(r"(?<progress>\d+)%", b"5%\n")))
    thread.start()
    thread.join()
    assert found == [(5.0, None, None)]


def test_a_pattern_looks_at_the_end_of_a_long_line() -> None:
    assert told(r"(?<progress>\d+)%", b"1% " + b"x" * 4_000 + b" 2%\n") == [(2.0, None, None)]


# --- reports ---------------------------------------------------------------------------------------------------


def test_reports() -> None:
    call = reported(
        b'{"progress": 3, "total": 10, "message": "gr\xc3\xbc\xc3\x9f"}\n{"log": "info", "data": [1, null], "lo',
        b'gger": "x"}\r\n\n  \n{"updated": "repo://readme"}\n',
    )
    assert call.told == [(3.0, 10.0, "grüß")]
    assert call.logged == [("info", [1, None])]
    assert call.changed == ["repo://readme"]


def test_a_report_may_tell_several_things() -> None:
    call = reported(b'{"progress": 1, "log": "debug", "data": null, "updated": "a:b", "total": null}\n')
    assert (call.told, call.logged, call.changed) == ([(1.0, None, None)], [("debug", None)], ["a:b"])


def test_of_reports_that_come_at_once_the_furthest_is_told_and_each_change_once() -> None:
    lines = [{"progress": 1}, {"progress": 9}, {"updated": "a:b"}, {"progress": 8}, {"updated": "a:c"}]
    call = reported(b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, {"updated": "a:b"}]))
    assert call.told == [(9.0, None, None)]
    assert call.changed == ["a:b", "a:c"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"not JSON", "malformed"),
        (b'{"progress": NaN}', "malformed"),
        (b'{"progress": 1e999}', "out of range"),
        (b'{"progress": ' + b"9" * 500 + b"}", "out of range"),
        (b'{"progress": true}', "got `bool`"),
        (b'{"progress": "3"}', "got `str`"),
        (b'{"progress": 3, "total": "x"}', "got `str`"),
        (b'{"progress": 3, "mesage": "x"}', "unknown field `mesage`"),
        (b'{"message": "x"}', "none of progress, log and updated"),
        (b"{}", "none of progress, log and updated"),
        (b'{"updated": ""}', "none of progress, log and updated"),
        (b"[3]", "got `array`"),
        (b"3", "got `int`"),
        (b'{"log": "info"}', "log needs data"),
        (b'{"progress": 3} {"progress": 4}', "malformed"),
        (b'{"progress": 3, "message": "\xff"}', "UTF-8"),
        (b'{"log": "info", "data": "\\ud800"}', ""),
        (b'{"log": "info", "data": ' + b"[" * 30_000 + b"}", "recursion"),
        (b'{"log": "info", "data": "' + b"x" * LONGEST_REPORT + b'"}', "too long"),
    ],
)
def test_what_tells_nothing_is_dropped_and_the_first_is_told_of(line: bytes, why: str) -> None:
    call = reported(b'{"progress": 1}\n' + line + b"\n", line + b'\n{"progress": 2}\n')
    assert call.told == [(1.0, None, None), (2.0, None, None)]
    [(level, text)] = call.logged
    assert level == "warning" and why in text and "report 2 on MCPDECL_FD" in text
    assert call.changed == []


def test_an_endless_report_costs_no_more_than_one() -> None:
    call = reported(*[b'{"log": "info", "data": "' + b"x" * 60_000] * 200, b'"}\n{"progress": 1}\n')
    assert call.told == [(1.0, None, None)]
    assert [level for level, _ in call.logged] == ["warning"]
