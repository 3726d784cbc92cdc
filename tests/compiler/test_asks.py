"""Tests of mcpdecl.compiler.asks: every way to write a question, and what must not be asked."""

from __future__ import annotations

import pytest

from mcpdecl.catalogue import Question
from mcpdecl.compiler.asks import dynamic, looks_secret
from mcpdecl.templates import ABSENT
from tests.compiler.folders import Project, message_of

FORM = """\
forms:
  release:
    message: What is in it?
    fields: {title: string, kind?: {type: string, enum: [fix, feature]}}
  site: {message: Log in, url: "https://a.test/login"}
"""


def question(project: Project, written: str, text: str = "x") -> Question:
    body = (
        "tools:\n  a:\n    description: x\n    input: {n?: string}\n"
        f"    ask:\n      q: {written}\n    text: '{text}'\n"
    )
    (made,) = project.catalogue(body + FORM).tools["a"].handler.questions
    return made


def test_a_string_is_a_yes_or_no(project: Project) -> None:
    made = question(project, '"Delete {{ n }}?"')
    assert made.method == "elicitation/create"
    assert made.params.value({"n": "it"}) == {
        "mode": "form",
        "message": "Delete it?",
        "requestedSchema": {"type": "object", "properties": {}},
    }
    assert made.reads == {("n",)}


def test_fields_in_short_and_in_full(project: Project) -> None:
    short = question(project, "{message: m, fields: {d: {type: string, format: date}}}", "{{ answers.q.d }}")
    assert short.params.value({})["requestedSchema"] == {
        "type": "object",
        "properties": {"d": {"type": "string", "format": "date"}},
        "required": ["d"],
    }
    assert short.schema is not None
    assert not short.schema.valid({"d": "soon"})
    full = "{message: m, requestedSchema: {type: object, properties: {d: {type: boolean}}}}"
    assert question(project, full, "{{ answers.q.d }}").schema is not None


def test_a_form_by_name_whose_parts_may_be_overridden(project: Project) -> None:
    made = question(project, "{form: release}", "{{ answers.q.title }}")
    assert made.params.value({})["message"] == "What is in it?"
    made = question(project, '{form: release, message: "In {{ n }}?"}', "{{ answers.q.title }}")
    assert made.params.value({"n": "1.0"})["message"] == "In 1.0?"
    assert set(made.params.value({"n": ""})["requestedSchema"]["properties"]) == {"title", "kind"}


def test_a_url(project: Project) -> None:
    made = question(project, '{message: Go, url: "https://a.test/{{ n }}"}')
    assert made.params.value({"n": "1"}) == {"mode": "url", "message": "Go", "url": "https://a.test/1"}
    assert question(project, "{form: site}").params.value({})["mode"] == "url"


def test_sampling_and_roots(project: Project) -> None:
    made = question(project, '{sample: {messages: [{user: "Sum up {{ n }}"}], maxTokens: 50}}', "{{ answers.q.model }}")
    assert made.method == "sampling/createMessage"
    assert made.params.value({"n": "it"}) == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Sum up it"}}],
        "maxTokens": 50,
    }
    assert question(project, "{roots: true}", "{{ answers.q }}").method == "roots/list"


def test_conditions_and_what_follows_a_no(project: Project) -> None:
    made = question(project, "{message: m, when: n, declined: 'Kept {{ n }}.', optional: true}")
    assert made.when is not None and made.declined is not None and made.optional
    assert made.when.test({"n": "x"})
    assert made.declined.text({"n": "x"}) == "Kept x."


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("unknown-form", "{form: «relase»}"),
        ("bad-uri", "{message: m, url: «not a url»}"),
        ("bad-form-field", "{message: m, fields: {f: «{type: object, properties: {}}»}}"),
        ("secret-in-question", "{message: «'Is it {{ env.API_KEY }}?'»}"),
        ("secret-field", "{message: m, fields: {«api_key»: string}}"),
        ("unused-name", "{message: m, fields: {f: string}}"),
        ("bad-template", "«'{{'»"),
    ],
)
def test_faults_and_their_places(project: Project, code: str, written: str) -> None:
    project.environ["API_KEY"] = "k"
    reads = "{{ answers.q }}" if code == "secret-field" else "x"
    lead = "«q»" if code == "unused-name" else "q"
    text = f"tools:\n  a:\n    description: x\n    ask:\n      {lead}: {written}\n    text: '{reads}'\n"
    project.check(text, code)


@pytest.mark.parametrize(
    "field",
    [
        "{type: integer, enum: [1, 2]}",
        "{type: object, properties: {}}",
        '{anyOf: [{type: string}, {type: "null"}]}',
        "{type: string, pattern: ^a}",
    ],
)
def test_E10_a_form_that_clients_cannot_draw_is_told_with_what_to_write(project: Project, field: str) -> None:
    project.write(
        f"tools:\n  a:\n    description: x\n    ask: {{q: {{message: m, fields: {{f: {field}}}}}}}\n"
        "    text: '{{ answers.q.f }}'\n"
    )
    found = [d for d in project.load().diagnostics if d.code == "bad-form-field"]
    assert found
    assert all(d.hint for d in found)


@pytest.mark.parametrize("name", ["TOK", "API_TOKEN", "DB_PASS", "DB_PASSWORD", "SECRET_ID", "PWD"])
@pytest.mark.parametrize(
    "written", ["{message: m, url: 'https://a.test/c?t={{ env.NAME }}'}", "'Is it {{ env[\"NAME\"] }}?'"]
)
def test_E12_a_secret_of_the_environment_is_never_shown(project: Project, name: str, written: str) -> None:
    project.environ[name] = "k"
    text = f"tools: {{a: {{description: x, ask: {{q: {written.replace('NAME', name)}}}, text: x}}}}\n"
    project.write(text)
    assert [d.code for d in project.load().diagnostics] == ["secret-in-question"]


@pytest.mark.parametrize("name", ["PORTAL_URL", "CLIENT_ID", "PASSAGE", "TOKYO"])
def test_E12_other_variables_may_be_shown(project: Project, name: str) -> None:
    project.environ[name] = "https://a.test"
    question(project, f"{{message: m, url: '{{{{ env.{name} }}}}/login'}}")


def test_what_is_read_is_text_whatever_it_is_made_of(project: Project) -> None:
    made = question(project, "{message: '{{ n }}', url: '{{ n }}'}")
    assert made.mode == "url"
    assert made.schema is None
    for given, told in ((5, "5"), (ABSENT, ""), (["a"], '["a"]')):
        assert made.params.value({"n": given}) == {"mode": "url", "message": told, "url": told}
    assert question(project, "'{{ n }} or {{ n }}'").params.value({"n": ABSENT})["message"] == " or "


@pytest.mark.parametrize("name", ["api_key", "apiKey", "password", "auth_token", "clientSecret", "pin", "cardNumber"])
def test_E12_fields_that_look_like_secrets(name: str) -> None:
    assert looks_secret(name, {})


@pytest.mark.parametrize("name", ["key", "tokens_left", "spinner", "passage", "name"])
def test_E12_fields_that_do_not(name: str) -> None:
    assert not looks_secret(name, {})


def test_what_a_form_of_another_place_reads_must_be_known_where_it_is_used(project: Project) -> None:
    text = (
        "forms: {f: {message: 'About {{ word }}?', fields: {a: string}}}\n"
        "tools:\n  a:\n    description: x\n    ask: {q: {form: «f»}}\n    text: '{{ answers.q.a }}'\n"
    )
    assert "'word'" in message_of(project.check(text, "undefined-name"), "undefined-name")


def test_dynamic() -> None:
    assert dynamic({"a": ["x", "{{ y }}"]})
    assert not dynamic({"{{ a }}": "plain"})
