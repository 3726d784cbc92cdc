"""Tests of mcpdecl.compiler.written: how defaults merge, and where each part was written."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.compiler.written import Finding, Report, merge
from tests.compiler.folders import Project, wire


@pytest.mark.parametrize(
    ("under", "over", "expected"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"y": 2, "z": 2}}, {"a": {"x": 1, "y": 2, "z": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"x": 1}}, {"a": "text"}, {"a": "text"}),
        ({"a": 1}, {"a": None}, {"a": None}),
    ],
)
def test_merging(under: Any, over: Any, expected: Any) -> None:
    assert merge(under, over) == expected


SHARED = {
    "manifests/server.yaml": """\
        server:
          name: s
          defaults:
            timeout: 10s
            maxOutput: 1kB
            rate: 5/s
            annotations: {readOnlyHint: true, openWorldHint: false}
            env: {A: server, B: server, C: server}
            cwd: server
        """,
    "manifests/tools.yaml": """\
        defaults:
          timeout: 20s
          maxOutput: 2kB
          annotations: {idempotentHint: true, openWorldHint: true}
          env: {B: file, C: file}
        tools:
          a:
            description: x
            timeout: 30s
            annotations: {openWorldHint: false}
            command: [ls, "{{ v }}"]
            env: {C: item}
            vars:
              v: {command: [ls]}
        prompts:
          p: {messages: [{user: hi}]}
        """,
    "manifests/others.yaml": """\
        tools:
          b: {description: x, text: x}
        resources:
          r: {uri: "a://b", text: x}
        """,
}


def test_server_defaults_then_defaults_then_the_item(project: Project) -> None:
    catalogue = project.catalogue(SHARED)
    a, b, p = catalogue.tools["a"], catalogue.tools["b"], catalogue.prompts["p"]
    assert (a.handler.limits.timeout, a.handler.limits.max_output, a.handler.limits.rate.count) == (30.0, 2000, 5.0)
    assert (b.handler.limits.timeout, b.handler.limits.max_output) == (10.0, 1000)
    assert (p.handler.limits.timeout, catalogue.resources["a://b"].handler.limits.timeout) == (20.0, 10.0)
    assert wire(a.wire)["annotations"] == {"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True}
    assert wire(b.wire)["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert "annotations" not in wire(p.wire)
    assert "annotations" not in wire(catalogue.resources["a://b"].wire)


def test_the_environment_of_programs_merges_by_key_in_vars_too(project: Project) -> None:
    handler = project.catalogue(SHARED).tools["a"].handler
    env = handler.binding.env.value({})  # type: ignore[attr-defined]
    inner = handler.vars["v"].binding.env.value({})  # type: ignore[attr-defined]
    assert env == {"A": "server", "B": "file", "C": "item"}
    assert inner == {"A": "server", "B": "file", "C": "file"}
    assert handler.binding.cwd.text({}) == "server"  # type: ignore[attr-defined]


def test_defaults_of_a_completion(project: Project) -> None:
    catalogue = project.catalogue("""\
        defaults: {env: {A: "1"}}
        prompts:
          p: {arguments: {a: {complete: {command: [ls]}}}, messages: [{user: "{{ a }}"}]}
        """)
    complete = catalogue.prompts["p"].arguments["a"].complete
    assert complete is not None
    assert complete.binding.env.value({}) == {"A": "1"}  # type: ignore[attr-defined]


def test_a_fault_of_a_default_is_placed_in_its_file_once_for_each_place(project: Project) -> None:
    files = dict(SHARED)
    files["manifests/server.yaml"] = files["manifests/server.yaml"].replace("A: server", 'A: «"{{ nope }}"»')
    files["manifests/tools.yaml"] = files["manifests/tools.yaml"].replace("C: file", 'C: «"{{ neither }}"»')
    project.check(files, "undefined-name", "undefined-name")


def test_a_report_knows_where_it_stands() -> None:
    report = Report()
    report.below("a", 1)("bad-value", "m", "b", hint="h")
    report.key("unused-name", "n", "c")
    assert report.findings == [
        Finding("bad-value", "m", ("a", 1, "b"), "h"),
        Finding("unused-name", "n", ("c",), on_key=True),
    ]
    assert [finding.is_error for finding in report.findings] == [True, False]
