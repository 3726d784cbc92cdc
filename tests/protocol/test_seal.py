"""Sealed state opens only whole, and only under a key of the ring."""

from __future__ import annotations

import base64

import pytest

from mcpdecl.diagnostics import Refused
from mcpdecl.protocol.seal import REJECTED, Keyring

OLD, NEW = b"o" * 16, b"n" * 40


def rejected(ring: Keyring, state: str) -> bool:
    with pytest.raises(Refused) as refusal:
        ring.open(state)
    assert (refusal.value.code, refusal.value.message) == ("state-rejected", REJECTED)
    return True


def test_what_is_sealed_opens() -> None:
    ring = Keyring([NEW])
    state = ring.seal({"a": [1, "é", None]})
    assert ring.open(state) == {"a": [1, "é", None]}
    assert state.isascii()
    assert ring.seal({"a": 1}) != ring.seal({"a": 1})


def test_E05_nothing_else_opens() -> None:
    ring = Keyring([NEW])
    state = ring.seal({"approved": False})
    for index in range(len(state)):
        other = "A" if state[index] != "A" else "B"
        assert rejected(ring, state[:index] + other + state[index + 1 :])
    forged = base64.urlsafe_b64encode(b'{"approved":true}').decode()
    for junk in (
        "",
        "x",
        forged,
        state[:-1],
        state[:20],
        state + "-TAMPERED",
        state + "=",
        " " + state,
        "é",
        "A" * 999,
    ):
        assert rejected(ring, junk)


def test_E05_old_keys_open_until_they_leave_the_ring() -> None:
    state = Keyring([OLD]).seal({"a": 1})
    assert Keyring([NEW, OLD]).open(state) == {"a": 1}
    assert rejected(Keyring([NEW]), state)
    assert rejected(Keyring([OLD]), Keyring([NEW, OLD]).seal({"a": 1}))


def test_without_keys_each_process_has_its_own() -> None:
    assert rejected(Keyring(), Keyring().seal({"a": 1}))


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        Keyring([b"short"])
