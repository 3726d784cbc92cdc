"""Using a tool: from ``tools/call`` to its result.

Knows: how arguments are judged and how an outcome becomes a CallToolResult. Does not know: in what order a call
proceeds, or how anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpdecl.catalogue import Failure, Missing, Tool, Value
from mcpdecl.content import Blocks
from mcpdecl.diagnostics import Refused
from mcpdecl.protocol import capabilities, faults, headers, parameters, rounds
from mcpdecl.protocol.plans import Plan, Reply, Request, Result
from mcpdecl.templates import ABSENT, Reads, Scope


def call(request: Request) -> Plan:
    """Plan ``tools/call``."""
    name = parameters.text(request.params, "name")
    tool = request.catalogue.tools.get(name)
    if tool is None:
        # spec: server/tools#error-handling: an unknown tool is a protocol error
        raise Refused("unknown-tool", f"Unknown tool: {parameters.shown(name)}")
    arguments = parameters.mapping(request.params, "arguments")
    if request.arrival.headers is not None:
        headers.check_parameters(tool.headers, request.arrival.headers, arguments)
    capabilities.require(tool.handler.requires, request.capabilities)
    # spec: server/tools#security-considerations: all inputs are validated
    violations = tool.input.violations(arguments)
    if violations:
        # spec: server/tools#error-handling: the model can mend these, so they are a result
        return _text(request, f"The arguments do not fit:\n{parameters.told(violations)}", error=True)
    return rounds.begin(_work(request, tool, tool.input.admit(arguments)))


def _work(request: Request, tool: Tool, given: Mapping[str, Any]) -> rounds.Work:
    reads: Reads = tool.handler.binding.reads
    if tool.shape.text is not None:
        reads |= tool.shape.text.reads
    return rounds.Work(
        request=request,
        name=tool.name,
        handler=tool.handler,
        given=given,
        reads=reads,
        finish=lambda value, scope: _finish(request, tool, value, scope),
        fail=lambda outcome: _fail(request, outcome),
        # spec: server/tools#output-schema: words alone are no result that conforms
        say=lambda text: _text(request, text, error=tool.output is not None),
    )


def _finish(request: Request, tool: Tool, value: Value, scope: Scope) -> Reply:
    blocks = tool.shape.blocks(value.data, value.mime, scope)
    structured = _structured(tool, value, blocks)
    if tool.output is not None and not blocks.error:
        # spec: server/tools#output-schema: servers MUST provide structured results that conform
        wrong = _misfit(tool, structured)
        if wrong:
            return faults.incident(request.id, request, error=wrong)
    body: dict[str, Any] = {"content": list(blocks.items)}
    if structured is not ABSENT:
        body["structuredContent"] = structured
    if blocks.error:
        body["isError"] = True
    return Reply(request.id, Result(body), request=request)


def _structured(tool: Tool, value: Value, blocks: Blocks) -> Any:
    plain = value.data is None or isinstance(value.data, str)
    # A declared output may be a plain string or null, which without it would only be text.
    return value.data if blocks.structured is ABSENT and tool.output is not None and plain else blocks.structured


def _misfit(tool: Tool, structured: Any) -> str:
    if structured is ABSENT:
        return "the result has no structured value, and the tool declares an output schema"
    violations = tool.output.violations(structured) if tool.output is not None else []
    return "the result does not fit the output schema:\n" + parameters.told(violations, "result") if violations else ""


def _fail(request: Request, outcome: Failure | Missing) -> Reply:
    # spec: server/tools#error-handling: what went wrong in a run is a result
    return _text(request, outcome.text if isinstance(outcome, Failure) else "Not found.", error=True)


def _text(request: Request, text: str, error: bool = False) -> Reply:
    body: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    return Reply(request.id, Result({**body, "isError": True} if error else body), request=request)
