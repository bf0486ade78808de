"""Which files of a repository belong to its project, and what is reported about the others."""

import pytest

from foreword import Assembler
from foreword.programs.proofread import proofread

TOKEN = "ghp_" + "q7Rz2mK9vXc4Lw8TnB5yHd3GfJ6sPa1Ue0Wk"
MATERIAL = (
    "vendor/lib third_party/lib external/lib sources/upstream backup web.bak config/backup-2026-11 docs/archive .archive templates/app"
    " web-templates examples/shop samples tests/fixtures/a tests/dummy_data testdata docs/de i18n/zh-CN dist"
).split()
OWN = "web packages/template-engine archive-service samples-api src/backups-ui docs test vendors-portal".split()


def codes(tree, folder, cwd="w", text=f"Use {TOKEN}.\n\nSee [this](gone.md), and run `make gone`.\n"):
    files = {"w/.git/HEAD": "", "w/CLAUDE.md": "Be brief.\n", "w/Makefile": "all:\n", f"w/{folder}/CLAUDE.md": text}
    tree(files)
    findings = proofread(Assembler(tree.workspace(cwd)), is_recursive=True).findings
    return [finding.code for finding in findings]


@pytest.mark.parametrize("folder", MATERIAL)
def test_only_what_is_unsafe_is_reported_about_material(tree, folder):
    assert codes(tree, folder) == (["secret"] if not folder.startswith(".") else [])


@pytest.mark.parametrize("folder", OWN)
def test_a_folder_with_a_similar_name_is_a_part_of_the_project(tree, folder):
    assert sorted(codes(tree, folder)) == ["missing-file", "missing-target", "secret"]


def test_someone_who_checks_a_folder_of_material_works_in_it(tree):
    assert sorted(codes(tree, "examples/shop", "w/examples/shop")) == ["missing-file", "missing-target", "secret"]


def test_material_does_not_show_that_an_agent_is_used(tree):
    agents = {"w/AGENTS.md": "Run tests.\n", "w/CLAUDE.md": "", "w/backup/.cursor/rules/a.md": "Be brief.\n"}
    tree({"w/.git/HEAD": "", **agents})
    assert [f.code for f in proofread(Assembler(tree.workspace("w")), is_recursive=True).findings] == ["blank-file"]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (".claude/rules/a.md", "Run `npm run gone`.\n", []),
        (".claude/rules/a.md", "Run `npm run build`, then `npm run gone`.\n", ["missing-script"]),
        ("CLAUDE.md", "Run `npm run gone`.\n", ["missing-script"]),
    ],
)
def test_a_rule_that_runs_nothing_of_the_project_may_have_been_installed(tree, path, text, expected):
    tree({"w/.git/HEAD": "", "w/package.json": '{"scripts": {"build": "x"}}', f"w/{path}": text})
    assert [found.code for found in proofread(Assembler(tree.workspace("w"))).findings] == expected


SKILL = "---\nname: {}\ndescription: Cuts a release.\n---\nBump the version.\n"
LOCK = {"w/skills-lock.json": '{"skills": {"Cut a Release": {}}}'}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"w/.agents/skills/cut/SKILL.md": SKILL.format("Cut a Release")}, ["skill-name"]),
        ({"w/.agents/skills/cut/SKILL.md": SKILL.format("Cut a Release"), **LOCK}, []),
        ({"w/.agents/skills/cut/SKILL.md": SKILL.format('"Cut a Release"'), **LOCK}, []),
        ({"w/.codex/skills/cut/SKILL.md": "# Cut\n"}, ["skill-invalid"]),
        ({"w/.codex/skills/cut/SKILL.md": "# Cut\n", "w/.agents/skills/cut/SKILL.md": SKILL.format("cut")}, []),
        (
            {"w/.agents/skills/cut/SKILL.md": "# Cut\n", "w/.codex/skills/cut/SKILL.md": SKILL.format("cut")},
            ["skill-invalid"],
        ),
    ],
)
def test_a_skill_that_is_installed_or_that_agents_find_elsewhere(tree, files, expected):
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Be brief.\n", **files})
    assert [f.code for f in proofread(Assembler(tree.workspace("w")), is_recursive=True).findings] == expected


@pytest.mark.parametrize(("cwd", "expected"), [("w", []), ("w/.x", ["cut-menu"])])
def test_the_skills_of_a_hidden_folder_belong_to_those_who_work_in_it(tree, cwd, expected):
    text = f"---\nname: {{}}\ndescription: {'d' * 900}\n---\nPay.\n"
    skills = {f"w/.x/.claude/skills/a{index}/SKILL.md": text.format(f"a{index}") for index in range(30)}
    tree({"w/.git/HEAD": "", "w/.x/CLAUDE.md": "Be brief.\n", **skills})
    findings = proofread(Assembler(tree.workspace(cwd)), is_recursive=True).findings
    assert [finding.code for finding in findings] == expected
