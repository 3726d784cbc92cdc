"""How things run: the one table from a binding key to the function that binds it.

Knows: which kinds of binding there are. Does not know: what any of them does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mcpdecl.bindings import files, folders, process, python, text
from mcpdecl.bindings.site import Site as Site
from mcpdecl.catalogue import Binding

Bind: TypeAlias = Callable[[Mapping[str, Any], Site], Binding | None]

KINDS: Mapping[str, Bind] = {
    "python": python.bind,
    "command": process.bind,
    "text": text.bind_text,
    "template": text.bind_template,
    "content": text.bind_content,
    "messages": text.bind_messages,
    "file": files.bind,
    "folder": folders.bind,
}


def bind(fields: Mapping[str, Any], site: Site) -> Binding | None:
    """Bind what the one binding key among ``fields`` says. None if that failed, which was reported."""
    found = [key for key in fields if key in KINDS]
    if len(found) == 1:
        return KINDS[found[0]](fields, site)
    if not found:
        keys = ", ".join(sorted(KINDS))
        site.report("no-binding", "Nothing says how this runs.", hint=f"Add one of {keys}.")
    else:
        both = " and ".join(found)
        site.report("two-bindings", f"{both} are both here; a thing runs through exactly one.", found[1])
    return None
