"""The private parts of psycopg that Foreword uses exist, and behave as it expects."""

import inspect

import psycopg
import pytest

from foreword.store.psycopg_connection import TimedConnection

pytestmark = pytest.mark.xdist_group("postgres")


def test_every_statement_runs_through_wait():
    assert list(inspect.signature(psycopg.Connection.wait).parameters)[:2] == ["self", "gen"]
    assert callable(psycopg.pq.PGconn.finish)


def test_a_connection_with_a_timeout_runs_statements(postgres_url):
    with TimedConnection.connect(postgres_url) as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
        assert not connection.has_timed_out


def test_a_server_that_does_not_answer_in_time_loses_its_connection(postgres_url):
    connection = TimedConnection.connect(postgres_url)
    connection.timeout = 0.2
    slow = []
    connection.on_slow = lambda: slow.append(connection.closed)
    with pytest.raises(psycopg.OperationalError, match="the server has not answered for 0 seconds"):
        connection.execute("SELECT pg_sleep(30)")
    assert (connection.has_timed_out, connection.closed) == (True, True)
    assert slow == [False], "it is called once, while the statement is running"


def test_an_answer_that_comes_after_the_timeout_is_used(postgres_url):
    def statement():
        return (yield psycopg.waiting.Wait.R)

    with TimedConnection.connect(postgres_url) as connection:
        connection.timeout = 0
        running = connection._with_timeout(statement())
        next(running)
        with pytest.raises(StopIteration) as end:
            running.send(psycopg.waiting.Ready.R)
        assert (end.value.value, connection.closed) == (psycopg.waiting.Ready.R, False)
