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
