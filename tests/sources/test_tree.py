"""Folders are listed only inside the served ones, even if a link has just replaced a folder."""

import os
from errno import EPERM

import pytest

from foreword.sources.tree import Listings


@pytest.fixture
def served(tmp_path):
    (tmp_path / "other" / "secret").mkdir(parents=True)
    (tmp_path / "served" / "part").mkdir(parents=True)
    (tmp_path / "served" / "in").symlink_to("part")
    (tmp_path / "served" / "out").symlink_to("../other")
    return tmp_path / "served"


@pytest.mark.parametrize(("folder", "names"), [("", ["in", "out", "part"]), ("in", []), ("../other", ["secret"])])
def test_folders_are_listed(served, folder, names):
    path = os.path.normpath(served / folder)
    assert sorted(Listings([str(served)]).entries(path)) == names


@pytest.mark.parametrize("folder", ["out", "out/secret"])
def test_a_link_out_of_the_served_folders_is_not_followed(served, folder):
    with pytest.raises(PermissionError, match="it is outside the folders that are served") as caught:
        Listings([str(served)]).entries(str(served / folder))
    assert caught.value.errno == EPERM
    assert sorted(Listings().entries(str(served / "out"))) == ["secret"]
