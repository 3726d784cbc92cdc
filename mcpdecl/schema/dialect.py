"""The dialects of JSON Schema that are spoken, and the engine that judges by them.

Knows: jsonschema-rs, how it is told to stay offline and linear, and which formats it asserts. Does not know: what the
schemas are for.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import jsonschema_rs

DEFAULT: Final = "https://json-schema.org/draft/2020-12/schema"
# spec: basic/index#schema-dialect: docs/protocol.md lists them
# spec: basic/index#implementation-requirements
DIALECTS: Final = (
    DEFAULT,
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema",
)


def dialect_of(schema: Any) -> str | None:
    """The dialect that a schema declares (2020-12 if none), or None if it is not spoken."""
    # spec: basic/index#schema-dialect: 2020-12 by default, others only if declared
    # spec: basic/index#implementation-requirements
    declared = schema.get("$schema", DEFAULT) if isinstance(schema, dict) else DEFAULT
    if not isinstance(declared, str):
        return None
    bare = declared.removesuffix("#")
    return bare if bare in DIALECTS else None


def validator(schema: Any, *, strict_formats: bool = False) -> jsonschema_rs.Validator:
    """A validator: offline, patterns without backtracking, formats asserted. Raises ValueError."""
    # spec: basic/index#ref-resolution: a network URI is never dereferenced
    return jsonschema_rs.validator_for(
        schema,
        offline=True,
        validate_formats=True,
        ignore_unknown_formats=not strict_formats,
        pattern_options=jsonschema_rs.RegexOptions(),
    )


def validators(schema: Any) -> jsonschema_rs.ValidatorMap:
    """A validator for every subschema, by its pointer (``#/properties/a``). Raises ValueError."""
    # spec: basic/index#ref-resolution
    return jsonschema_rs.validator_map_for(
        schema, offline=True, validate_formats=True, pattern_options=jsonschema_rs.RegexOptions()
    )


@cache
def metaschema(dialect: str) -> jsonschema_rs.Validator:
    """The validator for schemas of a dialect."""
    return validator({"$schema": dialect, "allOf": [{"$ref": dialect}]})


@cache
def asserts(dialect: str, format_: str) -> bool:
    """Whether a format is known in a dialect, and so judged."""
    try:
        validator({"$schema": dialect, "format": format_}, strict_formats=True)
    except ValueError:
        return False
    return True


def fragment(pointer: tuple[str | int, ...]) -> str:
    """The pointer as ``validators`` spells it."""
    return "#" + "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in pointer)
