from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from mcpdecl.catalogue import Catalogue
from mcpdecl.observations import Log
from mcpdecl.protocol.plans import Arrival, Ask, Cancel, Fault, Filter, Ignore, Listen, Plan, Reply, Result
from mcpdecl.server import Answer, Connection, Exchange, Server
from mcpdecl.server.listeners import Listeners
from tests import made, wire
from tests.server.test_performer import invoke, request


class Room:
    """A server whose planner gives what a test wants."""

    def __init__(self) -> None:
        self.plan: Plan | Exception | None = None
        self.stream = io.StringIO()
        self.server = Server(made.catalogue(), log=Log(stream=self.stream), live=True, threads=2, planner=self.planner)
        self.connection = self.server.connect()

    def planner(self, catalogue: Catalogue, arrival: Arrival) -> Plan:
        if isinstance(self.plan, Exception):
            raise self.plan
        assert self.plan is not None
        return self.plan

    def receive(self, plan: Plan | Exception, connection: Connection | None = None) -> Exchange:
        self.plan = plan
        return (connection or self.connection).receive(b"{}", None)


def within(work: Callable[[Room], Awaitable[None]]) -> None:
    async def life() -> None:
        room = Room()
        await asyncio.wait_for(work(room), 30)
        await room.server.close(0)

    asyncio.run(life())


async def answer_of(exchange: Exchange) -> tuple[list[Any], Any]:
    if exchange.ready is not None:
        return [], json.loads(exchange.ready.body or b"null")
    woken = asyncio.Event()
    exchange.start(woken.set)
    found: list[Any] = []
    while True:
        await woken.wait()
        woken.clear()
        messages, answer = exchange.take()
        found += map(json.loads, messages)
        if answer is not None:
            return found, json.loads(answer.body or b"null")


def test_replies_and_questions_are_ready_at_once() -> None:
    async def work(room: Room) -> None:
        reply = Reply(1, Fault(-32602, "No."), 400, {"x": "y"})
        ready = room.receive(reply).ready
        assert ready is not None
        assert (ready.status, ready.headers) == (400, {"x": "y"})
        asked = room.receive(Ask(request(), {}, reply, lambda answers: reply)).ready
        assert asked is not None
        assert asked.status == 400
        assert room.receive(Ignore(202)).ready == Answer(202)
        assert room.receive(Cancel(5)).ready == Answer(202)

    within(work)


def test_a_planner_that_fails_is_an_internal_error() -> None:
    async def work(room: Room) -> None:
        ready = room.receive(RuntimeError("secret")).ready
        assert ready is not None
        assert ready.body is not None
        assert b"secret" not in ready.body
        assert json.loads(ready.body)["error"]["code"] == -32603
        assert "secret" in room.stream.getvalue()

    within(work)


def test_a_conclusion_that_fails_is_an_internal_error() -> None:
    async def work(room: Room) -> None:
        plan = invoke(made.turn)
        broken = type(plan)(plan.request, plan.item, plan.binding, plan.scope, plan.limits, lambda outcome: 1 / 0)  # type: ignore[arg-type, return-value]
        _, answer = await answer_of(room.receive(broken))
        assert (answer["id"], answer["error"]["code"]) == (1, -32603)
        assert "ZeroDivisionError" in room.stream.getvalue()

    within(work)


def test_notes_go_to_the_log() -> None:
    async def work(room: Room) -> None:
        room.receive(Reply(1, Fault(-32603, "No."), notes=(("odd", {"why": "so"}),)))
        assert "odd why=so" in room.stream.getvalue()

    within(work)


def test_only_requests_of_the_same_connection_are_cancelled() -> None:
    async def work(room: Room) -> None:
        other = room.server.connect()
        exchange = room.receive(invoke(made.slow))
        exchange.start(lambda: None)
        await asyncio.sleep(0)
        room.receive(Cancel(1), other)
        await asyncio.sleep(0)
        assert len(room.server.exchanges) == 1
        room.receive(Cancel(1))
        await exchange.over()
        assert exchange.take() == ([], None)
        assert not room.server.exchanges

    within(work)


def test_what_is_cancelled_before_its_first_step_is_over_too() -> None:
    async def work(room: Room) -> None:
        exchange = room.receive(invoke(made.slow))
        exchange.start(lambda: None)
        room.receive(Cancel(1, "changed\nmy mind"))
        await exchange.over()
        assert exchange.take() == ([], None)
        assert not room.server.exchanges
        assert room.receive(invoke(made.turn)).ready is None
        assert r"cancelled id=1 reason='changed\\nmy mind'" in room.stream.getvalue()

    within(work)


def test_an_id_in_flight_is_refused() -> None:
    async def work(room: Room) -> None:
        first = room.receive(invoke(made.slow))
        first.start(lambda: None)
        ready = room.receive(invoke(made.turn)).ready
        assert ready is not None
        assert json.loads(ready.body or b"")["error"]["code"] == -32600
        assert room.receive(invoke(made.turn), room.server.connect()).ready is None
        first.cancel()

    within(work)


def listening(**more: Any) -> Listen:
    asked = request(**more)
    return Listen(
        request=asked,
        filter=Filter(tools=True),
        opening={"opening": asked.id},
        notices=lambda changes: [("tools", {"tools": sorted(changes.tools)})] if changes.tools else [],
        closing=Reply(asked.id, Result({"content": []}), request=asked),
    )


def test_a_listener_hears_from_the_start_to_the_end() -> None:
    async def work(room: Room) -> None:
        exchange = room.receive(listening())
        assert exchange.ready is None
        assert exchange.streams
        rings: list[int] = []
        exchange.start(lambda: rings.append(1))
        room.server.replace(made.catalogue(1))
        messages, answer = exchange.take()
        assert [json.loads(m) for m in messages] == [{"opening": 1}, {"tools": ["extra0"]}]
        assert answer is None
        room.server.replace(made.catalogue(1))
        assert exchange.take() == ([], None)
        await room.server.close(0)
        _, answer = exchange.take()
        assert answer is not None
        assert json.loads(answer.body or b"")["result"]["resultType"] == "complete"
        assert len(room.server.listeners) == 0

    within(work)


def test_one_that_cannot_be_told_keeps_nobody_from_hearing() -> None:
    async def work(room: Room) -> None:
        broken = room.receive(replace(listening(), notices=lambda changes: 1 / 0))  # type: ignore[arg-type, return-value]
        whole = room.receive(listening(id=2))
        for exchange in (broken, whole):
            exchange.start(lambda: None)
        room.server.replace(made.catalogue(1))
        assert [json.loads(m) for m in whole.take()[0]] == [{"opening": 2}, {"tools": ["extra0"]}]
        assert "ZeroDivisionError" in room.stream.getvalue()

    within(work)


def test_listeners_are_bounded() -> None:
    async def work(room: Room) -> None:
        room.server.listeners = Listeners(in_all=1)
        first = room.receive(listening())
        first.start(lambda: None)
        ready = room.receive(listening(id=2)).ready
        assert ready is not None
        assert ready.status == 503
        first.cancel()
        assert room.receive(listening(id=2)).ready is None

    within(work)


def test_closing_a_connection_ends_all_of_it() -> None:
    async def work(room: Room) -> None:
        room.receive(listening()).start(lambda: None)
        call = room.receive(invoke(made.slow, request=request(id=2)))
        call.start(lambda: None)
        await asyncio.sleep(0)
        room.connection.close()
        await call.over()
        assert not room.server.exchanges
        assert len(room.server.listeners) == 0

    within(work)


def test_a_real_call_through_the_real_planner() -> None:
    async def life() -> None:
        server = Server(made.catalogue(), log=Log(stream=io.StringIO()), live=True)
        body = json.dumps(wire.message("tools/call", {"name": "turn", "arguments": {}}, id="x")).encode()
        _, answer = await answer_of(server.connect().receive(body, None))
        assert answer["id"] == "x"
        assert answer["result"]["content"][0]["text"] == "done without waiting"
        await server.close(0)

    asyncio.run(life())


def test_completions_are_rate_limited_for_each_caller() -> None:
    async def work(room: Room) -> None:
        asked = replace(request(), method="completion/complete")
        one, other = room.server.connect(peer="a"), room.server.connect(peer="b")
        reply = Reply(1, Result({"completion": {"values": []}}), request=asked)
        answers = (room.receive(reply, one).ready for _ in range(100_000))
        refused = next(found for found in answers if found is not None and found.status != 200)
        assert refused.status == 429
        assert "retry in 1 s" in json.loads(refused.body or b"")["error"]["message"]
        free = room.receive(reply, other).ready
        assert free is not None
        assert free.status == 200

    within(work)


def test_a_reason_to_cancel_is_logged_and_too_late_is_no_harm() -> None:
    async def work(room: Room) -> None:
        room.receive(Cancel(1, "nothing yet"))
        exchange = room.receive(invoke(made.slow))
        exchange.start(lambda: None)
        await asyncio.sleep(0)
        room.receive(Cancel(1, "changed my mind"))
        await exchange.over()
        room.receive(Cancel(1, "much too late"))
        told = room.stream.getvalue()
        assert "changed my mind" in told
        assert "nothing yet" not in told
        assert "much too late" not in told

    within(work)
