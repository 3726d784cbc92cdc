"""What happens when an item is used: its binding, vars, questions and assertions, and whether they fit together.

Knows: everything that tools, prompts and resources have in common. Does not know: what makes one of them that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from mcpdecl.bindings import bind
from mcpdecl.catalogue import Assertion, Binding, Confined, Handler, Question, Var
from mcpdecl.compiler import asks
from mcpdecl.compiler.draft import Draft
from mcpdecl.compiler.names import RESERVED, Names, circle, heads, reached
from mcpdecl.compiler.quantities import UNLIMITED, limits
from mcpdecl.compiler.schemas import Text, confined
from mcpdecl.compiler.written import Path
from mcpdecl.content import Shape
from mcpdecl.templates import Reads, Template

CAPABILITIES: Mapping[str, frozenset[str] | None] = {
    "elicitation": frozenset({"form", "url"}),
    "sampling": frozenset({"context", "tools"}),
    "roots": frozenset(),
    "experimental": None,
    "extensions": None,
}


def name_everything(draft: Draft, text: Text) -> None:
    """Make the names of an item known, and report those that cannot be."""
    fields = draft.fields
    draft.input = text
    arguments, vars = frozenset(text.properties), frozenset(fields.get("vars") or {})
    draft.names = Names(fields, arguments, vars, asks.fields_asked(draft), closed=not text.open)
    for name in sorted(vars & RESERVED):
        draft.report.key("reserved-name", f"A var cannot be called {name!r}: the word is reserved.", "vars", name)
    for name in sorted(vars & arguments):
        draft.report.key("name-clash", f"{name!r} is an argument and a var.", "vars", name, hint="Rename the var.")


def handler(draft: Draft, shape: Shape | None) -> Handler | None:
    """Compile what happens when the item is used; None if anything is wrong with it. ``shape`` reads names too."""
    binding = bind(draft.fields, draft.site(kind=draft.kind))
    vars = _vars(draft)
    questions = asks.questions(draft)
    assertions = _assertions(draft)
    _requires(draft)
    bounds = limits(draft.fields, draft.report)
    if draft.kind != "tool" and "rate" not in draft.fields:
        bounds = replace(bounds, rate=UNLIMITED)  # only tools have a bound that nobody wrote
    guarded = _confined(draft)
    text = shape.text if shape is not None else None
    _read_names(draft, binding, vars, questions, assertions, text)
    if binding is None or draft.faulty:
        return None
    made = Handler(
        binding=binding,
        arguments=draft.names.arguments,
        vars=MappingProxyType(vars),
        questions=questions,
        assertions=assertions,
        confined=guarded,
        requires=draft.fields.get("requires") or MappingProxyType({}),
        limits=bounds,
    )
    _circles(draft, made)
    _unused(draft, made, everything(made) | (text.reads if text is not None else frozenset()))
    return None if draft.faulty else made


def shape_of(draft: Draft, *at: str, texts: bool) -> Shape:
    """How output becomes content, of the part at ``at``; ``texts`` says whether ``result.text`` has a meaning there."""
    result = (draft.at(at) or {}).get("result", "auto")
    if isinstance(result, str):
        return Shape(result)
    text: Template | None = None
    if "text" in result and texts:
        text = draft.site(*at, "result", words=frozenset({"result"})).template(result["text"], "text")
    elif "text" in result:
        draft.report("bad-value", "result.text has a meaning for tools only.", *at, "result", "text")
    return Shape(result.get("as", "auto"), text)


def variable(draft: Draft, path: Path, fields: Mapping[str, Any], kind: str) -> Var | None:
    """A var or a completion: a binding whose plain value is used."""
    binding: Binding | None = bind(fields, draft.site(*path, kind=kind))
    limits(fields, draft.report.below(*path))
    return Var(binding, shape_of(draft, *map(str, path), texts=False)) if binding is not None else None


def _vars(draft: Draft) -> dict[str, Var]:
    found: dict[str, Var] = {}
    for name, fields in (draft.fields.get("vars") or {}).items():
        var = variable(draft, ("vars", name), fields, "var")
        if var is not None:
            found[name] = var
    return found


def _assertions(draft: Draft) -> tuple[Assertion, ...]:
    found: list[Assertion] = []
    for index, fields in enumerate(draft.fields.get("assert") or []):
        site = draft.site("assert", index)
        that, message = site.expression(fields["that"], "that"), site.template(fields["message"], "message")
        if that is not None and message is not None:
            found.append(Assertion(that, message, that.reads | message.reads))
    return tuple(found)


def _requires(draft: Draft) -> None:
    """Client capabilities, as in ClientCapabilities. spec: schema#clientcapabilities"""
    for name, value in (draft.fields.get("requires") or {}).items():
        modes = CAPABILITIES.get(name, frozenset())
        if name not in CAPABILITIES:
            hint = f"Capabilities are {', '.join(CAPABILITIES)}."
            draft.report.key("unknown-capability", f"No client declares {name!r}.", "requires", name, hint=hint)
        elif not isinstance(value, dict):
            draft.report("unknown-capability", f"{name} must be a mapping.", "requires", name, hint=f"{name}: {{}}")
        elif modes is not None:
            for mode in sorted(value.keys() - modes):
                hint = f"It has {', '.join(sorted(modes))}." if modes else f"Write {name}: {{}}."
                message = f"The capability {name!r} has no {mode!r}."
                draft.report.key("unknown-capability", message, "requires", name, mode, hint=hint)


def _confined(draft: Draft) -> tuple[Confined, ...]:
    if draft.input is None:
        return ()
    found, faults = confined(draft.input, draft.folder.root)
    for fault in faults:
        draft.add(fault)
    return tuple(found)


# --- whether it all fits together ------------------------------------------------------------------------------


def _read_names(
    draft: Draft,
    binding: Binding | None,
    vars: Mapping[str, Var],
    questions: tuple[Question, ...],
    assertions: tuple[Assertion, ...],
    text: Template | None,
) -> None:
    """Check what each part reads, where it stands."""
    names, report = draft.names, draft.report
    if binding is not None:
        names.check(binding.reads, (), report)
    if text is not None:
        names.check(text.reads, ("result", "text"), report, within=frozenset({"result"}))
    for name, var in vars.items():
        names.check(var.binding.reads, ("vars", name), report)
    for question in questions:
        names.check(_all_of(question), ("ask", question.key), report)
    for index, assertion in enumerate(assertions):
        names.check(assertion.reads, ("assert", index), report)
    direct = [part.reads for part in (binding, text, *assertions) if part is not None]
    draft.read_when_used(reached(frozenset().union(*direct, *map(_all_of, questions)), vars))


def _all_of(question: Question) -> Reads:
    return question.reads | (question.declined.reads if question.declined is not None else frozenset())


def everything(made: Handler) -> Reads:
    """What is read, vars that nothing reads left out."""
    reads = set(made.binding.reads)
    for question in made.questions:
        reads |= _all_of(question)
    for assertion in made.assertions:
        reads |= assertion.reads
    return frozenset(reads)


def _circles(draft: Draft, made: Handler) -> None:
    edges = {name: heads(var.binding.reads) & made.vars.keys() for name, var in made.vars.items()}
    if way := circle(edges):
        message = f"These vars wait for each other: {' → '.join([*way, way[0]])}."
        draft.report.key("circle", message, "vars", way[0])
        return
    keys = frozenset(question.key for question in made.questions)
    waits = {q.key: _answers(reached(q.reads, made.vars), keys) for q in made.questions}
    if way := circle(waits):
        message = f"These questions wait for each other: {' → '.join([*way, way[0]])}."
        draft.report.key("circle", message, "ask", way[0])


def _answers(reads: Reads, keys: frozenset[str]) -> frozenset[str]:
    whole = ("answers",) in reads
    return keys if whole else frozenset(read[1] for read in reads if read[0] == "answers" and len(read) > 1) & keys


def _unused(draft: Draft, made: Handler, reads: Reads) -> None:
    all_reads = reached(reads, made.vars)
    for name in made.vars.keys() - heads(all_reads):
        draft.report.key("unused-name", f"Nothing reads the var {name!r}.", "vars", name, hint="Remove it.")
    read = _answers(all_reads, frozenset(draft.names.questions))
    for question in made.questions:
        asks_for_data = question.method != "elicitation/create" or draft.names.questions.get(question.key) is not None
        # a callable may look at ctx.answers, which cannot be seen from here
        if asks_for_data and question.key not in read and "python" not in draft.fields:
            message = f"Nothing reads the answer to {question.key!r}."
            hint = f"Read answers.{question.key}, or ask for no data."
            draft.report.key("unused-name", message, "ask", question.key, hint=hint)


def used(made: Handler, name: str) -> bool:
    """Whether an argument is read by anything at all."""
    reads = reached(everything(made), made.vars)
    return name in heads(reads) or ("arguments", name) in reads or ("arguments",) in reads
