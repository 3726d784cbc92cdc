"""Write YAML, get a Model Context Protocol server.

Public names, for callables that manifests name: ``Context`` (progress, log, ask and more for a running callable),
``Declined`` (the user said no to a question of a callable), ``ToolError`` (a failure that the caller may read) and
``NotFound`` (what was named is not there).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcpdecl.bindings.python import Context, Declined, NotFound, ToolError

__version__ = "0.1.0"
__all__ = ["Context", "Declined", "NotFound", "ToolError", "__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is used: a server of texts alone needs none of them."""
    if name in ("Context", "Declined", "NotFound", "ToolError"):
        from mcpdecl.bindings import python  # noqa: PLC0415 - late on purpose

        return getattr(python, name)
    raise AttributeError(f"module 'mcpdecl' has no attribute {name!r}")
