"""Files on disk, served as they are.

Knows: that a file must be a regular one inside the root, and how much of it is read. Does not know: media types.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpdecl.bindings.site import Site
from mcpdecl.catalogue import Call, Failure, Missing, Outcome, Value
from mcpdecl.templates import Reads, Scope

# Through a folder one may go without the right to list it, where the system has a word for that.
_PASSING = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
# spec: server/resources#security-considerations: a fifo or a device would hold the thread for ever
_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
TRIES = 3


@dataclass(frozen=True, slots=True)
class File:
    """``file: path``. ``path`` is absolute and inside the root."""

    path: Path
    reads: Reads = frozenset()
    pure: bool = False

    def render(self, scope: Scope) -> Outcome:
        """A file cannot be rendered."""
        raise TypeError("reading a file is an effect")

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Read the bytes as they are now."""
        limit = call.limits.max_output
        return await call.in_thread(lambda: read(self.path, limit, call.root))


def read(path: Path, limit: int, root: Path, fits: Callable[[Path], bool] = lambda real: True) -> Outcome:
    """Read a regular file of at most ``limit`` bytes that lies inside the root now, whatever it was at load.

    ``fits`` judges where the path leads, all links followed.
    """
    try:
        handle = _opened(path, root, fits)
        if handle is None:
            return Missing()
        with os.fdopen(handle, "rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError):
        return Missing()
    if len(data) > limit:
        return Failure(f"The file is larger than {limit} bytes, which is as much as is served.")
    return Value(data)


def _opened(path: Path, root: Path, fits: Callable[[Path], bool]) -> int | None:
    """A descriptor of the regular file at a path, or None. Raises OSError and ValueError."""
    for left in reversed(range(TRIES)):
        try:
            real, home = Path(os.path.realpath(path, strict=True)), Path(os.path.realpath(root, strict=True))
            if not real.is_relative_to(home) or not fits(real):
                return None
            return _regular(_below(home, real.relative_to(home).parts))
        except OSError:
            # a mounted configuration is swapped as a whole: where the path led a moment ago there is nothing now
            if not left:
                raise
    return None


def _below(home: Path, names: Sequence[str]) -> int:
    """Open a path below a folder. No link is followed, so that what was judged is what is opened."""
    handle = os.open(home, _PASSING)
    for number, name in enumerate(names, 1):
        way = _PASSING if number < len(names) else _READING
        try:
            inner = os.open(name, way | os.O_NOFOLLOW, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _regular(handle: int) -> int | None:
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None


def bind(fields: Mapping[str, Any], site: Site) -> File | None:
    """Bind ``file``."""
    path = named(fields["file"], site, "file")
    # Its content is read when it is asked for: an edit of it changes the resource, not the catalogue.
    return None if path is None else File(path)


def named(name: str, site: Site, *place: str | int) -> Path | None:
    """The file that the manifest names; None if it is not there or not inside the root, which was reported."""
    path = site.root / name
    if not path.is_file():
        site.depend(path)
        site.report("file-not-found", f"There is no file {name} in the root folder.", *place)
        return None
    if not path.resolve().is_relative_to(site.root.resolve()):
        site.report("file-outside", f"{name} is not inside the root folder.", *place)
        return None
    return path
