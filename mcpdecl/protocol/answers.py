"""What a client answered to a question, judged.

Knows: the three kinds of answers and what makes one good. Does not know: which questions there are, or what follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from mcpdecl.schema import Schema, compile_schema, form_faults
from mcpdecl.templates import ABSENT
from mcpdecl.uris import is_page


@dataclass(frozen=True, slots=True)
class Accepted:
    """A good answer: ``value`` is what ``answers.<key>`` is, ``raw`` what is kept in the state."""

    value: Any
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declined:
    """The user said no, or closed the dialog."""

    action: Literal["decline", "cancel"]
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Malformed:
    """Not an answer. ``wrong`` says what to change, for forms; it may be empty."""

    wrong: str = ""


Verdict: TypeAlias = Accepted | Declined | Malformed


def askable(question: Mapping[str, Any]) -> None:
    """Raise ValueError for an elicitation that clients cannot show."""
    params = question.get("params") or {}
    if question["method"] != "elicitation/create":
        return
    if params.get("mode") == "url":
        # spec: client/elicitation#url-mode-elicitation-requests: a valid URL
        address = params.get("url")
        if not isinstance(address, str) or not is_page(address):
            raise ValueError(f"{address!r} is not the address of a page")
        return
    # spec: client/elicitation#requested-schema
    for fault in form_faults(params.get("requestedSchema")):
        raise ValueError(f"{fault.message} {fault.hint}")


def judge(question: Mapping[str, Any], raw: Any, schema: Schema | None = None) -> Verdict:
    """Judge a raw answer to a question as it was shown. ``schema`` is its form's, if it is compiled already."""
    # spec: basic/patterns/mrtr#error-handling: what the client provides is validated
    if not isinstance(raw, dict):
        return Malformed()
    match question["method"]:
        case "elicitation/create":
            return _elicited(question.get("params") or {}, raw, schema)
        case "sampling/createMessage":
            return _sampled(raw)
        case _:
            return _rooted(raw)


def corrected(question: Mapping[str, Any], wrong: str) -> Mapping[str, Any]:
    """The question with what was wrong about the last answer below its message."""
    params = question.get("params") or {}
    if not wrong or "message" not in params:
        return question
    return {**question, "params": {**params, "message": f"{params['message']}\n\n{wrong}"}}


def _elicited(params: Mapping[str, Any], raw: Mapping[str, Any], schema: Schema | None) -> Verdict:
    # spec: client/elicitation#response-actions
    action = raw.get("action")
    if action == "decline" or action == "cancel":
        return Declined(action, {"action": action})  # whatever content comes with a no is not looked at
    if action != "accept":
        return Malformed()
    if params.get("mode") == "url":
        return Accepted(True, {"action": "accept"})
    content = raw.get("content")
    return _filled(params, {} if content is None else content, schema)


def _filled(params: Mapping[str, Any], content: Any, schema: Schema | None) -> Verdict:
    if not isinstance(content, dict):
        return Malformed("The answer must be an object.")
    form = params.get("requestedSchema") or {}
    judge = schema if schema is not None else compile_schema(form)
    # spec: client/elicitation#form-mode-security: what comes back is validated
    violations = judge.violations(content)
    if violations:
        return Malformed("\n".join(f"{_path(v.path)}{v.message}" for v in violations[:20]))
    fields = form.get("properties") or {}
    # spec: basic/patterns/mrtr#error-handling: what nobody asked for is ignored
    content = {name: part for name, part in content.items() if name in fields}
    # A field that was left out can be read, and is absent.
    value = {**dict.fromkeys(fields, ABSENT), **content} if fields else True
    return Accepted(value, {"action": "accept", "content": content})


def _sampled(raw: Mapping[str, Any]) -> Verdict:
    # spec: client/sampling#security-considerations: message content is validated
    good = raw.get("role") in ("user", "assistant") and isinstance(raw.get("content"), dict | list)
    return Accepted(raw, raw) if good else Malformed()


def _rooted(raw: Mapping[str, Any]) -> Verdict:
    # spec: client/roots#listing-roots
    roots = raw.get("roots")
    if not isinstance(roots, list) or not all(isinstance(r, dict) and isinstance(r.get("uri"), str) for r in roots):
        return Malformed()
    return Accepted(roots, raw)


def _path(path: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in path) + ": " if path else ""
