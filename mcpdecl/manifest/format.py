"""format.schema.json as rules that the parser follows.

Knows: the subset of JSON Schema that the description of the format uses, and its annotations (``x-mcpdecl``). Does
not know: any key of a manifest by name, or how a manifest is walked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

TEXTS = frozenset({"text", "template", "word", "expression", "path", "duration", "size", "rate", "callable", "regex"})
FREE = frozenset({"json", "tree", "option", "schema", "short", "own"})


@dataclass(slots=True, eq=False)
class Fields:
    """What a mapping may hold.

    ``alone`` are keys that exclude each other, ``one_of`` and ``any_of`` needed choices, ``beside`` keys that mean
    something only beside others; ``names`` says what a key may be where the author names the keys.
    """

    properties: dict[str, Rule] = field(default_factory=dict)
    patterns: list[tuple[re.Pattern[str], Rule]] = field(default_factory=list)
    other: Rule | None = None
    required: tuple[str, ...] = ()
    alone: list[tuple[str, ...]] = field(default_factory=list)
    one_of: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    beside: dict[str, tuple[str, ...]] = field(default_factory=dict)
    filled: bool = False
    names: str = ""

    def rule(self, key: str) -> Rule | None:
        """The rule of a key's value, None where the key is unknown."""
        found = self.properties.get(key)
        if found is not None:
            return found
        for pattern, rule in self.patterns:
            if pattern.search(key):
                return rule
        return self.other


@dataclass(slots=True, eq=False)
class Rule:
    """What may stand in one place.

    ``text`` names a target that keeps its source text, ``free`` data that is not described here, ``native`` are JSON
    types of scalars, ``choices`` the only values; ``completes`` lets properties have `complete`,
    ``full`` is the key for a whole JSON Schema,
    ``mapping`` takes nothing but a mapping.
    """

    text: str = ""
    free: str = ""
    native: frozenset[str] = frozenset()
    choices: tuple[Any, ...] = ()
    pattern: re.Pattern[str] | None = None
    examples: tuple[Any, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    items: Rule | None = None
    least: int = 0
    objects: list[Fields] = field(default_factory=list)
    completes: bool = False
    full: str = ""
    mapping: bool = False


@cache
def description() -> Mapping[str, Any]:
    """The whole of format.schema.json."""
    found: Mapping[str, Any] = msgspec.json.decode(Path(__file__).with_name("format.schema.json").read_bytes())
    return found


@cache
def rules() -> Mapping[str, Rule]:
    """The rule of each entry of ``$defs``, and that of a whole manifest under the empty name."""
    reader = _Reader(description())
    for name in description()["$defs"]:
        reader.named(name)
    return {**reader.known, "": reader.rule(description())}


class _Reader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.definitions: Mapping[str, Any] = root["$defs"]
        self.known: dict[str, Rule] = {}

    def named(self, name: str) -> Rule:
        if name not in self.known:
            self.known[name] = Rule()  # first, so that a definition may contain itself
            self.fill(self.known[name], self.definitions[name])
        return self.known[name]

    def rule(self, schema: Mapping[str, Any]) -> Rule:
        if "$ref" in schema:
            named = self.named(_name(schema))
            notes = schema.get("x-mcpdecl")
            return replace(named, full=notes["full"]) if notes else named
        rule = Rule()
        self.fill(rule, schema)
        return rule

    def fill(self, rule: Rule, schema: Mapping[str, Any]) -> None:
        self.scalars(rule, schema)
        if "items" in schema:
            rule.items, rule.least = self.rule(schema["items"]), schema.get("minItems", 0)
        if rule.free in ("schema", "short"):
            rule.completes = "complete" in str(schema.get("additionalProperties"))
        elif schema.get("type") == "object" and not rule.free:
            rule.objects.append(self.fields(schema))
        elif "anyOf" in schema:
            for branch in schema["anyOf"]:
                _join(rule, self.rule(branch))

    def scalars(self, rule: Rule, schema: Mapping[str, Any]) -> None:
        target = schema.get("x-mcpdecl", {}).get("target", "")
        rule.full = schema.get("x-mcpdecl", {}).get("full", "")
        rule.text = target if target in TEXTS else ""
        rule.free = target if target in FREE else ""
        kind = schema.get("type")
        rule.mapping = kind == "object"
        if not target and kind in ("boolean", "integer", "number"):
            rule.native = frozenset({kind})
        rule.choices = tuple(schema.get("enum", ())) or ((schema["const"],) if "const" in schema else ())
        rule.pattern = re.compile(schema["pattern"]) if "pattern" in schema else None
        rule.examples = tuple(schema.get("examples", ()))
        rule.minimum, rule.maximum = schema.get("minimum"), schema.get("maximum")

    def fields(self, schema: Mapping[str, Any]) -> Fields:
        found = Fields(required=tuple(schema.get("required", ())), filled="minProperties" in schema)
        notes = schema.get("x-mcpdecl", {})
        found.names = notes.get("say", "") if notes.get("target") == "names" else ""
        found.one_of, found.any_of = _needed(schema.get("oneOf", ())), _needed(schema.get("anyOf", ()))
        for part in self.parts(schema):
            for key, value in part.get("properties", {}).items():
                found.properties[key] = self.rule(value)
            for pattern, value in part.get("patternProperties", {}).items():
                found.patterns.append((re.compile(pattern), self.rule(value)))
            if isinstance(part.get("additionalProperties"), Mapping):
                found.other = self.rule(part["additionalProperties"])
            for key, needed in part.get("dependentRequired", {}).items():
                found.beside[key] = tuple(needed)
            if "not" in part:
                found.alone.append(tuple(part["not"]["required"]))
        return found

    def parts(self, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """An object's own description and all that it takes over by ``allOf``; its own properties come first."""
        yield schema
        for part in schema.get("allOf", ()):
            yield from self.parts(self.definitions[_name(part)] if "$ref" in part else part)


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).removeprefix("#/$defs/")


def _needed(branches: Any) -> tuple[str, ...]:
    return tuple(branch["required"][0] for branch in branches if "required" in branch)


def _join(rule: Rule, branch: Rule) -> None:
    """Let ``rule`` take what ``branch`` takes too."""
    rule.text = rule.text or branch.text
    rule.free = rule.free or branch.free
    rule.native |= branch.native
    rule.choices += branch.choices
    rule.pattern = rule.pattern or branch.pattern
    rule.examples = rule.examples or branch.examples
    rule.items = rule.items or branch.items
    rule.objects += branch.objects
