"""Which names a template reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpdecl.templates import TemplateFault, Templates


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("{{ a.b['c'].d }}", "a.b.c.d"),
        ("{{ a[b].c }}", "a b"),
        ("{{ a[0].c }}", "a"),
        ("{{ a.upper() }} {{ b.c.split(d) }}", "a b.c d"),
        ("{{ range(a) }} {{ dict(x=b) }}", "a b"),
        ("{{ range }}", "range"),
        ("{% for x in xs %}{{ x.y }}{{ loop.index }}{{ z }}{% endfor %}{{ x }}", "xs z x"),
        ("{% for x in x %}{{ x }}{% else %}{{ x }}{% endfor %}", "x"),
        ("{% for a, (b, c) in xs if a > d %}{{ a }}{{ b }}{{ c }}{% endfor %}", "xs d"),
        ("{% set a = b.c %}{{ a }}", "b.c"),
        ("{{ a }}{% set a = 1 %}", "a"),
        ("{% if c %}{% set a = 1 %}{% endif %}{{ a }}", "c a"),
        ("{% if c %}{% set a = 1 %}{% else %}{% set a = 2 %}{% endif %}{{ a }}", "c"),
        ("{% if c %}{% set a = 1 %}{% elif d %}{% set a = 2 %}{% else %}{% set a = 3 %}{% endif %}{{ a }}", "c d"),
        ("{% set a %}{{ b }}{% endset %}{{ a }}", "b"),
        ("{% macro m(p, q=d) %}{{ p }}{{ q }}{{ r }}{{ varargs }}{{ caller() }}{% endmacro %}{{ m(a) }}", "d r a"),
        ("{% macro m() %}{% endmacro %}{% call(x) m() %}{{ x }}{{ y }}{% endcall %}", "y"),
        ("{% with a = b %}{{ a }}{% endwith %}{{ a }}", "b a"),
        ("{% set ns = namespace(x=a) %}{% set ns.x = b %}{{ ns.x }}", "a b"),
        ("{% block q %}{{ a }}{{ self.q() }}{{ super() }}{% endblock %}", "a"),
        ("{% filter upper %}{{ a }}{% endfilter %}", "a"),
        ("{{ 'x' if a else b }} {{ c is divisibleby d }} {{ e | default(f) }}", "a b c d e f"),
        ("{% raw %}{{ a }}{% endraw %}{# {{ b }} #}", ""),
    ],
)
def test_free_names(source: str, names: str) -> None:
    assert {".".join(p) for p in Templates(None).template(source).reads} == set(names.split())


def write(folder: Path, **files: str) -> Templates:
    for name, text in files.items():
        (folder / f"{name}.j2").write_text(text, "utf-8")
    return Templates(folder)


def test_what_is_included_counts(tmp_path: Path) -> None:
    templates = write(
        tmp_path,
        page="{% extends 'frame.j2' %}{% block body %}{{ a }}{% endblock %}",
        frame="{{ title }}{% block body %}{% endblock %}{% include 'foot.j2' %}",
        foot="{{ n }}{{ item }}",
        list="{% for item in items %}{% include 'foot.j2' %}{% endfor %}",
        tools="{% macro hi(x) %}{{ x }}{{ hidden }}{% endmacro %}",
        user="{% import 'tools.j2' as t %}{% from 'tools.j2' import hi as hello %}{{ t.hi(b) }}{{ hello(c) }}",
        knowing="{% import 'tools.j2' as t with context %}{{ t.hi(b) }}",
    )
    assert templates.file("page.j2").reads == {("a",), ("title",), ("n",), ("item",)}
    assert templates.file("list.j2").reads == {("items",), ("n",)}
    assert templates.file("user.j2").reads == {("b",), ("c",)}
    assert templates.file("knowing.j2").reads == {("b",), ("hidden",)}
    assert templates.files_of("page.j2") == {tmp_path / f"{n}.j2" for n in ("page", "frame", "foot")}


@pytest.mark.parametrize(
    "source", ["{% include x %}", "{% include ['a', x] %}", "{% extends x %}", "{% import x as y %}"]
)
def test_the_name_of_a_file_is_never_computed(tmp_path: Path, source: str) -> None:
    with pytest.raises(TemplateFault) as fault:
        Templates(tmp_path).template(source)
    assert "literal name" in fault.value.message
