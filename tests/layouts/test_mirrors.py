"""Layouts that mirror released programs: their names, what only they may do, and that no conversation uses one by accident."""

import importlib
import os
import tomllib
from pathlib import Path

import pytest

import foreword
from foreword import CallError, Conversations
from foreword.cli import main
from foreword.errors import LayoutError
from foreword.layout.parse import parse
from foreword.packs.agents import NAMES
from foreword.packs.packs import mirror_names, shipped_layout
from foreword.packs.std import NAMES as STANDARD_NAMES

FOLDER = Path(foreword.__file__).parent / "packs" / "agents"

MIRROR = """
about = "Mine."
mirrors = "Program 1.0"
copies = "keep"
sections = ["files"]
[find.files]
walk = "git"
files = ["walk:AGENTS.md", "walk:CLAUDE.md"]
[section.files]
list = "files"
"""


# Shipped mirrors


def test_mirrors_have_their_own_names():
    assert mirror_names() == NAMES == tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
    assert not set(NAMES) & set(STANDARD_NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_mirror_is_compiled_and_complete(name):
    mapping = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    module = importlib.import_module(f"foreword.packs.agents.{name.replace('-', '_')}")
    assert module.mapping() == mapping == shipped_layout(name) == shipped_layout(name, "agents")
    assert parse(mapping, name, f"$agents/{name}") == module.LAYOUT
    program, _, version = module.LAYOUT.mirrors.rpartition(" ")
    assert (program and version[0].isdigit()) or "documentation" in " ".join(module.LAYOUT.differs)
    assert module.LAYOUT.detected_by and all(sentence.endswith(".") for sentence in module.LAYOUT.differs)


@pytest.mark.parametrize("name", NAMES)
def test_a_mirror_is_short(name):
    """At most 67 lines for the prompt, and 15 for touches."""
    lines = [line for line in (FOLDER / f"{name}.toml").read_text().splitlines() if line]
    about_touches = [line for line in lines if line.startswith(("touch", "# On a touch"))]
    assert len(lines) - len(about_touches) <= 67 and len(about_touches) <= 15


@pytest.mark.parametrize("reference", ["codex", "$agents/codex"])
def test_a_mirror_has_a_name_without_a_prefix_and_an_address(tree, reference):
    tree({"w/.git": None, "w/AGENTS.md": "Speak plainly."})
    prompt = tree.prompt(reference)
    assert prompt.layout == "codex" and "Speak plainly." in prompt.text


def test_a_mirror_can_be_extended_and_its_keys_set(tree):
    tree({"w/.git": None, "w/AGENTS.md": "A.", "own.toml": 'extends = "$agents/codex"\nabout = "Mine."\n'})
    assert "A." in tree.prompt(tree.path("own.toml")).text
    assert tree.prompt("codex", set={"sections": ["instructions"]}).passages[0].section != "base"


@pytest.mark.parametrize("reference", ["$std/codex", "$agents/opal"])
def test_a_layout_is_not_found_in_another_pack(tree, reference):
    with pytest.raises(CallError, match="unknown layout"):
        tree.prompt(reference)


# Keys that only mirrors may use


@pytest.mark.parametrize("mirrors", ["", " "])
def test_only_a_mirror_may_keep_copies(mirrors):
    mapping = tomllib.loads(MIRROR)
    assert parse(mapping, "mine").mirrors == "Program 1.0"
    with pytest.raises(LayoutError, match="copies: 'keep' is only for a layout that mirrors a program"):
        parse({**mapping, "mirrors": mirrors}, "mine")


@pytest.mark.parametrize("path", ["", "/etc/x", "../x", "a/../b", ".", "./", "~/x", ".cline*", "a.{md,txt}"])
def test_detected_by_must_be_below_the_root(path):
    with pytest.raises(LayoutError, match=r"is not a file or folder below the root|has a wildcard"):
        parse({**tomllib.loads(MIRROR), "detected_by": [path]}, "mine")


@pytest.mark.parametrize(
    ("copies", "text", "used"),
    [
        ("keep", "One.\n\nOne.\n\nOne.", ["/w/AGENTS.md", "/w/CLAUDE.md", "/w/sub/AGENTS.md"]),
        ("texts", "One.\n\nOne.", ["/w/AGENTS.md", "/w/sub/AGENTS.md"]),
        ("drop", "One.", ["/w/sub/AGENTS.md"]),
    ],
)
def test_copies_are_kept_or_dropped_and_reported(tree, copies, text, used):
    tree({"w/.git": None, "w/AGENTS.md": "One.", "w/CLAUDE.md": Path("AGENTS.md"), "w/sub/AGENTS.md": "One."})
    tree({"own.toml": MIRROR.replace('copies = "keep"', f'copies = "{copies}"')})
    prompt = tree.prompt(tree.path("own.toml"), "w/sub")
    assert prompt.text.strip() == text
    assert sorted(path for path, fate in tree.fates(prompt) if fate == "used") == used
    assert [code for code, _ in tree.findings(prompt)] == ["file-duplicate"] * 2


def test_a_file_that_only_points_to_another_is_kept_with_copies(tree):
    tree({"w/.git": None, "w/AGENTS.md": "One.", "w/CLAUDE.md": "@AGENTS.md\n", "own.toml": MIRROR})
    assert tree.prompt(tree.path("own.toml")).text.strip() == "One.\n\n@AGENTS.md"


def test_the_finding_about_a_refused_link_names_the_program(tree):
    tree({"w/.git": None, "secret.md": "secret", "w/AGENTS.md": Path("../secret.md"), "own.toml": MIRROR})
    prompt = tree.prompt(tree.path("own.toml"))
    assert "secret" not in prompt.text
    (message,) = [text for code, text in tree.messages(prompt) if code == "link-refused"]
    assert message.endswith("; Program 1.0 would read it")


# Workspaces and conversations


def test_a_workspace_cannot_choose_a_mirror(tree):
    tree({"w/.git": None, "w/.foreword/foreword.toml": 'layout = "codex"\n'})
    prompt = tree.prompt("")
    assert prompt.layout == "foreword" and "may not choose a layout that mirrors a program" in str(
        tree.messages(prompt)
    )


def test_a_workspace_cannot_turn_its_layout_into_a_mirror(tree):
    tree({"w/.git": None, "w/.foreword/prompts/own.toml": MIRROR.replace('copies = "keep"', "")})
    prompt = tree.prompt("$workspace/own")
    assert ("workspace-refused", "layout own: a workspace may not set mirrors; it stays ''") in tree.messages(prompt)


@pytest.mark.parametrize("reference", ["codex", "$agents/codex"])
def test_opening_a_conversation_with_a_mirror_is_refused(tree, reference):
    with Conversations() as conversations:
        with pytest.raises(CallError, match=r"mirrors a released program.*mirror=True"):
            conversations.open("c", tree.workspace(), layout=reference)
        with pytest.raises(CallError, match="mirror"):
            conversations.open("c", tree.workspace(), layout=reference, mirror="yes")


def test_a_conversation_with_a_users_mirror_is_refused_at_its_first_turn(tree):
    tree({"own.toml": MIRROR, "w/AGENTS.md": "One."})
    with Conversations() as conversations:
        with pytest.raises(CallError, match="mirrors a released program"):
            conversations.open("c", tree.workspace(), layout=tree.path("own.toml")).turn("hello")
        turn = conversations.open("c", tree.workspace(), layout=tree.path("own.toml"), mirror=True).turn("hello")
        assert "One." in turn.system


def test_a_mirror_needs_an_option_on_the_command_line(tree, capsys):
    command = [
        "conversation",
        "turn",
        "c",
        tree.path("w"),
        "--layout",
        "codex",
        "--store",
        "sqlite:///" + tree.path("db"),
    ]
    assert main([*command, "--home", tree.path("home")]) == 2
    assert "--mirror" in capsys.readouterr().err
    assert main([*command, "--home", tree.path("home"), "--mirror"]) == 0


def test_a_known_conversation_continues_with_its_mirror_only_if_the_caller_asks(tree):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    with Conversations() as conversations:
        conversations.open("c", tree.workspace(), layout="codex", mirror=True).turn("hello")
        with pytest.raises(CallError, match="mirrors a released program"):
            conversations.open("c", tree.workspace()).turn("more")
        conversations.open("c", tree.workspace(), mirror=True).turn("more")
        assert conversations.current("c")[0].layout == "$agents/codex"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("links = 'follow'\nsettings.names = ['X.md']\nunheard_of = 1\n", ["Linked.", "Ours."]),
        ("[for.own]\nfind.files.files = ['walk:CLAUDE.md']\n", ["Ours."]),
    ],
)
def test_a_mirror_takes_only_links_and_its_own_keys_from_the_settings(tree, settings, expected):
    tree({"own.toml": MIRROR, "w/.git": None, "w/CLAUDE.md": "Ours.", "out/x.md": "Linked."})
    tree({"home/.config/foreword/foreword.toml": settings})
    os.symlink(tree.path("out/x.md"), tree.path("w/AGENTS.md"))
    assert tree.prompt(tree.path("own.toml"), "w").text.split("\n\n") == expected
