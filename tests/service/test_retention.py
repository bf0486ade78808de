"""Conversations that are older than their team keeps them are removed, by one process of all."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from foreword.errors import CallError
from foreword.service.tokens import Tokens, hash_token, read_tokens
from foreword.store import open_store
from foreword.vocabulary import Edition, replace

POSTGRES = Path(__file__).parents[1] / "store" / "server.py"
OLD = "2020-01-01T00:00:00.000+00:00"
TOKEN = """
[[token]]
name = "{name}"
hash = "{hash}"
rights = ["read"]
{more}
"""
NUMBER = 20_000


def tokens_file(folder, *more):
    path = folder / "tokens.toml"
    rows = [
        TOKEN.format(name=name, hash=hash_token(b"planted-%d" % name).decode(), more=each)
        for name, each in enumerate(more)
    ]
    path.write_text("\n".join(rows))
    return str(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["older_than = 90"], "older_than must be a number of days, hours or minutes"),
        (["older_than = '0d'"], "older_than must be a number of days, hours or minutes"),
        (["older_than = 'soon'"], "older_than must be a number of days, hours or minutes"),
        (
            ["team = 'a'\nolder_than = '90d'", "team = 'a'\nolder_than = '30d'"],
            "the tokens of the team 'a' have different older_than",
        ),
        (["teams = ['*']\nrights = ['admin']\nolder_than = '90d'"], "older_than belongs to a token with a team"),
    ],
)
def test_a_wrong_age_is_an_error(tmp_path, rows, words):
    path = tokens_file(tmp_path, *rows)
    if "teams" in rows[0]:
        Path(path).write_text(Path(path).read_text().replace('rights = ["read"]\n', ""))
    with pytest.raises(CallError, match=words):
        read_tokens(path)


def test_each_team_has_its_own_age(tmp_path):
    path = tokens_file(
        tmp_path, "team = 'a'\nolder_than = '90d'", "team = 'a'", "team = 'b'\nolder_than = '12h'", "team = 'c'"
    )
    assert Tokens(path=path).retentions() == {"a": 90 * 86400.0, "b": 12 * 3600.0}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))])
def filled(request, tmp_path):
    """The URL of a store in which the teams `a` and `b` have many old conversations, and a recent one."""
    if request.param == "sqlite":
        yield fill(f"{tmp_path}/store.db")
        return
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, str(POSTGRES)], text=True, **pipes) as postgres:
        yield fill(postgres.stdout.readline().strip())
        postgres.stdin.close()


def fill(url):
    store = open_store(url)
    edition = Edition(1, "You are helpful.", created=OLD)
    for team, number in (("a", NUMBER), ("b", 1)):
        own = store.for_team(team)
        own.publish("first", edition, 0)
        own.publish("recent", replace(edition, created="2090-01-01T00:00:00.000+00:00"), 0)
        columns = "number, content, kind, created"
        series = (
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            f" INSERT INTO foreword_editions (team, conversation, {columns}) SELECT team, 'old ' || i, {columns}"
            " FROM foreword_editions CROSS JOIN n WHERE team = ? AND conversation = 'first'"
        )
        count = "UPDATE foreword_counts SET conversations = conversations + ?, editions = editions + ? WHERE team = ?"
        own._run_write(
            lambda c, own=own, n=number, team=team, s=series: own._execute(c, s, (n - 1, team)) if n > 1 else 0
        )
        if number > 1:
            own._run_write(lambda c, own=own, n=number, team=team, s=count: own._execute(c, s, (n - 1, n - 1, team)))
    assert store.verify() == []
    store.close()
    return url


def run(url, statement):
    if "://" not in url:
        with closing(sqlite3.connect(url, isolation_level=None)) as connection:
            return connection.execute(statement).fetchall()
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def wait_for(condition):
    for _ in range(1200):
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("it never happened")


def test_another_process_takes_over_when_the_one_that_removes_is_killed(start, filled, tmp_path):
    tokens = tokens_file(tmp_path, "team = 'a'\nolder_than = '1d'", "team = 'b'", "")
    server = start("--workers", "2", "--tokens", tokens, store=filled)
    holder = "SELECT holder FROM foreword_leases"
    left = "SELECT count(*) FROM foreword_editions WHERE team = 'a'"
    ((first,),) = wait_for(lambda: run(filled, holder) if run(filled, left)[0][0] < NUMBER else [])
    assert run(filled, left)[0][0] > 1, "otherwise the test proves nothing"
    os.kill(int(first.partition("-")[0]), signal.SIGKILL)
    wait_for(lambda: run(filled, left) == [(1,)])
    wait_for(lambda: run(filled, "SELECT done FROM foreword_leases")[0][0])
    ((second,),) = run(filled, holder)
    assert second != first
    assert run(filled, "SELECT count(*) FROM foreword_editions WHERE team = 'b'") == [(2,)]
    # The last batches of the killed process are counted only if it had the time.
    metrics = wait_for(lambda: figures(server) if figures(server)["foreword_pruned_timestamp_seconds"] else None)
    assert 0 < metrics["foreword_pruned_conversations_total"] <= NUMBER
    assert (metrics["foreword_pruning"], metrics["foreword_pruned_timestamp_seconds"] > time.time() - 600) == (0, True)
    server.close()
    store = open_store(filled)
    assert (store.for_team("a").current("recent").number, store.verify()) == (1, [])
    store.close()
    assert any(
        "conversations that were older than their team keeps them" in line
        for line in server.log_path.read_text().splitlines()
    )


def figures(server):
    """Return the figures about removing old conversations."""
    text = server.get("/metrics", headers={"Authorization": "Bearer planted-2"}).body.decode()
    return {name: float(value) for name, value in re.findall(r"^(foreword_prun\w+) (\S+)$", text, re.MULTILINE)}
