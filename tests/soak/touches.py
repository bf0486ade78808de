"""Touch known paths a million times, and check that neither memory nor the store grows, and what a touch costs.

python tests/soak/touches.py --touches 1000000
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time

from foreword import Agent, Conversation, Conversations, Workspace

PATHS, RULES = 1_000, 200
MAX_GROWTH = 2_000_000  # bytes, for the interpreter's own caches


def main() -> int:
    """Run the touches and print the figures. The exit status is 1 if memory or the store has grown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--touches", type=int, default=1_000_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        write_workspace(top)
        store = os.path.join(top, "store.db")
        with Conversations(f"sqlite:///{store}") as conversations:
            workspace = Workspace(os.path.join(top, "w"), home=os.path.join(top, "home"))
            conversation = conversations.open("soak", workspace, Agent())
            paths = [f"d{number % 20}/file{number}.py" for number in range(PATHS)]
            sent = sum(len(conversation.touch([path]).messages) for path in paths)
            run(conversation, paths, PATHS)  # fills caches
            memory, size = resident(), stored(store)
            start = time.perf_counter()
            again = run(conversation, paths, args.touches)
            seconds = time.perf_counter() - start
            grown, stored_bytes = resident() - memory, stored(store) - size
    print(f"{sent} messages for {PATHS:,} paths and {RULES} rules; then {args.touches:,} touches sent {again} messages")
    print(f"{seconds / args.touches * 1e6:.1f} µs each; memory {grown:+,} bytes, store {stored_bytes:+,} bytes")
    return int(bool(again) or grown > MAX_GROWTH or stored_bytes > 0)


def write_workspace(top: str) -> None:
    """Create rules for folders, one for every file, and nested instruction files."""
    for folder in ("w/.git", "w/.claude/rules", "home", *(f"w/d{number}" for number in range(20))):
        os.makedirs(os.path.join(top, folder))
    for number in range(RULES):
        glob = "**" if number == 0 else f"d{number}/**"
        write(top, f"w/.claude/rules/{number:03}.md", f"---\npaths: '{glob}'\n---\nRule {number}.\n")
    for number in range(20):
        write(top, f"w/d{number}/AGENTS.md", f"Folder {number}.\n")


def write(top: str, name: str, text: str) -> None:
    with open(os.path.join(top, name), "w") as file:
        file.write(text)


def run(conversation: Conversation, paths: list[str], touches: int) -> int:
    """Touch the paths in turn, and return the number of messages."""
    touch = conversation.touch
    return sum(len(touch([paths[number % len(paths)]]).messages) for number in range(touches))


def resident() -> int:
    """Return the memory that this process uses, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def stored(path: str) -> int:
    """Return the size of a store, with its log."""
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))


if __name__ == "__main__":
    sys.exit(main())
