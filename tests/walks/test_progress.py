"""Walks of progress and logging, over both transports: from callables and from programs, asked for and not."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from tests import wire
from tests.walks import processes
from tests.walks.conftest import Start

PROJECT = {
    "told.py": """
        import asyncio
        import math
        import threading
        import time
        from pathlib import Path

        from mcpdecl import Context

        LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
        inside: set[str] = set()
        left: set[str] = set()
        tries = 0
        hushed = threading.Event()


        def gates(name):
            return [Path(f"gate-{name}-{n}") for n in (1, 2, 3)]


        def wait(gate):
            while not gate.exists():
                time.sleep(0.01)


        async def wait_here(gate):
            while not gate.exists():
                await asyncio.sleep(0.01)


        # --- in three steps, each of which waits until it is let through

        def sync_walk(name, ctx: Context):
            for n, gate in enumerate(gates(name), 1):
                ctx.progress(n, 3, f"step {n}")
                ctx.log("info", n)
                wait(gate)
            return "finished"


        async def async_walk(name, ctx: Context):
            for n, gate in enumerate(gates(name), 1):
                ctx.progress(n, 3, f"step {n}")
                ctx.log("info", n)
                await wait_here(gate)
            return "finished"


        def generator_walk(name):
            for n, gate in enumerate(gates(name), 1):
                yield n, 3, f"step {n}"
                wait(gate)
            yield "finished"


        async def async_generator_walk(name):
            for n, gate in enumerate(gates(name), 1):
                yield n, 3, f"step {n}"
                await wait_here(gate)
            yield "finished"


        async def go(name, n):
            Path(f"gate-{name}-{n}").touch()
            return "gone"


        # --- a great deal at once, and what is no progress

        def sync_flood(count, ctx: Context):
            for n in range(1, count + 1):
                ctx.progress(n, count, f"step {n}")
            return f"told {count}"


        async def async_flood(count, ctx: Context):
            return sync_flood(count, ctx)


        def sync_chatter(count, ctx: Context):
            for n in range(1, count + 1):
                ctx.log("info", n)
            return f"said {count}"


        async def async_chatter(count, ctx: Context):
            return sync_chatter(count, ctx)


        async def odd(ctx: Context):
            for value in (2, 2, 1, math.nan, math.inf, -math.inf, 10**400, 2.5, 2.4, -1):
                ctx.progress(value, math.inf)
                await asyncio.sleep(0.06)
            return "was odd"


        async def every_level(ctx: Context):
            for level in LEVELS:
                ctx.log(level, {"said": level}, "told")
            return "said all"


        def unknown_level(ctx: Context):
            ctx.log("loud", "x")


        def goes_on(ctx: Context):
            hushed.clear()

            def work():
                global tries
                while not hushed.is_set():
                    tries += 1
                    ctx.progress(tries)
                    ctx.log("emergency", tries)
                    time.sleep(0.001)

            threading.Thread(target=work, daemon=True).start()
            return "answered"


        async def tried():
            return tries


        async def hush():
            hushed.set()


        # --- what holds a thread

        def hold(name, ctx: Context):
            inside.add(name)
            ctx.progress(1)
            while not Path(f"gate-{name}-1").exists():
                if ctx.cancelled:
                    left.add(name)
                    return None
                time.sleep(0.01)
            return f"held {name}"


        async def holding():
            return sorted(inside)


        async def leaving():
            return sorted(left)
    """,
    "walk.sh": """
        name=$1 form=$2
        for n in 1 2 3; do
            case $form in
                fd) echo '{"progress": '$n', "total": 3, "message": "step '$n'"}' > /dev/fd/$MCPDECL_FD
                    echo '{"log": "info", "data": '$n'}' > /dev/fd/$MCPDECL_FD ;;
                *) echo "[$n/3] step $n" ;;
            esac
            while [ ! -e "gate-$name-$n" ]; do sleep 0.02; done
        done
        echo finished
    """,
    "walk.py": """
        import sys
        import time
        from pathlib import Path

        for n in (1, 2, 3):
            print(f"[{n}/3] step {n}")
            while not Path(f"gate-{sys.argv[1]}-{n}").exists():
                time.sleep(0.02)
        print("finished")
    """,
    "no-program": "this cannot be run",
    "manifests/told.yaml": r"""
        tools:
          sync_walk: &walk {description: Walk., input: {name: string}, python: "told:sync_walk"}
          async_walk: {<<: *walk, python: "told:async_walk"}
          generator_walk: {<<: *walk, python: "told:generator_walk"}
          async_generator_walk: {<<: *walk, python: "told:async_generator_walk"}
          hold: {<<: *walk, python: "told:hold"}
          go: {description: Let a step through., input: {name: string, n: integer}, python: "told:go"}

          pattern_walk:
            description: Walk.
            input: {name: string}
            command: [sh, walk.sh, "{{ name }}", pattern]
            progress: '^\[(?<progress>\d)/(?<total>\d)\] (?<message>.*)'
          lines_walk:
            description: Walk.
            input: {name: string}
            command: [sh, walk.sh, "{{ name }}", lines]
            progress: lines
          buffered_walk:
            description: Walk, printing without a flush.
            input: {name: string}
            command: [python3, walk.py, "{{ name }}"]
            progress: '^\[(?<progress>\d)/(?<total>\d)\] (?<message>.*)'
          fd_walk:
            description: Walk.
            input: {name: string}
            command: [sh, walk.sh, "{{ name }}", fd]
            progress: fd

          sync_flood: &many {description: Tell much., input: {count: integer}, python: "told:sync_flood"}
          async_flood: {<<: *many, python: "told:async_flood"}
          sync_chatter: {<<: *many, python: "told:sync_chatter"}
          async_chatter: {<<: *many, python: "told:async_chatter"}
          printing_flood:
            description: Print much.
            input: {count: integer}
            command: [seq, "{{ count }}"]
            progress: '(?<progress>\d+)'
            result: {as: text, text: "told {{ result[-100:] | trim | replace('\n', ' ') }}"}
            maxOutput: 10MB
          fd_flood:
            description: Report much.
            input: {count: integer}
            command:
              - sh
              - -c
              - 'seq -f "{\"progress\": %.0f}" "$0" > /dev/fd/$MCPDECL_FD; echo "told $0"'
              - "{{ count }}"
            progress: fd
          fd_chatter:
            description: Say much.
            input: {count: integer}
            command:
              - sh
              - -c
              - 'seq -f "{\"log\": \"info\", \"data\": %.0f}" "$0" > /dev/fd/$MCPDECL_FD; echo "said $0"'
              - "{{ count }}"
            progress: fd

          odd: &bare {description: Bare., python: "told:odd"}
          every_level: {<<: *bare, python: "told:every_level"}
          unknown_level: {<<: *bare, python: "told:unknown_level"}
          goes_on: {<<: *bare, python: "told:goes_on"}
          tried: {<<: *bare, python: "told:tried"}
          hush: {<<: *bare, python: "told:hush"}
          holding: {<<: *bare, python: "told:holding"}
          leaving: {<<: *bare, python: "told:leaving"}

          twice:
            description: A value is computed first, and tells progress as well.
            vars: {first: {command: [sh, -c, "seq 5; seq 5 >&2"], progress: lines}}
            command: [sh, -c, "seq 3", "{{ first }}"]
            progress: lines
          slow_pattern:
            description: A pattern that goes wrong on what is printed.
            input: {line: string}
            command: [printf, '%s\n7%%\n', "{{ line }}"]
            progress: '(a+)+$|(?<progress>\d+)%'
          misspoken:
            description: Reports that are none.
            input: {line: string}
            command: [sh, -c, 'printf "%s\n" "$0" > /dev/fd/$MCPDECL_FD; echo went on', "{{ line }}"]
            progress: fd
          change:
            description: Say that something has changed.
            command: [sh, -c, "echo '{\"updated\": \"made://note\"}' > /dev/fd/$MCPDECL_FD"]
            progress: fd
          sleeper:
            description: A program that sleeps.
            command: [sh, -c, "echo '{\"progress\": 1}' > /dev/fd/$MCPDECL_FD; exec sleep 300"]
            progress: fd
          cannot: {description: No program., command: [./no-program], progress: fd}
          calm: {description: Quick., command: [sh, -c, "echo calm > /dev/fd/$MCPDECL_FD"], progress: fd}
          endless:
            description: Never stops printing.
            command: [sh, -c, "yes $$"]
            progress: lines
            maxOutput: 1kB
            timeout: 1s
        resources:
          note: {uri: made://note, text: A note.}
    """,
}
WALKS = [
    "sync_walk",
    "async_walk",
    "generator_walk",
    "async_generator_walk",
    "pattern_walk",
    "lines_walk",
    "buffered_walk",
    "fd_walk",
]
FLOOD = 200_000
names = (f"n{n}" for n in itertools.count())
ids = (f"id{n}" for n in itertools.count())


def begun(server: Any, tool: str, arguments: dict[str, Any] | None = None, **envelope: Any) -> Any:
    """A call that goes on beside others."""
    return server.begin("tools/call", {"name": tool, "arguments": arguments or {}}, id=next(ids), **envelope)


def whole(server: Any, tool: str, arguments: dict[str, Any] | None = None, **envelope: Any) -> list[wire.Message]:
    """All messages of a call; what belongs to other calls is left for them."""
    with begun(server, tool, arguments, **envelope) as call:
        found: list[wire.Message] = call.rest()
    return found


def listed(server: Any) -> bool:
    """Whether a list is answered."""
    with server.begin("tools/list", id=next(ids)) as call:
        return "result" in call.rest()[-1]


def asked(server: Any, tool: str, **arguments: Any) -> str:
    """The text of a call's result, where nothing else comes."""
    [answer] = whole(server, tool, arguments)
    return "".join(block["text"] for block in answer["result"]["content"])


def told(messages: list[wire.Message], kind: str = "progress") -> list[dict[str, Any]]:
    """The parameters of notifications of one kind."""
    return [m["params"] for m in messages if m.get("method") == f"notifications/{kind}"]


def values(messages: list[wire.Message]) -> list[float]:
    return [params["progress"] for params in told(messages)]


# --- asked for -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", WALKS)
def test_S17_progress_comes_while_it_runs_and_the_result_after_it(served: Any, tool: str) -> None:
    name = next(names)
    with begun(served, tool, {"name": name}, progress=name) as call:
        for n in (1, 2, 3):
            here: list[wire.Message] = []
            while not told(here):
                here.append(call.message())
            [params] = told(here)
            assert (params["progressToken"], params["progress"]) == (name, n)
            assert params["message"] == (f"[{n}/3] step {n}" if tool == "lines_walk" else f"step {n}")
            assert params.get("total") == (None if tool == "lines_walk" else 3)
            assert asked(served, "go", name=name, n=n) == "gone"
        *before, answer = call.rest()
    assert "finished" in answer["result"]["content"][0]["text"]
    assert values(before) in ([], [4]), "only lines count the last one"


@pytest.mark.parametrize("tool", ["sync_walk", "async_walk", "fd_walk"])
def test_what_is_logged_comes_in_order_before_the_result(served: Any, tool: str) -> None:
    name = next(names)
    for n in (1, 2, 3):
        asked(served, "go", name=name, n=n)
    *before, answer = whole(served, tool, {"name": name}, log="debug")
    assert [(p["level"], p["data"]) for p in told(before, "message")] == [("info", 1), ("info", 2), ("info", 3)]
    assert "result" in answer


@pytest.mark.parametrize("token", [0, "", "a b/ß", -7, 2**53 - 1, "x" * 256])
def test_any_text_and_any_whole_number_is_a_token(served: Any, token: str | int) -> None:
    name = next(names)
    for n in (1, 2, 3):
        asked(served, "go", name=name, n=n)
    *before, answer = whole(served, "async_walk", {"name": name}, progress=token)
    assert before and all(params["progressToken"] == token for params in told(before))
    assert all(type(params["progressToken"]) is type(token) for params in told(before))
    assert values(before)[-1] == 3
    assert "result" in answer


@pytest.mark.parametrize("token", [1.5, True, [], {}, ["a"], "x" * 100_000])
def test_anything_else_is_none(served: Any, token: Any) -> None:
    [answer] = whole(served, "odd", meta={"progressToken": token})
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("tool", [*WALKS, "sleeper"])
def test_who_asks_for_nothing_is_told_nothing(served: Any, tool: str) -> None:
    if tool == "sleeper":
        tool = "calm"  # what it writes is no report
    name = next(names)
    for n in (1, 2, 3):
        asked(served, "go", name=name, n=n)
    [answer] = whole(served, tool, {"name": name} if tool != "calm" else {})
    assert "result" in answer


def test_only_what_rises_is_progress(served: Any) -> None:
    *before, answer = whole(served, "odd", progress="odd")
    assert told(before) == [{"progressToken": "odd", "progress": value} for value in (2, 2.5)]
    assert answer["result"]["content"][0]["text"] == "was odd"


def test_what_is_computed_first_and_what_runs_then_rise_together(served: Any) -> None:
    *before, _ = whole(served, "twice", progress="twice")
    found = values(before)
    assert found[-1] == 10
    assert found == sorted(set(found)), "one token, one rise"


def test_calls_beside_each_other_are_told_their_own(served: Any) -> None:
    pair = [next(names), next(names)]
    with ExitStack() as stack:
        calls = [
            stack.enter_context(begun(served, tool, {"name": name}, progress=name))
            for tool, name in zip(("sync_walk", "fd_walk"), pair, strict=True)
        ]
        for n in (1, 2, 3):
            for name, call in reversed(list(zip(pair, calls, strict=True))):
                assert told([call.message()]) == [
                    {"progressToken": name, "progress": n, "total": 3, "message": f"step {n}"}
                ]
            for name in pair:
                asked(served, "go", name=name, n=n)
        for call in calls:
            [answer] = call.rest()
            assert (answer["id"], "result" in answer) == (call.id, True)


def test_nothing_comes_after_the_answer(served: Any) -> None:
    *_, answer = whole(served, "goes_on", progress="goes on", log="debug")
    assert answer["result"]["content"][0]["text"] == "answered"
    since = int(asked(served, "tried"))
    found: list[wire.Message] = []
    while int(found[-1]["result"]["content"][0]["text"]) < since + 100 if found else True:
        found += whole(served, "tried")
    assert [m for m in found if "method" in m] == []
    asked(served, "hush")


# --- logging ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "count"), [("debug", 8), ("notice", 6), ("warning", 5), ("emergency", 1)])
def test_a_level_and_those_above_it_are_sent(served: Any, level: str, count: int) -> None:
    *before, _ = whole(served, "every_level", log=level)
    found = told(before, "message")
    assert len(found) == len(before) == count
    assert found[0]["level"] == level and found[-1]["level"] == "emergency"
    assert all(params["data"] == {"said": params["level"]} and params["logger"] == "told" for params in found)


@pytest.mark.parametrize("level", ["loud", "INFO", "", 3, [], {}])
def test_an_unknown_level_is_refused(served: Any, level: Any) -> None:
    [answer] = whole(served, "every_level", meta={wire.META + "logLevel": level})
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("meta", [{}, {"progressToken": None, wire.META + "logLevel": None}])
def test_who_names_no_level_and_no_token_is_sent_no_message(served: Any, meta: dict[str, Any]) -> None:
    for tool in ("every_level", "odd"):
        [answer] = whole(served, tool, meta=meta)
        assert "result" in answer


def test_a_callable_that_logs_at_an_unknown_level_has_a_fault(start: Start) -> None:
    server = start(PROJECT, "--no-watch")
    [answer] = whole(server, "unknown_level")
    assert answer["result"]["isError"] and "loud" not in answer["result"]["content"][0]["text"]
    server.says("(?m)^ +ValueError: unknown log level 'loud'")  # the last line of the traceback
    server.lines.clear()  # its traceback is what is wanted


# --- much at once ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["sync_flood", "async_flood", "printing_flood", "fd_flood"])
def test_a_flood_of_progress_ends_with_the_last_of_it_and_the_result(served: Any, tool: str) -> None:
    before = processes.memory(served.pid)
    *messages, answer = whole(served, tool, {"count": FLOOD}, progress=tool)
    found = values(messages)
    assert answer["result"]["content"][0]["text"].split()[-1] == str(FLOOD)
    assert found[-1] == FLOOD
    assert found == sorted(set(found))
    assert len(found) < 5_000
    assert processes.memory(served.pid) - before < 64 * 1024 * 1024


@pytest.mark.parametrize("tool", ["sync_chatter", "async_chatter", "fd_chatter"])
def test_of_a_flood_of_messages_the_last_are_kept(served: Any, tool: str) -> None:
    before = processes.memory(served.pid)
    *messages, answer = whole(served, tool, {"count": FLOOD}, log="info")
    found = [params["data"] for params in told(messages, "message")]
    assert answer["result"]["content"][0]["text"].split()[-1] == str(FLOOD)
    assert found[-100:] == list(range(FLOOD - 99, FLOOD + 1))
    assert len(found) < FLOOD / 2
    assert processes.memory(served.pid) - before < 64 * 1024 * 1024


def test_output_without_end_is_cut_and_ended(served: Any) -> None:
    *messages, answer = whole(served, "endless", progress="endless")
    assert answer["result"]["isError"] and "timed out" in answer["result"]["content"][0]["text"]
    pid = int(told(messages)[-1]["message"])
    wire.eventually(lambda: pid not in processes.children(served.pid), "it is ended")


def test_a_pattern_that_would_look_for_hours_stops_nobody(served: Any) -> None:
    *messages, answer = whole(served, "slow_pattern", {"line": "a" * 400 + "!"}, progress="slow", log="warning")
    assert answer["result"]["content"][0]["text"].endswith("7%\n")
    assert values(messages) == [7]
    assert "takes too long" in told(messages, "message")[0]["data"]


# --- reports of programs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "{",
        "[]",
        '{"progress": NaN}',
        '{"progress": 1, "totl": 2}',
        '{"log": "loud", "data": 1}',
        "ÿ" * 40_000,
    ],
)
def test_who_writes_no_report_is_told_so_and_goes_on(served: Any, line: str) -> None:
    *messages, answer = whole(served, "misspoken", {"line": line}, progress="p", log="warning")
    [params] = told(messages, "message")
    assert (params["level"], params["logger"]) == ("warning", "mcpdecl")
    assert "report 1 on MCPDECL_FD" in params["data"]
    assert len(messages) == 1
    assert answer["result"]["content"][0]["text"] == "went on\n"


def test_a_program_says_that_a_resource_has_changed(served: Any) -> None:
    with served.listen(id=next(ids), resourceSubscriptions=["made://note"]) as listener:
        asked(served, "change")
        found = listener.message()
    assert (found["method"], found["params"]["uri"]) == ("notifications/resources/updated", "made://note")


def test_nothing_is_left_of_hundreds_of_runs(served: Any) -> None:
    def rounds(count: int) -> None:
        for n in range(count):
            assert asked(served, "calm") == ""
            assert "may not be run" in asked(served, "cannot")
            with begun(served, "sleeper", progress=f"s{n}") as call:
                assert values([call.message()]) == [1]
                call.cancel()

    def at_rest() -> bool:
        return processes.children(served.pid) == set()

    rounds(5)
    wire.eventually(at_rest, "the children are gone")
    before = processes.descriptors(served.pid)
    rounds(100)
    wire.eventually(at_rest, "the children are gone, and were waited for")
    wire.eventually(lambda: processes.descriptors(served.pid) <= before, "so are all descriptors")


# --- what holds a thread ---------------------------------------------------------------------------------------


@contextmanager
def held(server: Any, count: int) -> Iterator[dict[str, Any]]:
    """So many calls by name, of a callable that holds a thread."""
    with ExitStack() as stack:
        found = [next(names) for _ in range(count)]
        yield {name: stack.enter_context(begun(server, "hold", {"name": name}, progress=name)) for name in found}


def holding(server: Any, tool: str = "holding") -> set[str]:
    return set(json.loads(asked(server, tool)))


def test_P01_while_callables_hold_threads_others_are_answered(served: Any) -> None:
    with held(served, 3) as calls:
        for call in calls.values():
            assert values([call.message()]) == [1]
        assert listed(served)
        gone, *others = calls
        calls[gone].cancel()
        wire.eventually(lambda: gone in holding(served, "leaving"), "the callable sees that it is cancelled")
        for name in others:
            asked(served, "go", name=name, n=1)
            assert calls[name].rest()[-1]["result"]["content"][0]["text"] == f"held {name}"


def test_P01_when_no_thread_is_left_calls_wait_and_nobody_else(served: Any) -> None:
    with held(served, 40) as calls:
        running = wire.eventually(
            lambda: set(calls) & found if len((found := holding(served)) & set(calls)) == 32 else None, "all hold"
        )
        assert listed(served)
        waiting = sorted(set(calls) - running)
        given_up, still = waiting[0], sorted(running)[0]
        for name in (given_up, still):
            calls[name].cancel()
        wire.eventually(lambda: still in holding(served, "leaving"), "a thread is free")
        for name in sorted(set(calls) - {given_up, still}):
            asked(served, "go", name=name, n=1)
        for name in sorted(set(calls) - {given_up, still}):
            assert calls[name].rest()[-1]["result"]["content"][0]["text"] == f"held {name}"
        assert given_up not in holding(served), "what was cancelled while it waited never runs"
