"""The room that watches the files: see ``Reloader``.

Knows: its public name. Does not know: anything else.
"""

from mcpdecl.reloader.reloading import Reloader as Reloader

__all__ = ["Reloader"]
