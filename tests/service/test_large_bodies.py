"""Bodies with very many parts are refused, large ones are decoded in a thread, and their memory is counted."""

import asyncio
import gc
import json
import platform
import subprocess
import sys
import weakref
from types import SimpleNamespace

import pytest

from foreword.service.application import decode_large
from foreword.service.bodies import TurnBody
from foreword.service.fairness import FairStart
from foreword.service.lanes import READING, Job, Lanes
from foreword.service.memory import MemoryLimit, Reservation, give_back
from foreword.service.request import is_quick, parsed_size
from foreword.service.request_body import Disconnected, LargeBodies, read_body
from foreword.service.responses import Problem
from foreword.service.running import run_while_connected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{}", True),
        (b'{"message": "' + b"x" * 200_000 + b'"}', True),
        (b'{"message": "' + b"x" * 300_000 + b'"}', False),
        (b"[" + b"{}," * 5000 + b"]", True),  # below 16 KiB, nothing takes long
        (b"[" + b"{}," * 10_000 + b"]", False),
        (b"[" + b"1," * 10_000 + b"1]", False),
        (b"[" + b"[]," * 10_000 + b"1]", False),
    ],
)
def test_only_small_bodies_are_decoded_in_the_event_loop(body, expected):
    assert is_quick(body) is expected


def test_a_body_with_too_many_parts_is_refused():
    assert parsed_size(b"[[],[]]") == 7 + 3 * 300 + 8
    with pytest.raises(Problem, match="200,000 objects and lists"):
        parsed_size(b"[" * 200_001)
    spread = b" " * 70_000 + b"[{"
    assert parsed_size(spread * 10) == len(spread) * 10 + 20 * 300, "it is counted in steps"


@pytest.mark.parametrize("is_closed", [False, True])
def test_the_body_of_a_client_that_has_gone_is_not_decoded(is_closed):
    async def run():
        lanes = Lanes(1, 1, FairStart())
        reservation, connection = Reservation(MemoryLimit(1_000_000)), SimpleNamespace(is_closed=is_closed)
        try:
            return await decode_large(bytearray(b'{"cwd": "x"}'), TurnBody, lanes, reservation, "a", connection)
        except Disconnected:
            return None
        finally:
            lanes.close()

    assert asyncio.run(run()) == (None if is_closed else TurnBody(cwd="x"))


@pytest.fixture
def no_collection():
    gc.disable()
    yield
    gc.enable()


async def fail_in_a_lane():
    """Run a function that fails as a request does, and return a reference to it."""
    lanes = Lanes(1, 1, FairStart())

    def fail():
        raise Problem("busy", "try again later")

    try:
        await run_while_connected(lanes, Job(fail), READING, None, 60)
    except Problem:
        return weakref.ref(fail)
    finally:
        lanes.close()


async def receive_too_much():
    """Receive a body for which there is no memory, and return a reference to the function that received it."""

    async def receive():
        return {"type": "http.request", "body": b"x" * 100_000}

    scope = {"headers": [(b"content-length", b"100000")]}
    try:
        await read_body(scope, receive, Reservation(MemoryLimit(1)), 60, LargeBodies(), "a", FairStart())
    except Problem:
        return weakref.ref(receive)


@pytest.mark.parametrize("refuse", [fail_in_a_lane, receive_too_much])
def test_a_refused_request_is_freed_without_a_garbage_collection(no_collection, refuse):
    assert asyncio.run(refuse())() is None


def test_large_bodies_are_answered_like_small_ones(service):
    tools = [{"name": f"t{number}", "description": "word " * 40} for number in range(5000)]
    body = {"cwd": "", "tools": tools[:2500], "message": "go on"}
    assert not is_quick(json.dumps(body).encode())
    response = service.post("/conversations/large/turn", body)
    assert (response.status, len(response.json["tools"])) == (200, 2500)
    for wrong, status, kind in (
        ({**body, "tools": [*tools, tools[0]]}, 400, "invalid-body"),
        ({**body, "message": 7}, 400, "invalid-body"),
        ({"cwd": "", "tools": [{"name": "a"}] * 200_000}, 413, "too-large"),
    ):
        response = service.post("/conversations/large/turn", wrong)
        assert (response.status, response.problem) == (status, kind)


def test_memory_is_given_back_after_it_was_used():
    memory = MemoryLimit(100_000_000)
    large, small = Reservation(memory), Reservation(memory)
    small.take(1000)
    assert not memory.was_used()
    large.take(20_000_000)
    assert not memory.was_used(), "it is still in use"
    large.free()
    assert memory.was_used()
    assert not memory.was_used(), "nothing has used it since"
    give_back()


ARENAS = """
import ctypes, sys, threading
from foreword.service.memory import keep_little_memory
if sys.argv[1] == "little":
    keep_little_memory()
libc, meeting, kept = ctypes.CDLL(None), threading.Barrier(8), []
libc.fopen.restype = ctypes.c_void_p
def work():
    meeting.wait(30)
    kept.append(bytes(10_000))
    meeting.wait(30)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
print(open(sys.argv[2]).read().count("<heap nr="))
"""
LARGE = """
import ctypes, re, sys
from foreword.service.memory import keep_little_memory
if sys.argv[1] == "little":
    keep_little_memory()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
def areas():
    file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
    libc.malloc_info(0, file)
    libc.fclose(file)
    return int(re.search('type="mmap" count="(.*?)"', open(sys.argv[2]).read())[1])
bytes(8_000_000)
before = areas()
kept = bytes(8_000_000)
print(areas() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other rules")
def test_the_memory_of_every_large_body_is_given_back_at_once(tmp_path):
    def count(how):
        command = [sys.executable, "-c", LARGE, how, str(tmp_path / "info")]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert count("much") == 0, "it is in the area of a thread, from which only the end is given back"
    assert count("little") == 1


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other rules")
def test_threads_share_two_areas_for_memory(tmp_path):
    def count(how):
        command = [sys.executable, "-c", ARENAS, how, str(tmp_path / "info")]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert count("own") > 2
    assert count("little") == 2


def test_a_service_collects_garbage_although_commands_do_not():
    code = "import gc; gc.disable(); from foreword.service import server; server._collect_less_garbage(); print(gc.isenabled())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"
