"""Tests of mcpdecl.transports.lines; tests of stdio and walks show it at work."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from mcpdecl.transports.lines import ATOM, FULL, Lines, Reader, Writer

pytestmark = pytest.mark.anyio


def cut(*chunks: bytes, limit: int = 20) -> list[bytes | None]:
    found: list[bytes | None] = []
    lines = Lines(found.append, limit)
    for chunk in chunks:
        lines.feed(chunk)
    lines.end()
    return found


def test_lines_are_cut_wherever_chunks_end() -> None:
    assert cut(b"on", b"e\ntw", b"o\n", b"three") == [b"one", b"two", b"three"]


def test_blank_lines_and_carriage_returns() -> None:
    assert cut(b"\n \r\n\r\none\r\n\n") == [b"one"]


def test_D06_a_line_that_is_too_long_is_told_once_and_skipped() -> None:
    assert cut(b"x" * 15, b"x" * 15, b"x" * 900, b"x\none\n") == [None, b"one"]
    assert cut(b"x" * 30) == [None]


# --- a reader --------------------------------------------------------------------------------------------------


async def soon(true: asyncio.Event) -> None:
    await asyncio.wait_for(true.wait(), 20)


async def test_a_reader_reads_a_file_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"one\ntwo\nthree")
    found: list[bytes | None] = []
    ended = asyncio.Event()
    source = os.open(tmp_path / "lines", os.O_RDONLY)
    Reader(source, found.append, ended.set).start()
    await soon(ended)
    os.close(source)
    assert found == [b"one", b"two", b"three"]


async def test_a_reader_of_a_pipe_pauses_and_reads_on() -> None:
    found: list[bytes | None] = []
    ended = asyncio.Event()
    source, sink = os.pipe()
    reader = Reader(source, found.append, ended.set)
    reader.start()
    reader.pause()
    reader.pause()
    os.write(sink, b"one\n")
    await asyncio.sleep(0.05)
    assert found == []
    reader.resume()
    reader.resume()
    os.close(sink)
    await soon(ended)
    assert found == [b"one"]
    reader.stop()
    os.close(source)


async def test_a_reader_of_a_file_that_pauses_reads_a_few_chunks_at_most(tmp_path: Path) -> None:
    line = b"x" * 1_023 + b"\n"
    (tmp_path / "lines").write_bytes(line * 8_192)
    ended = asyncio.Event()
    found = 0
    source = os.open(tmp_path / "lines", os.O_RDONLY)

    def take(line: bytes | None) -> None:
        nonlocal found
        found += 1
        reader.pause()

    reader = Reader(source, take, ended.set)
    reader.start()
    while found < 1_024:  # four chunks
        await asyncio.sleep(0)
    await asyncio.sleep(0.1)
    assert found <= 1_280
    reader.resume()
    while not ended.is_set():
        reader.resume()
        await asyncio.sleep(0)
    os.close(source)
    assert found == 8_192


# --- a writer --------------------------------------------------------------------------------------------------


async def test_a_writer_writes_all_in_order_and_says_when_much_waits() -> None:
    source, sink = os.pipe()
    said: list[str] = []
    writer = Writer(sink, lambda: said.append("broke"))
    writer.full = lambda: said.append("full")
    writer.drained = lambda: said.append("drained")
    messages = [b"%d" % n * 300_000 + b"\n" for n in range(10)]
    for message in messages:
        writer.write(message)
    assert writer.waiting > ATOM and said == []
    writer.write(b"x" * FULL + b"\n")
    assert said == ["full"]
    reading = asyncio.create_task(asyncio.to_thread(read_to_end, source))
    await writer.flush(20)
    assert (writer.waiting, said[-1]) == (0, "drained")
    writer.stop()
    os.close(sink)
    assert await reading == b"".join(messages) + b"x" * FULL + b"\n"


def read_to_end(source: int) -> bytes:
    with os.fdopen(source, "rb") as file:
        return file.read()


async def test_a_writer_that_nobody_reads_breaks_once() -> None:
    source, sink = os.pipe()
    os.close(source)
    said: list[str] = []
    writer = Writer(sink, lambda: said.append("broke"))
    writer.write(b"one\n")
    writer.write(b"two\n")
    await writer.flush(20)
    assert (said, writer.broken, writer.waiting) == (["broke"], True, 0)
    os.close(sink)
