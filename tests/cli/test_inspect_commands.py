"""`foreword diff` and `foreword cache`, as a user would type them."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from foreword import Conversations
from foreword.wire.forms import CacheForm, CacheReusesForm, DifferenceForm, EditionForm

pytestmark = pytest.mark.usefixtures("shop_with_a_skill")
RULES = "".join(f"Rule {number}: keep it short, and check what you did.\n" for number in range(300))


# diff


def test_diff_compares_a_saved_prompt_with_a_directory(save_output, run, tree):
    old = save_output("old.json", "show", "--tool", "read")
    tree({"w/AGENTS.md": "# Shop\n\nRun `make check`.\n\nBe kind.\n"})
    status, out, err = run("diff", old, ".", "--tool", "read")
    assert (status, err) == (0, "")
    assert out.splitlines()[2:] == [
        "",
        "changed  instructions",
        "  AGENTS.md:3-5",
        "    Run `make [-test-]{+check+}`.",
        "    +",
        "    + Be kind.",
    ]


def test_diff_says_what_was_added_and_removed(save_output, run, tree):
    old = save_output("old.json", "show", "--tool", "read")
    os.remove(tree.path("w/AGENTS.md"))
    tree({"home/.agents/AGENTS.md": "Mine.\n"})
    status, out, _ = run("diff", old, ".", "--exit-code")
    assert status == 1
    headings = [line for line in out.splitlines()[2:] if line and line[0] != " "]
    assert headings == ["changed  instructions", "removed  skills", "removed  tool read"]
    assert "removed  skills\n  .agents/skills/ship/SKILL.md:1-4 (now unused)\n    - <skills>\n" in out
    assert (
        "  AGENTS.md:1-3 (now absent)\n  ~/.agents/AGENTS.md:1 (was absent)\n" in out
        and '/[-w-]{+home/.agents+}/AGENTS.md">\n    - # Shop\n    -\n    - Run `make test`.\n    + Mine.\n' in out
    )


def test_diff_can_be_printed_as_json(save_output, run_json, tree):
    old = save_output("old.json", "show", "--tool", "read")
    tree({"w/AGENTS.md": "# Shop\n\nRun `make check`.\n"})
    form = run_json(DifferenceForm, "diff", old, ".", "--tool", "read")
    assert (form["changed"], form["circumstances"]) == (True, [])
    assert form["sections"] == {"added": [], "removed": [], "changed": ["instructions"], "moved": []}
    (section,) = form["details"]
    (edit,) = section["edits"]
    assert (section["section"], section["changes"]) == ("instructions", ["changed"])
    assert (edit["old"]["text"], edit["new"]["text"]) == ("test", "check")
    assert edit["causes"] == [{"kind": "file", "path": "/w/AGENTS.md", "lines": [3, 3], "note": None}]


def test_diff_of_identical_prompts_is_empty(save_output, run, run_json):
    old = save_output("old.json", "show")
    assert run("diff", old, ".", "--exit-code")[::2] == (0, "")
    assert run("diff", ".", ".")[1].endswith("the prompts are the same\n")
    assert run_json(DifferenceForm, "diff", ".", old)["changed"] is False


def test_a_late_tool_of_a_stored_conversation_keeps_the_prefix_if_the_model_accepts_it(run, run_json, tree):
    store = ("--store", tree.path("talks.db"), "--model", "claude-sonnet-5-5")
    run("conversation", "turn", "t", "--tool", "read", *store)
    run("conversation", "turn", "t", "--tool", "read", "--tool", "search", *store)
    kept = {}
    for model in ("claude-sonnet-5-5", "claude-opus-4-5"):
        options = ("--store", tree.path("talks.db"), "--provider", "anthropic", "--model", model)
        (provider,) = run_json(CacheReusesForm, "cache", "conversation:t@1", "conversation:t@2", *options)["providers"]
        kept[model] = provider["shared"] / provider["tokens"]
    reuses = run_json(
        CacheReusesForm, "cache", "conversation:t@1", "conversation:t@2", "--store", tree.path("talks.db")
    )["providers"]
    report = run_json(CacheForm, "cache", "conversation:t", "--store", tree.path("talks.db"))
    models = [provider["price"]["model"] for provider in (reuses[0], report["providers"][0])]
    assert models == ["claude-sonnet-5.5", "claude-sonnet-5.5"]  # the one that the conversation was built for
    assert kept["claude-sonnet-5-5"] > 0.8 and kept["claude-opus-4-5"] < 0.2


def test_the_tokens_of_tools_are_those_of_the_model(run, run_json, tree):
    counts = {}
    for model in ("claude-sonnet-5-5", "gpt-5.6-sol"):
        run("conversation", "turn", model, "--store", tree.path("talks.db"), "--tool", "read", "--model", model)
        (tool,) = run_json(EditionForm, "conversation", "show", model, "--store", tree.path("talks.db"))["tool_tokens"]
        counts[model] = tool["tokens"]
    assert counts["claude-sonnet-5-5"] > counts["gpt-5.6-sol"]


def test_recorded_usage_is_shown_with_its_edition(run, tree, run_json):
    run("conversation", "turn", "42", "--store", tree.path("talks.db"), "--tool", "mcp__gh__issue")
    edition = run_json(EditionForm, "conversation", "show", "42", "--store", tree.path("talks.db"))
    assert "usage" not in edition
    assert [(tool["name"], tool["server"]) for tool in edition["tool_tokens"]] == [("mcp__gh__issue", "gh")]
    with Conversations(tree.path("talks.db")) as conversations:
        conversations.open("42", tree.workspace()).record_usage({"input_tokens": 8, "output_tokens": 2})
    usage = run_json(EditionForm, "conversation", "show", "42", "--store", tree.path("talks.db"))["usage"]
    counters = {
        "calls": 1,
        "input": 8,
        "read": None,
        "written": None,
        "output": 2,
        "cost": None,
        "hit_rate": None,
        "unreported": 1,
    }
    assert usage == counters


def test_diff_compares_editions(run, tree, run_json):
    run("conversation", "turn", "42", "--tool", "read")
    tree({"w/AGENTS.md": "# Shop\n\nRun `make check`.\n"})
    run("conversation", "reload", "42", "--tool", "read")
    first = run("diff", "conversation:42@1", "conversation:42")[1]
    assert "    Run `make [-test-]{+check+}`.\n" in first
    prompt_id = json.loads(run("conversation", "show", "42", "--json")[1])["id"]
    by_id = run_json(DifferenceForm, "diff", "conversation:42@1", prompt_id)
    assert by_id["sections"]["changed"] == ["instructions"]
    assert run_json(DifferenceForm, "diff", "conversation:42@2", prompt_id)["changed"] is False
    assert run_json(DifferenceForm, "diff", "conversation:42@2", ".", "--tool", "read")["changed"] is False
    run("conversation", "turn", "43", "--model", "claude-opus-4-5")  # an edition is counted for its own model
    for_claude = run_json(DifferenceForm, "diff", "conversation:43", "conversation:43", "--model", "claude-opus-4-5")[
        "new"
    ]["tokens"]
    assert run_json(DifferenceForm, "diff", "conversation:43", "conversation:43")["new"]["tokens"] == for_claude
    assert for_claude["exact"] is False


def test_an_id_may_contain_an_at_sign(run, run_json):
    run("conversation", "turn", "me@3")
    assert run_json(DifferenceForm, "diff", "conversation:me@3", "conversation:me@3@1")["changed"] is False


def test_diff_of_turns_lists_tools(save_output, run_json):
    old = save_output("old.json", "conversation", "turn", "a", "--tool", "read")
    new = save_output("new.json", "conversation", "turn", "b", "--tool", "shell")
    assert run_json(DifferenceForm, "diff", old, new)["tools"] == {
        "added": ["shell"],
        "removed": ["read"],
        "changed": [],
        "moved": [],
    }


def test_diff_of_layouts_names_the_layout(save_output, run_json):
    form = run_json(DifferenceForm, "diff", save_output("old.json", "show"), ".", "--layout", "opal")
    assert form["circumstances"] == [{"name": "layout", "old": "foreword", "new": "opal"}]
    assert any(cause["kind"] == "layout" for section in form["details"] for cause in section["causes"])


def test_diff_reads_standard_input(run, tree, monkeypatch):
    tree({"w/new.txt": "one 2\n"})
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one two\n")))
    assert "    one [-two-]{+2+}\n" in run("diff", "-", "new.txt")[1]


def test_standard_input_is_read_like_a_file(run, tree, monkeypatch):
    tree({"w/new.txt": "one\ntwo\n"})
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfone\r\ntwo")))
    assert run("diff", "-", "new.txt", "--exit-code")[0] == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one \xff two")))
    assert run("diff", "-", "new.txt")[0] == 2


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("Run a before you stop.", "Run b before you stop.\nDone.", ["    Run [-a-]{+b+} before you stop.", "    + Done."]),
        ("Run a now then b.", "Run the\nfirst a now then c.", ["    - Run a now then b.", "    + Run the", "    + first a now then c."]),
        ("Run a.\nStop.", "Run a\nnow.\nStop.", ["    - Run a.", "    + Run a", "    + now."]),
    ],
)  # fmt: skip
def test_lines_are_printed_unchanged(run, tree, old, new, shown):
    tree({"w/old.txt": old, "w/new.txt": new})
    assert run("diff", "old.txt", "new.txt")[1].splitlines()[4:] == shown


def test_output_of_show_can_be_read_back_as_the_same_prompt(run, tree):
    tree({"w/AGENTS.md": "Be brief."})
    tree({"w/before.txt": run("show", "--layout", "ion")[1]})
    assert run("diff", "before.txt", ".", "--layout", "ion", "--exit-code")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("", "", "the prompts are the same"),
        ("", "x\n", "    {+x+}"),
        ("x\n", "", "    [-x-]"),
        ("hi 𝕏 👩‍👩‍👧\n", "hi 𝕐 👩‍👩‍👦\n", "    hi [-𝕏 👩‍👩‍👧-]{+𝕐 👩‍👩‍👦+}"),
        ("a \u202eb\n", "c \u202eb\n", "    [-a-]{+c+} \\u202eb"),
        ("a \x1b[31mb\n", "c \x1b[31mb\n", "    [-a-]{+c+} \\x1b[31mb"),  # no control characters reach a terminal
        ("a b\n", "a  b\n", "    a[-·-]{+··+}b"),
        ("a\tb\n", "a b\n", "    a[-⇥-]{+·+}b"),
        ("x" * 500 + "\n", "y" * 500 + "\n", f"    [-{'x' * 159}…-]{{+{'y' * 159}…+}}"),
        ("one\ntwo", "one\ntwo\nthree", "    + three"),
        ("\na b\n", "\na c\n", "    a [-b-]{+c+}"),
        ("a b\nc d.\n", "a x.\n", "    - a b"),
        ("", "line\n" * 30, "    + … 22 more lines"),
        (
            "".join(f"{n} a\n" for n in range(60)),
            "".join(f"{n} b\n" for n in range(60)),
            "  … 40 more changes (--json lists them all)",
        ),
    ],
)
def test_diff_compares_plain_texts(run, tree, old, new, line):
    tree({"w/old.txt": old, "w/new.txt": new})
    status, out, err = run("diff", "old.txt", "new.txt")
    assert (status, err) == (0, "")
    assert line in out.splitlines()


def test_a_lone_surrogate_is_compared(run, tree, run_json):
    tree({"w/old.json": '{"text": "a \\ud800 b"}', "w/new.txt": "a c b"})
    assert "    a [-\\ud800-]{+c+} b\n" in run("diff", "old.json", "new.txt")[1]
    assert run("diff", "old.json", "new.txt", "--json")[0] == 0
    assert run("cache", "old.json", "new.txt")[0] == 0


def test_diff_is_coloured_on_a_terminal(tree):
    tree({"w/old.txt": "a b\n", "w/new.txt": "a c\n"})
    main, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "HOME": tree.path("home")}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "foreword", "diff", "old.txt", "new.txt"]
    result = subprocess.run(command, cwd=tree.path("w"), stdout=other, env=environment, check=True)
    os.close(other)
    output = os.read(main, 65536).decode()
    os.close(main)
    assert result.returncode == 0
    assert "a \x1b[31mb\x1b[0m\x1b[32mc\x1b[0m" in output


# cache


def test_the_default_layout_needs_no_advice(run, run_json, tree):
    tree({"w/AGENTS.md": RULES})
    status, out, err = run("cache", "--tool", "read", "--exit-code")
    assert (status, err) == (0, "")
    assert "order   good: every section comes after those with a longer lifetime\n" in out
    assert "rebuilds produced the same bytes\n" in out and "changed" not in out
    form = run_json(CacheForm, "cache", ".", "--tool", "read")
    assert (form["findings"], form["misplaced"], form["better_order"]) == ([], [], None)
    assert {rebuild["changed"] for rebuild in form["rebuilds"]} == {False}
    anthropic, openai, gemini = form["providers"]
    assert [point["lifetime"] for point in anthropic["breakpoints"]] == ["release", "project", "conversation"]
    assert [point["kept"] for point in anthropic["breakpoints"]] == [False, True, True]
    assert (openai["caching"], gemini["order"][0]) == ("prefix", "system")
    assert all(provider["next_request"] < provider["first_request"] for provider in (anthropic, openai, gemini))


def test_a_clock_that_breaks_the_prefix_is_reported(run, run_json):
    status, out, err = run("cache", "--layout", "pi", "--tool", "read", "--exit-code")
    assert status == 1
    assert (
        "section 'clock' differs when the prompt is built a minute later and a day later (clock now.long): that ends the cached prefix"
        in err
    )
    assert "section 'clock' lasts for a turn and comes before 'cwd'" in err
    assert "        --set section.last.sections=cwd,clock  fixes part of it\n" in out
    form = run_json(CacheForm, "cache", "--layout", "pi", "--tool", "read")
    assert sorted({finding["code"] for finding in form["findings"]}) == ["cache-order", "cache-unstable"]
    moved = [(rebuild["how"], rebuild["details"][0]["section"]) for rebuild in form["rebuilds"] if rebuild["changed"]]
    assert moved == [("a minute later", "clock"), ("a day later", "clock")]
    assert form["better_order"]["set"] == ["section.last.sections=cwd,clock"]


def test_suggested_options_fix_the_order(run, run_json):
    options = ["cache", "--layout", "opal", "--tool", "read_file", "--session", "s"]
    form = run_json(CacheForm, *options)
    assert form["better_order"]["fixes"] == "all"
    fixed = run_json(CacheForm, *options, *(f"--set={assignment}" for assignment in form["better_order"]["set"]))
    assert (fixed["misplaced"], fixed["findings"]) == ([], [])


def test_options_are_passed_to_the_other_process(run_json, tree):
    tree({"w/plan.md": "A plan.\n", "w/my tools.json": '[{"name": "read", "guidelines": ["Read all."]}]'})
    tree({"w/scope.json": '{"allow": [{"path": "src"}]}'})
    form = run_json(
        CacheForm, "cache", "--tools", "my tools.json", "--plan", "plan.md", "--language", "de", "--sub-agent",
        "--scope", "scope.json", "--set", "skills.budget=5", "--set", "join=\n", "--model", "x", "--doc", "A=/b",
    )  # fmt: skip
    assert [rebuild["error"] for rebuild in form["rebuilds"]] == [None] * len(form["rebuilds"])
    assert {rebuild["changed"] for rebuild in form["rebuilds"]} == {False}


def test_cache_counts_tools_by_tool_and_by_server(run, run_json):
    options = [
        "cache",
        "--provider",
        "anthropic",
        "--tool",
        "read",
        "--tool",
        "mcp__gh__issue",
        "--tool",
        "mcp__gh__pull",
    ]
    tools = run_json(CacheForm, *options)["tools"]
    assert [(tool["name"], tool["server"]) for tool in tools] == [
        ("mcp__gh__issue", "gh"),
        ("mcp__gh__pull", "gh"),
        ("read", None),
    ]
    counts = [tool["tokens"] for tool in tools]
    expected = f"3 tools, {sum(counts)} tokens: gh {counts[0] + counts[1]}, without a server {counts[2]}"
    assert expected in run(*options)[1]


def test_the_cost_of_a_request_says_whether_it_has_messages(run, tree):
    tree({"w/turn.json": json.dumps({"system": "Be kind.", "messages": [{"role": "user", "content": "Hello."}]})})
    assert "the first request costs " in (saved := run("cache", "turn.json", "--provider", "anthropic")[1])
    assert "without messages" not in saved
    output = run("cache", "--provider", "anthropic")[1]
    assert re.search(r"the first request costs \S+, the next \S+, without messages\n", output)


def test_cache_takes_a_provider_and_a_model(run, run_json):
    form = run_json(CacheForm, "cache", "--provider", "anthropic", "--model", "claude-opus-4-5-20251101")
    assert [
        (provider["provider"], provider["price"]["model"], provider["price"]["minimum"])
        for provider in form["providers"]
    ] == [("anthropic", "claude-opus-4.5", 4096)]
    assert all(provider["price"]["source"] and provider["price"]["date"] for provider in form["providers"])
    unknown = run_json(CacheForm, "cache", "--provider", "openai", "--model", "brand-new")
    (only,) = unknown["providers"]
    assert (only["price"], only["first_request"]) == (None, None)
    assert "price unknown" in run("cache", "--provider", "openai", "--model", "brand-new")[1]


def test_cache_shows_what_a_change_costs(save_output, run, run_json, tree):
    tree({"w/AGENTS.md": RULES})
    old = save_output("old.json", "conversation", "turn", "t", "--tool", "read")
    tree({"w/AGENTS.md": RULES.replace("Rule 150:", "Rule one hundred and fifty:")})
    form = run_json(CacheReusesForm, "cache", "conversation:t", ".", "--tool", "read", "--turns", "10")
    rows = {provider["provider"]: provider for provider in form["providers"]}
    assert rows["anthropic"]["kept"] == 0 < rows["anthropic"]["shared"]  # the breakpoint before it is below the minimum
    assert rows["openai"]["kept"] % 128 == 0 and rows["openai"]["kept"] > 1024
    for row in rows.values():
        assert row["lost"] == row["cacheable"] - row["kept"] > 0
        assert row["rewrite_each_turn"] == pytest.approx(10 * row["rewrite"])
        assert row["first"]["name"] == "instructions"
        assert row["first"]["causes"] == [{"kind": "file", "path": "/w/AGENTS.md", "lines": [151, 151], "note": None}]
    status, out, _ = run("cache", old, ".", "--tool", "read", "--exit-code")
    assert status == 1
    assert "first difference for anthropic, openai, gemini: section 'instructions', AGENTS.md:151\n" in out


def test_cache_separates_providers_by_an_empty_line(run):
    out = run("cache")[1]
    assert len(re.findall(r"\n\n(?:anthropic|openai|gemini)  ", out)) == 3, out


def test_cache_says_that_nothing_changed(run, run_json):
    status, out, err = run("cache", ".", ".", "--layout", "pi", "--exit-code")
    assert (status, err) == (0, "")
    assert out.endswith("the prompts are the same\n")
    assert {provider["lost"] for provider in run_json(CacheReusesForm, "cache", ".", ".")["providers"]} == {0}


def test_a_turn_continues_where_the_previous_one_ended(save_output, run_json, tree):
    tree(
        {
            "w/AGENTS.md": RULES,
            "w/history.json": '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]',
        }
    )
    old = save_output("old.json", "conversation", "turn", "t", "--message", "hi")
    new = save_output("new.json", "conversation", "turn", "t", "--messages", "history.json", "--message", "and now?")
    for provider in run_json(CacheReusesForm, "cache", old, new)["providers"]:
        assert provider["first"] is None
        assert provider["kept"] > provider["lost"]


def test_cache_takes_an_edition_or_plain_text(run, run_json, tree):
    run("conversation", "turn", "t", "--tool", "read")
    form = run_json(CacheForm, "cache", "conversation:t")
    assert (form["rebuilds"], form["better_order"]) == ([], None)
    tree({"w/x.txt": "text", "w/empty.txt": ""})
    assert "order   unknown: plain text has no sections\n" in run("cache", "x.txt")[1]
    assert run_json(CacheForm, "cache", "empty.txt")["prompt"]["tokens"]["count"] == 0


def test_strict_considers_the_findings_of_the_prompt(run):
    small_budget = ["--set", "budget=5", "--strict"]
    assert run("show", *small_budget)[0] == 1
    assert run("diff", ".", ".", *small_budget)[0] == 1
    assert run("cache", ".", *small_budget)[0] == 1
    assert run("cache", ".", ".", *small_budget)[0] == 1
    assert run("diff", ".", ".", "--strict")[0] == 0


def test_tools_from_standard_input_are_read_once(run_json, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'[{"name": "read"}]')))
    assert run_json(DifferenceForm, "diff", ".", "./", "--tools", "-")["changed"] is False
    rebuilds = run_json(CacheForm, "cache", "--tools", "-")["rebuilds"]
    assert {rebuild["error"] for rebuild in rebuilds} == {None}


def test_a_directory_with_an_ambiguous_name_can_be_compared(run, run_json, tree):
    tree({"w/conversation:t": None, "w/-": None})
    run("conversation", "turn", "t")
    assert run_json(CacheForm, "cache", "conversation:t")["rebuilds"] == []
    assert run_json(CacheForm, "cache", "./conversation:t")["rebuilds"] != []
    assert run_json(CacheForm, "cache", "./-")["rebuilds"] != []
    tree({"w/-x": None})
    form = json.loads(run("cache", "--json", "--", "-x")[1])
    assert {rebuild["changed"] for rebuild in form["rebuilds"]} == {False}


# wrong calls


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["diff"], "the following arguments are required: OLD"),
        (["diff", "."], "diff needs OLD and NEW, or a directory and two layouts"),
        (["diff", "-", "-"], "only one of the two prompts can be standard input"),
        (["cache", "-", "-"], "only one of the two prompts can be standard input"),
        (["diff", "", "."], "an empty name does not exist; expected a directory"),
        (
            ["diff", "nowhere", "."],
            "nowhere does not exist; expected a directory, a saved JSON or text file, conversation:ID",
        ),
        (["cache", "nowhere"], "nowhere does not exist"),
        (["cache", ".", "nowhere"], "nowhere does not exist"),
        (
            ["diff", "conversation:nobody", "."],
            "no conversation or edition 'nobody' in the store; see foreword conversation list",
        ),
        (["diff", "conversation:nobody@1", "."], "no conversation or edition 'nobody@1' in the store"),
        (["diff", f"conversation:t@{'9' * 40}", "."], "no conversation or edition 't@999"),
        (["diff", "conversation:t@9", "."], "no conversation or edition 't@9' in the store; its editions are 1 to 1"),
        (["diff", "sha256:abc", "."], "no prompt sha256:abc in the store; use the full id"),
        (["diff", "nul.txt", "."], "nul.txt: it contains a NUL byte"),
        (["diff", "latin.txt", "."], "latin.txt: byte 0xe9"),
        (["diff", "broken.json", "."], "broken.json is not valid JSON"),
        (["diff", "deep.json", "."], "deep.json is not valid JSON"),
        (["diff", "list.json", "."], "list.json is not an object; expected a saved prompt or turn"),
        (["diff", "other.json", "."], "other.json is an object without text"),
        (["diff", "wrong.json", "."], "wrong.json has no text"),
        (["diff", "turn.json", "."], "turn.json: messages must be a list of objects, each with a role"),
        (["diff", "tools.json", "."], "tools.json: tools must be a list of objects, each with a name"),
        (["cache", "--turns", "3"], "--turns is for the cost of a change: foreword cache OLD NEW --turns N"),
        (["cache", ".", ".", "--turns", "-1"], "turns must be a number from 0 to 1,000,000, not -1"),
        (["cache", "--turns", "many"], "--turns must be a whole number, not 'many'"),
        (
            ["cache", "--prices", "nowhere.toml"],
            "the price file /w/nowhere.toml cannot be read: the file does not exist",
        ),
        (["cache", "--prices", "wrong.toml"], "/w/wrong.toml is not valid TOML"),
        (["cache", "--prices", "key.toml"], "/w/key.toml: unknown key 'models'; did you mean 'model'?"),
    ],
)
def test_an_invalid_call_is_an_error(run, tree, arguments, message):
    run("conversation", "turn", "t")
    tree({
        "w/nul.txt": b"a\0b", "w/latin.txt": b"caf\xe9", "w/broken.json": "{", "w/deep.json": "[" * 100_000, "w/list.json": "[1]",
        "w/other.json": '{"a": 1}', "w/wrong.json": '{"text": 5}', "w/tools.json": '{"system": "x", "tools": [{}]}',
        "w/turn.json": '{"system": "x", "leading": 1, "messages": {"role": "user"}}', "w/wrong.toml": "=", "w/key.toml": "models = 1",
    })  # fmt: skip
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"foreword: {message}") and err.count("\n") == 1


def test_text_that_happens_to_be_json_is_text(run, tree):
    tree({"w/old.txt": '{"a": 1}', "w/new.txt": '{"a": 2}'})
    assert '    {"a": [-1-]{+2+}}\n' in run("diff", "old.txt", "new.txt")[1]


def test_a_pipe_is_not_a_file(run, tree):
    tree({"w/pipe": os.mkfifo})
    status, _, err = run("diff", "pipe", ".")
    assert status == 2 and err.startswith("foreword: pipe: ")
    assert Path(tree.path("w/pipe")).is_fifo()
