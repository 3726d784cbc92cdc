"""The ledger of protocol requirements, and the citations in the code that it has to agree with.

Knows: how a row of docs/protocol.md and a ``# spec:`` comment are read, and what a comment stands at. Does not know:
what the specification says, or whether the code does it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "mcpdecl"
PAGE = REPOSITORY / "docs" / "protocol.md"
TOP = "top"  # the section of what a page says before its first heading
HEAD = "| | requirement | section | met by | shown by |"

_CITATION = re.compile(r"# spec: (?P<page>[a-z-]+(?:/[a-z-]+)*)(?P<anchor>#[a-z0-9_-]+)?(?P<note>: \S.*)?")
_REFERENCE = re.compile(r"`([^`]+)`")
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, order=True)
class Citation:
    """A place of the specification, named at a place of the code (``protocol/seal.py::Keyring.open``)."""

    page: str
    section: str
    place: str


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement of the ledger."""

    page: str
    level: str
    requirement: str
    section: str
    met_by: tuple[str, ...]
    shown_by: tuple[str, ...]

    @property
    def citations(self) -> set[Citation]:
        """What has to stand in the code if this row is true."""
        return {Citation(self.page, self.section, place) for place in self.met_by}


# --- the page ----------------------------------------------------------------------------------------------------


def pages(text: str) -> dict[str, list[str]]:
    """The sections of the ledger that hold a table, by their headings: the lines below each table's head."""
    found: dict[str, list[str]] = {}
    for section in text.split("\n## ")[1:]:
        title, _, rest = section.partition("\n")
        _, head, table = rest.partition(HEAD)
        if head:
            assert title not in found, f"two sections are called {title}"
            found[title] = [line for line in table.splitlines() if line.startswith("|")][1:]
    return found


def rows(text: str) -> list[Row]:
    """Every row of the ledger. Raises AssertionError for a line that is none."""
    return [_row(page, line) for page, lines in pages(text).items() for line in lines]


def _row(page: str, line: str) -> Row:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert len(cells) == 5, f"five cells make a row: {line}"
    level, requirement, section, met_by, shown_by = cells
    return Row(page, level, requirement, section.strip("`"), _references(met_by), _references(shown_by))


def _references(cell: str) -> tuple[str, ...]:
    found = tuple(_REFERENCE.findall(cell))
    assert ", ".join(f"`{name}`" for name in found) == cell, f"references between commas: {cell!r}"
    return found


# --- the code ----------------------------------------------------------------------------------------------------


def citations(source: str, module: str) -> Iterator[Citation]:
    """Every ``# spec:`` comment of a module. Raises AssertionError for one that cannot be read or stands at nothing."""
    body = ast.parse(source).body
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and "spec:" in token.string:
            where = f"{module}:{token.start[0]}"
            match = _CITATION.fullmatch(token.string)
            assert match is not None, f"{where}: write # spec: page#anchor, and a note after a colon"
            name = _name_at(body, token.start[0])
            assert name is not None, f"{where}: a citation stands at a function, a class or a constant"
            yield Citation(match["page"], match["anchor"] or TOP, f"{module}::{name}")


def cited() -> set[Citation]:
    """Every citation of the package."""
    return {
        citation
        for path in sorted(PACKAGE.rglob("*.py"))
        for citation in citations(path.read_text("utf-8"), path.relative_to(PACKAGE).as_posix())
    }


def _name_at(body: Sequence[ast.stmt], line: int) -> str | None:
    """The function, class or constant around a line, or right below it. A function hides what is inside it."""
    node = next((node for node in body if (node.end_lineno or 0) >= line), None)
    if isinstance(node, ast.ClassDef) and line > node.lineno:
        inner = _name_at(node.body, line)
        return f"{node.name}.{inner}" if inner is not None else None
    if isinstance(node, _Function | ast.ClassDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) else None


def names_of_tests(path: Path) -> set[str]:
    """The names of the tests of a file."""
    functions = (node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, _Function))
    return {node.name for node in functions if node.name.startswith("test_")}
