"""The Jinja environment that templates run in: no way out, and a bound on everything.

Knows: which attributes, operators, methods and filters are safe, and how big their results may be. Does not know: where
templates come from. Importing it imports Jinja.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from inspect import isgenerator
from types import BuiltinMethodType
from typing import Any, NoReturn, cast

import msgspec
from jinja2 import StrictUndefined, Undefined, nodes, runtime, utils
from jinja2.environment import TemplateModule
from jinja2.loaders import BaseLoader
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter

from mcpdecl.templates import meter
from mcpdecl.templates.reading import CHARGED, COUNTED, JOINED, guarded
from mcpdecl.templates.values import ABSENT, ITEM_LIMIT, TEXT_LIMIT, RenderFault, encode, plain, shown

_BITS = 4096  # of any integer that a template computes
_WIDTH = 10_000  # of any padding, indentation or precision
_HTML = 100_000  # characters that the filters for HTML look at; they are slow on long hostile text
_DIGITS = re.compile(r"\d+")
_OWN_OBJECTS = (
    runtime.LoopContext,
    runtime.Macro,
    runtime.TemplateReference,
    runtime.BlockReference,
    utils.Cycler,
    utils.Joiner,
    utils.Namespace,
    TemplateModule,
)
_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(n for n in dir(str) if not n.startswith("_")) - {"encode", "maketrans", "translate"},
    list: frozenset({"count", "index"}),
    tuple: frozenset({"count", "index"}),
}


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja without HTML escaping, strict, with every loop, call, operator and filter counted and bounded."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})
    absent = ABSENT

    def __init__(self, loader: BaseLoader | None) -> None:
        super().__init__(
            loader=loader,
            undefined=StrictUndefined,
            finalize=_printed,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
            auto_reload=False,
            cache_size=-1,
        )
        self.globals.pop("lipsum", None)
        self.globals["range"] = _range
        self.filters.update(_OWN_FILTERS)
        for name in list(self.filters):
            self.filters[name] = _bounded(name, self.filters[name])
        tests = cast("dict[str, Callable[..., Any]]", self.tests)
        self.tests.update({name: _no_test_of_absent(name, test) for name, test in tests.items()})

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return guarded(self.tree_of(source, name), self)

    def tree_of(self, source: str, name: str | None = None) -> nodes.Template:
        """The syntax tree as written."""
        return super()._parse(source, name, None)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """``obj.attribute``: a key of a mapping; of other things only what is known to be harmless."""
        return self._read(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """``obj[argument]``: the same for text, an element for a number."""
        return self._read(obj, argument)

    def _read(self, obj: Any, key: Any) -> Any:
        if obj is ABSENT:
            return ABSENT
        if isinstance(obj, Undefined):
            obj._fail_with_undefined_error()
        if isinstance(obj, Mapping):
            return obj[key] if _is_in(key, obj) else self._lacking(obj, key)
        if isinstance(key, str) and not key.startswith("_"):
            return self._attribute(obj, key)
        if isinstance(key, int) and isinstance(obj, (str, list, tuple, range)) and -len(obj) <= key < len(obj):
            return obj[key]
        return self._lacking(obj, key)

    def _attribute(self, obj: Any, name: str) -> Any:
        known = next((names for kind, names in _METHODS.items() if isinstance(obj, kind)), None)
        if known is None and not isinstance(obj, _OWN_OBJECTS):
            return self._lacking(obj, name)
        if known is not None and name not in known:
            return self._lacking(obj, name)
        value = getattr(obj, name, ABSENT)
        return self._lacking(obj, name) if value is ABSENT else self.wrap_str_format(value) or value

    def _lacking(self, obj: Any, key: Any) -> Any:
        told = f"{key!r} is not there"
        if isinstance(obj, Mapping) and isinstance(key, str) and hasattr(dict, key):
            told += f"; .{key} reads a key, for the method write the filter | {key} if there is one"
        return self.undefined(told + ".", obj=obj, name=key)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """``str.format`` with its attributes in the sandbox and its widths bounded."""
        if not isinstance(value, BuiltinMethodType) or value.__name__ not in ("format", "format_map"):
            return None
        text, is_map = value.__self__, value.__name__ == "format_map"

        def format_(*args: Any, **kwargs: Any) -> str:
            values = args[0] if is_map else kwargs
            return _Formatter(self).vformat(str(text), () if is_map else args, values)

        return format_

    def call_binop(self, context: runtime.Context, operator: str, left: Any, right: Any) -> Any:
        """The operators that can make something big out of something small."""
        if left is ABSENT or right is ABSENT:
            return ABSENT
        _OPERATORS[operator](left, right)
        return _limited(super().call_binop(context, operator, left, right))

    def call(__self, __context: runtime.Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """A call; the odd names keep every keyword free for what is called, as in Jinja."""
        meter.step()
        if __obj is ABSENT:
            return ABSENT
        if isinstance(__obj, BuiltinMethodType):
            args = tuple(list(_stepped(a)) if isgenerator(a) else a for a in args)
            _check_method(__obj, args, kwargs)
        return _limited(super().call(__context, __obj, *args, **kwargs))


def _is_in(key: Any, mapping: Mapping[Any, Any]) -> bool:
    try:
        return key in mapping
    except TypeError:
        return False


def _printed(value: Any) -> str:
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    if value is ABSENT:
        meter.note_absent()
        return ""
    text = shown(value)
    meter.charge(len(text))
    return text


def _range(*args: int) -> range:
    made = range(*args)
    if len(made) > ITEM_LIMIT:
        _refuse(f"range() gives more than {ITEM_LIMIT} numbers.")
    return made


# --- operators -------------------------------------------------------------------------------------------------


def _refuse(message: str) -> NoReturn:
    raise RenderFault(message)


def _room(*, text: float = 0, items: float = 0, bits: float = 0) -> None:
    if text > TEXT_LIMIT:
        _refuse(f"A text of more than {TEXT_LIMIT} characters.")
    if items > ITEM_LIMIT:
        _refuse(f"A list of more than {ITEM_LIMIT} elements.")
    if bits > _BITS:
        _refuse("A number that is too large.")


def _limited(value: Any) -> Any:
    if isinstance(value, str):
        _room(text=len(value))
        meter.charge(len(value))
    elif isinstance(value, (list, tuple)):
        _room(items=len(value))
        meter.charge(len(value))
    elif isinstance(value, int):
        _room(bits=value.bit_length())
    return value


def _check_add(left: Any, right: Any) -> None:
    if isinstance(left, str) and isinstance(right, str):
        _room(text=len(left) + len(right))
    elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        _room(items=len(left) + len(right))


def _check_times(left: Any, right: Any) -> None:
    if isinstance(right, (str, list, tuple)):
        left, right = right, left
    if not isinstance(right, int):
        return
    if isinstance(left, str):
        _room(text=len(left) * right)
    elif isinstance(left, (list, tuple)):
        _room(items=len(left) * right)
    elif isinstance(left, int):
        _room(bits=left.bit_length() + right.bit_length())


def _check_power(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int) and right > 0:
        _room(bits=left.bit_length() * right)


def _check_percent(left: Any, right: Any) -> None:
    if isinstance(left, str):
        _check_widths(left)
        values = right if isinstance(right, tuple) else (right,)
        if "*" in left:
            _check_numbers(values)
        _room(text=len(left) + left.count("%") * max((len(v) for v in values if isinstance(v, str)), default=0))


_OPERATORS: Mapping[str, Callable[[Any, Any], None]] = {
    "+": _check_add,
    "*": _check_times,
    "**": _check_power,
    "%": _check_percent,
}


def _check_widths(pattern: str) -> None:
    if any(len(digits) > 9 or int(digits) > _WIDTH for digits in _DIGITS.findall(pattern)):
        _refuse(f"A width of more than {_WIDTH}.")


def _check_numbers(values: Iterable[Any]) -> None:
    if any(isinstance(v, int) and abs(v) > _WIDTH for v in values):
        _refuse(f"A width of more than {_WIDTH}.")


# --- methods ---------------------------------------------------------------------------------------------------


class _Formatter(SandboxedFormatter):
    """Formats a field if its width is bounded and all fields together stay within the text limit."""

    def __init__(self, environment: Sandbox) -> None:
        super().__init__(environment)
        self._left = TEXT_LIMIT

    def format_field(self, value: Any, format_spec: str) -> str:
        """One field."""
        _check_widths(format_spec)
        text = str(super().format_field(value, format_spec)) if format_spec else _text(value)
        self._left -= len(text)
        _room(text=TEXT_LIMIT - self._left)
        return text

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """``!r`` and the like would show Python's view of things."""
        return value if not conversion else _refuse("A conversion such as !r is not supported in format().")


def _check_method(method: BuiltinMethodType, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    text, name = method.__self__, method.__name__
    if not isinstance(text, str):
        return
    if name in ("center", "ljust", "rjust", "zfill"):
        _check_numbers(args)
    elif name == "expandtabs":
        _check_numbers((*args, *kwargs.values()))
        width = next((a for a in (*args, *kwargs.values()) if isinstance(a, int)), 8)
        _room(text=len(text) + text.count("\t") * max(width, 0))
    elif name == "replace":
        _check_replace(text, *args)
    elif name == "join" and args:
        _check_join(args[0], text)


def _check_replace(text: str, old: Any = "", new: Any = "", *_: Any) -> None:
    if isinstance(old, str) and isinstance(new, str):
        _room(text=len(text) + text.count(old) * max(0, len(new) - len(old)))


def _check_join(parts: Any, between: str) -> None:
    if isinstance(parts, (str, list, tuple)):
        _room(text=len(between) * len(parts) + sum(len(p) for p in parts if isinstance(p, str)))


# --- filters ---------------------------------------------------------------------------------------------------


def _counted(value: Any, cost: int) -> Iterable[Any]:
    if value is ABSENT:
        return ()
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    if isinstance(value, Mapping):
        value = list(value)
    return _charged_turns(value, cost)


def _charged_turns(value: Iterable[Any], cost: int) -> Iterator[Any]:
    for element in value:
        meter.step()
        meter.charge(cost)
        yield element


def _stepped(value: Iterable[Any]) -> Iterator[Any]:
    for count, element in enumerate(value):
        meter.step()
        _room(items=count)
        yield element


def _charged(cost: int) -> None:
    meter.charge(cost)


def _joined(parts: list[Any]) -> str:
    texts = [_text(p) for p in parts]
    _room(text=sum(map(len, texts)))
    return "".join(texts)


def _text(value: Any) -> str:
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    return shown(value)


def _join(value: Any, d: Any = "", attribute: Any = None) -> str:
    parts = [_text(p) for p in _stepped(value)]
    between = _text(d)
    _room(text=sum(map(len, parts)) + len(between) * len(parts))
    return between.join(parts)


@utils.pass_environment
def _join_attribute(environment: Sandbox, value: Any, d: Any = "", attribute: Any = None) -> str:
    if attribute is not None:
        value = environment.call_filter("map", value, kwargs={"attribute": attribute}, context=None)
    return _join(value, d)


def _default(value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    lacks = value is ABSENT or isinstance(value, Undefined) or (boolean and not value)
    return default_value if lacks else value


def _tojson(value: Any, indent: int | None = None) -> str:
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    text = encode(plain(value))
    if indent is None:
        return text
    _check_numbers((indent * 100,))
    return msgspec.json.format(text.encode(), indent=indent).decode()


def _sum(value: Iterable[Any], start: Any = 0) -> Any:
    total = start
    for element in _stepped(value):
        if not isinstance(element, (int, float)):
            _refuse("sum adds numbers only.")
        total += element
    return total


@utils.pass_environment
def _sum_attribute(environment: Sandbox, value: Any, attribute: Any = None, start: Any = 0) -> Any:
    if attribute is not None:
        value = environment.call_filter("map", value, kwargs={"attribute": attribute}, context=None)
    return _sum(value, start)


_OWN_FILTERS: Mapping[str, Callable[..., Any]] = {
    COUNTED: _counted,
    CHARGED: _charged,
    JOINED: _joined,
    "default": _default,
    "d": _default,
    "string": _text,
    "join": _join_attribute,
    "tojson": _tojson,
    "sum": _sum_attribute,
}
_TAKES_ABSENT = frozenset({COUNTED, CHARGED, JOINED, "default", "d"})


def _check_padding(value: Any, *args: Any) -> None:
    _check_numbers(args)


def _check_indent(value: Any, width: Any = 4, *_: Any) -> None:
    _check_numbers((width,))
    step = len(width) if isinstance(width, str) else width
    if isinstance(value, str):
        _room(text=len(value) + (value.count("\n") + 1) * step)


def _check_format(value: Any, *args: Any) -> None:
    _check_percent(value, args)


def _check_wordwrap(value: Any, *args: Any) -> None:
    between = max((len(a) for a in args if isinstance(a, str)), default=1)
    _room(text=len(value) * (1 + between) if isinstance(value, str) else 0)


def _check_html(value: Any, *_: Any) -> None:
    if len(value if isinstance(value, str) else "") > _HTML:
        _refuse(f"This filter takes at most {_HTML} characters.")


_GUARDS: Mapping[str, Callable[..., None]] = {
    "batch": _check_padding,
    "center": _check_padding,
    "round": _check_padding,
    "slice": _check_padding,
    "indent": _check_indent,
    "format": _check_format,
    "replace": _check_replace,
    "wordwrap": _check_wordwrap,
    "striptags": _check_html,
    "urlize": _check_html,
}


def _bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The filter with a step counted, its arguments and its result bounded, and absent for what is absent."""
    first = 1 if getattr(function, "jinja_pass_arg", None) else 0
    check = _GUARDS.get(name)

    @wraps(function)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        meter.step()
        value = args[first] if len(args) > first else None
        if value is ABSENT and name not in _TAKES_ABSENT:
            return ABSENT
        if check is not None:
            check(value, *args[first + 1 :], *kwargs.values())
        made = function(*args, **kwargs)
        return made if made is value else _limited(made)

    return bounded


def _no_test_of_absent(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The test, with what is absent passing none but ``undefined``."""
    first = 1 if getattr(function, "jinja_pass_arg", None) else 0

    @wraps(function)
    def test(*args: Any, **kwargs: Any) -> Any:
        if len(args) > first and args[first] is ABSENT:
            return name == "undefined"
        return function(*args, **kwargs)

    return test
