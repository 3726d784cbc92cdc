from __future__ import annotations

import asyncio

from mcpdecl.catalogue import Rate
from mcpdecl.server.limits import Buckets, Claims, Gates


def test_a_bucket_lets_a_burst_through_and_then_its_pace() -> None:
    buckets, rate = Buckets(), Rate(2, 1.0, 3)
    assert [buckets.spend("a", "t", rate, 100.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert buckets.spend("a", "t", rate, 100.0) == 0.5
    assert buckets.spend("a", "t", rate, 100.25) == 0.25
    assert buckets.spend("a", "t", rate, 100.5) == 0.0
    assert buckets.spend("a", "t", rate, 100.5) == 0.5
    assert [buckets.spend("a", "t", rate, 1000.0) > 0 for _ in range(4)] == [False, False, False, True]


def test_each_caller_and_tool_has_its_own_bucket() -> None:
    buckets, rate = Buckets(), Rate(1, 60.0, 1)
    assert buckets.spend("a", "t", rate, 0.0) == 0.0
    assert buckets.spend("b", "t", rate, 0.0) == 0.0
    assert buckets.spend("a", "u", rate, 0.0) == 0.0
    assert buckets.spend("a", "t", rate, 0.0) > 0


def test_unlimited_is_never_counted() -> None:
    buckets = Buckets()
    assert not any(buckets.spend("a", "t", Rate(0, 1.0, 1), 0.0) for _ in range(1000))


def test_the_number_of_buckets_is_bounded() -> None:
    buckets, rate = Buckets(bound=10), Rate(1, 60.0, 1)
    for n in range(100):
        buckets.spend(f"caller {n}", "t", rate, 0.0)
    assert buckets.spend("caller 99", "t", rate, 0.0) > 0
    assert buckets.spend("caller 0", "t", rate, 0.0) == 0.0


def test_an_id_is_taken_once_until_it_expires() -> None:
    claims = Claims()
    assert claims.take("a", 10.0, 0.0)
    assert not claims.take("a", 10.0, 5.0)
    assert claims.take("b", 12.0, 5.0)
    assert claims.take("a", 30.0, 11.0)


def test_the_number_of_claims_is_bounded() -> None:
    claims = Claims(bound=3)
    assert all(claims.take(str(n), 100.0, 0.0) for n in range(5))
    assert not claims.take("4", 100.0, 0.0)
    assert not claims.take("2", 100.0, 0.0)


async def hold(gates: Gates, limit: int, log: list[str], name: str, release: asyncio.Event) -> None:
    async with gates.passage("item", limit):
        log.append(name)
        await release.wait()


def test_only_so_many_run_at_once_and_in_order() -> None:
    async def life() -> None:
        gates, log, release = Gates(), [], asyncio.Event()  # type: ignore[var-annotated]
        tasks = [asyncio.create_task(hold(gates, 2, log, str(n), release)) for n in range(5)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert log == ["0", "1"]
        tasks[2].cancel()
        release.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert log == ["0", "1", "3", "4"]
        assert gates._running == {}
        assert gates._waiting == {}

    asyncio.run(life())


def test_one_who_leaves_while_called_passes_the_place_on() -> None:
    async def life() -> None:
        gates, log, release = Gates(), [], asyncio.Event()  # type: ignore[var-annotated]
        await gates.enter("item", 1)
        waiting = asyncio.create_task(hold(gates, 1, log, "first", release))
        second = asyncio.create_task(hold(gates, 1, log, "second", release))
        await asyncio.sleep(0)
        gates.leave("item")
        waiting.cancel()
        release.set()
        await asyncio.gather(waiting, second, return_exceptions=True)
        assert log == ["second"]
        assert gates._running == {}

    asyncio.run(life())


def test_a_lowered_limit_holds_for_those_who_come_after() -> None:
    async def life() -> None:
        gates, log = Gates(), []  # type: ignore[var-annotated]
        old, new = asyncio.Event(), asyncio.Event()
        before = [asyncio.create_task(hold(gates, 3, log, f"old {n}", old)) for n in range(3)]
        await asyncio.sleep(0)
        after = [asyncio.create_task(hold(gates, 1, log, f"new {n}", new)) for n in range(2)]
        await asyncio.sleep(0)
        old.set()
        await asyncio.gather(*before)
        await asyncio.sleep(0)
        assert log == ["old 0", "old 1", "old 2", "new 0"]
        new.set()
        await asyncio.gather(*after)
        assert log[-1] == "new 1"

    asyncio.run(life())


def test_no_limit_needs_no_gate() -> None:
    async def life() -> None:
        gates = Gates()
        async with gates.passage("item", 0):
            assert gates._running == {}

    asyncio.run(life())
