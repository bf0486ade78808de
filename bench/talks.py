"""Turns of known conversations: what a turn costs where the edition stays, beside a bare SELECT of its row."""

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


def rows(place: fixture.Fixture) -> list[Row]:
    """A turn where the step is keep, of a conversation that is open and of one that is opened for it."""
    tools = [Tool(row["name"], row["description"], schema=row["schema"]) for row in json.loads(place.tools.read_text())]
    workspace, agent = Workspace(str(place.cwd), home=str(place.home)), Agent(tools=tools)
    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        file = Path(folder) / "store.db"
        talks = Conversations(f"sqlite:///{file}")
        talk = talks.open("t", workspace, agent)
        first = talk.turn("hi")
        again = talk.turn("hi")
        assert (again.system, again.is_reused) == (first.system, True), "the edition was made again"
        connection = sqlite3.connect(file)
        bare = selecting(connection)
        assert bare()[0] == 1
        name = "a known conversation's turn where the step is keep, SQLite, in process"
        found = [
            compared(name, lambda: talk.turn("hi"), bare, 10.0, "talk.turn(message)"),
            compared(
                "the same, with the conversation opened for that turn",
                lambda: talks.open("t", workspace, agent).turn("hi"),
                bare,
                None,
                "talks.open(id, workspace, agent).turn(message)",
            ),
        ]
        connection.close()
        talks.close()
    return found


def selecting(connection: sqlite3.Connection) -> Callable[[], tuple[int, ...]]:
    """The least that could be asked: the row of the edition in use, its texts known by number."""
    columns = "number, system, tools, account, inputs, layout, made_for, made, state"
    select = f"SELECT {columns} FROM foreword_editions WHERE conversation = ? ORDER BY number DESC LIMIT 1"

    def select_row() -> tuple[int, ...]:
        row: tuple[int, ...] = connection.execute(select, ("t",)).fetchone()
        return row

    return select_row


def compared(name: str, ours: Callable[[], object], bare: Callable[[], object], bar: float | None, is_: str) -> Row:
    took = take_turns({"ours": ours, "beside": bare}, ROUNDS if bar else ROUNDS // 10)
    return Row(name, took["ours"], took["beside"], bar, is_, "one SELECT of its row")
