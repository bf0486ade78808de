"""show, why, blame and tokens, with and without --json, on a terminal and in a pipe."""

import io
import json
import os
import pty
import subprocess
import sys
from argparse import Namespace
from datetime import datetime

import pytest

from foreword import __version__
from foreword.cli.terminal import report
from foreword.packs.std import NAMES
from foreword.vocabulary import Finding, digest
from foreword.wire.counting import prompt_with_counts


@pytest.fixture
def shop(tree, skill):
    return tree({
        "w/.git": None,
        "w/AGENTS.md": "One.\nTwo.\n",
        "w/CLAUDE.md": "Shadowed.\n",
        "w/base.md": "BASE\n",
        "w/plan.md": "1. Look.\n",
        "w/.agents/skills/testing/SKILL.md": skill("testing", "Runs the tests.", body="Run them."),
        "home/.ion/AGENTS.md": "I.\n",
    })  # fmt: skip


# show


def test_show_prints_prompt_and_findings_separately(shop, run):
    assert run("show", "--layout", "ion", "--base", "base.md") == (
        0,
        "BASE\n\n# Ion Instructions\nI.\n\n---\n\n# Project Instructions\nOne.\nTwo.\n",
        "1 info; see foreword lint --layout ion --min-severity info\n",
    )


def test_show_takes_a_directory(shop, run):
    own_prompt = run("show", "--layout", "ion")
    shop({"w/a/x": ""})
    os.chdir(shop.path("w/a"))
    for folder in ("..", shop.path("w")):
        assert run("show", folder, "--layout", "ion")[:2] == own_prompt[:2]


def test_show_as_json_is_one_value(shop, run):
    status, out, err = run("show", "--layout", "ion", "--base", "base.md", "--json")
    output = json.loads(out)
    text = "BASE\n\n# Ion Instructions\nI.\n\n---\n\n# Project Instructions\nOne.\nTwo."
    passages = output["passages"]
    counts = [passage.pop("tokens") for passage in passages]
    tokens = output.pop("tokens")
    origins = [passage.pop("origins") for passage in passages]
    assert (status, err) == (0, "")
    assert output == {
        "tools": [],
        "id": digest(text),
        "layout": "ion",
        "text": text,
        "passages": [
            {"section": "base", "start": 0, "end": 4, "lifetime": "release", "role": "system"},
            {"section": "ion-local", "start": 6, "end": 27, "lifetime": "project", "role": "system"},
            {"section": "project", "start": 34, "end": 66, "lifetime": "project", "role": "system"},
        ],
        "candidates": output["candidates"],
        "findings": [
            {
                "code": "file-shadowed",
                "severity": "info",
                "message": "/w/CLAUDE.md: /w/AGENTS.md comes before it",
                "path": "/w/CLAUDE.md",
                "line": None,
                "column": None,
                "end_column": None,
            }
        ],
    }
    assert sorted(tokens) == ["count", "error", "exact", "method"] and all(count > 0 for count in counts)
    assert [
        [(origin["kind"], origin["path"], origin["lines"], origin["start"], origin["end"]) for origin in passage]
        for passage in origins
    ] == [
        [("file", "/w/base.md", [1, 1], 0, 4)],
        [("builtin", "$std/ion/ion-local", None, 6, 25), ("file", "/home/.ion/AGENTS.md", [1, 1], 25, 27)],
        [("builtin", "$std/ion/project", None, 34, 57), ("file", "/w/AGENTS.md", [1, 2], 57, 66)],
    ]
    assert all(origin["hash"].startswith("sha256:") for passage in origins for origin in passage)


def test_candidates_can_be_printed_as_json(shop, run):
    output = json.loads(run("show", "--layout", "ion", "--json")[1])
    assert [
        candidate
        for candidate in output["candidates"]
        if candidate["fate"] != "absent" and candidate["path"].endswith(".md")
    ][:3] == [
        {"path": "/home/.ion/AGENTS.md", "layer": "ion-local", "fate": "used", "reason": "", "target": None},
        {"path": "/w/AGENTS.md", "layer": "project", "fate": "used", "reason": "", "target": None},
        {
            "path": "/w/CLAUDE.md",
            "layer": "project",
            "fate": "shadowed",
            "reason": "/w/AGENTS.md comes before it",
            "target": "/w/AGENTS.md",
        },
    ]


def test_offsets_are_in_code_points(tree, run):
    tree({"w/AGENTS.md": "é日👩\nx"})
    output = json.loads(run("show", "--layout", "ion", "--json")[1])
    (origin,) = [origin for passage in output["passages"] for origin in passage["origins"] if origin["kind"] == "file"]
    assert output["text"][origin["start"] : origin["end"]] == "é日👩\nx"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--layout", "opal", "--base", "base.md", "--tool", "shell"], "<tool-guidelines>\n- "),
        (["--layout", "opal", "--session", "s1"], "/home/.opal/sessions/s1/plan.md"),
        (["--layout", "ion", "--skill", "testing"], "# Active Skill: testing\nRun them."),
        (["--layout", "ion", "--plan", "plan.md"], "# Active Plan\n1. Look."),
        (["--layout", "foreword", "--plan", "plan.md"], "<plan>\n1. Look.\n</plan>"),
        (["--layout", "pi", "--doc", "Manual=/d/m.md"], "- Manual: /d/m.md"),
        (["--layout", "pi", "--set", "dir=.pi"], "Available tools:\n(none)"),
        (["--layout", "opal", "--set", "names=CLAUDE.md"], '<project-context source="/w/CLAUDE.md">\nShadowed.'),
        (["--layout", "foreword", "--set", "environment.text=Here: {cwd}"], "<environment>\nHere: /w\n</environment>"),
        (["--layout", "pi", "--now", "2026-03-07T08:55:05-06:00"], "Saturday, March 7, 2026 at 08:55:05 AM UTC-06:00"),
        (["--layout", "pi", "--now", "2026-03-07T08:55:05Z"], "Saturday, March 7, 2026 at 08:55:05 AM UTC"),
        (
            ["--layout", "pi", "--now", "2026-12-24T20:00:00+05:30"],
            "Thursday, December 24, 2026 at 08:00:00 PM UTC+05:30",
        ),
    ],
)
def test_agent_options_reach_the_prompt(shop, run, options, expected):
    status, out, _ = run("show", *options)
    assert status == 0 and expected in out


def test_a_time_without_an_offset_is_local(shop, run):
    zone = datetime(2026, 3, 7, 8, 55, 5).astimezone().tzname()
    assert f"at 08:55:05 AM {zone}\n" in run("show", "--layout", "pi", "--now", "2026-03-07T08:55:05")[1]


@pytest.mark.parametrize(("now", "zone"), [("2026-03-07T08:55:05", "CST"), ("2026-07-04T08:55:05", "CDT")])
def test_the_local_zone_has_its_abbreviation(tree, now, zone):
    result = script(
        tree,
        "show",
        "--layout",
        "pi",
        "--now",
        now,
        env={"TZ": "CST6CDT,M3.2.0,M11.1.0"},
        capture_output=True,
        text=True,
    )
    assert f"at 08:55:05 AM {zone}\n" in result.stdout


def test_documentation_is_printed_with_its_full_path(shop, run):
    assert "- Manual: /w/docs/manual.md\n" in run("show", "--layout", "pi", "--doc", "Manual=docs/manual.md")[1]


def test_the_default_time_is_the_local_time(shop, run):
    line = run("show", "--layout", "pi", "--base", "base.md")[1].split("\n")[-3]
    assert line.startswith("Current date and time: ") and line.endswith(str(datetime.now().astimezone().tzname()))


def test_a_sub_agent_gets_no_planning(shop, run):
    options = ["--layout", "opal", "--session", "s1"]
    assert "<planning>" in run("show", *options)[1]
    assert "<planning>" not in run("show", *options, "--sub-agent")[1]


def test_tools_come_from_a_file_and_by_name(shop, run):
    tools = [
        {"name": "read", "snippet": "Read it", "guidelines": ["Read all."], "schema": {"type": "object"}},
        {"name": "weather", "description": "The weather"},
    ]
    shop({"w/tools.json": json.dumps(tools)})
    out = run("show", "--layout", "pi", "--tools", "tools.json", "--tool", "bash", "--tool", "read")[1]
    assert "Available tools:\n- read: Read it\n- weather: weather\n- bash: " in out
    assert "- Read all.\n" in out


def test_the_home_option_sets_the_home_directory(shop, run):
    shop({"other/.ion/AGENTS.md": "Another user's."})
    out = run("show", "--layout", "ion", "--home", shop.path("other"))[1]
    assert "Another user's." in out and "I." not in out.split("\n")


def test_a_scope_is_read_from_a_file(shop, run):
    shop({
        "w/scope.json": json.dumps({
            "allow": [{"path": "/p"}, {"path": "docs", "permission": "read"}, {"path": "/t", "recursive": False}],
            "deny": [{"path": "/p/.env"}],
        })
    })  # fmt: skip
    out = run("show", "--scope", "scope.json")[1]
    assert out.partition("<boundaries>\n")[2].partition("\n</boundaries>")[0] == (
        "Readable:\n  - /p\n  - /w/docs\n  - /t [non-recursive]\n"
        "Writable:\n  - /p\n  - /t [non-recursive]\n"
        "Denied:\n  - /p/.env"
    )


def test_the_default_permission_does_not_depend_on_the_name_of_the_scope_file(shop, run):
    shop({"w/a: deny b/scope.json": json.dumps({"allow": [{"path": "/p"}]})})
    assert "Writable:\n  - /p" in run("show", "--scope", "a: deny b/scope.json")[1]


def test_the_default_layout_is_foreword(shop, run):
    assert run("show")[:2] == run("show", "--layout", "foreword")[:2]


def test_an_empty_prompt_prints_nothing(tree, run):
    tree({"w/nothing.toml": 'about = "Nothing."\nsections = ["a"]\n[section.a]\ntext = ""\n'})
    assert run("show", "--layout", "./nothing.toml") == (0, "", "")
    assert json.loads(run("show", "--layout", "./nothing.toml", "--json")[1])["text"] == ""


# --strict


def test_strict_exits_with_status_one_on_an_error_finding(shop, run):
    options = ["--set", "budget=10"]
    assert run("show", *options)[0] == 0
    status, out, err = run("show", *options, "--strict")
    assert status == 1 and "One.\nTwo." in out and err.startswith("error: ")


@pytest.mark.parametrize("command", ["show", "why", "blame", "tokens"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_strict_applies_to_every_command(shop, run, command, form):
    assert run(command, "--set", "budget=10", "--strict", *form)[0] == 1
    assert run(command, "--strict", *form)[0] == 0


def test_warnings_are_not_errors(shop, run):
    shop({"w/AGENTS.override.md": b"\xff"})
    status, _, err = run("show", "--strict")
    assert status == 0 and err.startswith("warning: ")


# why


def test_why_lists_each_file_with_its_fate(shop, run):
    status, out, err = run("why", "--layout", "ion")
    assert (status, [line.split(None, 3) for line in out.rstrip("\n").split("\n")]) == (
        0,
        [
            ["used", "ion-local", "~/.ion/AGENTS.md"],
            ["used", "project", "AGENTS.md"],
            ["shadowed", "project", "CLAUDE.md", "AGENTS.md comes before it"],
            ["unused", "project", ".agents/skills/testing/SKILL.md", "no section lists it; it is used by name"],
        ],
    )
    assert "1 more" in err and "--all" in err


def test_why_as_json_lists_every_candidate(shop, run):
    output = json.loads(run("why", "--layout", "ion", "--json")[1])
    considered = json.loads(run("show", "--layout", "ion", "--json")[1])["candidates"]
    assert output == [{**candidate, "readers": [], "advice": ""} for candidate in considered]
    assert [candidate["path"] for candidate in output if candidate["fate"] == "absent"] == [
        "/home/.config/agents/AGENTS.md"
    ]


@pytest.mark.parametrize("path", ["AGENTS.md", "/w/AGENTS.md", "./AGENTS.md"])
def test_why_takes_a_path(shop, run, path):
    path = path.replace("/w/", shop.path("w") + "/")
    output = json.loads(run("why", ".", path, "--layout", "ion", "--json")[1])
    assert ("/w/AGENTS.md", "used") in [(candidate["path"], candidate["fate"]) for candidate in output]
    assert {candidate["path"].rpartition("/")[2] for candidate in output} == {"AGENTS.md"}


def test_why_of_a_folder_lists_its_files(shop, run):
    output = json.loads(run("why", ".", ".agents", "--layout", "ion", "--json")[1])
    assert [(candidate["path"], candidate["fate"]) for candidate in output] == [
        ("/w/.agents/skills/testing/SKILL.md", "unused")
    ]


def why_row(run, *arguments):
    """Path, fate and reason of the only row that `why` prints, checked to be the same with --json."""
    (row,) = json.loads(run("why", *arguments, "--json")[1])
    output = run("why", *arguments)[1]
    assert row["fate"] in output and row["path"].removeprefix("/w/") in output
    # Who else reads the file is printed below the table, wrapped.
    printed = " ".join(output.split())
    assert all(clause in printed for clause in row["reason"].replace("/w/", "").split("; "))
    return row["path"], row["fate"], row["reason"]


@pytest.fixture
def project(tree):
    return tree({
        "w/.git": None,
        "w/AGENTS.md": "Root.",
        "w/README.md": "Read me.",
        "w/GEMINI.md": "G.",
        "w/OPAL.md": "O.",
        "w/.pi.md": "P.",
        "w/api/AGENTS.md": "Api.",
        "w/api/CLAUDE.md": "Other.",
        "w/api/deep/er/x.txt": "",
        "w/api/.agents/skills/a/SKILL.md": "---\nname: a\ndescription: D.\n---\n",
    })  # fmt: skip


FOREWORD_READS = "it reads AGENTS.md, AGENTS.override.md, CLAUDE.md, AGENTS.local.md"


@pytest.mark.parametrize(
    ("path", "fate", "reason"),
    [
        ("AGENT.md", "absent", "the file does not exist; did you mean 'AGENTS.md'?"),
        ("nowhere/x.md", "absent", "the file does not exist"),
        ("README.md", "unread", f"the layout 'foreword' does not read it ({FOREWORD_READS}); no other shipped layout does"),
        ("GEMINI.md", "unread", f"the layout 'foreword' does not read it ({FOREWORD_READS}); these agents do: copilot, gemini, gptme"),
        ("OPAL.md", "unread", f"the layout 'foreword' does not read it ({FOREWORD_READS}); these layouts do: opal"),
        ("api/AGENTS.md", "waiting", "it waits for a file in /w/api; also read by codex, continue, copilot, cursor, droid, gptme, grok, kilo, kimi, opencode, pi-agent, qwen, vibe"),
        ("api/CLAUDE.md", "shadowed", "/w/api/AGENTS.md comes before it; also read by claude, copilot, droid, gptme, grok"),
        ("api/.agents/skills/a/SKILL.md", "elsewhere", "only an agent that works in /w/api lists it; also read by codex, copilot, gemini, kilo, opencode, qwen, vibe"),
        ("api/deep", "unread", f"the layout 'foreword' does not read anything below it ({FOREWORD_READS}); no other shipped layout does"),
    ],
)  # fmt: skip
def test_why_explains_files_that_were_not_considered(project, run, path, fate, reason):
    assert why_row(run, ".", path) == (f"/w/{path}", fate, reason)


def test_why_agrees_with_touch_about_files_in_other_folders(project, run):
    rows = json.loads(run("why", ".", "api", "--json")[1])
    assert [(row["path"], row["fate"], row["target"]) for row in rows] == [
        ("/w/api/AGENTS.md", "waiting", "api/**"),
        ("/w/api/CLAUDE.md", "shadowed", "/w/api/AGENTS.md"),
    ]
    assert "Api." in run("touch", ".", "api/new.py")[1]
    # Codex sends nothing when a file is touched.
    path, fate, reason = why_row(run, ".", "api/AGENTS.md", "--layout", "codex")
    assert (path, fate) == ("/w/api/AGENTS.md", "elsewhere")
    assert reason.startswith("only an agent that works in /w/api reads it; also read by continue, copilot,")


def test_why_names_the_agents_that_read_a_file_too(project, run):
    for layout, readers in (("foreword", "claude, codex, continue"), ("codex", "claude, continue")):
        rows = json.loads(run("why", ".", "AGENTS.md", "--layout", layout, "--json")[1])
        (reason,) = [row["reason"] for row in rows if row["fate"] == "used"]
        assert (
            reason
            == f"also read by {readers}, copilot, cursor, droid, gptme, grok, kilo, kimi, opencode, pi-agent, qwen, vibe"
        )


def test_why_lists_the_other_agents_below_the_table(project, run):
    _, out, _ = run("why", ".", "api/AGENTS.md")
    assert out.split("\n")[-5:-1] == [
        "also read by codex, continue, copilot, cursor, droid, gptme, grok, kilo, kimi,",
        "  opencode, pi-agent, qwen, vibe",
        "to include it: move its text into AGENTS.md; until then, it is sent only for",
        "  those files",
    ]
    assert max(map(len, out.split("\n"))) <= 80
    assert "\nthese agents do: copilot, gemini, gptme\n" in run("why", ".", "GEMINI.md")[1]


@pytest.mark.parametrize(
    ("path", "readers", "advice"),
    [
        ("AGENTS.local.md", [], "create it"),
        ("nowhere/x.md", [], ""),
        ("GEMINI.md", ["copilot", "gemini", "gptme"], "move its text into /w/AGENTS.md"),
        ("OPAL.md", [], "move its text into /w/AGENTS.md"),
        ("api/CLAUDE.md", ["claude", "copilot", "droid", "gptme", "grok"], "move its text into /w/api/AGENTS.md"),
        ("api/.agents/skills/a/SKILL.md", ["codex", "copilot", "gemini", "kilo", "opencode", "qwen", "vibe"], "move its text into /w/AGENTS.md"),
    ],
)  # fmt: skip
def test_why_says_who_else_reads_a_file_and_how_to_include_it(project, run, path, readers, advice):
    (row,) = json.loads(run("why", ".", path, "--json")[1])
    assert (row["readers"], row["advice"]) == (readers, advice)
    printed = run("why", ".", path)[1].replace("\n  ", " ")
    assert ("to include it: " in printed) is bool(advice)


def test_why_names_align_for_a_released_agent(project, run, tree):
    tree({"w/CLAUDE.md": "Own."})
    assert "to include it: run `foreword align`, or move its text into CLAUDE.md" in run(
        "why", ".", "api/AGENTS.md", "--layout", "claude"
    )[1].replace("\n  ", " ")


def test_why_explains_an_absent_file_that_would_be_read(project, run):
    assert why_row(run, ".", "AGENTS.local.md") == (
        "/w/AGENTS.local.md",
        "absent",
        "the file does not exist; it would be read",
    )


def test_why_explains_a_skill_that_only_applies_in_its_folder(project, run):
    path = "api/.agents/skills/a/SKILL.md"
    message = (
        "only an agent that works in /w/api lists it; also read by codex, copilot, gemini, kilo, opencode, qwen, vibe"
    )
    assert why_row(run, ".", path, "--layout", "opal") == (f"/w/{path}", "elsewhere", message)


@pytest.mark.parametrize("path", ["AGENTS.md", "./AGENTS.md", "api/AGENTS.md"])
def test_a_single_argument_that_is_a_file_is_the_path(project, run, path):
    assert run("why", path) == run("why", ".", path)


# `agents.md` alone


@pytest.mark.parametrize("name", ["agents.md", "Agents.MD", "claude.md"])
def test_a_file_in_the_wrong_case_is_mentioned(tree, run, name):
    tree({"w/.git": None, f"w/{name}": "Be brief."})
    right = "CLAUDE.md" if name[0] == "c" else "AGENTS.md"
    message = f"{name} was not read: it must be named {right} [file-case]"
    for command in ("show", "why"):
        assert run(command)[2].count(message) == 1
    assert run("lint")[1] == f"{name}: warning: was not read: it must be named {right} [file-case]\n"
    path, fate, reason = why_row(run, ".", name)
    assert (path, fate) == (f"/w/{name}", "unread")
    assert f"it must be named {right}" in reason
    assert "Be brief." not in run("show")[1]


def test_a_folder_in_the_wrong_case_is_not_mentioned(tree, run):
    tree({"w/.git": None, "w/agents.md/x": ""})
    assert run("show")[2] == ""


def test_why_lists_absent_files_on_request(shop, run):
    assert "~/.config/agents/AGENTS.md" not in run("why", "--layout", "ion")[1]
    assert "~/.config/agents/AGENTS.md" in run("why", "--layout", "ion", "--all")[1]


# blame


def test_blame_names_the_origin_of_each_line(shop, run):
    _, out, _ = run("blame", "--layout", "ion", "--base", "base.md")
    rows = [tuple(part.strip() for part in line.split("│")) for line in out.rstrip("\n").split("\n")]
    assert [text for _, text in rows] == run("show", "--layout", "ion", "--base", "base.md")[1].rstrip("\n").split("\n")


def test_blame_can_be_printed_as_json(shop, run):
    output = json.loads(run("blame", "--layout", "ion", "--base", "base.md", "--json")[1])
    assert [
        (line["number"], line["text"], line["section"], line["kind"], line["path"], line["line"]) for line in output
    ] == [
        (1, "BASE", "base", "file", "/w/base.md", 1),
        (2, "", None, None, None, None),
        (3, "# Ion Instructions", "ion-local", "builtin", "$std/ion/ion-local", None),
        (4, "I.", "ion-local", "file", "/home/.ion/AGENTS.md", 1),
        (5, "", None, None, None, None),
        (6, "---", None, None, None, None),
        (7, "", None, None, None, None),
        (8, "# Project Instructions", "project", "builtin", "$std/ion/project", None),
        (9, "One.", "project", "file", "/w/AGENTS.md", 1),
        (10, "Two.", "project", "file", "/w/AGENTS.md", 2),
    ]


# tokens


def test_tokens_add_up_by_section(shop, run):
    output = json.loads(run("tokens", "--layout", "ion", "--json")[1])
    assert [passage["section"] for passage in output["passages"]] == ["base", "ion-local", "project"]
    assert all(passage["tokens"] > 0 and passage["method"] and passage["error"] >= 0 for passage in output["passages"])
    assert output["tokens"]["count"] >= max(passage["tokens"] for passage in output["passages"])


def test_tokens_are_printed_as_a_table(shop, run):
    _, out, _ = run("tokens", "--layout", "ion")
    *rows, last = out.rstrip("\n").split("\n")
    assert [row.split()[:2] for row in rows] == [["base", "release"], ["ion-local", "project"], ["project", "project"]]
    assert all("#" in row for row in rows) and " tokens by " in last


def test_tokens_takes_an_edition_or_a_saved_prompt(shop, run, tree):
    run("conversation", "turn", "42", "--model", "claude-opus-4-5", "--tool", "read", "--layout", "ion")
    folder = json.loads(run("tokens", "--model", "claude-opus-4-5", "--tool", "read", "--layout", "ion", "--json")[1])
    tree({"w/AGENTS.md": "# Another"})  # the edition stays as it is
    for name in (
        "conversation:42",
        "conversation:42@1",
        json.loads(run("conversation", "show", "42", "--json")[1])["id"],
    ):
        counted = json.loads(run("tokens", name, "--model", "claude-opus-4-5", "--json")[1])
        assert (counted["passages"], counted["tokens"]) == (folder["passages"], folder["tokens"])
    edition = json.loads(run("tokens", "conversation:42", "--json")[1])
    assert edition == folder  # counted for its own model, with its own tools
    assert [tool["name"] for tool in edition["tools"]] == ["read"]
    assert " x1." in run("tokens", "conversation:42")[1].split(" tokens by ")[1]
    tree({"w/plain.txt": "Be brief.\n"})
    plain = json.loads(run("tokens", "plain.txt", "--json")[1])
    assert (plain["passages"], plain["tools"], plain["tokens"]["count"] > 0) == ([], [], True)
    status, _, err = run("tokens", "conversation:43")
    assert (status, "no conversation or edition '43' in the store" in err) == (2, True)


# The real script


def script(tree, *arguments, **options):
    environment = {**os.environ, "HOME": tree.path("home"), "TERM": "xterm"}
    for name in ("NO_COLOR", "XDG_CONFIG_HOME", "PWD"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", "foreword", *arguments],
        cwd=tree.path("w"),
        env={**environment, **options.pop("env", {})},
        **options,
    )


def test_the_script_prints_bytes_in_any_locale(tree):
    tree({"w/AGENTS.md": "é日👩"})
    result = script(
        tree,
        "show",
        "--layout",
        "ion",
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert result.returncode == 0 and "é日👩".encode() in result.stdout and result.stderr == b""


def test_version_prints_the_version(tree):
    result = script(tree, "--version", capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"foreword {__version__}\n", "")


def test_a_closed_pipe_is_not_an_error(tree):
    tree({"w/AGENTS.md": "word\n" * 100_000})
    command = f"{sys.executable} -m foreword show --layout pi | head -1"
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=tree.path("w"),
        env={**os.environ, "HOME": tree.path("home")},
        capture_output=True,
        text=True,
    )
    assert result.stdout.count("\n") == 1 and "Traceback" not in result.stderr and "BrokenPipe" not in result.stderr


def run_on_terminal(tree, *arguments, **environment):
    """Output of a command on a terminal."""
    own_end, program_end = pty.openpty()
    result = script(tree, *arguments, stdout=program_end, stderr=program_end, env=environment)
    os.close(program_end)
    written = b""
    try:
        while data := os.read(own_end, 65_536):
            written += data
    except OSError:
        pass
    os.close(own_end)
    assert result.returncode == 0
    return written.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("command", ["show", "why", "blame", "tokens", "layouts", "skills"])
def test_colours_are_used_only_on_a_terminal(shop, command):
    plain = script(shop, command, capture_output=True, text=True)
    assert "\x1b" not in plain.stdout + plain.stderr
    assert "\x1b" in run_on_terminal(shop, command)
    for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in run_on_terminal(shop, command, **quiet)


HOSTILE = "One.\t\x1b]0;owned\x07 \x1b[2J \x9b31m \x7f\x08 \u202e"
ESCAPED = "One.\t\\x1b]0;owned\\x07 \\x1b[2J \\x9b31m \\x7f\\x08 \\u202e"


@pytest.mark.parametrize("arguments", [["show"], ["blame"], ["skills", "testing"]])
def test_control_characters_in_a_file_are_escaped_on_a_terminal(shop, skill, arguments):
    shop({"w/AGENTS.md": HOSTILE, "w/.agents/skills/testing/SKILL.md": skill("testing", body=HOSTILE)})
    options = ["--layout", "ion"]
    assert HOSTILE in script(shop, *arguments, *options, capture_output=True, text=True).stdout
    output = run_on_terminal(shop, *arguments, *options, NO_COLOR="1")
    assert "\x1b" not in output and "\x9b" not in output
    assert " ".join(ESCAPED.split()) in " ".join(output.split())


@pytest.mark.parametrize(("stream", "message"), [("terminal", ESCAPED), ("pipe", HOSTILE)])
def test_control_characters_in_a_finding_are_escaped_on_a_terminal(stream, message, monkeypatch, tmp_path):
    class Stream(io.StringIO):
        def isatty(self):
            return stream == "terminal"

    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", Stream())
    report([Finding("file-cut", "warning", HOSTILE)], Namespace(dir=str(tmp_path), home=None))
    assert sys.stderr.getvalue().split() == f"warning: {message} [file-cut]\n".split()


def test_the_prompt_itself_is_never_coloured(shop):
    assert script(shop, "show", "--layout", "ion", capture_output=True, text=True).stdout in run_on_terminal(
        shop, "show", "--layout", "ion"
    )


@pytest.mark.parametrize("layout", NAMES)
def test_the_hash_of_an_origin_is_the_hash_of_its_span(tree, layout):
    """In every layout, for every kind of origin."""
    tree({"w/AGENTS.md": "\n# Shop\n\nRun `make test`.\n\n\n"})
    base = "In [prompt:cwd]: [file:AGENTS.md]!" if layout == "builder" else ""
    form = prompt_with_counts(tree.prompt(layout, base=base))
    origins = [origin for passage in form["passages"] for origin in passage["origins"]]
    assert [origin["hash"] for origin in origins] == [
        digest(form["text"][origin["start"] : origin["end"]]) for origin in origins
    ]
    assert any(origin["path"].endswith("/AGENTS.md") for origin in origins)


def test_tokens_counts_tools_by_tool_and_by_server(run):
    arguments = [f"--tool={name}" for name in ("shell", "mcp__gh__issue", "mcp__gh__pull", "mcp__lonely")]
    tools = json.loads(run("tokens", *arguments, "--json")[1])["tools"]
    assert [(tool["name"], tool["server"]) for tool in tools] == [
        ("mcp__gh__issue", "gh"),
        ("mcp__gh__pull", "gh"),
        ("mcp__lonely", None),
        ("shell", None),
    ]
    assert all(tool["tokens"] > 0 for tool in tools)
    output = run("tokens", *arguments)[1]
    assert "all 2 of gh" in output
    assert f"{sum(tool['tokens'] for tool in tools)} tokens for tools, in addition to the prompt" in output
    assert json.loads(run("tokens", "--json")[1])["tools"] == []
    assert "tokens for tools" not in run("tokens")[1]


def test_a_tools_file_may_be_in_a_providers_form(tree, run):
    function = {"name": "grep", "parameters": {"type": "object"}}
    forms = [
        [{"type": "function", "function": function}],
        [{"name": "grep", "input_schema": {"type": "object"}}],
        [{"functionDeclarations": [function]}],
    ]
    outputs = set()
    for rows in forms:
        tree({"w/tools.json": json.dumps(rows)})
        status, out, _ = run("show", "--layout", "pi", "--tools", "tools.json", "--now", "2026-03-07T08:55:05Z")
        assert status == 0 and "- grep: " in out
        outputs.add(out)
    assert len(outputs) == 1
