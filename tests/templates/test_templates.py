"""Templates, expressions and trees as bindings use them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpdecl.templates import ABSENT, RenderFault, TemplateFault, Templates

SCOPE: dict[str, Any] = {
    "word": "fix",
    "n": 3,
    "big": 1e21,
    "yes": True,
    "no": False,
    "null": None,
    "tags": ["a", "b"],
    "point": {"x": 1, "items": "key"},
    "gone": ABSENT,
    "answers": MappingProxyType({"confirm": {"date": "today"}, "other": ABSENT}),
}


def text(source: str, **more: Any) -> str:
    return Templates(None).template(source).text({**SCOPE, **more})


def item(source: str, **more: Any) -> Any:
    return Templates(None).template(source).item({**SCOPE, **more})


def value(source: str, **more: Any) -> Any:
    return Templates(None).expression(source).value({**SCOPE, **more})


def reads(source: str) -> set[str]:
    return {".".join(path) for path in Templates(None).template(source).reads}


# --- text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain { text } %}", "plain { text } %}"),
        ("{{ word }}", "fix"),
        ("{{word}}-{{ n }}", "fix-3"),
        ("{{ big }} {{ yes }} {{ null }} {{ tags }}", '1e21 true null ["a","b"]'),
        ("{{ point.x }}{{ point['x'] }}", "11"),
        ("{{ point.items }}", "key"),
        ("{{ point['items'] }}", "key"),
        ("{{ answers.confirm.date }}", "today"),
        ("{{ true }} {{ none }} {{ 1.0 }} {{ {'a': none} }}", 'true null 1.0 {"a":null}'),
        ("{% for t in tags %}{{ loop.index }}{{ t }}{{ ',' if not loop.last }}{% endfor %}", "1a,2b"),
        ("{% for k, v in point | items %}{{ k }}={{ v }};{% endfor %}", "x=1;items=key;"),
        ("{% for k in point %}{{ k }} {% endfor %}", "x items "),
        ("{{ tags | map('upper') | join('+') }}", "A+B"),
        ("{{ [yes, null, 1.5] | join(' ') }}", "true null 1.5"),
        ("{{ tags | map('upper') }}", '["A","B"]'),
        ("{{ 'n=' ~ n ~ yes ~ gone }}", "n=3true"),
        ("{{ yes | string }}", "true"),
        ("{{ '<a & b>' | tojson }}", '"<a & b>"'),
        ("{{ {'a': 1} | tojson(indent=2) }}", '{\n  "a": 1\n}'),
        ("{{ word.upper() }} {{ '%03d' % n }} {{ '{:>4}|{}'.format(n, yes) }}", "FIX 003    3|true"),
        ("{{ tags | sum(start=0) if no else [1, 2] | sum }}", "3"),
        ("{% set ns = namespace(a=0) %}{% for i in range(4) %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}", "6"),
        ("{% macro m(a, b='z') %}<{{ a }}{{ b }}>{% endmacro %}{{ m(word) }}", "<fixz>"),
        ("a\n  {% if yes %}\n  b\n  {% endif %}\nc\n", "a\n  b\nc\n"),
        ("{# nothing #}", ""),
        ("{{ '<b>' }}", "<b>"),
    ],
)
def test_text(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    "source", ["{{ gone }}", "{{ gone.x.y }}", "{{ gone | upper }}", "{{ gone + 1 }}", "{{ 'x' if no }}"]
)
def test_what_is_absent_prints_nothing_and_makes_the_item_absent(source: str) -> None:
    assert text(source) == ""
    assert item(source) is ABSENT
    assert text(f"[{source}]") == "[]"
    assert item(f"[{source}]") is ABSENT


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ gone | default('d') }}", "d"),
        ("{{ point.y | default('d') }}", "d"),
        ("{{ answers.other.date | d('none') }}", "none"),
        ("{% if gone %}y{% else %}n{% endif %}", "n"),
        ("{% if gone is defined or gone is none or gone is string %}y{% else %}n{% endif %}", "n"),
        ("{% if gone is undefined and point.y is undefined %}y{% endif %}", "y"),
        ("{% if gone > 3 or 3 < gone or gone == '' or 'a' in gone %}y{% else %}n{% endif %}", "n"),
        ("{% for t in gone %}x{% else %}empty{% endfor %}", "empty"),
        ("{% for t in gone.inner | sort %}x{% endfor %}.", "."),
    ],
)
def test_what_is_absent_is_false_in_tests(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ n }}", 3),
        ("{{ tags }}", ["a", "b"]),
        ("{{ point }}", {"x": 1, "items": "key"}),
        ("{{ null }}", None),
        ("{{ n + 1 }}", 4),
        ("{{ tags | map('upper') }}", ["A", "B"]),
        ("{{ (1, gone, 2) }}", [1, 2]),
        ("{{ {'a': gone, 'b': 1} }}", {"b": 1}),
        ("{{ n }}!", "3!"),
        ("{{ n }}{# as text? no #}", 3),
        ("{% if yes %}{{ n }}{% endif %}", "3"),
    ],
)
def test_a_template_that_is_one_expression_keeps_its_type(source: str, expected: Any) -> None:
    assert item(source) == expected and type(item(source)) is type(expected)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("{{ point.y }}", "'y'"),
        ("{{ point.y | upper }}", "'y'"),
        ("{{ point.x.z }}", "'z'"),
        ("{{ tags[7] }}", "7"),
        ("{{ word.nope() }}", "'nope'"),
        ("{{ unknown }}", "unknown"),
        ("{{ unknown | upper }}", "unknown"),
        ("{{ point.keys() }}", ".keys reads a key"),
        ("{{ word.upper }}", "'upper'"),
        ("{{ word.upper ~ '' }}", "parentheses"),
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{{ 1e308 * 10 }}", "no JSON"),
        ("{{ word + 1 }}", "TypeError"),
        ("{{ sum }}", "sum"),
    ],
)
def test_R05_a_wrong_name_is_a_fault(source: str, told: str) -> None:
    with pytest.raises(RenderFault) as fault:
        text(source)
    assert told in fault.value.message


@pytest.mark.parametrize(
    "sent", ["{{ 7 * 7 }}", "{% endraw %}{{ ''.__class__.__mro__ }}", "{% include 'x' %}", "{#", "}}"]
)
def test_R06_text_of_a_caller_is_data(sent: str) -> None:
    assert text("Q: {{ q }}", q=sent) == f"Q: {sent}"
    assert text("{% raw %}{{ x }}{% endraw %}{{ q ~ '' }}", q=sent) == "{{ x }}" + sent
    assert item("{{ q }}", q=sent) == sent
    assert value("q | upper | lower", q="{{ n }}") == "{{ n }}"


@given(st.text())
def test_a_template_without_syntax_is_its_own_text(source: str) -> None:
    plain = source.replace("{", "(")
    template = Templates(None).template(plain)
    assert template.literal == plain == template.text({}) == template.item({})
    assert template.reads == frozenset()


@given(st.text(st.sampled_from("ab{}% #\n.'|")))
def test_any_text_is_a_template_or_a_fault_inside_it(source: str) -> None:
    try:
        template = Templates(None).template(source)
    except TemplateFault as fault:
        assert 0 <= fault.line <= source.count("\n") and fault.column >= 0
        return
    try:
        assert isinstance(template.text({"a": "x", "b": {"a": 1}}), str)
    except RenderFault as late:
        assert late.message


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("{{ a b }}", 0, 5),
        ("x\ny {{ a | nope }}", 1, 9),
        ("{% if x %}", 0, 3),
        ("a\n\n{{ }", 2, 0),
        ("{% nope %}", 0, 3),
    ],
)
def test_a_fault_has_a_place(source: str, line: int, column: int) -> None:
    with pytest.raises(TemplateFault) as fault:
        Templates(None).template(source)
    assert fault.value.line == line
    assert abs(fault.value.column - column) <= 4


def test_both_ways_of_rendering_agree() -> None:
    """Templates that only print names do without Jinja; they must not differ from the others."""
    for name in ("word", "n", "big", "yes", "null", "tags", "point.x", "answers.confirm.date", "gone", "gone.x"):
        quick, slow = f"<{{{{ {name} }}}}>", f"<{{{{ ({name}) }}}}>"
        assert text(quick) == text(slow)
        assert item(quick) == item(slow)
        assert item(quick[1:-1]) == item(slow[1:-1])
        assert reads(quick) == reads(slow)


# --- what it reads ------------------------------------------------------------------------------------------------


def test_reads_are_dotted_and_free() -> None:
    assert reads("{{ answers.confirm.date }} {{ answers['other'] }} {{ n }}") == {
        "answers.confirm.date",
        "answers.other",
        "n",
    }


# --- expressions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "holds"),
    [
        ("lost", True),
        ("gone", False),
        ("answers.confirm.date == 'today'", True),
        ("not gone", True),
        ("n > 2 and word in ['fix', 'feat']", True),
        ("answers.other is defined", False),
        ("gone or 0", False),
        ("true", True),
        (" n ", True),
    ],
)
def test_expressions(source: str, holds: bool) -> None:
    assert Templates(None).expression(source).test({**SCOPE, "lost": "x"}) is holds


def test_an_expression_keeps_its_value() -> None:
    assert value("tags | map('upper')") == ["A", "B"]
    assert value("gone.x") is ABSENT
    found = Templates(None).expression("answers.confirm.date and lost")
    assert found.reads == {("answers", "confirm", "date"), ("lost",)}
    assert found.source == "answers.confirm.date and lost"


@pytest.mark.parametrize(
    ("source", "told"),
    [("{{ n }}", "braces"), ("a b", "'b'"), ("", "expected"), ("a ==", "expected"), ("a | nope", "nope")],
)
def test_what_is_no_expression(source: str, told: str) -> None:
    with pytest.raises(TemplateFault) as fault:
        Templates(None).expression(source)
    assert told in fault.value.message.lower()


# --- trees ---------------------------------------------------------------------------------------------------------


def test_a_tree_keeps_its_shape_and_loses_what_is_absent() -> None:
    tree = Templates(None).tree(
        {"a": "{{ n }}", "b": ["{{ gone }}", "k", 1], "c": "{{ gone }}!", "d": {"e": "{{ gone.x }}"}}
    )
    assert tree.value(SCOPE) == {"a": 3, "b": ["k", 1], "d": {}}
    assert tree.reads == {("n",), ("gone",), ("gone", "x")}
    assert tree.constant is ABSENT


def test_a_tree_without_templates_is_constant() -> None:
    data = {"a": [1, None, "b"], "c": {}}
    tree = Templates(None).tree(data)
    assert tree.constant == data == tree.value({})
    assert Templates(None).tree("{{ gone }}").value(SCOPE) is ABSENT
    assert Templates(None).tree(None).constant is None


def test_a_fault_in_a_tree_has_a_path() -> None:
    with pytest.raises(TemplateFault) as fault:
        Templates(None).tree({"a": [{"b": "{{ x y }}"}]})
    assert fault.value.path == ("a", 0, "b")


# --- files ---------------------------------------------------------------------------------------------------------


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.j2").write_bytes("\ufeffé {{ word }}{% include 'sub/b.j2' %}".encode())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.j2").write_text("[{{ n }}]", "utf-8")
    templates = Templates(tmp_path)
    template = templates.file("a.j2")
    assert template.text(SCOPE) == "é fix[3]"
    assert template.reads == {("word",), ("n",)}
    assert templates.files_of("a.j2") == {tmp_path / "a.j2", tmp_path / "sub" / "b.j2"}
    assert templates.template("{% include 'sub/b.j2' %}").text(SCOPE) == "[3]"


def test_a_file_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.j2").write_text("{% include 'b.j2' %}", "utf-8")
    (tmp_path / "b.j2").write_text("old", "utf-8")
    template = Templates(tmp_path).file("a.j2")
    (tmp_path / "b.j2").write_text("new", "utf-8")
    assert template.text({}) == "old"
    (tmp_path / "b.j2").unlink()
    assert template.text({}) == "old"


def test_nothing_heavy_is_imported_for_names() -> None:
    script = (
        "import sys\nfrom mcpdecl.templates import Templates\n"
        "assert Templates(None).template('{{ a }} b').text({'a': 1}) == '1 b'\n"
        "assert Templates(None).expression('a').test({'a': 1})\n"
        "assert 'jinja2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_wording_stays_text_inside_data() -> None:
    tree = Templates(None).tree(
        {"say": "{{ n }}", "keep": "{{ n }}", "in": [{"say": "{{ gone }}{{ n }}"}]}, frozenset({"say"})
    )
    assert tree.value(SCOPE) == {"say": "3", "keep": 3, "in": [{"say": "3"}]}
    assert Templates(None).tree({"say": "{{ gone }}", "keep": "{{ gone }}"}, frozenset({"say"})).value(SCOPE) == {
        "say": ""
    }
