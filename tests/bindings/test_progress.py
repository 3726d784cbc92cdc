"""Tests of mcpdecl.bindings.progress."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpdecl.bindings.progress import Watch, compile_watch
from tests.bindings.site import FakeCall, Faults, site


def told(written: str, *chunks: bytes) -> list[tuple[float, float | None, str | None]]:
    watch = compile_watch(written, site(Path()))
    assert isinstance(watch, Watch)
    call = FakeCall(Path())
    feed = watch.of(call)()
    for chunk in chunks:
        feed(chunk)
    return call.told


def test_lines_are_put_together_from_chunks() -> None:
    assert told("lines", b"on", b"e\ntw", b"o\n\nthr") == [(1, None, "one"), (2, None, "two")]


def test_a_carriage_return_ends_a_line() -> None:
    assert told(r"(?<progress>\d+)%", b" 5%\r10%\r\n") == [(5.0, None, None), (10.0, None, None)]


def test_groups() -> None:
    pattern = r"(?P<progress>\d+)/(?P<total>\d+) (?<message>.*)"
    assert told(pattern, b"1/4 first\nnothing\n") == [(1.0, 4.0, "first")]


def test_a_message_without_a_number_counts() -> None:
    assert told(r"^step: (?<message>.*)", b"step: a\nx\nstep: b\n") == [(1, None, "a"), (3, None, "b")]


def test_a_lookbehind_stays_what_it_is() -> None:
    assert told(r"(?<=at )(?<progress>\d+)", b"at 7\n") == [(7.0, None, None)]


def test_bytes_that_are_no_text_and_endless_lines_do_no_harm() -> None:
    assert told("lines", b"\xff\xfe\n", b"x" * 100_000, b"\n")[0] == (1, None, "\ufffd\ufffd")


@pytest.mark.parametrize("written", ["(", "none", "(?<other>x)", "(?<progress>1)(?<other>x)"])
def test_patterns_that_cannot_be_used(written: str) -> None:
    faults = Faults()
    assert compile_watch(written, site(Path(), faults)) is None
    assert faults.codes == ["bad-pattern"]


def test_two_pipes_never_make_one_line_and_are_counted_together() -> None:
    watch, call = compile_watch("lines", site(Path())), FakeCall(Path())
    assert isinstance(watch, Watch)
    watcher = watch.of(call)
    out, err = watcher(), watcher()
    for feed, chunk in ((out, b"out-"), (err, b"err\n"), (out, b"put\n")):
        feed(chunk)
    assert call.told == [(1, None, "err"), (2, None, "out-put")]


def test_an_escaped_parenthesis_opens_no_group() -> None:
    assert told(r"\(?<(?<progress>\d+)", b"(<7\n") == [(7.0, None, None)]
