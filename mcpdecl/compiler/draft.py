"""One item while it is compiled: what it may look at, what it depends on, and what is found wrong with it.

Knows: the folder around the item, its names, and how a template in it is compiled. Does not know: what kind of item
it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpdecl.bindings import Site, bind
from mcpdecl.bindings.python import Modules
from mcpdecl.compiler.folder import Files
from mcpdecl.compiler.names import Names, texts
from mcpdecl.compiler.schema_files import SchemaFiles
from mcpdecl.compiler.schemas import Text, from_short
from mcpdecl.compiler.written import Finding, Report, Written
from mcpdecl.compiler.written import Path as Steps
from mcpdecl.diagnostics import Span
from mcpdecl.manifest.declarations import Kind
from mcpdecl.schema import SchemaFault
from mcpdecl.templates import Reads, TemplateFault, Templates, Tree

WORDS = frozenset({"message", "url", "text", "systemPrompt"})  # what is read in a question is text
NONE = Names({}, frozenset(), frozenset(), {}, closed=True)


@dataclass(frozen=True, slots=True)
class FormText:
    """A form of the folder: what questions take over from it. ``text`` is None where it has no fields of its own.

    ``digest`` changes when anything that they take over does.
    """

    name: str
    fields: Mapping[str, Any]
    text: Text | None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Folder:
    """What all items of one load share."""

    files: Files
    templates: Templates
    environ: Mapping[str, str]
    modules: Modules
    resolve: bool
    forms: dict[str, FormText]

    @property
    def root(self) -> Path:
        """The root."""
        return self.files.root


@dataclass(slots=True)
class Draft:
    """``written`` is the item with its load-time values filled in; ``enabled`` is false where it is not served.

    ``depends`` are files that it names, ``asks_for`` forms that it names (there or not), ``env`` variables it reads;
    ``env_when_used`` are those among them that are read at call time.
    """

    folder: Folder
    kind: Kind
    name: str
    written: Written
    enabled: bool = True
    report: Report = field(default_factory=Report)
    names: Names = NONE
    input: Text | None = None
    depends: set[Path] = field(default_factory=set)
    asks_for: set[str] = field(default_factory=set)
    env: set[str] = field(default_factory=set)
    env_when_used: set[str] = field(default_factory=set)
    _schemas: dict[tuple[Steps, str, str], Text | None] = field(default_factory=dict)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The merged fields of the item."""
        return self.written.fields

    def add(self, finding: Finding) -> None:
        """Report a finding."""
        self.report.add(finding)

    @property
    def faulty(self) -> bool:
        """Whether an error was found."""
        return any(finding.is_error for finding in self.report.findings)

    def at(self, path: Steps) -> Any:
        """The part of the fields at a path, None where there is none."""
        part: Any = self.fields
        for step in path:
            if isinstance(part, dict):
                part = part.get(step)
            else:
                part = part[step] if isinstance(part, list) and isinstance(step, int) else None
        return part

    # --- schemas

    def schema(self, at: Steps, short: str, full: str, *, closed: bool) -> Text | None:
        """The schema under one of two keys of the part at ``at``; None where there is none, or it was reported."""
        key = (at, short, full)
        if key not in self._schemas:
            self._schemas[key] = self._schema(at, short, full, closed)
        return self._schemas[key]

    def _schema(self, at: Steps, short: str, full: str, closed: bool) -> Text | None:
        part = self.at(at)
        word = short if short in part else full
        if word not in part:
            return None
        path, value = (*at, word), part[word]
        if isinstance(value, str):
            return self._from_file(path, value, word == short, closed)
        if word != short:
            return Text(value, lambda pointer: (*path, *pointer))
        try:
            return from_short(value, path, closed=closed)
        except SchemaFault as fault:
            self.report(fault.code, fault.message, *path, *fault.pointer, hint=fault.hint)
            return None

    def _from_file(self, path: Steps, name: str, short: bool, closed: bool) -> Text | None:
        reader = SchemaFiles(self.folder.files, self.depends.add)

        def tell(code: str, message: str, hint: str) -> None:
            self.report(code, message, *path, hint=hint)

        return reader.text(name, short=short, closed=closed, tell=tell, add=self.add)

    def form(self, name: str) -> FormText | None:
        """A form of the folder."""
        self.asks_for.add(name)
        return self.folder.forms.get(name)

    # --- templates

    def read_when_used(self, reads: Reads) -> None:
        """Note which variables of the environment are among what is read at call time."""
        self.env_when_used |= {read[1] for read in reads if read[0] == "env" and len(read) > 1}

    def site(self, *path: str | int, kind: str = "", words: frozenset[str] = frozenset()) -> Site:
        """What a binding, or anything else with templates, at ``path`` may use; ``words`` are known there besides."""
        text = self.input
        return Site(
            root=self.folder.root,
            templates=self.folder.templates,
            known=self.names.known | words,
            arguments=text.properties if text is not None else {},
            required=text.required if text is not None else frozenset(),
            modules=self.folder.modules,
            tell=self.report,
            depend=self.depends.add,
            environ=self.folder.environ,
            open=text is not None and text.open,
            resolve=self.folder.resolve,
            kind=kind or self.kind,
            path=path,
            binder=bind,
        )

    def quietly(self, data: Any) -> Tree | None:
        """Compile data whose templates were judged before, part by part, where they stand."""
        try:
            return self.folder.templates.tree(data, WORDS)
        except TemplateFault:
            return None

    def borrowed(self, data: Any, *path: str | int) -> Tree | None:
        """Compile data that comes from a form of another place; what is wrong with it here is told at ``path``."""
        try:
            tree = self.folder.templates.tree(data, WORDS)
        except TemplateFault:
            return None  # told where the form stands
        unknown = sorted({read[0] for read in tree.reads} - self.names.known)
        if unknown:
            hint = "Declare it here as an argument or a var, or give the question a message of its own."
            self.report("undefined-name", f"The form reads {unknown[0]!r}, which is not known here.", *path, hint=hint)
        return None if unknown else tree

    def templates_of(self, text: Text) -> bool:
        """Compile every template in a schema where it stands; whether all of them could be."""
        good = True
        for pointer, part in texts(text.data):
            where = text.locate(pointer)
            if isinstance(where, Span):
                good = self._in_file(part, where) and good
            else:
                good = self.site(*where).template(part) is not None and good
        return good

    def _in_file(self, part: str, where: Span) -> bool:
        try:
            reads = self.folder.templates.template(part).reads
        except TemplateFault as fault:
            self.add(Finding("bad-template", fault.message, place=where))
            return False
        unknown = sorted({read[0] for read in reads} - self.names.known)
        if unknown:
            self.add(Finding("undefined-name", f"There is no {unknown[0]!r} here.", place=where))
        return not unknown
