"""Arguments that clients repeat in a header.

Knows: what may carry ``x-mcp-header``, and under which name. Does not know: the headers of any request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mcpdecl.schema.reading import SchemaFault
from mcpdecl.schema.walk import Pointer, subschemas

_WORD = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")  # spec: server/tools#x-mcp-header: 1*tchar of RFC 9110
_TYPES = ("string", "integer", "boolean")


@dataclass(frozen=True, slots=True)
class HeaderParameter:
    """An argument that is repeated in a header.

    ``path`` leads to it through the properties, ``header`` is what stands after ``Mcp-Param-``.
    """

    path: tuple[str, ...]
    header: str
    type: Literal["string", "integer", "boolean"]


def header_parameters(written: Any) -> tuple[HeaderParameter, ...]:
    """The header parameters of an input schema, in order. Raises SchemaFault with code ``bad-header-parameter``."""
    found: dict[str, HeaderParameter] = {}
    for pointer, schema in subschemas(written):
        if _WORD not in schema:
            continue
        parameter = _parameter(pointer, schema)
        # spec: server/tools#x-mcp-header: case-insensitively unique
        first = found.setdefault(parameter.header.lower(), parameter)
        if first is not parameter:
            raise _fault(
                pointer, f"The header {parameter.header} is taken by {'.'.join(first.path)}.", "Use another name."
            )
    return tuple(found.values())


def _parameter(pointer: Pointer, schema: Mapping[str, Any]) -> HeaderParameter:
    # spec: basic/transports/streamable-http#schema-extension: the same constraints on both pages
    header, type_ = schema[_WORD], schema.get("type")
    if not pointer or len(pointer) % 2 or any(word != "properties" for word in pointer[::2]):
        # spec: server/tools#x-mcp-header: statically reachable, by properties only
        raise _fault(pointer, "x-mcp-header stands where no chain of properties leads.", "Put it on a property itself.")
    if not isinstance(header, str) or not _TOKEN.match(header):
        # spec: server/tools#x-mcp-header: not empty, a token, no control characters
        raise _fault(pointer, "This is no name for a header.", "Use letters, digits and -, for instance Region.")
    if type_ not in _TYPES:
        # spec: server/tools#x-mcp-header: primitive types, but not number
        raise _fault(
            pointer, f"x-mcp-header cannot stand on type {_shown(type_)}.", f"Its type is {', '.join(_TYPES)}."
        )
    # spec: server/tools#x-mcp-header: nothing sensitive
    if schema.get("writeOnly") is True:
        raise _fault(pointer, "writeOnly and x-mcp-header exclude each other: everyone on the way reads headers.", "")
    return HeaderParameter(tuple(str(name) for name in pointer[1::2]), header, type_)


def _shown(type_: Any) -> str:
    return " or ".join(map(str, type_)) if isinstance(type_, list) else str(type_ or "unknown")


def _fault(pointer: Pointer, message: str, hint: str) -> SchemaFault:
    return SchemaFault("bad-header-parameter", (*pointer, _WORD), message, hint)
