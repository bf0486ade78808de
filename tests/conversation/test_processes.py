"""Conversations in several processes: many at once, one that is killed, a store that is temporarily down."""

import itertools
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foreword import Agent, Assembler, CallError, Conversation, Conversations, Extension, Tool
from foreword.errors import StoreError
from foreword.store import open_store
from foreword.store.rows import TemplateVersion

SOAK = Path(__file__).parent.parent / "soak"
LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
PROCESS_COUNT = 16

# The processes are forked from one that has imported everything, and wait until it closes a pipe, so that all start at the same moment.
CONSTRUCT = """
import json, os, sys
from foreword import Agent, Conversations, Tool, Workspace
url, cwd, home, layout, folder, count = sys.argv[1:]
workspace, agent = Workspace(cwd, home=home), Agent(tools=[Tool("read"), Tool("bash")])
with Conversations() as conversations:
    conversations.open("warm", workspace, agent, layout).turn()
reader, writer = os.pipe()
children = {}
for number in range(int(count)):
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        turn = Conversations(url).open("t", workspace, agent, layout).turn("go")
        with open(f"{folder}/{number}", "w") as file:
            json.dump([turn.edition, turn.system, list(turn.tools)], file)
        sys.exit()
    children[child] = number
os.close(writer)
sys.exit(sum(os.waitpid(child, 0)[1] != 0 for child in children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("layout", ["builder", "pi", "foreword"])
def test_sixteen_processes_construct_one_conversation(tree, url, layout):
    """The prompts of builder and pi contain the time, so no two processes would build the same one."""
    tree({"w/.git": None, "w/AGENTS.md": "X", "turns": None})
    store = open_store(url)
    store.add_template(TemplateVersion(0, "[system:time] [file:AGENTS.md]"))
    args = [url, tree.path("w"), tree.path("home"), layout, tree.path("turns"), str(PROCESS_COUNT)]
    result = subprocess.run([sys.executable, "-c", CONSTRUCT, *args], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    answers = [json.loads(path.read_text()) for path in Path(tree.path("turns")).iterdir()]
    assert answers == [answers[0]] * PROCESS_COUNT
    current = store.current("t")
    assert (answers[0][0], answers[0][1]) == (1, current.system)
    assert (len(store.editions("t")), store.verify()) == (1, [])
    store.close()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sixteen_threads_construct_one_conversation(tree, url, layout):
    tree({"w/.git": None, "w/AGENTS.md": "X"})
    conversations = Conversations(url)
    start, seen = threading.Barrier(PROCESS_COUNT), []

    def construct():
        conversation = conversations.open("t", tree.workspace(), Agent(tools=[Tool("read")]), layout)
        start.wait()
        seen.append(conversation.turn("go"))

    threads = [threading.Thread(target=construct) for _ in range(PROCESS_COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(turn.edition, turn.system) for turn in seen}) == 1 and len(seen) == PROCESS_COUNT
    assert len(conversations.store.editions("t")) == 1
    conversations.close()


def test_a_process_killed_at_any_moment_leaves_every_conversation_intact():
    """For a thousand kills, run `python tests/soak/kill_conversations.py`."""
    call = [sys.executable, str(SOAK / "kill_conversations.py"), "--kills", "40"]
    result = subprocess.run(call, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("every conversation is complete\n")


# Two processes at once


class InterruptedStore:
    """A store that calls a function just before the first edition is published."""

    def __init__(self, store, interrupt):
        self.store, self.interrupt = store, interrupt

    def __getattr__(self, name):
        return getattr(self.store, name)

    def publish(self, *args):
        interrupt, self.interrupt = self.interrupt, lambda: None
        interrupt()
        return self.store.publish(*args)


def test_the_loser_does_not_announce_what_the_winner_announced(tree, open_conversation, url, contents, tool_names):
    open_conversation("foreword", tools="read").turn("hi")
    winner = open_conversation("foreword", tools="read zap")
    loser = open_conversation(
        "foreword", tools="read zap", store=InterruptedStore(open_store(url), lambda: winner.turn("hi"))
    )
    turn = loser.turn("hi", [{"role": "user", "content": "New tools are available from now on: `zap`."}])
    assert (turn.edition, turn.is_reused, tool_names(turn.tools)) == (2, True, ["read", "zap"])
    assert contents(turn.messages) == ["New tools are available from now on: `zap`.", "hi"]


def test_the_loser_announces_what_the_winner_did_not(open_conversation, url, contents, tool_names):
    open_conversation("foreword", tools="read").turn("hi")
    winner = open_conversation("foreword", tools="read zap")
    loser = open_conversation(
        "foreword", tools="read zip", store=InterruptedStore(open_store(url), lambda: winner.turn("hi"))
    )
    turn = loser.turn("hi")
    assert (turn.edition, tool_names(turn.tools)) == (3, ["read", "zap", "zip"])
    inactive = "Tools that are not active from now on, so do not call them: `zap`. All others are active."
    assert contents(turn.messages) == [
        "New tools are available from now on: `zap`.",
        f"{inactive}\n\nNew tools are available from now on: `zip`.",
        "hi",
    ]


def test_an_announcement_waits_for_a_turn(tree, open_conversation, url, contents, skill):
    """Using a skill can publish an edition, but only a turn has messages."""
    tree({"w/.git": None, "w/.agents/skills/testing/SKILL.md": skill("testing")})
    winner = open_conversation("foreword", tools="read")
    loser = open_conversation(
        "foreword", tools="read zap", store=InterruptedStore(open_store(url), lambda: winner.turn("hi"))
    )
    loser.use_skill("testing")
    assert contents(loser.turn("hi").messages) == ["New tools are available from now on: `zap`.", "hi"]


@pytest.mark.parametrize("layout", ["opal", "pi"])
def test_the_loser_uses_its_tools_if_the_layout_follows_them(open_conversation, url, tool_names, layout):
    winner = open_conversation(layout, tools="read")
    loser = open_conversation(layout, tools="bash", store=InterruptedStore(open_store(url), lambda: winner.turn("hi")))
    turn = loser.turn("hi")
    assert (turn.edition, tool_names(turn.tools)) == (2, ["bash"])


def test_a_skill_used_at_the_same_time_does_not_undo_a_compaction(tree, open_conversation, skill):
    tree({"w/.git": None, "w/AGENTS.md": "One.", "w/.agents/skills/testing/SKILL.md": skill("testing")})
    one, two = open_conversation(), open_conversation()
    one.turn("hi")
    two.turn("hi")
    tree({"w/AGENTS.md": "Two."})
    one.compact()
    two.use_skill("testing")
    assert "Two." in two.turn("hi").system
    assert "already active" in two.use_skill("testing")["content"]


def test_a_skill_used_while_another_edition_is_built_is_not_lost(tree, open_conversation, url, skill, tool_names):
    tree({"w/.git": None, "w/.agents/skills/testing/SKILL.md": skill("testing")})
    one = open_conversation("foreword", tools="read")
    one.turn("hi")
    other = open_conversation(
        "foreword", tools="read zap", store=InterruptedStore(open_store(url), lambda: one.use_skill("testing"))
    )
    turn = other.turn("hi")
    assert (turn.edition, tool_names(turn.tools)) == (2, ["read", "zap"])
    assert "already active" in other.use_skill("testing")["content"]


def test_conversations_in_one_workspace_share_an_assembler(tree):
    """Each has its own agent, and changed files are noticed."""
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    conversations = Conversations()
    agents = [Agent(base=base, tools=[Tool("read")]) for base in ("first", "", "second")]
    opened = [
        conversations.open(f"t{index}", tree.workspace(), agent, "foreword") for index, agent in enumerate(agents)
    ]
    assert len({id(conversation.assembler) for conversation in opened}) == 1
    systems = [conversation.turn("hi").system for conversation in opened]
    assert [("first" in system, "second" in system, "One." in system) for system in systems] == [
        (True, False, True),
        (False, False, True),
        (False, True, True),
    ]
    tree({"w/AGENTS.md": "Two."})
    assert "Two." in conversations.open("t9", tree.workspace(), agents[0], "foreword").turn("hi").system


def test_changing_the_tools_of_a_turn_does_not_change_the_edition(tree, open_conversation):
    conversation = open_conversation("foreword", tools="read")
    conversation.turn("hi").tools[0]["name"] = "changed by the caller"
    assert [tool["name"] for tool in conversation.turn("hi").tools] == ["read"]


# A store that is temporarily down


class FailingStore:
    """A store that can be down, or full."""

    WRITES = ("publish", "save_state", "add_template")

    def __init__(self, store):
        self.store, self.condition = store, "up"

    def __getattr__(self, name):
        if (self.condition == "down" and name not in ("close", "last_known", "listen")) or (
            self.condition == "full" and name in self.WRITES
        ):

            def raise_store_error(*args, **kwargs):
                raise StoreError(f"the store is {self.condition}")

            return raise_store_error
        return getattr(self.store, name)


@pytest.fixture
def failing_store(url):
    return FailingStore(open_store(url))


def store_down_messages(turn):
    return [finding.message for finding in turn.findings if finding.code == "store-down"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_turns_of_known_conversations_continue(tree, open_conversation, failing_store, layout):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    conversation = open_conversation(layout, tools="read", store=failing_store)
    before = conversation.turn("hi")
    failing_store.condition = "down"
    tree({"w/AGENTS.md": "Two."})
    turn = conversation.turn("hi again")
    assert (turn.edition, turn.is_reused, turn.system, turn.tools) == (1, True, before.system, before.tools)
    assert store_down_messages(turn) == ["the store is down; this process continues with the edition it knows"]
    assert conversation.shared.prompt("t") == before.system
    failing_store.condition = "up"
    assert store_down_messages(conversation.turn("hi")) == []
    assert failing_store.verify() == []


def test_an_unknown_conversation_cannot_continue(open_conversation, failing_store):
    open_conversation("builder").turn("hi")
    failing_store.condition = "down"
    conversation = open_conversation("builder", store=failing_store)
    for ask in (
        lambda: conversation.turn("hi"),
        lambda: conversation.shared.prompt("t"),
        lambda: conversation.drift(),
        lambda: conversation.reload(),
    ):
        with pytest.raises(StoreError, match="the store is down"):
            ask()


@pytest.mark.parametrize("condition", ["down", "full"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_first_turn_fails_if_it_cannot_be_stored(open_conversation, failing_store, layout, condition):
    failing_store.condition = condition
    conversation = open_conversation(layout, store=failing_store)
    with pytest.raises(StoreError, match=f"the store is {condition}"):
        conversation.turn("hi")
    failing_store.condition = "up"
    assert failing_store.current("t") is None
    assert conversation.turn("hi").edition == 1


@pytest.mark.parametrize("layout", ["ion", "opal", "pi", "foreword"])
def test_a_turn_that_cannot_be_stored_continues_with_the_edition_in_use(
    tree, open_conversation, failing_store, layout, contents
):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    conversation = open_conversation(layout, tools="read", store=failing_store)
    before = conversation.turn("hi")
    failing_store.condition = "full"
    tree({"w/AGENTS.md": "Two."})
    conversation.set_active_tools([Tool("read"), Tool("zap")])
    turn = conversation.turn("hi")
    assert (turn.edition, turn.system, turn.tools, contents(turn.messages)) == (
        1,
        before.system,
        before.tools,
        ["hi"],
    )
    assert store_down_messages(turn) == ["the store is full; the edition in use is kept"]
    failing_store.condition = "up"
    then = conversation.turn("hi")
    assert (then.edition, len(then.tools), store_down_messages(then)) == (2, 2, [])


@pytest.mark.parametrize("condition", ["down", "full"])
def test_a_reload_that_cannot_be_stored_fails(tree, open_conversation, failing_store, condition):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    conversation = open_conversation("foreword", store=failing_store)
    conversation.turn("hi")
    tree({"w/AGENTS.md": "Two."})
    failing_store.condition = condition
    with pytest.raises(StoreError, match=f"the store is {condition}"):
        conversation.reload()
    failing_store.condition = "up"
    assert "Two." in conversation.reload().system


def test_events_while_the_store_is_down_are_not_lost(tree, open_conversation, failing_store, skill):
    from foreword.extensions import Resources

    tree({"w/.git": None, "more/late/SKILL.md": skill("late", "Comes late.")})
    conversation = open_conversation("pi", tools="read", store=failing_store)
    conversation.turn("hi")
    for count, condition in enumerate(("down", "full"), 1):
        failing_store.condition = condition
        conversation.add_resources(Resources(skills=[tree.path("more")]))
        conversation.send_message(f"sent while it was {condition}")
        turn = conversation.turn("hi")
        assert (turn.edition, "late" in turn.system, len(turn.messages)) == (1, False, count + 1)
    failing_store.condition = "up"
    assert "<name>late</name>" in conversation.turn("hi").system


def test_a_message_waits_for_a_successful_turn(open_conversation, failing_store, contents):
    failing_store.condition = "down"
    conversation = open_conversation("builder", store=failing_store)
    conversation.send_message("waits")
    with pytest.raises(StoreError):
        conversation.turn("hi")
    failing_store.condition = "up"
    assert contents(conversation.turn("hi").messages) == ["waits", "hi"]


@pytest.mark.parametrize("condition", ["down", "full"])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_compaction_of_builder_without_the_store_is_only_the_request(
    tree, open_conversation, failing_store, condition, is_known
):
    conversation = open_conversation("builder", store=failing_store)
    if is_known:
        conversation.turn("hi")
        tree({"w/AGENTS.md": "So that there is something new to keep."})
    failing_store.condition = condition
    turn = conversation.compact(messages=[{"role": "user", "content": "said before"}])
    assert turn.system == conversation.layout.wording["compaction"]
    assert turn.messages == ({"role": "user", "content": "said before"},)
    assert store_down_messages(turn) == [f"the store is {condition}; the request is sent without the system prompt"]
    failing_store.condition = "up"
    assert conversation.turn("hi").edition == 1


@pytest.mark.parametrize("layout", ["pod", "pi", "opal", "ion"])
def test_a_compaction_that_keeps_everything_writes_nothing(open_conversation, failing_store, layout):
    conversation = open_conversation(layout, store=failing_store)
    before = conversation.turn("hi").system
    failing_store.condition = "down"
    turn = conversation.compact()
    assert turn.system == before
    assert turn.messages == ({"role": "user", "content": conversation.layout.wording["compaction"]},)
    assert len(store_down_messages(turn)) == 1


@pytest.mark.parametrize("condition", ["down", "full"])
def test_a_compaction_that_cannot_be_stored_is_remembered_by_the_process(
    tree, open_conversation, failing_store, contents, condition
):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    conversation = open_conversation("foreword", store=failing_store)
    before = conversation.turn("hi").system
    tree({"w/AGENTS.md": "Two."})
    failing_store.condition = condition
    turn = conversation.compact()
    assert (turn.edition, turn.system, contents(turn.messages)) == (
        1,
        before,
        [conversation.layout.wording["compaction"]],
    )
    assert len(store_down_messages(turn)) == 1
    reopened = Conversation(
        conversation.shared, "t", Assembler(tree.workspace("w")), Agent()
    )  # a service reopens the conversation for every request
    waiting = reopened.turn("hi")
    assert (waiting.system, len(store_down_messages(waiting))) == (before, 1)
    failing_store.condition = "up"
    after = reopened.turn("hi")
    assert (after.edition, "Two." in after.system, store_down_messages(after)) == (2, True, [])
    assert (
        conversation.turn("hi").is_reused,
        failing_store.current("t").state,
        conversation.shared.editions.postponed,
    ) == (
        True,
        '{"trigger": "compaction"}',
        {},
    )


@pytest.mark.parametrize("condition", ["down", "full"])
@pytest.mark.parametrize("layout", ["foreword", "opal", "pi", "ion"])
def test_a_skill_is_sent_again_after_a_compaction_that_could_not_be_stored(
    tree, open_conversation, failing_store, skill, layout, condition
):
    tree({"w/.git": None, "w/.agents/skills/testing/SKILL.md": skill("testing")})
    conversation = open_conversation(layout, store=failing_store)
    conversation.use_skill("testing")
    failing_store.condition = condition
    conversation.compact()
    failing_store.condition = "up"
    assert "Body." in conversation.use_skill("testing")["content"]
    assert "already active" in conversation.use_skill("testing")["content"]


def test_a_compaction_of_an_unknown_conversation_fails(open_conversation, failing_store):
    open_conversation("foreword").turn("hi")
    failing_store.condition = "down"
    with pytest.raises(StoreError):
        open_conversation("foreword", store=failing_store).compact()


# Template changes


def test_a_new_template_is_used_after_a_compaction_and_by_new_conversations(open_conversation, url):
    store = open_store(url)
    store.add_template(TemplateVersion(0, "Old. [prompt:conversation_id]"))
    assert open_conversation("builder", "a").turn("hi").system == "Old. a"
    store.add_template(TemplateVersion(0, "New. [prompt:conversation_id]"))
    conversation = open_conversation("builder", "a")
    assert conversation.turn("hi").system == "Old. a"
    assert open_conversation("builder", "b").turn("hi").system == "New. b"
    assert conversation.compact().system == f"New. a\n\n{conversation.layout.wording['compaction']}"
    assert (conversation.turn("hi").system, open_conversation("builder", "a").turn("hi").edition) == ("New. a", 2)
    store.close()


class _Arrivals(dict):
    """The running constructions, and how many calls have looked there."""

    def __init__(self):
        self.seen = threading.Semaphore(0)

    def setdefault(self, id, construction):
        running = super().setdefault(id, construction)
        self.seen.release()
        return running


def test_overlapping_constructs_agree_on_one_edition(tree, url):
    """Each call would build a different text; a call that overlaps another one gets its edition."""
    numbers, proceed, arrivals = itertools.count(), threading.Event(), _Arrivals()

    def value(name, workspace):
        assert proceed.wait(30)
        return str(next(numbers))

    conversations = Conversations(url, [Extension("x", variables={"count": value})])
    conversations._shared.constructions._running = arrivals
    layout, agent = "builder", Agent(base="Number [count:x].")
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(conversations.construct, "t", tree.workspace("w"), agent, layout) for _ in range(8)]
        assert all(arrivals.seen.acquire(timeout=30) for _ in calls)  # the first builds, the others found it
        proceed.set()
        editions_seen = {call.result(30) for call in calls}
    assert editions_seen == {"Number 0."} == {conversations.get("t")}
    assert conversations.construct("t", tree.workspace("w"), agent) not in editions_seen
    conversations.close()


def test_a_failed_construct_does_not_prevent_the_next_one(tree, url):
    conversations = Conversations(url)
    for _ in range(2):
        with pytest.raises(CallError):
            conversations.construct("t", tree.workspace("w"), Agent(skill="zzz"), "ion")
    assert conversations.construct("t", tree.workspace("w"), Agent(), "ion") == conversations.get("t")
    conversations.close()


def test_an_extension_can_construct_during_a_construct(tree, url):
    def listen(event, what):
        if event == "constructed":
            systems.append(conversations.construct("t", tree.workspace("w")))

    systems = []
    conversations = Conversations(url, [Extension("x", listen=listen)])
    assert [conversations.construct("t", tree.workspace("w"))] == systems
    conversations.close()


def test_an_empty_template_gives_an_empty_prompt_and_a_compaction_with_only_the_request(open_conversation, url):
    store = open_store(url)
    store.add_template(TemplateVersion(0, ""))
    conversation = open_conversation("builder")
    assert conversation.turn("hi").system == ""
    assert conversation.compact().system == conversation.layout.wording["compaction"]
    assert conversation.shared.prompt("t") == ""
    store.close()


def test_a_conversation_that_was_never_constructed_has_no_prompt(open_conversation):
    assert open_conversation("builder").shared.prompt("t") is None


# Unusual text


@pytest.mark.parametrize("text", ["half a pair: \ud83d", "NUL: \0", "x" * 3_000_000, "a\u2028\x85\r\n"])
def test_messages_are_not_changed(open_conversation, contents, text):
    conversation = open_conversation("pi")
    conversation.send_message(text)
    assert contents(conversation.turn(text, [{"role": "user", "content": text}]).messages) == [text] * 3


def test_a_directory_may_have_an_undecodable_name(tree, open_conversation):
    tree({"w\udcff/.git": None, "w\udcff/AGENTS.md": "X"})
    for layout in LAYOUTS:
        first = open_conversation(layout, layout, cwd="w\udcff").turn("hi")
        second = open_conversation(layout, layout, cwd="w\udcff", tools="read_file").turn("hi")
        assert "\udcff" not in first.system and "\udcff" not in second.system


def test_secrets_in_the_environment_are_not_stored(tree, url):
    tree({"w/.git": None, "w/AGENTS.md": "X"})
    for layout in LAYOUTS:
        conversations = Conversations(url)
        conversations.open(layout, tree.workspace(environment={"API_KEY": "hush"}), Agent(), layout).turn("hi")
        assert "hush" not in str(conversations.store.current(layout))
        conversations.close()


def test_the_state_is_bounded(tree, open_conversation, skill):
    """A new edition is built before the announcements in it are many."""
    tree({"w/.git": None, "w/.agents/skills/testing/SKILL.md": skill("testing")})
    conversation = open_conversation("foreword", set={"on.turn": "append"})
    sizes = set()
    for number in range(20):
        tree({"w/AGENTS.md": f"Version {number:03}. {'x' * 8000}"})
        turn = conversation.turn("hi")
        assert f"Version {number:03}." in turn.system + str(turn.messages)
        conversation.use_skill("testing")
        conversation.set_active_tools([Tool(f"tool-{number}")])
        sizes.add(len(conversation.shared.store.current("t").state))
    assert max(sizes) < 80_000


def test_a_known_conversation_continues_with_its_layout(open_conversation):
    open_conversation("builder").turn("hi")
    conversation = open_conversation("")
    assert conversation.turn("hi").is_reused
    assert conversation.compact().system.endswith(conversation.layout.wording["compaction"])
    assert conversation.layout.address == "$std/builder"
