"""What a binding needs while it is made: names, templates, files, and where faults go.

Knows: how a binding reports what is wrong with it. Does not know: which kinds of binding there are, or what kind of
item one belongs to beyond its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from mcpdecl.catalogue import Binding
from mcpdecl.templates import Expression, Reads, Template, TemplateFault, Templates, Tree

if TYPE_CHECKING:
    from mcpdecl.bindings.python import Modules

Fields: TypeAlias = Mapping[str, Any]
M = TypeVar("M", Template, Expression)


class Report(Protocol):
    """Takes a fault: a code of CODES, a message, the path of the place within the item, and the remedy."""

    def __call__(self, code: str, message: str, *path: str | int, hint: str = "") -> None:
        """Report."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where something is bound: what it may read and use, and where faults go.

    ``known`` are the names that templates may read; ``arguments`` the declared properties with their schemas, of which
    ``required`` are always there; ``open`` says that others may come. ``kind`` is tool, prompt, resource, var or
    complete. ``path`` is the place of the fields within the item. ``depend`` takes each file that is read.
    ``binder`` binds parts that have a binding of their own.
    """

    root: Path
    templates: Templates
    known: frozenset[str]
    arguments: Mapping[str, Any]
    required: frozenset[str]
    modules: Modules
    tell: Report
    depend: Callable[[Path], None]
    environ: Mapping[str, str]
    open: bool = False
    resolve: bool = True
    kind: str = "tool"
    path: tuple[str | int, ...] = ()
    binder: Callable[[Fields, Site], Binding | None] | None = None

    def bind(self, fields: Fields, *path: str | int) -> Binding | None:
        """Bind a part; None if that failed, which was reported."""
        return self.binder(fields, self.at(*path)) if self.binder is not None else None

    def at(self, *path: str | int, kind: str | None = None) -> Site:
        """The site of a part."""
        return replace(self, path=(*self.path, *path), kind=kind or self.kind)

    def knowing(self, *names: str) -> Site:
        """The site of a part in which further names are known."""
        return replace(self, known=self.known | frozenset(names))

    def report(self, code: str, message: str, *path: str | int, hint: str = "") -> None:
        """Report a fault of the part at ``path``."""
        self.tell(code, message, *self.path, *path, hint=hint)

    def template(self, text: str, *path: str | int) -> Template | None:
        """Compile a template and check its names; None if a fault was reported."""
        return self._compiled(lambda: self.templates.template(text), path)

    def file(self, name: str, *path: str | int) -> Template | None:
        """Compile a file of the templates folder."""
        made = self._compiled(lambda: self.templates.file(name), path)
        if made is None:
            self.depend(self.root / "templates" / name)
            return None
        for file in self.templates.files_of(name):
            self.depend(file)
        return made

    def expression(self, text: str, *path: str | int) -> Expression | None:
        """Compile a bare expression and check its names."""
        return self._compiled(lambda: self.templates.expression(text), path)

    def tree(self, data: Any, *path: str | int) -> Tree | None:
        """Compile data whose strings are templates; each is checked where it stands."""
        good = not [1 for place, text in _texts(data) if self.template(text, *path, *place) is None]
        return self.templates.tree(data) if good else None

    def _compiled(self, make: Callable[[], M], path: tuple[str | int, ...]) -> M | None:
        try:
            made = make()
        except TemplateFault as fault:
            self.report("bad-template", fault.message, *path)
            return None
        unknown = sorted({read[0] for read in made.reads} - self.known)
        for name in unknown:
            self.report("undefined-name", f"There is no {name!r} here.", *path, hint=nearest(name, self.known))
        return None if unknown else made


def nearest(word: str, known: frozenset[str] | set[str]) -> str:
    """A hint with the known word that was most likely meant, or with all of them."""
    close = get_close_matches(word, sorted(known), n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Known here: {', '.join(sorted(known))}."


def joined(*parts: Any) -> Reads:
    """All that some templates, trees or bindings read."""
    return frozenset[tuple[str, ...]]().union(*(part.reads for part in parts if part is not None))


def _texts(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], str]]:
    if isinstance(data, str):
        return [(path, data)]
    if isinstance(data, Mapping):
        return [found for key, value in data.items() for found in _texts(value, (*path, key))]
    if isinstance(data, list):
        return [found for index, value in enumerate(data) for found in _texts(value, (*path, index))]
    return []
