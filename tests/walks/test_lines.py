"""Walks of stdio as its users have it: what may reach the channel, what may not, and how everything ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks import processes
from tests.walks.conftest import project

PROJECT = {
    "stray.py": """
        import os
        import subprocess
        import sys

        print("printed while it was imported")


        def noisy():
            print("printed by a callable")
            sys.stdout.write("without a newline")
            sys.stdout.flush()
            os.write(1, b"written to descriptor 1\\n")
            subprocess.run(["sh", "-c", "echo said by a child; cat"], check=True)
            return sys.stdin.read() + "was noisy"


        async def wide(text):
            return text * 15
    """,
    "manifests/m.yaml": r"""
        tools:
          echo: {description: Give it back., input: {text: string}, text: "{{ text }}"}
          wider:
            description: Give back much more.
            input: {text: string}
            text: "{% for n in range(15) %}{{ text }}{% endfor %}"
          wide: {description: Give back much more., input: {text: string}, python: "stray:wide"}
          noisy: {description: Print., python: "stray:noisy"}
          reads: {description: Read from stdin., command: [cat]}
          brief: {description: Take a moment., command: [sh, -c, "sleep 0.3; echo brief"]}
          long:
            description: Run for long, with children.
            command:
              - sh
              - -c
              - 'sleep 300 & (sleep 300; sleep 300) & echo "{\"progress\": 1}" > /dev/fd/$MCPDECL_FD; wait'
            progress: fd
          stubborn:
            description: Run for long, and end for nothing but a kill.
            command:
              - sh
              - -c
              - 'trap "" TERM INT HUP; echo "{\"progress\": 1}" > /dev/fd/$MCPDECL_FD; while true; do sleep 1; done'
            progress: fd
          ticking:
            description: Tell progress for ever.
            command: [sh, -c, "while true; do echo tick; sleep 0.05; done"]
            progress: lines
        resources:
          readme: {uri: made://readme, text: Read me.}
    """,
}


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[wire.StdioServer]:
    """A server with the watcher on."""
    with wire.stdio(project(tmp_path, PROJECT), cwd=tmp_path) as server:
        yield server
        assert "Traceback" not in server.stderr, server.stderr


def call(tool: str, id: str | int = 1, **arguments: Any) -> bytes:
    """The line of a call."""
    message = wire.message("tools/call", {"name": tool, "arguments": arguments}, id=id)
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def text(line: bytes) -> str:
    """The text of the result in a line."""
    found: str = json.loads(line)["result"]["content"][0]["text"]
    return found


def busy(server: wire.StdioServer, tool: str = "long") -> set[int]:
    """Open a listen and start a program; the processes that there are then."""
    server.listen(id="L", toolsListChanged=True, resourceSubscriptions=["made://readme"])
    running = server.begin("tools/call", {"name": tool, "arguments": {}}, id="long", progress="long")
    assert running.message()["params"]["progress"] == 1
    found = processes.children(server.pid)
    assert found
    return found


def gone(pids: set[int]) -> bool:
    """Whether none of the processes lives, or waits to be reaped by whoever adopted it."""
    return not [pid for pid in pids if alive(pid)]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- what is on the channel ------------------------------------------------------------------------------------


def test_nothing_but_messages_reaches_stdout(lines: wire.StdioServer) -> None:
    assert lines.call("noisy", id="n").text == "was noisy"
    assert lines.call("reads", id="r").text == ""
    lines.end_input()
    assert lines.rest() == []
    assert lines.wait() == 0
    for said in ("while it was imported", "by a callable", "without a newline", "to descriptor 1", "said by a child"):
        assert said in lines.stderr


def test_D06_a_request_may_come_in_any_pieces(lines: wire.StdioServer) -> None:
    for byte in call("echo", text="ü\u2028ü"):
        lines.send(bytes([byte]))
    assert text(lines.line()) == "ü\u2028ü"
    two, three = call("echo", 2, text="two"), call("echo", 3, text="three")
    lines.send(two.replace(b"\n", b"\r\n") + b"\n\r\n" + three[:30])
    assert text(lines.line()) == "two"
    lines.send(three[30:])
    assert text(lines.line()) == "three"


def test_an_answer_is_one_line_whatever_is_in_it(lines: wire.StdioServer) -> None:
    said = "one\ntwo\r\nthree\u2028four\u0085\x00\x1b[31m"
    lines.send(call("echo", text=said))
    assert text(lines.line()) == said


def test_D06_what_is_no_message_is_told_and_skipped(lines: wire.StdioServer) -> None:
    surrogate = call("echo", text="x").replace(b'"x"', b'"\\ud800"')
    for line in (b"\xff\xfe\x00\n", b'{"jsonrpc": "2.0"\n', b"GET / HTTP/1.1\r\n", b"[" * 50_000 + b"\n", surrogate):
        lines.send(line)
        assert lines.message()["error"]["code"] == -32700
    assert lines.call("echo", {"text": "on"}, id=2).text == "on"


def test_D09_an_older_client_is_told_what_is_spoken_here(lines: wire.StdioServer) -> None:
    old = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    lines.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": old})
    assert wire.VERSION in json.dumps(lines.answer(0).error)
    lines.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    lines.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert lines.answer(1).error["code"] == -32602
    assert lines.call("echo", {"text": "still here"}, id=2).text == "still here"


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 0), ("2>&-", 0), ("<&- >&- 2>&-", 0)])
def test_D08_descriptors_that_are_closed_from_the_start_do_no_harm(tmp_path: Path, closed: str, code: int) -> None:
    words = wire.command(project(tmp_path, PROJECT), "--stdio")
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *words], cwd=tmp_path, input=call("echo", text="hi"), capture_output=True
    )
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert [text(line) for line in done.stdout.splitlines()] == (["hi"] if closed == "2>&-" else [])


# --- the end ---------------------------------------------------------------------------------------------------


def ends(server: wire.StdioServer, children: set[int], code: int) -> None:
    """See that it ends in order: the listen with its result, the call with an error, the program with its children."""
    assert server.wait(30) == code
    assert gone(children)
    assert "Traceback" not in server.stderr
    answers = {message["id"]: message for message in server.rest() if "id" in message}
    assert answers["L"]["result"]["_meta"][wire.META + "subscriptionId"] == "L"
    assert "error" in answers["long"]


@pytest.mark.parametrize("tool", ["long", "stubborn"])
def test_D02_the_end_of_input_ends_everything(lines: wire.StdioServer, tool: str) -> None:
    children = busy(lines, tool)
    lines.end_input()
    ends(lines, children, 0)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_D08_a_signal_ends_everything(lines: wire.StdioServer, number: int, code: int) -> None:
    children = busy(lines)
    lines.kill(number)
    ends(lines, children, code)


@pytest.mark.parametrize(("first", "code"), [("end", 143), (signal.SIGTERM, 143), (signal.SIGINT, 143)])
def test_D08_a_client_that_loses_patience_leaves_no_child(
    lines: wire.StdioServer, first: signal.Signals | str, code: int
) -> None:
    children = busy(lines, "stubborn")
    if isinstance(first, signal.Signals):
        lines.kill(first)
        lines.says("a second signal stops at once")
    else:
        lines.end_input()
        assert lines.answer("L").result
    lines.kill(signal.SIGTERM)
    assert lines.wait() == code
    assert gone(children)
    assert "Traceback" not in lines.stderr


def test_D08_who_is_started_to_outlive_a_terminal_does(tmp_path: Path) -> None:
    words = wire.command(project(tmp_path, PROJECT))
    with wire.stdio(argv=["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *words], cwd=tmp_path) as server:
        assert server.call("echo", {"text": "here"}).text == "here"
        server.kill(signal.SIGHUP)
        assert server.call("echo", {"text": "still here"}, id=2).text == "still here"
        server.end_input()
        assert server.wait() == 0


def test_D03_what_is_under_way_at_the_end_of_input_is_answered(lines: wire.StdioServer) -> None:
    lines.send(call("brief", 1) + call("noisy", 2) + call("echo", 3, text="x")[:-1])  # its last line has no newline
    lines.end_input()
    assert {message["id"] for message in lines.rest()} == {1, 2, 3}
    assert lines.wait() == 0


@pytest.mark.parametrize("round", range(5))
def test_D03_every_request_of_a_file_is_answered(tmp_path: Path, round: int) -> None:
    source, sink = tmp_path / "requests", tmp_path / "answers"
    source.write_bytes(b"".join(call(("echo", "wide", "wider")[n % 3], n, text="x" * 900) for n in range(300)))
    with source.open("rb") as stdin, sink.open("wb") as stdout:
        with wire.stdio(project(tmp_path, PROJECT), cwd=tmp_path, stdin=stdin, stdout=stdout) as server:
            assert server.wait() == 0
    assert sorted(json.loads(line)["id"] for line in sink.read_bytes().splitlines()) == list(range(300))


def test_D08_a_client_that_closes_its_end_ends_everything_quietly(tmp_path: Path) -> None:
    source, sink = os.pipe()
    with wire.stdio(project(tmp_path, PROJECT), cwd=tmp_path, stdout=sink) as server:
        os.close(sink)
        for tool in ("long", "ticking"):
            server.send(wire.message("tools/call", {"name": tool, "arguments": {}}, id=tool, progress=tool))
        seen = b""
        while not (b'"long"' in seen and b'"ticking"' in seen):
            seen += os.read(source, 65_536)
        children = processes.children(server.pid)
        os.close(source)
        assert server.wait() == 0
        assert gone(children)
        assert "Traceback" not in server.stderr and "rror" not in server.stderr


@contextmanager
def parented(root: Path) -> Iterator[tuple[subprocess.Popen[str], int, int]]:
    """A server whose parent is not this process: the parent, the server, and where to write to it.

    Its stdin stays open here, so that no end of input comes when the parent dies.
    """
    program = (
        "import subprocess, sys; print(subprocess.Popen(sys.argv[2:], stdin=int(sys.argv[1])).pid, flush=True); input()"
    )
    source, keep = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(source), *wire.command(project(root, PROJECT), "--stdio")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=[source],
        cwd=root,
        text=True,
    )
    assert parent.stdout is not None
    server = int(parent.stdout.readline())
    try:
        with parent:
            yield parent, server, keep
    finally:
        for end in (source, keep):
            os.close(end)
        if alive(server):
            os.kill(server, signal.SIGKILL)


def test_D02_the_death_of_the_parent_ends_everything(tmp_path: Path) -> None:
    with parented(tmp_path) as (parent, server, keep):
        assert parent.stdout is not None
        os.write(keep, json.dumps(wire.message("tools/call", {"name": "long"}, progress=1)).encode() + b"\n")
        assert json.loads(parent.stdout.readline())["params"]["progress"] == 1
        children = processes.children(server)
        parent.kill()
        parent.wait()
        wire.eventually(lambda: not alive(server), "the server ends with its parent", 30)
        assert gone(children)


# --- a client that does not read -------------------------------------------------------------------------------


def fed(process: subprocess.Popen[bytes], requests: Path) -> threading.Thread:
    """Write a file to a process, in a thread."""
    stdin = process.stdin
    assert stdin is not None

    def write() -> None:
        with requests.open("rb") as source:
            shutil.copyfileobj(source, stdin)
        stdin.close()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("source", ["pipe", "file"])
@pytest.mark.parametrize("tool", ["wide", "wider"])
def test_D06_a_client_that_stops_reading_stops_being_read(tmp_path: Path, tool: str, source: str) -> None:
    words = wire.command(project(tmp_path, PROJECT), "--stdio")
    requests = tmp_path / "requests"
    requests.write_bytes(b"".join(call(tool, n, text="x" * 60_000) for n in range(400)))
    with requests.open("rb") as file:
        stdin = file if source == "file" else subprocess.PIPE
        process = subprocess.Popen(words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path)
    with process:
        feeding = fed(process, requests) if source == "pipe" else None

        def stands_still() -> int:
            before = processes.memory(process.pid) >> 20
            time.sleep(0.5)
            after = processes.memory(process.pid) >> 20
            return after if after == before > 64 else 0

        held = wire.eventually(stands_still, "it reads no further")
        assert process.stdout is not None
        found = [json.loads(line) for line in process.stdout]
        if feeding is not None:
            feeding.join(wire.PATIENCE)
    assert sorted(answer["id"] for answer in found) == list(range(400))
    assert {len(answer["result"]["content"][0]["text"]) for answer in found} == {900_000}
    assert held < 250, "of 360 MB, it holds what it may"
    assert process.returncode == 0
