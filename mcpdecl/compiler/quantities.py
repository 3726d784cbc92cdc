"""Durations, sizes and rates as authors write them, and the limits of an item made of them.

Knows: the spellings ``1m30s``, ``64kB``, ``60/min``. Does not know: what is limited, or what happens at the limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from mcpdecl.catalogue import Limits, Rate

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_BYTES = {"": 1, "B": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(B|kB|MB|GB|KiB|MiB|GiB|)", re.ASCII)
_PERIODS = {"s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0}
_PERIODS |= {"d": 86400.0, "day": 86400.0}
_RATE = re.compile(r"(\d+)/([a-z]+)", re.ASCII)
_LONGEST = 86400.0 * 365

UNLIMITED = Rate(0.0, 1.0, 0)


def duration(text: str) -> float:
    """Seconds of ``500ms``, ``30s``, ``1m30s``, ``0``. Raises ValueError."""
    if text == "0":
        return 0.0
    if not _DURATION.fullmatch(text):
        raise ValueError("is not a duration; write 30s, 1m30s or 500ms")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if seconds > _LONGEST:
        raise ValueError("is out of range; a duration is at most 365d")
    return seconds


def milliseconds(fields: Mapping[str, Any], key: str, report: Callable[..., None]) -> int:
    """A duration among some fields in milliseconds, 0 where there is none."""
    try:
        return round(duration(str(fields[key])) * 1000) if key in fields else 0
    except ValueError as error:
        report("bad-value", f"{key}: {fields[key]!r} {error}.", key)
        return 0


def _wait(text: str) -> float:
    seconds = duration(text)
    if not seconds:
        raise ValueError("is no time at all")
    return seconds


def size(text: str) -> int:
    """Bytes of ``64kB`` (decimal) or ``64KiB`` (binary). Raises ValueError."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError("is not a size; write 64kB, 64KiB or 1MB")
    count = float(match[1]) * _BYTES[match[2]]
    if not 1 <= count <= 2**40:
        raise ValueError("is out of range; a size is at least 1B and at most 1024GiB")
    return math.floor(count)


def rate(text: str) -> Rate:
    """The rate of ``60/min``, which may all come at once, or of ``unlimited``. Raises ValueError."""
    if text == "unlimited":
        return UNLIMITED
    match = _RATE.fullmatch(text)
    if match is None or match[2] not in _PERIODS:
        raise ValueError("is not a rate; write 10/s, 60/min, 1000/hour or unlimited")
    count = float(match[1])
    if not 0 < count <= 10**9:
        raise ValueError("is out of range; write unlimited for no bound")
    return Rate(count, _PERIODS[match[2]], max(1, math.ceil(count)))


def limits(fields: Mapping[str, Any], report: Callable[..., None]) -> Limits:
    """The limits that ``timeout``, ``maxOutput``, ``concurrency`` and ``rate`` of an item set."""
    standard = Limits()

    def read(key: str, reader: Callable[[str], Any], otherwise: Any) -> Any:
        if key not in fields:
            return otherwise
        try:
            return reader(str(fields[key]))
        except ValueError as error:
            report("bad-value", f"{key}: {fields[key]!r} {error}.", key)
            return otherwise

    return Limits(
        timeout=read("timeout", _wait, standard.timeout),
        max_output=read("maxOutput", size, standard.max_output),
        concurrency=read("concurrency", _count, standard.concurrency),
        rate=read("rate", rate, standard.rate),
    )


def _count(text: str) -> int:
    if not re.fullmatch(r"\d{1,6}", text, re.ASCII):
        raise ValueError("is not a number of calls; write 1 or more, or 0 for no bound")
    return int(text)
