"""Mutated golden logs: whatever happens to some lines, nothing fails, sums add up, and the other lines count as before."""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.findings import CODES
from foreword.programs.sessions import mapping_answer

GOLDEN = Path(__file__).parents[1] / "golden" / "sessions"
PROGRAMS = sorted(folder.name for folder in GOLDEN.iterdir() if list(folder.rglob("*.jsonl")))
KINDS = ("fresh", "written", "read", "out")
# Lines that are not rows.
NOISE = (
    b"\xff\xfe\x00", b"{", b'{"type":"assistant","message":{"usage":', b"[" * 9000, b"null", b"NaN", b'{"a":\x01}', b'"\\ud800"',
)  # fmt: skip
STRANGE = (
    None, True, -1, 10**30, 1.5, float("nan"), float("inf"), "", "\ud800", "9999-12-31T23:59:59Z", "1969-01-01", [], [[]], {}, {"a": None},
)  # fmt: skip
QUICK = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


def logs_of(program):
    """Yield where each golden log of a program is in the home directory, and its lines."""
    home = GOLDEN / program / "home"
    for path in sorted(home.rglob("*.jsonl")):
        parts = [re.sub("^_", ".", part) for part in path.relative_to(home).parts]
        yield os.path.join(*parts), path.read_bytes().splitlines()


def ask(logs, **fields):
    """Return the answer about these logs: names in the home directory, and lines."""
    home = Path(tempfile.mkdtemp())
    try:
        for name, lines in logs:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(b"".join(line + b"\n" for line in lines))
        fields = {"cwd": str(home), "home": str(home), "everywhere": True, "utc": True, "no_cache": True, **fields}
        return mapping_answer(fields)
    finally:
        shutil.rmtree(home)


@pytest.mark.parametrize("program", PROGRAMS)
def test_lines_that_are_not_rows_do_not_change_the_others(program):
    logs = list(logs_of(program))

    @QUICK
    @given(st.data())
    def check(data):
        noisy = []
        for name, lines in logs:
            places = data.draw(st.lists(st.tuples(st.integers(0, len(lines)), st.sampled_from(NOISE)), max_size=3))
            mutated = list(lines)
            for place, noise in sorted(places, reverse=True):
                mutated.insert(place, noise)
            noisy.append((name, mutated))
        answer, expected = ask(noisy), ask(logs)
        assert answer["total"] == expected["total"]
        changed = any(lines != known for (_, lines), (_, known) in zip(noisy, logs, strict=True))
        assert ("session-log-cut" in {row["code"] for row in answer["findings"]}) == changed

    check()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_log_that_is_cut_counts_up_to_there(program):
    logs = list(logs_of(program))

    @QUICK
    @given(st.data())
    def check(data):
        number = data.draw(st.integers(0, len(logs) - 1))
        name, lines = logs[number]
        count = data.draw(st.integers(0, len(lines) - 1))
        cut = lines[count][: data.draw(st.integers(1, len(lines[count]) - 1))]
        others = logs[:number] + logs[number + 1 :]
        whole = ask([*others, (name, lines[:count])])
        assert ask([*others, (name, [*lines[:count], cut])])["total"] == whole["total"]

    check()


def damage(draw, content, depth=0):
    """Return content in which one value is another one."""
    keys = list(content) if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else []
    if not keys or (depth and draw(st.integers(0, 2)) == 0):
        return draw(st.sampled_from(STRANGE))
    key = draw(st.sampled_from(list(keys)))
    copy = dict(content) if isinstance(content, dict) else list(content)
    copy[key] = damage(draw, content[key], depth + 1)
    return copy


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("by", ["", "file", "day", "cause"])
def test_rows_with_any_values_add_up(program, by):
    logs = list(logs_of(program))

    @QUICK
    @given(st.data())
    def check(data):
        mutated = []
        for name, lines in logs:
            rows = list(lines)
            for _ in range(data.draw(st.integers(0, 4))):
                place = data.draw(st.integers(0, len(rows) - 1))
                row = damage(data.draw, json.loads(rows[place]))
                rows[place] = json.dumps(row, separators=(",", ":")).encode()
            if data.draw(st.booleans()):
                first, second = (data.draw(st.integers(0, len(rows) - 1)) for _ in range(2))
                rows[first], rows[second] = rows[second], rows[first]
            mutated.append((name, rows))
        answer = ask(mutated, by=by)
        rows = answer["rows"] if by else answer["sessions"]
        for kind in KINDS:
            assert sum(row["tokens"][kind] for row in rows) == answer["total"]["tokens"][kind] >= 0
        assert {row["code"] for row in answer["findings"]} <= CODES.keys()
        json.dumps(answer, allow_nan=False)

    check()
