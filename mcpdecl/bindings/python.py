"""Python callables: arguments by name, checked at load, run on the loop or in a thread.

Knows: signatures, generators, and what a callable may use while it runs. Does not know: how modules are found and
replaced, or how a value becomes content.
"""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpdecl.bindings import asking
from mcpdecl.bindings.asking import Declined, Suspended
from mcpdecl.bindings.modules import Modules as Modules
from mcpdecl.bindings.modules import Unresolved
from mcpdecl.bindings.site import Fields, Site, nearest
from mcpdecl.catalogue import Asked, Call, Failure, Missing, Outcome, Value
from mcpdecl.templates import ABSENT, Reads, Scope


class ToolError(Exception):
    """Raise it to end a call with an error whose text the caller reads. Other exceptions are told by an id only."""


class NotFound(Exception):
    """Raise it where what was named is not there."""


class Context:
    """What a callable may use while it runs. Declare a parameter annotated ``Context`` to get it.

    All methods but ``ask``, ``sample`` and ``roots`` may be used from any thread.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def principal(self) -> str | None:
        """Who calls, or None where nobody logs in."""
        return self._call.principal

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The client capabilities that this request declares."""
        return self._call.capabilities

    @property
    def answers(self) -> Mapping[str, Any]:
        """Raw answers to questions, by key."""
        return self._call.answers

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for this call any more. Long work in a thread should look now and then."""
        return self._call.cancelled()

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far it is. Sent if the client asked for progress and the value rises."""
        self._call.progress(progress, total, message)

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send a log message (a level of RFC 5424, such as info) if the client asked for that level."""
        self._call.log(level, data, logger)

    def notify_updated(self, uri: str) -> None:
        """Tell subscribers that the resource at ``uri`` changed."""
        self._call.updated(uri)

    async def ask(
        self,
        key: str,
        message: str,
        *,
        fields: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
        url: str | None = None,
    ) -> Any:
        """Ask the user; see ``ask_now``."""
        return self.ask_now(key, message, fields=fields, schema=schema, url=url)

    def ask_now(
        self,
        key: str,
        message: str,
        *,
        fields: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
        url: str | None = None,
    ) -> Any:
        """Ask the user: a yes or no, a form (``fields`` in short form or ``schema``), or to visit ``url``.

        Returns the form's content, or True. The first time, the callable ends here; it is run again **from the top**
        when the answer is there, so nothing before a question may have effects that must not be repeated. Raises
        Declined.
        """
        question = asking.url(message, url) if url is not None else asking.form(message, fields, schema)
        return self._answer(key, question)

    async def sample(self, key: str, messages: Sequence[Mapping[str, Any]], max_tokens: int, **more: Any) -> Any:
        """Ask the client's model; returns its CreateMessageResult. Run again from the top, as with ``ask``."""
        return self._answer(key, asking.sample(messages, max_tokens, more))

    async def roots(self, key: str = "roots") -> Any:
        """Ask for the client's roots, a list. Run again from the top, as with ``ask``."""
        return self._answer(key, asking.roots())

    def _answer(self, key: str, question: Mapping[str, Any]) -> Any:
        if key not in self._call.answers:
            raise Suspended({key: question})
        return asking.value_of(key, question, self._call.answers[key])


@dataclass(frozen=True, slots=True)
class Python:
    """``python: module:callable``.

    ``takes`` are the parameters that arguments are passed by (None: all of them), ``needs`` those without a default,
    ``context`` the one that gets a Context. ``function`` is None where nothing was resolved.
    """

    name: str
    function: Callable[..., Any] | None
    takes: frozenset[str] | None
    needs: frozenset[str]
    context: str | None
    reads: Reads = frozenset()
    pure: bool = False

    def render(self, scope: Scope) -> Outcome:
        """A callable has effects."""
        raise TypeError("a callable has effects")

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Call it. A plain function runs in a thread; a generator's yields are progress, its last value the value."""
        if self.function is None:
            raise RuntimeError(f"{self.name} was not imported")
        try:
            return Value(await self._value(self.function, self._arguments(scope, call), call))
        except Suspended as asked:
            return Asked(asked.questions)
        except (ToolError, Declined) as error:
            return Failure(str(error))
        except NotFound:
            return Missing()

    def _arguments(self, scope: Scope, call: Call) -> dict[str, Any]:
        given: Mapping[str, Any] = scope["arguments"]
        passed = {
            name: value
            for name, value in given.items()
            if value is not ABSENT and (name in self.takes if self.takes is not None else True)
        }
        passed |= dict.fromkeys(self.needs - passed.keys())
        if self.context is not None:
            passed[self.context] = Context(call)
        return passed

    async def _value(self, function: Callable[..., Any], passed: dict[str, Any], call: Call) -> Any:
        if _is_async(function):
            made = function(**passed)
            return await _drained_async(made, call) if hasattr(made, "__anext__") else await made
        return await call.in_thread(lambda: _called(function, passed, call))


def _called(function: Callable[..., Any], passed: dict[str, Any], call: Call) -> Any:
    """Run a plain function to its value, in a thread."""
    made = function(**passed)
    if not inspect.isgenerator(made):
        if inspect.isawaitable(made):
            return asyncio.run(_awaited(made))  # a plain function that returns a coroutine, such as a partial
        return made
    last: Any = None
    try:
        while not call.cancelled():
            item = next(made)
            if not _progress(item, call):
                last = item
    except StopIteration as end:
        return last if end.value is None else end.value
    finally:
        made.close()
    return last


async def _awaited(made: Any) -> Any:
    return await made


async def _drained_async(made: Any, call: Call) -> Any:
    last: Any = None
    try:
        async for item in made:
            if not _progress(item, call):
                last = item
    finally:
        await made.aclose()
    return last


def _progress(item: Any, call: Call) -> bool:
    """Tell a yielded number, or (progress, total) with an optional message, as progress; all else is a value."""
    if isinstance(item, int | float) and not isinstance(item, bool):
        call.progress(item)
        return True
    if isinstance(item, tuple) and 2 <= len(item) <= 3 and isinstance(item[0], int | float):
        call.progress(*item)
        return True
    return False


def bind(fields: Fields, site: Site) -> Python | None:
    """Bind ``python``: import the callable and hold its parameters against the declared arguments."""
    name = fields["python"]
    if not site.resolve:
        return Python(name, None, None, frozenset(), None)
    try:
        function = site.modules.resolve(name)
    except Unresolved as fault:
        site.report(fault.code, fault.message, "python", hint=fault.hint)
        return None
    return _fitted(name, function, site)


def _fitted(name: str, function: Callable[..., Any], site: Site) -> Python | None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return Python(name, function, None, frozenset(), None)  # built in without a signature: taken at its word
    parameters = signature.parameters
    context = _context(function, parameters)
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    named = {
        n: p for n, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and n != context
    }
    good = True
    for parameter in parameters.values():
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty:
            site.report("bad-parameters", f"{name} takes {parameter.name!r} by position only.", "python")
            good = False
    needs = {n for n, p in named.items() if p.default is p.empty}
    for missing in sorted(needs - site.arguments.keys()):
        hint = f"Declare {missing!r} as an argument or give the parameter a default."
        site.report("bad-parameters", f"{name} needs {missing!r}, which is not declared.", "python", hint=hint)
        good = False
    for extra in sorted(site.arguments.keys() - named.keys() if not takes_all else ()):
        hint = nearest(extra, set(named)) if named else "It takes no arguments."
        site.report("bad-parameters", f"{name} does not take the argument {extra!r}.", "python", hint=hint)
        good = False
    if not good:
        return None
    return Python(name, function, None if takes_all else frozenset(named), frozenset(needs), context)


def _context(function: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]) -> str | None:
    target = function if inspect.isroutine(function) else getattr(function, "func", None) or type(function).__call__
    try:
        hints = typing.get_type_hints(target)
    except Exception:  # annotations are the author's; any of them may fail to be evaluated
        hints = {}
    for name, parameter in parameters.items():
        hint = hints.get(name, parameter.annotation)
        if hint is Context or (isinstance(hint, str) and hint.rpartition(".")[2] == "Context"):
            return name
    return None


def _is_async(function: Any) -> bool:
    while hasattr(function, "func") and not inspect.isroutine(function):  # functools.partial
        function = function.func
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
