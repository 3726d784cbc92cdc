"""Where the subschemas of a JSON Schema are.

Knows: which keywords hold schemas, and which hold data that only looks like one. Does not know: what any of them mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

Pointer: TypeAlias = tuple[str | int, ...]

ONE: Final = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems"
    " unevaluatedProperties".split()
)
SERIES: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
NAMED: Final = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
OTHERS: Final = frozenset(
    "$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary const"
    " contentEncoding contentMediaType default dependentRequired deprecated description enum examples exclusiveMaximum"
    " exclusiveMinimum format id maxContains maxItems maxLength maxProperties maximum minContains minItems minLength"
    " minProperties minimum multipleOf pattern readOnly required title type uniqueItems writeOnly".split()
)
KEYWORDS: Final = ONE | SERIES | NAMED | OTHERS
OWN: Final = frozenset({"within", "complete"})  # mcpdecl's words of a property; never served


def subschemas(schema: Any, pointer: Pointer = ()) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """Every schema object in document order, the whole first, each with the pointer that leads to it."""
    if not isinstance(schema, Mapping):
        return
    yield pointer, schema
    for step, child in children(schema):
        yield from subschemas(child, (*pointer, *step))


def children(schema: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    """The schemas directly inside this one, each with the keys that lead to it."""
    for keyword, value in schema.items():
        if keyword in NAMED and isinstance(value, Mapping):
            for name, child in value.items():
                yield (keyword, name), child
        elif keyword in SERIES and isinstance(value, list):
            for index, child in enumerate(value):
                yield (keyword, index), child
        elif keyword in ONE:
            yield (keyword,), value


def at(document: Any, reference: str) -> tuple[bool, Any]:
    """What a local JSON pointer (``#/$defs/x``) leads to in a document: whether there is something, and it."""
    found = document
    for part in reference.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            return False, None
    return True, found


def without_own_words(schema: Any) -> Any:
    """The schema without ``within`` and ``complete``; a property of such a name stays."""
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in OWN:
            continue
        if keyword in NAMED and isinstance(value, Mapping):
            kept[keyword] = {name: without_own_words(child) for name, child in value.items()}
        elif keyword in SERIES and isinstance(value, list):
            kept[keyword] = [without_own_words(child) for child in value]
        else:
            kept[keyword] = without_own_words(value) if keyword in ONE else value
    return kept
