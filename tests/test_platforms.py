"""Where user files are found on Windows and macOS, with an injected platform.

All rules that depend on the platform are tested here: the home directory, the configuration folder, and what a prompt says about the
platform. Paths use the syntax of the machine that runs the tests.
"""

from __future__ import annotations

import pytest

from foreword import Agent, Assembler, Tool, Workspace, assemble
from foreword.packs.std import NAMES
from foreword.sources.environment import resolve_workspace
from foreword.sources.paths import config_folder, data_folder
from foreword.sources.reader import Reader
from foreword.vocabulary import replace

# The environment of a user on each platform. On Windows, HOME and XDG_CONFIG_HOME are ignored even if a program sets them.
USERS = {
    "linux": {"HOME": "home"},
    "darwin": {"HOME": "home"},
    "win32": {
        "USERPROFILE": "home",
        "APPDATA": "home/AppData/Roaming",
        "HOME": "unix",
        "XDG_CONFIG_HOME": "unix/.config",
    },
}
CONFIG = {"linux": "/home/.config", "darwin": "/home/.config", "win32": "/home/AppData/Roaming"}


def make_user(tree, platform, **changes):
    environment = {name: value for name, value in {**USERS[platform], **changes}.items() if value is not None}
    return Workspace(
        tree.path("w"),
        platform=platform,
        environment={
            name: value if "\\" in value or not value else tree.path(value) for name, value in environment.items()
        },
    )


def user_paths(tree, layout, platform):
    """Every path below the temporary folder where a layout looked for a user file."""
    prompt = assemble(make_user(tree, platform), Agent(tools=[Tool("read")]), layout=layout)
    return sorted(
        {tree.short(candidate.path) for candidate in prompt.candidates if candidate.path.startswith(tree.path("home"))}
    )


@pytest.fixture
def user_files(tree):
    """One user file at every path that some layout reads."""
    text = {
        name: f"Said in {name}.\n"
        for name in (
            "home/.agents/AGENTS.md",
            "home/.ion/AGENTS.md",
            "home/.sf/agent/AGENTS.md",
            "home/.config/agents/AGENTS.md",
            "home/.config/foreword/AGENTS.md",
            "home/AppData/Roaming/agents/AGENTS.md",
            "home/AppData/Roaming/foreword/AGENTS.md",
            "unix/.agents/AGENTS.md",
            "unix/.config/agents/AGENTS.md",
        )
    }
    return tree({"w/.git": None, **text})


MENTIONED = {
    "foreword": ["{config}/foreword/AGENTS.md", "{config}/agents/AGENTS.md", "/home/.agents/AGENTS.md"],
    "ion": ["/home/.ion/AGENTS.md", "{config}/agents/AGENTS.md"],
    "opal": [],
    "pi": ["/home/.sf/agent/AGENTS.md"],
    "pod": [],
    "builder": [],
}


@pytest.mark.parametrize("platform", USERS)
@pytest.mark.parametrize("layout", NAMES)
def test_user_files_are_found_on_every_platform(user_files, layout, platform):
    text = assemble(make_user(user_files, platform), Agent(), layout=layout).text
    sources = [line.removeprefix("Said in ").rstrip(".") for line in text.splitlines() if line.startswith("Said in ")]
    assert ["/" + name for name in sources] == [path.format(config=CONFIG[platform]) for path in MENTIONED[layout]]


@pytest.mark.parametrize("layout", NAMES)
def test_macos_uses_the_same_paths_as_linux(user_files, layout):
    assert user_paths(user_files, layout, "darwin") == user_paths(user_files, layout, "linux")


@pytest.mark.parametrize("layout", NAMES)
def test_windows_uses_its_own_configuration_folder(user_files, layout):
    moved = [path.replace(CONFIG["linux"], CONFIG["win32"]) for path in user_paths(user_files, layout, "linux")]
    assert user_paths(user_files, layout, "win32") == sorted(moved)


@pytest.mark.parametrize(
    ("platform", "changes", "config"),
    [
        ("linux", {"XDG_CONFIG_HOME": "elsewhere"}, "/elsewhere"),
        ("darwin", {"XDG_CONFIG_HOME": "elsewhere"}, "/elsewhere"),
        ("darwin", {"XDG_CONFIG_HOME": ""}, "/home/.config"),
        ("linux", {"HOME": None}, None),
        ("win32", {"APPDATA": None}, None),
        ("win32", {"APPDATA": ""}, None),
        ("win32", {"APPDATA": "C:\\Users\\x\\AppData\\Roaming\\"}, "C:/Users/x/AppData/Roaming"),
        ("win32", {"APPDATA": "relative\\path"}, None),
        ("win32", {"USERPROFILE": None}, "/home/AppData/Roaming"),
    ],
)
def test_the_configuration_folder_depends_on_the_platform(tree, platform, changes, config):
    folder = config_folder(resolve_workspace(make_user(tree, platform, **changes), Reader()))
    assert (folder and tree.short(folder)) == config


@pytest.mark.parametrize(
    ("platform", "changes", "data"),
    [
        ("linux", {}, "/home/.local/share"),
        ("darwin", {"XDG_DATA_HOME": "elsewhere"}, "/elsewhere"),
        ("linux", {"HOME": None}, None),
        ("win32", {"XDG_DATA_HOME": "elsewhere"}, None),
        ("win32", {"LOCALAPPDATA": "home/AppData/Local"}, "/home/AppData/Local"),
    ],
)
def test_the_data_folder_depends_on_the_platform(tree, platform, changes, data):
    folder = data_folder(resolve_workspace(make_user(tree, platform, **changes), Reader()))
    assert (folder and tree.short(folder)) == data


@pytest.mark.parametrize(("platform", "changes"), [("linux", {"HOME": None}), ("win32", {"USERPROFILE": None})])
def test_a_missing_home_is_reported_and_work_continues(user_files, platform, changes):
    prompt = assemble(make_user(user_files, platform, **changes), Agent())
    (name,) = changes
    assert f"because {name} is not set" in next(
        finding.message for finding in prompt.findings if finding.code == "home-missing"
    )
    assert "Said in home/.agents" not in prompt.text


def test_user_files_are_read_without_a_settings_folder(user_files):
    prompt = assemble(make_user(user_files, "win32", APPDATA=None), Agent())
    assert "because APPDATA is not set" in next(
        finding.message for finding in prompt.findings if finding.code == "home-missing"
    )
    assert "Said in home/.agents" in prompt.text


@pytest.mark.parametrize("platform", USERS)
def test_user_settings_and_packs_are_found_on_every_platform(tree, platform):
    config = CONFIG[platform].lstrip("/")
    tree({
        f"{config}/foreword/foreword.toml": 'layout = "$user/mine"\n',
        f"{config}/foreword/prompts/mine.toml": 'sections = ["body"]\n[section.body]\ntext = "Mine, on {platform}."\n',
    })  # fmt: skip
    assert Assembler(make_user(tree, platform)).prompt().text == f"Mine, on {platform}."


@pytest.mark.parametrize("platform", USERS)
def test_a_section_may_be_for_one_platform(tree, platform):
    tree(
        {
            "one.toml": 'sections = ["a", "b"]\n[section.a]\ntext = "Windows."\nwhen = ["platform:win32"]\n[section.b]\ntext = "All."\n'
        }
    )
    text = assemble(make_user(tree, platform), layout=tree.path("one.toml")).text
    assert text == ("Windows.\n\nAll." if platform == "win32" else "All.")


@pytest.mark.parametrize("platform", USERS)
def test_the_prompt_names_the_platform(tree, platform):
    assert f"\nPlatform: {platform}\n" in assemble(make_user(tree, platform)).text


def test_the_caller_can_set_the_home(tree):
    for platform in USERS:
        assert resolve_workspace(replace(make_user(tree, platform), home=tree.path("w")), Reader()).home == tree.path(
            "w"
        )
