"""What HTTP headers repeat of the body must agree with it.

Knows: the mirrored headers, their encoding, and how values compare. Does not know: HTTP, or what a request does.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from mcpdecl.diagnostics import Refused, escape
from mcpdecl.protocol.plans import Request
from mcpdecl.schema import HeaderParameter

# spec: basic/transports/streamable-http#standard-request-headers
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PREFIX, _SUFFIX = "=?base64?", "?="
_NUMBER = re.compile(r"-?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?", re.ASCII)


def check_version(headers: Mapping[str, str], version: str) -> None:
    """``MCP-Protocol-Version`` must be there and say what ``_meta`` says."""
    # spec: basic/transports/streamable-http#protocol-version-header
    _must_equal("MCP-Protocol-Version", _required(headers, "MCP-Protocol-Version"), version)


def check_request(headers: Mapping[str, str], request: Request) -> None:
    """``Mcp-Method`` must be there and equal the method, ``Mcp-Name`` the name or URI where the method has one."""
    # spec: basic/transports/streamable-http#server-validation
    # spec: basic/transports/streamable-http#standard-request-headers
    _must_equal("Mcp-Method", _required(headers, "Mcp-Method"), request.method)
    field = NAMED.get(request.method)
    if field is None:
        return
    value = request.params.get(field)
    if isinstance(value, str):
        _must_equal("Mcp-Name", decoded("Mcp-Name", _required(headers, "Mcp-Name")), value)
    elif "mcp-name" in headers:
        raise Refused("header-mismatch", f"Header mismatch: Mcp-Name is there and the body has no params.{field}.")


def check_parameters(
    parameters: Sequence[HeaderParameter], headers: Mapping[str, str], arguments: Mapping[str, Any]
) -> None:
    """Each ``Mcp-Param-…`` that the tool declares must agree with the argument, and be there exactly if it is."""
    for parameter in parameters:
        name = f"Mcp-Param-{parameter.header}"
        value = _at(arguments, parameter.path)
        # spec: basic/transports/streamable-http#case-sensitivity: names in lower case on both sides
        sent = headers.get(name.lower())
        # spec: basic/transports/streamable-http#server-behavior-for-custom-headers: null counts as absent
        if value is None and sent is None:
            continue
        if value is None:
            raise Refused("header-mismatch", f"Header mismatch: {name} is there and the body has no such argument.")
        if sent is None:
            raise Refused("header-mismatch", f"Header mismatch: {name} is missing and the body has the argument.")
        if not _agrees(parameter, decoded(name, sent.strip(" \t")), value):
            raise Refused("header-mismatch", f"Header mismatch: {name} differs from the argument in the body.")


def decoded(name: str, value: str) -> str:
    """Take a header value out of its base64 form; half a sentinel is literal text."""
    # spec: basic/transports/streamable-http#value-encoding
    # spec: basic/transports/streamable-http#server-behavior-for-custom-headers: characters that no header may hold
    if any(not (0x20 <= ord(c) < 0x7F or c == "\t") for c in value):
        raise Refused("header-mismatch", f"Header mismatch: {name} holds characters that no header may hold.")
    if len(value) < len(_PREFIX + _SUFFIX) or not (value.startswith(_PREFIX) and value.endswith(_SUFFIX)):
        return value
    try:
        raw = base64.b64decode(encoded := value[len(_PREFIX) : -len(_SUFFIX)], validate=True)
        text = raw.decode()
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        raise _undecodable(name) from error
    # Python overlooks stray bits in the last character; another reader of this header might not.
    if base64.b64encode(raw).decode() != encoded:
        raise _undecodable(name)
    return text


def _undecodable(name: str) -> Refused:
    return Refused("header-mismatch", f"Header mismatch: {name} is not valid base64 of UTF-8.")


def _required(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name.lower())
    if value is None:
        raise Refused("header-mismatch", f"Header mismatch: {name} is missing.")
    return value.strip(" \t")


def _must_equal(name: str, sent: str, body: str) -> None:
    # spec: basic/transports/streamable-http#case-sensitivity: values as they are
    if sent != body:
        shown, wanted = escape(sent, 100), escape(body, 100)
        raise Refused("header-mismatch", f"Header mismatch: {name} is '{shown}' and the body says '{wanted}'.")


def _at(arguments: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(arguments, Mapping):
            return None
        arguments = arguments.get(key)
    return arguments


def _agrees(parameter: HeaderParameter, sent: str, value: Any) -> bool:
    if isinstance(value, bool):
        return sent == ("true" if value else "false")
    if isinstance(value, str):
        return sent == value
    if isinstance(value, int | float):
        number = _number(sent)
        return number is not None and number == _number(repr(value))
    # The schema refuses lists and objects here; that tells the caller more than a header mismatch would.
    return True


def _number(text: str) -> Decimal | None:
    # spec: basic/transports/streamable-http#server-validation: integers compare as numbers
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
