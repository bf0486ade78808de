"""The command `foreword lint`: formats, exit status, disabling checks, and --recursive."""

import fcntl
import inspect
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from argparse import Namespace
from pathlib import Path

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from foreword.cli import main
from foreword.cli.lint import _write_text
from foreword.inspection.lint.table import KEY
from foreword.programs.proofread import Report
from foreword.vocabulary import Finding
from foreword.wire.forms import LintForm

GIT = {"w/.git/HEAD": "ref: refs/heads/main\n"}
FILES_WITH_FINDINGS = {
    **GIT,
    "w/AGENTS.md": "# Shop\n\nUse pnpm, never npm.\n\nRead `docs/style.md`.\n",
    "w/web/AGENTS.md": f"Start with `npm install`.\n\nKey: {KEY}\n",
    "w/.agents/skills/release/SKILL.md": "---\nname: release\ndescription: Cuts it.\nallowed_tools: a\n---\nTag.\n",
}


@pytest.fixture
def findings(run):
    """`findings("web", "--disable", "x")` returns the code, path and line of each finding."""

    def findings(*arguments):
        _, out, _ = run("lint", "--json", "--min-severity", "info", *arguments)
        return [(finding["code"], finding["path"], finding["line"]) for finding in json.loads(out)["findings"]]

    return findings


def test_in_a_pipe_each_finding_is_one_line(tree, run):
    tree(FILES_WITH_FINDINGS)
    status, out, err = run("lint", "web", "--tool", "read", "--min-severity", "info")
    assert status == 1
    assert out == (
        f"web/AGENTS.md:3: error: this looks like an Anthropic key (sk-ant-…, {len(KEY)} characters); everyone who sees the prompt sees it [secret]\n"
        "AGENTS.md:5: warning: docs/style.md does not exist [missing-file]\n"
        "web/AGENTS.md:1: warning: the package manager: this file uses npm, AGENTS.md:3 forbids npm [contradiction]\n"
        ".agents/skills/release/SKILL.md:4: info: its field 'allowed_tools' is ignored; did you mean 'allowed-tools'? [skill-field]\n"
    )
    assert err == "3 files checked: 1 error, 2 warnings, 1 info\n"


def test_a_name_in_the_wrong_case_is_found_in_subfolders(tree, run):
    tree({**GIT, "w/api/agents.md": "Be brief.\n"})
    assert (
        run("lint", "--recursive")[1]
        == "api/agents.md: warning: was not read: it must be named AGENTS.md [file-case]\n"
    )


def skills_with(*fields, folder="w/.agents/skills"):
    """Skills `s0`, `s1`, …, each with different lines in its front matter."""
    heads = [f"---\nname: s{index}\ndescription: Does it.\n{lines}---\nBody.\n" for index, lines in enumerate(fields)]
    return {f"{folder}/s{index}/SKILL.md": head for index, head in enumerate(heads)}


@pytest.mark.parametrize("options", [(), ("--recursive",)])
def test_a_field_in_many_skills_is_one_finding_with_a_count(tree, run, options):
    tree(
        {
            **GIT,
            **skills_with(
                "allowed_tools: a\n", "allowed_tools: a\nlicence: MIT\n", "", "version: 1\nallowed_tools: b\n"
            ),
        }
    )
    assert run("lint", "--tool", "read", "--min-severity", "info", *options)[1] == (
        ".agents/skills/s0/SKILL.md:4: info: its field 'allowed_tools' is ignored; did you mean 'allowed-tools'? (the first of 3 such skills) [skill-field]\n"
        ".agents/skills/s1/SKILL.md:5: info: its field 'licence' is ignored; did you mean 'license'? [skill-field]\n"
    )


def test_the_same_field_with_different_values_is_one_finding(tree, run):
    long_lines = [f"disable-model-invocation: {'x' * (1 + number)}\n" for number in range(3)]
    tree({**GIT, **skills_with(*long_lines)})
    assert run("lint", "--tool", "read", "--min-severity", "info")[1] == (
        ".agents/skills/s0/SKILL.md:4: info: its disable-model-invocation is neither true nor false; "
        "the skill is not hidden (the first of 3 such skills) [skill-field]\n"
    )


def test_user_and_project_skills_are_counted_separately(tree, run):
    user_skills = skills_with("licence: MIT\n", "licence: MIT\n", folder="home/.agents/skills")
    user_skills = {
        path.replace("/s0/", "/t0/").replace("/s1/", "/t1/"): text.replace("name: s", "name: t")
        for path, text in user_skills.items()
    }
    tree({**GIT, **skills_with("licence: MIT\n", "licence: MIT\n"), **user_skills})
    assert [
        line.rpartition("(")[2] for line in run("lint", "--tool", "read", "--min-severity", "info")[1].splitlines()
    ] == ["the first of 2 such skills) [skill-field]"] * 2


def test_a_file_in_the_home_directory_is_not_checked(tree, run):
    tree({**GIT, "w/AGENTS.md": "@~/notes.md\n"})
    assert run("lint")[1] == ""


def test_on_a_terminal_findings_are_grouped_by_file_in_colour(tree):
    tree(FILES_WITH_FINDINGS)
    output = run_on_terminal(["lint", "web", "--tool", "read", "--home", tree.path("home")], tree.path("w"))
    assert (
        re.sub(r"\x1b\[\d+m", "", output).split("\n\n")[1]
        == "AGENTS.md\n  5  warning  docs/style.md does not exist  missing-file"
    )
    assert "\x1b[31merror    \x1b[0m" in output and "\x1b[1mweb/AGENTS.md\x1b[0m" in output
    assert max(map(len, re.sub(r"\x1b\[\d+m", "", output).splitlines())) <= 80


def run_on_terminal(arguments, cwd):
    """Output of a command on a terminal with 80 columns."""
    program_side, terminal_side = pty.openpty()
    fcntl.ioctl(terminal_side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "foreword", *arguments]
    with subprocess.Popen(command, cwd=cwd, stdout=terminal_side, stderr=terminal_side, env=environment) as process:
        os.close(terminal_side)
        data = b""
        while True:
            try:
                more = os.read(program_side, 65536)
            except OSError:
                break
            if not more:
                break
            data += more
        process.wait(60)
    os.close(program_side)
    return data.decode().replace("\r\n", "\n")


def test_a_clean_workspace_has_no_findings(tree, run):
    tree({**GIT, "w/AGENTS.md": "Be brief.\n"})
    assert run("lint") == (0, "", "1 file checked: no findings\n")


def test_findings_can_be_printed_as_json(tree, run, fits):
    tree(FILES_WITH_FINDINGS)
    status, out, _ = run("lint", "web", "--tool", "read", "--min-severity", "info", "--json")
    form = json.loads(out)
    assert status == 1 and fits(form, LintForm) == []
    assert {key: form[key] for key in ("root", "files", "counts")} == {
        "root": "/w",
        "files": 3,
        "counts": {"error": 1, "warning": 2, "info": 1},
    }
    assert len(form["findings"]) == 4
    assert run("lint", "web", "--tool", "read", "--min-severity", "info", "--format", "json")[1] == out


def test_sarif_matches_the_schema(tree, run):
    tree({**FILES_WITH_FINDINGS, "w/a b%/AGENTS.md": "Read `docs/no.md`.\n", "home/.agents/AGENTS.md": f"{KEY}\n"})
    _, out, _ = run("lint", "--recursive", "--tool", "read", "--min-severity", "info", "--format", "sarif")
    log = json.loads(out)
    Sarif.model_validate(log)
    (sarif_run,) = log["runs"]
    rules, results = sarif_run["tool"]["driver"]["rules"], sarif_run["results"]
    assert [rules[result["ruleIndex"]]["id"] for result in results] == [result["ruleId"] for result in results]
    locations = {
        (
            result["ruleId"],
            location["artifactLocation"]["uri"],
            location["artifactLocation"].get("uriBaseId"),
            location.get("region", {}).get("startLine"),
        )
        for result in results
        for location in [result["locations"][0]["physicalLocation"]]
    }
    assert ("missing-file", "a%20b%25/AGENTS.md", "WORKSPACE", 1) in locations
    assert ("secret", "file:///home/.agents/AGENTS.md", None, 1) in locations
    assert sarif_run["originalUriBaseIds"] == {"WORKSPACE": {"uri": "file:///w/"}}
    defaults = {rule["id"]: rule["defaultConfiguration"]["level"] for rule in rules}
    assert (defaults["secret"], defaults["missing-file"], defaults["skill-field"]) == ("error", "warning", "note")
    levels = {result["ruleId"]: result["level"] for result in results}
    assert (levels["secret"], levels["missing-file"], levels["skill-field"]) == ("error", "warning", "note")
    assert len({json.dumps(result["partialFingerprints"]) for result in results}) == len(results)


def test_the_schema_rejects_invalid_sarif():
    with pytest.raises(ValueError, match="version"):
        Sarif.model_validate({"version": "2.0.0", "runs": []})
    with pytest.raises(ValueError, match="driver"):
        Sarif.model_validate({"version": "2.1.0", "runs": [{"tool": {}}]})


def test_github_annotations_are_escaped(tree, run):
    name = "a,b:c%d"
    tree({**GIT, f"w/{name}/AGENTS.md": "Read `docs/no.md`.\n"})
    status, out, _ = run("lint", name, "--format", "github")
    assert status == 0
    assert (
        out == "::warning file=a%2Cb%3Ac%25d/AGENTS.md,line=1,title=foreword missing-file::docs/no.md does not exist\n"
    )


def test_the_severities_that_fail_and_that_are_printed_are_configurable(tree, run):
    tree({**GIT, "w/AGENTS.md": "Read `docs/style.md`.\n", "w/CLAUDE.md": "Another.\n", "w/GEMINI.md": "\n"})
    assert run("lint")[0] == 0
    assert run("lint", "--fail", "warning")[0] == 1
    assert "blank-file" in run("lint")[1]
    assert "file-shadowed" not in run("lint")[1], "Claude Code reads CLAUDE.md, whatever other layouts do"
    assert (
        run("lint", "--disable", "unread-file", "--disable", "blank-file")[1]
        == run("lint", "--min-severity", "warning", "--disable", "unread-file", "--disable", "blank-file")[1]
        == "AGENTS.md:1: warning: docs/style.md does not exist [missing-file]\n"
    )
    assert run("lint", "--min-severity", "error")[:2] == (0, "")
    assert run("lint", "--min-severity", "error", "--fail", "warning")[:2] == (1, "")


def test_what_fails_is_shown(tree, run):
    tree({"w/AGENTS.md": "Be brief.\n"})
    assert run("lint")[:2] == (0, "")
    status, out, _ = run("lint", "--fail", "info")
    assert (status, out.endswith("[not-a-repository]\n")) == (1, True)
    assert run("lint", "--fail", "info", "--min-severity", "warning")[:2] == (1, "")


# Disabling checks


def test_a_check_is_disabled_by_option_user_settings_and_caller(tree, run, findings):
    tree({**GIT, "w/AGENTS.md": "Read `docs/style.md`.\n"})
    assert findings() == [("missing-file", "/w/AGENTS.md", 1)]
    assert findings("--disable", "missing-file") == []
    tree({"mine.toml": 'lint.disable = ["missing-file"]\n'})
    assert findings("--settings", tree.path("mine.toml")) == []
    tree({"home/.config/foreword/foreword.toml": '[lint]\ndisable = ["missing-file"]\n'})
    assert findings() == []


def test_a_workspace_cannot_disable_a_check(tree, findings):
    settings = "/w/.foreword/foreword.toml"
    tree({**GIT, "w/AGENTS.md": "Read `docs/style.md`.\n", f".{settings}": '[lint]\ndisable = ["missing-file"]\n'})
    assert findings() == [("workspace-refused", settings, None), ("missing-file", "/w/AGENTS.md", 1)]


def test_lint_settings_are_not_layout_keys(tree, run):
    tree({**GIT, "w/AGENTS.md": "Be brief.\n", "home/.config/foreword/foreword.toml": '[lint]\ndisable = ["secret"]\n'})
    assert run("show")[0] == 0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ('lint = "off"', "[lint] must be a table of keys, not 'off'"),
        ('[lint]\ndisabel = ["secret"]', "[lint]: unknown key 'disabel'; did you mean 'disable'?"),
        ('[lint]\ndisable = "secret"', "[lint]: disable must be a list of strings, not 'secret'"),
        ('[lint]\ndisable = ["secrets"]', "lint.disable: unknown check 'secrets'; did you mean 'secret'?"),
    ],
)
def test_invalid_settings_are_reported_in_one_sentence(tree, run, settings, sentence):
    tree({**GIT, "home/.config/foreword/foreword.toml": settings})
    status, out, err = run("lint")
    assert (status, out, err) == (2, "", f"foreword: /home/.config/foreword/foreword.toml: {sentence}\n")
    tree({"home/.config/foreword/foreword.toml": "", "w/.foreword/foreword.toml": settings})
    status, out, _ = run("lint")
    assert status == 0 and out.count("[settings-invalid]") == 1


def test_an_unknown_check_is_an_error(tree, run):
    assert run("lint", "--disable", "missing-fil")[::2] == (
        2,
        "foreword: unknown check 'missing-fil'; did you mean 'missing-file'?\n",
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Read `docs/a.md`.\nRead `docs/b.md`.\n", [1]),  # one finding for both
        ("Read `docs/a.md`. <!-- foreword: ignore missing-file -->\nRead `docs/b.md`.\n", [2]),
        ("<!-- foreword: ignore missing-file -->\n\nRead `docs/a.md`.\nRead `docs/b.md`.\n\nRead `docs/c.md`.\n", [6]),
        ("Read `docs/a.md`.\n\n<!--foreword: ignore-file secret, missing-file-->\n", []),
        ("`<!-- foreword: ignore-file missing-file -->`\nRead `docs/a.md`.\n", [2]),
        ("<!-- foreword: ignore contradiction -->\nRead `docs/a.md`.\n", [2]),
    ],
)
def test_a_comment_silences_a_line_a_paragraph_or_a_file(tree, findings, text, lines):
    tree({**GIT, "w/AGENTS.md": text})
    assert [line for code, _, line in findings() if code == "missing-file"] == lines


@pytest.mark.parametrize("check", ["secret", "hidden-characters", "forged-tag"])
def test_a_comment_cannot_silence_a_security_check(tree, findings, check):
    text = f"<!-- foreword: ignore-file {check} -->\n{KEY}\u202e </instructions>\n"
    tree({**GIT, "w/AGENTS.md": text})
    assert (check, "/w/AGENTS.md", 2) in findings() and ("unused-ignore", "/w/AGENTS.md", 1) in findings()


def test_a_comment_without_a_check_or_with_an_unknown_one_is_reported(tree, run):
    tree({**GIT, "w/AGENTS.md": "<!-- foreword: ignore -->\n\n<!-- foreword: ignore missing-files -->\n"})
    assert run("lint")[1] == (
        "AGENTS.md:1: warning: this comment does not say which check to ignore: <!-- foreword: ignore CHECK --> [unused-ignore]\n"
        "AGENTS.md:3: warning: unknown check 'missing-files'; did you mean 'missing-file'? [unused-ignore]\n"
    )


def test_a_lint_comment_is_not_an_unknown_directive(tree, findings):
    tree({**GIT, "w/AGENTS.md": "Be brief. <!-- foreword: ignore missing-file -->\n"})
    assert findings("--layout", "ion") == []


# Secrets stay secret


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_no_format_prints_a_secret(tree, run, format):
    texts = [
        f"Read `docs/{KEY}.md` and [this](docs/{KEY}.md).",
        f"@docs/{KEY}.md",
        f"Use the tool `{KEY}`.",
        f"</instructions {KEY}>",
        f"<!-- foreword: ignore {KEY} -->",
        KEY,
    ]
    skill = f"---\nname: {KEY}\ndescription: d\n{KEY}: x\n---\n{KEY}\n"
    tree({**GIT, "w/AGENTS.md": "\n\n".join(texts), "w/.agents/skills/release/SKILL.md": skill})
    status, out, err = run("lint", "--format", format, "--tool", "read_file")
    assert status == 1
    assert KEY[20:60] not in out + err


# Skills


def test_hidden_text_in_a_skill_is_reported_once_on_its_line(tree, findings):
    path = "/w/.agents/skills/release/SKILL.md"
    tree({**GIT, path[1:]: "---\nname: release\ndescription: Cuts it\u202e.\n---\nTag.\n"})
    assert findings("--layout", "opal", "--tool", "use_skill") == [("hidden-characters", path, 3)]


# --recursive


def test_recursive_checks_every_folder_and_every_skill(tree, findings, run):
    tree(
        {
            **GIT,
            "w/AGENTS.md": "Read `docs/a.md`.\n",
            "w/web/CLAUDE.md": "Read `docs/b.md`.\n",
            "w/deep/er/AGENTS.local.md": "Read `docs/c.md`.\n",
            "w/plugins/x/.agents/skills/y/SKILL.md": "No front matter.\n",
            "w/node_modules/z/AGENTS.md": "Read `docs/d.md`.\n",
        }
    )
    assert findings() == [("missing-file", "/w/AGENTS.md", 1)]
    assert findings("--recursive") == [
        ("skill-invalid", "/w/plugins/x/.agents/skills/y/SKILL.md", 1),
        ("missing-file", "/w/AGENTS.md", 1),
        ("missing-file", "/w/deep/er/AGENTS.local.md", 1),
        ("missing-file", "/w/web/CLAUDE.md", 1),
        ("unread-file", "/w/AGENTS.md", None),
    ]
    assert (
        run("lint", "--recursive")[2] == "4 files checked: 1 error, 3 warnings; 1 less severe (--min-severity info)\n"
    )


def test_a_nested_repository_is_checked_separately(tree, findings):
    tree(
        {
            **GIT,
            "w/AGENTS.md": "Use pnpm, never npm.\n",
            "w/other/.git/HEAD": "ref: refs/heads/main\n",
            "w/other/AGENTS.md": "Start with `npm install`.\n\nRead `docs/a.md`.\n",
            "w/docs/a.md": "x",
            "w/own/AGENTS.md": "Start with `npm install`.\n\nRead `docs/a.md`.\n",
        }
    )
    assert findings("--recursive") == [
        ("missing-file", "/w/other/AGENTS.md", 3),
        ("contradiction", "/w/own/AGENTS.md", 1),
    ]


def test_links_are_followed_once_and_loops_end(tree, findings):
    tree({**GIT, "w/AGENTS.md": "Read `docs/a.md`.\n", "w/loop": Path("."), "w/web/x.txt": "", "w/again": Path("web")})
    assert findings("--recursive") == [("missing-file", "/w/AGENTS.md", 1)]


def test_a_reference_outside_the_workspace_is_not_checked(tree, findings):
    tree({**GIT, "w/AGENTS.md": "Read `../nothing/at-all.md` and [this](../../../etc/no-such-file.md).\n"})
    assert findings() == []


def test_user_files_are_not_checked_against_one_project(tree, findings):
    tree({**GIT, "home/.agents/AGENTS.md": "Read `docs/style.md`.\n"})
    assert findings() == []


def test_a_pipe_that_closes_early_gets_complete_lines(tree):
    # Missing files: one finding each, more than fit in a buffer.
    tree({f"w/{'d' * 100}-{number}/AGENTS.md": f"Read `docs/a-{number}.md`.\n" for number in range(95)} | GIT)
    for count in (1, 90):
        result = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m foreword lint --recursive 2>&1 | head -n {count}"],
            cwd=tree.path("w"),
            env={**os.environ, "HOME": tree.path("home"), "COLUMNS": "40"},
            capture_output=True,
            text=True,
        )
        lines = result.stdout.splitlines()
        assert len(lines) == count and result.stderr == ""
        assert [line for line in lines if not re.fullmatch(r"\S+: (error|warning|info): .* \[[a-z-]+\]", line)] == []


def test_a_finding_with_several_quoted_lines_is_one_line_in_a_pipe(capsys):
    multiline_finding = Finding("file-cut", "warning", "/w/a.md: it says\n  one\r\ntwo \x1b[2J", "/w/a.md", 3)
    report = Report((multiline_finding,), 1, "/w")
    _write_text(report, Namespace(dir="/", home=None, recursive=True))
    assert capsys.readouterr().out == "/w/a.md:3: warning: it says   one two \\x1b[2J [file-cut]\n"


def test_files_below_that_were_not_checked_are_counted(tree, run, monkeypatch):
    tree({"w/.git": None, "w/AGENTS.md": "Root.", "w/api/AGENTS.md": "Api.", "w/web/app/CLAUDE.md": "App."})
    note = "2 instruction files in other folders were not checked; --recursive checks them\n"
    assert run("lint")[2].endswith(f"1 file checked: no findings\n{note}")
    assert note not in run("lint", "--recursive")[2]
    assert "1 instruction file in another folder was not checked; --recursive checks it\n" in run("lint", "web")[2]
    monkeypatch.setattr("foreword.programs.proofread._MAX_FOLDERS", 3)
    assert "1 instruction file in another folder was not checked" in run("lint")[2], "only some folders are searched"


@pytest.fixture
def recursion_limit():
    """A recursion limit that is as low as this test allows, because the time grows with the square of the depth."""
    default_limit, limit = sys.getrecursionlimit(), len(inspect.stack(0)) + 250
    sys.setrecursionlimit(limit)
    yield limit
    sys.setrecursionlimit(default_limit)


def test_folders_may_nest_deeper_than_the_recursion_limit(tree, findings, recursion_limit):
    folder = "w"
    tree(GIT)
    for _ in range(recursion_limit + 100):
        folder += "/d"
        os.mkdir(tree.path(folder))
    tree({f"{folder}/AGENTS.md": "Read `docs/a.md`.\n"})
    try:
        assert findings("--recursive") == [("missing-file", f"/{folder}/AGENTS.md", 1)]
    finally:
        subprocess.run(
            ["rm", "-rf", tree.path("w/d")], check=True
        )  # shutil.rmtree would exceed the recursion limit too


def test_the_parent_folder_is_listed_once_for_all_subfolders(tree, monkeypatch):
    """The cost of a file does not grow with the number of its neighbours."""
    from foreword.engine.assembler import Assembler
    from foreword.programs.proofread import proofread

    tree({**GIT, **{f"w/d{number}/AGENTS.md": f"Part {number}.\n" for number in range(30)}})
    list_calls = []
    list_directory = os.scandir

    def scandir(folder):
        list_calls.append(folder)
        return list_directory(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    report = proofread(Assembler(tree.workspace(), "foreword"), is_recursive=True)
    assert (report.files, list_calls.count(tree.path("w")) <= 3) == (30, True)


def test_an_import_of_a_missing_file_is_reported_once(tree, capsys):
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/AGENTS.md": "@docs/style.md\n", "home": None})
    arguments = ["lint", tree.path("w"), "--home", tree.path("home"), "--json"]
    main([*arguments])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [row["code"] for row in found if row["line"] == 1] == ["unfollowed-import"]
