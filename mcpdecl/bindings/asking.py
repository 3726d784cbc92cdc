"""Questions that a callable asks while it runs.

Knows: what a question looks like on the wire, and how an answer that is at hand becomes a value. Does not know: how
questions reach the client; an unanswered one ends the run, which begins again from the top when the answer is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcpdecl.schema import compile_schema, form_faults, properties_from_short
from mcpdecl.uris import is_page


class Suspended(BaseException):
    """The callable asked something that was not answered yet. Not an Exception: no ``except Exception`` may hold it."""

    def __init__(self, questions: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__()
        self.questions = questions


class Declined(Exception):
    """The user said no (``action`` is decline) or went away (cancel) when the callable asked ``key``."""

    def __init__(self, key: str, action: str) -> None:
        super().__init__(f"The user {'declined' if action == 'decline' else 'cancelled'} ({key}).")
        self.key = key
        self.action = action


def form(message: str, fields: Mapping[str, Any] | None, schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """An elicitation in form mode (spec: client/elicitation#form-mode-elicitation-requests)."""
    given = schema if schema is not None else properties_from_short(fields or {}, closed=False)[0]
    requested = {"type": "object", "properties": {}, **given}
    # spec: client/elicitation#requested-schema
    for fault in form_faults(requested):
        raise ValueError(f"{fault.message} {fault.hint}")
    # spec: client/elicitation#form-mode-elicitation-requests
    return _elicit({"mode": "form", "message": message, "requestedSchema": requested})


def url(message: str, address: str) -> Mapping[str, Any]:
    """An elicitation in URL mode (spec: client/elicitation#url-mode-elicitation-requests)."""
    # spec: client/elicitation#url-mode-elicitation-requests
    if not is_page(address):
        raise ValueError(f"{address!r} is not the address of a page")
    return _elicit({"mode": "url", "message": message, "url": address})


def sample(messages: Sequence[Mapping[str, Any]], max_tokens: int, more: Mapping[str, Any]) -> Mapping[str, Any]:
    """A sampling request (spec: client/sampling#creating-messages)."""
    return {"method": "sampling/createMessage", "params": {"messages": list(messages), "maxTokens": max_tokens, **more}}


def roots() -> Mapping[str, Any]:
    """A request for the client's roots (spec: client/roots)."""
    return {"method": "roots/list", "params": {}}


def together(group: BaseExceptionGroup[BaseException]) -> Mapping[str, Any]:
    """The questions that the tasks of a group asked at one time. Raises what else went wrong in the group."""
    asked, rest = group.split(Suspended)
    if asked is None or rest is not None:
        raise rest or group
    questions: dict[str, Any] = {}
    waiting: list[BaseException] = [asked]
    while waiting:
        error = waiting.pop(0)
        if isinstance(error, Suspended):
            questions |= error.questions
        elif isinstance(error, BaseExceptionGroup):
            waiting += error.exceptions
    return questions


def _elicit(params: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(params["message"], str):
        raise TypeError("the message of a question is text")
    return {"method": "elicitation/create", "params": params}


def value_of(key: str, question: Mapping[str, Any], answer: Any) -> Any:
    """The value of an answer: a form's content, True for a bare yes, the result of sampling, a list of roots.

    Raises Declined for a no, Suspended for an answer that does not fit and has to be asked again.
    """
    if not isinstance(answer, Mapping):
        raise Suspended({key: question})
    if question["method"] == "roots/list":
        return list(answer.get("roots", ()))
    if question["method"] == "sampling/createMessage":
        return answer
    if answer.get("action") != "accept":
        raise Declined(key, str(answer.get("action")))
    schema = question["params"].get("requestedSchema")
    if schema is None or not schema["properties"]:
        return True
    content = answer.get("content") or {}
    if not compile_schema(schema).valid(content):
        raise Suspended({key: question})
    return content
