"""A workspace that tries to get around trust, and records that cannot be read or written."""

import json
import os
from threading import Thread

import pytest

from foreword import Agent, Assembler, CallError, Conversations, Workspace
from foreword.sources.trust_record import Record

SETTINGS = "home/.config/foreword/foreword.toml"
SKILL = "---\nname: x\ndescription: Skill X.\n---\n"


@pytest.fixture
def asking(tree):
    """A workspace whose user has set trust = "ask"."""
    return tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/AGENTS.md": "Be brief.\n", SETTINGS: 'trust = "ask"\n'})


def workspace(tree, cwd="w"):
    return Workspace(tree.path(cwd), home=tree.path("home"), environment={})


def test_a_link_into_the_workspace_does_not_make_its_files_trusted(asking):
    """The working directory can be a link, and so can a file of the user's own."""
    asking({"w/sub/AGENTS.md": "Obey.\n"})
    os.symlink(asking.path("w/sub"), asking.path("home/link"))
    assert "Obey" not in Assembler(workspace(asking, "home/link"), "opal").prompt().text
    os.symlink(asking.path("w/sub/AGENTS.md"), asking.path("home/.config/foreword/AGENTS.md"))
    assert "Obey" not in Assembler(workspace(asking), "foreword").prompt().text


def test_a_link_that_is_changed_is_untrusted_again(asking, run):
    asking({"w/good.md": "Good.\n", "w/evil.md": "Evil.\n"})
    os.remove(asking.path("w/AGENTS.md"))
    os.symlink("good.md", asking.path("w/AGENTS.md"))
    run("trust", "--yes")
    assert "Good." in run("show")[1]
    os.remove(asking.path("w/AGENTS.md"))
    os.symlink("evil.md", asking.path("w/AGENTS.md"))
    assert "Evil." not in run("show")[1]


def test_the_users_settings_may_be_a_link_into_the_workspace(asking, run):
    os.remove(asking.path(SETTINGS))
    asking({"w/dotfiles.toml": 'trust = "ask"\n'})
    os.symlink(asking.path("w/dotfiles.toml"), asking.path(SETTINGS))
    status, out, err = run("show")
    assert status == 0 and "Be brief" not in out and "AGENTS.md: it is not trusted yet" in err


def test_a_skill_or_template_that_changes_later_is_checked_when_it_is_used(asking, run):
    asking({"w/.agents/skills/x/SKILL.md": f"{SKILL}Body.\n", "w/.foreword/prompts/base.md": "Base.\n"})
    conversation = Conversations().open("one", workspace(asking), Agent(), "opal", trust=lambda path, hash: True)
    conversation.turn("Hello")
    run("trust", "--yes", "--layout", "opal")
    conversation = Conversations().open("two", workspace(asking), Agent(), "opal")
    conversation.turn("Hello")
    asking({"w/.agents/skills/x/SKILL.md": f"{SKILL}Obey.\n"})
    with pytest.raises(CallError, match="it has changed since you trusted it"):
        conversation.use_skill("x")
    with pytest.raises(CallError, match="it is not trusted yet"):
        Conversations().open("three", workspace(asking), Agent(base="$workspace/base"), "opal").turn("Hello")


def test_what_was_only_recorded_is_not_trusted(asking, run):
    asking({SETTINGS: 'trust = "record"\n'})
    assert "Be brief" in run("show")[1]
    asking({SETTINGS: 'trust = "ask"\n'})
    assert "Be brief" not in run("show")[1]
    assert run("trust", "--list")[1] == ""
    run("trust", "--yes")
    asking({SETTINGS: 'trust = "record"\n', "w/AGENTS.md": "Obey.\n"})
    assert "Obey." in run("show")[1]
    asking({SETTINGS: 'trust = "ask"\n'})
    assert "Obey." not in run("show")[1]


def test_a_record_that_cannot_be_written_blocks_nothing_in_the_mode_record(asking, run):
    asking({SETTINGS: 'trust = "record"\n', "home/.local/state/foreword": "not a folder"})
    status, out, _ = run("show", "--json")
    messages = [row["message"] for row in json.loads(out)["findings"] if row["code"] == "file-changed"]
    assert status == 0 and "Be brief" in out
    assert len(messages) == 1 and messages[0].endswith(
        "cannot be written: Not a directory; the changes will be reported again"
    )
    for command in (("trust", "--yes"), ("trust", "--list"), ("trust", "--revoke")):
        status, _, err = run(*command)
        assert status == 2 and "Not a directory" in err


def test_several_processes_can_record_at_once(asking):
    """Each thread has a record of its own, as a process would."""
    records = [Record(workspace(asking)) for _ in range(8)]
    threads = [
        Thread(target=record.save_seen, args=({f"{number}.md": f"sha256:{number}"},))
        for number, record in enumerate(records)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Record(workspace(asking)).seen == {f"{number}.md": f"sha256:{number}" for number in range(8)}


def test_a_record_is_only_for_its_own_workspace(asking, run):
    """A record that was copied to another workspace's name trusts nothing there."""
    run("trust", "--yes")
    record = Record(workspace(asking))
    asking({"other/.git/HEAD": "ref: refs/heads/main\n", "other/AGENTS.md": "Be brief.\n"})
    other = Record(workspace(asking, "other"))
    os.rename(record.path, other.path)
    assert "Be brief" not in Assembler(workspace(asking, "other"), "opal").prompt().text


@pytest.mark.parametrize(("size", "is_trusted"), [(16 * 1024 * 1024, True), (16 * 1024 * 1024 + 2, False)])
def test_a_record_that_is_too_long_trusts_nothing(asking, run, size, is_trusted):
    run("trust", "--yes")
    path = Record(workspace(asking)).path
    with open(path, "a") as file:
        row = 'sha256:0 ""\n'
        name = "x" * (size - os.path.getsize(path) - len(row))
        file.write(row.replace('""', f'"{name}"'))
    assert os.path.getsize(path) == size
    assert ("Be brief" in Assembler(workspace(asking), "opal").prompt().text) is is_trusted


def test_without_a_home_directory_only_the_callers_function_decides(asking):
    homeless = Workspace(asking.path("w"), environment={})
    assert "Be brief" in Assembler(homeless, "opal", trust=lambda path, hash: True).prompt().text
    assert "Be brief" not in Assembler(homeless, "opal", trust=lambda path, hash: False).prompt().text
    with pytest.raises(CallError, match="trust needs a home directory"):
        Assembler(homeless, "opal", trust="ask").prompt()


def test_names_cannot_control_the_terminal(asking, run):
    asking({"w/.agents/skills/\x1b[31m\n/SKILL.md": f"{SKILL}Body.\n"})
    _, out, _ = run("trust", "--layout", "opal")
    assert "new  .agents/skills/\\x1b[31m\\x0a/SKILL.md" in out and "\x1b" not in out
    form = json.loads(run("trust", "--layout", "opal", "--json", "--yes")[1])
    assert [row["path"] for row in form["files"]] == [".agents/skills/\\x1b[31m\\x0a/SKILL.md", "AGENTS.md"]
    assert run("trust", "--layout", "opal")[0] == 0


def test_damaged_and_foreign_files_are_not_listed(asking, run):
    run("trust", "--yes")
    folder = "home/.local/state/foreword/trust"
    asking({f"{folder}/{'0' * 32}.txt": "[" * 100_000, f"{folder}/tmp123": 'root "/x"\nsha256:0 "a"\n'})
    assert run("trust", "--list")[1] == "/w  1\n"
