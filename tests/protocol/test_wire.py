"""JSON in and out: broken bytes are refused, every reply is JSON, and the official examples survive both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import Cache, Fault, Reply, Result, wire
from tests.protocol.standins import Client, catalogue, sent


def request() -> Any:
    plan = Client(catalogue()).plan(Client(catalogue()).body("server/discover"))
    assert isinstance(plan, Reply)
    return plan.request


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 20_000,
        b'{"a":' * 20_000,
        b"[" * 200 + b"]" * 200,
        b'{"a": NaN}',
        b"Infinity",
        b'"\\ud800"',
        b'"\\udc00"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"{} {}",
        b"1e400",
        b"9" * 5000,
        "{}".encode("utf-16"),
        "\xe9".encode("latin-1"),
    ],
)
def test_H09_broken_bytes_are_a_parse_error(body: bytes) -> None:
    with pytest.raises(Refused) as refusal:
        wire.decode(body)
    assert refusal.value.code == "parse-error"


def test_H09_a_byte_order_mark_is_skipped() -> None:
    assert wire.decode(b'\xef\xbb\xbf{"a":1}') == {"a": 1}


def test_H09_the_last_of_two_equal_keys_counts() -> None:
    assert wire.decode(b'{"method":"x","method":"tools/list"}') == {"method": "tools/list"}


def test_wide_data_is_not_deep() -> None:
    wide: list[Any] = [[] for _ in range(1000)]
    assert wire.decode(json.dumps(wide).encode()) == wide


def test_J09_integers_are_exact() -> None:
    assert wire.decode(b"[9007199254740993]") == [9007199254740993]


def test_a_result_has_its_envelope() -> None:
    reply = Reply("a", Result({"tools": msgspec.Raw(b'[{"name":"x"}]')}, cache=Cache(5, "public")), request=request())
    assert json.loads(wire.encode(reply)) == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {
            "resultType": "complete",
            "tools": [{"name": "x"}],
            "ttlMs": 5,
            "cacheScope": "public",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "stand-in", "version": "1"}},
        },
    }


def test_the_meta_of_a_result_is_kept() -> None:
    reply = Reply(1, Result({"_meta": {"a/b": 1}}), request=request())
    meta = json.loads(wire.encode(reply))["result"]["_meta"]
    assert meta["a/b"] == 1
    assert meta["io.modelcontextprotocol/serverInfo"]["name"] == "stand-in"


def test_an_error_without_an_id_has_none() -> None:
    assert json.loads(wire.encode(Reply(None, Fault(-32700, "No.")))) == {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "No."},
    }


def test_an_error_may_have_data() -> None:
    assert sent(Reply(0, Fault(-32602, "No.", {"uri": "a:b"})))["error"]["data"] == {"uri": "a:b"}


@pytest.mark.parametrize("value", [object(), "\ud800", {1j: 2}])
def test_what_is_not_json_is_not_encoded(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        wire.encode(Reply(7, Result({"content": value})))


def test_a_notification() -> None:
    assert json.loads(wire.notification("notifications/x", {"a": [1]})) == {
        "jsonrpc": "2.0",
        "method": "notifications/x",
        "params": {"a": [1]},
    }


@pytest.mark.shared
def test_the_official_examples_decode_and_encode(shared: Path) -> None:
    examples = sorted((shared / "spec" / "examples-2026-07-28").rglob("*.json"))
    assert len(examples) == 129
    for path in examples:
        data = wire.decode(path.read_bytes())
        assert data == json.loads(path.read_bytes()), path
        encoded = wire.encode(Reply(1, Result({"example": data})))
        assert json.loads(encoded)["result"]["example"] == data, path
