"""The moment of a store changes if and only if the store does, whichever process changes it."""

import os
import sqlite3
from contextlib import closing

import pytest

from foreword.errors import StoreError
from foreword.store import open_store
from foreword.store.rows import TemplateVersion


@pytest.fixture
def path(tmp_path, edition):
    path = str(tmp_path / "store.db")
    with closing(open_store(path)) as store:
        store.publish("chat", edition(1), 0)
    return path


@pytest.fixture
def store(path):
    with closing(open_store(path)) as store:
        yield store


CHANGES = {
    "an edition": lambda store, edition: store.publish("chat", edition(2), 1),
    "another conversation": lambda store, edition: store.publish("other", edition(1), 0),
    "a state": lambda store, edition: store.save_state("chat", 1, '{"x": 1}'),
    "a template": lambda store, edition: store.add_template(TemplateVersion(0, "T")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("is_own", [True, False], ids=["by this store", "by another"])
def test_the_moment_changes_only_with_the_store(store, path, edition, change, is_own):
    before = store.moment()
    store.current("chat"), store.templates(), store.stats(), store.verify()
    assert store.moment() == before is not None
    with closing(open_store(path)) as other:
        change(store if is_own else other, edition)
        after = store.moment()
        assert after != before
        assert store.moment() == after


def test_two_stores_never_share_a_moment(store, path):
    with closing(open_store(path)) as other:
        assert store.moment() != other.moment()


def test_the_moment_changes_when_a_backup_is_restored(store, path, edition):
    with closing(sqlite3.connect(path)) as live, closing(sqlite3.connect(f"{path}.backup")) as backup:
        live.backup(backup)
        store.publish("chat", edition(2), 1)
        before = store.moment()
        backup.backup(live)
    assert store.moment() != before
    assert store.current("chat") == edition(1)


def test_the_moment_changes_with_the_file(store, path, edition):
    before = store.moment()
    with closing(open_store(f"{path}.new")) as other:
        other.publish("chat", edition(1, system="another"), 0)
    os.replace(f"{path}.new", path)
    after = store.moment()
    assert after != before
    assert store.moment() == after
    assert store.current("chat").system == "another"


def test_a_missing_file_is_an_error(store, path):
    store.moment()
    os.unlink(path)
    with pytest.raises(StoreError, match="its file is gone"):
        store.moment()


def test_a_closed_store_is_an_error(path):
    store = open_store(path)
    store.moment()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.moment()


def test_memory_and_postgresql_stores_have_no_moment(postgres_url):
    for url in ("sqlite:///:memory:", postgres_url):
        with closing(open_store(url)) as store:
            assert store.moment() is None
