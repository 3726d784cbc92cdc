"""Tests of mcpdecl.catalogue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.catalogue import (
    Call,
    Catalogue,
    Changes,
    Entry,
    Handler,
    Listing,
    Outcome,
    Prompt,
    Resource,
    ResourceTemplate,
    Settings,
    Tool,
    Value,
    diff,
)
from mcpdecl.content import Shape
from mcpdecl.schema import compile_schema
from mcpdecl.templates import Reads, Scope
from mcpdecl.uris import parse

NAMES = st.lists(st.text("abcdef.-_09", min_size=1, max_size=6), unique=True, max_size=40)


@dataclass(frozen=True, slots=True)
class Says:
    """A binding that always says the same."""

    text: str
    reads: Reads = frozenset()
    pure: bool = True

    def render(self, scope: Scope) -> Outcome:
        return Value(self.text)

    async def run(self, scope: Scope, call: Call) -> Outcome:
        return Value(self.text)


def tool(name: str, description: str = "", text: str = "") -> Tool:
    wire = msgspec.json.encode({"name": name, "description": description, "inputSchema": {"type": "object"}})
    return Tool(name, wire, Handler(Says(text), digest=text), compile_schema({"type": "object"}), None, Shape())


def resource(name: str, text: str) -> Resource:
    wire = msgspec.json.encode({"name": name, "uri": f"x://{name}"})
    return Resource(name, f"x://{name}", wire, Handler(Says(text), digest=text), None, Shape())


def prompt(name: str, description: str) -> Prompt:
    wire = msgspec.json.encode({"name": name, "description": description})
    return Prompt(name, wire, Handler(Says(name)), {})


def catalogue(*items: Any) -> Catalogue:
    return Catalogue.of(Settings({"name": "t", "version": "0"}), items, revision="r", root=Path())


def test_lists_are_ordered_by_name_whatever_the_order_of_files() -> None:
    made = catalogue(tool("b"), tool("a"), tool("c"))
    assert made.lists["tools"].names == ("a", "b", "c")
    assert [t["name"] for t in msgspec.json.decode(made.lists["tools"].first)] == ["a", "b", "c"]


def test_a_catalogue_does_not_differ_from_itself() -> None:
    made = catalogue(tool("a"), resource("r", "1"), prompt("p", "x"))
    assert not diff(made, made)


@given(NAMES)
def test_diff_of_equal_catalogues_is_empty(names: list[str]) -> None:
    items = [tool(n) for n in names] + [resource(n, n) for n in names]
    assert not diff(catalogue(*items), catalogue(*reversed(items)))


def test_diff_names_what_came_went_and_changed() -> None:
    old = catalogue(tool("same"), tool("gone"), tool("told", "before"))
    new = catalogue(tool("same"), tool("new"), tool("told", "after"))
    assert diff(old, new) == Changes(tools=frozenset({"gone", "new", "told"}))


def test_a_binding_that_changed_is_no_change_of_a_list() -> None:
    assert not diff(catalogue(tool("a", text="one")), catalogue(tool("a", text="two")))


def test_a_resource_whose_content_changed_is_updated_not_relisted() -> None:
    old, new = catalogue(resource("r", "1")), catalogue(resource("r", "2"))
    assert diff(old, new) == Changes(updated=frozenset({"x://r"}))


def test_a_new_resource_is_listed_not_updated() -> None:
    assert diff(catalogue(), catalogue(resource("r", "1"))) == Changes(resources=frozenset({"r"}))


def folder(name: str, *paths: str, uri: str = "", text: str = "") -> ResourceTemplate:
    template = parse(uri or f"{name}://{{+path}}")
    made = [(path, template.expand({template.variables[0]: path})) for path in paths]
    entries = tuple(Entry(path, uri, msgspec.json.encode({"name": path, "uri": uri})) for path, uri in made)
    wire = msgspec.json.encode({"name": name, "uriTemplate": template.source})
    return ResourceTemplate(name, template, wire, Handler(Says(text), digest=text), {}, None, Shape(), entries=entries)


def listed(made: Catalogue) -> list[str]:
    return [entry["uri"] for entry in msgspec.json.decode(made.lists["resources"].first)]


def test_files_of_folders_are_listed_with_the_others_by_name() -> None:
    made = catalogue(folder("g", "a.md", "c.md"), resource("b", "1"), folder("f", "a.md", "a"), resource("a", "1"))
    assert listed(made) == ["x://a", "f://a", "f://a.md", "g://a.md", "x://b", "g://c.md"]


def test_a_uri_is_listed_once_by_what_serves_it() -> None:
    fixed = resource("a", "1")
    deep, flat = folder("z", "a", "b", "c/d", uri="x://{+path}"), folder("f", "b", "e", uri="x://{path}")
    assert listed(catalogue(deep, flat, fixed)) == ["x://a", "x://b", "x://c/d", "x://e"]
    # whatever "f" has, it is asked for all that its template matches
    assert listed(catalogue(deep, folder("f", uri="x://{path}"))) == ["x://c/d"]


def test_pages_of_equal_names_lose_nothing() -> None:
    listing = catalogue(folder("f", "a", "b"), folder("g", "a", "b"), folder("h", "a", "b")).lists["resources"]
    seen: list[str] = []
    page, after = listing.page(None, 1)
    while after is not None:
        seen += [entry["uri"] for entry in msgspec.json.decode(page)]
        page, after = listing.page(after, 1)
    seen += [entry["uri"] for entry in msgspec.json.decode(page)]
    assert seen == ["f://a", "g://a", "h://a", "f://b", "g://b", "h://b"]


def test_a_file_that_came_or_went_is_a_change_of_the_list() -> None:
    old, new = catalogue(folder("f", "a", "b")), catalogue(folder("f", "a", "c"))
    assert len(diff(old, new).resources) == 2 and not diff(old, new).updated


def test_files_of_a_folder_that_is_another_are_updated() -> None:
    old, new = catalogue(folder("f", "a", "b", text="1")), catalogue(folder("f", "a", "c", text="2"))
    assert diff(old, new).updated == {"f://a"}


def test_changes_add_up() -> None:
    both = Changes(tools=frozenset("a")) | Changes(tools=frozenset("b"), updated=frozenset({"x://r"}))
    assert both == Changes(tools=frozenset("ab"), updated=frozenset({"x://r"}))
    assert both
    assert not Changes()


@given(NAMES, st.integers(1, 7))
def test_pages_put_together_are_the_list(names: list[str], size: int) -> None:
    listing = Listing.of({n: msgspec.json.encode(n) for n in names}, page=size)
    seen: list[str] = []
    after: str | None = None
    for _ in range(len(names) + 1):
        page, after = listing.page(after, size)
        seen += msgspec.json.decode(page)
        if after is None:
            break
    assert seen == sorted(names)


def test_a_cursor_whose_name_is_gone_goes_on_behind_it() -> None:
    listing = Listing.of({n: msgspec.json.encode(n) for n in ("a", "c", "d")})
    assert msgspec.json.decode(listing.page("b", 2)[0]) == ["c", "d"]


def test_items_are_frozen() -> None:
    made = tool("a")
    assert replace(made, name="b").name == "b"
    try:
        made.name = "c"  # type: ignore[misc]
    except AttributeError:
        return
    raise AssertionError("a tool could be changed")


def test_a_catalogue_in_words() -> None:
    assert catalogue(tool("a"), tool("b"), prompt("p", "x")).summary == "2 tools, 1 prompt, 0 resources"
