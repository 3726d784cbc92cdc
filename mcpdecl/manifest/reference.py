"""The reference of the manifest language, written from format.schema.json.

Knows: how a schema becomes pages of Markdown. Does not know: any key by name. ``python -m mcpdecl.manifest.reference``
prints what ``docs/manifest.md`` holds.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from mcpdecl.manifest.format import TEXTS, description

Schema = Mapping[str, Any]

_HEAD = """# Manifest reference

{about}
An unknown key is an error. This page is written from
[`format.schema.json`](../mcpdecl/manifest/format.schema.json), which editors can use as well: begin a manifest with
`# yaml-language-server: $schema=…/format.schema.json`.

## YAML

YAML is read as YAML 1.2: only `true` and `false` are booleans (`NO` and `on` are text), there are no dates and no octal
numbers. Text stays as it is written: a version `1.10` is `1.10`. A number with a leading zero must be quoted where text
is not what is wanted. A key that is there twice is an error; merge keys (`<<: *anchor`) work, and local keys
win. Tags are not used. Several documents in one file are read as one manifest. A file has at most 4 MiB and 64 levels.

"""


def text() -> str:
    """The whole reference as Markdown."""
    root = description()
    parts = [_HEAD.format(about=root["description"]), "## A manifest\n\n", _table(root)]
    for name in _order(root):
        parts.append(_section(name, root["$defs"][name]))
    return "".join(parts)


def _order(root: Schema) -> list[str]:
    """Definitions as they are met, breadth first."""
    found: list[str] = []
    waiting = list(_references({k: v for k, v in root.items() if k != "$defs"}))
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            waiting += _references(root["$defs"][name])
    return found


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(part.get("$ref"), str):
            yield _name(part)
        for key, value in part.items():
            if key != "examples":
                yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def _section(name: str, schema: Schema) -> str:
    lines = [f"## {_title(name)}\n\n", f"{schema['description']}\n\n"]
    inherited = [_link(_name(part)) for part in schema.get("allOf", ()) if "$ref" in part]
    if inherited:
        lines.append(f"Has all keys of {', '.join(inherited)}")
        lines.append(", and:\n\n" if "properties" in schema else ".\n\n")
    lines.append(_table(schema))
    lines += [_shape(branch) for branch in schema.get("anyOf", ()) if "type" in branch or "$ref" in branch]
    inner = schema.get("additionalProperties")
    if isinstance(inner, Mapping):
        lines += [_shape(branch) for branch in inner.get("anyOf", ()) if "properties" in branch]
    if "items" in schema:
        lines += [_shape(branch) for branch in schema["items"].get("anyOf", (schema["items"],))]
    if "examples" in schema:
        lines.append(_examples(schema["examples"]))
    return "".join(lines)


def _shape(schema: Schema) -> str:
    """One of several ways to write a thing."""
    if "$ref" in schema or "properties" not in schema:
        return f"- {_value(schema)}\n\n"
    about = f": {schema['description']}" if "description" in schema else ""
    return f"- {_value(schema)}{about}\n\n{_table(schema)}"


def _table(schema: Schema) -> str:
    rows = [(key, value) for key, value in schema.get("properties", {}).items()]
    rows += [(f"keys like {pattern}", value) for pattern, value in schema.get("patternProperties", {}).items()]
    if isinstance(schema.get("additionalProperties"), Mapping) and "description" in schema["additionalProperties"]:
        rows.append(("any key", schema["additionalProperties"]))
    if not rows:
        return ""
    needed = set(schema.get("required", ()))
    head = "| key | value | meaning |\n| --- | --- | --- |\n"
    return head + "".join(_row(key, value, key in needed) for key, value in rows) + "\n"


def _row(key: str, schema: Schema, needed: bool) -> str:
    about = schema.get("description") or description()["$defs"].get(_name(schema), {}).get("description", "")
    star = " (needed)" if needed else ""
    return f"| `{_cell(key)}`{star} | {_cell(_value(schema))} | {_cell(about)} |\n"


def _value(schema: Schema) -> str:
    """What may be written, in a few words."""
    if "$ref" in schema:
        return _link(_name(schema))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{_word(c)}`" for c in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema and schema.get("type") != "object":
        return " or ".join(_value(branch) for branch in schema["anyOf"])
    if "items" in schema:
        return f"list of {_value(schema['items'])}"
    if schema.get("type") == "object":
        return _mapping(schema)
    target = schema.get("x-mcpdecl", {}).get("target", "")
    if target in TEXTS:
        return "text"
    return {"json": "any JSON", "option": "any JSON", "own": "anything"}.get(target) or str(schema.get("type"))


def _mapping(schema: Schema) -> str:
    inner = schema.get("additionalProperties") or next(iter(schema.get("patternProperties", {}).values()), None)
    if isinstance(inner, Mapping) and "properties" not in schema:
        return f"mapping of {_value(inner)}"
    keys = ", ".join(f"`{key}`" for key in schema.get("properties", {}))
    return f"mapping of {keys}" if keys else "mapping"


def _examples(examples: list[Any]) -> str:
    if all(isinstance(example, str) for example in examples):
        return "For instance " + ", ".join(f"`{example}`" for example in examples) + ".\n\n"
    shown = [yaml.safe_dump(e, sort_keys=False, allow_unicode=True, width=100) for e in examples]
    return "".join(f"```yaml\n{example}```\n\n" for example in shown)


def _name(schema: Schema) -> str:
    return str(schema.get("$ref", "")).removeprefix("#/$defs/")


def _link(name: str) -> str:
    title = _title(name)
    return f"[{title.lower()}](#{title.lower().replace(' ', '-')})"


def _title(name: str) -> str:
    words = re.sub(r"([A-Z])", lambda m: f" {m[1].lower()}", name)
    return words[0].upper() + words[1:]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    sys.stdout.write(text())
