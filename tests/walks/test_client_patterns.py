"""The official SDK's client and FastMCP's go through every pattern of the protocol, over stdio and over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from fastmcp.client.elicitation import ElicitResult as FastElicitResult
from mcp.client.subscriptions import ResourceUpdated, listen

from tests import wire
from tests.walks.conftest import project
from tests.walks.test_clients import Way, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

PROJECT = {
    "manifests/m.yaml": """
        forms:
          place:
            message: Where to?
            fields:
              city: {type: string, minLength: 2}
              nights: {type: integer, default: 2}
              board: {type: string, oneOf: [{const: half, title: Half board}, {const: full, title: Full board}]}
        tools:
          book:
            description: Books a room after two rounds of questions.
            ask:
              where: {form: place}
              really: {message: "Book {{ answers.where.nights }} nights in {{ answers.where.city }}?"}
            python: "things:book"
          pay:
            description: Sends the user to a page first.
            ask:
              page: {message: Please pay., url: "https://pay.example/now"}
            text: paid
          think:
            description: Asks the model of the client.
            ask:
              thought:
                sample:
                  messages: [{role: user, content: {type: text, text: "Say yes."}}]
                  maxTokens: 10
            text: "It says {{ answers.thought.content.text }}"
          where:
            description: Asks for roots.
            ask: {folders: {roots: true}}
            text: "{{ answers.folders | length }} roots"
          deep: {description: Asks from inside., python: "things:deep"}
          waits: {description: Waits., python: "things:waits"}
          chatty: {description: Logs and tells progress., python: "things:chatty"}
          touch: {description: Says that the note changed., python: "things:touch"}
        prompts:
          greet:
            description: Asks for a name.
            ask: {who: {message: Who?, fields: {name: string}}}
            messages: [{user: "Greet {{ answers.who.name }}."}]
        resources:
          note: {uri: "things://note", text: note}
          secret:
            uri: things://secret
            ask: {sure: "Show it?"}
            text: "42"
    """,
    "things.py": """
        import asyncio
        from mcpdecl import Context

        def book():
            with open("booked", "a") as file:
                file.write("x")
            return "booked"

        async def deep(ctx: Context):
            one = await ctx.ask("one", "First?", fields={"word": "string"})
            two = await ctx.ask("two", f"After {one['word']}?", fields={"word": "string"})
            return one["word"] + two["word"]

        async def waits():
            with open("waits", "a") as file:
                file.write("began ")
            try:
                await asyncio.sleep(600)
            finally:
                with open("waits", "a") as file:
                    file.write("ended ")

        async def chatty(ctx: Context):
            for n in range(1, 4):
                ctx.log("info", f"step {n}")
                ctx.progress(n, 3, f"step {n}")
                await asyncio.sleep(0.1)
            return "done"

        def touch(ctx: Context):
            ctx.notify_updated("things://note")
            return "touched"
    """,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project(tmp_path / "things", PROJECT)
    return tmp_path / "things"


@pytest.fixture(params=["stdio", "http"])
def way(request: pytest.FixtureRequest, root: Path) -> Iterator[Way]:
    if request.param == "stdio":
        yield Way(root, None)
    else:
        with wire.http(root / "manifests", cwd=root) as served:
            yield Way(root, served.url)
            assert served.stop() == 0 and "Traceback" not in served.stderr, served.stderr


def content(params: Any) -> dict[str, Any]:
    """What a user fills in, by the properties of the form."""
    wanted = params.requested_schema.get("properties", {})
    filled = {"city": "Rome", "nights": 3, "board": "full", "word": params.message[:5], "name": "Ada"}
    return {key: value for key, value in filled.items() if key in wanted}


async def given_up(call: Callable[[], Awaitable[Any]], project: Path) -> None:
    """Cancel a call once it runs, and see that what it began is ended on the server."""
    waits = project / "waits"
    async with anyio.create_task_group() as group:
        group.start_soon(call)
        while not waits.exists():
            await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    while waits.read_text() != "began ended ":
        await anyio.sleep(0.02)


# --- the official SDK --------------------------------------------------------------------------------------------


async def test_the_sdk_answers_every_kind_of_question(way: Way) -> None:
    asked: list[str] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        if params.mode == "url":
            return types.ElicitResult(action="accept")
        return types.ElicitResult(action="accept", content=content(params))

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        said = types.TextContent(type="text", text="yes")
        return types.CreateMessageResult(role="assistant", content=said, model="m", stop_reason="endTurn")

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri="file:///a"), types.Root(uri="file:///b")])  # type: ignore[arg-type]

    callbacks = {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}
    async with way.sdk(**callbacks) as client:
        assert text_of((await client.call_tool("book", {})).content) == "booked"
        assert asked == ["Where to?", "Book 3 nights in Rome?"]
        assert (way.project / "booked").read_text() == "x", "the binding runs once over all rounds"
        assert text_of((await client.call_tool("pay", {})).content) == "paid"
        assert text_of((await client.call_tool("think", {})).content) == "It says yes"
        assert text_of((await client.call_tool("where", {})).content) == "2 roots"
        assert text_of((await client.call_tool("deep", {})).content) == "FirstAfter"
        prompt = await client.get_prompt("greet", {})
        assert isinstance(prompt.messages[0].content, types.TextContent)
        assert prompt.messages[0].content.text == "Greet Ada."
        secret = (await client.read_resource("things://secret")).contents[0]
        assert isinstance(secret, types.TextResourceContents) and secret.text == "42"


async def test_the_sdk_says_no(way: Way) -> None:
    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="cancel")

    async with way.sdk(elicitation_callback=elicit) as client:
        said = await client.call_tool("book", {})
        assert said.is_error and "cancelled" in text_of(said.content)
        assert not (way.project / "booked").exists()


async def test_the_sdk_cancels_and_goes_on(way: Way) -> None:
    async with way.sdk() as client:
        await given_up(partial(client.call_tool, "waits", {}), way.project)
        assert text_of((await client.call_tool("touch", {})).content) == "touched"


async def test_the_sdk_hears_progress_and_logs(way: Way) -> None:
    progress: list[Any] = []
    logs: list[Any] = []

    async def tell(*told: Any) -> None:
        progress.append(told)

    async def log(params: Any) -> None:
        logs.append((params.level, params.data))

    async with way.sdk(logging_callback=log, log_level="info") as client:
        assert text_of((await client.call_tool("chatty", {}, progress_callback=tell)).content) == "done"
    assert progress == [(n, 3, f"step {n}") for n in (1, 2, 3)]
    assert logs == [("info", f"step {n}") for n in (1, 2, 3)]


async def test_the_sdk_hears_what_a_callable_announces(way: Way) -> None:
    async with way.sdk() as client, client.listen(resource_subscriptions=["things://note"]) as events:
        await client.call_tool("touch", {})
        updated = await anext(events)
        assert isinstance(updated, ResourceUpdated) and str(updated.uri) == "things://note"


# --- FastMCP -----------------------------------------------------------------------------------------------------


async def test_fastmcp_answers_every_kind_of_question(way: Way) -> None:
    async def elicit(message: str, kind: Any, params: Any, context: Any) -> Any:
        if getattr(params, "mode", "form") == "url":
            return FastElicitResult(action="accept")
        return content(params)

    async def sample(messages: Any, params: Any, context: Any) -> str:
        return "yes"

    handlers = {"elicitation_handler": elicit, "sampling_handler": sample, "roots": ["file:///a", "file:///b"]}
    async with way.fast(**handlers) as client:
        assert text_of((await client.call_tool("book", {})).content) == "booked"
        assert text_of((await client.call_tool("pay", {})).content) == "paid"
        assert text_of((await client.call_tool("think", {})).content) == "It says yes"
        assert text_of((await client.call_tool("where", {})).content) == "2 roots"
        assert text_of((await client.call_tool("deep", {})).content) == "FirstAfter"
        greeting = (await client.get_prompt("greet", {})).messages[0].content
        assert greeting.text == "Greet Ada."  # type: ignore[union-attr]
        assert (await client.read_resource("things://secret"))[0].text == "42"  # type: ignore[union-attr]


async def test_fastmcp_cancels_and_goes_on(way: Way) -> None:
    async with way.fast() as client:
        await given_up(partial(client.call_tool, "waits", {}), way.project)
        assert text_of((await client.call_tool("touch", {})).content) == "touched"


async def test_fastmcp_hears_progress_and_what_a_callable_announces(way: Way) -> None:
    progress: list[Any] = []

    async def tell(*told: Any) -> None:
        progress.append(told)

    async with way.fast(progress_handler=tell) as client:
        async with listen(client.session, resource_subscriptions=["things://note"]) as events:
            assert text_of((await client.call_tool("chatty", {})).content) == "done"
            await client.call_tool("touch", {})
            assert isinstance(await anext(events), ResourceUpdated)
    assert progress == [(n, 3, f"step {n}") for n in (1, 2, 3)]
