"""A folder on disk: each file in it is served as it is, under a URI of its own.

Knows: which files of a folder are served and under which URI, and that nothing outside of it is ever read. Does not
know: what a list says of them, or who looks for changes.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from mcpdecl.bindings.files import read
from mcpdecl.bindings.globs import ANY_DEPTH, GlobFault, Globs, State, parts_of
from mcpdecl.bindings.media import mime_of
from mcpdecl.bindings.site import Site
from mcpdecl.catalogue import Call, Missing, Outcome, Value
from mcpdecl.templates import Reads, Scope
from mcpdecl.uris import UriTemplate, UriTemplateFault, is_uri, parse

MOST = 10_000
LONGEST = 4096  # characters of a path: no system has longer ones, and a pattern is held against each name
PASSED_BY = frozenset({"node_modules", "__pycache__"})
PREFIX = "docs://"  # of examples in remedies


@dataclass(frozen=True, slots=True)
class Found:
    """What a folder holds at one time: paths below it, in order.

    ``more`` says that there are files beyond ``MOST``, ``there`` whether the folder itself is. ``looked`` are the real
    folders in which files were looked for.
    """

    names: tuple[str, ...] = ()
    more: bool = False
    there: bool = True
    looked: tuple[Path, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Folder:
    """``folder: path``. ``path`` is absolute; the variable of ``template`` carries the path of a file below it.

    ``exclude`` is folded: it holds whatever the case of a name, since some disks take any.
    """

    path: Path
    template: UriTemplate
    include: Globs
    exclude: Globs
    deep: bool
    pure: bool = False

    @property
    def variable(self) -> str:
        """The variable of the URI template."""
        return self.template.variables[0]

    @property
    def reads(self) -> Reads:
        """The path is all that is read."""
        return frozenset({("arguments", self.variable)})

    def render(self, scope: Scope) -> Outcome:
        """A file cannot be rendered."""
        raise TypeError("reading a file is an effect")

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Read the bytes of the file that the arguments name, as they are now."""
        name, limit = scope["arguments"][self.variable], call.limits.max_output
        return await call.in_thread(lambda: self.read(name, limit, call.root))

    def read(self, name: str, limit: int, root: Path) -> Outcome:
        """Read the file at a path below the folder. What is not served does not exist."""
        # spec: server/resources#security-considerations: all URIs are validated
        if not self.serves(name):
            return Missing()
        outcome = read(self.path / name, limit, root, lambda real: self._holds(real, root))
        return Value(outcome.data, mime_of(name)) if isinstance(outcome, Value) else outcome

    def serves(self, name: str) -> bool:
        """Whether a path below the folder, written in the one way it is listed, is among those that are served."""
        names = name.split("/")
        if len(name) > LONGEST or not all(map(_is_served, names)) or (len(names) > 1 and not self.deep):
            return False
        return self.include.match(names) and not self.excludes(names)

    def uri(self, name: str) -> str | None:
        """The URI of a path below the folder, None where no URI of the template leads back to it."""
        try:
            uri = self.template.expand({self.variable: name})
        except UnicodeEncodeError:
            return None  # the name is not UTF-8
        return uri if is_uri(uri) and self.template.match(uri) == {self.variable: name} else None

    def uri_at(self, path: Path) -> str | None:
        """The URI of an absolute path, if it is served."""
        name = path.relative_to(self.path).as_posix() if path.is_relative_to(self.path) else ""
        return self.uri(name) if name and self.serves(name) else None

    def find(self, root: Path) -> Found:
        """Look for all that is served. Links are followed as long as they stay inside. Blocks; raises no OSError."""
        real = Path(os.path.realpath(self.path))
        if not real.is_dir() or not real.is_relative_to(os.path.realpath(root)):
            return Found(there=False)
        search = _Search(self, real)
        names = list(islice(search.run(), MOST + 1))
        return Found(tuple(sorted(names[:MOST])), len(names) > MOST, looked=tuple(search.entered))

    def excludes(self, names: Sequence[str]) -> bool:
        """Whether a path is left out, or a folder that it is in."""
        state = self.exclude.start
        for name in names if self.exclude.patterns else ():
            state = self.exclude.step(state, folded(name))
            if self.exclude.ends(state):
                return True
        return False

    def _holds(self, real: Path, root: Path) -> bool:
        """Whether a real path is inside the folder as it is now, and not by a detour to what is left out."""
        home = Path(os.path.realpath(self.path))
        inside = home.is_relative_to(os.path.realpath(root)) and real.is_relative_to(home)
        return inside and not self.excludes(real.relative_to(home).parts)


@dataclass(slots=True)
class _Search:
    """One search through a folder, each real folder of it entered once."""

    folder: Folder
    home: Path
    entered: dict[Path, None] = field(default_factory=dict)
    linked: list[_Place] = field(default_factory=list)

    def run(self) -> Iterator[str]:
        self.linked.append(_Place("", self.home, self.folder.include.start, self.folder.exclude.start))
        while self.linked:
            ahead = [self.linked.pop(0)]
            while ahead:
                place = ahead.pop()
                if place.real not in self.entered:
                    yield from self._enter(place, ahead)

    def _enter(self, place: _Place, ahead: list[_Place]) -> Iterator[str]:
        try:
            with os.scandir(place.real) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return
        self.entered[place.real] = None
        for entry in ordered:
            here = self._at(place, entry)
            if here is None:
                continue
            if not _is(entry.is_dir):
                if self.folder.include.ends(here.include) and _is(entry.is_file):
                    yield here.name
            elif self.folder.deep:
                # Real folders first, so that a link beside its target does not rename what is in it.
                (self.linked if entry.is_symlink() else ahead).append(here)

    def _at(self, place: _Place, entry: os.DirEntry[str]) -> _Place | None:
        """Where an entry is, None where neither it nor anything in it is served."""
        folder, name = self.folder, entry.name
        include = folder.include.step(place.include, name)
        exclude = folder.exclude.step(place.exclude, folded(name)) if place.exclude else place.exclude
        if not include or not _is_served(name) or folder.exclude.ends(exclude):
            return None
        real = place.real / name
        if entry.is_symlink():
            real = Path(os.path.realpath(real))
            if not real.is_relative_to(self.home) or folder.excludes(real.relative_to(self.home).parts):
                return None
        return _Place(f"{place.name}/{name}" if place.name else name, real, include, exclude)


@dataclass(frozen=True, slots=True)
class _Place:
    """A file or folder that a search has come to: its path below, where it really is, what the patterns say so far."""

    name: str
    real: Path
    include: State
    exclude: State


def folded(text: str) -> str:
    """Text as a disk compares it that takes any case and any composition of a letter."""
    return unicodedata.normalize("NFC", text).casefold()


def _is_served(name: str) -> bool:
    """Whether a file or folder of this name may be: no hidden one, no editor's backup, no way up."""
    return bool(name) and not name.startswith(".") and not name.endswith("~") and name not in PASSED_BY


def _is(kind: Callable[[], bool]) -> bool:
    try:
        return kind()
    except OSError:
        return False  # a link to itself


# --- binding -----------------------------------------------------------------------------------------------------


def bind(fields: Mapping[str, Any], site: Site) -> Folder | None:
    """Bind ``folder``."""
    path = _named(fields["folder"], site)
    template = _template(fields.get("uriTemplate", ""), site)
    deep = template is None or _carries_folders(template)
    include = _globs(fields, "include", [ANY_DEPTH] if deep else ["*"], site)
    exclude = _globs(fields, "exclude", [], site)
    if include is None or exclude is None or template is None or not _fits(include, deep, template, site):
        return None
    return None if path is None else Folder(path, template, include, exclude, deep)


def _named(name: str, site: Site) -> Path | None:
    path = Path(os.path.normpath(site.root / name))
    if "\0" in name or not path.is_dir():
        site.depend(path)
        hint = "Make it; it may be empty. Paths start in the root."
        site.report("folder-not-found", f"There is no folder {name} in the root folder.", "folder", hint=hint)
        return None
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(site.root)):
        site.report("folder-outside", f"{name} is not inside the root folder.", "folder")
        return None
    return path


def _template(text: str, site: Site) -> UriTemplate | None:
    """The URI template; None where it does not serve a folder, or cannot be read, which is reported elsewhere."""
    try:
        template = parse(text)
    except UriTemplateFault:
        return None
    names = template.variables
    if len(names) == 1 and "{?" not in text:
        return template
    many = f"it has {len(names)}" if len(names) != 1 else f"{{?{names[0]}}} may be left out"
    message = f"The URI of a folder has exactly one variable, for the path below it; {many}."
    hint = f"Write {PREFIX}{{+path}}, or {PREFIX}{{path}} where no file stands in a folder of its own."
    site.report("folder-variable", message, "uriTemplate", hint=hint)
    return None


def _carries_folders(template: UriTemplate) -> bool:
    name = template.variables[0]
    return template.match(template.expand({name: "a/b"})) == {name: "a/b"}


def _globs(fields: Mapping[str, Any], key: str, default: Sequence[str], site: Site) -> Globs | None:
    found: list[tuple[str, ...]] = []
    written = fields.get(key, default)
    for index, pattern in enumerate(written):
        try:
            parts = parts_of(pattern)
            if key == "include" and not all(_is_served(part) for part in parts):
                raise GlobFault(f"{pattern!r} includes nothing: such names are never served.")
            found.append(tuple(map(folded, parts)) if key == "exclude" else parts)
        except GlobFault as fault:
            site.report("bad-pattern", fault.message, key, index, hint=fault.hint)
    return Globs(tuple(found)) if len(found) == len(written) else None


def _fits(include: Globs, deep: bool, template: UriTemplate, site: Site) -> bool:
    """Whether the URI can carry what is included."""
    if deep:
        return True
    name = template.variables[0]
    wide = [index for index, parts in enumerate(include.patterns) if len(parts) > 1 or ANY_DEPTH in parts]
    for index in wide:
        message = f"{{{name}}} carries no folders, and {'/'.join(include.patterns[index])!r} includes files in folders."
        hint = f"Write {{+{name}}} in uriTemplate, or a pattern without / such as *.md."
        site.report("folder-variable", message, "include", index, hint=hint)
    return not wide
