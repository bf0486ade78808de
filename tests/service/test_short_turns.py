"""The event loop takes a turn that reuses an edition, if that is short and there are no other callers. Otherwise a thread does."""

import asyncio
import io
import json
import os
import threading
from contextlib import closing
from time import perf_counter

import pytest

from foreword import Conversations, Workspace
from foreword.engine.assembler import Assembler, share_layout
from foreword.extensions import Extension
from foreword.service import folders
from foreword.service.application import Application
from foreword.service.folders import LocalFolders
from foreword.service.guard import RequestGuard
from foreword.service.lanes import EventLoop, WrongLane
from foreword.service.log import Log
from foreword.service.metrics import Metrics
from foreword.service.responses import Problem
from foreword.service.routes import ROUTES
from foreword.service.service import Service
from foreword.sources import stamps
from foreword.store import waits


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """The clock of the file system is fine enough that a file that was just written counts as unchanged."""
    monkeypatch.setattr(stamps, "_CLOCK_TICK", 0)
    monkeypatch.setattr(stamps, "_COARSE_CLOCK_TICK", 0)


MESSAGE = {"role": "user", "content": "hi"}


def take_turns(app, requests):
    """Take these turns one after the other, each a pair of an address and a body. Return in which threads they read the store."""

    async def take_turn(address, body):
        data, received = json.dumps({"cwd": "", "message": "hi", **body}).encode(), []
        path = "/conversations/one/turn"
        scope = {"type": "http", "method": "POST", "raw_path": path.encode(), "query_string": b""}
        scope |= {"headers": [(b"host", b"localhost")], "client": (address, 1)}
        messages = [{"type": "http.request", "body": data, "more_body": False}]

        async def receive():
            return messages.pop()

        async def send(message):
            received.append(message)

        await app(scope, receive, send)
        assert received[0]["status"] == 200, received

    async def run():
        for address, body in requests:
            await take_turn(address, body)

    asyncio.run(run())


def threads_of_last_turn(service, requests):
    app = Application(service, RequestGuard(), Log(stream=io.StringIO()), Metrics(ROUTES))
    editions, threads = service.conversations.editions, []
    catch_up = editions.catch_up

    def note_thread(id):
        threads.append(threading.current_thread())
        return catch_up(id)

    editions.catch_up = note_thread
    try:
        take_turns(app, requests)
    finally:
        app._lanes.close()
    return threads[-1]


@pytest.mark.parametrize(
    ("last", "extensions", "is_local", "is_inline"),
    [
        ({}, (), True, True),
        ({"messages": [MESSAGE] * 200}, (), True, True),
        ({"messages": [MESSAGE] * 201}, (), True, False),
        ({"messages": [{**MESSAGE, "content": "x" * 300_000}]}, (), True, False),
        ({}, (Extension("hooks", before_agent_start=lambda *_: None),), True, False),
        ({}, (), False, False),
        # A look at these paths could take any time.
        ({"scope": {"allow": [{"path": "."}]}}, (), True, False),
        ({"packs": {"mine": "."}}, (), True, False),
    ],
)
def test_the_event_loop_takes_short_turns(tmp_path, monkeypatch, last, extensions, is_local, is_inline):
    monkeypatch.setattr(folders, "are_local", lambda paths: is_local)
    service = Service(":memory:", [str(tmp_path)], extensions, pack_roots=[str(tmp_path)])
    with closing(service.conversations):
        thread = threads_of_last_turn(service, [("10.0.0.1", {}), ("10.0.0.1", last), ("10.0.0.1", last)])
    assert (thread is threading.main_thread()) is is_inline


@pytest.mark.parametrize(("other", "is_inline"), [("10.0.0.1", True), ("10.0.0.2", False)])
def test_threads_take_all_turns_while_there_are_other_callers(tmp_path, monkeypatch, other, is_inline):
    monkeypatch.setattr(folders, "are_local", lambda paths: True)
    service = Service(":memory:", [str(tmp_path)])
    with closing(service.conversations):
        thread = threads_of_last_turn(service, [("10.0.0.1", {}), (other, {}), ("10.0.0.1", {})])
    assert (thread is threading.main_thread()) is is_inline


@pytest.mark.parametrize("layout", ["foreword", "opal", "ion"])
def test_a_turn_that_must_read_or_build_starts_over_in_a_thread(tmp_path, monkeypatch, layout):
    monkeypatch.setattr(folders, "are_local", lambda paths: True)
    service = Service(":memory:", [str(tmp_path)])
    tools = {"layout": layout, "tools": [{"name": "shell"}]}
    with closing(service.conversations):
        thread = threads_of_last_turn(service, [("10.0.0.1", {"layout": layout}), ("10.0.0.1", tools)])
    assert thread is not threading.main_thread()


def test_the_event_loop_does_not_read_what_must_be_sent_again_after_a_compaction(tmp_path, monkeypatch):
    skill = tmp_path / ".agents/skills/fix/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: fix\ndescription: Fixes it.\n---\nFix it.\n")
    workspace, opened, open_file = Workspace(str(tmp_path), home=str(tmp_path / "home")), [], os.open
    monkeypatch.setattr(os, "open", lambda path, *args: opened.append(path) or open_file(path, *args))
    with Conversations() as conversations:
        conversation = conversations.open("one", workspace, layout="pi", mirror=True)
        conversation.turn("hi")
        conversation.use_skill("fix")
        conversation.compact(messages=[MESSAGE])
        opened.clear()
        waits.listen(EventLoop())
        try:
            with pytest.raises(WrongLane):
                conversation.turn("go on")
        finally:
            waits.listen(None)
        assert opened == []
        assert "Fix it." in str(conversation.turn("go on").messages)


def test_a_turn_that_is_stored_is_answered_whatever_has_changed_since(tmp_path):
    folder = tmp_path / "w"
    folder.mkdir()
    hook = Extension("hook", before_agent_start=lambda *_: folder.rmdir())
    service = Service(":memory:", [str(folder)], [hook])
    with closing(service.conversations):
        threads_of_last_turn(service, [("10.0.0.1", {})])


def test_whether_a_folder_is_local_is_known_for_a_minute(monkeypatch):
    now, checked, answers = [100.0], [], [True, False, True]
    monkeypatch.setattr(folders, "are_local", lambda paths: checked.append(paths) or answers[len(checked) - 1])
    local = LocalFolders(lambda: now[0])
    known = [local.contains("w")]
    for elapsed in (0.0, 59.0, 1.0, 1.0, 60.0):
        now[0] += elapsed
        known.append(local.contains("w"))
        local.check("w", lambda: ["a"])
        known.append(local.contains("w"))
    assert known == [False, False, True, True, True, False, False, False, False, False, True]
    assert checked == [["a"]] * 3


@pytest.fixture
def arrived():
    """A function that sets when the request arrived for which this thread works."""
    yield lambda time: waits.listen(None, None, time)
    waits.listen(None)


def test_requests_that_arrived_before_the_last_look_at_the_settings_share_it(tmp_path, arrived):
    assembler, earlier = Assembler(Workspace(str(tmp_path), home=str(tmp_path))), perf_counter()
    plan = assembler.plan()
    (tmp_path / ".foreword").mkdir()
    (tmp_path / ".foreword/foreword.toml").write_text('[wording]\nlanguage = "x"\n')
    arrived(earlier)
    assert assembler.plan() is plan
    arrived(perf_counter())
    assert assembler.plan() is not plan


def test_requests_that_arrived_before_the_last_look_at_the_files_share_it(tmp_path, arrived):
    assembler = Assembler(Workspace(str(tmp_path), home=str(tmp_path)))
    snapshot, earlier = assembler.snapshot(), perf_counter()
    assert assembler.snapshot() is snapshot
    (tmp_path / "AGENTS.md").write_text("Be brief.\n")
    arrived(earlier)
    assert assembler.snapshot() is snapshot
    arrived(perf_counter())
    assert assembler.snapshot() is not snapshot


def test_a_file_that_a_hook_has_changed_is_looked_at_again(tmp_path):
    def look_and_change(reason, about):
        (assembler,) = service._assemblers.values()
        assembler.snapshot()
        assembler.snapshot()
        (tmp_path / "AGENTS.md").write_text("Be brief.\n")

    service = Service(":memory:", [str(tmp_path)], [Extension("hook", resources_discover=look_and_change)])
    with closing(service.conversations):
        threads_of_last_turn(service, [("10.0.0.1", {"layout": "foreword"})])
        assert "Be brief." in service.conversations.get("one")


def test_a_plan_that_was_not_looked_at_is_not_shared(tmp_path, arrived):
    workspace = Workspace(str(tmp_path), home=str(tmp_path))
    assembler, other = Assembler(workspace), Assembler(workspace)
    old = other.plan()
    (tmp_path / ".foreword").mkdir()
    (tmp_path / ".foreword/foreword.toml").write_text('layout = "opal"\n')
    request = perf_counter()
    new = assembler.plan()
    share_layout(assembler, other, has_same_settings=True)
    arrived(request)
    assert (old.layout.name, new.layout.name, assembler.plan().layout.name) == ("foreword", "opal", "opal")


def test_requests_that_arrived_before_the_last_look_at_a_folder_share_it(tmp_path, arrived):
    for name in ("served/w", "other"):
        (tmp_path / name).mkdir(parents=True)
    service, earlier = Service(":memory:", [str(tmp_path / "served")]), perf_counter()
    with closing(service.conversations):
        path = service.path("w")
        (tmp_path / "served/w").rmdir()
        (tmp_path / "served/w").symlink_to(tmp_path / "other")
        arrived(earlier)
        assert service.path("w") == path
        arrived(perf_counter())
        with pytest.raises(Problem, match="outside the served folders"):
            service.path("w")


def test_requests_that_arrived_before_the_last_look_at_a_repository_share_the_scope(tmp_path, arrived):
    (tmp_path / "served").mkdir()
    service, earlier = Service(":memory:", [str(tmp_path / "served")]), perf_counter()
    with closing(service.conversations):
        workspace = service.workspace("")
        assert service.agents.default_scope(workspace) is None
        (tmp_path / ".git").mkdir()
        arrived(earlier)
        assert service.agents.default_scope(workspace) is None
        arrived(perf_counter())
        assert service.agents.default_scope(workspace) is not None
