from __future__ import annotations

from pathlib import Path

from mcpdecl.manifest.format import description
from mcpdecl.manifest.reference import text


def test_the_reference_is_what_is_written_from_the_format() -> None:
    kept = (Path(__file__).parents[2] / "docs" / "manifest.md").read_text(encoding="utf-8")
    assert kept == text(), "write it anew: python -m mcpdecl.manifest.reference > docs/manifest.md"


def test_every_definition_has_its_section_and_every_link_leads_to_one() -> None:
    written = text()
    titles = {line[3:].lower().replace(" ", "-") for line in written.splitlines() if line.startswith("## ")}
    links = {part.split(")")[0] for part in written.split("](#")[1:]}
    assert links <= titles
    assert len(titles) == len(description()["$defs"]) + 2
