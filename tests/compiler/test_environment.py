"""Tests of mcpdecl.compiler.environment: ``.env``, and values of the environment in manifests."""

from __future__ import annotations

import pytest

from mcpdecl.compiler.environment import read_dotenv, unset
from tests.compiler.folders import Project, message_of, wire


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A=1", {"A": "1"}),
        ("A = 1 ", {"A": "1"}),
        ("export A=1", {"A": "1"}),
        ("A=", {"A": ""}),
        ("A=''", {"A": ""}),
        ("A=two words", {"A": "two words"}),
        ("A=1 # why", {"A": "1"}),
        ("A=a#b", {"A": "a#b"}),
        ("A='$HOME \\n # x'", {"A": "$HOME \\n # x"}),
        ('A="a\\nb\\t\\"c\\" \\\\"', {"A": 'a\nb\t"c" \\'}),
        ('A="x" # why', {"A": "x"}),
        ("A=https://x.test/?a=b&c=d", {"A": "https://x.test/?a=b&c=d"}),
        ("A=grün", {"A": "grün"}),
        ("\ufeffA=1", {"A": "1"}),
        ("# A=1", {}),
        ("", {}),
        ("A=1\nA=2\nB=3", {"A": "2", "B": "3"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
    ],
)
def test_a_line_of_dotenv(line: str, expected: dict[str, str]) -> None:
    assert read_dotenv(line.encode(), ".env") == (expected, [])


@pytest.mark.parametrize("line", ["A", "1A=x", "A B=x", "A='open", 'A="open', "A='a' b", "=x", "A: 1"])
def test_a_line_of_dotenv_that_cannot_be_read_is_told_by_its_place_alone(line: str) -> None:
    values, found = read_dotenv(f"OK=1\n{line}\nB=2".encode(), ".env")
    assert values == {"OK": "1", "B": "2"}
    (one,) = found
    assert one.code == "bad-env-file"
    assert one.span is not None and (one.span.line, one.span.end_column) == (1, len(line))
    assert line not in one.message + one.hint


def test_a_line_of_dotenv_that_is_not_utf8() -> None:
    values, found = read_dotenv(b"A=\xff\nB=2", ".env")
    assert values == {"B": "2"}
    assert [d.code for d in found] == ["bad-env-file"]


def test_a_bad_line_of_dotenv_fails_the_load_with_its_place(project: Project) -> None:
    diagnostics = project.check(
        {".env": "A=1\n«s3cret words»\n", "manifests/a.yaml": "tools: {a: {description: x, text: x}}"}, "bad-env-file"
    )
    assert "s3cret" not in message_of(diagnostics, "bad-env-file")


def test_dotenv_is_read_and_the_real_environment_wins(project: Project) -> None:
    project.environ["B"] = "real"
    catalogue = project.catalogue(
        {
            ".env": "A=file\nB=file\n",
            "manifests/a.yaml": 'server: {name: "{{ env.A }}-{{ env.B }}"}\ntools: {a: {description: x, text: x}}',
        }
    )
    assert catalogue.settings.info["name"] == "file-real"


def test_values_are_filled_in_at_load_wherever_nothing_is_read_at_call_time(project: Project) -> None:
    project.environ |= {"HOST": "tracker.test", "WORD": "Fix"}
    catalogue = project.catalogue("""\
        server:
          instructions: See {{ env.HOST }}.
        tools:
          find:
            title: "{{ env.WORD }} it"
            description: Search {{ env.HOST }} for {{ env['WORD'] }}.
            _meta: {"x.test/where": ["{{ env.HOST }}"]}
            inputSchema:
              type: object
              properties:
                word: {type: string, default: "{{ env.WORD | lower }}"}
            text: "{{ word }} at {{ env.HOST }}"
        """)
    told = wire(catalogue.tools["find"].wire)
    assert catalogue.settings.instructions == "See tracker.test."
    assert told["title"] == "Fix it"
    assert told["description"] == "Search tracker.test for Fix."
    assert told["_meta"] == {"x.test/where": ["tracker.test"]}
    assert told["inputSchema"]["properties"]["word"]["default"] == "fix"
    assert catalogue.settings.env == {"HOST": "tracker.test", "WORD": "Fix"}


def test_Y16_a_value_cannot_change_the_structure_around_it(project: Project) -> None:
    project.environ["KEY"] = "a\nadmin: true # {{ env.PATH }}"
    catalogue = project.catalogue("""\
        tools:
          q:
            description: "{{ env.KEY }}"
            text: "{{ env.KEY }}"
        """)
    assert wire(catalogue.tools["q"].wire)["description"] == "a\nadmin: true # {{ env.PATH }}"
    assert set(wire(catalogue.tools["q"].wire)) == {"name", "description", "inputSchema"}


def test_Y16_what_is_not_set_is_an_error_that_names_the_variable(project: Project) -> None:
    project.environ["OTHER"] = "s3cret"
    diagnostics = project.check(
        """\
        server:
          name: «"{{ env.NAME }}-{{ env.OTHER }}"»
        tools:
          q:
            description: «"{{ env.KEY }}"»
            text: «"{{ env.CALL }}"»
        """,
        *["unset-variable"] * 3,
    )
    messages = [d.message for d in diagnostics]
    assert [m.split()[3] for m in messages] == ["NAME", "KEY", "CALL"]
    assert not any("s3cret" in m + d.hint for m, d in zip(messages, diagnostics, strict=True))
    assert "default(" in diagnostics[0].hint


def test_Y16_a_default_stands_in_for_what_is_not_set(project: Project) -> None:
    catalogue = project.catalogue("""\
        tools:
          q:
            description: "{{ env.KEY | default('}} none') }}"
            text: "{{ env.CALL | default('none') }}{% if env.MORE is defined %}more{% endif %}"
        """)
    assert wire(catalogue.tools["q"].wire)["description"] == "}} none"


def test_Y16_braces_can_be_written_and_other_placeholders_are_only_text(project: Project) -> None:
    catalogue = project.catalogue("""\
        tools:
          q:
            description: "${KEY} $KEY %KEY% and {% raw %}"
            command: [ls, {raw: "{{ env.KEY }}"}]
        """)
    assert wire(catalogue.tools["q"].wire)["description"] == "${KEY} $KEY %KEY% and {% raw %}"


def test_braces_that_nothing_fills_in_are_warned_of(project: Project) -> None:
    project.check(
        """\
        tools:
          find:
            title: «"{{ word }}"»
            description: «Find {{ word | upper }} in {{ client }}.»
            input: {word: string}
            text: "{{ word }}"
        """,
        "template-not-read",
        "template-not-read",
    )


def test_an_expression_that_cannot_be_read_at_load(project: Project) -> None:
    project.check("tools:\n  a: {description: «'{{ env.A | nope }}'», text: x}\n", "bad-value")


def test_env_in_a_command_is_judged_where_it_stands(project: Project) -> None:
    project.check(
        """\
        tools:
          a:
            description: x
            vars: {v: {text: «"{{ env.ONE }}"»}}
            command: [ls, «"{{ env.TWO }}"», {--y: "{{ v }}"}]
            env: {T: «"{{ env.THREE }}"», U: "{{ env.PATH }}"}
        """,
        *["unset-variable"] * 3,
    )


def test_env_in_a_completion_is_judged_too(project: Project) -> None:
    project.check(
        """\
        prompts:
          p:
            arguments: {a: {complete: {command: [ls, «"{{ env.NOPE }}"»]}}, b: {complete: {text: "{{ env.PATH }}"}}}
            messages: [{user: "{{ a }}{{ b }}"}]
        """,
        "unset-variable",
    )


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("{{ env.A }}{{ env.B }}", {"B"}),
        ("{{ env['B'] }}", {"B"}),
        ("{{ env.B | default('') }}", set()),
        ("{{ env.B|d('') }}", set()),
        ("{% if env.B is defined %}x{% endif %}", set()),
        ("{{ B }}", set()),
    ],
)
def test_what_a_template_reads_though_nothing_set_it(text: str, missing: set[str]) -> None:
    assert unset(text, {"A": "1"}) == missing
