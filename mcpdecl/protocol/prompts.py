"""Using a prompt: from ``prompts/get`` to its messages.

Knows: how string arguments become values and how an outcome becomes a GetPromptResult. Does not know: in what order a
call proceeds, or how anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpdecl.catalogue import Failure, Missing, Prompt, Value
from mcpdecl.content import Blocks, ContentFault, Messages, jsonable
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import capabilities, faults, parameters, rounds
from mcpdecl.protocol.plans import Plan, Reply, Request, Result


def get(request: Request) -> Plan:
    """Plan ``prompts/get``."""
    name = parameters.text(request.params, "name")
    prompt = request.catalogue.prompts.get(name)
    if prompt is None:
        # spec: server/prompts#error-handling
        raise Refused("unknown-prompt", f"Unknown prompt: {parameters.shown(name)}")
    sent = parameters.mapping(request.params, "arguments")
    capabilities.require(prompt.handler.requires, request.capabilities)
    return rounds.begin(_work(request, prompt, _given(prompt, sent)))


def _given(prompt: Prompt, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as values. All that is wrong is told at once."""
    # spec: server/prompts#implementation-considerations: validated before anything is done
    # spec: server/prompts#security
    given = parameters.defaults(prompt.arguments)
    wrong = [f"{parameters.shown(name)} is not declared" for name in sent if name not in prompt.arguments]
    for name, argument in prompt.arguments.items():
        if name not in sent:
            # spec: server/prompts#error-handling: missing required arguments
            wrong += [f"{name} is required"] if argument.required and name not in given else []
        elif not isinstance(sent[name], str):
            wrong.append(f"{name} must be a string on the wire (JSON text, where its type is not string)")
        else:
            try:
                given[name] = parameters.parsed(argument, sent[name])
            except parameters.Misfit as misfit:
                wrong.append(f"{name}: {misfit.wrong}")
    if wrong:
        raise Refused("invalid-params", f"The arguments of {prompt.name} do not fit: {'; '.join(wrong[:20])}.")
    return given


def _work(request: Request, prompt: Prompt, given: Mapping[str, Any]) -> rounds.Work:
    return rounds.Work(
        request=request,
        name=prompt.name,
        handler=prompt.handler,
        given=given,
        reads=prompt.handler.binding.reads,
        finish=lambda value, scope: _reply(request, prompt, _messages(value)),
        fail=_fail,
        say=lambda text: _reply(request, prompt, [_user({"type": "text", "text": text})]),
    )


def _messages(value: Value) -> list[Mapping[str, Any]]:
    # spec: server/prompts#security: messages and text, nothing else
    match value.data:
        case Messages(items=items):
            return list(items)
        case Blocks(items=items):
            return [_user(block) for block in items]
        case str(text):
            return [_user({"type": "text", "text": jsonable(text)})]
    raise ContentFault(f"a prompt's value must be messages or text, and is a {type(value.data).__name__}")


def _user(block: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"role": "user", "content": block}


def _reply(request: Request, prompt: Prompt, messages: list[Mapping[str, Any]]) -> Reply:
    body: dict[str, Any] = {"messages": messages}
    if prompt.description is not None:
        body["description"] = prompt.description
    return Reply(request.id, Result(body), request=request)


def _fail(outcome: Failure | Missing) -> Reply:
    # spec: server/prompts#error-handling
    if isinstance(outcome, Missing):
        raise Refused("internal-error", "What this prompt is read from was not found.")
    raise faults.failed(outcome)
