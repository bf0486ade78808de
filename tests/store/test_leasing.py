"""A lease lets one process do a job. It expires if that process is killed."""

import pytest

from foreword.store import open_store


def set_lease(store, **columns):
    """Set the columns of every lease, relative to now."""
    assignments = ", ".join(f"{name} = {store.NOW} + {seconds}" for name, seconds in columns.items())
    store._run_write(lambda connection: store._execute(connection, f"UPDATE foreword_leases SET {assignments}"))


def test_one_process_at_a_time_holds_a_lease(url):
    one, other = open_store(url), open_store(url)
    assert [one.take_lease("job", "one", 15, 600), other.take_lease("job", "other", 15, 600)] == [True, False]
    assert [one.take_lease("job", "one", 15, 600), one.renew_lease("job", "one", 15)] == [True, True]
    assert other.renew_lease("job", "other", 15) is False
    assert other.take_lease("another job", "other", 15, 600)
    assert one.last_done("job") == 0
    one.finish_lease("job", "one")
    assert one.last_done("job") > 1_700_000_000
    one.close()
    other.close()


def test_a_job_that_nobody_has_done_was_done_at_no_time(store):
    assert store.last_done("job") == 0


@pytest.mark.parametrize(
    ("columns", "is_taken"),
    [
        ({"expires": 15}, False),
        ({"expires": 0}, True),
        ({"expires": -100}, True),
        ({"expires": 1000}, True),  # from before the clock was set back
        ({"expires": -1, "done": -599}, False),
        ({"expires": -1, "done": -601}, True),
        ({"expires": -1, "done": 1000}, True),
    ],
)
def test_a_lease_is_taken_over_when_it_has_expired_and_the_job_is_due(store, columns, is_taken):
    assert store.take_lease("job", "killed", 15, 600)
    set_lease(store, **columns)
    assert store.take_lease("job", "next", 20, 600) is is_taken
    assert store.renew_lease("job", "killed", 15) is not is_taken


def test_a_job_that_is_done_is_not_due_again_until_later(store):
    assert store.take_lease("job", "one", 15, 600)
    store.finish_lease("job", "one")
    assert [store.take_lease("job", holder, 15, 600) for holder in ("one", "other")] == [False, False]
    assert store.take_lease("job", "other", 15, 0)
