"""``python -m bench``: a table of ratios, measured side by side in one run.

Knows: how to start the servers, how to load them and how to tell medians. Does not know: what makes one quick.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

REVISION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CELLS = {
    "tools/call echo": ("tools/call", {"name": "echo", "arguments": {"message": "hello"}}),
    "tools/list": ("tools/list", {}),
}


def request(port: int, cell: str) -> bytes:
    """One HTTP request as bytes."""
    method, params = CELLS[cell]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}).encode()
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": method,
        "Content-Length": str(len(body)),
    } | ({"Mcp-Name": str(params["name"])} if "name" in params else {})
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body


async def load(port: int, cell: str, until: float) -> list[float]:
    """Send one request after the other on one connection; the time of each in seconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    message, times = request(port, cell), []
    while (start := time.perf_counter()) < until:
        writer.write(message)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        body = await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        if not head.startswith(b"http/1.1 200") or b'"result"' not in body:
            raise SystemExit(f"port {port} answered {cell} with {head!r} {body!r}")
        times.append(time.perf_counter() - start)
    writer.close()
    return times


async def measure(port: int, cell: str, clients: int, seconds: float) -> tuple[float, float]:
    """Microseconds a call (median) and calls a second, with so many clients."""
    start = time.perf_counter()
    times = await asyncio.gather(*(load(port, cell, start + seconds) for _ in range(clients)))
    every = [each for client in times for each in client]
    return statistics.median(every) * 1e6, len(every) / (time.perf_counter() - start)


def start() -> tuple[dict[str, int], list[subprocess.Popen[bytes]]]:
    """Start every server that can be had, each on a free port."""
    manifests = Path(__file__).parent / "manifests"
    words = {"limit": ["bench.neighbours", "limit"], "mcpdecl": ["mcpdecl", "serve", str(manifests), "--port"]}
    if importlib.util.find_spec("mcp"):
        words["sdk"] = ["bench.neighbours", "sdk"]
    ports, running = {}, []
    for name, arguments in words.items():
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports[name] = free.getsockname()[1]
        line = [sys.executable, "-m", *arguments, str(ports[name])]
        running.append(subprocess.Popen(line, stderr=subprocess.DEVNULL))  # noqa: S603 - the words are ours
    return ports, running


def wait(port: int, patience: float = 30) -> None:
    """Wait until a server listens."""
    end = time.monotonic() + patience
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise SystemExit(f"nothing listens on port {port}") from None
            time.sleep(0.05)


async def table(ports: dict[str, int], seconds: float, rounds: int) -> None:
    """Measure all in turns and print the medians with their ratio to the limit."""
    print(f"{'':34}" + "".join(f"{name:>22}" for name in ports))
    for cell in CELLS:
        for clients in (1, 32):
            seen: dict[str, list[tuple[float, float]]] = {name: [] for name in ports}
            for _ in range(rounds):
                for name, port in ports.items():
                    seen[name].append(await measure(port, cell, clients, seconds))
            middle = {n: [statistics.median(column) for column in zip(*s, strict=True)] for n, s in seen.items()}
            which = 0 if clients == 1 else 1
            unit = ("µs a call", "calls a second")[which]
            cells = (f"{m[which]:>13,.0f} ({m[which] / middle['limit'][which]:5.2f})" for m in middle.values())
            print(f"{cell + ', ' + str(clients) + ' at once':34}" + "".join(f"{c:>22}" for c in cells), unit)


def main() -> None:
    """Parse options, start, measure, stop."""
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("--seconds", type=float, default=0.5, help="length of one slice")
    options.add_argument("--rounds", type=int, default=3, help="slices of each cell and server")
    given = options.parse_args()
    ports, running = start()
    try:
        for port in ports.values():
            wait(port)
        asyncio.run(table(ports, given.seconds, given.rounds))
    finally:
        for process in running:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
