"""Cancellation over both transports: what runs ends with all that it started, and nothing more is said of it.

A client hangs up over HTTP and sends a notification over stdio; ``cancel()`` of what a test began is either.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks.conftest import Start, project
from tests.walks.processes import children, descriptors

pytestmark = pytest.mark.timeout(180)

RUNS = """
    import asyncio
    import time
    from pathlib import Path
    from mcpdecl import Context

    def note(folder: str, word: str) -> None:
        (Path(folder) / word).touch()

    async def wait(folder: str) -> str:
        note(folder, "began")
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            note(folder, "cancelled")
            raise
        finally:
            note(folder, "finally")
        return "waited"

    async def steps(folder: str, ctx: Context) -> str:
        note(folder, "began")
        try:
            for step in range(100_000):
                ctx.progress(step + 1)
                ctx.log("info", step)
                await asyncio.sleep(0.005)
        finally:
            ctx.progress(200_000)
            ctx.log("info", "put away")
            note(folder, "finally")
        return "stepped"

    def work(folder: str, ctx: Context) -> str:
        note(folder, "began")
        while not ctx.cancelled:
            time.sleep(0.01)
        ctx.progress(1)
        note(folder, "finally")
        return "worked"

    def yields(folder: str):
        note(folder, "began")
        try:
            for step in range(100_000):
                yield step
                time.sleep(0.01)
        finally:
            note(folder, "finally")

    async def stubborn(folder: str) -> str:
        note(folder, "began")
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            note(folder, "finally")
        return "stayed"

    def ran(folder: str) -> str:
        note(folder, "ran")
        return "ran"

    async def until(folder: str) -> str:
        note(folder, "began")
        while not (Path(folder) / "go").exists():
            await asyncio.sleep(0.01)
        return "gone on"
"""
# A program with a child, an orphan whose parent is gone, and one of each that takes no notice of SIGTERM.
TREE = """
    folder=$1
    sleep 600 & echo $! >>$folder/pids
    sh -c 'sleep 600 & echo $! >>'$folder/pids
    sh -c 'trap "" TERM; while :; do sleep 1; done' & echo $! >>$folder/pids
    trap "" TERM
    echo $$ >>$folder/pids
    touch $folder/began
    echo a line
    while :; do sleep 1; done
"""
MANIFEST = """
    tools:
      quick: {text: quick}
      wait: {input: {folder: string}, python: "runs:wait"}
      work: {input: {folder: string}, python: "runs:work"}
      steps: {input: {folder: string}, python: "runs:steps"}
      yields: {input: {folder: string}, python: "runs:yields"}
      stubborn: {input: {folder: string}, python: "runs:stubborn"}
      until: {input: {folder: string}, python: "runs:until"}
      one: {input: {folder: string}, python: "runs:wait", concurrency: 1}
      program: {input: {folder: string}, command: [sh, tree.sh, "{{ folder }}"], timeout: 20m}
      telling: {input: {folder: string}, command: [sh, tree.sh, "{{ folder }}"], timeout: 20m, progress: lines}
      computes:
        input: {folder: string}
        vars: {slow: {command: [sh, tree.sh, "{{ folder }}"]}}
        timeout: 20m
        text: "{{ slow }}"
      goes_on:
        input: {folder: string}
        vars: {first: {python: "runs:stubborn"}}
        assert: [{that: "first == 'stayed'", message: It did not stay.}]
        python: "runs:ran"
      asks:
        input: {folder: string}
        ask: {sure: "Write to {{ folder }}?"}
        python: "runs:ran"
    prompts:
      composed:
        arguments: {folder: {complete: {command: [sh, tree.sh, "{{ folder }}"]}}}
        messages: [{user: {command: [sh, tree.sh, "{{ folder }}"]}}]
    resources:
      shown: {uriTemplate: "tree://{+folder}", command: [sh, tree.sh, "{{ folder }}"]}
"""
PROJECT = {"manifests/m.yaml": MANIFEST, "runs.py": RUNS, "tree.sh": TREE}


def calling(tool: str, folder: Path) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": tool, "arguments": {"folder": str(folder)}}


def happened(folder: Path, word: str) -> None:
    wire.eventually((folder / word).exists, f"{word} in {[path.name for path in folder.iterdir()]}")


def answers(server: Any) -> None:
    """A server takes requests, and by now it has taken in all that was sent before."""
    with server.begin("tools/call", {"name": "quick", "arguments": {}}, id="quick") as pending:
        assert pending.rest()[-1]["result"]["content"][0]["text"] == "quick"


def nothing_more(server: Any) -> None:
    """Nothing is said of what was cancelled: over stdio it would be in the channel, over HTTP nobody reads."""
    answers(server)
    if isinstance(server, wire.StdioServer):
        server._kept.clear()  # said before the cancellation was read
        answers(server)
        assert server._kept == []


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state not in "ZX"


def pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "pids").read_text().split()]


# --- what runs is ended ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["wait", "steps", "work", "yields", "stubborn"])
@pytest.mark.parametrize("streams", [False, True], ids=["before-a-stream", "streaming"])
def test_S09_a_callable_is_ended(served: Any, tmp_path: Path, tool: str, streams: bool) -> None:
    with served.begin(*calling(tool, tmp_path), id="c", progress="p" if streams else None) as pending:
        happened(tmp_path, "began")
        if streams and tool == "steps":
            assert pending.message()["params"]["progressToken"] == "p"
        pending.cancel()
        happened(tmp_path, "finally")
    nothing_more(served)
    assert (tmp_path / "cancelled").exists() == (tool == "wait")


@pytest.mark.parametrize(
    "begin",
    [
        lambda folder: calling("program", folder),
        lambda folder: calling("telling", folder),
        lambda folder: calling("computes", folder),
        lambda folder: ("prompts/get", {"name": "composed", "arguments": {"folder": str(folder)}}),
        lambda folder: ("resources/read", {"uri": f"tree://{folder}"}),
        lambda folder: (
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": "composed"},
                "argument": {"name": "folder", "value": str(folder)},
            },
        ),
    ],
    ids=["a-call", "streaming", "vars", "a-prompt", "a-resource", "a-completion"],
)
def test_S09_S07_a_program_is_ended_with_all_that_it_started(
    served: Any, tmp_path: Path, begin: Callable[[Path], tuple[str, dict[str, Any]]]
) -> None:
    answers(served)
    before = descriptors(served.pid)
    with served.begin(*begin(tmp_path), id="c", progress="p") as pending:
        happened(tmp_path, "began")
        everybody = pids(tmp_path)
        assert len(everybody) == 4 and all(map(alive, everybody))
        if begin(tmp_path)[1].get("name") == "telling":
            assert pending.message()["params"]["message"] == "a line"
        pending.cancel()
        wire.eventually(lambda: not any(map(alive, everybody)), "all are gone")
    wire.eventually(lambda: not children(served.pid), "none is left as a zombie")
    wire.eventually(lambda: descriptors(served.pid) <= before, "descriptors as before")
    nothing_more(served)


def test_what_a_cancelled_call_would_have_gone_on_to_is_not_begun(served: Any, tmp_path: Path) -> None:
    with served.begin(*calling("goes_on", tmp_path), id="c") as pending:
        happened(tmp_path, "began")
        pending.cancel()
        happened(tmp_path, "finally")
    nothing_more(served)
    assert not (tmp_path / "ran").exists()


def test_between_the_rounds_of_a_question_nothing_is_there_to_cancel(served: Any, tmp_path: Path) -> None:
    method, params = calling("asks", tmp_path)
    able: dict[str, Any] = {"capabilities": {"elicitation": {"form": {}}}}
    with served.begin(method, params, id="c", **able) as pending:
        (asked,) = pending.rest()
        pending.cancel()
    assert asked["result"]["resultType"] == "input_required"
    nothing_more(served)
    state = asked["result"]["requestState"]
    again = {**params, "inputResponses": {"sure": {"action": "accept"}}, "requestState": state}
    with served.begin(method, again, id="c", **able) as pending:
        assert pending.rest()[-1]["result"]["content"][0]["text"] == "ran"
    assert (tmp_path / "ran").exists()


# --- and nothing else --------------------------------------------------------------------------------------------


def test_one_is_cancelled_and_the_others_are_not(served: Any, tmp_path: Path) -> None:
    folders = {id: tmp_path / repr(id).strip("'") for id in (1, "one", 2)}
    for folder in folders.values():
        folder.mkdir()
    sent = {id: served.begin(*calling("until", folder), id=id) for id, folder in folders.items()}
    with served.begin(*calling("wait", tmp_path), id="1") as pending:
        for folder in (*folders.values(), tmp_path):
            happened(folder, "began")
        pending.cancel()
        happened(tmp_path, "finally")
    for id, folder in folders.items():
        (folder / "go").touch()
        with sent[id]:
            (answer,) = sent[id].rest()
        assert (answer["id"], answer["result"]["content"][0]["text"]) == (id, "gone on")
    nothing_more(served)


MEANT = 7
MEANINGLESS: list[Any] = [
    None,
    {},
    [],
    {"reason": "none is named"},
    {"requestId": None},
    {"requestId": True},
    {"requestId": 7.0},
    {"requestId": "7"},
    {"requestId": [7]},
    {"requestId": {"id": 7}},
    {"requestId": 8, "reason": "unknown"},
    {"requestId": "x" * 100_000},
    {"requestID": 7},
]


def test_what_names_no_request_in_flight_is_ignored(way: str, served: Any, tmp_path: Path) -> None:
    with served.begin(*calling("until", tmp_path), id=MEANT) as pending:
        happened(tmp_path, "began")
        for params in MEANINGLESS:
            sent = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
            line = json.dumps(sent if params is None else {**sent, "params": params}).encode() + b"\n"
            if way == "http":
                answer = served.send(line)
                assert (answer.status, answer.body) == (202, b"")
            else:
                served.send(line)
        nothing_more(served)
        (tmp_path / "go").touch()
        (answer,) = pending.rest()
        assert answer["result"]["content"][0]["text"] == "gone on"


def test_over_http_a_posted_cancellation_is_taken_and_cancels_nothing(tmp_path: Path) -> None:
    with wire.http(project(tmp_path, PROJECT), cwd=tmp_path) as server:
        with server.begin(*calling("until", tmp_path), id=MEANT) as pending:
            happened(tmp_path, "began")
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": MEANT}}
            answer = server.send(cancel)
            assert (answer.status, answer.body) == (202, b"")
            (tmp_path / "go").touch()
            assert pending.message()["result"]["content"][0]["text"] == "gone on"
        assert "cancelled" not in server.stderr


def test_a_cancellation_that_comes_late_is_ignored_and_the_id_is_free(served: Any, tmp_path: Path) -> None:
    for _ in range(3):
        with served.begin("tools/call", {"name": "quick", "arguments": {}}, id="late") as pending:
            assert len(pending.rest()) == 1
            pending.cancel()
            pending.cancel("again")
    with served.begin(*calling("wait", tmp_path), id="late") as pending:
        happened(tmp_path, "began")
        pending.cancel()
        pending.cancel()
        happened(tmp_path, "finally")
    nothing_more(served)


def test_a_cancellation_in_the_same_breath_frees_the_id(tmp_path: Path) -> None:
    with wire.stdio(project(tmp_path, PROJECT), cwd=tmp_path) as server:
        call = wire.message(*calling("wait", tmp_path), id="c")
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "c"}}
        server.send(b"".join(json.dumps(line).encode() + b"\n" for line in (call, cancel)))
        nothing_more(server)
        assert not (tmp_path / "began").exists()
        (tmp_path / "go").touch()
        with server.begin(*calling("until", tmp_path), id="c") as pending:
            assert pending.rest()[0]["result"]["content"][0]["text"] == "gone on"


def test_a_reason_is_logged_in_one_line_that_breaks_no_terminal(tmp_path: Path) -> None:
    with wire.stdio(project(tmp_path, PROJECT), "--log-format", "json", cwd=tmp_path) as server:
        with server.begin(*calling("wait", tmp_path), id="c") as pending:
            happened(tmp_path, "began")
            pending.cancel("the user\nchanged \x1b[31mhis mind " + "x" * 5000)
            happened(tmp_path, "finally")
            pending.cancel("for the second time")
        nothing_more(server)
        lines = [json.loads(line) for line in server.stderr.splitlines() if line.startswith("{")]
        (logged,) = [line for line in lines if line["event"] == "cancelled"]
        assert logged["id"] == "c"
        assert logged["reason"].startswith(r"the user\nchanged \x1b[31mhis mind xx")
        assert len(logged["reason"]) < 600


# --- places ------------------------------------------------------------------------------------------------------


def test_a_cancelled_call_gives_its_place_back_and_one_that_waits_leaves_the_line(start: Start, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second", "third")]
    for folder in folders:
        folder.mkdir()
    server = start(PROJECT)
    first, second, third = folders
    with server.begin(*calling("one", first), id=1) as running:
        happened(first, "began")
        waiting = server.begin(*calling("one", second), id=2)
        last = server.begin(*calling("one", third), id=3)
        answers(server)
        waiting.cancel()
        answers(server)
        running.cancel()
        happened(first, "finally")
        happened(third, "began")
        last.cancel()
        happened(third, "finally")
    nothing_more(server)
    assert not (second / "began").exists()
