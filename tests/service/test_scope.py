"""The default scope of an agent: its repository, limited to the served folders."""

import os
import shutil
import time
from contextlib import closing

import pytest

from foreword.service.bodies import AgentBody
from foreword.service.service import Service
from foreword.vocabulary import Access, Scope


@pytest.fixture
def served_folder(tmp_path):
    """A served folder inside one that is not."""
    folder = tmp_path / "around" / "served"
    (folder / "inner").mkdir(parents=True)
    return folder


@pytest.fixture
def scope_of(served_folder):
    service = Service(":memory:", [str(served_folder)])
    with closing(service.conversations):

        def scope_of(cwd):
            workspace = service.workspace(cwd)
            return service.agents.create(AgentBody(cwd=cwd), workspace).scope

        yield scope_of


def wait_until_changes_are_noticed():
    """Wait until file times are old enough for the next change to be noticed."""
    time.sleep(0.1)


def test_a_repository_around_the_served_folder_is_noticed(served_folder, scope_of):
    surrounding, only_served = served_folder.parent / ".git", Scope([Access(str(served_folder), "write")])
    for is_stable in (False, True):
        assert scope_of("inner") is scope_of("inner") is None
        if is_stable:
            wait_until_changes_are_noticed()
        surrounding.mkdir()
        assert scope_of("inner") == scope_of("inner") == only_served
        if is_stable:
            wait_until_changes_are_noticed()
        surrounding.rmdir()


def test_a_repository_inside_the_served_folder_is_noticed(served_folder, scope_of):
    (served_folder.parent / ".git").mkdir()
    wait_until_changes_are_noticed()
    assert scope_of("inner") == scope_of("inner") == Scope([Access(str(served_folder), "write")])
    (served_folder / "inner" / ".git").mkdir()
    assert scope_of("inner") is None
    shutil.rmtree(served_folder / "inner" / ".git")
    assert scope_of("inner") is not None


def test_a_folder_that_becomes_a_link_is_checked_again(served_folder, scope_of, tmp_path):
    (served_folder.parent / ".git").mkdir()
    other = served_folder / "other"
    (other / ".git").mkdir(parents=True)
    wait_until_changes_are_noticed()
    assert scope_of("inner") == scope_of("inner") == Scope([Access(str(served_folder), "write")])
    os.rename(served_folder / "inner", served_folder / "old")
    os.symlink(other, served_folder / "inner")
    assert scope_of("inner") is None
