"""Any interleaving of calls, cancels, listens, edits and hang-ups obeys the rules and leaves nothing behind.

A model says what must be true after every step; the server is a real process with a census among its tools.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests import wire
from tests.walks.conftest import started
from tests.walks.processes import children, held

LIST_CHANGED = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"
FIXED = """
    resources:
      note: {uri: "walk://note", file: note.txt}
    tools:
      census: {description: Counts what is alive., python: "census:census"}
      hello: {description: Greets., text: hello}
      program: {description: Runs a program., command: [sh, -c, "sleep 600 & exec sleep 600"], timeout: 20m}
      waits: {description: Waits on the loop., input: {mark: string}, python: "census:waits"}
      works: {description: Waits in a thread., input: {mark: string}, python: "census:works"}
      sure:
        description: Asks, then counts.
        input: {mark: string}
        ask: {really: "Do it?"}
        python: "census:counted"
"""
CENSUS = """
    import asyncio, pathlib, time
    from mcpdecl import Context
    from mcpdecl.server import Server

    SERVERS = []
    made = Server.__init__

    def known(self, *given, **more):
        made(self, *given, **more)
        SERVERS.append(self)

    Server.__init__ = known

    async def census():
        tasks, server = asyncio.all_tasks(), SERVERS[0]
        return {"tasks": len(tasks), "exchanges": len(server.exchanges), "listeners": len(server.listeners)}

    def marked(what, mark):
        with open(what, "a") as file:
            file.write(mark + "\\n")

    async def waits(mark):
        marked("began", mark)
        try:
            while not pathlib.Path("release-" + mark).exists():
                await asyncio.sleep(0.01)
            return "released"
        finally:
            marked("ended", mark)

    def works(mark, ctx: Context):
        marked("began", mark)
        while not ctx.cancelled and not pathlib.Path("release-" + mark).exists():
            time.sleep(0.01)
        marked("ended", mark)
        return "released"

    def counted(mark):
        marked("counted", mark)
        return "done"
"""


class Interleavings(RuleBasedStateMachine):
    """The model: which tools there are, who listens for what, which calls run."""

    way: str

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.ids = (f"r{n}" for n in itertools.count())
        self.running: dict[str, tuple[str, Any]] = {}
        self.listening: dict[str, tuple[dict[str, Any], Any]] = {}
        self.finished: list[str] = []
        self.more: set[str] = set()
        self.broken = False
        self.written = 0
        files = {"manifests/fixed.yaml": FIXED, "census.py": CENSUS, "note.txt": "0"}
        self.server = started(self.way, self.root, files)
        if self.way == "stdio":
            self.calls_something_quick()  # it says nothing when it is up
        self.sockets = held(self.server.pid)["socket"]  # before anyone connects

    @initialize()
    def counts_at_rest(self) -> None:
        # One listens all the time: what it was told of is over, and nobody who comes later hears of it.
        asked = {"toolsListChanged": True, "resourceSubscriptions": ["walk://note"]}
        self.witness = {"tools": True, "note": True}, self.server.listen(id="witness", **asked)
        # Whatever is opened once and for all is open now: the watcher hears, and a thread was there.
        self.adds_or_removes_a_tool("a")
        self.begins_something_long("works")
        self.hangs_up()
        wire.eventually(lambda: self.census() == self.census())
        self.at_rest = self.census()
        self.open = {**held(self.server.pid), "socket": self.sockets + (self.way == "http")}

    def census(self) -> dict[str, int]:
        found: dict[str, int] = self.server.call("census", id=next(self.ids)).result["structuredContent"]
        return found

    def lines(self, what: str) -> Counter[str]:
        path = self.root / what
        return Counter(path.read_text().split()) if path.exists() else Counter()

    # --- calls ---------------------------------------------------------------------------------------------------

    @rule()
    def calls_something_quick(self) -> None:
        assert self.server.call("hello", id=next(self.ids)).text == "hello"

    @precondition(lambda self: len(self.running) < 6)
    @rule(kind=st.sampled_from(["program", "waits", "works"]))
    def begins_something_long(self, kind: str) -> None:
        id = next(self.ids)
        had = len(children(self.server.pid))
        arguments = {} if kind == "program" else {"mark": id}
        pending = self.server.begin("tools/call", {"name": kind, "arguments": arguments}, id=id)
        self.running[id] = kind, pending
        if kind == "program":
            wire.eventually(lambda: len(children(self.server.pid)) == had + 2, "the program and its child run")
        else:
            wire.eventually(lambda: id in self.lines("began"), f"{id} began")

    @precondition(lambda self: any(kind != "program" for kind, _ in self.running.values()))
    @rule(data=st.data())
    def lets_one_finish(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from([id for id, (kind, _) in self.running.items() if kind != "program"]))
        _, pending = self.running.pop(id)
        (self.root / f"release-{id}").touch()
        (answer,) = pending.rest()
        assert answer["result"]["content"][0]["text"] == "released"
        pending.close()
        self.finished.append(id)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def cancels_one(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(list(self.running)))
        self.cancel(id)

    def cancel(self, id: str) -> None:
        kind, pending = self.running.pop(id)
        had = len(children(self.server.pid))
        pending.cancel("changed my mind")
        if kind == "program":
            wire.eventually(lambda: len(children(self.server.pid)) == had - 2, "the program and its child are gone")
        else:
            wire.eventually(lambda: id in self.lines("ended"), f"{id} ended")
        self.finished.append(id)

    @precondition(lambda self: self.finished)
    @rule(data=st.data())
    def cancels_what_is_over(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from([*self.finished, "nobody", 0]))
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
        self.server.send(note)

    @rule(noise=st.sampled_from([b"{", b"[]", b"\xff", b'{"jsonrpc":"2.0","id":{}}', b'{"jsonrpc":"2.0","id":1}']))
    def sends_noise(self, noise: bytes) -> None:
        if self.way == "http":
            assert self.server.send(noise).status == 400
        else:
            self.server.send(noise + b"\n")
            refused = self.server.next_of(lambda m: "error" in m and m.get("id") in (None, 1))
            assert refused["error"]["code"] in (-32700, -32600)

    @rule(action=st.sampled_from(["accept", "decline", "cancel"]))
    def answers_a_question(self, action: str) -> None:
        mark = next(self.ids)
        call = {"name": "sure", "arguments": {"mark": mark}}
        can = {"elicitation": {}}
        asked = self.server.request("tools/call", call, id=mark, capabilities=can).result
        answers = {"inputResponses": {"really": {"action": action}}, "requestState": asked["requestState"]}
        done = self.server.request("tools/call", {**call, **answers}, id=next(self.ids), capabilities=can).result
        assert done.get("isError", False) == (action != "accept")
        assert self.lines("counted")[mark] == (action == "accept")

    # --- listening and edits --------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.listening) < 6)
    @rule(tools=st.booleans(), note=st.booleans())
    def listens(self, tools: bool, note: bool) -> None:
        id = next(self.ids)
        asked = {"toolsListChanged": tools} | ({"resourceSubscriptions": ["walk://note"]} if note else {})
        self.listening[id] = {"tools": tools, "note": note}, self.server.listen(id=id, **asked)

    @precondition(lambda self: self.listening)
    @rule(data=st.data())
    def listens_no_more(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(list(self.listening)))
        _, stream = self.listening.pop(id)
        stream.close()
        self.finished.append(id)

    @rule(name=st.sampled_from(["a", "b", "c"]))
    def adds_or_removes_a_tool(self, name: str) -> None:
        self.more ^= {name}
        self.broken = False
        self.edit("tools: {" + ", ".join(f"{n}: {{description: More., text: {n}}}" for n in sorted(self.more)) + "}\n")
        self.tell("tools", LIST_CHANGED)
        listed = self.server.request("tools/list", id=next(self.ids)).result["tools"]
        assert {tool["name"] for tool in listed} & {"a", "b", "c"} == self.more

    @rule()
    def breaks_the_manifest(self) -> None:
        self.broken = True
        self.edit("tools: [}\n")
        listed = self.server.request("tools/list", id=next(self.ids)).result["tools"]
        assert {tool["name"] for tool in listed} & {"a", "b", "c"} == self.more

    @rule()
    def writes_the_note(self) -> None:
        self.written += 1
        beside = self.root / ".note"
        beside.write_text(str(self.written))
        beside.replace(self.root / "note.txt")
        self.tell("note", UPDATED)
        read = self.server.request("resources/read", {"uri": "walk://note"}, id=next(self.ids)).result
        assert read["contents"][0]["text"] == str(self.written)

    def edit(self, text: str) -> None:
        beside = self.root / "manifests" / ".more"
        beside.write_text(text)
        beside.replace(self.root / "manifests" / "more.yaml")
        if not self.broken:
            names = {"census", "hello", "program", "waits", "works", "sure", *self.more}
            wire.eventually(lambda: self.names() == names, lambda: f"{names} are served\n{self.server.stderr}")

    def names(self) -> set[str]:
        return {tool["name"] for tool in self.server.request("tools/list", id=next(self.ids)).result["tools"]}

    def tell(self, what: str, method: str) -> None:
        """Who wanted to hear of it is told, once, under its own id."""
        for id, (wants, stream) in {"witness": self.witness, **self.listening}.items():
            if wants[what]:
                told = stream.message()
                assert told["method"] == method
                assert told["params"]["_meta"][wire.META + "subscriptionId"] == id

    # --- hanging up -----------------------------------------------------------------------------------------------

    def hangs_up(self) -> None:
        for id in list(self.running):
            self.cancel(id)
        for id in list(self.listening):
            self.listening.pop(id)[1].close()

    @rule()
    def hangs_up_on_everything(self) -> None:
        self.hangs_up()
        wire.eventually(lambda: self.census() == self.at_rest, lambda: f"{self.census()} instead of {self.at_rest}")
        wire.eventually(
            lambda: held(self.server.pid) == self.open, lambda: f"{held(self.server.pid)} instead of {self.open}"
        )
        assert not children(self.server.pid)

    def teardown(self) -> None:
        try:
            if hasattr(self, "at_rest"):
                self.end()
        finally:
            self.server.__exit__()
            shutil.rmtree(self.root)

    def end(self) -> None:
        """What runs is cancelled, who listens is told that it ends and nothing else, and nobody is left."""
        for id in list(self.running):
            self.cancel(id)
        self.listening["witness"] = self.witness
        listening = len(self.listening)
        wire.eventually(lambda: self.census()["listeners"] == listening)
        self.server.kill(15)
        for id, (_, stream) in self.listening.items():
            *before, last = stream.rest()
            assert last["id"] == id and last["result"]["resultType"] == "complete"
            assert all(note["method"] == "notifications/cancelled" for note in before), before
            stream.close()
        assert self.server.wait() == 0, self.server.stderr
        assert "Traceback" not in self.server.stderr, self.server.stderr


@pytest.mark.timeout(600)
def test_any_interleaving_leaves_nothing_behind(way: str) -> None:
    machine = type("Interleavings", (Interleavings,), {"way": way})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
