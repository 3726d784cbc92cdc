"""Tests of mcpdecl.compiler.memo: only what changed is read and compiled again."""

from __future__ import annotations

from tests.compiler.folders import Project

FILES = {
    "templates/t.j2": "{% include 'part.j2' %}",
    "templates/part.j2": "{{ n }}",
    "memo_mod.py": "import memo_help\ndef go(): return memo_help.WORD\n",
    "memo_help.py": "WORD = 1\n",
    ".env": "REGION=eu\n",
    "manifests/a.yaml": "tools: {a: {description: one, text: x}, b: {description: x, text: x}}\n",
    "manifests/t.yaml": "tools: {t: {description: x, input: {n: string}, template: t.j2}}\n",
    "manifests/p.yaml": "tools: {p: {description: x, python: 'memo_mod:go'}}\n",
    "manifests/d.yaml": "defaults: {timeout: 5s}\ntools: {d: {description: x, text: x}}\n",
}


def test_nothing_changed(project: Project) -> None:
    project.catalogue(FILES)
    assert project.counts() == (0, 0)


def test_one_description(project: Project) -> None:
    project.catalogue(FILES)
    project.write({"manifests/a.yaml": FILES["manifests/a.yaml"].replace("one", "two")})
    assert project.counts() == (1, 1)


def test_a_comment_is_read_and_nothing_compiled(project: Project) -> None:
    project.catalogue(FILES)
    project.write({"manifests/a.yaml": "# hello\n" + FILES["manifests/a.yaml"]})
    assert project.counts() == (1, 0)


def test_W15_an_included_template(project: Project) -> None:
    project.catalogue(FILES)
    project.write({"templates/part.j2": "<{{ n }}>"})
    assert project.counts() == (0, 1)


def test_W15_a_helper_module(project: Project) -> None:
    project.catalogue(FILES)
    project.write({"memo_help.py": "WORD = 22\n"})
    assert project.counts() == (0, 1)


def test_defaults_of_a_manifest(project: Project) -> None:
    project.catalogue(FILES)
    project.write({"manifests/d.yaml": FILES["manifests/d.yaml"].replace("5s", "7s")})
    assert project.counts() == (1, 1)
    catalogue = project.load().catalogue
    assert catalogue is not None
    assert catalogue.tools["d"].handler.limits.timeout == 7.0


def test_the_environment_is_around_everything(project: Project) -> None:
    project.catalogue(FILES)
    project.write({".env": "REGION=us\n"})
    parsed, compiled = project.counts()
    assert parsed == 0
    assert compiled == 5


def test_a_failed_load_forgets_nothing(project: Project) -> None:
    project.catalogue(FILES)
    project.write({"manifests/a.yaml": "tools: ["})
    assert project.load().catalogue is None
    project.write({"manifests/a.yaml": FILES["manifests/a.yaml"]})
    assert project.counts() == (1, 0)


def test_a_broken_module_leaves_the_old_one_good(project: Project) -> None:
    old = project.catalogue(FILES).tools["p"].handler.binding
    project.write({"memo_help.py": "WORD = = 1\n"})
    assert project.load().catalogue is None
    project.write({"memo_help.py": FILES["memo_help.py"]})
    catalogue = project.load().catalogue
    assert catalogue is not None
    assert catalogue.tools["p"].handler.binding == old or catalogue.tools["p"].handler.binding is not None


def test_a_place_is_told_anew_when_an_item_has_moved(project: Project) -> None:
    project.check("tools:\n  «a»: {text: x}\n", "missing-description")
    project.check("# moved\n\ntools:\n  «a»: {text: x}\n", "missing-description")
