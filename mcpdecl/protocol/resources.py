"""Using a resource: from ``resources/read`` to its contents.

Knows: which resource or template a URI means, and how an outcome becomes a ReadResourceResult. Does not know: in what
order a call proceeds, or how anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpdecl.catalogue import Argument, Catalogue, Failure, Missing, Resource, ResourceTemplate, Value
from mcpdecl.content import Contents
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import faults, parameters, rounds
from mcpdecl.protocol.plans import Cache, Plan, Reply, Request, Result


def read(request: Request) -> Plan:
    """Plan ``resources/read``."""
    uri = parameters.text(request.params, "uri")
    item, given = found(request.catalogue, uri)
    return rounds.begin(_work(request, uri, item, given))


def found(catalogue: Catalogue, uri: str) -> tuple[Resource | ResourceTemplate, Mapping[str, Any]]:
    """The item that serves a URI and the arguments in it: a fixed URI first, then templates by name."""
    # spec: server/resources#security-considerations: all URIs are validated
    resource = catalogue.resources.get(uri)
    if resource is not None:
        return resource, {}
    for name in sorted(catalogue.templates):
        template = catalogue.templates[name]
        values = template.template.match(uri)
        given = None if values is None else _given(template.arguments, values)
        if given is not None:
            return template, given
    raise _unknown(uri)


def _given(arguments: Mapping[str, Argument], values: Mapping[str, str]) -> Mapping[str, Any] | None:
    given = parameters.defaults(arguments)
    try:
        for name, sent in values.items():
            given[name] = parameters.parsed(arguments[name], sent) if name in arguments else sent
    except parameters.Misfit:
        return None  # a URI with such a value does not exist
    missing = [name for name, argument in arguments.items() if argument.required and name not in given]
    return None if missing else given


def _work(request: Request, uri: str, item: Resource | ResourceTemplate, given: Mapping[str, Any]) -> rounds.Work:
    return rounds.Work(
        request=request,
        name=uri,
        handler=item.handler,
        given=given,
        reads=item.handler.binding.reads,
        finish=lambda value, scope: _finish(request, uri, item, value),
        fail=lambda outcome: _fail(uri, outcome),
        say=lambda text: _reply(request, [{"uri": uri, "mimeType": "text/plain", "text": text}], 0),
    )


def _finish(request: Request, uri: str, item: Resource | ResourceTemplate, value: Value) -> Reply:
    data, mime = value.data, item.mime or value.mime
    contents = data if isinstance(data, Contents) else item.shape.contents(uri, mime, data)
    # spec: server/utilities/caching#cache-key: what was reached by answers MUST NOT be cached
    answered = request.params.keys() & {"inputResponses", "requestState"}
    return _reply(request, list(contents.items), 0 if answered else item.ttl_ms)


def _reply(request: Request, contents: list[Mapping[str, Any]], ttl_ms: int) -> Reply:
    # spec: server/utilities/caching#cacheable-results
    # spec: server/utilities/caching#cache-scope-field: what is read may be somebody's own
    return Reply(request.id, Result({"contents": contents}, cache=Cache(ttl_ms, "private")), request=request)


def _fail(uri: str, outcome: Failure | Missing) -> Reply:
    # spec: server/resources#error-handling: what is not there is an error, a failure an internal one
    if isinstance(outcome, Missing):
        raise _unknown(uri)
    raise faults.failed(outcome)


def _unknown(uri: str) -> Refused:
    # spec: server/resources#error-handling: -32602, never empty contents
    return Refused("unknown-resource", f"Unknown resource: {parameters.shown(uri)}", {"uri": uri})
