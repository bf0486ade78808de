"""A server that refuses every request with as little work as possible: `python bare.py` prints its port, and runs until its input is closed.

While the clients of an attack send to it, another service's known turns take as long as the machine and the clients make them.
"""

from __future__ import annotations

import asyncio
import sys

from httptools import HttpRequestParser  # type: ignore[import-untyped]

REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"


class Refusing(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.parser = transport, HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        self.transport.write(REFUSAL)  # type: ignore[attr-defined]


async def run() -> None:
    server = await asyncio.get_running_loop().create_server(Refusing, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    import uvloop

    uvloop.run(run())
