"""Time-limited fuzzing without dependencies: seeds are cut, joined and mixed with words; the first failing input is printed.

A failure is an exception from `check`, or a check that takes longer than the input's size allows.
"""

from __future__ import annotations

import argparse
import random
import time
import traceback
from pathlib import Path

MAX_LENGTH = 20_000


def fuzz(check, name, words):
    """Run `check(text)` on mutations of the seeds in seeds/<name> for `--seconds` seconds, and return the exit status."""
    options = argparse.ArgumentParser(description=f"fuzz {name}")
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument(
        "--random", type=int, default=None, metavar="N", help="repeat the run that printed this number"
    )
    args = options.parse_args()
    number = random.randrange(2**32) if args.random is None else args.random
    rng = random.Random(number)
    seeds = [path.read_bytes().decode() for path in sorted((Path(__file__).parent / "seeds" / name).iterdir())]
    end = time.monotonic() + args.seconds
    count = 0
    while time.monotonic() < end:
        text = seeds[count] if count < len(seeds) else mutation(rng, seeds, words)
        count += 1
        if not passes(check, text):
            print(f"{name}: failed on input {count:,} of --random {number}")
            return 1
    print(f"{name}: {count:,} inputs, no failure (--random {number})")
    return 0


def passes(check, text):
    start = time.monotonic()
    try:
        check(text)
    except Exception:
        traceback.print_exc()
        print(repr(text))
        return False
    duration = time.monotonic() - start
    if duration > 2 + len(text) / 10_000:
        print(f"took {duration:.1f} s for {len(text):,} characters\n{text!r}")
        return False
    return True


def mutation(rng, seeds, words):
    """Return a random mutation of the seeds."""
    text = rng.choice(seeds)
    for _ in range(rng.randint(1, 8)):
        text = rng.choice(CHANGES)(rng, text, seeds, words)[:MAX_LENGTH]
    return text


def _insert(rng, text, seeds, words):
    position = rng.randint(0, len(text))
    return text[:position] + rng.choice(words) + text[position:]


def _delete(rng, text, seeds, words):
    start, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
    return text[:start] + text[min(end, start + 20) :]


def _character(rng, text, seeds, words):
    position = rng.randint(0, len(text))
    return text[:position] + chr(rng.choice((rng.randrange(128), rng.randrange(0xD800)))) + text[position + 1 :]


def _repeat(rng, text, seeds, words):
    start, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
    return text[:end] + text[start:end] * rng.choice((1, 1, 2, 50)) + text[end:]


def _cross(rng, text, seeds, words):
    other = rng.choice(seeds)
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


CHANGES = (_insert, _insert, _insert, _delete, _character, _repeat, _cross)
