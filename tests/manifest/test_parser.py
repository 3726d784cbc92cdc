from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcpdecl.diagnostics import Diagnostic, Span, render
from mcpdecl.manifest.declarations import Manifest
from mcpdecl.manifest.parser import parse

EXAMPLE = Path(__file__).parents[2] / "manifests"

COMMITS = """\
server: {name: repo-helper, version: 1.10}

tools:
  find_commits:
    description: Search the commit log.
    annotations: {readOnlyHint: true}
    input:
      word: {type: string, minLength: 1, description: Text to look for}
      author?: string
      limit?: {type: integer, minimum: 1, maximum: 100, default: 20}
    command:
      - git
      - log
      - --oneline
      - --grep=: "{{ word }}"
        --author=: "{{ author }}"
        --max-count=: "{{ limit }}"
    result: lines
"""

BRANCHES = """\
tools:
  delete_branch:
    description: Delete a local branch.
    annotations: {destructiveHint: true}
    input: {branch: string}
    vars:
      lost: {command: [git, log, --oneline, "HEAD..{{ branch }}"]}
    ask:
      confirm:
        when: lost
        message: "Only {{ branch }} has these commits:\\n{{ lost }}\\nDelete it?"
        declined: "Kept {{ branch }}."
    command: [git, branch, -D, --, "{{ branch }}"]
"""

REVIEW = """\
prompts:
  review:
    description: Review the staged change.
    arguments:
      language: {enum: [python, rust, go]}
      guide?: {complete: {command: [ls, docs/guides]}}
    vars:
      diff: {command: [git, diff, --staged]}
    messages:
      - user: {template: review.md.j2}
      - user: {resource: "docs://guides/{{ guide }}"}
      - assistant: I will read the change before I answer.

resources:
  commit:
    uriTemplate: repo://commit/{sha}
    arguments:
      sha: {complete: {command: [git, log, --format=%H, -50]}}
    command: [git, show, --stat, "{{ sha }}"]
"""

TESTS = """\
tools:
  run_tests:
    description: Run the test suite, or a part of it.
    input:
      path?: {type: string, within: tests, description: A file or folder of tests}
      verbose?: boolean
    command: [pytest, {--verbose: "{{ verbose }}"}, "{{ path }}"]
    progress: '\\[ *(?<progress>\\d+)%\\]'
    exitCodes:
      1: {ok: Some tests failed.}
      5: {ok: There were no tests.}
    timeout: 20m
    concurrency: 1
"""

SHOWN = (COMMITS, BRANCHES, REVIEW, TESTS)


def good(text: str) -> Manifest:
    manifest, found = parse(text.encode(), "m.yaml")
    assert manifest is not None, [render(d, lambda _: text) for d in found]
    assert not found
    return manifest


def bad(text: str) -> list[Diagnostic]:
    manifest, found = parse(text.encode(), "m.yaml")
    assert manifest is None
    return list(found)


def inside(span: Span, text: str) -> bool:
    rows = text.splitlines() or [""]
    over = len((text + ".").splitlines()) - 1, 0  # behind the last line break, where an empty block ends

    def within(line: int, column: int) -> bool:
        return 0 <= line < len(rows) and 0 <= column <= len(rows[line])

    start, end = (span.line, span.column), (span.end_line, span.end_column)
    return within(*start) and (within(*end) or end == over) and start <= end


@pytest.mark.parametrize("text", SHOWN)
def test_the_shown_manifests_parse(text: str) -> None:
    assert good(text).declarations


@pytest.mark.parametrize("path", sorted(EXAMPLE.glob("*.yaml")), ids=lambda p: p.name)
def test_the_example_project_parses(path: Path) -> None:
    manifest, found = parse(path.read_bytes(), path.name)
    assert manifest is not None and not found


def test_fields_are_plain_data_in_the_order_written() -> None:
    tool = good(COMMITS).declarations[0]
    assert (tool.kind, tool.name) == ("tool", "find_commits")
    assert list(tool.fields) == ["description", "annotations", "input", "command", "result"]
    assert tool.fields["input"]["author?"] == "string"
    assert tool.fields["input"]["limit?"]["default"] == 20
    assert tool.fields["command"][3] == {
        "--grep=": "{{ word }}",
        "--author=": "{{ author }}",
        "--max-count=": "{{ limit }}",
    }


def test_every_kind_is_declared() -> None:
    text = "tools: {a: {text: x}}\nprompts: {b: {text: x}}\nresources: {c: {uri: 'x:c', text: x}}\n"
    manifest = good(text + "forms: {d: {message: m, fields: {e: string}}}\nx-own: [1, {2: 07}]\n")
    assert [(d.kind, d.name) for d in manifest.declarations] == [
        ("tool", "a"),
        ("prompt", "b"),
        ("resource", "c"),
        ("form", "d"),
    ]


def test_the_sections_have_places() -> None:
    manifest = good("server:\n  name: a\n  version: 1.10\ndefaults: {timeout: 5s}\n")
    assert manifest.server is not None and manifest.defaults is not None
    assert manifest.server.fields == {"name": "a", "version": "1.10"}
    assert manifest.server.place.span("version") == Span("m.yaml", 2, 11, 2, 15)
    assert manifest.defaults.fields == {"timeout": "5s"}


def test_nothing_declares_nothing() -> None:
    for text in ("", "# only a comment\n", "---\n", "\ufeff"):
        assert good(text).declarations == ()


@pytest.mark.parametrize("text", ["[1, 2]", "hello", "- tools"])
def test_a_manifest_is_a_mapping(text: str) -> None:
    (found,) = bad(text)
    assert found.code == "wrong-type" and found.message.startswith("the manifest must be a mapping")


def test_a_later_format_needs_a_newer_mcpdecl() -> None:
    (found,) = bad("mcpdecl: 2\nnew-key: 1\n")
    assert found.code == "newer-format" and "needs a newer mcpdecl" in found.message
    assert good("mcpdecl: 1\n").declarations == ()


@pytest.mark.parametrize("key", ["secrets", "scopes", "http"])
def test_a_top_level_key_without_a_capability_is_unknown(key: str) -> None:
    (found,) = bad(f"{key}: {{a: b}}\n")
    assert found.code == "unknown-key"


@pytest.mark.parametrize("key", ["scopes", "http", "shell", "folder", "sandbox", "examples", "select"])
def test_an_item_key_without_a_capability_is_unknown(key: str) -> None:
    (found,) = bad(f"tools: {{a: {{text: x, {key}: y}}}}\n")
    assert (found.code, found.span) == ("unknown-key", Span("m.yaml", 0, 21, 0, 21 + len(key)))


def test_all_faults_are_reported_at_once() -> None:
    text = "tools:\n  a: {txt: 1, timeout: 5}\n  b: {command: ls}\nprompts: []\nfoo: 1\n"
    assert [d.code for d in bad(text)] == ["unknown-key", "bad-value", "wrong-type", "wrong-type", "unknown-key"]


def test_spelling_and_meaning_are_reported_together() -> None:
    assert [d.code for d in bad("tools: {a: {text: x, text: y, foo: 1}}")] == ["duplicate-key", "unknown-key"]


def test_a_warning_comes_beside_a_manifest() -> None:
    manifest, found = parse(b"tools: {db.query: {text: x}}", "m.yaml")
    assert manifest is not None and [d.code for d in found] == ["risky-name"]


def test_J12_names() -> None:
    text = f"tools: {{db.query: {{text: x}}, New Tool: {{text: x}}, {'a' * 65}: {{text: x}}, {'b' * 129}: {{text: x}}}}"
    assert [d.code for d in bad(text)] == ["bad-name", "bad-name", "risky-name", "risky-name"]
    (found,) = parse("tools: {ok: {text: x, input: {Straße nr.: string}}}".encode(), "m.yaml")[1]
    assert found.code == "risky-name" and "Straße nr." in found.message


def test_Y02_on_is_a_key() -> None:
    text = (
        "tools:\n  t:\n    text: x\n    inputSchema:\n      type: object\n"
        "      properties: {on: {type: boolean}, off: {type: integer}}\n      required: [on]\n"
    )
    schema = good(text).declarations[0].fields["inputSchema"]
    assert schema["properties"] == {"on": {"type": "boolean"}, "off": {"type": "integer"}}
    assert schema["required"] == ["on"]
    for key in ("null", "~", "[a]", "{a: b}"):
        (found,) = bad(f"tools:\n  t:\n    text: x\n    input:\n      ? {key}\n      : string\n")
        assert found.code == "bad-key" and found.span is not None and found.span.line == 4


def test_Y03_no_octal_and_no_base_60() -> None:
    text = "tools: {t: {command: [fwd, 22:22, 3306:3306, 010], input: {zip: {type: string, default: 02142}}}}"
    fields = good(text).declarations[0].fields
    assert fields["command"] == ["fwd", "22:22", "3306:3306", "010"]
    assert fields["input"]["zip"]["default"] == "02142"
    found = bad("tools: {t: {text: x, input: {unit: {enum: [07, 08, 09]}}}}")
    assert [d.code for d in found] == ["ambiguous-value"] * 3
    assert all("Quote this value" in d.hint for d in found)


def test_Y06_a_duplicate_key_gives_both_places() -> None:
    (found,) = bad("tools:\n  b:\n    env: {MODE: fast}\n    command: [make]\n    env: {CC: clang}\n")
    assert found.code == "duplicate-key" and found.span == Span("m.yaml", 4, 4, 4, 7)
    assert found.related == (("first written here", Span("m.yaml", 2, 4, 2, 7)),)
    text = "x-a: &a {timeout: 5s, text: y}\ntools:\n  b:\n    <<: *a\n    text: x\n"
    assert good(text).declarations[0].fields == {"text": "x", "timeout": "5s"}


def test_Y10_utf8_with_or_without_bom() -> None:
    text = "tools: {cafe: {text: x, description: 'Café — “menu”'}}"
    for data in (text.encode(), text.encode("utf-8-sig")):
        manifest, found = parse(data, "m.yaml")
        assert manifest is not None and not found
        assert manifest.declarations[0].fields["description"] == "Café — “menu”"
    for data, offset in ((text.encode("latin-1", "replace"), 41), (text.encode("utf-16"), 0)):
        manifest, (fault,) = parse(data, "m.yaml")
        assert manifest is None and fault.code == "not-utf8" and f"byte offset {offset}" in fault.message


def test_Y11_several_documents() -> None:
    manifest = good("tools: {a: {text: x}}\n---\ntools: {b: {text: x}}\n---\n")
    assert [d.name for d in manifest.declarations] == ["a", "b"]
    (found,) = bad("server: {name: a}\n---\nserver: {name: b}\n")
    assert found.code == "duplicate-key" and found.span == Span("m.yaml", 2, 0, 2, 6)
    assert found.related == (("first written here", Span("m.yaml", 0, 0, 0, 6)),)


def test_Y12_a_misspelt_key_names_the_nearest() -> None:
    text = "tools:\n  rm:\n    command: [rm]\n    timeot: 5s\n    input: {f: string}\n    readOnlyHint: true\n"
    first, second = bad(text)
    assert (first.code, first.span) == ("unknown-key", Span("m.yaml", 3, 4, 3, 10))
    assert "tools.rm" in first.message and "'timeout'" in first.hint
    assert second.hint == "'readOnlyHint' belongs in 'annotations'."


def test_Y14_a_folded_word_that_keeps_its_line_breaks_is_warned_of() -> None:
    text = "tools:\n  rel:\n    command:\n      - printf\n      - >\n        one\n          two\n"
    manifest, (found,) = parse(text.encode(), "m.yaml")
    assert found.code == "folded-newlines" and found.span is not None and found.span.line == 4
    assert manifest is not None and manifest.declarations[0].fields["command"][1] == "one\n  two\n"
    assert not parse(text.replace("  two", "two").encode(), "m.yaml")[1]


def test_Y15_text_stays_as_it_is_written() -> None:
    text = (
        "server: {name: demo, version: 1.10}\ntools:\n  t:\n    input: {sha: {type: string, default: 57785654}, "
        "v: {type: string, enum: [1.10, 1.20, 0x1F, 1_000, 57e3]}}\n"
        "    command: [run, 1.10, 0x1F, 1_000, {--v=: 1.10, --w: [57e3, true, null]}]\n    env: {A: 1.10}\n"
    )
    manifest = good(text)
    fields = manifest.declarations[0].fields
    assert manifest.server is not None and manifest.server.fields["version"] == "1.10"
    assert fields["input"]["sha"]["default"] == "57785654"
    assert fields["input"]["v"]["enum"] == ["1.10", "1.20", "0x1F", "1_000", "57e3"]
    assert fields["command"] == ["run", "1.10", "0x1F", "1_000", {"--v=": "1.10", "--w": ["57e3", True, None]}]
    assert fields["env"] == {"A": "1.10"}


@pytest.mark.parametrize("depth", [65, 3000, 20000])
def test_Y17_deep_nesting_is_an_ordinary_fault(depth: int) -> None:
    for text in ("tools: " + "[" * depth, "tools: " + "{a: " * depth, "- " * depth + "a"):
        (found,) = bad(text)
        assert found.code == "manifest-too-large"
        assert found.span is not None and inside(found.span, text)


def test_json_is_read_with_its_surrogate_pairs() -> None:
    data = b'{"tools": {"t": {"text": "\\ud83d\\ude00 \\\\ud83d \\/", "description": "x"}}}'
    manifest, found = parse(data, "m.json")
    assert manifest is not None and not found
    assert manifest.declarations[0].fields["text"] == "\U0001f600 \\ud83d /"


# --- nothing that can be written makes the parser fail ------------------------------------------------------------

WORDS = (
    "tools prompts resources forms server a t1 text command input inputSchema type string object default null true "
    "02142 .inf 1.10 {{ }} {% %} [ ] { } : - - , # | > ' \" & * &a *a <<: !!str ? ~ @ % \\ --- ... é 😀 \t"
)
BREAKS = ("\n", "\n  ", "\n    ", ": ", " #x", "\u2028", "\x85", "\ufeff", "\r\n", "\x07", "- ", "*a", "\u202e")
TOKENS = [*WORDS.split(" "), *BREAKS]


def mutate(text: str, cuts: list[tuple[int, int, str]]) -> str:
    for at, length, put in cuts:
        place = at % (len(text) + 1)
        text = text[:place] + put + text[place + length :]
    return text


MUTATED = st.builds(
    mutate,
    st.sampled_from(SHOWN),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 12), st.sampled_from(TOKENS) | st.text(max_size=4))),
)


@given(st.text() | st.lists(st.sampled_from(TOKENS)).map("".join) | MUTATED)
@example("a:")
@example("tools: {{ x }}")
@example("tools: |\n  x")
@example("&a : *a")
@example("tools: {t: {text: x, input: {a?: string, a: string}}}")
def test_any_text_gives_a_manifest_or_places_in_it(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    manifest, found = parse(data, "m.yaml")
    assert (manifest is None) == any(d.severity == "error" for d in found)
    shown = data.decode("utf-8", "replace").removeprefix("\ufeff")
    for fault in found:
        assert fault.message and fault.span is not None
        assert inside(fault.span, shown)
        assert all(inside(place, shown) for _, place in fault.related)
        assert render(fault, lambda _: shown)


@given(st.binary())
def test_any_bytes_give_a_manifest_or_diagnostics(data: bytes) -> None:
    for file in ("m.yaml", "m.json"):
        manifest, found = parse(data, file)
        assert manifest is not None or found
