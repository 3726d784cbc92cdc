"""requestState: sealed with AES-GCM under the newest of several keys.

Knows: keys, nonces and encodings. Does not know: what is sealed, or for whom.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from mcpdecl.diagnostics import Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

REJECTED = "This requestState is not valid here; start the request again without it."
SHORTEST_KEY = 16
_LABEL = b"mcpdecl/requestState/1"
_NONCE = 12


# spec: basic/index#statelessness: with a key of the operator's any process goes on where another stopped
class Keyring:
    """Seals under the first key, opens under any. Without keys it makes one that lives as long as the process.

    Keys are secrets of at least 16 bytes; ValueError tells of a shorter one.
    """

    def __init__(self, keys: Sequence[bytes] | None = None) -> None:
        given = list(keys or [secrets.token_bytes(32)])
        if any(len(key) < SHORTEST_KEY for key in given):
            raise ValueError(f"A key must have at least {SHORTEST_KEY} bytes.")
        # A label of its own keeps a secret that serves elsewhere too from opening anything there.
        self._keys = [hmac.new(key, _LABEL, hashlib.sha256).digest() for key in given]
        self._ciphers: list[AESGCM] | None = None

    def seal(self, payload: Mapping[str, Any]) -> str:
        """Seal a JSON object into opaque base64url text."""
        # spec: basic/patterns/mrtr#server-requirements-basic-workflow: AEAD
        # spec: client/sampling#security-considerations: what was asked and answered is encrypted on its way
        nonce = secrets.token_bytes(_NONCE)
        plain = msgspec.json.encode(dict(payload))
        return _text(nonce + self._aead()[0].encrypt(nonce, plain, _LABEL))

    def open(self, state: str) -> dict[str, Any]:
        """Open what ``seal`` made. Raises Refused("state-rejected"), with one wording for every reason."""
        # spec: basic/patterns/mrtr#server-requirements-basic-workflow: state that fails verification is rejected
        payload = self._opened(_bytes(state))
        if not isinstance(payload, dict):
            raise Refused("state-rejected", REJECTED)
        return payload

    def _opened(self, sealed: bytes) -> Any:
        # Imported only here: most servers never ask, and the library takes a while to load.
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415

        for cipher in self._aead():
            try:
                return msgspec.json.decode(cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], _LABEL))
            except (InvalidTag, ValueError):
                continue
        return None

    def _aead(self) -> list[AESGCM]:
        if self._ciphers is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

            self._ciphers = [AESGCM(key) for key in self._keys]
        return self._ciphers


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused("state-rejected", REJECTED) from error
    # The last character has spare bits: only one spelling of a state is accepted, so that it is one state.
    if len(data) <= _NONCE or _text(data) != text:
        raise Refused("state-rejected", REJECTED)
    return data
