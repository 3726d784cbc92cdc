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


# spec: basic/index#error-codes: JSON-RPC's own and the three of the specification, as it means them; no others
CODES: dict[str, Code] = {
    # manifest/: what an author wrote
    "not-utf8": Code("The file is not UTF-8", "The file is UTF-16 (byte offset 0); manifests are UTF-8."),
    "yaml-syntax": Code("The file is not YAML", "A tab indents this line; YAML is indented with blanks."),
    "yaml-tag": Code("A YAML tag", "Tags such as !!python/object are not used here."),
    "manifest-too-large": Code("The manifest is too large or too deep", "This is nested more than 64 levels deep."),
    "bad-alias": Code("An alias or merge key that names nothing usable", "There is no &limits above."),
    "bad-key": Code("A key that is not text", "A key must be text, not null."),
    "duplicate-key": Code("A key that is there twice", "The key 'env' is here twice."),
    "unquoted-template": Code("A template without quotes", "An unquoted {{ … }} is a mapping in YAML, not a template."),
    "ambiguous-value": Code(
        "A value that people read differently",
        "02142 has a leading zero, which some read as octal and some drop (tools.find.vars).",
    ),
    "swallowed-comment": Code(
        "A # that cuts a value short",
        "Everything from # on is a comment here, so this value is only 'Issue'.",
        severity="warning",
    ),
    "folded-newlines": Code(
        "A folded text that keeps its line breaks",
        "The folded text in tools.tag.command[1] still has line breaks: lines that are indented further keep theirs.",
        severity="warning",
    ),
    "unknown-key": Code("A key that nothing knows", "Unknown key 'timeot' in tools.find."),
    "missing-key": Code("A key that is needed", "resources.readme needs one of 'uri', 'uriTemplate'."),
    "conflicting-keys": Code(
        "Keys that exclude each other", "tools.find has both 'input' and 'inputSchema'; they exclude each other."
    ),
    "wrong-type": Code("A value of the wrong type", "tools.find.command must be a list, not 'git log'."),
    "bad-value": Code("A value that cannot be", "tools.find.timeout cannot be '30'."),
    "bad-name": Code("A name that cannot be", "'New Tool' cannot be a name in tools."),
    "risky-name": Code(
        "A name that several clients reject",
        "The tool name 'db.query' is rejected by several clients.",
        severity="warning",
    ),
    "schema-in-short-form": Code(
        "A whole JSON Schema where properties stand",
        "tools.find.input takes properties by name; 'type: object' begins a whole JSON Schema.",
    ),
    "newer-format": Code(
        "A manifest for a newer mcpdecl",
        "This manifest is of format 2 and needs a newer mcpdecl; this one knows format 1.",
    ),
    # schema.py
    "invalid-schema": Code("A JSON Schema that is not valid", "'strnig' is not a type; did you mean 'string'?"),
    "unknown-dialect": Code(
        "A JSON Schema dialect that is not known", "The dialect https://example.com/schema is not known."
    ),
    "remote-ref": Code(
        "A reference to another place", "$ref leads to https://example.com/a.json; nothing is ever fetched."
    ),
    "bad-default": Code("A default that does not fit its own schema", "The default does not fit: must be an integer."),
    "bad-header-parameter": Code("An x-mcp-header that clients refuse", "x-mcp-header cannot stand on a number."),
    "bad-form-field": Code("A form field that clients cannot draw", "'address' is an object; forms are flat."),
    "bad-property-name": Code(
        "A property name that some clients refuse", "'Straße nr.' is refused by some clients.", severity="warning"
    ),
    "unknown-format": Code(
        "A format that is not checked", "The format 'datetime' is not known and not checked.", severity="warning"
    ),
    "unknown-keyword": Code(
        "A keyword that JSON Schema does not have", "'requird' is no keyword of JSON Schema.", severity="warning"
    ),
    # templates.py
    "bad-template": Code("A template that cannot be compiled", "This is no template: unexpected end of template."),
    "undefined-name": Code("A name that means nothing here", "There is no 'wrod' here."),
    # compiler.py and uris.py
    "duplicate-name": Code("Two things of one kind with one name", "The tool 'greet' is declared twice."),
    "unknown-argument": Code(
        "An argument that nothing can give",
        "The URI template has no variable 'sah', so nothing can give this argument a value.",
    ),
    "outside-root": Code("A file outside the root", "'../schema.json' leads out of the root."),
    "missing-file": Code("A schema file that is not there", "There is no file 'schemas/order.json'."),
    "missing-folder": Code("A folder that is not there", "There is no folder 'docs'.", severity="warning"),
    "bad-confinement": Code("A within that would not hold", "within needs type: string at 'path'."),
    "unanchored-pattern": Code(
        "A pattern that is no gate",
        "This pattern may match a part of 'host', and the whole of it goes to a program.",
        severity="warning",
    ),
    "secret-field": Code(
        "A form that asks for a secret", "The field 'api_key' seems to ask for a secret.", severity="warning"
    ),
    "no-manifests": Code("A place without manifests", "There are no manifests at manifests."),
    "unreadable-file": Code("A manifest that cannot be read", "manifests/tools.yaml cannot be read."),
    "empty-manifest": Code("A manifest that says nothing", "manifests/tools.yaml is empty.", severity="warning"),
    "bad-env-file": Code("A line of .env that cannot be read", "This line is not KEY=value in UTF-8."),
    "unset-variable": Code(
        "An environment variable that is not set", "The environment variable TRACKER_URL is not set."
    ),
    "template-not-read": Code(
        "Braces that stay as they are",
        "{{ word }} stays as it is written: here only {{ env.NAME }} is filled in.",
        severity="warning",
    ),
    "duplicate-server": Code(
        "server is written twice", "server is written twice; it is said once in the whole folder."
    ),
    "duplicate-uri": Code("Two resources with one URI", "repo://readme is the URI of two resources."),
    "bad-schema-file": Code("A schema file that cannot be used", "schemas/order.json is not JSON or YAML."),
    "not-an-object": Code("An input schema that is no object", "An input schema must have type: object."),
    "missing-description": Code(
        "A tool that nobody can choose", "The tool 'greet' has no description.", severity="warning"
    ),
    "bad-uri": Code("Text that is no URI", "'my readme' is not a URI."),
    "bad-uri-template": Code(
        "A URI template that cannot be used", "{path*} is not supported; write {path} or {+path}."
    ),
    "unused-variable": Code(
        "A variable of a URI template that nothing uses", "Nothing uses the variable 'sha' of the URI."
    ),
    "unknown-reference": Code("A resource of ours that is not there", "No resource here has the URI repo://raedme."),
    "reserved-name": Code("A name that is reserved", "A var cannot be called 'answers': the word is reserved."),
    "ambiguous-name": Code("A name with two meanings", "'client' is an argument and a reserved word here."),
    "name-clash": Code("One name for two things", "'diff' is an argument and a var."),
    "unused-name": Code("A var or an answer that nothing reads", "Nothing reads the var 'diff'.", severity="warning"),
    "circle": Code("Things that wait for each other", "These vars wait for each other: a → b → a."),
    "unknown-answer": Code("An answer to a question that is not asked", "There is no question 'confrim' in ask."),
    "unknown-form": Code("A form that is not declared", "There is no form 'relase'."),
    "bad-question": Code("A question that cannot be put", "The form 'release' has no message."),
    "secret-in-question": Code(
        "A question that shows a secret",
        "A question must not hold a secret of the environment: users, clients and logs see it.",
    ),
    "unknown-capability": Code("A client capability that does not exist", "No client declares 'eliciting'."),
    # bindings/
    "no-binding": Code("Nothing says how it runs", "Nothing says how this runs."),
    "two-bindings": Code("More than one binding", "command and text are both here; a thing runs through exactly one."),
    "bad-command": Code("A command that cannot be run", "The program of a command cannot be a template."),
    "program-not-found": Code("A program that is not there", "There is no program 'gti' on PATH.", severity="warning"),
    "bad-pattern": Code("A pattern that cannot be used", "Groups are progress, total and message; one at least."),
    "bad-module": Code("A module that cannot be imported", "There is no module 'wether'."),
    "bad-callable": Code("A callable that is not there", "weather has no 'curent'."),
    "bad-parameters": Code(
        "Parameters that do not fit the arguments", "weather:current does not take the argument 'town'."
    ),
    "file-not-found": Code("A named file is not there", "There is no file READ.md in the root folder."),
    "file-outside": Code("A named file is outside the root", "../secrets.txt is not inside the root folder."),
    "file-too-large": Code("A named file is too large", "logo.png is larger than 8000000 bytes."),
    "folder-not-found": Code("A named folder is not there", "There is no folder dosc in the root folder."),
    "folder-outside": Code("A named folder is outside the root", "../notes is not inside the root folder."),
    "folder-variable": Code(
        "A URI template that cannot carry the paths of a folder",
        "{path} carries no folders, and '**/*.md' includes files in folders.",
    ),
    "folder-too-large": Code(
        "A folder with too many files to list",
        "docs holds more than 10000 files; the others are neither listed nor watched.",
        severity="warning",
    ),
    "unknown-mime": Code("A file whose kind is unclear", "logo.dat does not look like image."),
    "bad-base64": Code("Data that is not base64", "data is not base64."),
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
    "host-refused": Code(
        "A Host that is not served",
        "Host 'box:8000' is not served here; add it to server.hosts in the manifest.",
        rpc=-32600,
        status=421,
    ),
    "origin-refused": Code(
        "A web page of a foreign origin",
        "Origin 'https://evil.test' is not allowed; add it to server.origins in the manifest.",
        rpc=-32600,
        status=403,
    ),
    "method-not-allowed": Code("Not a POST", "The MCP endpoint takes POST, not GET.", rpc=-32600, status=405),
    "not-acceptable": Code(
        "The client accepts no format that is served",
        "subscriptions/listen answers with text/event-stream, which Accept leaves out.",
        rpc=-32600,
        status=406,
    ),
    "too-large": Code("A body that is too large", "The body is larger than 4 MiB.", rpc=-32600, status=413),
    "media-type-refused": Code(
        "A body that is not JSON", "Content-Type must be application/json.", rpc=-32600, status=415
    ),
    "headers-too-large": Code(
        "Headers that are too large", "The headers are larger than 64 KiB.", rpc=-32600, status=431
    ),
    "too-many-listeners": Code(
        "Too many listeners", "Too many listeners; close some, or try again later.", rpc=-32603, status=503
    ),
    "rate-limited": Code(
        "Too many requests of one kind",
        "rate limit of completion/complete reached; retry in 1 s",
        rpc=-32603,
        status=429,
    ),
    "shutting-down": Code("The server is ending", "The server is shutting down.", rpc=-32603, status=503),
    "bad-keys": Code(
        "MCPDECL_KEYS is not usable",
        "MCPDECL_KEYS: key 2 has 12 characters; each needs at least 32",
    ),
    "unsafe-bind": Code(
        "Listening beyond this machine without saying so",
        "--host 0.0.0.0 lets others in: name the hosts it is called by in server.hosts, and add --unauthenticated if "
        "everybody may call",
    ),
    "cannot-listen": Code("The address cannot be used", "port 8000 is in use (127.0.0.1); choose another with --port"),
    "nothing-served": Code("There is nothing to serve", "2 errors in manifests; nothing is served"),
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
