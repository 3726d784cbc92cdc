"""URIs and URI templates: which are well formed, how one is matched, how one is made.

Knows: RFC 3986 syntax and the part of RFC 6570 that can be matched without guessing. Does not know: what a URI
names, or whether it is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import quote, unquote_to_bytes

_UNRESERVED = "-._~"
# Of the reserved characters of RFC 3986, those that a path may hold anywhere: "?" and "#" would end it, brackets belong
# to hosts alone, and a colon would begin a port in docs://{+path}, where the first name stands in the host's place.
_RESERVED_IN_PATHS = "/@!$&'()*+,;="
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CHARACTERS = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*\Z")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SEPARATORS = re.compile(r"[/\\]")
_OTHER_OPERATORS = frozenset("#./;&=,!@|")


class UriTemplateFault(Exception):
    """A URI template that is not understood. ``message`` says why and what to write instead."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str
    reserved: bool


@dataclass(frozen=True, slots=True)
class UriTemplate:
    """A parsed URI template. ``variables`` are the names in the order in which they are written."""

    source: str
    variables: tuple[str, ...]
    _parts: tuple[str | _Variable, ...]
    _query: tuple[str, ...] = ()

    def match(self, uri: str) -> dict[str, str] | None:
        """The values with which this template makes ``uri``, each decoded exactly once, or None.

        Takes time linear in the length of ``uri``. A simple variable never yields a separator, NUL or ``..``; a
        reserved one may hold ``/`` but no ``..`` component. Query variables that are not there are left out.
        """
        # spec: server/resources#security-considerations: no value leads out of its place
        path, mark, query = uri.partition("?") if self._query else (uri, "", "")
        raw = _split(self._parts, path)
        if raw is None:
            return None
        values: dict[str, str] = {}
        for variable, text in raw:
            value = _decode(text)
            if value is None or not _harmless(value, variable.reserved):
                return None
            values[variable.name] = value
        return values if not mark else self._with_query(values, query)

    def _with_query(self, values: dict[str, str], query: str) -> dict[str, str] | None:
        for pair in query.split("&") if query else ():
            name, _, text = pair.partition("=")
            value = _decode(text)
            if name not in self._query or name in values or value is None or not _harmless(value, True):
                return None
            values[name] = value
        return values

    def expand(self, values: Mapping[str, Any]) -> str:
        """The URI for these values, such that ``match`` gives them back. A value that is missing leaves nothing.

        Differs from RFC 6570 in one point: ``% ? # : [ ]`` in a value of ``{+name}`` are always encoded, so that every
        file name makes a URI and survives the way there and back.
        """
        made = [
            part if isinstance(part, str) else _encode(values.get(part.name, ""), part.reserved) for part in self._parts
        ]
        pairs = [f"{name}={_encode(values[name], False)}" for name in self._query if name in values]
        return "".join(made) + ("?" + "&".join(pairs) if pairs else "")


def parse(text: str) -> UriTemplate:
    """Parse ``{name}``, ``{+name}`` (at most one) and a final ``{?a,b}``. Raises UriTemplateFault for anything else."""
    if not _SCHEME.match(text):
        raise UriTemplateFault("A URI template begins with a scheme written out, such as docs://")
    parts: list[str | _Variable] = []
    query: tuple[str, ...] = ()
    for piece in _pieces(text):
        if query:
            raise UriTemplateFault("{?…} must be the last part of a URI template.")
        if isinstance(piece, str):
            parts.append(_literal(piece))
        elif piece.operator == "?":
            query = tuple(_name(n) for n in piece.body.split(","))
        else:
            parts.append(_Variable(_name(piece.body), piece.operator == "+"))
    _check(parts, query)
    names = tuple(p.name for p in parts if isinstance(p, _Variable)) + query
    return UriTemplate(text, names, tuple(parts), query)


def is_uri(text: str) -> bool:
    """Whether this is an absolute URI by RFC 3986 (a scheme, then allowed characters; a fragment may be there)."""
    scheme = _SCHEME.match(text)
    if scheme is None or not _CHARACTERS.match(text) or text.count("#") > 1:
        return False
    rest = text[scheme.end() :]
    authority = re.match(r"//([^/?#]*)", rest)
    outside = rest[authority.end() :] if authority else rest
    return "[" not in outside and "]" not in outside and (authority is None or _is_authority(authority[1]))


def is_page(text: str) -> bool:
    """Whether a browser may be sent there: an absolute URI of a host, by https or http."""
    return is_uri(text) and re.match(r"(?i)https?://[^/?#]", text) is not None


def _is_authority(text: str) -> bool:
    host = text.rpartition("@")[2]
    if host.startswith("["):
        return re.match(r"\[[0-9A-Fa-fv:.]+\](:\d*)?\Z", host) is not None
    return re.match(r"[^\[\]@:]*(:\d*)?\Z", host) is not None


# --- reading a template ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Braces:
    operator: str
    body: str


def _pieces(text: str) -> Iterator[str | _Braces]:
    position = 0
    while position < len(text):
        start = text.find("{", position)
        literal = text[position:] if start < 0 else text[position:start]
        if "}" in literal:
            raise UriTemplateFault("A } without its { in the URI template.")
        if literal:
            yield literal
        if start < 0:
            return
        end = text.find("}", start)
        if end < 0:
            raise UriTemplateFault("A { without its } in the URI template.")
        yield _braces(text[start + 1 : end])
        position = end + 1


def _braces(body: str) -> _Braces:
    if body.startswith(("+", "?")):
        return _Braces(body[0], body[1:])
    if body[:1] in _OTHER_OPERATORS:
        raise UriTemplateFault(f"{{{body}}} is not supported: use {{name}}, {{+name}} or a final {{?a,b}}.")
    return _Braces("", body)


def _name(text: str) -> str:
    if "," in text:
        raise UriTemplateFault(f"{{{text}}} holds several variables: give each its own braces.")
    if text.endswith("*") or ":" in text:
        raise UriTemplateFault(f"The modifier in {{{text}}} is not supported: write the bare name.")
    if not _NAME.match(text):
        raise UriTemplateFault(
            f"{{{text}}} is no variable: a name has letters, digits and _, and begins with no digit."
        )
    return text


def _literal(text: str) -> str:
    if not _CHARACTERS.match(text):
        raise UriTemplateFault(f"{text!r} holds a character that a URI cannot hold: percent-encode it.")
    return text


def _check(parts: list[str | _Variable], query: tuple[str, ...]) -> None:
    variables = [p for p in parts if isinstance(p, _Variable)]
    names = [v.name for v in variables] + list(query)
    for name in names:
        if names.count(name) > 1:
            raise UriTemplateFault(f"The variable {name} is there twice.")
    if sum(v.reserved for v in variables) > 1:
        raise UriTemplateFault("Two {+…} variables leave open where one ends: use at most one.")
    for left, right in pairwise(parts):
        if isinstance(left, _Variable) and isinstance(right, _Variable):
            raise UriTemplateFault(f"{{{left.name}}} and {{{right.name}}} touch: put text between them.")
    if query and any("?" in p or "#" in p for p in parts if isinstance(p, str)):
        raise UriTemplateFault("A template with {?…} cannot hold another ? or #.")


# --- matching --------------------------------------------------------------------------------------------------


def _split(parts: tuple[str | _Variable, ...], text: str) -> list[tuple[_Variable, str]] | None:
    """Cut ``text`` at the literals: from the left up to the reserved variable, from the right back to it."""
    wide = next((i for i, p in enumerate(parts) if isinstance(p, _Variable) and p.reserved), None)
    if wide is None:
        return _forward(parts, text)
    after = parts[wide + 1 :]
    mirrored = tuple(p[::-1] if isinstance(p, str) else p for p in reversed(after))
    right, left_over = _prefix(mirrored, text[::-1])
    left, rest = _prefix(parts[:wide], text)
    if right is None or left is None or left_over is None or rest is None:
        return None
    inner = len(rest) + len(left_over) - len(text)
    if inner < 1:
        return None
    variable = parts[wide]
    assert isinstance(variable, _Variable)  # noqa: S101 - found by that test above
    turned = [(v, t[::-1]) for v, t in reversed(right)]
    return [*left, (variable, rest[:inner]), *turned]


def _forward(parts: tuple[str | _Variable, ...], text: str) -> list[tuple[_Variable, str]] | None:
    """Match parts without a reserved variable against the whole text."""
    if parts and isinstance(parts[-1], str):
        if len(parts) == 1:
            return [] if text == parts[-1] else None
        if not text.endswith(parts[-1]):
            return None
        text = text[: len(text) - len(parts[-1])]
        parts = parts[:-1]
    last = parts[-1]
    assert isinstance(last, _Variable)  # noqa: S101 - literals never touch each other
    found, rest = _prefix(parts[:-1], text)
    return None if found is None or not rest else [*found, (last, rest)]


def _prefix(parts: tuple[str | _Variable, ...], text: str) -> tuple[list[tuple[_Variable, str]] | None, str | None]:
    """Match alternating parts that end with a literal (or none); each variable takes as little as it can."""
    found: list[tuple[_Variable, str]] = []
    waiting: _Variable | None = None
    for part in parts:
        if isinstance(part, _Variable):
            waiting = part
        elif waiting is None:
            if not text.startswith(part):
                return None, None
            text = text[len(part) :]
        else:
            at = text.find(part, 1)
            if at < 0:
                return None, None
            found.append((waiting, text[:at]))
            text, waiting = text[at + len(part) :], None
    return found, text


def _decode(text: str) -> str | None:
    if "%" not in text:
        return text
    if _BAD_ESCAPE.search(text):
        return None
    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _harmless(value: str, reserved: bool) -> bool:
    if "\0" in value:
        return False
    components = _SEPARATORS.split(value)
    return ".." not in components and (reserved or len(components) == 1)


def _encode(value: Any, reserved: bool) -> str:
    return quote(str(value), safe=_UNRESERVED + _RESERVED_IN_PATHS if reserved else _UNRESERVED)
