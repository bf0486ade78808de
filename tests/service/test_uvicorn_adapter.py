"""The private parts of uvicorn on which `uvicorn_adapter.py` relies are listed, and exist in the installed version."""

import ast
import asyncio
import gc
import inspect
import re
import tomllib
import weakref
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState
from uvicorn.supervisors import Multiprocess

from foreword import CallError
from foreword.service import uvicorn_adapter

ROOT = Path(__file__).parents[2]
OVERRIDES = {HttpToolsProtocol: "Connection", RequestResponseCycle: "Cycle", Multiprocess: "Supervisor"}
CYCLES = ("cycle", "previous", "self.cycle", "self._running", "self.pipeline[-1][0]")


def names_used():
    """Return the names that the adapter uses of each of uvicorn's classes, except those that its own classes define."""
    tree = ast.parse(inspect.getsource(uvicorn_adapter))
    used = {owner: set() for owner in uvicorn_adapter.RELIED_ON}
    for owner, name in OVERRIDES.items():
        (override,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
        attributes = [node for node in ast.walk(override) if isinstance(node, ast.Attribute)]
        methods = {node.name for node in override.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        init = vars(getattr(uvicorn_adapter, name)).get("__init__")
        own = set(re.findall(r"self\.(\w+)[^=\n]*= ", inspect.getsource(init))) if init else set()
        used[owner] |= methods & set(dir(owner))
        used[owner] |= {node.attr for node in attributes if ast.unparse(node.value) in ("self", "super()")}
        used[owner] -= own | (methods - set(dir(owner))) | {"__init__"}
        used[RequestResponseCycle] |= {node.attr for node in attributes if ast.unparse(node.value) in CYCLES}
        used[FlowControl] |= {node.attr for node in attributes if ast.unparse(node.value) == "self.flow"}
    used[RequestResponseCycle].discard("__class__")
    return used


def test_the_table_lists_exactly_what_the_adapter_relies_on():
    listed = {owner: set(" ".join(names).split()) for owner, names in uvicorn_adapter.RELIED_ON.items()}
    assert listed == names_used()


def test_status_lines_are_by_number():
    assert STATUS_LINE[431].startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("owner", uvicorn_adapter.RELIED_ON, ids=lambda owner: owner.__name__)
def test_attributes_are_set_by_the_constructor_and_methods_exist(owner):
    attributes, methods = uvicorn_adapter.RELIED_ON[owner]
    assigned = set(re.findall(r"self\.(\w+)\b[^=\n]*= ", inspect.getsource(owner.__init__)))
    assert set(attributes.split()) <= assigned
    assert [name for name in methods.split() if not callable(getattr(owner, name, None))] == []


def test_a_version_that_lacks_something_is_refused_with_the_versions_that_are_tested(monkeypatch):
    uvicorn_adapter.check_uvicorn()
    monkeypatch.setitem(uvicorn_adapter.RELIED_ON, FlowControl, ("write_paused is_gone", "drain leave"))
    with pytest.raises(CallError, match=r"has no FlowControl.is_gone, FlowControl.leave, which .*'uvicorn>="):
        uvicorn_adapter.configure("app", "127.0.0.1", 0, 1)


@pytest.mark.parametrize("override", [uvicorn_adapter.Connection, uvicorn_adapter.Cycle, uvicorn_adapter.Supervisor])
def test_overridden_methods_are_called_with_the_same_parameters(override):
    overridden_method = override.__bases__[0]
    overridden = [
        name for name in vars(override) if inspect.isfunction(vars(override)[name]) and hasattr(overridden_method, name)
    ]
    for name in overridden:
        if name != "__init__":
            assert list(inspect.signature(getattr(override, name)).parameters) == list(
                inspect.signature(getattr(overridden_method, name)).parameters
            ), name
    calls_super = set(re.findall(r"super\(\)\.(\w+)\(", inspect.getsource(override)))
    assert calls_super <= set(overridden)


class AsyncioTransport:
    """Keeps what is written to it. `writelines` of asyncio cannot be used: see `_is_from_uvloop`."""

    def __init__(self):
        self.written, self.is_closed = [], False

    def write(self, content):
        self.written.append(content)

    def close(self):
        self.is_closed = True


class UvloopTransport(AsyncioTransport):
    __module__ = "uvloop.loop"

    def writelines(self, parts):
        self.written += parts


def respond(headers, parts, keep_alive=True, transport=UvloopTransport, connection=None, **state):
    """Send a whole response, and return the transport and how often the connection was told that it is complete."""
    completed, transport = [], transport()
    flow, event = SimpleNamespace(write_paused=False), SimpleNamespace(set=lambda: None)
    cycle = uvicorn_adapter.Cycle(
        {uvicorn_adapter.CONNECTION: connection},
        transport,
        flow,
        None,
        None,
        False,
        [(b"date", b"now")],
        event,
        False,
        keep_alive,
        lambda: completed.append(1),
    )
    vars(cycle).update(state)
    message = {"type": uvicorn_adapter.WHOLE_RESPONSE, "status": 200, "headers": headers, "parts": parts}
    asyncio.run(cycle.send(message))
    assert cycle.response_started and cycle.response_complete
    return transport, len(completed)


def test_the_parts_of_a_whole_response_are_written_without_copying_them():
    tail = b"x" * 1000
    transport, completed = respond([(b"content-length", b"1001")], (b"y", tail))
    assert transport.written == [b"HTTP/1.1 200 OK\r\ndate: now\r\ncontent-length: 1001\r\n\r\n", b"y", tail]
    assert transport.written[-1] is tail and completed == 1 and not transport.is_closed


@pytest.mark.parametrize("parts", [(), (b"",), (b"y",), (b"y", b"xx")])
def test_without_uvloop_a_whole_response_is_written_at_once(parts):
    transport, completed = respond([], parts, transport=AsyncioTransport)
    assert transport.written == [b"HTTP/1.1 200 OK\r\ndate: now\r\n\r\n" + b"".join(parts)] and completed == 1


def test_the_transport_of_uvloop_is_recognized():
    import uvloop

    async def transport():
        server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        made, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, *address)
        made.close()
        server.close()
        return type(made)

    assert uvicorn_adapter._is_from_uvloop(uvloop.run(transport()))
    assert not uvicorn_adapter._is_from_uvloop(asyncio.run(transport()))


@pytest.mark.parametrize(("headers", "keep_alive"), [([], False), ([(b"connection", b"close")], True)])
def test_a_whole_response_closes_a_connection_that_is_not_kept_alive(headers, keep_alive):
    transport, completed = respond(headers, (), keep_alive)
    assert transport.written == [b"HTTP/1.1 200 OK\r\ndate: now\r\nconnection: close\r\n\r\n"]
    assert transport.is_closed and completed == 1


@pytest.mark.parametrize(
    ("state", "waits"),
    [
        ({"more_body": False}, False),
        ({"more_body": True}, True),
        # The client waits for a response before it sends its body, and may then not send it.
        ({"more_body": True, "waiting_for_100_continue": True}, False),
        ({"more_body": True, "waiting_for_100_continue": True, "body": b"x"}, True),
    ],
)
def test_a_connection_is_closed_after_the_body_that_the_client_is_sending(state, waits):
    connection = SimpleNamespace(closes_after_body=False)
    transport, _ = respond([], (), False, connection=connection, **state)
    assert (transport.is_closed, connection.closes_after_body) == (not waits, waits)


@pytest.mark.parametrize(
    "header", [(b"etag", b"a\r\nset-cookie: b"), (b"a\nb", b""), (b"etag", b"a\n"), (b"etag", b"a\r")]
)
def test_a_whole_response_refuses_line_breaks_in_headers(header):
    with pytest.raises(ValueError, match="line breaks"):
        respond([header], ())


async def answer(scope, receive, send):
    await receive()
    headers = [(b"content-length", b"3")]
    await send({"type": uvicorn_adapter.WHOLE_RESPONSE, "status": 200, "headers": headers, "parts": [b"yes"]})


async def is_freed(request, content):
    """Send a request, read as much of the response as is expected, close the connection, and wait until the server's part is freed."""
    loop, is_gone = asyncio.get_running_loop(), asyncio.Event()
    config = uvicorn_adapter.configure(answer, "127.0.0.1", 0, 1)
    references = []

    def connect():
        made = uvicorn_adapter.Connection(config, ServerState(), {"time_limit": 1000})
        references.append(weakref.ref(made, lambda _: is_gone.set()))
        return made

    server = await loop.create_server(connect, "127.0.0.1", 0)
    try:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(request)
        if content:
            await reader.readuntil(content)
        else:
            await writer.drain()
        writer.close()
        await writer.wait_closed()
        await asyncio.wait_for(is_gone.wait(), 30)
    finally:
        server.close()
    return [reference() for reference in references] == [None]


@pytest.mark.parametrize(
    ("sent", "content"),
    [(b"GET / HTTP/1.1\r\n\r\n", b"yes"), (b"GET / HTTP/1.1\r\n\r\n", b""), (b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n", b"")],
)  # fmt: skip
def test_a_closed_connection_is_freed_without_the_garbage_collector(sent, content):
    """Collections of all objects are rare, and until then a connection would keep its requests, responses and buffers."""
    gc.collect()
    gc.disable()
    try:
        assert asyncio.run(is_freed(sent, content))
    finally:
        gc.enable()


def test_the_installed_version_is_one_that_is_tested():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (requirement,) = [requirement for requirement in extras["serve"] if requirement.startswith("uvicorn")]
    oldest, newest = re.fullmatch(r">=(0\.\d+),<(0\.\d+)", uvicorn_adapter.TESTED).groups()
    assert requirement == f"uvicorn[standard]>={oldest},<1"
    assert int(oldest[2:]) <= int(version("uvicorn").split(".")[1]) < int(newest[2:])


def test_only_the_adapter_imports_submodules_of_uvicorn():
    importers = set()
    submodules = ("uvicorn.", "httptools", "uvloop")
    sources = {file.name: file.read_text() for file in (ROOT / "src").rglob("*.py")}
    for file, source in sources.items():
        for node in ast.walk(ast.parse(source)) if any(name in source for name in submodules) else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.startswith(submodules) for name in names):
                importers.add(file)
    assert importers == {"uvicorn_adapter.py"}
