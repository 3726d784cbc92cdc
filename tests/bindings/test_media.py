"""Tests of mcpdecl.bindings.media."""

from __future__ import annotations

import pytest

from mcpdecl.bindings.media import mime_of


@pytest.mark.parametrize(
    ("path", "mime"),
    [
        ("README.md", "text/markdown"),
        ("a/b.json", "application/json"),
        ("logo.PNG", "image/png"),
        ("x.yaml", "application/yaml"),
        ("Makefile", None),
        ("a.b/c", None),
        ("x.unheard-of", None),
    ],
)
def test_the_media_type_that_a_name_suggests(path: str, mime: str | None) -> None:
    assert mime_of(path) == mime
