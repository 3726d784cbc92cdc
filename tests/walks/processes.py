"""What a process holds, as the kernel tells it: children, descriptors, memory.

Knows: ``/proc``. Does not know: whose process it is.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path


def children(pid: int) -> set[int]:
    """The processes that a process has started and that live (or were not waited for), at any depth."""
    found: set[int] = set()
    ahead = [pid]
    while ahead:
        here = Path(f"/proc/{ahead.pop()}/task")
        try:
            born = {int(child) for task in here.iterdir() for child in (task / "children").read_text().split()}
        except OSError:
            continue
        ahead += born - found
        found |= born
    return found


def descriptors(pid: int) -> int:
    """How many file descriptors a process has open."""
    return sum(held(pid).values())


def held(pid: int) -> Counter[str]:
    """The open file descriptors of a process by kind: pipe, socket, the path of a file."""
    found: Counter[str] = Counter()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found[str(entry.readlink()).partition(":[")[0]] += 1
    return found


def memory(pid: int) -> int:
    """The resident memory of a process, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) * 1024
