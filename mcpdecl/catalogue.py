"""What is served: frozen items, the outcomes of running them, and the difference between two catalogues.

Knows: the shape of a compiled tool, prompt, resource and form. Does not know: how anything was written, how it runs
(it only holds bindings) or how it is sent. Nothing in here is alive: no pool, no process, no counter, no lock.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from mcpdecl.content import Shape
from mcpdecl.schema import HeaderParameter, Schema
from mcpdecl.templates import Expression, Reads, Scope, Template, Tree
from mcpdecl.uris import UriTemplate

T = TypeVar("T")
RequestId: TypeAlias = str | int
EMPTY: Mapping[str, Any] = MappingProxyType({})

# --- what running something gives ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Value:
    """A success. ``data`` is text, bytes, JSON data or ``content.Blocks``; ``mime`` is its media type if known."""

    data: Any
    mime: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """It ran and failed. ``text`` is for the caller: no path, no traceback; ``incident`` is the id in the log."""

    text: str
    incident: str | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """What was named is not there (a file that does not exist, an id that a callable does not know)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A callable asked while it ran. ``questions`` maps a key to ``{"method": …, "params": …}``."""

    questions: Mapping[str, Mapping[str, Any]]


def digest(data: Any) -> str:
    """A digest of JSON data; equal data has equal digests. An answer counts only for a question of one digest."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Spent:
    """The requestState of this call was used before; nothing ran."""


Outcome: TypeAlias = Value | Failure | Missing | Asked | Spent


# --- how something runs ----------------------------------------------------------------------------------------


class Call(Protocol):
    """What a running binding may use. The server makes one for each Invoke. Methods are safe from any thread."""

    @property
    def root(self) -> Path:
        """The root folder: programs run here, relative paths start here."""

    @property
    def principal(self) -> str | None:
        """Who calls, or None where nobody logs in."""

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The client capabilities that this request declares."""

    @property
    def answers(self) -> Mapping[str, Any]:
        """Raw answers (``ElicitResult``, ``CreateMessageResult``, ``ListRootsResult``) by question key."""

    @property
    def heard(self) -> Mapping[str, str]:
        """The digests of the questions that were asked from inside a run and are answered, by key."""

    @property
    def limits(self) -> Limits:
        """The limits of the item that runs."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far it is. Sent only if the client asked, only if it rises."""

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send a log message (level of RFC 5424) if the request asked for that level."""

    def updated(self, uri: str) -> None:
        """Tell subscribers that the resource at ``uri`` changed."""

    def cancelled(self) -> bool:
        """Whether the call was cancelled; a sync callable in a thread may look now and then."""

    async def read(self, uri: str) -> Outcome:
        """Read a resource of this catalogue; its value's data is ``content.Contents``."""

    def in_thread(self, function: Callable[[], T]) -> Awaitable[T]:
        """Run a blocking function in the bounded thread pool."""


class Binding(Protocol):
    """How one thing runs. Frozen; made by ``bindings`` at load.

    ``reads`` are the names it reads, so that vars and answers can be made ready before. A ``pure`` binding renders
    inside the plan, without effects; another is performed by the server.
    """

    @property
    def reads(self) -> Reads:
        """Dotted names read from the scope, e.g. ``("answers", "confirm")``."""

    @property
    def pure(self) -> bool:
        """Whether ``render`` may be used instead of ``run``."""

    def render(self, scope: Scope) -> Outcome:
        """Render without any effect. Only for pure bindings."""

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Run with the arguments of ``scope``. Cancelling the task ends all that was started."""


# --- what an item is made of -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls in so many seconds; ``burst`` may come at once. A count of 0 is unlimited."""

    count: float
    seconds: float
    burst: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one item: seconds, bytes of output, calls at once (0: no bound of its own), rate."""

    timeout: float = 60.0
    max_output: int = 1_000_000
    concurrency: int = 0
    rate: Rate = Rate(100.0, 1.0, 1000)


@dataclass(frozen=True, slots=True)
class Var:
    """A named value that is computed when something reads it."""

    binding: Binding
    shape: Shape


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of ``ask``. ``params`` renders to the params of ``method``; ``schema`` judges an accepted form.

    ``schema`` is None where the form depends on the call (then it is compiled from what was shown), or where there is
    no form. ``reads`` covers ``when`` and ``params``; ``mode`` is that of an elicitation.
    """

    key: str
    method: Literal["elicitation/create", "sampling/createMessage", "roots/list"]
    params: Tree
    when: Expression | None
    schema: Schema | None
    declined: Template | None
    optional: bool
    reads: Reads
    mode: Literal["form", "url"] = "form"


@dataclass(frozen=True, slots=True)
class Assertion:
    """``that`` must hold, or the call ends with ``message`` as an error result."""

    that: Expression
    message: Template
    reads: Reads


@dataclass(frozen=True, slots=True)
class Confined:
    """Argument ``name`` (a path relative to the root) must resolve inside ``folder``, links included."""

    name: str
    folder: Path
    label: str


@dataclass(frozen=True, slots=True)
class Handler:
    """What happens when an item is used, whatever its kind.

    ``arguments`` are the declared names; ``digest`` changes when anything about the item does.
    """

    binding: Binding
    arguments: frozenset[str] = frozenset()
    vars: Mapping[str, Var] = field(default_factory=lambda: MappingProxyType({}))
    questions: tuple[Question, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    confined: tuple[Confined, ...] = ()
    requires: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    limits: Limits = Limits()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A compiled tool. ``wire`` is its descriptor as JSON bytes (spec: server/tools#tool)."""

    name: str
    wire: bytes
    handler: Handler
    input: Schema
    output: Schema | None
    shape: Shape
    headers: tuple[HeaderParameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a prompt or a resource template.

    ``complete`` offers values (None: those of the schema's enum, or none). ``text`` is true where the schema takes
    strings, so that the value is kept as sent; else a string is read as JSON.
    """

    name: str
    schema: Schema
    required: bool
    text: bool
    default: Any
    choices: tuple[str, ...] = ()
    complete: Var | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """A compiled prompt. Its binding's value is ``content.Messages``."""

    name: str
    wire: bytes
    handler: Handler
    arguments: Mapping[str, Argument]
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """A compiled resource with a fixed URI. ``file`` is set where it is served from disk, ``ttl_ms`` a cache hint."""

    name: str
    uri: str
    wire: bytes
    handler: Handler
    mime: str | None
    shape: Shape
    file: Path | None = None
    ttl_ms: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A resource that a template serves and that is listed: ``wire`` is its descriptor as JSON bytes."""

    name: str
    uri: str
    wire: bytes


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """A compiled resource template. ``entries`` are those of its resources that are known, such as files."""

    name: str
    template: UriTemplate
    wire: bytes
    handler: Handler
    arguments: Mapping[str, Argument]
    mime: str | None
    shape: Shape
    ttl_ms: int = 0
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A form that questions name; kept so that tools can show what the folder declares."""

    name: str
    declared: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """The ``server`` section: identity and how the server behaves.

    ``info`` is the ``Implementation`` object; ``env`` the values of the names in ``server.env``; ``ttl_ms`` is None
    where the author does not say.
    """

    info: Mapping[str, Any]
    instructions: str | None = None
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    stream_after: float = 5.0
    ttl_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """One list, ordered by name, each entry encoded once."""

    names: tuple[str, ...]
    entries: tuple[bytes, ...]
    first: bytes

    @classmethod
    def of(cls, items: Mapping[str, bytes], page: int = 1000) -> Listing:
        """Order entries by name and join the first page."""
        # spec: server/tools#capabilities: a deterministic order
        names = tuple(sorted(items))
        entries = tuple(items[n] for n in names)
        return cls(names, entries, b"[" + b",".join(entries[:page]) + b"]")

    def page(self, after: str | None, size: int = 1000) -> tuple[bytes, str | None]:
        """The JSON array of the entries after a name, and the name to go on from (None at the end)."""
        start = 0 if after is None else bisect_right(self.names, after)
        end = start + size
        more = self.names[end - 1] if end < len(self.names) else None
        if start == 0 and size == 1000:
            return self.first, more
        return b"[" + b",".join(self.entries[start:end]) + b"]", more


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that is served at one time. Replaced whole, never changed.

    ``resources`` is by URI; ``templates`` by name. ``revision`` is a short digest of everything.
    """

    settings: Settings
    tools: Mapping[str, Tool]
    prompts: Mapping[str, Prompt]
    resources: Mapping[str, Resource]
    templates: Mapping[str, ResourceTemplate]
    forms: Mapping[str, Form]
    lists: Mapping[str, Listing]
    revision: str
    root: Path

    @property
    def summary(self) -> str:
        """What is served, in words: ``7 tools, 1 prompt, 3 resources``."""
        served = (
            (len(self.tools), "tool"),
            (len(self.prompts), "prompt"),
            (len(self.resources) + len(self.templates), "resource"),
        )
        return ", ".join(counted(number, word) for number, word in served)

    @classmethod
    def of(
        cls,
        settings: Settings,
        items: Sequence[Tool | Prompt | Resource | ResourceTemplate | Form],
        *,
        revision: str,
        root: Path,
    ) -> Catalogue:
        """Put compiled items in order and encode the four lists."""
        tools = {i.name: i for i in items if isinstance(i, Tool)}
        prompts = {i.name: i for i in items if isinstance(i, Prompt)}
        resources = {i.uri: i for i in items if isinstance(i, Resource)}
        templates = {i.name: i for i in items if isinstance(i, ResourceTemplate)}
        forms = {i.name: i for i in items if isinstance(i, Form)}
        lists = {
            "tools": Listing.of({n: t.wire for n, t in tools.items()}),
            "prompts": Listing.of({n: p.wire for n, p in prompts.items()}),
            "resources": Listing.of(_resources_listed(resources, templates)),
            "resourceTemplates": Listing.of({n: t.wire for n, t in templates.items()}),
        }
        return cls(
            settings=settings,
            tools=MappingProxyType(tools),
            prompts=MappingProxyType(prompts),
            resources=MappingProxyType(resources),
            templates=MappingProxyType(templates),
            forms=MappingProxyType(forms),
            lists=MappingProxyType(lists),
            revision=revision,
            root=root,
        )


def _resources_listed(resources: Mapping[str, Resource], templates: Mapping[str, ResourceTemplate]) -> dict[str, bytes]:
    """What ``resources/list`` holds. A resource is listed by what serves it: a fixed URI, else the first template."""
    found = {resource.name: resource.wire for resource in resources.values()}
    before: list[UriTemplate] = []
    for name in sorted(templates):
        for entry in templates[name].entries:
            if entry.uri not in resources and all(template.match(entry.uri) is None for template in before):
                # files of two folders may have one name, which stays what orders them
                found[f"{entry.name}\0{entry.uri}"] = entry.wire
        before.append(templates[name].template)
    return found


def counted(number: int, word: str) -> str:
    """A number of things in words: ``1 tool``, ``2 tools``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


# --- how two catalogues differ ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Changes:
    """Names whose list entry was added, removed or altered, and URIs whose content changed.

    ``resources`` covers resources and resource templates, as the notification does.
    """

    tools: frozenset[str] = frozenset()
    prompts: frozenset[str] = frozenset()
    resources: frozenset[str] = frozenset()
    updated: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.tools or self.prompts or self.resources or self.updated)

    def __or__(self, other: Changes) -> Changes:
        return Changes(
            self.tools | other.tools,
            self.prompts | other.prompts,
            self.resources | other.resources,
            self.updated | other.updated,
        )


def diff(old: Catalogue, new: Catalogue) -> Changes:
    """What a client would see differ. Bindings are compared by digest only to tell which resources changed."""
    updated = {
        uri
        for uri, resource in new.resources.items()
        if uri in old.resources and old.resources[uri].handler.digest != resource.handler.digest
    }
    for name, template in new.templates.items():
        was = old.templates.get(name)
        if was is not None and was.handler.digest != template.handler.digest:
            updated |= {entry.uri for entry in was.entries} & {entry.uri for entry in template.entries}
    return Changes(
        tools=_differ(old.lists["tools"], new.lists["tools"]),
        prompts=_differ(old.lists["prompts"], new.lists["prompts"]),
        resources=_differ(old.lists["resources"], new.lists["resources"])
        | _differ(old.lists["resourceTemplates"], new.lists["resourceTemplates"]),
        updated=frozenset(updated),
    )


def _differ(old: Listing, new: Listing) -> frozenset[str]:
    before, after = set(zip(old.names, old.entries, strict=True)), set(zip(new.names, new.entries, strict=True))
    return frozenset(name for name, _ in before ^ after)
