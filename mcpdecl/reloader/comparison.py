"""How two catalogues differ, for the one who edits them.

Knows: what an author would call added, removed and changed. Does not know: what subscribers are told (the catalogue
does).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpdecl.catalogue import Catalogue


def lost(before: Catalogue, after: Catalogue) -> bool:
    """Whether a client would miss something that it could use before."""
    return bool(_items(before).keys() - _items(after).keys())


def summary(before: Catalogue, after: Catalogue, limit: int = 20) -> str:
    """What an author changed, such as ``+new_tool -old_tool ~changed``."""
    old, new = _items(before), _items(after)
    signs = {key: "+" if key not in old else "-" if key not in new else "~" for key in old.keys() | new.keys()}
    words = [f"{sign}{key[1]}" for key, sign in sorted(signs.items()) if old.get(key) != new.get(key)]
    more = [f"and {len(words) - limit} more"] if len(words) > limit else []
    return " ".join(words[:limit] + more) or "nothing that is listed"


def _items(catalogue: Catalogue) -> dict[tuple[str, str], object]:
    """All that is served, by kind and name; files of a folder too."""
    resources = {r.name: r for r in catalogue.resources.values()}
    kinds: dict[str, Mapping[str, Any]] = {
        "1 tools": catalogue.tools,
        "2 prompts": catalogue.prompts,
        "3 resources": resources,
        "4 templates": catalogue.templates,
    }
    found: dict[tuple[str, str], object] = {
        (kind, name): (item.wire, item.handler.digest) for kind, items in kinds.items() for name, item in items.items()
    }
    for name, template in catalogue.templates.items():
        found |= {(f"5 files of {name}", entry.name): entry.wire for entry in template.entries}
    return found
