"""Callables that ask while they run, over both transports: run again from the top, and only true answers count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.walks.conftest import started
from tests.walks.conversation import GONE, NO, YES, accept, asked, call, lacks, messages, rejected, status, use

NAMES = "trip shifty twice settled sampled rooted visits maybe handles crowd torn swallows clashing odd"
TOOL = '      {0}: {{description: x, input: {{mark: string}}, python: "talk:{0}"}}\n'
MANIFEST = f"""
    tools:
{"".join(TOOL.format(name) for name in ["ran", *NAMES.split()])}
      declared:
        description: x
        input: {{mark: string}}
        ask: {{first: "Really?"}}
        python: "talk:trip"
      covets: {{description: x, input: {{mark: string}}, ask: {{sure: "Read it?"}}, python: "talk:covets"}}
    prompts:
      letter: {{python: "talk:letter"}}
    resources:
      diary: {{uri: "walk://diary", ttl: 1h, python: "talk:diary"}}
"""
TALK = """
    import asyncio, pathlib
    from mcpdecl import Context
    from mcpdecl.bindings.asking import Declined

    def note(mark):
        with open("ran-" + mark, "a") as file:
            file.write("x")
        return ran(mark)

    def ran(mark):
        path = pathlib.Path("ran-" + mark)
        return len(path.read_text()) if path.exists() else 0

    async def trip(mark, ctx: Context):
        note(mark)
        fields = {"city": {"type": "string", "minLength": 2}, "by?": "string"}
        where = await ctx.ask("where", "Where to?", fields=fields)
        sure = await ctx.ask("sure", f"To {where['city']}?")
        return f"{where['city']} {where.get('by')} {sure}"

    async def shifty(mark, ctx: Context):
        number = note(mark)
        await ctx.ask("ok", f"Wipe disk {number}?")
        return "wiped"

    async def settled(mark, ctx: Context):
        number = min(note(mark), 2)
        await ctx.ask("ok", f"Wipe disk {number}?")
        return f"wiped {number}"

    async def twice(mark, ctx: Context):
        note(mark)
        await ctx.ask("ok", "Read it?")
        await ctx.ask("ok", "Delete it?")
        return "deleted"

    async def sampled(mark, ctx: Context):
        said = await ctx.sample("s", [{"role": "user", "content": {"type": "text", "text": mark}}], 20, temperature=0)
        return said["content"]["text"]

    async def rooted(mark, ctx: Context):
        return [root["uri"] for root in await ctx.roots()]

    async def visits(mark, ctx: Context):
        return str(await ctx.ask("login", "Log in.", url=mark))

    def maybe(mark, ctx: Context):
        note(mark)
        return f"[{ctx.ask_now('ok', 'Go?', optional=True)}]"

    async def handles(mark, ctx: Context):
        try:
            await ctx.ask("ok", "Go?")
        except Declined as no:
            return "said " + no.action
        return "went"

    async def crowd(mark, ctx: Context):
        note(mark)
        async with asyncio.TaskGroup() as group:
            one = group.create_task(ctx.ask("one", "One?"))
            two = group.create_task(ctx.ask("two", "Two?", fields={"n": "integer"}))
        return f"{one.result()} {two.result()['n']}"

    async def torn(mark, ctx: Context):
        async def breaks():
            raise RuntimeError("secret")
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.ask("one", "One?"))
            group.create_task(breaks())

    async def swallows(mark, ctx: Context):
        try:
            await ctx.ask("ok", "Go?")
        except Exception:
            pass
        note(mark)
        return "went"

    async def clashing(mark, ctx: Context):
        return str(await ctx.ask("who", "Who?", schema={"properties": {"a": {"type": "object", "properties": {}}}}))

    async def covets(mark, ctx: Context):
        note(mark)
        await ctx.ask("sure", "Delete it?")
        note(mark)
        return "deleted"

    async def odd(mark, ctx: Context):
        return str(await ctx.ask("who", ("no", "text")))

    async def letter(ctx: Context):
        return "Dear " + (await ctx.ask("to", "To whom?", fields={"name": "string"}))["name"]

    async def diary(ctx: Context):
        await ctx.ask("ok", "Read it?")
        return "today"
"""
PROJECT = {"manifests/m.yaml": MANIFEST, "talk.py": TALK}


@pytest.fixture(scope="module")
def failing(way: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server whose callables may leave tracebacks on stderr."""
    with started(way, tmp_path_factory.mktemp("failing"), PROJECT) as server:
        yield server
        assert server.stop() == 0


def ran(server: Any, mark: str) -> int:
    return int(call(server, "ran", {"mark": mark}).text)


# --- run again from the top ------------------------------------------------------------------------------------


def test_a_callable_is_run_again_from_the_top_with_earlier_answers_at_hand(served: Any) -> None:
    given = {"mark": "trip"}
    first = call(served, "trip", given)
    form = asked(first)["where"]["params"]
    assert form["message"] == "Where to?"
    assert form["requestedSchema"] == {
        "type": "object",
        "properties": {"city": {"type": "string", "minLength": 2}, "by": {"type": "string"}},
        "required": ["city"],
    }
    second = call(served, "trip", given, {"where": accept(city="Rome"), "junk": 5}, first)
    assert messages(second) == {"sure": "To Rome?"}
    assert ran(served, "trip") == 2
    assert call(served, "trip", given, {"sure": YES}, second).text == "Rome None True"
    assert ran(served, "trip") == 3


@pytest.mark.parametrize("answer", [None, 5, {}, YES, accept(city="R"), accept(city=5), {"action": "yes"}])
def test_what_is_no_answer_is_asked_again_and_nothing_is_run_for_it(served: Any, answer: Any) -> None:
    mark = "again-" + "".join(c for c in str(answer) if c.isalnum())
    first = call(served, "trip", {"mark": mark})
    again = call(served, "trip", {"mark": mark}, {"where": answer}, first)
    assert messages(again)["where"].startswith("Where to?")
    assert ran(served, mark) == 1
    assert messages(call(served, "trip", {"mark": mark}, {"where": accept(city="Rome")}, again)) == {"sure": "To Rome?"}


def test_answers_that_come_before_anything_was_asked_do_not_count(served: Any) -> None:
    ahead = call(served, "trip", {"mark": "ahead"}, {"where": accept(city="Rome"), "sure": YES})
    assert list(asked(ahead)) == ["where"]
    second = call(served, "trip", {"mark": "ahead"}, {"where": accept(city="Rome"), "sure": YES}, ahead)
    assert messages(second) == {"sure": "To Rome?"}


def test_an_answer_that_was_given_is_not_given_again(served: Any) -> None:
    first = call(served, "trip", {"mark": "keeps"})
    second = call(served, "trip", {"mark": "keeps"}, {"where": accept(city="Rome")}, first)
    done = call(served, "trip", {"mark": "keeps"}, {"where": accept(city="Paris"), "sure": YES}, second)
    assert done.text == "Rome None True"


@pytest.mark.parametrize(("answer", "told"), [(NO, "declined"), (GONE, "cancelled")])
def test_E01_a_no_ends_the_run_or_is_handled_by_it(served: Any, answer: Any, told: str) -> None:
    done = call(served, "trip", {"mark": "no"}, {"where": answer}, call(served, "trip", {"mark": "no"}))
    assert (done.text, done.result["isError"]) == (f"The user {told} (where).", True)
    maybe = call(served, "maybe", {"mark": "no"}, {"ok": answer}, call(served, "maybe", {"mark": "no"}))
    assert maybe.text == "[None]"
    handled = call(served, "handles", {"mark": "no"}, {"ok": answer}, call(served, "handles", {"mark": "no"}))
    assert handled.text == f"said {answer['action']}"


def test_no_except_clause_goes_on_without_the_answer(served: Any) -> None:
    first = call(served, "swallows", {"mark": "swallowed"})
    assert (list(asked(first)), ran(served, "swallowed")) == (["ok"], 0)
    assert call(served, "swallows", {"mark": "swallowed"}, {"ok": YES}, first).text == "went"


def test_questions_of_several_tasks_share_a_round(served: Any) -> None:
    first = call(served, "crowd", {"mark": "crowd"})
    assert messages(first) == {"one": "One?", "two": "Two?"}
    second = call(served, "crowd", {"mark": "crowd"}, {"one": YES}, first)
    assert messages(second) == {"two": "Two?"}
    assert call(served, "crowd", {"mark": "crowd"}, {"two": accept(n=2)}, second).text == "True 2"
    assert ran(served, "crowd") == 2


def test_a_task_that_breaks_beside_a_question_is_an_incident(failing: Any) -> None:
    done = call(failing, "torn", {"mark": "torn"})
    assert done.result["isError"]
    assert "incident" in done.text
    assert "secret" not in done.text


# --- an answer counts for the question that was shown ----------------------------------------------------------


def test_an_answer_to_another_text_does_not_count(served: Any) -> None:
    given = {"mark": "settled"}
    first = call(served, "settled", given)
    assert messages(first) == {"ok": "Wipe disk 1?"}
    second = call(served, "settled", given, {"ok": YES}, first)
    assert messages(second) == {"ok": "Wipe disk 2?"}
    assert messages(call(served, "settled", given, {}, second)) == {"ok": "Wipe disk 2?"}
    assert call(served, "settled", given, {"ok": YES}, second).text == "wiped 2"


def test_E09_a_question_that_never_reads_the_same_ends(served: Any) -> None:
    last = call(served, "shifty", {"mark": "shifty"})
    for number in range(1, 10):
        assert messages(last) == {"ok": f"Wipe disk {number}?"}
        last = call(served, "shifty", {"mark": "shifty"}, {"ok": YES}, last)
    done = call(served, "shifty", {"mark": "shifty"}, {"ok": YES}, last)
    assert done.result["isError"]
    assert done.text.startswith("After 10 rounds of questions")


def test_one_key_for_two_questions_of_a_run_never_counts_twice(failing: Any) -> None:
    first = call(failing, "twice", {"mark": "twice"})
    assert messages(first) == {"ok": "Read it?"}
    done = call(failing, "twice", {"mark": "twice"}, {"ok": YES}, first)
    assert done.result["isError"]
    assert "incident" in done.text
    assert failing.says("another question was asked as 'ok' before")


def test_an_answer_to_a_declared_question_is_none_to_another_of_its_key(served: Any) -> None:
    first = call(served, "covets", {"mark": "covets"})
    assert messages(first) == {"sure": "Read it?"}
    wrong = call(served, "covets", {"mark": "covets"}, {"sure": YES}, first)
    assert wrong.error["code"] == -32603
    assert ran(served, "covets") == 1
    assert served.says("a callable asked sure, which is the key of a declared question")


def test_declared_questions_come_first_and_stay_answered(served: Any) -> None:
    given = {"mark": "declared"}
    first = call(served, "declared", given)
    assert messages(first) == {"first": "Really?"}
    assert ran(served, "declared") == 0
    second = call(served, "declared", given, {"first": YES, "where": accept(city="Rome")}, first)
    assert list(asked(second)) == ["where"]
    third = call(served, "declared", given, {"where": accept(city="Rome"), "first": YES}, second)
    assert list(asked(third)) == ["sure"]
    assert call(served, "declared", given, {"sure": YES}, third).text == "Rome None True"
    assert ran(served, "declared") == 3


def test_E05_each_run_uses_up_the_states_before_it(served: Any) -> None:
    given = {"mark": "once"}
    first = call(served, "trip", given)
    again = call(served, "trip", given, {}, first)
    second = call(served, "trip", given, {"where": accept(city="Rome")}, first)
    rejected(call(served, "trip", given, {"where": accept(city="Paris")}, first))
    rejected(call(served, "trip", given, {"where": accept(city="Paris")}, again))
    assert call(served, "trip", given, {"sure": YES}, second).text == "Rome None True"
    rejected(call(served, "trip", given, {"sure": YES}, second))
    assert ran(served, "once") == 3


# --- what may be asked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "declared", "needed"),
    [
        ("trip", {}, {"elicitation": {"form": {}}}),
        ("trip", {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ("visits", {"elicitation": {}}, {"elicitation": {"url": {}}}),
        ("sampled", {"elicitation": {}}, {"sampling": {}}),
        ("rooted", {"sampling": {}}, {"roots": {}}),
    ],
)
def test_E03_only_what_the_client_declares_is_asked(served: Any, tool: str, declared: Any, needed: Any) -> None:
    given = {"mark": "https://a.test/x"} if tool == "visits" else {"mark": "e03"}
    lacks(call(served, tool, given, capabilities=declared), needed)
    first = call(served, tool, given)
    lacks(call(served, tool, given, dict.fromkeys(asked(first), YES), first, capabilities=declared), needed)


def test_sampling_and_roots(served: Any) -> None:
    first = call(served, "sampled", {"mark": "Hi"})
    message = {"role": "user", "content": {"type": "text", "text": "Hi"}}
    assert asked(first)["s"]["params"] == {"messages": [message], "maxTokens": 20, "temperature": 0}
    assert list(asked(call(served, "sampled", {"mark": "Hi"}, {"s": YES}, first))) == ["s"]
    said = {"role": "assistant", "content": {"type": "text", "text": "Ho"}, "model": "m"}
    assert call(served, "sampled", {"mark": "Hi"}, {"s": said}, first).text == "Ho"
    first = call(served, "rooted", {"mark": "r"})
    assert (
        call(served, "rooted", {"mark": "r"}, {"roots": {"roots": [{"uri": "file:///a"}]}}, first).text
        == '["file:///a"]'
    )


def test_E12_a_url_is_agreed_to_and_no_other_is_sent(served: Any) -> None:
    to = {"mark": "https://a.test/login"}
    first = call(served, "visits", to)
    assert asked(first)["login"]["params"] == {"mode": "url", "message": "Log in.", "url": to["mark"]}
    assert call(served, "visits", to, {"login": YES}, first).text == "True"


@pytest.mark.parametrize("to", ["nowhere", "javascript:alert(1)", "https://"])
def test_E12_an_address_that_no_browser_should_open_is_never_sent(failing: Any, to: str) -> None:
    assert "incident" in call(failing, "visits", {"mark": to}).text


@pytest.mark.parametrize("tool", ["clashing", "odd"])
def test_E10_what_no_client_can_show_is_never_sent(failing: Any, tool: str) -> None:
    done = call(failing, tool, {"mark": "x"})
    assert done.result["isError"]
    assert "incident" in done.text
    status(done, 200)


def test_a_prompt_and_a_resource_that_ask_while_they_run(served: Any) -> None:
    first = use(served, {"name": "letter"}, method="prompts/get")
    done = use(
        served, {"name": "letter"}, {"to": accept(name="Ann")}, first.result["requestState"], method="prompts/get"
    )
    assert done.result["messages"][0]["content"]["text"] == "Dear Ann"
    first = use(served, {"uri": "walk://diary"}, method="resources/read")
    state = first.result["requestState"]
    done = use(served, {"uri": "walk://diary"}, {"ok": YES}, state, method="resources/read")
    assert (done.result["contents"][0]["text"], done.result["ttlMs"]) == ("today", 0)
    assert done.result["cacheScope"] == "private"
