"""Tests of mcpdecl.compiler.handlers: whether the parts of an item fit together."""

from __future__ import annotations

import pytest

from tests.compiler.folders import Project


def tool(body: str) -> str:
    return "tools:\n  a:\n    description: x\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("reserved-name", "vars: {«answers»: {text: x}}\ntext: '{{ answers }}'"),
        ("name-clash", "input: {n: string}\nvars: {«n»: {text: x}}\ntext: '{{ n }}'"),
        ("ambiguous-name", "input: {client: string}\ntext: «'{{ client }}'»"),
        ("unused-name", "vars: {«v»: {text: x}}\ntext: x"),
        ("circle", "vars: {«v»: {text: '{{ w }}'}, w: {text: '{{ v }}'}}\ntext: '{{ v }}'"),
        ("circle", "ask: {«a»: {message: m, when: answers.b}, b: {message: m, when: answers.a}}\ntext: x"),
        ("unknown-answer", "ask: {q: Sure?}\ntext: «'{{ answers.r }}'»"),
        ("unknown-answer", "ask: {q: {message: m, fields: {f: string}}}\ntext: «'{{ answers.q.g }}{{ answers.q.f }}'»"),
        ("unknown-capability", "requires: {«eliciting»: {}}\ntext: x"),
        ("unknown-capability", "requires: {roots: «yes»}\ntext: x"),
        ("unknown-capability", "requires: {elicitation: {«link»: {}}}\ntext: x"),
        ("bad-template", "assert: [{that: «'a ='», message: no}]\ntext: x"),
        ("bad-value", "timeout: «soon»\ntext: x"),
        ("two-bindings", "text: x\ncommand: «[ls]»"),
        ("undefined-name", "input: {n: string}\nresult: {as: lines, text: «'{{ reslut }}'»}\ncommand: [ls, '{{ n }}']"),
        ("undefined-name", "input: {n: string}\ntext: «'{{ arguments.m }}'»"),
    ],
)
def test_faults_and_their_places(project: Project, code: str, body: str) -> None:
    project.check(tool(body), code)


def test_a_reserved_word_is_reached_through_arguments(project: Project) -> None:
    project.check(tool("input: {client: string}\ntext: '{{ arguments.client }}'"))


def test_what_a_handler_holds(project: Project) -> None:
    handler = (
        project.catalogue(
            tool(
                "input: {n: string}\n"
                "vars: {v: {command: [ls, '{{ n }}'], result: lines}}\n"
                "ask: {q: {message: '{{ v }}', when: v}}\n"
                "assert: [{that: n, message: No n.}]\n"
                "requires: {elicitation: {url: {}}}\n"
                "timeout: 1m30s\nmaxOutput: 64kB\nconcurrency: 2\nrate: 60/min\n"
                "text: done"
            )
        )
        .tools["a"]
        .handler
    )
    assert handler.arguments == {"n"}
    assert handler.vars["v"].shape.as_ == "lines"
    assert [q.key for q in handler.questions] == ["q"]
    assert len(handler.assertions) == 1
    assert handler.requires == {"elicitation": {"url": {}}}
    limits = handler.limits
    assert (limits.timeout, limits.max_output, limits.concurrency) == (90.0, 64_000, 2)
    assert (limits.rate.count, limits.rate.seconds) == (60.0, 60.0)


def test_callables_are_held_against_the_arguments(project: Project) -> None:
    module = "def go(a, b=1): return a\nVALUE = 1\n"
    for code, body in (
        ("bad-callable", "input: {a: string}\npython: «hand_mod:gone»"),
        ("bad-callable", "input: {a: string}\npython: «hand_mod:VALUE»"),
        ("bad-module", "python: «no_such_module_here:go»"),
        ("bad-parameters", "python: «hand_mod:go»"),
        ("bad-parameters", "input: {a: string, c: string}\npython: «hand_mod:go»"),
    ):
        project.check({"hand_mod.py": module, "manifests/one.yaml": tool(body)}, code)
    project.check({"manifests/one.yaml": tool("input: {a: string, b?: integer}\npython: hand_mod:go")})


def test_an_answer_that_a_callable_may_read_is_used(project: Project) -> None:
    files = {
        "ask_mod.py": "from mcpdecl import Context\ndef go(ctx: Context): return ctx.answers['q']\n",
        "manifests/one.yaml": tool("ask: {q: {message: m, fields: {f: string}}}\npython: ask_mod:go"),
    }
    project.check(files)
