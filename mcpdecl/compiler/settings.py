"""The ``server`` section: who the server is and how it behaves.

Knows: what the section may say. Does not know: who acts on it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mcpdecl.catalogue import Settings
from mcpdecl.compiler.draft import Folder
from mcpdecl.compiler.environment import Filling
from mcpdecl.compiler.quantities import duration
from mcpdecl.diagnostics import Diagnostic
from mcpdecl.manifest.declarations import Section

VERSION = "0"  # of a server that does not say
_LONGEST = 3600.0  # seconds that an answer may take before it becomes a stream


def settings(
    section: Section | None, root: Path, folder: Folder, read: frozenset[str], found: list[Diagnostic]
) -> Settings:
    """The settings; ``read`` are names of the environment that templates name. What is wrong goes into ``found``."""
    fields = _filled(section, folder, found) if section is not None else {}
    info = {"name": root.name or "mcpdecl", "version": VERSION}
    # spec: server/discover#discoverresult: name and version, whatever the manifest says
    info |= {
        key: fields[key] for key in ("name", "title", "version", "description", "websiteUrl", "icons") if key in fields
    }
    names = read | set(fields.get("env") or ())

    def seconds(key: str, otherwise: float, most: float) -> float:
        return _seconds(fields.get(key), otherwise, most, lambda why: _tell(section, found, key, why))

    return Settings(
        info=MappingProxyType(info),
        instructions=fields.get("instructions"),
        env=MappingProxyType({name: folder.environ[name] for name in sorted(names) if name in folder.environ}),
        hosts=tuple(fields.get("hosts") or ()),
        origins=tuple(fields.get("origins") or ()),
        stream_after=seconds("streamAfter", 5.0, _LONGEST),
        ttl_ms=round(seconds("ttl", 0.0, 86400.0 * 365) * 1000) if "ttl" in fields else None,
    )


def _filled(section: Section, folder: Folder, found: list[Diagnostic]) -> dict[str, Any]:
    def tell(code: str, message: str, path: tuple[str | int, ...], hint: str) -> None:
        found.append(Diagnostic(code, message, section.place.span(*path), hint))

    filling = Filling(folder.environ, folder.templates, tell, set())
    return {k: filling.fill(v, (k,)) if k != "defaults" else v for k, v in section.fields.items()}


def _seconds(text: Any, otherwise: float, most: float, tell: Callable[[str], None]) -> float:
    if text is None:
        return otherwise
    try:
        seconds = duration(str(text))
    except ValueError as error:
        tell(str(error))
        return otherwise
    if seconds > most:
        tell(f"is more than {most:.0f}s")
    return seconds


def _tell(section: Section | None, found: list[Diagnostic], key: str, why: str) -> None:
    if section is not None:
        message = f"{key}: {section.fields.get(key)!r} {why}."
        found.append(Diagnostic("bad-value", message, section.place.span(key)))
