"""Tests of mcpdecl.compiler.loading: a folder becomes one catalogue, or one list of faults."""

from __future__ import annotations

from tests.compiler.folders import Project


def test_files_are_merged_and_their_order_does_not_matter(project: Project) -> None:
    catalogue = project.catalogue(
        {
            "manifests/z/deep/one.yml": "tools: {a: {description: x, text: x}}\n",
            "manifests/two.json": '{"tools": {"b": {"description": "x", "text": "x"}}}',
            "manifests/three.yaml": "prompts: {p: {messages: [{user: x}]}}\n---\nforms: {f: {message: m, url: 'https://a.test'}}\n---\n",
            "manifests/.hidden.yaml": "tools: [",
            "manifests/notes.txt": "no manifest",
        }
    )
    assert (set(catalogue.tools), set(catalogue.prompts), set(catalogue.forms)) == ({"a", "b"}, {"p"}, {"f"})


def test_all_faults_of_all_files_are_told_at_once(project: Project) -> None:
    project.write(
        {
            "manifests/a.yaml": "tools:\n  a: {descripton: x, text: x}\n",
            "manifests/b.yaml": "tools:\n  b: {description: x, ask: {q: {form: none}}, text: '{{ nope }}'}\n",
            "manifests/c.yaml": "resources:\n  r: {uri: bad uri, text: x}\n",
        }
    )
    found = {(code, file) for code, file, *_ in project.found(project.load())}
    assert found >= {
        ("unknown-key", "manifests/a.yaml"),
        ("unknown-form", "manifests/b.yaml"),
        ("undefined-name", "manifests/b.yaml"),
        ("bad-uri", "manifests/c.yaml"),
    }


def test_W16_either_all_of_it_or_nothing(project: Project) -> None:
    project.write(
        {
            "manifests/good.yaml": "tools: {a: {description: x, text: x}}\n",
            "manifests/bad.yaml": "tools: {b: {description: x, ask: {q: {form: later}}, text: x}}\n",
        }
    )
    assert project.load().catalogue is None
    project.write({"manifests/later.yaml": "forms: {later: {message: m, url: 'https://a.test'}}\n"})
    catalogue = project.load().catalogue
    assert catalogue is not None
    assert set(catalogue.tools) == {"a", "b"}


def test_server_is_said_once(project: Project) -> None:
    (found,) = project.check(
        {"manifests/a.yaml": "server: {name: a}\n", "manifests/b.yaml": "«server»: {name: b}\n"}, "duplicate-server"
    )
    assert [span.file for _, span in found.related] == ["manifests/a.yaml"]


def test_a_folder_without_manifests(project: Project) -> None:
    (project.root / "manifests").mkdir()
    loaded = project.load()
    assert [d.code for d in loaded.diagnostics] == ["no-manifests"]
    assert loaded.catalogue is None


def test_an_empty_manifest_is_not_ready(project: Project) -> None:
    project.write({"manifests/a.yaml": "tools: {a: {description: x, text: x}}\n", "manifests/b.yaml": "# soon\n"})
    loaded = project.load()
    assert loaded.unready
    assert [d.code for d in loaded.diagnostics] == ["empty-manifest"]


def test_a_manifest_that_cannot_be_read(project: Project) -> None:
    project.write({"manifests/a.yaml": "tools: {a: {description: x, text: x}}\n"})
    (project.root / "manifests" / "b.yaml").symlink_to(project.root / "manifests" / "b.yaml")
    loaded = project.load()
    assert all(d.code in {"unreadable-file", "no-manifests"} for d in loaded.diagnostics)


def test_the_revision_changes_with_what_is_served(project: Project) -> None:
    one = project.catalogue("tools: {a: {description: x, text: x}}\n").revision
    assert project.catalogue("# comment\ntools: {a: {description: x, text: x}}\n").revision == one
    assert project.catalogue("tools: {a: {description: x, text: y}}\n").revision != one


def test_what_has_to_be_watched(project: Project) -> None:
    project.write(
        {
            "note.txt": "x",
            "s.yaml": "n: string\n",
            "load_mod.py": "def go(n): return n\n",
            "docs/a.md": "x",
            "manifests/a.yaml": "tools: {t: {description: x, input: s.yaml, python: 'load_mod:go'}}\n"
            "resources: {r: {uri: 'x://r', file: note.txt}, d: {uriTemplate: 'd://{+path}', folder: docs}}\n",
        }
    )
    watched = project.load().watched
    assert watched.uris(project.root / "note.txt") == {"x://r"}
    assert watched.uris(project.root / "docs/sub/b.md") == {"d://sub/b.md"}
    assert watched.uris(project.root / "docs/.b.md") == watched.uris(project.root / "s.yaml") == frozenset()
    assert project.root / "note.txt" not in watched.files, "its content is read when somebody asks for it"
    assert watched.manifests == project.root / "manifests"
    assert {project.root / "s.yaml", project.root / ".env", project.root / "manifests/a.yaml"} <= watched.files
    assert watched.resources == {project.root / "note.txt": frozenset({"x://r"})}
    assert watched.modules == {project.root / "load_mod.py"}


def test_a_thousand_tools(project: Project) -> None:
    for file in range(20):
        names = range(file * 50, file * 50 + 50)
        tools = "".join(
            f"  t{n:04}: {{description: x, input: {{a: string, b?: integer}}, text: '{{{{ a }}}}'}}\n" for n in names
        )
        project.write({f"manifests/f{file}.yaml": f"tools:\n{tools}"})
    catalogue = project.load().catalogue
    assert catalogue is not None
    assert len(catalogue.tools) == 1000
    assert project.counts() == (0, 0)
