"""Operating system errors while files are read: each is reported, and everything else still loads.

Errors while a single file is opened and read are in `test_discovery.py`. This file covers the directories around it, entries
that change type between two calls, and temporary errors.
"""

import errno
import os
import socket
from contextlib import contextmanager
from pathlib import Path

import pytest

from foreword import CallError
from foreword.gathering.gather import gather
from foreword.layout.parse import parse
from foreword.packs.packs import find_layout
from foreword.sources import stamps
from foreword.sources.environment import resolve_workspace
from foreword.sources.reader import Reader
from foreword.sources.stamps import changed_paths

LAYOUTS = ["foreword", "opal", "pi"]
SKILLS = "w/.agents/skills"


def make_error(number):
    return OSError(number, os.strerror(number))


def used_paths(tree, prompt):
    return [path for path, fate in tree.fates(prompt) if fate == "used"]


def findings_of(tree, prompt):
    """Return the code, path and the rest of the message of each finding."""
    return [(code, *message.split(": ", 1)) for code, message in tree.messages(prompt)]


@pytest.fixture
def workspace(tree, skill):
    """Two instruction files and two skills, one of them deeply nested."""
    return tree({
        "w/.git": None,
        "w/AGENTS.md": "root",
        "w/a/AGENTS.md": "here",
        f"{SKILLS}/one/SKILL.md": skill("one"),
        f"{SKILLS}/two/SKILL.md": skill("two"),
        "home/.agents/skills/three/SKILL.md": skill("three"),
    })  # fmt: skip


ALL_PATHS = [
    "/w/AGENTS.md",
    f"/{SKILLS}/one/SKILL.md",
    f"/{SKILLS}/two/SKILL.md",
    "/home/.agents/skills/three/SKILL.md",
]


def everything_except(*names):
    return [path for path in ALL_PATHS if path not in names]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_without_a_fault_everything_loads(workspace, disk, layout):
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert (used_paths(workspace, prompt), workspace.findings(prompt)) == (ALL_PATHS, [])


# A directory that cannot be accessed


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE, errno.ENAMETOOLONG])
@pytest.mark.parametrize("call", ["stat", "scandir"])
def test_a_skills_folder_that_cannot_be_accessed_is_reported(workspace, disk, layout, call, number):
    disk.fail(call, workspace.path(SKILLS), make_error(number))
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert used_paths(workspace, prompt) == ["/w/AGENTS.md", "/home/.agents/skills/three/SKILL.md"]
    reason = "its name is too long" if number == errno.ENAMETOOLONG else os.strerror(number).lower()
    assert findings_of(workspace, prompt) == [("file-unreadable", f"/{SKILLS}", reason)]


@pytest.mark.parametrize("layout", ["foreword", "pi"])
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_folder_among_the_skills_that_cannot_be_accessed_is_reported(workspace, disk, layout, number):
    disk.fail("stat", workspace.path(f"{SKILLS}/one"), make_error(number))
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert used_paths(workspace, prompt) == everything_except(f"/{SKILLS}/one/SKILL.md")
    reason = f"1 of its entries could not be examined: {os.strerror(number).lower()}"
    assert findings_of(workspace, prompt) == [("file-unreadable", f"/{SKILLS}", reason)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ENAMETOOLONG])
def test_a_skill_that_cannot_be_accessed_is_reported(workspace, disk, layout, number):
    for call in ("stat", "lstat", "open"):
        disk.fail(call, workspace.path(f"{SKILLS}/one/SKILL.md"), make_error(number))
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert used_paths(workspace, prompt) == everything_except(f"/{SKILLS}/one/SKILL.md")
    assert workspace.findings(prompt) == [("file-unreadable", f"/{SKILLS}/one/SKILL.md")]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_file_whose_folder_cannot_be_accessed_is_reported(tree, disk, number):
    tree({"home/.ion/AGENTS.md": "no", "w/AGENTS.md": "here"})
    disk.fail("stat", tree.path("home/.ion"), make_error(number))
    prompt = tree.prompt("ion", base="BASE", disk=disk)
    assert prompt.text == "BASE\n\n# Project Instructions\nhere"
    reason = os.strerror(number).lower()
    assert ("file-unreadable", "/home/.ion/AGENTS.md", reason) in findings_of(tree, prompt)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_working_directory_that_cannot_be_accessed_is_an_error(tree, disk, number):
    disk.fail("stat", tree.path("w"), make_error(number))
    with pytest.raises(CallError, match=rf"cannot be examined \({os.strerror(number).lower()}\)"):
        tree.prompt("ion", disk=disk)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_listing_that_fails_midway_is_reported(workspace, disk, layout):
    @contextmanager
    def scandir(folder):
        with os.scandir(folder) as listing:
            yield fail_midway(listing) if disk.paths.get(folder) == workspace.path(SKILLS) else listing

    def fail_midway(listing):
        yield next(iter(listing))
        raise make_error(errno.EIO)

    disk.scandir = scandir
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert used_paths(workspace, prompt) == ["/w/AGENTS.md", "/home/.agents/skills/three/SKILL.md"]
    assert findings_of(workspace, prompt) == [("file-unreadable", f"/{SKILLS}", "input/output error")]


# Entries that change type between two calls


def change_before_open(disk, path, change):
    """Run a change between checking a path and opening it."""
    original = disk._record

    def record(call, recorded_path):
        if (call, recorded_path) == ("open", path):
            disk._record = original
            change(path)
        original(call, recorded_path)

    disk._record = record


def replace_with(make):
    def change(path):
        os.unlink(path)
        make(path)

    return change


def bind_socket(path):
    """Create a socket. It is bound in its own folder, because the length of a socket's path is limited."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as unbound:
            unbound.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)


SWAPS = {
    "a named pipe": (replace_with(os.mkfifo), "it is a named pipe, not a file"),
    "a socket": (replace_with(bind_socket), "it is a socket or a device, not a file"),
    "a directory": (replace_with(os.mkdir), "it is a directory, not a file"),
    "a link to itself": (replace_with(lambda path: os.symlink(path, path)), "its links form a loop"),
    "a broken link": (replace_with(lambda path: os.symlink("nowhere", path)), "it is a broken link"),
    "a link to a name that is too long": (replace_with(lambda path: os.symlink("x" * 300, path)), "its name is too long"),
    "nothing": (os.unlink, "it disappeared before it could be read"),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("replacement", SWAPS)
def test_a_skill_that_turns_into_something_else_is_reported(workspace, disk, layout, replacement):
    change, reason = SWAPS[replacement]
    change_before_open(disk, workspace.path(f"{SKILLS}/one/SKILL.md"), change)
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert used_paths(workspace, prompt) == everything_except(f"/{SKILLS}/one/SKILL.md")
    assert findings_of(workspace, prompt) == [("file-unreadable", f"/{SKILLS}/one/SKILL.md", reason)]


@pytest.mark.parametrize("layout", [*LAYOUTS, "ion"])
@pytest.mark.parametrize("replacement", sorted(SWAPS.keys() - {"nothing"}))
def test_an_instruction_file_that_turns_into_something_else_is_reported(workspace, disk, layout, replacement):
    change, reason = SWAPS[replacement]
    change_before_open(disk, workspace.path("w/AGENTS.md"), change)
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert "\nroot\n" not in prompt.text
    assert findings_of(workspace, prompt) == [("file-unreadable", "/w/AGENTS.md", reason)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_skill_whose_folder_vanishes_before_it_is_opened_is_reported(workspace, disk, layout):
    def vanish(path):
        os.unlink(path)
        os.rmdir(os.path.dirname(path))

    change_before_open(disk, workspace.path(f"{SKILLS}/one/SKILL.md"), vanish)
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert used_paths(workspace, prompt) == everything_except(f"/{SKILLS}/one/SKILL.md")
    assert findings_of(workspace, prompt) == [
        ("file-unreadable", f"/{SKILLS}/one/SKILL.md", "it disappeared before it could be read")
    ]


@pytest.mark.parametrize("layout", [*LAYOUTS, "ion"])
def test_a_file_created_during_discovery_is_read(workspace, disk, layout):
    """The file was missing when opened and exists when checked, so it is not a dangling link."""
    waiting = [make_error(errno.ENOENT)]
    original = disk.open

    def open_late(path, flags):
        if path == workspace.path("w/AGENTS.md") and waiting:
            raise waiting.pop()
        return original(path, flags)

    disk.open = open_late
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert "/w/AGENTS.md" in used_paths(workspace, prompt)
    assert workspace.findings(prompt) == []


def test_an_existing_file_that_never_opens_does_not_loop(workspace, disk):
    disk.fail("open", workspace.path("w/AGENTS.md"), make_error(errno.ENOENT))
    prompt = workspace.prompt("foreword", tools="read", disk=disk)
    assert findings_of(workspace, prompt) == [
        ("file-unreadable", "/w/AGENTS.md", "it disappeared before it could be read")
    ]


# Short reads


@pytest.mark.parametrize("layout", [*LAYOUTS, "ion"])
@pytest.mark.parametrize("limit", [1, 2, 7, 4096])
def test_short_reads_do_not_change_the_result(workspace, disk, layout, limit):
    workspace({"w/AGENTS.md": "é" * 3_000 + "\r\n日本\n"})
    undisturbed = workspace.prompt(layout, tools="read", disk=disk)
    read = disk.read
    disk.read = lambda descriptor, size: read(descriptor, min(size, limit))
    assert workspace.prompt(layout, tools="read", disk=disk) == undisturbed


def test_a_file_that_shrinks_during_the_read_keeps_what_was_read(tree, disk):
    tree({"w/.git": None, "w/AGENTS.md": "one\ntwo\n"})
    read = disk.read

    def truncate_and_read(descriptor, size):
        os.truncate(tree.path("w/AGENTS.md"), 4)
        return read(descriptor, size)

    disk.read = truncate_and_read
    prompt = tree.prompt("foreword", disk=disk)
    assert "\none\n" in prompt.text and "two" not in prompt.text
    assert tree.findings(prompt) == []


# Temporary faults


class AdvancedClock:
    """A clock that runs ahead, so that the stamps of new files are trusted."""

    def time_ns(self):
        return os.stat("/").st_mtime_ns + (1 << 62)


def gather_with_disk(tree, disk, layout, before=None):
    reader = Reader(disk=disk)
    workspace = resolve_workspace(tree.workspace(), reader)
    source = find_layout(layout, workspace, reader)
    parsed = parse(source.mapping, source.name, source.address)
    return gather(parsed, workspace, reader, before)


def comparable(tree, inputs):
    """Return everything found, except the stamps of directories that other programs write to."""
    own = [(path, stamp) for path, stamp in inputs.stamps if path.startswith(tree.top)]
    return inputs.found, inputs.candidates, inputs.findings, own


@pytest.mark.parametrize("layout", ["foreword", "opal"])
@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENOMEM, errno.ESTALE])
@pytest.mark.parametrize(
    ("call", "path"),
    [
        ("open", "w/AGENTS.md"),
        ("fstat", "w/AGENTS.md"),
        ("read", "w/AGENTS.md"),
        ("open", f"{SKILLS}/one/SKILL.md"),
        ("read", f"{SKILLS}/one/SKILL.md"),
        ("scandir", SKILLS),
        ("stat", SKILLS),
    ],
)
def test_a_temporary_fault_is_forgotten(workspace, disk, monkeypatch, layout, number, call, path):
    """No stamp shows that a disk works again, so whatever failed must be read again."""
    monkeypatch.setattr(stamps, "time", AdvancedClock())
    healthy = comparable(workspace, gather_with_disk(workspace, disk, layout))
    assert not changed_paths(healthy[-1], disk)
    disk.fail(call, workspace.path(path), make_error(number))
    failed = gather_with_disk(workspace, disk, layout)
    assert comparable(workspace, failed)[0] != healthy[0]
    disk.faults.clear()
    assert changed_paths(comparable(workspace, failed)[-1], disk)
    assert comparable(workspace, gather_with_disk(workspace, disk, layout, failed)) == healthy


# Links


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_link_loop_in_place_of_a_folder_is_skipped(tree, skill, disk, layout):
    tree(
        {
            "w/.git": None,
            "w/AGENTS.md": "root",
            "w/.agents/skills": Path("skills"),
            "home/.agents/skills/a/SKILL.md": skill("a"),
        }
    )
    prompt = tree.prompt(layout, tools="read", disk=disk)
    assert used_paths(tree, prompt) == ["/w/AGENTS.md", "/home/.agents/skills/a/SKILL.md"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_names_that_are_too_long_are_reported(workspace, skill, disk, layout):
    """Nest folders as deep as a path allows; the rest still loads."""
    deep = os.path.join(workspace.path(SKILLS), *["d" * 200] * 30)
    folder = os.open(workspace.path(SKILLS), os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=folder)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    prompt = workspace.prompt(layout, tools="read", disk=disk)
    assert used_paths(workspace, prompt) == ALL_PATHS
    findings = [(code, deep.startswith(workspace.path(path.lstrip("/")))) for code, path in workspace.findings(prompt)]
    assert findings == ([] if layout == "opal" else [("file-unreadable", True)])
