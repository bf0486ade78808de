"""`foreword touch DIR PATH…`: what it prints, and hints for a call without the directory or a path."""

import pytest


@pytest.fixture
def workspace(tree):
    tree({"w/.git": None, "w/web/AGENTS.md": "For the web.\n", "w/README.md": "x"})


def test_messages_are_printed_with_their_roles(run, workspace):
    status, out, _ = run("touch", ".", "web/x.ts")
    assert status == 0
    assert out.startswith("[user]\n<path-instructions>") and "For the web." in out


def test_without_messages_it_says_so(run, workspace):
    assert run("touch", ".", "README.md") == (0, "", "nothing new applies to these paths\n")


def test_a_layout_without_touch_says_so(run, tree, workspace):
    tree({"own.toml": 'sections = ["a"]\n[section]\na = { text = "A." }\n'})
    status, out, error = run("touch", ".", "web/x.ts", "--layout", "../own.toml")
    assert (status, out) == (0, "")
    assert error == (
        "the layout own sends nothing when a file is touched, because it has no [touch] table; "
        'to add one, write [touch] with the sections to send, such as sections = ["touched"]; see docs/touch.md\n'
    )


def test_a_path_outside_the_workspace_is_reported_in_full(run, workspace):
    error = run("touch", ".", "/etc/passwd")[2]
    assert "info: /etc/passwd is outside the workspace" in error and "foreword lint" not in error


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["touch", "README.md"], "README.md is not a directory; put the agent's directory first: foreword touch . README.md"),
        (["touch", "a.py", "b.py"], "put the agent's directory first: foreword touch . a.py b.py"),
        (["touch", "."], "no path was passed; write the file that is touched after the directory: foreword touch . PATH"),
        (["conversation", "touch", "7", "a.py"], "put the agent's directory first: foreword conversation touch 7 . a.py"),
    ],
)  # fmt: skip
def test_a_call_without_a_directory_or_path_gets_a_hint(run, workspace, arguments, hint):
    status, _, error = run(*arguments)
    assert status == 2 and hint in error


OWN = 'sections = ["a"]\ntouch = { sections = ["t"] }\n[find]\nt = { files = ["down:NOTES.md"] }\n[section]\na = { text = "A." }\nt = { list = "t" }\n'


@pytest.mark.parametrize(
    ("layout", "pack"),
    [("../own.toml", []), ("$team/own", ["--pack", "team=.."]), ("$user/own", [])],
)
def test_a_conversation_continues_with_its_own_layout(run, tree, workspace, layout, pack):
    tree({"own.toml": OWN, "home/.config/foreword/prompts/own.toml": OWN, "w/web/NOTES.md": "Noted."})
    store = ["--store", f"sqlite:///{tree.path('store.db')}"]
    assert run("conversation", "turn", "t", "--layout", layout, *pack, *store)[1] == "A.\n"
    status, out, _ = run("conversation", "touch", "t", ".", "web/x.ts", *pack, *store)
    assert (status, out) == (0, "[user]\nNoted.\n")
    assert run("conversation", "drift", "t", *pack, *store)[1].startswith("nothing has changed")


def test_too_many_paths_are_an_error(run, workspace):
    status, out, error = run("touch", ".", *(["a.py"] * 1001))
    assert (status, out) == (2, "") and "touch takes at most 1,000 paths, not 1,001" in error
