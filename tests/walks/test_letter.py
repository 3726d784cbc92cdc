"""The letter of the protocol over both transports, where no other walk passes by: what docs/protocol.md points to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks.conftest import project

PROJECT = {
    "manifests/m.yaml": """
        tools:
          echo: {description: x, input: {text: string}, text: "{{ text }}"}
          sure: {description: x, ask: {ok: "Sure?"}, text: done}
          picks:
            description: x
            ask: {ok: {message: "Sure?", declined: "Kept."}}
            output: {count: integer}
            python: "letter:counted"
        prompts:
          p: {arguments: {kind: {enum: [a, b]}}, messages: [{user: "{{ kind }}"}]}
          rare: {rate: 1/day, messages: [{user: "rare"}]}
        resources:
          r: {uri: "made://r", text: hello}
          rare: {uriTemplate: "rare://{n}", rate: 1/day, text: "{{ n }}"}
    """,
    "letter.py": """
        def counted():
            return {"count": 1}
    """,
}
FORMS = {"elicitation": {"form": {}}}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def asking(served: Any, tool: str, answer: Any = None, state: str | None = None, **more: Any) -> Any:
    retry = {} if state is None else {"requestState": state, "inputResponses": {"ok": answer}}
    return served.request("tools/call", {"name": tool, "arguments": {}, **retry}, **{"capabilities": FORMS, **more})


# --- envelopes ---------------------------------------------------------------------------------------------------


def test_every_result_says_its_type_and_who_answers(served: Any) -> None:
    for result, kind in (
        (served.request("server/discover").result, "complete"),
        (served.call("echo", {"text": "a"}).result, "complete"),
        (asking(served, "sure").result, "input_required"),
    ):
        assert result["resultType"] == kind
        assert set(result["_meta"]["io.modelcontextprotocol/serverInfo"]) >= {"name", "version"}


# --- how often ----------------------------------------------------------------------------------------------------


def test_a_prompt_and_a_resource_may_be_used_as_often_as_they_say(served: Any) -> None:
    for method, first, second in (
        ("prompts/get", {"name": "rare"}, {"name": "rare"}),
        ("resources/read", {"uri": "rare://1"}, {"uri": "rare://2"}),
    ):
        assert served.request(method, first).result
        error = served.request(method, second).error
        assert error["code"] == -32603 and "rate limit of rare reached (1 in 86400 s)" in error["message"]
    for _ in range(1100):  # more than any tool may by default
        served.request("resources/read", {"uri": "made://r"})
    assert served.request("resources/read", {"uri": "made://r"}).result


# --- every request for itself ------------------------------------------------------------------------------------


def test_nothing_is_remembered_of_earlier_requests(served: Any) -> None:
    assert asking(served, "sure").result["resultType"] == "input_required"
    error = asking(served, "sure", capabilities={}).error
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": FORMS})
    assert asking(served, "sure").result["resultType"] == "input_required"


def test_who_a_client_says_it_is_changes_nothing(served: Any) -> None:
    key = "io.modelcontextprotocol/clientInfo"
    strangers = (None, {"name": "admin", "version": "1"}, {"name": "echo", "version": "9", "title": "root"})
    answers = [served.call("echo", {"text": "a"}, meta={key: who}).result for who in strangers]
    assert answers[0] == answers[1] == answers[2]


def test_lists_are_the_same_whatever_was_asked_before(served: Any) -> None:
    before = [served.request(method).result for method in LISTS]
    asking(served, "sure")
    served.call("echo", {})
    served.request("resources/read", {"uri": "made://r"})
    assert [served.request(method).result for method in LISTS] == before


def test_a_question_that_nobody_answers_keeps_nobody_waiting(served: Any) -> None:
    states = [asking(served, "sure").result["requestState"] for _ in range(3)]
    assert served.call("echo", {"text": "a"}).text == "a"
    assert asking(served, "sure", {"action": "accept"}, states[0]).text == "done"


# --- tools -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_result_without_the_declared_output_is_an_error_result(served: Any, action: str) -> None:
    state = asking(served, "picks").result["requestState"]
    result = asking(served, "picks", {"action": action}, state).result
    assert (result["content"], result["isError"]) == ([{"type": "text", "text": "Kept."}], True)
    assert asking(served, "picks", {"action": "accept"}, state).result["structuredContent"] == {"count": 1}


# --- HTTP alone --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wire.HttpServer]:
    root: Path = tmp_path_factory.mktemp("site")
    with wire.http(project(root, PROJECT), cwd=root) as server:
        yield server
        assert server.stop() == 0


def test_a_server_is_on_this_machine_alone_unless_told_otherwise(site: wire.HttpServer) -> None:
    assert site.host == "127.0.0.1"


def test_names_of_headers_have_no_case_and_values_have(site: wire.HttpServer) -> None:
    message = wire.message("tools/call", {"name": "echo", "arguments": {"text": "a"}})
    for change in (str.upper, str.lower, str.title):
        named = {change(name): value for name, value in wire.headers_of(message).items()}
        without: dict[str, str | None] = dict.fromkeys(wire.headers_of(message))
        assert site.send(message, {**without, **named}).text == "a"
    assert site.send(message, {"Mcp-Method": "Tools/Call"}).error["code"] == -32020
    assert site.send(message, {"Mcp-Name": "Echo"}).error["code"] == -32020


def test_sessions_and_resumption_of_older_revisions_are_not_looked_at(site: wire.HttpServer) -> None:
    headers = {"Mcp-Session-Id": "made-up", "Last-Event-ID": "17"}
    answer = site.call("echo", {"text": "a"}, headers=headers)
    assert (answer.status, answer.text) == (200, "a")
    assert not {"mcp-session-id", "last-event-id"} & {name.lower() for name in answer.headers}
    for method in ("GET", "DELETE"):
        assert site.send(b"", headers, method=method).status == 405
