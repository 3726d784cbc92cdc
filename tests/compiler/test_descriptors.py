"""Tests of mcpdecl.compiler.descriptors."""

from __future__ import annotations

from tests.compiler.folders import Project, wire


def test_Y10_text_of_any_script_round_trips(project: Project) -> None:
    text = "tools: {cafe: {description: 'Café — “menu” 日本', text: x}}\n"
    tool = project.catalogue(text).tools["cafe"]
    assert wire(tool.wire)["description"] == "Café — “menu” 日本"


def test_only_what_was_written_is_there(project: Project) -> None:
    tool = project.catalogue("tools: {a: {description: x, text: x}}\n").tools["a"]
    assert set(wire(tool.wire)) == {"name", "description", "inputSchema"}
