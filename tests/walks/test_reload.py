"""A real server is edited while real clients use it, over HTTP and over stdio.

Edits are made the way editors, git, Kubernetes and people make them. Nothing here depends on when something happens,
only on that it does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import wire

pytestmark = pytest.mark.timeout(180)
TOOLS = "notifications/tools/list_changed"
PROMPTS = "notifications/prompts/list_changed"
UPDATED = "notifications/resources/updated"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "manifests" / "m.yaml", tools("a", "b"))
    return tmp_path


@pytest.fixture
def manifest(root: Path) -> Path:
    return root / "manifests" / "m.yaml"


def tools(*names: str, text: str = "one") -> str:
    return "tools:\n" + "".join(f"  {name}:\n    description: Says {text}.\n    text: {text}\n" for name in names)


def numbered(many: int) -> list[str]:
    return [f"t{n:03}" for n in range(many)]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def rename_over(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.new")
    write(beside, text)
    beside.replace(path)


def listed(server: Any, method: str = "tools/list", key: str = "tools") -> list[str]:
    return [item["name"] for item in server.request(method).result[key]]


def serves(server: Any, *names: str) -> None:
    wire.eventually(lambda: listed(server) == sorted(names), f"{names} of {listed(server)}\n{server.stderr}")


def says(server: Any, tool: str, text: str, **arguments: Any) -> None:
    wire.eventually(lambda: server.call(tool, arguments).text == text, f"{tool} says {text}\n{server.stderr}")


def ready(server: wire.HttpServer) -> tuple[int, Any]:
    answer = server.send(b"", method="GET", path="/readyz")
    return answer.status, json.loads(answer.body)


class Listener:
    """Collects notifications of a listen stream, each with what ``at`` gave the moment it came."""

    def __init__(self, stream: wire.Stream, at: Callable[[], Any] = lambda: None) -> None:
        self.heard: list[tuple[dict[str, Any], Any]] = []
        self._stream, self._at = stream, at
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        try:
            while True:
                message = self._stream.message(patience=120)
                self.heard.append((message, self._at()))
        except (wire.StreamEnd, OSError, AssertionError, ValueError):
            return  # hung up

    def count(self, method: str = TOOLS) -> int:
        return sum(1 for message, _ in self.heard if message["method"] == method)

    def hears(self, many: int, method: str = TOOLS) -> None:
        wire.eventually(lambda: self.count(method) >= many, f"{many} {method} of {self.heard}")
        assert self.count(method) == many


@contextmanager
def listening(server: wire.HttpServer, at: Callable[[], Any] = lambda: None, **filter: Any) -> Iterator[Listener]:
    stream = server.listen(**filter)
    try:
        yield Listener(stream, at)
    finally:
        server.stop()  # ends the stream, and so the thread
        stream.close()


def test_an_edit_a_fault_and_its_mending_over_http(root: Path, manifest: Path) -> None:
    with wire.http(root / "manifests") as server, listening(server, toolsListChanged=True) as listener:
        manifest.write_text(tools("a", "b", "c"))
        serves(server, "a", "b", "c")
        listener.hears(1)
        server.says(r"reloaded .*\+c")
        manifest.write_text(tools("a", "b", "c") + "  d:\n    tex: oops\n")
        server.says(r"m\.yaml:\d+:\d+[\s\S]*\^\^\^")
        wire.eventually(lambda: ready(server)[0] == 503)
        assert str(root) not in str(ready(server))
        assert listed(server) == ["a", "b", "c"] and server.call("a").text == "one"
        manifest.write_text(tools("a", "b", "c", "d"))
        serves(server, "a", "b", "c", "d")
        server.says("recovered")
        assert ready(server)[0] == 200
        assert server.stderr.count("reload failed") == 1


def test_an_edit_a_fault_and_its_mending_over_stdio(root: Path, manifest: Path) -> None:
    with wire.stdio(root / "manifests") as server:
        serves(server, "a", "b")
        manifest.write_text(tools("a", "b", "c"))
        serves(server, "a", "b", "c")
        manifest.write_text("tools: [\n")
        server.says("reload failed")
        assert listed(server) == ["a", "b", "c"]
        manifest.write_text(tools("a", "c"))
        serves(server, "a", "c")
        server.says("recovered")


@pytest.mark.parametrize("location", ["manifests", "manifests/m.yaml"])
def test_W01_each_save_by_rename_is_one_reload_and_is_told_once(root: Path, manifest: Path, location: str) -> None:
    with wire.http(root / location) as server, listening(server, toolsListChanged=True) as listener:
        for count in (3, 4, 5):
            rename_over(manifest, tools(*numbered(count)))
            serves(server, *numbered(count))
            listener.hears(count - 2)
        assert server.stderr.count("reloaded") == 3


@pytest.mark.parametrize("location", ["conf", "conf/m.yaml"])
def test_W02_a_mounted_configuration_that_is_swapped_twice(root: Path, location: str) -> None:
    conf = root / "conf"
    write(conf / "..r0" / "m.yaml", tools("t0"))
    (conf / "..data").symlink_to("..r0")
    (conf / "m.yaml").symlink_to("..data/m.yaml")
    with wire.http(root / location) as server:
        for number in (1, 2):
            write(conf / f"..r{number}" / "m.yaml", tools(f"t{number}"))
            (conf / "..tmp").symlink_to(f"..r{number}")
            subprocess.run(["mv", "-T", conf / "..tmp", conf / "..data"], check=True)
            shutil.rmtree(conf / f"..r{number - 1}")
            serves(server, f"t{number}")
        assert server.says(r"reloaded .*revision=\w+")


def test_W04_without_any_event_an_edit_is_found(root: Path, manifest: Path) -> None:
    with wire.http(root / "manifests", env={"WATCHFILES_FORCE_POLLING": "1"}) as server:
        server.says("polling alone")
        before = manifest.stat()
        write(root / "other", tools("a", "c"))
        os.utime(root / "other", ns=(before.st_atime_ns, before.st_mtime_ns))
        subprocess.run(["cp", "-p", root / "other", manifest], check=True)
        assert (manifest.stat().st_mtime_ns, manifest.stat().st_size) == (before.st_mtime_ns, before.st_size)
        serves(server, "a", "c")
        os.utime(manifest)
        manifest.chmod(0o600)
        rename_over(manifest, tools("a", "c", "d"))
        serves(server, "a", "c", "d")
        assert server.stderr.count("reloaded") == 2


def test_W05_no_client_ever_sees_fewer_tools(root: Path, manifest: Path) -> None:
    manifest.write_text(tools(*numbered(5)))
    sizes: list[int] = []
    with wire.http(root / "manifests") as server:
        over = threading.Event()

        def sample() -> None:
            while not over.is_set():
                sizes.append(len(listed(server)))

        sampler = threading.Thread(target=sample)
        sampler.start()
        late = False
        try:
            for turn in range(10):
                half = tools(*numbered(2), text=str(turn))
                with manifest.open("w") as file:
                    began = time.monotonic()
                    file.write(half)
                    file.flush()
                    time.sleep(0.35)
                    file.write(tools(*numbered(5), text=str(turn))[len(half) :])
                late = late or time.monotonic() - began > 0.55  # a machine too busy to write in time proves nothing
                says(server, "t004", str(turn))
        finally:
            over.set()
            sampler.join()
    assert late or set(sizes) == {5}


def test_W05_only_a_manifest_that_says_so_empties_the_list(root: Path, manifest: Path) -> None:
    with wire.http(root / "manifests") as server:
        server.says("watching by")
        manifest.write_text("")
        wire.eventually(lambda: ready(server) == (503, {"ready": False, "reason": "not-ready"}))
        assert listed(server) == ["a", "b"]
        manifest.write_text("tools: {}\n")
        serves(server)
        assert ready(server)[0] == 200


def test_W06_a_file_that_is_away_for_a_while(root: Path, manifest: Path) -> None:
    with wire.http(manifest) as server:
        away = root / "m.bak"
        manifest.rename(away)
        server.says("not ready")
        assert server.call("a").text == "one" and ready(server)[0] == 503
        away.rename(manifest)
        server.says("recovered")
        assert listed(server) == ["a", "b"] and ready(server)[0] == 200
        assert server.stderr.count("not ready") == 1


def test_W06_one_of_several_files_is_deleted(root: Path, manifest: Path) -> None:
    write(root / "manifests" / "n.yaml", tools("c"))
    with wire.http(root / "manifests") as server, listening(server, toolsListChanged=True) as listener:
        manifest.unlink()
        serves(server, "c")
        listener.hears(1)


def test_W11_a_folder_moved_in_full(root: Path) -> None:
    write(root / "elsewhere" / "deep" / "x.yaml", tools("x"))
    with wire.http(root / "manifests") as server:
        (root / "elsewhere").rename(root / "manifests" / "new")
        serves(server, "a", "b", "x")
        rename_over(root / "manifests" / "new" / "deep" / "x.yaml", tools("x", "y"))
        serves(server, "a", "b", "x", "y")


def test_W14_a_client_that_still_knows_the_old_tools(root: Path, manifest: Path) -> None:
    def taking(kind: str) -> str:
        return f"tools:\n  t:\n    input: {{a: {kind}}}\n    text: got {{{{ a }}}}\n  stays:\n    text: here\n"

    manifest.write_text(taking("string"))
    with wire.http(root / "manifests") as server, listening(server, toolsListChanged=True) as listener:
        assert server.call("t", {"a": "x"}).text == "got x"
        manifest.write_text(taking("integer"))
        listener.hears(1)
        answer = server.call("t", {"a": "x"})
        assert answer.result["isError"] and "integer" in answer.text
        manifest.write_text("tools:\n  stays:\n    text: here\n")
        listener.hears(2)
        gone = server.call("t", {"a": "x"})
        assert gone.error["code"] == -32602 and "Unknown tool: t" in gone.error["message"]


def test_W15_a_helper_module_a_template_and_a_schema_file(root: Path, manifest: Path) -> None:
    write(root / "h" / "__init__.py", "")
    write(root / "h" / "main.py", "from h import inner\n\ndef go() -> str:\n    return inner.TEXT\n")
    write(root / "h" / "inner.py", "TEXT = 'one'\n")
    write(root / "templates" / "part" / "inner.j2", "one")
    write(root / "templates" / "page.j2", "page {% include 'part/inner.j2' %}")
    write(root / "schemas" / "s.json", '{"type": "object", "properties": {"n": {"type": "integer"}}}')
    manifest.write_text(
        "tools:\n  code: {python: 'h.main:go'}\n  page: {template: page.j2}\n"
        "  shaped: {inputSchema: schemas/s.json, text: fits}\n"
    )
    with wire.http(root / "manifests") as server:
        says(server, "code", "one")
        for text in ("two", "six"):  # of equal length, within one second: no stale bytecode may be served
            write(root / "h" / "inner.py", f"TEXT = '{text}'\n")
            says(server, "code", text)
        write(root / "templates" / "part" / "inner.j2", "two")
        says(server, "page", "page two")
        assert server.call("shaped", {"n": 1}).text == "fits"
        write(root / "schemas" / "s.json", '{"type": "object", "properties": {"n": {"type": "string"}}}')
        wire.eventually(lambda: server.call("shaped", {"n": 1}).result.get("isError"))


def test_W15_a_broken_module_leaves_the_old_one_and_a_missing_one_is_awaited(root: Path, manifest: Path) -> None:
    write(root / "entry.py", "def go() -> str:\n    return 'one'\n")
    manifest.write_text("tools:\n  t: {python: 'entry:go'}\n")
    with wire.http(root / "manifests") as server:
        says(server, "t", "one")
        write(root / "entry.py", "def go( -> str:\n")
        server.says("reload failed")
        assert server.call("t").text == "one"
        write(root / "entry.py", "import fresh\n\ndef go() -> str:\n    return fresh.TEXT\n")
        wire.eventually(lambda: server.stderr.count("reload failed") == 2)
        assert server.call("t").text == "one"
        write(root / "fresh.py", "TEXT = 'two'\n")
        says(server, "t", "two")


def test_W15_a_module_of_a_package_that_never_could_be_imported_is_mended(root: Path, manifest: Path) -> None:
    with wire.http(root / "manifests") as server:
        write(root / "h" / "main.py", "def go( -> str:\n")
        manifest.write_text("tools:\n  t: {python: 'h.main:go'}\n")
        server.says("reload failed")
        write(root / "h" / "main.py", "def go() -> str:\n    return 'mended'\n")
        serves(server, "t")
        says(server, "t", "mended")


def test_W16_files_that_belong_together_are_served_together(root: Path, manifest: Path) -> None:
    forms = root / "manifests" / "forms.yaml"

    def form(name: str) -> str:
        return f"forms:\n  {name}:\n    message: Well?\n    fields: {{x: string}}\n"

    def using(name: str) -> str:
        return f"tools:\n  t:\n    description: Uses {name}.\n    ask:\n      q: {{form: {name}}}\n    text: done\n"

    write(forms, form("f0"))
    manifest.write_text(using("f0"))
    with wire.http(root / "manifests") as server:

        def describes(text: str) -> bool:
            return bool(server.request("tools/list").result["tools"][0]["description"] == text)

        for number in range(1, 6):
            misspelt = number == 3
            manifest.write_text(using(f"f{number}"))
            time.sleep(0.2)
            write(forms, form(f"f{number}x" if misspelt else f"f{number}"))
            if misspelt:
                server.says("reload failed")
                assert not describes("Uses f3.")
                continue
            wire.eventually(partial(describes, f"Uses f{number}."), server.stderr)
        server.says("recovered")


def test_W16_a_call_in_flight_finishes_on_what_it_began_with(root: Path, manifest: Path) -> None:
    write(
        root / "entry.py",
        "import pathlib, time\n\n"
        "def go(folder: str) -> str:\n"
        "    here = pathlib.Path(folder)\n"
        "    (here / 'began').touch()\n"
        "    while not (here / 'go_on').exists():\n"
        "        time.sleep(0.01)\n"
        "    return 'old'\n",
    )
    manifest.write_text("tools:\n  t: {input: {folder: string}, python: 'entry:go'}\n  u: {text: one}\n")
    with wire.http(root / "manifests") as server:
        found: list[str] = []
        caller = threading.Thread(target=lambda: found.append(server.call("t", {"folder": str(root)}).text))
        caller.start()
        wire.eventually((root / "began").exists)
        write(root / "entry.py", "def go(folder: str) -> str:\n    return 'new'\n")
        says(server, "t", "new", folder="x")
        manifest.write_text("tools:\n  u: {text: two}\n")
        serves(server, "u")
        (root / "go_on").touch()
        caller.join(wire.PATIENCE)
        assert found == ["old"]


def test_N04_one_save_is_told_once_and_what_changes_nothing_not_at_all(root: Path, manifest: Path) -> None:
    kinds: dict[str, Any] = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    with wire.http(root / "manifests") as server, listening(server, **kinds) as listener:
        rename_over(manifest, tools(*numbered(200)))
        listener.hears(1)
        for _ in range(50):
            manifest.touch()
        rename_over(manifest, "# a comment\n" + tools(*numbered(200)))
        prompt = "prompts:\n  p:\n    messages: [{user: hello}]\n"
        rename_over(root / "manifests" / "p.yaml", prompt)
        listener.hears(1, PROMPTS)
        rename_over(manifest, tools(*numbered(201)))
        listener.hears(2)
        assert len(listener.heard) == 3


def test_N10_whoever_hears_of_a_change_finds_it(root: Path, manifest: Path) -> None:
    with wire.http(root / "manifests") as server:
        with listening(server, lambda: listed(server), toolsListChanged=True) as listener:
            for count in range(3, 23):
                rename_over(manifest, tools(*numbered(count)))
                listener.hears(count - 2)
        assert [len(seen) for _, seen in listener.heard] == list(range(3, 23))


def test_N10_a_served_file_is_new_when_its_update_is_heard(root: Path, manifest: Path) -> None:
    manifest.write_text("resources:\n  note: {uri: note://one, mimeType: text/plain, file: note.txt}\n")
    write(root / "note.txt", "zero")

    with wire.http(root / "manifests") as server:
        server.says("watching by")

        def read() -> str:
            found: str = server.request("resources/read", {"uri": "note://one"}).result["contents"][0]["text"]
            return found

        with listening(server, read, resourceSubscriptions=["note://one"]) as listener:
            for number, text in enumerate(("first", "second"), 1):
                rename_over(root / "note.txt", text)
                listener.hears(number, UPDATED)
            manifest.write_text("resources: [broken\n")
            server.says("reload failed")
            rename_over(root / "note.txt", "while broken")
            listener.hears(3, UPDATED)
        assert [seen for _, seen in listener.heard] == ["first", "second", "while broken"]
        assert {message["params"]["uri"] for message, _ in listener.heard} == {"note://one"}


def test_a_checkout_of_another_branch(root: Path, manifest: Path) -> None:
    def git(*words: str) -> None:
        known = ("-c", "user.name=Ada", "-c", "user.email=ada@example.test", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *known, *words], cwd=root, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    manifest.unlink()
    write(root / "manifests" / "sub" / "x.yaml", tools("x", "y"))
    git("add", "-A")
    git("commit", "-qm", "two")
    with wire.http(root / "manifests") as server:
        for branch, names in (("main", "ab"), ("other", "xy"), ("main", "ab")):
            git("checkout", "-q", branch)
            serves(server, *names)
