"""The judge of messages judges: what the official examples show is valid, what is misspelt or retired is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests import validity
from tests.validity import check

EXAMPLES = {
    "CallToolResultResponse": "tools/call",
    "CompleteResultResponse": "completion/complete",
    "DiscoverResultResponse": "server/discover",
    "GetPromptResultResponse": "prompts/get",
    "ListPromptsResultResponse": "prompts/list",
    "ListResourceTemplatesResultResponse": "resources/templates/list",
    "ListResourcesResultResponse": "resources/list",
    "ListToolsResultResponse": "tools/list",
}  # the example of resources/read lacks the caching hints that the schema requires


def result(**body: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": body}


def error(code: int, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "No.", **more}}


@pytest.mark.parametrize("folder", sorted(EXAMPLES))
def test_the_official_results_are_valid(shared: Path, folder: str) -> None:
    found = list((shared / "spec").rglob(f"{folder}/*.json"))
    assert found
    for path in found:
        check(path.read_bytes(), EXAMPLES[folder])


def test_the_official_notifications_are_valid(shared: Path) -> None:
    for path in (shared / "spec").rglob("*Notification/*.json"):
        if (data := json.loads(path.read_bytes()))["method"] != "notifications/cancelled":
            check(data)


@pytest.mark.parametrize(
    "message",
    [
        result(resultType="complete", content=[{"type": "text", "text": "a", "mimetype": "x"}]),
        result(content=[]),
        result(resultType="complete", content=[{"type": "text"}]),
        error(-32002),
        error(-32022),
        error(-32021, data={"requiredCapabilities": ["sampling"]}),
        error(-31000),
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/nonsense"},
        {"jsonrpc": "1.0", "id": 1, "result": {}},
        b'{"jsonrpc": "2.0", "id": 1, "id": 2, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": [], "structuredContent": NaN}}',
    ],
)
def test_what_is_not_valid_is_refused(message: Any) -> None:
    with pytest.raises((AssertionError, ValidationError, KeyError)):
        check(message, "tools/call")


@pytest.mark.parametrize(
    "message",
    [
        result(resultType="complete", content=[{"type": "text", "text": "a"}]),
        result(resultType="input_required", requestState="x", inputRequests={}),
        error(-32602, data={"uri": "a:b"}),
        error(-32021, data={"requiredCapabilities": {"sampling": {}}}),
        error(-32022, data={"supported": [validity.REVISION], "requested": "x"}),
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "No."}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "a", "progress": 1}},
    ],
)
def test_what_is_valid_passes(message: Any) -> None:
    check(message, "tools/call")
