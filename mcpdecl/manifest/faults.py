"""What the parser finds wrong, gathered: the words of each message about keys and types.

Knows: the diagnostics found so far in one file, and how a place in a manifest is named. Does not know: which rule
applies where.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from mcpdecl.diagnostics import Diagnostic, Span
from mcpdecl.manifest.declarations import Step
from mcpdecl.manifest.format import Rule
from mcpdecl.manifest.scalars import Ambiguous, Value, resolve
from mcpdecl.manifest.source import Mapping, Node, Scalar, Sequence

Path = tuple[Step, ...]

DASHES = 'A dash and a blank begin a list item, so "- -" is a list inside a list. Quote a dash that is text: "-".'
PAIR = 'A colon followed by a blank makes a mapping. Quote the whole word: "Accept: x".'
_ARTICLES = {"boolean": "true or false", "integer": "a whole number", "number": "a number"}


class Faults:
    """The diagnostics of one file."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def report(self, code: str, message: str, span: Span, hint: str = "", *related: tuple[str, Span]) -> None:
        """Add one."""
        self.found.append(Diagnostic(code, message, span, hint, related))

    def resolved(self, node: Scalar, path: Path) -> Value:
        """The JSON value of a scalar of any type; what is ambiguous is reported and kept as text."""
        if node.style:
            return node.text
        try:
            return resolve(node.text)
        except Ambiguous as fault:
            hint = f'Quote this value if it is text: "{node.text[:40]}".'
            self.report("ambiguous-value", f"{fault.message} ({where(path)}).", node.span, hint)
            return node.text

    def wrong_type(self, node: Node, rule: Rule, path: Path, key: Node) -> None:
        """Report that a value is not what its place takes."""
        span = node.span if not (isinstance(node, Scalar) and node.empty) else key.span
        message = f"{where(path)} must be {expected(rule)}, not {described(node)}."
        self.report("wrong-type", message, span, _remedy(node, rule))

    def unknown_key(self, key: Scalar, path: Path, known: Iterable[str], within: Iterable[str] = ()) -> None:
        """Report a key that nothing knows. ``within`` are neighbouring keys under which it is known."""
        names = sorted(known)
        near, inside = nearest(key.text, names), list(within)
        if near:
            hint = f"Did you mean {near!r}?"
        elif inside:
            hint = f"{key.text!r} belongs in {inside[0]!r}."
        else:
            hint = f"Known here: {', '.join(names[:30])}." if names else ""
        self.report("unknown-key", f"Unknown key {key.text[:60]!r} in {where(path)}.", key.span, hint)


def where(path: Path) -> str:
    """A place as an author names it: ``tools.find.command[2]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step[:60]}" if text else step[:60]
    return text or "the manifest"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant."""
    by_lower = {name.lower(): name for name in known}
    found = get_close_matches(word[:60].lower(), by_lower, n=1, cutoff=0.65)
    return by_lower[found[0]] if found else None


def described(node: Node) -> str:
    """What a node is, in words."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if node.empty:
        return "empty"
    return f"{node.text[:40]!r}" if node.style or node.text not in ("null", "~", "Null", "NULL") else "null"


def expected(rule: Rule) -> str:
    """What a rule takes, in words."""
    words = [_ARTICLES[kind] for kind in sorted(rule.native)]
    words += [repr(c) if isinstance(c, str) else str(c).lower() for c in rule.choices]
    if rule.text:
        words.append("text")
    if rule.free in ("schema", "short"):
        words += ["a mapping", "the path of a file"]
    if rule.items:
        words.append("a list")
    if rule.objects or rule.free == "json":
        words.append("a mapping")
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _remedy(node: Node, rule: Rule) -> str:
    example = next((e for e in rule.examples if isinstance(e, list)), None)
    if isinstance(node, Mapping) and node.style != "flow" and (rule.text or rule.choices):
        return PAIR
    if isinstance(node, Sequence) and node.style == "block" and rule.text:
        return DASHES
    if isinstance(node, Scalar) and node.empty:
        return "Give a value, or leave the key out."
    if isinstance(node, Scalar) and rule.items and rule.text == "" and example:
        return f"Write a list of words: [{', '.join(str(e) for e in node.text.split()[:8])}]."
    return ""
