"""How much one rendering has cost, and when it is too much.

Knows: the bounds on steps, time and text. Does not know: what is rendered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from mcpdecl.templates.values import TEXT_LIMIT, RenderFault

STEP_LIMIT: Final = 250_000  # turns of loops, calls and filters
TIME_LIMIT: Final = 2.0  # seconds


class Meter:
    """What is left of the bounds of one rendering. ``absent`` is set once an absent value was printed."""

    __slots__ = ("absent", "deadline", "steps", "work")

    def __init__(self) -> None:
        self.absent = False
        self.steps = STEP_LIMIT
        self.work = TEXT_LIMIT * 16
        self.deadline = time.monotonic() + TIME_LIMIT

    def step(self) -> None:
        """Count one turn of a loop, one call or one filter. Raises RenderFault at the bound."""
        self.steps -= 1
        if self.steps < 0:
            raise RenderFault(f"The template takes more than {STEP_LIMIT} steps.")
        if time.monotonic() > self.deadline:
            raise RenderFault(f"The template takes longer than {TIME_LIMIT:g} seconds.")

    def charge(self, characters: int) -> None:
        """Count characters, or elements, of what is being put together somewhere. Raises RenderFault at the bound."""
        self.work -= characters
        if self.work < 0:
            raise RenderFault("The template makes too much text.")


_current: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter for one rendering."""
    meter = Meter()
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)


def step() -> None:
    """Count a step of the rendering that goes on, if one does (constants are folded while compiling)."""
    meter = _current.get()
    if meter is not None:
        meter.step()


def charge(characters: int) -> None:
    """Count text of the rendering that goes on, if one does."""
    meter = _current.get()
    if meter is not None:
        meter.charge(characters)


def note_absent() -> None:
    """An absent value was printed."""
    meter = _current.get()
    if meter is not None:
        meter.absent = True
