"""Real clients drive the example project: the official SDK's and FastMCP's, over stdio and over HTTP.

Each walk runs once for each way. Both clients probe for the era; that they end at the current revision is a part of it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import fastmcp
import mcp
import mcp_types as types
import pytest
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from mcp.client.stdio import stdio_client
from mcp.client.subscriptions import ResourceUpdated, ToolsListChanged, listen

from tests import wire
from tests.example import example, git, write
from tests.walks.processes import children

REVISION = "2026-07-28"
PATIENCE = 60.0
TOOLS = {"about", "count_lines", "delete_branch", "draft_entry", "find_commits", "run_tests", "show_file"}
ADDED = """
tools:
  added_while_running:
    description: Was not there when the client connected.
    text: Here I am.
"""

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return example(tmp_path / "project").parent


class Way:
    """One way to a server: over HTTP or stdio. Clients connect through it."""

    def __init__(self, project: Path, url: str | None) -> None:
        self.project = project
        self.url = url
        self.words = wire.command(project / "manifests", "--stdio")

    def sdk(self, **callbacks: Any) -> AbstractAsyncContextManager[mcp.Client]:
        """The official SDK's client."""
        return self._sdk(callbacks)

    @asynccontextmanager
    async def _sdk(self, callbacks: dict[str, Any]) -> AsyncIterator[mcp.Client]:
        with (self.project.parent / "stderr.txt").open("a") as log, anyio.fail_after(PATIENCE):
            program = mcp.StdioServerParameters(command=self.words[0], args=self.words[1:], cwd=self.project)
            way: Any = self.url or stdio_client(program, errlog=log)
            async with mcp.Client(way, **callbacks) as client:
                yield client

    def fast(self, **handlers: Any) -> AbstractAsyncContextManager[fastmcp.Client[Any]]:
        """FastMCP's client."""
        return self._fast(handlers)

    @asynccontextmanager
    async def _fast(self, handlers: dict[str, Any]) -> AsyncIterator[fastmcp.Client[Any]]:
        with (self.project.parent / "stderr.txt").open("a") as log, anyio.fail_after(PATIENCE):
            way: Any = self.url or StdioTransport(
                self.words[0], self.words[1:], cwd=str(self.project), keep_alive=False, log_file=log
            )
            async with fastmcp.Client(way, **handlers) as client:
                yield client


@pytest.fixture(params=["stdio", "http"])
def way(request: pytest.FixtureRequest, project: Path) -> Iterator[Way]:
    if request.param == "stdio":
        yield Way(project, None)
    else:
        with wire.http(project / "manifests", cwd=project) as served:
            yield Way(project, served.url)


def text_of(content: Any) -> str:
    return "\n".join(block.text for block in content if block.type == "text")


# --- the official SDK --------------------------------------------------------------------------------------------


async def test_the_sdk_lists_calls_gets_reads_and_completes(way: Way) -> None:
    async with way.sdk() as client:
        assert client.protocol_version == REVISION
        assert client.server_info is not None and client.server_info.name == "repo-helper"
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        assert {p.name for p in (await client.list_prompts()).prompts} == {"review"}
        assert {"repo://readme", "docs://style.md"} <= {str(r.uri) for r in (await client.list_resources()).resources}
        templates = (await client.list_resource_templates()).resource_templates
        assert [t.uri_template for t in templates] == ["repo://commit/{sha}", "docs://{+path}"]

        found = await client.call_tool("find_commits", {"word": "notes"})
        assert not found.is_error and "Fix the notes" in text_of(found.content)
        counted = await client.call_tool("count_lines", {"path": "README.md"})
        assert counted.structured_content == {"authors": [{"author": "Ada", "lines": 3}]}
        shown = await client.call_tool("show_file", {"path": "nowhere.txt"})
        assert shown.is_error and "nowhere.txt" in text_of(shown.content)

        prompt = await client.get_prompt("review", {"focus": "speed"})
        assert [m.role for m in prompt.messages] == ["user", "user", "assistant"]
        assert isinstance(prompt.messages[0].content, types.TextContent)
        assert "speed" in prompt.messages[0].content.text and "+three" in prompt.messages[0].content.text
        assert isinstance(prompt.messages[1].content, types.EmbeddedResource)

        readme = (await client.read_resource("repo://readme")).contents[0]
        assert isinstance(readme, types.TextResourceContents)
        assert readme.text.startswith("# A repository") and readme.mime_type == "text/markdown"

        guide = await client.complete(types.PromptReference(name="review"), {"name": "guide", "value": "docs/"})
        assert guide.completion.values == ["docs/style.md"]
        commits = types.ResourceTemplateReference(uri="repo://commit/{sha}")
        sha = (await client.complete(commits, {"name": "sha", "value": ""})).completion.values[0]
        commit = (await client.read_resource(f"repo://commit/{sha}")).contents[0]
        assert isinstance(commit, types.TextResourceContents) and "Fix the notes" in commit.text


async def test_the_sdk_gets_errors_that_say_what_is_wrong(way: Way) -> None:
    async with way.sdk() as client:
        with pytest.raises(mcp.MCPError, match="no_such_tool") as unknown:
            await client.call_tool("no_such_tool", {})
        assert unknown.value.error.code == types.INVALID_PARAMS
        wrong = await client.call_tool("find_commits", {"word": "x", "limit": 0})
        assert wrong.is_error and "limit" in text_of(wrong.content)
        with pytest.raises(mcp.MCPError) as missing:
            await client.read_resource("repo://nowhere")
        assert missing.value.error.code == types.INVALID_PARAMS
        assert (await client.list_tools()).tools


async def test_the_sdk_answers_questions(way: Way) -> None:
    asked: list[str] = []
    answers = iter(("decline", "accept"))

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        if "title" in params.requested_schema.get("properties", {}):
            return types.ElicitResult(action="accept", content={"title": "Faster notes", "kind": "feature"})
        return types.ElicitResult(action=next(answers), content=None)  # type: ignore[arg-type]

    async with way.sdk(elicitation_callback=answer) as client:
        kept = await client.call_tool("delete_branch", {"branch": "unfinished"})
        assert "Work on unfinished" in asked[-1] and text_of(kept.content) == "Kept unfinished."
        assert "unfinished" in git(way.project, "branch")

        gone = await client.call_tool("delete_branch", {"branch": "unfinished"})
        assert not gone.is_error and len(asked) == 2
        assert "unfinished" not in git(way.project, "branch")

        entry = await client.call_tool("draft_entry", {"version": "1.2.0"})
        assert "1.2.0" in asked[-1] and "- Faster notes" in text_of(entry.content)
        assert "### Added" in text_of(entry.content)


async def test_the_sdk_without_forms_is_refused_and_nothing_runs(way: Way) -> None:
    async with way.sdk() as client:
        with pytest.raises(mcp.MCPError) as lacking:
            await client.call_tool("delete_branch", {"branch": "spare"})
        assert lacking.value.error.code == types.jsonrpc.MISSING_REQUIRED_CLIENT_CAPABILITY
        assert "spare" in git(way.project, "branch")


async def test_the_sdk_receives_progress(way: Way) -> None:
    seen: list[float] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        assert total == 100
        seen.append(progress)

    async with way.sdk() as client:
        ran = await client.call_tool("run_tests", {}, progress_callback=tell)
        assert "4 passed" in text_of(ran.content), text_of(ran.content)
    assert seen[-1] == 100 and len(seen) > 1 and seen == sorted(seen)


async def test_the_sdk_listens_and_sees_an_edit(way: Way) -> None:
    async with way.sdk() as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        async with client.listen(tools_list_changed=True, resource_subscriptions=["repo://readme"]) as events:
            assert events.honored.tools_list_changed
            write(way.project, "manifests/added.yaml", ADDED)
            assert isinstance(await anext(events), ToolsListChanged)
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS | {"added_while_running"}
            assert text_of((await client.call_tool("added_while_running", {})).content) == "Here I am."

            write(way.project, "manifests/added.yaml", "tools:\n  added_while_running: {text: [}\n")
            write(way.project, "README.md", "# Rewritten\n")
            updated = await anext(events)
            assert isinstance(updated, ResourceUpdated) and str(updated.uri) == "repo://readme"
            assert text_of((await client.call_tool("added_while_running", {})).content) == "Here I am."

            (way.project / "manifests/added.yaml").unlink()
            assert isinstance(await anext(events), ToolsListChanged)
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS


# --- FastMCP -----------------------------------------------------------------------------------------------------


async def test_fastmcp_lists_calls_gets_reads_and_completes(way: Way) -> None:
    async with way.fast() as client:
        assert client.protocol_version == REVISION
        assert {tool.name for tool in await client.list_tools()} == TOOLS
        assert [p.name for p in await client.list_prompts()] == ["review"]
        assert {"repo://readme", "docs://style.md"} <= {str(r.uri) for r in await client.list_resources()}
        templates = await client.list_resource_templates()
        assert [t.uri_template for t in templates] == ["repo://commit/{sha}", "docs://{+path}"]

        found = await client.call_tool("find_commits", {"word": "notes"})
        assert "Fix the notes" in text_of(found.content)
        counted = await client.call_tool("count_lines", {"path": "README.md"})
        assert counted.structured_content == {"authors": [{"author": "Ada", "lines": 3}]}
        with pytest.raises(ToolError, match=r"nowhere\.txt"):
            await client.call_tool("show_file", {"path": "nowhere.txt"})

        prompt = await client.get_prompt("review", {"focus": "style"})
        assert "style" in prompt.messages[0].content.text  # type: ignore[union-attr]
        readme = (await client.read_resource("repo://readme"))[0]
        assert readme.text.startswith("# A repository")  # type: ignore[union-attr]
        guide = await client.complete(types.PromptReference(name="review"), {"name": "guide", "value": "docs/"})
        assert guide.values == ["docs/style.md"]


async def test_fastmcp_answers_questions(way: Way) -> None:
    asked: list[str] = []

    async def answer(message: str, kind: Any, params: Any, context: Any) -> Any:
        asked.append(message)
        return {"title": "Faster notes"} if "1.2.0" in message else {}

    async with way.fast(elicitation_handler=answer) as client:
        await client.call_tool("delete_branch", {"branch": "spare"})
        assert "Work on spare" in asked[-1] and "spare" not in git(way.project, "branch")
        entry = await client.call_tool("draft_entry", {"version": "1.2.0"})
        assert "- Faster notes" in text_of(entry.content)


async def test_fastmcp_receives_progress(way: Way) -> None:
    seen: list[float] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with way.fast(progress_handler=tell) as client:
        ran = await client.call_tool("run_tests", {})
        assert "4 passed" in text_of(ran.content)
    assert seen[-1] == 100 and seen == sorted(seen)


async def test_fastmcp_listens_and_sees_an_edit(way: Way) -> None:
    async with way.fast() as client, listen(client.session, tools_list_changed=True) as events:
        write(way.project, "manifests/added.yaml", ADDED)
        assert isinstance(await anext(events), ToolsListChanged)
        assert {tool.name for tool in await client.list_tools()} == TOOLS | {"added_while_running"}
        assert text_of((await client.call_tool("added_while_running", {})).content) == "Here I am."


# --- both, when the server ends ----------------------------------------------------------------------------------

SLOW = """
tools:
  waits:
    description: Goes on when it may.
    command: [sh, -c, "touch began; while ! [ -e go ]; do sleep 0.05; done; echo gone on"]
"""


def server_of(way: Way) -> int:
    """The process that serves the project."""
    mine = str(way.project / "manifests").encode()
    (found,) = [pid for pid in children(os.getpid()) if mine in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    return found


def tools_of(listed: Any) -> list[Any]:
    """The tools, as either client gives them."""
    found: list[Any] = getattr(listed, "tools", listed)
    return found


async def until(path: Path) -> None:
    while not path.exists():
        await anyio.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("kind", ["sdk", "fast"])
async def test_N12_a_server_that_ends_ends_a_subscription_cleanly(way: Way, kind: str, number: int) -> None:
    said: list[str] = []
    write(way.project, "manifests/slow.yaml", SLOW)
    async with getattr(way, kind)() as client:
        # All are listed before, or they would be after the call, when the server is gone.
        while "waits" not in {tool.name for tool in tools_of(await client.list_tools())}:
            await anyio.sleep(0.02)

        async def call() -> None:
            said.append(text_of((await client.call_tool("waits", {})).content))

        async with anyio.create_task_group() as tasks, listen(client.session, tools_list_changed=True) as events:
            tasks.start_soon(call)
            await until(way.project / "began")
            os.kill(server_of(way), number)
            assert [event async for event in events] == []
            (way.project / "go").touch()
    assert said == ["gone on\n"]
