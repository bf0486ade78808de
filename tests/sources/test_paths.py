"""Functions on paths as text."""

import pytest

from foreword.layout.model import Lookup, Pattern
from foreword.sources.paths import (
    absolute_path,
    absolute_scope,
    config_folder,
    data_folder,
    distance_of,
    is_file_name,
    is_in_page_folder,
    is_inside,
    name_by_path,
    normalize,
    other_spellings,
    state_folder,
    user_folder,
)
from foreword.vocabulary import Access, Scope, Workspace

FARTHEST = 1_000_000


def workspace(cwd="/w/a", root="/w", home="/home/me", platform="linux", **environment):
    return Workspace(cwd, root, home, platform, environment)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/./b/../c//d/", "/a/c/d"), ("//a", "/a"), ("//", "/"), ("/..", "/"), ("///a//b", "/a/b")],
)
def test_normal_simplifies_a_path(path, expected):
    assert normalize(path) == expected


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("/a", "/a", True),
        ("/a/b", "/a", True),
        ("/ab", "/a", False),
        ("/", "/a", False),
        ("/a", "/a/b", False),
        ("/a", "/", True),
        ("/", "/", True),
        ("/a/b", "/a/", True),
        ("/ab", "/a/", False),
    ],
)
def test_a_path_is_inside_its_folder(path, folder, expected):
    assert is_inside(path, folder) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("base.md", True),
        (" BASE.MD\n", True),
        ("prompts/base.toml", True),
        ("/etc/motd", True),
        ("./x", True),
        ("../x", True),
        ("~/x", True),
        ("~x", False),
        ("base", False),
        ("read base.md", False),
        ("", False),
        ("  ", False),
        ("a" * 397 + ".md", True),
        ("a" * 398 + ".md", False),
        ("/" + "a" * 400, False),
    ],
)
def test_a_file_name_is_recognised(text, expected):
    assert is_file_name(text) is expected


@pytest.mark.parametrize(
    ("user_workspace", "config", "data"),
    [
        (workspace(), "/home/me/.config", "/home/me/.local/share"),
        (workspace(XDG_CONFIG_HOME="/x//c/", XDG_DATA_HOME="/x/d"), "/x/c", "/x/d"),
        (workspace(XDG_CONFIG_HOME="x", XDG_DATA_HOME="./d"), "/home/me/.config", "/home/me/.local/share"),
        (workspace(home=None), None, None),
        (workspace(home=None, XDG_CONFIG_HOME="/x", XDG_DATA_HOME="/d"), "/x", "/d"),
        (workspace(APPDATA="/x", LOCALAPPDATA="/d"), "/home/me/.config", "/home/me/.local/share"),
        (workspace(platform="win32"), None, None),
        (workspace(platform="win32", XDG_CONFIG_HOME="/x", XDG_DATA_HOME="/d"), None, None),
        (workspace(platform="win32", APPDATA="C:\\u\\r\\", LOCALAPPDATA="C:\\u\\l"), "C:/u/r", "C:/u/l"),
        (workspace(platform="win32", APPDATA="/u/r", LOCALAPPDATA="u\\l"), "/u/r", None),
        (Workspace("/w", home="/home/me"), "/home/me/.config", "/home/me/.local/share"),
    ],
)
def test_settings_and_data_have_their_own_folders(user_workspace, config, data):
    assert (config_folder(user_workspace), data_folder(user_workspace)) == (config, data)


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("/w/a/AGENTS.md", Pattern("walk", "AGENTS.md"), 0),
        ("/w/a/b/AGENTS.md", Pattern("walk", "AGENTS.md"), 0),
        ("/w/AGENTS.md", Pattern("walk", "AGENTS.md"), 1),
        ("/AGENTS.md", Pattern("walk", "AGENTS.md"), 2),
        ("/other/AGENTS.md", Pattern("path", "/other/AGENTS.md"), 2),
        ("$std/opal", Pattern("walk", "AGENTS.md"), 0),  # not a path
        ("/home/me/AGENTS.md", Pattern("home", "AGENTS.md"), FARTHEST),
        ("/home/me/.config/AGENTS.md", Pattern("config", "AGENTS.md"), FARTHEST),
        ("/home/me/AGENTS.md.old", Pattern("home", "AGENTS.md"), 2),
        ("/home/me/rules/x/y.md", Pattern("home", "rules/**/*.md"), FARTHEST),
        ("/home/me/other/y.md", Pattern("home", "rules/**/*.md"), 2),
        # A project pattern that happens to match a user file
        ("/home/me/AGENTS.md", Pattern("path", "/home/me/AGENTS.md"), 2),
        ("/home/me/AGENTS.md", Pattern("walk", "AGENTS.md"), 2),
        # A workspace cannot make a file count as a user file.
        ("/home/me/AGENTS.md", Pattern("home", "AGENTS.md", confined=True), 2),
        ("/home/me/.config/AGENTS.md", Pattern("config", "AGENTS.md", confined=True), 2),
    ],
)
def test_the_distance_of_a_file_depends_on_its_pattern(path, pattern, expected):
    lookup = Lookup("x", [[Pattern("cwd", "none")], [Pattern("root", "none"), pattern]])
    assert distance_of(path, lookup, workspace()) == expected


@pytest.mark.parametrize("place", ["home", "config"])
@pytest.mark.parametrize("path", ["AGENTS.md", "*.md", "/AGENTS.md"])
def test_without_a_home_directory_no_file_is_a_user_file(place, path):
    lookup = Lookup("x", [[Pattern(place, path)]])
    assert distance_of("/AGENTS.md", lookup, workspace(home=None)) == 2
    assert distance_of("AGENTS.md", lookup, workspace(home=None)) == 0


def test_a_file_whose_name_is_not_utf8_has_a_distance():
    lookup = Lookup("x", [[Pattern("home", "AGENTS.md")]])
    assert distance_of("/w/\\xff/AGENTS.md", lookup, workspace(cwd="/w/\udcff")) == 0
    assert distance_of("/\\xff/AGENTS.md", lookup, workspace(home="/\udcff")) == FARTHEST


@pytest.mark.parametrize(
    ("path", "home", "expected"),
    [
        ("x", "/home/me", "/w/a/x"),
        ("../x", "/home/me", "/w/x"),
        ("/x//y", "/home/me", "/x/y"),
        ("~", "/home/me", "/home/me"),
        ("~/x", "/home/me", "/home/me/x"),
        ("~x", "/home/me", "/w/a/~x"),
        ("~", None, "/w/a/~"),
        ("~/x", None, "/w/a/~/x"),
    ],
)
def test_a_path_becomes_absolute(path, home, expected):
    assert absolute_path(path, workspace(home=home)) == expected


def test_a_scope_becomes_absolute():
    scope = Scope([Access("x", "read", recursive=False)], [Access("~/y")])
    assert absolute_scope(scope, workspace()) == Scope(
        [Access("/w/a/x", "read", recursive=False)], [Access("/home/me/y")]
    )
    assert absolute_scope(None, workspace()) == Scope([Access("/w")])
    assert absolute_scope(None, workspace(root=None)) == Scope([Access("/w/a")])


@pytest.mark.parametrize(
    ("user_workspace", "folder"),
    [
        (workspace(), "/home/me/.local/state"),
        (workspace(XDG_STATE_HOME="/x/s"), "/x/s"),
        (workspace(XDG_STATE_HOME="x/s"), "/home/me/.local/state"),
        (workspace(platform="win32", LOCALAPPDATA="D:/u/l", APPDATA="C:/u"), "D:/u/l"),
        (workspace(platform="win32", LOCALAPPDATA="u/l"), None),
        (workspace(home=""), None),
    ],
)
def test_state_has_a_folder(user_workspace, folder):
    assert state_folder(user_workspace) == folder


@pytest.mark.parametrize(
    ("pattern", "options", "folder"),
    [
        (Pattern("home", "x"), {}, "/home/me"),
        (Pattern("config", "x"), {}, "/home/me/.config"),
        (Pattern("env", "x", variable="V", default="/d//e"), {"V": "/v/../x"}, "/x"),
        (Pattern("env", "x", variable="V", default="/d//e"), {"V": "v"}, "/d/e"),
        (Pattern("env", "x", variable="V", default="/d//e"), {}, "/d/e"),
        (Pattern("env", "x", variable="V", default="~/d"), {}, "/home/me/d"),
        (Pattern("env", "x", variable="V", default="~/d"), {"home": None}, None),
        (Pattern("env", "x", variable="V"), {}, None),
        (Pattern("env", "x", variable="V"), {"V": "relative"}, None),
    ],
)
def test_a_pattern_of_the_user_starts_in_a_folder(pattern, options, folder):
    assert user_folder(pattern, workspace(**options)) == folder


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/s/git/fix.md", "git:fix"),
        ("/s/fix.md", "fix"),
        ("/s/git/fix/SKILL.md", "git:fix"),
        ("/s/git/skill.md", "git"),
        ("/s/SKILL.md", "SKILL"),
        ("/s/git/fix.txt", "git:fix.txt"),
        ("/s/a\x1b/b.md", "a\\x1b:b"),
    ],
)
def test_a_command_is_named_by_its_path(path, name):
    assert name_by_path(path, "/s") == name_by_path(path, "/s/") == name


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("AGENTS.md", ["AGENTS.MD", "Agents.md", "agents.md"]),
        ("Agents.md", ["AGENTS.MD", "agents.md"]),
        ("my-rules.md", ["MY-RULES.MD", "My-Rules.md", "My-rules.md"]),
        ("1", []),
    ],
)
def test_names_have_other_usual_spellings(name, others):
    assert other_spellings(name) == others


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("/w/docs", True), ("/w/a/Content/b", True), ("/w/a/my-docs", False), ("/w", False), ("/w/src", False)],
)
def test_folders_of_pages_are_known_by_their_names_below_the_root(folder, expected):
    assert is_in_page_folder(folder, "/w") is expected
    assert is_in_page_folder(folder.replace("/w", "/docs/w"), "/docs/w") is expected
