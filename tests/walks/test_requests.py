"""Requests and their responses, good and bad ones, over both transports.

After each test the server answers a plain call, and over stdio nothing stands before that answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks.conftest import Server, Start, started

VERSION, CAPABILITIES = wire.META + "protocolVersion", wire.META + "clientCapabilities"
PARSE, INVALID, NO_METHOD, PARAMS, INTERNAL, UNSUPPORTED = -32700, -32600, -32601, -32602, -32603, -32022

PROJECT = {
    "gives.py": """
        import datetime

        DEEP = []
        for _ in range(5_000):
            DEEP = [DEEP]
        LOOP = []
        LOOP.append(LOOP)
        VALUES = {
            "good": {"n": 1},
            "set": {1, 2},
            "wrong shape": {"wrong": 1},
            "wrong type": {"n": "SECRET"},
            "list": [1],
            "none": None,
            "object": object(),
            "class": int,
            "bytes": b"n",
            "nan": float("nan"),
            "infinity": {"n": float("inf")},
            "too long": {"n": 10**5_000},
            "surrogate": "\\ud800",
            "surrogate inside": {"n": 1, "s": "\\ud800"},
            "surrogate key": {"\\ud800": 1},
            "number key": {1: 2},
            "time": {"n": datetime.time()},
            "itself": LOOP,
            "deep": DEEP,
        }

        def give(kind):
            if kind == "raises":
                raise RuntimeError("SECRET in /etc/secret")
            return VALUES[kind]
    """,
    "manifests/m.yaml": """
        server: {name: requests, version: "1.0"}
        tools:
          echo:
            description: Say a text.
            input: {text: string}
            text: "{{ text }}"
          weather:
            description: Many rules.
            input:
              city: {type: string, minLength: 2}
              days: {type: integer, minimum: 1}
              unit?: {enum: [metric, imperial]}
              tags?: {type: array, items: {type: string}}
              place?: {type: object, properties: {zip: {type: string}}, required: [zip]}
              password?: {type: string, writeOnly: true, pattern: "^[a-z]+$"}
              pin?: {type: integer, writeOnly: true}
              keys?: {type: object, writeOnly: true, additionalProperties: {type: integer}}
            text: "{{ city }} {{ days }}"
          shaped:
            description: Gives something that should fit.
            input: {kind: string}
            output: {n: integer}
            python: gives:give
          anything:
            description: Gives something.
            input: {kind: string}
            python: gives:give
          asks:
            description: Asks first.
            ask: {sure: Sure?}
            text: done
        prompts:
          review:
            description: Review something.
            arguments:
              language: {enum: [python, ruby, rust]}
              files?: {type: array, items: {type: string}}
              deep?: boolean
              depth?: {complete: {text: "{{ language }} 1\\n{{ language }} 2", result: lines}}
            messages:
              - user: "{{ language }}{% for f in files %} {{ f }}{% endfor %}{% if deep %} deeply{% endif %}"
          given:
            description: Whatever a callable gives.
            arguments: {kind: string}
            python: gives:give
        resources:
          note: {uri: "text://note", text: A note.}
          part:
            uriTemplate: "text://part/{number}"
            arguments:
              number:
                type: integer
                maximum: 150
                complete: {text: "{% for n in range(150) %}{{ n }}\\n{% endfor %}", result: lines}
            text: "part {{ number }}"
          given: {uriTemplate: "given://{kind}", arguments: {kind: string}, python: "gives:give"}
    """,
}
PROMPT, PART = {"type": "ref/prompt", "name": "review"}, {"type": "ref/resource", "uri": "text://part/{number}"}


@pytest.fixture(autouse=True)
def goes_on(served: Server) -> Iterator[None]:
    """The server stays up, and has said all that it had to say."""
    yield
    sent = wire.message("tools/call", {"name": "echo", "arguments": {"text": "still here"}}, id="after")
    _, answer = said(served, sent)
    assert answer["id"] == "after", answer
    assert answer["result"]["content"][0]["text"] == "still here"


def said(served: Server, sent: wire.Message | bytes) -> tuple[int | None, wire.Message]:
    """The HTTP status, if there is one, and the one message that answers."""
    body = json.dumps(sent).encode() if isinstance(sent, dict) else sent
    if isinstance(served, wire.HttpServer):
        answer = served.send(body, headers(body))
        return answer.status, answer.json
    served.send(body + b"\n")
    return None, served.message()


def headers(body: bytes) -> dict[str, str | None]:
    """The headers of whatever is sent, as far as it can be read."""
    try:
        data = json.loads(body.removeprefix(b"\xef\xbb\xbf"))
        params = data.get("params")
        whole = isinstance(params, dict) and isinstance(params.get("_meta", {}), dict)
        return {**wire.headers_of(data if whole else {**data, "params": {}})}
    except (ValueError, AttributeError, RecursionError):
        return {}


def refused(served: Server, sent: wire.Message | bytes, code: int, *statuses: int, id: Any = None) -> wire.Message:
    """The error that something gets, under an id or without one."""
    status, answer = said(served, sent)
    assert status is None or status in statuses, (status, answer)
    assert answer.get("error", {}).get("code") == code, answer
    assert answer.get("id") == id, answer
    assert "Traceback" not in json.dumps(answer)
    found: wire.Message = answer["error"]
    return found


def text_of(served: Server, tool: str, **arguments: Any) -> tuple[str, bool]:
    """The text of a tool result, and whether it is an error."""
    answer = served.call(tool, arguments)
    return answer.text, answer.result.get("isError", False)


# --- what does not exist -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "nope", "arguments": {}}),
        ("tools/call", {"name": "Echo", "arguments": {"text": ""}}),
        ("tools/call", {"name": "\x1b[2J\n" * 2_000}),
        ("prompts/get", {"name": "nope"}),
        ("resources/read", {"uri": "text://nope"}),
        ("resources/read", {"uri": "text://part/many"}),
        ("resources/read", {"uri": "text://part/151"}),
        ("resources/read", {"uri": ""}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "nope"}, "argument": {"name": "a", "value": ""}},
        ),
        (
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": "a://b"}, "argument": {"name": "a", "value": ""}},
        ),
    ],
)
def test_what_is_unknown_is_named(served: Server, method: str, params: dict[str, Any]) -> None:
    error = refused(served, wire.message(method, params, id="u"), PARAMS, 200, id="u")
    assert "nknown" in error["message"]
    assert len(error["message"]) < 2_000
    assert error["message"].isprintable()


REMOVED = [
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
    "logging/setLevel",
    "roots/list",
    "sampling/createMessage",
    "elicitation/create",
    "tasks/get",
    "notifications/initialized",
    "notifications/cancelled",
    "rpc.discover",
    "tools/run",
    "Tools/List",
    "tools/list/",
    "",
]


@pytest.mark.parametrize("method", REMOVED)
def test_H10_unknown_and_removed_methods(served: Server, method: str) -> None:
    error = refused(served, wire.message(method, id=7), NO_METHOD, 404, id=7)
    assert error["message"].endswith(method)


def test_D09_an_older_client_learns_which_version_is_served(served: Server) -> None:
    older = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    sent = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": older}
    error = refused(served, sent, UNSUPPORTED, 400, id=0)
    assert wire.VERSION in error["message"]
    assert error["data"] == {"supported": [wire.VERSION], "requested": "2025-11-25"}
    notified(served, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    refused(served, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, PARAMS, 400, id=1)
    refused(served, {"jsonrpc": "2.0", "id": 2, "method": "ping"}, PARAMS, 400, id=2)
    for params in ({}, {"protocolVersion": wire.VERSION}, {"protocolVersion": 3}):
        _, answer = said(served, {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": params})
        assert wire.VERSION in answer["error"]["message"]
    assert wire.VERSION in refused(served, wire.message("initialize", older, id=4), NO_METHOD, 404, id=4)["message"]


# --- the envelope ------------------------------------------------------------------------------------------------


def asked(method: str, params: dict[str, Any]) -> wire.Message:
    return wire.message(method, params, id="mine")


def changed(**change: Any) -> wire.Message:
    """A request of which something is wrong. ``...`` leaves a member out."""
    given = {**asked("tools/list", {}), **change}
    return {key: value for key, value in given.items() if value is not ...}


def meta(**change: Any) -> wire.Message:
    """A request of which something in ``_meta`` is wrong."""
    whole = changed()
    fields = {
        **whole["params"]["_meta"],
        **{key if key == "progressToken" else wire.META + key: value for key, value in change.items()},
    }
    whole["params"]["_meta"] = {key: value for key, value in fields.items() if value is not ...}
    return whole


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (changed(jsonrpc=...), INVALID),
        (changed(jsonrpc="1.0"), INVALID),
        (changed(jsonrpc=2.0), INVALID),
        (changed(method=...), INVALID),
        (changed(method=None), INVALID),
        (changed(method=["tools/list"]), INVALID),
        (changed(params=...), PARAMS),
        (changed(params=None), PARAMS),
        (changed(params=[]), PARAMS),
        (changed(params="x"), PARAMS),
        (changed(params={}), PARAMS),
        (changed(params={"_meta": None}), PARAMS),
        (changed(params={"_meta": []}), PARAMS),
        (changed(params={"_meta": {}}), PARAMS),
        (meta(protocolVersion=...), PARAMS),
        (meta(protocolVersion=20260728), PARAMS),
        (meta(clientCapabilities=...), PARAMS),
        (meta(clientCapabilities=None), PARAMS),
        (meta(clientCapabilities=[]), PARAMS),
        (meta(clientCapabilities={"elicitation": True}), PARAMS),
        (meta(clientCapabilities={"roots": []}), PARAMS),
        (meta(clientInfo="me"), PARAMS),
        (meta(logLevel="loud"), PARAMS),
        (meta(logLevel=["info"]), PARAMS),
        (meta(progressToken=1.5), PARAMS),
        (meta(progressToken=True), PARAMS),
        (meta(progressToken={}), PARAMS),
        (asked("tools/call", {}), PARAMS),
        (asked("tools/call", {"name": 1}), PARAMS),
        (asked("tools/call", {"name": None}), PARAMS),
        (asked("tools/call", {"name": "echo", "arguments": []}), PARAMS),
        (asked("tools/call", {"name": "echo", "arguments": "text"}), PARAMS),
        (asked("prompts/get", {"name": {}}), PARAMS),
        (asked("prompts/get", {"name": "review", "arguments": [1]}), PARAMS),
        (asked("resources/read", {"uri": 1}), PARAMS),
        (asked("resources/read", {}), PARAMS),
        (asked("completion/complete", {}), PARAMS),
        (asked("completion/complete", {"ref": {"type": "ref/tool", "name": "echo"}}), PARAMS),
        (asked("completion/complete", {"ref": PROMPT, "argument": "language"}), PARAMS),
        (asked("subscriptions/listen", {}), PARAMS),
        (asked("subscriptions/listen", {"notifications": []}), PARAMS),
        (asked("subscriptions/listen", {"notifications": {"toolsListChanged": "yes"}}), PARAMS),
        (asked("subscriptions/listen", {"notifications": {"resourceSubscriptions": [1]}}), PARAMS),
    ],
)  # fmt: skip
def test_an_error_carries_the_id(served: Server, sent: wire.Message, code: int) -> None:
    error = refused(served, sent, code, 400, id="mine")
    assert error["message"]


def test_an_unsupported_version_names_what_is_supported(served: Server) -> None:
    for version in ("2025-11-25", "2099-01-01", "", "draft", "x" * 2_000):
        error = refused(served, wire.message("tools/list", version=version), UNSUPPORTED, 400, id=1)
        assert error["data"] == {"supported": [wire.VERSION], "requested": version}
        assert len(error["message"]) < 300


def test_a_question_for_a_client_that_cannot_be_asked(served: Server) -> None:
    error = refused(served, wire.message("tools/call", {"name": "asks"}, id="q"), -32021, 400, id="q")
    assert error["data"]["requiredCapabilities"] == {"elicitation": {"form": {}}}


IDS = ["", "a", "ä€😀\n\u2028\u0000", "0", "x" * 256, 0, -1, 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("id", IDS, ids=[repr(id)[:20] for id in IDS])
def test_an_id_comes_back_as_it_was(served: Server, id: str | int) -> None:
    for method, params in (("tools/list", {}), ("tools/call", {"name": "anything", "arguments": {"kind": "good"}})):
        _, answer = said(served, wire.message(method, params, id=id))
        assert (answer["id"], type(answer["id"])) == (id, type(id))
        assert "result" in answer
    refused(served, wire.message("tools/run", id=id), NO_METHOD, 404, id=id)


NO_IDS: list[Any] = [
    None,
    True,
    False,
    1.5,
    1.0,
    1e3,
    [],
    {},
    {"a": 1},
    "x" * 257,
    "x" * 1_000_000,
    2**64,
    -(2**63) - 1,
    10**400,
]


@pytest.mark.parametrize("id", NO_IDS, ids=[repr(id)[:20] for id in NO_IDS])
def test_H09_what_is_no_id_is_not_sent_back(served: Server, id: Any) -> None:
    error = refused(served, {**wire.message("tools/list"), "id": id}, INVALID, 400)
    assert "id" in error["message"]


# --- what is no message ------------------------------------------------------------------------------------------

GOOD = json.dumps(wire.message("tools/call", {"name": "echo", "arguments": {"text": "here"}})).encode()


def spoilt(text: bytes) -> bytes:
    """A good call but for what it says."""
    return GOOD.replace(b'"here"', text)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"}",
        b"null null",
        b"{'jsonrpc': '2.0'}",
        GOOD[:-1],
        GOOD + b"}",
        GOOD + GOOD,
        spoilt(b"NaN"),
        spoilt(b"-Infinity"),
        spoilt(b"1e400"),
        spoilt(b"9" * 5_000),
        spoilt(b"01"),
        spoilt(b'"\\ud800"'),
        spoilt(b'"\\udc00\\ud800"'),
        spoilt(b'"\\x41"'),
        spoilt(b'"\x01"'),
        spoilt(b'"\xff\xfe"'),
        spoilt(b'"\xed\xa0\x80"'),
        spoilt(b'"caf\xe9"'),
        spoilt(b"[" * 20_000 + b"]" * 20_000),
        spoilt(b'{"a":' * 20_000 + b"1" + b"}" * 20_000),
        b"[" * 20_000,
        b"[" * 20_000 + b"]" * 20_000,
        GOOD.decode().encode("utf-16"),
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD,
    ],
    ids=range(26),
)
def test_H09_what_is_no_JSON(served: Server, body: bytes) -> None:
    refused(served, body, PARSE, 400)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"[" + GOOD + b"]",
        b"[" + GOOD + b"," + GOOD + b"]",
        b"1",
        b'"tools/list"',
        b"null",
        b"true",
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
        b'{"jsonrpc":"2.0","result":{}}',
        b"{}",
        b'{"jsonrpc":"2.0","method":5}',
        b'{"method":"notifications/x"}',
    ],
)
def test_H10_batches_responses_and_other_JSON(served: Server, body: bytes) -> None:
    refused(served, body, INVALID, 400)


def test_H09_a_byte_order_mark_is_passed_over(served: Server) -> None:
    assert said(served, b"\xef\xbb\xbf" + GOOD)[1]["result"]["content"][0]["text"] == "here"


def test_H09_of_a_key_that_is_there_twice_the_last_one_counts(served: Server) -> None:
    twice = GOOD.replace(b'"id": 1', b'"id": [], "id": 2').replace(b'"text":', b'"text": 5, "text":')
    _, answer = said(served, twice.replace(b'"method":', b'"method": "tools/run", "method":'))
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (2, "here")


@pytest.mark.parametrize(
    "text", ["", "\x00\n\r\u2028\u2029\x7f", "\U0010ffff😀", "\\ud800", "{{ 7 * 7 }}{% raw %}", "=?base64?dA==?="]
)
def test_a_text_comes_back_as_it_was(served: Server, text: str) -> None:
    assert text_of(served, "echo", text=text) == (text, False)


# --- notifications -----------------------------------------------------------------------------------------------


def notified(served: Server, sent: wire.Message) -> None:
    """Send what gets no answer: 202 and nothing over HTTP; over stdio the next answer comes first."""
    if isinstance(served, wire.HttpServer):
        answer = served.send(json.dumps(sent).encode())
        assert (answer.status, answer.body) == (202, b"")
    else:
        served.send(sent)
        assert said(served, wire.message("server/discover", id="next"))[1]["id"] == "next"


@pytest.mark.parametrize(
    "method", ["notifications/x", "notifications/initialized", "notifications/cancelled", "tools/call", ""]
)
@pytest.mark.parametrize("params", [..., {}, {"requestId": 99}, {"requestId": None, "_meta": {}}, [], None])
def test_H10_notifications_get_nothing(served: Server, method: str, params: Any) -> None:
    sent = {"jsonrpc": "2.0", "method": method, "params": params}
    notified(served, {key: value for key, value in sent.items() if value is not ...})


# --- tools -------------------------------------------------------------------------------------------------------


def test_P12_every_path_that_does_not_fit_is_told_to_the_model(served: Server) -> None:
    text, error = text_of(
        served, "weather", city="", days="three", unit="kelvin", tags=["a", 1], place={}, colour="red"
    )
    assert error
    told = {line.removeprefix("- ").partition(": ")[0] for line in text.splitlines()[1:]}
    assert told == {"city", "days", "unit", "tags.1", "place.zip", "colour"}
    for wanted in ("must be an integer", '"metric", "imperial"', "is missing", "is not known here"):
        assert wanted in text
    text, error = text_of(served, "weather")
    assert (error, "city: is missing" in text, "days: is missing" in text) == (True, True, True)


def test_J08_a_number_sent_as_text_is_told_how_to_send_it(served: Server) -> None:
    text, error = text_of(served, "weather", city="Oslo", days="3")
    assert error
    assert 'send 3, not "3"' in text


def test_P12_no_value_is_repeated(served: Server) -> None:
    secret = {"password": "S3CRET!", "pin": "S3CRET", "keys": {"S3CRET": "S3CRET"}}
    text, error = text_of(served, "weather", city="Oslo", days=1, **secret)
    assert error
    assert {line.partition(":")[0] for line in text.splitlines()[1:]} == {"- password", "- pin", "- keys"}
    assert "S3CRET" not in text
    text, _ = text_of(served, "weather", city="Oslo", days=1, pin="5")
    assert '5"' not in text
    text, _ = text_of(
        served, "weather", city="S3CRET" * 50, days="S3CRET", unit="S3CRET", tags="S3CRET", place=["S3CRET"]
    )
    assert "S3CRET" not in text
    assert "S3CRET" not in served.stderr


MISFITS = [
    "set", "wrong shape", "wrong type", "list", "none", "object", "class", "bytes", "nan", "infinity", "too long",
    "surrogate", "surrogate inside", "surrogate key", "number key", "time", "itself", "deep",
]  # fmt: skip


@pytest.mark.parametrize("kind", MISFITS)
def test_P03_what_does_not_fit_the_output_is_never_sent(served: Server, kind: str) -> None:
    sent = wire.message("tools/call", {"name": "shaped", "arguments": {"kind": kind}}, id=kind)
    error = refused(served, sent, INTERNAL, 200, id=kind)
    incident = error["data"]["incident"]
    assert error["message"] == f"Internal error (incident {incident})"
    served.says(rf"id={incident} .*tools/call shaped")


NO_JSON = ["set", "object", "nan", "too long", "surrogate inside", "surrogate key", "number key", "itself", "deep"]


@pytest.mark.parametrize("kind", NO_JSON)
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "anything", "arguments": {"kind": "KIND"}}),
        ("prompts/get", {"name": "given", "arguments": {"kind": "KIND"}}),
        ("resources/read", {"uri": "given://KIND"}),
    ],
    ids=["tool", "prompt", "resource"],
)
def test_P03_what_has_no_JSON_form_is_never_sent(served: Server, method: str, params: Any, kind: str) -> None:
    name = kind.replace(" ", "%20") if method == "resources/read" else kind
    filled = json.loads(json.dumps(params).replace("KIND", name))
    incident = refused(served, wire.message(method, filled), INTERNAL, 200, id=1)["data"]["incident"]
    served.says(rf"id={incident} .*{method} ")


def test_P03_a_surrogate_in_a_text_is_never_sent(served: Server) -> None:
    ways: list[tuple[str, dict[str, Any]]] = [
        ("tools/call", {"name": "anything", "arguments": {"kind": "surrogate"}}),
        ("prompts/get", {"name": "given", "arguments": {"kind": "surrogate"}}),
        ("resources/read", {"uri": "given://surrogate"}),
    ]
    for method, params in ways:
        incident = refused(served, wire.message(method, params), INTERNAL, 200, id=1)["data"]["incident"]
        served.says(rf"id={incident} .*{method} ")


def test_what_raises_is_an_incident_and_no_more(way: str, tmp_path: Path) -> None:
    with started(way, tmp_path, PROJECT) as server:
        text, error = text_of(server, "shaped", kind="raises")
        assert error
        told = [text]
        ways: list[tuple[str, dict[str, Any]]] = [
            ("prompts/get", {"name": "given", "arguments": {"kind": "raises"}}),
            ("resources/read", {"uri": "given://raises"}),
        ]
        for method, params in ways:
            told.append(refused(server, wire.message(method, params), INTERNAL, 200, id=1)["message"])
        for message in told:
            assert "secret" not in message.lower()
            server.says(f"id={message.partition('incident ')[2].rstrip(')')}")
        assert server.stop() == 0


# --- prompts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, ["language is required"]),
        ({"language": 1}, ["language must be a string"]),
        ({"language": None}, ["language must be a string"]),
        ({"language": "perl"}, ["language", "python"]),
        ({"language": "rust", "files": ["a"]}, ["files must be a string"]),
        ({"language": "rust", "files": "a,b"}, ["files"]),
        ({"language": "rust", "deep": "yes"}, ["deep"]),
        ({"language": "rust", "colour": "red"}, ["colour is not declared"]),
        ({"files": 1, "colour": "red"}, ["colour", "language", "files"]),
    ],
)
def test_R12_prompt_arguments_that_do_not_fit_are_named(served: Server, arguments: Any, names: list[str]) -> None:
    sent = wire.message("prompts/get", {"name": "review", "arguments": arguments}, id="p")
    message = refused(served, sent, PARAMS, 400, id="p")["message"]
    assert [name for name in names if name not in message] == []


def test_R12_prompt_arguments_are_text_for_what_is_declared(served: Server) -> None:
    sent = {"language": "rust", "files": '["a.rs", "b.rs"]', "deep": "true"}
    result = served.request("prompts/get", {"name": "review", "arguments": sent}).result
    assert result["messages"] == [{"role": "user", "content": {"type": "text", "text": "rust a.rs b.rs deeply"}}]
    result = served.request("prompts/get", {"name": "review", "arguments": {**sent, "deep": "false"}}).result
    assert result["messages"][0]["content"]["text"] == "rust a.rs b.rs"


# --- lists, resources, completion --------------------------------------------------------------------------------

CACHED = [
    ("server/discover", {}, "public"),
    ("tools/list", {}, "public"),
    ("prompts/list", {}, "public"),
    ("resources/list", {}, "public"),
    ("resources/templates/list", {}, "public"),
    ("resources/read", {"uri": "text://note"}, "private"),
    ("resources/read", {"uri": "text://part/7"}, "private"),
]


@pytest.mark.parametrize(("method", "params", "scope"), CACHED)
def test_N13_what_may_be_cached_says_so(served: Server, method: str, params: dict[str, Any], scope: str) -> None:
    result = served.request(method, params).result
    assert result["cacheScope"] == scope
    assert isinstance(result["ttlMs"], int)
    assert result["ttlMs"] >= 0
    assert result["resultType"] == "complete"
    assert result["_meta"][wire.META + "serverInfo"] == {"name": "requests", "version": "1.0"}


def test_discover_tells_what_is_served(served: Server) -> None:
    result = served.request("server/discover").result
    assert result["supportedVersions"] == [wire.VERSION]
    assert {"tools", "prompts", "resources", "completions"} <= result["capabilities"].keys()


def test_lists_are_in_order_and_the_same_every_time(served: Server) -> None:
    for method, key, names in [
        ("tools/list", "tools", ["anything", "asks", "echo", "shaped", "weather"]),
        ("prompts/list", "prompts", ["given", "review"]),
        ("resources/list", "resources", ["note"]),
        ("resources/templates/list", "resourceTemplates", ["given", "part"]),
    ]:
        first, again = served.request(method).result, served.request(method, {"cursor": None}).result
        assert [item["name"] for item in first[key]] == names
        assert again == first
        assert "nextCursor" not in first


@pytest.mark.parametrize("cursor", ["junk", "", "1", "dG9vbHM", "=", "\x00", "ä", 1, True, [], {}, "A" * 100_000])
def test_a_cursor_of_another_make_is_refused(served: Server, cursor: Any) -> None:
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        assert "cursor" in refused(served, wire.message(method, {"cursor": cursor}), PARAMS, 400, id=1)["message"]


def test_a_long_list_comes_in_pages(start: Start) -> None:
    tools = "".join(f"          t{n:04}: {{description: One of many., text: x}}\n" for n in range(1_500))
    server = start(
        {"manifests/m.yaml": "        tools:\n" + tools + "        prompts: {p: {messages: [{user: hi}]}}\n"}
    )
    names: list[str] = []
    cursor: dict[str, str] = {}
    hints = set()
    while True:
        page = server.request("tools/list", cursor).result
        names += [tool["name"] for tool in page["tools"]]
        hints.add((page["ttlMs"], page["cacheScope"]))
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert names == [f"t{n:04}" for n in range(1_500)]
    assert len(hints) == 1
    assert cursor
    refused(server, wire.message("prompts/list", cursor), PARAMS, 400, id=1)


def test_resources_are_read(served: Server) -> None:
    note = served.request("resources/read", {"uri": "text://note"}).result
    assert note["contents"] == [{"uri": "text://note", "mimeType": "text/plain", "text": "A note."}]
    part = served.request("resources/read", {"uri": "text://part/7"}).result
    assert (part["contents"][0]["uri"], part["contents"][0]["text"]) == ("text://part/7", "part 7")


def completed(served: Server, ref: Any, name: str, value: str, **context: str) -> wire.Message:
    params: dict[str, Any] = {"ref": ref, "argument": {"name": name, "value": value}}
    if context:
        params["context"] = {"arguments": context}
    found: wire.Message = served.request("completion/complete", params).result["completion"]
    return found


def test_arguments_are_completed(served: Server) -> None:
    assert completed(served, PROMPT, "language", "R") == {"values": ["ruby", "rust"], "total": 2, "hasMore": False}
    assert completed(served, PROMPT, "language", "zzz")["values"] == []
    assert completed(served, PROMPT, "files", "a")["values"] == []
    assert completed(served, PROMPT, "depth", "", language="rust")["values"] == ["rust 1", "rust 2"]
    many = completed(served, PART, "number", "")
    assert (len(many["values"]), many["total"], many["hasMore"]) == (100, 150, True)
    assert completed(served, PART, "number", "14")["values"][0] == "14"


@pytest.mark.parametrize(
    "change",
    [
        {"argument": {"name": "colour", "value": ""}},
        {"argument": {"name": "language"}},
        {"argument": {"name": "language", "value": 1}},
        {"context": {"arguments": {"language": 1}}, "argument": {"name": "depth", "value": ""}},
        {"context": {"arguments": []}},
        {"context": 5},
        {"ref": {"type": "ref/prompt"}},
        {"ref": None},
    ],
)
def test_what_cannot_be_completed_is_told(served: Server, change: dict[str, Any]) -> None:
    params = {"ref": PROMPT, "argument": {"name": "language", "value": ""}, **change}
    refused(served, wire.message("completion/complete", params, id="c"), PARAMS, 400, id="c")
