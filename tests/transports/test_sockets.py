from __future__ import annotations

import json
import resource
import signal
import socket
import threading

import pytest

from mcpdecl.transports.sockets import CannotListen, address_of, bind, raise_descriptor_limit
from tests import wire
from tests.transports.conftest import MADE


def test_O02_a_port_in_use_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=rf"port {port} is in use \(127\.0\.0\.1\)"):
            bind("127.0.0.1", port)


def test_an_unknown_host_is_told() -> None:
    with pytest.raises(CannotListen, match=r"no-such-host\.invalid"):
        bind("no-such-host.invalid", 0)


def test_O02_port_0_picks_one() -> None:
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        assert port > 0
        assert address_of(sock, "/mcp") == f"http://127.0.0.1:{port}/mcp"


def test_the_descriptor_limit_is_raised() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    raise_descriptor_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 256
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_O01_N12_sigterm_ends_listens_with_a_result_and_a_clean_end() -> None:
    with wire.http(argv=MADE) as server:
        streams = [server.listen(id=f"L{n}", toolsListChanged=True) for n in range(3)]
        idle = server.connect()
        idle.connect()
        assert server.stop(signal.SIGTERM) == 0
        for n, stream in enumerate(streams):
            (last,) = stream.rest()
            assert last["id"] == f"L{n}"
            assert last["result"]["resultType"] == "complete"
            assert last["result"]["_meta"][wire.META + "subscriptionId"] == f"L{n}"
            stream.close()
        idle.close()
        assert "Traceback" not in server.stderr
        assert "rror" not in server.stderr


def test_O01_calls_get_time_to_finish() -> None:
    found: list[wire.Answer] = []
    with wire.http(argv=MADE) as server:
        call = threading.Thread(target=lambda: found.append(server.call("slow", {"seconds": 1})))
        call.start()
        server.says("began slow")
        assert server.stop(signal.SIGTERM) == 0
        call.join(wire.PATIENCE)
    assert found[0].text == "slept slow"


def test_O01_a_call_that_takes_too_long_is_told_so() -> None:
    found: list[wire.Answer] = []
    with wire.http(argv=MADE, env={"MADE_SETTINGS": json.dumps({"stream_after": 60})}) as server:
        call = threading.Thread(target=lambda: found.append(server.call("slow", {"seconds": 600})))
        call.start()
        server.says("began slow")
        assert server.stop(signal.SIGTERM) == 0
        call.join(wire.PATIENCE)
        assert "cancelled slow" in server.stderr
        assert "Traceback" not in server.stderr
    assert found[0].status == 503
    assert "shutting down" in found[0].error["message"]


def test_O01_a_second_signal_exits_at_once() -> None:
    with wire.http(argv=MADE) as server:
        connection = server.connect()
        message = wire.message("tools/call", {"name": "slow", "arguments": {}})
        connection.request("POST", "/mcp", json.dumps(message), wire.headers_of(message))
        server.says("began slow")
        server.kill(signal.SIGINT)
        server.says("stopping")
        server.kill(signal.SIGINT)
        assert server.wait(3) == 130
        assert "cancelled slow" in server.stderr
        connection.close()


def test_D08_sigint_ends_with_130() -> None:
    with wire.http(argv=MADE) as server:
        assert server.stop(signal.SIGINT) == 130
        assert "Traceback" not in server.stderr


def test_a_thread_that_never_returns_does_not_keep_the_process() -> None:
    with wire.http(argv=MADE) as server:
        connection = server.connect()
        message = wire.message("tools/call", {"name": "stuck", "arguments": {}})
        connection.request("POST", "/mcp", json.dumps(message), wire.headers_of(message))
        server.says("began stuck")
        connection.close()
        assert server.stop() == 0


def test_many_listeners_from_one_address() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = min(300, hard - 100)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, many + 200)), hard))
    with wire.http(argv=MADE) as server:
        streams = [server.listen(id=n, toolsListChanged=True) for n in range(many)]
        server.call("grow")
        assert all(s.message()["method"] == "notifications/tools/list_changed" for s in streams)
        assert server.stop() == 0
        for stream in streams:
            assert len(stream.rest()) == 1
            stream.close()
