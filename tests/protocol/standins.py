"""Stand-ins for compiled items, and short ways to send a message and to carry out a plan.

Knows: the least that an item needs. Does not know: any rule of the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from mcpdecl import protocol
from mcpdecl.catalogue import (
    Argument,
    Asked,
    Assertion,
    Catalogue,
    Failure,
    Handler,
    Missing,
    Outcome,
    Prompt,
    Question,
    Resource,
    ResourceTemplate,
    Settings,
    Spent,
    Tool,
    Value,
    Var,
)
from mcpdecl.content import Shape
from mcpdecl.protocol import Arrival, Ask, Fault, Invoke, Plan, Reply, Result
from mcpdecl.protocol.seal import Keyring
from mcpdecl.schema import compile_schema, header_parameters
from mcpdecl.templates import ABSENT, Reads, Templates
from mcpdecl.uris import parse
from tests.conftest import SHARED
from tests.validity import check

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
EVERYTHING: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
TEMPLATES = Templates(None)
KEYRING = Keyring([b"k" * 32])
NOW = 1_800_000_000.0


@dataclass(frozen=True)
class Bound:
    """A binding that makes its value with a function of the scope; impure unless told otherwise."""

    make: Callable[[Mapping[str, Any]], Any]
    pure: bool = False
    reads: Reads = frozenset()

    def render(self, scope: Mapping[str, Any]) -> Outcome:
        made = self.make(scope)
        return made if isinstance(made, Value | Failure | Missing | Asked | Spent) else Value(made)

    async def run(self, scope: Mapping[str, Any], call: Any) -> Outcome:
        return self.render(scope)


def says(text: str, *reads: str) -> Bound:
    """A pure binding that renders a template."""
    template = TEMPLATES.template(text)
    return Bound(lambda scope: template.text(scope), pure=True, reads=template.reads)


def runs(value: Any, *reads: str) -> Bound:
    """An impure binding with a fixed value or a function of the scope."""
    make = value if callable(value) else lambda scope: value
    return Bound(make, reads=frozenset(tuple(read.split(".")) for read in reads))


def handler(binding: Bound, arguments: Iterable[str] = (), **more: Any) -> Handler:
    more.setdefault("digest", "d1")
    return Handler(binding=binding, arguments=frozenset(arguments), **more)


def question(
    key: str,
    params: Any = None,
    *,
    method: Any = "elicitation/create",
    when: str | None = None,
    declined: str | None = None,
    optional: bool = False,
) -> Question:
    if isinstance(params, str):
        params = {"message": params, "requestedSchema": {"type": "object", "properties": {}}}
    tree = TEMPLATES.tree(params or {})
    condition = TEMPLATES.expression(when) if when else None
    reads = tree.reads | (condition.reads if condition else frozenset())
    form = (params or {}).get("requestedSchema")
    schema = compile_schema(form) if form else None
    told = TEMPLATES.template(declined) if declined else None
    return Question(key, method, tree, condition, schema, told, optional, reads, (params or {}).get("mode", "form"))


def form(key: str, message: str = "Well?", **properties: Any) -> Question:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return question(key, {"message": message, "requestedSchema": schema})


def holds(that: str, message: str) -> Assertion:
    expression, template = TEMPLATES.expression(that), TEMPLATES.template(message)
    return Assertion(expression, template, expression.reads | template.reads)


def var(binding: Bound, as_: str = "auto") -> Var:
    return Var(binding, Shape(as_))


def tool(name: str, binding: Bound, schema: Any = None, output: Any = None, **more: Any) -> Tool:
    written = schema or {"type": "object"}
    wire = json.dumps({"name": name, "inputSchema": written}).encode()
    return Tool(
        name=name,
        wire=wire,
        handler=handler(binding, written.get("properties", ()), **more),
        input=compile_schema(written),
        output=None if output is None else compile_schema(output),
        shape=Shape(),
        headers=header_parameters(written),
    )


def argument(name: str, schema: Any = None, *, required: bool = False, default: Any = ABSENT, **more: Any) -> Argument:
    written = schema or {"type": "string"}
    return Argument(
        name=name,
        schema=compile_schema(written),
        required=required,
        text=written.get("type") == "string",
        default=default,
        **more,
    )


def prompt(name: str, binding: Bound, *arguments: Argument, description: str | None = None, **more: Any) -> Prompt:
    told = [{"name": a.name, "required": a.required} for a in arguments]
    wire = json.dumps({"name": name, "arguments": told}).encode()
    named = {a.name: a for a in arguments}
    return Prompt(name, wire, handler(binding, named, **more), named, description)


def resource(name: str, uri: str, binding: Bound, mime: str | None = "text/plain", **more: Any) -> Resource:
    wire = json.dumps({"name": name, "uri": uri}).encode()
    return Resource(name, uri, wire, handler(binding, **more), mime, Shape())


def template(name: str, uri: str, binding: Bound, *arguments: Argument, **more: Any) -> ResourceTemplate:
    wire = json.dumps({"name": name, "uriTemplate": uri}).encode()
    named = {a.name: a for a in arguments}
    return ResourceTemplate(name, parse(uri), wire, handler(binding, named, **more), named, "text/plain", Shape())


def catalogue(*items: Any, **settings: Any) -> Catalogue:
    settings.setdefault("info", {"name": "stand-in", "version": "1"})
    return Catalogue.of(Settings(**settings), items, revision="r1", root=Path("/nowhere"))


# --- sending ---------------------------------------------------------------------------------------------------


@dataclass
class Client:
    """Sends requests to a catalogue, and carries out what a plan leaves to the server."""

    catalogue: Catalogue
    capabilities: Mapping[str, Any] = field(default_factory=lambda: EVERYTHING)
    http: bool = False
    live: bool = False
    principal: str | None = None
    now: float = NOW
    sealer: Any = KEYRING
    invoked: list[Invoke] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def body(self, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
        told = {META + "protocolVersion": VERSION, META + "clientCapabilities": self.capabilities, **meta}
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": told}}

    def arrival(self, body: Any, headers: Mapping[str, str] | None = None) -> Arrival:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        if self.http and headers is None:
            headers = mirrored(body)
        return Arrival(raw, headers, self.principal, self.now, self.sealer, self.live)

    def plan(self, body: Any, headers: Mapping[str, str] | None = None) -> Plan:
        return protocol.plan(self.catalogue, self.arrival(body, headers))

    def send(self, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> Reply:
        return self.settle(self.plan(self.body(method, params, **meta)))

    def settle(self, plan: Plan) -> Reply:
        """Carry a plan out to its reply, as a server would; every reply is checked against the official models."""
        while not isinstance(plan, Reply):
            if isinstance(plan, Ask):
                plan = plan.reply
            else:
                assert isinstance(plan, Invoke), plan
                plan = plan.conclude(self._performed(plan))
        sent(plan)
        return plan

    def _performed(self, plan: Invoke) -> Outcome:
        self.invoked.append(plan)
        if plan.claim is not None:
            if plan.claim[0] in self.used:
                return Spent()
            self.used.add(plan.claim[0])
        try:
            scope = {**plan.scope, "given": dict(plan.answers)}
            return plan.binding.render(scope)
        except ZeroDivisionError:
            return Failure("It broke.", "abc123")

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Reply:
        return self.send("tools/call", {"name": name, "arguments": arguments or {}, **more})


def mirrored(body: Any) -> dict[str, str]:
    """The headers that a good client sends with a body."""
    params = body["params"]
    headers = {"mcp-protocol-version": params["_meta"][META + "protocolVersion"], "mcp-method": body["method"]}
    name = params.get("name") or params.get("uri")
    if isinstance(name, str):
        headers["mcp-name"] = name
    return headers


def sent(reply: Reply) -> dict[str, Any]:
    """What a client gets, valid by the official models."""
    data: dict[str, Any] = json.loads(protocol.encode(reply))
    method = None if reply.request is None else reply.request.method
    check({"id": None, **data} if "error" in data else data, method)
    _check_against_the_schema(reply, data)
    return data


def _check_against_the_schema(reply: Reply, data: dict[str, Any]) -> None:
    """The official JSON Schema judges too, where it is at hand."""
    path = SHARED / "spec" / "mcp-2026-07-28.schema.json"
    if not path.is_file():
        return
    if "error" in data:
        definition = ERRORS.get(data["error"]["code"], "JSONRPCErrorResponse")
    else:
        assert isinstance(reply.value, Result)
        assert reply.request is not None
        asking = reply.value.type == "input_required"
        definition = "InputRequiredResult" if asking else RESULTS[reply.request.method]
        data = data["result"]
    judge = _judge(path, definition)
    assert judge.is_valid(data), [error.message for error in judge.iter_errors(data)]


@cache
def _judge(path: Path, definition: str) -> Any:
    schema = json.loads(path.read_bytes())
    return jsonschema_rs.validator_for({"$defs": schema["$defs"], "$ref": f"#/$defs/{definition}"})


ERRORS = {
    -32020: "HeaderMismatchError",
    -32021: "MissingRequiredClientCapabilityError",
    -32022: "UnsupportedProtocolVersionError",
}
RESULTS = {
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "completion/complete": "CompleteResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}


def fault(reply: Reply) -> Fault:
    assert isinstance(reply.value, Fault), reply.value
    return reply.value


def result(reply: Reply) -> Mapping[str, Any]:
    assert isinstance(reply.value, Result), reply.value
    return reply.value.body


def text(reply: Reply) -> str:
    """The text of a tool result."""
    return "\n".join(block["text"] for block in result(reply)["content"])


def is_error(reply: Reply) -> bool:
    return bool(result(reply).get("isError"))


def asked(reply: Reply) -> Mapping[str, Any]:
    assert isinstance(reply.value, Result) and reply.value.type == "input_required", reply.value
    questions: Mapping[str, Any] = reply.value.body["inputRequests"]
    return questions


def state(reply: Reply) -> str:
    found: str = result(reply)["requestState"]
    return found


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}
