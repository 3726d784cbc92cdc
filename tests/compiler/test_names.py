"""Tests of mcpdecl.compiler.names: what templates may read, and where the fault lies if they read something else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from mcpdecl.compiler.names import circle, heads, nearest, reached, texts
from tests.compiler.folders import Project, message_of


def tool(body: str) -> str:
    return "tools:\n  a:\n    description: x\n" + "".join(f"    {line}\n" for line in body.strip("\n").splitlines())


NAMES: Mapping[str, tuple[str, str]] = {
    "text": ("undefined-name", 'text: «"Hi {{ wrod }}"»\ninput: {word: string}'),
    "word": ("undefined-name", 'command: [ls, «"{{ wrod }}"»]'),
    "option": ("undefined-name", 'command: [ls, {--a: x, --b=: «"{{ wrod }}"»}]'),
    "arg": ("undefined-name", 'command: [ls, {arg: «"{{ wrod }}"», dash: allow}]'),
    "env": ("undefined-name", 'command: [ls]\nenv: {A: «"{{ wrod }}"»}'),
    "cwd": ("undefined-name", 'command: [ls]\ncwd: «"{{ wrod }}"»'),
    "stdin": ("undefined-name", 'command: [cat]\nstdin: {a: [«"{{ wrod }}"»]}'),
    "exitCodes": ("undefined-name", 'command: [ls]\nexitCodes: {1: {ok: «"{{ wrod }}"»}}'),
    "block": ("undefined-name", 'content: [{text: ok}, {text: «"{{ wrod }}"»}]'),
    "if": ("undefined-name", "content: [{text: ok, if: «wrod»}]"),
    "link": ("undefined-name", 'content: [{link: {uri: «"a://{{ wrod }}"»}}]'),
    "resource": ("undefined-name", 'content: [{resource: «"a://{{ wrod }}"»}]'),
    "var": ("undefined-name", 'text: "{{ v }}"\nvars: {v: {text: «"{{ wrod }}"»}}'),
    "when": ("undefined-name", "text: x\nask: {q: {message: ok, when: «wrod»}}"),
    "message": ("undefined-name", 'text: x\nask: {q: {message: «"{{ wrod }}"»}}'),
    "question": ("undefined-name", 'text: x\nask: {q: «"{{ wrod }}"»}'),
    "declined": ("undefined-name", 'text: x\nask: {q: {message: ok, declined: «"{{ wrod }}"»}}'),
    "field": (
        "undefined-name",
        'text: "{{ answers.q.f }}"\nask: {q: {message: ok, fields: {f: {type: string, title: «"{{ wrod }}"»}}}}',
    ),
    "that": ("undefined-name", "text: x\nassert: [{that: «wrod», message: no}]"),
    "assert message": ("undefined-name", 'text: x\nassert: [{that: "true", message: «"{{ wrod }}"»}]'),
    "result.text": ("undefined-name", 'text: x\nresult: {text: «"{{ wrod }} {{ result }}"»}'),
    "result elsewhere": ("undefined-name", 'text: «"{{ result }}"»'),
    "undeclared argument": ("undefined-name", 'text: «"{{ arguments.wrod }}"»\ninput: {word: string}'),
    "unknown question": ("unknown-answer", 'text: «"{{ answers.confrim }}"»\nask: {confirm: Sure?}'),
    "unknown question, in a list": (
        "unknown-answer",
        'command: [ls, "{{ answers.confirm }}", «"{{ answers.confrim }}"»]\nask: {confirm: Sure?}',
    ),
    "unknown question, by index": ("unknown-answer", "text: «\"{{ answers['nope'] }}\"»"),
    "unknown field": (
        "unknown-answer",
        'text: «"{{ answers.q.naem }}"»\nask: {q: {message: ok, fields: {name: string}}}',
    ),
    "reserved": ("reserved-name", 'text: x\nvars: {«answers»: {text: x}}'),
    "var and argument": ("name-clash", 'text: "{{ diff }}"\ninput: {diff: string}\nvars: {«diff»: {text: x}}'),
    "ambiguous": ("ambiguous-name", 'text: «"{{ client }}"»\ninput: {client: string}'),
    "ambiguous in result.text": (
        "ambiguous-name",
        'text: "{{ result }}"\nresult: {text: «"{{ result }}"»}\ninput: {result: string}',
    ),
    "circle of one": ("circle", 'text: "{{ a }}"\nvars: {«a»: {text: "{{ a }}"}}'),
    "circle of vars": (
        "circle",
        'text: "{{ c }}"\nvars: {«a»: {text: "{{ b }}"}, b: {text: "{{ a }}"}, c: {text: "{{ a }}"}}',
    ),
    "circle of questions": (
        "circle",
        'text: x\nask: {«p»: {message: "{{ answers.q }}"}, q: {message: ok, when: answers.p}}',
    ),
    "circle through a var": (
        "circle",
        'text: x\nvars: {v: {text: "{{ answers.p }}"}}\nask: {«p»: {message: "{{ v }}"}}',
    ),
    "circle through all answers": ("circle", 'text: x\nask: {«p»: {message: "{{ answers }}"}}'),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_means_nothing_is_told_where_it_stands(project: Project, name: str) -> None:
    code, body = NAMES[name]
    project.check(tool(body), code)


def test_the_word_that_was_meant_is_told(project: Project) -> None:
    diagnostics = project.check(tool('text: «"{{ wrod }}"»\ninput: {word: string}'), "undefined-name")
    assert diagnostics[0].hint == "Did you mean 'word'?"


def test_a_circle_is_told_in_order(project: Project) -> None:
    diagnostics = project.check(
        tool('text: "{{ c }}"\nvars: {«a»: {text: "{{ b }}"}, b: {text: "{{ c }}"}, c: {text: "{{ a }}"}}'), "circle"
    )
    assert "a → b → c → a" in message_of(diagnostics, "circle")


def test_what_an_open_schema_lets_in_is_reached_through_arguments(project: Project) -> None:
    project.check(
        """\
        tools:
          open:
            description: x
            inputSchema: {type: object, properties: {a: {type: string}}}
            text: "{{ a }} {{ arguments.other }}"
          bare:
            description: x
            inputSchema: {type: object}
            text: «"{{ other }}"»
        """,
        "undefined-name",
    )


def test_an_argument_with_a_reserved_name_is_reached_through_arguments(project: Project) -> None:
    project.check(tool('text: "{{ arguments.client }}{{ result }}"\ninput: {client: string, result: string}'))


def test_every_reserved_word_that_may_be_read(project: Project) -> None:
    words = "{{ arguments }}{{ answers }}{{ principal }}{{ client.roots }}{{ env.PATH }}{{ omit }}"
    project.check(tool(f"text: '{words}'"))


def test_loop_variables_and_set_are_names_of_the_template(project: Project) -> None:
    project.check(tool("text: '{% for w in words %}{{ w }}{{ loop.index }}{% endfor %}{% set n = 1 %}{{ n }}'\n"
                       "input: {words: {type: array}}"))  # fmt: skip


@pytest.mark.parametrize("text", ["{{ x", "{% if x %}", "{{ x | nope }}", "{% endfor %}", "{{ 1 + }}", "{{ 'a }}"])
def test_a_template_that_cannot_be_compiled(project: Project, text: str) -> None:
    project.check(tool(f'input: {{x: string}}\ntext: «"{text}"»'), "bad-template")


def test_an_expression_that_cannot_be_compiled(project: Project) -> None:
    project.check(tool('text: x\nassert: [{that: «"{{ 1 }}"», message: no}]'), "bad-template")


@pytest.mark.parametrize(
    ("edges", "way"),
    [
        ({}, []),
        ({"a": "b", "b": ""}, []),
        ({"a": "a"}, ["a"]),
        ({"a": "b", "b": "c", "c": "b"}, ["b", "c"]),
        ({"a": "bc", "b": "", "c": "a"}, ["a", "c"]),
    ],
)
def test_circles(edges: Mapping[str, str], way: list[str]) -> None:
    assert circle({name: frozenset(others) for name, others in edges.items()}) == way


def test_small_words() -> None:
    assert nearest("wrod", ["word", "author"]) == "Did you mean 'word'?"
    assert nearest("zzz", ["word", "author"]) == "Known here: author, word."
    assert nearest("zzz", []) == ""
    assert heads([("a", "b"), ("c",), ()]) == {"a", "c"}
    assert reached([("a", "b")], {}) == {("a", "b")}
    assert list(texts({"a": ["x", 1, {"b": "y"}], "c": None}, ("z",))) == [
        (("z", "a", 0), "x"),
        (("z", "a", 2, "b"), "y"),
    ]
