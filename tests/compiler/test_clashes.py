"""Tests of mcpdecl.compiler.clashes: what cannot stand in one folder together."""

from __future__ import annotations

from tests.compiler.folders import Project


def test_two_files_that_declare_one_name(project: Project) -> None:
    (found,) = project.check(
        {
            "manifests/a.yaml": "tools:\n  greet: {description: x, text: x}\n",
            "manifests/b.yaml": "tools:\n  «greet»: {description: x, text: x}\n",
        },
        "duplicate-name",
    )
    ((caption, span),) = found.related
    assert caption == "first declared here"
    assert (span.file, span.line, project.text(span)) == ("manifests/a.yaml", 1, "greet")


def test_kinds_have_names_of_their_own(project: Project) -> None:
    project.check(
        "tools: {a: {description: x, text: x}}\nprompts: {a: {messages: [{user: x}]}}\n"
        "resources: {a: {uri: 'x://a', text: x}}\nforms: {a: {message: x, fields: {f: string}}}\n"
    )


def test_two_resources_with_one_uri(project: Project) -> None:
    text = "resources:\n  a: {uri: 'x://a', text: x}\n  b: {uri: «'x://a'», text: x}\n"
    (found,) = project.check(text, "duplicate-uri")
    assert [project.text(span) for _, span in found.related] == ["'x://a'"]


def test_a_disabled_item_makes_room_for_another(project: Project) -> None:
    project.check(
        {
            "manifests/a.yaml": "tools: {a: {description: x, text: x, enabled: env.A is defined}}\n",
            "manifests/b.yaml": "tools: {a: {description: x, text: x, enabled: env.A is undefined}}\n",
        }
    )


def test_a_resource_of_ours_that_is_not_there(project: Project) -> None:
    text = """\
        resources: {readme: {uri: "repo://readme", text: x}, any: {uriTemplate: "repo://any/{x}", text: "{{ x }}"}}
        prompts:
          p:
            messages:
              - user: {resource: "repo://any/1"}
              - user: {resource: «repo://raedme»}
        """
    (found,) = project.check(text, "unknown-reference")
    assert "repo://readme" in found.hint
