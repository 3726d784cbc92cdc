"""Tests of mcpdecl.bindings.python: signatures, threads, generators, the context."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcpdecl import bindings
from mcpdecl.bindings.modules import Modules
from mcpdecl.bindings.python import Python
from mcpdecl.catalogue import Asked, Failure, Missing, Outcome, Value, digest
from tests.bindings.site import FakeCall, Faults, scope, site

pytestmark = pytest.mark.anyio

SOURCE = """
import asyncio, functools, threading
from dataclasses import dataclass
from mcpdecl import Context, NotFound, ToolError

def plain(a, b=2): return [a, b, threading.current_thread() is threading.main_thread()]
async def awaited(a): return a
def everything(**more): return more
def needs(a, b): return [a, b]
def nothing(): return "x"
def fails(): raise ToolError("no such town")
def lost(): raise NotFound
def breaks(): raise ValueError("a secret path")
def only(a, /): return a
def yields():
    yield 1
    yield (2, 4, "half")
    yield "first"
    return "last"
async def ayields():
    yield 0.5
    yield "value"
def uses(context: Context, a):
    context.progress(1, 2, "x")
    context.log("info", {"a": a})
    context.notify_updated("x://1")
    return [context.principal, context.cancelled]
def named_ctx(ctx: "Context"): return ctx.principal
async def asks(ctx: Context):
    form = await ctx.ask("who", "Who?", fields={"name": "string"})
    sure = ctx.ask_now("sure", "Sure?")
    return [form["name"], sure]
async def samples(ctx: Context): return (await ctx.sample("s", [], 10))["role"]
async def rooted(ctx: Context): return await ctx.roots()
part = functools.partial(plain, b=9)
apart = functools.partial(awaited)
class Callable_:
    def __call__(self, a): return ["called", a]
class Awaitable_:
    async def __call__(self, a): return ["awaited", a]
instance, waits = Callable_(), Awaitable_()
def may_ctx(ctx: Context | None = None): return ctx is not None
def text_ctx(ctx: "Context | None"): return ctx is not None
def optional(a, debug=False): return [a, debug]
def now(ctx: Context): return ctx.ask_now("sure", "Sure?", optional=True)
def bare(ctx: Context): return ctx.ask_now("n", "N?", schema={"properties": {"n": {"type": "integer"}}})
def pairs(): yield (1, "a text")
def steps():
    from mcpdecl.bindings.python import Progress
    yield Progress(1)
    yield Progress(2, message="two")
    yield True
def decorated(): return ayields()
def coroutine(a): return awaited(a)
async def gives(): return yields()
async def who(ctx: Context):
    await asyncio.sleep(0)
    return [ctx.principal, await asyncio.create_task(told_by())]
def who_sync(ctx: Context): return [ctx.principal, VAR.get()]
async def told_by(): return VAR.get()
import contextvars
VAR = contextvars.ContextVar("pyb_var", default="nobody")
def drains(ctx: Context):
    try:
        for n in range(10**9):
            yield n
    finally:
        ctx.notify_updated("closed://")
"""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    before, path = set(sys.modules), list(sys.path)
    (tmp_path / "pyb_source.py").write_text(SOURCE)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("pyb_"):
            del sys.modules[name]
    sys.path[:] = path


def bound(root: Path, name: str, *declared: str, faults: Faults | None = None, **more: Any) -> Python | None:
    made = bindings.bind(
        {"python": f"pyb_source:{name}"},
        site(root, faults or Faults(), arguments={d: {} for d in declared}, **more),
    )
    assert made is None or isinstance(made, Python)
    return made


async def called(root: Path, name: str, *, call: FakeCall | None = None, **given: Any) -> Outcome:
    made = bound(root, name, *given)
    assert made is not None
    return await made.run(scope(given, **given), call or FakeCall(root))


async def test_P01_a_plain_function_runs_in_a_thread(root: Path) -> None:
    assert await called(root, "plain", a=1) == Value([1, 2, False])


async def test_an_async_function_runs_on_the_loop(root: Path) -> None:
    assert await called(root, "awaited", a={"x": 1}) == Value({"x": 1})


async def test_all_arguments_by_keyword(root: Path) -> None:
    assert await called(root, "everything", a=1, b=None) == Value({"a": 1, "b": None})


async def test_an_argument_that_was_not_given(root: Path) -> None:
    made = bound(root, "plain", "a", "b")
    assert made is not None
    assert await made.run(scope({"a": {}, "b": {}}, a=1), FakeCall(root)) == Value([1, 2, False])
    made = bound(root, "needs", "a", "b")
    assert made is not None
    assert await made.run(scope({"a": {}, "b": {}}, a=1), FakeCall(root)) == Value([1, None])


async def test_errors(root: Path) -> None:
    assert await called(root, "fails") == Failure("no such town")
    assert await called(root, "lost") == Missing()
    with pytest.raises(ValueError, match="secret"):
        await called(root, "breaks")


async def test_P04_generators_tell_progress_and_give_a_value(root: Path) -> None:
    call = FakeCall(root)
    assert await called(root, "yields", call=call) == Value("last")
    assert call.told == [(1, None, None), (2, 4, "half")]
    call = FakeCall(root)
    assert await called(root, "ayields", call=call) == Value("value")
    assert call.told == [(0.5, None, None)]


async def test_P04_a_generator_is_closed_when_its_call_is_cancelled(root: Path) -> None:
    call = FakeCall(root)
    made = bound(root, "drains")
    assert made is not None
    task = asyncio.create_task(made.run(scope({}), call))
    while not call.told:
        await asyncio.sleep(0.01)
    call.over = True
    await task
    assert call.changed == ["closed://"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("part", [1, 9, False]), ("apart", 1), ("instance", ["called", 1]), ("waits", ["awaited", 1])],
)
async def test_P04_partials_and_callable_objects(root: Path, name: str, value: Any) -> None:
    assert await called(root, name, a=1) == Value(value)


async def test_the_context(root: Path) -> None:
    call = FakeCall(root, principal="alice")
    assert await called(root, "uses", call=call, a=5) == Value(["alice", False])
    assert (call.told, call.logged, call.changed) == ([(1, 2, "x")], [("info", {"a": 5})], ["x://1"])
    assert await called(root, "named_ctx", call=FakeCall(root, principal="bob")) == Value("bob")


async def asked(root: Path, name: str, answers: Mapping[str, Any]) -> Outcome:
    """Run it again and again, each time with the answers to what it asked before."""
    heard: dict[str, str] = {}
    while True:
        outcome = await called(root, name, call=FakeCall(root, answers=answers, heard=heard))
        questions = outcome.questions if isinstance(outcome, Asked) else {}
        new = {key: digest(question) for key, question in questions.items() if key in answers}
        if new.items() <= heard.items():
            return outcome
        heard = {**heard, **new}


async def test_a_callable_that_asks_is_run_again_with_the_answers(root: Path) -> None:
    first = await asked(root, "asks", {})
    assert isinstance(first, Asked)
    assert first.questions["who"]["params"]["requestedSchema"]["properties"] == {"name": {"type": "string"}}
    who = {"who": {"action": "accept", "content": {"name": "Ada"}}}
    second = await asked(root, "asks", who)
    assert isinstance(second, Asked)
    assert list(second.questions) == ["sure"]
    assert await asked(root, "asks", {**who, "sure": {"action": "accept"}}) == Value(["Ada", True])


async def test_a_no_is_a_failure_and_a_misfit_is_asked_again(root: Path) -> None:
    assert await asked(root, "asks", {"who": {"action": "decline"}}) == Failure("The user declined (who).")
    assert await asked(root, "asks", {"who": {"action": "cancel"}}) == Failure("The user cancelled (who).")
    assert isinstance(await asked(root, "asks", {"who": {"action": "accept", "content": {"name": 5}}}), Asked)


async def test_sampling_and_roots(root: Path) -> None:
    first = await asked(root, "samples", {})
    assert isinstance(first, Asked)
    assert first.questions["s"] == {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 10}}
    assert await asked(root, "samples", {"s": {"role": "assistant"}}) == Value("assistant")
    assert await asked(root, "rooted", {"roots": {"roots": [{"uri": "file:///x"}]}}) == Value([{"uri": "file:///x"}])


@pytest.mark.parametrize(
    ("name", "declared", "codes"),
    [
        ("needs", ["a"], ["bad-parameters"]),
        ("nothing", ["a"], ["bad-parameters"]),
        ("only", ["a"], ["bad-parameters", "bad-parameters"]),
        ("plain", ["a", "bb"], ["bad-parameters"]),
        ("gone", [], ["bad-callable"]),
        ("everything", ["a", "b"], []),
    ],
)
def test_parameters_are_held_against_the_arguments(
    root: Path, name: str, declared: list[str], codes: list[str]
) -> None:
    faults = Faults()
    made = bound(root, name, *declared, faults=faults)
    assert faults.codes == codes
    assert (made is None) == bool(codes)


def test_nothing_is_imported_where_nothing_is_resolved(root: Path) -> None:
    assert bound(root, "gone", resolve=False) is not None
    assert "pyb_source" not in sys.modules


def test_threads_are_not_left(root: Path) -> None:
    assert threading.active_count() < 20


@pytest.mark.parametrize(("name", "value"), [("optional", [1, False]), ("everything", {"a": 1})])
async def test_what_an_open_schema_lets_in_reaches_no_parameter(root: Path, name: str, value: Any) -> None:
    made = bound(root, name, "a", open=True)
    assert made is not None
    given = {"a": 1, "debug": True, "more": 2}
    assert await made.run({"a": 1, "arguments": given}, FakeCall(root)) == Value(value)


@pytest.mark.parametrize("name", ["may_ctx", "text_ctx"])
async def test_a_context_may_be_annotated_as_optional(root: Path, name: str) -> None:
    assert await called(root, name) == Value(True)


async def test_a_question_in_a_plain_function_and_one_that_may_be_declined(root: Path) -> None:
    assert isinstance(await asked(root, "now", {}), Asked)
    assert await asked(root, "now", {"sure": {"action": "decline"}}) == Value(None)
    assert await asked(root, "now", {"sure": {"action": "accept"}}) == Value(True)


async def test_a_form_is_always_an_object(root: Path) -> None:
    first = await asked(root, "bare", {})
    assert isinstance(first, Asked)
    # spec: client/elicitation#requested-schema
    assert first.questions["n"]["params"]["requestedSchema"]["type"] == "object"


async def test_P04_only_numbers_are_progress(root: Path) -> None:
    call = FakeCall(root)
    assert await called(root, "pairs", call=call) == Value((1, "a text"))
    assert call.told == []
    assert await called(root, "steps", call=call) == Value(True)
    assert call.told == [(1, None, None), (2, None, "two")]


async def test_P04_what_a_function_returned_runs_to_its_value(root: Path) -> None:
    assert await called(root, "decorated") == Value("value")
    assert await called(root, "gives") == Value("last")
    assert await called(root, "coroutine", a=5) == Value(5)


async def test_P05_each_of_many_calls_sees_its_own_caller(root: Path) -> None:
    modules = Modules(root)
    made = {name: bound(root, name, modules=modules) for name in ("who", "who_sync")}
    var: contextvars.ContextVar[str] = sys.modules["pyb_source"].VAR

    async def one(name: str, who: str) -> Outcome:
        var.set(who)
        binding = made[name]
        assert binding is not None
        return await binding.run(scope({}), FakeCall(root, principal=who))

    names = [("who", "who_sync")[n % 2] for n in range(200)]
    people = [("alice", "bob")[n // 2 % 2] for n in range(200)]
    found = await asyncio.gather(*map(one, names, people))
    assert found == [Value([who, who]) for who in people]
    assert var.get() == "nobody"
