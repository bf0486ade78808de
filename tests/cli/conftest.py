"""Commands run in this process, as a user would type them in the workspace `w`."""

import pytest

from foreword.cli import main


@pytest.fixture
def run(tree, capsys, monkeypatch):
    """`run("show", "--layout", "ion")` gives the exit status, standard output and standard error."""
    monkeypatch.setenv("HOME", tree.path("home"))
    for name in ("XDG_CONFIG_HOME", "APPDATA", "PWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tree.path("w"))

    def run(*arguments):
        status = main(list(arguments))
        printed = capsys.readouterr()
        return status, tree.short(printed.out), tree.short(printed.err)

    return run
