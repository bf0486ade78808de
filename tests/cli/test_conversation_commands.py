"""The commands that use a store: `foreword conversation`, versions of `foreword template`, `foreword store`."""

import json
import os
import sqlite3

import pytest

DEFAULT = """\
You are a helpful coding assistant.

[if file:AGENTS.md]
[file:AGENTS.md]
[endif]

The current working directory is [prompt:cwd].
"""


@pytest.fixture(autouse=True)
def workspace(tree, monkeypatch):
    for name in ("FOREWORD_STORE", "XDG_DATA_HOME", "USER"):
        monkeypatch.delenv(name, raising=False)
    return tree({"w/.git": None, "w/AGENTS.md": "Money is Decimal.\n"})


@pytest.fixture
def run_json(run):
    """`run_json(*arguments)` runs a command with `--json` that must succeed, and returns its output."""

    def run_json(*arguments):
        status, out, err = run(*arguments, "--json")
        assert (status, err) == (0, "")
        return json.loads(out)

    return run_json


@pytest.fixture
def error_of(run):
    """`error_of(*arguments)` runs a command that must fail, and returns its error message."""

    def error_of(*arguments):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("foreword: ") and err.count("\n") == 1 and "Traceback" not in err
        return err.removeprefix("foreword: ").strip()

    return error_of


# conversation turn


def test_turn_prints_what_the_model_should_see(run_json):
    first = run_json("conversation", "turn", "t", "--layout", "builder", "--message", "hi", "--tool", "read")
    assert first == {
        "conversation": "t",
        "edition": 1,
        "reused": False,
        "system": first["system"],
        "messages": [{"role": "user", "content": "hi"}],
        "history": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "read", "description": "", "schema": {}}],
        "model": "",
        "sections": first["sections"],
        "root_end": len("You are a helpful coding assistant.\n\n\nMoney is Decimal."),
        "findings": [],
    }
    assert [(section["start"], section["lifetime"]) for section in first["sections"]] == [(0, "conversation")]
    assert first["system"] == (
        "You are a helpful coding assistant.\n\n\nMoney is Decimal.\n\n\nThe current working directory is /w.\n"
    )
    second = run_json("conversation", "turn", "t", "--layout", "builder", "--tool", "read")
    assert second == {**first, "reused": True, "messages": [], "history": []}


def test_a_conversation_keeps_its_tools_unless_tools_are_passed(tree, run_json):
    first = run_json("conversation", "turn", "t", "--layout", "opal", "--tool", "shell")
    second = run_json("conversation", "turn", "t")
    assert (second["edition"], second["tools"], second["system"]) == (1, first["tools"], first["system"])
    assert run_json("conversation", "drift", "t")["changed"] is False
    none = run_json("conversation", "turn", "t", "--tools", "none")
    assert (none["edition"], none["tools"]) == (2, [])
    assert run_json("conversation", "turn", "t")["tools"] == []
    tree({"w/none": '[{"name": "read"}]'})
    assert [tool["name"] for tool in run_json("conversation", "turn", "t", "--tools", "./none")["tools"]] == ["read"]


def test_turn_without_json_is_readable(run):
    status, out, err = run("conversation", "turn", "t", "--layout", "builder", "--message", "hi")
    assert status == 0
    assert out.endswith("The current working directory is /w.\n\n[user]\nhi\n")
    assert err == "conversation t, edition 1 (new), 0 tools\n"
    assert run("conversation", "turn", "t", "--layout", "builder")[2] == "conversation t, edition 1 (reused), 0 tools\n"
    assert (
        run("conversation", "turn", "u", "--layout", "builder", "--tool", "x")[2]
        == "conversation u, edition 1 (new), 1 tool\n"
    )


def test_turn_takes_a_directory(tree, run_json):
    tree({"w/shop/AGENTS.md": "Orders."})
    assert "is /w/shop." in run_json("conversation", "turn", "t", "shop", "--layout", "builder")["system"]


def test_the_history_option_adds_messages(tree, run_json):
    history = [
        {"role": "user", "content": "one"},
        {"role": "execution", "command": "ls", "output": "a"},
        {"role": "assistant", "tool_calls": []},
    ]
    tree({"w/history.json": json.dumps(history)})
    turn = run_json("conversation", "turn", "t", "--messages", "history.json", "--message", "now")
    assert turn["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "user", "content": "Ran `ls`:\n\na"},
        {"role": "assistant", "tool_calls": []},
        {"role": "user", "content": "now"},
    ]


def test_a_message_without_text_is_printed_unchanged(tree, run):
    tree({"w/history.json": json.dumps([{"role": "assistant", "tool_calls": [{"id": 1}]}])})
    status, out, _ = run("conversation", "turn", "t", "--messages", "history.json")
    assert (status, out.splitlines()[-2:]) == (0, ["[assistant]", '{"tool_calls": [{"id": 1}]}'])


def test_findings_of_a_new_prompt_are_reported_once(tree, run_json):
    tree({"w/AGENTS.md": b"\xff\xfe\0bad"})
    first = run_json("conversation", "turn", "t")
    assert [finding["path"] for finding in first["findings"]] == ["/w/AGENTS.md"]
    assert run_json("conversation", "turn", "t")["findings"] == []


def test_an_error_finding_counts_with_strict(run):
    over_budget = ("conversation", "turn", "t", "--set", "budget=1", "--json")
    assert run(*over_budget, "--strict")[0] == 1
    assert run(*over_budget, "--strict")[0] == 0  # the edition is reused; its findings were reported when it was built


def test_the_pack_option_adds_a_pack(tree, run_json):
    tree({"w/p/mine.toml": 'sections = ["one"]\n[section.one]\ntext = "From a pack."\n'})
    assert (
        run_json("conversation", "turn", "t", "--pack", "team=p", "--layout", "$team/mine")["system"] == "From a pack."
    )


def test_unencodable_text_is_escaped(run):
    status, out, _ = run("conversation", "turn", "t", "--message", "half \udcff", "--json")
    assert status == 0
    assert "half \\udcff" in out


# conversation compact, reload, show, list, drift


def test_compact_prints_the_same_keys_as_turn(tree, run_json):
    first = run_json("conversation", "turn", "t", "--layout", "builder")
    tree({"w/AGENTS.md": "Money is float.\n"})
    turn = run_json("conversation", "compact", "t", "--layout", "builder")
    assert set(turn) == set(first)
    assert (turn["edition"], turn["messages"]) == (2, [])
    prompt, _, request = turn["system"].rpartition("\n\n")
    assert "Money is float." in prompt and request.startswith("Summarise the conversation")
    assert run_json("conversation", "turn", "t", "--layout", "builder")["system"] == prompt


def test_compact_sends_the_request_as_a_message(tree, run_json):
    first = run_json("conversation", "turn", "t")
    tree({"w/AGENTS.md": "Money is float.\n", "w/history.json": '[{"role": "user", "content": "one"}]'})
    turn = run_json("conversation", "compact", "t", "--messages", "history.json")
    assert (turn["edition"], turn["reused"], turn["system"]) == (1, True, first["system"])
    assert [message["content"][:15] for message in turn["messages"]] == ["one", "Summarise the c"]
    assert run_json("conversation", "turn", "t")["edition"] == 2


def test_reload_reads_all_files_again(tree, run_json):
    run_json("conversation", "turn", "t")
    tree({"w/AGENTS.md": "Money is float.\n"})
    assert run_json("conversation", "turn", "t")["edition"] == 1
    turn = run_json("conversation", "reload", "t")
    assert (turn["edition"], turn["reused"], "Money is float." in turn["system"]) == (2, False, True)
    assert run_json("conversation", "reload", "t")["reused"]


def test_show_prints_an_edition(tree, run, run_json):
    first = run_json("conversation", "turn", "t", "--model", "m", "--tool", "read")
    tree({"w/AGENTS.md": "Money is float.\n"})
    second = run_json("conversation", "reload", "t", "--model", "m", "--tool", "read")
    current = (0, second["system"] + "\n", "conversation t, edition 2 (trigger: reload)\n")
    assert run("conversation", "show", "t") == current
    status, text, about = run("conversation", "show", "t", "--edition", "1")
    assert (status, text) == (0, first["system"] + "\n") and about.startswith("conversation t, edition 1")
    edition = run_json("conversation", "show", "t", "--edition", "1")
    assert set(edition) == {
        *("conversation", "edition", "id", "layout", "created", "built_for", "system", "tools"),
        *("tool_tokens", "passages", "candidates", "findings", "trigger"),
    }
    assert (edition["edition"], edition["layout"], edition["id"][:7]) == (1, "$std/foreword", "sha256:")
    assert edition["built_for"] == {"cwd": "/w", "model": "m", "provider": ""}
    assert [passage["section"] for passage in edition["passages"]][:2] == ["identity", "instructions"]


def test_list_prints_the_conversations(run, run_json):
    assert run("conversation", "list") == (0, "", "no conversations\n")
    assert run_json("conversation", "list") == []
    for id in ("b-2", "a-1", "b-1"):
        run_json("conversation", "turn", id, "--layout", "pod")
    rows = run_json("conversation", "list")
    assert [row["id"] for row in rows] == ["a-1", "b-1", "b-2"]
    assert set(rows[0]) == {"id", "editions", "prompt", "layout", "model", "template", "version", "created", "team"}
    assert (rows[0]["editions"], rows[0]["layout"]) == (1, "$std/pod")
    assert [row["id"] for row in run_json("conversation", "list", "b-")] == ["b-1", "b-2"]
    assert [line.split()[0] for line in run("conversation", "list")[1].splitlines()] == ["a-1", "b-1", "b-2"]


def test_each_team_has_its_own_conversations_and_templates(tree, run, run_json):
    tree({"text.md": "Hello from billing."})
    run_json("conversation", "turn", "same", "--layout", "pod")
    run_json("template", "set", tree.path("text.md"), "--name", "default", "--team", "billing")
    turn = run_json("conversation", "turn", "same", "--layout", "builder", "--team", "billing")
    assert turn["system"].startswith("Hello from billing.")
    assert run_json("show", "--layout", "builder", "--team", "billing")["text"].startswith("Hello from billing.")
    assert not run_json("show", "--layout", "builder")["text"].startswith("Hello from billing.")
    lists = {team: run_json("conversation", "list", "--team", team) for team in ("billing", "*", "none")}
    assert {team: [(row["team"], row["id"]) for row in rows] for team, rows in lists.items()} == {
        "billing": [("billing", "same")],
        "*": [("", "same"), ("billing", "same")],
        "none": [],
    }
    lines = run("conversation", "list", "--team", "*")[1].splitlines()
    assert [line.split()[-1] == "billing" for line in lines] == [False, True]
    assert run_json("conversation", "show", "same", "--team", "billing")["layout"] == "$std/builder"
    assert run_json("conversation", "show", "same")["layout"] == "$std/pod"
    assert [row["name"] for row in run_json("template", "list", "--team", "billing")] == ["default"]
    assert run("store", "forget", "same", "--team", "none")[0] == 2
    assert run_json("store", "forget", "same", "--team", "billing") == {"forgotten": "same"}
    assert run_json("conversation", "show", "same")["layout"] == "$std/pod"
    run_json("conversation", "turn", "same", "--layout", "builder", "--team", "billing")
    assert run_json("store", "prune", "--older-than", "0m", "--keep-last", "0")["conversations"] == 1
    assert run_json("store", "prune", "--older-than", "0m", "--keep-last", "0", "--team", "*")["conversations"] == 1
    assert run("conversation", "list", "--team", "")[0] == 2
    assert "must not be '*'" in run("conversation", "show", "same", "--team", "*")[2]


def test_a_token_file_with_prefixes_gives_everything_to_its_teams(tree, run, run_json):
    for id in ("billing-1", "search-1", "other"):
        run_json("conversation", "turn", id, "--layout", "pod")
    tree({"text.md": "Hello."})
    run_json("template", "set", tree.path("text.md"), "--name", "billing-default")
    path = tree.path("tokens.toml")

    def write(text):
        tree({"tokens.toml": text})

    write('[[token]]\nprefix = "billing-"\n[[token]]\nprefix = "search-"\nteam = "find"\n')
    moved = run_json("store", "migrate", "--tokens", path)["moved"]
    assert sorted(moved, key=lambda row: row["team"]) == [
        {"team": "billing", "conversations": 1, "templates": 1, "left": 0},
        {"team": "find", "conversations": 1, "templates": 0, "left": 0},
    ]
    rows = run_json("conversation", "list", "--team", "*")
    assert [(row["team"], row["id"]) for row in rows] == [("", "other"), ("billing", "billing-1"), ("find", "search-1")]
    code, output, _ = run("store", "migrate", "--tokens", path)
    assert (code, "billing-…: moved 0 conversations and 0 templates to the team 'billing'" in output) == (0, True)
    write('[[token]]\nname = "x"\n')
    assert "no token has a prefix" in run("store", "migrate", "--tokens", path)[2]
    write('[[token]]\nprefix = "a-"\n[[token]]\nprefix = "a-"\nteam = "b"\n')
    assert "belongs to two teams, 'a' and 'b'" in run("store", "migrate", "--tokens", path)[2]


def test_list_returns_all_conversations(tree, run_json, monkeypatch):
    from foreword.cli import conversation

    monkeypatch.setattr(conversation, "_PAGE_SIZE", 2)
    for number in range(5):
        run_json("conversation", "turn", f"t{number}", "--layout", "builder")
    assert [row["id"] for row in run_json("conversation", "list")] == ["t0", "t1", "t2", "t3", "t4"]


def test_drift_reports_what_a_rebuild_would_change(tree, run, run_json):
    run_json("conversation", "turn", "t", "--tool", "read")
    assert run("conversation", "drift", "t", "--tool", "read") == (
        0, "nothing has changed since the edition in use was created\n", "",
    )  # fmt: skip
    tree({"w/AGENTS.md": "Money is float.\n"})
    drift = run_json("conversation", "drift", "t", "--tool", "bash")
    assert set(drift) == {
        "conversation", "changed", "sections", "tools", "details", "system", "tokens_kept", "tokens_lost", "cache",
        "basis", "cost", "expired", "parts",
    }  # fmt: skip
    assert (drift["conversation"], drift["changed"]) == ("t", True)
    assert (
        drift["tokens_kept"] < 10 < drift["tokens_lost"]
    )  # tools come first, and both definitions have the same beginning
    assert {"section": "instructions", "changes": ["changed"], "sources": ["/w/AGENTS.md"]} in drift["details"]
    assert drift["tools"] == {"added": ["bash"], "removed": ["read"], "changed": [], "moved": []}
    assert "section 'instructions' changed (AGENTS.md)" in run("conversation", "drift", "t", "--tool", "read")[1]
    assert run_json("conversation", "turn", "t", "--tool", "read")["edition"] == 1  # reading does not change anything


@pytest.mark.parametrize("action", ["drift", "reload"])
def test_without_a_folder_a_conversation_is_rebuilt_in_its_own(tree, run_json, monkeypatch, action):
    tree({"w/api/AGENTS.md": "Only here.\n"})
    turn = run_json("conversation", "turn", "t", "api", "--tool", "read")
    result = run_json("conversation", action, "t", "--tool", "read")
    assert "Only here." in turn["system"]
    if action == "drift":
        assert result["changed"] is False
        assert run_json("conversation", "drift", "t", ".", "--tool", "read")["changed"] is True
    else:
        assert (result["edition"], result["system"]) == (1, turn["system"])


@pytest.mark.parametrize(
    ("setting", "moved", "changed"),
    [
        ("join=\n", [], ["(between sections)"]),
        ("sections=instructions,identity,skills,guidance,boundaries,environment,plan", None, []),
    ],
)
def test_drift_detects_a_changed_separator_and_order(run, run_json, setting, moved, changed):
    run_json("conversation", "turn", "t", "--tool", "read")
    drift = run_json("conversation", "drift", "t", "--tool", "read", "--set", setting)
    assert (drift["changed"], drift["sections"]["changed"]) == (True, changed)
    assert bool(drift["sections"]["moved"]) == (moved is None) and drift["tokens_lost"] > 0
    assert "; a rebuild would lose about" in run("conversation", "drift", "t", "--tool", "read", "--set", setting)[1]


# template


def test_template_versions_are_saved_and_restored(tree, run, run_json, monkeypatch):
    monkeypatch.setenv("USER", "ada")
    assert run_json("template", "show") == {"template": DEFAULT}
    tree({"w/one.md": "One.\n", "w/two.md": "Two.\n"})
    assert run("template", "set", "one.md", "--note", "shorter")[0] == 0
    stored = run_json("template", "set", "two.md", "--author", "bob")
    assert (stored["version"], stored["author"], stored["template"]) == (2, "bob", "Two.\n")
    assert run("template", "show") == (0, "Two.\n", "")
    restored = run_json("template", "restore", "1")
    assert (restored["version"], restored["note"], restored["template"]) == (3, "Restored version 1", "One.\n")
    assert run_json("template", "restore", "0", "--note", "as shipped")["template"] == DEFAULT
    history = run_json("template", "history")
    assert [set(version) for version in history] == [{"version", "author", "time", "note", "syntax", "template"}] * 5
    assert [(version["version"], version["author"], version["note"]) for version in history] == [
        (4, "ada", "as shipped"),
        (3, "ada", "Restored version 1"),
        (2, "bob", ""),
        (1, "ada", "shorter"),
        (0, "foreword", "built in"),
    ]
    assert run("template", "history")[1].split()[:4] == ["4", "production", "brackets", "ada"]


def test_a_new_template_reaches_old_conversations_at_their_compaction(tree, run, run_json):
    tree({"w/one.md": "One.", "w/two.md": "Two."})
    run("template", "set", "one.md")
    assert run_json("conversation", "turn", "a", "--layout", "builder")["system"] == "One."
    run("template", "set", "two.md")
    assert run_json("conversation", "turn", "a", "--layout", "builder")["system"] == "One."
    assert run_json("conversation", "turn", "b", "--layout", "builder")["system"] == "Two."
    assert run_json("conversation", "compact", "a", "--layout", "builder")["system"].startswith("Two.\n\nSummarise")


# store


def test_verify_and_stats_describe_the_store(tree, run, run_json):
    run_json("conversation", "turn", "t", "--store", "here.db")
    assert run("store", "verify", "--store", "here.db")[0] == 0
    assert run_json("store", "verify", "--store", "here.db") == {"wrong": []}
    stats = run_json("store", "stats", "--store", "here.db")
    assert set(stats) == {"conversations", "editions", "texts", "bytes", "versions"}
    assert (stats["conversations"], stats["editions"], stats["versions"]) == (1, 1, 0)
    assert run("store", "stats", "--store", "here.db")[1].split()[:2] == ["conversations", "1"]


def test_prune_prints_what_it_removed(tree, run):
    run("conversation", "turn", "42", ".", "--store", "here.db")
    prune = ("store", "prune", "--older-than", "0m", "--keep-last", "0", "--store", "here.db")
    assert run(*prune) == (0, "removed 1 conversation, 1 edition, 6 texts\n", "")
    assert run(*prune) == (0, "removed 0 conversations, 0 editions, 0 texts\n", "")


READ_ONLY = [
    ["store", "verify"],
    ["store", "stats"],
    ["conversation", "list"],
    ["conversation", "show", "t"],
    ["conversation", "drift", "t"],
    ["template", "show"],
    ["template", "history"],
    ["diff", "conversation:t", "conversation:t"],
]


@pytest.mark.parametrize("arguments", READ_ONLY, ids=" ".join)
def test_read_only_commands_do_not_create_a_store(tree, run, error_of, arguments):
    if arguments[0] != "template":
        message = error_of(*arguments, "--store", "typo.db")
        assert "the store typo.db does not exist; a first turn or `template set` creates it" in message
    run(*arguments, "--store", "typo.db")
    run(*arguments)
    assert [name for _, _, names in os.walk(tree.path("")) for name in names if ".db" in name] == []


def test_verify_reports_damage(tree, run, run_json):
    run_json("conversation", "turn", "t", "--store", "here.db")
    with sqlite3.connect(tree.path("w/here.db")) as connection:
        connection.execute("UPDATE foreword_texts SET body = X'00', form = 0 WHERE id = 1")
    connection.close()
    status, out, _ = run("store", "verify", "--store", "here.db")
    assert (status, out.count("\n")) == (1, 1)
    assert "does not match its hash" in out
    assert json.loads(run("store", "verify", "--store", "here.db", "--json")[1])["wrong"] == [out.strip()]


# where the store is

CONFIG = "home/.config/foreword"


@pytest.mark.parametrize(
    ("environment", "option", "file"),
    [
        ({}, [], "home/.local/share/foreword/foreword.db"),
        ({"XDG_DATA_HOME": "{top}/data"}, [], "data/foreword/foreword.db"),
        ({"XDG_DATA_HOME": "relative"}, [], "home/.local/share/foreword/foreword.db"),
        ({"FOREWORD_STORE": "sqlite:///{top}/named.db", "XDG_DATA_HOME": "{top}/data"}, [], "named.db"),
        ({"FOREWORD_STORE": "{top}/named.db"}, ["--store", "given.db"], "w/given.db"),
        ({}, ["--store", "sqlite:///given.db"], "w/given.db"),
        ({}, ["--store", "~/given.db"], "home/given.db"),
        ({"FOREWORD_STORE": "sqlite:///~/named.db"}, [], "home/named.db"),
    ],
)
def test_the_location_of_the_store(tree, run_json, monkeypatch, environment, option, file):
    for name, text in environment.items():
        monkeypatch.setenv(name, text.replace("{top}", tree.top))
    run_json("conversation", "turn", "t", *option)
    assert os.path.isfile(tree.path(file))
    assert [row["id"] for row in run_json("conversation", "list", *option)] == ["t"]


def test_user_settings_may_set_the_store_but_workspace_settings_may_not(tree, run_json):
    tree({"w/.foreword/foreword.toml": 'store = "evil.db"\n'})
    rows = run_json("conversation", "list")
    assert rows == [] and not os.path.exists(tree.path("w/evil.db"))
    for named, file in ((tree.path("mine.db"), "mine.db"), ("~/my.db", "home/my.db"), ("my.db", f"{CONFIG}/my.db")):
        tree({f"{CONFIG}/foreword.toml": f'store = "{named}"\n'})
        run_json("conversation", "turn", "t")
        assert os.path.exists(tree.path(file))


# bad calls


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["conversation", "tun", "t"], "unknown action 'tun' for foreword conversation; did you mean 'turn'?"),
        (["conversation", "turn"], "ID"),
        (["conversation", "turn", ""], "the id of a conversation must have 1 to 512 characters, not 0"),
        (["conversation", "turn", "a\nb"], "control characters"),
        (["conversation", "turn", "t", "nowhere"], "nowhere"),
        (["conversation", "turn", "t", "--layout", "zzz"], "zzz"),
        (["conversation", "turn", "t", "--messages", "none.json"], "--messages none.json: the file does not exist"),
        (["conversation", "turn", "t", "--messages", "text.json"], "the file is not valid JSON"),
        (["conversation", "turn", "t", "--messages", "object.json"], "the file must contain a list of messages"),
        (["conversation", "turn", "t", "--messages", "rows.json"], "the file must contain a list of messages"),
        (["conversation", "turn", "t", "--home", "nowhere"], "--home nowhere: the directory does not exist"),
        (["conversation", "turn", "t", "--pack", "x"], "--pack must be NAME=DIR"),
        (["conversation", "show", "t"], "no conversation 't' in the store"),
        (["conversation", "show", "t", "--edition", "x"], "--edition"),
        (["conversation", "show", "known", "--edition", "7"], "no edition 7 of conversation 'known' in the store"),
        (["conversation", "drift", "t"], "foreword.db has no conversation 't'; see foreword conversation list"),
        (["conversation", "list", "--store", "redis://x"], "unknown kind of store redis://"),
        (["conversation", "list", "--store", "sqlite:x.db"], "sqlite: must be followed by slashes"),
        (["conversation", "list", "--store", "AGENTS.md"], "the file is not a SQLite database"),
        (["store", "stats", "--store", "AGENTS.md/x.db"], "the store AGENTS.md/x.db does not exist"),
        (["conversation", "turn", "t", "--store", "AGENTS.md/x.db"], "cannot be created: there is no folder /w/AGENTS.md"),
        (["conversation", "turn", "t", "--store", "no/such/x.db"], "cannot be created: there is no folder /w/no/such; create it first"),
        (["template", "set", "AGENTS.md", "--store", "no/x.db"], "cannot be created: there is no folder /w/no; create it first"),
        (["conversation", "turn", "t", "--tool", "t\udcff"], "no provider accepts a tool named 't\\udcff'; a name must consist of 1 to 128 letters"),
        (["conversation", "turn", "known", "--layout", "builder", "--tool", "t\udcff"], "no provider accepts a tool named"),
        (["conversation", "turn", "t", "--model", "m\udcff"], "the model cannot be encoded as UTF-8: 'm\\udcff' has a lone surrogate"),
        (["conversation", "turn", "t", "--provider", "\udcff"], "the provider cannot be encoded as UTF-8"),
        (["conversation", "turn", "t", "--tools", "half.json"], "no provider accepts a tool named"),
        (["show", "--tools", "half.json"], "no provider accepts a tool named"),
        (["show", "--model", "m\udcff"], "the model cannot be encoded as UTF-8"),
        (["conversation", "turn", "t", "--tools", "nan.json"], "--tools nan.json: the file is not valid JSON"),
        (["conversation", "turn", "t", "--tools", "huge.json"], "the schema or options of the tool 'a' cannot be written as JSON: they contain NaN, an infinity or themselves"),
        (["template", "set"], "FILE"),
        (["template", "set", "none.md"], "the file does not exist"),
        (["template", "restore", "9"], "the template has no version 9"),
        (["template", "restore", "x"], "N"),
        (["template", "show", "extra"], "unrecognized arguments: extra"),
        (["store", "verify", "--store", "AGENTS.md"], "the file is not a SQLite database"),
    ],
)  # fmt: skip
def test_an_invalid_call_is_an_error(tree, run, error_of, arguments, sentence):
    tree({"w/text.json": "text", "w/object.json": "{}", "w/rows.json": '[{"content": "no role"}]'})
    tree({"w/half.json": '[{"name": "\\ud83d"}]', "w/nan.json": '[{"name": "a", "schema": {"x": NaN}}]'})
    tree({"w/huge.json": '[{"name": "a", "schema": {"x": 1e999}}]'})
    run("conversation", "turn", "known", "--layout", "builder")
    assert sentence in error_of(*arguments)


def test_a_template_that_cannot_be_rendered_is_rejected_and_not_stored(tree, run):
    tree({"w/body.md": "{{ nope }}"})
    status, out, err = run("conversation", "turn", "t", "--layout", "pod", "--base", "body.md")
    assert (status, out) == (2, "") and err.startswith("foreword: /w/body.md: nope is not defined")
    assert run("conversation", "list") == (0, "", "no conversations\n")
