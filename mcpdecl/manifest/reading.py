"""Nodes along the rules of the format: plain data, or every reason why not.

Knows: how a rule applies to a node, and which text a target keeps. Does not know: any key by name, nor what is made of
the data.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from typing import Any

from mcpdecl.manifest import plain
from mcpdecl.manifest.faults import PAIR, Faults, Path, expected, nearest, where
from mcpdecl.manifest.format import Fields, Rule, rules
from mcpdecl.manifest.scalars import Ambiguous, resolve
from mcpdecl.manifest.source import BROKEN, Mapping, Node, Scalar, Sequence

FAULTY: Any = object()
_NULLS = frozenset({"~", "null", "Null", "NULL"})
_ONE_LINE = frozenset({"word", "expression", "path", "callable"})


def read(node: Node, rule: Rule, faults: Faults, path: Path, key: Node) -> Any:
    """The data of a node, or FAULTY where the whole value was reported.

    ``key`` is what to point at where something is absent.
    """
    if isinstance(node, Scalar) and node.style == BROKEN:
        return FAULTY
    if rule.free:
        return _free(node, rule, faults, path, key)
    if isinstance(node, Scalar):
        return _scalar(node, rule, faults, path, key)
    if isinstance(node, Sequence):
        return _sequence(node, rule, faults, path, key)
    return _mapping(node, rule, faults, path, key)


def _wrong(node: Node, rule: Rule, faults: Faults, path: Path, key: Node) -> Any:
    faults.wrong_type(node, rule, path, key)
    return FAULTY


# --- scalars ---------------------------------------------------------------------------------------------------


def _scalar(node: Scalar, rule: Rule, faults: Faults, path: Path, key: Node) -> Any:
    if rule.native and not node.style:
        value = _native(node.text, rule)
        if value is not FAULTY:
            return _bounded(value, node, rule, faults, path)
    if rule.text:
        return _text(node, rule, faults, path, key)
    if rule.choices:
        return _choice(node, rule, faults, path)
    return _wrong(node, rule, faults, path, key)


def _native(text: str, rule: Rule) -> Any:
    try:
        value = resolve(text)
    except Ambiguous:
        return FAULTY
    if isinstance(value, bool):
        return value if "boolean" in rule.native else FAULTY
    if isinstance(value, int):
        return value if rule.native & {"integer", "number"} else FAULTY
    return value if isinstance(value, float) and "number" in rule.native else FAULTY


def _bounded(value: Any, node: Scalar, rule: Rule, faults: Faults, path: Path) -> Any:
    low, high = rule.minimum, rule.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"from {low} to {high}"
        faults.report("bad-value", f"{where(path)} must be {bounds}, not {node.text[:40]}.", node.span)
        return FAULTY
    return value


def _text(node: Scalar, rule: Rule, faults: Faults, path: Path, key: Node) -> Any:
    if node.empty or (not node.style and node.text in _NULLS and rule.text != "word"):
        return _wrong(node, rule, faults, path, key)
    if rule.pattern is not None and not rule.pattern.search(node.text):
        examples = ", ".join(str(e) for e in rule.examples)
        hint = f"Write for instance {examples}." if examples else ""
        faults.report("bad-value", f"{where(path)} cannot be {node.text[:60]!r}.", node.span, hint)
        return FAULTY
    if node.style == ">" and rule.text in _ONE_LINE and "\n" in node.text.strip("\n"):
        message = (
            f"The folded text in {where(path)} still has line breaks: lines that are indented further keep theirs."
        )
        faults.report(
            "folded-newlines", message, node.span, "Indent all lines alike, or write | if the breaks are meant."
        )
    return node.text


def _choice(node: Scalar, rule: Rule, faults: Faults, path: Path) -> Any:
    value: Any = node.text
    if not node.style and not all(isinstance(c, str) for c in rule.choices):
        value = faults.resolved(node, path)
    if any(value == c and type(value) is type(c) for c in rule.choices):
        return value
    near = nearest(node.text, [c for c in rule.choices if isinstance(c, str)])
    hint = f"Did you mean {near!r}?" if near else ""
    faults.report("bad-value", f"{where(path)} must be {expected(rule)}, not {node.text[:60]!r}.", node.span, hint)
    return FAULTY


# --- lists and mappings ----------------------------------------------------------------------------------------


def _sequence(node: Sequence, rule: Rule, faults: Faults, path: Path, key: Node) -> Any:
    if rule.items is None:
        return _wrong(node, rule, faults, path, key)
    if len(node.items) < rule.least:
        faults.report("bad-value", f"{where(path)} must not be empty.", node.span)
    found = []
    for index, item in enumerate(node.items):
        value = read(item, rule.items, faults, (*path, index), item)
        found.append(None if value is FAULTY else value)
    return found


def _mapping(node: Mapping, rule: Rule, faults: Faults, path: Path, key: Node) -> Any:
    if not rule.objects:
        return _wrong(node, rule, faults, path, key)
    fields = _fitting(rule.objects, node)
    if len(rule.objects) > 1 and not any(fields.rule(name) for name in node.entries):
        return _keyless(node, rule, faults, path)
    _together(node, fields, faults, path, key)
    found: dict[str, Any] = {}
    for name, (written, value) in node.entries.items():
        inner = fields.rule(name)
        if inner is None:
            _unknown(written, fields, faults, path)
            continue
        read_value = read(value, inner, faults, (*path, name), written)
        if read_value is not FAULTY:
            found[name] = read_value
    return found


def _keyless(node: Mapping, rule: Rule, faults: Faults, path: Path) -> Any:
    known = sorted({name for fields in rule.objects for name in fields.properties})
    hint = PAIR if rule.text and node.style != "flow" else f"Known here: {', '.join(known)}."
    faults.report("wrong-type", f"{where(path)} is a mapping without a known key.", node.span, hint)
    return FAULTY


def _fitting(candidates: List[Fields], node: Mapping) -> Fields:
    """The description that knows the most of a mapping's keys, and most of whose needed keys are there."""
    if len(candidates) == 1:
        return candidates[0]

    def score(fields: Fields) -> tuple[int, int]:
        known = sum(fields.rule(name) is not None for name in node.entries)
        return known, sum(name in node.entries for name in fields.required)

    return max(candidates, key=score)


def _unknown(key: Scalar, fields: Fields, faults: Faults, path: Path) -> None:
    if fields.names:
        # spec: server/tools#tool-names: 1 to 128 of A-Z a-z 0-9 _ - . (the format's pattern)
        faults.report("bad-name", f"{key.text[:140]!r} cannot be a name in {where(path)}.", key.span, fields.names)
        return
    within = [
        name
        for name, rule in fields.properties.items()
        if any(key.text in inner.properties for inner in rule.objects) and rule.items is None
    ]
    known = list(fields.properties) + [p.pattern.removeprefix("^") + "…" for p, _ in fields.patterns if not path]
    faults.unknown_key(key, path, known, within)


def _together(node: Mapping, fields: Fields, faults: Faults, path: Path, key: Node) -> None:
    """Keys that are missing, and keys that exclude each other."""
    place = key.span
    for name in fields.required:
        if name not in node.entries:
            faults.report("missing-key", f"{where(path)} lacks {name!r}.", place, f"Add {name!r}.")
    for names in (*fields.alone, fields.one_of):
        there = [name for name in names if name in node.entries]
        if len(there) > 1:
            first, second = (node.entries[name][0] for name in there[:2])
            message = f"{where(path)} has both {there[0]!r} and {there[1]!r}; they exclude each other."
            faults.report("conflicting-keys", message, second.span, "Keep one of them.", ("the other", first.span))
    for names in (fields.one_of, fields.any_of):
        if names and not any(name in node.entries for name in names):
            choices = ", ".join(repr(name) for name in names)
            faults.report("missing-key", f"{where(path)} needs one of {choices}.", place, "Add one of them.")
    for name, needed in fields.beside.items():
        if name in node.entries and not all(other in node.entries for other in needed):
            message = f"{where(path)}: {name!r} means nothing without {', '.join(repr(other) for other in needed)}."
            faults.report(
                "missing-key", message, node.entries[name][0].span, f"Remove {name!r}, or add what it is for."
            )
    if fields.filled and not node.entries:
        faults.report("bad-value", f"{where(path)} must not be empty.", node.span)


# --- data that the format does not describe ----------------------------------------------------------------------


def _free(node: Node, rule: Rule, faults: Faults, path: Path, key: Node) -> Any:
    if rule.free == "own":
        return None
    if rule.free == "option":
        return plain.option(node)
    if rule.free == "tree":
        whole = isinstance(node, Scalar) and not node.style and not node.empty
        return plain.option(node) if whole else plain.data(node, faults, path)
    if rule.free == "json":
        if rule.mapping and not isinstance(node, Mapping):
            return _wrong(node, rule, faults, path, key)
        return plain.data(node, faults, path)
    if isinstance(node, Sequence) or (isinstance(node, Scalar) and (node.empty or _is_value(node))):
        return _wrong(node, rule, faults, path, key)
    if isinstance(node, Scalar):
        return node.text
    return plain.schema(node, faults, path) if rule.free == "schema" else _short(node, rule, faults, path)


def _is_value(node: Scalar) -> bool:
    return not node.style and not isinstance(plain.option(node), str)


def _short(node: Mapping, rule: Rule, faults: Faults, path: Path) -> Any:
    found: dict[str, Any] = {}
    if _full_schema(node, rule, faults, path):
        return FAULTY
    for name, (key, value) in node.entries.items():
        plain.property_name(key, faults, path)
        if name.endswith("?") and name[:-1] in node.entries:
            other = node.entries[name[:-1]][0]
            message = f"The property {name[:-1]!r} is here twice, once as optional."
            faults.report("duplicate-key", message, key.span, "Keep one of them.", ("the other", other.span))
        here = (*path, name)
        read_value = plain.property_(key, value, faults, here)
        if rule.completes and isinstance(value, Mapping) and (asked := value.entries.get("complete")):
            read_value["complete"] = read(asked[1], rules()["binding"], faults, (*here, "complete"), asked[0])
        if read_value is not None:
            found[name] = read_value
    return found


def _full_schema(node: Mapping, rule: Rule, faults: Faults, path: Path) -> bool:
    """Whether this is a whole JSON Schema where the short form stands; it has been reported then."""
    kind = node.entries.get("type")
    if kind is None or not isinstance(kind[1], Scalar) or kind[1].text != "object":
        return False
    hint = f"Write {rule.full!r} instead of {path[-1]!r}." if rule.full else "Write the properties directly."
    message = f"{where(path)} takes properties by name; 'type: object' begins a whole JSON Schema."
    faults.report("schema-in-short-form", message, kind[0].span, hint)
    return True
