"""Tests of mcpdecl.compiler.draft: an item knows what it depends on, and where its parts are."""

from __future__ import annotations

from tests.compiler.folders import Project


def kept(project: Project, name: str) -> set[str]:
    memo = project.load().memo
    (item,) = [item for key, item in memo.items.items() if key[2] == name]
    return {path.relative_to(project.root).as_posix() for path in item.files}


def test_every_file_that_an_item_names_is_depended_on(project: Project) -> None:
    project.write(
        {
            "templates/a.j2": "{% include 'b.j2' %}",
            "templates/b.j2": "{{ n }}",
            "s.yaml": "n: string\n",
            "manifests/m.yaml": "tools: {t: {description: x, input: s.yaml, template: a.j2}}\n",
        }
    )
    assert kept(project, "t") == {"templates/a.j2", "templates/b.j2", "s.yaml"}


def test_a_part_of_the_format_is_found_by_its_path(project: Project) -> None:
    """Faults deep in an item carry the exact place, also behind a merge key and in a second document."""
    project.check(
        {
            "manifests/a.yaml": """\
                x-common: &common {description: x, text: «"{{ nope }}"»}
                tools:
                  a: {<<: *common}
                ---
                tools:
                  b: {description: x, text: «"{{ nope }}"»}
                """
        },
        "undefined-name",
        "undefined-name",
    )
