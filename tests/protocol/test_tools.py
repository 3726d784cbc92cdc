"""Calling a tool: what is judged, what is answered, and what never leaves the server."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.catalogue import Failure, Missing
from mcpdecl.content import Blocks
from tests.protocol.standins import (
    Client,
    catalogue,
    fault,
    holds,
    is_error,
    result,
    runs,
    says,
    sent,
    text,
    tool,
    var,
)

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "integer", "default": 3}},
    "required": ["city"],
}


def client(*items: Any, **more: Any) -> Client:
    return Client(catalogue(*items), **more)


def test_a_pure_tool_renders_inside_the_plan() -> None:
    sender = client(tool("hi", says("Hello {{ city }}, {{ n }}."), WEATHER))
    assert text(sender.call("hi", {"city": "Rome"})) == "Hello Rome, 3."
    assert sender.invoked == []


def test_an_impure_tool_is_invoked_with_its_scope() -> None:
    sender = client(tool("run", runs(lambda scope: scope["city"] * scope["n"]), WEATHER))
    assert text(sender.call("run", {"city": "a"})) == "aaa"
    (invoke,) = sender.invoked
    assert (invoke.item, invoke.claim, invoke.request.id) == ("tools/call run", None, 1)
    assert invoke.scope["arguments"] == {"city": "a", "n": 3}


def test_arguments_may_be_left_out() -> None:
    sender = client(tool("t", says("ok")))
    for params in ({"name": "t"}, {"name": "t", "arguments": None}, {"name": "t", "arguments": {}}):
        assert text(sender.send("tools/call", params)) == "ok"


@pytest.mark.parametrize("arguments", [[], "x", 5, False])
def test_arguments_must_be_an_object(arguments: Any) -> None:
    reply = client(tool("t", says("ok"))).send("tools/call", {"name": "t", "arguments": arguments})
    assert (fault(reply).code, reply.status) == (-32602, 400)


def test_W14_an_unknown_tool_is_a_protocol_error() -> None:
    reply = client(tool("t", says("ok"))).call("nope\x1b[2J" + "x" * 10_000)
    assert fault(reply).code == -32602
    assert fault(reply).message.startswith("Unknown tool: nope\\x1b")
    assert len(fault(reply).message) < 300


@pytest.mark.parametrize("name", [None, 5, [], {}])
def test_a_name_is_a_string(name: Any) -> None:
    assert fault(client(tool("t", says("ok"))).send("tools/call", {"name": name})).code == -32602


def test_P12_violations_are_listed_with_their_paths() -> None:
    sender = client(tool("w", runs("never"), WEATHER))
    reply = sender.call("w", {"n": "five"})
    assert is_error(reply)
    assert "city" in text(reply)
    assert "- n: " in text(reply)
    assert "integer" in text(reply)
    assert sender.invoked == []


def test_J09_a_whole_float_is_handed_over_as_an_integer() -> None:
    sender = client(tool("w", runs(lambda scope: repr(scope["n"])), WEATHER))
    assert text(sender.call("w", {"city": "a", "n": 60.0})) == "60"
    assert is_error(sender.call("w", {"city": "a", "n": True}))


def test_what_an_open_schema_lets_in_is_reachable_through_arguments_alone() -> None:
    sender = client(tool("w", runs(lambda scope: f"{'extra' in scope} {scope['arguments']['extra']}"), WEATHER))
    assert text(sender.call("w", {"city": "a", "extra": 1, "principal": "root"})) == "False 1"


def test_reserved_names_cannot_be_overridden() -> None:
    schema = {"type": "object", "properties": {"client": {"type": "string"}, "principal": {"type": "string"}}}
    sender = client(tool("w", says("{{ arguments.client }} {{ principal }}"), schema), principal="alice")
    assert text(sender.call("w", {"client": "me", "principal": "root"})) == "me alice"


def test_an_absent_argument_is_absent() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    sender = client(tool("w", says("[{{ a }}{{ arguments.a }}]"), schema))
    assert text(sender.call("w")) == "[]"


def test_structured_values_come_along() -> None:
    body = result(client(tool("s", runs({"a": [1]}))).call("s"))
    assert body["structuredContent"] == {"a": [1]}
    assert "isError" not in body


def test_P03_a_value_that_misses_the_output_schema_never_leaves() -> None:
    output = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert result(client(tool("n", runs({"n": 1}), output=output)).call("n"))["structuredContent"] == {"n": 1}
    for wrong in ({"wrong": 1}, {"n": "secret"}, "text", b"bytes", None):
        reply = client(tool("n", runs(wrong), output=output)).call("n")
        assert fault(reply).code == -32603
        assert "secret" not in str(sent(reply))
        ((event, fields),) = reply.notes
        assert (event, fields["item"]) == ("incident", "tools/call n")
        assert fields["id"] in fault(reply).message


@pytest.mark.parametrize(("value", "schema"), [("a", {"type": "string"}), (None, {"type": "null"})])
def test_a_plain_value_may_be_the_declared_output(value: Any, schema: Any) -> None:
    assert result(client(tool("n", runs(value), output=schema)).call("n"))["structuredContent"] == value


def test_an_error_result_needs_no_output() -> None:
    block = {"type": "text", "text": "no"}
    reply = client(tool("n", runs(Blocks((block,), error=True)), output={"type": "object"})).call("n")
    assert is_error(reply)
    assert text(reply) == "no"


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object(), "\ud800", {"a": float("inf")}])
def test_P03_what_is_not_json_is_an_internal_error(value: Any) -> None:
    reply = client(tool("n", runs(value))).call("n")
    assert sent(reply)["error"]["code"] == -32603


def test_failures_are_error_results() -> None:
    reply = client(tool("f", runs(Failure("It broke.", "abc")))).call("f")
    assert (is_error(reply), text(reply)) == (True, "It broke.")
    reply = client(tool("f", runs(Missing()))).call("f")
    assert (is_error(reply), text(reply)) == (True, "Not found.")


def test_an_exception_inside_the_plan_is_an_incident() -> None:
    def broken(scope: Any) -> Any:
        raise RuntimeError("/secret/path")

    from tests.protocol.standins import Bound

    reply = client(tool("f", Bound(broken, pure=True))).call("f")
    assert fault(reply).code == -32603
    assert "/secret" not in str(sent(reply))
    ((_, fields),) = reply.notes
    assert "/secret/path" in fields["error"]


def test_a_render_fault_is_an_incident() -> None:
    reply = client(tool("f", says("{{ arguments.nothing }}"))).call("f")
    assert fault(reply).code == -32603
    assert reply.notes


def test_R06_text_of_a_caller_is_never_a_template() -> None:
    sender = client(tool("t", says("Q: {{ city }}"), WEATHER))
    assert text(sender.call("t", {"city": "{{ 7 * 7 }}"})) == "Q: {{ 7 * 7 }}"


def test_assertions_over_arguments_come_first() -> None:
    sender = client(
        tool("t", runs("never"), WEATHER, assertions=(holds("n < 5", "{{ n }} is too many."),)),
    )
    reply = sender.call("t", {"city": "a", "n": 9})
    assert (is_error(reply), text(reply)) == (True, "9 is too many.")
    assert sender.invoked == []
    assert text(sender.call("t", {"city": "a"})) == "never"


def test_vars_are_computed_when_read_and_once() -> None:
    calls: list[str] = []

    def diff(scope: Any) -> str:
        calls.append("diff")
        return f"diff of {scope['city']}\n"

    sender = client(
        tool(
            "t",
            says("{{ diff }}|{{ twice }}"),
            WEATHER,
            vars={
                "diff": var(runs(diff, "city")),
                "twice": var(says("{{ diff }}{{ diff }}")),
                "unused": var(runs(lambda scope: 1 / 0)),
            },
        )
    )
    assert text(sender.call("t", {"city": "a"})) == "diff of a|diff of adiff of a"
    assert calls == ["diff"]
    assert [invoke.item for invoke in sender.invoked] == ["tools/call t vars.diff"]


def test_a_var_that_fails_ends_the_call() -> None:
    failing = {"v": var(runs(Failure("git is not here.")))}
    reply = client(tool("t", says("{{ v }}"), vars=failing)).call("t")
    assert (is_error(reply), text(reply)) == (True, "git is not here.")
    missing = {"v": var(runs(Missing()))}
    assert is_error(client(tool("t", says("{{ v }}"), vars=missing)).call("t"))
