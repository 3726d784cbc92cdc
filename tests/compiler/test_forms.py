"""Tests of mcpdecl.compiler.forms."""

from __future__ import annotations

import pytest

from tests.compiler.folders import Project


def test_a_form_is_kept_with_its_schema(project: Project) -> None:
    form = project.catalogue("forms: {f: {message: m, fields: {a: string, b?: boolean}}}\n").forms["f"]
    assert form.declared["message"] == "m"
    assert form.declared["requestedSchema"]["required"] == ["a"]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("bad-form-field", "forms:\n  f: {message: m, fields: {a: «{type: array}»}}\n"),
        ("bad-template", "forms:\n  f: {message: «'{{'», fields: {a: string}}\n"),
        ("bad-uri", "forms:\n  f: {message: m, url: «nowhere»}\n"),
        ("bad-value", "forms:\n  f: {message: m, fields: {a: «strnig»}}\n"),
    ],
)
def test_faults_and_their_places(project: Project, code: str, text: str) -> None:
    project.check(text, code)


def test_an_edited_form_compiles_those_that_use_it_again(project: Project) -> None:
    files = {
        "manifests/f.yaml": "forms: {f: {message: one, fields: {a: string}}}\n",
        "manifests/t.yaml": """\
            tools:
              user: {description: x, ask: {q: {form: f}}, text: "{{ answers.q.a }}"}
              other: {description: x, text: x}
            """,
    }
    old = project.catalogue(files)
    project.write({"manifests/f.yaml": "forms: {f: {message: two, fields: {a: string}}}\n"})
    assert project.counts() == (1, 2)  # the form and its one user
    new = project.fresh().catalogue
    assert new is not None
    assert old.tools["user"].handler.digest != new.tools["user"].handler.digest
    assert old.tools["other"].handler.digest == new.tools["other"].handler.digest


def test_an_edited_schema_file_of_a_form_compiles_those_that_use_it_again(project: Project) -> None:
    files = {
        "manifests/f.yaml": "forms: {f: {message: m, fields: fields.yaml}}\n",
        "manifests/t.yaml": 'tools: {user: {description: x, ask: {q: {form: f}}, text: "{{ answers.q.a }}"}}\n',
        "fields.yaml": "{a: string}\n",
    }
    old = project.catalogue(files).tools["user"].handler
    project.write({"fields.yaml": "{a: boolean}\n"})
    new = project.fresh().catalogue
    assert new is not None
    (question,) = new.tools["user"].handler.questions
    assert question.params.value({})["requestedSchema"]["properties"] == {"a": {"type": "boolean"}}
    assert new.tools["user"].handler.digest != old.digest


def test_a_message_alone_is_a_yes_or_no(project: Project) -> None:
    text = "forms: {ok: {message: Delete 3 rows?}}\ntools: {a: {description: x, ask: {sure: {form: ok}}, text: done}}\n"
    (question,) = project.catalogue(text).tools["a"].handler.questions
    assert question.params.value({}) == {
        "mode": "form",
        "message": "Delete 3 rows?",
        "requestedSchema": {"type": "object", "properties": {}},
    }


def test_E12_a_field_that_asks_for_a_secret_is_warned_of_in_a_form_too(project: Project) -> None:
    project.check("forms: {f: {message: m, fields: {«secret»: string}}}\n", "secret-field")
    project.check("forms: {f: {message: m, fields: {«k»: {type: string, title: API key}}}}\n", "secret-field")


@pytest.mark.parametrize("url", ["nowhere", "javascript:alert(1)", "mailto:a@b.test", "https://"])
def test_E12_an_address_that_no_browser_should_open(project: Project, url: str) -> None:
    project.check(f"forms:\n  f: {{message: m, url: «'{url}'»}}\n", "bad-uri")
