from __future__ import annotations

import json

import pytest

from mcpdecl.catalogue import Settings
from mcpdecl.transports import door
from tests import wire

HEADERS = {
    "host": "127.0.0.1:8000",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


def judged(method: str = "POST", settings: Settings | None = None, **headers: str | None) -> str | None:
    given = {**HEADERS, **{k.replace("_", "-"): v for k, v in headers.items()}}
    present = {k: v for k, v in given.items() if v is not None}
    refusal = door.judge(method, present, settings or Settings(info={}))
    return refusal.code if refusal else None


LOOPBACK = [
    "localhost",
    "LOCALHOST:1",
    "localhost.",
    "localhost.:80",
    "127.0.0.1",
    "127.0.0.1:8000",
    "127.9.9.9",
    "[::1]",
    "[::1]:8000",
]


@pytest.mark.parametrize("host", LOOPBACK)
def test_H04_loopback_names_are_served(host: str) -> None:
    assert judged(host=host) is None


@pytest.mark.parametrize(
    "host",
    [
        "box:8000",
        "evil.test",
        "",
        "127.0.0.1.evil.test",
        "localhost.evil.test",
        "128.0.0.1",
        "localhost:x",
        "a@localhost",
    ],
)
def test_H04_other_hosts_are_refused(host: str) -> None:
    assert judged(host=host) == "host-refused"


def test_H04_the_message_names_the_setting() -> None:
    refusal = door.judge("POST", {**HEADERS, "host": "box:8000"}, Settings(info={}))
    assert refusal is not None
    assert "server.hosts" in refusal.message


@pytest.mark.parametrize("host", ["mcp.x.test", "MCP.x.test:8000", "mcp.x.test.", "only.test:8443"])
def test_H04_declared_hosts_are_served(host: str) -> None:
    assert judged(settings=Settings(info={}, hosts=("Mcp.x.test", "only.test:8443")), host=host) is None


def test_a_declared_port_is_that_port_only() -> None:
    settings = Settings(info={}, hosts=("only.test:8443",))
    assert judged(settings=settings, host="only.test:1") == "host-refused"


@pytest.mark.parametrize("origin", ["http://localhost:5173", "http://127.0.0.1", "https://[::1]:1"])
def test_pages_of_this_machine_may_call(origin: str) -> None:
    assert judged(origin=origin) is None


FOREIGN = [
    "https://evil.test",
    "null",
    "",
    "http://localhost.evil.test",
    "file://localhost",
    "http://localhost@evil.test",
    "http://localhost/x",
    "http://[",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_foreign_origins_are_refused(origin: str) -> None:
    assert judged(origin=origin) == "origin-refused"


def test_pages_of_the_host_itself_and_declared_origins_may_call() -> None:
    settings = Settings(info={}, hosts=("mcp.x.test",), origins=("https://App.test",))
    assert judged(settings=settings, host="mcp.x.test", origin="https://mcp.x.test") is None
    assert judged(settings=settings, host="mcp.x.test", origin="https://app.test") is None
    assert judged(settings=settings, host="mcp.x.test", origin="https://other.test") == "origin-refused"


@pytest.mark.parametrize(
    ("accept", "json", "sse"),
    [
        (None, True, True),
        ("", True, True),
        ("*/*", True, True),
        ("application/json", True, False),
        ("text/event-stream", False, True),
        ("application/*;q=0.5", True, False),
        ("application/json;q=0, text/event-stream", False, True),
        ("text/html", False, False),
        ("APPLICATION/JSON , Text/Event-Stream;charset=utf-8", True, True),
    ],
)
def test_H07_accept_is_read_liberally(accept: str | None, json: bool, sse: bool) -> None:
    assert door.accepted(accept) == (json, sse)


def test_H07_only_what_cannot_be_served_is_not_acceptable() -> None:
    assert judged(accept="text/html") == "not-acceptable"
    assert judged(accept=None) is None


@pytest.mark.parametrize("kind", [None, "text/plain", "application/jsonp", "application/x-www-form-urlencoded"])
def test_H09_a_body_must_be_json(kind: str | None) -> None:
    assert judged(content_type=kind) == "media-type-refused"


def test_content_type_may_have_parameters() -> None:
    assert judged(content_type="Application/JSON; charset=utf-8") is None


def test_H09_a_length_is_judged_before_the_body() -> None:
    assert judged(content_length=str(door.BODY_LIMIT)) is None
    assert judged(content_length=str(door.BODY_LIMIT + 1)) == "too-large"
    assert judged(content_length="-5") is None  # the HTTP parser judges that
    assert judged(content_length="0" * 10_000 + "7") is None
    assert judged(content_length="9" * 10_000) == "too-large"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH"])
def test_H10_only_post(method: str) -> None:
    assert judged(method) == "method-not-allowed"


def test_no_cross_origin_headers_unless_origins_are_declared() -> None:
    assert door.cross_origin({"origin": "http://localhost"}, Settings(info={})) == {}
    settings = Settings(info={}, origins=("https://app.test",))
    assert (
        door.cross_origin({"origin": "https://app.test"}, settings)["access-control-allow-origin"] == "https://app.test"
    )
    assert "access-control-allow-origin" not in door.cross_origin({"origin": "http://localhost"}, settings)


# --- the same over a real socket -------------------------------------------------------------------------------


def test_refusals_are_json_rpc_errors_without_an_id(made: wire.HttpServer) -> None:
    for headers, status in [
        ({"Origin": "https://evil.test"}, 403),
        ({"Host": "box:8000"}, 421),
        ({"Content-Type": "text/plain"}, 415),
        ({"Accept": "text/html"}, 406),
    ]:
        answer = made.request("tools/list", headers=headers)
        assert answer.status == status
        assert "id" not in answer.json
        assert answer.error["code"] == -32600


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_H10_other_verbs_get_405_and_allow(made: wire.HttpServer, method: str) -> None:
    answer = made.send(b"", method=method)
    assert answer.status == 405
    assert answer.headers["Allow"] == "POST, OPTIONS"


def test_preflight_without_origins_allows_no_origin(made: wire.HttpServer) -> None:
    answer = made.send(b"", {"Origin": "http://localhost:1"}, method="OPTIONS")
    assert answer.status == 204
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_cors_is_for_declared_origins() -> None:
    from tests.transports.conftest import MADE

    page = {"Origin": "https://app.test", "Access-Control-Request-Headers": "mcp-method, mcp-param-region"}
    with wire.http(argv=MADE, env={"MADE_SETTINGS": json.dumps({"origins": ["https://app.test"]})}) as server:
        answer = server.send(b"", page, method="OPTIONS")
        assert answer.status == 204
        assert answer.headers["Access-Control-Allow-Origin"] == "https://app.test"
        assert answer.headers["Access-Control-Allow-Headers"] == "mcp-method, mcp-param-region"
        assert server.request("tools/list", headers=page).headers["Access-Control-Allow-Origin"] == "https://app.test"
        assert server.request("tools/list", headers={"Origin": "https://no.test"}).status == 403
