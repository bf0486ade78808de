"""Watching: every change on disk that changes the prompt is reported, with real files and real file notifications."""

import os
import queue
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from foreword import Agent, CallError, Tool, Workspace, watch
from foreword.engine.assembler import Assembler
from foreword.errors import LayoutError
from foreword.programs.watching import WatchedPrompt, changes
from foreword.sources import notices

# Not a performance limit: how long a test waits before it fails.
TIMEOUT = 120


class Watch:
    """A running watch of the workspace `w`, and its callbacks."""

    def __init__(self, tree, layout, **options):
        self.tree, self.prompts, self.errors = tree, queue.Queue(), queue.Queue()
        self.handle = watch(
            tree.workspace(), options.pop("agent", None), layout, self.prompts.put, on_error=self.errors.put, **options
        )

    def text(self):
        """Return the text of the next prompt that is reported."""
        return self.tree.short(self.prompts.get(timeout=TIMEOUT).text)

    def wait_for(self, text):
        """Wait for a prompt that contains the text, and return all texts reported until then."""
        texts = [self.text()]
        while text not in texts[-1]:
            texts.append(self.text())
        return texts


@pytest.fixture
def start_watch(tree):
    watches = []

    def start_watch(layout="ion", **options):
        watches.append(Watch(tree, layout, **options))
        return watches[-1]

    yield start_watch
    for watching in watches:
        watching.handle.stop()


def save_in_place(path, text):
    with open(path, "w") as file:
        file.write(text)


def save_by_renaming(path, text):
    save_in_place(path + ".tmp", text)
    os.rename(path + ".tmp", path)


def save_as_vim_does(path, text):
    os.rename(path, path + "~")
    save_in_place(path, text)
    os.remove(path + "~")


def save_as_sed_does(path, text):
    folder, name = os.path.split(path)
    save_in_place(f"{folder}/sed{name}", text)
    os.chmod(f"{folder}/sed{name}", 0o600)
    os.replace(f"{folder}/sed{name}", path)


def test_the_first_callback_comes_before_watch_returns(tree, start_watch):
    tree({"w/AGENTS.md": "One."})
    assert start_watch().prompts.get_nowait().text.endswith("# Project Instructions\nOne.")


@pytest.mark.parametrize("save", [save_in_place, save_by_renaming, save_as_vim_does, save_as_sed_does])
def test_a_save_is_reported_once_no_matter_how_the_editor_saves(tree, start_watch, save):
    tree({"w/AGENTS.md": "One."})
    watching = start_watch()
    for text in ("Two.", "Three.", "Four."):
        save(tree.path("w/AGENTS.md"), text)
        assert watching.wait_for(text)[-1].endswith(text)
    assert watching.prompts.empty() and watching.errors.empty()


def test_a_save_that_changes_nothing_is_not_reported(tree, start_watch):
    tree({"w/AGENTS.md": "One."})
    watching = start_watch()
    watching.text()
    save_by_renaming(tree.path("w/AGENTS.md"), "One.")
    os.utime(tree.path("w/AGENTS.md"))
    tree({"w/other.md": "not looked for", "w/src/AGENTS.md": "too deep"})
    save_by_renaming(tree.path("w/AGENTS.md"), "Two.")  # at once: an empty file would be a change too
    assert watching.text().endswith("Two.")


def remove(name):
    return lambda tree: os.remove(tree.path(name))


def move(name, to):
    return lambda tree: os.rename(tree.path(name), tree.path(to))


@pytest.mark.parametrize(
    ("before", "change", "expected"),
    [
        ({}, {"w/AGENTS.md": "New."}, "New."),
        ({}, {"home/.ion/AGENTS.md": "New."}, "New."),
        ({}, {"home/.config/agents/rules/a.md": "New."}, "New."),
        ({"home/.config/agents/rules/a.md": "A."}, {"home/.config/agents/rules/b.md": "New."}, "New."),
        ({"w/CLAUDE.md": "Old."}, {"w/AGENTS.md": "New."}, "New."),
        ({"w/CLAUDE.md": "Left.", "w/AGENTS.md": "Old."}, remove("w/AGENTS.md"), "Left."),
        ({"w/AGENTS.md": None, "w/CLAUDE.md": ""}, {"w/CLAUDE.md": "New."}, "New."),
        ({"w/draft.md": "New."}, move("w/draft.md", "w/AGENTS.md"), "New."),
        ({"away/AGENTS.md": "New."}, move("away", "home/.ion"), "New."),
        ({"w/AGENTS.md": "<!-- include: ./sub/more.md -->"}, {"w/sub/more.md": "New."}, "New."),
        ({"w/AGENTS.md": "<!-- include: ./more.md -->", "w/more.md": "Old."}, {"w/more.md": "New."}, "New."),
    ],
)
def test_created_deleted_and_moved_files_are_reported(tree, start_watch, before, change, expected):
    tree(before)
    watching = start_watch()
    watching.text()
    change(tree) if callable(change) else tree(change)
    assert watching.wait_for(expected)[-1].endswith(expected)


def test_a_folder_that_is_deleted_and_created_again_is_watched_again(tree, start_watch):
    tree({"home/.config/agents/rules/a.md": "One."})
    watching = start_watch()
    watching.wait_for("One.")
    for text in ("Two.", "Three."):
        shutil.rmtree(tree.path("home/.config"))
        tree({"home/.config/agents/rules/a.md": text})
        watching.wait_for(text)


def test_the_target_of_a_link_is_watched_and_so_is_the_link(tree, start_watch):
    tree({"shared/real.md": "One.", "w/AGENTS.md": Path("../shared/hop.md")})
    os.symlink("real.md", tree.path("shared/hop.md"))
    watching = start_watch(assignments=[("links", "follow")])
    watching.wait_for("One.")
    tree({"shared/real.md": "Two."})
    watching.wait_for("Two.")
    tree({"shared/other.md": "Three."})
    os.symlink("other.md", tree.path("shared/next.md"))
    os.rename(tree.path("shared/next.md"), tree.path("shared/hop.md"))
    watching.wait_for("Three.")
    os.remove(tree.path("w/AGENTS.md"))
    tree({"w/AGENTS.md": "Four."})
    watching.wait_for("Four.")


def test_a_linked_folder_is_watched_at_its_real_path(tree, start_watch, skill):
    tree({"shared/skills/a/SKILL.md": skill("a"), "w/.agents": None})
    os.symlink("../../shared/skills", tree.path("w/.agents/skills"))
    watching = start_watch("opal", assignments=[("links", "follow")])
    watching.wait_for("- **a**")
    tree({"shared/skills/b/SKILL.md": skill("b")})
    watching.wait_for("- **b**")


def test_a_skill_is_watched_when_it_is_created_changed_and_deleted(tree, start_watch, skill):
    tree({"w/.git": None})
    watching = start_watch("pi", agent=Agent(tools=[Tool("read")]))
    watching.text()
    tree({"w/.agents/skills/x/SKILL.md": skill("x", "First.")})
    watching.wait_for("First.")
    tree({"w/.agents/skills/x/SKILL.md": skill("x", "Second.")})
    watching.wait_for("Second.")
    shutil.rmtree(tree.path("w/.agents"))
    while "<available_skills>" in watching.text():
        pass


def test_a_workspace_that_is_deleted_and_created_again_is_watched_again(tree, start_watch):
    tree({"w/AGENTS.md": "One."})
    watching = start_watch()
    watching.wait_for("One.")
    shutil.rmtree(tree.path("w"))
    error = watching.errors.get(timeout=TIMEOUT)
    while not isinstance(error, CallError):
        error = watching.errors.get(timeout=TIMEOUT)
    assert "does not exist" in str(error)
    tree({"w/AGENTS.md": "Two."})
    watching.wait_for("Two.")
    tree({"w/AGENTS.md": "Three."})
    watching.wait_for("Three.")


@pytest.mark.parametrize("removed", ["w/.agents/skills", "w/.agents"])
def test_a_recreated_directory_is_watched_even_with_the_same_inode_number(
    tree, start_watch, skill, monkeypatch, removed
):
    monkeypatch.setattr(notices, "_identity", lambda path: (1, 1) if os.path.isdir(path) else None)
    path = "w/.agents/skills/x/SKILL.md"
    tree({"w/.git": None, path: skill("x", "First.")})
    watching = start_watch("pi", agent=Agent(tools=[Tool("read")]))
    watching.wait_for("First.")
    shutil.rmtree(tree.path(removed))
    while "First." in watching.text():
        pass
    tree({path: skill("x", "Second.")})
    watching.wait_for("Second.")
    tree({path: skill("x", "Third.")})
    watching.wait_for("Third.")


def test_a_relative_workspace_is_found_again_too(tree, monkeypatch):
    tree({"w/AGENTS.md": "One."})
    monkeypatch.chdir(tree.path("w"))
    monkeypatch.delenv("PWD", raising=False)
    prompts, errors = queue.Queue(), queue.Queue()
    with watch(Workspace(".", home=tree.path("home")), None, "ion", prompts.put, on_error=errors.put):
        assert prompts.get(timeout=TIMEOUT).text.endswith("One.")
        shutil.rmtree(tree.path("w"))
        errors.get(timeout=TIMEOUT)
        tree({"w/AGENTS.md": "Two."})
        while not prompts.get(timeout=TIMEOUT).text.endswith("Two."):
            pass


def test_a_workspace_is_watched_again_after_its_parent_was_moved_and_returned(tree):
    tree({"deep/er/w/AGENTS.md": "One."})
    prompts, errors = queue.Queue(), queue.Queue()
    workspace = Workspace(tree.path("deep/er/w"), home=tree.path("home"))
    with watch(workspace, None, "ion", prompts.put, on_error=errors.put):
        prompts.get(timeout=TIMEOUT)
        os.rename(tree.path("deep"), tree.path("elsewhere"))
        errors.get(timeout=TIMEOUT)
        tree({"elsewhere/er/w/AGENTS.md": "Two."})
        os.rename(tree.path("elsewhere"), tree.path("deep"))
        assert prompts.get(timeout=TIMEOUT).text.endswith("Two.")


def test_a_git_checkout_of_many_files_is_one_change(tree, start_watch, skill):
    def git(*arguments):
        settings = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.hooksPath=/dev/null")
        subprocess.run(["git", "-C", tree.path("w"), *settings, *arguments], check=True, capture_output=True)

    files = {f"w/.agents/skills/s{number:03}/SKILL.md": skill(f"s{number:03}", "Old.") for number in range(200)}
    tree({"w/AGENTS.md": "Old.", **files})
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "old")
    git("checkout", "-qb", "new")
    tree({name: text.replace("Old.", "New.") for name, text in files.items()} | {"w/AGENTS.md": "New."})
    git("commit", "-qam", "new")
    git("checkout", "-q", "main")
    watching = start_watch("opal")
    assert watching.text().count("Old.") == 201
    git("checkout", "-q", "new")
    assert watching.text().count("New.") == 201
    git("checkout", "-q", "main")
    assert watching.text().count("Old.") == 201


# Errors


def test_an_invalid_layout_is_reported_and_watching_continues(tree, start_watch):
    tree({"w/AGENTS.md": "One.", "home/.config/foreword/foreword.toml": ""})
    watching = start_watch()
    watching.text()
    tree({"home/.config/foreword/foreword.toml": "sections = ["})
    assert isinstance(watching.errors.get(timeout=TIMEOUT), LayoutError)
    tree({"w/AGENTS.md": "Two."})
    assert isinstance(watching.errors.get(timeout=TIMEOUT), LayoutError)
    tree({"home/.config/foreword/foreword.toml": ""})
    watching.wait_for("Two.")


def test_an_unchanged_prompt_is_reported_again_after_an_error(tree, start_watch):
    tree({"w/AGENTS.md": "One.", "home/.config/foreword/foreword.toml": ""})
    watching = start_watch()
    first = watching.text()
    tree({"home/.config/foreword/foreword.toml": "nonsense = 1"})
    watching.errors.get(timeout=TIMEOUT)
    tree({"home/.config/foreword/foreword.toml": ""})
    assert watching.text() == first


def test_a_file_that_only_a_failed_build_read_is_watched(tree, start_watch):
    tree({"w/AGENTS.md": "One.", "home/.config/foreword/foreword.toml": 'layout = "ion"'})
    watching = start_watch("")
    watching.wait_for("One.")
    tree({"home/.config/foreword/foreword.toml": 'layout = "$user/mine"'})
    watching.errors.get(timeout=TIMEOUT)
    tree(
        {
            "home/.config/foreword/prompts/mine.toml": 'extends = "ion"\nsections = ["base"]\n[section.base]\ntext = "Mine."\n'
        }
    )
    texts = watching.wait_for("Mine.")
    assert texts[-1] == "Mine."


def test_a_callback_that_raises_is_reported_and_called_again(tree):
    tree({"w/AGENTS.md": "One."})
    texts, errors = queue.Queue(), queue.Queue()

    def on_change(prompt):
        texts.put(prompt.text)
        raise ValueError(prompt.text[-4:])

    with watch(tree.workspace(), None, "ion", on_change, on_error=errors.put):
        assert str(errors.get(timeout=TIMEOUT)) == "One."
        save_by_renaming(tree.path("w/AGENTS.md"), "Two.")
        assert str(errors.get(timeout=TIMEOUT)) == "Two."
        save_by_renaming(tree.path("w/AGENTS.md"), "Red.")
        assert str(errors.get(timeout=TIMEOUT)) == "Red."
    assert texts.qsize() == 3


def test_without_on_error_the_exception_goes_to_the_hook_for_threads(tree, monkeypatch):
    events = queue.Queue()
    monkeypatch.setattr(threading, "excepthook", lambda args: events.put(args.exc_value))

    def on_change(prompt):
        raise ValueError("no")

    with watch(tree.workspace(), None, "ion", on_change):
        assert str(events.get(timeout=TIMEOUT)) == "no"


@pytest.mark.parametrize("layout", ["nope", "./nowhere.toml"])
def test_an_error_at_the_start_is_raised(tree, layout):
    with pytest.raises((CallError, LayoutError)):
        watch(tree.workspace(), None, layout, print)


def test_a_callback_is_required(tree):
    with pytest.raises(CallError, match="on_change"):
        watch(tree.workspace(), None, "ion")


def test_without_the_extra_the_error_names_it(tree):
    code = "import sys; sys.modules['watchfiles'] = None\nimport foreword\n"
    code += "try: foreword.watch(foreword.Workspace(sys.argv[1]), None, 'ion', print)\n"
    code += "except foreword.CallError as error: sys.exit(str(error))"
    result = subprocess.run([sys.executable, "-c", code, tree.path("w")], capture_output=True, text=True)
    assert result.stderr.strip() == "watching needs the package watchfiles; run make setup"


def test_watching_continues_with_names_that_are_not_utf8(tree, start_watch):
    tree({"w/AGENTS.md": "One."})
    watching = start_watch()
    watching.text()
    with open(os.fsencode(tree.path("w")) + b"/\xff.md", "w") as file:
        file.write("x")
    tree({"w/AGENTS.md": "Two."})
    watching.wait_for("Two.")
    os.mkdir(os.fsencode(tree.path("w")) + b"/\xfe")
    tree({"w/AGENTS.md": "Three."})
    watching.wait_for("Three.")


# The end


def test_after_stop_nothing_is_reported_and_no_thread_is_left(tree):
    tree({"w/AGENTS.md": "One."})
    threads = set(threading.enumerate())
    prompts = queue.Queue()
    watching = watch(tree.workspace(), None, "ion", prompts.put)
    prompts.get(timeout=TIMEOUT)
    assert not watching.is_stopped
    watching.stop()
    watching.stop()
    assert watching.is_stopped and set(threading.enumerate()) == threads
    tree({"w/AGENTS.md": "Two."})
    assert prompts.empty()


def test_a_watch_can_be_stopped_from_its_callback(tree):
    tree({"w/AGENTS.md": "One."})
    started, stopped = [], threading.Event()

    def on_change(prompt):
        if prompt.text.endswith("Two."):
            started[0].stop()
            stopped.set()

    started.append(watch(tree.workspace(), None, "ion", on_change))
    tree({"w/AGENTS.md": "Two."})
    assert stopped.wait(TIMEOUT)
    started[0].stop()
    assert started[0].is_stopped


def test_a_program_that_does_not_stop_the_watch_still_exits(tree):
    tree({"w/AGENTS.md": "One."})
    code = "import sys, foreword\nforeword.watch(foreword.Workspace(sys.argv[1], home=sys.argv[2]), None, 'ion', lambda p: print(p.text[-4:]))"
    result = subprocess.run(
        [sys.executable, "-c", code, tree.path("w"), tree.path("home")],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "One.\n", "")


# Changes


def test_changes_name_the_files_and_include_saves_without_effect(tree):
    tree({"w/AGENTS.md": "One.", "w/CLAUDE.md": "@AGENTS.md"})
    stop = threading.Event()
    events = changes(WatchedPrompt(Assembler(tree.workspace(), "ion"), Agent()), stop)
    first = next(events)
    assert (first.before, first.files, first.error) == (None, (), None)
    save_by_renaming(tree.path("w/AGENTS.md"), "One.")
    same = next(events)
    assert same.prompt is same.before is first.prompt
    assert [tree.short(path) for path in same.files] == ["/w/AGENTS.md"]
    save_by_renaming(tree.path("w/AGENTS.md"), "Two.")
    second = next(events)
    assert second.prompt.text.endswith("Two.") and second.before is first.prompt
    assert [tree.short(path) for path in second.files] == ["/w/AGENTS.md"]
    stop.set()
    assert list(events) == []


def test_after_stop_a_new_folder_is_not_examined(tree):
    tree({"w/AGENTS.md": "One.", "w/sub/x.md": "X"})
    stop = threading.Event()
    events = changes(WatchedPrompt(Assembler(tree.workspace(), "ion"), Agent()), stop)
    next(events)
    save_by_renaming(tree.path("w/AGENTS.md"), "<!-- include: ./sub/x.md -->")
    assert next(events).prompt.text.endswith("X")
    stop.set()
    save_by_renaming(tree.path("w/sub/x.md"), "Y")
    assert list(events) == []


def test_a_notice_about_something_else_is_not_named_as_the_cause(tree, monkeypatch):
    """The operating system may report another folder first, after a file has already changed."""
    tree({"w/AGENTS.md": "One."})
    events = changes(WatchedPrompt(Assembler(tree.workspace(), "ion"), Agent()))
    next(events)
    tree({"w/AGENTS.md": "Two."})
    monkeypatch.setattr(notices.Notices, "wait", lambda *_: {tree.path("elsewhere"): False})
    assert [tree.short(path) for path in next(events).files] == ["/w/AGENTS.md"]
    events.close()


def test_an_error_without_a_known_cause_comes_with_what_was_noticed(tree, monkeypatch):
    tree({"w/AGENTS.md": "One.", "home/.config/foreword/foreword.toml": 'layout = "ion"'})
    events = changes(WatchedPrompt(Assembler(tree.workspace()), Agent()))
    first = next(events)
    tree({"home/.config/foreword/foreword.toml": "layout = ["})
    monkeypatch.setattr(notices.Notices, "wait", lambda *_: {tree.path("elsewhere"): False, "": False})
    change = next(events)
    assert change.prompt is change.before is first.prompt
    assert [tree.short(path) for path in change.files] == ["/elsewhere"]
    assert "foreword.toml" in str(change.error)
    events.close()


def test_settings_that_change_the_files_used_are_named_as_the_cause(tree):
    tree({"w/AGENTS.md": "A", "home/.config/foreword/foreword.toml": 'layout = "ion"'})
    events = changes(WatchedPrompt(Assembler(tree.workspace()), Agent()))
    assert next(events).prompt.layout == "ion"
    save_by_renaming(tree.path("home/.config/foreword/foreword.toml"), 'layout = "opal"')
    change = next(events)
    assert (change.prompt.layout, [tree.short(path) for path in change.files]) == (
        "opal",
        ["/home/.config/foreword/foreword.toml"],
    )
    events.close()


def test_a_time_in_the_prompt_is_updated_with_a_change_but_is_not_a_change(tree):
    tree({"w/AGENTS.md": "One."})
    events = changes(WatchedPrompt(Assembler(tree.workspace(), "pi"), Agent()), None)
    first = next(events).prompt
    save_by_renaming(tree.path("w/AGENTS.md"), "One.")
    assert next(events).prompt is first
    save_by_renaming(tree.path("w/AGENTS.md"), "Two.")
    assert "Two." in next(events).prompt.text
    events.close()
