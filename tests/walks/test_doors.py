"""What a client, a proxy, a browser or an attacker meets at the door of a server over HTTP.

No answer is ever a 500 or a redirect; after each test the server answers a plain call.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks.conftest import ended, project, started

MISMATCH, INVALID = -32020, -32600
LONG = 4 * 1024 * 1024

PROJECT = {
    "work.py": """
        import asyncio
        from pathlib import Path

        async def step(gate):
            yield 1, 2, "begun"
            while not Path(gate).exists():
                await asyncio.sleep(0.01)
            yield "done"
    """,
    "manifests/m.yaml": """
        server: {name: doors}
        tools:
          echo:
            description: Say a text.
            input: {text: string}
            text: "{{ text }}"
          step:
            description: Goes on when a file is there.
            input: {gate: string}
            python: work:step
          routed:
            description: Repeats its arguments in headers.
            input:
              region?: {type: string, x-mcp-header: Region}
              number?: {type: integer, x-mcp-header: Number}
              dry?: {type: boolean, x-mcp-header: Dry-Run}
              place?: {type: object, properties: {zip: {type: string, x-mcp-header: Zip}}}
            text: "{{ region }}/{{ number }}/{{ dry }}"
        prompts:
          greet: {messages: [{user: hello}]}
        resources:
          note: {uri: "text://note/1", text: A note.}
    """,
}


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wire.HttpServer]:
    with started("http", tmp_path_factory.mktemp("door"), PROJECT) as server:
        yield server
        ended(server)


@pytest.fixture(autouse=True)
def goes_on(door: wire.HttpServer) -> Iterator[None]:
    """The server stays up."""
    yield
    assert door.call("echo", {"text": "still here"}).text == "still here"


def declared(tmp_path: Path, **server: Any) -> wire.HttpServer:
    """A server whose manifest says more about itself."""
    files = {"manifests/m.yaml": PROJECT["manifests/m.yaml"].replace("{name: doors}", json.dumps(server))}
    return wire.http(project(tmp_path, {**PROJECT, **files}), cwd=tmp_path)


def listing(server: wire.HttpServer, headers: Mapping[str, str | None], id: str = "list") -> wire.Answer:
    return server.request("tools/list", id=id, headers=headers)


def raw(server: wire.HttpServer, sent: bytes) -> bytes:
    """All that a server says to some bytes until it hangs up."""
    with wire.raw(server) as sock:
        sock.sendall(sent)
        heard = b""
        while part := sock.recv(65536):
            heard += part
    return heard


def posted(body: bytes, *lines: bytes) -> bytes:
    """A listing of tools as bytes; ``lines`` stand for the length of the body."""
    head = [
        b"POST /mcp HTTP/1.1",
        b"Host: localhost",
        b"Content-Type: application/json",
        b"MCP-Protocol-Version: 2026-07-28",
        b"Mcp-Method: tools/list",
        b"Connection: close",
        *lines,
    ]
    return b"\r\n".join((*head, b"", body))


LIST = json.dumps(wire.message("tools/list")).encode()


# --- paths -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp?from=here", "/%6dcp"])
def test_H01_the_endpoint_is_served_directly(door: wire.HttpServer, path: str) -> None:
    assert door.send(wire.message("tools/list"), path=path).status == 200


@pytest.mark.parametrize("path", ["//mcp", "/mcp//", "/mcp/x", "/", "/MCP", "/x/../mcp", "/%ff%00", "/*"])
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
def test_H01_everything_else_is_404_and_nothing_redirects(door: wire.HttpServer, path: str, method: str) -> None:
    answer = door.send(b"" if method == "GET" else LIST, method=method, path=path)
    assert answer.status == 404
    assert "Location" not in answer.headers


@pytest.mark.parametrize(("path", "others"), [("/api/mcp/", ["/mcp", "/api"]), ("/", ["/mcp", "//"])])
def test_H01_another_path_is_served_in_both_forms(tmp_path: Path, path: str, others: list[str]) -> None:
    with wire.http(project(tmp_path, PROJECT), "--path", path, cwd=tmp_path) as server:
        for form in {path, path.rstrip("/") or "/"}:
            assert server.send(wire.message("tools/list"), path=form).status == 200
        for other in others:
            assert server.send(wire.message("tools/list"), path=other).status == 404
        assert server.send(b"", method="GET", path="/healthz").status == 200


# --- streams -----------------------------------------------------------------------------------------------------


def test_H03_what_a_proxy_must_know_of_a_stream(door: wire.HttpServer, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    call = {"name": "step", "arguments": {"gate": str(gate)}}
    squeezing = {"Accept-Encoding": "gzip, br, zstd"}
    with (
        door.stream("tools/call", call, progress="p", headers=squeezing) as calling,
        door.stream("subscriptions/listen", {"notifications": {}}, headers=squeezing) as listening,
    ):
        for stream in (calling, listening):
            headers = stream.response.headers
            assert headers["Content-Type"] == "text/event-stream"
            assert headers["X-Accel-Buffering"] == "no"
            assert {"no-store", "no-transform"} <= set(headers["Cache-Control"].split(", "))
            assert "Content-Encoding" not in headers
            assert "Content-Length" not in headers
        # Each event is sent when it happens: the call ends only after its first one was read.
        assert calling.message()["params"]["progress"] == 1
        gate.touch()
        assert calling.rest()[-1]["result"]["content"][0]["text"] == "done"


# --- Host and Origin ---------------------------------------------------------------------------------------------

LOOPBACK = [
    "localhost",
    "LocalHost:1",
    "localhost.",
    "localhost.:8000",
    "127.0.0.1",
    "127.0.0.1:9",
    "[::1]",
    "[::1]:80",
]
STRANGERS = [
    "box:8000",
    "evil.test",
    "localhost.evil.test",
    "127.0.0.1.evil.test",
    "localhost:x",
    "a@localhost",
    "[::2]",
]


@pytest.mark.parametrize("host", LOOPBACK)
def test_H04_this_machine_by_any_of_its_names(door: wire.HttpServer, host: str) -> None:
    assert listing(door, {"Host": host}).status == 200


@pytest.mark.parametrize("host", STRANGERS)
def test_H04_another_host_is_refused_and_the_setting_named(door: wire.HttpServer, host: str) -> None:
    answer = listing(door, {"Host": host})
    assert (answer.status, answer.error["code"]) == (421, INVALID)
    assert host in answer.error["message"]
    assert "server.hosts" in answer.error["message"]


def test_H04_a_host_of_great_length_is_not_sent_back(door: wire.HttpServer) -> None:
    assert len(listing(door, {"Host": "x" * 10_000}).body) < 1_000
    assert len(listing(door, {"Origin": "x" * 10_000}).body) < 1_000


def test_H04_no_host_and_two_of_them(door: wire.HttpServer) -> None:
    for hosts in (b"", b"Host: localhost\r\nHost: localhost\r\n", b"Host:\r\n"):
        sent = posted(LIST, b"Content-Length: %d" % len(LIST)).replace(b"Host: localhost\r\n", hosts)
        assert raw(door, sent).startswith(b"HTTP/1.1 421 ")


def test_H04_hosts_that_are_declared(tmp_path: Path) -> None:
    with declared(tmp_path, hosts=["mcp.x.test", "only.test:8443"]) as server:
        for host in ("mcp.x.test", "MCP.X.test:1", "mcp.x.test.:80", "only.test:8443", "localhost:1"):
            assert listing(server, {"Host": host}).status == 200, host
        for host in ("x.test", "a.mcp.x.test", "only.test", "only.test:443"):
            assert listing(server, {"Host": host}).status == 421, host


@pytest.mark.parametrize("origin", ["http://localhost:5173", "http://127.0.0.1:1", "https://[::1]"])
def test_a_page_of_this_machine_may_call_but_not_read(door: wire.HttpServer, origin: str) -> None:
    answer = listing(door, {"Origin": origin})
    assert answer.status == 200
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("origin", ["https://evil.test", "null", "", "http://localhost.evil.test", "file://localhost"])
def test_a_foreign_page_is_refused(door: wire.HttpServer, origin: str) -> None:
    for answer in (listing(door, {"Origin": origin}), door.send(b"", {"Origin": origin}, method="OPTIONS")):
        assert answer.status == 403
        assert "server.origins" in answer.error["message"]
        assert "id" not in answer.json
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_a_page_that_is_declared_may_ask_and_read(tmp_path: Path) -> None:
    page = {"Origin": "https://app.test"}
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "mcp-method,mcp-param-region"}
    with declared(tmp_path, origins=["https://app.test"]) as server:
        first = server.send(b"", {**page, **wanted}, method="OPTIONS")
        assert (first.status, first.body) == (204, b"")
        assert first.headers["Access-Control-Allow-Origin"] == "https://app.test"
        assert first.headers["Access-Control-Allow-Methods"] == "POST"
        assert first.headers["Access-Control-Allow-Headers"] == wanted["Access-Control-Request-Headers"]
        for answer in (
            listing(server, page),
            server.request("tools/run", headers=page),
            server.send(b"{", page),
            listing(server, {**page, "Accept": "text/html"}),
            server.request("subscriptions/listen", headers=page),
        ):
            assert answer.headers["Access-Control-Allow-Origin"] == "https://app.test", answer.status
            assert answer.headers["Vary"] == "Origin"
        with server.stream("subscriptions/listen", {"notifications": {}}, headers=page) as stream:
            assert stream.response.headers["Access-Control-Allow-Origin"] == "https://app.test"
        assert listing(server, {"Origin": "https://app.test.evil.test"}).status == 403


# --- Accept and Content-Type -------------------------------------------------------------------------------------

BOTH = [
    None,
    "",
    "*/*",
    "application/json, text/event-stream",
    "APPLICATION/JSON;q=0.9,*/*;q=0.1",
    "text/html, */*;q=0.8",
]


@pytest.mark.parametrize("accept", [*BOTH, "application/json", "application/*;q=0.5", "application/json;charset=utf-8"])
def test_H07_whoever_takes_JSON_gets_it(door: wire.HttpServer, accept: str | None) -> None:
    answer = listing(door, {"Accept": accept})
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.result["tools"]


@pytest.mark.parametrize("accept", ["text/event-stream", "text/*", "application/json;q=0, text/event-stream"])
def test_H07_whoever_takes_streams_alone_gets_one(door: wire.HttpServer, accept: str) -> None:
    answer = listing(door, {"Accept": accept})
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    assert answer.result["tools"]


@pytest.mark.parametrize("accept", ["text/html", "image/*", "application/xml", "*/*;q=0", "application/json;q=0.0"])
def test_H07_whoever_takes_neither_is_told_what_there_is(door: wire.HttpServer, accept: str) -> None:
    answer = listing(door, {"Accept": accept})
    assert answer.status == 406
    assert "application/json" in answer.error["message"]
    assert "text/event-stream" in answer.error["message"]


def test_H07_a_subscription_needs_a_stream(door: wire.HttpServer) -> None:
    listen = {"notifications": {"toolsListChanged": True}}
    for json_alone in ("application/json", "application/*"):
        answer = door.request("subscriptions/listen", listen, headers={"Accept": json_alone})
        assert answer.status == 406
        assert "text/event-stream" in answer.error["message"]
    for accept in (None, "*/*", "text/event-stream"):
        with door.stream("subscriptions/listen", listen, headers={"Accept": accept}) as stream:
            assert stream.message()["method"] == "notifications/subscriptions/acknowledged"


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/jsonp", "application/x-www-form-urlencoded", "json"]
)
def test_H09_a_body_that_is_said_to_be_something_else(door: wire.HttpServer, kind: str | None) -> None:
    answer = listing(door, {"Content-Type": kind})
    assert answer.status == 415
    assert "application/json" in answer.error["message"]


@pytest.mark.parametrize("kind", ["application/json;charset=utf-8", "Application/JSON ; charset=UTF-8"])
def test_H09_a_body_that_is_said_to_be_JSON(door: wire.HttpServer, kind: str) -> None:
    assert listing(door, {"Content-Type": kind}).status == 200


# --- what headers repeat -----------------------------------------------------------------------------------------


def coded(value: str) -> str:
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


CALL = wire.message("tools/call", {"name": "echo", "arguments": {"text": "x"}}, id="h")
READ = wire.message("resources/read", {"uri": "text://note/1"}, id="h")
FOREIGN = wire.message("tools/call", {"name": "größe"}, id="h")
NAMELESS = wire.message("prompts/get", {}, id="h")


@pytest.mark.parametrize(
    ("sent", "headers"),
    [
        (CALL, {"Mcp-Name": "other"}),
        (CALL, {"Mcp-Name": "Echo"}),
        (CALL, {"Mcp-Name": ""}),
        (CALL, {"Mcp-Name": None}),
        (CALL, {"Mcp-Name": coded("other")}),
        (CALL, {"Mcp-Name": "=?base64?!!!?="}),
        (CALL, {"Mcp-Name": "=?base64?/w==?="}),
        (CALL, {"Mcp-Name": "=?BASE64?ZWNobw==?="}),
        (CALL, {"Mcp-Name": "ech\xf6"}),
        (CALL, {"Mcp-Method": "tools/list"}),
        (CALL, {"Mcp-Method": "TOOLS/CALL"}),
        (CALL, {"Mcp-Method": coded("tools/call")}),
        (CALL, {"Mcp-Method": None}),
        (CALL, {"MCP-Protocol-Version": "2025-11-25"}),
        (CALL, {"MCP-Protocol-Version": ""}),
        (CALL, {"MCP-Protocol-Version": None}),
        (READ, {"Mcp-Name": "text://note/2"}),
        (READ, {"Mcp-Name": coded("text://note/2")}),
        (FOREIGN, {"Mcp-Name": "größe"}),
        (FOREIGN, {"Mcp-Name": "größe".encode().decode("latin-1")}),
        (NAMELESS, {"Mcp-Name": "x"}),
        (wire.message("tools/run", id="h"), {"Mcp-Method": "tools/list"}),
    ],
)
def test_H08_headers_that_disagree(door: wire.HttpServer, sent: wire.Message, headers: dict[str, str | None]) -> None:
    answer = door.send(sent, headers)
    assert (answer.status, answer.error["code"], answer.json["id"]) == (400, MISMATCH, "h")
    (name,) = headers
    assert name in answer.error["message"]


@pytest.mark.parametrize(
    ("sent", "headers"),
    [
        (CALL, {"Mcp-Name": "=?base64?ZWNobw==?="}),
        (CALL, {"Mcp-Name": None, "mcp-name": "echo"}),
        (CALL, {"Mcp-Method": None, "MCP-METHOD": "tools/call"}),
        (CALL, {"Mcp-Name": "  echo\t"}),
        (CALL, {"Mcp-Session-Id": "1", "Last-Event-ID": "7", "Mcp-Param-Region": "of no tool"}),
        (READ, {}),
        (READ, {"Mcp-Name": coded("text://note/1")}),
        (wire.message("tools/list"), {"Mcp-Name": "that nobody asks for"}),
    ],
)
def test_H08_headers_that_agree(door: wire.HttpServer, sent: wire.Message, headers: dict[str, str | None]) -> None:
    answer = door.send(sent, headers)
    assert answer.status == 200
    assert "Mcp-Session-Id" not in answer.headers
    assert answer.result


def test_H08_a_name_that_no_header_can_carry_is_compared_decoded(door: wire.HttpServer) -> None:
    answer = door.send(FOREIGN, {"Mcp-Name": coded("größe")})
    assert (answer.status, answer.error["code"], answer.json["id"]) == (200, -32602, "h")
    assert "größe" in answer.error["message"]


def test_H08_a_version_that_headers_and_body_agree_on(door: wire.HttpServer) -> None:
    answer = door.request("tools/list", version="2025-11-25", id="v")
    assert (answer.status, answer.error["code"], answer.json["id"]) == (400, -32022, "v")
    assert answer.error["data"]["supported"] == [wire.VERSION]


def routed(door: wire.HttpServer, arguments: Mapping[str, Any], **params: str | None) -> wire.Answer:
    headers = {f"Mcp-Param-{name.replace('_', '-')}": value for name, value in params.items()}
    return door.call("routed", arguments, headers=headers, id="r")


@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        ({}, {}),
        ({"region": "eu"}, {"Region": "eu"}),
        ({"region": "eu"}, {"REGION": "eu"}),
        ({"region": "eu"}, {"Region": coded("eu")}),
        ({"region": "Åland 🌍\n"}, {"Region": coded("Åland 🌍\n")}),
        ({"region": " padded "}, {"Region": coded(" padded ")}),
        ({"region": coded("x")}, {"Region": coded(coded("x"))}),
        ({"region": ""}, {"Region": ""}),
        ({"number": 42}, {"Number": "42"}),
        ({"number": 42}, {"Number": "42.0"}),
        ({"number": -7}, {"Number": coded("-7")}),
        ({"number": 2**53 - 1}, {"Number": str(2**53 - 1)}),
        ({"dry": True}, {"Dry_Run": "true"}),
        ({"dry": False, "number": 0}, {"Dry_Run": "false", "Number": "0"}),
        ({"place": {"zip": "0123"}}, {"Zip": "0123"}),
    ],
)
def test_H08_arguments_that_headers_repeat(door: wire.HttpServer, arguments: Any, params: dict[str, str]) -> None:
    answer = routed(door, arguments, **params)
    assert answer.status == 200
    assert not answer.result.get("isError"), answer.text


@pytest.mark.parametrize(
    ("arguments", "params", "name"),
    [
        ({"region": "eu"}, {}, "Region"),
        ({"region": "eu"}, {"Region": "us"}, "Region"),
        ({"region": "eu"}, {"Region": "EU"}, "Region"),
        ({"region": "eu"}, {"Region": coded("us")}, "Region"),
        ({"region": "eu"}, {"Region": "=?base64?ZXU?="}, "Region"),
        ({"region": "é"}, {"Region": "\xe9"}, "Region"),
        ({}, {"Region": "eu"}, "Region"),
        ({}, {"Region": ""}, "Region"),
        ({"number": 42}, {}, "Number"),
        ({"number": 42}, {"Number": "43"}, "Number"),
        ({"number": 42}, {"Number": "forty-two"}, "Number"),
        ({"number": 2**53 + 1}, {"Number": str(2**53)}, "Number"),
        ({"number": 10**500}, {"Number": "forty-two"}, "Number"),
        ({"dry": True}, {"Dry_Run": "True"}, "Dry-Run"),
        ({"dry": True}, {"Dry_Run": "1"}, "Dry-Run"),
        ({"place": {"zip": "0123"}}, {"Zip": "123"}, "Zip"),
        ({"place": {"zip": "0123"}}, {}, "Zip"),
    ],
)
def test_H08_arguments_that_headers_repeat_wrongly(
    door: wire.HttpServer, arguments: Any, params: dict[str, str], name: str
) -> None:
    answer = routed(door, arguments, **params)
    assert (answer.status, answer.error["code"], answer.json["id"]) == (400, MISMATCH, "r")
    assert f"Mcp-Param-{name}" in answer.error["message"]


# --- bodies and verbs --------------------------------------------------------------------------------------------


def test_H09_a_body_that_is_too_long(door: wire.HttpServer) -> None:
    for answer in (door.send(b" " * (LONG + 1)), door.call("echo", {"text": "x" * LONG})):
        assert (answer.status, answer.error["code"]) == (413, INVALID)
        assert "4 MiB" in answer.error["message"]
    assert door.send(LIST + b" " * (LONG - len(LIST)), wire.headers_of(wire.message("tools/list"))).status == 200


@pytest.mark.parametrize(
    "length",
    [b"-5", b"abc", b"+5", b"5, 5", b"0x10", b"9" * 30, b"5\r\nContent-Length: 6", b"5\r\nTransfer-Encoding: chunked"],
)
def test_H09_a_length_that_is_none(door: wire.HttpServer, length: bytes) -> None:
    assert raw(door, posted(LIST, b"Content-Length: " + length)).startswith(b"HTTP/1.1 400 ")


def test_H09_a_length_with_thousands_of_zeros(door: wire.HttpServer) -> None:
    zeros = b"0" * 10_000
    assert raw(door, posted(LIST, b"Content-Length: %s%d" % (zeros, len(LIST)))).startswith(b"HTTP/1.1 200 ")
    assert raw(door, posted(LIST, b"Content-Length: %s%d" % (zeros, LONG + 1))).startswith(b"HTTP/1.1 413 ")


def test_H09_a_length_that_is_too_short(door: wire.HttpServer) -> None:
    heard = raw(door, posted(LIST, b"Content-Length: %d" % (len(LIST) - 1)))
    assert heard.startswith(b"HTTP/1.1 400 ")
    assert b"-32700" in heard


def test_H09_a_client_that_leaves_in_the_middle_of_a_body(door: wire.HttpServer) -> None:
    with wire.raw(door) as sock:
        sock.sendall(posted(LIST, b"Content-Length: %d" % (len(LIST) + 1)))


@pytest.mark.parametrize("chunks", [b"zz\r\n", b"-1\r\n", b"5\r\nhello world", b"ffffffffffffffffff\r\n"])
def test_H09_chunks_that_are_none(door: wire.HttpServer, chunks: bytes) -> None:
    assert raw(door, posted(chunks, b"Transfer-Encoding: chunked")).startswith(b"HTTP/1.1 400 ")


def test_H09_a_body_in_chunks(door: wire.HttpServer) -> None:
    chunks = b"".join(b"1;note=x\r\n%c\r\n" % byte for byte in LIST) + b"0\r\n\r\n"
    assert raw(door, posted(chunks, b"Transfer-Encoding: chunked")).startswith(b"HTTP/1.1 200 ")


def test_H09_a_head_that_is_too_long(door: wire.HttpServer) -> None:
    for many, size in ((1, 70_000), (1_000, 100)):
        lines = [b"X-%d: %s" % (n, b"x" * size) for n in range(many)]
        assert b" 431 " in raw(door, posted(LIST, *lines, b"Content-Length: %d" % len(LIST)))


def test_H09_a_client_that_asks_first_whether_to_go_on(door: wire.HttpServer) -> None:
    heard = raw(door, posted(LIST, b"Expect: 100-continue", b"Content-Length: %d" % len(LIST)))
    assert heard.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "TRACE"])
@pytest.mark.parametrize("body", [b"", LIST], ids=["empty", "full"])
def test_H10_other_verbs(door: wire.HttpServer, method: str, body: bytes) -> None:
    answer = door.send(body, {"Mcp-Session-Id": "1", "Accept": "text/event-stream"}, method=method)
    assert answer.status == 405
    assert answer.headers["Allow"] == "POST, OPTIONS"
    assert answer.headers["Content-Type"] == "application/json"
    assert (answer.body == b"") == (method == "HEAD")


def test_H10_OPTIONS_says_what_is_allowed(door: wire.HttpServer) -> None:
    answer = door.send(b"", method="OPTIONS")
    assert (answer.status, answer.headers["Allow"], answer.body) == (204, "POST, OPTIONS", b"")


@pytest.mark.parametrize("accept", [None, "application/json", "text/event-stream"])
def test_H10_a_notification_needs_no_headers_and_gets_no_body(door: wire.HttpServer, accept: str | None) -> None:
    for method in ("notifications/x", "notifications/cancelled", "notifications/initialized"):
        sent = json.dumps({"jsonrpc": "2.0", "method": method, "params": {"requestId": 1}}).encode()
        answer = door.send(sent, {"Accept": accept})
        assert (answer.status, answer.body, answer.headers["Content-Length"]) == (202, b"", "0")
