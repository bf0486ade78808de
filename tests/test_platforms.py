"""Where a user's files are looked for on Windows and macOS, by an injected platform.

The rules that go by the platform are all here: the home directory, the folder of configuration, and what a prompt says of the
platform. Paths themselves are those of the machine that runs the tests.
"""

from __future__ import annotations

import pytest

from foreword import Agent, Assembler, Tool, Workspace, assemble
from foreword.packs.std.compiled import NAMES
from foreword.sources.environment import resolve_workspace
from foreword.sources.files import Reader
from foreword.sources.paths import config_folder, data_folder
from foreword.vocabulary import replace

# The environment of a user on each platform; on Windows some programs set HOME and XDG_CONFIG_HOME too, and they do not count.
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


def user_of(tree, platform, **changes):
    environment = {name: value for name, value in {**USERS[platform], **changes}.items() if value is not None}
    return Workspace(
        tree.path("w"),
        platform=platform,
        environment={
            name: value if "\\" in value or not value else tree.path(value) for name, value in environment.items()
        },
    )


def looked_at(tree, layout, platform):
    """Every path below the temporary folder at which a layout looked for something of the user's."""
    prompt = assemble(user_of(tree, platform), Agent(tools=[Tool("read")]), layout=layout)
    return sorted({tree.short(each.path) for each in prompt.candidates if each.path.startswith(tree.path("home"))})


@pytest.fixture
def user(tree):
    """One file of the user's at every place that some layout knows."""
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


SAID = {
    "foreword": ["{config}/foreword/AGENTS.md", "{config}/agents/AGENTS.md", "/home/.agents/AGENTS.md"],
    "ion": ["/home/.ion/AGENTS.md", "{config}/agents/AGENTS.md"],
    "opal": [],
    "pi": ["/home/.sf/agent/AGENTS.md"],
    "pod": [],
    "builder": [],
}


@pytest.mark.parametrize("platform", USERS)
@pytest.mark.parametrize("layout", NAMES)
def test_the_users_files(user, layout, platform):
    text = assemble(user_of(user, platform), Agent(), layout=layout).text
    said = [line.removeprefix("Said in ").rstrip(".") for line in text.splitlines() if line.startswith("Said in ")]
    assert ["/" + name for name in said] == [path.format(config=CONFIG[platform]) for path in SAID[layout]]


@pytest.mark.parametrize("layout", NAMES)
def test_macos_looks_where_linux_looks(user, layout):
    assert looked_at(user, layout, "darwin") == looked_at(user, layout, "linux")


@pytest.mark.parametrize("layout", NAMES)
def test_windows_looks_in_its_own_folder_of_configuration(user, layout):
    moved = [path.replace(CONFIG["linux"], CONFIG["win32"]) for path in looked_at(user, layout, "linux")]
    assert looked_at(user, layout, "win32") == sorted(moved)


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
def test_the_folder_of_configuration(tree, platform, changes, config):
    found = config_folder(resolve_workspace(user_of(tree, platform, **changes), Reader()))
    assert (found and tree.short(found)) == config


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
def test_the_folder_of_data(tree, platform, changes, data):
    found = data_folder(resolve_workspace(user_of(tree, platform, **changes), Reader()))
    assert (found and tree.short(found)) == data


@pytest.mark.parametrize(("platform", "changes"), [("linux", {"HOME": None}), ("win32", {"USERPROFILE": None})])
def test_without_a_home_that_is_said_and_work_goes_on(user, platform, changes):
    prompt = assemble(user_of(user, platform, **changes), Agent())
    (name,) = changes
    assert f"because {name} is not set" in next(each.message for each in prompt.findings if each.code == "home-missing")
    assert "Said in home/.agents" not in prompt.text


def test_without_a_folder_of_settings_the_rest_of_the_user_is_there(user):
    prompt = assemble(user_of(user, "win32", APPDATA=None), Agent())
    assert "because APPDATA is not set" in next(each.message for each in prompt.findings if each.code == "home-missing")
    assert "Said in home/.agents" in prompt.text


@pytest.mark.parametrize("platform", USERS)
def test_settings_and_packs_of_the_user(tree, platform):
    config = CONFIG[platform].lstrip("/")
    tree({
        f"{config}/foreword/foreword.toml": 'layout = "$user/mine"\n',
        f"{config}/foreword/prompts/mine.toml": 'sections = ["body"]\n[section.body]\ntext = "Mine, on {platform}."\n',
    })  # fmt: skip
    assert Assembler(user_of(tree, platform)).prompt().text == f"Mine, on {platform}."


@pytest.mark.parametrize("platform", USERS)
def test_a_section_may_be_for_one_platform(tree, platform):
    tree(
        {
            "one.toml": 'sections = ["a", "b"]\n[section.a]\ntext = "Windows."\nwhen = ["platform:win32"]\n[section.b]\ntext = "All."\n'
        }
    )
    text = assemble(user_of(tree, platform), layout=tree.path("one.toml")).text
    assert text == ("Windows.\n\nAll." if platform == "win32" else "All.")


@pytest.mark.parametrize("platform", USERS)
def test_the_prompt_names_the_platform(tree, platform):
    assert f"\nPlatform: {platform}\n" in assemble(user_of(tree, platform)).text


def test_a_home_that_the_caller_names_is_the_home(tree):
    for platform in USERS:
        assert resolve_workspace(replace(user_of(tree, platform), home=tree.path("w")), Reader()).home == tree.path("w")
