"""Forms over both transports: every kind of field is shown as written, and answers are judged by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.walks.conftest import Start, ended, project, started
from tests.walks.conversation import YES, accept, asked, call, messages

FORMS = {"elicitation": {}}
FIELDS: dict[str, tuple[str, dict[str, Any], list[Any], list[Any]]] = {
    # name: as written, as served, good, bad
    "name": (
        "{type: string, title: Name, description: Who, minLength: 2, maxLength: 4, default: Ann}",
        {"type": "string", "title": "Name", "description": "Who", "minLength": 2, "maxLength": 4, "default": "Ann"},
        ["ab", "日本語", "abcd"],
        ["a", "abcde", 5, None, ["ab"]],
    ),
    "email": ("{type: string, format: email}", {"type": "string", "format": "email"}, ["a@b.test"], ["a.b.test", ""]),
    "uri": ("{type: string, format: uri}", {"type": "string", "format": "uri"}, ["https://a.test/"], ["nowhere"]),
    "date": ("{type: string, format: date}", {"type": "string", "format": "date"}, ["2026-07-28"], ["28.7.2026"]),
    "moment": (
        "{type: string, format: date-time}",
        {"type": "string", "format": "date-time"},
        ["2026-07-28T10:00:00Z"],
        ["2026-07-28", "soon"],
    ),
    "count": (
        "{type: integer, minimum: 0, maximum: 9, default: 3}",
        {"type": "integer", "minimum": 0, "maximum": 9, "default": 3},
        [0, 9],
        [-1, 10, 1.5, "3", True],
    ),
    "ratio": (
        "{type: number, minimum: 0.5, maximum: 2}",
        {"type": "number", "minimum": 0.5, "maximum": 2},
        [0.5, 1, 2],
        [0.4, 3, "1"],
    ),
    "flag": ("{type: boolean, default: false}", {"type": "boolean", "default": False}, [True, False], [0, "true"]),
    "size": (
        "{type: string, enum: [small, large], default: small}",
        {"type": "string", "enum": ["small", "large"], "default": "small"},
        ["large"],
        ["Large", "", 0],
    ),
    "colour": (
        "{type: string, oneOf: [{const: '#f00', title: Red}, {const: '#0f0', title: Green}], default: '#f00'}",
        {
            "type": "string",
            "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}],
            "default": "#f00",
        },
        ["#0f0"],
        ["Red", "#00f"],
    ),
    "days": (
        "{type: array, minItems: 1, maxItems: 2, items: {type: string, enum: [mon, tue, wed]}, default: [mon]}",
        {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "string", "enum": ["mon", "tue", "wed"]},
            "default": ["mon"],
        },
        [["tue"], ["wed", "mon"]],
        [[], ["mon", "tue", "wed"], ["sun"], "mon"],
    ),
    "tones": (
        "{type: array, items: {anyOf: [{const: a, title: A}, {const: b, title: B}]}}",
        {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}},
        [[], ["a", "b"]],
        [["A"], "a"],
    ),
}


@pytest.fixture(scope="module")
def forms(way: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tool for each kind of field, with one field that may be left out."""
    tools = "".join(
        f"""
      form_{name}:
        description: x
        ask: {{form: {{message: Well?, fields: {{f?: {written[0]}}}}}}}
        text: "{{{{ answers.form }}}}"
"""
        for name, written in FIELDS.items()
    )
    with started(way, tmp_path_factory.mktemp("forms"), {"manifests/m.yaml": "    tools:\n" + tools}) as server:
        yield server
        ended(server)


@pytest.mark.parametrize("name", FIELDS)
def test_every_kind_of_field_is_shown_as_written_and_judged(forms: Any, name: str) -> None:
    _, shown, good, bad = FIELDS[name]
    first = call(forms, f"form_{name}", {}, capabilities=FORMS)
    assert asked(first)["form"]["params"]["requestedSchema"] == {"type": "object", "properties": {"f": shown}}
    for value in good:
        start = call(forms, f"form_{name}", {})
        done = call(forms, f"form_{name}", {}, {"form": accept(f=value)}, start)
        assert done.result["content"][0]["text"] == _json({"f": value})
    for value in bad:
        told = messages(call(forms, f"form_{name}", {}, {"form": accept(f=value)}, first))["form"]
        assert told.startswith("Well?\n\nf"), told
    left_out = call(forms, f"form_{name}", {}, {"form": YES}, first)
    assert left_out.text == "{}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


UNDRAWABLE = """
    forms:
      f:
        message: m
        fields:
          integers: {type: integer, enum: [1, 2]}
          nested: {type: object, properties: {}}
          nullable: {anyOf: [{type: string}, {type: "null"}]}
          shaped: {type: string, pattern: ^a}
          objects: {type: array, items: {type: object}}
    tools: {a: {description: x, text: new}}
"""


def test_E10_fields_that_clients_cannot_draw_are_told_with_what_to_write(start: Start, tmp_path: Path) -> None:
    server = start({"manifests/m.yaml": "tools: {a: {description: x, text: old}}"})
    assert call(server, "a", {}).text == "old"
    project(tmp_path, {"manifests/m.yaml": UNDRAWABLE})
    server.says(r"reload failed errors=5")
    for instead in ("Use strings", "Make each of its members a field", "one type", "with assert", "enum: \\[a, b\\]"):
        assert server.says(rf"error\[bad-form-field\](.|\n)*help: .*{instead}")
    assert call(server, "a", {}).text == "old"
