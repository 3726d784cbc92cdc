"""Tests of mcpdecl.bindings.process: real programs, their environment, exit codes and output."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from mcpdecl import bindings
from mcpdecl.bindings.process import Command
from mcpdecl.catalogue import Failure, Limits, Value
from tests.bindings.site import FakeCall, Faults, run, scope, site

pytestmark = pytest.mark.anyio


async def out(fields: dict[str, Any], root: Path, **given: Any) -> str:
    outcome = await run(fields, root, **given)
    assert isinstance(outcome, Value), outcome
    return outcome.data.decode() if isinstance(outcome.data, bytes) else str(outcome.data)


def bound(fields: dict[str, Any], root: Path) -> list[str]:
    faults = Faults()
    bindings.bind(fields, site(root, faults))
    return faults.codes


async def test_a_program_runs_in_the_root(tmp_path: Path) -> None:
    assert await out({"command": ["pwd", "-P"]}, tmp_path) == f"{tmp_path.resolve()}\n"


async def test_cwd(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert (await out({"command": ["pwd", "-P"], "cwd": "sub"}, tmp_path)).endswith("/sub\n")
    assert isinstance(await run({"command": ["pwd"], "cwd": "none"}, tmp_path), Failure)


async def test_a_relative_program_is_one_of_the_root(tmp_path: Path) -> None:
    script = tmp_path / "bin" / "hello"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o755)
    (tmp_path / "sub").mkdir()
    assert await out({"command": ["bin/hello"], "cwd": "sub"}, tmp_path) == "hello\n"


async def test_the_environment_is_an_allow_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    text = await out({"command": ["env"], "env": {"MODE": "{{ m }}", "NONE": "{{ n }}"}}, tmp_path, m=[1], n="x")
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert "hunter2" not in text
    assert {"PATH", "MODE", "NONE", "PYTHONUNBUFFERED"} <= names
    assert "MODE=[1]" in text


async def test_stdin_is_text_or_json(tmp_path: Path) -> None:
    assert await out({"command": ["cat"], "stdin": "{{ a }}"}, tmp_path, a="x\ny") == "x\ny"
    assert await out({"command": ["cat"], "stdin": {"a": "{{ a }}"}}, tmp_path, a=[True]) == '{"a":[true]}'
    assert await out({"command": ["cat"]}, tmp_path) == ""


async def test_a_program_that_does_not_read_its_stdin_is_no_fault(tmp_path: Path) -> None:
    assert await out({"command": ["true"], "stdin": "{{ a }}"}, tmp_path, a="x" * 1_000_000) == ""


async def test_large_stdin_and_output_pass_each_other(tmp_path: Path) -> None:
    text = "line\n" * 100_000
    outcome = await run({"command": ["cat"], "stdin": "{{ a }}"}, tmp_path, Limits(max_output=2_000_000), a=text)
    assert outcome == Value(text.encode())


async def test_S14_a_non_zero_exit_is_a_failure_with_code_and_both_outputs(tmp_path: Path) -> None:
    outcome = await run({"command": ["sh", "-c", "echo partial; echo boom >&2; exit 3"]}, tmp_path)
    assert outcome == Failure("sh exited with 3\nboom\npartial")


async def test_S14_exit_codes_have_meanings(tmp_path: Path) -> None:
    meanings = {"1": {"ok": "No match for {{ q }}."}, "2": {"error": "{{ q }} is no pattern."}}

    async def ends(code: int) -> Any:
        return await run({"command": ["sh", "-c", f"exit {code}"], "exitCodes": meanings}, tmp_path, q="x")

    assert await ends(1) == Value("No match for x.")
    assert await ends(2) == Failure("x is no pattern.")


async def test_S14_death_by_a_signal_is_named(tmp_path: Path) -> None:
    outcome = await run({"command": ["sh", "-c", "kill -SEGV $$"]}, tmp_path)
    assert isinstance(outcome, Failure)
    assert "SIGSEGV" in outcome.text


async def test_stderr_of_a_success_is_no_error(tmp_path: Path) -> None:
    assert await out({"command": ["sh", "-c", "echo fine; echo chatter >&2"]}, tmp_path) == "fine\n"


async def test_S11_long_lines_come_back_whole(tmp_path: Path) -> None:
    text = await out({"command": ["python3", "-c", "print('x' * 200000)"]}, tmp_path)
    assert text == "x" * 200_000 + "\n"


async def test_output_is_cut_at_the_limit_with_a_mark(tmp_path: Path) -> None:
    outcome = await run({"command": ["sh", "-c", "printf 0123456789"]}, tmp_path, Limits(max_output=4))
    assert outcome == Value(b"0123\n[6 bytes more were cut off]\n")


async def test_S03_a_dash_never_reaches_the_program(tmp_path: Path) -> None:
    target = tmp_path / "written"
    outcome = await run({"command": ["sort", "{{ file }}"]}, tmp_path, file=f"--output={target}")
    assert isinstance(outcome, Failure)
    assert not target.exists()


async def heard(script: str, progress: str, root: Path) -> FakeCall:
    """What a call is told while a shell script runs; the script's own output stays out of it."""
    made = bindings.bind({"command": ["sh", "-c", script], "progress": progress}, site(root))
    assert made is not None
    call = FakeCall(root)
    assert isinstance(await made.run(scope({}), call), Value)
    return call


async def test_S17_progress_from_a_pattern_and_from_lines(tmp_path: Path) -> None:
    script = "echo '[ 10%] a'; echo noise; echo '[100%] b'"
    last = (await heard(script, r"\[ *(?<progress>\d+)%\] (?<message>\w)", tmp_path)).told[-1]
    assert last == (100.0, None, "b")
    assert (await heard(script, "lines", tmp_path)).told[-1] == (3, None, "[100%] b")


async def test_reports_on_a_descriptor(tmp_path: Path) -> None:
    script = """
        echo '{"progress": 3, "total": 10, "message": "third"}' > /dev/fd/$MCPDECL_FD
        echo '{"log": "info", "data": {"n": 3}}' > /dev/fd/$MCPDECL_FD
        printf '{"updated": "repo://readme"}' > /dev/fd/$MCPDECL_FD
    """
    call = await heard(script, "fd", tmp_path)
    assert (call.told, call.logged, call.changed) == ([(3.0, 10.0, "third")], [("info", {"n": 3})], ["repo://readme"])


async def test_the_descriptor_cannot_be_named_otherwise(tmp_path: Path) -> None:
    fields = {"command": ["sh", "-c", "echo told > /dev/fd/$MCPDECL_FD"], "env": {"MCPDECL_FD": "1"}, "progress": "fd"}
    assert await out(fields, tmp_path) == ""


async def test_a_program_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    assert await run({"command": ["no-such-program-here"]}, tmp_path) == Failure("no-such-program-here was not found")


def test_a_templated_program_is_refused_at_load(tmp_path: Path) -> None:
    assert bound({"command": ["{{ program }}", "x"]}, tmp_path) == ["bad-command"]


def test_a_missing_program_is_a_warning(tmp_path: Path) -> None:
    assert bound({"command": ["no-such-program-here"]}, tmp_path) == ["program-not-found"]
    assert bound({"command": ["bin/none"]}, tmp_path) == ["program-not-found"]


@pytest.mark.parametrize("pattern", ["(", "no groups", "(?<other>x)"])
def test_a_bad_progress_pattern_is_told(pattern: str, tmp_path: Path) -> None:
    assert bound({"command": ["true"], "progress": pattern}, tmp_path) == ["bad-pattern"]


def test_every_part_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    fields = {"command": ["true", "{{ a }}"], "cwd": "{{ b }}", "env": {"X": "{{ c }}"}, "stdin": "{{ d }}"}
    assert bound(fields, tmp_path) == ["undefined-name"] * 4


def test_what_a_command_reads(tmp_path: Path) -> None:
    fields = {"command": ["true", "{{ a.b }}", {"--x": "{{ c }}"}], "exitCodes": {"1": {"ok": "{{ result }} {{ d }}"}}}
    made = bindings.bind(fields, site(tmp_path, arguments={"a": {}, "c": {}, "d": {}}))
    assert isinstance(made, Command)
    assert made.reads == {("a", "b"), ("c",), ("d",)}
    assert shutil.which("true")


async def test_output_is_cut_between_characters(tmp_path: Path) -> None:
    outcome = await run({"command": ["printf", "%s", "ééééé"]}, tmp_path, Limits(max_output=5))
    assert outcome == Value("éé\n[6 bytes more were cut off]\n".encode())
    outcome = await run({"command": ["printf", r"\377\376\303\303"]}, tmp_path, Limits(max_output=3))
    assert outcome == Value(b"\xff\xfe\xc3\n[1 bytes more were cut off]\n")


async def test_S18_an_error_names_the_program_and_no_other_word(tmp_path: Path) -> None:
    outcome = await run({"command": ["sh", "-c", "exit 4", "{{ key }}"]}, tmp_path, key="hunter2")
    assert outcome == Failure("sh exited with 4")


@pytest.mark.parametrize("folder", ["..", "/", "sub/../..", "leak"])
async def test_a_caller_never_moves_a_program_out_of_the_root(folder: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "leak").symlink_to(tmp_path)
    for written in ("{{ d }}", "./{{ d }}"):
        outcome = await run({"command": ["pwd"], "cwd": written}, root, d=folder)
        assert written != "{{ d }}" or outcome == Failure("cwd: must be inside the root folder")
        assert outcome != Value(f"{tmp_path}\n".encode())
    inside = await out({"command": ["pwd", "-P"], "cwd": "{{ d }}"}, root, d="sub")
    assert Path(inside.rstrip()) == (root / "sub").resolve()


def test_who_may_name_a_folder_outside_the_root(tmp_path: Path) -> None:
    arguments = {"free": {"type": "string"}, "held": {"type": "string", "within": "/data"}}

    def roams(cwd: str) -> bool:
        here = site(tmp_path, arguments=arguments, known=frozenset({"env"}))
        made = bindings.bind({"command": ["pwd"], "cwd": cwd}, here)
        assert isinstance(made, Command)
        return made.roams

    assert roams("/data") and roams("{{ env.DATA }}") and roams("{{ held }}")
    assert not roams("{{ free }}") and not roams("sub/{{ held }}") and not roams("{{ env.DATA }}/{{ free }}")


@pytest.mark.parametrize("name", ["A=B", "", "A\0B"])
def test_a_name_that_no_environment_variable_can_have_is_told(name: str, tmp_path: Path) -> None:
    assert bound({"command": ["true"], "env": {name: "x"}}, tmp_path) == ["bad-command"]
