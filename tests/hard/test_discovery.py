"""Edge cases in file discovery, one test for each."""

import errno
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foreword import CallError, Workspace, assemble
from foreword.vocabulary import replace

LAYOUTS = ["foreword", "ion", "opal", "pi"]
NOW = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)


def used_paths(tree, prompt):
    return [path for path, fate in tree.fates(prompt) if fate == "used"]


# From the root of the repository to the working directory


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_all_files_of_a_repository_are_used_root_first_with_their_paths(tree, layout):
    tree({"w/.git": None, "w/AGENTS.md": "root", "w/a/b/AGENTS.md": "middle", "w/a/b/c/d/AGENTS.md": "here"})
    prompt = tree.prompt(layout, "w/a/b/c/d")
    paths = ["/w/AGENTS.md", "/w/a/b/AGENTS.md", "/w/a/b/c/d/AGENTS.md"]
    assert used_paths(tree, prompt) == paths
    text = tree.short(prompt.text)
    positions = [
        text.index(part)
        for path, word in zip(paths, ["root", "middle", "here"], strict=True)
        for part in (path, f"\n{word}\n")
    ]
    assert positions == sorted(positions)


# Outside git


@pytest.mark.parametrize(
    ("layout", "expected", "expected_findings"),
    [
        ("foreword", ["/w/a/AGENTS.md"], [("not-a-repository", "/w/a")]),
        ("ion", ["/w/a/AGENTS.md"], []),
        ("opal", ["/AGENTS.md", "/w/AGENTS.md", "/w/a/AGENTS.md"], []),
        ("pi", ["/AGENTS.md", "/w/AGENTS.md", "/w/a/AGENTS.md"], []),
    ],
)
def test_without_git_the_layouts_stop_rule_applies(tree, layout, expected, expected_findings):
    tree({"AGENTS.md": "1", "w/AGENTS.md": "2", "w/a/AGENTS.md": "3"})
    prompt = tree.prompt(layout, "w/a")
    assert (used_paths(tree, prompt), tree.findings(prompt)) == (expected, expected_findings)


# Roots: `.git` may also be a file, in a worktree or submodule


@pytest.mark.parametrize("git", [None, "gitdir: ../.git/modules/w\n"])
def test_a_git_folder_or_file_marks_a_root(tree, git):
    tree({"AGENTS.md": "above", "w/.git": git, "w/AGENTS.md": "root", "w/a/AGENTS.md": "here"})
    assert used_paths(tree, tree.prompt("foreword", "w/a")) == ["/w/AGENTS.md", "/w/a/AGENTS.md"]


@pytest.mark.parametrize("git", [Path("nowhere"), Path(".git")])
def test_an_invalid_git_entry_does_not_mark_a_root(tree, git):
    tree({"w/.git": None, "w/AGENTS.md": "root", "w/a/.git": git, "w/a/AGENTS.md": "here"})
    assert used_paths(tree, tree.prompt("foreword", "w/a")) == ["/w/AGENTS.md", "/w/a/AGENTS.md"]


# Worktrees


def test_a_worktree_inside_its_main_repository_uses_only_its_own_files(tree):
    tree({
        "w/.git/worktrees/fix/gitdir": tree.path("w/trees/fix/.git"),
        "w/AGENTS.md": "main",
        "w/trees/fix/.git": f"gitdir: {tree.path('w/.git/worktrees/fix')}\n",
        "w/trees/fix/AGENTS.md": "worktree",
    })  # fmt: skip
    prompt = tree.prompt("foreword", "w/trees/fix")
    assert used_paths(tree, prompt) == ["/w/trees/fix/AGENTS.md"]
    assert "main" not in prompt.text.split("\n")


# The home directory as working directory


@pytest.mark.parametrize(
    ("layout", "cwd", "file"),
    [
        ("foreword", "home/.agents", "home/.agents/AGENTS.md"),
        ("foreword", "home/.config/agents", "home/.config/agents/AGENTS.md"),
        ("ion", "home/.ion", "home/.ion/AGENTS.md"),
        ("ion", "home/.config/agents", "home/.config/agents/AGENTS.md"),
        ("opal", "home", "home/AGENTS.md"),
        ("pi", "home/.sf/agent", "home/.sf/agent/AGENTS.md"),
    ],
)
def test_a_file_that_is_both_a_user_and_a_project_file_is_used_once(tree, layout, cwd, file):
    prompt = tree({file: "Only once."}).prompt(layout, cwd)
    assert prompt.text.count("Only once.") == 1
    assert tree.fates(prompt) == [(f"/{file}", "used")]
    assert [code for code, _ in tree.findings(prompt) if code != "not-a-repository"] == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_the_home_directory_each_skill_is_listed_once(tree, skill, layout):
    tree({"home/.agents/skills/a/SKILL.md": skill("a"), "home/.git": None})
    prompt = tree.prompt(layout, "home", tools="read")
    assert [fate for _, fate in tree.fates(prompt)].count("used") == (0 if layout == "ion" else 1)
    assert tree.findings(prompt) == []


def test_in_the_home_directory_each_skill_is_read_once(tree, skill, disk):
    tree({f"home/.agents/skills/s{number}/SKILL.md": skill(f"s{number}") for number in range(20)})
    tree({"home/.git": None})
    # A file that was just written may change again without a new time stamp, so it would be read twice.
    newest = max(os.stat(tree.path(f"home/.agents/skills/s{number}/SKILL.md")).st_ctime_ns for number in range(20))
    while time.time_ns() < newest + 100_000_000:
        time.sleep(0.01)
    prompt = tree.prompt("foreword", "home", tools="read", disk=disk)
    assert [fate for _, fate in tree.fates(prompt)].count("used") == 20
    assert disk.calls["fstat"] == 20


# The root of the disk as working directory


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_working_directory_can_be_the_file_system_root(tree, layout):
    prompt = assemble(Workspace("/", home=tree.path("home"), environment={}), layout=layout)
    assert prompt.text and "//" not in "".join(candidate.path for candidate in prompt.candidates)


# A working directory reached through a link


def test_a_linked_directory_keeps_its_logical_path_and_duplicates_are_found_by_real_path(tree):
    tree(
        {
            "w/.git": None,
            "w/AGENTS.md": "X",
            "w/a/CLAUDE.md": "Y",
            "link": Path("w"),
            "w/a/AGENTS.md": Path("../AGENTS.md"),
        }
    )
    prompt = tree.prompt("foreword", "link/a")
    assert used_paths(tree, prompt) == ["/link/a/AGENTS.md"]
    assert ("file-duplicate", "/link/AGENTS.md") in tree.findings(prompt)


def test_a_link_into_a_repository_finds_its_files(tree):
    tree({"w/.git": None, "w/AGENTS.md": "root", "w/a/AGENTS.md": "here", "link": Path("w/a")})
    prompt = tree.prompt("foreword", "link")
    assert [line for line in prompt.text.split("\n") if line in ("root", "here")] == ["root", "here"]


@pytest.mark.parametrize("layout", [*LAYOUTS, "pod", "builder"])
@pytest.mark.parametrize("spelling", ["/{}", "{}/", "{}/.", "//{}/../w"])
def test_every_spelling_of_a_path_gives_the_same_prompt(tree, layout, spelling):
    tree({"w/.git": None, "w/AGENTS.md": "X", "home/.agents/AGENTS.md": "Y"})
    plain = tree.workspace()
    other = replace(plain, cwd=spelling.format(plain.cwd), home="/" + plain.home)
    assert assemble(other, layout=layout, now=NOW) == assemble(plain, layout=layout, now=NOW)


# A root passed by the caller


def prompt_with_root(tree, cwd, root):
    return assemble(replace(tree.workspace(cwd), root=tree.path(root)), layout="foreword")


def test_the_walk_begins_at_the_callers_root(tree):
    tree({"AGENTS.md": "above", "w/AGENTS.md": "root", "w/a/AGENTS.md": "here", "link": Path("w")})
    assert used_paths(tree, prompt_with_root(tree, "w/a", "w")) == ["/w/AGENTS.md", "/w/a/AGENTS.md"]
    assert used_paths(tree, prompt_with_root(tree, "w/a", "w/a")) == ["/w/a/AGENTS.md"]
    assert used_paths(tree, prompt_with_root(tree, "w/a", "link")) == ["/w/AGENTS.md", "/w/a/AGENTS.md"]
    assert used_paths(tree, prompt_with_root(tree, "link/a", "w")) == ["/w/AGENTS.md", "/link/a/AGENTS.md"]


@pytest.mark.parametrize("root", ["other", "nowhere", "w/a/b", "w/AGENTS.md", "w/a-evil"])
def test_a_root_that_is_not_above_the_working_directory_is_an_error(tree, root):
    tree({"AGENTS.md": "above", "w/AGENTS.md": "root", "w/a/b": None, "other": None})
    with pytest.raises(CallError) as error:
        prompt_with_root(tree, "w/a", root)
    message = f"the root /{root} is neither the working directory /w/a nor a directory above it"
    assert tree.short(str(error.value)) == message


# Overrides


@pytest.mark.parametrize("override", ["", " \n\n", None, b"\xff", os.mkfifo, Path("nowhere")])
def test_an_unusable_override_is_ignored(tree, override):
    prompt = tree({"w/AGENTS.override.md": override, "w/AGENTS.md": "X"}).prompt("foreword")
    assert used_paths(tree, prompt) == ["/w/AGENTS.md"]


# Pointers: on Windows, git checks out a link as a file that contains its target


@pytest.mark.parametrize("layout", ["foreword", "ion", "pi"])
@pytest.mark.parametrize("agents", ["X", "", None])
def test_a_link_checked_out_as_text_is_a_duplicate(tree, layout, agents):
    prompt = tree({"w/.git": None, "w/AGENTS.md": agents, "w/CLAUDE.md": "AGENTS.md"}).prompt(layout)
    assert used_paths(tree, prompt) == (["/w/AGENTS.md"] if agents else [])
    assert ("file-duplicate", "/w/CLAUDE.md") in tree.findings(prompt)
    assert "AGENTS.md" not in prompt.text.split("\n")


@pytest.mark.parametrize("pointer", ["@AGENTS.md", "  @AGENTS.md  \n\n", "\n\t@./AGENTS.md\r\n", "\ufeff@AGENTS.md"])
def test_an_import_is_a_pointer_whatever_white_space_surrounds_it(tree, pointer):
    prompt = tree({"w/AGENTS.md": "X", "w/B.md": pointer}).prompt("opal", set={"names": ["AGENTS.md", "B.md"]})
    assert tree.messages(prompt) == [("file-duplicate", "/w/B.md: it only points to AGENTS.md")]


# Names that differ in case


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("other", ["agents.md", "Agents.md", "AGENTS.MD"])
def test_a_name_that_differs_in_case_is_reported(tree, layout, other):
    prompt = tree({"w/.git": None, "w/AGENTS.md": "X", f"w/{other}": "Y"}).prompt(layout)
    assert used_paths(tree, prompt) == ["/w/AGENTS.md"]
    assert tree.findings(prompt) == [("file-case", f"/w/{other}")]


# Unreadable folders


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_files_around_an_unreadable_parent_are_used(tree, disk, layout):
    tree({"w/.git": None, "w/AGENTS.md": "root", "w/a/AGENTS.md": "no", "w/a/b/AGENTS.md": "here"})
    denied = PermissionError(errno.EACCES, "Permission denied")
    for call, path in (
        ("open", "w/a/AGENTS.md"),
        ("stat", "w/a/AGENTS.md"),
        ("lstat", "w/a/AGENTS.md"),
        ("scandir", "w/a"),
    ):
        disk.fail(call, tree.path(path), denied)
    prompt = tree.prompt(layout, "w/a/b", disk=disk)
    assert used_paths(tree, prompt) == ["/w/AGENTS.md", "/w/a/b/AGENTS.md"]
    assert tree.messages(prompt) == [("file-unreadable", "/w/a/AGENTS.md: permission denied")]


# Files that vanish while they are read


FAULTS = {
    "EACCES at open": ("open", PermissionError(errno.EACCES, "Permission denied")),
    "EIO at open": ("open", OSError(errno.EIO, "Input/output error")),
    "EMFILE at open": ("open", OSError(errno.EMFILE, "Too many open files")),
    "ENOENT at fstat": ("fstat", FileNotFoundError(errno.ENOENT, "No such file or directory")),
    "ESTALE at read": ("read", OSError(errno.ESTALE, "Stale file handle")),
    "EIO at read": ("read", OSError(errno.EIO, "Input/output error")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_fails_while_being_read_is_skipped_and_recorded(tree, disk, layout, fault):
    call, error = FAULTS[fault]
    second = "OPAL.md" if layout == "opal" else "CLAUDE.md"
    tree({"w/.git": None, "w/AGENTS.md": "X", f"w/{second}": "Y"})
    disk.fail(call, tree.path("w/AGENTS.md"), error)
    prompt = tree.prompt(layout, disk=disk)
    assert used_paths(tree, prompt) == [f"/w/{second}"]
    assert tree.messages(prompt) == [("file-unreadable", f"/w/AGENTS.md: {error.strerror.lower()}")]


def test_a_listed_file_that_no_longer_exists_is_skipped_and_recorded(tree, disk):
    tree({"home/.config/agents/rules/a.md": "A", "home/.config/agents/rules/c.md": "C"})
    disk.add_ghost(tree.path("home/.config/agents/rules/b.md"))
    prompt = tree.prompt("ion", base="BASE", disk=disk)
    assert prompt.text == "BASE\n\n# Global Instructions\nA\n\nC"
    assert [path for _, path in tree.findings(prompt)] == ["/home/.config/agents/rules/b.md"]


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
@pytest.mark.parametrize("call", ["open", "fstat", "read"])
def test_a_listed_skill_that_no_longer_exists_is_skipped_and_recorded(tree, skill, disk, layout, call):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a"), "w/.agents/skills/b/SKILL.md": skill("b")})
    missing_path = FileNotFoundError(errno.ENOENT, "No such file or directory")
    disk.fail(call, tree.path("w/.agents/skills/a/SKILL.md"), missing_path)
    disk.fail("lstat", tree.path("w/.agents/skills/a/SKILL.md"), missing_path, after=1)
    disk.fail("stat", tree.path("w/.agents/skills/a/SKILL.md"), missing_path, after=1)
    prompt = tree.prompt(layout, tools="read", disk=disk)
    assert used_paths(tree, prompt) == ["/w/.agents/skills/b/SKILL.md"]
    assert [path for _, path in tree.findings(prompt)] == ["/w/.agents/skills/a/SKILL.md"]


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_a_directory_that_vanishes_during_the_walk_is_reported(tree, skill, disk, layout):
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/.agents/skills/a/SKILL.md": skill("a")})
    disk.fail("scandir", tree.path("w/.agents/skills"), FileNotFoundError(errno.ENOENT, "No such file or directory"))
    prompt = tree.prompt(layout, tools="read", disk=disk)
    assert used_paths(tree, prompt) == ["/w/AGENTS.md"]
    assert [path for _, path in tree.findings(prompt)] == ["/w/.agents/skills"]


# Configuration folder and home directory


@pytest.mark.parametrize("layout", ["foreword", "ion"])
@pytest.mark.parametrize("value", ["xdg", "./xdg", "", "~/xdg"])
def test_a_relative_configuration_folder_is_ignored(tree, layout, value, monkeypatch):
    tree({"w/.git": None, "home/.config/agents/AGENTS.md": "home", "w/xdg/agents/AGENTS.md": "xdg"})
    monkeypatch.chdir(tree.path("w"))
    workspace = Workspace(tree.path("w"), home=tree.path("home"), environment={"XDG_CONFIG_HOME": value})
    assert used_paths(tree, assemble(workspace, layout=layout)) == ["/home/.config/agents/AGENTS.md"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("environment", [{}, {"HOME": ""}])
def test_without_a_home_user_files_are_skipped_and_reported(tree, layout, environment):
    tree({"w/.git": None, "w/AGENTS.md": "X"})
    prompt = assemble(Workspace(tree.path("w"), environment=environment), layout=layout)
    assert used_paths(tree, prompt) == ["/w/AGENTS.md"]
    assert tree.findings(prompt) == [("home-missing", "")]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_missing_home_is_treated_as_empty(tree, layout):
    tree({"w/.git": None, "w/AGENTS.md": "X"})
    prompt = assemble(Workspace(tree.path("w"), home=tree.path("nowhere"), environment={}), layout=layout)
    assert (used_paths(tree, prompt), tree.findings(prompt)) == (["/w/AGENTS.md"], [])


# Names that are not UTF-8


@pytest.mark.parametrize("layout", LAYOUTS)
def test_undecodable_names_are_escaped_when_printed(tree, skill, layout, capsysbinary):
    from foreword.cli import main

    undecodable = os.fsdecode(b"\xff\xfe")
    tree({
        "w/.git": None,
        f"home/.config/agents/rules/{undecodable}.md": f"Rule {layout}.",
        f"home/.config/agents/rules/{undecodable}2.md": b"\x00",
        f"w/.agents/skills/{undecodable}/SKILL.md": skill("a"),
        f"w/.agents/skills/{undecodable}2/SKILL.md": b"\x00",
    })  # fmt: skip
    for command in ("show", "why", "blame", "skills"):
        for json in ([], ["--json"]):
            assert (
                main(
                    [command, tree.path("w"), "--home", tree.path("home"), "--layout", layout, "--tool", "read", *json]
                )
                == 0
            )
    printed = capsysbinary.readouterr()
    assert b"\\xff\\xfe" in printed.out and b"\\xff\\xfe2" in printed.err
    assert printed.out.decode() and printed.err.decode()


# Number of system calls


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_nested_directory_costs_few_calls(tree, disk, layout):
    deep = "/".join(["w", *["d"] * 200])
    tree({"w/.git": None, f"{deep}/AGENTS.md": "here"})
    shallow = type(disk)()
    tree.prompt(layout, "w", disk=shallow)
    prompt = tree.prompt(layout, deep, disk=disk)
    assert used_paths(tree, prompt) == [f"/{deep}/AGENTS.md"]
    calls_per_directory = (disk.calls.total() - shallow.calls.total()) / 200
    assert calls_per_directory <= 30


# Determinism


SCRIPT = """
import sys
from datetime import datetime, timedelta, timezone
from foreword import Agent, Tool, Workspace, assemble
now = datetime(2026, 3, 7, 8, 55, 5, tzinfo=timezone(timedelta(hours=-6)))
for layout in ("foreword", "ion", "opal", "pi"):
    workspace = Workspace(sys.argv[1], home=sys.argv[2], platform="linux", environment={})
    tools = [Tool(name) for name in ("read", "bash", "read_file", "grep", "find")]
    print(assemble(workspace, Agent(tools=tools, session="s"), layout, now=now))
"""


def create_many_files(tree, skill):
    names = ["b", "a", "Z", "10", "9", "é", "z-1"]
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/OPAL.md": "Y"})
    tree({f"home/.config/agents/rules/{name}.md": f"Rule {name}." for name in names})
    tree(
        {
            f"{place}/{name}/SKILL.md": skill(name)
            for name in names
            for place in ("w/.agents/skills", "home/.agents/skills")
        }
    )


def test_hash_seed_time_zone_and_locale_do_not_change_the_prompt(tree, skill):
    create_many_files(tree, skill)
    printed = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, tree.path("w"), tree.path("home")],
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
        ).stdout
        for environment in (
            {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
            {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"},
            {"PYTHONHASHSEED": "77", "TZ": "America/New_York", "LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "1"},
        )
    ]
    assert len(printed[0]) > 4_000
    assert printed[1] == printed[2]
    assert printed[0].decode() == printed[1].decode()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_listing_order_does_not_change_the_prompt(tree, skill, disk, layout):
    create_many_files(tree, skill)
    forwards = tree.prompt(layout, tools="read", disk=disk)
    disk.backwards = True
    assert tree.prompt(layout, tools="read", disk=disk) == forwards


@pytest.mark.parametrize("layout", ["foreword", "ion", "pi"])
def test_a_pointer_is_listed_after_the_file_it_points_to(tree, layout):
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/CLAUDE.md": "@AGENTS.md"})
    assert tree.fates(tree.prompt(layout)) == [("/w/AGENTS.md", "used"), ("/w/CLAUDE.md", "duplicate")]
