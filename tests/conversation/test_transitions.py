"""The effect of each event on the edition in use, for every layout: a table for review, `tests/golden/transitions.md`.

Each row is a separate conversation: its first turn, then the change of the row, then the turn that is shown.
`pytest --accept` writes the tables again; read the diff before you commit it.
"""

import json
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from foreword import Agent, Conversations, Extension, Tool, Workspace
from foreword.conversation.decide import STEPS
from foreword.packs.std import NAMES
from foreword.store.rows import TemplateVersion

TABLES = Path(__file__).parent.parent / "golden" / "transitions.md"
LAYOUTS = ("foreword", "ion", "opal", "pi", "pod", "builder")
TABLE_HEAD = ("what happened", "step", "edition", "reused", "the system holds", "messages added", "tools sent")

TEMPLATE = "Template one. [file:AGENTS.md] Working directory: [prompt:cwd]"
BODY = "Template one. Tools: {% for tool in tools %}`{{ tool }}` {% endfor %}\nWorking directory: {{ cwd }}"
READ, SHELL, EDIT, OTHER = 0, 1, 2, 3


def tool_names(layout):
    return ("read_file", "shell", "edit_file", "zap") if layout == "opal" else ("read", "bash", "edit", "zap")


class Scene:
    """One conversation in its own folder, and a clock that advances by a minute with every turn."""

    def __init__(self, tree, layout, now, row):
        self.tree, self.layout, self.now = tree, layout, now
        self.place = row.replace(" ", "-").replace(":", "").replace(",", "")
        self.names = tool_names(layout)
        self.cwd = f"{self.place}/w"
        self.steps = []
        tree({f"{self.place}/w/.git": None, f"{self.place}/home": None, f"{self.place}/w/sub": None})
        self.write("AGENTS.md", "File one.\n")
        self.write(".foreword/prompts/body.md", BODY)
        self.tools = (READ, SHELL)
        self.conversations = Conversations(self.url, [Extension("ear", listen=lambda step, _: self.steps.append(step))])
        self.save_template(TEMPLATE)
        self.open()

    @property
    def url(self):
        return f"sqlite:///{self.tree.path(self.place)}/store.db"

    def write(self, name, text):
        self.tree({f"{self.place}/w/{name}": text})

    def save_template(self, template):
        self.conversations.store.add_template(TemplateVersion(0, template))

    def workspace(self):
        return {"cwd": self.tree.path(self.cwd), "home": self.tree.path(f"{self.place}/home"), "platform": "linux"}

    def assignments(self):
        return [("body.text", "$workspace/body")] if self.layout == "pod" else []

    def open(self):
        agent = Agent(tools=[Tool(self.names[tool]) for tool in self.tools])
        workspace = Workspace(**self.workspace(), environment={})
        self.conversation = self.conversations.open("t", workspace, agent, self.layout, assignments=self.assignments())

    def set_tools(self, *tools):
        self.tools = tools
        self.conversation.set_active_tools([Tool(self.names[tool]) for tool in tools])

    def run(self, ask, *message):
        self.steps.clear()
        self.now += timedelta(minutes=1)
        turn = ask(*message, now=self.now)
        shown = {"edition": turn.edition, "reused": turn.is_reused, "system": turn.system}
        return {**shown, "messages": list(turn.messages), "tools": list(turn.tools), "step": "".join(self.steps)}

    def turn(self):
        return self.run(self.conversation.turn, "go")

    # Changes

    def change_template(self):
        self.save_template(TEMPLATE.replace("one", "two"))
        self.write(".foreword/prompts/body.md", BODY.replace("one", "two"))

    def change_file(self):
        self.write("AGENTS.md", "File two.\n")

    def change_cwd(self):
        self.cwd = f"{self.place}/w/sub"
        self.open()

    def compact(self):
        self.change_file()
        self.change_template()
        return self.run(self.conversation.compact)

    def after_compaction(self):
        self.compact()

    def twice_after_compaction(self):
        self.compact()
        self.turn()
        self.write("AGENTS.md", "File three.\n")

    def reload(self):
        self.change_file()
        return self.run(self.conversation.reload)

    def restart(self):
        """Take the same turn in a process that has never seen the conversation, after a file and the template changed."""
        self.change_file()
        self.change_template()
        self.now += timedelta(minutes=1)
        args = [self.url, self.workspace(), [self.names[tool] for tool in self.tools], self.layout]
        args += [self.assignments(), self.now.isoformat()]
        result = subprocess.run([sys.executable, "-c", OTHER_FILE, json.dumps(args)], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)


OTHER_FILE = """
import json, sys
from datetime import datetime
from foreword import Agent, Conversations, Extension, Tool, Workspace
from foreword.wire.answers import turn_form
url, workspace, tools, layout, assignments, now = json.loads(sys.argv[1])
steps = []
conversations = Conversations(url, [Extension("ear", listen=lambda step, _: steps.append(step))])
agent = Agent(tools=[Tool(name) for name in tools])
conversation = conversations.open("t", Workspace(**workspace, environment={}), agent, layout, assignments=assignments)
turn = conversation.turn("go", now=datetime.fromisoformat(now))
print(json.dumps({**turn_form(turn), "step": "".join(steps)}))
"""

ROWS = {
    "nothing yet": None,
    "known": lambda scene: None,
    "template changed": Scene.change_template,
    "file changed": Scene.change_file,
    "cwd changed": Scene.change_cwd,
    "tools changed: other": lambda scene: scene.set_tools(READ, EDIT),
    "tools changed: fewer": lambda scene: scene.set_tools(SHELL),
    "tools changed: more": lambda scene: scene.set_tools(OTHER, READ, SHELL, EDIT),
    "tools changed: reordered": lambda scene: scene.set_tools(SHELL, READ),
    "compaction, file and template changed": Scene.compact,
    "turn after that compaction": Scene.after_compaction,
    "second turn after it, file changed again": Scene.twice_after_compaction,
    "reload, file changed": Scene.reload,
    "another process, file and template changed": Scene.restart,
}


def describe_prompt(scene, system, request):
    """Return a short description of a system prompt."""
    system = scene.tree.short(system).replace(f"/{scene.place}", "")
    found = [f"{what} {which}" for what, which in re.findall(r"\b(Template|File) (one|two|three)\.", system)]
    mentioned = [name for name in scene.names if re.search(rf"`{name}`|^- {name}:", system, re.MULTILINE)]
    found += ["on " + ", ".join(mentioned)] if mentioned else []
    found += [f"in {path}" for path in re.findall(r"orking directory: (\S+)", system)]
    found += [f"at {time}" for time in re.findall(r"at (\d\d:\d\d):", system)]
    return "; ".join(found + (["**the request**"] if request in system else []))


def cells(scene, row, turn):
    request = scene.conversation.layout.wording["compaction"]
    contents = [message["content"] for message in turn["messages"] if message["content"] != "go"]
    shown = ["**the request**" if text == request else text.replace("\n", " ⏎ ") for text in contents]
    return (
        row,
        turn["step"] or "keep",
        str(turn["edition"]),
        "yes" if turn["reused"] else "no",
        describe_prompt(scene, turn["system"], request),
        " / ".join(shown),
        ", ".join(tool["name"] for tool in turn["tools"]),
    )


def table(tree, layout, now):
    lines = [f"## {layout}", "", "| " + " | ".join(TABLE_HEAD) + " |", "|---" * len(TABLE_HEAD) + "|"]
    for row, event in ROWS.items():
        scene = Scene(tree, layout, now, f"{layout} {row}")
        turn = scene.turn()
        if event is not None:
            turn = event(scene) or scene.turn()
        lines.append("| " + " | ".join(cells(scene, row, turn)) + " |")
        scene.conversations.close()
    return "\n".join(lines) + "\n"


TITLE = """\
# Transitions

Each row is a separate conversation: one turn with the tools read and shell, then the change of the row, then the turn that is
shown. A minute passes between turns. The global template and the body of pod say `Template one.`, then `Template two.`; the
AGENTS.md of the workspace says `File one.`, then `File two.`.
"""


def test_the_transition_tables_are_unchanged(tree, request):
    now = datetime(2026, 3, 7, 8, 54, 5, tzinfo=timezone(timedelta(hours=-6), "CST"))
    text = "\n".join([TITLE, *(table(tree, layout, now) for layout in LAYOUTS)])
    if request.config.getoption("--accept"):
        TABLES.write_text(text, "utf-8")
    assert text == TABLES.read_text("utf-8")


def test_every_shipped_layout_has_a_table():
    assert sorted(LAYOUTS) == sorted(NAMES)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_step_in_the_tables_exists(layout):
    _, _, after = TABLES.read_text("utf-8").partition(f"## {layout}\n")
    rows = [line.split(" | ") for line in after.partition("\n## ")[0].splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(ROWS)
    assert {row[1] for row in rows} <= {"constructed", *STEPS}
