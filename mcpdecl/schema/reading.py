"""What is wrong with a schema as it is written, before it judges anything.

Knows: the bounds on schemas, the rules of the dialects, and what authors often get wrong. Does not know: where a schema
is written, or what is called with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Literal
from urllib.parse import urljoin

import jsonschema_rs

from mcpdecl.schema import dialect, explain
from mcpdecl.schema.walk import KEYWORDS, OWN, Pointer, at, subschemas, without_own_words

_DEPTH = 64  # of any nesting in a schema
_NODES = 100_000  # values in a schema
_SCHEMAS = 10_000  # subschemas
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
_OTHER_NAMES = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number",
    "bool": "boolean", "dict": "object", "map": "object", "list": "array", "none": "null", "nil": "null",
}  # fmt: skip


class SchemaFault(Exception):
    """A fault or a warning of a schema.

    ``code`` is a key of CODES, ``pointer`` leads into the schema as written, ``hint`` is the remedy.
    """

    def __init__(self, code: str, pointer: Pointer, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.pointer = pointer
        self.message = message
        self.hint = hint


def read_faults(written: Any, *, role: Literal["input", "output"] = "input") -> list[SchemaFault]:
    """Every fault and every warning, in the order of the document as far as there is one.

    What a client sends is looked at more closely (names, patterns) than what is sent to it.
    """
    bounds = _out_of_bounds(written)
    if bounds is not None:
        return [bounds]
    spoken = dialect.dialect_of(written)
    if spoken is None:
        return [_unspoken(written["$schema"])]
    broken = [*_against_the_dialect(written, spoken), *_references(written), *_inner_dialects(written)]
    warnings = [w for pointer, schema in subschemas(written) for w in _warnings(pointer, schema, spoken, role)]
    return [*broken, *([] if broken else _uncompiled(written)), *warnings]


def errors_of(written: Any) -> list[SchemaFault]:
    """The faults that keep a schema from being compiled, without the warnings. Cheap where there are none."""
    bounds = _out_of_bounds(written)
    if bounds is not None:
        return [bounds]
    spoken = dialect.dialect_of(written)
    if spoken is None:
        return [_unspoken(written["$schema"])]
    if dialect.metaschema(spoken).is_valid(written):
        broken = [*_references(written), *_inner_dialects(written)]
    else:
        broken = [*_against_the_dialect(written, spoken)]
    return broken or _uncompiled(written)


def served(written: Any) -> Any:
    """The schema as clients get it: as written, without mcpdecl's own words of a property."""
    return without_own_words(written)


# --- bounds and dialect ----------------------------------------------------------------------------------------


def _out_of_bounds(written: Any) -> SchemaFault | None:
    # spec: basic/index#composition-keyword-resource-use
    if not isinstance(written, (dict, bool)):
        return SchemaFault("invalid-schema", (), "A schema is a mapping (or true or false).")
    left = _NODES
    waiting: list[tuple[Any, Pointer]] = [(written, ())]
    while waiting:
        value, pointer = waiting.pop()
        left -= 1
        if left < 0:
            return SchemaFault("invalid-schema", (), f"The schema holds more than {_NODES} values.")
        if len(pointer) > _DEPTH:
            return SchemaFault("invalid-schema", pointer[:8], f"The schema is nested more than {_DEPTH} deep.")
        if isinstance(value, dict):
            bad = next((k for k in value if not isinstance(k, str)), None)
            if bad is not None:
                return SchemaFault("invalid-schema", pointer, f"The key {bad} is no text: quote it.")
            waiting += ((v, (*pointer, k)) for k, v in value.items())
        elif isinstance(value, list):
            waiting += ((v, (*pointer, i)) for i, v in enumerate(value))
    if left < _NODES - _SCHEMAS and sum(1 for _ in subschemas(written)) > _SCHEMAS:
        return SchemaFault("invalid-schema", (), f"The schema holds more than {_SCHEMAS} schemas.")
    return None


def _unspoken(declared: Any) -> SchemaFault:
    # spec: basic/index#implementation-requirements: an unsupported dialect is an error that says so
    known = ", ".join(dialect.DIALECTS)
    return SchemaFault("unknown-dialect", ("$schema",), f"The dialect {declared} is not known.", f"Use one of {known}.")


def _inner_dialects(written: Any) -> Iterator[SchemaFault]:
    for pointer, schema in subschemas(written):
        if pointer and "$schema" in schema and dialect.dialect_of(dict(schema)) is None:
            fault = _unspoken(schema["$schema"])
            yield SchemaFault(fault.code, (*pointer, "$schema"), fault.message, fault.hint)


def _against_the_dialect(written: Any, spoken: str) -> Iterator[SchemaFault]:
    # spec: basic/index#schema-validation
    # spec: basic/index#implementation-requirements
    try:
        found = list(dialect.metaschema(spoken).iter_errors(written))
    except ValueError as fault:  # a lone surrogate, for instance
        yield SchemaFault("invalid-schema", (), f"The schema is no JSON: {fault}.")
        return
    seen: set[tuple[Pointer, str]] = set()
    for error in found:
        pointer = tuple(error.instance_path)
        message, hint = _told(error, pointer)
        if (pointer, message) not in seen:
            seen.add((pointer, message))
            yield SchemaFault("invalid-schema", pointer, message, hint)


def _told(error: jsonschema_rs.ValidationError, pointer: Pointer) -> tuple[str, str]:
    name = str(pointer[-1]) if pointer else "The schema"
    value = error.instance
    if name == "type" and isinstance(value, str):
        near = _OTHER_NAMES.get(value.lower()) or next(iter(get_close_matches(value.lower(), _TYPES, n=1)), None)
        hint = f"Did you mean {near}?" if near else f"The types are {', '.join(_TYPES)}."
        return f"There is no type '{value}'.", hint
    if name == "required" and isinstance(value, bool):
        return "required is a list of names.", "It stands beside properties, not inside a property."
    if name == "pattern" and isinstance(value, str):
        return (
            "This pattern is not supported.",
            "It must be a regular expression without lookaround and back references.",
        )
    first = explain.explain(error, {})[0]
    return f"{name} {first.message}.", ""


# --- references ------------------------------------------------------------------------------------------------


def _references(written: Any) -> Iterator[SchemaFault]:
    found = [(p, s) for p, s in subschemas(written) if "$ref" in s or "$dynamicRef" in s]
    if not found:
        return
    bases, anchors = _names_in(written)
    for pointer, schema in found:
        for word in ("$ref", "$dynamicRef"):
            reference = schema.get(word)
            if isinstance(reference, str):
                yield from _reference((*pointer, word), reference, written, bases, anchors)


def _reference(
    pointer: Pointer, reference: str, written: Any, bases: frozenset[str], anchors: frozenset[str]
) -> Iterator[SchemaFault]:
    base, _, anchor = reference.partition("#")
    if base:
        # spec: basic/index#ref-resolution: an external $ref is rejected, not treated as permissive
        known = any(urljoin(b, base) in bases for b in (*bases, "")) or base in dialect.DIALECTS
        if not known:
            hint = "Put the schema under $defs and refer to it as #/$defs/name."
            yield SchemaFault("remote-ref", pointer, f"$ref leads to {reference}; nothing is ever fetched.", hint)
    elif anchor and not anchor.startswith("/"):
        if anchor not in anchors:
            yield SchemaFault("invalid-schema", pointer, f"There is no anchor {anchor}.")
    elif len(bases) <= 1 and "%" not in reference and not at(written, reference)[0]:
        yield SchemaFault(
            "invalid-schema", pointer, f"{reference} leads nowhere.", _nearest_definition(written, reference)
        )


def _names_in(written: Any) -> tuple[frozenset[str], frozenset[str]]:
    """The URIs that parts of this schema have, and the anchors in it."""
    base = written.get("$id", "") if isinstance(written, Mapping) else ""
    bases, anchors = {base} if base else set(), set()
    for _, schema in subschemas(written):
        identity = schema.get("$id", schema.get("id"))
        if isinstance(identity, str):
            if identity.startswith("#"):
                anchors.add(identity[1:])
            else:
                bases.add(urljoin(base, identity).removesuffix("#"))
        anchors |= {schema[w] for w in ("$anchor", "$dynamicAnchor") if isinstance(schema.get(w), str)}
    return frozenset(bases), frozenset(anchors)


def _nearest_definition(written: Mapping[str, Any], reference: str) -> str:
    names = [f"#/{word}/{name}" for word in ("$defs", "definitions") for name in written.get(word, ())]
    near = get_close_matches(reference, names, n=1)
    return f"Did you mean {near[0]}?" if near else ""


# --- what only the engine can tell -----------------------------------------------------------------------------


def _uncompiled(written: Any) -> list[SchemaFault]:
    defaults = [(p, s["default"]) for p, s in subschemas(written) if "default" in s]
    try:
        if not defaults:
            dialect.validator(written)
            return []
        judges = dialect.validators(written)
    except ValueError as fault:
        return [_engine_fault(fault)]
    return [
        fault
        for pointer, value in defaults
        for fault in _default(judges.get(dialect.fragment(pointer)), pointer, value)
    ]


def _engine_fault(fault: ValueError) -> SchemaFault:
    if isinstance(fault, jsonschema_rs.ValidationError) and type(fault.kind).__name__ == "Referencing":
        return SchemaFault("invalid-schema", (), f"A reference of the schema leads nowhere: {fault.message}.")
    if isinstance(fault, jsonschema_rs.ValidationError):
        pointer = tuple(fault.instance_path)
        return SchemaFault("invalid-schema", pointer, *_told(fault, pointer))
    return SchemaFault("invalid-schema", (), f"The schema is no JSON: {str(fault).splitlines()[0]}.")


def _default(judge: jsonschema_rs.Validator | None, pointer: Pointer, value: Any) -> Iterator[SchemaFault]:
    if judge is None:
        return
    error = next(iter(judge.iter_errors(value)), None)
    if error is not None:
        hint = "Leave default out: what is not required may be missing." if value is None else ""
        first = explain.explain(error, {})[0]
        inner = "".join(f"{step}: " for step in first.path)
        yield SchemaFault(
            "bad-default", (*pointer, "default"), f"The default does not fit: {inner}{first.message}.", hint
        )


# --- warnings --------------------------------------------------------------------------------------------------


def _warnings(pointer: Pointer, schema: Mapping[str, Any], spoken: str, role: str) -> Iterator[SchemaFault]:
    for word in schema:
        if word not in KEYWORDS and word not in OWN and not word.startswith("x-"):
            near = next(iter(get_close_matches(word, KEYWORDS, n=1)), None)
            hint = f"Did you mean {near}?" if near else "Words of your own begin with x-."
            yield SchemaFault("unknown-keyword", (*pointer, word), f"'{word}' is no keyword of JSON Schema.", hint)
    yield from _format(pointer, schema, spoken)
    if role == "input":
        yield from _of_input(pointer, schema)


def _format(pointer: Pointer, schema: Mapping[str, Any], spoken: str) -> Iterator[SchemaFault]:
    format_ = schema.get("format")
    if isinstance(format_, str) and not dialect.asserts(spoken, format_):
        near = next(iter(get_close_matches(format_, _FORMATS, n=1)), None)
        hint = f"Did you mean {near}?" if near else f"Formats that are checked: {', '.join(_FORMATS)}."
        yield SchemaFault(
            "unknown-format", (*pointer, "format"), f"The format '{format_}' is not known and not checked.", hint
        )


def _of_input(pointer: Pointer, schema: Mapping[str, Any]) -> Iterator[SchemaFault]:
    properties = schema.get("properties")
    for name in properties if isinstance(properties, Mapping) else ():
        if not _SAFE_NAME.match(name):
            hint = "Use letters, digits, _, . and -, at most 64; put the readable name into title."
            message = f"'{name}' is refused by some clients, and every tool with it."
            yield SchemaFault("bad-property-name", (*pointer, "properties", name), message, hint)


_FORMATS = tuple(
    "date date-time time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference"
    " uri-template json-pointer relative-json-pointer regex uuid".split()
)
