"""Fixtures that plan the alignment of a small repository, without git."""

import pytest

from foreword.packs.shipped import shipped_mirror
from foreword.programs.align.plan import Planner
from foreword.sources.overlay import SharedFiles


def _planner(root, files, agents, **options):
    """Write files below a folder, and return the planner of their alignment."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode(errors="surrogateescape"))
    names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() or path.is_symlink()]
    links = [name for name in names if (root / name).is_symlink()]
    return Planner(SharedFiles(str(root), names, links), {name: shipped_mirror(name) for name in agents}, **options)


@pytest.fixture(scope="session")
def planner():
    return _planner


@pytest.fixture
def plan(tmp_path):
    """`plan({"AGENTS.md": "…"}, "claude")` returns the alignment of a repository with these files for these agents."""

    def plan(files, *agents):
        return _planner(tmp_path, files, agents).plan()

    return plan
