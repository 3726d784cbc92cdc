"""What a server says about itself: capabilities, versions, the four lists and their pages."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.protocol import Reply
from tests.protocol.standins import Client, catalogue, fault, prompt, resource, runs, says, sent, template, tool

FULL = (
    tool("b", runs("x")),
    tool("a", runs("x")),
    prompt("p", says("x")),
    resource("r", "a:b", says("x")),
    template("t", "a:{x}", says("x")),
)


def discovered(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = sent(client.send("server/discover"))["result"]
    return found


def test_discover_tells_versions_identity_and_instructions() -> None:
    found = discovered(Client(catalogue(*FULL, instructions="Use it.", ttl_ms=7)))
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["instructions"] == "Use it."
    assert (found["ttlMs"], found["cacheScope"]) == (7, "public")
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "stand-in", "version": "1"}


def test_N01_a_live_server_advertises_changes_of_every_kind() -> None:
    for items in (FULL, ()):
        assert discovered(Client(catalogue(*items), live=True))["capabilities"] == {
            "tools": {"listChanged": True},
            "prompts": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "completions": {},
            "logging": {},
        }


def test_N01_a_still_server_advertises_what_it_has() -> None:
    found = discovered(Client(catalogue(*FULL)))["capabilities"]
    assert found == {"tools": {}, "prompts": {}, "resources": {}, "completions": {}, "logging": {}}
    assert discovered(Client(catalogue(FULL[0])))["capabilities"] == {"tools": {}, "logging": {}}
    assert discovered(Client(catalogue()))["capabilities"] == {"logging": {}}


@pytest.mark.parametrize(
    ("method", "kind", "names"),
    [
        ("tools/list", "tools", ["a", "b"]),
        ("prompts/list", "prompts", ["p"]),
        ("resources/list", "resources", ["r"]),
        ("resources/templates/list", "resourceTemplates", ["t"]),
    ],
)
def test_lists_are_ordered_by_name_and_cacheable(method: str, kind: str, names: list[str]) -> None:
    found = sent(Client(catalogue(*FULL, ttl_ms=3)).send(method))["result"]
    assert [entry["name"] for entry in found[kind]] == names
    assert "nextCursor" not in found
    assert (found["ttlMs"], found["cacheScope"]) == (3, "public")


def test_N13_lists_are_private_where_somebody_logs_in() -> None:
    found = sent(Client(catalogue(*FULL), principal="alice").send("tools/list"))["result"]
    assert found["cacheScope"] == "private"


@pytest.mark.parametrize(("live", "said", "ttl"), [(True, None, 1000), (False, None, 60_000), (True, 0, 0)])
def test_N13_lists_are_kept_for_short_where_an_edit_may_change_them(live: bool, said: int | None, ttl: int) -> None:
    client = Client(catalogue(*FULL, ttl_ms=said), live=live)
    assert discovered(client)["ttlMs"] == ttl
    assert sent(client.send("tools/list"))["result"]["ttlMs"] == ttl


def test_pages_follow_each_other() -> None:
    client = Client(catalogue(*(tool(f"t{n:04}", runs("x")) for n in range(2500))))
    seen: list[str] = []
    params: dict[str, Any] = {}
    for _ in range(3):
        found = sent(client.send("tools/list", params))["result"]
        seen += [entry["name"] for entry in found["tools"]]
        params = {"cursor": found.get("nextCursor")}
    assert seen == [f"t{n:04}" for n in range(2500)]
    assert params == {"cursor": None}


def test_a_bad_cursor_is_refused() -> None:
    many = [tool(f"t{n:04}", runs("x")) for n in range(1001)]
    client = Client(catalogue(*many, prompt("p", says("x"))))
    good = sent(client.send("tools/list"))["result"]["nextCursor"]
    cursors: tuple[Any, ...] = ("", "x", "garbage!", "é", 5, [], good + "=", good[:-1], "eA==")
    for cursor in cursors:
        reply = client.send("tools/list", {"cursor": cursor})
        assert (fault(reply).code, reply.status) == (-32602, 400), cursor
    assert fault(client.send("prompts/list", {"cursor": good})).code == -32602


def test_a_cursor_outlasts_the_entry_it_names() -> None:
    before = Client(catalogue(*(tool(f"t{n:04}", runs("x")) for n in range(1001))))
    cursor = sent(before.send("tools/list"))["result"]["nextCursor"]
    after = Client(catalogue(tool("t0998", runs("x")), tool("t1000", runs("x"))))
    reply = after.send("tools/list", {"cursor": cursor})
    assert isinstance(reply, Reply)
    assert [entry["name"] for entry in sent(reply)["result"]["tools"]] == ["t1000"]
