"""What an author is told of two catalogues."""

from __future__ import annotations

from typing import Any

from mcpdecl.catalogue import Entry, Handler, ResourceTemplate
from mcpdecl.reloader.comparison import lost, summary
from mcpdecl.uris import parse
from tests.reloader.standins import catalogue, tool


def folder(*names: str) -> ResourceTemplate:
    """As much of a served folder as a comparison sees."""
    unused: Any = None
    entries = tuple(Entry(name, f"docs://{name}", name.encode()) for name in names)
    return ResourceTemplate("docs", parse("docs://{+path}"), b"{}", Handler(unused), {}, None, unused, entries=entries)


def test_only_what_went_is_lost() -> None:
    assert lost(catalogue(tool("a"), tool("b")), catalogue(tool("a")))
    assert not lost(catalogue(tool("a")), catalogue(tool("a", "other"), tool("b")))


def test_a_summary_names_what_came_went_and_changed() -> None:
    before = catalogue(tool("old"), tool("same"), tool("changed", "1"))
    after = catalogue(tool("new"), tool("same"), tool("changed", "2"))
    assert summary(before, after) == "~changed +new -old"


def test_a_summary_of_nothing_says_so() -> None:
    assert summary(catalogue(tool("a")), catalogue(tool("a"))) == "nothing that is listed"


def test_a_summary_is_cut() -> None:
    after = catalogue(*(tool(f"t{n:03}") for n in range(200)))
    assert summary(catalogue(), after, limit=2) == "+t000 +t001 and 198 more"


def test_files_of_a_folder_come_and_go_too() -> None:
    before, after = catalogue(folder("a.md", "b.md")), catalogue(folder("a.md", "c.md"))
    assert lost(before, after) and not lost(before, before)
    assert summary(before, after) == "-b.md +c.md"
