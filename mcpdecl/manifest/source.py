"""Text of a manifest to nodes: YAML with a place for every node, and every fault of spelling told where it is.

Knows: decoding, libyaml's events, anchors, merge keys, duplicate keys, and the bounds on size and depth. Does not
know: which keys a manifest has or what a scalar is for; a scalar keeps its source text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import yaml
from yaml._yaml import CParser

from mcpdecl.diagnostics import Diagnostic, Span
from mcpdecl.manifest.mistakes import explain, unreadable

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 500_000
MAX_ALIASES = 10_000
BROKEN = "?"

Style: TypeAlias = Literal["block", "flow", "pair"]
Mark: TypeAlias = Any  # yaml._yaml.Mark: line, column, index; 0-based, in characters

# Nodes are tuples, which are cheaper to make than frozen dataclasses: loading is mostly the making of nodes.


class Scalar(NamedTuple):
    """One word. ``text`` is its content as written; ``style`` is empty for a plain one, else one of ' " | > or BROKEN.

    BROKEN stands where something else was written that has been reported.
    """

    text: str
    style: str
    start: Mark
    end: Mark
    file: str

    @property
    def span(self) -> Span:
        """Its place."""
        return _span(self)

    @property
    def empty(self) -> bool:
        """Whether nothing at all is written here."""
        return not self.style and not self.text


class Sequence(NamedTuple):
    """A list. ``height`` is how many levels are inside."""

    items: list[Node]
    style: Style
    start: Mark
    end: Mark
    file: str
    height: int

    @property
    def span(self) -> Span:
        """Its place."""
        return _span(self)


class Mapping(NamedTuple):
    """Keys and values, those of ``<<`` included. ``pair`` is the style of ``a: b`` in ``[x, a: b]``."""

    entries: dict[str, tuple[Scalar, Node]]
    style: Style
    start: Mark
    end: Mark
    file: str
    height: int

    @property
    def span(self) -> Span:
        """Its place."""
        return _span(self)

    def get(self, key: str) -> Node | None:
        """The value of a key, or None where there is no such key."""
        entry = self.entries.get(key)
        return entry[1] if entry is not None else None


Node: TypeAlias = Scalar | Sequence | Mapping


def _span(node: Node) -> Span:
    return _between(node.file, node.start, node.end)


def _between(file: str, start: Mark, end: Mark) -> Span:
    return Span(file, start.line, start.column, end.line, end.column)


def decode(data: bytes, file: str) -> tuple[str, list[Diagnostic]]:
    """The text of a manifest: UTF-8 with or without BOM, whatever the locale. Empty text goes with a diagnostic."""
    if len(data) > MAX_BYTES:
        message = f"The file has {len(data):,} bytes; a manifest may have {MAX_BYTES:,}."
        return "", [Diagnostic("manifest-too-large", message, Span(file), "Split it into several files.")]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        message = "The file is UTF-16 (byte offset 0); manifests are UTF-8."
        return "", [Diagnostic("not-utf8", message, Span(file), "Save it as UTF-8.")]
    body = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return body.decode("utf-8"), []
    except UnicodeDecodeError as fault:
        offset = fault.start + len(data) - len(body)
        place = _after(body[: fault.start].decode("utf-8"), file)
        message = f"The file is not UTF-8: byte 0x{data[offset]:02x} at byte offset {offset} begins no character."
        return "", [Diagnostic("not-utf8", message, place, "Save it as UTF-8.")]


def _after(text: str, file: str) -> Span:
    rows = (text + ".").splitlines()
    line, column = len(rows) - 1, len(rows[-1]) - 1
    return Span(file, line, column, line, column + 1)


def compose(text: str, file: str) -> tuple[list[Node], list[Diagnostic]]:
    """The documents of a YAML or JSON text, empty ones left out, and all that is wrong with its spelling."""
    composer = _Composer(_joined_surrogates(text) if file.endswith(".json") else text, file)
    return composer.documents(), composer.diagnostics


_PAIR = re.compile(r"((?<!\\)(?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def _joined_surrogates(text: str) -> str:
    """JSON may write a character beyond the first 65,536 as two escapes, which YAML does not know."""

    def join(pair: re.Match[str]) -> str:
        high, low = int(pair[2], 16) - 0xD800, int(pair[3], 16) - 0xDC00
        return f"{pair[1]}\\U{0x10000 + (high << 10) + low:08X}"

    return _PAIR.sub(join, text) if "\\u" in text else text


class _Stop(Exception):
    """A bound was crossed; what was composed so far is all there is."""


class _Composer:
    """One pass over the events of one text."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.diagnostics: list[Diagnostic] = []
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.open: set[str] = set()
        self.nodes = 0
        self.aliases = 0
        self.depth = 0
        self.end: Mark = None
        self.next: Callable[[], Any]

    def documents(self) -> list[Node]:
        found: list[Node] = []
        try:
            self.next = CParser(self.text).get_event
            while type(event := self.next()) is not yaml.StreamEndEvent:
                if type(event) is yaml.DocumentStartEvent:
                    self.anchors, self.open = {}, set()
                    node = self.node(self.next())
                    self.next()  # its end; what spoils that spoils the document
                    if not (type(node) is Scalar and node.empty):
                        found.append(node)
        except _Stop:
            pass
        except yaml.MarkedYAMLError as fault:
            self.add(explain(fault, self.text, self.file))
        except (yaml.YAMLError, UnicodeEncodeError):
            self.diagnostics.append(unreadable(self.text, self.file))
        return found

    def report(
        self, code: str, message: str, start: Mark, end: Mark, hint: str = "", *related: tuple[str, Span]
    ) -> None:
        self.diagnostics.append(Diagnostic(code, message, _between(self.file, start, end), hint, related))

    def add(self, last: Diagnostic) -> None:
        """Add what ended the reading, unless its cause on the same line was told already."""
        line = last.span.line if last.span is not None else -1
        same = [d for d in self.diagnostics if d.code == last.code and d.span is not None and d.span.line == line]
        self.diagnostics += [] if same else [last]

    def node(self, event: Any) -> Node:
        kind = type(event)
        if kind is yaml.AliasEvent:
            return self.alias(event)
        self.nodes += 1
        if kind is yaml.ScalarEvent and event.anchor is None and event.tag is None:
            return self.scalar(event)
        return self.other(event, kind)

    def other(self, event: Any, kind: type[Any]) -> Node:
        """A collection, or a scalar that has an anchor or a tag."""
        before, anchor = self.nodes, event.anchor
        if event.tag is not None:
            self.report(
                "yaml-tag",
                f"Tags such as {event.tag[:40]} are not used here.",
                event.start_mark,
                event.end_mark,
                "Remove the tag; quote the value if it is to be text.",
            )
        if anchor is not None:
            self.open.add(anchor)
        node: Node
        if kind is yaml.ScalarEvent:
            node = self.scalar(event)
        else:
            node = self.collection(event, kind)
        if anchor is not None:
            self.open.discard(anchor)
            self.anchors[anchor] = node, self.nodes - before + 1
        return node

    def scalar(self, event: Any) -> Scalar:
        style, end = event.style or "", event.end_mark
        self.end = end
        if not style and self.text.startswith(" #", end.index):
            self.comment(event)
        return Scalar(event.value, style, event.start_mark, end, self.file)

    def comment(self, event: Any) -> None:
        """Warn of ``title: Issue #5``. A comment that begins with a blank was surely meant as one."""
        follows = self.text[event.end_mark.index + 2 : event.end_mark.index + 3]
        if follows.strip() and follows not in "#!":
            self.report(
                "swallowed-comment",
                f"Everything from # on is a comment here, so this value is only {event.value[:60]!r}.",
                event.start_mark,
                event.end_mark,
                'Quote the value if the # belongs to it ("Issue #5"), or put a blank after the #.',
            )

    def collection(self, event: Any, kind: type[Any]) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.stop(f"This is nested more than {MAX_DEPTH} levels deep.", event)
        if self.nodes > MAX_NODES:
            self.stop(f"The file has more than {MAX_NODES:,} values.", event)
        node = self.sequence(event) if kind is yaml.SequenceStartEvent else self.mapping(event)
        self.depth -= 1
        return node

    def stop(self, message: str, event: Any) -> None:
        self.report("manifest-too-large", message, event.start_mark, event.end_mark)
        raise _Stop

    def sequence(self, start: Any) -> Sequence:
        items: list[Node] = []
        height = 0
        self.end = start.end_mark
        while type(event := self.next()) is not yaml.SequenceEndEvent:
            node = self.node(event)
            items.append(node)
            if not isinstance(node, Scalar) and node.height > height:
                height = node.height
        if start.flow_style:
            self.end = event.end_mark
        return Sequence(
            items, "flow" if start.flow_style else "block", start.start_mark, self.end, self.file, height + 1
        )

    def mapping(self, start: Any) -> Node:
        entries: dict[str, tuple[Scalar, Node]] = {}
        merges: list[tuple[Scalar, Node]] = []
        height, template = 0, False
        self.end = start.end_mark
        while type(event := self.next()) is not yaml.MappingEndEvent:
            key, value = self.node(event), self.node(self.next())
            if not isinstance(value, Scalar) and value.height > height:
                height = value.height
            if not isinstance(key, Scalar):
                template = self.bad_key(key, start) or template
            elif not key.style and key.text == "<<":
                self.twice(key, merges, "Write <<: [*first, *second].")
                merges.append((key, value))
            elif self.usable(key, entries):
                entries[key.text] = key, value
        if start.flow_style:
            self.end = event.end_mark
        if template:
            return Scalar(
                self.text[start.start_mark.index : self.end.index], BROKEN, start.start_mark, self.end, self.file
            )
        for key, value in merges:
            self.merge(entries, key, value)
        return Mapping(entries, self.style(start), start.start_mark, self.end, self.file, height + 1)

    def style(self, start: Any) -> Style:
        if not start.flow_style:
            return "block"
        return "pair" if start.start_mark.index == start.end_mark.index else "flow"

    def usable(self, key: Scalar, entries: dict[str, tuple[Scalar, Node]]) -> bool:
        """Whether a key may be used; else it has been reported."""
        if key.style == BROKEN:
            return False
        if not key.style and key.text in ("", "~", "null", "Null", "NULL"):
            self.report("bad-key", "A key must be text, not null.", key.start, key.end, "Quote the key.")
            return False
        first = entries.get(key.text)
        return not self.twice(key, [first] if first is not None else [], "Keep one of them.")

    def twice(self, key: Scalar, before: list[tuple[Scalar, Node]], hint: str) -> bool:
        """Report a key that is there already."""
        if before:
            message, first = f"The key {key.text[:60]!r} is here twice.", before[0][0].span
            self.report("duplicate-key", message, key.start, key.end, hint, ("first written here", first))
        return bool(before)

    def bad_key(self, key: Sequence | Mapping, start: Any) -> bool:
        """Report a list or mapping as a key; True if the mapping is the text ``{{ x }}``, left unquoted."""
        inside = start.flow_style and key.start.index == start.start_mark.index + 1
        if type(key) is Mapping and key.style == "flow" and inside:
            self.report(
                "unquoted-template",
                "An unquoted {{ … }} is a mapping in YAML, not a template.",
                start.start_mark,
                key.end,
                'Quote the whole value: "{{ … }}".',
            )
            return True
        self.report("bad-key", "A key must be text, not a list or a mapping.", key.start, key.end, "Quote the key.")
        return False

    def merge(self, entries: dict[str, tuple[Scalar, Node]], key: Scalar, value: Node) -> None:
        """Bring in what ``<<`` names. Local keys win, then earlier mappings of a list."""
        sources = value.items if type(value) is Sequence else [value]
        for source in sources:
            if type(source) is not Mapping:
                self.report(
                    "bad-alias",
                    "<< takes a mapping or a list of mappings.",
                    key.start,
                    key.end,
                    "Name an anchor: << : *anchor.",
                )
                return
            for name, entry in source.entries.items():
                entries.setdefault(name, entry)

    def alias(self, event: Any) -> Node:
        self.aliases += 1
        known = self.anchors.get(event.anchor)
        if known is None:
            return self.lost_alias(event)
        node, size = known
        self.nodes += size
        if self.nodes > MAX_NODES or self.aliases > MAX_ALIASES:
            self.stop(f"Aliases make this more than {MAX_NODES:,} values, or are more than {MAX_ALIASES:,}.", event)
        if not isinstance(node, Scalar) and self.depth + node.height > MAX_DEPTH:
            self.stop(f"This alias makes it nested more than {MAX_DEPTH} levels deep.", event)
        self.end = event.end_mark
        return node

    def lost_alias(self, event: Any) -> Scalar:
        inside = event.anchor in self.open
        message = f"*{event.anchor} stands inside what it names." if inside else f"There is no &{event.anchor} above."
        hint = (
            "" if inside else f'Write &{event.anchor} at the value that is meant, or quote the text: "*{event.anchor}".'
        )
        self.report("bad-alias", message, event.start_mark, event.end_mark, hint)
        self.end = event.end_mark
        return Scalar(f"*{event.anchor}", BROKEN, event.start_mark, event.end_mark, self.file)
