"""Folders of manifests for tests, in which marks say what a diagnostic must point at.

``«…»`` around a part of a file is the exact stretch that is expected to be marked; the marks are not written.

Knows: how a folder is written, loaded and edited. Does not know: what is in it.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from mcpdecl import compiler
from mcpdecl.catalogue import Catalogue
from mcpdecl.compiler import Loaded, Memo
from mcpdecl.diagnostics import CODES, Diagnostic, Span

ONE = "manifests/one.yaml"
ENVIRON = {"PATH": os.environ.get("PATH", "")}
_MARK = re.compile("[«»]")

Files = Mapping[str, str | bytes]
Found = tuple[str, str, int, int, str]


@dataclass
class Project:
    """A root folder that is written, loaded and edited; each load takes over from the one before."""

    root: Path
    environ: dict[str, str] = field(default_factory=lambda: dict(ENVIRON))
    memo: Memo | None = None

    def write(self, files: Files | str) -> list[tuple[str, int, int, str]]:
        """Write files (a text alone is one manifest) and return the marks in them: file, line, column, text."""
        marks: list[tuple[str, int, int, str]] = []
        for name, text in ({ONE: files} if isinstance(files, str) else files).items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(text, bytes):
                path.write_bytes(text)
                continue
            plain, found = unmarked(textwrap.dedent(text))
            path.write_text(plain, "utf-8")
            marks += [(name, *mark) for mark in found]
        return marks

    def load(self, **more: Any) -> Loaded:
        """Load the folder, going on from the last load."""
        loaded = compiler.load(self.root / "manifests", memo=self.memo, environ=self.environ, **more)
        for diagnostic in loaded.diagnostics:
            assert diagnostic.code in CODES
            assert diagnostic.message
        has_error = any(d.severity == "error" for d in loaded.diagnostics)
        assert (loaded.catalogue is None) == has_error
        self.memo = loaded.memo
        return loaded

    def fresh(self, **more: Any) -> Loaded:
        """Load the folder as a new process would."""
        return compiler.load(self.root / "manifests", environ=self.environ, **more)

    def counts(self) -> tuple[int, int]:
        """Load, which must succeed; how many manifests were parsed and how many items compiled."""
        loaded = self.load()
        assert loaded.catalogue is not None, told(loaded, self.root)
        return loaded.memo.parsed, loaded.memo.compiled

    def catalogue(self, files: Files | str, **more: Any) -> Catalogue:
        """Write files and load them without an error."""
        self.write(files)
        loaded = self.load(**more)
        assert loaded.catalogue is not None, told(loaded, self.root)
        return loaded.catalogue

    def found(self, loaded: Loaded) -> list[Found]:
        """Every diagnostic as code, file, line, column (both 0-based) and marked text."""
        return found(loaded, self.root)

    def text(self, span: Span) -> str:
        """The source between a span's ends."""
        return marked(span, self.root)

    def check(self, files: Files | str, *codes: str, **more: Any) -> list[Diagnostic]:
        """Write files, load, and hold what is found against ``codes`` in order of the marks in the files."""
        marks = sorted(self.write(files))
        loaded = self.load(**more)
        assert len(codes) == len(marks), f"{len(codes)} codes and {len(marks)} marks"
        expected = sorted((code, *mark) for code, mark in zip(codes, marks, strict=True))
        assert sorted(self.found(loaded)) == expected, told(loaded, self.root)
        return list(loaded.diagnostics)


def unmarked(text: str) -> tuple[str, list[tuple[int, int, str]]]:
    """A text without its marks, and each mark: line, column, what it holds. Marks may lie in one another."""
    plain, opened, found = "", list[tuple[int, int, int]](), list[tuple[int, int, str]]()
    at = 0
    for match in _MARK.finditer(text):
        plain += text[at : match.start()]
        at = match.end()
        if match[0] == "«":
            opened.append((plain.count("\n"), len(plain) - plain.rfind("\n") - 1, len(plain)))
        else:
            line, column, start = opened.pop()
            found.append((line, column, plain[start:].rstrip()))
    return plain + text[at:], found


def marked(span: Span, root: Path) -> str:
    """The source between a span's ends, without the blanks after it."""
    path = root / span.file
    if not path.is_file():
        return ""
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    rows = lines[span.line : span.end_line + 1]
    if not rows:
        return ""
    if span.end_line < len(lines):
        rows[-1] = rows[-1][: span.end_column]
    rows[0] = rows[0][span.column :]
    return "\n".join(rows).rstrip()


def found(loaded: Loaded, root: Path) -> list[Found]:
    """Every diagnostic as code, file, line, column (both 0-based) and marked text."""
    return [
        (d.code, d.span.file, d.span.line, d.span.column, marked(d.span, root)) if d.span else (d.code, "", 0, 0, "")
        for d in loaded.diagnostics
    ]


def told(loaded: Loaded, root: Path) -> str:
    """What was found, for people."""
    rows = zip(found(loaded, root), loaded.diagnostics, strict=True)
    return "\n".join(f"{place}\n    {d.message} | {d.hint}" for place, d in rows)


def wire(data: bytes) -> Any:
    """A descriptor as a client reads it."""
    return msgspec.json.decode(data)


def message_of(diagnostics: list[Diagnostic], code: str) -> str:
    """The message of the one diagnostic with a code."""
    (one,) = [d for d in diagnostics if d.code == code]
    return one.message
