"""The state machine of one call: assertions, questions, vars, and at last the binding.

Knows: the order of these steps, and that a round may end in questions or in work for the server. Does not know: what
kind of item is used, or how anything is carried out. A round is replayed from its start whenever something it waited
for is there; what was computed is kept, and all else is pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from mcpdecl.catalogue import Asked, Failure, Handler, Missing, Outcome, Question, Spent, Value, digest
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import capabilities
from mcpdecl.protocol.answers import Accepted, Declined, Malformed, Verdict, askable, corrected, judge
from mcpdecl.protocol.faults import guarded
from mcpdecl.protocol.memory import ROUNDS, Memory, recalled, sealed
from mcpdecl.protocol.plans import Ask, Invoke, Plan, Reply, Result
from mcpdecl.protocol.seal import REJECTED
from mcpdecl.protocol.sight import NOTHING, Round, Sight, Turn, Work
from mcpdecl.templates import ABSENT

__all__ = ["Work", "advance", "begin"]


def begin(work: Work) -> Plan:
    """Begin or go on with a call, as its requestState says. Raises Refused."""
    # Capabilities come first: a client that cannot be asked learns that before anything it sent is looked at.
    capabilities.require(_needed(work.handler), work.request.capabilities)
    if not work.asks:
        return advance(Round(work, Memory(), NOTHING))
    offered = _offered(work.request.params)
    memory = recalled(work.request, work.name, work.handler.digest)
    if memory is None:
        # The item was edited between the rounds: what was answered was answered to something else.
        return advance(Round(work, Memory(), NOTHING))
    return advance(Round(work, memory, offered))


def _offered(params: Mapping[str, Any]) -> Mapping[str, Any]:
    # spec: basic/patterns/mrtr#error-handling: what is no InputResponses at all is a malformed request
    offered = params.get("inputResponses")
    if offered is not None and not isinstance(offered, dict):
        raise Refused("invalid-params", "inputResponses must be an object: answers by the keys of inputRequests.")
    return offered or NOTHING


def _needed(handler: Handler) -> Mapping[str, Any]:
    """What is needed in any case: a question with a condition is looked at when it comes up."""
    needed = capabilities.objects(handler.requires)
    for question in handler.questions:
        if question.when is None:
            plain = {"method": question.method, "params": {"mode": question.mode}}
            needed = capabilities.union(capabilities.needs(plain), needed)
    return needed


def advance(round: Round) -> Plan:
    """Go as far as possible without effects."""
    return guarded(round.work.request, lambda: _steps(round))


def _steps(round: Round) -> Plan:
    sight = Sight(round, advance)
    try:
        sight.hold(over_answers=False)
        _questions(sight)
        sight.hold(over_answers=True)
        return _bind(sight)
    except Turn as turn:
        return turn.plan


# --- questions -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Put:
    """What a pass over the questions finds."""

    missing: dict[str, Any] = field(default_factory=dict)
    open: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    refusals: list[tuple[Question, Declined]] = field(default_factory=list)


def _questions(sight: Sight) -> None:
    """Settle every declared question, or end the round: with what is missing, with a no, or with questions."""
    put = _Put()
    todo = list(sight.handler.questions)
    while todo:
        free = [question for question in todo if not sight.waits(question.reads)]
        if not free:
            break
        todo = [question for question in todo if sight.waits(question.reads)]
        for question in free:
            _consider(sight, question, put)
    if put.missing:
        # spec: basic/patterns/mrtr#server-requirements-basic-workflow: nothing is put that was not declared
        capabilities.require(put.missing, sight.work.request.capabilities)
    if put.refusals:
        raise Turn(_refused(sight, *put.refusals[0]))
    if put.open:
        raise Turn(_ask(sight, {key: put.open[key] for key in sight.keys if key in put.open}))
    if todo:
        raise RuntimeError("questions wait for each other")


def _consider(sight: Sight, question: Question, put: _Put) -> None:
    sight.ready(question.reads)
    if question.when is not None and not question.when.test(sight.scope):
        sight.settle(question.key, ABSENT)
        return
    shown = _rendered(sight, question)
    needed = capabilities.needs(shown)
    if capabilities.lacking(needed, sight.work.request.capabilities):
        put.missing = capabilities.union(put.missing, needed)
        return
    sight.shown[question.key] = digest(shown)
    match _verdict(sight, question, shown):
        case Accepted(value=value, raw=raw):
            sight.raw[question.key] = raw
            sight.settle(question.key, value)
        case Declined() as declined if question.optional:
            sight.raw[question.key] = declined.raw
            sight.settle(question.key, ABSENT)
        case Declined() as declined:
            put.refusals.append((question, declined))
        # spec: basic/patterns/mrtr#error-handling: what is missing is asked again
        case Malformed(wrong=wrong):
            put.open[question.key] = corrected(shown, wrong)
        case None:
            put.open[question.key] = shown


def _rendered(sight: Sight, question: Question) -> Mapping[str, Any]:
    params = question.params.value(sight.scope)
    shown = {"method": question.method, "params": {} if params is ABSENT else params}
    if question.schema is None:
        askable(shown)  # what was constant was judged when it was loaded
    return shown


def _verdict(sight: Sight, question: Question, shown: Mapping[str, Any]) -> Verdict | None:
    """Judge what the client says to a question as it reads now; None if it says nothing to it."""
    # spec: basic/patterns/mrtr#error-handling: only the keys of questions are looked at
    memory, key = sight.round.memory, question.key
    if memory.round == 0:
        # An answer that comes without state was given to a question that nobody put: only a first one can be known.
        counts = not sight.read_answers(question.reads)
    else:
        # A question whose text has changed since is another question.
        counts = memory.shown.get(key) == sight.shown[key]
    if counts and key in sight.round.offered:
        return judge(shown, sight.round.offered[key], question.schema)
    if counts and key in memory.answers:
        return judge(shown, memory.answers[key], question.schema)
    return None


def _refused(sight: Sight, question: Question, declined: Declined) -> Reply:
    """End the call: the user's no is a result, not an error of the protocol."""
    # spec: client/elicitation#error-handling
    if question.declined is not None:
        sight.ready(question.declined.reads)
        return sight.work.say(question.declined.text(sight.scope))
    verb = "declined" if declined.action == "decline" else "cancelled"
    return sight.work.fail(Failure(f"The user {verb} ({question.key})."))


def _ask(
    sight: Sight, questions: Mapping[str, Mapping[str, Any]], asked: Mapping[str, Mapping[str, Any]] = NOTHING
) -> Plan:
    """Put questions. ``asked`` are those among them that a callable asks, as they read without any correction."""
    work, memory = sight.work, sight.round.memory
    # spec: client/sampling#security-considerations: rounds are bounded
    if memory.round >= ROUNDS:
        text = f"After {ROUNDS} rounds of questions there are still answers missing; call it again to start anew."
        return work.fail(Failure(text))
    kept = replace(
        memory, answers=sight.raw, shown=sight.shown, asked={**memory.asked, **asked}, round=memory.round + 1
    )
    # spec: basic/patterns/mrtr#server-requirements-basic-workflow: unique keys; both members are there
    body = {"inputRequests": questions, "requestState": sealed(work.request, work.name, work.handler.digest, kept)}
    return Ask(
        request=work.request,
        questions=questions,
        reply=Reply(work.request.id, Result(body, "input_required"), request=work.request),
        # Vars are computed anew: a user may have taken minutes.
        resume=lambda answers: advance(Round(work, kept, answers)),
    )


# --- the binding -----------------------------------------------------------------------------------------------


def _bind(sight: Sight) -> Plan:
    memory = _heard(sight)
    work, handler = sight.work, sight.handler
    sight.ready(work.reads)
    if handler.binding.pure and memory.claim is None and not handler.confined:
        return _concluded(sight, memory, handler.binding.render(sight.scope))
    return Invoke(
        request=work.request,
        item=f"{work.request.method} {work.name}",
        binding=handler.binding,
        scope=sight.scope,
        limits=handler.limits,
        conclude=lambda outcome: guarded(work.request, lambda: _concluded(sight, memory, outcome)),
        claim=memory.claim,
        confined=handler.confined,
        answers={**sight.raw, **memory.given},
        heard=memory.heard,
    )


def _heard(sight: Sight) -> Memory:
    """The memory with the answers to what a callable asked; ends the round while one is missing."""
    memory = sight.round.memory
    if not memory.asked:
        return memory
    open: dict[str, Mapping[str, Any]] = {}
    given, settled = dict(memory.given), dict(memory.heard)
    for key, question in memory.asked.items():
        capabilities.require(capabilities.needs(question), sight.work.request.capabilities)
        verdict = judge(question, sight.round.offered[key]) if key in sight.round.offered else Malformed()
        if isinstance(verdict, Malformed):
            open[key] = corrected(question, verdict.wrong)
        else:
            given[key], settled[key] = verdict.raw, digest(question)
    asked = {key: memory.asked[key] for key in open}
    heard = replace(memory, asked=asked, given=given, heard=settled)
    if open:
        sight.round = replace(sight.round, memory=heard)
        raise Turn(_ask(sight, open))
    return heard


def _concluded(sight: Sight, memory: Memory, outcome: Outcome) -> Plan:
    match outcome:
        case Value():
            return sight.work.finish(outcome, sight.scope)
        case Failure() | Missing():
            return sight.work.fail(outcome)
        case Spent():
            # spec: basic/patterns/mrtr#server-requirements-basic-workflow: consumed at most once
            raise Refused("state-rejected", REJECTED)
        case Asked(questions=questions):
            return _asked(sight, memory, questions)
        case _:
            assert_never(outcome)


def _asked(sight: Sight, memory: Memory, questions: Mapping[str, Mapping[str, Any]]) -> Plan:
    # spec: basic/patterns/mrtr#supported-requests
    if not sight.work.asks or not questions:
        raise RuntimeError("a callable asked where nothing can be asked")
    if clash := questions.keys() & sight.keys.keys():
        raise RuntimeError(f"a callable asked {', '.join(clash)}, which is the key of a declared question")
    # spec: basic/patterns/mrtr#server-requirements-basic-workflow: nothing is put that was not declared
    needed: dict[str, Any] = {}
    for question in questions.values():
        needed = capabilities.union(needed, capabilities.needs(question))
    capabilities.require(needed, sight.work.request.capabilities)
    # The run used the claim up; what follows leads to another run.
    sight.round = replace(sight.round, memory=replace(memory, claim=None))
    return _ask(sight, questions, questions)
