"""All that can go wrong, and how it is told: to authors, to clients, to operators.

Knows: every stable code, its severity and what it means on the wire. Does not know: who finds a fault, or where a
telling is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a file. Lines and columns are 0-based and count characters; the end is exclusive.

    ``file`` is the path as the author would type it, relative to the root.
    """

    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault or warning found while loading, with its place.

    ``message`` is one sentence that names the thing; ``hint`` is the remedy; ``related`` are further places with a
    caption each ("first declared here").
    """

    code: str
    message: str
    span: Span | None = None
    hint: str = ""
    related: tuple[tuple[str, Span], ...] = ()

    @property
    def severity(self) -> Severity:
        """The severity that CODES gives the code."""
        return CODES[self.code].severity


@dataclass(frozen=True, slots=True)
class Code:
    """What a stable code means.

    ``rpc`` is the JSON-RPC error code for clients (None: it never reaches a client as an error), ``status`` the HTTP
    status that goes with it, ``example`` a message as a user would meet it.
    """

    title: str
    example: str
    severity: Severity = "error"
    rpc: int | None = None
    status: int = 200


class Refused(Exception):
    """A request that is answered with a JSON-RPC error.

    ``code`` is a key of CODES, ``message`` what the client reads, ``data`` the error's ``data`` member or None.
    """

    def __init__(self, code: str, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


CODES: dict[str, Code] = {
    # manifest/: what an author wrote
    # schema.py
    # templates.py
    # compiler.py and uris.py
    # bindings/
    # protocol/: answered to clients
    "parse-error": Code("The body is not JSON", "The body is not valid JSON.", rpc=-32700, status=400),
    "invalid-request": Code(
        "The message is not a JSON-RPC request", "A request needs a string or integer id.", rpc=-32600, status=400
    ),
    "method-not-found": Code("Unknown method", "Unknown method: tools/run", rpc=-32601, status=404),
    "invalid-params": Code("The parameters do not fit", "params.name must be a string.", rpc=-32602, status=400),
    "unknown-tool": Code("No such tool", "Unknown tool: delete_everything", rpc=-32602, status=200),
    "unknown-prompt": Code("No such prompt", "Unknown prompt: reviwe", rpc=-32602, status=200),
    "unknown-resource": Code("No such resource", "Unknown resource: repo://nowhere", rpc=-32602, status=200),
    "state-rejected": Code(
        "A requestState that is not accepted",
        "This requestState is not valid here; start the request again without it.",
        rpc=-32602,
        status=400,
    ),
    "header-mismatch": Code(
        "A header differs from the body",
        "Header mismatch: Mcp-Name is 'a' and the body says 'b'.",
        rpc=-32020,
        status=400,
    ),
    "missing-capability": Code(
        "The client lacks a capability",
        "This needs a client that declares elicitation.",
        rpc=-32021,
        status=400,
    ),
    "unsupported-version": Code(
        "A protocol version that is not served", "Unsupported protocol version: 2099-01-01", rpc=-32022, status=400
    ),
    "internal-error": Code("A fault of the server", "Internal error (incident 5f2c81aa)", rpc=-32603, status=200),
    # server.py, transports/, reloader.py and cli/
}


def render(diagnostic: Diagnostic, text_of: Callable[[str], str | None]) -> str:
    """Tell a diagnostic to its author: ``file:line:column``, the line and a caret, the remedy.

    ``text_of`` gives the text of a file named by a span, or None where it cannot be read.
    """
    head = f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"
    lines = [head]
    if diagnostic.span is not None:
        lines += _excerpt(diagnostic.span, text_of)
    for caption, span in diagnostic.related:
        lines.append(f"  {caption}:")
        lines += _excerpt(span, text_of)
    if diagnostic.hint:
        lines.append(f"  help: {diagnostic.hint}")
    return "\n".join(lines)


def _excerpt(span: Span, text_of: Callable[[str], str | None]) -> list[str]:
    place = f"  --> {span.file}:{span.line + 1}:{span.column + 1}"
    text = text_of(span.file)
    rows = text.splitlines() if text is not None else []
    if span.line >= len(rows):
        return [place]
    row = rows[span.line]
    width = span.end_column - span.column if span.end_line == span.line else len(row) - span.column
    number = str(span.line + 1)
    gutter = " " * len(number)
    shown = row.expandtabs(1)
    return [
        place,
        f"  {gutter} |",
        f"  {number} | {escape(shown, limit=200)}",
        f"  {gutter} | {' ' * min(span.column, 200)}{'^' * max(1, min(width, 200))}",
    ]


def escape(text: str, limit: int = 500) -> str:
    """Make text from elsewhere safe for one line of a terminal or a log: no control characters, bounded length."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut)


def errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those that keep a catalogue from being served."""
    return [d for d in diagnostics if d.severity == "error"]
