"""One item as it stands after sharing: its fields with defaults merged in, and which file each part came from.

Knows: how defaults merge, and where a part of an item was written. Does not know: what any field means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mcpdecl.diagnostics import CODES, Diagnostic, Span
from mcpdecl.manifest.declarations import Place

Path = tuple[str | int, ...]

LIMITS = ("timeout", "maxOutput", "concurrency", "rate")
SURROUNDINGS = ("cwd", "env")  # of programs: they hold wherever one is started, in vars and completions too


@dataclass(frozen=True, slots=True)
class Layer:
    """Fields that one place in one file gives to an item, at ``at`` in the item and at ``base`` in the file's place."""

    fields: Any
    place: Place
    at: Path = ()
    base: Path = ()

    def holds(self, path: Path) -> bool:
        """Whether the part of the item at ``path`` was written here."""
        return path[: len(self.at)] == self.at and _has(self.fields, path[len(self.at) :])

    def span(self, path: Path) -> Span:
        """Where it was written."""
        return self.place.span(*self.base, *path[len(self.at) :])

    def key(self, path: Path) -> Span:
        """Where its key was written."""
        return self.place.key(*self.base, *path[len(self.at) :])


@dataclass(frozen=True, slots=True)
class Written:
    """The fields of an item, merged, with the layers that they came from; the item's own comes first."""

    fields: Mapping[str, Any]
    layers: tuple[Layer, ...]

    def span(self, *path: str | int) -> Span:
        """Where the value at ``path`` stands, or the nearest part around it that was written."""
        return self._layer(path).span(path)

    def key(self, *path: str | int) -> Span:
        """Where the key of the value at ``path`` stands."""
        return self._layer(path).key(path)

    def _layer(self, path: Path) -> Layer:
        return next((layer for layer in self.layers if layer.holds(path)), self.layers[0])


def merge(under: Any, over: Any) -> Any:
    """``over`` wins; mappings merge by key, to any depth."""
    if isinstance(under, dict) and isinstance(over, dict):
        return {**under, **{key: merge(under[key], value) if key in under else value for key, value in over.items()}}
    return over


def share(kind: str, own: Layer, defaults: Iterable[Layer]) -> Written:
    """Merge defaults (nearest first) into an item. Each kind of item takes what has a meaning for it."""
    fields: Any = dict(own.fields)
    layers = [own]
    for default in defaults:
        taken = LIMITS if kind in ("prompt", "resource") else (*LIMITS, "annotations") if kind == "tool" else ()
        given = {key: value for key, value in default.fields.items() if key in taken}
        if given:
            fields = merge(given, fields)
            layers.append(replace(default, fields=given))
        around = {key: value for key, value in default.fields.items() if key in SURROUNDINGS}
        if around and kind != "form":
            for path in _programs(fields):
                fields = _merge_at(fields, path, around)
                layers.append(replace(default, fields=around, at=path))
    return Written(fields, tuple(layers))


def _programs(fields: Mapping[str, Any]) -> list[Path]:
    """Where an item starts a program: itself, its vars, its completions."""
    found: list[Path] = [()] if "command" in fields else []
    for name, var in _mapping(fields.get("vars")):
        if "command" in _as_dict(var):
            found.append(("vars", name))
    for name, argument in _mapping(fields.get("arguments")):
        if "command" in _as_dict(_as_dict(argument).get("complete")):
            found.append(("arguments", name, "complete"))
    return found


def _mapping(value: Any) -> Iterable[tuple[str, Any]]:
    return _as_dict(value).items()


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _merge_at(fields: dict[str, Any], path: Path, given: dict[str, Any]) -> dict[str, Any]:
    if not path:
        return dict(merge(given, fields))
    key = str(path[0])  # programs stand below keys alone
    return {**fields, key: _merge_at(fields[key], path[1:], given)}


def _has(data: Any, path: Path) -> bool:
    for step in path:
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data):
            data = data[step]
        else:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of an item, by the path of what is wrong, so that it can be told again when the item has moved.

    ``place`` is set where the fault lies in another file that the item names.
    """

    code: str
    message: str
    path: Path = ()
    hint: str = ""
    on_key: bool = False
    inner: tuple[int, int] | None = None
    place: Span | None = None
    related: tuple[tuple[str, Path], ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether it keeps a catalogue from being served."""
        return CODES[self.code].severity == "error"

    def told(self, written: Written) -> Diagnostic:
        """The diagnostic, with places as they are now."""
        span = self.place or (written.key(*self.path) if self.on_key else written.span(*self.path))
        related = tuple((caption, written.key(*path)) for caption, path in self.related)
        return Diagnostic(self.code, self.message, span, self.hint, related)


@dataclass(frozen=True, slots=True)
class Report:
    """Collects findings about the part of an item at ``at``."""

    findings: list[Finding] = field(default_factory=list)
    at: Path = ()

    def __call__(self, code: str, message: str, *path: str | int, hint: str = "") -> None:
        """Report a fault of the value at ``path``."""
        self.findings.append(Finding(code, message, (*self.at, *path), hint))

    def key(self, code: str, message: str, *path: str | int, hint: str = "") -> None:
        """Report a fault of the key at ``path``."""
        self.findings.append(Finding(code, message, (*self.at, *path), hint, on_key=True))

    def add(self, finding: Finding) -> None:
        """Report a finding that was made elsewhere."""
        self.findings.append(finding)

    def below(self, *path: str | int) -> Report:
        """The same collection, for a part."""
        return Report(self.findings, (*self.at, *path))
