"""A setting has the type of its default: another type would turn a switch on, or find no files, without a word."""

import pytest

from foreword.errors import LayoutError

WRONG_VALUES = [
    ("opal", "context", "no", "true or false, not 'no'"),
    ("opal", "context", 0, "true or false, not 0"),
    ("opal", "names", [1], "a list of strings that are not blank, not [1]"),
    ("opal", "names", 1, "a list of strings that are not blank, not 1"),
    ("opal", "skill_dirs", [""], "a list of strings that are not blank, not ['']"),
    ("pi", "dir", 5, "a string, not 5"),
    ("pod", "folder", 3, "a string, not 3"),
    ("pod", "residents", "false", "true or false, not 'false'"),
    ("builder", "file_paths", [5], "a list of strings that are not blank, not [5]"),
    ("builder", "file_secrets", "yes", "true or false, not 'yes'"),
]


@pytest.mark.parametrize(("layout", "key", "value", "expected"), WRONG_VALUES)
def test_a_caller_gets_an_error_that_says_what_the_setting_must_be(tree, layout, key, value, expected):
    with pytest.raises(LayoutError) as raised:
        tree.prompt(layout, set={key: value})
    assert str(raised.value) == f"{key} must be {expected}"


def test_a_workspace_gets_a_finding_and_the_default_stays(tree):
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/.foreword/foreword.toml": "names = [1]\n"})
    prompt = tree.prompt("opal")
    message = "names must be a list of strings that are not blank, not [1]; the key was ignored"
    assert tree.messages(prompt) == [("workspace-refused", f"/w/.foreword/foreword.toml: {message}")]
    assert 'source="/w/AGENTS.md"' in tree.short(prompt.text)


def test_a_layout_that_extends_another_keeps_the_type(tree):
    tree({"own.toml": 'extends = "$std/opal"\n[settings]\nskills = "off"\n'})
    with pytest.raises(LayoutError, match=r"layout own: settings\.skills must be true or false, not 'off'"):
        tree.prompt(tree.path("own.toml"))


def test_one_name_may_be_written_as_a_string(tree):
    tree({"w/X.md": "X", "w/Y.md": "Y"})
    assert tree.text("opal", set={"names": "X.md, Y.md"}) == tree.text("opal", set={"names": ["X.md", "Y.md"]})
