"""``mcpdecl check``: every problem of a folder of manifests at once.

Knows: how problems are listed and summed up, and the exit code. Does not know: what is a problem.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import click
import msgspec

from mcpdecl import compiler
from mcpdecl.catalogue import Catalogue, counted
from mcpdecl.compiler.folder import locate
from mcpdecl.diagnostics import Diagnostic, errors, render

COLOURS = {"error": "red", "warning": "yellow"}


@click.command()
@click.argument("location", type=click.Path(path_type=Path, exists=True), default=Path("manifests"))
@click.option("--root", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Where paths start.")
@click.option("--no-resolve", is_flag=True, help="Import no Python; callables are taken at their word.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(location: Path, root: Path | None, no_resolve: bool, form: Literal["text", "json"]) -> None:
    """Report every problem of the manifests at LOCATION. Exits 1 if there is an error."""
    loaded = compiler.load(location, root=root, resolve=not no_resolve)
    if form == "json":
        click.echo(msgspec.json.encode([_plain(found) for found in loaded.diagnostics]))
    else:
        _tell(loaded.diagnostics, texts_below(locate(location, root)[1]))
        click.echo(_sum(loaded.diagnostics, loaded.catalogue))
    sys.exit(1 if errors(loaded.diagnostics) else 0)


def texts_below(root: Path) -> Callable[[str], str | None]:
    """Reads the files that spans name: paths relative to the root."""

    def text_of(file: str) -> str | None:
        try:
            return (root / file).read_text("utf-8-sig", errors="replace")
        except OSError:
            return None

    return text_of


def _tell(found: Iterable[Diagnostic], text_of: Callable[[str], str | None]) -> None:
    for diagnostic in found:
        head, _, rest = render(diagnostic, text_of).partition("\n")
        # click leaves colours out where nobody sees them
        click.echo(click.style(head, fg=COLOURS[diagnostic.severity], bold=True))
        click.echo(f"{rest}\n" if rest else "")


def _sum(found: tuple[Diagnostic, ...], catalogue: Catalogue | None) -> str:
    bad = len(errors(found))
    mild = len(found) - bad
    files = len({diagnostic.span.file for diagnostic in found if diagnostic.span is not None})
    parts = [counted(number, word) for number, word in ((bad, "error"), (mild, "warning")) if number]
    told = f"{', '.join(parts)} in {counted(files, 'file')}" if files else ", ".join(parts)
    if catalogue is None:
        return told
    fine = f"OK: {catalogue.summary}, {counted(len(catalogue.forms), 'form')}"
    return f"{fine}; {told}" if told else fine


def _plain(found: Diagnostic) -> dict[str, object]:
    """A diagnostic for programs; lines and columns are counted from 1, as editors do."""
    place = found.span
    where = {} if place is None else {"file": place.file, "line": place.line + 1, "column": place.column + 1}
    return {"code": found.code, "severity": found.severity, "message": found.message, "hint": found.hint, **where}
