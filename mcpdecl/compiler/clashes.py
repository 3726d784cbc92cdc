"""What only shows when all items are seen together: two that cannot both be served, a reference that leads nowhere.

Knows: which names and URIs must be unique. Does not know: how an item was compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mcpdecl.catalogue import Resource, ResourceTemplate
from mcpdecl.compiler.names import nearest
from mcpdecl.compiler.written import Written
from mcpdecl.diagnostics import Diagnostic
from mcpdecl.manifest.declarations import Declaration

Entry = tuple[Declaration, Written, Any]  # the item is None where it is not served or was faulty


def clashes(entries: list[Entry]) -> list[Diagnostic]:
    """All clashes of one folder."""
    return [*_names(entries), *_uris(entries), *_references(entries)]


def _names(entries: Iterable[Entry]) -> Iterator[Diagnostic]:
    """Two declarations of one kind with one name. One that is not enabled makes room for another."""
    # spec: server/tools#tool-names: unique, and case counts
    first: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        declaration, written, item = entry
        if item is None and "enabled" in declaration.fields:
            continue
        for name in {declaration.name, getattr(item, "name", declaration.name)}:
            key = (declaration.kind, name)
            if key in first and first[key] is not entry:
                yield Diagnostic(
                    "duplicate-name",
                    f"The {declaration.kind} {name!r} is declared twice.",
                    written.key(),
                    "Rename one of them.",
                    (("first declared here", first[key][1].key()),),
                )
                break
            first[key] = entry


def _uris(entries: Iterable[Entry]) -> Iterator[Diagnostic]:
    first: dict[str, Written] = {}
    for _, written, item in entries:
        if isinstance(item, Resource | ResourceTemplate):
            word = "uri" if isinstance(item, Resource) else "uriTemplate"
            uri = item.uri if isinstance(item, Resource) else item.template.source
            if uri in first:
                related = ("first used here", first[uri].span(word))
                message = f"Two resources have the URI {uri}."
                yield Diagnostic("duplicate-uri", message, written.span(word), "Change one of them.", (related,))
            first.setdefault(uri, written)


def _references(entries: list[Entry]) -> Iterator[Diagnostic]:
    """``resource: URI`` blocks that name a resource which is not ours."""
    resources = [item for _, _, item in entries if isinstance(item, Resource)]
    templates = [item for _, _, item in entries if isinstance(item, ResourceTemplate)]
    broken = any(d.kind == "resource" and item is None for d, _, item in entries)
    known = {resource.uri for resource in resources}
    for _, written, item in entries:
        for path, uri in _named(written.fields) if item is not None and not broken else ():
            if uri not in known and not any(template.template.match(uri) is not None for template in templates):
                message = f"No resource here has the URI {uri}."
                yield Diagnostic("unknown-reference", message, written.span(*path), nearest(uri, known))


def _named(fields: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for index, block in enumerate(fields.get("content") or ()):
        yield from _block(block, ("content", index))
    for index, message in enumerate(fields.get("messages") or ()):
        for role in ("user", "assistant"):
            if isinstance(message.get(role), dict):
                yield from _block(message[role], ("messages", index, role))


def _block(block: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    uri = block.get("resource")
    if isinstance(uri, str) and "{{" not in uri and "{%" not in uri:
        yield (*path, "resource"), uri
