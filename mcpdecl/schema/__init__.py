"""JSON Schemas: which are valid, what they say of a value, and the words that mcpdecl and MCP put into them.

Knows: the public names of this room. Does not know: where a schema is written or what is called with it.
"""

from __future__ import annotations

from mcpdecl.schema.explain import Violation
from mcpdecl.schema.forms import form_faults
from mcpdecl.schema.headers import HeaderParameter, header_parameters
from mcpdecl.schema.judge import Schema, compile_schema
from mcpdecl.schema.reading import SchemaFault, read_faults, served
from mcpdecl.schema.short import properties_from_short

__all__ = [
    "HeaderParameter",
    "Schema",
    "SchemaFault",
    "Violation",
    "compile_schema",
    "form_faults",
    "header_parameters",
    "properties_from_short",
    "read_faults",
    "served",
]
