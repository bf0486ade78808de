"""The table of commands is generated from the tables of their modules."""

import pytest

from foreword.cli import commands, compile, lock


def test_the_table_is_up_to_date(capsys):
    assert (compile.main(["--check"]), capsys.readouterr().out) == (0, "")


def test_what_comes_after_the_same_is_in_the_order_of_the_tables():
    rows = {"d": ("b",), "b": ("Title",), "c": ("b",), "e": ("d",), "f": ("Other",)}
    assert list(compile._following("Title", rows)) == ["b", "d", "e", "c"]


@pytest.mark.parametrize(
    ("after", "title", "names"),
    [
        ("What your agents read", "What your agents read", "agents why touch lint align trust lock watch"),
        ("agents", "What your agents read", "agents lock watch why touch lint align trust"),
        ("review", "What a change does", "review diff lock watch"),
    ],
)
def test_a_row_says_what_a_command_comes_after(monkeypatch, after, title, names):
    monkeypatch.setitem(lock.OWN_COMMANDS, "lock", (after, *lock.OWN_COMMANDS["lock"][1:]))
    tables = {}
    exec(compile.source(), tables)
    assert tables["COMMANDS"] == commands.COMMANDS
    assert tables["GROUPS"][title] == tuple(names.split())


def test_a_command_after_one_that_does_not_exist_is_reported(monkeypatch):
    monkeypatch.setitem(lock.OWN_COMMANDS, "lock", ("lokc", "about", "example", "LockForm"))
    with pytest.raises(SystemExit, match=r"^lock, watch: what should come before it does not exist$"):
        compile.source()
