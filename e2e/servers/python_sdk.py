"""A server of the official Python SDK: python_sdk.py stdio|sse|streamable-http [PORT]."""

import sys

from mcp.server import MCPServer

server = MCPServer("python-sdk")


@server.tool()
def join(words: list[str], between: str = " ") -> str:
    """Joins words."""
    return between.join(words)


@server.tool()
def divide(a: float, b: float) -> float:
    """Divides two numbers."""
    return a / b


transport, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
server.run(transport, **({} if transport == "stdio" else {"port": port}))
