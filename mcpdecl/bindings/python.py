"""Python callables: arguments by name, checked at load, run on the loop or in a thread.

Knows: signatures, generators, and what a callable may use while it runs. Does not know: how modules are found and
replaced, or how a value becomes content.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mcpdecl.bindings import asking
from mcpdecl.bindings.asking import Declined as Declined
from mcpdecl.bindings.asking import Suspended
from mcpdecl.bindings.modules import Modules as Modules
from mcpdecl.bindings.modules import Unresolved
from mcpdecl.bindings.site import Fields, Site, nearest
from mcpdecl.catalogue import Asked, Call, Failure, Missing, Outcome, Value, digest
from mcpdecl.templates import ABSENT, Reads, Scope


class ToolError(Exception):
    """Raise it to end a call with an error whose text the caller reads. Other exceptions are told by an id only."""


class NotFound(Exception):
    """Raise it where what was named is not there."""


class Progress(NamedTuple):
    """A generator may yield it to tell how far it is, as it may yield a number or such a tuple."""

    progress: float
    total: float | None = None
    message: str | None = None


class Context:
    """What a callable may use while it runs. Declare a parameter annotated ``Context`` to get it.

    All methods but ``ask``, ``sample`` and ``roots`` may be used from any thread.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._asked: dict[str, str] = {}

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
        """Raw answers to questions, by key, whatever the question was; ``ask`` looks at that too."""
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
        optional: bool = False,
    ) -> Any:
        """Ask the user; see ``ask_now``."""
        return self.ask_now(key, message, fields=fields, schema=schema, url=url, optional=optional)

    def ask_now(
        self,
        key: str,
        message: str,
        *,
        fields: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
        url: str | None = None,
        optional: bool = False,
    ) -> Any:
        """Ask the user: a yes or no, a form (``fields`` in short form or ``schema``), or to visit ``url``.

        Returns the form's content, or True (of ``url``: that the user agreed to go there, not what came of it). The
        first time, the callable ends here; it is run again **from the top** when the answer is there, so nothing before
        a question may have effects that must not be repeated. An answer counts for the very question that was shown:
        one that reads differently in the next run is put again, and ends after ten rounds. Raises Declined for a no,
        unless it is ``optional``: then that is None. Each question of a run has a key of its own.
        """
        question = asking.url(message, url) if url is not None else asking.form(message, fields, schema)
        try:
            return self._answer(key, question)
        except Declined:
            if optional:
                return None
            raise

    async def sample(self, key: str, messages: Sequence[Mapping[str, Any]], max_tokens: int, **more: Any) -> Any:
        """Ask the client's model; returns its CreateMessageResult. Run again from the top, as with ``ask``."""
        return self._answer(key, asking.sample(messages, max_tokens, more))

    async def roots(self, key: str = "roots") -> Any:
        """Ask for the client's roots, a list. Run again from the top, as with ``ask``."""
        return self._answer(key, asking.roots())

    def _answer(self, key: str, question: Mapping[str, Any]) -> Any:
        mark = digest(question)
        if self._asked.setdefault(key, mark) != mark:
            raise ValueError(f"another question was asked as {key!r} before; give each a key of its own")
        if self._call.heard.get(key) != mark:
            raise Suspended({key: question})
        return asking.value_of(key, question, self._call.answers[key])


@dataclass(frozen=True, slots=True)
class Python:
    """``python: module:callable``.

    ``takes`` are the declared arguments that are passed, ``needs`` the parameters without a default, ``context`` the
    one that gets a Context. ``function`` is None where nothing was resolved. What an open schema lets in besides is
    never passed: a caller must not reach a parameter that the manifest does not declare.
    """

    name: str
    function: Callable[..., Any] | None
    takes: frozenset[str]
    needs: frozenset[str]
    context: str | None
    pure: bool = False

    @property
    def reads(self) -> Reads:
        """The arguments that are passed."""
        return frozenset(("arguments", name) for name in self.takes)

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
        except BaseExceptionGroup as group:
            return Asked(asking.together(group))
        except (ToolError, Declined) as error:
            return Failure(str(error))
        except NotFound:
            return Missing()

    def _arguments(self, scope: Scope, call: Call) -> dict[str, Any]:
        given: Mapping[str, Any] = scope["arguments"]
        passed = {name: value for name, value in given.items() if value is not ABSENT and name in self.takes}
        passed |= dict.fromkeys(self.needs - passed.keys())
        if self.context is not None:
            passed[self.context] = Context(call)
        return passed

    async def _value(self, function: Callable[..., Any], passed: dict[str, Any], call: Call) -> Any:
        made = (
            function(**passed) if _is_async(function) else await call.in_thread(lambda: _called(function, passed, call))
        )
        # What a plain function returned may still have to run: a decorator seldom says that it wraps an async one.
        if inspect.isawaitable(made):
            made = await made
        if inspect.isasyncgen(made):
            return await _drained_async(made, call)
        return await call.in_thread(lambda: _drained(made, call)) if inspect.isgenerator(made) else made


def _called(function: Callable[..., Any], passed: dict[str, Any], call: Call) -> Any:
    """Run a plain function, in a thread, and what it yields, if it yields."""
    made = function(**passed)
    return _drained(made, call) if inspect.isgenerator(made) else made


def _drained(made: Any, call: Call) -> Any:
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
    told = item if isinstance(item, tuple) and 2 <= len(item) <= 3 else (item,)
    progress, total, message = (*told, None, None)[:3]
    if not _is_number(progress) or not (total is None or _is_number(total)) or not isinstance(message, str | None):
        return False
    call.progress(progress, total, message)
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def bind(fields: Fields, site: Site) -> Python | None:
    """Bind ``python``: import the callable and hold its parameters against the declared arguments."""
    name = fields["python"]
    if not site.resolve:
        return Python(name, None, frozenset(site.arguments), frozenset(), None)
    try:
        function = site.modules.resolve(name)
    except Unresolved as fault:
        site.report(fault.code, fault.message, "python", hint=fault.hint)
        return None
    return _fitted(name, function, site)


def _fitted(name: str, function: Callable[..., Any], site: Site) -> Python | None:
    takes = frozenset(site.arguments)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return Python(name, function, takes, frozenset(), None)  # built in without a signature: taken at its word
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
    return Python(name, function, takes, frozenset(needs), context)


def _context(function: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]) -> str | None:
    target = function if inspect.isroutine(function) else getattr(function, "func", None) or type(function).__call__
    try:
        hints = typing.get_type_hints(target)
    except Exception:  # annotations are the author's; any of them may fail to be evaluated
        hints = {}
    for name, parameter in parameters.items():
        hint = hints.get(name, parameter.annotation)
        # Text is what could not be evaluated, such as a name that is imported for type checkers only.
        if re.search(r"\bContext\b", hint) if isinstance(hint, str) else Context in (hint, *typing.get_args(hint)):
            return name
    return None


def _is_async(function: Any) -> bool:
    while hasattr(function, "func") and not inspect.isroutine(function):  # functools.partial
        function = function.func
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
