"""docs/protocol.md is true: what it says is met is cited in the code, what is cited is in it, and each row is shown."""

from __future__ import annotations

from collections import Counter
from textwrap import dedent

import pytest

from mcpdecl.schema import dialect
from tests.ledger import HEAD, PAGE, REPOSITORY, TOP, Citation, citations, cited, names_of_tests, pages, rows

TEXT = PAGE.read_text("utf-8")
ROWS = rows(TEXT)


def test_every_citation_is_a_row() -> None:
    assert sorted(cited() - {citation for row in ROWS for citation in row.citations}) == []


def test_every_row_is_cited_where_it_says() -> None:
    assert sorted({citation for row in ROWS for citation in row.citations} - cited()) == []


def test_every_row_is_complete() -> None:
    odd = [
        row
        for row in ROWS
        if row.level not in ("MUST", "SHOULD")
        or not (row.requirement and row.met_by and row.shown_by)
        or not (row.section == TOP or row.section.startswith("#"))
    ]
    assert odd == []


def test_no_row_is_there_twice() -> None:
    said = Counter((row.page, row.section, row.requirement) for row in ROWS)
    assert [key for key, count in said.items() if count > 1] == []
    assert all(len(set(row.met_by)) == len(row.met_by) for row in ROWS)


def test_every_row_is_shown_by_tests_that_exist() -> None:
    missing = []
    for name in sorted({name for row in ROWS for name in row.shown_by}):
        file, _, test = name.partition("::")
        path = REPOSITORY / file
        if not (file.startswith("tests/") and path.is_file() and test in names_of_tests(path)):
            missing.append(name)
    assert missing == []


def test_every_dialect_is_documented() -> None:
    _, _, said = TEXT.partition("\n## Dialects of JSON Schema\n")
    said = said.partition("\n## ")[0]
    assert [name for name in dialect.DIALECTS if f"`{name}`" not in said] == []


# --- how both are read -------------------------------------------------------------------------------------------


def test_what_a_comment_stands_at() -> None:
    source = dedent("""
        # spec: a#one: above a constant
        TABLE = {
            "x": 1,  # spec: a#two
        }
        LIMIT: int = 1  # spec: a/b-c#three

        # spec: a#four
        class Room:
            # spec: a#five
            def door(self):
                def inner():
                    # spec: a#six
                    return 1
                return inner

            key = 1  # spec: a#seven

        # spec: a
        async def outside():
            pass
    """)
    places = ["TABLE", "TABLE", "LIMIT", "Room", "Room.door", "Room.door", "Room.key", "outside"]
    sections = ["#one", "#two", "#three", "#four", "#five", "#six", "#seven", TOP]
    found = list(citations(source, "m.py"))
    assert [c.section for c in found] == sections
    assert [c.place for c in found] == [f"m.py::{place}" for place in places]
    assert found[2] == Citation("a/b-c", "#three", "m.py::LIMIT")


@pytest.mark.parametrize(
    "source",
    [
        "# spec: a#one and more\nX = 1",
        "# spec: A#one\nX = 1",
        "X = 1  # as in spec: a#one",
        "#spec: a#one\nX = 1",
        "X = 1\n# spec: a#one",
        "# spec: a#one\nprint()",
        "class A:\n    x = 1\n    # spec: a#one\n    print()",
    ],
)
def test_a_citation_that_would_be_overlooked_is_a_fault(source: str) -> None:
    with pytest.raises(AssertionError):
        list(citations(source, "m.py"))


def test_how_a_table_is_read() -> None:
    table = f"# L\n\n## a/b\n\nWords.\n\n{HEAD}\n| - | - | - | - | - |\n"
    line = "| MUST | says so | `#one` | `m.py::A`, `m.py::b` | `tests/t.py::test_x` |\n"
    (row,) = rows(table + line + "\n## Not done\n\n| a | b |\n")
    assert (row.page, row.level, row.requirement, row.section) == ("a/b", "MUST", "says so", "#one")
    assert (row.met_by, row.shown_by) == (("m.py::A", "m.py::b"), ("tests/t.py::test_x",))
    for broken in ("| MUST | a | `#one` | `m.py::A` |\n", line.replace("`, `", "` and `")):
        with pytest.raises(AssertionError):
            rows(table + broken)
    with pytest.raises(AssertionError):
        pages(table + table.partition("\n")[2])
