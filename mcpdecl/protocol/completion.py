"""Completing an argument: from ``completion/complete`` to values.

Knows: what a reference means and how values are ranked. Does not know: how values are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from mcpdecl.catalogue import Argument, Failure, Handler, Missing, Value, Var
from mcpdecl.content import ContentFault
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import faults, parameters, rounds
from mcpdecl.protocol.plans import Plan, Reply, Request, Result

MOST = 100


def complete(request: Request) -> Plan:
    """Plan ``completion/complete``."""
    # spec: server/utilities/completion#security: all inputs are validated
    item, handler, arguments = _referred(request)
    asked = parameters.mapping(request.params, "argument")
    name = parameters.text(asked, "name", "params.argument")
    typed = parameters.text(asked, "value", "params.argument")
    argument = arguments.get(name)
    # spec: server/utilities/completion#error-handling
    if argument is None:
        raise Refused("invalid-params", f"Unknown argument: {parameters.shown(name)}")
    context = parameters.mapping(parameters.mapping(request.params, "context"), "arguments", "params.context")
    if argument.complete is None:
        return _reply(request, argument.choices, typed)
    known = _known(arguments, {**context, name: typed})
    return rounds.begin(_work(request, handler, argument.complete, known, f"{item}.{name}", typed))


def _referred(request: Request) -> tuple[str, Handler, Mapping[str, Argument]]:
    ref = parameters.mapping(request.params, "ref")
    catalogue = request.catalogue
    match ref.get("type"):
        case "ref/prompt":
            name = parameters.text(ref, "name", "params.ref")
            if name not in catalogue.prompts:
                # spec: server/utilities/completion#error-handling
                raise Refused("unknown-prompt", f"Unknown prompt: {parameters.shown(name)}")
            prompt = catalogue.prompts[name]
            return name, prompt.handler, prompt.arguments
        case "ref/resource":
            return _resource(request, parameters.text(ref, "uri", "params.ref"))
    raise Refused("invalid-params", 'params.ref.type must be "ref/prompt" or "ref/resource".')


def _resource(request: Request, uri: str) -> tuple[str, Handler, Mapping[str, Argument]]:
    catalogue = request.catalogue
    if uri in catalogue.resources:
        return uri, catalogue.resources[uri].handler, {}
    templates = [catalogue.templates[name] for name in sorted(catalogue.templates)]
    # spec: server/utilities/completion#completerequest: a URI or a URI template
    exact = [t for t in templates if t.template.source == uri]
    for template in exact or [t for t in templates if t.template.match(uri) is not None]:
        return template.name, template.handler, template.arguments
    raise Refused("unknown-resource", f"Unknown resource: {parameters.shown(uri)}", {"uri": uri})


def _known(arguments: Mapping[str, Argument], sent: Mapping[str, Any]) -> dict[str, Any]:
    """The other arguments, as far as they are values already, and the one that is being typed, as text."""
    known: dict[str, Any] = {}
    for name, value in sent.items():
        if not isinstance(value, str):
            raise Refused("invalid-params", "params.context.arguments must hold strings.")
        if name in arguments:
            try:
                known[name] = parameters.parsed(arguments[name], value)
            except parameters.Misfit:
                known[name] = value
    return known


def _work(request: Request, handler: Handler, var: Var, given: Mapping[str, Any], name: str, typed: str) -> rounds.Work:
    return rounds.Work(
        request=request,
        name=name,
        handler=replace(handler, binding=var.binding, questions=(), assertions=(), requires={}),
        given=given,
        reads=var.binding.reads,
        finish=lambda value, scope: _reply(request, _values(var, value), typed),
        fail=_fail,
        say=lambda text: _reply(request, (), typed),
        # spec: basic/patterns/mrtr#supported-requests: no question here
        asks=False,
    )


def _values(var: Var, value: Value) -> list[str]:
    plain = var.shape.plain(value.data, value.mime)
    if isinstance(plain, str):
        plain = plain.splitlines()
    if not isinstance(plain, list | tuple):
        raise ContentFault("what completes an argument must be a list or lines of text")
    return [item if isinstance(item, str) else msgspec.json.encode(item).decode() for item in plain]


def _reply(request: Request, offered: Iterable[str], typed: str) -> Reply:
    # spec: server/utilities/completion#completion-results: at most 100
    matching = _ranked(offered, typed)
    completion = {"values": matching[:MOST], "total": len(matching), "hasMore": len(matching) > MOST}
    return Reply(request.id, Result({"completion": completion}), request=request)


def _ranked(offered: Iterable[str], typed: str) -> list[str]:
    # spec: server/utilities/completion#implementation-considerations: what begins like it comes first
    sought = typed.casefold()
    # spec: server/utilities/completion#security: nothing but what the manifest offers for this argument
    values = dict.fromkeys(offered)
    first = [value for value in values if value.casefold().startswith(sought)]
    inside = [value for value in values if sought in value.casefold() and not value.casefold().startswith(sought)]
    return first + inside


def _fail(outcome: Failure | Missing) -> Reply:
    if isinstance(outcome, Missing):
        # spec: server/utilities/completion#error-handling
        raise Refused("internal-error", "What completes this argument was not found.")
    raise faults.failed(outcome)
