"""Compare turns that reuse a stored prompt with a plain SELECT of its row."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

import fixture
from foreword import Agent, Conversations, Tool, Workspace
from measure import Row, take_turns

ROUNDS = 2_000


def rows(project: fixture.Fixture) -> list[Row]:
    """Time turns that reuse the edition, in a conversation that is already open and in one that is opened for each turn."""
    tools = [
        Tool(row["name"], row["description"], schema=row["schema"]) for row in json.loads(project.tools.read_text())
    ]
    workspace, agent = Workspace(str(project.cwd), home=str(project.home)), Agent(tools=tools)
    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        file = Path(folder) / "store.db"
        conversations = Conversations(f"sqlite:///{file}")
        conversation = conversations.open("t", workspace, agent)
        first = conversation.turn("hi")
        again = conversation.turn("hi")
        assert (again.system, again.is_reused) == (first.system, True), "the edition was rebuilt"
        connection = sqlite3.connect(file)
        bare = bare_select(connection)
        assert bare()[0] == 1
        name = "turn that reuses the prompt, SQLite, in process"
        results = [
            compare(name, lambda: conversation.turn("hi"), bare, 10.0, "conversation.turn(message)"),
            compare(
                "the same, opening the conversation for each turn",
                lambda: conversations.open("t", workspace, agent).turn("hi"),
                bare,
                None,
                "conversations.open(id, workspace, agent).turn(message)",
            ),
        ]
        connection.close()
        conversations.close()
    return results


def bare_select(connection: sqlite3.Connection) -> Callable[[], tuple[int, ...]]:
    """Return a function that selects the row of the edition in use, without the texts it refers to."""
    columns = "number, content, created, created_text, state"
    select = (
        f"SELECT {columns} FROM foreword_editions WHERE team = '' AND conversation = ? ORDER BY number DESC LIMIT 1"
    )

    def select_row() -> tuple[int, ...]:
        row: tuple[int, ...] = connection.execute(select, ("t",)).fetchone()
        return row

    return select_row


def compare(name: str, ours: Callable[[], object], bare: Callable[[], object], limit: float | None, label: str) -> Row:
    times = take_turns({"ours": ours, "baseline": bare}, ROUNDS if limit else ROUNDS // 10)
    return Row(name, times["ours"], times["baseline"], limit, label, "one SELECT of its row")
