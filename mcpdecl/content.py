"""Values → content: blocks of a tool result, messages of a prompt, contents of a resource.

Knows: the wire form of content blocks, and how text, bytes, JSON data and author's objects become them. Does not know:
where a value came from, nor which request it answers.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import math
import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

import msgspec

from mcpdecl.templates import ABSENT, Scope, Template

Block: TypeAlias = Mapping[str, Any]

_REQUIRED = {
    "text": {"text"},
    "image": {"data", "mimeType"},
    "audio": {"data", "mimeType"},
    "resource": {"resource"},
    "resource_link": {"uri", "name"},
}
BLOCK_TYPES = frozenset(_REQUIRED)
TEXT_APPLICATIONS = frozenset(
    {"json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-javascript", "sql", "x-sh", "graphql", "x-ndjson"}
)


class ContentFault(Exception):
    """A value that cannot be content: no JSON form, or not the JSON that was promised. Told as an internal error."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Blocks:
    """Content of a tool result. ``structured`` is its structuredContent, ABSENT without."""

    items: tuple[Block, ...]
    error: bool = False
    structured: Any = ABSENT


@dataclass(frozen=True, slots=True)
class Messages:
    """``PromptMessage`` objects (spec: server/prompts#promptmessage)."""

    items: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """``TextResourceContents`` and ``BlobResourceContents`` of one read."""

    items: tuple[Mapping[str, Any], ...]


def text_block(text: str, **more: Any) -> Block:
    """A text block."""
    return {"type": "text", "text": text, **more}


def binary_block(data: bytes, mime: str, *, uri: str = "data:", **more: Any) -> Block:
    """Bytes as an image or audio block by media type, else as an embedded resource."""
    # spec: server/prompts#image-content: base64, and a media type
    # spec: server/prompts#audio-content
    # spec: server/prompts#embedded-resources: URI, media type and base64
    kind = mime.partition("/")[0]
    encoded = base64.b64encode(data).decode("ascii")
    if kind in {"image", "audio"}:
        return {"type": kind, "data": encoded, "mimeType": mime, **more}
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "blob": encoded}, **more}


def is_text_mime(mime: str | None) -> bool:
    """Whether a media type is sent as text. Unknown is not."""
    if mime is None:
        return False
    essence = mime.partition(";")[0].strip().lower()
    kind, _, subtype = essence.partition("/")
    return kind == "text" or (
        kind == "application" and (subtype in TEXT_APPLICATIONS or subtype.endswith(("+json", "+xml", "+yaml")))
    )


@dataclass(frozen=True, slots=True)
class Shape:
    """How output becomes content: ``as_`` is auto, text, json, jsonl, lines or a media type.

    ``text`` renders the text block over the value as ``result``.
    """

    as_: str = "auto"
    text: Template | None = None

    def plain(self, data: Any, mime: str | None) -> Any:
        """The value for templates and completion: text without its last newline, JSON decoded, lines as a list.

        Raises ContentFault where JSON was promised and is not there.
        """
        if data is ABSENT:
            return ABSENT
        if isinstance(data, Blocks | Messages | Contents):
            return plain_of(data)
        match self.as_:
            case "json":
                return _decoded(data)
            case "jsonl":
                lines = _lines(data)
                return [_decoded(x) for x in lines if x.strip()] if isinstance(data, str | bytes) else lines
            case "lines":
                return _lines(data)
        if isinstance(data, bytes):
            return _text(data).removesuffix("\n")
        if isinstance(data, str):
            return data.removesuffix("\n")
        return jsonable(data)

    def blocks(self, data: Any, mime: str | None, scope: Scope) -> Blocks:
        """The content of a tool result. Raises ContentFault for what cannot be sent."""
        made = self._unworded(data, mime)
        if self.text is None:
            return made
        value = self.plain(data, mime) if made.structured is ABSENT else made.structured
        text = self.text.text(ChainMap({"result": value}, scope))  # type: ignore[arg-type]
        return Blocks((text_block(text),), made.error, made.structured)

    def contents(self, uri: str, mime: str | None, data: Any) -> Contents:
        """The contents of a resource: text as text, what does not decode as blob."""
        if isinstance(data, Contents):
            return data
        if isinstance(data, Blocks):
            return Contents(tuple(_content_of(uri, mime, block) for block in data.items))
        if found := _author_contents(data):
            return Contents(found)
        binary = "/" in self.as_ and not is_text_mime(self.as_)
        if isinstance(data, bytes):
            return Contents((_bytes_content(uri, mime or (self.as_ if "/" in self.as_ else None), data, binary),))
        if not isinstance(data, str):
            data = _json_text(jsonable(data))
            mime = mime or "application/json"
        return Contents(({"uri": uri, "mimeType": mime or "text/plain", "text": _sound(data)},))

    def _unworded(self, data: Any, mime: str | None) -> Blocks:
        if isinstance(data, Blocks):
            return data
        if isinstance(data, Contents):
            return Blocks(tuple({"type": "resource", "resource": item} for item in data.items))
        if self.as_ in {"json", "jsonl", "lines"}:
            return _structured(self.plain(data, mime))
        if "/" in self.as_:
            return Blocks((_as_mime(data, self.as_),))
        if self.as_ == "text":
            return Blocks((text_block(_text(data) if isinstance(data, str | bytes) else _json_text(jsonable(data))),))
        return _auto(data, mime)


def jsonable(value: Any) -> Any:
    """An author's value as JSON data. Raises ContentFault for what has no JSON form.

    Dates and times become text as in ISO 8601, an enumeration its value, dataclasses and models objects.
    """
    try:
        return _jsonable(value)
    except RecursionError:
        raise ContentFault("the value is nested too deeply, or holds itself") from None


def _jsonable(value: Any) -> Any:
    if isinstance(value, Enum):
        return _jsonable(value.value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _sound(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ContentFault(f"{value} has no JSON form")
        return float(value)
    if isinstance(value, Mapping):
        return {_key(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, type):
        raise ContentFault(f"the class {value.__name__} has no JSON form; is a pair of parentheses missing?")
    if dataclasses.is_dataclass(value):
        return {f.name: _jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):
        return _jsonable(dump(mode="json", by_alias=True, exclude_none=_is_of_protocol(value)))
    raise ContentFault(f"a {type(value).__name__} has no JSON form")


def _is_of_protocol(value: Any) -> bool:
    # An optional member of the protocol is left out, never null; an author's null stays null.
    return type(value).__module__.partition(".")[0] in {"mcp", "mcp_types"}


def plain_of(data: Blocks | Messages | Contents) -> Any:
    """The text of content, for templates."""
    items: list[Any] = list(data.items)
    texts = [i.get("text") or i.get("content", {}).get("text") for i in items]
    return "\n".join(t for t in texts if isinstance(t, str))


def _auto(data: Any, mime: str | None) -> Blocks:
    if data is None or data is ABSENT:
        return Blocks(())
    if isinstance(data, str):
        return Blocks((text_block(_sound(data)),))
    if isinstance(data, bytes):
        return Blocks((_as_bytes(data, mime),))
    if blocks := _author_blocks(data):
        return Blocks(blocks)
    if _is_of_protocol(data) and hasattr(data, "content"):
        return _author_result(jsonable(data))
    return _structured(jsonable(data))


def _author_result(result: Mapping[str, Any]) -> Blocks:
    """A whole ``CallToolResult``."""
    return Blocks(tuple(result["content"]), bool(result.get("isError")), result.get("structuredContent", ABSENT))


def _author_blocks(data: Any) -> tuple[Block, ...] | None:
    """Content objects: one, or a list of them with perhaps text between; None for any other data."""
    many = list(data) if isinstance(data, list | tuple) else [data]
    blocks = [text_block(_sound(item)) if isinstance(item, str) else _author_block(item) for item in many]
    if all(isinstance(item, str) for item in many):
        return None
    found = tuple(b for b in blocks if b is not None)
    return found if len(found) == len(many) else None


def _author_block(item: Any) -> Block | None:
    kind = item.get("type") if isinstance(item, Mapping) else getattr(item, "type", None)
    if not isinstance(kind, str) or kind not in BLOCK_TYPES:
        return None
    block = jsonable(item)
    return block if isinstance(block, Mapping) and _REQUIRED[kind] <= block.keys() else None


def _author_contents(data: Any) -> tuple[Mapping[str, Any], ...] | None:
    """``TextResourceContents`` and ``BlobResourceContents`` of the protocol's own types: one, or a list of them."""
    many = list(data) if isinstance(data, list | tuple) else [data]
    fit = bool(many) and all(_is_of_protocol(i) and (hasattr(i, "text") or hasattr(i, "blob")) for i in many)
    found = [jsonable(item) for item in many] if fit else []
    return tuple(found) if found and all("uri" in item for item in found) else None


def _structured(value: Any) -> Blocks:
    # spec: server/tools#structured-content: also return the serialized JSON in a TextContent block
    return Blocks((text_block(_json_text(value)),), structured=value)


def _as_mime(data: Any, mime: str) -> Block:
    if isinstance(data, str):
        data = data.encode()
    if not isinstance(data, bytes):
        raise ContentFault(f"{mime} was promised and a {type(data).__name__} came")
    return text_block(_text(data)) if is_text_mime(mime) else binary_block(data, mime)


def _as_bytes(data: bytes, mime: str | None) -> Block:
    if mime is not None and not is_text_mime(mime):
        return binary_block(data, mime)
    try:
        return text_block(data.decode("utf-8"))
    except UnicodeDecodeError:
        return binary_block(data, mime or "application/octet-stream")


def _bytes_content(uri: str, mime: str | None, data: bytes, binary: bool) -> Mapping[str, Any]:
    # spec: server/resources#security-considerations: binary data is base64
    if not binary and mime is not None and is_text_mime(mime):
        return {"uri": uri, "mimeType": mime, "text": _decoded_as(mime, data)}
    if not binary and mime is None and b"\0" not in data:
        try:
            return {"uri": uri, "mimeType": "text/plain", "text": data.decode("utf-8-sig")}
        except UnicodeDecodeError:
            pass  # no text, then
    encoded = base64.b64encode(data).decode("ascii")
    return {"uri": uri, "mimeType": mime or "application/octet-stream", "blob": encoded}


def _decoded_as(mime: str, data: bytes) -> str:
    """Text in the charset that its media type names (else UTF-8); what does not decode is marked, never dropped."""
    named = re.search(r";\s*charset=\"?([\w.:-]+)", mime, re.IGNORECASE)
    try:
        return data.decode(named[1] if named else "utf-8-sig", "replace")
    except LookupError:
        return data.decode("utf-8-sig", "replace")


def _content_of(uri: str, mime: str | None, block: Block) -> Mapping[str, Any]:
    if block["type"] == "text":
        return {"uri": uri, "mimeType": mime or "text/plain", "text": block["text"]}
    if block["type"] == "resource":
        inner: Mapping[str, Any] = block["resource"]
        return inner
    if block["type"] in {"image", "audio"}:
        return {"uri": uri, "mimeType": block["mimeType"], "blob": block["data"]}
    raise ContentFault("a link cannot be the content of a resource")


def _decoded(data: Any) -> Any:
    if not isinstance(data, str | bytes):
        return jsonable(data)
    try:
        return jsonable(msgspec.json.decode(data.encode() if isinstance(data, str) else data))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ContentFault(f"the output is not JSON: {error}") from None


def _lines(data: Any) -> Any:
    if not isinstance(data, str | bytes):
        return jsonable(data)
    # Only line feeds end a line: other separators of Unicode may stand inside one.
    text = _text(data).removesuffix("\n")
    return [line.removesuffix("\r") for line in text.split("\n")] if text else []


def _text(data: str | bytes) -> str:
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else _sound(data)


# spec: server/tools#security-considerations: what leaves is sound text and JSON
def _sound(text: str) -> str:
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ContentFault("the text holds a lone surrogate, which UTF-8 cannot carry") from None
    return text


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ContentFault(f"a JSON key is text, not a {type(key).__name__}")
    return _sound(key)


def _json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
