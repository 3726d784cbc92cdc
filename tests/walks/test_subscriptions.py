"""Subscribe and notify over both transports: what is acknowledged, what is heard, and how a subscription ends.

That a client hears nothing more is shown by a marker: an update of ``mark://it``, and what came before it.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks.conftest import Start, project
from tests.walks.processes import descriptors, memory

pytestmark = pytest.mark.timeout(240)
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TOOLS, PROMPTS, RESOURCES = (f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources"))
UPDATED = "notifications/resources/updated"
MARK = "mark://it"
SUBSCRIPTION = wire.META + "subscriptionId"

TELL = """
    import asyncio
    from pathlib import Path
    from mcpdecl import Context

    def touch(uri: str, ctx: Context) -> str:
        ctx.notify_updated(uri)
        return "told"

    async def touch_async(uri: str, ctx: Context) -> str:
        await asyncio.sleep(0)
        ctx.notify_updated(uri)
        return "told"

    def flood(times: int, done: str, ctx: Context) -> str:
        for time in range(times):
            ctx.notify_updated(f"long://{time % 50}/" + "x" * 4000)
        for last in range(10):
            ctx.notify_updated(f"last://{last}")
        Path(done).touch()
        return "flooded"

    async def flood_async(times: int, done: str, ctx: Context) -> str:
        return flood(times, done, ctx)
"""
TELLERS = """
    touch: {input: {uri: string}, python: "tell:touch"}
    touch_async: {input: {uri: string}, python: "tell:touch_async"}
    flood: {input: {times: integer, done: string}, python: "tell:flood"}
    flood_async: {input: {times: integer, done: string}, python: "tell:flood_async"}
"""
MANIFEST = f"""
  tools: {TELLERS}
  resources:
    note: {{uri: "note://one", mimeType: text/plain, file: note.txt}}
    item: {{uriTemplate: "item://{{name}}", text: "{{{{ name }}}}"}}
"""
PROJECT = {"manifests/m.yaml": MANIFEST, "tell.py": TELL, "note.txt": "zero"}


def numbered(many: int, text: str = "one") -> str:
    return "tools:\n" + "".join(f"  t{n:03}: {{description: A., text: {text}}}\n" for n in range(many))


def rewritten(path: Path, text: str) -> None:
    """Replace a file at once, as editors do."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    beside.replace(path)


def answered(server: Any, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """The result of a request. What comes meanwhile for subscriptions is left to them."""
    with server.begin(method, params, id="asked") as pending:
        (answer,) = pending.rest()
    result: dict[str, Any] = answer["result"]
    return result


def touched(server: Any, uri: str, tool: str = "touch") -> None:
    told = answered(server, "tools/call", {"name": tool, "arguments": {"uri": uri}})
    assert told["content"] == [{"type": "text", "text": "told"}]


def until_mark(server: Any, subscription: Any) -> list[dict[str, Any]]:
    """Everything that a subscription hears before a marker that is sent now."""
    touched(server, MARK)
    heard = [subscription.message()]
    while heard[-1]["params"].get("uri") != MARK:
        heard.append(subscription.message())
    return heard[:-1]


def methods(messages: list[dict[str, Any]]) -> list[str]:
    return [message["method"] for message in messages]


def listed(server: Any) -> list[str]:
    return [tool["name"] for tool in answered(server, "tools/list")["tools"]]


def watched(server: Any) -> Any:
    server.says("watching by")
    return server


# --- what is acknowledged ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [0, -7, 2**53, "", "0", "an id / ü\n"])
def test_the_acknowledgement_is_first_and_holds_what_is_honoured(served: Any, id: Any) -> None:
    asked = {
        "toolsListChanged": True,
        "promptsListChanged": False,
        "resourcesListChanged": None,
        "resourceSubscriptions": ["note://one", "no uri", "item://a", "unknown://x", "note://one", MARK],
        "tasksChanged": True,
    }
    with served.begin("subscriptions/listen", {"notifications": asked}, id=id) as subscription:
        uris = ["note://one", "item://a", "unknown://x", MARK]
        assert subscription.message() == {
            "jsonrpc": "2.0",
            "method": ACKNOWLEDGED,
            "params": {
                "_meta": {SUBSCRIPTION: id},
                "notifications": {"toolsListChanged": True, "resourceSubscriptions": uris},
            },
        }
        touched(served, "item://a")
        touched(served, "never://asked-for")
        (heard,) = until_mark(served, subscription)
        assert heard["params"] == {"_meta": {SUBSCRIPTION: id}, "uri": "item://a"}


def test_who_asks_for_nothing_is_acknowledged_and_hears_nothing(served: Any) -> None:
    with served.begin("subscriptions/listen", {"notifications": {}}, id="nothing") as subscription:
        assert subscription.message()["params"]["notifications"] == {}
        with served.listen(id="other", resourceSubscriptions=[MARK]) as other:
            assert until_mark(served, other) == []
        subscription.cancel()
        if isinstance(served, wire.StdioServer):  # all that was said is in one channel
            assert served._kept == []


@pytest.mark.parametrize(
    "notifications",
    [
        None,
        [],
        "tools",
        {"toolsListChanged": 1},
        {"promptsListChanged": "yes"},
        {"resourcesListChanged": {}},
        {"resourceSubscriptions": "note://one"},
        {"resourceSubscriptions": [5]},
        {"resourceSubscriptions": {"uri": "note://one"}},
        {"resourceSubscriptions": [f"note://{n}/{'x' * 1000}" for n in range(300)]},
    ],
)
def test_an_invalid_filter_is_refused_with_its_id(served: Any, notifications: Any) -> None:
    refused = served.request("subscriptions/listen", {"notifications": notifications}, id="bad")
    assert refused.error["code"] == -32602
    assert "notifications" in refused.error["message"]
    answer = refused.json if isinstance(refused, wire.Answer) else refused.answer
    assert answer["id"] == "bad"
    with served.listen(id="bad", toolsListChanged=True):
        pass


def test_N01_a_server_that_does_not_watch_offers_and_honours_nothing(start: Start) -> None:
    server = start(PROJECT, "--no-watch")
    capabilities = server.request("server/discover").result["capabilities"]
    assert capabilities == {"tools": {}, "resources": {}, "completions": {}, "logging": {}}
    asked = {"toolsListChanged": True, "resourcesListChanged": True, "resourceSubscriptions": [MARK]}
    with server.begin("subscriptions/listen", {"notifications": asked}, id="s") as subscription:
        assert subscription.message()["params"]["notifications"] == {}
        wrong = {"notifications": {"resourceSubscriptions": [5]}}
        assert server.request("subscriptions/listen", wrong, id="w").error["code"] == -32602
        touched(server, MARK)
        assert server.stop() == 0
        assert [message["id"] for message in subscription.rest()] == ["s"]


def test_N01_a_kind_without_entries_is_offered_for_its_first_may_come(start: Start, tmp_path: Path) -> None:
    server = watched(start({"manifests/m.yaml": numbered(1)}))
    capabilities = server.request("server/discover").result["capabilities"]
    assert capabilities["tools"] == capabilities["prompts"] == {"listChanged": True}
    assert capabilities["resources"] == {"listChanged": True, "subscribe": True}
    everything = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    with server.begin("subscriptions/listen", {"notifications": everything}, id="s") as subscription:
        assert subscription.message()["params"]["notifications"] == everything
        project(tmp_path, {"manifests/p.yaml": "prompts: {p: {messages: [{user: hello}]}}"})
        assert subscription.message()["method"] == PROMPTS
        project(tmp_path, {"manifests/r.yaml": "resources: {r: {uriTemplate: 'r://{x}', text: '{{ x }}'}}"})
        assert subscription.message()["method"] == RESOURCES


# --- what is heard -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["touch", "touch_async"])
@pytest.mark.parametrize("uri", ["item://of-a-template", "unknown://of-nothing"])
def test_a_callable_announces(served: Any, tool: str, uri: str) -> None:
    with served.listen(id="s", resourceSubscriptions=[uri, MARK]) as subscription:
        touched(served, uri, tool)
        assert subscription.message()["params"]["uri"] == uri
        assert until_mark(served, subscription) == []


def test_each_subscription_hears_its_own(start: Start, tmp_path: Path) -> None:
    server = watched(start(PROJECT))
    manifests = tmp_path / "manifests"
    with (
        server.listen(id=0, toolsListChanged=True, resourceSubscriptions=[MARK]) as tools,
        server.listen(id="0", promptsListChanged=True, resourceSubscriptions=[MARK]) as prompts,
        server.listen(id="both", toolsListChanged=True, promptsListChanged=True) as both,
        server.listen(id="uris", resourceSubscriptions=["note://one", "item://a", MARK]) as uris,
    ):
        rewritten(manifests / "t.yaml", numbered(1))
        assert both.message()["method"] == TOOLS
        rewritten(manifests / "p.yaml", "prompts: {p: {messages: [{user: hello}]}}")
        assert both.message()["method"] == PROMPTS
        touched(server, "item://a")
        touched(server, "item://b")
        heard = {"tools": until_mark(server, tools), "prompts": until_mark(server, prompts)}
        heard["uris"] = until_mark(server, uris)
        marks = {name: [m for m in found if m["params"].get("uri") != MARK] for name, found in heard.items()}
        assert {name: methods(found) for name, found in marks.items()} == {
            "tools": [TOOLS],
            "prompts": [PROMPTS],
            "uris": [UPDATED],
        }
        ids = {name: {repr(m["params"]["_meta"][SUBSCRIPTION]) for m in found} for name, found in heard.items()}
        assert ids == {"tools": {"0"}, "prompts": {"'0'"}, "uris": {"'uris'"}}


def test_a_file_is_heard_of_when_it_is_edited_and_reads_new_by_then(start: Start, tmp_path: Path) -> None:
    server = watched(start(PROJECT))
    with server.listen(id="s", resourceSubscriptions=["note://one"], resourcesListChanged=True) as subscription:
        for text in map(str, range(20)):
            rewritten(tmp_path / "note.txt", text)
            assert subscription.message()["params"] == {"_meta": {SUBSCRIPTION: "s"}, "uri": "note://one"}
            read = answered(server, "resources/read", {"uri": "note://one"})
            assert read["contents"][0]["text"] == text


def test_N04_one_save_is_one_notification_and_what_changes_nothing_none(start: Start, tmp_path: Path) -> None:
    server = watched(start({**PROJECT, "manifests/n.yaml": numbered(1)}))
    manifest = tmp_path / "manifests" / "n.yaml"
    asked: dict[str, Any] = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    with server.listen(id="s", **asked, resourceSubscriptions=[MARK]) as subscription:
        rewritten(manifest, numbered(200))
        assert subscription.message()["method"] == TOOLS
        assert len(listed(server)) == 204
        assert until_mark(server, subscription) == []
        for _ in range(50):
            manifest.touch()
        rewritten(manifest, "# a comment\n" + numbered(200))
        server.says(r"reloaded[^\n]*\n(.*\n)*[^\n]*reloaded")
        rewritten(tmp_path / "manifests" / "p.yaml", "prompts: {p: {messages: [{user: hello}]}}")
        assert subscription.message()["method"] == PROMPTS
        assert until_mark(server, subscription) == []


def test_N08_several_workers_do_not_exist(tmp_path: Path) -> None:
    manifests = project(tmp_path, {"manifests/m.yaml": numbered(1)})
    words = wire.command(manifests, "--port", "0", "--workers", "4")
    refused = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert refused.returncode == 2
    assert "No such option '--workers'" in refused.stderr
    assert "serving" not in refused.stderr


def test_N09_an_edit_right_after_the_acknowledgement_is_never_lost(start: Start, tmp_path: Path) -> None:
    server = start({"manifests/m.yaml": numbered(1)})
    for number in range(2, 22):
        with server.listen(id=number, toolsListChanged=True) as subscription:
            rewritten(tmp_path / "manifests" / "m.yaml", numbered(number))
            assert subscription.message()["method"] == TOOLS
            assert len(listed(server)) == number


def test_N10_whoever_hears_of_a_reload_finds_it(start: Start, tmp_path: Path) -> None:
    server = watched(start({"manifests/m.yaml": numbered(1)}))
    with server.listen(id="s", toolsListChanged=True) as subscription:
        for number in range(2, 62):
            rewritten(tmp_path / "manifests" / "m.yaml", numbered(number))
            assert subscription.message()["method"] == TOOLS
            assert f"t{number - 1:03}" in listed(server)


@pytest.mark.parametrize(("options", "least", "most"), [((), 1, 5_000), (("--no-watch",), 60_000, 3_600_000)])
def test_N13_lists_carry_hints_that_are_short_where_files_are_watched(
    start: Start, options: tuple[str, ...], least: int, most: int
) -> None:
    server = start(PROJECT, *options)
    lists = ("tools/list", "resources/list", "resources/templates/list", "server/discover")
    for method in lists:
        result = server.request(method).result
        assert least <= result["ttlMs"] <= most
        assert result["cacheScope"] == "public"
    read = server.request("resources/read", {"uri": "note://one"}).result
    assert (read["ttlMs"], read["cacheScope"]) == (0, "private")


# --- how it ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_N12_who_listens_at_the_end_gets_a_final_result(start: Start, number: signal.Signals) -> None:
    server = start(PROJECT)
    with (
        server.listen(id=0, toolsListChanged=True) as first,
        server.listen(id="second", resourceSubscriptions=[MARK]) as second,
    ):
        touched(server, MARK)
        assert server.stop(number) == (130 if number is signal.SIGINT else 0)
        told, final = second.rest()
        assert told["params"]["uri"] == MARK
        assert (final["id"], final["result"]["_meta"][SUBSCRIPTION]) == ("second", "second")
        (final,) = first.rest()
        assert (final["id"], final["result"]["resultType"]) == (0, "complete")
        assert final["result"]["_meta"][SUBSCRIPTION] == 0


def test_N12_so_does_who_ends_the_input_of_a_server_of_his_own(tmp_path: Path) -> None:
    with wire.stdio(project(tmp_path, PROJECT), cwd=tmp_path) as server:
        server.listen(id="s", toolsListChanged=True)
        server.end_input()
        (final,) = server.rest()
        assert (final["id"], final["result"]["_meta"][SUBSCRIPTION]) == ("s", "s")
        assert server.wait() == 0


def test_a_subscription_that_was_ended_hears_nothing_and_its_id_is_free(served: Any) -> None:
    for _ in range(3):
        with served.listen(id="again", resourceSubscriptions=["item://a"]):
            pass
        with served.listen(id="mark", resourceSubscriptions=[MARK]) as other:
            touched(served, "item://a")
            assert until_mark(served, other) == []
        if isinstance(served, wire.StdioServer):
            assert served._kept == []


def test_an_id_that_listens_is_not_taken_by_another(way: str, served: Any) -> None:
    with served.listen(id="twice", resourceSubscriptions=[MARK]) as first:
        second = served.begin("subscriptions/listen", {"notifications": {}}, id="twice")
        answer = second.message()
        # over HTTP each POST is a conversation of its own
        assert answer.get("method") == ACKNOWLEDGED if way == "http" else answer["error"]["code"] == -32600
        if way == "http":
            second.close()
        assert until_mark(served, first) == []


def reset(connection: socket.socket) -> None:
    """Vanish: the other end gets a reset instead of a farewell."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def asked(server: wire.HttpServer, filter: dict[str, Any], id: Any) -> bytes:
    """The bytes of a listen request."""
    body = json.dumps(wire.message("subscriptions/listen", {"notifications": filter}, id=id)).encode()
    headers = {**wire.headers_of(json.loads(body)), "Host": "localhost", "Content-Length": len(body)}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {server.path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def test_clients_that_vanish_leave_nothing_behind(way: str, start: Start) -> None:
    server = watched(start(PROJECT))
    touched(server, MARK)
    before = descriptors(server.pid)
    for _ in range(3):
        if way == "http":
            sockets = [socket.create_connection((server.host, server.port)) for _ in range(50)]
            for number, sock in enumerate(sockets):
                sock.sendall(asked(server, {"toolsListChanged": True, "resourceSubscriptions": [MARK]}, number))
            for sock in sockets:
                while b"acknowledged" not in sock.recv(65536):
                    pass
            assert descriptors(server.pid) > 50
            for sock in sockets:
                reset(sock)
        else:
            for number in range(50):
                server.listen(id=number, toolsListChanged=True, resourceSubscriptions=[MARK]).close()
        wire.eventually(lambda: descriptors(server.pid) <= before, "descriptors as before")
    with server.listen(id=0, resourceSubscriptions=[MARK]) as subscription:
        assert until_mark(server, subscription) == []


# --- bounds ------------------------------------------------------------------------------------------------------

BOUNDED = """
import functools, mcpdecl.server as room
from mcpdecl.cli import main
room.Listeners = functools.partial(room.Listeners, in_all=3, for_each=2)
main(prog_name="mcpdecl")
"""


@pytest.fixture
def bounded(way: str, tmp_path: Path) -> Iterator[Any]:
    argv = [sys.executable, "-c", BOUNDED, "serve", str(project(tmp_path, PROJECT))]
    with getattr(wire, way)(argv=argv) as server:
        yield server


def test_a_caller_has_so_many_subscriptions_and_is_told(bounded: Any) -> None:
    with bounded.listen(id=1), bounded.listen(id=2):
        refused = bounded.request("subscriptions/listen", {"notifications": {}}, id=3)
        assert refused.error["code"] == -32603
        assert refused.error["message"] == "Too many listeners; close some, or try again later."
        touched(bounded, MARK)
    wire.eventually(lambda: accepted(bounded))


def accepted(server: Any) -> bool:
    with server.begin("subscriptions/listen", {"notifications": {}}, id="again") as subscription:
        return bool(subscription.message().get("method") == ACKNOWLEDGED)


def test_a_server_has_so_many_subscriptions_and_says_so(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", BOUNDED, "serve", str(project(tmp_path, PROJECT))]
    with wire.http(argv=argv) as server, ExitStack() as open_:
        answers = []
        for number in range(4):
            address = f"127.0.0.{number // 2 + 2}"  # two callers, of two subscriptions each
            sock = open_.enter_context(socket.create_connection((server.host, server.port), 15, (address, 0)))
            sock.sendall(asked(server, {}, number))
            answers.append(sock.recv(65536))
        assert [answer.split(b" ", 2)[1] for answer in answers] == [b"200"] * 3 + [b"503"]


def test_streams_that_have_nothing_to_say_are_kept_alive(tmp_path: Path) -> None:
    soon = "from mcpdecl.transports import http; http.KEEP_ALIVE = 0.01"
    program = f"{soon}\nfrom mcpdecl.cli import main\nmain(prog_name='mcpdecl')"
    argv = [sys.executable, "-c", program, "serve", str(project(tmp_path, PROJECT))]
    with wire.http(argv=argv) as server, server.listen(id="s", resourceSubscriptions=[MARK]) as stream:

        def kept() -> bool:
            assert until_mark(server, stream) == []
            return bool(stream.comments >= 3)

        wire.eventually(kept)


# --- slow readers ------------------------------------------------------------------------------------------------

LONG = [f"long://{number}/{'x' * 4000}" for number in range(50)]
LAST = [f"last://{number}" for number in range(10)]
FLOOD = 60_000


class Slow:
    """A client that subscribes to all that a flood announces and reads nothing until it is told to."""

    def __init__(self, server: Any, read: Any) -> None:
        self.server = server
        self._read = read
        self._rest = b""

    def line(self) -> bytes:
        while b"\n" not in self._rest:
            found = self._read(65536)
            assert found, "the end"
            self._rest += found
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def message(self) -> dict[str, Any]:
        while not (line := self.line().strip().removeprefix(b"data: ")).startswith(b"{"):
            pass
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def slow(way: str, root: Path) -> Iterator[Slow]:
    filter = {"resourceSubscriptions": [*LONG, *LAST, MARK]}
    if way == "http":
        with wire.http(project(root, PROJECT), cwd=root) as server, socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            sock.settimeout(wire.PATIENCE)
            sock.connect((server.host, server.port))
            sock.sendall(asked(server, filter, "slow"))
            yield Slow(server, sock.recv)
        return
    source, sink = os.pipe()
    with wire.stdio(project(root, PROJECT), cwd=root, stdout=sink) as server:
        os.close(sink)
        server.send(wire.message("subscriptions/listen", {"notifications": filter}, id="slow"))
        yield Slow(server, lambda size: os.read(source, size))
    os.close(source)


@pytest.mark.parametrize("tool", ["flood", "flood_async"])
def test_a_slow_reader_costs_little_and_misses_nothing(way: str, tmp_path: Path, tool: str) -> None:
    with slow(way, tmp_path) as reader:
        server = reader.server
        assert reader.message()["method"] == ACKNOWLEDGED
        before = memory(server.pid)
        for round in range(3):
            done = tmp_path / f"done{round}"
            asking = {"name": tool, "arguments": {"times": FLOOD, "done": str(done)}}
            if way == "http":
                quick = server.listen(id="quick", resourceSubscriptions=[LONG[0], LAST[0]])
                with quick, server.begin("tools/call", asking) as flood:
                    while quick.message()["params"]["uri"] != LAST[0]:
                        pass
                    flood.message()
            else:
                server.send(wire.message("tools/call", asking, id=f"flood{round}"))
            wire.eventually(done.exists, patience=60)
            assert memory(server.pid) - before < 48_000_000
        mark(way, server)
        heard: list[str] = []
        while heard[-1:] != [MARK]:
            message = reader.message()
            if "method" in message:
                heard.append(message["params"]["uri"])
        assert set(heard) == {*LONG, *LAST, MARK}
        assert len(heard) < FLOOD / 10
        mark(way, server)
        while (message := reader.message()).get("params", {}).get("uri") != MARK:
            assert "method" not in message


def mark(way: str, server: Any) -> None:
    if way == "http":
        touched(server, MARK)
    else:
        server.send(wire.message("tools/call", {"name": "touch", "arguments": {"uri": MARK}}, id="touch"))


def test_a_slow_reader_that_vanishes_leaves_nothing_behind(tmp_path: Path) -> None:
    with wire.http(project(tmp_path, PROJECT), cwd=tmp_path) as server, socket.socket() as sock:
        touched(watched(server), MARK)
        before = descriptors(server.pid)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect((server.host, server.port))
        sock.sendall(asked(server, {"resourceSubscriptions": LONG}, "slow"))
        for _ in range(30):
            assert server.call("flood", {"times": 100, "done": str(tmp_path / "done")}).text == "flooded"
        reset(sock)
        wire.eventually(lambda: descriptors(server.pid) <= before)
        assert server.stop() == 0
        assert "Traceback" not in server.stderr


# --- many --------------------------------------------------------------------------------------------------------

MANY = 5_000


@pytest.fixture
def many() -> Iterator[int]:
    """5,000, or as many sockets as this machine lets a process have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    room = MANY if hard == resource.RLIM_INFINITY else min(MANY, hard - 300)
    if room < MANY:
        print(f"only {room} subscribers: a process may have no more than {hard} descriptors here")
    yield room
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_thousands_of_subscriptions_in_one_channel(tmp_path: Path) -> None:
    with wire.stdio(project(tmp_path, PROJECT), cwd=tmp_path) as server:
        watched(server)
        before = memory(server.pid)
        filter = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [MARK]}}
        for number in range(MANY):
            server.send(wire.message("subscriptions/listen", filter, id=number))
        assert ids([server.message() for _ in range(MANY)], ACKNOWLEDGED) == list(range(MANY))
        print(f"{MANY} subscriptions over stdio: {(memory(server.pid) - before) / 1e6:.0f} MB")
        rewritten(tmp_path / "manifests" / "n.yaml", numbered(1))
        assert ids([server.message() for _ in range(MANY)], TOOLS) == list(range(MANY))
        server.send(wire.message("tools/call", {"name": "touch", "arguments": {"uri": MARK}}, id="touch"))
        said = [server.message() for _ in range(MANY + 1)]
        assert ids([message for message in said if "method" in message], UPDATED) == list(range(MANY))
        for number in range(MANY):
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        rewritten(tmp_path / "manifests" / "n.yaml", numbered(2))
        wire.eventually(lambda: len(listed(server)) == 6)
        with server.listen(id=0, resourceSubscriptions=[MARK]) as subscription:
            assert until_mark(server, subscription) == []
        assert server._kept == []


def test_a_flood_that_thousands_hear_holds_nobody_up(tmp_path: Path) -> None:
    with wire.stdio(project(tmp_path, PROJECT), cwd=tmp_path) as server:
        for number in range(2_000):
            filter = {"notifications": {"resourceSubscriptions": [LAST[0]]}}
            server.send(wire.message("subscriptions/listen", filter, id=number))
        assert ids([server.message() for _ in range(2_000)], ACKNOWLEDGED) == list(range(2_000))
        flood = {"name": "flood", "arguments": {"times": 20_000, "done": str(tmp_path / "done")}}
        with server.begin("tools/call", flood, id="flood") as flooding:
            assert flooding.message()["result"]["content"][0]["text"] == "flooded"
        assert "touch" in listed(server)


def ids(messages: list[dict[str, Any]], method: str) -> list[int]:
    assert {message["method"] for message in messages} == {method}
    return sorted(message["params"]["_meta"][SUBSCRIPTION] for message in messages)


@pytest.mark.timeout(300)
def test_thousands_of_subscribers_on_one_server(tmp_path: Path, many: int) -> None:
    with wire.http(project(tmp_path, PROJECT), cwd=tmp_path) as server:
        watched(server)
        before, room = descriptors(server.pid), memory(server.pid)

        async def one(number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_connection(server.host, server.port)
            writer.write(asked(server, {"toolsListChanged": True, "resourceSubscriptions": [MARK]}, number))
            assert ACKNOWLEDGED.encode() in await event(reader)
            return reader, writer

        async def event(reader: asyncio.StreamReader) -> bytes:
            while not (line := await reader.readline()).startswith(b"data: "):
                assert line
            return line

        async def walk() -> None:
            everybody: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
            for begin in range(0, many, 250):
                everybody += await asyncio.gather(*map(one, range(begin, min(many, begin + 250))))
            print(f"{many} subscribers over HTTP: {(memory(server.pid) - room) / 1e6:.0f} MB")
            assert descriptors(server.pid) >= many
            rewritten(tmp_path / "manifests" / "n.yaml", numbered(1))
            heard = await asyncio.gather(*(event(reader) for reader, _ in everybody))
            assert all(TOOLS.encode() in line for line in heard)
            await asyncio.to_thread(touched, server, MARK)
            heard = await asyncio.gather(*(event(reader) for reader, _ in everybody))
            assert all(MARK.encode() in line for line in heard)
            for _, writer in everybody:
                writer.transport.abort()

        asyncio.run(asyncio.wait_for(walk(), 240))
        wire.eventually(lambda: descriptors(server.pid) <= before, "descriptors as before")
        with server.listen(id=0, resourceSubscriptions=[MARK]) as subscription:
            assert until_mark(server, subscription) == []
        assert server.stop() == 0
        assert "Traceback" not in server.stderr
