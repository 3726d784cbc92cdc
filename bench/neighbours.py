"""Servers to compare with: ``python -m bench.neighbours sdk|limit PORT``.

Knows: the official SDK's low-level server with the same tool, and a bare Starlette endpoint with a canned answer, which
is the limit of this stack. Does not know: how they are measured.
"""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

SCHEMA = {
    "type": "object",
    "properties": {"message": {"type": "string"}},
    "required": ["message"],
    "additionalProperties": False,
}


def sdk() -> Any:
    """The official SDK's low-level server."""
    import mcp_types as types  # noqa: PLC0415 - only this neighbour needs it
    from mcp.server.lowlevel.server import Server  # noqa: PLC0415

    async def tools(context: Any, params: Any) -> types.ListToolsResult:
        tool = types.Tool(name="echo", description="Give back a message.", input_schema=SCHEMA)
        return types.ListToolsResult(tools=[tool], ttl_ms=0, cache_scope="public")

    async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = (params.arguments or {})["message"]
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    server: Any = Server("bench", on_list_tools=tools, on_call_tool=call)
    return server.streamable_http_app(json_response=True)


def limit() -> Starlette:
    """An endpoint that reads the body and answers the same bytes each time."""
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"hello"}]}}'

    async def endpoint(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type="application/json")

    return Starlette(routes=[Route("/mcp", endpoint, methods=["POST"])])


if __name__ == "__main__":
    app = sdk() if sys.argv[1] == "sdk" else limit()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", access_log=False)
