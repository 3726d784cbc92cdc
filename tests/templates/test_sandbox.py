"""No way out, and a bound on everything. Each bomb here would take minutes or gigabytes if it went off."""

from __future__ import annotations

from typing import Any

import pytest

from mcpdecl.templates import RenderFault, TemplateFault, Templates

SCOPE: dict[str, Any] = {"x": "x" * 100_000, "mb": "x" * 1_000_000, "s": "%s", "one": 1, "list": [1], "text": "t"}

BOMBS = [
    "{{ 'x' * 10 ** 9 }}",
    "{{ 10 ** 9 * 'x' }}",
    "{{ mb * 2 }}",
    "{{ mb + mb }}",
    "{{ mb ~ mb }}",
    "{{ [1] * 10 ** 9 }}",
    "{{ (1,) * 10 ** 9 }}",
    "{{ 10 ** (10 ** 8) }}",
    "{{ 9 ** (9 ** (9 ** 9)) }}",
    "{{ 'x' | center(10 ** 9) }}",
    "{{ 'x' | center(1000000000) }}",
    "{{ 'x'.center(10 ** 9) }}",
    "{{ 'x'.ljust(10 ** 9) }}",
    "{{ 'x'.rjust(1000000000) }}",
    "{{ '1'.zfill(10 ** 9) }}",
    "{{ '\t'.expandtabs(10 ** 9) }}",
    "{{ '\t'.expandtabs(tabsize=1000000000) }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '%.1000000000f' % 1.0 }}",
    "{{ '%*d' % (1000000000, 1) }}",
    "{{ '%1000000000d' | format(1) }}",
    "{{ (s * 1000) % (mb,) }}",
    "{{ '{:1000000000d}'.format(1) }}",
    "{{ '{0:{1}}'.format(1, 1000000000) }}",
    "{{ '{:1000000000}'.format_map({}) }}",
    "{{ ('{0}' * 1000).format(mb) }}",
    "{{ x | replace('x', x) }}",
    "{{ x.replace('x', x) }}",
    "{{ x.replace('', x) }}",
    "{{ mb.join(['a'] * 1000) }}",
    "{{ (['a'] * 1000) | join(mb) }}",
    "{{ 'a' | indent(10 ** 9) }}",
    "{{ 'a' | indent(width=1000000000, first=true) }}",
    "{{ list | batch(10 ** 9, 1) | list }}",
    "{{ list | slice(10 ** 9) | list }}",
    "{{ 1.5 | round(10 ** 9, 'ceil') }}",
    "{{ mb | wordwrap(1, wrapstring=x) }}",
    "{{ {'a': 1} | tojson(indent=10 ** 9) }}",
    "{{ range(10 ** 9) | list }}",
    "{{ range(10 ** 9) }}",
    "{{ mb | urlize }}",
    "{{ mb | striptags }}",
    "{{ mb }}{{ mb }}",
    "{{ mb }}{{ mb ~ '' }}",
    "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{{ mb }}{% endfor %}",
    "{% set a %}{% for i in range(100000) %}{{ mb }}{% endfor %}{% endset %}{{ a | length }}",
    "{% set a %}{% for i in range(100000) %}" + "literal " * 100 + "{% endfor %}{% endset %}",
    "{% filter upper %}{% for i in range(100000) %}{{ x }}{% endfor %}{% endfilter %}",
    "{% macro f(n) %}{{ f(n - 1) }}{% endmacro %}{{ f(1) }}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
    "{% set a = [1] * 1000 %}{% set b = [a] * 1000 %}{% set c = [b] * 1000 %}{{ c }}",
    "{% set a = [1] * 1000 %}{% set b = [a] * 1000 %}{% set c = [b] * 1000 %}{{ c | tojson | length }}",
    "{{ [[1] * 1000] * 1000 | sum(start=[]) }}",
    "{{ range(100000) | map('center', 9999) | list | length }}",
    "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
]


@pytest.mark.parametrize("source", BOMBS)
def test_bombs_are_refused(source: str) -> None:
    with pytest.raises(RenderFault):
        Templates(None).template(source).text(SCOPE)
    with pytest.raises(RenderFault):
        Templates(None).template(source).item(SCOPE)


WAYS_OUT = [
    "{{ ''.__class__ }}",
    "{{ ''['__class__'] }}",
    "{{ '' | attr('__class__') }}",
    "{{ ['']|map(attribute='__class__')|list }}",
    "{{ '{0.__class__}'.format(text) }}",
    "{{ '{0[__class__]}'.format(text) }}",
    "{{ '{x.__class__}'.format_map({'x': text}) }}",
    "{{ '{!r}'.format(text) }}",
    "{{ range.__class__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ cycler.__init__.__globals__ }}",
    "{% for i in list %}{{ loop.__class__ }}{% endfor %}",
    "{% macro m() %}{% endmacro %}{{ m._environment }}",
    "{{ namespace(a=1).__class__ }}",
    "{{ list.append(1) }}",
    "{{ list.sort() }}",
    "{{ text.encode() }}",
    "{{ lipsum() }}",
    "{{ text.format.__self__ }}",
    "{{ joiner }}",
]


@pytest.mark.parametrize("source", WAYS_OUT)
def test_ways_out_are_shut(source: str) -> None:
    with pytest.raises((RenderFault, TemplateFault)):
        Templates(None).template(source).text(SCOPE)
    assert SCOPE["list"] == [1]


def test_a_key_may_begin_with_an_underscore() -> None:
    assert Templates(None).template("{{ a._meta }}{{ a['_meta'] ~ '' }}").text({"a": {"_meta": 1}}) == "11"


def test_ordinary_work_stays_within_the_bounds() -> None:
    source = "{% for row in rows %}{{ row.n }}: {{ row.s | upper | truncate(20) }}\n{% endfor %}"
    rows = [{"n": i, "s": "word " * 10} for i in range(5_000)]
    assert len(Templates(None).template(source).text({"rows": rows}).splitlines()) == 5_000
