"""The library accepts `os.PathLike` objects wherever it takes a path."""

from pathlib import Path

import pytest

from foreword import Assembler, CallError, Conversations, Workspace
from foreword.vocabulary import replace


def test_every_path_may_be_a_path_object(tree):
    tree({"w/own.toml": 'extends = "$std/foreword"\n', "w/AGENTS.md": "Rule.", "settings.toml": "", "pack": None})
    top = Path(tree.top)
    workspace = replace(tree.workspace(), cwd=top / "w", root=top / "w", home=top / "home")
    assert workspace == replace(tree.workspace(), root=tree.path("w"))
    assembler = Assembler(workspace, top / "w/own.toml", settings=top / "settings.toml", packs={"acme": top / "pack"})
    assert "Rule." in assembler.prompt().text
    with Conversations(top / "store.db") as conversations:
        assert "Rule." in conversations.open("t", workspace).turn("hi").system
    assert (top / "store.db").exists()


@pytest.mark.parametrize("name", ["cwd", "root", "home"])
def test_a_path_of_the_wrong_type_is_an_error(name):
    with pytest.raises(CallError, match=rf"^Workspace\.{name} must be a string or a path, not int$"):
        Workspace(**{name: 5})
