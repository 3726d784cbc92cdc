"""Words of a command: templates become arguments, and no argument becomes an option.

Knows: the rules for options, lists, absent values and leading dashes. Does not know: what is done with the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from mcpdecl.bindings.running import Refusal
from mcpdecl.bindings.site import Site
from mcpdecl.templates import ABSENT, Reads, Scope, Template, Tree


@dataclass(frozen=True, slots=True)
class Literal:
    """A word of the manifest's own."""

    text: str
    reads: Reads = frozenset()

    def spell(self, scope: Scope, free: bool) -> Iterator[str]:
        """The word."""
        yield self.text


@dataclass(frozen=True, slots=True)
class Templated:
    """A word with a template in it. ``dash`` says that it may begin with a dash whatever it holds."""

    template: Template
    dash: bool
    reads: Reads

    def spell(self, scope: Scope, free: bool) -> Iterator[str]:
        """No word if it is absent, one for each element of a list, else one. Raises Refusal."""
        value = self.template.item(scope)
        if value is ABSENT:
            return
        for part in value if isinstance(value, list | tuple) else [value]:
            if part is ABSENT:
                continue
            word = spelled(part)
            if not (free or self.dash):
                refuse_dash(word, self.template.source)
            yield word


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of an options mapping: ``--x`` puts its value in the next word, ``--x=`` joins it.

    ``dash`` says that the manifest itself writes a dash before any braces of the value.
    """

    name: str
    value: Tree
    reads: Reads
    dash: bool = False

    def spell(self, scope: Scope, free: bool) -> Iterator[str]:
        """Nothing for absent, null and false; the option alone for true; once for each element of a list or object."""
        value = self.value.value(scope)
        if isinstance(value, Mapping):
            for key, part in value.items():
                yield from self._once(f"{key}={spelled(part)}")
            return
        for part in value if isinstance(value, list | tuple) else [value]:
            if part is True:
                yield self.name.removesuffix("=")
            elif part is not ABSENT and part is not None and part is not False:
                yield from self._once(spelled(part))

    def _once(self, text: str) -> Iterator[str]:
        if self.name.endswith("="):
            yield self.name + text
            return
        if self.value.constant is ABSENT and not self.dash:
            refuse_dash(text, f"the value of {self.name}")
        yield self.name
        yield text


Word = Literal | Templated | Option


@dataclass(frozen=True, slots=True)
class Argv:
    """A program and its words."""

    program: str
    words: Sequence[Word]

    def of(self, scope: Scope) -> list[str]:
        """Spell all words for one call. Raises Refusal where a value would become an option."""
        argv = [self.program]
        behind = False  # whether only templated words stand between here and a literal "--"
        for word in self.words:
            if isinstance(word, Templated):
                argv += word.spell(scope, behind)
            else:
                argv += word.spell(scope, behind)
                behind = isinstance(word, Literal) and word.text == "--"
        if any("\0" in word for word in argv):
            raise Refusal("A value holds a NUL character, which no program can be given.")
        return argv


def compile_words(words: Sequence[Any], site: Site) -> tuple[Word, ...] | None:
    """Compile the words after the program; None if a fault was reported."""
    made: list[Word] = []
    good = True
    for index, word in enumerate(words, start=1):
        compiled = list(_compile(word, site.at("command", index)))
        good = good and None not in compiled
        made += [part for part in compiled if part is not None]
    return tuple(made) if good else None


def _compile(word: Any, site: Site) -> Iterator[Word | None]:
    if isinstance(word, str):
        yield _templated(word, site, dash=False)
    elif not isinstance(word, Mapping):
        yield Literal(spelled(word))
    elif "raw" in word:
        yield Literal(spelled(word["raw"]))
    elif "arg" in word:
        yield _templated(spelled(word["arg"]), site.at("arg"), dash=word.get("dash") == "allow")
    else:
        for name, value in word.items():
            tree = site.tree(value, name)
            dash = isinstance(value, str) and value.startswith("-")
            yield None if tree is None else Option(name, tree, tree.reads, dash)


def _templated(text: str, site: Site, *, dash: bool) -> Word | None:
    template = site.template(text)
    if template is None:
        return None
    if template.literal is not None:
        return Literal(template.literal)
    # A dash that the manifest itself writes before any braces is meant.
    return Templated(template, dash or text.startswith("-"), template.reads)


def refuse_dash(word: str, place: str) -> None:
    """Raise Refusal for a word that a program would take for an option."""
    if word.startswith("-"):
        raise Refusal(f"A value that begins with a dash is not accepted here ({place}).")


def spelled(value: Any) -> str:
    """A value as a program reads it: text as it is, all else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
