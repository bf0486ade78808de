"""Kill processes in the middle of construct and compact, and check that every conversation is complete.

    python tests/soak/kill_conversations.py --kills 1000

A child constructs and compacts conversations and reports each answer; at a random moment it gets SIGKILL. Then every answer
must be in the store unchanged, every edition must be complete, and the conversation must continue in another process.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

from foreword import Agent, Conversations, Tool, Workspace
from foreword.store.listing import ConversationQuery
from foreword.store.rows import TemplateVersion
from foreword.vocabulary import digest

TEMPLATE = "Begin [prompt:conversation_id] [file:AGENTS.md] " + "word " * 2000 + "end"
COMPLETE = {
    "builder": re.compile(r"Begin \S+ File \d+\. (?:word ){2000}end"),
    "foreword": re.compile(r"<identity>.*File \d+\..*</environment>", re.DOTALL),
}
MAX_DELAY = 0.1
OPENED = b"opened\n"


def work(url: str, top: Path, number: int, answers: int) -> None:
    """Run conversation after conversation in the child until it is killed, changing a file in between."""
    conversations = Conversations(url)
    os.write(answers, OPENED)
    for step in range(10_000):
        layout = "builder" if step % 2 else "foreword"
        id = f"{layout}-{number}-{step // 4}"
        conversation = conversations.open(id, workspace(top), agent(), layout)
        for ask in (conversation.turn, conversation.compact, conversation.turn):
            turn = ask()
            edition = conversations.store.edition(id, turn.edition)
            assert edition is not None
            os.write(answers, f"{id} {edition.number} {digest(edition.system)}\n".encode())
            write_file(top, f"File {number * 10_000 + step}.")


def workspace(top: Path) -> Workspace:
    return Workspace(str(top / "w"), home=str(top / "home"), platform="linux", environment={})


def agent() -> Agent:
    return Agent(tools=[Tool("read"), Tool("bash")])


def write_file(top: Path, text: str) -> None:
    next_file = top / "w" / f"next-{os.getpid()}"
    next_file.write_text(text)
    next_file.rename(top / "w" / "AGENTS.md")


def run_and_kill(url: str, top: Path, number: int, rng: random.Random) -> list[str]:
    """Return the answers that a child reported before it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(url, top, number, writing)
        finally:
            os._exit(3)
    os.close(writing)
    if number % 8:  # otherwise it may be killed while it opens the store
        assert os.read(reading, len(OPENED)) == OPENED
    time.sleep(rng.uniform(0, MAX_DELAY))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the child exited on its own: {status}"
    with os.fdopen(reading) as answers:
        lines = answers.read().split("\n")
    return [line for line in lines[:-1] if line != OPENED.decode().strip()]


def problems(url: str, top: Path, number: int, answers: list[str]) -> list[str]:
    """Return what is wrong after a child was killed."""
    conversations = Conversations(url)
    problems_found = [f"lost: {line}" for line in answers if not is_stored(conversations, line)]
    rows = conversations.store.conversations(ConversationQuery(limit=1000)).rows
    for row in (row for row in rows if f"-{number}-" in row.id):
        layout = row.id.partition("-")[0]
        editions = conversations.store.editions(row.id)
        problems_found += [
            f"{row.id}: incomplete" for edition in editions if not COMPLETE[layout].fullmatch(edition.system)
        ]
        conversation = conversations.open(row.id, workspace(top), agent(), layout)
        conversation.compact()
        turn = conversation.turn("go on")
        if not (turn.edition in (len(editions), len(editions) + 1) and COMPLETE[layout].fullmatch(turn.system)):
            problems_found.append(f"{row.id}: does not continue")
    conversations.close()
    return problems_found


def is_stored(conversations: Conversations, line: str) -> bool:
    id, number, hash = line.split(" ")
    edition = conversations.store.edition(id, int(number))
    return edition is not None and digest(edition.system) == hash


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000, metavar="N", help="how many children to kill")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="repeat a run with the same kills")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="foreword-kill-") as folder:
        top = Path(folder)
        (top / "w" / ".git").mkdir(parents=True)
        (top / "home").mkdir()
        write_file(top, "File 0.")
        url = f"sqlite:///{top}/store.db"
        preload(top)
        problems_found, answered = kill_all(options.kills, url, top, rng)
        conversations = Conversations(url)
        problems_found += conversations.store.verify()
        print(
            f"{options.kills} killed, {answered} answers, {conversations.store.stats()['conversations']} conversations"
        )
        conversations.close()
    print("\n".join(problems_found) or "every conversation is complete")
    return 1 if problems_found else 0


def preload(top: Path) -> None:
    """Load everything a child needs, so that it is killed at work and not while importing."""
    for layout in COMPLETE:
        conversations = Conversations()
        conversation = conversations.open("warm", workspace(top), agent(), layout)
        conversation.turn()
        conversation.compact()
        conversations.close()


def kill_all(kills: int, url: str, top: Path, rng: random.Random) -> tuple[list[str], int]:
    """Kill this many children; the template is added once the store has been opened."""
    problems_found: list[str] = []
    answered = 0
    for number in range(kills):
        answers = run_and_kill(url, top, number, rng)
        answered += len(answers)
        if number == 0:
            conversations = Conversations(url)
            conversations.store.add_template(TemplateVersion(0, TEMPLATE))
            conversations.close()
            continue
        problems_found += problems(url, top, number, answers)
    return problems_found, answered


if __name__ == "__main__":
    sys.exit(main())
