"""Several processes that use one store: many at once, and many that are killed. Prints the results as JSON.

    python processes.py open URL          16 processes open a new store at the same moment
    python processes.py publish URL       16 processes publish the same conversations at the same moments
    python processes.py fork URL          a child uses the store that its parent opened
    python processes.py kill URL          a publishing process is killed at a random moment, again and again (--kills, --seed)

Without URL, it uses a new SQLite file and then a new PostgreSQL server. Exits with status 1 if anything was lost.
This is a separate script because it forks, which a test runner with threads must not do.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import foreword.store.postgres
import foreword.store.sqlite  # noqa: F401 - import everything before forking
from foreword.errors import StoreBusyError
from foreword.store import open_store
from foreword.store.rows import TemplateVersion
from foreword.vocabulary import Edition

PROCESS_COUNT = 16
CONVERSATIONS = 10
EDITIONS = 6


def make_edition(conversation, number, author=""):
    """Return the expected edition of a conversation, with short and long texts, some shared with others."""
    word = f"{conversation} {number} {author}"
    return Edition(
        number,
        system=f"system {word} " * 500,
        tools="[]",
        account=f"account {word} " * (5000 if number % 3 == 0 else 5),
        inputs=f"inputs {number} " * 200,
        layout="$std/opal",
        built_for=f"built for {conversation}",
        created=f"at {number}",
    )


def run_simultaneously(work):
    """Return the results of `work(process_number)` in many processes that start at the same moment."""
    # From Python 3.12, a program that forks while a connection pool has threads is warned. It is the program's decision.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    gate, opener = os.pipe()
    answers = []
    for process_number in range(PROCESS_COUNT):
        answer, writer = os.pipe()
        if os.fork() == 0:
            os.close(opener)
            os.read(gate, 1)
            _answer(writer, lambda: work(process_number))  # noqa: B023 - called immediately
        os.close(writer)
        answers.append(answer)
    os.close(opener)
    answers = [json.loads(_read_all(answer)) for answer in answers]
    while _child_ended():
        pass
    return answers


def _answer(writer, work):
    try:
        answers = work()
    except BaseException as error:
        answers = f"{type(error).__name__}: {error}"
    with os.fdopen(writer, "w") as file:
        json.dump(answers, file)
    os._exit(0)


def _read_all(pipe):
    with os.fdopen(pipe) as file:
        return file.read()


def _child_ended():
    try:
        return os.wait()
    except ChildProcessError:
        return None


def open_simultaneously(url):
    def work(process_number):
        store = open_store(url)
        store.publish(f"chat {process_number}", make_edition(f"chat {process_number}", 1), 0)
        return store.current(f"chat {process_number}") == make_edition(f"chat {process_number}", 1)

    return {"answers": run_simultaneously(work), **verify_store(url)}


def until_free(call, *arguments):
    """Open a store or call its method, again if it could not get its turn in time, which happens on a loaded machine."""
    for _ in range(20):
        with contextlib.suppress(StoreBusyError):
            return call(*arguments)
    return call(*arguments)


def publish_simultaneously(url):
    open_store(url).close()
    conversations = [f"chat {number}" for number in range(CONVERSATIONS)]

    def publish(process_number, number):
        store = until_free(open_store, url)
        until_free(store.add_template, TemplateVersion(0, f"by {process_number}"))
        return [
            until_free(
                store.publish, conversation, make_edition(conversation, number, process_number), number - 1
            ).system
            for conversation in conversations
        ]

    first, second = (
        run_simultaneously(lambda process_number, number=number: publish(process_number, number)) for number in (1, 2)
    )
    return {"first": first, "second": second, **verify_store(url)}


def use_after_a_fork(url):
    store = open_store(url)
    store.publish("chat", make_edition("chat", 1), 0)

    def work(process_number):
        store.publish(f"chat {process_number}", make_edition(f"chat {process_number}", 1), 0)
        return store.current("chat") == make_edition("chat", 1)

    answers = run_simultaneously(work)
    answers.append(store.current("chat 3") == make_edition("chat 3", 1))
    store.close()
    return {"answers": answers, **verify_store(url)}


def verify_store(url):
    store = open_store(url)
    result = {"wrong": store.verify(), "stats": store.stats()}
    store.close()
    return result


def kill_repeatedly(url, kills, seed):
    """Kill a publishing process many times. After each kill, check that every acknowledged edition is there and complete."""
    rng = random.Random(seed)
    step = seconds_to_publish(url)
    killed, broken = 0, []
    for number in range(kills):
        conversation = f"chat {number}"
        acknowledged = publish_until_killed(url, conversation, rng.randrange(EDITIONS), rng.uniform(0, step))
        if acknowledged < EDITIONS:
            killed += 1
        else:
            step *= 0.8  # it was faster than measured, because the machine is less busy now
        store = open_store(url)
        editions = store.editions(conversation)
        if len(editions) < acknowledged or editions != [
            make_edition(conversation, index + 1) for index in range(len(editions))
        ]:
            broken.append(f"{conversation}: {acknowledged} acknowledged, {len(editions)} kept")
        store.close()
    return {"kills": kills, "killed": killed, "broken": broken, **verify_store(url)}


def seconds_to_publish(url):
    """Return the seconds it takes to publish one edition."""
    store = open_store(url)
    durations = []
    for number in range(1, 10):
        start = time.monotonic()
        store.publish("undisturbed", make_edition("undisturbed", number), number - 1)
        durations.append(time.monotonic() - start)
    store.close()
    return sorted(durations)[len(durations) // 2]


def wait_for_threads():
    """Wait until the threads of the pools that were closed have ended, because a process with threads must not fork."""
    tasks = "/proc/self/task"
    while threading.active_count() > 1 or (os.path.isdir(tasks) and len(os.listdir(tasks)) > 1):
        time.sleep(0.001)


def publish_until_killed(url, conversation, after, delay):
    """Start a publishing process, kill it `delay` seconds after the first `after` editions, and return how many were acknowledged."""
    reader, writer = os.pipe()
    wait_for_threads()
    child = os.fork()
    if child == 0:
        store = open_store(url)
        for number in range(1, EDITIONS + 1):
            store.publish(conversation, make_edition(conversation, number), number - 1)
            os.write(writer, b".")
        os._exit(0)
    os.close(writer)
    acknowledged = sum(len(os.read(reader, 1)) for _ in range(after))
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    acknowledged += len(_read_all(reader))
    os.waitpid(child, 0)
    return acknowledged


@contextlib.contextmanager
def urls(url):
    """Yield the given URL, or the URL of a new store of each kind."""
    if url:
        yield [url]
        return
    with tempfile.TemporaryDirectory() as folder:
        server = [sys.executable, os.path.join(os.path.dirname(__file__), "server.py")]
        with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            yield [f"sqlite:///{folder}/store.db", process.stdout.readline().strip()]
            process.stdin.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["open", "publish", "fork", "kill"])
    parser.add_argument("url", nargs="?")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    calls = {
        "open": open_simultaneously,
        "publish": publish_simultaneously,
        "fork": use_after_a_fork,
        "kill": lambda url: kill_repeatedly(url, args.kills, args.seed),
    }
    with urls(args.url) as stores:
        results = [calls[args.what](url) for url in stores]
    for result in results:
        print(json.dumps(result))
    sys.exit(any(result["wrong"] or result.get("broken") for result in results))


if __name__ == "__main__":
    main()
