"""Raw answers, judged."""

from __future__ import annotations

from typing import Any

from mcpdecl.catalogue import digest
from mcpdecl.protocol.answers import Accepted, Declined, Malformed, corrected, judge

FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}


def test_a_form_that_depends_on_the_call_is_compiled_from_what_was_shown() -> None:
    good = {"action": "accept", "content": {"n": 1}}
    assert judge(FORM, good) == Accepted({"n": 1}, good)
    verdict = judge(FORM, {"action": "accept", "content": {"n": "x"}})
    assert isinstance(verdict, Malformed)
    assert verdict.wrong.startswith("n: ")


def test_only_what_counts_is_kept_of_an_answer() -> None:
    raw: Any = {"action": "accept", "content": {"n": 1, "junk": 5}, "_meta": {"junk": "x" * 100}}
    verdict = judge(FORM, raw)
    assert isinstance(verdict, Accepted)
    assert verdict.raw == {"action": "accept", "content": {"n": 1}}
    assert judge(FORM, {"action": "cancel", "content": 5}) == Declined("cancel", {"action": "cancel"})


def test_a_correction_stands_below_the_message() -> None:
    assert corrected(FORM, "n: no")["params"]["message"] == "Who?\n\nn: no"
    assert corrected(FORM, "") is FORM
    assert corrected({"method": "roots/list"}, "x") == {"method": "roots/list"}


def test_digests_ignore_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [None]}) == digest({"b": [None], "a": 1})
    assert digest({"a": 1}) != digest({"a": 1.5})
