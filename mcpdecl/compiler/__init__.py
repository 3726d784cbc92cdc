"""The room that turns a folder of manifests into a catalogue: see ``load``.

Knows: its public names. Does not know: anything else.
"""

from mcpdecl.compiler.loading import Loaded as Loaded
from mcpdecl.compiler.loading import Watched as Watched
from mcpdecl.compiler.loading import load as load
from mcpdecl.compiler.memo import Memo as Memo

__all__ = ["Loaded", "Memo", "Watched", "load"]
