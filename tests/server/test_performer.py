from __future__ import annotations

import asyncio
import contextvars
import io
import json
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcpdecl.catalogue import Changes, Confined, Failure, Limits, Outcome, Spent, Value
from mcpdecl.observations import Log
from mcpdecl.protocol.plans import Arrival, Ask, Invoke, Reply, Request, Result
from mcpdecl.protocol.seal import Keyring
from mcpdecl.server.mailbox import Mailbox
from mcpdecl.server.performer import Performer, confinement
from tests import made

VAR: contextvars.ContextVar[str] = contextvars.ContextVar("var", default="none")


def request(**more: Any) -> Request:
    given: dict[str, Any] = {
        "id": 1,
        "method": "tools/call",
        "params": {"name": "t"},
        "capabilities": {},
        "client": None,
        "log_level": None,
        "progress_token": None,
        "catalogue": made.catalogue(),
        "arrival": Arrival(b"", None, None, 0.0, Keyring(None), True),
    }
    return Request(**{**given, **more})


def invoke(function: Any, *, limits: Limits = made.UNLIMITED, scope: Any = None, **more: Any) -> Invoke:
    asked = more.pop("request", None) or request()
    return Invoke(
        request=asked,
        item="tools/call t",
        binding=made.Runs(function),
        scope=scope or {"arguments": {}},
        limits=limits,
        conclude=lambda outcome: Reply(1, Result({"outcome": outcome}), request=asked),
        **more,
    )


class Room:
    def __init__(self) -> None:
        self.announced: list[Changes] = []
        self.stream = io.StringIO()
        self.performer = Performer(Log(stream=self.stream), self.announced.append, 2)
        self.box = Mailbox()

    async def perform(self, plan: Invoke) -> Outcome:
        return await self.performer.perform(plan, self.box)

    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(m) for m in self.box.take()[0]]


def within(work: Callable[[Room], Awaitable[None]]) -> None:
    async def life() -> None:
        room = Room()
        try:
            await asyncio.wait_for(work(room), 30)
        finally:
            room.performer.close()

    asyncio.run(life())


def test_what_a_binding_gives_is_the_outcome() -> None:
    async def work(room: Room) -> None:
        assert await room.perform(invoke(made.turn)) == Value("done without waiting")

    within(work)


def test_a_claim_is_accepted_once() -> None:
    async def work(room: Room) -> None:
        plan = invoke(made.turn, claim=("id", time.time() + 60))
        assert isinstance(await room.perform(plan), Value)
        assert await room.perform(plan) == Spent()

    within(work)


def test_S_timeouts_cancel_and_say_how_long() -> None:
    ended: list[bool] = []

    async def sleeps(scope: Any, call: Any) -> Outcome:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            ended.append(call.cancelled())
            raise
        return Value(None)

    async def work(room: Room) -> None:
        assert await room.perform(invoke(sleeps, limits=Limits(timeout=0.05))) == Failure("timed out after 0.05 s")
        assert ended

    within(work)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("/secret"),
        SystemExit(3),
        KeyboardInterrupt(),
        BaseException(),
        TimeoutError(),
        asyncio.CancelledError(),
        RecursionError(),
    ],
)
def test_whatever_is_raised_becomes_a_failure_with_an_incident(error: BaseException) -> None:
    async def raises(scope: Any, call: Any) -> Outcome:
        raise error

    async def work(room: Room) -> None:
        outcome = await room.perform(invoke(raises))
        assert isinstance(outcome, Failure)
        assert outcome.incident
        assert outcome.text == f"t failed (incident {outcome.incident})"
        assert outcome.incident in room.stream.getvalue()

    within(work)


def test_a_cancelled_task_is_cancelled() -> None:
    async def work(room: Room) -> None:
        task = asyncio.create_task(room.perform(invoke(made.slow)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    within(work)


def test_progress_rises_strictly_and_is_finite() -> None:
    async def tells(scope: Any, call: Any) -> Outcome:
        for value in (1, 1, 0.5, float("inf"), float("nan"), -1, 1.5):
            call.progress(value, float("nan"), "m")
            sent.extend(m["params"] for m in room_of[0].messages())
        return Value(None)

    sent: list[Mapping[str, Any]] = []
    room_of: list[Room] = []

    async def work(room: Room) -> None:
        room_of.append(room)
        await room.perform(invoke(tells, request=request(progress_token=7)))
        assert [p["progress"] for p in sent] == [1, 1.5]
        assert sent[0] == {"progressToken": 7, "progress": 1, "message": "m"}
        await room.perform(invoke(tells))
        assert len(sent) == 2

    within(work)


def test_logs_keep_to_the_level_that_was_asked_for() -> None:
    async def tells(scope: Any, call: Any) -> Outcome:
        for level in ("debug", "info", "warning", "emergency"):
            call.log(level, level, "here")
        with pytest.raises(ValueError, match="unknown log level"):
            call.log("loud", "x")
        with pytest.raises(ValueError, match="JSON"):
            call.log("error", object())
        return Value(None)

    async def work(room: Room) -> None:
        assert await room.perform(invoke(tells, request=request(log_level="warning"))) == Value(None)
        assert [m["params"]["data"] for m in room.messages()] == ["warning", "emergency"]

    within(work)


def test_nothing_is_sent_after_the_end() -> None:
    calls: list[Any] = []

    async def keeps(scope: Any, call: Any) -> Outcome:
        calls.append(call)
        return Value(None)

    async def work(room: Room) -> None:
        await room.perform(invoke(keeps, request=request(progress_token=1, log_level="debug")))
        calls[0].progress(1)
        calls[0].log("error", "late")
        assert room.messages() == []
        assert calls[0].cancelled()

    within(work)


def test_threads_are_bounded_and_see_context_variables() -> None:
    async def blocks(scope: Any, call: Any) -> Outcome:
        VAR.set("mine")
        return Value(await call.in_thread(lambda: (VAR.get(), threading.current_thread().name)))

    async def work(room: Room) -> None:
        outcomes = await asyncio.gather(*(room.perform(invoke(blocks)) for _ in range(20)))
        found = [o.data for o in outcomes if isinstance(o, Value)]
        assert {value for value, _ in found} == {"mine"}
        assert len({name for _, name in found}) <= 2

    within(work)


def test_a_resource_that_changed_is_announced() -> None:
    async def changes(scope: Any, call: Any) -> Outcome:
        await call.in_thread(lambda: call.updated("a:b"))
        return Value(None)

    async def work(room: Room) -> None:
        await room.perform(invoke(changes))
        await asyncio.sleep(0)
        assert room.announced == [Changes(updated=frozenset({"a:b"}))]

    within(work)


def test_resources_of_the_same_catalogue_can_be_read() -> None:
    async def work(room: Room) -> None:
        scope = {"arguments": {"uri": "made://note"}}
        assert await room.perform(invoke(made.quote, scope=scope)) == Value("the note")
        scope = {"arguments": {"uri": "made://nowhere"}}
        assert await room.perform(invoke(made.quote, scope=scope)) == Value("missing")
        scope = {"arguments": {"uri": "made://again"}}
        outcome = await room.perform(invoke(made.quote, scope=scope))
        assert isinstance(outcome, Failure)
        assert "circle" in outcome.text

    within(work)


def test_settling_goes_on_until_a_reply() -> None:
    async def work(room: Room) -> None:
        asked = request()
        last = Reply(1, Result({"n": 2}), request=asked)
        ask = Ask(asked, {}, last, lambda answers: last)
        first = invoke(made.turn)
        second = Invoke(asked, "i", first.binding, first.scope, first.limits, lambda outcome: ask)
        chain = Invoke(asked, "i", first.binding, first.scope, first.limits, lambda outcome: second)
        assert await room.performer.settle(chain, room.box) is last

    within(work)


# --- confinement -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in-side").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    (tmp_path / "in" / "out").symlink_to("/etc")
    (tmp_path / "alias").symlink_to(tmp_path / "in")
    return tmp_path


def judged(folder: Path, path: Any) -> str | None:
    confined = (Confined("path", folder / "in", "in"),)
    asked = request(catalogue=made.catalogue(root=folder))
    return confinement(invoke(made.turn, confined=confined, scope={"arguments": {"path": path}}, request=asked))


@pytest.mark.parametrize(
    "path", ["in/a.txt", "in", "in/new/file", "in/../in/a.txt", "alias/a.txt", None, ["in/a.txt", "in"]]
)
def test_paths_inside(folder: Path, path: Any) -> None:
    assert judged(folder, path) is None


BAD = ["", ".", "..", "in/../..", "/etc/passwd", "in/out/passwd", "in-side", "-o", "in/a\0b", ["in/a.txt", "in/out"]]


@pytest.mark.parametrize("path", BAD)
def test_S_paths_outside(folder: Path, path: Any) -> None:
    assert judged(folder, path) == "path: must be inside in"


def test_an_absolute_path_inside_is_inside(folder: Path) -> None:
    assert judged(folder, str(folder / "in" / "a.txt")) is None


def test_nothing_runs_outside(folder: Path) -> None:
    async def never(scope: Any, call: Any) -> Outcome:
        raise AssertionError

    async def work(room: Room) -> None:
        confined = (Confined("path", folder / "in", "in"),)
        plan = invoke(never, confined=confined, scope={"arguments": {"path": "/etc"}})
        assert await room.perform(plan) == Failure("path: must be inside in")

    within(work)
