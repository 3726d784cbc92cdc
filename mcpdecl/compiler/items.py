"""One declaration to one compiled item, with all that was found on the way.

Knows: what happens before and after the kinds have their say: values from the environment, ``enabled``, digests. Does
not know: what makes a tool, a prompt, a resource or a form.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mcpdecl.catalogue import Prompt, Resource, ResourceTemplate, Tool
from mcpdecl.compiler.draft import Draft, Folder, FormText
from mcpdecl.compiler.environment import Filling, unset
from mcpdecl.compiler.forms import form
from mcpdecl.compiler.memo import Kept
from mcpdecl.compiler.names import texts
from mcpdecl.compiler.prompts import prompt
from mcpdecl.compiler.resources import folders_of, resource
from mcpdecl.compiler.tools import tool
from mcpdecl.compiler.written import Path, Written
from mcpdecl.manifest.declarations import Declaration, digest
from mcpdecl.templates import RenderFault, TemplateFault

Item = Tool | Prompt | Resource | ResourceTemplate

MAKERS: Mapping[str, Callable[[Draft], Item | None]] = {"tool": tool, "prompt": prompt, "resource": resource}

# Templates in these are read when the item is used; everywhere else {{ env.NAME }} is filled in once, at load.
CALL_TIME = frozenset(
    {
        "command", "text", "content", "messages", "vars", "ask", "assert", "cwd", "env", "stdin", "exitCodes", "result",
        "complete", "enabled",
    }
)  # fmt: skip
FORM_CALL_TIME = frozenset({"message", "url", "fields", "requestedSchema"})


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of a declaration."""

    kept: Kept

    @property
    def faulty(self) -> bool:
        """Whether an error was found."""
        return any(finding.is_error for finding in self.kept.findings)


def compile_item(folder: Folder, declaration: Declaration, written: Written, identity: str) -> Compiled:
    """Compile a tool, a prompt, a resource or a resource template. ``identity`` is its key in the memo."""
    draft = Draft(folder, declaration.kind, declaration.name, written)
    _fill(draft, CALL_TIME)
    draft.enabled = _enabled(draft)
    made = MAKERS[declaration.kind](draft)
    _read_environment(draft)
    if made is not None:
        made = replace(made, handler=replace(made.handler, digest=_digest(draft)))
    return Compiled(_kept(draft, made if draft.enabled and not draft.faulty else None, identity))


def compile_form(folder: Folder, declaration: Declaration, written: Written, identity: str) -> Compiled:
    """Compile a form."""
    draft = Draft(folder, declaration.kind, declaration.name, written)
    _fill(draft, FORM_CALL_TIME)
    made, text = form(draft)
    text = replace(text, digest=digest(_content(draft)))
    return Compiled(_kept(draft, None if draft.faulty else made, identity, text))


def _fill(draft: Draft, spared: frozenset[str]) -> None:
    def tell(code: str, message: str, path: tuple[str | int, ...], hint: str) -> None:
        draft.report(code, message, *path, hint=hint)

    filling = Filling(draft.folder.environ, draft.folder.templates, tell, draft.env)
    filled = _filled(filling, draft.fields, (), spared)
    draft.written = replace(draft.written, fields=filled)


def _filled(filling: Filling, data: Any, path: Path, spared: frozenset[str]) -> Any:
    """Fill all but what is read at call time: such keys at the top, and ``complete`` of an argument."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key in spared and (not path or key == "complete"):
            found[key] = value
        elif key == "arguments" and not path and isinstance(value, dict):
            found[key] = {
                name: _filled(filling, part, (key, name), spared) if isinstance(part, dict) else part
                for name, part in value.items()
            }
        else:
            found[key] = filling.fill(value, (*path, key))
    return found


def _enabled(draft: Draft) -> bool:
    """Whether the item is served: a boolean, or a bare expression over ``env``."""
    written = draft.fields.get("enabled", True)
    if isinstance(written, bool):
        return written
    try:
        expression = draft.folder.templates.expression(written)
        for name in sorted({read[0] for read in expression.reads} - {"env"}):
            draft.report("undefined-name", f"There is no {name!r} here.", "enabled", hint="enabled reads env only.")
            return True
        draft.env |= {read[1] for read in expression.reads if len(read) > 1}
        return expression.test({"env": draft.folder.environ})
    except TemplateFault as fault:
        draft.report("bad-template", fault.message, "enabled")
    except RenderFault as fault:
        draft.report("bad-value", fault.message, "enabled", hint="Write, for instance, env.ALLOW_WRITES is defined.")
    return True


def _read_environment(draft: Draft) -> None:
    """Report variables that are read at call time and that nobody set."""
    draft.env |= draft.env_when_used
    for path, text in _call_time(draft.fields):
        for name in sorted(unset(text, draft.folder.environ) & draft.env_when_used):
            hint = f"Set it, or give a default: {{{{ env.{name} | default('…') }}}}."
            draft.report("unset-variable", f"The environment variable {name} is not set.", *path, hint=hint)


def _call_time(fields: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for key in fields.keys() & CALL_TIME - {"enabled"}:
        yield from texts(fields[key], (key,))
    arguments = fields.get("arguments")
    for name, part in arguments.items() if isinstance(arguments, dict) else ():
        if isinstance(part, dict):
            yield from texts(part.get("complete"), ("arguments", name, "complete"))


def _content(draft: Draft) -> list[Any]:
    """What was written, defaults merged in, and the files that it names."""
    files, root = draft.folder.files, draft.folder.root
    named = {os.path.relpath(path, root): files.digest(path) for path in sorted(draft.depends)}
    return [draft.kind, draft.name, draft.fields, named]


def _digest(draft: Draft) -> str:
    """Changes when anything about the item does, also what it names; the same in every process."""
    files = draft.folder.files
    modules = {name: files.digest(draft.folder.root / f"{name}.py") for name in sorted(_modules(draft.fields))}
    forms = {name: draft.folder.forms[name].digest for name in sorted(draft.asks_for & draft.folder.forms.keys())}
    env = {name: draft.folder.environ.get(name) for name in sorted(draft.env)}
    # Servers of several folders may share a key: a yes in one of them is none in another.
    return digest([str(draft.folder.root), _content(draft), modules, forms, env])


def _modules(data: Any) -> set[str]:
    """The modules of all callables that are named, as paths without their suffix."""
    if isinstance(data, dict):
        own = data.get("python")
        named = {own.partition(":")[0].replace(".", "/")} if isinstance(own, str) else set()
        return named.union(*(_modules(value) for value in data.values()))
    return set[str]().union(*(_modules(value) for value in data)) if isinstance(data, list) else set()


def _kept(draft: Draft, item: Any, identity: str, form: FormText | None = None) -> Kept:
    files, forms = draft.folder.files, draft.folder.forms
    findings = draft.report.findings
    if not draft.enabled:
        findings = [finding for finding in findings if finding.code != "unset-variable"]
    return Kept(
        written=identity,
        item=item,
        findings=tuple(findings),
        files={path: files.digest(path) for path in draft.depends},
        forms={name: forms[name].digest if name in forms else None for name in draft.asks_for},
        folders={folder: files.found(folder) for folder in folders_of(item)},
        env=frozenset(draft.env),
        generation=draft.folder.modules.generation if _modules(draft.fields) else None,
        form=form,
    )
