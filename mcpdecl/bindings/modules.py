"""The Python modules of the root folder: imported together as one generation, replaced together.

Knows: which modules are the root's own, and how a generation takes another's place or leaves it standing. Does not
know: who calls what is in them.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from mcpdecl.bindings.site import nearest

FOREIGN = frozenset({".venv", "venv", "site-packages", "node_modules", ".git"})
# One generation is imported at a time: sys.modules and sys.path belong to the whole process.
_IMPORTING = threading.RLock()
# The modules of the generation that is live now, by name.
_LIVE: dict[str, ModuleType] = {}


class Unresolved(Exception):
    """A callable that is not there: ``code`` is a key of CODES, ``message`` says why, ``hint`` what to do."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


@dataclass(slots=True)
class Modules:
    """One generation of the root's modules. ``imported`` are those by name, in the order of their import.

    Make the next with ``renew``; the one that is live in ``sys.modules`` is the last that was made without a fault.
    """

    root: Path
    imported: dict[str, ModuleType] = field(default_factory=dict)
    generation: str = field(default_factory=lambda: secrets.token_hex(8))
    _failed: dict[str, Unresolved] = field(default_factory=dict)
    _displaced: dict[str, ModuleType] = field(default_factory=dict)
    _digest: str = ""

    @property
    def files(self) -> frozenset[Path]:
        """The Python files of the root that were imported."""
        return frozenset(Path(m.__file__) for m in self.imported.values() if m.__file__)

    def stale(self) -> bool:
        """Whether a file of this generation has changed since it was imported, or something could not be imported."""
        return bool(self._failed) or (bool(self.imported) and self._fingerprint() != self._digest)

    def withdraw(self) -> None:
        """Give its place back to the generation before: what came of this one is not served."""
        with _IMPORTING:
            for name, module in self.imported.items():
                _withdraw(name, module)
            sys.modules.update(self._displaced)
            _LIVE.update(self._displaced)

    def renew(self) -> Modules:
        """This generation if it is still good, else a new one in which nothing is imported yet."""
        return Modules(self.root) if self.stale() else self

    def resolve(self, name: str) -> Callable[..., Any]:
        """The callable of ``module:attribute``, imported if it has to be. Raises Unresolved."""
        module_name, _, path = name.partition(":")
        if not module_name or not path:
            hint = "Write module:callable, such as weather:current for current in weather.py."
            raise Unresolved("bad-callable", f"{name!r} names no callable.", hint)
        found: Any = self._module(module_name)
        for step in path.split("."):
            if not hasattr(found, step):
                known = {n for n in dir(found) if not n.startswith("_") and callable(getattr(found, n))}
                hint = nearest(step, known) if known else ""
                raise Unresolved("bad-callable", f"{module_name} has no {step!r}.", hint)
            found = getattr(found, step)
        if not callable(found):
            raise Unresolved("bad-callable", f"{name} is a {type(found).__name__} and cannot be called.")
        made: Callable[..., Any] = found
        return made

    def _module(self, name: str) -> ModuleType:
        if name in self._failed:
            raise self._failed[name]
        with _IMPORTING:
            if name in self.imported:
                return self.imported[name]
            try:
                return self._imported(name)
            except Unresolved as fault:
                self._failed[name] = fault
                raise

    def _imported(self, name: str) -> ModuleType:
        self._check_clash(name)
        with self._importing():
            try:
                module = importlib.import_module(name)
            except SyntaxError as error:
                place = f"{self._named(error.filename)}:{error.lineno}"
                raise Unresolved("bad-module", f"{place}: {error.msg}") from None
            except ModuleNotFoundError as error:
                hint = f"{name.replace('.', '/')}.py in the root folder, or an installed module, is looked for."
                raise Unresolved("bad-module", f"There is no module {error.name!r}.", hint) from None
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt | GeneratorExit):
                    raise
                place = self._raised_at(error)
                raise Unresolved(
                    "bad-module", f"{name} cannot be imported: {type(error).__name__}: {error}{place}"
                ) from None
        self._digest = self._fingerprint()
        return module

    @contextmanager
    def _importing(self) -> Iterator[None]:
        """Let an import see this generation's modules of the root and no other's; on failure, put all back."""
        others = dict(_LIVE)
        for name, module in others.items():
            _withdraw(name, module)
            if self.imported.get(name) is not module:
                self._displaced.setdefault(name, module)
        sys.modules.update(self.imported)
        before = set(sys.modules)
        # Last, so that a module of the root never takes the place of an installed one; and for good, since callables
        # may import when they run.
        if str(self.root) not in sys.path:
            sys.path.append(str(self.root))
        importlib.invalidate_caches()
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            yield
        except BaseException:
            for name in self._new(before):
                del sys.modules[name]
            sys.modules.update(others)
            _LIVE.update(others)
            raise
        else:
            self.imported.update(self._new(before))
            _LIVE.update(self.imported)
        finally:
            sys.dont_write_bytecode = writes

    def _new(self, before: set[str]) -> dict[str, ModuleType]:
        return {name: module for name, module in sys.modules.items() if name not in before and self._owns(module)}

    def _owns(self, module: ModuleType | None) -> bool:
        """Whether a module is a file of the root. mcpdecl itself never is, where its own checkout is the root."""
        if getattr(module, "__name__", "").partition(".")[0] == "mcpdecl":
            return False
        file = getattr(module, "__file__", None)
        # A folder without __init__.py has no file; left behind, it would give one generation's modules to another.
        places = [file] if isinstance(file, str) else [str(place) for place in getattr(module, "__path__", ())]
        return bool(places) and all(self._holds(Path(place)) for place in places)

    def _holds(self, place: Path) -> bool:
        return place.is_relative_to(self.root) and not FOREIGN & set(place.relative_to(self.root).parts)

    def _check_clash(self, name: str) -> None:
        """A file of the root that another module hides would never be imported; say so instead."""
        top = name.partition(".")[0]
        here = [p for p in (self.root / f"{top}.py", self.root / top / "__init__.py") if p.is_file()]
        if not here:
            return
        try:
            spec = None if top in _LIVE else importlib.util.find_spec(top)
        except (ImportError, ValueError):
            spec = None
        if spec is not None and spec.origin is not None and Path(spec.origin) not in here:
            message = f"{here[0].relative_to(self.root)} is called like the installed module {top!r}."
            raise Unresolved("bad-module", message, "Rename the file.")

    def _fingerprint(self) -> str:
        digest = hashlib.sha256()
        for file in sorted(self.files):
            try:
                digest.update(str(file).encode() + b"\0" + file.read_bytes())
            except OSError:
                digest.update(b"missing")
        return digest.hexdigest()

    def _named(self, file: str | None) -> str:
        try:
            return str(Path(file or "?").relative_to(self.root))
        except ValueError:
            return Path(file or "?").name

    def _raised_at(self, error: BaseException) -> str:
        place, trace = "", error.__traceback__
        while trace is not None:
            file = Path(trace.tb_frame.f_code.co_filename)
            if file.is_relative_to(self.root) and not FOREIGN & set(file.relative_to(self.root).parts):
                place = f" ({file.relative_to(self.root)}:{trace.tb_lineno})"
            trace = trace.tb_next
        return place


def _withdraw(name: str, module: ModuleType) -> None:
    """Take a module of a generation out of the process, unless somebody else put another in its place."""
    if sys.modules.get(name) is module:
        del sys.modules[name]
    _LIVE.pop(name, None)
