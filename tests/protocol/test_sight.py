"""What a round sees: names, and the answers that a step waits for."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.protocol import Invoke, Plan, Reply
from mcpdecl.protocol.memory import Memory
from mcpdecl.protocol.sight import NOTHING, Round, Sight, Turn, Work
from mcpdecl.templates import ABSENT
from tests.protocol.standins import Client, catalogue, fault, form, handler, runs, says, var

QUESTIONS = (form("a", n={"type": "string"}), form("b", n={"type": "string"}))
VARS = {
    "near": var(says("{{ answers.a.n }}")),
    "far": var(says("{{ near }}")),
    "all": var(says("{{ answers }}")),
    "run": var(runs("out\n")),
}


def nowhere(*_: Any) -> Any:
    raise AssertionError("not to be reached")


def sight(capabilities: Any = None, **given: Any) -> Sight:
    client = Client(catalogue(env={"HOME": "/h"}), capabilities or {}, principal="alice")
    plan = client.plan(client.body("x"))
    assert isinstance(plan, Reply)
    assert plan.request is not None
    used = handler(says("x"), ["x", "y"], questions=QUESTIONS, vars=VARS)
    work = Work(plan.request, "t", used, given, frozenset(), nowhere, nowhere, nowhere)
    return Sight(Round(work, Memory(), NOTHING), go_on)


def go_on(round: Round) -> Plan:
    return Reply(1, fault_of(round))


def fault_of(round: Round) -> Any:
    from mcpdecl.protocol import Fault

    return Fault(0, str(dict(round.vars)))


def test_the_scope_holds_declared_and_reserved_names() -> None:
    scope = sight({"roots": {}}, x=1, extra=2).scope
    assert (scope["x"], scope["y"]) == (1, ABSENT)
    assert "extra" not in scope
    assert scope["arguments"] == {"x": 1, "y": ABSENT, "extra": 2}
    assert scope["answers"] == {"a": ABSENT, "b": ABSENT}
    assert (scope["principal"], scope["omit"], scope["env"]) == ("alice", ABSENT, {"HOME": "/h"})
    assert scope["client"]["roots"]
    assert not scope["client"]["sampling"]


@pytest.mark.parametrize(
    ("reads", "keys"),
    [
        ({("x",)}, set()),
        ({("answers", "a", "n")}, {"a"}),
        ({("answers",)}, {"a", "b"}),
        ({("answers", "strange")}, set()),
        ({("far",)}, {"a"}),
        ({("all",)}, {"a", "b"}),
        ({("run",), ("y",)}, set()),
    ],
)
def test_a_step_waits_for_the_answers_it_reads(reads: Any, keys: set[str]) -> None:
    seen = sight()
    assert seen.waits(frozenset(reads)) == keys
    seen.settle("a", {"n": "x"})
    assert seen.waits(frozenset(reads)) == keys - {"a"}


def test_pure_vars_are_computed_at_once_and_others_by_the_server() -> None:
    seen = sight()
    seen.settle("a", {"n": "x"})
    seen.ready(frozenset({("far",)}))
    assert seen.scope["far"] == "x"
    with pytest.raises(Turn) as turn:
        seen.ready(frozenset({("run",)}))
    plan = turn.value.plan
    assert isinstance(plan, Invoke)
    after = plan.conclude(plan.binding.render({}))
    assert isinstance(after, Reply)
    assert fault(after).message == "{'run': 'out'}"
