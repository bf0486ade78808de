"""Skills in use: the model gets the body in a message, once until the messages are summarised."""

import os
import subprocess
import sys
import time

import pytest

from foreword import CallError, Tool

LAYOUTS = ["opal", "foreword", "pi", "ion"]
ACTIVE_MESSAGE = {"role": "user", "content": "The skill 'testing' is already active."}


@pytest.fixture
def project(tree, skill):
    """A workspace with two skills, written long ago."""
    tree({
        "w/.git": None,
        "w/.agents/skills/testing/SKILL.md": skill("testing", "Runs the tests.", body="Run `make {name}`.\n\n{text}"),
        "w/.agents/skills/release/SKILL.md": skill("release", "Cuts a release.", "globs: '*.py'"),
    })  # fmt: skip
    for name in ("testing", "release"):
        os.utime(tree.path(f"w/.agents/skills/{name}/SKILL.md"), (1e9, 1e9))
    return tree


def test_using_a_skill_gives_a_user_message_with_its_body(project, open_conversation):
    assert open_conversation("opal").use_skill("testing") == {
        "role": "user",
        "content": "[System] The skill 'testing' is now active. Follow these instructions:\n\nRun `make {name}`.\n\n{text}",
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_second_call_says_that_the_skill_is_active(project, open_conversation, layout):
    conversation = open_conversation(layout)
    conversation.turn("hi")
    assert "Run `make" in conversation.use_skill("testing")["content"]
    assert conversation.use_skill("testing") == ACTIVE_MESSAGE
    assert "Body." in conversation.use_skill("release")["content"]
    assert conversation.use_skill("testing") == ACTIVE_MESSAGE


@pytest.mark.parametrize("layout", LAYOUTS)
def test_after_a_compaction_the_message_has_the_body_again(project, open_conversation, layout):
    conversation = open_conversation(layout)
    conversation.use_skill("testing")
    conversation.compact()
    assert "Run `make" in conversation.use_skill("testing")["content"]
    assert conversation.use_skill("testing") == ACTIVE_MESSAGE
    conversation.turn("hi")
    assert conversation.use_skill("testing") == ACTIVE_MESSAGE  # sent after the compaction, and still in the messages


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_new_edition_does_not_count_as_a_compaction(project, open_conversation, layout):
    """The body is still in the messages."""
    conversation = open_conversation(layout, tools="shell")
    conversation.turn("hi")
    conversation.use_skill("testing")
    project({"w/AGENTS.md": "New.\n"})
    conversation.set_active_tools([Tool("read_file"), Tool("shell")])
    conversation.turn("hi")
    conversation.reload()
    assert conversation.turn("hi").edition > 1
    assert conversation.use_skill("testing") == ACTIVE_MESSAGE


def test_an_unknown_name_lists_the_known_ones(project, open_conversation):
    conversation = open_conversation("opal")
    for name in ("zzz", "test", ""):
        with pytest.raises(CallError, match=f"^no skill {name!r}.* known: release, testing$"):
            conversation.use_skill(name)
    assert conversation.use_skill("testing") != ACTIVE_MESSAGE


def test_using_a_skill_without_any_skills_is_an_error(open_conversation):
    with pytest.raises(CallError, match=r"^no skill 'testing'; no skills were found$"):
        open_conversation("opal").use_skill("testing")


def test_using_a_skill_in_a_layout_without_skills_is_an_error(open_conversation):
    with pytest.raises(CallError, match=r"^the layout pod does not use skills$"):
        open_conversation("pod").use_skill("testing")


def test_other_processes_know_the_skills_in_use(project, open_conversation, url):
    code = (
        "import sys; from foreword import Agent, Conversations, Workspace\n"
        "conversation = Conversations(sys.argv[1]).open('t', Workspace(sys.argv[2], home=sys.argv[3]), Agent(), 'opal')\n"
        "if sys.argv[4] == 'compact': conversation.compact()\n"
        "else: print(conversation.use_skill('testing')['content'])\n"
    )

    def in_another_process(what):
        args = [url, project.path("w"), project.path("home"), what]
        result = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    assert "Run `make" in in_another_process("use")
    assert in_another_process("use") == ACTIVE_MESSAGE["content"]
    assert open_conversation("opal").use_skill("testing") == ACTIVE_MESSAGE
    in_another_process("compact")
    assert "Run `make" in open_conversation("opal").use_skill("testing")["content"]
    assert in_another_process("use") == ACTIVE_MESSAGE["content"]


def test_two_skills_used_at_the_same_time_are_both_remembered(project, open_conversation):
    """Both processes read the same state before."""
    one, two = open_conversation("opal"), open_conversation("opal")
    one.turn("hi")
    two.turn("hi")
    one.use_skill("testing")
    two.use_skill("release")
    assert "already active" in one.use_skill("release")["content"]
    assert one.use_skill("testing") == ACTIVE_MESSAGE


def test_bundled_files_are_listed_and_not_read(project, open_conversation):
    folder = "w/.agents/skills/testing"
    project({
        f"{folder}/run.sh": "SECRET ONE",
        f"{folder}/docs/b.md": "SECRET TWO",
        f"{folder}/docs/a.md": "SECRET THREE",
        f"{folder}/.hidden": "SECRET FOUR",
        f"{folder}/pipe": os.mkfifo,
    })  # fmt: skip
    content = project.short(open_conversation("opal").use_skill("testing")["content"])
    assert "SECRET" not in content
    assert content.partition("\n\nOther files of this skill, which have not been read:\n")[2].splitlines() == [
        "- /w/.agents/skills/testing/pipe",
        "- /w/.agents/skills/testing/run.sh",
        "- /w/.agents/skills/testing/docs/a.md",
        "- /w/.agents/skills/testing/docs/b.md",
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_activation_has_the_same_wording_without_a_conversation(project, open_conversation, layout):
    project({"w/.agents/skills/testing/run.sh": "", "w/.agents/skills/testing/docs/a.md": ""})
    conversation = open_conversation(layout)
    message = conversation.use_skill("testing")["content"]
    assert conversation.assembler.skill_message("testing") == message
    assert message.endswith("docs/a.md")


def test_the_list_of_bundled_files_is_capped(project, open_conversation):
    project({f"w/.agents/skills/testing/part/{number:03}.txt": "" for number in range(120)})
    lines = open_conversation("opal").use_skill("testing")["content"].partition("have not been read:\n")[2].splitlines()
    assert len(lines) == 51
    assert lines[-1] == "- … and more; only 50 are listed"


def test_a_cycle_of_links_is_not_followed_forever(project, open_conversation):
    os.symlink(".", project.path("w/.agents/skills/testing/again"))
    assert "Run `make" in open_conversation("opal").use_skill("testing")["content"]


# After a compaction


LAYOUTS_WITH_MESSAGES = ["foreword", "pi"]


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MESSAGES)
@pytest.mark.parametrize("is_new_process", [False, True])
def test_a_skill_in_use_returns_with_the_next_turn(project, open_conversation, contents, layout, is_new_process):
    conversation = open_conversation(layout)
    body = conversation.use_skill("testing")["content"]
    conversation.compact()
    conversation = open_conversation(layout) if is_new_process else conversation
    summary = [{"role": "summary", "content": "So far."}]
    turn = conversation.turn("go on", summary)
    assert contents(turn.messages) == ["So far.", body, "go on"]
    assert conversation.use_skill("testing") == ACTIVE_MESSAGE
    assert contents(conversation.turn("more", turn.history).messages) == ["So far.", body, "go on", "more"]
    assert contents(conversation.turn("more", summary).messages) == ["So far.", body, "more"]  # the caller's own list


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MESSAGES)
def test_every_skill_returns_after_every_compaction(project, open_conversation, contents, layout):
    conversation = open_conversation(layout)
    bodies = [conversation.use_skill(name)["content"] for name in ("testing", "release")]
    for _ in range(2):
        conversation.compact()
        assert contents(conversation.turn("go on").messages) == [*bodies, "go on"]


@pytest.mark.parametrize("is_new_process", [False, True])
def test_a_layout_that_drops_skills_forgets_them_until_they_are_used_again(
    project, open_conversation, contents, is_new_process
):
    conversation = open_conversation("opal")
    body = conversation.use_skill("testing")
    for _ in range(2):
        conversation.compact(messages=[body])
        conversation = open_conversation("opal") if is_new_process else conversation
        assert contents(conversation.turn("go on").messages) == ["go on"]
        assert conversation.use_skill("testing") == body
        assert conversation.use_skill("testing") == ACTIVE_MESSAGE


def test_dropped_skills_leave_the_prompt_too(project, open_conversation):
    ion = {"set": {"compaction.skills": "drop"}}
    conversation = open_conversation("ion")
    conversation.use_skill("testing")
    conversation.compact()
    assert "# Active Skill: testing" in conversation.turn("hi").system
    open_conversation("ion", **ion).compact()
    assert "# Active Skill" not in open_conversation("ion", **ion).turn("hi").system


def test_a_skill_that_was_used_again_does_not_return_twice(project, open_conversation, contents):
    conversation = open_conversation("foreword")
    conversation.use_skill("testing")
    conversation.compact()
    body = conversation.use_skill("testing")
    assert contents(conversation.turn("go on", [body]).messages) == [body["content"], "go on"]


def test_a_skill_returns_in_the_prompt_if_the_layout_has_a_section_for_it(project, open_conversation, contents):
    conversation = open_conversation("ion")
    conversation.use_skill("testing")
    assert "Active Skill" not in conversation.turn("hi").system  # the body is in the messages
    conversation.compact()
    turn = open_conversation("ion").turn("hi")
    assert "# Active Skill: testing\nRun `make" in turn.system
    assert contents(turn.messages) == ["hi"]
    reopened = open_conversation("ion")
    assert (reopened.turn("hi").system, reopened.use_skill("testing")) == (turn.system, ACTIVE_MESSAGE)
    reopened.use_skill("release")
    reopened.compact()
    turn = reopened.turn("hi")
    assert "# Active Skill: testing" in turn.system and "release" in contents(turn.messages)[0]


def test_a_returning_skill_that_is_gone_is_reported(project, open_conversation, contents):
    conversation = open_conversation("foreword")
    conversation.use_skill("testing")
    conversation.compact()
    os.remove(project.path("w/.agents/skills/testing/SKILL.md"))
    turn = conversation.turn("hi")
    assert contents(turn.messages) == ["hi"]
    (message,) = invalid_skill_messages(turn)
    assert message.startswith("the skill 'testing' cannot be read") and message.endswith("after the compaction")
    assert invalid_skill_messages(conversation.turn("hi")) == []


CHANGED_NOTE = "(This file has changed since the list of skills was made.)"


def test_a_body_that_changed_since_the_menu_was_built_is_noted(project, open_conversation, skill):
    conversation = open_conversation("opal")
    conversation.turn("hi")
    assert CHANGED_NOTE not in conversation.use_skill("release")["content"]
    project({"w/.agents/skills/testing/SKILL.md": skill("testing", body="Another body.")})
    later = time.time() + 60
    os.utime(project.path("w/.agents/skills/testing/SKILL.md"), (later, later))
    content = conversation.use_skill("testing")["content"]
    assert "Another body." in content and content.endswith(CHANGED_NOTE)


def test_formatting_an_edition_does_not_change_the_age_of_its_menu(project, open_conversation, skill):
    conversation = open_conversation("opal", tools="shell")
    conversation.turn("hi")
    project({"w/.agents/skills/testing/SKILL.md": skill("testing", body="Another body.")})
    now = time.time_ns()  # the file system's clock is coarser than the clock for editions
    os.utime(project.path("w/.agents/skills/testing/SKILL.md"), ns=(now, now))
    conversation.set_active_tools([Tool("read_file")])
    assert conversation.turn("hi").edition == 2
    assert conversation.use_skill("testing")["content"].endswith(CHANGED_NOTE)


def test_a_skill_whose_file_is_gone_is_an_error_and_not_in_use(project, open_conversation, skill):
    conversation = open_conversation("opal")
    conversation.turn("hi")
    os.remove(project.path("w/.agents/skills/testing/SKILL.md"))
    with pytest.raises(CallError, match="the skill 'testing' cannot be read"):
        conversation.use_skill("testing")
    project({"w/.agents/skills/testing/SKILL.md": skill("testing", body="Back.")})
    assert "Back." in conversation.use_skill("testing")["content"]


def invalid_skill_messages(turn):
    return [finding.message for finding in turn.findings if finding.code == "skill-invalid"]


@pytest.mark.parametrize("is_gone", [True, False])
def test_an_active_skill_that_is_gone_or_unreadable_is_left_out_of_a_known_conversation(
    project, open_conversation, is_gone
):
    conversation = open_conversation("ion", skill="testing")
    assert "# Active Skill: testing" in conversation.turn("hi").system
    path = project.path("w/.agents/skills/testing/SKILL.md")
    os.remove(path)
    if not is_gone:
        os.mkdir(path)
    for opened in (conversation, open_conversation("ion", skill="testing")):
        turn = opened.turn("hi")
        assert (turn.edition, "Active Skill" in turn.system) == (2, False)
        assert opened.drift().is_changed is False
    os.rmdir(path) if not is_gone else None
    project({"w/.agents/skills/testing/SKILL.md": "---\nname: testing\ndescription: x\n---\nBack."})
    assert "Back." in conversation.turn("hi").system


def test_a_missing_active_skill_is_reported(project, open_conversation):
    conversation = open_conversation("ion", skill="testing")
    conversation.turn("hi")
    os.remove(project.path("w/.agents/skills/testing/SKILL.md"))
    assert invalid_skill_messages(conversation.turn("hi")) == ["no skill 'testing'; known: release; it is left out"]


def test_an_unknown_skill_at_the_start_is_an_error(project, open_conversation):
    conversation = open_conversation("ion", skill="zzz")
    for ask in (conversation.turn, conversation.construct, conversation.reload, conversation.preview):
        with pytest.raises(CallError, match="no skill 'zzz'"):
            ask()
