"""Tests of mcpdecl.uris: URI templates there and back, and nothing that leads elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.uris import UriTemplateFault, is_page, is_uri, parse


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("repo://commit/{sha}", "repo://commit/abc", {"sha": "abc"}),
        ("repo://commit/{sha}", "repo://commit/a%20b", {"sha": "a b"}),
        ("repo://{a}/x/{b}", "repo://1/x/2", {"a": "1", "b": "2"}),
        ("docs://{+path}", "docs://guides/start.md", {"path": "guides/start.md"}),
        ("test://template/{id}/data", "test://template/123/data", {"id": "123"}),
        ("x://s{?q,n}", "x://s?n=2&q=a%26b", {"q": "a&b", "n": "2"}),
        ("x://s{?q}", "x://s", {}),
        ("x://{name}", "x://v1..v2", {"name": "v1..v2"}),
    ],
)
def test_matches(template: str, uri: str, values: dict[str, str]) -> None:
    assert parse(template).match(uri) == values


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("repo://commit/{sha}", "repo://commit/"),
        ("repo://commit/{sha}", "repo://commit/a/b"),
        ("repo://commit/{sha}", "repo://other/a"),
        ("x://{a}-{b}", "x://onlyone"),
        ("x://s{?q}", "x://s?other=1"),
        ("x://s{?q}", "x://s?q=1&q=2"),
    ],
)
def test_does_not_match(template: str, uri: str) -> None:
    assert parse(template).match(uri) is None


@pytest.mark.parametrize(
    "uri",
    [
        "docs:///..%2F..%2Fetc%2Fpasswd",
        "docs:///%2e%2e/x",
        "docs:///%2e%2e",
        "docs:///..",
        "docs:///a%00b",
        "docs:///a%2Fb",
        "docs:///a%5Cb",
        "docs:///%ff",
        "docs:///%zz",
    ],
)
def test_R01_a_simple_variable_never_leads_elsewhere(uri: str) -> None:
    assert parse("docs:///{name}").match(uri) is None


def test_R01_decoded_exactly_once() -> None:
    assert parse("docs:///{name}").match("docs:///%252e%252e%252fx") == {"name": "%2e%2e%2fx"}


@pytest.mark.parametrize("path", ["../x", "a/../../x", "a/%2e%2e/b", "%2e%2e%2fx", "a%00", "a/..", "a%5C..%5Cb"])
def test_R01_a_reserved_variable_has_no_way_up(path: str) -> None:
    assert parse("docs://{+path}").match(f"docs://{path}") is None


@pytest.mark.parametrize(
    "template",
    ["{x}", "no scheme/{x}", "a://{x", "a://x}", "a://{}", "a://{a b}", "a://{x*}", "a://{x:3}", "a://{#x}", "a://{/x}",
     "a://{x}{y}", "a://{+x}/{+y}", "a://{x}/{x}", "a://{?a}/b", "a://{1x}"],
)  # fmt: skip
def test_what_cannot_be_matched_without_guessing_is_a_fault(template: str) -> None:
    with pytest.raises(UriTemplateFault) as caught:
        parse(template)
    assert caught.value.message.endswith((".", "://")) or "such as" in caught.value.message


def test_expand() -> None:
    template = parse("x://{a}/{+p}{?q}")
    assert template.expand({"a": "1 /2", "p": "d/é", "q": "&"}) == "x://1%20%2F2/d/%C3%A9?q=%26"
    assert template.expand({"a": "1", "p": "2"}) == "x://1/2"
    assert template.variables == ("a", "p", "q")


def test_a_value_of_a_reserved_variable_always_makes_a_uri() -> None:
    template = parse("docs://{+p}")
    assert template.expand({"p": "12:30 [x]/a:b?#%"}) == "docs://12%3A30%20%5Bx%5D/a%3Ab%3F%23%25"
    assert is_uri(template.expand({"p": "12:30 [x]/a:b?#%"}))


CHARACTERS = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/\\")
SAFE = st.text(CHARACTERS, min_size=1, max_size=20).filter(lambda t: t.strip(".") != "")


@given(SAFE, SAFE, SAFE)
def test_there_and_back(a: str, p: str, q: str) -> None:
    template = parse("x://{a}/mid/{+p}{?q}")
    values = {"a": a, "p": p, "q": q}
    assert template.match(template.expand(values)) == values


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    parse("x://{a}/b/{+c}{?d}").match(text)
    parse("x://{a}/b/{+c}{?d}").match(f"x://{text}")
    is_uri(text)
    try:
        parse(text)
    except UriTemplateFault:
        return


def test_a_long_uri_that_almost_matches_ends() -> None:
    assert parse("x://{a}-{b}-{c}-{d}-{e}!").match("x://" + "a-" * 200_000) is None


@pytest.mark.parametrize(
    "text", ["a:b", "https://a.test/x?y#z", "repo://readme", "file:///a%20b", "urn:x:1", "x://[::1]:80/"]
)
def test_uris(text: str) -> None:
    assert is_uri(text)


@pytest.mark.parametrize(
    "text", ["", "readme", "/a/b", "my readme", "x://a b", "x://a%2", "1x://a", "x://a#b#c", "x://é", "x://[a"]
)
def test_no_uris(text: str) -> None:
    assert not is_uri(text)


@pytest.mark.parametrize("text", ["https://a.test", "http://127.0.0.1:8000/x?y#z", "HTTPS://a.test/", "https://[::1]/"])
def test_pages(text: str) -> None:
    assert is_page(text)


@pytest.mark.parametrize(
    "text",
    ["", "https://", "https:///x", "https:a.test", "javascript:alert(1)", "file:///a", "ftp://a.test/", "x https://a"],
)
def test_no_pages(text: str) -> None:
    assert not is_page(text)
