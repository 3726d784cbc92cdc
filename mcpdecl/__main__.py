"""``python -m mcpdecl`` is ``mcpdecl``."""

from __future__ import annotations

from mcpdecl.cli import main

if __name__ == "__main__":
    main(prog_name="mcpdecl")
