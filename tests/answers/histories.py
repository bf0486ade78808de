"""Workspaces with a history: of git, of agents' sessions, and of an experiment."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.answers.projects import fields
from tests.sessions.session_logs import GOLDEN, ClaudeLog, codex_item, codex_rows, codex_usage

REPOSITORY = {
    "w/AGENTS.md": "# Shop\n\nUse pnpm.\n\n## Style\n\nBe brief.\n",
    "w/CLAUDE.md": "@AGENTS.md\n",
    "w/api/AGENTS.md": "Validate.\n",
    "w/old/AGENTS.md": "A long enough text to keep.\n",
    "w/package.json": '{"scripts": {"test": "x"}}',
    "w/.claude/rules/python.md": fields("Type everything.\n", paths='"**/*.py"'),
    "w/x.py": "",
}

# The golden logs of each program, in a home directory of its own.
AGENTS_LOGS = {"w": None}
for _path in sorted(GOLDEN.rglob("*.jsonl")):
    _program, _home, *_parts = _path.relative_to(GOLDEN).parts
    _name = "/".join(f".{part[1:]}" if part[0] == "_" else part for part in _parts)
    AGENTS_LOGS[f"{_program}/{_name}"] = _path.read_text()


def _opencode(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((GOLDEN / "opencode/opencode.sql").read_text())


AGENTS_LOGS["opencode/.local/share/opencode/opencode.db"] = _opencode

RULES = "Be kind.\nRun the tests.\n"


def _logs(home):
    """Write two days of sessions in the workspace, of Claude Code and Codex CLI."""
    repo = Path("/tmp/answers/w")
    log = ClaudeLog(Path(home), repo).snapshot().instructions(repo / "CLAUDE.md", RULES)
    log.user().answer(written=5_000).user().answer(read=5_000, written=100).user().answer(written=5_300, blocks=2)
    log.time += 2 * 86_400
    log.user().answer(written=5_400).user().answer(read=5_400, written=90, model="claude-sonnet-5").write()
    log = ClaudeLog(Path(home), repo / "api", session="22222222-aaaa-4bbb-8ccc-222222222222", version="2.1.328")
    log.count = 50
    log.snapshot(tools=("Read", "mcp__jira__find")).instructions(repo / "CLAUDE.md", RULES + "Be brief.\n")
    log.user("hello").answer(written=4_000, out=900).snapshot(tools=("Read",)).user().answer(written=3_900, out=100)
    log.instructions(repo / "CLAUDE.md", RULES).user().answer(read=3_900, written=300, model="unknown-model").write(
        end="\nnot JSON\n"
    )
    rows = [
        *codex_rows(repo),
        codex_item("<user_instructions>\n\nBe kind.\n\n</user_instructions>"),
        codex_item("Go on."),
    ]
    rows += [*codex_usage(1, 6_000, 0), codex_item("Done.", "assistant"), *codex_usage(2, 6_200, 5_900, seconds=9)]
    path = Path(
        home, ".codex/sessions/2026/11/06/rollout-2026-11-06T20-00-00-019a1e94-b044-7521-beaa-426c32ed4af3.jsonl"
    )
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


SESSIONS = {
    "w/.git/HEAD": "ref: refs/heads/main\n",
    "w/CLAUDE.md": RULES,
    "w/AGENTS.md": "Be kind.\n",
    "w/api/x.py": "",
    "home": _logs,
}


def _records():
    """Return the results of an experiment: its first section helps, the second makes no difference."""
    choose, lines = random.Random(5), []
    for arm, chance, runs in (
        ("everything", 0.9, 60),
        ("AGENTS.md#Greeting", 0.2, 20),
        ("AGENTS.md#Colour", 0.9, 20),
        ("nothing", 0.3, 20),
    ):
        for number in range(1, runs + 1):
            record = {
                "arm": arm,
                "run": number,
                "attempt": 1,
                "seed": number,
                "score": float(choose.random() < chance),
                "status": 0,
            }
            lines.append(json.dumps({**record, "seconds": 40.5, "cost": 0.12, "tokens": 9_000, "reason": ""}))
    return "".join(f"{line}\n" for line in lines)


EFFECT = {
    "w/AGENTS.md": "# Project\n\n## Greeting\n\nSay hello.\n\n## Colour\n\nUse blue.\n",
    "w/CLAUDE.md": "@AGENTS.md\n",
    "w/sub/AGENTS.md": "In sub.\n\nAnd more.\n",
    "records.jsonl": _records(),
}
