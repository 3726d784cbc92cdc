"""Tests of mcpdecl.compiler.resources."""

from __future__ import annotations

import pytest

from mcpdecl.bindings import folders
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
        ("folder-not-found", "resources:\n  r: {uriTemplate: 'x://{+p}', folder: «none»}\n"),
        ("folder-variable", "resources:\n  r: {uriTemplate: «'x://{p}/{q}'», folder: manifests}\n"),
        (
            "folder-variable",
            "resources:\n  r: {uriTemplate: 'x://{p}', folder: manifests, include: ['*', «'**/*.md'»]}\n",
        ),
        (
            "folder-variable",
            "resources:\n  r: {uriTemplate: 'x://{p}', folder: manifests, arguments: {p: «integer»}}\n",
        ),
        ("bad-pattern", "resources:\n  r: {uriTemplate: 'x://{p}', folder: manifests, exclude: [«/x»]}\n"),
        ("missing-key", "resources:\n  r: {uri: 'x://p', «folder»: manifests}\n"),
        ("missing-key", "resources:\n  r: {uri: 'x://p', text: x, «include»: ['*']}\n"),
        ("two-bindings", "resources:\n  r: {uriTemplate: 'x://{p}', folder: manifests, text: «'{{ p }}'»}\n"),
        ("no-binding", "resources:\n  r: «{uri: 'x://r'}»\n"),
        ("bad-value", "resources:\n  r: {uri: 'x://r', text: x, ttl: «soon»}\n"),
    ],
)
def test_faults_and_their_places(project: Project, code: str, text: str) -> None:
    project.check(text, code)


DOCS = "resources: {docs: {uriTemplate: 'docs://{+path}', folder: docs, include: ['**/*.md']}}\n"


def test_the_files_of_a_folder_are_entries_and_choices(project: Project) -> None:
    catalogue = project.catalogue(
        {
            "docs/b.md": "b",
            "docs/a/c.md": "c",
            "docs/x.txt": "x",
            "docs/a/[1]: 100%.md": "odd",
            "manifests/r.yaml": """\
                resources:
                  docs:
                    title: Pages
                    description: All of them.
                    uriTemplate: docs://{+path}
                    folder: docs
                    include: ["**/*.md"]
                    annotations: {priority: 0.5}
                """,
        }
    )
    docs = catalogue.templates["docs"]
    assert [wire(entry.wire) for entry in docs.entries] == [
        {"name": name, "uri": uri, "mimeType": "text/markdown", "annotations": {"priority": 0.5}}
        for name, uri in (
            ("a/[1]: 100%.md", "docs://a/%5B1%5D%3A%20100%25.md"),
            ("a/c.md", "docs://a/c.md"),
            ("b.md", "docs://b.md"),
        )
    ]
    assert docs.arguments["path"].choices == ("a/[1]: 100%.md", "a/c.md", "b.md")
    assert "title" in wire(docs.wire) and "mimeType" not in wire(docs.wire)


def test_what_an_argument_refuses_is_not_listed(project: Project) -> None:
    text = DOCS.replace("folder:", "arguments: {path: {pattern: '^a'}}, folder:")
    catalogue = project.catalogue({"docs/a.md": "a", "docs/b.md": "b", "manifests/m.yaml": text})
    assert [entry.name for entry in catalogue.templates["docs"].entries] == ["a.md"]


def test_an_argument_that_lists_values_keeps_them(project: Project) -> None:
    text = DOCS.replace("folder:", "arguments: {path: {enum: [a.md, c.md]}}, folder:")
    catalogue = project.catalogue({"docs/a.md": "a", "docs/b.md": "b", "manifests/m.yaml": text})
    assert [entry.name for entry in catalogue.templates["docs"].entries] == ["a.md"]
    assert catalogue.templates["docs"].arguments["path"].choices == ("a.md", "c.md")


def test_only_a_file_that_came_or_went_compiles_the_item_again(project: Project) -> None:
    project.write({"docs/a.md": "a", "manifests/m.yaml": DOCS + "tools: {t: {description: x, text: x}}\n"})
    assert project.counts() == (1, 2)
    project.write({"docs/a.md": "edited", "docs/x.txt": "x", "docs/.b.md.swp": "b", "docs/empty/x": "x"})
    assert project.counts() == (0, 0)
    before = project.load().catalogue
    project.write({"docs/b/c.md": "c"})
    assert project.counts() == (0, 1)
    after = project.load().catalogue
    assert before is not None and after is not None and before.revision != after.revision
    assert before.templates["docs"].handler.digest == after.templates["docs"].handler.digest  # questions stay valid
    (project.root / "docs" / "b" / "c.md").unlink()
    assert project.counts() == (0, 1)
    found = project.load().catalogue
    assert found is not None and found.revision == before.revision


def test_a_folder_with_too_many_files_is_a_warning(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST", 2)
    project.write({f"docs/{n}.md": "x" for n in range(3)})
    project.check("resources: {docs: {uriTemplate: 'docs://{+path}', folder: «docs»}}\n", "folder-too-large")
    catalogue = project.load().catalogue
    assert catalogue is not None and len(catalogue.templates["docs"].entries) == 2


def test_a_folder_that_is_not_enabled_is_not_watched(project: Project) -> None:
    project.write({"docs/a.md": "a", "manifests/m.yaml": DOCS})
    assert {folder.path for folder in project.load().watched.folders} == {project.root / "docs"}
    project.write({"manifests/m.yaml": DOCS.replace("folder:", "enabled: false, folder:")})
    assert project.load().watched.folders == frozenset()
