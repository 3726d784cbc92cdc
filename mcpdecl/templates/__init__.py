"""Templates: text, expressions and trees of data that are compiled once and rendered with the names of a call.

Knows: when Jinja is needed at all, what a compiled template reads, and how its value keeps its type. Does not know:
which names exist, or what is done with the result. Text that a caller sends is data here; it is never compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mcpdecl.templates.meter import Meter, metered
from mcpdecl.templates.values import ABSENT, TEXT_LIMIT, Absent, RenderFault, TemplateFault, plain, shown

if TYPE_CHECKING:
    import jinja2

    from mcpdecl.templates.files import Compiler

__all__ = [
    "ABSENT",
    "Absent",
    "Expression",
    "Reads",
    "RenderFault",
    "Scope",
    "Template",
    "TemplateFault",
    "Templates",
    "Tree",
]

Scope: TypeAlias = Mapping[str, Any]
Reads: TypeAlias = frozenset[tuple[str, ...]]

_SYNTAX = re.compile(r"\{[{%#]")
_DOTTED = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_BARE = re.compile(rf"\s*({_DOTTED})\s*\Z")
_PRINT = re.compile(rf"\{{\{{ *({_DOTTED}) *\}}\}}")
# Words that mean something to Jinja when they stand alone.
_WORDS = frozenset(
    "true false none True False None not and or in is if else loop self super".split()
    + "range dict cycler joiner namespace".split()
)


class Template:
    """A compiled template.

    ``reads`` are the dotted names that it reads, ``literal`` its text if there is no template syntax in it.
    """

    __slots__ = ("_parts", "literal", "reads", "source")

    def __init__(self, source: str, parts: tuple[str | _Part, ...], reads: Reads) -> None:
        self.source = source
        self.reads = reads
        self._parts = parts
        self.literal = source if not any(isinstance(p, _Part) for p in parts) else None

    def text(self, scope: Scope) -> str:
        """The text for these names. What is absent prints nothing, what is no text prints as JSON.

        Raises RenderFault.
        """
        return self._render(scope)[0]

    def item(self, scope: Scope) -> Any:
        """The value of a template that is one expression, with its type; else its text.

        ABSENT if anything that it prints is absent. Raises RenderFault.
        """
        if len(self._parts) == 1 and isinstance(self._parts[0], _Part) and self._parts[0].lone:
            return self._parts[0].value(scope)
        text, absent = self._render(scope)
        return ABSENT if absent else text

    def wording(self) -> Wording:
        """The same template, which stays text inside data too."""
        return Wording(self.source, self._parts, self.reads)

    def _render(self, scope: Scope) -> tuple[str, bool]:
        if self.literal is not None:
            return self.literal, False
        made: list[str] = []
        size, absent = 0, False
        for part in self._parts:
            text, lacks = (part, False) if isinstance(part, str) else part.text(scope)
            size += len(text)
            absent = absent or lacks
            if size > TEXT_LIMIT:
                raise RenderFault(f"The template makes more than {TEXT_LIMIT} characters.")
            made.append(text)
        return "".join(made), absent


class Wording(Template):
    """A template that stays text inside data too: a number prints, what is absent prints nothing."""

    __slots__ = ()

    def item(self, scope: Scope) -> Any:
        """The text. Raises RenderFault."""
        return self.text(scope)


class Expression:
    """A compiled bare expression, as in ``when``."""

    __slots__ = ("_part", "reads", "source")

    def __init__(self, source: str, part: _Part, reads: Reads) -> None:
        self.source = source
        self.reads = reads
        self._part = part

    def value(self, scope: Scope) -> Any:
        """The value as JSON data, or ABSENT. Raises RenderFault."""
        return self._part.value(scope)

    def test(self, scope: Scope) -> bool:
        """Whether it holds; what is absent does not. Raises RenderFault."""
        return bool(self._part.value(scope))


class Tree:
    """JSON data whose strings are templates. ``constant`` is its value if none of them is one, else ABSENT."""

    __slots__ = ("_data", "constant", "reads")

    def __init__(self, data: Any, reads: Reads, constant: Any) -> None:
        self._data = data
        self.reads = reads
        self.constant = constant

    def value(self, scope: Scope) -> Any:
        """The data for these names; a member or element that is absent falls away. Raises RenderFault."""
        return self.constant if self.constant is not ABSENT else _grown(self._data, scope)


class Templates:
    """Compiles templates; ``folder`` is where files, includes and imports come from (None: there are none).

    A file is read once, so that what is served does not change under way: take a new Templates for a new catalogue.
    Every method raises TemplateFault.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._loaded: Compiler | None = None

    def template(self, text: str) -> Template:
        """Compile a template."""
        if not _SYNTAX.search(text):
            return Template(text, (text,), frozenset())
        simple = _simple(text)
        if simple is not None:
            return Template(text, simple, frozenset(p.path for p in simple if isinstance(p, _Name)))
        tree, reads = self._compiler.read(text)
        lone = self._compiler.lone(tree)
        part = _Code(self._compiler.code(text), reads) if lone is None else _Value(self._compiler.value(lone), reads)
        return Template(text, (part,), reads)

    def expression(self, text: str) -> Expression:
        """Compile a bare expression."""
        bare = _BARE.match(text)
        if bare is not None and _path(bare[1])[0] not in _WORDS:
            name = _Name(_path(bare[1]))
            return Expression(text, name, frozenset({name.path}))
        found = _SYNTAX.search(text)
        if found is not None:
            raise TemplateFault("An expression stands here: leave out the braces.", *_place(text, found.start()))
        tree, reads = self._compiler.read_expression(text)
        return Expression(text, _Value(self._compiler.value(tree), reads), reads)

    def tree(self, data: Any, words: frozenset[str] = frozenset()) -> Tree:
        """Compile data: every string in it, at any depth, is a template; keys are not.

        What stands at a key of ``words`` is a Wording. The ``path`` of a TemplateFault tells which string it is.
        """
        compiled = self._compiled(data, (), words)
        reads = frozenset[tuple[str, ...]]().union(*(t.reads for t in _leaves(compiled)))
        constant = data if all(t.literal is not None for t in _leaves(compiled)) else ABSENT
        return Tree(compiled, reads, constant)

    def file(self, name: str) -> Template:
        """Compile a file of the folder. UTF-8, with or without BOM."""
        tree, reads = self._compiler.read_file(name)
        del tree
        return Template(self._compiler.source(name), (_Code(self._compiler.file(name), reads),), reads)

    def files_of(self, name: str) -> frozenset[Path]:
        """The file and all that it includes, imports and extends, at any depth."""
        return self._compiler.files_of(name)

    @property
    def _compiler(self) -> Compiler:
        if self._loaded is None:
            # Most templates print names and nothing else: those never pay for importing Jinja.
            from mcpdecl.templates.files import Compiler  # noqa: PLC0415

            self._loaded = Compiler(self._folder)
        return self._loaded

    def _compiled(self, data: Any, path: tuple[str | int, ...], words: frozenset[str]) -> Any:
        if isinstance(data, str):
            try:
                made = self.template(data)
            except TemplateFault as fault:
                raise TemplateFault(fault.message, fault.line, fault.column, path) from None
            return made.wording() if path and path[-1] in words else made
        if isinstance(data, Mapping):
            return {key: self._compiled(value, (*path, key), words) for key, value in data.items()}
        if isinstance(data, (list, tuple)):
            return [self._compiled(value, (*path, index), words) for index, value in enumerate(data)]
        return data


# --- parts of a template ---------------------------------------------------------------------------------------


class _Part:
    """Something that is computed. ``lone`` is true where it is a single expression."""

    __slots__ = ()
    lone = True

    def value(self, scope: Scope) -> Any:
        raise NotImplementedError

    def text(self, scope: Scope) -> tuple[str, bool]:
        value = self.value(scope)
        return shown(value), value is ABSENT


class _Name(_Part):
    """A dotted name, read without Jinja."""

    __slots__ = ("path",)

    def __init__(self, path: tuple[str, ...]) -> None:
        self.path = path

    def value(self, scope: Scope) -> Any:
        value: Any = scope
        for key in self.path:
            if value is ABSENT:
                return ABSENT
            if not isinstance(value, Mapping) or key not in value:
                raise RenderFault(f"{'.'.join(self.path)}: '{key}' is not there.")
            value = value[key]
        return plain(value)


class _Value(_Part):
    """One expression in Jinja."""

    __slots__ = ("_code", "_roots")

    def __init__(self, code: jinja2.Template, reads: Reads) -> None:
        self._code = code
        self._roots = _roots(reads)

    def value(self, scope: Scope) -> Any:
        context = self._code.new_context({n: scope[n] for n in self._roots if n in scope})
        return _guarded(lambda _: self._run(context))

    def _run(self, context: jinja2.runtime.Context) -> Any:
        for _ in self._code.root_render_func(context):
            pass
        found = context.vars["result"]
        if _is_undefined(found):
            found._fail_with_undefined_error()
        return plain(found)


class _Code(_Part):
    """Any Jinja template."""

    __slots__ = ("_code", "_roots")
    lone = False

    def __init__(self, code: jinja2.Template, reads: Reads) -> None:
        self._code = code
        self._roots = _roots(reads)

    def text(self, scope: Scope) -> tuple[str, bool]:
        context = self._code.new_context({n: scope[n] for n in self._roots if n in scope})
        found: tuple[str, bool] = _guarded(lambda meter: (self._run(context), meter.absent))
        return found

    def _run(self, context: jinja2.runtime.Context) -> str:
        made: list[str] = []
        size = 0
        for piece in self._code.root_render_func(context):
            size += len(piece)
            if size > TEXT_LIMIT:
                raise RenderFault(f"The template makes more than {TEXT_LIMIT} characters.")
            made.append(piece)
        return "".join(made)


def _guarded(render: Callable[[Meter], Any]) -> Any:
    """Render under a meter; whatever goes wrong in a template is a RenderFault."""
    with metered() as meter:
        try:
            return render(meter)
        except RenderFault:
            raise
        except RecursionError:
            raise RenderFault("The template calls itself without an end.") from None
        except MemoryError:
            raise RenderFault("The template takes too much memory.") from None
        except Exception as fault:  # a template can fail in as many ways as Python
            raise RenderFault(_told(fault)) from None


def _told(fault: Exception) -> str:
    # The message of a ValueError may hold the value; that of the others names types and names only.
    kind = type(fault).__name__
    if kind == "UndefinedError":
        return str(fault)
    return f"{kind}." if isinstance(fault, ValueError) or not str(fault) else f"{kind}: {fault}"


def _is_undefined(value: Any) -> bool:
    from jinja2 import Undefined  # noqa: PLC0415 - it is imported by now

    return isinstance(value, Undefined)


def _roots(reads: Reads) -> tuple[str, ...]:
    return tuple({path[0] for path in reads})


def _path(dotted: str) -> tuple[str, ...]:
    return tuple(dotted.split("."))


def _simple(text: str) -> tuple[str | _Name, ...] | None:
    """The parts of a template that only prints dotted names, or None: then Jinja reads it."""
    pieces = _PRINT.split(text)
    literals, names = pieces[::2], [_path(p) for p in pieces[1::2]]
    odd = any(_SYNTAX.search(x) or x.endswith("{") for x in literals) or "\r" in text
    if odd or any(path[0] in _WORDS for path in names):
        return None
    parts: list[str | _Name] = []
    for index, literal in enumerate(literals):
        if literal:
            parts.append(literal)
        if index < len(names):
            parts.append(_Name(names[index]))
    return tuple(parts)


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)


# --- trees -----------------------------------------------------------------------------------------------------


def _leaves(compiled: Any) -> Iterable[Template]:
    if isinstance(compiled, Template):
        yield compiled
    elif isinstance(compiled, dict):
        for value in compiled.values():
            yield from _leaves(value)
    elif isinstance(compiled, list):
        for value in compiled:
            yield from _leaves(value)


def _grown(compiled: Any, scope: Scope) -> Any:
    if isinstance(compiled, Template):
        return compiled.item(scope)
    if isinstance(compiled, dict):
        pairs = ((key, _grown(value, scope)) for key, value in compiled.items())
        return {key: value for key, value in pairs if value is not ABSENT}
    if isinstance(compiled, list):
        return [v for v in (_grown(value, scope) for value in compiled) if v is not ABSENT]
    return compiled
