"""Defaults put in and whole numbers made integers, by a plan that is made once.

Knows: where a schema has defaults and integers. Does not know: whether a value fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from mcpdecl.schema.walk import at

_CHAIN = 16  # references that lead to references


@dataclass(slots=True, eq=False)
class Plan:
    """What is to do at one place. ``also`` are plans for the same place, from ``$ref`` and ``allOf``.

    Plans of recursive schemas lead back to themselves.
    """

    integer: bool = False
    defaults: dict[str, Any] = field(default_factory=dict)
    members: dict[str, Plan] = field(default_factory=dict)
    others: Plan | None = None
    first: list[Plan] = field(default_factory=list)
    elements: Plan | None = None
    also: list[Plan] = field(default_factory=list)


def plan_for(schema: Any) -> Plan | None:
    """The plan for a schema, or None if there is nothing to do for any value."""
    made: dict[int, Plan] = {}
    plan = _plan(schema, schema, made)
    plans = list(made.values())
    for one in plans:
        one.also = _closure(one)
    busy = _busy(plans)
    for one in plans:
        _prune(one, busy)
    return plan if id(plan) in busy else None


def fill(plan: Plan, value: Any) -> Any:
    """The value with defaults and integers: a copy along the changed places, the value itself where nothing changes."""
    value = _fill(plan, value)
    for other in plan.also:
        value = _fill(other, value)
    return value


def _fill(plan: Plan, value: Any) -> Any:
    if plan.integer and type(value) is float and value.is_integer():
        return int(value)
    if isinstance(value, dict) and (plan.members or plan.defaults or plan.others):
        return _fill_object(plan, value)
    if isinstance(value, list) and (plan.elements or plan.first):
        return [_fill_element(plan, index, element) for index, element in enumerate(value)]
    return value


def _fill_object(plan: Plan, value: dict[str, Any]) -> dict[str, Any]:
    filled = dict(value)
    for name, default in plan.defaults.items():
        if name not in filled:
            filled[name] = deepcopy(default)
    for name, member in filled.items():
        inner = plan.members.get(name, plan.others)
        if inner is not None:
            filled[name] = fill(inner, member)
    return filled


def _fill_element(plan: Plan, index: int, element: Any) -> Any:
    inner = plan.first[index] if index < len(plan.first) else plan.elements
    return element if inner is None else fill(inner, element)


# --- making a plan ---------------------------------------------------------------------------------------------


def _plan(schema: Any, root: Any, made: dict[int, Plan]) -> Plan:
    """One plan for each schema object, so that a cycle of references ends."""
    if id(schema) not in made:
        made[id(schema)] = plan = Plan()
        if isinstance(schema, Mapping):
            _read(schema, plan, root, made)
    return made[id(schema)]


def _read(schema: Mapping[str, Any], plan: Plan, root: Any, made: dict[int, Plan]) -> None:
    types = schema.get("type")
    types = [types] if isinstance(types, str) else types or []
    branches = [*_listed(schema, "anyOf"), *_listed(schema, "oneOf")]
    plan.integer = _only_integers([schema]) or (not types and _only_integers(branches))
    properties = schema.get("properties")
    for name, child in properties.items() if isinstance(properties, Mapping) else ():
        plan.members[name] = _plan(child, root, made)
        plan.defaults.update((name, default) for default in _default_of(child, root))
    plan.others = _some(schema.get("additionalProperties"), root, made)
    _read_elements(schema, plan, root, made)
    plan.also = [_plan(child, root, made) for child in _conditions(schema, root)]


def _default_of(schema: Any, root: Any) -> list[Any]:
    """The default of a property, its own or that of what it refers to: a list with it, or an empty one."""
    for _ in range(_CHAIN):
        if not isinstance(schema, Mapping):
            return []
        if "default" in schema:
            return [schema["default"]]
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return []
        schema = at(root, reference)[1]
    return []


def _read_elements(schema: Mapping[str, Any], plan: Plan, root: Any, made: dict[int, Plan]) -> None:
    items = schema.get("items")
    first = items if isinstance(items, list) else _listed(schema, "prefixItems")
    plan.first = [_plan(child, root, made) for child in first]
    plan.elements = _some(schema.get("additionalItems") if isinstance(items, list) else items, root, made)


def _some(schema: Any, root: Any, made: dict[int, Plan]) -> Plan | None:
    return _plan(schema, root, made) if isinstance(schema, Mapping) else None


def _conditions(schema: Mapping[str, Any], root: Any) -> list[Any]:
    """Schemas that hold for the same value, whatever it is. Those of ``anyOf`` and ``if`` may not."""
    held = list(_listed(schema, "allOf"))
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        found, target = at(root, reference)
        if found and target is not schema:
            held.append(target)
    return held


def _listed(schema: Mapping[str, Any], word: str) -> list[Any]:
    found = schema.get(word)
    return found if isinstance(found, list) else []


def _only_integers(branches: list[Any]) -> bool:
    types: list[str] = []
    for branch in branches:
        found = branch.get("type") if isinstance(branch, Mapping) else None
        types += [found] if isinstance(found, str) else found or []
    return "integer" in types and "number" not in types


# --- settling --------------------------------------------------------------------------------------------------


def _closure(plan: Plan) -> list[Plan]:
    """All plans for the same place, each once."""
    found: dict[int, Plan] = {}
    waiting = list(plan.also)
    while waiting:
        other = waiting.pop(0)
        if other is not plan and id(other) not in found:
            found[id(other)] = other
            waiting += other.also
    return list(found.values())


def _inner(plan: Plan) -> list[Plan]:
    alone = [p for p in (plan.others, plan.elements) if p is not None]
    return [*plan.members.values(), *plan.first, *alone, *plan.also]


def _busy(plans: list[Plan]) -> set[int]:
    """Those with anything to do, there or further in."""
    busy = {id(p) for p in plans if p.integer or p.defaults}
    grown = True
    while grown:
        more = {id(p) for p in plans if id(p) not in busy and any(id(i) in busy for i in _inner(p))}
        busy |= more
        grown = bool(more)
    return busy


def _prune(plan: Plan, busy: set[int]) -> None:
    """Leave out what has nothing to do, so that big values without defaults are not walked."""
    shadowing = plan.others is not None and id(plan.others) in busy
    plan.members = {n: p for n, p in plan.members.items() if shadowing or id(p) in busy}
    plan.others = plan.others if shadowing else None
    plan.elements = plan.elements if plan.elements is not None and id(plan.elements) in busy else None
    plan.first = plan.first if plan.elements or any(id(p) in busy for p in plan.first) else []
    plan.also = [p for p in plan.also if id(p) in busy]
