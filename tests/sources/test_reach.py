"""How far a file that was found earlier may lead, which depends on the pattern that finds files at its path."""

import pytest

from foreword import Workspace
from foreword.layout.model import Lookup, Pattern
from foreword.sources.links import Reach, reach_by_path
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


def test_the_link_that_is_named_is_below_the_folder(tmp_path):
    """A path without such a link is named itself, wherever it is."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "api").symlink_to("../elsewhere")
    reach = Reach(str(tmp_path / "w"), str(tmp_path / "w"))
    assert reach.link(Places(), f"{tmp_path}/w/api/AGENTS.md") == f"{tmp_path}/w/api"
    for outside in (Reach(f"{tmp_path}/w/api", f"{tmp_path}/w"), Reach("/")):
        assert outside.link(Places(), f"{tmp_path}/w/AGENTS.md") == f"{tmp_path}/w/AGENTS.md"
