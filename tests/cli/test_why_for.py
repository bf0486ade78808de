"""`foreword why DIR RULE --for FILE`: whether a rule applies to a file, and which glob decides."""

import pytest

RULE = ".claude/rules/web.md"


@pytest.fixture
def why(run, tree):
    """`why("web/a.ts")` returns the exit status and the explanation of the rule for that file."""
    front_matter = "---\npaths: ['web/**/*.ts', '!*.test.ts']\n---\n"
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", f"w/{RULE}": f"{front_matter}For the web.\n"})
    return lambda file: run("why", ".", RULE, "--for", file)[:2]


def test_a_rule_that_applies_names_the_glob_that_matches(why):
    status, out = why("web/x/a.ts")
    assert status == 0
    assert out.startswith("used") and "web/x/a.ts matches web/**/*.ts (paths)" in out


def test_a_rule_that_does_not_apply_names_the_glob_that_failed(why):
    out = why("api/a.py")[1]
    assert out.startswith("waiting")
    assert "api/a.py (in /w) does not match web/**/*.ts (paths); web/name.ts would match" in out


def test_a_rule_that_excludes_a_file_names_the_glob_that_excludes_it(why):
    assert "web/a.test.ts is excluded by !*.test.ts (paths)" in why("web/a.test.ts")[1]


def test_a_glob_that_almost_matches_has_a_hint(why):
    assert "**/web/**/*.ts would match it" in why("lib/web/a.ts")[1]
    assert "web/**/*.ts differs only in case" in why("Web/a.ts")[1]


def test_a_rule_that_always_applies_says_so(run, tree):
    tree({"w/.git": None, "w/.cursor/rules/always.mdc": "---\nglobs: web/**\nalwaysApply: true\n---\nAlways.\n"})
    tree({"w/.cursor/rules/asked.mdc": "---\ndescription: By hand.\nalwaysApply: false\n---\nNever.\n"})
    out = run("why", ".", ".cursor/rules/always.mdc", "--for", "api/a.py")[1]
    assert out.startswith("used") and "applies to every file: its front matter has alwaysApply: true" in out
    out = run("why", ".", ".cursor/rules/asked.mdc", "--for", "api/a.py")[1]
    assert out.startswith("waiting") and "has no paths or globs or applyTo or alwaysApply" in out


def test_a_skill_with_paths_is_explained_like_a_rule(run, tree):
    skill = ".claude/skills/web/SKILL.md"
    tree({"w/.git": None, f"w/{skill}": "---\nname: web\ndescription: About.\npaths: web/**\n---\n"})
    assert "web/a.ts matches web/** (paths)" in run("why", ".", skill, "--for", "web/a.ts")[1]
    assert "a.ts (in /w) does not match web/** (paths)" in run("why", ".", skill, "--for", "a.ts")[1]


def test_for_needs_a_rule_and_a_file_in_the_workspace(run, why):
    status, _, error = run("why", ".", "--for", "a.py")
    assert status == 2 and "name the path of the rule too" in error
    status, _, error = run("why", ".", RULE, "--for", "/etc/passwd")
    assert status == 2 and "/etc/passwd" in error


def test_a_rule_that_another_lookup_rule_adds_to_the_prompt_is_always_there(run, tree):
    layout = """
sections = ["rules"]
[find]
rules = { files = ["root:.own/*.md"], where = { paths = "" } }
touched = { files = ["root:.own/*.md"], match = ["paths"], unscoped = "skip" }
[section]
rules = { list = "rules" }
touched = { list = "touched" }
[touch]
sections = ["touched"]
"""
    tree(
        {"own.toml": layout, "w/.git": None, "w/.own/all.md": "All.", "w/.own/web.md": "---\npaths: web/**\n---\nWeb."}
    )
    out = run("why", ".", ".own", "--for", "api/a.py", "--layout", "../own.toml")[1]
    always, scoped = out.splitlines()
    assert always.split(maxsplit=3) == [
        "used",
        "project",
        ".own/all.md",
        "it is always in the prompt, whatever file is touched",
    ]
    assert scoped.startswith("waiting") and "does not match web/** (paths)" in scoped


def test_for_needs_a_layout_with_touch(run, tree):
    tree({"w/.git": None, "own.toml": 'sections = ["a"]\n[section]\na = { text = "A." }\n'})
    status, _, error = run("why", ".", "a.md", "--for", "b.py", "--layout", "../own.toml")
    assert status == 2 and "has no [touch] table, so no rule applies to a file; to add one, write [touch]" in error


def test_a_rule_that_nothing_sends_says_so(run, tree):
    own = 'sections = ["a"]\n[find]\na = {{ files = ["root:r.md"], where = {{ paths = "" }} }}\n{}[section]\na = {{ list = "a" }}\n{}'
    touch = 't = { files = ["root:x.md"] }\n', 't = { list = "t" }\n[touch]\nsections = ["t"]\n'
    tree(
        {
            "w/.git": None,
            "w/r.md": "---\npaths: x/**\n---\nR",
            "a.toml": own.format("", ""),
            "b.toml": own.format(*touch),
        }
    )
    waits = "unused  project  r.md  it waits for a file that matches x/** (paths in its front matter), but"
    assert run("why", ".", "r.md", "--layout", "../a.toml")[1].startswith(
        f"{waits} the layout a sends nothing when a file is"
    )
    assert run("why", ".", "r.md", "--layout", "../b.toml")[1] == f"{waits} no lookup rule of [touch] finds it\n"
