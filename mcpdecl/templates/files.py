"""Compiling: from template text, or a file of the templates folder, to code that Jinja runs.

Knows: the folder, what includes what, and where in a text a fault is. Does not know: values. Importing it
imports Jinja.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import jinja2
from jinja2 import nodes
from jinja2.loaders import split_template_path
from jinja2.parser import Parser

from mcpdecl.templates.reading import Reader, guarded
from mcpdecl.templates.sandbox import Sandbox
from mcpdecl.templates.values import TemplateFault

T = TypeVar("T")
Reads = frozenset[tuple[str, ...]]
_QUOTED = re.compile(r"'([^']+)'")


class Compiler:
    """One Jinja environment over one folder. Every method raises TemplateFault."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._sources: dict[str, str] = {}
        self._reads: dict[str, Reads] = {}
        self._includes: dict[str, set[str]] = {}
        self._environment = Sandbox(jinja2.FunctionLoader(self._load))

    def read(self, text: str) -> tuple[nodes.Template, Reads]:
        """The tree of a template as written, and the names that it reads."""
        tree = _located(text, lambda: self._environment.tree_of(text))
        return tree, self._names(tree, None)

    def read_expression(self, text: str) -> tuple[nodes.Expr, Reads]:
        """The tree of a bare expression, and the names that it reads."""

        def parse() -> nodes.Expr:
            parser = Parser(self._environment, text, state="variable")
            found: nodes.Expr = parser.parse_expression()
            if not parser.stream.eos:
                parser.fail(f"unexpected '{parser.stream.current.value}'", parser.stream.current.lineno)
            return found

        tree = _located(text, parse)
        return tree, self._names(tree, None)

    def read_file(self, name: str) -> tuple[nodes.Template, Reads]:
        """The tree of a file as written, and the names that it and all that it includes read."""
        text = self.source(name)
        tree = _located(text, lambda: self._environment.tree_of(text, name))
        self._reads.setdefault(name, frozenset())  # what includes itself adds nothing new
        self._includes.setdefault(name, set())
        self._reads[name] = self._names(tree, name)
        return tree, self._reads[name]

    @staticmethod
    def lone(tree: nodes.Template) -> nodes.Expr | None:
        """The expression, if the template is one and nothing else."""
        output = tree.body[0] if len(tree.body) == 1 else None
        if not isinstance(output, nodes.Output) or len(output.nodes) != 1:
            return None
        return None if isinstance(output.nodes[0], nodes.TemplateData) else output.nodes[0]

    def code(self, text: str) -> jinja2.Template:
        """The code of a template."""
        return _located(text, lambda: self._environment.from_string(text))

    def value(self, expression: nodes.Expr) -> jinja2.Template:
        """Code that leaves the value of an expression in its variable ``result``."""
        body: list[nodes.Node] = [nodes.Assign(nodes.Name("result", "store"), expression, lineno=1)]
        tree = guarded(nodes.Template(body, lineno=1), self._environment)
        return _located("", lambda: self._environment.from_string(tree))

    def file(self, name: str) -> jinja2.Template:
        """The code of a file."""
        return _located(self.source(name), lambda: self._environment.get_template(name))

    def files_of(self, name: str) -> frozenset[Path]:
        """The paths of a file and of all that it takes in."""
        if name not in self._includes:
            self.read_file(name)
        found, waiting = set[str](), [name]
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting += self._includes.get(current, ())
        return frozenset(self._path(n) for n in found)

    def source(self, name: str) -> str:
        """The text of a file, read once."""
        if name not in self._sources:
            self._sources[name] = _read(self._path(name), name)
        return self._sources[name]

    def _names(self, tree: nodes.Node, name: str | None) -> Reads:
        def of_file(other: str) -> Reads:
            if name is not None:
                self._includes[name].add(other)
            if other not in self._reads:
                self.read_file(other)
                # Compiled now: a call must not find a fault, nor read a file.
                self.file(other)
            return self._reads[other]

        reader = Reader(of_file)
        reader.visit(tree, set())
        return frozenset(reader.found)

    def _path(self, name: str) -> Path:
        if self._folder is None:
            raise TemplateFault(f"There is no templates folder for {name!r}.")
        try:
            return self._folder.joinpath(*split_template_path(name))
        except jinja2.TemplateNotFound:
            raise TemplateFault(f"The template {name!r} is not below the templates folder.") from None

    def _load(self, name: str) -> str | None:
        try:
            return self.source(name)
        except TemplateFault:
            return None  # Jinja goes on where it says "ignore missing"


def _read(path: Path, name: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise TemplateFault(f"The template {name!r} is not UTF-8 (byte {fault.start}).") from None
    except OSError as fault:
        raise TemplateFault(f"The template {name!r} cannot be read: {fault.strerror}.") from None


def _located(text: str, compile_: Callable[[], T]) -> T:
    """Run a step of compiling; its faults get the place in the text."""
    try:
        return compile_()
    except jinja2.TemplateSyntaxError as fault:
        line = (fault.lineno or 1) - 1
        raise TemplateFault(f"{_sentence(fault.message or 'invalid')}", line, _column(text, line, fault)) from None
    except RecursionError:
        raise TemplateFault("The template is nested too deeply.") from None
    except (ValueError, SyntaxError, OverflowError, MemoryError) as fault:
        raise TemplateFault(f"The template cannot be compiled ({type(fault).__name__}).") from None


def _column(text: str, line: int, fault: jinja2.TemplateSyntaxError) -> int:
    rows = text.split("\n")
    row = rows[line] if line < len(rows) else ""
    for word in _QUOTED.findall(fault.message or ""):
        if word in row:
            return row.find(word)
    found = re.search(r"\{[{%#]", row)
    return found.start() if found else 0


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?")) else text + "."
