"""On random small repositories: the plan is confirmed, minimal, and loses nothing that a person wrote."""

import tempfile
from itertools import product
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from foreword.programs.align.proposals import propose
from foreword.programs.align.reading import Mirrors
from foreword.programs.align.search import _scorer, groups, smallest

AGENTS = ("claude", "codex", "copilot", "gemini")
LINES = ("One.", "Two.", "Three.", "@AGENTS.md")
TEXT = st.lists(st.sampled_from(LINES), max_size=3).map(lambda lines: "".join(f"{line}\n" for line in lines))
FILES = st.dictionaries(
    st.sampled_from(["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".claude/CLAUDE.md", "a/AGENTS.md", "a/CLAUDE.md"]),
    TEXT,
    max_size=4,
)
# Rules, skills and settings, each with one text.
OTHERS = {
    ".agents/rules/ts.md": '---\npaths: ["*.ts"]\n---\nUse tabs.\n',
    ".agents/rules/all.md": "Be brief.\n",
    ".agents/skills/release/SKILL.md": "---\nname: release\ndescription: How to release.\n---\nTag it.\n",
    ".agents/skills/release/tag.sh": "git tag\n",
    ".gemini/settings.json": '{\n  "ui": {}\n}\n',
    ".rulesync/rules/overview.md": "---\nroot: true\n---\nUse pnpm.\n",
    ".claude/rules/own.md": "Mine.\n",
}
EXAMPLES = settings(
    phases=(Phase.explicit, Phase.generate),
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


@EXAMPLES
@given(FILES, st.sets(st.sampled_from(AGENTS), min_size=1))
def test_a_plan_is_confirmed_and_loses_nothing(planner, files, agents):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        alignment = planner(root, files, sorted(agents)).plan()
        changed = {**files, **{change.path: change.text for change in alignment.changes}}
        again = planner(root, changed, sorted(agents)).plan()
    assert all(is_subsequence(text.splitlines(), changed[path].splitlines()) for path, text in files.items())
    assert again.before == alignment.after
    assert again.changes == ()


def is_subsequence(lines, others):
    remaining = iter(others)
    return all(line in remaining for line in lines)


@EXAMPLES
@given(
    FILES, st.sets(st.sampled_from(sorted(OTHERS))), st.sets(st.sampled_from((*AGENTS, "cursor", "qwen")), min_size=1)
)
def test_a_second_run_changes_nothing(planner, files, others, agents):
    """With rules, skills, settings and another program's folder too. No line that a person wrote is lost."""
    files = {**files, **{path: OTHERS[path] for path in others}}
    origin = ".rulesync" if ".rulesync/rules/overview.md" in others else ""
    with tempfile.TemporaryDirectory() as folder:
        first, second = (Path(folder).resolve() / name for name in ("first", "second"))
        first.mkdir(), second.mkdir()
        alignment = planner(first, files, sorted(agents), origin=origin).plan()
        changed = {**files, **{change.path: change.text for change in alignment.changes}}
        again = planner(
            second, {path: text for path, text in changed.items() if text is not None}, sorted(agents)
        ).plan()
    lines = {line for text in changed.values() for line in (text or "").splitlines()}
    assert {line for text in files.values() for line in text.splitlines()} <= lines | {"@AGENTS.md"}
    assert again.changes == ()


@EXAMPLES
@given(FILES, st.sets(st.sampled_from(AGENTS), min_size=2))
def test_no_smaller_set_of_changes_is_better(planner, files, agents):
    """The set that is found folder by folder is as good as the best of all sets, which are tried one by one."""
    with tempfile.TemporaryDirectory() as folder:
        made = planner(Path(folder).resolve(), files, sorted(agents))
        names = [agent.name for agent in made.agents]
        proposals = propose(made.agents, made.sources, made.files.text, made._is_blocked, made._listed_names())

        def concerns(name, row):
            return made.mirrors.concerns(name, row.path)

        before = {name: made._read(name, ()) for name in names}
        found = smallest(names, proposals, made._read, concerns, limit=0)
        exact = smallest(names, proposals, made._read, concerns, limit=99)
        for group in groups(names, proposals, concerns):
            score = _scorer(group, made._read, before)
            best = min(map(score, all_sets(group.proposals)), key=lambda row: row[:3])
            for chosen in (found, exact):
                own = [row for row in chosen if row in group.proposals]
                assert score(own)[:3] == best[:3]


@EXAMPLES
@given(FILES, st.sets(st.sampled_from(AGENTS), min_size=1), st.randoms(use_true_random=False))
def test_a_remembered_answer_is_the_one_that_a_new_reader_gives(planner, files, agents, random):
    """Answers are remembered with the paths that they depend on, whatever was asked before."""
    with tempfile.TemporaryDirectory() as folder:
        made = planner(Path(folder).resolve(), files, sorted(agents))
        proposals = propose(made.agents, made.sources, made.files.text, made._is_blocked, made._listed_names())
        sets = [random.sample(proposals, random.randint(0, len(proposals))) for _ in range(4)]
        for chosen in sets:
            changes = {row.path: row.content for row in chosen}
            copies = {row.path: row.sources[0] for row in chosen if row.means == "copy"}
            for name in made.layouts:
                fresh = Mirrors(made.files, made.layouts, made.sources, made.copies)
                assert made.mirrors.read(name, changes, copies) == fresh.read(name, changes, copies)


def all_sets(proposals):
    """Every set with at most one proposal for each path."""
    paths = {row.path: [None] for row in proposals}
    for row in proposals:
        paths[row.path].append(row)
    for choice in product(*paths.values()):
        yield [row for row in choice if row]
