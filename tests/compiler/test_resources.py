"""Tests of mcpdecl.compiler.resources."""

from __future__ import annotations

import pytest

from tests.compiler.folders import Project, wire


def test_descriptors(project: Project) -> None:
    # spec: server/resources#resource
    catalogue = project.catalogue(
        {
            "README.md": "hello",
            "manifests/r.yaml": """\
                resources:
                  readme: {uri: "repo://readme", title: R, file: README.md, annotations: {priority: 0.5}, ttl: 5s}
                  named: {uri: "x://n", name: other, mimeType: text/x-n, size: 3, text: abc}
                  commit:
                    uriTemplate: repo://commit/{sha}
                    arguments: {sha: {pattern: "^[a-f]+$"}}
                    text: "{{ sha }}"
                """,
        }
    )
    readme = catalogue.resources["repo://readme"]
    assert wire(readme.wire) == {
        "name": "readme",
        "title": "R",
        "uri": "repo://readme",
        "mimeType": "text/markdown",
        "annotations": {"priority": 0.5},
    }
    assert (readme.file, readme.ttl_ms) == (project.root / "README.md", 5000)
    assert wire(catalogue.resources["x://n"].wire) == {
        "name": "other", "uri": "x://n", "mimeType": "text/x-n", "size": 3,
    }  # fmt: skip
    commit = catalogue.templates["commit"]
    assert wire(commit.wire) == {"name": "commit", "uriTemplate": "repo://commit/{sha}"}
    assert commit.arguments["sha"].required


def test_variables_that_are_not_declared_are_texts(project: Project) -> None:
    template = project.catalogue("resources: {t: {uriTemplate: 'x://{a}{?b}', text: '{{ a }} {{ b }}'}}\n").templates[
        "t"
    ]
    assert (template.arguments["a"].required, template.arguments["b"].required) == (True, False)
    assert template.arguments["a"].text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("bad-uri", "resources:\n  r: {uri: «my readme», text: x}\n"),
        ("bad-uri-template", "resources:\n  r: {uriTemplate: «'x://{a*}'», text: '{{ a }}'}\n"),
        ("unused-variable", "resources:\n  r: {uriTemplate: «'x://{a}/{b}'», text: '{{ a }}'}\n"),
        (
            "unknown-argument",
            "resources:\n  r:\n    uriTemplate: x://{a}\n    arguments: {«b»: string}\n    text: '{{ a }}'\n",
        ),
        ("undefined-name", "resources:\n  r: {uriTemplate: 'x://{a}', text: «'{{ a }}{{ c }}'»}\n"),
        ("file-not-found", "resources:\n  r: {uri: 'x://r', file: «none.md»}\n"),
        ("no-binding", "resources:\n  r: «{uri: 'x://r'}»\n"),
        ("bad-value", "resources:\n  r: {uri: 'x://r', text: x, ttl: «soon»}\n"),
    ],
)
def test_faults_and_their_places(project: Project, code: str, text: str) -> None:
    project.check(text, code)
