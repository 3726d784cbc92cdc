"""What one load leaves for the next, so that only what changed is read and compiled again.

Knows: when a manifest or an item that was compiled before is still good. Does not know: how either is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpdecl.bindings.folders import Folder, Found
from mcpdecl.bindings.python import Modules
from mcpdecl.compiler.draft import FormText
from mcpdecl.compiler.folder import Files
from mcpdecl.compiler.written import Finding
from mcpdecl.diagnostics import Diagnostic
from mcpdecl.manifest.declarations import Manifest

ItemKey = tuple[str, str, str]  # file, kind, name


@dataclass(frozen=True, slots=True)
class Parsed:
    """A manifest file as it was read: its content's digest, and what that says (``blank``: nothing at all)."""

    digest: str
    manifest: Manifest | None
    diagnostics: tuple[Diagnostic, ...]
    blank: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """An item that was compiled without an error, None where it is not served.

    ``written`` is the digest of its declaration and of all that holds around it; ``files`` and ``forms`` are the
    digests of what it names (None: was not there), ``folders`` what served folders held, ``generation`` that of the
    Python modules, if it uses any.
    """

    written: str
    item: Any
    findings: tuple[Finding, ...] = ()
    files: Mapping[Path, str | None] = field(default_factory=dict)
    forms: Mapping[str, str | None] = field(default_factory=dict)
    folders: Mapping[Folder, Found] = field(default_factory=dict)
    env: frozenset[str] = frozenset()
    generation: str | None = None
    form: FormText | None = None

    def good(self, written: str, files: Files, forms: Mapping[str, FormText], generation: str) -> bool:
        """Whether nothing that it was made of has changed."""
        return (
            self.written == written
            and (self.generation is None or self.generation == generation)
            and all(files.digest(path) == digest for path, digest in self.files.items())
            and all(files.found(folder) == found for folder, found in self.folders.items())
            and all((forms[n].digest if n in forms else None) == digest for n, digest in self.forms.items())
        )


@dataclass(slots=True)
class Memo:
    """Made by a load, for the next one of the same folder.

    ``parsed`` manifests and ``compiled`` items are counts of the load that made this: what it could not take over.
    """

    parsed: int = 0
    compiled: int = 0
    manifests: dict[str, Parsed] = field(default_factory=dict)
    items: dict[ItemKey, Kept] = field(default_factory=dict)
    modules: Modules | None = None
