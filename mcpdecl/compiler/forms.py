"""A form that questions name.

Knows: what a form holds. Does not know: which questions name it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from mcpdecl.catalogue import Form
from mcpdecl.compiler.asks import judge_form, judge_url
from mcpdecl.compiler.draft import Draft, FormText
from mcpdecl.compiler.names import texts
from mcpdecl.compiler.written import Finding
from mcpdecl.diagnostics import Span
from mcpdecl.templates import TemplateFault


def form(draft: Draft) -> tuple[Form, FormText]:
    """Compile a form. Names in its templates are judged where it is used, for they are those of the user."""
    text = draft.schema((), "fields", "requestedSchema", closed=False)
    if text is not None:
        judge_form(draft, text)
        for pointer, part in texts(text.data):
            _template(draft, part, text.locate(pointer))
    for key in ("message", "url"):
        if key in draft.fields:
            _template(draft, draft.fields[key], (key,))
    judge_url(draft, draft.fields.get("url"))
    shown = {key: draft.fields[key] for key in ("title", "description", "message", "url") if key in draft.fields}
    declared: dict[str, Any] = shown | ({"requestedSchema": text.served} if text is not None else {})
    return Form(draft.name, MappingProxyType(declared)), FormText(draft.name, draft.fields, text)


def _template(draft: Draft, text: str, where: Any) -> None:
    try:
        draft.folder.templates.template(text)
    except TemplateFault as fault:
        if isinstance(where, Span):
            draft.add(Finding("bad-template", fault.message, place=where))
        else:
            draft.report("bad-template", fault.message, *where)
