"""Refusals and errors as replies."""

from __future__ import annotations

from typing import Any

from mcpdecl.catalogue import Failure
from mcpdecl.diagnostics import CODES, Refused
from mcpdecl.protocol import Fault, Reply
from mcpdecl.protocol.faults import failed, guarded, incident, internal, refused
from tests.protocol.standins import Client, catalogue, fault


def request() -> Any:
    client = Client(catalogue())
    plan = client.plan(client.body("x"))
    assert isinstance(plan, Reply)
    return plan.request


def test_a_refusal_has_the_code_and_status_of_its_code() -> None:
    for name, code in CODES.items():
        if code.rpc is not None:
            reply = refused(1, Refused(name, "No.", {"a": 1}))
            assert (reply.value, reply.status) == (Fault(code.rpc, "No.", {"a": 1}), code.status)


def test_a_step_that_raises_is_answered() -> None:
    def refuse() -> Reply:
        raise Refused("unknown-tool", "Unknown tool: x")

    def fail() -> Reply:
        raise RecursionError

    first, second = guarded(request(), refuse), guarded(request(), fail)
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert fault(first).code == -32602
    assert fault(second).code == -32603
    assert second.request is not None


def test_an_internal_error_tells_the_client_an_id_and_the_log_the_rest() -> None:
    reply = internal(1, ValueError("/secret"), request())
    ((event, fields),) = reply.notes
    assert event == "incident"
    assert fields["id"] in fault(reply).message
    assert fault(reply).data == {"incident": fields["id"]}
    assert fields["method"] == "x"
    assert fields["error"] == "ValueError: /secret"
    assert "/secret" not in fault(reply).message
    assert incident(None, None, item="t").notes[0][1]["item"] == "t"


def test_a_failed_run_where_there_is_no_error_result() -> None:
    assert failed(Failure("Broken.", "i")).data == {"incident": "i"}
    assert failed(Failure("Broken.")).data is None
