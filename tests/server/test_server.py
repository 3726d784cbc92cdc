from __future__ import annotations

import asyncio
import io
from typing import Any

from mcpdecl.catalogue import Changes
from mcpdecl.observations import Log
from mcpdecl.server import Server
from tests import made


def server() -> Server:
    return Server(made.catalogue(), log=Log(stream=io.StringIO()), live=True, threads=1)


def test_N10_the_new_catalogue_is_in_force_before_anyone_is_told() -> None:
    async def life() -> None:
        room, seen = server(), []
        room.listeners.tell = lambda changes: seen.append((changes, "extra0" in room.catalogue.tools))  # type: ignore[method-assign]
        changes = room.replace(made.catalogue(1))
        assert changes.tools == {"extra0"}
        assert seen == [(changes, True)]

    asyncio.run(life())


def test_N04_no_difference_no_announcement() -> None:
    async def life() -> None:
        room = server()
        told: list[Any] = []
        room.listeners.tell = told.append  # type: ignore[method-assign]
        assert not room.replace(made.catalogue())
        room.announce(Changes())
        assert told == []

    asyncio.run(life())


def test_trouble_is_noted_and_forgotten() -> None:
    async def life() -> None:
        room = server()
        room.troubled("broken")
        assert room.fault == "broken"
        room.troubled(None)
        assert room.fault is None

    asyncio.run(life())
