"""Descriptors: what a list says of an item, as JSON that is encoded once.

Knows: the members that all descriptors share, and their order. Does not know: what a kind adds.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from typing import Any

import msgspec

from mcpdecl.compiler.draft import Draft

# the standard library's own table: what a machine has installed must not change a descriptor
_TYPES = mimetypes.MimeTypes(filenames=())
_MORE = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".toml": "application/toml",
    ".webp": "image/webp",
    ".jsonl": "application/jsonl",
    ".log": "text/plain",
    ".rst": "text/x-rst",
    ".ts": "text/x-typescript",
    ".rs": "text/x-rust",
    ".go": "text/x-go",
    ".sh": "text/x-shellscript",
}


def described(draft: Draft, name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """A descriptor with the members that were written; ``own`` are those of its kind."""
    fields = draft.fields
    shared = {key: fields[key] for key in ("title", "description", "icons") if key in fields}
    last = {key: fields[key] for key in ("annotations", "_meta") if key in fields}
    return {"name": name, **shared, **own, **last}


def encoded(draft: Draft, descriptor: Mapping[str, Any]) -> bytes | None:
    """JSON of a descriptor, or None where some of it cannot be sent."""
    try:
        return msgspec.json.encode(descriptor)
    except (UnicodeEncodeError, OverflowError, ValueError, TypeError):
        draft.report.key("bad-value", f"{draft.name!r} holds text or numbers that JSON cannot carry.")
        return None


def mime_of(path: str) -> str | None:
    """The media type that a file's name suggests."""
    suffix = "." + path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
    return _MORE.get(suffix) or _TYPES.guess_type(f"x{suffix}", strict=False)[0]
