"""A resource or a resource template: its URI, its arguments, its descriptor, its handler, the files that it lists.

Knows: what server/resources asks of a descriptor. Does not know: how a URI is read, or which files a folder serves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from mcpdecl.bindings.folders import MOST, Folder
from mcpdecl.bindings.media import mime_of
from mcpdecl.catalogue import Argument, Binding, Entry, Handler, Resource, ResourceTemplate
from mcpdecl.compiler.arguments import arguments
from mcpdecl.compiler.descriptors import described, encoded
from mcpdecl.compiler.draft import Draft
from mcpdecl.compiler.handlers import handler, name_everything, shape_of, used
from mcpdecl.compiler.names import nearest
from mcpdecl.compiler.quantities import milliseconds
from mcpdecl.compiler.schemas import EMPTY_INPUT, Text
from mcpdecl.uris import UriTemplate, UriTemplateFault, is_uri, parse


def resource(draft: Draft) -> Resource | ResourceTemplate | None:
    """Compile a resource or a resource template; None if anything is wrong with it."""
    return _template(draft) if "uriTemplate" in draft.fields else _fixed(draft)


def _fixed(draft: Draft) -> Resource | None:
    uri = draft.fields["uri"]
    if not is_uri(uri):
        # spec: server/resources#custom-uri-schemes: a URI as RFC 3986 has it
        hint = "Write a scheme and a path, such as docs://readme; encode blanks as %20."
        draft.report("bad-uri", f"{uri!r} is not a URI.", "uri", hint=hint)
    if "arguments" in draft.fields:
        draft.report.key(
            "bad-value", "A resource with a fixed uri has no arguments.", "arguments", hint="Use uriTemplate."
        )
    name_everything(draft, Text(EMPTY_INPUT, lambda pointer: ()))
    mime = draft.fields.get("mimeType") or mime_of(draft.fields.get("file") or uri)
    shape = shape_of(draft, texts=False)
    ttl_ms = milliseconds(draft.fields, "ttl", draft.report)
    made = handler(draft, shape)
    name = draft.fields.get("name", draft.name)
    wire = encoded(draft, _descriptor(draft, name, {"uri": uri}, mime))
    if made is None or wire is None or draft.faulty:
        return None
    return Resource(name, uri, wire, made, mime, shape, _file(draft, made), ttl_ms)


def _file(draft: Draft, made: Handler) -> Path | None:
    path = getattr(made.binding, "path", None)
    return path if "file" in draft.fields and isinstance(path, Path) else None


def _template(draft: Draft) -> ResourceTemplate | None:
    template = _parsed(draft)
    declared = draft.schema((), "arguments", "arguments", closed=True)
    text = _with_variables(draft, declared, template)
    name_everything(draft, text)
    known = arguments(draft, text)
    mime = draft.fields.get("mimeType") or mime_of(draft.fields.get("file") or "")
    shape = shape_of(draft, texts=False)
    ttl_ms = milliseconds(draft.fields, "ttl", draft.report)
    made = handler(draft, shape)
    name = draft.fields.get("name", draft.name)
    wire = encoded(draft, _descriptor(draft, name, {"uriTemplate": draft.fields["uriTemplate"]}, mime))
    if template is not None and made is not None:
        _unused(draft, template, made)
    entries = _entries(draft, made.binding, known) if made is not None and known is not None else ()
    if template is None or made is None or known is None or wire is None or draft.faulty:
        return None
    known = _completing(known, template.variables, entries)
    return ResourceTemplate(name, template, wire, made, known, mime, shape, ttl_ms, entries)


def folders_of(item: object) -> tuple[Folder, ...]:
    """The folders whose files an item lists."""
    binding = item.handler.binding if isinstance(item, ResourceTemplate) else None
    return (binding,) if isinstance(binding, Folder) else ()


def _entries(draft: Draft, folder: Binding, arguments: Mapping[str, Argument]) -> tuple[Entry, ...]:
    """The files that a folder serves, each as a resource; nothing for other bindings."""
    if not isinstance(folder, Folder) or draft.faulty:
        return ()
    argument = arguments[folder.variable]
    if not argument.text:
        draft.report("folder-variable", "A path is text.", "arguments", folder.variable, hint="Leave out its type.")
        return ()
    found = draft.folder.files.found(folder)
    if found.more:
        message = f"{draft.fields['folder']} holds more than {MOST} files; the others are neither listed nor watched."
        draft.report("folder-too-large", message, "folder", hint="Name what is served with include or exclude.")
    names = [name for name in found.names if not argument.schema.violations(name)]
    return tuple(_entry(draft, name, uri) for name in names if (uri := folder.uri(name)) is not None)


def _entry(draft: Draft, name: str, uri: str) -> Entry:
    """The Resource object of a file. spec: server/resources#resource"""
    mime = draft.fields.get("mimeType") or mime_of(name)
    # What the author says of all files together (title, description, _meta) would be wrong of each one, and with a
    # size every edit of a file would change the list.
    shared = {key: draft.fields[key] for key in ("icons", "annotations") if key in draft.fields}
    kind = {"mimeType": mime} if mime is not None else {}
    return Entry(name, uri, msgspec.json.encode({"name": name, "uri": uri} | kind | shared))


def _completing(
    arguments: Mapping[str, Argument], variables: tuple[str, ...], entries: tuple[Entry, ...]
) -> Mapping[str, Argument]:
    """Offer the paths of files, unless the author offers values."""
    if not entries or arguments[variables[0]].complete is not None or arguments[variables[0]].choices:
        return arguments
    argument = replace(arguments[variables[0]], choices=tuple(entry.name for entry in entries))
    return MappingProxyType({**arguments, argument.name: argument})


def _parsed(draft: Draft) -> UriTemplate | None:
    try:
        # spec: server/resources#custom-uri-schemes
        return parse(draft.fields["uriTemplate"])
    except UriTemplateFault as fault:
        draft.report("bad-uri-template", fault.message, "uriTemplate")
        return None


def _with_variables(draft: Draft, declared: Text | None, template: UriTemplate | None) -> Text:
    """The declared arguments, and the variables of the URI template that are not declared: plain texts."""
    if template is None:
        return declared or _guessed(draft.fields["uriTemplate"])
    properties = declared.properties if declared is not None else {}
    for name in properties.keys() - set(template.variables):
        message = f"The URI template has no variable {name!r}, so nothing can give this argument a value."
        hint = nearest(name, template.variables)
        if declared is not None:
            draft.add(replace(declared.tell("unknown-argument", message, ("properties", name), hint), on_key=True))
    query = re.search(r"\{\?([^{}]*)\}$", template.source)
    optional = set(query[1].split(",")) if query else set()
    required = [name for name in template.variables if name not in optional]
    required += [name for name in sorted(declared.required if declared else ()) if name in optional]
    data = {
        "type": "object",
        "properties": {name: properties.get(name, {"type": "string"}) for name in template.variables} | properties,
        "required": required,
        "additionalProperties": False,
    }
    return Text(data, declared.locate if declared is not None else lambda pointer: ("uriTemplate",))


def _guessed(uri: str) -> Text:
    """What a broken template seems to declare, so that one fault is told and not one for each use of its variables."""
    names = re.findall(r"[A-Za-z_]\w*", " ".join(re.findall(r"\{([^{}]*)", uri)))
    data = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "additionalProperties": False}
    return Text(data, lambda pointer: ("uriTemplate",))


def _unused(draft: Draft, template: UriTemplate, made: Handler) -> None:
    for name in template.variables:
        if not used(made, name):
            message = f"Nothing reads the variable {name!r}: every value of it would give the same resource."
            draft.report("unused-variable", message, "uriTemplate", hint=f"Read {{{{ {name} }}}}, or leave it out.")


def _descriptor(draft: Draft, name: str, uri: dict[str, Any], mime: str | None) -> dict[str, Any]:
    """The Resource or ResourceTemplate object. spec: server/resources#resource"""
    size = {"size": draft.fields["size"]} if "size" in draft.fields else {}
    return described(draft, name, uri | ({"mimeType": mime} if mime is not None else {}) | size)
