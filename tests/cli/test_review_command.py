"""The command `foreword review`: what a change in git does to prompts, in every format, and with hostile repositories."""

import json
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif
from tests.sessions.session_logs import ClaudeLog, stamp

from foreword.cli.review_markdown import _escape, _files
from foreword.cli.review_words import describe_outcome
from foreword.errors import CallError
from foreword.inspection.agents import Verdict
from foreword.programs.review import FileReview
from foreword.sources import checkout, git_trees
from foreword.sources.git import open_git
from foreword.sources.reader import Reader
from foreword.vocabulary import Workspace
from foreword.wire.git_forms import ReviewForm

OLD = {
    "w/AGENTS.md": "# Shop\n\nUse pnpm.\n",
    "w/package.json": '{"scripts": {"test": "x"}}',
    "w/docs/style.md": "Be brief.\n",
}


@pytest.fixture
def commit(tree, git):
    """`commit({"w/a": "…"}, "w/b")` writes files, deletes others, and commits; returns the commit's id."""
    git("init")

    def commit(files, *deleted):
        for name in (*deleted, *files):
            if os.path.lexists(tree.path(name)):
                os.remove(tree.path(name))
        tree(files)
        git("add", "-A")
        git("commit", "-m", "change", "--allow-empty")
        return git("rev-parse", "HEAD").strip()

    return commit


@pytest.fixture
def review(run):
    """`review("HEAD~")` returns the JSON of a review."""

    def review(*arguments):
        status, out, err = run("review", *arguments, "--json")
        assert status in (0, 1), err
        return json.loads(out)

    return review


def outcomes(form):
    """Return what agents do with each file: by path, the change and the outcomes of the agents `claude` and `codex`."""
    return {
        row["path"]: (
            row["change"],
            *((agent["before"], agent["after"]) for agent in row["agents"] if agent["agent"] in ("claude", "codex")),
        )
        for row in form["files"]
    }


def test_a_changed_word_is_found_in_each_agents_prompt(commit, review, fits):
    commit(OLD)
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n"})
    form = review("HEAD~")
    assert fits(form, ReviewForm) == []
    assert form["changed"] and form["unchanged"] == 0
    prompt = next(prompt for prompt in form["prompts"] if prompt["layout"] == "codex")
    (edit,) = prompt["details"][0]["edits"]
    assert (edit["old"]["text"], edit["new"]["text"]) == ("pnpm", "npm")
    assert edit["causes"] == [{"kind": "file", "path": "AGENTS.md", "lines": [3, 3], "note": None}]
    assert prompt["cost"] == pytest.approx(
        (prompt["tokens_after"] - prompt["tokens_before"])
        * (form["price"]["write"] + 29 * form["price"]["read"])
        / 1000
    )


def test_a_new_file_that_hides_another_is_shown(commit, review):
    commit(OLD)
    commit({"w/CLAUDE.md": "Use yarn.\n"})
    form = review("HEAD~", "--layout", "claude", "--layout", "codex")
    assert outcomes(form) == {
        "CLAUDE.md": ("added", (None, "loaded"), (None, "never")),
        "AGENTS.md": ("unchanged", ("loaded", "shadowed"), ("loaded", "loaded")),
    }


def test_a_change_that_breaks_the_alignment_is_reported(commit, review):
    """Only once, and only for agents that read every file exactly once before the change."""
    commit({"w/AGENTS.md": "# Shop\n\nUse pnpm.\n", "w/.claude/CLAUDE.md": "@../AGENTS.md\n"})
    commit({"w/CLAUDE.md": "@AGENTS.md\n"})
    commit({"w/api/AGENTS.md": "Validate.\n"})
    messages = [
        [row["message"] for row in review(change)["new_findings"] if row["code"] == "align-broken"]
        for change in ("HEAD~2..HEAD~", "HEAD~..HEAD")
    ]
    start = "the change breaks the alignment: agents no longer read every file exactly once"
    end = "foreword align shows the fewest changes that help"
    assert messages == [
        [f"{start} (Copilot CLI 1.0.102: AGENTS.md); {end}"],
        [f"{start} (Claude Code 2.1.328: api/AGENTS.md); {end}"],
    ]


def test_renamed_removed_and_nested_files(commit, review):
    commit({**OLD, "w/old/AGENTS.md": "A long enough text to keep.\n", "w/gone/AGENTS.md": "Gone.\n"})
    commit({"w/new/AGENTS.md": "A long enough text to keep.\n"}, "w/old/AGENTS.md", "w/gone/AGENTS.md")
    form = review("HEAD~")
    changes = {row["path"]: (row["change"], row["old_path"]) for row in form["files"]}
    assert changes == {"gone/AGENTS.md": ("removed", None), "new/AGENTS.md": ("renamed", "old/AGENTS.md")}
    assert {prompt["folder"] for prompt in form["prompts"]} == {"gone", "new", "old"}


def test_a_file_that_becomes_a_folder_and_the_reverse(commit, review):
    commit({**OLD, "w/CLAUDE.md": "See @tools\n", "w/tools": "Use the tools.\n"})
    commit({"w/tools/deep/AGENTS.md": "Sharpen the tools.\n"}, "w/tools")
    for range, change in (("HEAD~..HEAD", "added"), ("HEAD..HEAD~", "removed")):
        form = review(range, "--layout", "codex", "--layout", "claude")
        assert outcomes(form)["tools/deep/AGENTS.md"][0] == change
        places = {(prompt["layout"], prompt["folder"]) for prompt in form["prompts"]}
        assert places == {("claude", "."), ("codex", "tools/deep")}  # Claude Code reads CLAUDE.md instead of AGENTS.md
        assert form["notes"] == []


def test_a_link_that_becomes_a_file_and_the_reverse(commit, review):
    commit({**OLD, "w/CLAUDE.md": Path("docs/style.md")})
    commit({"w/CLAUDE.md": "Use yarn.\n"})
    for range, texts in (("HEAD~..HEAD", ("Be brief", "Use yarn")), ("HEAD..HEAD~", ("Use yarn", "Be brief"))):
        form = review(range, "--layout", "claude")
        assert outcomes(form)["CLAUDE.md"] == ("changed", ("loaded", "loaded"))
        (prompt,) = form["prompts"]
        edits = [edit for detail in prompt["details"] for edit in detail["edits"]]
        assert [(edit["old"]["text"], edit["new"]["text"]) for edit in edits] == [texts]


def test_files_that_others_import_are_read(commit, review):
    commit({**OLD, "w/CLAUDE.md": "See @docs/style.md\n"})
    commit({"w/docs/style.md": "Be verbose.\n"})
    form = review("HEAD~", "--layout", "claude")
    assert outcomes(form) == {"docs/style.md": ("changed", ("loaded", "loaded"))}
    assert "verbose" in json.dumps(form["prompts"][0]["details"])


def test_files_behind_links_are_read(commit, run, review, tree):
    skill = "---\nname: ship\ndescription: Ship it.\n---\nRead [how](references/how.md).\n"
    commit(
        {
            "w/CLAUDE.md": Path("GUIDE.md"),
            "w/GUIDE.md": "Be brief.\n",
            "w/.claude/skills": Path("../skills"),
            "w/skills/ship/SKILL.md": skill,
            "w/skills/ship/references/how.md": "Slowly.\n",
        }
    )
    commit(
        {
            "w/GUIDE.md": "Be very brief.\n",
            "w/skills/ship/SKILL.md": skill + "Then read [more](references/how.md#more).\n",
        }
    )
    form = review("HEAD~", "--layout", "claude")
    assert form["new_findings"] == form["fixed_findings"] == []
    assert outcomes(form) == {
        "CLAUDE.md": ("leads to GUIDE.md", ("loaded", "loaded")),
        "GUIDE.md": ("changed", ("loaded", "loaded")),
        "skills/ship/SKILL.md": ("changed", ("listed", "listed")),
    }
    assert run("review", "HEAD~", "--layout", "claude")[1].startswith("2 instruction files changed")
    commit({"w/.claude/agents/helper.md": "---\nname: helper\ndescription: Help.\n---\nHelp.\n"}, "w/.claude/skills")
    assert outcomes(review("HEAD~", "--layout", "claude")) == {
        ".claude/agents/helper.md": ("added", (None, "listed")),
        ".claude/skills": ("removed", ("listed", None)),
    }
    commit({"w/.claude/skills/ship/SKILL.md": skill}, "w/skills/ship/SKILL.md")
    commit({"w/skills/ship/SKILL.md": f"{skill}Now.\n"}, "w/.claude/skills/ship/SKILL.md")
    os.rmdir(tree.path("w/.claude/skills/ship"))
    os.rmdir(tree.path("w/.claude/skills"))
    commit({"w/.claude/skills": Path("../skills")})
    assert outcomes(review("HEAD~2..HEAD", "--layout", "claude")) == {
        ".claude/skills": ("added", (None, "listed")),
        ".claude/skills/ship/SKILL.md": ("leads to skills/ship/SKILL.md", ("listed", "listed")),
        "skills/ship/SKILL.md": ("added", (None, "listed")),
    }


def test_a_change_at_the_root_reaches_folders_where_an_agent_reads_no_other_change(commit, review):
    commit({**OLD, "w/CLAUDE.md": "Be kind.\n", "w/api/CLAUDE.md": "Be exact.\n", "w/api/AGENTS.md": "Be quick.\n"})
    commit({"w/CLAUDE.md": "Be very kind.\n", "w/api/AGENTS.md": "Be very quick.\n"})
    form = review("HEAD~", "--layout", "claude")
    assert [(prompt["folder"], "very" in json.dumps(prompt["details"])) for prompt in form["prompts"]] == [
        (".", True),
        ("api", True),
    ]


def test_only_new_findings_are_reported(commit, run, review, tree):
    commit({**OLD, "w/AGENTS.md": "Run `npm run test`.\n\nRead `docs/missing.md`.\n"})
    commit(
        {
            "w/AGENTS.md": "First.\n\nRun `npm run test`.\n\nRead `docs/missing.md`.\n\nRead `docs/style.md` and `docs/new.md`.\n"
        }
    )
    form = review("HEAD~")
    assert [(row["code"], row["path"], row["line"]) for row in form["new_findings"]] == [
        ("missing-file", "AGENTS.md", 7)
    ]
    assert form["fixed_findings"] == []
    assert run("review", "HEAD~")[0] == 0 and run("review", "HEAD~", "--fail", "warning")[0] == 1
    assert run("review", "HEAD~", "--exit-code")[0] == 1


def test_other_changes_change_nothing(commit, run, review):
    commit(OLD)
    commit({"w/main.py": "print()\n"})
    form = review("HEAD~")
    assert (form["changed"], form["files"], form["prompts"], form["new_findings"]) == (False, [], [], [])
    assert form["unchanged"] > 0
    assert run("review", "HEAD~", "--format", "markdown") == (0, "### No agent's prompt changes\n", "")
    assert run("review", "HEAD~", "--exit-code")[0] == 0


def test_the_users_files_and_the_working_tree_do_not_matter(commit, run, tree, git):
    commit(OLD)
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n"})
    before = run("review", "HEAD~", "--format", "markdown")
    tree({"w/AGENTS.md": "Uncommitted.\n", "home/.codex/AGENTS.md": "Of the user.\n", "AGENTS.md": "Above.\n"})
    assert run("review", "HEAD~", "--format", "markdown") == before
    assert git("status", "--short") == " M AGENTS.md\n"


def test_a_change_starts_at_the_common_ancestor_unless_two_dots_are_written(commit, git, review):
    commit(OLD)
    git("checkout", "-b", "topic")
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n"})
    git("checkout", "main")
    commit({"w/AGENTS.md": "# Shop\n\nUse pnpm.\n\nOnly on main.\n"})
    assert "Only on main" not in json.dumps(review("main...topic"))
    assert "Only on main" in json.dumps(review("main..topic"))
    git("checkout", "--detach", "topic")
    assert "Only on main" not in json.dumps(review("main"))


def test_markdown_is_short_folded_and_safe(commit, run):
    commit(OLD)
    commit({"w/AGENTS.md": "# Shop\n\nUse npm. ```` \u202e @everyone\n", "w/a|`b/AGENTS.md": "<b>Hi</b>\n"})
    out = run("review", "HEAD~", "--format", "markdown")[1]
    summary, _, details = out.partition("<details>")
    assert summary.startswith("### 2 instruction files changed, which changes the prompts of ")
    assert "| `` a\\|`b/AGENTS.md `` | added |" in summary
    assert "@" not in summary and "a bidirectional override" in summary
    assert "`````diff\n" in details and "+ Use npm. ```` \\u202e @everyone" in details
    assert len(summary.splitlines()) < 20


def test_markdown_puts_files_that_prompts_contain_first_and_folds_long_tables(commit, run):
    commit({**OLD, "w/CLAUDE.md": Path("<b>|@all"), "w/<b>|@all": "Be kind.\n"})
    files = {f"w/.claude/rules/r{number:02}.md": '---\npaths: "*.py"\n---\nType it.\n' for number in range(15)}
    commit({**files, "w/AGENTS.md": "# Shop\n\nUse npm.\n", "w/<b>|@all": "Be very kind.\n"})
    out = run("review", "HEAD~", "--format", "markdown")[1]
    rows = [line for line in out.splitlines() if line.startswith("| `")]
    assert [row.partition(" | ")[0] for row in rows[:4]] == [
        "| `<b>\\|@all`",
        "| `AGENTS.md`",
        "| `CLAUDE.md`",
        "| `.claude/rules/r00.md`",
    ]
    assert "| `CLAUDE.md` | leads to `<b>\\|@all` |" in out and "never" not in out
    assert out.index("8 more files</summary>") < out.index("r14.md") < out.index("| tokens in ")


@pytest.mark.parametrize(("count", "is_folded"), [(13, False), (14, True)])
def test_a_table_of_files_is_folded_if_that_makes_it_shorter(count, is_folded):
    review = SimpleNamespace(files=[FileReview(f"{number}.md", "changed") for number in range(count)])
    assert ("<details>" in _files(review)) == is_folded


def test_in_a_folder_markdown_shows_only_what_does_not_change_at_the_root(commit, run):
    commit({**OLD, "w/api/AGENTS.md": "Be exact.\n"})
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n", "w/api/AGENTS.md": "Be quick.\n"})
    out = run("review", "HEAD~", "--format", "markdown", "--layout", "codex")[1]
    assert out.count("+ Use npm.") == out.count("+ Be quick.") == 1
    assert "<summary>What changes for codex in api, besides the changes at the root</summary>" in out


def test_a_change_can_be_priced_by_the_requests_that_agents_sent(commit, run, review, tree):
    commit(OLD)
    commit({"w/AGENTS.md": "# Shop\n\nUse pnpm. " + "Be careful with prices. " * 40})
    log = ClaudeLog(Path(tree.path("home")), tree.path("w"))
    log.user().answer(written=5000).user().answer(read=5000).user().answer(written=5000).write()
    when = ["--now", stamp(86_400), "--layout", "claude", "--layout", "codex"]
    form = review("HEAD~", *when, "--sessions")
    claude, codex = form["prompts"]
    tokens, price = claude["tokens_after"] - claude["tokens_before"], form["price"]
    assert form["requests"] == {"claude": 3}
    assert claude["cost"] == pytest.approx(tokens * (2 * price["write"] + price["read"]) / 1e6)
    assert codex["cost"] is None
    for options in (["--format", "markdown"], []):
        text = " ".join(run("review", "HEAD~", *when, "--sessions", *options)[1].split())
        assert "in the last 30 days" in text and "(claude 3)." in text
    assert review("HEAD~", *when)["requests"] is None


def test_the_other_formats(commit, run):
    commit(OLD)
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n\nRead `docs/new.md`.\n"})
    Sarif.model_validate(json.loads(run("review", "HEAD~", "--format", "sarif")[1]))
    annotations = run("review", "HEAD~", "--format", "github")[1].splitlines()
    assert annotations[0].startswith("::warning file=AGENTS.md,line=5,title=foreword missing-file::")
    assert any(line.startswith("::notice title=foreword review::codex at the root: ") for line in annotations)
    text = run("review", "HEAD~")[1]
    assert "    + Read `docs/new.md`." in text and "AGENTS.md:5: docs/new.md does not exist" in text


@pytest.mark.parametrize("format", ["text", "markdown", "github", "json", "sarif"])
def test_secrets_are_reported_and_never_printed(commit, run, format):
    old, new = "ghp_q7Rz2mK9vXc4Lw8TnB5yHd3GfJ6sPa1Ue0Wk", "ghp_Wk3nT8vQz5LmR2xYc9Bd6HfJ4sGp7KaUe1Xo"
    rule = "---\nglobs: docs/**\n---\nBe brief."
    commit({**OLD, "w/CLAUDE.md": f"Use {old} here.\n", "w/.cursor/rules/a.mdc": rule})
    commit({"w/CLAUDE.md": f"Use {new} here.\n", "w/.cursor/rules/a.mdc": f"{rule} Use {new}.", "w/AGENTS.md": new})
    status, out, err = run("review", "HEAD~", "--format", format)
    assert status == 1
    assert not {token for token in (old[4:14], new[4:14]) if token in out + err}
    assert ".cursor/rules/a.mdc" in out
    if format in ("text", "markdown"):
        assert f"ghp_{'*' * 36}" in out


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github", "markdown"])
def test_a_review_is_the_same_on_every_machine(commit, git, run, tree, monkeypatch, format):
    commit({**OLD, "w/api/AGENTS.md": "Be exact.\n"})
    commit({"w/AGENTS.md": "Read `docs/new.md`.\n", "w/api/AGENTS.md": "Be quick.\n", "w/CLAUDE.md": Path("../x")})
    out = run("review", "HEAD~", "--format", format)[1]
    git("clone", ".", "../elsewhere")
    monkeypatch.chdir(tree.path("elsewhere"))
    assert run("review", "HEAD~", "--format", format)[1] == out
    assert tempfile.gettempdir() not in out and tree.path("w") not in out


def test_stored_conversations_are_counted(commit, run, review, tree):
    commit(OLD)
    store = f"sqlite:///{tree.path('store.db')}"
    for id in ("one", "two"):
        assert run("conversation", "turn", id, "--message", "Hi", "--store", store)[0] == 0
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n"})
    assert review("HEAD~", "--store", store)["conversations"] == 2
    assert review("HEAD~")["conversations"] is None
    assert (
        "2 stored conversations in this repository keep the old prompt"
        in run("review", "HEAD~", "--store", store, "--format", "markdown")[1]
    )


@pytest.mark.parametrize(
    ("before", "after", "described"),
    [
        (Verdict("loaded"), Verdict("loaded"), "loaded"),
        (Verdict("loaded"), Verdict("shadowed"), "loaded → shadowed"),
        (Verdict("loaded"), Verdict("cut", cut=20), "loaded → cut 20%"),
        (Verdict("cut", cut=20), Verdict("cut", cut=30), "cut 20% → cut 30%"),
        (None, Verdict("on-touch"), "on touch"),
        (Verdict("elsewhere"), None, "was only in its folder"),
    ],
)
def test_what_an_agent_does_with_a_file_is_described_once_if_it_stays_the_same(before, after, described):
    assert describe_outcome(before, after) == described


def test_text_in_markdown_cannot_mention_anybody():
    assert _escape("@team *x* <b> #1 a&b\n`c`") == "&#64;team \\*x\\* &lt;b&gt; &#35;1 a&amp;b \\`c\\`"


# Invalid calls and hostile repositories


@pytest.mark.parametrize(
    ("range", "message"),
    [
        ("nothing", "there is no commit 'nothing'"),
        ("--output=/tmp/x", "is not the name of a commit"),
        ("-h..HEAD", "is not the name of a commit"),
        ("HEAD..--all", "is not the name of a commit"),
        ("HEAD\n", "is not the name of a commit"),
        ("HEAD:AGENTS.md", "there is no commit"),
        ("", "the change '' has no base"),
        ("..HEAD", "the change '..HEAD' has no base"),
    ],
)
def test_a_base_that_is_not_a_commit_is_an_invalid_call(commit, run, range, message):
    commit(OLD)
    status, _, err = run("review", "--", range)
    assert status == 2 and message in err


def test_outside_a_repository_it_is_an_invalid_call(run):
    status, _, err = run("review", "HEAD~")
    assert status == 2 and "it is not in a git repository with a commit" in err


def test_a_shallow_clone_says_what_to_do(commit, git, run, tree, monkeypatch):
    commit(OLD)
    commit({"w/AGENTS.md": "Other.\n"})
    git("clone", "--depth=1", f"file://{tree.path('w')}", "../clone")
    monkeypatch.chdir(tree.path("clone"))
    status, _, err = run("review", "HEAD~")
    assert (
        status == 2
        and "there is no commit 'HEAD~' in this repository; if it exists elsewhere, run git fetch first" in err
    )


def test_a_clone_that_borrows_objects_is_reviewed(commit, git, review, tree, monkeypatch):
    commit(OLD)
    commit({"w/AGENTS.md": "Other.\n"})
    git("clone", "--shared", ".", "../clone")
    monkeypatch.chdir(tree.path("clone"))
    assert [row["path"] for row in review("HEAD~")["files"]] == ["AGENTS.md"]


def test_the_changed_file_is_named_and_not_a_link_to_it(commit, run, review):
    commit({**OLD, "w/CLAUDE.md": Path("AGENTS.md"), "w/.claude/settings.json": "{}"})
    commit({"w/AGENTS.md": "# Shop\n\nRead `docs/none.md`.\n"})
    form = review("HEAD~")
    causes = [edit["causes"] for prompt in form["prompts"] for row in prompt["details"] for edit in row["edits"]]
    assert {cause["path"] for row in causes for cause in row} == {"AGENTS.md"}
    assert {row["path"] for row in form["new_findings"]} == {"AGENTS.md"}
    for format in ("text", "markdown"):
        out = run("review", "HEAD~", "--format", format)[1]
        assert "AGENTS.md:3" in out and "CLAUDE.md:3" not in out and "shadowed)" not in out


def test_text_has_the_hunks_of_the_markdown_and_each_finding_its_path(commit, run):
    commit({"w/AGENTS.md": "# A\n\n- one here\n- two\n- three now\n\ntext a\ntext b\n"})
    commit({"w/AGENTS.md": "# A\n\n- one there\n- two more\n- added\n- three never\n\ntext b\n" + "Be brief. " * 4000})
    text = run("review", "HEAD~", "--layout", "codex")[1]
    assert (
        "  AGENTS.md:3-6\n    - one [-here-]{+there+}\n    - - two\n    + - two more\n    + - added\n"
        "    - three [-now-]{+never+}\n" in text
    )
    markdown = run("review", "HEAD~", "--layout", "codex", "--format", "markdown")[1]
    assert "@@ AGENTS.md:3-6 @@" in markdown
    findings = [line for line in text[text.index("new findings") :].splitlines()[1:] if line.startswith("  ")]
    assert findings and all("AGENTS.md" in line for line in findings)


def test_worktrees_submodules_and_odd_names(commit, git, review, tree, monkeypatch):
    commit({**OLD, "w/a\nb/AGENTS.md": "Odd.\n"})
    git("clone", ".", "../module")
    git("-c", "protocol.file.allow=always", "submodule", "add", tree.path("module"), "sub")
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n", "w/a\nb/AGENTS.md": "Odder.\n"})
    git("worktree", "add", "../tree", "HEAD")
    monkeypatch.chdir(tree.path("tree"))
    form = review("HEAD~")
    assert [row["path"] for row in form["files"]] == ["AGENTS.md", "a\\x0ab/AGENTS.md"]
    assert form["notes"] == []


def test_links_are_never_followed_outside(commit, review, tree):
    tree({"secret.md": "Do not read this.\n"})
    commit(OLD)
    commit({"w/CLAUDE.md": Path("../secret.md"), "w/GEMINI.md": Path(tree.path("secret.md"))})
    form = review("HEAD~", "--layout", "claude", "--layout", "gemini")
    assert "Do not read this" not in json.dumps(form)
    agents = {row["path"]: {agent["agent"]: agent["after"] for agent in row["agents"]} for row in form["files"]}
    # What the programs do; Foreword itself does not read the files.
    assert agents["CLAUDE.md"]["claude"] == agents["GEMINI.md"]["gemini"] == "loaded"


def test_no_program_from_the_configuration_is_run_and_nothing_is_left_behind(commit, git, review, tree, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", tree.path("home"))
    mark = tree.path("mark")
    tree({"trap": f"#!/bin/sh\ntouch '{mark}'\ncat\n", "w/.gitattributes": "*.md diff=evil filter=evil\n"})
    os.chmod(tree.path("trap"), 0o755)
    commit(OLD)
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n"})
    for key in ("diff.evil.textconv", "diff.external", "filter.evil.smudge", "core.fsmonitor", "core.pager"):
        git("config", key, tree.path("trap"))
    assert review("HEAD~")["changed"]
    assert not os.path.exists(mark) and os.listdir(tree.path("home")) == []


def test_a_file_that_one_tree_lacks_is_read_from_the_other(commit, git, review, tree):
    commit(OLD)
    blob = git("rev-parse", "HEAD:AGENTS.md").strip()
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n"})
    os.remove(tree.path(f"w/.git/objects/{blob[:2]}/{blob[2:]}"))  # as in a damaged clone
    form = review("HEAD~", "--layout", "codex")
    assert outcomes(form) == {"AGENTS.md": ("changed", (None, "loaded"))}
    assert form["prompts"][0]["sections"]["added"] == ["instructions"]


def test_a_partial_clone_is_reviewed_without_fetching(commit, git, run, tree, monkeypatch):
    commit(OLD)
    commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n"})
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "--filter=blob:none", f"file://{tree.path('w')}", tree.path("partial"))
    monkeypatch.chdir(tree.path("partial"))
    status, out, err = run("review", "HEAD~", "--layout", "codex")
    assert status == 0 and "AGENTS.md  changed" in out
    assert "not read, because of their names or sizes, or because this clone does not contain them: AGENTS.md" in err
    assert git("rev-list", "--objects", "--no-walk", "--missing=print", "HEAD~", cwd="partial").count("?") == 1


def test_the_list_of_differences_is_bounded(commit, tree, monkeypatch):
    first, second = commit(OLD), commit({"w/AGENTS.md": "# Shop\n\nUse npm.\n"})
    objects = git_trees.GitTrees(open_git(Workspace(tree.path("w"), root=tree.path("w")), Reader(), print))
    assert list(objects.differences(first, second)) == ["AGENTS.md"]
    monkeypatch.setattr(git_trees, "_MAX_LISTING", 50)
    with pytest.raises(CallError, match="differ in too many files"):  # a small tree can contain billions of names
        objects.differences(first, second)


@pytest.fixture
def checked_out(tree, git, commit):
    """`checked_out(entries)` writes a tree with these raw entries into a checkout, and returns the checkout.

    With `needed`, only these files get their content.
    """
    commit(OLD)
    workspace = Workspace(tree.path("w"), root=tree.path("w"))
    objects = git_trees.GitTrees(open_git(workspace, Reader(), print))

    def checked_out(files, needed=None):
        entries = {}
        for path, (mode, content) in files.items():
            tree({"blob": content})
            entries[path] = git_trees.tree_entry(mode, git("hash-object", "-w", "../blob").strip())
        folder = checkout.Checkout(objects, "w")
        folder.open(entries)
        folder.write(entries if needed is None else needed)
        return folder

    return checked_out


def test_all_names_of_a_checkout_are_known_whether_they_exist_or_not(checked_out):
    with checked_out({"a/b/AGENTS.md": ("100644", "x"), "c.md": ("100644", "x")}, ["c.md"]) as checkout:
        assert checkout.make_folder("a/new/deep") and not os.path.exists(os.path.join(checkout.root, "a", "b"))
        names = {os.path.relpath(folder, checkout.root): sorted(found) for folder, found in checkout.names().items()}
    assert names == {".": [".git", "a", "c.md"], "a": ["b", "new"], "a/b": ["AGENTS.md"]}


@pytest.mark.parametrize("mode", ["100644", "120000"])
def test_a_tree_with_impossible_names_writes_only_into_its_folder(checked_out, tree, mode):
    names = ["../evil", ".git/config", "a/.GIT/hooks", "a/../../evil", "ok/AGENTS.md"]
    with checked_out(dict.fromkeys(names, (mode, "x"))) as checkout:
        top = checkout.folder.top
        found = [path for path in Path(top).rglob("*") if path.is_file() or path.is_symlink()]
        assert [str(path.relative_to(top)) for path in found] == ["w/ok/AGENTS.md"]
        assert sorted(checkout.skipped) == sorted(names[:-1])
        assert set(checkout.links) <= {"ok/AGENTS.md"}
    assert not os.path.exists(top)


def test_filling_returns_what_was_created(checked_out):
    files = {path: ("100644", path) for path in ("a/x.md", "a/b/y.md", "c.md")}
    with checked_out(files, needed=()) as folder:
        assert folder.fill([f"{folder.root}/c.md"], []) == {"c.md", ""}
        assert folder.fill([], [f"{folder.root}/a"]) == {"a", "a/x.md", "a/b", "a/b/y.md", ""}
        assert folder.fill([], [f"{folder.root}/a"]) == set()
        assert (Path(folder.root) / "c.md").read_text() == "c.md"


def test_a_file_below_a_link_is_not_written_through_it(checked_out, tree):
    tree({"victim": None})
    files = {"d": ("120000", tree.path("victim")), "d/x": ("100644", "x"), "e": ("120000", "d"), "e/y": ("100644", "y")}
    with checked_out(files) as folder:
        assert os.listdir(tree.path("victim")) == []
        assert all(not os.path.realpath(path).startswith(tree.path("")) for path in Path(folder.root).rglob("*"))


def test_a_huge_file_is_read_only_up_to_the_limit(checked_out):
    with checked_out({"AGENTS.md": ("100644", "x" * (3 << 20))}) as folder:
        path = os.path.join(folder.root, "AGENTS.md")
        reading = Reader().read(path)
        assert (reading.fate, reading.size, len(reading.text)) == ("cut", 3 << 20, 1 << 20)
        assert os.stat(path).st_blocks * 512 < 2 << 20


def test_a_folder_with_too_many_names_is_not_complete(checked_out, monkeypatch):
    files = {path: ("100644", path) for path in ("a/x.md", "a/y.md", "b/z.md", "c.md")}
    for limit, is_complete in ((100, True), (2, False)):
        monkeypatch.setattr(checkout, "_MAX_NAMES", limit)
        with checked_out(files, needed=()) as folder:
            folder.fill([], [f"{folder.root}/a", f"{folder.root}/b"])
            assert folder.is_complete == is_complete
