"""Questions: who is asked what and when, what counts as an answer, and what a yes leads to."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from mcpdecl.catalogue import Asked, Handler, Tool, digest
from mcpdecl.protocol import Ask, Invoke, Reply
from mcpdecl.protocol.seal import REJECTED, Keyring
from tests.protocol.standins import (
    NOW,
    TEMPLATES,
    Bound,
    Client,
    accept,
    argument,
    asked,
    catalogue,
    fault,
    form,
    holds,
    is_error,
    prompt,
    question,
    resource,
    result,
    runs,
    says,
    sent,
    state,
    text,
    tool,
    var,
)

DECLINE = {"action": "decline"}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def delete(**more: Any) -> Tool:
    """A tool that asks before it does something that cannot be undone."""
    more.setdefault("questions", (question("ok", "Delete 3 rows?"),))
    return tool("delete", runs(lambda scope: f"gone: {scope['answers']['ok']}"), **more)


def client(*items: Any, **more: Any) -> Client:
    return Client(catalogue(*items), **more)


def again(sender: Client, first: Reply, answers: Any, name: str = "delete", **more: Any) -> Reply:
    return sender.call(name, inputResponses=answers, requestState=state(first), **more)


# --- one question ----------------------------------------------------------------------------------------------


def test_a_question_is_put_before_anything_runs() -> None:
    sender = client(delete())
    reply = sender.call("delete")
    assert asked(reply) == {
        "ok": {
            "method": "elicitation/create",
            "params": {"message": "Delete 3 rows?", "requestedSchema": {"type": "object", "properties": {}}},
        }
    }
    assert isinstance(state(reply), str)
    assert "ttlMs" not in sent(reply)["result"]
    assert sender.invoked == []


def test_E02_accepting_a_form_without_fields_is_yes() -> None:
    for answer in ({"action": "accept"}, {"action": "accept", "content": None}, accept()):
        sender = client(delete())
        assert text(again(sender, sender.call("delete"), {"ok": answer})) == "gone: True"


def test_E02_accepting_without_a_required_field_is_asked_again() -> None:
    sender = client(tool("t", says("Hi {{ answers.who.name }}"), questions=(form("who", name={"type": "string"}),)))
    first = sender.call("t")
    second = again(sender, first, {"who": {"action": "accept"}}, "t")
    message = asked(second)["who"]["params"]["message"]
    assert message.startswith("Well?\n\n")
    assert "name" in message
    assert text(again(sender, second, {"who": accept(name="Ann")}, "t")) == "Hi Ann"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_E01_a_no_is_a_result_and_nothing_runs(action: str) -> None:
    questions = (form("ok", why={"type": "string"}),)
    for answer in ({"action": action, "content": None}, {"action": action}, {"action": action, "content": {"why": 5}}):
        sender = client(delete(questions=questions))
        reply = again(sender, sender.call("delete"), {"ok": answer})
        assert is_error(reply)
        assert text(reply) == ("The user declined (ok)." if action == "decline" else "The user cancelled (ok).")
        assert sender.invoked == []


def test_E01_the_author_may_say_what_a_no_leads_to() -> None:
    sender = client(
        tool(
            "delete",
            runs("never"),
            {"type": "object", "properties": {"row": {"type": "integer"}}},
            questions=(question("ok", "Delete {{ row }}?", declined="Kept {{ row }}."),),
        )
    )
    first = sender.call("delete", {"row": 3})
    reply = sender.call("delete", {"row": 3}, inputResponses={"ok": DECLINE}, requestState=state(first))
    assert (is_error(reply), text(reply)) == (False, "Kept 3.")


def test_an_optional_question_goes_on_without_an_answer() -> None:
    questions = (question("ok", "Sure?", optional=True), question("more", "More?", when="not answers.ok"))
    sender = client(tool("delete", runs(lambda scope: f"[{scope['answers']['ok']}]"), questions=questions))
    second = again(sender, sender.call("delete"), {"ok": DECLINE})
    assert list(asked(second)) == ["more"]
    assert text(again(sender, second, {"more": accept()})) == "[]"


@pytest.mark.parametrize(
    "answers",
    [
        None,
        {},
        {"ko": accept()},
        {"ok": 12345},
        {"ok": None},
        {"ok": []},
        {"ok": {}},
        {"ok": {"action": "yes"}},
        {"ok": {"action": True}},
        {"ok": {"action": "accept", "content": []}},
        {"ok": {"action": "accept", "content": "yes"}},
    ],
)
def test_what_is_no_answer_is_asked_again(answers: Any) -> None:
    sender = client(delete())
    for reply in (again(sender, sender.call("delete"), answers), sender.call("delete", inputResponses=answers)):
        assert list(asked(reply)) == ["ok"]
    assert sender.invoked == []


@pytest.mark.parametrize("answers", [5, [], "ok", True])
def test_what_is_no_map_of_answers_is_a_malformed_request(answers: Any) -> None:
    sender = client(delete())
    for reply in (again(sender, sender.call("delete"), answers), sender.call("delete", inputResponses=answers)):
        assert (fault(reply).code, reply.status) == (-32602, 400)
    assert sender.invoked == []


def test_strangers_among_the_answers_are_ignored() -> None:
    sender = client(delete())
    assert text(sender.call("delete", inputResponses={"ok": accept(), "stranger": 5})) == "gone: True"


def test_a_url_is_consented_to() -> None:
    url = question("ok", {"mode": "url", "url": "https://a.test/x", "message": "Go"})
    sender = client(delete(questions=(url,)))
    assert text(again(sender, sender.call("delete"), {"ok": {"action": "accept"}})) == "gone: True"


def test_sampling_and_roots() -> None:
    sample = question(
        "poem",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "A poem"}}], "maxTokens": 10},
        method="sampling/createMessage",
    )
    roots = question("roots", {}, method="roots/list")
    sender = client(
        tool("t", says("{{ answers.poem.content.text }} {{ answers.roots[0].uri }}"), questions=(sample, roots))
    )
    first = sender.call("t")
    assert {q["method"] for q in asked(first).values()} == {"sampling/createMessage", "roots/list"}
    poem = {"role": "assistant", "content": {"type": "text", "text": "Roses"}, "model": "m"}
    good = {"poem": poem, "roots": {"roots": [{"uri": "file:///a"}]}}
    assert text(again(sender, first, good, "t")) == "Roses file:///a"
    strange: list[dict[str, Any]] = [{"poem": {"role": "x"}}, {"poem": {"role": "user", "content": 5}}]
    for bad in (*strange, {"roots": {"roots": [5]}}, {"roots": {}}):
        assert set(asked(again(sender, first, {**good, **bad}, "t"))) == set(bad)


def test_a_field_that_was_left_out_is_absent() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}
    who = question("who", {"message": "Who?", "requestedSchema": schema})
    sender = client(tool("t", says("[{{ answers.who.a }}{{ answers.who.b }}] {{ answers.who }}"), questions=(who,)))
    assert text(sender.call("t", inputResponses={"who": accept(a="x")})) == '[x] {"a":"x"}'


@pytest.mark.parametrize("word", ["nowhere", "javascript:alert(1)", "https://", ""])
def test_an_address_that_no_browser_opens_is_never_sent(word: str) -> None:
    url = question("ok", {"mode": "url", "url": "{{ word }}", "message": "Go"})
    item = delete(questions=(url,), vars={"word": var(says(word))})
    assert fault(client(item).call("delete")).code == -32603


def test_E10_a_form_that_clients_cannot_draw_is_never_sent() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"f": {"type": "string", "enum": "{{ kinds }}"}}}
    shape = TEMPLATES.tree({"message": "Which?", "requestedSchema": schema})
    dynamic = replace(form("ok"), params=shape, schema=None, reads=shape.reads)

    def put(kinds: list[Any]) -> Reply:
        return client(delete(questions=(dynamic,), vars={"kinds": var(runs(kinds))})).call("delete")

    assert asked(put(["a", "b"]))["ok"]["params"]["requestedSchema"]["properties"]["f"]["enum"] == ["a", "b"]
    assert fault(put([1, 2])).code == -32603


# --- capabilities ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"sampling": {}}, {"elicitation": None}])
def test_E03_a_client_that_cannot_be_asked_is_refused_and_nothing_runs(capabilities: Any) -> None:
    sender = client(delete(), capabilities=capabilities, http=True)
    for params in ({}, {"inputResponses": {"ok": accept()}}):
        reply = sender.call("delete", **params)
        assert (fault(reply).code, reply.status) == (-32021, 400)
        assert "elicitation" in fault(reply).data["requiredCapabilities"]
    assert sender.invoked == []


def test_E03_a_mode_that_is_not_declared_is_seen_before_any_var_runs() -> None:
    item = delete(questions=(question("ok", "{{ lost }}"),), vars={"lost": var(runs("x"))})
    sender = client(item, capabilities={"elicitation": {"url": {}}})
    assert fault(sender.call("delete")).data == {"requiredCapabilities": {"elicitation": {"form": {}}}}
    assert sender.invoked == []


@pytest.mark.parametrize("capabilities", [{"elicitation": {}}, {"elicitation": {"form": {}}}])
def test_E03_an_empty_elicitation_means_forms(capabilities: Any) -> None:
    assert asked(client(delete(), capabilities=capabilities).call("delete"))
    url = question("ok", {"mode": "url", "url": "https://a.test/x", "message": "Go"})
    reply = client(delete(questions=(url,)), capabilities=capabilities).call("delete")
    assert fault(reply).data == {"requiredCapabilities": {"elicitation": {"url": {}}}}


def test_E03_no_var_runs_for_a_client_that_cannot_be_asked() -> None:
    sender = client(delete(questions=(question("ok", "{{ lost }}"),), vars={"lost": var(runs("x"))}), capabilities={})
    assert fault(sender.call("delete")).code == -32021
    assert sender.invoked == []


def test_what_a_condition_rules_out_needs_no_capability() -> None:
    conditional = question("ok", "Sure?", when="client.elicitation")
    model = question("m", {"messages": [], "maxTokens": 1}, method="sampling/createMessage", when="client.sampling")
    item = tool("t", runs("ran"), questions=(conditional, model))
    assert text(client(item, capabilities={}).call("t")) == "ran"
    assert list(asked(client(item, capabilities={"sampling": {}}).call("t"))) == ["m"]
    assert list(asked(client(item, capabilities={"elicitation": {}}).call("t"))) == ["ok"]


def test_required_capabilities_come_first_of_all() -> None:
    item = tool("t", runs("ran"), {"type": "object", "required": ["x"]}, requires={"sampling": {}})
    reply = client(item, capabilities={}).call("t")
    assert (fault(reply).code, fault(reply).data) == (-32021, {"requiredCapabilities": {"sampling": {}}})
    assert is_error(client(item).call("t"))


def test_tools_in_a_sample_need_their_own_capability() -> None:
    sample = question("m", {"messages": [], "maxTokens": 1, "tools": []}, method="sampling/createMessage")
    reply = client(tool("t", runs("x"), questions=(sample,)), capabilities={"sampling": {}}).call("t")
    assert fault(reply).data == {"requiredCapabilities": {"sampling": {"tools": {}}}}


# --- several questions and rounds ------------------------------------------------------------------------------

WIZARD = (
    form("a", kind={"type": "string"}),
    question("b", {"message": "Which {{ answers.a.kind }}?", "requestedSchema": NAME}, when="answers.a.kind == 'x'"),
    question("c", "Sure?"),
)


def wizard() -> Client:
    return client(tool("wiz", says("{{ answers.a.kind }} {{ answers.b.name }} {{ answers.c }}"), questions=WIZARD))


def test_E09_independent_questions_share_a_round() -> None:
    assert list(asked(wizard().call("wiz"))) == ["a", "c"]


def test_E09_answers_are_kept_from_round_to_round() -> None:
    sender = wizard()
    first = sender.call("wiz")
    second = again(sender, first, {"a": accept(kind="x"), "z": "junk"}, "wiz")
    assert list(asked(second)) == ["b", "c"]
    assert asked(second)["b"]["params"]["message"] == "Which x?"
    assert state(second) != state(first)
    third = again(sender, second, {"b": accept(name="Ann"), "z": {"action": "accept"}}, "wiz")
    assert list(asked(third)) == ["c"]
    assert text(again(sender, third, {"c": accept()}, "wiz")) == "x Ann true"


def test_E09_a_condition_is_looked_at_again() -> None:
    sender = wizard()
    reply = again(sender, sender.call("wiz"), {"a": accept(kind="y"), "c": accept()}, "wiz")
    assert text(reply) == "y  true"


def test_E09_rounds_are_bounded() -> None:
    sender = client(delete())
    reply = sender.call("delete")
    for _ in range(9):
        reply = again(sender, reply, {})
        assert asked(reply)
    assert "10 rounds" in text(again(sender, reply, {}))
    assert sender.invoked == []


def test_answers_without_state_count_for_the_first_round_alone() -> None:
    sender = wizard()
    everything = {"a": accept(kind="x"), "b": accept(name="Eve"), "c": accept()}
    assert list(asked(sender.call("wiz", inputResponses=everything))) == ["b"]


def test_a_question_that_reads_differently_now_is_put_again() -> None:
    lost = ["two commits"]
    item = delete(questions=(question("ok", "Lose {{ lost }}?"),), vars={"lost": var(runs(lambda scope: lost[0]))})
    sender = client(item)
    first = sender.call("delete")
    lost[0] = "three commits"
    second = again(sender, first, {"ok": accept()})
    assert asked(second)["ok"]["params"]["message"] == "Lose three commits?"
    assert text(again(sender, second, {"ok": accept()})) == "gone: True"


def test_an_earlier_answer_to_a_question_that_changed_is_dropped() -> None:
    word = ["one"]
    questions = (question("ok", "{{ word }}?"), question("more", "More?", when="answers.ok"))
    sender = client(delete(questions=questions, vars={"word": var(runs(lambda scope: word[0]))}))
    second = again(sender, sender.call("delete"), {"ok": accept()})
    assert list(asked(second)) == ["more"]
    word[0] = "other"
    assert list(asked(again(sender, second, {"more": accept()}))) == ["ok"]


def test_assertions_over_answers_come_after_the_questions() -> None:
    item = tool(
        "t",
        runs("ran"),
        questions=(form("n", n={"type": "integer"}),),
        assertions=(holds("answers.n.n > 1", "{{ answers.n.n }} is too few."),),
    )
    sender = client(item)
    first = sender.call("t")
    reply = again(sender, first, {"n": accept(n=1)}, "t")
    assert (is_error(reply), text(reply)) == (True, "1 is too few.")
    assert sender.invoked == []
    assert text(again(sender, first, {"n": accept(n=2)}, "t")) == "ran"


def test_a_var_may_read_an_answer() -> None:
    item = tool(
        "t",
        says("{{ v }}"),
        questions=(form("a", n={"type": "string"}), question("b", "{{ v }}?")),
        vars={"v": var(says("<{{ answers.a.n }}>"))},
    )
    sender = client(item)
    first = sender.call("t")
    assert list(asked(first)) == ["a"]
    second = again(sender, first, {"a": accept(n="x")}, "t")
    assert asked(second)["b"]["params"]["message"] == "<x>?"


def test_vars_that_read_each_other_are_an_incident() -> None:
    item = tool("t", says("{{ a }}"), vars={"a": var(says("{{ b }}")), "b": var(says("{{ a }}"))})
    assert fault(client(item).call("t")).code == -32603
    item = tool("t", says("x"), questions=(question("a", "{{ answers.b }}"), question("b", "{{ answers.a }}")))
    assert fault(client(item).call("t")).code == -32603


# --- requestState ----------------------------------------------------------------------------------------------


def rejected(reply: Reply) -> None:
    assert (fault(reply).code, reply.status, fault(reply).message) == (-32602, 400, REJECTED)


def test_E05_state_that_was_touched_is_rejected() -> None:
    sender = client(delete())
    good = state(sender.call("delete"))
    forged = base64.urlsafe_b64encode(json.dumps({"approved": True}).encode()).decode()
    flipped = good[:-5] + ("A" if good[-5] != "A" else "B") + good[-4:]
    states: tuple[Any, ...] = (good + "-TAMPERED", flipped, forged, good[:-9], "", "x" * 1_000_000, 5, [], {}, True)
    for bad in states:
        rejected(sender.call("delete", inputResponses={"ok": accept()}, requestState=bad))
    assert sender.invoked == []


def test_E05_state_is_bound_to_who_called_what_with_which_arguments() -> None:
    item = delete()
    other = replace(item, name="other")
    sender = client(item, other, principal="alice")
    good = state(sender.call("delete", {"x": 1}))
    answers = {"ok": accept()}
    rejected(sender.call("delete", {"x": 2}, inputResponses=answers, requestState=good))
    rejected(sender.call("other", {"x": 1}, inputResponses=answers, requestState=good))
    mallory = Client(sender.catalogue, principal="mallory")
    rejected(mallory.call("delete", {"x": 1}, inputResponses=answers, requestState=good))
    rejected(Client(sender.catalogue).call("delete", {"x": 1}, inputResponses=answers, requestState=good))
    assert text(sender.call("delete", {"x": 1}, inputResponses=answers, requestState=good)) == "gone: True"


def test_E05_state_expires_and_is_accepted_once() -> None:
    sender = client(delete())
    first = sender.call("delete")
    sender.now = NOW + 601
    rejected(again(sender, first, {"ok": accept()}))
    sender.now = NOW + 599
    assert text(again(sender, first, {"ok": accept()})) == "gone: True"
    assert sender.invoked[0].claim is not None
    assert sender.invoked[0].claim[1] == NOW + 6000  # as long as any state of this call could come back
    rejected(again(sender, first, {"ok": accept()}))


def test_E05_all_states_of_a_call_lead_to_one_run() -> None:
    sender = wizard()
    first = sender.call("wiz")
    second = again(sender, first, {"a": accept(kind="x"), "c": accept()}, "wiz")
    other = again(sender, first, {"a": accept(kind="x")}, "wiz")
    assert text(again(sender, second, {"b": accept(name="Ann")}, "wiz")) == "x Ann true"
    rejected(again(sender, second, {"b": accept(name="Ann")}, "wiz"))
    rejected(again(sender, other, {"b": accept(name="Ann"), "c": accept()}, "wiz"))
    rejected(again(sender, first, {"a": accept(kind="y"), "c": accept()}, "wiz"))
    assert len(sender.used) == 1


def test_E05_a_pure_item_uses_its_state_up_too() -> None:
    sender = client(tool("t", says("done"), questions=(question("ok", "Sure?"),)))
    first = sender.call("t")
    assert text(again(sender, first, {"ok": accept()}, "t")) == "done"
    rejected(again(sender, first, {"ok": accept()}, "t"))


def test_E07_keys_rotate() -> None:
    old, both = Keyring([b"o" * 32]), Keyring([b"n" * 32, b"o" * 32])
    sender = client(delete(), sealer=old)
    first = sender.call("delete")
    sender.sealer = both
    assert text(again(sender, first, {"ok": accept()})) == "gone: True"


def test_E07_an_edit_between_the_rounds_asks_again() -> None:
    sender = client(delete())
    first = sender.call("delete")
    sender.catalogue = catalogue(delete(digest="d2"))
    second = again(sender, first, {"ok": accept()})
    assert list(asked(second)) == ["ok"]
    assert text(again(sender, second, {"ok": accept()})) == "gone: True"


def test_state_holds_no_answer_in_clear() -> None:
    sender = client(
        tool("t", runs("x"), questions=(form("a", pin={"type": "string"}), form("b", x={"type": "string"})))
    )
    second = again(sender, sender.call("t"), {"a": accept(pin="hunter2secret")}, "t")
    padded = state(second) + "=" * (-len(state(second)) % 4)
    assert b"hunter2" not in base64.urlsafe_b64decode(padded)


def test_answers_that_grow_too_large_are_refused() -> None:
    sender = client(tool("t", runs("x"), questions=(form("a", x={"type": "string"}), form("b", x={"type": "string"}))))
    reply = again(sender, sender.call("t"), {"a": accept(x="x" * 70_000)}, "t")
    assert (fault(reply).code, reply.status) == (-32602, 400)


# --- prompts, resources, and what may not ask ------------------------------------------------------------------


def test_prompts_ask_too() -> None:
    item = prompt(
        "p", says("About {{ answers.topic.context }}"), questions=(form("topic", context={"type": "string"}),)
    )
    sender = client(item)
    first = sender.send("prompts/get", {"name": "p"})
    params = {"name": "p", "inputResponses": {"topic": accept(context="x")}, "requestState": state(first)}
    assert result(sender.send("prompts/get", params))["messages"][0]["content"]["text"] == "About x"
    params["inputResponses"] = {"topic": DECLINE}
    assert fault(sender.send("prompts/get", params)).message == "The user declined (topic)."


def test_a_declined_prompt_may_say_so() -> None:
    item = prompt("p", says("x"), questions=(question("ok", "Sure?", declined="Never mind."),))
    reply = client(item).send("prompts/get", {"name": "p", "inputResponses": {"ok": DECLINE}})
    assert result(reply)["messages"] == [{"role": "user", "content": {"type": "text", "text": "Never mind."}}]


def test_N13_a_resource_reached_by_answers_is_not_cacheable() -> None:
    item = resource("r", "a:b", says("x"), questions=(question("ok", "Sure?", declined="Kept shut."),))
    sender = client(item)
    first = sender.send("resources/read", {"uri": "a:b"})
    assert "ttlMs" not in sent(first)["result"]
    params = {"uri": "a:b", "inputResponses": {"ok": accept()}, "requestState": state(first)}
    found = sent(sender.send("resources/read", params))["result"]
    assert (found["contents"][0]["text"], found["ttlMs"], found["cacheScope"]) == ("x", 0, "private")
    reply = sender.send("resources/read", {"uri": "a:b", "inputResponses": {"ok": DECLINE}})
    assert result(reply)["contents"][0]["text"] == "Kept shut."


def test_completion_never_asks() -> None:
    questions = {"q": {"method": "roots/list"}}
    item = prompt("p", says("x"), argument("a", complete=var(runs(Asked(questions)))), questions=(question("ok", "?"),))
    params = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}
    assert fault(client(item).send("completion/complete", params)).code == -32603


# --- a callable that asks --------------------------------------------------------------------------------------

CITY = {
    "method": "elicitation/create",
    "params": {"message": "Which city?", "requestedSchema": {**NAME, "properties": {"name": {"type": "string"}}}},
}


SURE = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}


def asking(scope: Any) -> Any:
    """A callable that asks twice, each time from the top."""
    given = scope["given"]
    if "city" not in given:
        return Asked({"city": CITY})
    if given["city"]["action"] != "accept":
        return "nowhere"
    if "sure" not in given:
        return Asked({"sure": {"method": "elicitation/create", "params": SURE}})
    return f"to {given['city']['content']['name']}, {given['sure']['action']}"


def test_a_callable_is_run_again_with_its_answers() -> None:
    sender = client(tool("go", Bound(asking)))
    first = sender.call("go")
    assert asked(first) == {"city": CITY}
    second = again(sender, first, {"city": accept(name="Rome")}, "go")
    assert list(asked(second)) == ["sure"]
    assert text(again(sender, second, {"sure": accept()}, "go")) == "to Rome, accept"
    assert len({invoke.claim for invoke in sender.invoked}) == 3


def test_a_callable_hears_a_no() -> None:
    sender = client(tool("go", Bound(asking)))
    assert text(again(sender, sender.call("go"), {"city": DECLINE}, "go")) == "nowhere"


def test_a_callable_is_not_run_before_its_answer_is_good() -> None:
    sender = client(tool("go", Bound(asking)))
    first = sender.call("go")
    for answers in ({}, {"city": 5}, {"city": accept()}, {"town": accept(name="x")}):
        assert list(asked(again(sender, first, answers, "go"))) == ["city"]
    assert len(sender.invoked) == 1


def test_a_callable_may_ask_only_who_can_be_asked() -> None:
    reply = client(tool("go", Bound(asking)), capabilities={"roots": {}}).call("go")
    assert fault(reply).data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


def test_a_callable_that_asks_nonsense_is_an_incident() -> None:
    for questions in ({}, {"q": {"method": "tools/call"}}):
        assert fault(client(tool("go", runs(Asked(questions)))).call("go")).code == -32603


def test_an_answer_to_a_callable_is_told_with_the_question_it_was_given_to() -> None:
    sender = client(tool("go", Bound(asking)))
    again(sender, sender.call("go"), {"city": accept(name="Rome")}, "go")
    assert sender.invoked[-1].heard == {"city": digest(CITY)}


def test_a_callable_may_not_take_the_key_of_a_declared_question() -> None:
    sender = client(tool("go", runs(Asked({"ok": CITY})), questions=(question("ok", "Sure?"),)))
    assert fault(again(sender, sender.call("go"), {"ok": accept()}, "go")).code == -32603


def test_declared_answers_are_at_hand_for_a_callable() -> None:
    sender = client(tool("go", Bound(lambda scope: json.dumps(scope["given"])), questions=(question("ok", "Sure?"),)))
    assert json.loads(text(sender.call("go", inputResponses={"ok": accept()}))) == {"ok": accept()}


# --- whoever can ask directly ----------------------------------------------------------------------------------


def test_an_ask_resumes_with_raw_answers() -> None:
    sender = wizard()
    plan = sender.plan(sender.body("tools/call", {"name": "wiz"}))
    assert isinstance(plan, Ask)
    assert set(plan.questions) == {"a", "c"}
    plan = plan.resume({"a": accept(kind="x"), "c": accept()})
    assert isinstance(plan, Ask)
    assert set(plan.questions) == {"b"}
    plan = plan.resume({"b": accept(name="Ann")})
    assert text(sender.settle(plan)) == "x Ann true"


def test_an_ask_of_a_callable_resumes() -> None:
    sender = client(tool("go", Bound(asking)))
    plan = sender.plan(sender.body("tools/call", {"name": "go"}))
    for answers in ({"city": accept(name="Rome")}, {"sure": accept()}):
        assert isinstance(plan, Invoke)
        plan = plan.conclude(Bound(asking).render({"given": dict(plan.answers)}))
        assert isinstance(plan, Ask)
        plan = plan.resume(answers)
    assert text(sender.settle(plan)) == "to Rome, accept"


def test_a_conclusion_never_raises() -> None:
    sender = client(tool("go", runs("x")))
    plan = sender.plan(sender.body("tools/call", {"name": "go"}))
    assert isinstance(plan, Invoke)
    broken: Any = "not an outcome"
    answer = plan.conclude(broken)
    assert isinstance(answer, Reply)
    assert fault(answer).code == -32603


def test_confined_arguments_are_never_rendered_inside_the_plan() -> None:
    from pathlib import Path

    from mcpdecl.catalogue import Confined

    confined = (Confined("path", Path("/nowhere/docs"), "docs"),)
    item = tool("t", says("x"), confined=confined)
    assert isinstance(item.handler, Handler)
    sender = client(item)
    assert text(sender.call("t")) == "x"
    assert sender.invoked[0].confined == confined
