"""What every request must carry, and what is no request at all."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.protocol import Cancel, Ignore, Reply
from tests.protocol.standins import META, Client, catalogue, fault, sent

CLIENT = Client(catalogue())


def refused(body: Any, client: Client = CLIENT) -> dict[str, Any]:
    plan = client.plan(body)
    assert isinstance(plan, Reply)
    return {**sent(plan), "status": plan.status}


@pytest.mark.parametrize(
    "body",
    [
        [],
        [CLIENT.body("tools/list"), CLIENT.body("tools/list")],
        "text",
        5,
        None,
        {},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
    ],
)
def test_H10_batches_responses_and_other_json_are_no_requests(body: Any) -> None:
    error = refused(body)
    assert (error["error"]["code"], error["status"]) == (-32600, 400)
    assert "id" not in error


@pytest.mark.parametrize("id", [None, 1.5, True, {"a": 1}, [], "x" * 257, 10**30])
def test_H09_an_id_that_is_none_is_not_echoed(id: Any) -> None:
    error = refused({**CLIENT.body("server/discover"), "id": id})
    assert (error["error"]["code"], error["status"]) == (-32600, 400)
    assert "id" not in error


@pytest.mark.parametrize("id", [0, -5, 2**53, "", "x" * 256, "0"])
def test_good_ids_come_back_as_they_were(id: Any) -> None:
    answer = sent(CLIENT.settle(CLIENT.plan({**CLIENT.body("server/discover"), "id": id})))
    assert answer["id"] == id
    assert type(answer["id"]) is type(id)


@pytest.mark.parametrize(
    "change",
    [{"jsonrpc": "1.0"}, {"jsonrpc": None}, {"method": 5}, {"method": None}],
)
def test_the_id_is_echoed_whenever_it_could_be_read(change: dict[str, Any]) -> None:
    error = refused({**CLIENT.body("server/discover"), **change})
    assert (error["error"]["code"], error["id"]) == (-32600, 1)
    assert refused({"jsonrpc": "2.0", "id": "a"})["id"] == "a"


@pytest.mark.parametrize("params", [None, [], "x", 5])
def test_params_must_be_an_object(params: Any) -> None:
    error = refused({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})
    assert (error["error"]["code"], error["status"]) == (-32602, 400)


@pytest.mark.parametrize(
    ("meta", "names"),
    [
        (None, "_meta"),
        ({}, "protocolVersion"),
        ({META + "protocolVersion": "2026-07-28"}, "clientCapabilities"),
        ({META + "clientCapabilities": {}}, "protocolVersion"),
        ({META + "protocolVersion": 5, META + "clientCapabilities": {}}, "protocolVersion"),
        ({META + "protocolVersion": "2026-07-28", META + "clientCapabilities": []}, "clientCapabilities"),
    ],
)
def test_a_request_without_its_envelope_is_malformed(meta: Any, names: str) -> None:
    error = refused({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}})
    assert (error["error"]["code"], error["status"], error["id"]) == (-32602, 400, 1)
    assert names in error["error"]["message"]


def test_D09_a_request_of_an_older_client_lacks_its_envelope() -> None:
    assert refused({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["error"]["code"] == -32602


@pytest.mark.parametrize(
    "meta",
    [
        {META + "logLevel": "loud"},
        {META + "logLevel": 3},
        {META + "logLevel": ["info"]},
        {META + "clientInfo": "me"},
        {"progressToken": 1.5},
        {"progressToken": True},
        {"progressToken": {}},
        {"progressToken": "x" * 300},
        {META + "clientCapabilities": {"elicitation": True}},
        {META + "clientCapabilities": {"sampling": []}},
    ],
)
def test_wrong_types_in_meta_are_refused(meta: dict[str, Any]) -> None:
    error = refused(CLIENT.body("server/discover", **meta))
    assert (error["error"]["code"], error["status"]) == (-32602, 400)


def test_what_meta_says_reaches_the_request() -> None:
    told = {META + "logLevel": "info", META + "clientInfo": {"name": "c", "version": "1"}, "progressToken": 0, "x": 1}
    plan = CLIENT.plan(CLIENT.body("tools/nothing", {"a": 1}, **told))
    assert isinstance(plan, Reply)
    assert plan.request is not None
    assert plan.request.log_level == "info"
    assert plan.request.client == {"name": "c", "version": "1"}
    assert plan.request.progress_token == 0
    assert plan.request.params == {"a": 1}


def test_a_null_capability_is_none() -> None:
    plan = Client(catalogue(), {"elicitation": None, "roots": {}}).plan(
        Client(catalogue(), {"elicitation": None, "roots": {}}).body("x")
    )
    assert isinstance(plan, Reply)
    assert plan.request is not None
    assert plan.request.capabilities == {"roots": {}}


def test_an_unsupported_version_names_what_is_supported() -> None:
    error = refused(CLIENT.body("server/discover", None, **{META + "protocolVersion": "v999.0.0"}))
    assert (error["error"]["code"], error["status"]) == (-32022, 400)
    assert error["error"]["data"] == {"supported": ["2026-07-28"], "requested": "v999.0.0"}


def test_D09_a_legacy_initialize_learns_which_versions_are_spoken() -> None:
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    error = refused(body)
    assert (error["error"]["code"], error["status"], error["id"]) == (-32022, 400, 0)
    assert error["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert "2026-07-28" in error["error"]["message"]


@pytest.mark.parametrize("params", [{}, {"protocolVersion": 5}, {"protocolVersion": "2026-07-28"}])
def test_D09_an_initialize_without_a_usable_version_is_told_too(params: dict[str, Any]) -> None:
    error = refused({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert error["error"]["code"] == -32602
    assert "2026-07-28" in error["error"]["message"]


def test_H10_notifications_are_accepted_and_ignored() -> None:
    for method in ("notifications/initialized", "notifications/x", "tools/list"):
        assert CLIENT.plan({"jsonrpc": "2.0", "method": method}) == Ignore(202)


def test_H10_a_notification_that_is_none_is_refused() -> None:
    assert refused({"jsonrpc": "2.0", "method": 5})["error"]["code"] == -32600


def cancelled(params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def test_a_cancellation_counts_on_stdio_alone() -> None:
    body = cancelled({"requestId": 4, "reason": "enough"})
    assert CLIENT.plan(body) == Cancel(4, "enough")
    assert CLIENT.plan(body, {}) == Ignore(202)


@pytest.mark.parametrize("params", [None, [], {}, {"requestId": None}, {"requestId": 1.5}])
def test_a_cancellation_of_nothing_is_ignored(params: Any) -> None:
    assert CLIENT.plan(cancelled(params)) == Ignore(202)


def test_a_cancellation_with_a_strange_reason_still_cancels() -> None:
    assert CLIENT.plan(cancelled({"requestId": "a", "reason": 5})) == Cancel("a")


def test_fault_is_what_a_reply_holds() -> None:
    plan = CLIENT.plan(b"{")
    assert isinstance(plan, Reply)
    assert fault(plan).code == -32700
