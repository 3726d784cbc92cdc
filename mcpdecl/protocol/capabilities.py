"""What a client must be able to do, held against what it declares.

Knows: the capability that each kind of question needs. Does not know: when a question is put.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mcpdecl.diagnostics import Refused
from mcpdecl.templates import ABSENT

_PARTS = {
    "elicitation": ("form", "url"),
    "sampling": ("tools", "context"),
    "roots": ("listChanged",),
    "extensions": (),
    "experimental": (),
}


def require(needed: Mapping[str, Any], declared: Mapping[str, Any]) -> None:
    """Raise Refused("missing-capability") if the client declares less than ``needed``."""
    missing = lacking(needed, declared)
    if missing:
        # spec: basic/index#meta: -32021 lists what is missing
        names = ", ".join(sorted(_names(missing)))
        text = f"This needs a client that declares {names}."
        raise Refused("missing-capability", text, {"requiredCapabilities": missing})


def lacking(needed: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """The part of ``needed`` that is not declared: an object of objects, as in ClientCapabilities."""
    missing: dict[str, Any] = {}
    for name, wanted in needed.items():
        inner = wanted if isinstance(wanted, Mapping) else {}
        has = declared.get(name)
        if not isinstance(has, Mapping):
            missing[name] = objects(inner)
        elif deeper := lacking(inner, _modes(has) if name == "elicitation" else has):
            missing[name] = deeper
    return missing


def needs(question: Mapping[str, Any]) -> dict[str, Any]:
    """What a client must declare to be put a question (``{"method": …, "params": …}``)."""
    params = question.get("params") or {}
    # spec: basic/patterns/mrtr#server-requirements-basic-workflow: one of three kinds
    match question["method"]:
        case "elicitation/create":
            # spec: client/elicitation#capabilities
            return {"elicitation": {str(params.get("mode", "form")): {}}}
        case "sampling/createMessage":
            return {"sampling": _sampling(params)}
        case "roots/list":
            # spec: client/roots#implementation-guidelines: the capability comes first
            return {"roots": {}}
    raise ValueError(f"No client can be asked {question['method']}.")


def view(declared: Mapping[str, Any]) -> dict[str, Any]:
    """``client`` as templates see it: what is declared is true, what is not is absent or false.

    ``client.elicitation``, ``.elicitation.url``, ``.sampling.tools`` and the like may be tested whatever was declared,
    though the protocol writes "yes" as an empty object.
    """
    seen: dict[str, Any] = {name: value if value else True for name, value in declared.items()}
    for name, parts in _PARTS.items():
        has = declared.get(name)
        if has is None:
            seen[name] = ABSENT
        else:
            told = _modes(has) if name == "elicitation" else has
            seen[name] = {**told, **{part: told.get(part) is not None for part in parts}}
    return seen


def union(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both, merged in depth."""
    return {name: union(one.get(name, {}), other.get(name, {})) for name in dict.fromkeys([*one, *other])}


def _modes(elicitation: Mapping[str, Any]) -> Mapping[str, Any]:
    # spec: client/elicitation#capabilities: an empty object means form
    given = {name: value for name, value in elicitation.items() if value is not None}
    return given if "url" in given else {"form": {}, **given}


def _sampling(params: Mapping[str, Any]) -> dict[str, Any]:
    # spec: client/sampling#tools-in-sampling: no tools for a client that did not declare them
    wanted: dict[str, Any] = {"tools": {}} if "tools" in params or "toolChoice" in params else {}
    # spec: client/sampling#capabilities: no context of a client that did not declare it
    if params.get("includeContext", "none") != "none":
        wanted["context"] = {}
    return wanted


def objects(value: Mapping[str, Any]) -> dict[str, Any]:
    """Capabilities as an object of objects, whatever stands for yes."""
    return {name: objects(inner if isinstance(inner, Mapping) else {}) for name, inner in value.items()}


def _names(missing: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, inner in missing.items():
        if inner:
            yield from _names(inner, f"{prefix}{name}.")
        else:
            yield prefix + name
