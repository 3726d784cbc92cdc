"""Descriptors: what a list says of an item, as JSON that is encoded once.

Knows: the members that all descriptors share, and their order. Does not know: what a kind adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mcpdecl.compiler.draft import Draft


def described(draft: Draft, name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """A descriptor with the members that were written; ``own`` are those of its kind."""
    fields = draft.fields
    shared = {key: fields[key] for key in ("title", "description", "icons") if key in fields}
    last = {key: fields[key] for key in ("annotations", "_meta") if key in fields}
    return {"name": name, **shared, **own, **last}


def encoded(draft: Draft, descriptor: Mapping[str, Any]) -> bytes | None:
    """JSON of a descriptor, or None where some of it cannot be sent."""
    try:
        return msgspec.json.encode(descriptor)
    except (UnicodeEncodeError, OverflowError, ValueError, TypeError):
        draft.report.key("bad-value", f"{draft.name!r} holds text or numbers that JSON cannot carry.")
        return None
