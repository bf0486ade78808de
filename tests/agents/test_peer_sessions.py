"""How `make peers-sessions` compares the collapses in a log with the script: none missed, none invented, each with its cause."""

import pytest
from peers.session_compare import compare_collapses
from peers.session_scripts import EVENTS, SCRIPTS, Turn, random_script, with_pause

WHOLE = {"fresh": 10, "written": 0, "read": 9990, "out": 7}
DROPPED = {"fresh": 6000, "written": 0, "read": 4000, "out": 7}


def row(second, tokens, cause="", thread="", kind="turn"):
    collapse = {"cause": cause, "evidence": "why"} if cause else None
    time = f"2026-11-18T06:00:{second:02}.000+00:00"
    return {"time": time, "tokens": tokens, "collapse": collapse, "thread": thread, "kind": kind}


START = 1_794_981_600.0  # 06:00:00
TURNS = [
    (START, Turn("First turn.", new=True)),
    (START + 10, Turn("Second turn.")),
    (START + 20, Turn("After an edit.", "file|unknown", edit=1)),
]


@pytest.mark.parametrize(
    ("rows", "problems"),
    [
        ([row(1, WHOLE), row(11, WHOLE), row(21, DROPPED, "file")], []),
        ([row(1, WHOLE), row(11, WHOLE), row(21, DROPPED, "unknown")], []),
        ([row(1, WHOLE), row(11, WHOLE), row(21, WHOLE)], []),  # the edit changed too little
        ([row(1, WHOLE), row(21, DROPPED)], ["turn 3 ('After an edit.'): a collapse was not found"]),
        (
            [row(1, WHOLE), row(11, WHOLE, "file")],
            ["turn 2 ('Second turn.'): nothing collapsed, but the cause is file"],
        ),
        (
            [row(1, WHOLE), row(11, DROPPED, "file")],
            ["turn 2 ('Second turn.'): the cause is nothing, not file (why)"],
        ),
        (
            [row(1, WHOLE), row(22, DROPPED, "tool")],
            ["turn 3 ('After an edit.'): the cause is file|unknown, not tool (why)"],
        ),
        ([row(1, WHOLE), row(11, DROPPED, thread="sub"), row(12, DROPPED, kind="compaction"), row(13, WHOLE)], []),
    ],
)
def test_every_collapse_is_compared_with_the_script(rows, problems):
    assert compare_collapses(TURNS, rows) == problems


def test_a_random_session_is_the_same_every_time_and_uses_every_event():
    for name in SCRIPTS:
        scripts = [random_script(name, seed) for seed in range(40)]
        assert scripts == [random_script(name, seed) for seed in range(40)]
        turns = [turn for script in scripts for turn in script]
        causes = {cause for turn in turns for cause in turn.cause.split("|")}
        assert ("model" in causes) == ("model" in EVENTS[name])
        assert any("fork" in word for turn in turns for word in (*turn.extra, *turn.swap.values())) == (
            "fork" in EVENTS[name]
        )
        assert any("{server}" in word for turn in turns for word in (*turn.extra, *turn.files.values())) == (
            "server" in EVENTS[name]
        )


def test_a_pause_may_empty_the_cache():
    paused = with_pause(SCRIPTS["codex"], 60)
    assert [turn.pause for turn in paused[:4]] == [0, 0, 65, 0]
    assert paused[2].cause == "lifetime|unknown"
