"""Reading params: names, objects, and the strings that prompts and resource templates get as arguments.

Knows: how a string becomes a value of the declared type. Does not know: which method reads what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mcpdecl.catalogue import Argument
from mcpdecl.diagnostics import Refused, escape
from mcpdecl.schema import Violation
from mcpdecl.templates import ABSENT

LISTED = 50


class Misfit(Exception):
    """A string that is no value of an argument. ``wrong`` says what to change."""

    def __init__(self, wrong: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong


def text(params: Mapping[str, Any], key: str, of: str = "params") -> str:
    """A member that must be a string."""
    value = params.get(key)
    if not isinstance(value, str):
        raise Refused("invalid-params", f"{of}.{key} must be a string.")
    return value


def mapping(params: Mapping[str, Any], key: str, of: str = "params") -> Mapping[str, Any]:
    """A member that must be an object; absent and null are an empty one."""
    value = params.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refused("invalid-params", f"{of}.{key} must be an object.")
    return value


def shown(name: str) -> str:
    """A name from elsewhere, fit for an error message."""
    return escape(name, 200)


def parsed(argument: Argument, sent: str) -> Any:
    """The value that a string stands for. Raises Misfit."""
    value = sent if argument.text else _json(sent)
    violations = argument.schema.violations(value)
    if violations:
        raise Misfit("; ".join(violation.message for violation in violations[:5]))
    return argument.schema.admit(value)


def defaults(arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """The defaults of those arguments that have one."""
    return {name: argument.default for name, argument in arguments.items() if argument.default is not ABSENT}


def told(violations: Sequence[Violation], whole: str = "arguments") -> str:
    """Violations as lines: the path, and what to change there. ``whole`` names the value that the paths start from."""
    lines = [f"- {_path(violation.path) or whole}: {violation.message}" for violation in violations[:LISTED]]
    if len(violations) > LISTED:
        lines.append(f"- and {len(violations) - LISTED} more")
    return "\n".join(lines)


def _json(sent: str) -> Any:
    try:
        return msgspec.json.decode(sent)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise Misfit("must be JSON text of the declared type") from error


def _path(path: Sequence[str | int]) -> str:
    return ".".join(str(part) for part in path)
