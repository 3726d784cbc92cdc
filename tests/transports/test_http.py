from __future__ import annotations

import json
import threading
import time

import pytest

from tests import wire
from tests.transports.conftest import MADE


def test_a_call_is_answered_with_json(made: wire.HttpServer) -> None:
    answer = made.call("echo", {"text": "grüß dich"})
    assert (answer.status, answer.text) == (200, "grüß dich")
    assert answer.headers["Content-Type"] == "application/json"
    assert made.call("turn").text == "done without waiting"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_H01_both_forms_of_the_path_are_served_directly(made: wire.HttpServer, path: str) -> None:
    assert made.send(wire.message("tools/list"), path=path).status == 200


@pytest.mark.parametrize("path", ["//mcp", "/mcp//", "/", "/MCP", "/healthz/", "/mcp/x"])
def test_H01_nothing_redirects(made: wire.HttpServer, path: str) -> None:
    assert made.send(wire.message("tools/list"), path=path).status == 404


def test_health_and_readiness(made: wire.HttpServer) -> None:
    assert made.send(b"", method="GET", path="/healthz").status == 200
    ready = made.send(b"", method="GET", path="/readyz")
    assert (ready.status, json.loads(ready.body)["ready"]) == (200, True)


def test_progress_and_logs_open_a_stream(made: wire.HttpServer) -> None:
    answer = made.call("steps", {"count": 3}, progress="p", log="info")
    assert answer.streamed
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert "no-transform" in answer.headers["Cache-Control"]
    rising = [m["params"]["progress"] for m in answer.messages if m.get("method") == "notifications/progress"]
    assert rising == sorted(set(rising)) == [1, 2, 3]
    logged = [m["params"]["data"] for m in answer.messages if m.get("method") == "notifications/message"]
    assert logged == [{"step": 1}, {"step": 2}, {"step": 3}]
    assert answer.text == "all steps"
    assert all(line == "" or line.startswith(("data: {", ":")) for line in answer.body.decode().split("\n"))


def test_nobody_who_did_not_ask_is_told_of_progress(made: wire.HttpServer) -> None:
    answer = made.call("steps", {"count": 2})
    assert not answer.streamed
    assert answer.text == "all steps"


def test_H07_only_json_accepted_means_json(made: wire.HttpServer) -> None:
    answer = made.call("steps", progress=1, headers={"Accept": "application/json"})
    assert not answer.streamed
    assert answer.text == "all steps"


def test_H07_only_streams_accepted_means_a_stream(made: wire.HttpServer) -> None:
    answer = made.call("echo", headers={"Accept": "text/event-stream"})
    assert answer.streamed
    assert answer.text == "hello"


def test_H07_listen_needs_a_stream_and_says_so(made: wire.HttpServer) -> None:
    answer = made.request("subscriptions/listen", {"notifications": {}}, headers={"Accept": "application/json"})
    assert answer.status == 406
    assert "text/event-stream" in answer.error["message"]


def test_a_slow_call_opens_a_stream_after_a_while() -> None:
    with wire.http(argv=MADE, env={"MADE_SETTINGS": json.dumps({"stream_after": 0.2})}) as server:
        with server.stream("tools/call", {"name": "slow", "arguments": {"seconds": 1}}) as stream:
            assert stream.message()["result"]["content"][0]["text"] == "slept slow"
            assert stream.comments >= 1


def test_H08_a_duplicated_header_is_joined(made: wire.HttpServer) -> None:
    body = json.dumps(wire.message("tools/list")).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"MCP-Protocol-Version: {wire.VERSION}\r\nMcp-Method: tools/list\r\nMcp-Method: tools/list\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with wire.raw(made) as sock:
        sock.sendall(head.encode() + body)
        assert sock.recv(65536).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, -32700),
        (b"{", 400, -32700),
        (b"[" * 20_000, 400, -32700),
        (b'{"a":' * 500 + b"1" + b"}" * 500, 400, -32700),
        (b"[]", 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}', 400, -32600),
        (b'{"a":NaN}', 400, -32700),
        (b'"\xff\xfe"', 400, -32700),
        (b'{"a":"\\ud800"}', 400, -32700),
    ],
)
def test_H09_H10_hostile_bodies(made: wire.HttpServer, body: bytes, status: int, code: int) -> None:
    answer = made.send(body)
    assert (answer.status, answer.error["code"]) == (status, code)
    assert made.call("echo").status == 200


def test_H10_a_notification_gets_202_and_no_body(made: wire.HttpServer) -> None:
    answer = made.send(b'{"jsonrpc":"2.0","method":"notifications/x"}')
    assert (answer.status, answer.body) == (202, b"")


def test_H10_an_unknown_method_is_404_with_the_id(made: wire.HttpServer) -> None:
    answer = made.request("tools/run", id="seven")
    assert (answer.status, answer.error["code"], answer.json["id"]) == (404, -32601, "seven")


def test_H09_a_body_is_bounded_also_without_a_length(made: wire.HttpServer) -> None:
    connection = made.connect()
    chunk = b"x" * 65536
    connection.putrequest("POST", "/mcp")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    try:
        for _ in range(80):
            connection.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        connection.send(b"0\r\n\r\n")
    except OSError:
        pass  # the server may have answered and closed by now
    response = connection.getresponse()
    assert response.status == 413
    assert json.loads(response.read())["error"]["code"] == -32600
    connection.close()


def test_H09_a_declared_length_is_refused_unread(made: wire.HttpServer) -> None:
    with wire.raw(made) as sock:
        head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        sock.sendall(head + b"Content-Length: 200000000\r\n\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 413")


def test_H09_a_body_of_4_MiB_is_read(made: wire.HttpServer) -> None:
    assert len(made.call("echo", {"text": "x" * (4 * 1024 * 1024 - 2000)}).text) > 4_000_000


def test_headers_are_bounded(made: wire.HttpServer) -> None:
    with wire.raw(made) as sock:
        sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000 + b"\r\n\r\n")
        assert b" 431 " in sock.recv(65536)


def test_headers_without_end_are_not_held(made: wire.HttpServer) -> None:
    with wire.raw(made) as sock:
        sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ")
        with pytest.raises(OSError):
            for _ in range(2000):
                sock.sendall(b"x" * 65536)
                time.sleep(0.001)


def test_several_requests_on_one_connection(made: wire.HttpServer) -> None:
    connection = made.connect()
    for n in range(5):
        message = wire.message("tools/call", {"name": "turn", "arguments": {}}, id=n)
        connection.request("POST", "/mcp", json.dumps(message), wire.headers_of(message))
        assert json.loads(connection.getresponse().read())["id"] == n
        connection.request("GET", "/mcp")
        assert connection.getresponse().read()
    connection.close()


def test_S09_hanging_up_cancels_a_call_that_waits_for_json(made: wire.HttpServer) -> None:
    connection = made.connect()
    message = wire.message("tools/call", {"name": "slow", "arguments": {"mark": "hang-up"}})
    connection.request("POST", "/mcp", json.dumps(message), wire.headers_of(message))
    made.says("began hang-up")
    connection.close()
    made.says("cancelled hang-up")


def test_S09_hanging_up_cancels_a_call_that_streams(made: wire.HttpServer) -> None:
    arguments = {"name": "steps", "arguments": {"count": 1000, "pause": 0.05}}
    stream = made.stream("tools/call", arguments, progress=1)
    assert stream.message()["method"] == "notifications/progress"
    stream.close()
    assert made.call("echo").status == 200


def test_nobody_cancels_another_connections_request(made: wire.HttpServer) -> None:
    found: list[wire.Answer] = []
    arguments = {"name": "slow", "arguments": {"mark": "mine", "seconds": 1}}
    call = threading.Thread(target=lambda: found.append(made.request("tools/call", arguments, id=77)))
    call.start()
    made.says("began mine")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}
    assert made.send(cancel).status == 202
    call.join(wire.PATIENCE)
    assert found[0].text == "slept mine"


def test_N10_whoever_hears_of_a_change_finds_it() -> None:
    with wire.http(argv=MADE) as server, server.listen(id="L", toolsListChanged=True) as stream:
        for n in range(1, 20):
            server.call("grow")
            heard = stream.message()
            assert heard["method"] == "notifications/tools/list_changed"
            assert heard["params"]["_meta"][wire.META + "subscriptionId"] == "L"
            names = [tool["name"] for tool in server.request("tools/list").result["tools"]]
            assert f"extra{n - 1}" in names


def test_N09_a_change_right_after_the_acknowledgement_is_heard(made: wire.HttpServer) -> None:
    for n in range(20):
        with made.listen(id=n, resourceSubscriptions=["made://note"]) as stream:
            made.call("touch", {"uri": "made://note"})
            assert stream.message()["params"]["uri"] == "made://note"


def test_a_slow_listener_costs_one_value_for_each_key(made: wire.HttpServer) -> None:
    with made.listen(resourceSubscriptions=["made://note", "made://again"]) as stream:
        for _ in range(200):
            made.call("touch", {"uri": "made://note"})
        made.call("touch", {"uri": "made://again"})
        heard = [stream.message()["params"]["uri"]]
        while heard[-1] != "made://again":
            heard.append(stream.message()["params"]["uri"])
        assert set(heard) == {"made://note", "made://again"}


def test_rate_limits_are_told_as_results(made: wire.HttpServer) -> None:
    answers = [made.call("rare") for _ in range(3)]
    assert [a.result.get("isError", False) for a in answers] == [False, False, True]
    assert "rate limit" in answers[2].text
    assert "retry in" in answers[2].text


def test_what_a_client_reads_of_a_failure_is_an_incident(made: wire.HttpServer) -> None:
    answer = made.call("boom")
    assert answer.result["isError"]
    assert "incident" in answer.text
    assert "secret" not in answer.text
    incident = answer.text.split("incident ")[1].strip(")")
    made.says(f"id={incident}")


def test_sys_exit_in_a_callable_does_not_end_the_server(made: wire.HttpServer) -> None:
    assert made.call("leave").result["isError"]
    assert made.call("echo").status == 200


def test_a_torn_stream_raises_instead_of_ending() -> None:
    with wire.http(argv=MADE) as server, server.listen(toolsListChanged=True) as stream:
        server.process.kill()
        with pytest.raises(OSError):
            stream.message()
