"""What a validator found, told to whoever can mend it.

Knows: how each kind of violation is said in a few words, and which branch of an ``anyOf`` was meant. Does not know: the
values: none is ever repeated, but for a number or a truth value that was sent as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import jsonschema_rs
import msgspec

Path = tuple[str | int, ...]
_SEND = ": send "
_ALL_SHOWN = 30  # names or values that a message lists


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a value does not fit.

    ``path`` leads to the place in the value, or to where a member is missing; ``message`` goes on from there: "must be
    at most 100".
    """

    path: Path
    message: str


def explain(
    error: jsonschema_rs.ValidationError, schema: Any, hidden: frozenset[Path] = frozenset()
) -> list[Violation]:
    """Tell an error as one or more violations. ``schema`` is the whole schema; nothing below a hidden path is told.

    A hidden ``()`` means that no value is repeated at all.
    """
    return [_veiled(v, hidden) for v in _told(error, schema)]


def _veiled(violation: Violation, hidden: frozenset[Path]) -> Violation:
    for end in range(1, len(violation.path)):
        if violation.path[:end] in hidden:
            return Violation(violation.path[:end], "does not fit")
    if () in hidden or violation.path in hidden:
        return Violation(violation.path, violation.message.partition(_SEND)[0])
    return violation


def _told(error: jsonschema_rs.ValidationError, schema: Any) -> list[Violation]:
    path, kind = tuple(error.instance_path), error.kind
    name = type(kind).__name__
    if name in ("AdditionalProperties", "UnevaluatedProperties"):
        known = _properties_beside(error, schema)
        return [Violation((*path, n), _unexpected(n, known)) for n in kind.as_dict()["unexpected"]]
    if name == "Required":
        return [Violation((*path, kind.as_dict()["property"]), "is missing")]
    if name in ("AnyOf", "OneOfNotValid"):
        return _branches(kind.as_dict()["context"], path, schema)
    if name == "PropertyNames":
        return [Violation(path, f"has a name that {_plainly(kind.as_dict()['error'])}")]
    return [Violation(path, _plainly(error))]


def _plainly(error: jsonschema_rs.ValidationError) -> str:
    """The rule that a value breaks, as the rest of a sentence about it."""
    facts = error.kind.as_dict()
    kind = type(error.kind).__name__
    if kind == "Type":
        return _type(facts["types"], error.instance)
    if kind in _BOUNDS:
        before, after = _BOUNDS[kind]
        limit = next(iter(facts.values()))
        return f"{before} {_json(limit)}{after}".replace(" 1 characters", " 1 character").replace(
            " 1 elements", " 1 element"
        )
    if kind == "Enum":
        return _one_of(facts["options"])
    if kind == "Constant":
        return f"must be {_json(facts['expected_value'])}"
    if kind == "Pattern":
        return f"must match {facts['pattern']}"
    if kind == "Format":
        return f"must be a {facts['format']}" if facts["format"] != "regex" else "must be a pattern (no lookaround)"
    if kind == "FalseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        return "must have no members"  # the engine names them only where others are allowed
    return _OTHERS.get(kind, "does not fit")


_BOUNDS: Mapping[str, tuple[str, str]] = {
    "Maximum": ("must be at most", ""),
    "Minimum": ("must be at least", ""),
    "ExclusiveMaximum": ("must be less than", ""),
    "ExclusiveMinimum": ("must be greater than", ""),
    "MultipleOf": ("must be a multiple of", ""),
    "MaxLength": ("must have at most", " characters"),
    "MinLength": ("must have at least", " characters"),
    "MaxItems": ("must have at most", " elements"),
    "MinItems": ("must have at least", " elements"),
    "AdditionalItems": ("must have at most", " elements"),
    "MaxProperties": ("must have at most", " members"),
    "MinProperties": ("must have at least", " members"),
}
_OTHERS: Mapping[str, str] = {
    "Contains": "lacks an element of the kind it must contain",
    "FalseSchema": "must not be there",
    "Not": "must not be what it is",
    "OneOfMultipleValid": "fits more than one of its alternatives",
    "UnevaluatedItems": "has elements that it must not have",
    "UniqueItems": "must not hold the same element twice",
}


def _type(types: list[str], value: Any) -> str:
    told = f"must be {_or([_article(t) for t in types])}"
    if isinstance(value, str) and "string" not in types and len(value) <= 40:
        # Models send numbers as text; told what to send, they do.
        try:
            meant = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError):
            return told
        if _is_canonical(meant, value) and any(_is_of(meant, t) for t in types):
            told += f'{_SEND}{value}, not "{value}"'
    return told


def _is_canonical(meant: Any, text: str) -> bool:
    return isinstance(meant, (bool, int, float)) and _json(meant) == text


def _is_of(value: Any, type_: str) -> bool:
    if isinstance(value, bool):
        return type_ == "boolean"
    return type_ == "number" or (type_ == "integer" and isinstance(value, int))


def _article(type_: str) -> str:
    return {"null": "null", "integer": "an integer", "object": "an object", "array": "an array"}.get(
        type_, f"a {type_}"
    )


def _one_of(options: list[Any]) -> str:
    if len(options) == 1:
        return f"must be {_json(options[0])}"
    more = f" and {len(options) - _ALL_SHOWN} more" if len(options) > _ALL_SHOWN else ""
    return f"must be one of {', '.join(_json(o) for o in options[:_ALL_SHOWN])}{more}"


def _unexpected(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    if near:
        return f"is not known here; did you mean {near[0]}?"
    if not known:
        return "is not known here"
    return f"is not known here; known are {', '.join(known[:_ALL_SHOWN])}"


def _properties_beside(error: jsonschema_rs.ValidationError, schema: Any) -> list[str]:
    """The names of the properties that the closed object has, for telling the nearest."""
    found = schema
    for step in error.schema_path[:-1]:
        try:
            found = found[step]
        except (LookupError, TypeError):
            return []
    properties = found.get("properties") if isinstance(found, Mapping) else None
    return list(properties) if isinstance(properties, Mapping) else []


# --- alternatives ----------------------------------------------------------------------------------------------


def _branches(branches: list[list[jsonschema_rs.ValidationError]], path: Path, schema: Any) -> list[Violation]:
    together = _all_values(branches, path) or _all_types(branches, path) or _all_names(branches, path)
    if together:
        return [Violation(path, together)]
    best = min(branches, key=lambda errors: _distance(errors, path), default=[])
    told = [v for error in best for v in _told(error, schema)]
    return told or [Violation(path, "does not fit any of its alternatives")]


def _distance(errors: Iterable[jsonschema_rs.ValidationError], path: Path) -> tuple[int, int]:
    """How far a branch is from being the one that was meant: another type, then another tag, then more faults."""
    rank, count = 0, 0
    for error in errors:
        count += 1
        kind, below = type(error.kind).__name__, len(error.instance_path) - len(path)
        if below == 0 and kind in ("Type", "FalseSchema"):
            rank = max(rank, 3)
        elif below <= 1 and kind in ("Constant", "Enum"):
            rank = max(rank, 2)
    return rank, count


def _all_values(branches: list[list[jsonschema_rs.ValidationError]], path: Path) -> str:
    """Every branch is a set of values, as in ``oneOf`` with ``const`` and ``title``."""
    values: list[Any] = []
    for errors in branches:
        kinds = {type(e.kind).__name__: e.kind.as_dict() for e in errors if tuple(e.instance_path) == path}
        if "Constant" in kinds:
            values.append(kinds["Constant"]["expected_value"])
        elif "Enum" in kinds:
            values += kinds["Enum"]["options"]
        else:
            return ""
    return _one_of(values) if values else ""


def _all_types(branches: list[list[jsonschema_rs.ValidationError]], path: Path) -> str:
    """No branch is of the value's type."""
    types: list[str] = []
    for errors in branches:
        found = [e for e in errors if type(e.kind).__name__ == "Type" and tuple(e.instance_path) == path]
        if not found:
            return ""
        types += (t for t in found[0].kind.as_dict()["types"] if t not in types)
    return f"must be {_or([_article(t) for t in types])}"


def _all_names(branches: list[list[jsonschema_rs.ValidationError]], path: Path) -> str:
    """Every branch lacks only members."""
    wanted: list[str] = []
    for errors in branches:
        if any(type(e.kind).__name__ != "Required" or tuple(e.instance_path) != path for e in errors):
            return ""
        wanted.append(" and ".join(e.kind.as_dict()["property"] for e in errors))
    return f"needs {_or(wanted)}" if wanted else ""


def _or(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _json(value: Any) -> str:
    text = msgspec.json.encode(value).decode("utf-8")
    return text if len(text) <= 200 else text[:200] + "…"
