"""What one round of a call sees: a scope that fills as vars are computed and questions are settled.

Knows: how names get their values, which answers a step waits for, and when an assertion holds. Does not know: the
order of a round's steps, or how a question is put.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from mcpdecl.catalogue import Failure, Handler, Missing, Outcome, Value
from mcpdecl.protocol import capabilities
from mcpdecl.protocol.faults import guarded
from mcpdecl.protocol.memory import Memory
from mcpdecl.protocol.plans import Invoke, Plan, Reply, Request
from mcpdecl.templates import ABSENT, Reads, Scope

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Work:
    """One use of an item.

    ``name`` is the item's name or URI; ``given`` the admitted arguments; ``reads`` what the binding and the shape of
    its value read. ``finish`` makes the reply of a value, ``fail`` of a failure, ``say`` of a text that is an ordinary
    result. ``asks`` is false where the protocol has no questions.
    """

    request: Request
    name: str
    handler: Handler
    given: Mapping[str, Any]
    reads: Reads
    finish: Callable[[Value, Scope], Reply]
    fail: Callable[[Failure | Missing], Reply]
    say: Callable[[str], Reply]
    asks: bool = True


@dataclass(frozen=True, slots=True)
class Round:
    """Where a call stands: what it remembers, what the client offers now, and vars computed in this request."""

    work: Work
    memory: Memory
    offered: Mapping[str, Any]
    vars: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


class Turn(Exception):
    """The round ends here, with a plan."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan


class Sight:
    """What the steps of one round see. ``go_on`` takes up a round again that had to wait for a var."""

    def __init__(self, round: Round, go_on: Callable[[Round], Plan]) -> None:
        self.round = round
        self._go_on = go_on
        self.work = round.work
        self.handler = round.work.handler
        self.keys = dict.fromkeys(question.key for question in self.handler.questions)
        self.settled: set[str] = set()
        self.answers: dict[str, Any] = dict.fromkeys(self.keys, ABSENT)
        self.raw: dict[str, Any] = {}
        self.shown: dict[str, str] = {}
        self.scope = _scope(round, self.answers)
        self._computing: set[str] = set()

    def settle(self, key: str, value: Any) -> None:
        """Give a question its answer, or ABSENT."""
        self.answers[key] = value
        self.settled.add(key)

    def waits(self, reads: Reads) -> frozenset[str]:
        """The unsettled questions whose answers are read, also by way of vars."""
        return self.read_answers(reads) - self.settled

    def read_answers(self, reads: Reads) -> frozenset[str]:
        """The keys of all answers that are read, also by way of vars."""
        found: set[str] = set()
        todo, seen = list(reads), set(reads)
        while todo:
            head, *rest = todo.pop()
            if head == "answers":
                found |= self.keys.keys() & {rest[0]} if rest else self.keys.keys()
            elif head in self.handler.vars:
                more = self.handler.vars[head].binding.reads - seen
                todo += more
                seen |= more
        return frozenset(found)

    def ready(self, reads: Reads) -> None:
        """Compute the vars that are read. Ends the round where the server has to run one."""
        for name in sorted({path[0] for path in reads if path} & self.handler.vars.keys()):
            if name not in self.scope:
                self._compute(name)

    def hold(self, *, over_answers: bool) -> None:
        """Check the assertions that read answers, or those that do not. Ends the round at one that does not hold."""
        for assertion in self.handler.assertions:
            if bool(self.read_answers(assertion.reads)) != over_answers:
                continue
            self.ready(assertion.reads)
            if not assertion.that.test(self.scope):
                raise Turn(self.work.fail(Failure(assertion.message.text(self.scope))))

    def _compute(self, name: str) -> None:
        if name in self._computing:
            raise RuntimeError(f"the var {name} reads itself")
        self._computing.add(name)
        var = self.handler.vars[name]
        self.ready(var.binding.reads)
        if not var.binding.pure:
            raise Turn(self._invoked(name))
        self.scope[name] = self.taken(name, var.binding.render(self.scope))

    def _invoked(self, name: str) -> Invoke:
        work, round = self.work, self.round

        def conclude(outcome: Outcome) -> Plan:
            return guarded(work.request, lambda: self._remembered(round, name, outcome))

        return Invoke(
            request=work.request,
            item=f"{work.request.method} {work.name} vars.{name}",
            binding=self.handler.vars[name].binding,
            scope=self.scope,
            limits=self.handler.limits,
            conclude=conclude,
            confined=self.handler.confined,
        )

    def _remembered(self, round: Round, name: str, outcome: Outcome) -> Plan:
        try:
            value = self.taken(name, outcome)
        except Turn as turn:
            return turn.plan
        return self._go_on(replace(round, vars={**round.vars, name: value}))

    def taken(self, name: str, outcome: Outcome) -> Any:
        """The plain value of a var. Ends the round where it has none."""
        match outcome:
            case Value(data=data, mime=mime):
                return self.handler.vars[name].shape.plain(data, mime)
            case Failure():
                raise Turn(self.work.fail(outcome))
            case Missing():
                raise Turn(self.work.fail(Failure(f"What {name} is read from was not found.")))
            case _:
                raise RuntimeError(f"the var {name} may not ask")


def _scope(round: Round, answers: dict[str, Any]) -> dict[str, Any]:
    work = round.work
    arrival = work.request.arrival
    declared = {name: work.given.get(name, ABSENT) for name in work.handler.arguments}
    return {
        **declared,
        **round.vars,
        "arguments": {**declared, **work.given},
        "answers": answers,
        "principal": ABSENT if arrival.principal is None else arrival.principal,
        "client": capabilities.view(work.request.capabilities),
        "env": work.request.catalogue.settings.env,
        "omit": ABSENT,
    }
