"""The page ``docs/errors.md``, made from the codes: ``python -m tests.errors_page > docs/errors.md``.

Knows: how a code is shown to people. Does not know: what a code means.
"""

from __future__ import annotations

from mcpdecl.diagnostics import CODES, Code

INTRODUCTION = """\
# What can go wrong

Every code is stable: a script may look for it. This page is made by `python -m tests.errors_page > docs/errors.md`, and
a test holds it complete.
"""

LOADING = """\
## While loading

`mcpdecl check` and `mcpdecl serve` report these with file, line and caret, all at once. A warning keeps nothing from
being served. An error does: at start nothing is served, later the last good catalogue goes on.
"""

ANSWERING = """\
## Answered to a client

These travel as JSON-RPC errors; the HTTP status goes with them where HTTP is the transport. What fails *inside* a tool
(a program that exits with 1, arguments that do not fit the schema, a declined question) is no error of the protocol but
a result with `isError: true`, so that the model can read it.
"""


def page() -> str:
    """The whole page as Markdown."""
    loading = {name: code for name, code in CODES.items() if code.rpc is None}
    answering = {name: code for name, code in CODES.items() if code.rpc is not None}
    parts = [INTRODUCTION, LOADING, *_entries(loading), ANSWERING, *_entries(answering)]
    return "\n".join(parts)


def _entries(codes: dict[str, Code]) -> list[str]:
    return [_entry(name, codes[name]) for name in sorted(codes)]


def _entry(name: str, code: Code) -> str:
    wire = f" JSON-RPC {code.rpc}, HTTP {code.status}." if code.rpc is not None else ""
    kind = " A warning." if code.severity == "warning" else ""
    return f"### `{name}`\n\n{code.title}.{wire}{kind}\n\n```text\n{code.example}\n```\n"


if __name__ == "__main__":
    print(page(), end="")
