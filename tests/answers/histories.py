"""Workspaces with a history: of git, of agents' sessions, and of an experiment."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import other_logs
from tests.answers.projects import fields
from tests.sessions.session_logs import GOLDEN, ClaudeLog, codex_item, codex_rows, codex_usage, stamp, write_codex

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

_ODD = (None, True, -1, 10**30, 1.5, "", "x", [], [None], {}, {"type": 7})


def _damaged(content, choose):
    """Return JSON in which some values are missing or replaced."""
    if choose.random() < 0.02:
        return choose.choice(_ODD)
    if isinstance(content, dict):
        return {key: _damaged(field, choose) for key, field in content.items() if choose.random() > 0.01}
    if isinstance(content, list):
        return [_damaged(entry, choose) for entry in content]
    return content


def _damaged_logs():
    """Return the same logs in one home directory, with damaged rows, half a row at the end, and types that nobody knows."""
    for number, (path, text) in enumerate(AGENTS_LOGS.items()):
        if isinstance(text, str):
            choose = random.Random(number)
            rows = [json.dumps(_damaged(json.loads(line), choose)) for line in text.splitlines()]
            rows[3:3] = ["not JSON", '{"type": "from-the-future", "timestamp": "2026-11-17T12:34:00Z"}', "[]"]
            yield f"home/{path.partition('/')[2]}", "\n".join(rows) + '\n{"type": "us'


DAMAGED_LOGS = {"w": None, **dict(_damaged_logs())}


def _other_logs(home):
    """Write small logs of other programs, with compactions, branches and sub-agents."""
    home, repo = Path(home), "/tmp/answers/w"
    requests = [(5_000, 0, 30), (200, 5_000, 40), (6_000, 0, 20), (100, 6_000, 10)]
    rows = other_logs.pi_rows(repo, requests)
    rows.append(
        {**rows[-1], "id": "branch", "parentId": rows[3]["id"], "message": {"role": "user", "content": "Otherwise."}}
    )
    rows.append(
        {
            "type": "compaction",
            "id": "c",
            "parentId": "branch",
            "timestamp": stamp(60),
            "summary": "Short.",
            "firstKeptEntryId": rows[3]["id"],
        }
    )
    rows.append({**rows[4], "id": "after", "parentId": "c", "timestamp": stamp(70)})
    other_logs.write_pi(home, rows)
    other_logs.write_gemini(home, other_logs.gemini_rows(requests))
    other_logs.write_copilot(
        home, [*other_logs.copilot_rows(repo, requests), other_logs.copilot_compaction(900, 100, 50)]
    )
    other_logs.write_qwen(home, other_logs.qwen_rows(repo, requests))
    other_logs.write_opencode(home, repo, {"parent": (None, requests), "child": ("parent", requests[:2])})
    rows = codex_rows(repo)
    for number, (fresh, read, out) in enumerate(requests):
        rows += [
            codex_item(f"Go {number}.", seconds=10 * number),
            *codex_usage(number, fresh + read, read, out, seconds=10 * number + 3),
        ]
        rows.append(
            {
                "timestamp": stamp(10 * number + 5),
                "type": "compacted",
                "payload": {"message": "Short.", "replacement_history": []},
            }
            if number == 1
            else rows[-1]
        )
    write_codex(home, rows)


OTHER_LOGS = {"w/.git/HEAD": "ref: refs/heads/main\n", "w/GEMINI.md": "Be kind.\n", "home": _other_logs}
