"""Programs: a list of words becomes one process in a group of its own, and its end becomes an outcome.

Knows: how a word, an option and a leading dash are judged, what a program's environment holds, and how a group of
processes is ended. Does not know: shells, timeouts (the task is cancelled) or how output becomes content.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpdecl.bindings.progress import Watch, compile_watch
from mcpdecl.bindings.running import NOBODY, Ended, Program, Refusal, spawn
from mcpdecl.bindings.site import Fields, Site, joined
from mcpdecl.bindings.words import Argv, Word, compile_words, spelled
from mcpdecl.catalogue import Call, Failure, Outcome, Value
from mcpdecl.templates import ABSENT, Reads, Scope, Template, Tree

# What a program needs to find its way; everything else (tokens above all) is passed by `env` or not at all.
PASSED_ON = ("PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL", "SYSTEMROOT")
TAIL = 2_000
LONE = re.compile(r"\{\{ *(\w+) *\}\}")


@dataclass(frozen=True, slots=True)
class Command:
    """``command: [words]`` with what stands beside it. ``roams`` says that ``cwd`` may lie outside the root."""

    program: str
    words: tuple[Word, ...]
    cwd: Template | None
    env: Tree | None
    stdin: Tree | None
    exits: Mapping[int, tuple[bool, Template]]
    watch: Watch | None
    passed: Mapping[str, str]
    reads: Reads
    roams: bool = True
    pure: bool = False

    def render(self, scope: Scope) -> Outcome:
        """A program cannot be rendered."""
        raise TypeError("a command has effects")

    async def run(self, scope: Scope, call: Call) -> Outcome:
        """Start the program, wait for it, and tell how it ended. Cancelling ends its whole process group."""
        try:
            argv = Argv(self.program, self.words).of(scope)
            cwd = self._cwd(scope, call.root)
            program = Program(argv, cwd, self._environment(scope), self._stdin(scope), call.limits.max_output)
            ended = await spawn(program, self.watch.of(call) if self.watch else NOBODY)
        except Refusal as refusal:
            return Failure(str(refusal))
        return self._outcome(ended, scope)

    def _cwd(self, scope: Scope, root: Path) -> Path:
        if self.cwd is None:
            return root
        folder = root / self.cwd.text(scope)
        if not folder.is_dir():
            raise Refusal("cwd: there is no such folder")
        if not self.roams and not folder.resolve().is_relative_to(root.resolve()):
            raise Refusal("cwd: must be inside the root folder")
        return folder

    def _environment(self, scope: Scope) -> dict[str, str]:
        # A child that prints into a pipe buffers by the block; Python ones would tell no progress before their end.
        env = {**self.passed, "PYTHONUNBUFFERED": "1"}
        if self.env is not None:
            for name, value in self.env.value(scope).items():
                env[name] = spelled(value)
        if any("\0" in value for value in env.values()):
            raise Refusal("env: a value holds a NUL character")
        return env

    def _stdin(self, scope: Scope) -> bytes | None:
        value = self.stdin.value(scope) if self.stdin is not None else ABSENT
        return None if value is ABSENT else spelled(value).encode()

    def _outcome(self, ended: Ended, scope: Scope) -> Outcome:
        if ended.code in self.exits:
            ok, text = self.exits[ended.code]
            said = text.text({**scope, "result": ended.out.decode("utf-8", "replace")})
            return _joined(said, ended.out) if ok else Failure(said)
        if ended.code == 0:
            return Value(ended.out)
        return Failure(_told(Path(self.program).name, ended))


def _joined(said: str, out: bytes) -> Outcome:
    """What an accepted exit code means, before what the program said."""
    text = out.decode("utf-8", "replace")
    return Value(f"{said}\n{text}" if text.strip() else said)


def _told(program: str, ended: Ended) -> str:
    parts = [f"{program} {ended.how}"]
    parts += [part.decode("utf-8", "replace").strip()[-TAIL:] for part in (ended.err, ended.out) if part.strip()]
    return "\n".join(parts)


def bind(fields: Fields, site: Site) -> Command | None:
    """Bind ``command``. Reports what is wrong with its words and with what stands beside it."""
    words = fields["command"]
    program = _program(words[0] if words else None, site)
    compiled = compile_words(words[1:], site)
    cwd = site.template(fields["cwd"], "cwd") if "cwd" in fields else None
    env = _env(fields["env"], site) if "env" in fields else None
    stdin = site.tree(fields["stdin"], "stdin") if "stdin" in fields else None
    exits = _exits(fields.get("exitCodes") or {}, site)
    watch = compile_watch(fields["progress"], site) if "progress" in fields else None
    failed = program is None or compiled is None or exits is None
    failed = failed or any(word in fields and made is None for word, made in
                           (("cwd", cwd), ("env", env), ("stdin", stdin), ("progress", watch)))  # fmt: skip
    if failed or program is None or compiled is None or exits is None:
        return None
    passed = {n: v for n, v in site.environ.items() if n in PASSED_ON or n.startswith("LC_")}
    reads = joined(*compiled, cwd, env, stdin, *(text for _, text in exits.values()))
    reads -= {read for read in reads if read[0] == "result"}
    return Command(program, compiled, cwd, env, stdin, exits, watch, passed, reads, cwd is None or _roams(cwd, site))


def _roams(cwd: Template, site: Site) -> bool:
    """Whether a working folder may lie outside the root: one that the manifest or the environment names, or an
    argument that ``within`` holds in its folder already. What else a caller has a say in may not."""
    lone = LONE.fullmatch(cwd.source)
    schema = site.arguments.get(lone[1]) if lone else None
    return (isinstance(schema, Mapping) and "within" in schema) or all(read[0] == "env" for read in cwd.reads)


def _program(word: Any, site: Site) -> str | None:
    if isinstance(word, Mapping) and isinstance(word.get("raw"), str):
        return str(word["raw"])
    if not isinstance(word, str) or not word:
        site.report("bad-command", "The first word of a command is the program, as plain text.", "command")
        return None
    if "{{" in word or "{%" in word:
        hint = "Write one tool for each program; what a caller sends never chooses it."
        site.report("bad-command", "The program of a command cannot be a template.", "command", 0, hint=hint)
        return None
    return _found(word, site)


def _found(word: str, site: Site) -> str:
    # A relative path is relative to the root, wherever the program runs; a bare name is looked up on PATH at call time.
    if "/" in word and not word.startswith("/"):
        path = site.root / word
        if not path.is_file():
            site.report("program-not-found", f"There is no {word} in the root folder.", "command", 0)
        return str(path)
    if shutil.which(word, path=site.environ.get("PATH")) is None:
        site.report("program-not-found", f"There is no program {word!r} on PATH.", "command", 0)
    return word


def _env(written: Mapping[str, Any], site: Site) -> Tree | None:
    """Compile ``env``. ``NAME: null`` leaves a variable out, as in Compose."""
    bad = [name for name in written if not name or "=" in name or "\0" in name]
    for name in bad:
        site.report("bad-command", f"{name!r} cannot be the name of an environment variable.", "env", name)
    tree = site.tree({name: value for name, value in written.items() if value is not None}, "env")
    return None if bad else tree


def _exits(written: Mapping[str, Any], site: Site) -> dict[int, tuple[bool, Template]] | None:
    found: dict[int, tuple[bool, Template]] = {}
    inner = site.knowing("result")
    for code, meaning in written.items():
        ok = "ok" in meaning
        text = inner.template(meaning["ok" if ok else "error"], "exitCodes", code, "ok" if ok else "error")
        if text is None:
            return None
        found[int(code)] = (ok, text)
    return found
