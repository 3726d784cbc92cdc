"""A listener is acknowledged first, hears only what it asked for, and ends with a result."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.catalogue import Changes
from mcpdecl.protocol import Filter, Listen
from tests.protocol.standins import META, Client, catalogue, fault, sent
from tests.validity import check

ALL = {
    "toolsListChanged": True,
    "promptsListChanged": True,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["a:1", "a:2", "a:1"],
}


def listen(notifications: Any, *, live: bool = True) -> Listen:
    client = Client(catalogue(), live=live)
    plan = client.plan({**client.body("subscriptions/listen", {"notifications": notifications}), "id": "s"})
    assert isinstance(plan, Listen), plan
    check(plan.opening)
    sent(plan.closing)
    return plan


def test_the_acknowledgement_says_what_is_honoured() -> None:
    plan = listen({"toolsListChanged": True, "promptsListChanged": False, "resourceSubscriptions": ["a:1", "no uri"]})
    assert plan.opening["method"] == "notifications/subscriptions/acknowledged"
    assert plan.opening["params"] == {
        "_meta": {META + "subscriptionId": "s"},
        "notifications": {"toolsListChanged": True, "resourceSubscriptions": ["a:1"]},
    }
    assert plan.filter == Filter(tools=True, uris=frozenset({"a:1"}))


def test_N01_a_server_that_announces_nothing_honours_nothing() -> None:
    plan = listen(ALL, live=False)
    assert plan.opening["params"]["notifications"] == {}
    assert plan.filter == Filter()
    assert plan.notices(Changes(tools=frozenset("t"), updated=frozenset({"a:1"}))) == []


def test_what_stays_open_holds_neither_its_message_nor_what_was_served() -> None:
    kept = listen(ALL).request
    assert (kept.id, kept.params, kept.arrival.body, kept.arrival.headers) == ("s", {}, b"", None)
    assert not (kept.catalogue.tools or kept.catalogue.prompts or kept.catalogue.resources or kept.catalogue.templates)
    assert kept.catalogue.settings == catalogue().settings


def test_changes_become_tagged_notifications() -> None:
    changes = Changes(frozenset("t"), frozenset("p"), frozenset("r"), frozenset({"a:2", "a:9"}))
    heard = listen(ALL).notices(changes)
    assert [message["method"] for _, message in heard] == [
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
    ]
    assert heard[-1][1]["params"]["uri"] == "a:2"
    for _, message in heard:
        check(message)
        assert message["params"]["_meta"] == {META + "subscriptionId": "s"}


def test_nothing_is_told_that_was_not_asked_for() -> None:
    plan = listen({"promptsListChanged": True})
    assert plan.notices(Changes(tools=frozenset("t"), resources=frozenset("r"), updated=frozenset({"a:1"}))) == []


def test_N04_notifications_of_one_kind_replace_each_other() -> None:
    plan = listen(ALL)
    first = [key for key, _ in plan.notices(Changes(tools=frozenset("a"), updated=frozenset({"a:1"})))]
    second = [key for key, _ in plan.notices(Changes(tools=frozenset("b"), updated=frozenset({"a:1"})))]
    assert first == second
    assert len(set(first)) == 2


def test_N12_the_closing_result_carries_the_subscription() -> None:
    data = sent(listen(ALL).closing)
    assert data["id"] == "s"
    assert data["result"]["_meta"][META + "subscriptionId"] == "s"


@pytest.mark.parametrize(
    "notifications",
    [
        None,
        [],
        {"toolsListChanged": 1},
        {"toolsListChanged": "yes"},
        {"resourceSubscriptions": "a:b"},
        {"resourceSubscriptions": [5]},
        {"resourceSubscriptions": ["a:" + "b" * 300_000]},
    ],
)
@pytest.mark.parametrize("live", [True, False])
def test_a_filter_of_wrong_types_or_too_long_is_refused(notifications: Any, live: bool) -> None:
    reply = Client(catalogue(), live=live).send("subscriptions/listen", {"notifications": notifications})
    assert (fault(reply).code, reply.status) == (-32602, 400)
