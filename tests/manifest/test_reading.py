from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.diagnostics import CODES, Diagnostic
from mcpdecl.manifest.parser import parse
from tests.manifest.test_parser import bad, good


def fields(text: str) -> Any:
    return good(text).declarations[0].fields


def tool(inside: str) -> Any:
    return fields(f"tools: {{t: {{{inside}}}}}")


def one(text: str) -> Diagnostic:
    (found,) = bad(text)
    return found


def fault(inside: str) -> Diagnostic:
    return one(f"tools: {{t: {{{inside}}}}}")


# --- what is read as what -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "key", "value"),
    [
        ("text: x, title: 1.10", "title", "1.10"),
        ("text: x, title: true", "title", "true"),
        ("text: x, description: 'null'", "description", "null"),
        ("text: x, timeout: 1m30s", "timeout", "1m30s"),
        ("text: x, timeout: 0", "timeout", "0"),
        ("text: x, maxOutput: 64kB", "maxOutput", "64kB"),
        ("text: x, maxOutput: 1000", "maxOutput", "1000"),
        ("text: x, rate: 60/min", "rate", "60/min"),
        ("text: x, rate: unlimited", "rate", "unlimited"),
        ("text: x, concurrency: 3", "concurrency", 3),
        ("text: x, enabled: true", "enabled", True),
        ("text: x, enabled: env.A is defined", "enabled", "env.A is defined"),
        ("text: x, enabled: 'true'", "enabled", "true"),
        ("python: 'a.b:C.d'", "python", "a.b:C.d"),
        ("command: [a, 1.10, true, null, {raw: 007}, {arg: 1, dash: allow}]", "command", None),
        ("text: x, requires: {sampling: {}}", "requires", {"sampling": {}}),
        ("text: x, _meta: {a/b: [1, 0x10, on, null]}", "_meta", {"a/b": [1, 16, "on", None]}),
        ("text: x, input: schemas/a.json", "input", "schemas/a.json"),
        ("text: x, inputSchema: schemas/a.json", "inputSchema", "schemas/a.json"),
        ("text: x, result: lines", "result", "lines"),
        ("command: [a], result: image/png", "result", "image/png"),
        ("text: x, result: {as: json, text: '{{ result }}'}", "result", {"as": "json", "text": "{{ result }}"}),
        ("command: [a], stdin: 1.10", "stdin", "1.10"),
        ("command: [a], stdin: true", "stdin", True),
        ("command: [a], stdin: {b: [1.5, '{{ x }}']}", "stdin", {"b": [1.5, "{{ x }}"]}),
        ("command: [a], env: {A: null, B: 1.0, C: ''}", "env", {"A": "null", "B": "1.0", "C": ""}),
        ("command: [a], exitCodes: {1: {ok: x}, 255: {error: y}}", "exitCodes", None),
        ("content: [{text: x, annotations: {priority: 1}}], error: true", "error", True),
        ("content: [{link: 'a:b'}, {resource: {uri: 'a:b', text: x}}]", "content", None),
        ("content: [{image: a.png, if: x}, {audio: {data: aGk=, mimeType: audio/wav}}]", "content", None),
        ("text: x, ask: {a: Sure?, b: {message: m, fields: {c: string}, optional: true}}", "ask", None),
        ("text: x, ask: {a: {roots: true}}", "ask", {"a": {"roots": True}}),
        ("text: x, ask: {a: {form: f, message: m, when: x > 1}}", "ask", None),
        ("text: x, assert: [{that: a == 'b', message: m}]", "assert", [{"that": "a == 'b'", "message": "m"}]),
        ("text: x, vars: {v: {command: [a], result: json, timeout: 5s}}", "vars", None),
        ("text: x, icons: [{src: 'data:,', sizes: [48x48], theme: dark}]", "icons", None),
        ("text: x, annotations: {readOnlyHint: true}", "annotations", {"readOnlyHint": True}),
    ],
)  # fmt: skip
def test_values(inside: str, key: str, value: Any) -> None:
    found = tool(inside)
    if value is not None:
        assert found[key] == value and type(found[key]) is type(value)


def test_a_whole_sample() -> None:
    sample = tool(
        "text: x, ask: {a: {sample: {messages: [{user: hi}, {assistant: {text: y}}, {role: user, content: {type: text, "
        "text: 1.10}}], maxTokens: 5, temperature: 0.5, stopSequences: [007], includeContext: none, systemPrompt: s, "
        "modelPreferences: {hints: [{name: a}]}, tools: [{name: t, inputSchema: {type: object}}], "
        "toolChoice: {mode: auto}}}}"
    )["ask"]["a"]["sample"]
    assert sample["stopSequences"] == ["007"] and sample["maxTokens"] == 5 and sample["temperature"] == 0.5


def test_prompts_and_resources() -> None:
    prompt = fields(
        "prompts: {p: {arguments: {a: {enum: [b], title: 1.0, complete: {command: [ls, 1.0]}}, c?: string}, "
        "messages: [{user: x}, {assistant: {text: y}}, {user: {resource: 'a:b'}, if: c}]}}"
    )
    assert prompt["arguments"]["a"] == {"enum": ["b"], "title": "1.0", "complete": {"command": ["ls", "1.0"]}}
    resource = fields(
        "resources: {r: {uriTemplate: 'a:{b}', name: n, mimeType: text/plain, size: 3, ttl: 5m, file: x, "
        "annotations: {audience: [user], priority: 0.5, lastModified: 2026-11-30}, arguments: {b: {pattern: 'x'}}}}"
    )
    assert resource["annotations"] == {"audience": ["user"], "priority": 0.5, "lastModified": "2026-11-30"}


def test_both_spellings_of_named_groups_are_kept() -> None:
    for pattern in (r"(?<progress>\d+)%", r"(?P<progress>\d+)%", "lines"):
        assert tool(f"command: [a], progress: '{pattern}'")["progress"] == pattern


# --- what is refused, and how --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "code", "words"),
    [
        ("text: x, timeout: 30", "bad-value", "for instance 500ms"),
        ("text: x, maxOutput: 5 MB", "bad-value", "64kB"),
        ("text: x, rate: 5 per s", "bad-value", "60/min"),
        ("python: weather", "bad-value", "weather:current"),
        ("text: x, concurrency: -1", "bad-value", "at least 0"),
        ("text: x, concurrency: many", "wrong-type", "must be a whole number, not 'many'"),
        ("text: x, concurrency: 1.5", "wrong-type", "a whole number"),
        ("text: x, concurrency: '1'", "wrong-type", "a whole number"),
        ("text: x, annotations: {readOnlyHint: yes}", "wrong-type", "true or false"),
        ("text: x, annotations: []", "wrong-type", "must be a mapping, not a list"),
        ("text: x, title: ", "wrong-type", "not empty"),
        ("text: x, title: null", "wrong-type", "must be text, not null"),
        ("text: [x]", "wrong-type", "must be text, not a list"),
        ("command: git log", "wrong-type", "[git, log]"),
        ("command: []", "bad-value", "must not be empty"),
        ("command: [curl, -H, Accept: x]", "wrong-type", '"Accept: x"'),
        ("command: [a, {}]", "wrong-type", "without a known key"),
        ("command: [a, {--x: 1, y: 2}]", "unknown-key", "'y'"),
        ("command: [a, {arg: x, dash: always}]", "bad-value", "'allow'"),
        ("command: [a], exitCodes: {256: {ok: x}}", "bad-name", "from 0 to 255"),
        ("command: [a], exitCodes: {1: {okay: x}}", "wrong-type", "error, ok"),
        ("text: x, input: {type: object, properties: {}}", "schema-in-short-form", "'inputSchema'"),
        ("text: x, input: {a: strnig}", "bad-value", "'string'"),
        ("text: x, input: {a: date}", "bad-value", "Types are"),
        ("text: x, input: {a: [b, c]}", "wrong-type", "enum"),
        ("text: x, input: {a: }", "wrong-type", "a type or a JSON Schema, not empty"),
        ("text: x, input: {'?': string}", "bad-name", "no name"),
        ("text: x, input: {a: string, a?: string}", "duplicate-key", "twice"),
        ("text: x, input: [a]", "wrong-type", "a mapping or the path of a file"),
        ("text: x, input: true", "wrong-type", "a mapping or the path of a file"),
        ("text: x, inputSchema: ", "wrong-type", "empty"),
        ("text: x, input: {}, inputSchema: {}", "conflicting-keys", "'input' and 'inputSchema'"),
        ("text: x, output: {}, outputSchema: {}", "conflicting-keys", "'output' and 'outputSchema'"),
        ("text: x, ask: {a: {when: b}}", "missing-key", "'message', 'form', 'sample', 'roots'"),
        ("text: x, ask: {a: {roots: false}}", "bad-value", "must be true"),
        ("text: x, ask: {a: {roots: true, message: x}}", "conflicting-keys", "exclude"),
        ("text: x, ask: {a: {sample: {messages: [{user: x}]}}}", "missing-key", "'maxTokens'"),
        ("text: x, assert: [{that: y}]", "missing-key", "'message'"),
        ("text: x, result: xml", "bad-value", "lines"),
        ("content: [{txt: x}]", "unknown-key", "'text'"),
        ("content: [{link: {name: x}}]", "missing-key", "'uri'"),
        ("content: [{text: x, annotations: {priority: 2}}]", "bad-value", "from 0 to 1"),
        ("content: [{text: x, annotations: {audience: [users]}}]", "bad-value", "Did you mean 'user'?"),
        ("text: x, cwd: y", "missing-key", "means nothing without 'command'"),
        ("text: x, error: true", "missing-key", "without 'content'"),
        ("text: x, _meta: [a]", "wrong-type", "a mapping"),
        ("text: x, _meta: {a: .inf}", "ambiguous-value", "JSON"),
        ("text: x, vars: {v: {file: a, uri: b}}", "unknown-key", "'uri'"),
        ("text: x, mimetype: y", "unknown-key", "Known here"),
    ],
)
def test_faults(inside: str, code: str, words: str) -> None:
    found = fault(inside)
    assert found.code == code
    assert words in f"{found.message} {found.hint}"
    assert CODES[code].severity == "error"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("resources: {r: {file: x}}", "missing-key", "'uri', 'uriTemplate'"),
        ("resources: {r: {uri: a, uriTemplate: b, file: x}}", "conflicting-keys", "exclude"),
        ("resources: {r: {uri: 'a:b', file: x, arguments: {}}}", "missing-key", "without 'uriTemplate'"),
        ("prompts: {p: {messages: [{user: a, assistant: b}]}}", "conflicting-keys", "exclude"),
        ("prompts: {p: {messages: [{usr: a}]}}", "missing-key", "'user', 'assistant'"),
        ("prompts: {p: {text: x, arguments: {a: {complete: {cmd: [x]}}}}}", "unknown-key", "arguments.a.complete"),
        ("forms: {f: {}}", "missing-key", "'fields'"),
        ("forms: {f: {message: m, fields: {type: object}}}", "schema-in-short-form", "'requestedSchema'"),
        ("server: {env: [A-B]}", "bad-value", "'A-B'"),
        ("server: {nam: x}", "unknown-key", "'name'"),
        ("defaults: {title: x}", "unknown-key", "annotations"),
    ],
)
def test_faults_elsewhere(text: str, code: str, words: str) -> None:
    found = bad(text)
    assert found[0].code == code
    assert words in f"{found[0].message} {found[0].hint}"


def test_a_dash_too_many() -> None:
    for text in ("tools:\n  t:\n    command:\n      - cat\n      - -\n", "tools:\n  t:\n    command:\n      - - cat\n"):
        found = one(text)
        assert found.code == "wrong-type" and '"- -"' in found.hint


def test_a_list_item_with_a_colon() -> None:
    found = one("tools:\n  t:\n    command:\n      - curl\n      - Accept: x\n")
    assert "tools.t.command[1]" in found.message and "Quote the whole word" in found.hint


def test_what_was_reported_as_misspelt_is_not_reported_again() -> None:
    assert one("tools: {t: {text: x, timeout: {{ x }}}}").code == "unquoted-template"
    assert one("tools: *lost").code == "bad-alias"


def test_a_type_named_type_is_a_property() -> None:
    assert tool("text: x, input: {type: string}")["input"] == {"type": "string"}


def test_folded_text_for_people_may_have_breaks() -> None:
    assert not parse(b"tools:\n  t:\n    text: >\n      a\n        b\n", "m.yaml")[1]
