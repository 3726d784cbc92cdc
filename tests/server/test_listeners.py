from __future__ import annotations

from typing import Any

from mcpdecl.catalogue import Changes
from mcpdecl.server.listeners import Listeners


class Ear:
    def __init__(self) -> None:
        self.heard: list[Changes] = []

    def notify(self, changes: Changes) -> None:
        self.heard.append(changes)


def test_those_who_listen_are_told_and_those_who_left_are_not() -> None:
    listeners, first, second = Listeners(), Ear(), Ear()
    made: Any = [first, second]
    for ear in made:
        listeners.add(ear, "caller")
    listeners.remove(made[1], "caller")
    listeners.remove(made[1], "caller")
    listeners.tell(Changes(tools=frozenset({"a"})))
    assert len(first.heard) == 1
    assert second.heard == []
    assert len(listeners) == 1


def test_their_number_is_bounded_in_all_and_for_each_caller() -> None:
    listeners = Listeners(in_all=3, for_each=2)
    ears: Any = [Ear() for _ in range(3)]
    listeners.add(ears[0], "a")
    listeners.add(ears[1], "a")
    assert not listeners.room_for("a")
    assert listeners.room_for("b")
    listeners.add(ears[2], "b")
    assert not listeners.room_for("b")
    listeners.remove(ears[0], "a")
    assert listeners.room_for("a")
