"""Transports know no pattern: one that was made up (``tests.walks.relay``) runs over both, and nothing is changed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks.conftest import project
from tests.walks.processes import children

MANIFEST = """
    tools:
      louder: {input: {text: string}, command: [tr, a-z, A-Z], stdin: "{{ text }}"}
      twice: {input: {text: string}, python: "steps:twice"}
      framed: {input: {text: string}, text: "<{{ text }}>"}
      slow: {input: {text: string}, command: [sleep, "600"], timeout: 20m}
"""
STEPS = """
    async def twice(text):
        return text + text
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("relay")
    project(root, {"manifests/m.yaml": MANIFEST, "steps.py": STEPS})
    return root


@pytest.fixture(scope="module")
def relay(way: str, root: Path) -> Iterator[Any]:
    argv = [sys.executable, "-m", "tests.walks.relay", str(root / "manifests")]
    with getattr(wire, way)(argv=argv) as server:
        yield server
        server.process.terminate()
        server.wait()


def test_a_chain_of_calls_with_a_question_before_its_last_step(relay: Any) -> None:
    asked = relay.request("example/relay", {"text": "ab", "steps": ["louder", "twice", "framed"]}).result
    assert asked["resultType"] == "input_required" and set(asked["inputRequests"]) == {"go"}
    answered = {"inputResponses": {"go": {"action": "accept"}}, "requestState": asked["requestState"]}
    again = {"text": "ab", "steps": ["louder", "twice", "framed"], **answered}
    done = relay.request("example/relay", again, id=2).result
    assert (done["resultType"], done["text"]) == ("complete", "<ABAB>")


def test_it_is_cancelled_as_every_request_is(relay: Any) -> None:
    with relay.begin("example/relay", {"steps": ["slow", "framed"]}, id="slow") as pending:
        wire.eventually(lambda: children(relay.pid))
        pending.cancel()
        wire.eventually(lambda: not children(relay.pid))
    assert relay.call("framed", {"text": "x"}).text == "<x>"


def test_its_reply_stays_open_and_hears_of_edits(relay: Any, root: Path) -> None:
    with relay.begin("example/follow", {}, id="f") as following:
        assert following.message()["method"] == "notifications/example/following"
        added = MANIFEST + '      more: {input: {text: string}, text: "+{{ text }}"}\n'
        project(root, {"manifests/m.yaml": added})
        assert following.message()["params"] == {"tool": "more"}
        project(root, {"manifests/m.yaml": MANIFEST})
        assert following.message()["params"] == {"tool": "more"}


def test_the_protocol_itself_goes_on_beside_it(relay: Any) -> None:
    listed = [tool["name"] for tool in relay.request("tools/list").result["tools"]]
    assert listed == ["framed", "louder", "slow", "twice"]
    assert relay.request("example/unknown").error["code"] == -32601
