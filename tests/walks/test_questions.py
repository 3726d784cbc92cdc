"""Questions over both transports: who is asked what and when, what counts as an answer, and what then runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.walks.conversation import ALL, GONE, NO, YES, accept, asked, call, lacks, messages, status, use

MANIFEST = """
    forms:
      ok: {message: "Delete 3 rows?"}
      reason: {message: "Why {{ mark }}?", fields: {why: {type: string, minLength: 3}, hard?: boolean}}
    tools:
      ran: {description: How often it ran., input: {mark: string}, python: "talk:ran"}
      delete: {description: x, input: {mark: string}, ask: {sure: "Delete {{ mark }}?"}, python: "talk:run"}
      delete_too:
        description: x
        input: {mark: string}
        ask: {sure: {message: "Delete {{ mark }}?"}}
        python: "talk:run"
      delete_form: {description: x, input: {mark: string}, ask: {sure: {form: ok}}, python: "talk:run"}
      reasoned: {description: x, input: {mark: string}, ask: {sure: {form: reason}}, python: "talk:answered"}
      keeps:
        description: x
        input: {mark: string}
        ask: {sure: {form: ok, declined: "Kept {{ mark }}."}}
        python: "talk:run"
      goes_on: {description: x, ask: {sure: {form: ok, optional: true}}, text: "[{{ answers.sure }}]"}
      visits:
        description: x
        input: {mark: string}
        ask: {login: {message: "Log in.", url: "https://a.test/login?for={{ mark }}"}}
        python: "talk:run"
      wizard:
        description: x
        input: {mark: string}
        ask:
          a: {message: "Which kind?", fields: {kind: {type: string, enum: [x, y]}}}
          b: {message: "Name of the {{ answers.a.kind }}?", fields: {name: string}, when: "answers.a.kind == 'x'"}
          c: "Go on?"
        assert: [{that: "answers.b.name != 'bad'", message: "{{ answers.b.name }} will not do."}]
        python: "talk:answered"
      learns:
        description: x
        ask:
          poem: {sample: {messages: [{user: "A poem on {{ topic }}"}], maxTokens: 50, systemPrompt: "{{ topic }}"}}
          where: {roots: true}
        input: {topic: {}}
        text: "{{ answers.poem.content.text }} in {{ answers.where[0].uri }}"
      worded:
        description: x
        input: {n: {}, note?: string}
        ask: {one: "{{ n }}", two: "{{ n }}{{ note }}"}
        text: done
      picks:
        description: x
        input: {names: {type: array}}
        ask: {which: {message: Which?, fields: {one: {type: string, enum: "{{ names }}"}}}}
        text: "{{ answers.which.one }}"
      goes: {description: x, input: {to: string}, ask: {login: {message: Go., url: "{{ to }}"}}, text: went}
      measured:
        description: x
        input: {mark: string}
        vars: {size: {python: "talk:run"}}
        ask: {sure: "Lose {{ size }}?"}
        text: done
      only_if: {description: x, ask: {sure: {form: ok, when: client.elicitation}}, text: "[{{ answers.sure }}]"}
    prompts:
      letter:
        ask: {to: {message: "To whom?", fields: {name: string}}}
        messages: [{user: "Dear {{ answers.to.name }}"}]
    resources:
      vault: {uri: "walk://vault", ttl: 1h, ask: {sure: "Open it?"}, text: gold}
      room: {uriTemplate: "walk://room/{n}", ttl: 1h, ask: {sure: "Enter {{ n }}?"}, text: "room {{ n }}"}
      hall: {uri: "walk://hall", ttl: 1h, text: open}
"""
TALK = """
    import json, pathlib

    def run(mark):
        with open("ran-" + mark, "a") as file:
            file.write("x")
        return "ran " + mark

    def ran(mark):
        path = pathlib.Path("ran-" + mark)
        return len(path.read_text()) if path.exists() else 0

    from mcpdecl import Context

    def answered(mark, ctx: Context):
        run(mark)
        return json.dumps({key: answer.get("content") for key, answer in ctx.answers.items()}, sort_keys=True)
"""
PROJECT = {"manifests/m.yaml": MANIFEST, "talk.py": TALK}


def ran(server: Any, mark: str) -> int:
    return int(call(server, "ran", {"mark": mark}).text)


# --- one question ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["delete", "delete_too", "delete_form"])
def test_E02_a_message_alone_is_a_yes_or_no_however_it_is_written(served: Any, tool: str) -> None:
    mark = f"e02-{tool}"
    message = "Delete 3 rows?" if tool == "delete_form" else f"Delete {mark}?"
    for number, yes in enumerate((YES, {"action": "accept", "content": None}, accept(), accept(more=1)), 1):
        first = call(served, tool, {"mark": mark})
        form = {"mode": "form", "message": message, "requestedSchema": {"type": "object", "properties": {}}}
        assert asked(first) == {"sure": {"method": "elicitation/create", "params": form}}
        assert ran(served, mark) == number - 1
        assert call(served, tool, {"mark": mark}, {"sure": yes}, first).text == f"ran {mark}"
        assert ran(served, mark) == number


@pytest.mark.parametrize(("action", "told"), [("decline", "declined"), ("cancel", "cancelled")])
@pytest.mark.parametrize("more", [{}, {"content": None}, {"content": {"why": 5}}, {"content": "no"}])
def test_E01_a_no_is_an_ordinary_result(served: Any, action: str, told: str, more: Any) -> None:
    for tool, text, error in (("reasoned", f"The user {told} (sure).", True), ("keeps", "Kept e01.", False)):
        first = call(served, tool, {"mark": "e01"})
        done = call(served, tool, {"mark": "e01"}, {"sure": {"action": action, **more}}, first)
        assert (done.text, done.result.get("isError", False)) == (text, error)
        status(done, 200)
    first = call(served, "goes_on", {})
    assert call(served, "goes_on", {}, {"sure": {"action": action, **more}}, first).text == "[]"
    assert ran(served, "e01") == 0


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (YES, "why"),
        (accept(), "why"),
        (accept(why="no"), "why: "),
        (accept(why=5), "why: "),
        (accept(why="because", hard="very"), "hard: "),
        ({"action": "accept", "content": "because"}, "object"),
        ({"action": "accept", "content": ["because"]}, "object"),
    ],
)
def test_E02_an_answer_that_breaks_the_form_is_asked_again_and_told(served: Any, answer: Any, wrong: str) -> None:
    first = call(served, "reasoned", {"mark": "broken"})
    assert messages(first) == {"sure": "Why broken?"}
    again = call(served, "reasoned", {"mark": "broken"}, {"sure": answer}, first)
    question, told = messages(again)["sure"].split("\n\n")
    assert question == "Why broken?"
    assert wrong in told
    assert ran(served, "broken") == 0


def test_a_mended_answer_counts(served: Any) -> None:
    first = call(served, "reasoned", {"mark": "mended"})
    second = call(served, "reasoned", {"mark": "mended"}, {"sure": accept(why="no")}, first)
    done = call(served, "reasoned", {"mark": "mended"}, {"sure": accept(why="because", stray=[1])}, second)
    assert (done.text, ran(served, "mended")) == ('{"sure": {"why": "because"}}', 1)


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"sore": YES},
        {"sure": None},
        {"sure": True},
        {"sure": "accept"},
        {"sure": []},
        {"sure": {}},
        {"sure": {"action": "ACCEPT"}},
        {"sure": {"action": ["accept"]}},
        {"sure": {"content": {}}},
        {"sure": {"role": "user", "content": {"type": "text", "text": "yes"}}},
    ],
)
def test_E09_what_is_no_answer_is_asked_again(served: Any, answers: Any) -> None:
    first = call(served, "delete", {"mark": "none"})
    for again in (
        call(served, "delete", {"mark": "none"}, answers, first),
        call(served, "delete", {"mark": "none"}, answers),
    ):
        assert messages(again) == {"sure": "Delete none?"}
    assert ran(served, "none") == 0


@pytest.mark.parametrize("answers", [5, True, "sure", [], [{"sure": YES}]])
def test_what_is_no_map_of_answers_is_malformed(served: Any, answers: Any) -> None:
    first = call(served, "delete", {"mark": "map"})
    for wrong in (
        call(served, "delete", {"mark": "map"}, answers, first),
        call(served, "delete", {"mark": "map"}, answers),
    ):
        assert wrong.error["code"] == -32602
        status(wrong, 400)
    assert ran(served, "map") == 0


def test_what_a_user_reads_is_text_whatever_it_is_made_of(served: Any) -> None:
    assert messages(call(served, "worded", {"n": 5})) == {"one": "5", "two": "5"}
    assert messages(call(served, "worded", {"n": {"a": [True]}, "note": "!"})) == {
        "one": '{"a":[true]}',
        "two": '{"a":[true]}!',
    }


def test_E10_a_choice_may_be_made_of_arguments_but_clients_get_only_what_they_can_draw(served: Any) -> None:
    first = call(served, "picks", {"names": ["ann", "bob"]})
    assert asked(first)["which"]["params"]["requestedSchema"]["properties"]["one"]["enum"] == ["ann", "bob"]
    assert list(asked(call(served, "picks", {"names": ["ann", "bob"]}, {"which": accept(one="eve")}, first))) == [
        "which"
    ]
    assert call(served, "picks", {"names": ["ann", "bob"]}, {"which": accept(one="bob")}, first).text == "bob"
    assert call(served, "picks", {"names": [1, 2]}).error["code"] == -32603


# --- capabilities ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", [{}, {"elicitation": {"url": {}}}, {"sampling": {}, "roots": {}}])
def test_E03_a_client_that_cannot_be_asked_is_told_and_nothing_runs(served: Any, declared: Any) -> None:
    first = call(served, "delete", {"mark": "e03"})
    lacking = {"elicitation": {"form": {}}}
    for tool in ("delete", "measured", "reasoned"):
        lacks(call(served, tool, {"mark": "e03"}, capabilities=declared), lacking)
        lacks(call(served, tool, {"mark": "e03"}, {"sure": YES}, capabilities=declared), lacking)
    lacks(call(served, "delete", {"mark": "e03"}, {"sure": YES}, first, capabilities=declared), lacking)
    assert ran(served, "e03") == 0
    assert call(served, "only_if", {}, capabilities={}).text == "[]"


@pytest.mark.parametrize("declared", [{"elicitation": {}}, {"elicitation": {"form": {}}}])
def test_E03_an_empty_elicitation_means_forms(served: Any, declared: Any) -> None:
    assert list(asked(call(served, "delete", {"mark": "forms"}, capabilities=declared))) == ["sure"]
    lacks(call(served, "visits", {"mark": "forms"}, capabilities=declared), {"elicitation": {"url": {}}})


@pytest.mark.parametrize("lacking", ["sampling", "roots"])
def test_sampling_and_roots_need_their_capability(served: Any, lacking: str) -> None:
    declared = {name: value for name, value in ALL.items() if name != lacking}
    lacks(call(served, "learns", {"topic": "rain"}, capabilities=declared), {lacking: {}})


def test_sampling_and_roots(served: Any) -> None:
    first = call(served, "learns", {"topic": "rain"})
    assert asked(first) == {
        "poem": {
            "method": "sampling/createMessage",
            "params": {
                "messages": [{"role": "user", "content": {"type": "text", "text": "A poem on rain"}}],
                "maxTokens": 50,
                "systemPrompt": "rain",
            },
        },
        "where": {"method": "roots/list", "params": {}},
    }
    poem = {"role": "assistant", "content": {"type": "text", "text": "Drip"}, "model": "m", "stopReason": "endTurn"}
    second = call(served, "learns", {"topic": "rain"}, {"poem": poem, "where": {"roots": [{"uri": 5}]}}, first)
    assert list(asked(second)) == ["where"]
    roots = {"roots": [{"uri": "file:///home", "name": "home"}]}
    assert call(served, "learns", {"topic": "rain"}, {"where": roots}, second).text == "Drip in file:///home"
    assert asked(call(served, "learns", {"topic": 5}))["poem"]["params"]["systemPrompt"] == "5"


# --- url mode --------------------------------------------------------------------------------------------------


def test_E12_a_url_is_shown_and_agreed_to(served: Any) -> None:
    first = call(served, "visits", {"mark": "url"}, capabilities={"elicitation": {"url": {}}})
    shown = {"mode": "url", "message": "Log in.", "url": "https://a.test/login?for=url"}
    assert asked(first) == {"login": {"method": "elicitation/create", "params": shown}}
    assert call(served, "visits", {"mark": "url"}, {"login": NO}, first).text == "The user declined (login)."
    assert call(served, "visits", {"mark": "url"}, {"login": GONE}, first).text == "The user cancelled (login)."
    assert ran(served, "url") == 0
    assert call(served, "visits", {"mark": "url"}, {"login": YES}, first).text == "ran url"


@pytest.mark.parametrize("to", ["nowhere", "javascript:alert(1)", "file:///etc/passwd", "https://", "https://a b/", ""])
def test_E12_an_address_that_no_browser_should_open_is_never_sent(served: Any, to: str) -> None:
    assert call(served, "goes", {"to": to}).error["code"] == -32603
    assert asked(call(served, "goes", {"to": "https://a.test/"}))["login"]["params"]["url"] == "https://a.test/"


# --- rounds ----------------------------------------------------------------------------------------------------


def test_E09_rounds_that_depend_on_answers(served: Any) -> None:
    given = {"mark": "wizard"}
    first = call(served, "wizard", given)
    assert messages(first) == {"a": "Which kind?", "c": "Go on?"}
    second = call(served, "wizard", given, {"a": accept(kind="x"), "z": {"junk": [1]}}, first)
    assert messages(second) == {"b": "Name of the x?", "c": "Go on?"}
    third = call(served, "wizard", given, {"b": accept(name="Ann"), "z": 5}, second)
    assert messages(third) == {"c": "Go on?"}
    assert ran(served, "wizard") == 0
    done = call(served, "wizard", given, {"c": YES}, third)
    assert done.text == '{"a": {"kind": "x"}, "b": {"name": "Ann"}, "c": {}}'
    assert ran(served, "wizard") == 1


def test_E09_a_branch_follows_the_answers_as_they_are_now(served: Any) -> None:
    given = {"mark": "branch"}
    first = call(served, "wizard", given)
    assert (
        call(served, "wizard", given, {"a": accept(kind="y"), "c": YES}, first).text == '{"a": {"kind": "y"}, "c": {}}'
    )
    first = call(served, "wizard", given)
    second = call(served, "wizard", given, {"a": accept(kind="x"), "c": YES}, first)
    third = call(served, "wizard", given, {"a": accept(kind="y"), "b": accept(name="Eve")}, second)
    assert third.text == '{"a": {"kind": "y"}, "c": {}}'
    assert ran(served, "branch") == 2


def test_E09_an_answer_to_what_was_not_put_does_not_count(served: Any) -> None:
    every = {"a": accept(kind="x"), "b": accept(name="Eve"), "c": YES}
    ahead = call(served, "wizard", {"mark": "ahead"}, every)
    assert list(asked(ahead)) == ["b"]
    first = call(served, "wizard", {"mark": "ahead"})
    assert list(asked(call(served, "wizard", {"mark": "ahead"}, every, first))) == ["b"]
    assert ran(served, "ahead") == 0


def test_an_assertion_over_answers_holds_before_anything_runs(served: Any) -> None:
    given = {"mark": "assert"}
    first = call(served, "wizard", given)
    second = call(served, "wizard", given, {"a": accept(kind="x"), "c": YES}, first)
    done = call(served, "wizard", given, {"b": accept(name="bad")}, second)
    assert (done.text, done.result["isError"], ran(served, "assert")) == ("bad will not do.", True, 0)


def test_E09_rounds_are_bounded_and_the_end_is_told(served: Any) -> None:
    last = call(served, "delete", {"mark": "bound"})
    for _ in range(9):
        last = call(served, "delete", {"mark": "bound"}, {}, last)
        assert list(asked(last)) == ["sure"]
    done = call(served, "delete", {"mark": "bound"}, {}, last)
    assert done.result["isError"]
    assert done.text == "After 10 rounds of questions there are still answers missing; call it again to start anew."
    assert ran(served, "bound") == 0


# --- prompts and resources -------------------------------------------------------------------------------------


def test_a_prompt_asks(served: Any) -> None:
    def get(*answered: Any, **more: Any) -> Any:
        return use(served, {"name": "letter"}, *answered, method="prompts/get", **more)

    lacks(get(capabilities={}), {"elicitation": {"form": {}}})
    first = get()
    assert messages(first) == {"to": "To whom?"}
    state = first.result["requestState"]
    assert messages(get({"to": accept()}, state))["to"].startswith("To whom?\n\n")
    assert get({"to": NO}, state).error["message"] == "The user declined (to)."
    done = get({"to": accept(name="Ann")}, state)
    assert done.result["messages"] == [{"role": "user", "content": {"type": "text", "text": "Dear Ann"}}]


@pytest.mark.parametrize(
    ("uri", "message", "text"), [("walk://vault", "Open it?", "gold"), ("walk://room/7", "Enter 7?", "room 7")]
)
def test_N13_a_resource_asks_and_is_not_cacheable_then(served: Any, uri: str, message: str, text: str) -> None:
    def read(*answered: Any, **more: Any) -> Any:
        return use(served, {"uri": uri}, *answered, method="resources/read", **more)

    lacks(read(capabilities={}), {"elicitation": {"form": {}}})
    first = read()
    assert messages(first) == {"sure": message}
    assert not first.result.keys() & {"ttlMs", "cacheScope", "contents"}
    done = read({"sure": YES}, first.result["requestState"])
    assert (done.result["contents"][0]["text"], done.result["ttlMs"], done.result["cacheScope"]) == (text, 0, "private")
    at_once = read({"sure": YES})
    assert (at_once.result["ttlMs"], at_once.result["cacheScope"]) == (0, "private")
    assert read({"sure": GONE}, first.result["requestState"]).error["code"] == -32603
    hall = use(served, {"uri": "walk://hall"}, method="resources/read").result
    assert hall["ttlMs"] == 3_600_000
