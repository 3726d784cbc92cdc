from __future__ import annotations

import asyncio
import threading

from mcpdecl.catalogue import Changes
from mcpdecl.server.updates import Updates


def of(*uris: str) -> Changes:
    return Changes(updated=frozenset(uris))


def test_the_first_is_told_at_once_and_a_flood_as_one() -> None:
    async def life() -> None:
        told: list[Changes] = []
        updates = Updates(told.append, pace=3600)
        updates.add(of("a:1"))
        await asyncio.sleep(0)
        assert told == [of("a:1")]
        for number in range(1000):
            updates.add(of(f"a:{number % 3}"))
            await asyncio.sleep(0)
        assert told == [of("a:1")]
        updates.flush()
        assert told[1:] == [of("a:0", "a:1", "a:2")]
        updates.flush()
        assert len(told) == 2

    asyncio.run(life())


def test_what_waits_is_told_when_its_time_has_come() -> None:
    async def life() -> None:
        told: asyncio.Queue[Changes] = asyncio.Queue()
        updates = Updates(told.put_nowait, pace=0.01)
        for uri in ("a:1", "a:2", "a:3"):
            updates.add(of(uri))
            assert await told.get() == of(uri)

    asyncio.run(life())


def test_threads_may_add_also_when_the_loop_has_ended() -> None:
    async def life() -> tuple[Updates, list[Changes]]:
        told: list[Changes] = []
        updates = Updates(told.append, pace=0.0)
        threads = [threading.Thread(target=updates.add, args=(of(f"a:{number}"),)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            await asyncio.to_thread(thread.join)
        await asyncio.sleep(0)
        assert frozenset().union(*(changes.updated for changes in told)) == {f"a:{n}" for n in range(20)}
        return updates, told

    updates, told = asyncio.run(life())
    count = len(told)
    updates.add(of("a:late"))
    assert len(told) == count
