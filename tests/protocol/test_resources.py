"""Reading a resource: fixed URIs, templates, and what does not exist."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpdecl.catalogue import Failure, Missing
from mcpdecl.content import Contents
from mcpdecl.protocol import Reply, plan_read
from tests.protocol.standins import (
    Client,
    argument,
    catalogue,
    fault,
    resource,
    result,
    runs,
    says,
    sent,
    template,
)

SHA = argument("sha", {"type": "string", "pattern": "^[0-9a-f]+$"})
DAY = argument("day", {"type": "integer"})
ITEMS = (
    resource("readme", "repo://readme", says("Hello")),
    template("commit", "repo://commit/{sha}", says("commit {{ sha }}"), SHA),
    template("any", "repo://any/{x}", says("any {{ x }}"), argument("x")),
    template("day", "repo://day/{day}", runs(lambda scope: f"{scope['day']!r}"), DAY),
    template("z", "repo://commit/{y}", says("late {{ y }}"), argument("y")),
)


def read(uri: Any, *items: Any) -> Reply:
    return Client(catalogue(*(items or ITEMS))).send("resources/read", {"uri": uri})


def content(reply: Reply) -> str:
    (only,) = result(reply)["contents"]
    return str(only["text"])


def test_a_fixed_uri_is_read() -> None:
    found = sent(read("repo://readme"))["result"]
    assert found["contents"] == [{"uri": "repo://readme", "mimeType": "text/plain", "text": "Hello"}]
    assert (found["ttlMs"], found["cacheScope"]) == (0, "private")


def test_a_resource_may_be_cached_as_long_as_it_says() -> None:
    # spec: server/utilities/caching
    items = (
        replace(resource("r", "x://r", says("Hello")), ttl_ms=5000),
        replace(template("t", "x://t/{a}", says("{{ a }}"), argument("a")), ttl_ms=7000),
    )
    assert sent(read("x://r", *items))["result"]["ttlMs"] == 5000
    assert sent(read("x://t/1", *items))["result"]["ttlMs"] == 7000


def test_what_was_reached_by_answers_is_never_cacheable() -> None:
    # spec: server/utilities/caching#cache-key
    client = Client(catalogue(replace(resource("r", "x://r", says("Hello")), ttl_ms=5000)))
    reply = client.send("resources/read", {"uri": "x://r", "inputResponses": {}})
    assert sent(reply)["result"]["ttlMs"] == 0


def test_templates_are_tried_by_name_and_values_validated() -> None:
    assert content(read("repo://commit/ab12")) == "commit ab12"
    assert content(read("repo://commit/WRONG")) == "late WRONG"
    assert content(read("repo://day/7")) == "7"


def test_R01_a_value_is_decoded_once() -> None:
    assert content(read("repo://any/v1..v2")) == "any v1..v2"
    assert content(read("repo://any/a%20b")) == "any a b"
    for uri in ("repo://any/..%2F..%2Fetc%2Fpasswd", "repo://any/%2e%2e", "repo://any/a%00b"):
        assert fault(read(uri)).code == -32602


@pytest.mark.parametrize("uri", ["repo://nowhere", "repo://day/x", "", "\x00", "x" * 10_000])
def test_what_does_not_exist_is_named_in_the_error(uri: str) -> None:
    reply = read(uri)
    assert fault(reply).code == -32602
    assert fault(reply).data == {"uri": uri}
    assert len(fault(reply).message) < 300


@pytest.mark.parametrize("uri", [None, 5, [], {}])
def test_a_uri_is_a_string(uri: Any) -> None:
    assert fault(read(uri)).code == -32602


def test_contents_pass_through() -> None:
    made = Contents(({"uri": "a:b", "blob": "AA==", "mimeType": "image/png"},))
    assert result(read("a:b", resource("r", "a:b", runs(made))))["contents"] == list(made.items)


def test_R08_bytes_that_are_no_text_are_a_blob() -> None:
    (only,) = result(read("a:b", resource("r", "a:b", runs(b"\xff\x00"), mime=None)))["contents"]
    assert only["blob"] == "/wA="
    assert only["mimeType"]


def test_failures() -> None:
    reply = read("a:b", resource("r", "a:b", runs(Missing())))
    assert (fault(reply).code, fault(reply).data) == (-32602, {"uri": "a:b"})
    reply = read("a:b", resource("r", "a:b", runs(Failure("It broke.", "i1"))))
    assert (fault(reply).code, fault(reply).data) == (-32603, {"incident": "i1"})


def test_a_call_may_read_what_its_catalogue_serves() -> None:
    from dataclasses import replace

    client = Client(catalogue(*ITEMS))
    plan = client.plan(client.body("resources/list"))
    assert isinstance(plan, Reply)
    assert plan.request is not None
    inner = replace(plan.request, method="resources/read", params={"uri": "repo://readme"})
    assert content(client.settle(plan_read(inner))) == "Hello"
    unknown = plan_read(replace(inner, params={"uri": "repo://x"}))
    assert isinstance(unknown, Reply)
    assert fault(unknown).code == -32602
