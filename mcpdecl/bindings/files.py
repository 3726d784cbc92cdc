"""Files on disk, served as they are.

Knows: that a file must be a regular one inside the root, and how much of it is read. Does not know: media types.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpdecl.bindings.site import Site
from mcpdecl.catalogue import Call, Failure, Missing, Outcome, Value
from mcpdecl.templates import Reads, Scope


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


def read(path: Path, limit: int, root: Path) -> Outcome:
    """Read a regular file of at most ``limit`` bytes that lies inside the root now, whatever it was at load."""
    try:
        path = path.resolve(strict=True)
        if not path.is_relative_to(root.resolve()):
            return Missing()
        # spec: server/resources#security-considerations; a fifo or a device would hold the thread for ever
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return Missing()
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return Missing()
    with os.fdopen(handle, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        return Failure(f"The file is larger than {limit} bytes, which is as much as is served.")
    return Value(data)


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
