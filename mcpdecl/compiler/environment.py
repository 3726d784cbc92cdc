"""Values that come from outside the manifests: the environment and ``.env``.

Knows: how ``.env`` is written and how ``{{ env.NAME }}`` is filled in at load. Does not know: which texts are read at
call time instead (it is told).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcpdecl.diagnostics import Diagnostic, Span
from mcpdecl.templates import RenderFault, TemplateFault, Templates

_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*
    (?:'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<bare>[^'"\s\#](?:[^\#]|(?<!\s)\#)*?|))
    \s*(?:(?<=\s)\#.*|)$""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read_dotenv(data: bytes, file: str) -> tuple[dict[str, str], list[Diagnostic]]:
    """Read ``KEY=value`` lines. A line that is none is reported by its number; its text stays out of the report."""
    values: dict[str, str] = {}
    found: list[Diagnostic] = []
    for number, line in enumerate(data.decode("utf-8-sig", errors="surrogateescape").splitlines()):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        # surrogates stand for bytes that are not UTF-8
        if match is None or any("\ud800" <= c <= "\udfff" for c in line):
            where = Span(file, number, 0, number, len(line))
            found.append(Diagnostic("bad-env-file", "This line is not KEY=value in UTF-8.", where))
            continue
        values[match["name"]] = _value(match)
    return values, found


def _value(match: re.Match[str]) -> str:
    if match["single"] is not None:
        return match["single"]
    if match["double"] is not None:
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), match["double"])
    return (match["bare"] or "").strip()


# An expression may hold quoted braces: {{ env.A | default('}}') }}
_FILLED = re.compile(r"""\{\{-?\s*env\s*[.\[](?:'[^']*'|"[^"]*"|(?!\}\})[^'"])*\}\}""")
_OTHER = re.compile(r"\{\{-?\s*[A-Za-z_][\w.]*\s*(?:\|[^{}]*)?-?\}\}")
NAMED = re.compile(r"\benv(?:\.([A-Za-z_]\w*)|\[\s*['\"](\w+)['\"]\s*\])(?P<spared>\s*\|\s*(?:default|d)\b|\s+is\s)?")

Tell = Callable[[str, str, tuple[str | int, ...], str], None]


@dataclass(frozen=True, slots=True)
class Filling:
    """Fills ``{{ env.NAME }}`` into strings, once, after parsing: a value can never change the structure around it.

    ``tell(code, message, path, hint)`` reports; ``used`` collects the names that were read.
    """

    values: Mapping[str, str]
    templates: Templates
    tell: Tell
    used: set[str]

    def fill(self, data: Any, path: tuple[str | int, ...]) -> Any:
        """A copy of ``data`` with every string filled. Unchanged data is returned as it is."""
        if isinstance(data, str):
            return self._text(data, path) if "{{" in data else data
        if isinstance(data, dict):
            filled = {key: self.fill(value, (*path, key)) for key, value in data.items()}
            return filled if any(filled[k] is not v for k, v in data.items()) else data
        if isinstance(data, list):
            items = [self.fill(value, (*path, index)) for index, value in enumerate(data)]
            return items if any(a is not b for a, b in zip(items, data, strict=True)) else data
        return data

    def _text(self, text: str, path: tuple[str | int, ...]) -> str:
        if not path or path[-1] in ("title", "description", "instructions"):
            self._stray(text, path)
        return _FILLED.sub(lambda match: self._one(match[0], path), text)

    def _one(self, expression: str, path: tuple[str | int, ...]) -> str:
        names = {m[1] or m[2] for m in NAMED.finditer(expression)}
        self.used.update(names)
        try:
            return self.templates.template(expression).text({"env": self.values})
        except TemplateFault as fault:
            self.tell("bad-value", f"{expression} cannot be read: {fault.message}", path, "")
        except RenderFault:
            missing = ", ".join(sorted(name for name in names if name not in self.values)) or "its value"
            self.tell(
                "unset-variable",
                f"The environment variable {missing} is not set.",
                path,
                f"Set it, or give a default: {{{{ env.{missing} | default('…') }}}}.",
            )
        return ""

    def _stray(self, text: str, path: tuple[str | int, ...]) -> None:
        for match in _OTHER.finditer(_FILLED.sub("", text)):
            self.tell(
                "template-not-read",
                f"{match[0]} stays as it is written: here only {{{{ env.NAME }}}} is filled in.",
                path,
                "",
            )
            return


def unset(text: str, values: Mapping[str, str]) -> set[str]:
    """Names that a template reads from ``env`` without a default, though nothing set them."""
    found = (m for m in NAMED.finditer(text) if not m["spared"])
    return {name for m in found if (name := m[1] or m[2]) not in values}
