"""Forms and questions: what is asked, with which schema, and what may go wrong with it.

Knows: the ways to write a question, and what a form may hold. Does not know: when a question is put, or how an answer
is judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcpdecl.catalogue import Question
from mcpdecl.compiler.draft import Draft
from mcpdecl.compiler.names import nearest, texts
from mcpdecl.compiler.schemas import Text, hidden
from mcpdecl.compiler.written import Path
from mcpdecl.schema import Schema, SchemaFault, compile_schema, form_faults, read_faults
from mcpdecl.templates import ABSENT, Tree
from mcpdecl.uris import is_page

YES: Mapping[str, Any] = {"type": "object", "properties": {}}
_TEMPLATE = ("{{", "{%", "{#")
_SECRET = re.compile(
    r"pass(?:word|wd|phrase|code)|secret|api.?key|access.?key|private.?key|(?:^|[^a-z])(?:auth|access|api|bearer|refresh)?"
    r".?token(?:$|[^a-z])|credential|card.?number|cvv|cvc|(?:^|[^a-z])(?:pin|otp|ssn|iban)(?:$|[^a-z])"
)
_SECRET_ENV = re.compile(
    r"\benv\b\W{1,4}\w*?(?:TOKEN|TOK(?![a-z])|SECRET|KEY|PASSW|PASS(?![a-z])|PWD|CREDENTIAL)\w*", re.IGNORECASE
)


def dynamic(data: Any) -> bool:
    """Whether any text of some data is a template."""
    return any(mark in text for _, text in texts(data) for mark in _TEMPLATE)


def looks_secret(name: str, schema: Mapping[str, Any]) -> bool:
    """Whether a field of a form seems to ask for a secret."""
    words = (name, schema.get("title", ""))
    camel = (re.sub(r"(?<=[a-z])(?=[A-Z])", "_", w).lower() for w in words if isinstance(w, str))
    return schema.get("format") == "password" or schema.get("writeOnly") is True or any(map(_SECRET.search, camel))


def judge_form(draft: Draft, text: Text) -> None:
    """Report what is wrong with the schema of a form. What depends on the call is judged when it is asked."""
    for fault in _faults(text.data):
        if not dynamic(_part(text.data, tuple(fault.pointer))):
            draft.add(text.finding(fault))
    for name, part in text.properties.items():
        # spec: client/elicitation#user-interaction-model: form mode must not request sensitive information
        if looks_secret(name, part):
            hint = "Ask with url instead: what is typed into a form passes through the client and its model."
            message = f"The field {name!r} seems to ask for a secret."
            draft.add(replace(text.tell("secret-field", message, ("properties", name), hint), on_key=True))


def judge_url(draft: Draft, url: str | None, *path: str | int) -> None:
    """Report an address that no browser opens. What depends on the call is judged when it is asked."""
    if url is not None and not dynamic(url) and not is_page(url):
        # spec: client/elicitation#url-mode-elicitation-requests: a valid URL
        message = f"{url!r} is not the address of a page."
        draft.report("bad-uri", message, *path, "url", hint="Write https://…")


def _faults(schema: Any) -> list[SchemaFault]:
    found = read_faults(schema)
    known = {(fault.code, tuple(fault.pointer)) for fault in found}
    return found + [fault for fault in form_faults(schema) if (fault.code, tuple(fault.pointer)) not in known]


def _part(data: Any, pointer: Path) -> Any:
    """What a pointer leads to, without the words for people, which may be templates everywhere."""
    for step in pointer:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return {k: v for k, v in data.items() if k not in ("title", "description")} if isinstance(data, dict) else data


def questions(draft: Draft) -> tuple[Question, ...]:
    """Compile ``ask``."""
    asked = draft.fields.get("ask") or {}
    made = [_question(draft, key, value) for key, value in asked.items()]
    return tuple(question for question in made if question is not None)


def fields_asked(draft: Draft) -> dict[str, frozenset[str] | None]:
    """The fields that the answer to each question has: None where that is not known, or is no mapping."""
    found: dict[str, frozenset[str] | None] = {}
    for key, value in (draft.fields.get("ask") or {}).items():
        text = _form_of(draft, key, value)
        found[key] = frozenset(text.properties) if text is not None and text.properties else None
    return found


def _form_of(draft: Draft, key: str, value: Any) -> Text | None:
    if not isinstance(value, dict):
        return None
    own = draft.schema(("ask", key), "fields", "requestedSchema", closed=False)
    if own is not None or "form" not in value or "url" in value:
        return own
    form = draft.form(value["form"])
    return form.text if form is not None else None


def _question(draft: Draft, key: str, value: Any) -> Question | None:
    path: Path = ("ask", key)
    whole = {"message": value} if isinstance(value, str) else dict(value)
    made = _params(draft, path, value, whole)
    site = draft.site(*path)
    when = site.expression(whole["when"], "when") if "when" in whole else None
    declined = site.template(whole["declined"], "declined") if "declined" in whole else None
    if made is None or ("when" in whole and when is None) or ("declined" in whole and declined is None):
        return None
    method, params, schema, mode = made
    reads = params.reads | (when.reads if when is not None else frozenset())
    return Question(key, method, params, when, schema, declined, bool(whole.get("optional", False)), reads, mode)


def _params(draft: Draft, path: Path, value: Any, whole: Mapping[str, Any]) -> Any:
    if "roots" in whole:
        return "roots/list", draft.quietly({}), None, "form"
    if "sample" in whole:
        return _sample(draft, (*path, "sample"), whole["sample"])
    return _elicitation(draft, path, value, whole)


def _elicitation(draft: Draft, path: Path, value: Any, whole: Mapping[str, Any]) -> Any:
    site = draft.site(*path)
    form = draft.form(whole["form"]) if "form" in whole else None
    if "form" in whole and form is None:
        hint = nearest(whole["form"], draft.folder.forms)
        draft.report("unknown-form", f"There is no form {whole['form']!r}.", *path, "form", hint=hint)
        return None
    message, url = whole.get("message"), whole.get("url")
    good = message is None or site.template(message, *(() if isinstance(value, str) else ("message",))) is not None
    good = (url is None or site.template(url, "url") is not None) and good
    own = draft.schema(path, "fields", "requestedSchema", closed=False)
    if own is not None:
        judge_form(draft, own)
        good = draft.templates_of(own) and good
    judge_url(draft, whole.get("url"), *path)
    if form is not None:
        message = form.fields.get("message") if message is None else message
        url = form.fields.get("url") if url is None and own is None else url
    if message is None:
        draft.report("bad-question", f"The form {whole['form']!r} has no message.", *path, "form", hint="Add message.")
        return None
    schema = own or (form.text if form is not None and form.text is not None and url is None else None)
    params = _shown(message, url, schema)
    _secrets(draft, path, params)
    tree = draft.borrowed(params, *path, "form") if form is not None else draft.quietly(params)
    if not good or tree is None or (own is None and _where(whole)):
        return None
    return "elicitation/create", tree, None if url is not None else _judge(tree, schema), params["mode"]


def _where(whole: Mapping[str, Any]) -> tuple[str, ...]:
    return next(((key,) for key in ("fields", "requestedSchema") if key in whole), ())


def _shown(message: str, url: str | None, schema: Text | None) -> dict[str, Any]:
    # spec: client/elicitation#elicitation-requests
    # spec: client/elicitation#form-mode-elicitation-requests
    # spec: client/elicitation#url-mode-elicitation-requests
    if url is not None:
        return {"mode": "url", "message": message, "url": url}
    return {"mode": "form", "message": message, "requestedSchema": YES if schema is None else schema.served}


def _secrets(draft: Draft, path: Path, params: Mapping[str, Any]) -> None:
    """Refuse secrets in what a user is shown. spec: client/elicitation#security-considerations"""
    # spec: client/elicitation#safe-url-handling: no secret of the environment
    if any(_SECRET_ENV.search(text) for _, text in texts(params)):
        message = "A question must not hold a secret of the environment: users, clients and logs see it."
        place = draft.names.locate(path, _SECRET_ENV.pattern)
        draft.report("secret-in-question", message, *place, hint="Leave it out, or put an id there that means it.")


def _judge(tree: Tree, schema: Text | None) -> Schema | None:
    if tree.constant is not ABSENT:
        shown = tree.constant.get("requestedSchema")
    elif schema is None or not dynamic(schema.served):
        shown = YES if schema is None else schema.served
    else:
        shown = None
    try:
        return compile_schema(shown, hidden=hidden(shown)) if isinstance(shown, dict) else None
    except SchemaFault:
        return None  # reported where it was read


def _sample(draft: Draft, path: Path, sample: Mapping[str, Any]) -> Any:
    """A request to the client's model: MCP's params, with ``user: text`` and ``assistant: text`` for messages."""
    messages = [
        _message(draft, (*path, "messages", index), message) for index, message in enumerate(sample["messages"])
    ]
    site = draft.site(*path)
    rest = {key: value for key, value in sample.items() if key != "messages"}
    if site.tree(rest) is None or any(message is None for message in messages):
        return None
    params = draft.quietly({"messages": messages, **rest})
    return ("sampling/createMessage", params, None, "form") if params is not None else None


def _message(draft: Draft, path: Path, message: Mapping[str, Any]) -> dict[str, Any] | None:
    role = next((role for role in ("user", "assistant") if role in message), None)
    if role is None:
        made = {"role": message["role"], "content": message["content"]}
        return made if draft.site(*path).tree(made) is not None else None
    said = message[role]
    inner = (role,) if isinstance(said, str) else (role, "text")
    text = said if isinstance(said, str) else said.get("text") if set(said) == {"text"} else None
    if not isinstance(text, str) or "if" in message:
        hint = "Write user: text, or MCP's role and content."
        draft.report("bad-question", "A message of a sample is text here.", *path, role, hint=hint)
        return None
    compiled = draft.site(*path).template(text, *inner)
    # spec: client/sampling#messages
    return {"role": role, "content": {"type": "text", "text": text}} if compiled is not None else None
