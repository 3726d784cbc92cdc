"""Tests of mcpdecl.compiler.items: the environment, ``enabled``, digests."""

from __future__ import annotations

import pytest

from tests.compiler.folders import Project, wire

TOOL = "tools:\n  a:\n    description: {description}\n    text: '{text}'\n"


def tool(description: str = "x", text: str = "y", more: str = "") -> str:
    return TOOL.format(description=description, text=text) + more


def digest(project: Project) -> str:
    catalogue = project.fresh().catalogue
    assert catalogue is not None
    return catalogue.tools["a"].handler.digest


def test_Y16_values_are_filled_into_strings_after_parsing(project: Project) -> None:
    project.environ["REGION"] = "eu\nadmin: true"
    catalogue = project.catalogue(tool("'Works in {{ env.REGION }}.'"))
    assert wire(catalogue.tools["a"].wire)["description"] == "Works in eu\nadmin: true."


def test_Y16_an_unset_variable_is_named_and_never_its_value(project: Project) -> None:
    project.environ["OTHER"] = "hunter2"
    (found,) = project.check(tool("«'{{ env.NOWHERE }}{{ env.OTHER }}'»"), "unset-variable")
    assert "NOWHERE" in found.message
    assert "hunter2" not in found.message + found.hint


def test_Y16_a_default_stands_in(project: Project) -> None:
    catalogue = project.catalogue(tool("'{{ env.NOWHERE | default(''eu'') }}'"))
    assert wire(catalogue.tools["a"].wire)["description"] == "eu"


def test_Y16_at_call_time_too(project: Project) -> None:
    project.check("tools: {a: {description: x, text: «'{{ env.NOWHERE }}'»}}\n", "unset-variable")
    project.environ["NOWHERE"] = "here"
    catalogue = project.catalogue("tools: {a: {description: x, text: '{{ env.NOWHERE }}'}}\n")
    assert catalogue.settings.env == {"NOWHERE": "here"}


@pytest.mark.parametrize(
    ("enabled", "served"),
    [
        ("true", True),
        ("false", False),
        ("env.ON is defined", True),
        ("env.OFF is defined", False),
        ("env.ON == 'no'", False),
    ],
)
def test_enabled(project: Project, enabled: str, served: bool) -> None:
    project.environ["ON"] = "1"
    catalogue = project.catalogue(
        tool(more=f'    enabled: "{enabled}"\n') if "env" in enabled else tool(more=f"    enabled: {enabled}\n")
    )
    assert ("a" in catalogue.tools) is served


def test_a_disabled_item_may_lack_its_variables_but_not_its_sense(project: Project) -> None:
    project.check(tool("'{{ env.NOWHERE }}'", more="    enabled: false\n"))
    project.check("tools: {a: {description: x, text: «'{{ nope }}'», enabled: false}}\n", "undefined-name")


@pytest.mark.parametrize(("code", "enabled"), [("undefined-name", "word"), ("bad-template", "env.A =")])
def test_enabled_reads_the_environment_alone(project: Project, code: str, enabled: str) -> None:
    project.check(f"tools: {{a: {{description: x, text: x, enabled: «'{enabled}'»}}}}\n", code)


def test_a_digest_is_the_same_in_every_process_and_changes_with_what_an_item_is_made_of(project: Project) -> None:
    files = {
        "templates/t.j2": "one",
        "manifests/a.yaml": "tools: {a: {description: x, template: t.j2, ask: {q: {form: f}}}}\n",
        "manifests/f.yaml": "forms: {f: {message: m, url: 'https://a.test'}}\n",
    }
    project.write(files)
    first = digest(project)
    assert digest(project) == first
    for name, text in (
        ("templates/t.j2", "two"),
        ("manifests/f.yaml", "forms: {f: {message: n, url: 'https://a.test'}}\n"),
        ("manifests/a.yaml", "tools: {a: {description: x, template: t.j2, ask: {q: {form: f}}, timeout: 5s}}\n"),
        ("manifests/d.yaml", "defaults: {timeout: 7s}\nserver: {name: s, defaults: {timeout: 9s}}\n"),
    ):
        project.write({name: text})
        if name != "manifests/d.yaml":  # defaults of one manifest, and of the folder where the item says otherwise
            assert digest(project) != first, name
            first = digest(project)


def test_a_served_file_is_no_part_of_the_item(project: Project) -> None:
    project.catalogue({"note.txt": "one", "manifests/a.yaml": "resources: {r: {uri: 'x://r', file: note.txt}}\n"})
    before = project.fresh().catalogue
    project.write({"note.txt": "two"})
    after = project.fresh().catalogue
    assert before is not None and after is not None
    assert before.resources["x://r"].handler.digest == after.resources["x://r"].handler.digest
    assert project.counts() == (0, 0)
