"""Over random histories with touches, what was sent stays a prefix of what is sent next, and each text is sent once.

Only a compaction and a tool that the conversation does not define yet change the prompt.
"""

import os
import re
import shutil
import tempfile

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from foreword import Agent, Conversations, Tool, Workspace

NESTED = ("AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md", "c/AGENTS.md")
RULES = {
    ".agents/rules/python.md": "---\npaths: '*.py'\n---\n",
    ".claude/rules/a.md": "---\npaths: a/**\n---\n",
    ".github/instructions/text.instructions.md": "---\napplyTo: '**/*.txt,!c/**'\n---\n",
    ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\n",
    "a/.cursor/rules/b.mdc": "---\nglobs: b/*\n---\n",
}
FILES = (*NESTED, *RULES)
PATHS = {  # each with the nested files that apply to it
    "x.py": "",
    "a/x.py": "a/AGENTS.md",
    "a/y.txt": "a/AGENTS.md",
    "a/b/c/z.md": "a/AGENTS.md a/b/AGENTS.md",
    "c/x.txt": "c/AGENTS.md",
    "c/new/x.py": "c/AGENTS.md",
    "a/../c/q": "c/AGENTS.md",
    "../outside.py": "",
}
MARK = re.compile(r"<<(.*?) (\d+)>>")

files, processes = st.sampled_from(FILES), st.integers(0, 1)
kinds = st.sampled_from(["read", "edit", "create"])
tools = st.sets(st.sampled_from(["bash", "read", "edit"])).map(sorted)


class Histories(RuleBasedStateMachine):
    """One conversation in two processes, and a caller who keeps the history. Each version of a file has different text."""

    def __init__(self):
        super().__init__()
        self.top = tempfile.mkdtemp()
        self.versions = dict.fromkeys(FILES, 0)
        self.history, self.sent = [], None
        self.opened, self.known = [], [set(), set()]

    def teardown(self):
        for conversations, _ in self.opened:
            conversations.close()
        shutil.rmtree(self.top)

    @initialize(tools=tools)
    def start(self, tools):
        for folder in ("w/.git", "home"):
            os.makedirs(os.path.join(self.top, folder))
        for name in FILES:
            self.edit(name)
        self.opened = [self.open(tools), self.open(tools)]

    def open(self, tools):
        conversations = Conversations(f"sqlite:///{self.top}/store.db")
        workspace = Workspace(f"{self.top}/w", home=f"{self.top}/home")
        return conversations, conversations.open("t", workspace, Agent(tools=[Tool(name) for name in tools]))

    def check(self, turn):
        """Compare a request with the one before, and count the texts in it."""
        request = (turn.system, turn.tools, tuple(turn.messages))
        if self.sent is not None:
            system, definitions, messages = self.sent
            new_tools = {tool["name"] for tool in turn.tools} - {tool["name"] for tool in definitions}
            assert request[:2] == (system, definitions) or new_tools
            assert request[2][: len(messages)] == messages
        self.sent = request
        marks = MARK.findall("\n".join([turn.system, *(message["content"] for message in turn.messages)]))
        assert sorted(marks) == sorted(set(marks))

    @rule(process=processes)
    def turn(self, process):
        turn = self.opened[process][1].turn("Go on.", self.history)
        self.check(turn)
        self.history = [*turn.history, {"role": "assistant", "content": "Done."}]

    @rule(process=processes, paths=st.lists(st.sampled_from(sorted(PATHS)), max_size=3), how=kinds)
    def touch(self, process, paths, how):
        self.history += self.opened[process][1].touch(paths, how).messages
        marks = [mark for message in self.history for mark in MARK.findall(message["content"])]
        assert sorted(marks) == sorted(set(marks))
        seen = {name for name, _ in marks}
        for path in set(paths) - self.known[process]:
            assert {name for name in PATHS[path].split() if os.path.exists(f"{self.top}/w/{name}")} <= seen
        self.known[process].update(paths)

    @rule(name=files)
    def edit(self, name):
        self.versions[name] += 1
        path = os.path.join(self.top, "w", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(f"{RULES.get(name, '')}<<{name} {self.versions[name]}>>\n")

    @rule(name=files)
    def delete(self, name):
        path = os.path.join(self.top, "w", name)
        if os.path.exists(path):
            os.remove(path)

    @rule(process=processes)
    def compact(self, process):
        self.check(self.opened[process][1].compact(messages=self.history))
        self.history, self.sent = [{"role": "summary", "content": "So far."}], None

    @rule(process=processes, tools=tools)
    def restart_with_tools(self, process, tools):
        self.opened[process][0].close()
        self.opened[process], self.known[process] = self.open(tools), set()

    @rule(process=processes, tools=tools)
    def change_tools(self, process, tools):
        self.opened[process][1].set_active_tools([Tool(name) for name in tools])


TestHistories = Histories.TestCase
TestHistories.settings = settings(stateful_step_count=20)
