"""Whatever arrives, there is a plan, and whatever a plan says can be sent."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpdecl import protocol
from mcpdecl.protocol import Ask, Cancel, Ignore, Invoke, Listen, Reply
from mcpdecl.protocol.methods import METHODS
from tests.protocol.standins import (
    META,
    Client,
    argument,
    catalogue,
    prompt,
    question,
    resource,
    runs,
    says,
    sent,
    template,
    tool,
    var,
)

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}, "s": {"type": "string"}}}
CATALOGUE = catalogue(
    tool("pure", says("{{ s }}"), SCHEMA),
    tool("run", runs({"a": 1}), SCHEMA),
    tool("ask", runs("x"), questions=(question("ok", "Sure?"),)),
    prompt("p", says("{{ a }}"), argument("a"), argument("n", {"type": "integer"}, complete=var(runs([1])))),
    resource("r", "a:b", says("x")),
    template("t", "a:{+x}", runs("x"), argument("x")),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
HEADERS = st.none() | st.dictionaries(
    st.sampled_from(["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-n"]),
    st.text() | st.sampled_from(["2026-07-28", "tools/call", "pure"]),
)
NAMES = st.sampled_from(["name", "uri", "arguments", "inputResponses", "requestState", "cursor", "ref", "argument"])
KNOWN = st.sampled_from(["pure", "run", "ask", "p", "a:b", "a:c", {}, {"s": "x", "n": 1}, {"ok": {"action": "accept"}}])
OTHERS = st.sampled_from(["notifications", "context", "_meta"])


def carried_out(plan: Any) -> None:
    """Every plan is one of the six, and all that it would send is valid."""
    assert isinstance(plan, Reply | Ask | Invoke | Listen | Cancel | Ignore)
    if isinstance(plan, Reply):
        sent(plan)
    elif isinstance(plan, Ask):
        sent(plan.reply)
        carried_out(plan.resume({}))
    elif isinstance(plan, Invoke):
        carried_out(plan.conclude(plan.binding.render(plan.scope)))
    elif isinstance(plan, Listen):
        sent(plan.closing)


@settings(deadline=None)
@given(st.binary(), HEADERS, st.booleans())
def test_any_bytes_have_a_plan(body: bytes, headers: Any, live: bool) -> None:
    carried_out(protocol.plan(CATALOGUE, Client(CATALOGUE, live=live).arrival(body, headers)))


@settings(deadline=None)
@given(JSON, HEADERS)
def test_any_json_has_a_plan(data: Any, headers: Any) -> None:
    body = json.dumps(data).encode()
    carried_out(protocol.plan(CATALOGUE, Client(CATALOGUE).arrival(body, headers)))


@given(
    st.sampled_from(sorted(METHODS)) | st.text(),
    st.dictionaries(NAMES | OTHERS | st.text(), KNOWN | JSON, max_size=5),
    st.dictionaries(st.sampled_from(["progressToken", META + "logLevel", META + "clientInfo"]) | st.text(), JSON),
    st.sampled_from([{}, {"elicitation": {}}, {"elicitation": {"url": {}}, "sampling": {}}]) | JSON,
    HEADERS,
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_any_request_has_a_plan(
    method: str, params: dict[str, Any], meta: dict[str, Any], capabilities: Any, headers: Any, live: bool
) -> None:
    client = Client(CATALOGUE, capabilities, live=live)
    body = client.body(method, params)
    body["params"]["_meta"].update(meta)
    carried_out(protocol.plan(CATALOGUE, client.arrival(body, headers)))


def test_a_fault_of_ours_is_an_incident() -> None:
    broken: Any = None
    client = Client(CATALOGUE)
    plan = protocol.plan(broken, client.arrival(client.body("tools/list")))
    assert isinstance(plan, Reply)
    assert plan.id == 1
    ((event, fields),) = plan.notes
    assert event == "incident"
    assert "AttributeError" in fields["error"]
    assert "AttributeError" not in str(sent_without_info(plan))


def sent_without_info(reply: Reply) -> Any:
    return json.loads(protocol.encode(reply))
