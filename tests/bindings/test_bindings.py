"""Tests of mcpdecl.bindings: the one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mcpdecl.manifest
from mcpdecl import bindings
from tests.bindings.site import Faults, site

FORMAT = Path(mcpdecl.manifest.__file__).parent / "format.schema.json"


def test_nothing_says_how_it_runs() -> None:
    faults = Faults()
    assert bindings.bind({"description": "x"}, site(Path(), faults)) is None
    assert faults.codes == ["no-binding"]


def test_a_thing_runs_through_exactly_one_binding() -> None:
    faults = Faults()
    assert bindings.bind({"text": "x", "command": ["true"]}, site(Path(), faults)) is None
    assert faults.codes == ["two-bindings"]


@pytest.mark.parametrize("kind", sorted(bindings.KINDS))
def test_every_kind_is_a_key_of_the_format(kind: str) -> None:
    assert f'"{kind}"' in json.dumps(json.loads(FORMAT.read_text()))
