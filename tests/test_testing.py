"""`assert_prompt` compares a prompt with a stored file, and its pytest plugin adds --accept."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from foreword import CallError, Workspace, assemble
from foreword.testing import assert_prompt

# An editable installation may be older than the plugin.
IS_INSTALLED = any(entry.value == "foreword.testing.plugin" for entry in entry_points(group="pytest11"))


def test_a_prompt_is_stored_and_then_compared(tree):
    path = tree.path("prompts/agent.md")
    with pytest.raises(AssertionError, match=r"there is no stored prompt .*agent\.md; run pytest --accept"):
        assert_prompt("Be brief.", path)
    assert_prompt("Be brief.", path, accept=True)
    assert_prompt("Be brief.\n", path)


def test_the_diff_shows_the_lines_that_differ_and_escapes_hidden_characters(tree):
    tree({"stored.md": "one\ntwo\nthree\n"})
    with pytest.raises(AssertionError) as raised:
        assert_prompt("one\nzwei\u202e\nthree", tree.path("stored.md"))
    assert str(raised.value).splitlines()[1:] == [
        "--- stored",
        "+++ now",
        "@@ -1,3 +1,3 @@",
        " one",
        "-two",
        "+zwei\\u202e",
        " three",
    ]


def test_text_that_differs_between_machines_can_be_replaced(tree):
    tree({"w/AGENTS.md": "Be brief.\n", "stored.md": ""})
    prompt = assemble(Workspace(tree.path("w"), home=tree.path("home")), layout="opal")
    assert tree.top in prompt.text
    assert_prompt(prompt, tree.path("stored.md"), replace={tree.top: "/top"}, accept=True)
    with open(tree.path("stored.md")) as file:
        assert tree.top not in file.read()
    assert_prompt(prompt, tree.path("stored.md"), replace={tree.top: "/top"})


@pytest.mark.parametrize("arguments", [(7, "x.md"), ("text", "w")])
def test_a_call_that_cannot_work_is_an_error_and_not_a_failed_assertion(tree, arguments):
    prompt, path = arguments
    with pytest.raises(CallError):
        assert_prompt(prompt, tree.path(path))


def test_the_plugin_adds_an_option_that_stores_prompts(tree):
    tree(
        {"t/test_it.py": "from foreword.testing import assert_prompt\ndef test_it():\n    assert_prompt('A', 'a.md')\n"}
    )

    def status(*options):
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir=.",
            *options,
            "test_it.py",
        ]
        if not IS_INSTALLED:
            command[3:3] = ["-p", "foreword.testing.plugin"]
        return subprocess.run(command, cwd=tree.path("t"), capture_output=True).returncode

    assert [status(), status("--accept"), status()] == [1, 0, 0]
