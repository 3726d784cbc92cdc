"""The bounds of one rendering."""

from __future__ import annotations

import pytest

from mcpdecl.templates import meter
from mcpdecl.templates.values import TEXT_LIMIT, RenderFault


def test_steps_end() -> None:
    with meter.metered(), pytest.raises(RenderFault):
        for _ in range(meter.STEP_LIMIT + 1):
            meter.step()


def test_time_ends() -> None:
    with meter.metered() as one:
        meter.step()
        one.deadline = 0.0
        with pytest.raises(RenderFault):
            meter.step()


def test_text_ends() -> None:
    with meter.metered(), pytest.raises(RenderFault):
        for _ in range(20):
            meter.charge(TEXT_LIMIT)


def test_each_rendering_has_its_own() -> None:
    with meter.metered() as outer:
        with meter.metered() as inner:
            meter.note_absent()
        assert inner.absent and not outer.absent
    meter.step()
    meter.charge(10**9)  # nothing is rendered: nothing to count
