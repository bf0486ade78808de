"""Removing a conversation removes what only it used, from the store and from the memory of every process."""

import gc
import json
import re
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from foreword.errors import CallError, MissingError, StoreError
from foreword.store import open_store
from foreword.store.forgetting import ForgettingStore, leave_time
from foreword.store.rows import LabelMove, Pruned, TemplateVersion
from foreword.store.texts import hash_of, pack, split_hashes
from foreword.store.times import first_number, pack_time, unpack_time
from foreword.store.usage import CallUsage
from foreword.vocabulary import digest, replace

OLD, RECENT = "2026-01-01T00:00:00.000+00:00", "2026-06-01T00:00:00.000+00:00"
BETWEEN = 1_772_000_000.0
# Whether a process is waiting for a lock that another one holds.
WAITING = "SELECT count(*) > 0 FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"


TIMES = [
    OLD,
    "2026-03-07T08:55:05.123-06:00",
    "1969-12-31T23:59:59.999+14:00",
    "2026-03-07T08:55:05.123456+00:00",
    "2026-03-07T08:55:05.123",
    "2026-03-07T08:55:05.123Z",
    "2026-03-07 08:55:05.123+00:00",
    "2026-03-07T08:55:05.123+05:30:15",
    "0001-01-01T00:00:00.000+10:00",
    "9999-12-31T23:59:59.999-10:00",
    "later",
    "",
]


@pytest.mark.parametrize("text", TIMES)
def test_a_time_is_restored_exactly(text):
    assert unpack_time(*pack_time(text)) == text


def test_times_sort_chronologically_in_any_time_zone():
    texts = ["2026-01-01T12:00:00.000+09:00", "2026-01-01T04:00:00.000+00:00", "2026-01-01T00:00:00.000-08:00"]
    numbers = [pack_time(text)[0] for text in texts]
    assert numbers == sorted(numbers)
    assert pack_time(OLD)[0] < first_number(BETWEEN) < pack_time(RECENT)[0]


def test_forgetting_removes_what_only_this_conversation_used(store, edition):
    shared, private = edition(1), edition(1, "private", layout=edition(1).layout)
    store.publish("a", shared, 0)
    store.publish("b", private, 0)
    store.publish("b", replace(shared, number=2), 1)
    store.add_template(TemplateVersion(0, private.tools))
    store.add_usage("b", 1, CallUsage(1, 0, 0, 1, None, 1))
    assert store.forget("b")
    assert (store.current("b"), store.editions("b"), store.usage("b", 1)) == (None, [], None)
    assert (store.prompt(digest(private.system)), store.prompt(digest(shared.system))[0]) == (None, shared.system)
    assert store.template().template == private.tools
    expected = {"conversations": 1, "editions": 1, "texts": 7, "versions": 1}
    assert {name: count for name, count in store.stats().items() if name != "bytes"} == expected
    assert store.verify() == []
    assert not store.forget("b")
    assert store.publish("b", private, 0) == private
    assert store.verify() == []


def test_deleting_a_template_removes_its_labels_and_the_texts_that_only_it_used(store, edition):
    published = edition(1)
    store.publish("a", published, 0)
    for text in ("only here", "shared", published.tools, "only here"):
        store.add_template(TemplateVersion(0, text, name="support"))
    store.add_template(TemplateVersion(0, "shared", name="sales"))
    store.move_label(LabelMove("support", "staging", 0, 2))
    assert store.delete_template("support", "Ada", OLD) == 4
    assert (store.templates("support"), store.labels("support"), store.template("support")) == ([], {}, None)
    assert [(row.name, row.newest) for row in store.template_names()] == [("sales", 1)]
    assert store.label_moves("support") == [LabelMove("support", "", 4, 0, "Ada", OLD)]
    assert (store.template("sales").template, store.current("a")) == ("shared", published)
    assert (store.stats()["texts"], store.verify()) == (7, [])
    assert store._texts.hash("only here") is None
    again = store.add_template(TemplateVersion(0, "only here", name="support"))
    assert (again.version, store.template("support"), store.verify()) == (5, again, [])


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("missing", MissingError, "no template 'missing'"),
        ("default", CallError, "the template 'default' cannot be deleted"),
        ("a@b", CallError, "must not contain @"),
    ],
)
def test_only_a_stored_template_can_be_deleted(store, name, error, words):
    store.add_template(TemplateVersion(0, "Hello."))
    with pytest.raises(error, match=words):
        store.delete_template(name)
    assert store.template().template == "Hello."


def test_a_template_with_many_versions_is_deleted_and_other_processes_notice(url):
    store, other = open_store(url), open_store(url)
    for number in range(450):
        store.add_template(TemplateVersion(0, f"version {number}", name="support"))
    assert other.template("support").template == "version 449"
    assert store.delete_template("support") == 450
    assert (store.stats()["texts"], other.template("support")) == (0, None)
    other.drop_forgotten()
    assert other._texts.hash("version 449") is None
    store.close()
    other.close()


def test_templates_are_deleted_while_others_use_the_same_texts(url, edition):
    store = open_store(url)
    shared = [edition(1, word) for word in "abc"]

    def save_and_delete(number):
        for _ in range(12):
            for each in shared:
                store.add_template(TemplateVersion(0, each.system, name=f"template {number}"))
            assert store.delete_template(f"template {number}") == 3

    def publish_and_forget(number):
        for turn in range(12):
            store.publish(f"chat {number}", shared[turn % 3], 0)
            assert store.forget(f"chat {number}")

    with ThreadPoolExecutor(6) as pool:
        running = [pool.submit(work, number) for number in range(3) for work in (save_and_delete, publish_and_forget)]
        for each in running:
            each.result()
    assert (store.stats()["texts"], store.verify()) == (0, [])
    store.close()


def test_a_label_is_removed_and_the_removal_is_recorded(store):
    for text in ("one", "two"):
        store.add_template(TemplateVersion(0, text, name="support"))
    store.move_label(LabelMove("support", "stagin", 0, 1))
    removed = store.remove_label(LabelMove("support", "stagin", 0, 0, "Ada", OLD, "misspelt"))
    assert removed == LabelMove("support", "stagin", 1, 0, "Ada", OLD, "misspelt")
    assert (store.labels("support"), store.label_moves("support")[0]) == ({"production": 2}, removed)
    for label, error in (("stagin", MissingError), ("production", CallError), ("\0", MissingError)):
        with pytest.raises(error, match="label"):
            store.remove_label(LabelMove("support", label, 0, 0))
    assert store.add_template(TemplateVersion(0, "three", name="support")).version == 3


def test_forgotten_text_leaves_the_memory_of_all_processes(url, edition):
    private, shared = edition(1, "private"), edition(1)
    with_private, other = open_store(url), open_store(url)
    heard = []
    other.listen(heard.append)
    with_private.publish("a", private, 0)
    with_private.publish("b", shared, 0)
    assert (other.current("a"), other.current("b")) == (private, shared)
    with_private.forget("a")
    assert other.last_known("a") == private
    other.drop_forgotten()
    for store in (with_private, other):
        assert (store.last_known("a"), store.last_known("b")) == (None, shared)
        assert store._texts.hash(private.system) is None
        assert store._texts.hash(shared.system) is not None
    assert hash_of(private.system) in heard[0]
    del private, heard
    gc.collect()
    for store in (with_private, other):
        held = [*store._texts._recent.values(), *store._texts._old.values(), *store._editions._uses]
        assert not [text for text in held if "private" in text]
        store.close()


@pytest.mark.parametrize(
    ("created", "keep_last", "left"),
    [
        ([OLD, OLD, OLD], 1, [3]),
        ([OLD, OLD, OLD], 2, [2, 3]),
        ([OLD, OLD, OLD], 0, []),
        ([OLD, OLD, RECENT], 0, [3]),
        ([OLD, RECENT, RECENT], 1, [2, 3]),
        ([RECENT, RECENT, RECENT], 1, [1, 2, 3]),
        ([OLD], 1, [1]),
    ],
)
def test_pruning_removes_old_editions_except_the_newest(store, edition, created, keep_last, left):
    for number, moment in enumerate(created, 1):
        store.publish("chat", edition(number, str(number), created=moment), number - 1)
    store.publish("recent", edition(1, created=RECENT), 0)
    *_, total = store.prune(BETWEEN, keep_last)
    removed = len(created) - len(left)
    assert total == Pruned(0 if left else 1, removed, removed * 6)
    assert [edition.number for edition in store.editions("chat")] == left
    assert store.verify() == []
    if left:
        store.publish("chat", edition(4, "next"), left[-1]) if left[-1] == 3 else None
    assert store.verify() == []


def test_pruning_works_in_batches(store, edition, monkeypatch):
    monkeypatch.setattr(type(store), "BATCH_SIZE", 3)
    monkeypatch.setattr("foreword.store.collecting.BATCH_SIZE", 3)
    for number in range(8):
        store.publish(f"chat {number}", edition(1, f"{number}", created=OLD), 0)
        store.publish(f"chat {number}", edition(2, created=OLD), 1)
    steps = [step.editions for step in store.prune(BETWEEN, 1)]
    assert steps == [3, 6, 8, 8]
    assert [step.conversations for step in store.prune(BETWEEN, 0)][-1] == 8
    assert store.verify() == []
    assert store.stats()["texts"] == 0


def test_one_step_may_leave_several_batches_to_collect(store, edition, monkeypatch):
    monkeypatch.setattr("foreword.store.collecting.BATCH_SIZE", 2)
    for number in range(5):
        store.publish(f"chat {number}", edition(1, f"{number}", created=OLD), 0)
    *_, total = store.prune(BETWEEN, 0)
    assert (total.conversations, store.stats()["texts"], store.verify()) == (5, 0, [])


def test_an_interrupted_removal_is_completed_later(store, edition, monkeypatch):
    store.publish("chat", edition(1), 0)
    monkeypatch.setattr(ForgettingStore, "_collect_all", lambda store: 0)
    store.forget("chat")
    assert store.stats()["texts"] == 6
    monkeypatch.undo()
    *_, total = store.prune(BETWEEN)
    assert (total.texts, store.stats()["texts"], store.verify()) == (6, 0, [])


def test_forgetting_during_other_writes_loses_nothing(store, edition):
    """Some threads publish while another one forgets: no edition refers to a text that was removed."""
    failures = []

    def publish(word):
        for round in range(12):
            try:
                store.publish(f"chat {round % 3}", edition(1, f"{round % 2}"), 0)
                store.publish(f"{word} {round}", edition(1, f"{round % 2}"), 0)
            except Exception as error:
                failures.append(error)

    def forget():
        for round in range(12):
            store.forget(f"chat {round % 3}")

    threads = [threading.Thread(target=publish, args=(word,)) for word in "ab"]
    threads.append(threading.Thread(target=forget))
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert failures == []
    assert store.verify() == []
    for round in range(12):
        assert store.current(f"a {round}") == edition(1, f"{round % 2}")


def test_an_invalid_id_is_an_error(store):
    with pytest.raises(CallError, match="the id of a conversation"):
        store.forget("")


def test_a_turn_continues_when_its_conversation_is_forgotten(tmp_path):
    from foreword import Agent, Conversations, Workspace

    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    conversations = Conversations(":memory:")
    conversation = conversations.open("chat", Workspace(str(tmp_path)), Agent(), "foreword")
    assert conversation.turn("hi").edition == 1
    publish = conversations.store.publish

    def forget_first(*args):
        conversations.store.publish = publish
        conversations.forget("chat")
        return publish(*args)

    conversations.store.publish = forget_first
    (tmp_path / "AGENTS.md").write_text("Use spaces.")
    turn = conversation.construct()
    assert (turn.edition, "Use spaces." in json.dumps([turn.system, *turn.messages])) == (1, True)
    assert conversations.store.verify() == []


def test_reading_while_a_conversation_is_removed(url, edition, monkeypatch):
    writer, reader = open_store(url), open_store(url)
    writer.publish("a", edition(1, "private"), 0)
    load = reader._contents_by_hash

    def load_after_removal(connection, hashes):
        writer.forget("a")
        return load(connection, hashes)

    monkeypatch.setattr(reader, "_contents_by_hash", load_after_removal)
    assert reader.editions("a") == []
    writer.close()
    reader.close()


def recorded(store, monkeypatch):
    """The statements that a store runs from now on."""
    statements = []
    for name in ("_select", "_execute"):
        run = getattr(store, name)
        monkeypatch.setattr(store, name, lambda c, text, key=(), run=run: statements.append(text) or run(c, text, key))
    return statements


@pytest.mark.parametrize("keep_last", [0, 1])
def test_a_batch_of_any_size_takes_the_same_statements(store, edition, monkeypatch, keep_last):
    statements = recorded(store, monkeypatch)

    def count(number):
        for index in range(number):
            store.publish(f"{number} {index}", edition(1, f"{number} {index}", created=OLD), 0)
            store.publish(f"{number} {index}", edition(2, f"{number}", created=RECENT if keep_last else OLD), 1)
        statements.clear()
        *_, total = store.prune(BETWEEN, keep_last)
        assert total.editions == number * (2 - keep_last)
        return len(statements)

    assert count(2) == count(20)


def test_sqlite_searches_the_best_index_for_every_statement_that_removes_rows(edition, monkeypatch):
    """It reads only rows of the conversations, contents and texts in question, never all rows of a team."""
    store, plans = open_store(":memory:"), {}
    for name in ("_select", "_execute"):
        run = getattr(store, name)

        def explain(connection, text, key=(), run=run):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {text}", key).fetchall()
            plans[" ".join(text.split())] = [row[3] for row in plan]
            return run(connection, text, key)

        monkeypatch.setattr(store, name, explain)
    for id in "abc":
        store.publish(id, edition(1, id, created=OLD), 0)
        store.publish(id, edition(2, id * 2, created=OLD), 1)
    plans.clear()
    store.forget("a")
    list(store.prune(BETWEEN, 1))
    list(store.prune(BETWEEN, 0))
    reads_more = {
        "SELECT content FROM foreword_unused WHERE team = ? ORDER BY content LIMIT ?"
    }  # which is empty otherwise
    for text in plans.keys() - reads_more:
        for step in plans[text]:
            assert not re.fullmatch(
                r"SCAN foreword_(?!forgotten)\w+.*|SEARCH \w+ USING .*\(team=\?( AND kind>\?)?\)", step
            ), text
    assert len(plans) > 15


@pytest.mark.xdist_group("postgres")
def test_postgresql_looks_up_each_use_of_a_text_even_without_statistics(postgres_url, edition, monkeypatch):
    """Its planner would otherwise join the texts with all contents of the team, if it does not know how many there are."""
    store, plans = open_store(postgres_url), []
    select = store._select

    def explain(connection, text, key=()):
        if "FROM foreword_texts AS t" in text:
            plans.append([row[0].strip() for row in select(connection, f"EXPLAIN {text}", key)])
        return select(connection, text, key)

    monkeypatch.setattr(store, "_select", explain)
    for number in range(100):
        store.publish(f"{number}", edition(1, f"{number}", created=OLD), 0)
    *_, total = store.prune(BETWEEN, 0)
    assert (total.conversations, len(plans)) == (100, 2)
    for plan in plans:
        assert not [line for line in plan if "Join" in line or "Nested Loop" in line], plan
        uses = [line for line in plan if line.startswith("Index Cond") and "t.team" in line]
        assert len(uses) == 7 and all("= t.id)" in line for line in uses), plan
    store.close()


def test_a_prune_that_is_killed_is_completed_by_the_next_one(url, edition, tmp_path):
    """Whenever the process is killed, what is left can be read, and pruning again removes the rest."""
    store = open_store(url)
    for number in range(60):
        store.publish(f"chat {number}", edition(1, f"{number}", created=OLD), 0)
        store.publish(f"chat {number}", edition(2, f"{number} again", created=OLD), 1)
    store.publish("recent", edition(1, created=RECENT), 0)
    for batches in range(4):
        process = subprocess.Popen([sys.executable, "-c", PRUNE_SLOWLY, url, str(batches)], stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"working\n"
        process.kill()
        process.communicate()
        assert all(len(store.editions(row.id)) in (1, 2) for row in store.conversations().rows)
    assert store.stats()["conversations"] > 1, "otherwise the test proves nothing"
    *_, total = store.prune(BETWEEN, 0)
    store.forget("recent")
    assert (total.conversations > 0, store.stats()["texts"], store.verify()) == (True, 0, [])
    store.close()


# Prunes in small batches, and stops in the middle of the transaction after this many writes, until it is killed.
PRUNE_SLOWLY = f"""
import sys, time
from foreword.store import collecting, open_store
store = open_store(sys.argv[1])
collecting.BATCH_SIZE = store.BATCH_SIZE = 5
left = int(sys.argv[2])
record = store._record
def stop(connection, hashes):
    global left
    record(connection, hashes)
    if left == 0:
        print("working", flush=True)
        time.sleep(100)
    left -= 1
store._record = stop
list(store.prune({BETWEEN}, 0))
"""


def test_waiting_leaves_half_of_the_time_to_others(monkeypatch):
    now, waits = [0.0], []
    monkeypatch.setattr("foreword.store.forgetting.time.monotonic", lambda: now[0])
    monkeypatch.setattr("foreword.store.forgetting.time.sleep", waits.append)

    def work():
        for seconds in (0.25, 0.5, 30):
            now[0] += seconds
            yield Pruned(1)

    assert len(list(leave_time(work()))) == 3
    assert waits == [0.25, 0.5, 1.0]


@pytest.mark.xdist_group("postgres")
def test_one_transaction_at_a_time_removes_rows_of_a_team(postgres_url, edition):
    """Two that remove the last two uses of a text would each still see the other one's, and the text would stay."""
    store = open_store(postgres_url)
    for id in "ab":
        store.publish(id, edition(1), 0)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(store.forget, "ab")) == [True, True]
    assert (store.stats()["texts"], store.verify()) == (0, [])
    store.publish("a", edition(1), 0)
    store.for_team("other").publish("a", edition(1), 0)
    with psycopg.connect(postgres_url) as other, ThreadPoolExecutor(1) as threads:
        store._begin_removal(other)
        removal = threads.submit(store.forget, "a")
        with psycopg.connect(postgres_url, autocommit=True) as observer:
            while not (removal.done() or observer.execute(WAITING, (other.info.backend_pid,)).fetchone()[0]):
                time.sleep(0.01)
        assert not removal.done()
        assert store.for_team("other").forget("a")  # another team does not wait
        other.commit()
        assert removal.result()
    store.close()


def test_forgetting_looks_once_for_editions_and_once_for_what_others_have_forgotten(store, edition, monkeypatch):
    for id in "abc":
        store.publish(id, edition(1), 0)
    store.publish("b", edition(2), 1)
    statements = recorded(store, monkeypatch)
    for id in "ab":
        statements.clear()
        store.forget(id)
        searched = [text.split("WHERE")[0].split("FROM")[-1].strip() for text in statements]
        assert (searched.count("foreword_editions"), searched.count("foreword_forgotten")) == (1, 2), "one deletes"
    assert (store.current("b"), store.verify()) == (None, [])


@pytest.mark.xdist_group("postgres")
def test_an_edition_that_is_published_while_its_conversation_is_forgotten_is_forgotten_too(postgres_url, edition):
    """The DELETE that waits for the current edition does not see the one that replaces it."""
    store, publisher = open_store(postgres_url), open_store(postgres_url)
    store.publish("chat", edition(1), 0)
    with ThreadPoolExecutor(1) as threads, psycopg.connect(postgres_url, autocommit=True) as observer:

        def forget_meanwhile(connection, *key):
            process = (connection.info.backend_pid,)
            forgetting.append(threads.submit(store.forget, "chat"))
            while not (forgetting[0].done() or observer.execute(WAITING, process).fetchone()[0]):
                time.sleep(0.01)
            return count(connection, *key)

        forgetting, count = [], publisher._count
        publisher._count = forget_meanwhile
        publisher.publish("chat", edition(2, "new"), 1)
        assert forgetting[0].result()
    assert (store.current("chat"), store.stats()["texts"], store.verify()) == (None, 0, [])
    store.close()
    publisher.close()


@pytest.mark.xdist_group("postgres")
def test_pruning_leaves_out_a_conversation_that_another_process_is_changing(postgres_url, edition):
    store = open_store(postgres_url)
    for id in ("busy", "idle"):
        store.publish(id, edition(1, id, created=OLD), 0)
    with psycopg.connect(postgres_url) as other:
        other.execute("SELECT 1 FROM foreword_editions WHERE conversation = 'busy' FOR UPDATE")
        *_, total = store.prune(BETWEEN, 0)
    assert (total, store.current("busy").number, store.current("idle")) == (Pruned(1, 1, 6), 1, None)
    *_, total = store.prune(BETWEEN, 0)
    assert (total, store.stats()["texts"], store.verify()) == (Pruned(1, 1, 6), 0, [])
    store.close()


@pytest.mark.xdist_group("postgres")
def test_a_content_whose_last_edition_is_removed_during_a_collection_is_collected_later(postgres_url, edition):
    store = open_store(postgres_url)
    for id in "ab":
        store.publish(id, edition(1), 0)
    collecting, observer = psycopg.connect(postgres_url), psycopg.connect(postgres_url, autocommit=True)
    with collecting, observer, ThreadPoolExecutor(1) as threads:
        collecting.execute("INSERT INTO foreword_unused SELECT id FROM foreword_contents")
        collecting.commit()
        collecting.execute("SELECT 1 FROM foreword_unused FOR UPDATE")  # and both editions still use the content
        forgetting = threads.submit(lambda: [store.forget(id) for id in "ab"])
        key = (collecting.info.backend_pid,)
        while not (forgetting.done() or observer.execute(WAITING, key).fetchone()[0]):
            time.sleep(0.01)
        collecting.execute("DELETE FROM foreword_unused")
        collecting.commit()
        assert forgetting.result() == [True, True]
    assert (store.stats()["texts"], store.verify()) == (0, [])
    store.close()


def test_a_process_reads_forgotten_hashes_in_batches_and_old_ones_are_deleted(store, edition, monkeypatch):
    monkeypatch.setattr("foreword.store.forgetting._MAX_FORGOTTEN", 2)
    heard = set()
    store.listen(heard.update)
    for id in "abc":
        store.publish(id, edition(1, id), 0)
        store.forget(id)
    assert {hash_of(id) for id in "abc"} <= heard
    store._run_write(lambda connection: store._execute(connection, "UPDATE foreword_forgotten SET time = 0"))
    store.publish("d", edition(1, "d"), 0)
    store.forget("d")
    left = store._run(lambda connection: store._select(connection, "SELECT hash FROM foreword_forgotten"))
    hashes = [hash for (row,) in left for hash in split_hashes(row)]
    assert (len(hashes), hash_of("d") in hashes) == (8, True)


def test_hashes_are_read_again_after_a_backup_is_restored(url, edition):
    """A restored store may record hashes under numbers that this process has already read."""
    store, other = open_store(url), open_store(url)
    for id in "ab":
        store.publish(id, edition(1, id), 0)
        assert other.current(id) == edition(1, id)
    other._last_forgotten = 1000
    store.forget("a")
    other.drop_forgotten()
    assert (other.last_known("a"), other.last_known("b").number) == (None, 1)
    store.close()
    other.close()


@pytest.mark.parametrize("remove", [lambda store: store.forget("chat"), lambda store: list(store.prune(BETWEEN, 0))])
def test_a_removal_that_fails_changes_nothing(store, edition, monkeypatch, remove):
    store.publish("chat", edition(1, created=OLD), 0)

    def fail(connection, hashes):
        raise StoreError("the disk is full")

    monkeypatch.setattr(store, "_record", fail)
    with pytest.raises(StoreError, match="the disk is full"):
        remove(store)
    assert (store.current("chat").number, store.stats()["texts"], store.verify()) == (1, 6, [])
    monkeypatch.undo()
    assert remove(store)
    assert (store.current("chat"), store.stats()["texts"], store.verify()) == (None, 0, [])


def test_forgotten_text_is_overwritten_in_the_file(tmp_path, edition):
    path = tmp_path / "store.db"
    store = open_store(str(path))
    store.publish("secret id", edition(1, account="planted account", built_for="planted target"), 0)
    store.publish("other", edition(1, created=OLD), 0)
    store.forget("secret id")
    store.close()
    content = path.read_bytes()
    assert (b"planted" in content, b"secret id" in content, b"other" in content) == (False, False, True)


LONG = "planted words that are long enough to be stored in a compressed form. " * 40
REMOVALS = {
    "forget": lambda store: store.forget("secret id"),
    "prune": lambda store: list(store.prune(BETWEEN, keep_last=0)),
    "delete": lambda store: store.delete_template("secret id"),
}


def found_in_files(folder):
    """Return which of the secret words the files of a store still contain, by file."""
    words = {b"planted", b"secret id", pack(LONG)[2]}
    return {path.name: found for path in folder.iterdir() if (found := {w for w in words if w in path.read_bytes()})}


@pytest.fixture
def secretive(tmp_path, edition):
    """A store that other processes use too, with texts to remove. It stays open, as in a service."""
    store, other = open_store(str(tmp_path / "store.db")), open_store(str(tmp_path / "store.db"))
    store.publish("secret id", edition(1, account="planted account", inputs=LONG, created=OLD), 0)
    store.add_template(TemplateVersion(0, "planted template", note="planted note", name="secret id"))
    store.add_template(TemplateVersion(0, LONG, name="secret id"))
    other.publish("other", edition(1), 0)
    assert found_in_files(tmp_path), "otherwise the test proves nothing"
    yield store, other
    store.close()
    other.close()


@pytest.mark.parametrize("names", [("forget", "delete"), ("prune", "delete"), ("delete", "forget")])
def test_removed_text_is_in_no_file_of_an_open_store(secretive, tmp_path, names):
    store, _ = secretive
    for name in names:
        REMOVALS[name](store)
    # The record of who deleted a template keeps its name.
    assert {word for words in found_in_files(tmp_path).values() for word in words} <= {b"secret id"}
    assert found_in_files(tmp_path).get("store.db-wal") is None


def test_text_that_another_process_was_reading_is_erased_when_it_has_finished(secretive, tmp_path):
    store, other = secretive
    store.delete_template("secret id")
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM foreword_editions").fetchone()
        store.forget("secret id")
        assert any(b"planted" in words for words in found_in_files(tmp_path).values()), "the reader may still need it"
        reader.execute("COMMIT")
    other.drop_forgotten()  # every service does this regularly
    assert b"planted" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
