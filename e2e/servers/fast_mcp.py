"""A server of FastMCP: fast_mcp.py stdio|sse|http [PORT]."""

import sys

from fastmcp import FastMCP

server = FastMCP("fast-mcp")


@server.tool
def join(words: list[str], between: str = " ") -> str:
    """Joins words."""
    return between.join(words)


@server.tool
def divide(a: float, b: float) -> float:
    """Divides two numbers."""
    return a / b


transport, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
server.run(transport, show_banner=False, **({} if transport == "stdio" else {"port": port}))
