"""A small MCP server with one tool, which the scripted sessions add in the middle of a conversation."""

from __future__ import annotations

import json
import sys

TOOL = {
    "name": "late_lookup",
    "description": "Look up a word in the late server's list. " * 8,
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}


def main() -> None:
    """Answer requests on standard input until it is closed."""
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if "id" not in request:
            continue
        asked = request.get("params", {}).get("protocolVersion", "2025-06-18")
        results = {
            "initialize": {
                "protocolVersion": asked,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "late", "version": "1"},
            },
            "tools/list": {"tools": [TOOL]},
        }
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": results.get(request.get("method"), {})}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
