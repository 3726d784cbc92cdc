"""What the files of a folder of manifests are like at one time.

Knows: which files matter, how a change is found whatever the file system tells, where symbolic links lead. Does not
know: what is done about a change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from mcpdecl.bindings.folders import Folder, Found
from mcpdecl.compiler import Watched

RACY = 3_000_000_000  # nanoseconds: a file younger than this may change again without its times telling
LARGE = 64 * 2**20  # bytes: beyond this a file's times and size stand for its content
LISTED = 2**20  # the same for the files of a folder, of which there may be thousands
SUFFIXES = frozenset({".yaml", ".yml", ".json"})
PASSED_BY = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})  # and dot names

Input: TypeAlias = Path | Folder  # a file by its content, a served folder by the names in it


class Stamp(NamedTuple):
    """What ``stat`` says of a file. Times are in nanoseconds."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


@dataclass(frozen=True, slots=True)
class Print:
    """One file at one look. ``real`` is where its path leads; ``blank``: it holds nothing but white space."""

    digest: bytes
    stamp: Stamp
    real: Path
    blank: bool = False
    racy: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """All that matters, at one time. A file that is not there has no print.

    ``inputs`` decide what a load gives; ``served`` are digests of files that are resources, those of served folders
    among them; ``paths`` is all inputs that were looked for; ``folders`` (path, device, inode) are those whose entries
    can change any of it; ``missing`` says that the manifests' file or folder itself is not there.
    """

    inputs: Mapping[Input, Print]
    manifests: frozenset[Path] = frozenset()
    paths: frozenset[Input] = frozenset()
    served: Mapping[Path, bytes] = field(default_factory=dict)
    folders: frozenset[tuple[str, int, int]] = frozenset()
    missing: bool = False

    def contents(self) -> dict[Input, bytes]:
        """Digest by input."""
        return {given: seen.digest for given, seen in self.inputs.items()}


class Eye:
    """Takes looks. Reads a file again only if its ``stat`` moved, or if the look is to be thorough."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prints: dict[Path, Print] = {}

    def look(self, place: Path, watched: Iterable[Watched], *, thorough: bool = False, searching: bool = False) -> Look:
        """See the manifests at ``place``, the templates and all that ``watched`` names. Blocks; raises no OSError.

        ``searching``: see modules too that nobody could import yet, and that are named nowhere for that.
        """
        whole = tuple(watched)
        folders, below = walk(place)
        manifests = frozenset(p for p in below if p.suffix.lower() in SUFFIXES) if place.is_dir() else {place}
        drawers, templates = walk(self._root / "templates")
        # A served file is only read when somebody asks for it, unless something else was made of it too.
        serving = {p for w in whole for p in w.resources}
        read = {p for w in whole for p in w.files | w.modules} | manifests | templates
        read |= modules_below(self._root) if searching else set()
        found = {folder: folder.find(self._root) for w in whole for folder in w.folders}
        listed = {folder.path / name for folder, seen in found.items() for name in seen.names}
        looked = {path for seen in found.values() for path in seen.looked}
        ends, anchors = _ways(read | serving | listed, {place, self._root / "templates", *(f.path for f in found)})
        named, shown = read | serving, serving | listed
        self._prints = {p: s for p, end in ends.items() if (s := self._print(p, end, thorough, p in named))}
        inputs: dict[Input, Print] = {p: s for p, s in self._prints.items() if p in read}
        inputs |= {p: replace(s, digest=b"there") for p in serving - read if (s := self._prints.get(p))}
        inputs |= {folder: _names(folder, seen) for folder, seen in found.items() if seen.there}
        return Look(
            inputs=inputs,
            manifests=frozenset(manifests),
            paths=frozenset(named | found.keys()),
            served={p: s.digest for p, s in self._prints.items() if p in shown},
            folders=frozenset(_identified({*folders, *drawers, *anchors, *looked})),
            missing=not place.exists(),
        )

    def _print(self, path: Path, real: Path, thorough: bool, named: bool) -> Print | None:
        try:
            info = path.stat()
        except OSError:
            return None
        stamp = Stamp(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        old = self._prints.get(path)
        if old and not (thorough and named) and not old.racy and old.stamp == stamp and old.real == real:
            return old
        racy = time.time_ns() - max(stamp.modified, stamp.changed) < RACY
        if not stat.S_ISREG(info.st_mode) or stamp.size > (LARGE if named else LISTED):
            return Print(f"{info.st_mode} {stamp.size} {stamp.modified}".encode(), stamp, real, racy=racy)
        try:
            data = path.read_bytes()
        except OSError as error:
            return Print(f"unreadable {error.errno}".encode(), stamp, real, racy=True)
        blank = not data.removeprefix(b"\xef\xbb\xbf").strip()
        return Print(hashlib.blake2b(data, digest_size=16).digest(), stamp, real, blank, racy)


def _ways(paths: set[Path], folders: set[Path]) -> tuple[dict[Path, Path], set[Path]]:
    """Where each path leads, and the folders whose entries decide that and where ``folders`` lead."""
    links = {p for p in paths if p.is_symlink()}
    real = {folder: Path(os.path.realpath(folder)) for folder in {p.parent for p in paths}}
    ends = {p: Path(os.path.realpath(p)) if p in links else real[p.parent] / p.name for p in paths}
    return ends, {anchor for way in (*folders, *links, *(f / "any" for f in real)) for anchor in holders(way)}


def _names(folder: Folder, found: Found) -> Print:
    """A served folder as an input: which files are in it, not what is in them."""
    changed = 0
    for looked in found.looked:
        with contextlib.suppress(OSError):
            changed = max(changed, looked.stat().st_ctime_ns)
    digest = hashlib.blake2b("\0".join(found.names).encode("utf-8", "surrogateescape"), digest_size=16)
    return Print(digest.digest(), Stamp(0, 0, 0, changed, changed), Path(os.path.realpath(folder.path)))


def walk(folder: Path) -> tuple[set[Path], set[Path]]:
    """The folders and the files in a folder at any depth, symbolic links followed once; ``.venv`` and the like not."""
    folders: set[Path] = set()
    files: set[Path] = set()
    ahead = [folder]
    while ahead:
        here = ahead.pop()
        real = Path(os.path.realpath(here))
        if real in folders:
            continue
        try:
            entries = list(here.iterdir())
        except OSError:
            continue
        folders.add(real)
        for entry in entries:
            if not entry.name.startswith(".") and entry.name not in PASSED_BY:
                if entry.is_dir():
                    ahead.append(entry)
                else:
                    files.add(entry)
    return folders, files


def modules_below(root: Path) -> set[Path]:
    """The Python files of a folder and of the packages in it (a package holds a Python file itself)."""
    found: set[Path] = set()
    ahead = [root]
    while ahead:
        folder = ahead.pop()
        try:
            entries = [e for e in folder.iterdir() if not e.name.startswith(".") and e.name not in PASSED_BY]
        except OSError:
            continue
        here = {entry for entry in entries if entry.suffix == ".py"}
        found |= here
        if here or folder == root:
            ahead += [entry for entry in entries if not entry.is_symlink() and entry.is_dir()]
    return found


def holders(path: Path) -> set[Path]:
    """The folders that decide where a path leads: the nearest above it, and that of each link on the way."""
    found: set[Path] = set()
    way = Path(os.path.normpath(path.absolute()))
    for _ in range(40):  # as many links as Linux itself follows
        link = next((p for p in (*reversed(way.parents), way) if p.is_symlink()), None)
        if link is None:
            break
        found.add(link.parent)
        way = Path(os.path.normpath(link.parent / link.readlink() / way.relative_to(link)))
    return found | {next(folder for folder in way.parents if folder.is_dir())}


def _identified(folders: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    # A folder that was made anew under its old name must be watched anew.
    for folder in folders:
        with contextlib.suppress(OSError):
            info = folder.stat()
            yield str(folder), info.st_dev, info.st_ino
