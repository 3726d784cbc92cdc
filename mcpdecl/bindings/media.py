"""Media types by the names of files.

Knows: which type a name suggests, the same on every machine. Does not know: what is in a file.
"""

from __future__ import annotations

import mimetypes

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


def mime_of(path: str) -> str | None:
    """The media type that a file's name suggests."""
    suffix = "." + path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
    return _MORE.get(suffix) or _TYPES.guess_type(f"x{suffix}", strict=False)[0]
