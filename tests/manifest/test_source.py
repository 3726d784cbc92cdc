from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcpdecl.diagnostics import Diagnostic, Span, errors
from mcpdecl.manifest import source
from mcpdecl.manifest.source import Mapping, Node, Scalar, Sequence, compose, decode
from tests.manifest.test_parser import MUTATED, TOKENS, inside


def data(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [data(item) for item in node.items]
    return {key: data(value) for key, (_, value) in node.entries.items()}


def read(text: str) -> Any:
    nodes, found = compose(text, "m.yaml")
    assert not found
    return data(nodes[0])


def only(text: str) -> Diagnostic:
    (found,) = compose(text, "m.yaml")[1]
    return found


def test_scalars_keep_their_source_text() -> None:
    assert read("[1.10, 0x1F, yes, ~, 'a', \"b\\n\"]") == ["1.10", "0x1F", "yes", "~", "a", "b\n"]


def test_every_node_has_its_place() -> None:
    ((node,), _) = compose("é: [a, bc]\nd:\n  - e: |\n      x\n\n  - 😀z\n", "m.yaml")
    assert isinstance(node, Mapping)
    key, value = node.entries["é"]
    assert key.span == Span("m.yaml", 0, 0, 0, 1)
    assert value.span == Span("m.yaml", 0, 3, 0, 10)
    items = node.get("d")
    assert isinstance(items, Sequence)
    assert items.span == Span("m.yaml", 2, 2, 5, 6)
    assert items.items[1].span == Span("m.yaml", 5, 4, 5, 6)


def test_a_collection_ends_where_its_last_value_ends() -> None:
    ((node,), _) = compose("a: {b: 1}\nc:\n  d: e\n\n# end\n", "m.yaml")
    assert node.span == Span("m.yaml", 0, 0, 2, 6)


def test_styles_tell_pairs_from_mappings() -> None:
    ((node,), _) = compose("[-H, Accept: x, {a: b}]", "m.yaml")
    assert isinstance(node, Sequence)
    assert [item.style for item in node.items] == ["", "pair", "flow"]


def test_documents_are_separate_and_empty_ones_left_out() -> None:
    nodes, found = compose("a: &x 1\n---\n---\nb: *x\n---\n", "m.yaml")
    assert [data(node) for node in nodes] == [{"a": "1"}, {"b": "*x"}]
    assert [d.code for d in found] == ["bad-alias"]  # anchors hold for their document


# --- anchors and merge keys --------------------------------------------------------------------------------------


def test_merge_keys() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  z: 3\nd: {<<: *a, w: 4}\n"
    found = read(text)
    assert found["c"] == {"z": "3", "x": "1", "y": "1"}
    assert found["d"] == {"w": "4", "x": "1", "y": "1"}


def test_a_quoted_merge_key_is_a_key() -> None:
    assert read("{'<<': 1}") == {"<<": "1"}


@pytest.mark.parametrize("text", ["<<: 1", "<<: [1]", "a: &a [x]\n<<: *a"])
def test_only_mappings_merge(text: str) -> None:
    assert only(text).code == "bad-alias"


def test_two_merge_keys_are_a_duplicate() -> None:
    found = only("a: &a {x: 1}\nb: {<<: *a, <<: *a}")
    assert found.code == "duplicate-key" and found.hint == "Write <<: [*first, *second]."


def test_an_alias_needs_an_anchor() -> None:
    found = only("a: *glob\n")
    assert found.span == Span("m.yaml", 0, 3, 0, 8)
    assert found.message == "There is no &glob above." and '"*glob"' in found.hint


@pytest.mark.parametrize("text", ["&a [*a]", "&a {b: *a}", "&a {<<: *a}", "x: &a [[*a]]"])
def test_a_self_reference_is_a_fault(text: str) -> None:
    assert "inside what it names" in compose(text, "m.yaml")[1][0].message


def test_aliases_cannot_multiply_without_bound() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    assert only("\n".join(rows)).code == "manifest-too-large"


def test_aliases_count_for_depth() -> None:
    rows = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 70)]
    assert only("\n".join(rows)).code == "manifest-too-large"


def test_the_number_of_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_NODES", 100)
    assert only("[" + "[a, b], " * 50 + "]").code == "manifest-too-large"


# --- keys ---------------------------------------------------------------------------------------------------------


def test_keys_are_text() -> None:
    assert read("{on: 1, 1.10: 2, true: 3, 'null': 4}") == {"on": "1", "1.10": "2", "true": "3", "null": "4"}


@pytest.mark.parametrize("text", ["? [a]\n: b", "{~: 1}", "null: 1", "? {a: b}\n: 1"])
def test_a_key_that_is_no_text(text: str) -> None:
    assert only(text).code == "bad-key"


def test_a_duplicate_key_gives_both_places() -> None:
    found = only("a: 1\n'a': 2\n")
    assert found.span == Span("m.yaml", 1, 0, 1, 3)
    assert found.related == (("first written here", Span("m.yaml", 0, 0, 0, 1)),)


# --- the usual mistakes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a: {{ x }}", "a: [b, {{ x }}]", "- {{ x.y }}", "{{ x }}: 1", "a: {{ x }} b"])
def test_an_unquoted_template(text: str) -> None:
    found = only(text)
    assert found.code == "unquoted-template" and "Quote" in found.hint
    assert found.span is not None and found.span.column == text.index("{{")


def test_a_comment_that_cuts_a_value_short() -> None:
    found = only("title: Issue #5\n")
    assert found.code == "swallowed-comment" and found.severity == "warning"
    assert "'Issue'" in found.message and found.span == Span("m.yaml", 0, 7, 0, 12)


@pytest.mark.parametrize("text", ["a: b # c", "a: b #", "a: b   #c", "a: 'b' #c", "a: b #!x", "a: b#c", "a: # c\n  b"])
def test_an_ordinary_comment(text: str) -> None:
    assert not compose(text, "m.yaml")[1]


@pytest.mark.parametrize("text", ["a: !!str 1", "a: !x [1]", "a: !!python/object:os.system {}", "! a"])
def test_tags_are_not_used(text: str) -> None:
    assert [d.code for d in compose(text, "m.yaml")[1]] == ["yaml-tag"]


# --- bytes --------------------------------------------------------------------------------------------------------


def test_decode_takes_utf8_with_or_without_bom() -> None:
    assert decode("é".encode(), "m") == ("é", [])
    assert decode("é".encode("utf-8-sig"), "m") == ("é", [])


@pytest.mark.parametrize(
    ("raw", "offset", "span"),
    [
        (b"a: \xe9\n", 3, Span("m", 0, 3, 0, 4)),
        (b"\xef\xbb\xbfa: \xc3\xa9\nb: \xff\n", 12, Span("m", 1, 3, 1, 4)),
        ("a".encode("utf-16-le"), None, None),
        ("a".encode("utf-16"), 0, Span("m")),
        (b"a: \xed\xa0\x80", 3, Span("m", 0, 3, 0, 4)),
    ],
)
def test_decode_tells_the_byte_offset(raw: bytes, offset: int | None, span: Span | None) -> None:
    text, found = decode(raw, "m")
    if offset is None:
        assert text == "a\x00" and compose(text, "m")[1][0].code == "yaml-syntax"
        return
    assert text == "" and found[0].code == "not-utf8"
    assert f"byte offset {offset}" in found[0].message and found[0].span == span


def test_decode_bounds_the_size() -> None:
    assert decode(b"#" * (source.MAX_BYTES + 1), "m")[1][0].code == "manifest-too-large"


def test_json_reads_like_json() -> None:
    text = '{\n\t"a":1,"b":[true,null],"c":"\\u00e9\\ud83d\\ude00\\\\ud83d\\/"}'
    nodes, found = compose(text, "m.json")
    assert not found and data(nodes[0])["c"] == "é😀\\ud83d/"


@example("|\n")
@example("a: |\u2028")
@given(st.lists(st.sampled_from(TOKENS)).map("".join) | MUTATED)
def test_every_place_lies_in_the_text(text: str) -> None:
    text = text.removeprefix("\ufeff")

    def check(node: Node) -> None:
        assert inside(node.span, text)
        if isinstance(node, Sequence):
            for item in node.items:
                check(item)
        if isinstance(node, Mapping):
            for key, value in node.entries.values():
                check(key)
                check(value)

    nodes, found = compose(text, "m.yaml")
    for node in nodes if not errors(found) else []:
        check(node)
