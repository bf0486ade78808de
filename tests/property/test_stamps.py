"""A prompt built from stamps equals one built from scratch, whatever happened on disk in between."""

import itertools
import os
import shutil
import stat
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foreword import Agent, Assembler, ForewordError, Tool, Workspace
from foreword.sources import stamps

AHEAD = 10_000_000_000
NOW = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)


class Clock:
    """The reader's clock, with access to the disk's clock.

    If its clock is behind the disk's, the reader does not trust recent writes; if it is ahead, the reader trusts everything. In the second
    case, `tick` must run before the next change, because with a real clock, the reader does not trust a stamp until the disk's clock has
    advanced.
    """

    def __init__(self, folder):
        self.ahead = -AHEAD
        self.probe = os.path.join(folder, "probe")
        with open(self.probe, "wb"):
            pass

    def time_ns(self):
        return time.time_ns() + self.ahead

    def tick(self):
        before = os.stat(self.probe).st_ctime_ns
        while os.stat(self.probe).st_ctime_ns == before:
            os.utime(self.probe)


# Possible content

PATHS = {
    "foreword": (
        "w/AGENTS.md w/CLAUDE.md w/agents.md w/a/AGENTS.md w/a/AGENTS.override.md w/a/AGENTS.local.md w/a/CLAUDE.md w/a/Agents.md w/.git w/a/.git"
        " home/.agents/AGENTS.md home/.agents/agents.md home/.config/agents/AGENTS.md home/.config/foreword/AGENTS.md w/.agents/skills"
        " w/.agents/skills/x/SKILL.md w/a/.agents/skills/y/SKILL.md w/a/.agents/skills/g/x/SKILL.md w/a/.agents/skills/g/h/y/SKILL.md"
        " w/a/.claude/skills w/a/.claude/skills/x home/.foreword/skills/g home/.foreword/skills/g/x/SKILL.md w/.foreword/foreword.toml"
    ),
    "ion": (
        "w/a/AGENTS.md w/a/CLAUDE.md w/a/agents.md w/a/docs w/a/docs/part.md w/a/docs/in/part.md w/a/docs/in home/.ion/part.md w/.git"
        " home/.ion/AGENTS.md home/.ion/agents.md home/.ion/Agents.md home/.ion/AGENTS.MD home/.config/agents/AGENTS.md home/.config/agents"
        " home/.config/agents/rules home/.config/agents/rules/x.md home/.config/agents/rules/y.md w/a/.ion/skills/x/SKILL.md w/a/.ion/skills/x"
        " home/.agents/skills home/.agents/skills/x/SKILL.md home/.config/foreword/foreword.toml"
    ),
    "opal": (
        "AGENTS.md w/AGENTS.md w/OPAL.md w/.agents/AGENTS.md w/.agents w/a/AGENTS.md w/a/.opal/OPAL.md w/a/.opal w/a/.agents/AGENTS.md w/a/Agents.md"
        " w/a/.agents/skills w/a/.agents/skills/x/SKILL.md w/a/.agents/skills/x w/a/.github/skills/y/SKILL.md w/a/.github home/.opal/skills"
        " home/.opal/skills/x/SKILL.md w/.foreword/foreword.toml"
    ),
    "pi": (
        "w/a/.sf w/a/.sf/SYSTEM.md w/a/.sf/APPEND_SYSTEM.md home/.sf/agent home/.sf/agent/SYSTEM.md home/.sf/agent/AGENTS.md home/.sf/agent/part.md"
        " w/AGENTS.md w/CLAUDE.md w/a/AGENTS.md w/a/CLAUDE.md w/a/.sf/skills w/a/.sf/skills/x/SKILL.md w/a/.sf/skills/g/x/SKILL.md w/a/.sf/skills/g"
        " w/.agents/skills w/.agents/skills/y/SKILL.md w/.git w/.foreword/foreword.toml"
    ),
    "pod": (
        "w/AGENTS.md w/a/AGENTS.md w/a/agents.md w/.git w/.foreword w/.foreword/knowledge w/.foreword/knowledge/x.md w/.foreword/knowledge/y.md"
        " w/.foreword/workflow/x.md w/.foreword/prompts.toml home/.config/foreword/prompts.toml home/.config/foreword/foreword.toml"
    ),
    "builder": "w/a/AGENTS.md w/a/docs w/a/docs/part.md w/a/docs/in w/a/docs/in/part.md w/.git w/.git/HEAD w/a/.git w/a/.git/HEAD real real/HEAD",
    "": "w/.foreword w/.foreword/foreword.toml home/.config/foreword/foreword.toml home/.config/foreword w/.git w/a/AGENTS.md w/.foreword/prompts.toml",
}  # fmt: skip
OUTSIDE_PATHS = ["outside", "outside/part.md", "outside/x/SKILL.md", "hop", "w/hop"]
TEXTS = [
    "one\n", "two\n", "", " \n\n", "one", "AGENTS.md\n", "CLAUDE.md\n", "{{ model }} {{ date }}\n", "\x00", "</skills>\n```\n",
    "<!-- include: ./part.md -->\n", "<!-- include: ./docs/part.md -->\n", "<!-- include: ./docs/in/part.md -->\n",
]  # fmt: skip
SKILL = "---\nname: x\ndescription: One.\n---\n"
SKILL_FILES = [
    SKILL, f"{SKILL}A", f"{SKILL}B", SKILL.replace("One", "Two"), SKILL.replace("x", "y"), "none",
    "---\ndescription: One.\n---\n", "---\nname: x\n---\n", "---\ndescription: Three.\nmodel_invokation: true\n---\n",
]  # fmt: skip
SETTINGS = [
    'skills.validation = "strict"\n', 'names = ["CLAUDE.md"]\n', "budget = 200\n", "x = \n", "", 'layout = "pi"\n', 'layout = "ion"\n',
    'agents_md_section = "{}!"\n', 'agents_md_section = "{}?"\n', 'dir = "docs"\n', "skills.budget = 9\n",
]  # fmt: skip
GIT_FILES = ["ref: refs/heads/x\n", "ref: refs/heads/y\n", "gitdir: ../../real\n", "gitdir: ../real\n", ""]


def texts(path):
    """Return the possible content of a file with that name."""
    if path.endswith(".toml"):
        return st.sampled_from(SETTINGS)
    if path.endswith(("SKILL.md", "x.md", "y.md")):
        return st.sampled_from([*SKILL_FILES, "one\n"])
    return st.sampled_from(GIT_FILES if "HEAD" in path or path.endswith(".git") else TEXTS)


TEMPLATE = "[if file:docs/part.md]1 [endif][file:docs/in/part.md] [file:AGENTS.md] [git:branch]"
AGENT = Agent(tools=[Tool("read"), Tool("bash")], provider="p", model="m", session="s")
AGENTS = {"builder": Agent(base=TEMPLATE, model="m")}
AGENT_WITH_SKILL = Agent(skill="x", model="m")


def clear(path):
    """Remove whatever is at a path."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def make_parents(path):
    """Create the folders above a path, replacing whatever is in their place."""
    above = os.path.dirname(path)
    if not os.path.isdir(above):
        make_parents(above)
        clear(above)
        os.mkdir(above)


def write(path, text):
    make_parents(path)
    if not os.path.isfile(path):
        clear(path)
    with open(path, "wb") as file:
        file.write(text.encode())


def outcome(assembler, agent):
    """Return the complete prompt, or the error raised instead."""
    try:
        prompt = assembler.prompt(agent, NOW)
    except ForewordError as error:
        return type(error), str(error)
    return prompt.text, prompt.passages, prompt.candidates, prompt.findings


class Disturbances(RuleBasedStateMachine):
    """Anything that can happen to the files of a workspace between two prompts.

    Each run uses one layout and a few paths, so that the same ones change repeatedly.
    """

    paths = st.integers(0, 5)

    def __init__(self):
        super().__init__()
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="foreword-"))
        for folder in ("clock", "w/a", "w/.git", "home", "outside"):
            os.makedirs(self.path(folder))
        self.clock = stamps.time = Clock(self.path("clock"))

    def teardown(self):
        stamps.time = time
        shutil.rmtree(self.top)

    def path(self, name):
        return os.path.join(self.top, name)

    def path_of(self, number):
        return self.path(self.names[number % len(self.names)])

    @initialize(
        layout=st.sampled_from(list(PATHS)),
        root=st.sampled_from([None, "w", "w/a"]),
        trusts_stamps=st.booleans(),
        data=st.data(),
    )
    def set_up(self, layout, root, trusts_stamps, data):
        names = PATHS[layout].split()
        self.names = data.draw(st.lists(st.sampled_from(names), min_size=2, max_size=5, unique=True))
        self.names.append(data.draw(st.sampled_from([*OUTSIDE_PATHS, *names])))
        self.layout, self.agent = layout, data.draw(st.sampled_from([AGENTS.get(layout, AGENT), AGENT_WITH_SKILL]))
        home = self.path("home")
        self.workspace = Workspace(self.path("w/a"), root and self.path(root), home, "linux", {})
        self.assembler = Assembler(self.workspace, layout)
        self.clock.ahead = AHEAD if trusts_stamps else -AHEAD
        for name in self.names:
            if data.draw(st.booleans()):
                write(self.path(name), data.draw(texts(name)))

    def change(self, do, *arguments):
        """Apply one change, ignoring what the disk refuses."""
        if self.clock.ahead > 0:
            self.clock.tick()
        try:
            do(*arguments)
        except OSError:
            pass

    @rule(trusts_stamps=st.booleans())
    def switch_clock(self, trusts_stamps):
        """Switch between trusting and distrusting stamps."""
        self.clock.tick()
        self.clock.ahead = AHEAD if trusts_stamps else -AHEAD

    @rule(number=paths, data=st.data())
    def edit(self, number, data):
        path = self.path_of(number)
        self.change(write, path, data.draw(texts(path)))

    @rule(number=paths, data=st.data())
    def replace_file(self, number, data):
        path = self.path_of(number)

        def replace(text):
            make_parents(path)
            write(self.path("clock/new"), text)
            os.replace(self.path("clock/new"), path)

        self.change(replace, data.draw(texts(path)))

    @rule(number=paths)
    def edit_without_trace(self, number):
        """Change the case of the text, which keeps its size, and restore the modification time."""

        def edit(path):
            before = os.stat(path)
            if stat.S_ISREG(before.st_mode):
                with open(path, "r+b") as file:
                    text = file.read()
                    file.seek(0)
                    file.write(text.swapcase())
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        self.change(edit, self.path_of(number))

    @rule(number=paths)
    def delete(self, number):
        self.change(clear, self.path_of(number))

    @rule(number=paths, make=st.sampled_from([os.mkdir, os.mkfifo]))
    def replace_with_another_kind(self, number, make):
        def replace(path):
            make_parents(path)
            clear(path)
            make(path)

        self.change(replace, self.path_of(number))

    @rule(number=paths, to=paths)
    def rename(self, number, to):
        def move(path, other):
            if os.path.lexists(path) and not (other + "/").startswith(path + "/"):
                make_parents(other)
                clear(other)
                os.rename(path, other)

        self.change(move, self.path_of(number), self.path_of(to))

    @rule(number=paths, levels=st.integers(0, 2))
    def move_out_and_link_back(self, number, levels):
        def move(path):
            for _ in range(levels):
                path = os.path.dirname(path)
            if os.path.lexists(path) and len(path) > len(self.path("home")):
                clear(self.path("outside/moved"))
                os.rename(path, self.path("outside/moved"))
                os.symlink(self.path("outside/moved"), path)

        self.change(move, self.path_of(number))

    @rule(number=paths, to=st.one_of(paths, st.sampled_from(["nowhere", *OUTSIDE_PATHS])), is_relative=st.booleans())
    def link(self, number, to, is_relative):
        def link(path, target):
            make_parents(path)
            clear(path)
            os.symlink(os.path.relpath(target, os.path.dirname(path)) if is_relative else target, path)

        self.change(link, self.path_of(number), self.path_of(to) if isinstance(to, int) else self.path(to))

    @rule(number=paths, to=paths)
    def hard_link(self, number, to):
        def link(path, target):
            if os.path.isfile(target) and path != target:
                make_parents(path)
                clear(path)
                os.link(target, path)

        self.change(link, self.path_of(number), self.path_of(to))

    @rule(number=paths, mode=st.sampled_from([0o000, 0o400, 0o644, 0o755]))
    def change_mode(self, number, mode):
        self.change(os.chmod, self.path_of(number), mode)

    @rule(number=paths, moment=st.sampled_from([0, 1_000_000_000, 2_000_000_000_000_000_000]))
    def set_modification_time(self, number, moment):
        self.change(lambda path: os.utime(path, ns=(moment, moment)), self.path_of(number))

    @precondition(lambda self: hasattr(self, "assembler"))
    @invariant()
    def a_prompt_from_stamps_equals_one_from_scratch(self):
        from_stamps = outcome(self.assembler, self.agent)
        assert from_stamps == outcome(Assembler(self.workspace, self.layout), self.agent)


TestDisturbances = Disturbances.TestCase
TestDisturbances.settings = settings(stateful_step_count=20)


# Single changes that stamps do not reveal, or might not


@pytest.fixture
def trusted_clock(tree, monkeypatch):
    """A clock that makes the reader trust all stamps."""
    tree({"clock": None})
    clock = Clock(tree.path("clock"))
    clock.ahead = AHEAD
    monkeypatch.setattr(stamps, "time", clock)
    return clock


def relink(path, target):
    os.unlink(path)
    os.symlink(target, path)


def move(path, to):
    os.rename(path, to)
    os.symlink(to, path)


def edit_without_trace(path):
    before = os.stat(path)
    write(path, "two\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES = {
    "the first skill in an existing folder": (
        "foreword", {"w/a/.claude": None},
        lambda path: write(path("w/a/.claude/skills/x/SKILL.md"), SKILL),
    ),
    "the user's first skill in an existing folder": (
        "pi", {"home/.sf/agent": None},
        lambda path: write(path("home/.sf/agent/skills/x/SKILL.md"), SKILL),
    ),
    "a broken link is removed": (
        "ion", {"home/.ion/AGENTS.md": Path("nowhere")},
        lambda path: os.unlink(path("home/.ion/AGENTS.md")),
    ),
    "a symlink loop becomes a broken link": (
        "ion", {"home/.ion/AGENTS.md": Path("../hop"), "home/hop": Path(".ion/AGENTS.md")},
        lambda path: relink(path("home/hop"), "nowhere"),
    ),
    "the target of a pointer file is removed": (
        "pi", {"home/.sf/agent/AGENTS.md": "CLAUDE.md\n", "home/.sf/agent/CLAUDE.md": "x", "home/.sf/agent/SYSTEM.md": "x"},
        lambda path: os.unlink(path("home/.sf/agent/CLAUDE.md")),
    ),
    "the target of a pointer file is created": (
        "opal", {"w/OPAL.md": "AGENTS.md\n"},
        lambda path: write(path("w/AGENTS.md"), "one\n"),
    ),
    "a name that differs only in case is removed": (
        "ion", {f"home/.ion/{name}": name for name in ("AGENTS.md", "agents.md", "AGENTS.MD", "Agents.md")},
        lambda path: os.unlink(path("home/.ion/Agents.md")),
    ),
    "a name that differs only in case becomes a link to the same file": (
        "ion", {"home/.ion/AGENTS.md": "x", "home/.ion/agents.md": Path("../hop"), "home/hop": Path("other"), "home/other": "y"},
        lambda path: relink(path("home/hop"), ".ion/AGENTS.md"),
    ),
    "the repository that a link points to is removed": (
        "foreword", {"real": None, "w/a/.git": Path("../../real"), "w/AGENTS.md": "one"},
        lambda path: os.rmdir(path("real")),
    ),
    "an include that pointed outside now points inside": (
        "ion", {"w/a/AGENTS.md": "<!-- include: ./docs/part.md -->", "w/a/docs/part.md": Path("../../../out.md"), "out.md": "out", "w/a/docs/in.md": "in"},
        lambda path: relink(path("w/a/docs/part.md"), "in.md"),
    ),
    "an include that pointed inside now points outside": (
        "ion", {"w/a/AGENTS.md": "<!-- include: ./docs/in/part.md -->", "w/a/docs/in/part.md": "in"},
        lambda path: move(path("w/a/docs/in"), path("out")),
    ),
    "a nested include is created": (
        "ion", {"w/a/AGENTS.md": "<!-- include: ./docs/x.md -->", "w/a/docs/x.md": "<!-- include: ./in/y.md -->", "w/a/docs/in": None},
        lambda path: write(path("w/a/docs/in/y.md"), "y"),
    ),
    "a file variable that pointed outside now points inside": (
        "builder", {"w/a/docs/part.md": Path("../../../out.md"), "out.md": "out", "w/a/docs/in.md": "in"},
        lambda path: relink(path("w/a/docs/part.md"), "in.md"),
    ),
    "a workspace folder is moved out of the workspace": (
        "opal", {"w/a/.agents/skills/x/SKILL.md": SKILL, "w/a/.github/skills": None},
        lambda path: move(path("w/a/.agents"), path("out")),
    ),
    "the body of the active skill is edited": (
        "ion", {"w/a/.ion/skills/x/SKILL.md": f"{SKILL}one\n"},
        lambda path: write(path("w/a/.ion/skills/x/SKILL.md"), f"{SKILL}two\n"),
    ),
    "the text changes, but not its size or modification time": (
        "opal", {"w/a/AGENTS.md": "one\n"},
        lambda path: edit_without_trace(path("w/a/AGENTS.md")),
    ),
    "the first settings in an existing folder": (
        "opal", {"w/a/.foreword": None, "w/a/TEAM.md": "x"},
        lambda path: write(path("w/a/.foreword/foreword.toml"), 'names = ["TEAM.md"]'),
    ),
    "the user's first wording in an existing folder": (
        "pod", {"home/.config/foreword": None, "w/a/AGENTS.md": "x"},
        lambda path: write(path("home/.config/foreword/prompts.toml"), 'agents_md_section = "{}!"'),
    ),
    "a resident file is edited": (
        "pod", {"w/a/.foreword/knowledge/x.md": "---\ndescription: One.\n---\n"},
        lambda path: write(path("w/a/.foreword/knowledge/x.md"), "---\ndescription: One.\nmodel_invokation: true\n---\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("has_root", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(tree, trusted_clock, change, has_root):
    layout, start, apply_change = CHANGES[change]
    tree({"w/a": None, **start})
    root = tree.path("w/a") if has_root and "repository" not in change else None
    workspace = Workspace(tree.path("w/a"), root, tree.path("home"), "linux", {})
    agent = AGENT_WITH_SKILL if "active skill" in change else AGENTS.get(layout, AGENT)
    assembler = Assembler(workspace, layout)
    before = outcome(assembler, agent)
    assert before == outcome(Assembler(workspace, layout), agent)
    trusted_clock.tick()
    apply_change(tree.path)
    after = outcome(assembler, agent)
    assert after == outcome(Assembler(workspace, layout), agent)
    assert after != before


def test_a_change_to_an_included_template_is_noticed(tree, trusted_clock):
    tree({"home/.config/foreword/prompts/x.md": "{% include 'y' %}", "home/.config/foreword/prompts/y.md": "one"})
    assembler = Assembler(tree.workspace(), "pod", assignments=[("body.text", "$user/x")])
    assert assembler.prompt(AGENT).text.startswith("one\n")
    trusted_clock.tick()
    tree({"home/.config/foreword/prompts/y.md": "two"})
    assert assembler.prompt(AGENT).text.startswith("two\n")


# Nothing changed

ALL_FILES = {
    "w/.git/HEAD": "ref: refs/heads/x",
    "w/AGENTS.md": "root",
    "w/a/AGENTS.md": "<!-- include: ./docs/part.md -->",
    "w/a/docs/part.md": "part",
    "home/.ion/AGENTS.md": "mine",
    "home/.config/agents/AGENTS.md": "mine too",
    "w/.agents/skills/g/x/SKILL.md": SKILL,
    "home/.agents/skills/x/SKILL.md": SKILL,
    "w/.foreword/knowledge/k.md": "---\ndescription: K.\nmodel_invokation: true\n---\n",
    "w/.foreword/foreword.toml": "skills.budget = 5000\n",
}


@pytest.mark.parametrize("layout", ["foreword", "ion", "pod", "builder"])
def test_nothing_is_read_if_nothing_changed(tree, trusted_clock, monkeypatch, layout):
    """Opal and pi are left out: they read directories above the workspace, where other programs write."""
    workspace = tree({"w/a": None, **ALL_FILES}).workspace("w/a")
    assembler, agent = Assembler(workspace, layout), AGENTS.get(layout, AGENT)
    first = assembler.prompt(agent)
    for call in ("open", "read", "scandir", "lstat", "readlink"):
        monkeypatch.delattr(os, call)
    assert assembler.prompt(agent) is first


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_only_what_changed_is_read_again(tree, trusted_clock, monkeypatch, layout):
    assembler = Assembler(tree({"w/a": None, **ALL_FILES}).workspace("w/a"), layout)
    assembler.prompt(AGENT, NOW)
    trusted_clock.tick()
    tree({"w/AGENTS.md": "ROOT"})
    paths = []
    monkeypatch.setattr(os, "open", lambda path, flags, open=os.open: paths.append(path) or open(path, flags))
    assert "ROOT" in assembler.prompt(AGENT, NOW).text
    # Only the workspace is checked: opal and pi also read directories above it, where other programs may write at any time.
    assert [path for path in paths if path.startswith(tree.path("w"))] == [tree.path("w/AGENTS.md")]


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi", "pod", "builder"])
def test_a_change_within_the_clock_resolution_is_noticed(tree, layout):
    """Rewrite the file with different text of the same length, as fast as possible."""
    tree({"w/a": None, **ALL_FILES})
    workspace, agent = tree.workspace("w/a"), AGENTS.get(layout, AGENT)
    assembler = Assembler(workspace, layout)
    for number in range(100, 160):
        write(tree.path("w/a/docs/part.md" if layout == "ion" else "w/a/AGENTS.md"), f"text {number}\n")
        assert f"text {number}" in assembler.prompt(agent, NOW).text


# Threads


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi", "ion"])
@pytest.mark.parametrize("ahead", [0, AHEAD])
def test_every_thread_gets_a_correct_prompt(tree, trusted_clock, layout, ahead):
    """One file changes or disappears at a time, atomically, so every prompt must match one of its states."""
    trusted_clock.ahead = ahead
    tree({"w/a": None, **ALL_FILES, "w/a/CLAUDE.md": "instead"})
    workspace, path = tree.workspace("w/a"), tree.path("w/a/AGENTS.md")
    states = ["one", "two", "six", None]

    def enter(state):
        trusted_clock.tick()
        if state is None:
            os.unlink(path)
        else:
            write(tree.path("clock/new"), state)
            os.replace(tree.path("clock/new"), path)

    def fresh_prompt(state):
        enter(state)
        return Assembler(workspace, layout).prompt(AGENT, NOW)

    expected_prompts = [fresh_prompt(state) for state in states]
    assembler, answers, failures, is_over = Assembler(workspace, layout), [], [], threading.Event()

    def ask():
        try:
            while not is_over.is_set():
                answers.append(assembler.prompt(AGENT, NOW))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for number in range(200):
        enter(states[number % 4])
    is_over.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [
        answer for answer in {id(answer): answer for answer in answers}.values() if answer not in expected_prompts
    ] == []
    assert assembler.prompt(AGENT, NOW) == expected_prompts[3]


def test_guidelines_are_written_again_only_for_another_agent(tree, trusted_clock):
    assembler = Assembler(tree({"w/AGENTS.md": "one"}).workspace(), "foreword")
    agents = [Agent([Tool(name, guidelines=[f"Use {name} often."])]) for name in ("shell", "read_file")]

    def guidelines(agent):
        prompt = assembler.prompt(agent)
        assert prompt == Assembler(tree.workspace(), "foreword").prompt(agent)
        return next(passage for passage in prompt.passages if "Use " in passage.text)

    first = guidelines(agents[0])
    trusted_clock.tick()
    tree({"w/AGENTS.md": "two, and longer"})
    assert guidelines(agents[0]).pieces is first.pieces
    assert "Use read_file often." in guidelines(agents[1]).text
    assert guidelines(agents[0]).text == first.text


def test_a_rule_is_called_for_each_prompt(tree, trusted_clock):
    count = itertools.count(1)
    assembler = Assembler(
        tree({"w/AGENTS.md": "one"}).workspace(), "foreword", rules=[lambda _: f"Call {next(count)}."]
    )
    agent = Agent([Tool("shell")])
    assert "Call 1." in assembler.prompt(agent).text
    trusted_clock.tick()
    tree({"w/AGENTS.md": "two, and longer"})
    assert "Call 2." in assembler.prompt(agent).text
