"""How far a file that was found earlier may lead, which depends on the pattern that finds files at its path."""

import os
from pathlib import Path

import pytest

from foreword import Workspace
from foreword.layout.model import Lookup, Pattern
from foreword.sources.finder import bound_of
from foreword.sources.links import (
    Reach,
    inside_for,
    is_in_system_folder,
    reach_by_path,
    reach_of,
    workspace_reach,
)
from foreword.sources.places import Places

WORKSPACE = Workspace("/w/api", home="/home/ada", environment={}, platform="linux")


@pytest.mark.parametrize(
    ("pattern", "path", "folder", "bound"),
    [
        # The user's own folders may lead anywhere.
        (Pattern("home", ".agents/skills/*/SKILL.md"), "/home/ada/.agents/skills/a/SKILL.md", "/home/ada", None),
        (Pattern("path", "~/skills/*/SKILL.md"), "/home/ada/skills/a/SKILL.md", "/home/ada/skills", None),
        (Pattern("system", "etc/skills/*/SKILL.md"), "/etc/skills/a/SKILL.md", "/", None),
        # Files of the project stay in it, even if another pattern searches the home directory.
        (Pattern("path", "~/skills/*/SKILL.md"), "/w/api/skills/a/SKILL.md", "/w/api", "/w/api"),
        (Pattern("path", "skills/*/SKILL.md"), "/w/api/skills/a/SKILL.md", "/w/api", "/w/api"),
        (Pattern("walk", ".agents/skills/*/SKILL.md"), "/w/api/.agents/skills/a/SKILL.md", "/w/api", "/w/api"),
    ],
)
def test_the_pattern_decides_how_far_a_file_may_lead(pattern, path, folder, bound):
    reach = reach_by_path(path, [Lookup("skills", [[pattern]])], WORKSPACE)
    assert (reach.folder, reach.bound) == (folder, bound)


@pytest.mark.parametrize(
    ("cwd", "root", "path", "folder", "bound"),
    [
        ("/w/api", "/w", "/w/api/AGENTS.md", "/w/api", "/w"),
        ("/w/api", "/w", "/w/web/AGENTS.md", "/w", "/w"),
        ("/w/api", "/w", "/far/AGENTS.md", "/", None),
        ("/x/api", "/w", "/w/web/AGENTS.md", "/w", "/w"),
        ("/x/api", "/w", "/x/api/AGENTS.md", "/x/api", "/w"),
        ("/x/api", "/w", "/x/AGENTS.md", "/", None),
        ("/w/api", None, "/w/AGENTS.md", "/w", "/w"),
    ],
)
def test_a_file_of_the_project_may_lead_as_far_as_in_the_nearest_directory(cwd, root, path, folder, bound):
    workspace = Workspace(cwd, root, "/home/ada", "linux", {})
    reach = reach_by_path(path, [Lookup("x", [[Pattern("walk", "AGENTS.md")]])], workspace)
    assert (reach.folder, reach.bound) == (folder, bound)


def test_a_pattern_of_the_user_does_not_decide_about_files_of_a_project_below_the_home_directory():
    workspace = Workspace("/home/ada/w", home="/home/ada", environment={}, platform="linux")
    lookup = Lookup("skills", [[Pattern("home", ".agents/skills/*/SKILL.md"), Pattern("path", "~/more/*/SKILL.md")]])
    reach = reach_by_path("/home/ada/w/.agents/skills/a/SKILL.md", [lookup], workspace)
    assert (reach.folder, reach.bound) == ("/home/ada/w", "/home/ada/w")


def test_a_file_outside_its_folder_is_refused_before_it_is_opened(tmp_path):
    folder = str(tmp_path / "served")
    reach = Reach(folder, inside=[folder])
    assert reach.refusal(Places(), f"{folder}/a.md") is None
    refused = reach.refusal(Places(), str(tmp_path / "other" / "a.md"))
    assert refused == ("refused", "it is outside the folders that are served", "link-refused")


SECRET = "it is a link to a file whose name suggests that it contains secrets"
SYSTEM = "it is a link into /proc, /sys or /dev"
ABOVE = "it is a link to a folder above itself"
LEAVES = "it is a link that leaves {top}/w and was not followed"
HINT = 'links = "follow" in your own settings, or --set links=follow, allows it'


@pytest.fixture
def linked(tree):
    """A workspace with links of all kinds, beside a folder with other files."""
    tree({"w/docs/a.md": "A", "w/.env": "X", "far/a.md": "B", "far/.ssh/key": "X", "far/prod.env": "X"})
    links = {
        "inner.md": "docs/a.md", "docs/up.md": "../docs/a.md", "inner": "docs", "secret.md": ".env", "outer.md": "../far/a.md",
        "outer": "../far", "outer-secret.md": "../far/prod.env", "ssh": "../far/.ssh", "around": "..", "self": ".", "proc": "/proc/self",
        "null.md": "/dev/null", "gone.md": "docs/gone.md", "gone-far.md": "../far/gone.md",
    }  # fmt: skip
    tree({f"w/{name}": Path(target) for name, target in links.items()})
    return os.path.realpath(tree.top)


@pytest.mark.parametrize(
    ("path", "reason", "followed"),
    [
        ("docs/a.md", "", ""),
        ("inner.md", "", ""),
        ("docs/up.md", "", ""),
        ("inner/a.md", "", ""),
        ("gone.md", "", ""),
        ("secret.md", SECRET, SECRET),
        ("outer.md", LEAVES, ""),
        ("outer/a.md", LEAVES, ""),
        ("gone-far.md", LEAVES, ""),
        ("outer-secret.md", SECRET, SECRET),
        ("ssh/key", SECRET, SECRET),
        ("null.md", SYSTEM, SYSTEM),
        ("proc/environ", SYSTEM, SYSTEM),
        ("inner/", "", ""),
        ("outer/", LEAVES, ""),
        ("ssh/", SECRET, SECRET),
        ("around/", ABOVE, ABOVE),
        ("self/", ABOVE, ABOVE),
        ("proc/", SYSTEM, SYSTEM),
    ],
)
def test_how_far_a_link_may_lead(linked, path, reason, followed):
    """A path that ends with a slash is a folder."""
    root, is_folder = f"{linked}/w", path.endswith("/")
    path = f"{root}/{path.rstrip('/')}"
    real = os.path.realpath(path)

    def refused(**options):
        return Reach(root, root, **options).refusal(Places(), path, real, is_folder)

    def refusal(text, hint=""):
        return ("refused", text.format(top=linked) + hint, "link-refused") if text else None

    assert refused() == refusal(reason, f"; {HINT}" if reason == LEAVES else "")
    assert refused(can_be_allowed=False) == refusal(reason)
    assert refused(follow=True) == refusal(followed)
    # What the workspace itself asks for may never leave it, and what is served must be in a served folder.
    inside = real.startswith(root + "/") or real == root
    untrusted = ("untrusted", "it is outside the workspace that asked for it", "workspace-refused")
    assert refused(confined=True, follow=True) == (refusal(reason) if inside else untrusted)
    unserved = ("refused", "it is outside the folders that are served", "link-refused")
    assert refused(inside=[root], follow=True) == (refusal(reason) if inside else unserved)
    assert refused(inside=["/elsewhere", "/"], follow=True) == refusal(followed)


@pytest.mark.parametrize(
    ("path", "reason"),
    [("docs/a.md", ""), ("inner.md", ""), ("outer.md", ""), ("secret.md", SECRET), ("outer-secret.md", SECRET), ("null.md", SYSTEM), ("around/", ABOVE)],
)  # fmt: skip
def test_links_in_the_users_own_folders_may_lead_anywhere_but_to_secrets(linked, path, reason):
    is_folder = path.endswith("/")
    path = f"{linked}/w/{path.rstrip('/')}"
    refusal = Reach(f"{linked}/w").refusal(Places(), path, os.path.realpath(path), is_folder)
    assert refusal == (("refused", reason, "link-refused") if reason else None)


@pytest.mark.parametrize(
    ("path", "is_folder", "is_refused"),
    [("docs/a.md", False, False), ("outer.md", False, False), ("inner/a.md", False, False), ("outer/a.md", False, True), ("outer", True, True), ("inner", True, False)],
)  # fmt: skip
def test_before_a_file_is_opened_only_links_to_folders_are_checked(linked, path, is_folder, is_refused):
    root = f"{linked}/w"
    assert bool(Reach(root, root).refusal(Places(), f"{root}/{path}", is_folder=is_folder)) is is_refused


@pytest.mark.parametrize(
    ("path", "leads_out"),
    [("docs/a.md", False), ("inner.md", False), ("outer.md", True), ("outer/a.md", True), ("../far/a.md", True)],
)
def test_a_link_may_lead_out_of_the_workspace(linked, path, leads_out):
    root = f"{linked}/w"
    path = os.path.normpath(f"{root}/{path}")
    assert Reach(root, root).leads_out(Places(), path) is leads_out
    assert not Reach(root).leads_out(Places(), path)


@pytest.mark.parametrize(
    ("path", "link"), [("outer.md", "outer.md"), ("outer/.ssh/key", "outer"), ("inner/a.md", "inner/a.md")]
)
def test_the_first_link_that_is_refused_is_named(linked, path, link):
    root = f"{linked}/w"
    assert Reach(root, root).link(Places(), f"{root}/{path}") == f"{root}/{link}"


@pytest.mark.parametrize(
    ("path", "workspace", "expected"),
    [("/proc/1/environ", "/w", True), ("/dev/shm/w/a", "/w", True), ("/sys", "/w", True), ("/process", "/w", False), ("/dev/shm/w/a", "/dev/shm/w", False)],
)  # fmt: skip
def test_the_folders_of_the_system_are_not_for_prompts_unless_the_workspace_is_there(path, workspace, expected):
    assert is_in_system_folder(path, workspace) is expected


@pytest.mark.parametrize(
    ("pattern", "base", "links", "folder", "bound", "follow", "confined"),
    [
        (Pattern("walk", "A.md"), "/home/ada/w/api", "inside", "/home/ada/w/api", "/home/ada/w", False, False),
        (Pattern("walk", "A.md"), "/home/ada/w/api", "follow", "/home/ada/w/api", "/home/ada/w", True, False),
        (Pattern("walk", "A.md", confined=True), "/home/ada/w", "follow", "/home/ada/w", "/home/ada/w", False, True),
        (Pattern("walk", "A.md"), "/home/ada", "inside", "/home/ada", None, False, False),
        (Pattern("walk", "A.md"), "/", "inside", "/", None, False, False),
        (Pattern("above", "A.md"), "/home/ada", "inside", "/home/ada", None, False, False),
        (Pattern("walk", "A.md"), "/srv", "inside", "/srv", "/srv", False, False),
        (Pattern("walk", "A.md"), "/srv", "follow", "/srv", "/srv", True, False),
        (Pattern("home", "A.md"), "/home/ada", "inside", "/home/ada", None, False, False),
        (Pattern("env", "A.md", variable="V"), "/home/ada/w/x", "inside", "/home/ada/w/x", "/home/ada/w", False, False),
        (Pattern("env", "A.md", variable="V"), "/opt", "follow", "/opt", None, False, False),
        (Pattern("path", "docs/*.md"), "/home/ada/w/api", "inside", "/home/ada/w", "/home/ada/w", False, False),
        (Pattern("path", "/home/ada/w/x/*.md"), "/home/ada/w/api", "follow", "/home/ada/w", "/home/ada/w", True, False),
        (Pattern("path", "/opt/x/*.md"), "/home/ada/w/api", "inside", "/opt/x", None, False, False),
        (Pattern("path", "../../x/*.md"), "/home/ada/w/api", "inside", "/home/ada/x", None, False, False),
        (Pattern("path", "~/x/*.md"), "/home/ada", "inside", "/home/ada/x", None, False, False),
        (Pattern("system", "etc/*.md"), "/", "inside", "/", None, False, False),
    ],
)
def test_the_pattern_and_its_directory_decide_how_far_a_file_may_lead(pattern, base, links, folder, bound, follow, confined):  # fmt: skip
    workspace = Workspace("/home/ada/w/api", "/home/ada/w", "/home/ada", "linux", {})
    reach = reach_of(pattern, base, Lookup("x", [[pattern]], links=links), workspace)
    assert reach == Reach(folder, bound, (), follow, confined)


@pytest.mark.parametrize(
    ("folder", "served"),
    [("/srv/a/w", ["/srv/a", "/srv/b"]), ("/srv/a", ["/srv/a", "/srv/b"]), ("/srv", []), ("/", [])],
)
def test_files_must_be_in_a_served_folder_unless_they_are_above_all(folder, served):
    workspace = Workspace("/srv/a/w", "/srv/a/w", "/home/ada", "linux", {}, inside=("/srv/a", "/srv/b"))
    assert list(inside_for(folder, workspace)) == served
    assert workspace_reach("/srv/a/w/x", workspace) == Reach(
        "/srv/a/w/x", "/srv/a/w", ("/srv/a", "/srv/b"), can_be_allowed=False
    )


def test_the_link_that_is_named_is_below_the_folder(tmp_path):
    """A path without such a link is named itself, wherever it is."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "api").symlink_to("../elsewhere")
    reach = Reach(str(tmp_path / "w"), str(tmp_path / "w"))
    assert reach.link(Places(), f"{tmp_path}/w/api/AGENTS.md") == f"{tmp_path}/w/api"
    for outside in (Reach(f"{tmp_path}/w/api", f"{tmp_path}/w"), Reach("/")):
        assert outside.link(Places(), f"{tmp_path}/w/AGENTS.md") == f"{tmp_path}/w/AGENTS.md"


@pytest.mark.parametrize(
    ("path", "pattern", "folder", "is_users_own"),
    [
        # The includes of the project's files must be in the workspace, also if a caller's pattern finds them.
        ("/home/ada/w/api/A.md", Pattern("walk", "A.md"), "/home/ada/w", False),
        ("/home/ada/w/api/A.md", Pattern("cwd", "A.md"), "/home/ada/w", False),
        ("/home/ada/w/docs/a.md", Pattern("path", "docs/*.md"), "/home/ada/w", False),
        # Those of other files must be in the folder that their pattern names.
        ("/opt/rules/a.md", Pattern("path", "/opt/rules/a.md"), "/opt/rules", True),
        ("/home/ada/rules/a.md", Pattern("path", "~/rules/a.md"), "/home/ada/rules", True),
        ("/home/ada/.config/x/A.md", Pattern("config", "x/A.md"), "/home/ada/.config/x", True),
        ("/home/ada/.agents/A.md", Pattern("home", ".agents/A.md"), "/home/ada/.agents", True),
        ("/etc/rules/a.md", Pattern("system", "etc/rules/a.md"), "/etc/rules", True),
        ("/far/a.md", Pattern("home", ".agents/A.md"), "/far", True),
    ],
)
def test_how_far_the_includes_of_a_file_may_lead(path, pattern, folder, is_users_own):
    workspace = Workspace("/home/ada/w/api", "/home/ada/w", "/home/ada", "linux", {})
    bound = bound_of(path, pattern, Lookup("x", [[Pattern("walk", "A.md"), pattern]]), workspace)
    assert (bound.folder, bound.is_users_own) == (folder, is_users_own)
