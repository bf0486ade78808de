"""Logs with values of any type, in any place, are read without an exception."""

import json
import random
import re
from pathlib import Path

import pytest

from foreword.inspection.price_list import shipped_prices
from foreword.sessions.attribution import Ledger, key_for
from foreword.sessions.costs import RateCard
from foreword.sessions.index import decode_log, decode_record, encode_log, encode_record
from foreword.sessions.readers import all_readers
from foreword.sessions.readers.lines import LogFile
from foreword.sessions.readers.rows import Texts
from foreword.sessions.records import reduce_figures, reduce_log

GOLDEN = Path(__file__).parents[1] / "golden" / "sessions"
STRANGE = (None, True, -1, 10**30, 1.5, "", "x", "\ud800", [], [None], [[]], {}, {"type": 7}, float("nan"))


def damaged(content, chance):
    """Return content in which some values are replaced."""
    if chance.random() < 0.03:
        return chance.choice(STRANGE)
    if isinstance(content, dict):
        return {key: damaged(field, chance) for key, field in content.items() if chance.random() > 0.01}
    if isinstance(content, list):
        return [damaged(entry, chance) for entry in content]
    return content


def logs_of(name):
    return sorted((GOLDEN / name).rglob("*.jsonl"))


@pytest.mark.parametrize(
    "reader", [reader for reader in all_readers() if logs_of(reader.AGENT)], ids=lambda reader: reader.AGENT
)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_logs_are_read(reader, seed, tmp_path):
    chance = random.Random(seed)
    card, ledger = RateCard(shipped_prices()), Ledger(key_for("file"))
    for source in logs_of(reader.AGENT):
        parts = [re.sub("^_", ".", part) for part in source.relative_to(GOLDEN / reader.AGENT / "home").parts]
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [damaged(json.loads(line), chance) for line in source.read_text().splitlines()]
        path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    assert list(reader.find_logs(str(tmp_path), {}))
    for path in reader.find_logs(str(tmp_path), {}):
        for texts in (Texts(), Texts(lambda part, text: True)):
            log = reader.read_log(LogFile(path), texts)
        figures = reader.read_figures(LogFile(path))
        assert figures is None or reduce_figures(figures, card, "") is None or figures.agent == log.agent
        ledger.start_log()

        def add(step, entry):
            ledger.follow(step)
            ledger.add_step(step, None)

        record = reduce_log(log, card, "", add)
        assert decode_log(json.loads(json.dumps(encode_log(log)))) == log
        assert decode_record(json.loads(json.dumps(encode_record(record)))) == record
