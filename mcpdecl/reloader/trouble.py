"""Tells what is wrong with an edit, once, and that it is over.

Knows: how faults are told on the log and at ``/readyz``. Does not know: what causes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from mcpdecl.diagnostics import Diagnostic, errors, render
from mcpdecl.observations import Log


class Trouble:
    """What keeps the files from being served. ``tell`` takes a code for ``/readyz``, None if all is well."""

    def __init__(self, tell: Callable[[str | None], None], log: Log, root: Path) -> None:
        self._tell_readiness, self._log, self._root = tell, log, root
        self._diagnostics: frozenset[Diagnostic] = frozenset()
        self._error = ""
        self._stumbled: str | None = None
        self._unready: str | None = None
        self._refused: str | None = None
        self._said: str | None = None

    def known(self, diagnostics: Iterable[Diagnostic]) -> None:
        """These have been told already."""
        self._diagnostics = frozenset(diagnostics)

    def stumbled(self, error: Exception | None) -> None:
        """An unexpected error kept the reloader from its work, or no longer does."""
        text = f"{type(error).__name__}: {error}" if error else ""
        if error and text != self._error:
            self._stumbled = f"internal-error (incident {self._log.incident(error, doing='reload')})"
        self._error = text
        self._stumbled = self._stumbled if error else None
        self._say()

    def unready(self, reason: str | None) -> None:
        """The manifests are not there to be loaded, or are again."""
        if reason and reason != self._unready:
            self._log.event("not ready", reason=reason, serving="what was loaded last")
        self._unready = reason
        self._say()

    def refused(self, diagnostics: tuple[Diagnostic, ...], revision: str) -> None:
        """A load failed; the revision that was loaded last stays."""
        faults = errors(diagnostics)
        # Places and words are for the terminal: whoever reaches /readyz need not be the author.
        self._refused = faults[0].code + (f" and {len(faults) - 1} more" if len(faults) > 1 else "")
        self._unready = None
        if self._tell(diagnostics):
            self._log.event("reload failed", errors=len(faults), serving=revision)
        self._say()

    def mended(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """A load succeeded, perhaps with warnings."""
        self._refused = self._unready = None
        self._tell(diagnostics)
        self._say()

    def _tell(self, diagnostics: tuple[Diagnostic, ...]) -> bool:
        fresh = frozenset(diagnostics) != self._diagnostics
        self._diagnostics = frozenset(diagnostics)
        if fresh and diagnostics:
            self._log.write("\n\n".join(render(d, self._text_of) for d in diagnostics))
        return fresh

    def _text_of(self, file: str) -> str | None:
        try:
            return (self._root / file).read_text("utf-8-sig", errors="replace")
        except (OSError, ValueError):
            return None

    def _say(self) -> None:
        text = self._stumbled or ("not-ready" if self._unready else None) or self._refused
        if text != self._said:
            self._tell_readiness(text)
            if text is None:
                self._log.event("recovered")
            self._said = text
