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
def served(tmp_path):
    """A served folder inside one that is not."""
    folder = tmp_path / "around" / "served"
    (folder / "inner").mkdir(parents=True)
    return folder


@pytest.fixture
def scope_of(served):
    service = Service(":memory:", [str(served)])
    with closing(service.conversations):

        def scope_of(cwd):
            workspace = service.workspace(cwd)
            return service.agent(AgentBody(cwd=cwd), workspace).scope

        yield scope_of


def wait_until_changes_are_noticed():
    """Wait until file times are old enough for the next change to be noticed."""
    time.sleep(0.1)


def test_a_repository_around_the_served_folder_is_noticed(served, scope_of):
    surrounding, only_served = served.parent / ".git", Scope([Access(str(served), "write")])
    for is_stable in (False, True):
        assert scope_of("inner") is scope_of("inner") is None
        if is_stable:
            wait_until_changes_are_noticed()
        surrounding.mkdir()
        assert scope_of("inner") == scope_of("inner") == only_served
        if is_stable:
            wait_until_changes_are_noticed()
        surrounding.rmdir()


def test_a_repository_inside_the_served_folder_is_noticed(served, scope_of):
    (served.parent / ".git").mkdir()
    wait_until_changes_are_noticed()
    assert scope_of("inner") == scope_of("inner") == Scope([Access(str(served), "write")])
    (served / "inner" / ".git").mkdir()
    assert scope_of("inner") is None
    shutil.rmtree(served / "inner" / ".git")
    assert scope_of("inner") is not None


def test_a_folder_that_becomes_a_link_is_checked_again(served, scope_of, tmp_path):
    (served.parent / ".git").mkdir()
    other = served / "other"
    (other / ".git").mkdir(parents=True)
    wait_until_changes_are_noticed()
    assert scope_of("inner") == scope_of("inner") == Scope([Access(str(served), "write")])
    os.rename(served / "inner", served / "old")
    os.symlink(other, served / "inner")
    assert scope_of("inner") is None
