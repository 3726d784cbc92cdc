"""Tests of mcpdecl.compiler.tools: descriptors as written, and what a tool may not be."""

from __future__ import annotations

import pytest

from tests.compiler.folders import Project, wire


def test_the_schema_that_is_written_is_the_schema_that_is_served(project: Project) -> None:
    catalogue = project.catalogue(
        """\
        tools:
          order:
            title: Order
            description: Order something.
            annotations: {readOnlyHint: false, title: O}
            icons: [{src: "https://a.test/i.png", sizes: [48x48]}]
            _meta: {com.example/x: 1}
            inputSchema:
              $schema: https://json-schema.org/draft/2020-12/schema
              type: object
              $defs: {address: {$anchor: address, type: object}}
              properties: {to: {$ref: "#/$defs/address"}, n: {type: integer}}
              allOf: [{anyOf: [{required: [to]}, {required: [n]}]}]
              if: {required: [n]}
              then: {properties: {n: {minimum: 1}}}
              else: {}
              additionalProperties: false
            output: {id: string}
            python: nothing:here
        """,
        resolve=False,
    )
    tool = wire(catalogue.tools["order"].wire)
    assert list(tool) == [
        "name",
        "title",
        "description",
        "icons",
        "inputSchema",
        "outputSchema",
        "annotations",
        "_meta",
    ]
    assert tool["inputSchema"]["$defs"] == {"address": {"$anchor": "address", "type": "object"}}
    assert {"allOf", "if", "then", "else", "$schema"} <= set(tool["inputSchema"])
    assert tool["outputSchema"] == {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    assert tool["annotations"] == {"readOnlyHint": False, "title": "O"}


def test_the_short_form_is_closed_and_our_own_words_stay_home(project: Project) -> None:
    (project.root / "docs").mkdir()
    catalogue = project.catalogue(
        """\
        tools:
          show:
            description: Show a file.
            input: {path: {type: string, within: docs}, n?: integer}
            command: [cat, "{{ path }}", "{{ n }}"]
        """
    )
    tool = catalogue.tools["show"]
    assert wire(tool.wire)["inputSchema"] == {
        "type": "object",
        "properties": {"path": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    }
    assert [(c.name, c.label) for c in tool.handler.confined] == [("path", "docs")]


def test_a_tool_without_parameters_accepts_only_an_empty_object(project: Project) -> None:
    # spec: server/tools#tool
    catalogue = project.catalogue("tools: {a: {description: x, text: y}}\n")
    assert wire(catalogue.tools["a"].wire)["inputSchema"] == {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("missing-description", "tools:\n  «a»:\n    text: x\n"),
        ("not-an-object", "tools:\n  a:\n    description: x\n    text: x\n    inputSchema: «{type: array}»\n"),
        (
            "bad-header-parameter",
            "tools:\n  a:\n    description: x\n    text: x\n    input: {n: {type: number, x-mcp-header: «N»}}\n",
        ),
        ("invalid-schema", "tools:\n  a:\n    description: x\n    text: x\n    input: {n: {type: «strnig»}}\n"),
        ("invalid-schema", "tools:\n  a:\n    description: x\n    text: x\n    output: {n: {minimum: «x»}}\n"),
        ("remote-ref", "tools:\n  a:\n    description: x\n    text: x\n    input: {n: {$ref: «https://a.test/b»}}\n"),
        (
            "bad-default",
            "tools:\n  a:\n    description: x\n    text: x\n    input: {n: {type: integer, default: «x»}}\n",
        ),
        (
            "unknown-dialect",
            "tools:\n  a:\n    description: x\n    text: x\n    inputSchema: {$schema: «x:y», type: object}\n",
        ),
        (
            "unknown-format",
            "tools:\n  a:\n    description: x\n    text: x\n    input: {n: {type: string, format: «datetime»}}\n",
        ),
        (
            "unanchored-pattern",
            "tools:\n  a:\n    description: x\n    command: [ls, '{{ n }}']\n"
            "    input: {n: {type: string, pattern: «'[a-z]+'»}}\n",
        ),
    ],
)
def test_faults_and_their_places(project: Project, code: str, text: str) -> None:
    project.check(text, code)


def test_J14_a_pattern_that_is_not_read_by_a_program_is_the_authors_business(project: Project) -> None:
    project.check("tools: {a: {description: x, text: '{{ n }}', input: {n: {type: string, pattern: '[a-z]+'}}}}\n")
