"""requestState over both transports: what comes back counts once, for the very request that it was made for."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks.conftest import Start, ended, project, started
from tests.walks.conversation import ALL, YES, accept, asked, call, messages, rejected, state_of, use

MANIFEST = """
    tools:
      ran: {description: x, input: {mark: string}, python: "talk:ran"}
      delete: {description: x, input: {mark: string}, ask: {sure: "Delete {{ mark }}?"}, python: "talk:run"}
      other: {description: x, input: {mark: string}, ask: {sure: "Delete {{ mark }}?"}, python: "talk:run"}
      steps:
        description: x
        input: {mark: string}
        ask:
          one: {message: "One?", fields: {n: integer}}
          two: "Two, {{ answers.one.n }}?"
        python: "talk:run"
      pure: {description: x, input: {mark: string}, ask: {sure: "Say it?"}, text: said}
    prompts:
      delete: {arguments: {mark: string}, ask: {sure: "Delete {{ mark }}?"}, messages: [{user: said}]}
    resources:
      delete: {uri: "walk://delete", ask: {sure: "Read it?"}, text: read}
      room: {uriTemplate: "walk://room/{n}", ask: {sure: "Enter?"}, text: "room {{ n }}"}
"""
TALK = """
    import pathlib

    def run(mark):
        with open("ran-" + mark, "a") as file:
            file.write("x")
        return "ran " + mark

    def ran(mark):
        path = pathlib.Path("ran-" + mark)
        return len(path.read_text()) if path.exists() else 0
"""
PROJECT = {"manifests/m.yaml": MANIFEST, "talk.py": TALK}
SURE = {"sure": YES}
OLD, NEW = "o" * 32, "n" * 32


def ran(server: Any, mark: str) -> int:
    return int(call(server, "ran", {"mark": mark}).text)


# --- state that was touched ------------------------------------------------------------------------------------


def _forged(state: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"approved": True, "answers": {"sure": YES}}).encode()).decode()


def _flipped(at: int) -> Callable[[str], str]:
    def flip(state: str) -> str:
        other = "A" if state[at] != "A" else "B"
        return state[:at] + other + state[at:][1:]

    return flip


TOUCHED: dict[str, Callable[[str], Any]] = {
    "forged": _forged,
    "first character": _flipped(0),
    "in the nonce": _flipped(9),
    "in the middle": _flipped(100),
    "last character": lambda state: state[:-1] + ("A" if state[-1] != "A" else "B"),
    "one too few": lambda state: state[:-1],
    "half": lambda state: state[: len(state) // 2],
    "one too many": lambda state: state + "A",
    "padded": lambda state: state + "=",
    "with a blank": lambda state: " " + state,
    "twice": lambda state: state + state,
    "reversed": lambda state: state[::-1],
    "empty": lambda state: "",
    "a megabyte": lambda state: "A" * 1_000_000,
    "a megabyte after it": lambda state: state + "A" * 1_000_000,
    "no base64": lambda state: "\u00e9\u2028\ud83d\ude00",
    "a number": lambda state: 5,
    "true": lambda state: True,
    "a list": lambda state: [state],
    "an object": lambda state: {"state": state},
}


@pytest.mark.parametrize("how", TOUCHED)
def test_E05_state_that_was_touched_is_rejected_and_nothing_runs(served: Any, how: str) -> None:
    first = call(served, "delete", {"mark": "touched"})
    touched = TOUCHED[how](state_of(first))
    rejected(use(served, {"name": "delete", "arguments": {"mark": "touched"}}, SURE, touched))
    rejected(use(served, {"name": "delete", "arguments": {"mark": "touched"}}, None, touched))
    assert ran(served, "touched") == 0
    assert list(asked(call(served, "delete", {"mark": "touched"}, {}, first))) == ["sure"]


def test_E05_every_single_character_counts(served: Any) -> None:
    state = state_of(call(served, "delete", {"mark": "characters"}))
    params = {"name": "delete", "arguments": {"mark": "characters"}}
    for at in range(0, len(state), 7):
        rejected(use(served, params, SURE, _flipped(at)(state)))
    assert ran(served, "characters") == 0


def test_E05_state_of_another_server_is_rejected(served: Any, start: Start) -> None:
    other = start(PROJECT)
    theirs = call(other, "delete", {"mark": "theirs"})
    rejected(call(served, "delete", {"mark": "theirs"}, SURE, theirs))
    assert ran(served, "theirs") == 0
    assert call(other, "delete", {"mark": "theirs"}, SURE, theirs).text == "ran theirs"


# --- state on another request ----------------------------------------------------------------------------------


def test_E05_state_is_for_one_request(served: Any) -> None:
    state = state_of(call(served, "delete", {"mark": "bound"}))
    elsewhere: list[tuple[str, dict[str, Any]]] = [
        ("tools/call", {"name": "delete", "arguments": {"mark": "unbound"}}),
        ("tools/call", {"name": "other", "arguments": {"mark": "bound"}}),
        ("prompts/get", {"name": "delete", "arguments": {"mark": "bound"}}),
        ("resources/read", {"uri": "walk://delete"}),
        ("resources/read", {"uri": "walk://room/1"}),
    ]
    for method, params in elsewhere:
        rejected(use(served, params, SURE, state, method=method))
    assert (ran(served, "bound"), ran(served, "unbound")) == (0, 0)
    done = use(served, {"name": "delete", "arguments": {"mark": "bound"}}, SURE, state)
    assert done.text == "ran bound"


def test_E05_state_of_a_resource_is_for_one_uri(served: Any) -> None:
    first = use(served, {"uri": "walk://room/1"}, method="resources/read")
    rejected(use(served, {"uri": "walk://room/2"}, SURE, state_of(first), method="resources/read"))
    done = use(served, {"uri": "walk://room/1"}, SURE, state_of(first), method="resources/read")
    assert done.result["contents"][0]["text"] == "room 1"


def test_E05_arguments_that_are_added_or_left_out_are_others(served: Any) -> None:
    first = call(served, "pure", {"mark": "x"})
    assert call(served, "pure", {"mark": "x", "more": 1}, SURE, first).result["isError"]  # the schema comes first
    rejected(call(served, "pure", {"mark": "X"}, SURE, first))
    assert call(served, "pure", {"mark": "x"}, SURE, first).text == "said"


# --- state that was used ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["delete", "pure"])
def test_E05_state_counts_once(served: Any, tool: str) -> None:
    given = {"mark": f"twice-{tool}"}
    first = call(served, tool, given)
    assert "isError" not in call(served, tool, given, SURE, first).result
    rejected(call(served, tool, given, SURE, first))
    rejected(call(served, tool, given, SURE, first))
    assert ran(served, given["mark"]) == (tool == "delete")


def test_E05_of_two_at_one_time_one_counts(served: Any) -> None:
    state = state_of(call(served, "delete", {"mark": "race"}))
    params = {"name": "delete", "arguments": {"mark": "race"}, "inputResponses": SURE, "requestState": state}
    with ExitStack() as stack:
        racing = [served.begin("tools/call", params, id=f"race-{n}", capabilities=ALL) for n in range(8)]
        ends = [stack.enter_context(sent).rest()[-1] for sent in racing]
    assert sorted("error" in end for end in ends) == [False] + [True] * 7
    assert {end["error"]["code"] for end in ends if "error" in end} == {-32602}
    assert ran(served, "race") == 1


def test_E05_all_states_of_a_call_lead_to_one_run(served: Any) -> None:
    given = {"mark": "fork"}
    first = call(served, "steps", given)
    second = call(served, "steps", given, {"one": accept(n=1)}, first)
    other = call(served, "steps", given, {"one": accept(n=2)}, first)
    assert messages(other) == {"two": "Two, 2?"}
    assert call(served, "steps", given, {"two": YES}, second).text == "ran fork"
    rejected(call(served, "steps", given, {"two": YES}, other))
    late = call(served, "steps", given, {"one": accept(n=3)}, first)
    rejected(call(served, "steps", given, {"two": YES}, late))
    assert ran(served, "fork") == 1


def test_an_earlier_answer_may_be_mended_and_what_hangs_on_it_is_asked_again(served: Any) -> None:
    given = {"mark": "mended"}
    first = call(served, "steps", given)
    second = call(served, "steps", given, {"one": accept(n=1)}, first)
    third = call(served, "steps", given, {"one": accept(n=2), "two": YES}, second)
    assert messages(third) == {"two": "Two, 2?"}
    assert ran(served, "mended") == 0


# --- keys, restarts, edits -------------------------------------------------------------------------------------


def _restarted(way: str, root: Path, keys: str | None) -> Any:
    return started(way, root, PROJECT, "--no-watch", env={"MCPDECL_KEYS": keys})


@pytest.mark.parametrize(
    ("before", "after", "good"),
    [
        (OLD, OLD, True),
        (OLD, f"{NEW},{OLD}", True),
        (f"{OLD},{NEW}", f" {NEW} , {OLD} ", True),
        (OLD, NEW, False),
        (f"{NEW},{OLD}", OLD, False),  # the newest key seals
        (OLD, None, False),  # indistinguishable from a forgery, so it is told as one
        (None, None, False),
    ],
)
def test_E07_a_restart_goes_on_where_a_key_stays(
    way: str, tmp_path: Path, before: str | None, after: str | None, good: bool
) -> None:
    given = {"mark": "kept"}
    with _restarted(way, tmp_path, before) as server:
        first = call(server, "steps", given)
        second = call(server, "steps", given, {"one": accept(n=1)}, first)
        ended(server)
    with _restarted(way, tmp_path, after) as server:
        done = call(server, "steps", given, {"two": YES}, second)
        if good:
            assert (done.text, ran(server, "kept")) == ("ran kept", 1)
        else:
            rejected(done)
            assert ran(server, "kept") == 0
            assert list(asked(call(server, "steps", given))) == ["one"]
        ended(server)


def test_E05_a_yes_in_one_folder_is_none_in_another_that_shares_its_key(way: str, tmp_path: Path) -> None:
    given = {"mark": "shared"}
    with _restarted(way, tmp_path / "one", OLD) as one, _restarted(way, tmp_path / "two", OLD) as two:
        first = call(one, "delete", given)
        assert list(asked(call(two, "delete", given, SURE, first))) == ["sure"]
        assert ran(two, "shared") == 0
        assert call(one, "delete", given, SURE, first).text == "ran shared"
        ended(one)
        ended(two)


def _served(server: Any, tool: str) -> bool:
    return any(found["name"] == tool for found in server.request("tools/list").result["tools"])


def test_E07_an_edit_of_something_else_changes_nothing(start: Start, tmp_path: Path) -> None:
    server = start(PROJECT)
    first = call(server, "delete", {"mark": "edited"})
    project(tmp_path, {"manifests/more.yaml": "tools: {added: {description: x, text: x}}"})
    wire.eventually(lambda: _served(server, "added"))
    assert call(server, "delete", {"mark": "edited"}, SURE, first).text == "ran edited"


EDITS = {
    "the question": {
        "manifests/e.yaml": """
        tools: {added: {description: x, text: x}, e: {description: x, ask: {sure: "Delete all?"}, text: two}}
    """
    },
    "what runs": {
        "manifests/e.yaml": """
        tools: {added: {description: x, text: x}, e: {description: x, ask: {sure: "Delete one?"}, text: three}}
    """
    },
}


@pytest.mark.parametrize("what", EDITS)
def test_E07_an_edit_of_the_item_asks_again(start: Start, tmp_path: Path, what: str) -> None:
    server = start({"manifests/e.yaml": 'tools: {e: {description: x, ask: {sure: "Delete one?"}, text: one}}'})
    first = call(server, "e", {})
    project(tmp_path, EDITS[what])
    wire.eventually(lambda: _served(server, "added"))
    again = call(server, "e", {}, SURE, first)
    assert messages(again) == {"sure": "Delete all?" if what == "the question" else "Delete one?"}
    assert call(server, "e", {}, SURE, again).text == ("two" if what == "the question" else "three")


def test_E07_an_edit_of_a_callable_or_a_form_asks_again(start: Start, tmp_path: Path) -> None:
    files = {
        "manifests/e.yaml": """
            forms: {ok: {message: "Delete one?"}}
            tools:
              by_form: {description: x, ask: {sure: {form: ok}}, text: gone}
              by_callable: {description: x, ask: {sure: "Delete one?"}, python: "act:act"}
        """,
        "act.py": "def act(): return 'one'\n",
    }
    server = start(files)
    form, callable = call(server, "by_form", {}), call(server, "by_callable", {})
    project(
        tmp_path,
        {"manifests/e.yaml": files["manifests/e.yaml"].replace('ok: {message: "Delete one?"}', "ok: {message: All?}")},
    )
    wire.eventually(lambda: messages(call(server, "by_form", {})) == {"sure": "All?"})
    assert messages(call(server, "by_form", {}, SURE, form)) == {"sure": "All?"}
    project(tmp_path, {"act.py": "def act(): return 'all'\n"})
    wire.eventually(lambda: call(server, "by_callable", {}, SURE).text == "all")
    again = call(server, "by_callable", {}, SURE, callable)
    assert list(asked(again)) == ["sure"]
    assert call(server, "by_callable", {}, SURE, again).text == "all"
