"""A site and a call for tests of bindings: what the compiler and the server give to them in earnest."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mcpdecl import bindings
from mcpdecl.bindings.modules import Modules
from mcpdecl.bindings.site import Site
from mcpdecl.catalogue import Limits, Missing, Outcome
from mcpdecl.diagnostics import CODES
from mcpdecl.templates import ABSENT, Templates

T = TypeVar("T")
POOL = ThreadPoolExecutor(4)


@dataclass
class Faults:
    """What was reported: (code, message, path, hint)."""

    found: list[tuple[str, str, tuple[str | int, ...], str]] = field(default_factory=list)

    def __call__(self, code: str, message: str, *path: str | int, hint: str = "") -> None:
        assert code in CODES, code
        self.found.append((code, message, path, hint))

    @property
    def codes(self) -> list[str]:
        return [code for code, *_ in self.found]


def site(root: Path, faults: Faults | None = None, **more: Any) -> Site:
    """A site whose arguments are the keys of ``arguments``."""
    arguments: Mapping[str, Any] = more.pop("arguments", {})
    known = frozenset(arguments) | {"arguments", "answers", "omit"} | more.pop("known", frozenset())
    return Site(
        root=root,
        templates=Templates(root / "templates"),
        known=known,
        arguments=arguments,
        required=more.pop("required", frozenset(arguments)),
        modules=more.pop("modules", None) or Modules(root),
        tell=faults if faults is not None else Faults(),
        depend=more.pop("depend", lambda path: None),
        environ=more.pop("environ", dict(os.environ)),
        binder=bindings.bind,
        **more,
    )


@dataclass
class FakeCall:
    """A call that remembers what was told."""

    root: Path
    limits: Limits = field(default_factory=Limits)
    principal: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, Any] = field(default_factory=dict)
    heard: Mapping[str, str] = field(default_factory=dict)
    told: list[tuple[float, float | None, str | None]] = field(default_factory=list)
    logged: list[tuple[str, Any]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    resources: Mapping[str, Outcome] = field(default_factory=dict)
    over: bool = False

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.told.append((progress, total, message))

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        self.logged.append((level, data))

    def updated(self, uri: str) -> None:
        self.changed.append(uri)

    def cancelled(self) -> bool:
        return self.over

    async def read(self, uri: str) -> Outcome:
        return self.resources.get(uri, Missing())

    def in_thread(self, function: Callable[[], T]) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(POOL, contextvars.copy_context().run, function)


def scope(declared: Mapping[str, Any], **given: Any) -> dict[str, Any]:
    """The scope of a call: declared names that were not given are absent."""
    values = {name: given.get(name, ABSENT) for name in declared}
    return {**values, "arguments": values, "answers": {}, "omit": ABSENT}


async def run(fields: Mapping[str, Any], root: Path, limits: Limits | None = None, **given: Any) -> Outcome:
    """Bind some fields and run them once; every given name is declared."""
    faults = Faults()
    declared = {name: {} for name in given}
    bound = bindings.bind(fields, site(root, faults, arguments=declared))
    assert bound is not None, faults.found
    call = FakeCall(root, limits or Limits())
    values = {n: v for n, v in given.items() if v is not ABSENT}
    return await bound.run(scope(declared, **values), call)
