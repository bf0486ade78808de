"""Compare `foreword.text.tokens.estimate` with exact o200k counts, over the text files of some folders.

    python bench/calibrate_tokens.py FOLDER… [--size 2000]

Each file is cut into pieces of `--size` characters; pieces shorter than 200 are skipped. Prints one line per kind of file: the errors
of the estimate, those of the usual rule of thumb (a quarter of the characters), and the speed of the estimate.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean, quantiles
from time import process_time

from foreword.text.tokens import count, estimate

MIN_CHARACTERS = 200
MAX_KINDS = 20
COLUMNS = f"{'mean':>8} {'p95':>8} {'worst':>8}"


def read_pieces(folders: list[str], size: int) -> Iterator[tuple[str, str]]:
    """Yield pieces of each file's text with the file's kind. Files that are not UTF-8 are skipped."""
    for folder in folders:
        for directory, subdirectories, names in os.walk(folder):
            subdirectories[:] = sorted(name for name in subdirectories if not name.startswith("."))
            for name in sorted(names):
                text = read(os.path.join(directory, name))
                kind = kind_of(name, text)
                for start in range(0, len(text), size):
                    piece = text[start : start + size]
                    if len(piece) >= MIN_CHARACTERS:
                        yield kind, piece


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read() if os.path.isfile(path) and not os.path.islink(path) else ""
    except (OSError, UnicodeDecodeError):
        return ""


def kind_of(name: str, text: str) -> str:
    """Return the file name's extension, marked if much of the text is not in Latin script."""
    is_other_script = not text.isascii() and sum(character > "\u024f" for character in text) > len(text) / 5
    return (os.path.splitext(name)[1] or "no extension") + (" (other scripts)" if is_other_script else "")


def relative_errors(texts: list[str]) -> tuple[list[float], list[float]]:
    """Return the relative errors of the estimate, and of a quarter of the number of characters."""
    exact = [count(text).count for text in texts]
    estimate_errors = [
        abs(estimate(text) - exact_count) / exact_count for text, exact_count in zip(texts, exact, strict=True)
    ]
    quarter_errors = [
        abs(len(text) / 4 - exact_count) / exact_count for text, exact_count in zip(texts, exact, strict=True)
    ]
    return estimate_errors, quarter_errors


def summary(errors: list[float]) -> str:
    percentile = quantiles(errors, n=20)[-1] if len(errors) > 1 else errors[0]
    return f"{fmean(errors):8.1%} {percentile:8.1%} {max(errors):8.1%}"


def speed(texts: list[str]) -> float:
    """Return the estimate's speed in megabytes per second of CPU time."""
    start = process_time()
    for text in texts:
        estimate(text)
    return sum(len(text.encode()) for text in texts) / (process_time() - start) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the token estimate with exact o200k counts.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--size", type=int, default=2000, help="characters in a piece (default: 2000)")
    args = parser.parse_args()
    if not count("self-check").exact:
        raise SystemExit("exact counts need an extra package; run pip install 'foreword[tokens]'")
    pieces_by_kind: dict[str, list[str]] = defaultdict(list)
    for kind, piece in read_pieces(args.folders, args.size):
        pieces_by_kind[kind].append(piece)
    if not pieces_by_kind:
        raise SystemExit(f"no text of {MIN_CHARACTERS} characters or more in: {', '.join(args.folders)}")
    print(f"{'':24} {'':>7} {'estimate':>26} {'characters / 4':>26}")
    print(f"{'':24} {'pieces':>7} {COLUMNS} {COLUMNS} {'MB/s':>6}")
    all_pieces = [piece for texts in pieces_by_kind.values() for piece in texts]
    largest_kinds = sorted(pieces_by_kind.items(), key=lambda row: -len(row[1]))[:MAX_KINDS]
    for kind, texts in [*largest_kinds, ("all", all_pieces)]:
        estimate_errors, quarter_errors = relative_errors(texts)
        print(f"{kind[:24]:24} {len(texts):7} {summary(estimate_errors)} {summary(quarter_errors)} {speed(texts):6.0f}")


if __name__ == "__main__":
    main()
