"""A compiled schema: whether a value fits, what is wrong with it, and the value as a binding gets it.

Knows: how a schema that was found in order is put to work. Does not know: where it is
written, or what the value is for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import jsonschema_rs

from mcpdecl.schema import dialect
from mcpdecl.schema.explain import Violation, explain
from mcpdecl.schema.filling import Plan, fill, plan_for
from mcpdecl.schema.reading import SchemaFault, errors_of
from mcpdecl.schema.walk import subschemas

_ALL_TOLD = 20  # violations of one value


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """A schema that was compiled. ``written`` is as its author wrote it.

    Values are plain JSON data. What is none (a set, a lone surrogate) is no fault of the program: it does not fit where
    the schema says anything of it.
    """

    written: Any
    _judge: jsonschema_rs.Validator = field(repr=False)
    _plan: Plan | None = field(repr=False)
    _hidden: frozenset[tuple[str | int, ...]] = field(repr=False, default=frozenset())

    def violations(self, instance: Any) -> list[Violation]:
        """How the value does not fit, at most 20 ways; empty if it fits. No message repeats a hidden value."""
        try:
            if self._judge.is_valid(instance):
                return []
            errors = list(islice(self._judge.iter_errors(instance), _ALL_TOLD))
        except (ValueError, TypeError):  # the engine's way to say that this is no JSON
            return [Violation((), "is no JSON data")]
        told = [v for error in errors for v in explain(error, self.written, self._hidden)]
        return list(dict.fromkeys(told))[:_ALL_TOLD]

    def valid(self, instance: Any) -> bool:
        """Whether the value fits."""
        try:
            return self._judge.is_valid(instance)
        except (ValueError, TypeError):
            return False

    def admit(self, instance: Any) -> Any:
        """The value with defaults filled in and 60.0 made 60 where the schema says integer.

        Objects are copied where that is done, so that the value itself never changes.
        """
        return instance if self._plan is None else fill(self._plan, instance)


def compile_schema(written: Any, *, hidden: frozenset[tuple[str, ...]] = frozenset()) -> Schema:
    """Compile a schema. Properties with ``writeOnly`` are hidden, as are those at ``hidden``.

    Raises SchemaFault, the first of those that ``read_faults`` gives.
    """
    faults = errors_of(written)
    if faults:
        raise faults[0]
    try:
        judge = dialect.validator(written)
    except ValueError as fault:
        raise SchemaFault("invalid-schema", (), f"The schema cannot be used: {fault}.") from None
    return Schema(written, judge, plan_for(written), hidden | _write_only(written))


def _write_only(written: Any) -> frozenset[tuple[str | int, ...]]:
    """Paths of values that are marked ``writeOnly``; ``()`` if one of them is not where a chain of properties leads."""
    marked = [pointer for pointer, schema in subschemas(written) if schema.get("writeOnly") is True]
    return frozenset(p[1::2] if all(word == "properties" for word in p[::2]) else () for p in marked)
