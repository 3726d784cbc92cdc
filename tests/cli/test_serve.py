from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mcpdecl.cli.serve import Stop, keyring_of
from tests import wire

MADE = [sys.executable, "-m", "tests.made"]
SECRET = "a secret of at least thirty-two characters"


def ended(words: list[str], **env: str) -> tuple[int, str]:
    """Run something that ends by itself: its exit code and stderr. Nothing may be on stdout."""
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        cwd=wire.ROOT,
        env={**os.environ, **env},
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def write(folder: Path, text: str) -> Path:
    place = folder / "manifests"
    place.mkdir()
    (place / "tools.yaml").write_text(text)
    return place


HELLO = """
server: {name: hello, version: 1.0.0}
tools:
  hello:
    description: Greets.
    input: {name: string}
    text: "Hello, {{ name }}!"
"""


# --- keys ------------------------------------------------------------------------------------------------------


def test_keys_open_what_the_newest_sealed() -> None:
    old, new = (
        keyring_of(SECRET),
        keyring_of(f"another secret, thirty-two or longer, {SECRET}".replace(", ", " - ") + "," + SECRET),
    )
    assert new.open(old.seal({"a": 1})) == {"a": 1}
    assert keyring_of(None).open is not None
    assert keyring_of("  ") is not None


@pytest.mark.parametrize("keys", ["short", f"{SECRET},short", f"{SECRET},", ","])
def test_short_keys_are_refused_without_being_shown(keys: str) -> None:
    with pytest.raises(Stop, match="MCPDECL_KEYS: key") as found:
        keyring_of(keys)
    assert found.value.code == 2
    assert "short" not in found.value.message


def test_bad_keys_end_with_2() -> None:
    for more in (["--port", "0"], ["--stdio"]):
        code, said = ended([*MADE, *more], MCPDECL_KEYS="short")
        assert code == 2
        assert len(said.splitlines()) == 1
        assert "MCPDECL_KEYS" in said


def test_E07_a_state_outlives_a_restart_with_the_same_key() -> None:
    state = keyring_of(SECRET).seal({"a": 1})
    assert keyring_of(f"{SECRET[::-1]},{SECRET}").open(state) == {"a": 1}


# --- addresses -------------------------------------------------------------------------------------------------


def test_O02_a_busy_port_is_one_line_and_1() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = ended([*MADE, "--port", str(port)])
    assert code == 1
    assert said.strip() == f"error[cannot-listen]: port {port} is in use (127.0.0.1); choose another with --port"


def test_O02_port_0_prints_the_port_that_was_chosen() -> None:
    with wire.http(argv=MADE) as server:
        assert server.port > 0
        assert server.request("tools/list").status == 200


def test_the_path_may_be_chosen() -> None:
    with wire.http(argv=[*MADE, "--path", "/a/b"]) as server:
        assert server.path == "/a/b"
        assert server.request("tools/list").status == 200
        assert server.send(b"{}", path="/mcp").status == 404


@pytest.mark.parametrize("path", ["/", "", "mcp", "/healthz", "/a b", "/a?b"])
def test_odd_paths(path: str) -> None:
    if path in ("/", "mcp"):
        with wire.http(argv=[*MADE, "--path", path]) as server:
            assert server.request("tools/list").status == 200
    else:
        code, said = ended([*MADE, "--port", "0", "--path", path])
        assert code == 2
        assert "--path" in said


def test_H04_binding_beyond_this_machine_needs_hosts_and_a_word() -> None:
    hosts = json.dumps({"hosts": ["box.test"]})
    words = [*MADE, "--port", "0", "--host", "0.0.0.0"]  # noqa: S104 - it is refused
    code, said = ended(words)
    assert code == 2
    assert "server.hosts" in said
    assert "--unauthenticated" in said
    code, said = ended(words, MADE_SETTINGS=hosts)
    assert code == 2
    assert "server.hosts" not in said
    code, said = ended([*words, "--unauthenticated"])
    assert code == 2
    assert "--unauthenticated" not in said


# --- manifests -------------------------------------------------------------------------------------------------


def test_a_manifest_is_served(tmp_path: Path) -> None:
    with wire.http(write(tmp_path, HELLO)) as server:
        assert server.call("hello", {"name": "World"}).text == "Hello, World!"
        assert "1 tool" in server.stderr
        assert server.stop() == 0
    with wire.stdio(tmp_path / "manifests") as client:
        assert client.call("hello", {"name": "World"}).text == "Hello, World!"
        client.end_input()
        assert client.wait() == 0


def test_N01_without_watching_no_change_is_promised(tmp_path: Path) -> None:
    place = write(tmp_path, HELLO)
    with wire.stdio(place, "--no-watch") as server:
        assert "listChanged" not in json.dumps(server.request("server/discover").result)
    with wire.stdio(place) as server:
        assert "listChanged" in json.dumps(server.request("server/discover").result)


@pytest.mark.parametrize("more", [["--stdio"], ["--port", "0"]])
def test_O03_faults_are_told_on_stderr_with_place_and_end_with_2(tmp_path: Path, more: list[str]) -> None:
    place = write(tmp_path, HELLO.replace("input:", "imput:"))
    code, said = ended([*wire.command(place), *more])
    assert code == 2
    assert "manifests/tools.yaml:6:5" in said
    assert "^" in said
    assert "Traceback" not in said
    assert "1 error in" in said


def test_O03_a_missing_place_is_told(tmp_path: Path) -> None:
    code, said = ended(wire.command(tmp_path / "nowhere", "--stdio"))
    assert code == 2
    assert "nowhere" in said
    assert "Traceback" not in said


def test_an_edit_is_served_and_a_broken_one_is_told(tmp_path: Path) -> None:
    place = write(tmp_path, HELLO)
    file = place / "tools.yaml"
    with wire.http(place) as server, server.listen(toolsListChanged=True) as stream:
        file.write_text(HELLO + "  bye: {description: Parts., text: Bye.}\n")
        assert stream.message()["method"] == "notifications/tools/list_changed"
        assert server.call("bye").text == "Bye."
        file.write_text(HELLO + "  bye: [\n")
        wire.eventually(lambda: server.send(b"", method="GET", path="/readyz").status == 503, "the fault is told")
        assert server.call("bye").text == "Bye."
        file.write_text(HELLO)
        assert stream.message()["method"] == "notifications/tools/list_changed"
        wire.eventually(lambda: server.send(b"", method="GET", path="/readyz").status == 200, "it is mended")
        assert server.call("bye").error["code"] == -32602
