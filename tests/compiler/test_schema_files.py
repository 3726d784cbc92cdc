"""Tests of mcpdecl.compiler.schema_files: schemas in files of their own."""

from __future__ import annotations

import pytest

from tests.compiler.folders import Project, wire

TOOL = "tools:\n  a:\n    description: x\n    {word}: {file}\n    text: y\n"


def tool(word: str, file: str) -> str:
    return TOOL.format(word=word, file=file)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.json", '{"type": "object", "properties": {"n": {"type": "integer"}}}'),
        ("s.yaml", "type: object\nproperties: {n: {type: integer}}\n"),
    ],
)
def test_a_whole_schema_in_json_or_yaml(project: Project, name: str, text: str) -> None:
    catalogue = project.catalogue({f"schemas/{name}": text, "manifests/a.yaml": tool("inputSchema", f"schemas/{name}")})
    served = wire(catalogue.tools["a"].wire)["inputSchema"]
    assert served == {"type": "object", "properties": {"n": {"type": "integer"}}}


def test_a_short_form_in_a_file(project: Project) -> None:
    catalogue = project.catalogue({"s.yaml": "n?: integer\nw: string\n", "manifests/a.yaml": tool("input", "s.yaml")})
    served = wire(catalogue.tools["a"].wire)["inputSchema"]
    assert (served["required"], served["additionalProperties"]) == (["w"], False)


@pytest.mark.parametrize(
    ("code", "manifest", "schema"),
    [
        ("invalid-schema", tool("inputSchema", "s.yaml"), "type: object\nproperties:\n  n: {type: «strnig»}\n"),
        ("invalid-schema", tool("input", "s.yaml"), "n: {minimum: «x»}\n"),
        ("remote-ref", tool("inputSchema", "s.yaml"), "type: object\nproperties: {n: {$ref: «'http://a.test/b'»}}\n"),
        ("missing-file", tool("inputSchema", "«none.yaml»"), "type: object\n"),
        ("outside-root", tool("inputSchema", "«../s.yaml»"), "type: object\n"),
        ("bad-schema-file", tool("inputSchema", "«s.yaml»"), "[1, 2]\n"),
        ("duplicate-key", tool("inputSchema", "s.yaml"), "type: object\n«type»: object\n"),
    ],
)
def test_faults_are_placed_in_the_file_they_are_in(project: Project, code: str, manifest: str, schema: str) -> None:
    project.check({"manifests/a.yaml": manifest, "s.yaml": schema}, code)


def test_W15_an_edited_schema_file_compiles_its_tool_again(project: Project) -> None:
    project.catalogue(
        {
            "s.yaml": "n: integer\n",
            "manifests/a.yaml": tool("input", "s.yaml"),
            "manifests/b.yaml": "tools: {b: {description: x, text: y}}\n",
        }
    )
    project.write({"s.yaml": "n: string\n"})
    assert project.counts() == (0, 1)
