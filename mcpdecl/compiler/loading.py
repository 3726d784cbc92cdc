"""From a folder of manifests to a catalogue, or to everything that is wrong with it, never half of each.

Knows: in which order a folder is read and compiled. Does not know: how a manifest is parsed or an item compiled.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from mcpdecl.bindings.folders import Folder as ServedFolder
from mcpdecl.bindings.python import Modules
from mcpdecl.catalogue import Catalogue, Form, Prompt, Resource, ResourceTemplate, Tool
from mcpdecl.compiler.clashes import clashes
from mcpdecl.compiler.draft import Folder, FormText
from mcpdecl.compiler.environment import read_dotenv
from mcpdecl.compiler.folder import Files, locate, scan
from mcpdecl.compiler.items import Compiled, compile_form, compile_item
from mcpdecl.compiler.memo import Kept, Memo, Parsed
from mcpdecl.compiler.settings import settings
from mcpdecl.compiler.written import Layer, Written, share
from mcpdecl.diagnostics import Diagnostic, Span, errors
from mcpdecl.manifest.declarations import Declaration, Manifest, Section, digest
from mcpdecl.manifest.parser import parse
from mcpdecl.templates import Templates

DOTENV = ".env"


@dataclass(frozen=True, slots=True)
class Watched:
    """What a catalogue was made of.

    ``manifests`` is the folder or file, ``files`` every file that was read, or is named and missing, ``resources`` the
    URIs that are served from a file, ``modules`` the Python files of the root that were imported, ``folders`` those
    whose files are served.
    """

    manifests: Path
    files: frozenset[Path]
    resources: Mapping[Path, frozenset[str]]
    modules: frozenset[Path]
    folders: frozenset[ServedFolder] = frozenset()

    def uris(self, path: Path) -> frozenset[str]:
        """The URIs under which a file is served, or would be if it were there."""
        below = {folder.uri_at(path) for folder in self.folders}
        return self.resources.get(path, frozenset()) | {uri for uri in below if uri is not None}


@dataclass(frozen=True, slots=True)
class Loaded:
    """``catalogue`` is None exactly if there is an error among the diagnostics.

    ``unready`` is true where a manifest is empty: an editor may be about to fill it.
    """

    catalogue: Catalogue | None
    diagnostics: tuple[Diagnostic, ...]
    memo: Memo
    watched: Watched
    unready: bool = False


def load(
    location: Path,
    *,
    root: Path | None = None,
    memo: Memo | None = None,
    resolve: bool = True,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """Load the manifests at ``location``, a folder or a file.

    ``memo`` is that of the last load of the same folder; only what changed since is read and compiled again.
    ``resolve=False`` imports no Python. ``environ`` stands in for the environment of this process. Never raises for
    what an author wrote.
    """
    place, base = locate(location, root)
    loading = _Loading(place, Files(base), memo or Memo(), resolve, os.environ if environ is None else environ)
    return loading.run()


@dataclass(slots=True)
class _Item:
    """A declaration with its defaults, and what became of it."""

    declaration: Declaration
    written: Written
    digest: str
    compiled: Kept | None = None


@dataclass(slots=True)
class _Loading:
    place: Path
    files: Files
    old: Memo
    resolve: bool
    environ: Mapping[str, str]
    new: Memo = field(default_factory=Memo)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    unready: bool = False

    def run(self) -> Loaded:
        manifests = self._manifests()
        environ = self._environment()
        server = self._server(manifests)
        templates = Templates(self.files.root / "templates")
        modules = self._modules()
        folder = Folder(self.files, templates, environ, modules, self.resolve, {})
        items = self._items(manifests, server, digest(sorted(environ.items())))
        self._forms(folder, items)
        self._compile(folder, items)
        made = [item for item in items if item.compiled is not None]
        self.diagnostics += clashes([(i.declaration, i.written, i.compiled.item) for i in made if i.compiled])
        found = settings(server, self.files.root, folder, self._names_read(made), self.diagnostics)
        catalogue = None
        if not errors(self.diagnostics):
            served = [i.compiled.item for i in made if i.compiled is not None and i.compiled.item is not None]
            catalogue = Catalogue.of(found, served, revision=_revision(found, served), root=self.files.root)
        else:
            self._keep_old()
        return Loaded(catalogue, self._in_order(), self.new, self._watched(items, modules), self.unready)

    # --- reading

    def _manifests(self) -> list[Manifest]:
        paths = scan(self.place)
        if not paths:
            hint = "Give the folder that holds *.yaml, *.yml or *.json files, or one such file."
            message = f"There are no manifests at {self.files.name(self.place)}."
            self.diagnostics.append(Diagnostic("no-manifests", message, hint=hint))
        read = [self._manifest(path) for path in paths]
        return [manifest for manifest in read if manifest is not None]

    def _manifest(self, path: Path) -> Manifest | None:
        name = self.files.name(path)
        data = self.files.read(path)
        if data is None:
            self.diagnostics.append(Diagnostic("unreadable-file", f"{name} cannot be read.", Span(name)))
            return None
        content = self.files.seen[path] or ""
        parsed = self.old.manifests.get(name)
        if parsed is None or parsed.digest != content:
            self.new.parsed += 1
            manifest, found = parse(data, name)
            blank = manifest is not None and not found and _is_blank(manifest, data)
            parsed = Parsed(content, manifest, found, blank)
        self.new.manifests[name] = parsed
        self.diagnostics += parsed.diagnostics
        if parsed.blank:
            self.unready = True
            self.diagnostics.append(Diagnostic("empty-manifest", f"{name} is empty.", Span(name)))
        return parsed.manifest

    def _environment(self) -> Mapping[str, str]:
        path = self.files.root / DOTENV
        data = self.files.read(path)
        if data is None:
            return dict(self.environ)
        values, found = read_dotenv(data, self.files.name(path))
        self.diagnostics += found
        return {**values, **self.environ}

    def _server(self, manifests: Iterable[Manifest]) -> Section | None:
        found = [manifest.server for manifest in manifests if manifest.server is not None]
        for other in found[1:]:
            first = ("first written here", found[0].place.key())
            message = "server is written twice; it is said once in the whole folder."
            self.diagnostics.append(Diagnostic("duplicate-server", message, other.place.key(), "Keep one.", (first,)))
        return found[0] if found else None

    def _modules(self) -> Modules:
        old = self.old.modules
        self.new.modules = old.renew() if old is not None else Modules(self.files.root)
        return self.new.modules

    # --- items

    def _items(self, manifests: Iterable[Manifest], server: Section | None, environ: str) -> list[_Item]:
        whole = _defaults(server)
        listed = list(server.fields.get("env") or ()) if server is not None else []
        around = [environ, self.resolve, str(self.files.root), listed, whole[0].fields if whole else None]
        return [item for manifest in manifests for item in _shared(manifest, whole, digest(around))]

    def _forms(self, folder: Folder, items: Iterable[_Item]) -> None:
        forms: dict[str, FormText] = {}
        for item in items:
            if item.declaration.kind == "form":
                self._one(folder, item)
                if item.compiled is not None and item.compiled.form is not None:
                    forms.setdefault(item.declaration.name, item.compiled.form)
        folder.forms.update(forms)

    def _compile(self, folder: Folder, items: Iterable[_Item]) -> None:
        for item in items:
            if item.declaration.kind != "form":
                self._one(folder, item)

    def _one(self, folder: Folder, item: _Item) -> None:
        declaration = item.declaration
        key = (declaration.place.file, declaration.kind, declaration.name)
        kept = self.old.items.get(key)
        generation = folder.modules.generation
        if kept is None or not kept.good(item.digest, self.files, folder.forms, generation):
            self.new.compiled += 1
            make = compile_form if declaration.kind == "form" else compile_item
            compiled: Compiled = make(folder, declaration, item.written, item.digest)
            kept = compiled.kept
            if not compiled.faulty:
                self.new.items[key] = kept
        else:
            self.new.items[key] = kept
        item.compiled = kept
        self.diagnostics += (finding.told(item.written) for finding in kept.findings)

    # --- the end

    def _names_read(self, items: Iterable[_Item]) -> frozenset[str]:
        return frozenset(name for item in items if item.compiled is not None for name in item.compiled.env)

    def _keep_old(self) -> None:
        """A failed edit forgets nothing: what it left out may be back with the next one."""
        if self.new.modules is not None and self.new.modules is not self.old.modules:
            self.new.modules.withdraw()
            self.new.modules = self.old.modules
        self.new.manifests = {**self.old.manifests, **self.new.manifests}
        self.new.items = {**self.old.items, **self.new.items}

    def _in_order(self) -> tuple[Diagnostic, ...]:
        """By place, what has none first."""
        return tuple(sorted(dict.fromkeys(self.diagnostics), key=lambda d: (d.span or Span(""), d.code, d.message)))

    def _watched(self, items: Iterable[_Item], modules: Modules) -> Watched:
        resources: dict[Path, set[str]] = {}
        for item in items:
            made = item.compiled.item if item.compiled is not None else None
            if isinstance(made, Resource) and made.file is not None:
                resources.setdefault(made.file, set()).add(made.uri)
        files = {path for item in items if item.compiled is not None for path in item.compiled.files}
        return Watched(
            self.place,
            frozenset(files | self.files.seen.keys() | {self.files.root / DOTENV}),
            {path: frozenset(uris) for path, uris in resources.items()},
            frozenset(modules.files),
            frozenset(folder for item in items if item.compiled is not None for folder in item.compiled.folders),
        )


def _is_blank(manifest: Manifest, data: bytes) -> bool:
    """Whether a file holds nothing but blanks and comments."""
    if manifest.server or manifest.defaults or manifest.declarations:
        return False
    lines = data.decode("utf-8-sig").splitlines()
    return all(not line.strip() or line.lstrip().startswith("#") or line.rstrip() == "---" for line in lines)


def _defaults(section: Section | None) -> list[Layer]:
    if section is None or not isinstance(section.fields.get("defaults"), dict):
        return []
    return [Layer(section.fields["defaults"], section.place, base=("defaults",))]


def _shared(manifest: Manifest, whole: list[Layer], around: str) -> Iterable[_Item]:
    own = [Layer(manifest.defaults.fields, manifest.defaults.place)] if manifest.defaults is not None else []
    here = digest([around, manifest.defaults.fields if manifest.defaults is not None else None])
    for declaration in manifest.declarations:
        layer = Layer(declaration.fields, declaration.place)
        written = share(declaration.kind, layer, [*own, *whole])
        yield _Item(declaration, written, declaration.digest + here)


def _revision(found: Any, served: Iterable[Tool | Prompt | Resource | ResourceTemplate | Form]) -> str:
    """A short digest of everything that is served."""
    whole = sha256(repr(replace(found, env=dict(found.env))).encode())
    for item in sorted(served, key=lambda item: (type(item).__name__, item.name)):
        whole.update(f"\0{type(item).__name__}\0{item.name}\0".encode())
        whole.update(repr(dict(item.declared)).encode() if isinstance(item, Form) else item.wire)
        whole.update(b"" if isinstance(item, Form) else item.handler.digest.encode())
        for entry in item.entries if isinstance(item, ResourceTemplate) else ():
            whole.update(entry.wire)
    return whole.hexdigest()[:12]
