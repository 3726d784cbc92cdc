"""Tests of mcpdecl.compiler.quantities: durations, sizes, rates and the limits made of them."""

from __future__ import annotations

import pytest

from mcpdecl.catalogue import Limits, Rate
from mcpdecl.compiler.quantities import UNLIMITED, duration, rate, size
from tests.compiler.folders import Project


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("500ms", 0.5),
        ("30s", 30.0),
        ("1.5s", 1.5),
        ("1m30s", 90.0),
        ("1h2m3s", 3723.0),
        ("2d", 172800.0),
    ],
)
def test_a_duration(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "30 s", "s", "1m30", "-1s", "1e3s", "30S", "1w", "١s", "30s\n", "366d"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is "):
        duration(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [("1", 1), ("64B", 64), ("64kB", 64000), ("64KiB", 65536), ("1.5MB", 1500000), ("1MiB", 1048576), ("1GB", 10**9)],
)
def test_a_size(text: str, count: int) -> None:
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "64k", "64KB", "64 kB", "-1B", "0", "0B", "2000GiB", "1e3B"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is "):
        size(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10/s", Rate(10, 1, 10)),
        ("60/min", Rate(60, 60, 60)),
        ("60/m", Rate(60, 60, 60)),
        ("1000/hour", Rate(1000, 3600, 1000)),
        ("5/day", Rate(5, 86400, 5)),
        ("unlimited", UNLIMITED),
    ],
)
def test_a_rate(text: str, expected: Rate) -> None:
    assert rate(text) == expected


def test_unlimited_is_a_count_of_zero() -> None:
    assert UNLIMITED.count == 0


@pytest.mark.parametrize("text", ["", "60", "60/", "60/week", "0/s", "-1/s", "1.5/s", "60 / min", "99999999999/s"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match="is "):
        rate(text)


def test_the_limits_of_an_item(project: Project) -> None:
    catalogue = project.catalogue("""\
        tools:
          bounded: {description: x, text: x, timeout: 1m30s, maxOutput: 64kB, concurrency: 2, rate: 60/min}
          free: {description: x, text: x, concurrency: 0, rate: unlimited}
          plain: {description: x, text: x}
        """)
    assert catalogue.tools["bounded"].handler.limits == Limits(90.0, 64000, 2, Rate(60, 60, 60))
    assert catalogue.tools["free"].handler.limits == Limits(rate=UNLIMITED)
    assert catalogue.tools["plain"].handler.limits == Limits()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timeout", "30"),
        ("timeout", "soon"),
        ("timeout", "0"),
        ("timeout", "400d"),
        ("maxOutput", "1tB"),
        ("maxOutput", "0B"),
        ("rate", "60"),
        ("rate", "0/s"),
        ("concurrency", "-1"),
    ],
)
def test_a_limit_that_cannot_be(project: Project, field: str, value: str) -> None:
    project.check(f"tools:\n  a:\n    description: x\n    text: x\n    {field}: «{value}»\n", "bad-value")


def test_a_limit_that_cannot_be_is_told_where_it_was_written(project: Project) -> None:
    project.check(
        {
            "manifests/server.yaml": "server:\n  name: s\n  defaults:\n    timeout: «0»\n",
            "manifests/tools.yaml": "tools:\n  a: {description: x, text: x}\n",
        },
        "bad-value",
    )
