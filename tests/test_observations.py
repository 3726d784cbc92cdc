"""Tests of mcpdecl.observations."""

from __future__ import annotations

import io
import json

from mcpdecl.observations import Log


def test_an_event_is_one_line() -> None:
    stream = io.StringIO()
    Log(stream=stream).event("reloaded", tools=3, note="two words", bad="a\nmcpdecl: forged")
    assert stream.getvalue() == "mcpdecl: reloaded tools=3 note='two words' bad='a\\\\nmcpdecl: forged'\n"


def test_json_events_are_json_lines() -> None:
    stream = io.StringIO()
    Log("json", stream).event("reloaded", tools=3, who="é\x1b", nothing=None)
    line = json.loads(stream.getvalue())
    assert line["event"] == "reloaded"
    assert (line["tools"], line["who"], line["nothing"]) == (3, "é\\x1b", None)
    assert line["time"].endswith("Z")


def test_an_incident_has_an_id_and_keeps_the_traceback_in_the_log() -> None:
    stream = io.StringIO()
    log = Log(stream=stream)
    try:
        raise ValueError("secret detail")
    except ValueError as error:
        id = log.incident(error, item="tools/call x")
    assert len(id) == 8
    assert f"id={id}" in stream.getvalue()
    assert "Traceback" in stream.getvalue()


def test_what_an_error_quotes_of_a_caller_cannot_pass_for_an_event() -> None:
    stream = io.StringIO()
    Log(stream=stream).incident(ValueError("bad\nmcpdecl: forged\x1b[2J"))
    first, *rest = stream.getvalue().splitlines()
    assert first.startswith("mcpdecl: incident id=") and "\x1b" not in stream.getvalue()
    assert "mcpdecl: forged\\x1b[2J" in stream.getvalue()
    assert all(line.startswith("    ") for line in rest)


def test_a_json_incident_is_one_json_line_with_the_whole_traceback() -> None:
    stream = io.StringIO()
    try:
        raise ValueError("first\nsecond")
    except ValueError as error:
        id = Log("json", stream).incident(error, item="tools/call x")
    line = json.loads(stream.getvalue())
    assert (line["event"], line["id"], line["item"]) == ("incident", id, "tools/call x")
    assert line["traceback"][0].startswith("Traceback") and line["traceback"][-2:] == ["ValueError: first", "second"]


def test_a_closed_stderr_ends_nothing() -> None:
    stream = io.StringIO()
    stream.close()
    Log(stream=stream).event("late")
