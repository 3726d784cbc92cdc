"""Tests of mcpdecl.schema.dialect: which dialects are spoken, offline, and what formats are worth."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from mcpdecl.schema import SchemaFault, compile_schema
from mcpdecl.schema.dialect import DIALECTS, asserts, dialect_of


def test_the_default_dialect() -> None:
    # spec: basic#schema-dialect
    assert dialect_of({}) == DIALECTS[0]
    assert dialect_of(True) == DIALECTS[0]
    assert (
        dialect_of({"$schema": "http://json-schema.org/draft-07/schema#"}) == "http://json-schema.org/draft-07/schema"
    )
    assert dialect_of({"$schema": "https://example.com/x"}) is None
    assert dialect_of({"$schema": 5}) is None


def test_a_declared_dialect_is_followed() -> None:
    tuple_of_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
    assert not compile_schema(tuple_of_7).valid([1])
    with pytest.raises(SchemaFault):
        compile_schema({"items": [{"type": "string"}]})


@pytest.mark.parametrize(
    ("format_", "good", "bad"),
    [
        ("date-time", "2026-11-30T12:00:00Z", "soon"),
        ("date", "2026-11-30", "2026-13-01"),
        ("email", "a@b.test", "a"),
        ("uri", "https://a.test/x", "not a uri"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "x"),
        ("ipv4", "127.0.0.1", "256.0.0.1"),
    ],
)
def test_J06_formats_are_judged_without_anything_installed_besides(format_: str, good: str, bad: str) -> None:
    schema = compile_schema({"type": "string", "format": format_})
    assert schema.valid(good)
    assert not schema.valid(bad)
    assert asserts(DIALECTS[0], format_)


def test_J06_an_unknown_format_is_known_to_be_unknown() -> None:
    assert not asserts(DIALECTS[0], "datetime")
    assert compile_schema({"format": "datetime"}).valid("x")


@pytest.mark.parametrize("place", ["ref", "schema", "id"])
def test_J04_nothing_is_ever_fetched(place: str) -> None:
    asked: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.5)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/a.json"

        def listen() -> None:
            try:
                asked.append(listener.accept())
            except TimeoutError:
                return

        thread = threading.Thread(target=listen)
        thread.start()
        written = {"ref": {"$ref": url}, "schema": {"$schema": url}, "id": {"$id": url, "$ref": "b.json"}}[place]
        with pytest.raises(SchemaFault) as caught:
            compile_schema({"properties": {"a": written}} if place == "ref" else written)
        thread.join()
    assert caught.value.code in {"remote-ref", "unknown-dialect"}
    assert asked == []
