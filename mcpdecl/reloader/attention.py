"""Decides, look by look, what is to be done: a pure state machine.

Knows: when a change counts. Does not know: files, clocks or catalogues; all comes in as arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from mcpdecl.reloader.looks import Input, Look, Print

QUIET = 0.6  # seconds without change after which a write in place is taken to be finished


@dataclass(frozen=True, slots=True)
class Rest:
    """All is as it was when it was last loaded."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Something is being written; look again after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Load:
    """Load it. ``firm``: what comes out stands, also a failure or a loss; else only a gain does."""

    firm: bool


@dataclass(frozen=True, slots=True)
class Unready:
    """What was there is missing or emptied, and stays so. It is no catalogue to serve."""

    reason: str


Verdict: TypeAlias = Rest | Wait | Load | Unready


class Attention:
    """Remembers what was loaded last and what is being written since. ``quiet`` is in seconds."""

    def __init__(self, quiet: float = QUIET) -> None:
        self._quiet = quiet
        self._settled = Look({})
        self._sure = True
        self._seen: dict[Input, bytes] = {}
        self._since = 0.0
        self._held = False

    def see(self, look: Look, now: float) -> Verdict:
        """Judge a look that was taken at ``now`` (seconds of a monotonic clock)."""
        contents = look.contents()
        if contents != self._seen:
            self._seen, self._since, self._held = contents, now, False
        if contents == self._settled.contents() and not look.missing and self._sure:
            return Rest()
        left = self._since + self._quiet - now
        reason = unready(look)
        if reason:
            return Wait(left) if left > 0 else Unready(reason)
        if left <= 0:
            return Load(firm=True)
        return Wait(left) if self._held else Load(firm=complete(self._settled, look))

    def hold(self) -> None:
        """What was loaded from the last look does not stand yet."""
        self._held = True

    def settle(self, look: Look, *, sure: bool = True) -> None:
        """What was loaded from this look stands, be it good or not.

        It is not ``sure`` where files changed while they were loaded: they may be back as they looked before, and what
        was loaded would still be something else.
        """
        self._settled, self._sure, self._held = look, sure, False


def unready(look: Look) -> str | None:
    """Why a look cannot be loaded: the location is not there, or a manifest is empty."""
    if look.missing:
        return "The manifests are missing."
    blank = sorted(path.name for path in look.manifests if path in look.inputs and look.inputs[path].blank)
    return f"{blank[0]} is empty." if blank else None


def complete(before: Look, after: Look) -> bool:
    """Whether every changed file came whole: by a rename or a symbolic link, not by writing in place."""
    old, new = before.inputs, after.inputs
    changed = [p for p in old.keys() | new.keys() if p not in old or p not in new or old[p].digest != new[p].digest]
    return all(p in new and _came_whole(old.get(p), new[p]) for p in changed)


def _came_whole(before: Print | None, after: Print) -> bool:
    if before and before.real != after.real:
        return True
    # A rename touches the inode after the last write to it; one who writes in place moves both times together.
    fresh = before is None or before.stamp[:2] != after.stamp[:2]
    return fresh and after.stamp.modified < after.stamp.changed


def loaded_from(look: Look, after: Look, began: int) -> Look:
    """What a load that began at ``began`` (ns) was made of: the look before it, and what only the look after shows.

    What nobody looks for any more is left out. So is what only the second shows and may have changed since it was
    read: the next look differs then, and it is loaded again.
    """
    kept = {p: s for p, s in look.inputs.items() if p in after.paths or p in look.manifests}
    found = {p: s for p, s in after.inputs.items() if p not in look.paths and p not in after.manifests}
    return replace(look, inputs=kept | {p: s for p, s in found.items() if s.stamp.changed < began - 100_000_000})
