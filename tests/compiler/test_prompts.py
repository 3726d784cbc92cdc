"""Tests of mcpdecl.compiler.prompts."""

from __future__ import annotations

import pytest

from tests.compiler.folders import Project, wire

REVIEW = """\
    prompts:
      review:
        title: Review
        description: Review it.
        arguments:
          language: {enum: [python, rust], title: Language, description: Which one}
          deep?: {type: boolean}
        messages:
          - user: "{{ language }} {{ deep }}"
          - assistant: Yes.
    """


def test_the_descriptor_lists_the_arguments(project: Project) -> None:
    # spec: server/prompts#prompt
    prompt = project.catalogue(REVIEW).prompts["review"]
    assert wire(prompt.wire) == {
        "name": "review",
        "title": "Review",
        "description": "Review it.",
        "arguments": [
            {"name": "language", "title": "Language", "description": "Which one", "required": True},
            {"name": "deep", "required": False},
        ],
    }
    assert prompt.description == "Review it."
    assert prompt.arguments["language"].choices == ("python", "rust")


def test_a_prompt_without_arguments(project: Project) -> None:
    prompt = project.catalogue("prompts: {p: {messages: [{user: hi}]}}\n").prompts["p"]
    assert wire(prompt.wire) == {"name": "p"}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("bad-value", "prompts:\n  p:\n    messages: [{user: hi}]\n    «result»: text\n"),
        ("undefined-name", "prompts:\n  p:\n    messages: [{user: «'{{ x }}'»}]\n"),
        ("bad-template", "prompts:\n  p:\n    messages: [{user: {template: «none.j2»}}]\n"),
        ("unknown-reference", "prompts:\n  p:\n    messages: [{user: {resource: «x://none»}}]\n"),
        ("no-binding", "prompts:\n  p: «{description: x}»\n"),
    ],
)
def test_faults_and_their_places(project: Project, code: str, text: str) -> None:
    project.check(text, code)
