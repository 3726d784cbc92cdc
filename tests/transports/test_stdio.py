from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import wire
from tests.transports.conftest import MADE


@pytest.fixture(scope="module")
def piped() -> Iterator[wire.StdioServer]:
    with wire.stdio(argv=MADE) as server:
        yield server
        server.end_input()
        assert server.wait() == 0, server.stderr


# --- a real process --------------------------------------------------------------------------------------------


def test_requests_are_answered(piped: wire.StdioServer) -> None:
    assert piped.call("echo", {"text": "grüß"}, id="a").text == "grüß"
    assert piped.call("turn", id=2).text == "done without waiting"


def test_CRLF_blank_lines_and_a_byte_order_mark(piped: wire.StdioServer) -> None:
    message = json.dumps(wire.message("tools/list", id="crlf")).encode()
    piped.send(b"\r\n\n  \n" + message + b"\r\n")
    assert piped.answer("crlf").result["tools"]


def test_D06_broken_lines_are_told_and_skipped(piped: wire.StdioServer) -> None:
    piped.send(b'{"broken\n"\xff\xfe"\n[]\n')
    assert [piped.message()["error"]["code"] for _ in range(3)] == [-32700, -32700, -32600]
    assert piped.call("echo", id="after").text == "hello"


def test_progress_comes_before_the_answer(piped: wire.StdioServer) -> None:
    found = piped.call("steps", {"count": 3}, progress="p", log="info", id="steps")
    told = [n["params"]["progress"] for n in found.notifications if n["method"] == "notifications/progress"]
    assert told == [1, 2, 3]
    assert found.text == "all steps"


def test_what_prints_does_not_soil_the_channel(piped: wire.StdioServer) -> None:
    assert piped.call("noisy", id="noisy").text == "was noisy"
    for said in ("print from a callable", "raw bytes from a callable", "from a child"):
        piped.says(said)


def test_a_cancelled_call_is_not_answered(piped: wire.StdioServer) -> None:
    piped.send(wire.message("tools/call", {"name": "slow", "arguments": {"mark": "gone"}}, id="gone"))
    piped.says("began gone")
    piped.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}})
    piped.says("cancelled gone")
    piped.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}})
    piped.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}})
    piped.send(wire.message("tools/call", {"name": "echo", "arguments": {}}, id="next"))
    assert piped.message()["id"] == "next"


def test_an_id_in_flight_is_not_taken_twice(piped: wire.StdioServer) -> None:
    slow = wire.message("tools/call", {"name": "slow", "arguments": {"seconds": 1, "mark": "twice"}}, id="twice")
    piped.send(slow)
    piped.says("began twice")
    piped.send(slow)
    refused = piped.message()
    assert (refused["id"], refused["error"]["code"]) == ("twice", -32600)
    assert piped.answer("twice").text == "slept twice"
    assert piped.request("tools/call", {"name": "echo", "arguments": {}}, id="twice").text == "hello"


def test_subscriptions_share_the_channel(piped: wire.StdioServer) -> None:
    for id in ("L1", "L2"):
        piped.send(wire.message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=id))
        assert piped.message()["method"] == "notifications/subscriptions/acknowledged"
    found = piped.call("grow", id="grow").notifications
    while len(found) < 2:
        found.append(piped.message())
    assert {n["params"]["_meta"][wire.META + "subscriptionId"] for n in found} == {"L1", "L2"}
    for id in ("L1", "L2"):
        piped.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
    assert piped.call("grow", id="again").notifications == []


def test_D06_a_line_of_5_MB_among_many_requests_and_no_reader() -> None:
    with wire.stdio(argv=MADE, stdout=subprocess.PIPE) as server:
        for n in range(50):
            server.send(wire.message("tools/call", {"name": "echo", "arguments": {"text": "y" * 50_000}}, id=n))
        big = wire.message("tools/call", {"name": "echo", "arguments": {"text": "x" * 5_000_000}}, id="big")
        server.send(big)
        for n in range(50):
            assert len(server.answer(n).text) == 50_000
        assert len(server.answer("big").text) == 5_000_000


def test_D06_reading_goes_on_while_writing_waits() -> None:
    process = subprocess.Popen(
        [*MADE, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=wire.ROOT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        for n in range(100):  # nobody reads yet: both pipes would be full long ago
            call = wire.message("tools/call", {"name": "echo", "arguments": {"text": "z" * 60_000}}, id=n)
            process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdin.close()
        answers = [json.loads(line) for line in process.stdout]
    assert sorted(a["id"] for a in answers) == list(range(100))
    assert all(len(a["result"]["content"][0]["text"]) == 60_000 for a in answers)
    assert process.returncode == 0


def test_D06_17_MiB_without_newline() -> None:
    with wire.stdio(argv=MADE) as server:
        for _ in range(17):
            server.send(b"x" * (1 << 20))
        server.send(b"\n")
        refused = server.message()
        assert refused["error"]["code"] == -32600
        assert "id" not in refused
        assert server.call("echo", id=1).text == "hello"


@pytest.mark.parametrize("round", range(5))
def test_D03_a_file_of_requests_is_answered_to_the_last(tmp_path: Path, round: int) -> None:
    requests = [
        wire.message("server/discover", id=1),
        wire.message("tools/list", id=2),
        wire.message("tools/call", {"name": "slow", "arguments": {"seconds": 0.3}}, id=3),
        wire.message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=4),
    ]
    source, sink = tmp_path / "r.jsonl", tmp_path / "out.jsonl"
    # the last line has no newline
    source.write_text("\n".join(json.dumps(r) for r in requests))
    with source.open("rb") as stdin, sink.open("wb") as stdout:
        with wire.stdio(argv=MADE, stdin=stdin, stdout=stdout) as server:
            assert server.wait() == 0, server.stderr
    answers = [json.loads(line) for line in sink.read_text().splitlines()]
    assert sorted(a["id"] for a in answers if "id" in a) == [1, 2, 3, 4]


def test_D02_end_of_input_ends_the_process() -> None:
    with wire.stdio(argv=MADE) as server:
        server.send(wire.message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="L"))
        assert server.message()["method"] == "notifications/subscriptions/acknowledged"
        server.send(wire.message("tools/call", {"name": "stuck", "arguments": {}}, id="stuck"))
        server.send(wire.message("tools/call", {"name": "slow", "arguments": {}}, id="slow"))
        server.says("began stuck")
        server.says("began slow")
        server.end_input()
        assert server.message()["id"] == "L"  # at once
        assert server.wait() == 0
        assert "cancelled slow" in server.stderr
        rest = {m["id"]: m["error"]["message"] for m in server.rest()}
        assert set(rest) == {"stuck", "slow"}


def test_D02_the_death_of_the_parent_ends_the_process() -> None:
    # The parent hands the server pipes that stay open elsewhere, so that no end of input comes.
    program = (
        "import subprocess, sys; print(subprocess.Popen(sys.argv[2:], stdin=int(sys.argv[1])).pid, flush=True); input()"
    )
    source, keep = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(source), *MADE, "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=[source],
        cwd=wire.ROOT,
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.write(keep, json.dumps(wire.message("tools/list")).encode() + b"\n")
    try:
        assert json.loads(parent.stdout.readline())["result"]["tools"]
        parent.kill()
        parent.wait()
        wire.eventually(lambda: not alive(child), "the server ends with its parent")
    finally:
        os.close(source)
        os.close(keep)
        for pipe in (parent.stdin, parent.stdout):
            assert pipe is not None
            pipe.close()
        if alive(child):
            os.kill(child, signal.SIGKILL)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_D08_signals(number: int, code: int) -> None:
    with wire.stdio(argv=MADE) as server:
        server.call("echo")
        server.send(wire.message("tools/call", {"name": "slow", "arguments": {"seconds": 1}}, id="slow"))
        server.says("began slow")
        server.kill(number)
        assert server.answer("slow").text == "slept slow"
        assert server.wait() == code
        assert "Traceback" not in server.stderr


def test_D08_a_closed_output_ends_quietly() -> None:
    source, sink = os.pipe()
    os.close(source)
    with wire.stdio(argv=MADE, stdout=sink) as server:
        os.close(sink)
        server.send(wire.message("tools/list"))
        assert server.wait() == 0
        assert "Traceback" not in server.stderr
        assert "rror" not in server.stderr


def test_D09_an_older_client_is_told_which_versions_are_served(piped: wire.StdioServer) -> None:
    old = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    piped.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": old})
    assert wire.VERSION in json.dumps(piped.answer(0).error)
    piped.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert piped.call("echo", id="still").text == "hello"


def test_stdio_imports_no_web_server() -> None:
    banned = "starlette uvicorn uvloop httptools jinja2 jsonschema watchfiles anyio cryptography"
    program = (
        "import sys, mcpdecl.cli.serve, mcpdecl.transports.stdio; "
        f"print([n for n in {banned.split()!r} if n in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=wire.ROOT)
    assert found.stdout.strip() == "[]"
