"""Many hostile clients in one process: `python clients.py PORT KIND NUMBER TOKEN` runs until its input is closed, and then prints counts.

Each client repeats its kind of attack on connections of its own, and never waits after a refusal. The counts are the statuses of the
responses, and `closed` for connections that the service closed before a whole response.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import cache

MEBIBYTE = 1 << 20
HEAVY_TEMPLATE = "{% for a in range(300) %}{% for b in range(300) %}{{ a * b }}{% endfor %}{% endfor %}"
TOOLS = [{"name": f"tool_{number}", "description": "word " * 200} for number in range(40)]
counts: Counter[str] = Counter()


def request(method: str, path: str, body: object = None, token: str = "", **headers: str) -> bytes:
    content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(content)}"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"{name}: {text}" for name, text in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + content


class Attack:
    """What the clients of one kind send. `port` and `token` are the service's."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token, self.number = port, token, 0

    def send(self, method: str, path: str, body: object = None) -> bytes:
        return request(method, path, body, self.token)

    def questions(self) -> bytes:
        body = {"cwd": "", "tools": TOOLS}
        path = random.choice(["/agents", "/review", "/lint", "/show", "/tokens", "/blame", "/align", "/lock"])
        return self.send(
            "POST", path, {"cwd": ""} if path in ("/agents", "/review", "/lint", "/align", "/lock") else body
        )

    def lists(self) -> bytes:
        letter = random.choice("0123456789abcdef")
        path = random.choice(
            ["/conversations?search={}", "/conversations?sort=newest&search={}", "/usage", "/system-prompt/usage"]
        )
        return self.send("GET", path.format(letter))

    def templates(self) -> bytes:
        path, layout = random.choice([("/system-prompt/preview", {"layout": "pod"}), ("/system-prompt/check", {})])
        return self.send("POST", path, {"syntax": "jinja", "template": HEAVY_TEMPLATE, **layout})

    def new(self) -> bytes:
        self.number += 1
        id = f"hostile-{os.getpid()}-{self.number}"
        return self.send("POST", f"/conversations/{id}/turn", {"cwd": "", "tools": TOOLS, "message": "go on"})

    def known(self) -> bytes:
        return self.send("POST", "/conversations/hostile/turn", {"cwd": "", "message": "go on"})

    def reads(self) -> bytes:
        return self.send(
            "GET", random.choice(["/conversations/hostile", "/healthz", "/readyz", "/openapi.json", "/metrics"])
        )

    def usage(self) -> bytes:
        return self.send("POST", "/conversations/hostile/usage", {"usage": {"input_tokens": 10, "output_tokens": 1}})

    def huge(self) -> bytes:
        return self._huge(random.choice([4, 7, 9]))

    @cache  # noqa: B019 - there is one Attack in the process
    def _huge(self, mebibytes: int) -> bytes:
        return self.send("POST", "/conversations/hostile/turn", {"cwd": "", "message": "x" * mebibytes * MEBIBYTE})

    @cache  # noqa: B019 - there is one Attack in the process
    def nested(self) -> bytes:
        """Many small objects, which take much more memory than their text."""
        return self.send("POST", "/show", b'{"cwd": "", "tools": [' + b",".join([b'{"name":"a"}'] * 190_000) + b"]}")

    @cache  # noqa: B019 - there is one Attack in the process
    def numbers(self) -> bytes:
        """As many values as a body can have, which take longest to decode."""
        settings = b'{"limit": [' + b",".join([b"1"] * 3_900_000) + b"]}"
        body = b'{"cwd": "", "message": "go on", "settings": ' + settings + b"}"
        return self.send("POST", "/conversations/hostile/turn", body)

    @cache  # noqa: B019 - there is one Attack in the process
    def half(self) -> bytes:
        return self.send("POST", "/conversations/hostile/turn", b" " * (8 * MEBIBYTE))[: 7 * MEBIBYTE]

    def mix(self) -> bytes:
        """A request of any quick kind: most are known turns, and one in twenty starts a conversation."""
        return getattr(self, random.choices(*MIX)[0])()  # type: ignore[no-any-return]

    def unknown_tokens(self) -> bytes:
        return request("GET", "/conversations", None, f"{random.getrandbits(128):032x}")


async def repeat_requests(attack: Attack, make: Callable[[], bytes]) -> None:
    """Send one request after the other on a connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", attack.port)
    try:
        while True:
            writer.write(make())
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
            await reader.readexactly(int(fields.get(b"content-length", b"0")))
            counts[head.split(b" ", 2)[1].decode()] += 1
            if fields.get(b"connection") == b"close":
                return
    finally:
        writer.close()


async def send_half(attack: Attack) -> None:
    """Send most of a large body, and wait for the service to give up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", attack.port)
    try:
        writer.write(attack.half())
        await writer.drain()
        counts[(await reader.read(100)).partition(b" ")[2][:3].decode() or "closed"] += 1
    finally:
        writer.close()


async def send_slowly(attack: Attack) -> None:
    """Send a request a byte at a time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", attack.port)
    answer = asyncio.ensure_future(reader.read(100))
    try:
        for byte in attack.known():
            if answer.done():
                break
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.5)
        counts[(await answer).partition(b" ")[2][:3].decode() or "closed"] += 1
    finally:
        answer.cancel()
        writer.close()


async def read_slowly(attack: Attack) -> None:
    """Ask for large responses, and read a few bytes per second."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_connect(client, ("127.0.0.1", attack.port))
        await loop.sock_sendall(client, attack.send("GET", "/openapi.json") * 50)
        while await loop.sock_recv(client, 100):
            await asyncio.sleep(1)
        counts["closed"] += 1
    finally:
        client.close()


async def stay_idle(attack: Attack) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", attack.port)
    try:
        await reader.read()
        counts["closed"] += 1
    finally:
        writer.close()


OTHERS: dict[str, Callable[[Attack], Awaitable[None]]] = {
    "half": send_half,
    "slow-senders": send_slowly,
    "slow-readers": read_slowly,
    "idle": stay_idle,
}
MIX = (("known", "reads", "new", "usage", "lists", "unknown_tokens"), (70, 12, 5, 8, 1, 4))
REQUESTS = (
    "questions",
    "lists",
    "templates",
    "new",
    "known",
    "reads",
    "usage",
    "huge",
    "nested",
    "numbers",
    "unknown_tokens",
)
KINDS = (*REQUESTS, *OTHERS)


async def attack_forever(attack: Attack, kind: str) -> None:
    while True:
        try:
            if kind in OTHERS:
                await OTHERS[kind](attack)
            else:
                await repeat_requests(attack, getattr(attack, kind))
        except (OSError, asyncio.IncompleteReadError):
            counts["closed"] += 1
            await asyncio.sleep(0.01)


async def run(port: int, kind: str, number: int, token: str) -> None:
    attack = Attack(port, token)
    tasks = []
    for _ in range(number):
        tasks.append(asyncio.create_task(attack_forever(attack, kind)))
        if len(tasks) % 100 == 0:
            await asyncio.sleep(0.02)  # the queue for new connections is short
    print("started", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(dict(sorted(counts.items()))), flush=True)


if __name__ == "__main__":
    asyncio.run(run(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]))
