"""Which files make a folder of manifests, and what is in them.

Knows: where the root is, which names are manifests, how links are followed, how a file is read and told apart by its
content. Does not know: what a manifest says.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from mcpdecl.bindings.folders import Folder, Found

SUFFIXES = frozenset({".yaml", ".yml", ".json"})
FOLDER = "manifests"
PASSED_BY = frozenset({"node_modules", "__pycache__"})


def locate(location: Path, root: Path | None) -> tuple[Path, Path]:
    """The file or folder of manifests that ``location`` means, and the root that its relative paths start from.

    Neither is resolved: a mounted link keeps the name that the author knows.
    """
    place = Path(os.path.abspath(location))  # noqa: PTH100 - resolve() would follow links
    if place.name != FOLDER and (place / FOLDER).is_dir():
        place = place / FOLDER
    return place, Path(os.path.abspath(root)) if root is not None else _root_of(place)  # noqa: PTH100


def _root_of(place: Path) -> Path:
    for folder in (place, *place.parents):
        if folder.name == FOLDER and not folder.is_file():
            return folder.parent
    return place if place.is_dir() else place.parent


def scan(place: Path) -> list[Path]:
    """Every manifest at or below ``place``, in the order of their names.

    A link to a file is a file. A folder is entered once, however many links lead to it, so that a circle ends.
    """
    if not place.is_dir():
        return [place] if place.exists() else []
    found: list[Path] = []
    entered: set[tuple[int, int]] = set()
    _enter(place, found, entered)
    return sorted(found)


def _enter(folder: Path, found: list[Path], entered: set[tuple[int, int]]) -> None:
    try:
        identity = folder.stat()
        with os.scandir(folder) as entries:
            # real folders first, so that a link beside its target does not rename what is in it
            ordered = sorted(entries, key=lambda entry: (entry.is_symlink(), entry.name))
    except OSError:
        found.append(folder)  # as if it were a manifest: that it cannot be read is told where manifests are read
        return
    if (identity.st_dev, identity.st_ino) in entered:
        return
    entered.add((identity.st_dev, identity.st_ino))
    for entry in ordered:
        if entry.name.startswith(".") or entry.name in PASSED_BY:
            continue  # editors' backups, and the hidden folders that mounted links lead to
        if _is_folder(entry):
            _enter(Path(entry.path), found, entered)
        elif Path(entry.name).suffix.lower() in SUFFIXES:
            found.append(Path(entry.path))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link to itself


def digest_of(data: bytes) -> str:
    """What tells one content from another."""
    return sha256(data).hexdigest()


@dataclass(slots=True)
class Files:
    """Reads files of one load, each once. ``seen`` is every path that was asked for, there or not."""

    root: Path
    seen: dict[Path, str | None] = field(default_factory=dict)
    _bytes: dict[Path, bytes] = field(default_factory=dict)
    _found: dict[Folder, Found] = field(default_factory=dict)

    def read(self, path: Path) -> bytes | None:
        """The bytes of a file, or None where there is no readable file."""
        if path not in self.seen:
            try:
                data = path.read_bytes()
            except OSError:
                self.seen[path] = None
            else:
                self.seen[path] = digest_of(data)
                self._bytes[path] = data
        return self._bytes.get(path)

    def digest(self, path: Path) -> str | None:
        """The digest of a file's content, or None where there is no readable file."""
        self.read(path)
        return self.seen[path]

    def found(self, folder: Folder) -> Found:
        """What a served folder holds."""
        if folder not in self._found:
            self._found[folder] = folder.find(self.root)
        return self._found[folder]

    def name(self, path: Path) -> str:
        """The path as the author would type it: relative to the root where it lies below it."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    def inside(self, name: str) -> Path | None:
        """The path that a manifest names, or None if it leads out of the root, by ``..`` or by a link."""
        path = Path(os.path.normpath(self.root / name))
        if not path.is_relative_to(self.root) or "\0" in name:
            return None
        return path if path.resolve().is_relative_to(self.root.resolve()) else None
