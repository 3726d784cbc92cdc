"""What templates read and print: the absent value, JSON text, plain data.

Knows: how a value looks as text, and how big one may be. Does not know: how a template is compiled or run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import GeneratorType
from typing import Any, Final, NoReturn, final

import msgspec

TEXT_LIMIT: Final = 1_000_000  # characters that one template may print, and that any text inside it may have
ITEM_LIMIT: Final = 100_000  # elements of any list that a template makes
NODE_LIMIT: Final = 500_000  # values inside a value that is printed, counted with repetition
DEPTH_LIMIT: Final = 200


class TemplateFault(Exception):
    """A template that cannot be compiled.

    ``line`` and ``column`` are 0-based and within the template's text; ``path`` leads to the text inside a tree.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.path = path


class RenderFault(Exception):
    """A template that failed while it was rendered: a name that is not there, too much text, too much work."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@final
class Absent:
    """The value of what was not given: false in tests, nothing in text, and whatever is made of it is absent too."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return ""

    def __repr__(self) -> str:
        return "ABSENT"

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __contains__(self, item: object) -> bool:
        return False

    def __getitem__(self, key: object) -> Absent:
        return self

    def __reduce__(self) -> str:
        return "ABSENT"

    def __copy__(self) -> Absent:
        return self

    def __deepcopy__(self, memo: object) -> Absent:
        return self

    def _stays_absent(self, other: object = None) -> Absent:
        return self

    def _is_no_order(self, other: object) -> bool:
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _stays_absent
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = _stays_absent
    __lt__ = __le__ = __gt__ = __ge__ = _is_no_order


ABSENT: Final = Absent()


def shown(value: Any) -> str:
    """The value as text: a string as it is, nothing for ABSENT, JSON for all else. Raises RenderFault."""
    if isinstance(value, str):
        return str(value)
    if value is ABSENT:
        return ""
    return encode(plain(value))


def encode(value: Any) -> str:
    """JSON text of plain data."""
    try:
        return msgspec.json.encode(value).decode("utf-8")
    except (ValueError, TypeError, OverflowError, RecursionError) as fault:
        raise RenderFault(f"This value has no JSON text: {fault}.") from None


def plain(value: Any) -> Any:
    """The value as JSON data (dict, list, str, int, float, bool, None). ABSENT inside falls away.

    Raises RenderFault for what is no data (a function, NaN) and for what is too big.
    """
    if value is None or value is ABSENT or type(value) in (str, int, bool):
        return value
    return _Plain().of(value, 0)


class _Plain:
    """One conversion, with what is left of its bounds."""

    __slots__ = ("nodes", "text")

    def __init__(self) -> None:
        self.nodes = NODE_LIMIT
        self.text = TEXT_LIMIT * 4

    def of(self, value: Any, depth: int) -> Any:
        self.nodes -= 1
        if self.nodes < 0 or depth > DEPTH_LIMIT:
            raise RenderFault("A value is too big to be printed.")
        if isinstance(value, str):
            self.text -= len(value)
            if self.text < 0:
                raise RenderFault("A value is too big to be printed.")
            return str(value)
        if value is None or value is ABSENT or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else _refuse(f"{value} has no JSON text.")
        if isinstance(value, Mapping):
            pairs = ((self._key(k), self.of(v, depth + 1)) for k, v in value.items())
            return {k: v for k, v in pairs if v is not ABSENT}
        if isinstance(value, (list, tuple, range, GeneratorType)) or _is_other_series(value):
            return [v for v in (self.of(v, depth + 1) for v in value) if v is not ABSENT]
        return _refuse(f"A {type(value).__name__} cannot be printed; is a pair of parentheses missing?")

    def _key(self, key: Any) -> str:
        return key if isinstance(key, str) else shown(key)


def _is_other_series(value: Any) -> bool:
    # Filters such as map and reverse give iterators; bytes are a sequence too, but no data.
    return isinstance(value, (Iterator, Sequence)) and not isinstance(value, (bytes, bytearray, memoryview))


def _refuse(message: str) -> NoReturn:
    raise RenderFault(message)
