"""What to do about a message, as values.

Knows: the six plans and what each needs to be carried out. Does not know: which message leads to which plan, nor who
carries it out. An extension composes these; transports need nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias

from mcpdecl.catalogue import Binding, Catalogue, Confined, Limits, Outcome, RequestId
from mcpdecl.templates import Scope

# spec: basic/index#resulttype: those of the core protocol alone
ResultType: TypeAlias = Literal["complete", "input_required"]


class Sealer(Protocol):
    """Makes and opens requestState. Opening raises Refused("state-rejected")."""

    def seal(self, payload: Mapping[str, Any]) -> str:
        """Seal a JSON object into an opaque ASCII string."""

    def open(self, state: str) -> dict[str, Any]:
        """Open what ``seal`` made, under any key of the ring."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One message as it came in, with all that a decision may depend on.

    ``headers`` are lower-cased (a duplicated header is joined by ", "), or None where the transport has none.
    ``principal`` is who calls, None where nobody logs in. ``now`` is seconds since the epoch. ``live`` says whether
    the server announces changes (it watches its manifests).
    """

    body: bytes
    headers: Mapping[str, str] | None
    principal: str | None
    now: float
    sealer: Sealer
    live: bool


@dataclass(frozen=True, slots=True)
class Request:
    """A request whose envelope is in order: what all planners read.

    ``params`` is without ``_meta``. The catalogue is the one that the request finishes on, whatever is served later.
    """

    id: RequestId
    method: str
    params: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    client: Mapping[str, Any] | None
    log_level: str | None
    progress_token: str | int | None
    catalogue: Catalogue
    arrival: Arrival


@dataclass(frozen=True, slots=True)
class Cache:
    """Caching hints (spec: server/utilities/caching)."""

    ttl_ms: int
    scope: Literal["public", "private"]


@dataclass(frozen=True, slots=True)
class Result:
    """A result before the era's envelope. Values may be ``msgspec.Raw`` (JSON already encoded)."""

    body: Mapping[str, Any]
    type: ResultType = "complete"
    cache: Cache | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A JSON-RPC error."""

    code: int
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer now. ``request`` is None where not even an envelope could be read; ``id`` is None where no id could.

    ``notes`` are (event, fields) pairs for the log: what the client must not read.
    """

    id: RequestId | None
    value: Result | Fault
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    request: Request | None = None
    notes: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """Put questions. A modern transport answers with ``reply`` (input_required); whoever can ask the user directly
    (a terminal, a legacy session) goes on with ``resume(answers)``, answers being raw results by key."""

    request: Request
    questions: Mapping[str, Mapping[str, Any]]
    reply: Reply
    resume: Callable[[Mapping[str, Any]], Plan]


@dataclass(frozen=True, slots=True)
class Invoke:
    """Run a binding, then go on with what ``conclude`` makes of its outcome.

    ``item`` names what runs, for logs and limits ("tools/call echo"). ``claim`` is the id (and expiry, seconds since
    the epoch) in a requestState that this uses up: if it was used before, nothing runs and the outcome is Spent.
    ``confined`` arguments are checked against the disk before. ``answers`` are at hand for a callable that asks, and
    ``heard`` the digests of the questions that it asked before.
    """

    request: Request
    item: str
    binding: Binding
    scope: Scope
    limits: Limits
    conclude: Callable[[Outcome], Plan]
    claim: tuple[str, float] | None = None
    confined: tuple[Confined, ...] = ()
    answers: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    heard: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Filter:
    """What a listener hears, already cut down to what is honoured."""

    tools: bool = False
    prompts: bool = False
    resources: bool = False
    uris: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Listen:
    """Keep the reply open: send ``opening`` first, then what ``notices(changes)`` yields, and ``closing`` at the end.

    ``notices`` gives (key, notification) pairs; a pending notification of the same key is replaced, so that a slow
    reader costs one value for each key.
    """

    request: Request
    filter: Filter
    opening: Mapping[str, Any]
    notices: Callable[[Any], list[tuple[str, Mapping[str, Any]]]]
    closing: Reply


@dataclass(frozen=True, slots=True)
class Cancel:
    """End the request with this id, if it is in flight on the same connection."""

    id: RequestId
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Ignore:
    """A notification: no answer. ``status`` is for transports that must answer something."""

    status: int = 202


Plan: TypeAlias = Reply | Ask | Invoke | Listen | Cancel | Ignore
