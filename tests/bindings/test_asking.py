"""Tests of mcpdecl.bindings.asking: what a callable's questions look like, and what their answers are worth."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.bindings.asking import Declined, Suspended, form, roots, sample, together, url, value_of

FORM = form("Who?", {"name": "string", "age?": {"type": "integer", "minimum": 0}}, None)


def test_a_form_in_short_and_in_full() -> None:
    requested = FORM["params"]["requestedSchema"]
    assert (requested["type"], requested["required"]) == ("object", ["name"])
    full = {"type": "object", "properties": {"a": {"type": "boolean"}}}
    assert form("m", None, full)["params"]["requestedSchema"] == full
    assert form("Sure?", None, None)["params"]["requestedSchema"]["properties"] == {}


def test_the_other_kinds() -> None:
    assert url("m", "https://x.test")["params"] == {"mode": "url", "message": "m", "url": "https://x.test"}
    assert sample([{"role": "user"}], 5, {"temperature": 0}) == {
        "method": "sampling/createMessage",
        "params": {"messages": [{"role": "user"}], "maxTokens": 5, "temperature": 0},
    }
    assert roots()["method"] == "roots/list"


@pytest.mark.parametrize(
    ("question", "answer", "value"),
    [
        (FORM, {"action": "accept", "content": {"name": "Ada"}}, {"name": "Ada"}),
        (form("Sure?", None, None), {"action": "accept"}, True),
        (url("m", "https://x.test"), {"action": "accept"}, True),
        (roots(), {"roots": [{"uri": "file:///a"}]}, [{"uri": "file:///a"}]),
        (sample([], 1, {}), {"role": "assistant", "model": "m"}, {"role": "assistant", "model": "m"}),
    ],
)
def test_an_answer_has_a_value(question: Any, answer: Any, value: Any) -> None:
    assert value_of("k", question, answer) == value


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_no_is_never_a_value(action: str) -> None:
    with pytest.raises(Declined) as caught:
        value_of("k", FORM, {"action": action, "content": {"name": "Ada"}})
    assert caught.value.action == action


@pytest.mark.parametrize("answer", [5, None, {"action": "accept"}, {"action": "accept", "content": {"name": 5}}])
def test_what_does_not_fit_is_asked_again(answer: Any) -> None:
    with pytest.raises(Suspended) as caught:
        value_of("k", FORM, answer)
    assert caught.value.questions == {"k": FORM}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "object", "properties": {}}}},
        {"properties": {"a": {"type": "integer", "enum": [1]}}},
        {"type": "array"},
    ],
)
def test_E10_a_form_that_clients_cannot_draw_is_never_asked(schema: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        form("m", None, schema)


@pytest.mark.parametrize("address", ["nowhere", "javascript:alert(1)", "https://", "file:///etc/passwd"])
def test_E12_an_address_that_no_browser_should_open_is_never_asked(address: str) -> None:
    with pytest.raises(ValueError, match="not the address of a page"):
        url("m", address)


def test_a_message_is_text() -> None:
    with pytest.raises(TypeError, match="text"):
        form(5, None, None)  # type: ignore[arg-type]


def test_questions_of_a_group_are_put_together_unless_something_else_went_wrong() -> None:
    inner = BaseExceptionGroup("inner", [Suspended({"b": FORM})])
    assert together(BaseExceptionGroup("g", [Suspended({"a": FORM}), inner])) == {"a": FORM, "b": FORM}
    for errors in ([Suspended({"a": FORM}), ValueError("x")], [ValueError("x")]):
        with pytest.raises(ExceptionGroup) as caught:
            together(BaseExceptionGroup("g", errors))
        assert [type(error) for error in caught.value.exceptions] == [ValueError]


def test_no_except_exception_of_an_author_holds_a_question_back() -> None:
    assert not issubclass(Suspended, Exception)
