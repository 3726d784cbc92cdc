"""Tests of mcpdecl.compiler.settings: the ``server`` section."""

from __future__ import annotations

import pytest

from tests.compiler.folders import Project


def test_all_of_it(project: Project) -> None:
    project.environ |= {"REGION": "eu", "HOST": "mcp.test"}
    settings = project.catalogue(
        """\
        server:
          name: s
          title: S
          version: 1.10
          description: d
          websiteUrl: https://a.test
          instructions: Use {{ env.REGION }}.
          env: [REGION]
          hosts: ["{{ env.HOST }}"]
          origins: [https://b.test]
          streamAfter: 250ms
          ttl: 1m
        tools: {a: {description: x, text: "{{ env.REGION }}"}}
        """
    ).settings
    assert settings.info == {
        "name": "s", "title": "S", "version": "1.10", "description": "d", "websiteUrl": "https://a.test",
    }  # fmt: skip
    assert settings.instructions == "Use eu."
    assert settings.env == {"REGION": "eu"}
    assert (settings.hosts, settings.origins) == (("mcp.test",), ("https://b.test",))
    assert (settings.stream_after, settings.ttl_ms) == (0.25, 60_000)


def test_without_a_section_the_folder_gives_the_name(project: Project) -> None:
    settings = project.catalogue("tools: {a: {description: x, text: y}}\n").settings
    assert settings.info == {"name": project.root.name, "version": "0"}
    assert settings.env == {}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("bad-value", "server: {name: s, streamAfter: «soon»}\n"),
        ("unset-variable", "server: {name: s, instructions: «'{{ env.NOWHERE }}'»}\n"),
    ],
)
def test_faults(project: Project, code: str, text: str) -> None:
    project.check(text + "tools: {a: {description: x, text: y}}\n", code)


def test_the_environment_is_not_open_to_templates_as_a_whole(project: Project) -> None:
    project.environ["SECRET_THING"] = "hunter2"
    settings = project.catalogue("tools: {a: {description: x, text: '{{ env | length }}'}}\n").settings
    assert "SECRET_THING" not in settings.env
