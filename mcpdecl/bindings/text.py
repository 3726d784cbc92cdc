"""Text, templates and lists of content blocks.

Knows: what blocks and messages are made of, and that only those with parts that run have effects. Does not know: how a
part runs.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from mcpdecl.bindings.files import named, read
from mcpdecl.bindings.media import mime_of
from mcpdecl.bindings.site import Fields, Site, joined
from mcpdecl.catalogue import Binding, Call, Failure, Outcome, Value
from mcpdecl.content import Block, Blocks, ContentFault, Contents, Messages, Shape, binary_block
from mcpdecl.templates import ABSENT, Expression, Reads, Scope, Template, Tree

Role: TypeAlias = Literal["user", "assistant"]
EXTRAS = ("annotations", "_meta")
IMAGES_TO = 8_000_000
SOURCES = frozenset({"template", "python", "command"})


@dataclass(frozen=True, slots=True)
class Text:
    """``text`` or ``template``: rendered, nothing else."""

    template: Template
    reads: Reads
    pure: bool = True

    def render(self, scope: Scope) -> Outcome:
        """Render."""
        return Value(self.template.text(scope))

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Render."""
        return self.render(scope)


@dataclass(frozen=True, slots=True)
class Fixed:
    """A block whose wire form is data with templates (link, inline resource, image, audio).

    ``held`` is what the resource of the block holds besides, as it is: the text of a file is no template.
    """

    block: Tree
    reads: Reads
    pure: bool = True
    held: Fields = field(default_factory=lambda: MappingProxyType({}))

    def render(self, scope: Scope) -> Outcome:
        """Render; a block that lost what it needs falls away."""
        block = self.block.value(scope)
        if self.held and "resource" in block:
            block = {**block, "resource": {**block["resource"], **self.held}}
        return Value(Blocks(() if block is ABSENT or not _whole(block) else (block,)))

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Render."""
        return self.render(scope)


@dataclass(frozen=True, slots=True)
class Embedded:
    """``resource: uri``: a resource of this server, read and embedded."""

    uri: Template
    reads: Reads
    pure: bool = False

    def render(self, scope: Scope) -> Outcome:
        """Reading is an effect."""
        raise TypeError("reading a resource is an effect")

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Read the resource. One that is not there is a failure that names it."""
        uri = self.uri.item(scope)
        if uri is ABSENT:
            return Value(Blocks(()))
        outcome = await call.read(str(uri))
        if not isinstance(outcome, Value):
            return outcome if isinstance(outcome, Failure) else Failure(f"There is no resource {uri}.")
        contents: Contents = outcome.data
        return Value(Blocks(tuple({"type": "resource", "resource": item} for item in contents.items)))


@dataclass(frozen=True, slots=True)
class Inline:
    """``image``, ``audio`` or an inline ``resource`` whose bytes or text a binding gives."""

    kind: Literal["image", "audio", "resource"]
    binding: Binding
    uri: Template | None
    mime: str
    reads: Reads
    pure: bool

    def render(self, scope: Scope) -> Outcome:
        """Render the binding and wrap what it gives."""
        return self._wrapped(self.binding.render(scope), scope)

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Run the binding and wrap what it gives."""
        return self._wrapped(await self.binding.run(scope, call), scope)

    def _wrapped(self, outcome: Outcome, scope: Scope) -> Outcome:
        if not isinstance(outcome, Value):
            return outcome
        if self.kind != "resource":
            data = outcome.data.encode() if isinstance(outcome.data, str) else outcome.data
            if not isinstance(data, bytes):
                raise ContentFault(f"{self.kind} needs bytes, not a {type(data).__name__}")
            return Value(Blocks((binary_block(data, self.mime),)))
        uri = self.uri.text(scope) if self.uri is not None else ""
        contents = Shape().contents(uri, self.mime, outcome.data)
        return Value(Blocks(tuple({"type": "resource", "resource": item} for item in contents.items)))


@dataclass(frozen=True, slots=True)
class Part:
    """One entry of ``content`` or ``messages``: a binding, when it is there, and what its blocks carry besides."""

    binding: Binding
    shape: Shape
    when: Expression | None
    extras: Tree
    role: Role = "user"

    def blocks(self, outcome: Outcome, scope: Scope) -> tuple[Block, ...] | Outcome:
        """The blocks of an outcome; an outcome that is no value is given back."""
        if not isinstance(outcome, Value):
            return outcome
        extras = self.extras.value(scope)
        more = extras if isinstance(extras, Mapping) else {}
        items = self.shape.blocks(outcome.data, outcome.mime, scope).items
        return tuple({**block, **more} for block in items) if more else items


@dataclass(frozen=True, slots=True)
class Parts:
    """``content`` and ``messages``: parts in order."""

    parts: tuple[Part, ...]
    reads: Reads
    pure: bool
    messages: bool
    error: bool = False

    def render(self, scope: Scope) -> Outcome:
        """Render all parts; only where none of them has effects."""
        made: list[tuple[Role, Block]] = []
        for part in self._present(scope):
            blocks = part.blocks(part.binding.render(scope), scope)
            if not isinstance(blocks, tuple):
                return blocks
            made += [(part.role, block) for block in blocks]
        return self._whole(made)

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Run the parts one after the other; the first that fails ends it."""
        made: list[tuple[Role, Block]] = []
        for part in self._present(scope):
            outcome = part.binding.render(scope) if part.binding.pure else await part.binding.run(scope, call)
            blocks = part.blocks(outcome, scope)
            if not isinstance(blocks, tuple):
                return blocks
            made += [(part.role, block) for block in blocks]
        return self._whole(made)

    def _present(self, scope: Scope) -> list[Part]:
        return [part for part in self.parts if part.when is None or part.when.test(scope)]

    def _whole(self, made: list[tuple[Role, Block]]) -> Outcome:
        if self.messages:
            return Value(Messages(tuple({"role": role, "content": block} for role, block in made)))
        return Value(Blocks(tuple(block for _, block in made), error=self.error))


def bind_text(fields: Fields, site: Site) -> Text | None:
    """Bind ``text``."""
    template = site.template(fields["text"], "text")
    return None if template is None else Text(template, template.reads)


def bind_template(fields: Fields, site: Site) -> Text | None:
    """Bind ``template``, a file of the templates folder."""
    template = site.file(fields["template"], "template")
    return None if template is None else Text(template, template.reads)


def bind_content(fields: Fields, site: Site) -> Parts | None:
    """Bind ``content``."""
    parts = [_part(block, "user", site.at("content", index)) for index, block in enumerate(fields["content"])]
    return _parts(parts, messages=False, error=fields.get("error") is True)


def bind_messages(fields: Fields, site: Site) -> Parts | None:
    """Bind the ``messages`` of a prompt: each a mapping of one role to a block."""
    parts: list[Part | None] = []
    for index, message in enumerate(fields["messages"]):
        role: Role = "user" if "user" in message else "assistant"
        part = _part(message[role], role, site.at("messages", index, role))
        if "if" in message:
            when = site.at("messages", index).expression(message["if"], "if")
            part = replace(part, when=when) if part is not None and when is not None else None
        parts.append(part)
    return _parts(parts, messages=True)


def _parts(parts: Sequence[Part | None], *, messages: bool, error: bool = False) -> Parts | None:
    good = tuple(part for part in parts if part is not None)
    if len(good) < len(parts):
        return None
    reads = joined(*(p.binding for p in good), *(p.when for p in good), *(p.extras for p in good))
    reads |= {read for p in good if p.shape.text for read in p.shape.text.reads if read[0] != "result"}
    return Parts(good, reads, all(part.binding.pure for part in good), messages, error)


def _part(block: Any, role: Role, site: Site) -> Part | None:
    if isinstance(block, str):
        template = site.template(block)
        bound: Binding | None = None if template is None else Text(template, template.reads)
        return None if bound is None else Part(bound, Shape("text"), None, site.templates.tree({}), role)
    when = site.expression(block["if"], "if") if "if" in block else None
    extras = site.tree({key: block[key] for key in EXTRAS if key in block})
    bound = _bound(block, site)
    if bound is None or extras is None or ("if" in block and when is None):
        return None
    shape = _shape(block, site)
    return None if shape is None else Part(bound, shape, when, extras, role)


def _shape(block: Fields, site: Site) -> Shape | None:
    result = block.get("result", "auto")
    if isinstance(result, str):
        return Shape(result)
    if "text" not in result:
        return Shape(result.get("as", "auto"))
    text = site.knowing("result").template(result["text"], "result", "text")
    return None if text is None else Shape(result.get("as", "auto"), text)


def _bound(block: Fields, site: Site) -> Binding | None:
    if "link" in block:
        return _link(block["link"], site.at("link"))
    if "image" in block:
        return _binary("image", block["image"], site.at("image"))
    if "audio" in block:
        return _binary("audio", block["audio"], site.at("audio"))
    if "resource" in block:
        return _resource(block["resource"], site.at("resource"))
    return site.bind(block)


def _link(written: Any, site: Site) -> Binding | None:
    """A link; its name is its URI where none is written."""
    judged = site.tree(written)
    if judged is None:
        return None
    link = (
        {"uri": written, "name": written} if isinstance(written, str) else {"name": written.get("uri", ""), **written}
    )
    whole = site.templates.tree({"type": "resource_link", **link})
    return Fixed(whole, judged.reads)


def _resource(written: Any, site: Site) -> Binding | None:
    if isinstance(written, str):
        uri = site.template(written)
        return None if uri is None else Embedded(uri, uri.reads)
    if not _has(written, "resource", ("uri",), site):
        return None
    if SOURCES & written.keys():
        return _inline("resource", written, site)
    if not _has(written, "resource", ("text", "blob", "data", "file", *sorted(SOURCES)), site):
        return None
    rest = {key: value for key, value in written.items() if key not in ("file", "blob", "data")}
    if "text" in rest:
        return _fixed({"type": "resource", "resource": rest}, site, below="resource")
    if "file" not in written:
        base = _base64(written, site)
        # Some clients cannot show bytes whose type they are not told.
        rest = {"mimeType": "application/octet-stream", **rest}
        held: Fields | None = None if base is None else {"blob": base}
    else:
        data = _loaded(written["file"], site, "file")
        rest["mimeType"] = rest.get("mimeType") or mime_of(written["file"]) or "application/octet-stream"
        contents = {} if data is None else Shape().contents("", rest["mimeType"], data).items[0]
        held = None if data is None else {key: contents[key] for key in ("text", "blob") if key in contents}
    return None if held is None else _fixed({"type": "resource", "resource": rest}, site, below="resource", held=held)


def _has(written: Fields, kind: str, keys: Sequence[str], site: Site) -> bool:
    if written.keys() & set(keys):
        return True
    site.report("missing-key", f"{kind} needs {'one of ' if keys[1:] else ''}{', '.join(map(repr, keys))}.")
    return False


def _base64(written: Fields, site: Site) -> str | None:
    word = "blob" if "blob" in written else "data"
    try:
        base64.b64decode(written[word], validate=True)
    except (ValueError, binascii.Error):
        site.report("bad-base64", f"{word} is not base64.", word)
        return None
    return str(written[word])


def _binary(kind: Literal["image", "audio"], written: Any, site: Site) -> Binding | None:
    if isinstance(written, str):
        written = {"file": written}
    if (SOURCES | {"text"}) & written.keys():
        return _inline(kind, written, site)
    if not _has(written, kind, ("file", "data", "blob", "text", *sorted(SOURCES)), site):
        return None
    if "file" not in written:
        base = _base64(written, site)
        if "mimeType" not in written:
            site.report("unknown-mime", f"What kind of {kind} is it?", hint=f"Add mimeType: {kind}/….")
            return None
        return None if base is None else _fixed({"type": kind, "data": base, "mimeType": written["mimeType"]}, site)
    data = _loaded(written["file"], site)
    mime = written.get("mimeType") or mime_of(written["file"])
    if data is None:
        return None
    if mime is None or not mime.startswith(f"{kind}/"):
        hint = f"Write {kind}: {{file: {written['file']}, mimeType: {kind}/…}}."
        site.report("unknown-mime", f"{written['file']} does not look like {kind}.", hint=hint)
        return None
    # spec: server/prompts#image-content
    # spec: server/prompts#audio-content
    return _fixed({"type": kind, "data": base64.b64encode(data).decode("ascii"), "mimeType": mime}, site)


def _inline(kind: Literal["image", "audio", "resource"], written: Fields, site: Site) -> Binding | None:
    bound = site.bind({key: value for key, value in written.items() if key in SOURCES or key == "text"})
    uri = site.template(written["uri"], "uri") if "uri" in written else None
    mime = written.get("mimeType")
    if kind != "resource" and mime is None:
        site.report("unknown-mime", f"What kind of {kind} is it?", hint=f"Add mimeType: {kind}/….")
        return None
    if bound is None or ("uri" in written and uri is None):
        return None
    return Inline(kind, bound, uri, mime or "text/plain", joined(bound, uri), bound.pure)


def _loaded(name: str, site: Site, *place: str | int) -> bytes | None:
    path = named(name, site, *place)
    if path is None:
        return None
    site.depend(path)
    outcome = read(path, IMAGES_TO, site.root)
    if isinstance(outcome, Value):
        return bytes(outcome.data)
    if isinstance(outcome, Failure):
        site.report("file-too-large", f"{name} is larger than {IMAGES_TO} bytes.", *place)
    else:
        site.report("file-not-found", f"{name} cannot be read.", *place)
    return None


def _fixed(block: Fields, site: Site, *, below: str = "", held: Fields | None = None) -> Fixed | None:
    tree = site.tree(block[below] if below else {k: v for k, v in block.items() if k not in {"type", "data"}})
    if tree is None:
        return None
    whole = site.templates.tree(_raw(block))
    return Fixed(whole, tree.reads, held=held or MappingProxyType({}))


def _raw(block: Fields) -> Fields:
    """The block as it is; base64 holds no braces, so it is no template."""
    return dict(block)


def _whole(block: Fields) -> bool:
    """Whether a block still has what its type needs after absent parts fell away."""
    # spec: server/prompts#embedded-resources: URI and text or blob
    needs = {"resource_link": ("uri", "name"), "resource": ("resource",), "image": ("data",), "audio": ("data",)}
    inner: Fields = block["resource"] if block["type"] == "resource" and "resource" in block else block
    good = all(key in block for key in needs.get(block["type"], ()))
    return good and (block["type"] != "resource" or ("uri" in inner and ("text" in inner or "blob" in inner)))
