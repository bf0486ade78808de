"""The commands over a store: `foreword talk`, `foreword template` with its versions, `foreword store`."""

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
def place(tree, monkeypatch):
    for name in ("FOREWORD_STORE", "XDG_DATA_HOME", "USER"):
        monkeypatch.delenv(name, raising=False)
    return tree({"w/.git": None, "w/AGENTS.md": "Money is Decimal.\n"})


@pytest.fixture
def asked(run):
    """Runs a command with `--json` that must end well, and gives what it printed."""

    def asked(*arguments):
        status, out, err = run(*arguments, "--json")
        assert (status, err) == (0, "")
        return json.loads(out)

    return asked


@pytest.fixture
def refused(run):
    """Runs a command that must be refused, and gives its sentence."""

    def refused(*arguments):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("foreword: ") and err.count("\n") == 1 and "Traceback" not in err
        return err.removeprefix("foreword: ").strip()

    return refused


# talk turn


def test_turn(asked):
    first = asked("talk", "turn", "t", "--layout", "builder", "--message", "hi", "--tool", "read")
    assert first == {
        "conversation": "t",
        "edition": 1,
        "reused": False,
        "system": first["system"],
        "messages": [{"role": "user", "content": "hi"}],
        "history": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "read", "description": "", "schema": {}}],
        "findings": [],
    }
    assert first["system"] == (
        "You are a helpful coding assistant.\n\n\nMoney is Decimal.\n\n\nThe current working directory is /w.\n"
    )
    second = asked("talk", "turn", "t", "--layout", "builder", "--tool", "read")
    assert second == {**first, "reused": True, "messages": [], "history": []}


def test_without_tools_a_known_conversation_keeps_its_own_and_none_means_none(tree, asked):
    first = asked("talk", "turn", "t", "--layout", "opal", "--tool", "shell")
    kept = asked("talk", "turn", "t")
    assert (kept["edition"], kept["tools"], kept["system"]) == (1, first["tools"], first["system"])
    assert asked("talk", "drift", "t")["changed"] is False
    none = asked("talk", "turn", "t", "--tools", "none")
    assert (none["edition"], none["tools"]) == (2, [])
    assert asked("talk", "turn", "t")["tools"] == []
    tree({"w/none": '[{"name": "read"}]'})
    assert [each["name"] for each in asked("talk", "turn", "t", "--tools", "./none")["tools"]] == ["read"]


def test_turn_for_a_person(run):
    status, out, err = run("talk", "turn", "t", "--layout", "builder", "--message", "hi")
    assert status == 0
    assert out.endswith("The current working directory is /w.\n\n[user]\nhi\n")
    assert err == "conversation t, edition 1 (new), 0 tools\n"
    assert run("talk", "turn", "t", "--layout", "builder")[2] == "conversation t, edition 1 (reused), 0 tools\n"
    assert (
        run("talk", "turn", "u", "--layout", "builder", "--tool", "x")[2] == "conversation u, edition 1 (new), 1 tool\n"
    )


def test_turn_in_a_directory(tree, asked):
    tree({"w/shop/AGENTS.md": "Orders."})
    assert "is /w/shop." in asked("talk", "turn", "t", "shop", "--layout", "builder")["system"]


def test_messages_so_far(tree, asked):
    history = [
        {"role": "user", "content": "one"},
        {"role": "execution", "command": "ls", "output": "a"},
        {"role": "assistant", "tool_calls": []},
    ]
    tree({"w/history.json": json.dumps(history)})
    turn = asked("talk", "turn", "t", "--messages", "history.json", "--message", "now")
    assert turn["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "user", "content": "Ran `ls`:\n\na"},
        {"role": "assistant", "tool_calls": []},
        {"role": "user", "content": "now"},
    ]


def test_a_message_without_a_text_is_shown_as_it_is(tree, run):
    tree({"w/history.json": json.dumps([{"role": "assistant", "tool_calls": [{"id": 1}]}])})
    status, out, _ = run("talk", "turn", "t", "--messages", "history.json")
    assert (status, out.splitlines()[-2:]) == (0, ["[assistant]", '{"tool_calls": [{"id": 1}]}'])


def test_findings_of_a_new_prompt_are_told_once(tree, asked):
    tree({"w/AGENTS.md": b"\xff\xfe\0bad"})
    first = asked("talk", "turn", "t")
    assert [each["path"] for each in first["findings"]] == ["/w/AGENTS.md"]
    assert asked("talk", "turn", "t")["findings"] == []


def test_an_error_finding_counts_with_strict(run):
    over = ("talk", "turn", "t", "--set", "budget=1", "--json")
    assert run(*over, "--strict")[0] == 1
    assert run(*over, "--strict")[0] == 0  # the edition stands; it was told when it was made


def test_a_pack_that_was_named(tree, asked):
    tree({"w/p/mine.toml": 'sections = ["one"]\n[section.one]\ntext = "From a pack."\n'})
    assert asked("talk", "turn", "t", "--pack", "team=p", "--layout", "$team/mine")["system"] == "From a pack."


def test_text_that_cannot_be_sent_is_written_out(run):
    status, out, _ = run("talk", "turn", "t", "--message", "half \udcff", "--json")
    assert status == 0
    assert "half \\udcff" in out


# talk compact, reload, show, list, drift


def test_compact_answers_like_turn(tree, asked):
    asked("talk", "turn", "t", "--layout", "builder")
    tree({"w/AGENTS.md": "Money is float.\n"})
    turn = asked("talk", "compact", "t", "--layout", "builder")
    assert set(turn) == {"conversation", "edition", "reused", "system", "messages", "history", "tools", "findings"}
    assert (turn["edition"], turn["messages"]) == (2, [])
    prompt, _, request = turn["system"].rpartition("\n\n")
    assert "Money is float." in prompt and request.startswith("Summarise the conversation")
    assert asked("talk", "turn", "t", "--layout", "builder")["system"] == prompt


def test_compact_where_the_request_is_a_message(tree, asked):
    first = asked("talk", "turn", "t")
    tree({"w/AGENTS.md": "Money is float.\n", "w/history.json": '[{"role": "user", "content": "one"}]'})
    turn = asked("talk", "compact", "t", "--messages", "history.json")
    assert (turn["edition"], turn["reused"], turn["system"]) == (1, True, first["system"])
    assert [each["content"][:15] for each in turn["messages"]] == ["one", "Write a summary"]
    assert asked("talk", "turn", "t")["edition"] == 2


def test_reload(tree, asked):
    asked("talk", "turn", "t")
    tree({"w/AGENTS.md": "Money is float.\n"})
    assert asked("talk", "turn", "t")["edition"] == 1
    turn = asked("talk", "reload", "t")
    assert (turn["edition"], turn["reused"], "Money is float." in turn["system"]) == (2, False, True)
    assert asked("talk", "reload", "t")["reused"]


def test_show(tree, run, asked):
    first = asked("talk", "turn", "t", "--model", "m", "--tool", "read")
    tree({"w/AGENTS.md": "Money is float.\n"})
    second = asked("talk", "reload", "t", "--model", "m", "--tool", "read")
    assert run("talk", "show", "t") == (0, second["system"] + "\n", "")
    assert run("talk", "show", "t", "--edition", "1") == (0, first["system"] + "\n", "")
    shown = asked("talk", "show", "t", "--edition", "1")
    assert set(shown) == {
        *("conversation", "edition", "id", "layout", "made", "made_for", "system", "tools"),
        *("passages", "candidates", "findings"),
    }
    assert (shown["edition"], shown["layout"], shown["id"][:7]) == (1, "$std/foreword", "sha256:")
    assert shown["made_for"] == {"cwd": "/w", "model": "m", "provider": ""}
    assert [each["section"] for each in shown["passages"]][:2] == ["identity", "instructions"]


def test_list(run, asked):
    assert run("talk", "list") == (0, "", "no conversations\n")
    assert asked("talk", "list") == []
    for id in ("b-2", "a-1", "b-1"):
        asked("talk", "turn", id, "--layout", "pod")
    rows = asked("talk", "list")
    assert [row["id"] for row in rows] == ["a-1", "b-1", "b-2"]
    assert set(rows[0]) == {"id", "editions", "prompt", "layout", "made"}
    assert (rows[0]["editions"], rows[0]["layout"]) == (1, "$std/pod")
    assert [row["id"] for row in asked("talk", "list", "b-")] == ["b-1", "b-2"]
    assert [line.split()[0] for line in run("talk", "list")[1].splitlines()] == ["a-1", "b-1", "b-2"]


def test_list_gives_all_of_them(tree, asked, monkeypatch):
    from foreword.cli import talk

    monkeypatch.setattr(talk, "_PAGE", 2)
    for number in range(5):
        asked("talk", "turn", f"t{number}", "--layout", "builder")
    assert [row["id"] for row in asked("talk", "list")] == ["t0", "t1", "t2", "t3", "t4"]


def test_drift(tree, run, asked):
    asked("talk", "turn", "t", "--tool", "read")
    assert run("talk", "drift", "t", "--tool", "read") == (
        0, "nothing has changed since the edition in use was created\n", "",
    )  # fmt: skip
    tree({"w/AGENTS.md": "Money is float.\n"})
    found = asked("talk", "drift", "t", "--tool", "bash")
    assert set(found) == {
        "conversation", "changed", "sections", "tools", "details", "tokens_kept", "tokens_lost", "cache"
    }  # fmt: skip
    assert (found["conversation"], found["changed"]) == ("t", True)
    assert found["tokens_kept"] < 10 < found["tokens_lost"]  # tools come first, and both definitions begin alike
    assert {"section": "instructions", "changes": ["changed"], "sources": ["/w/AGENTS.md"]} in found["details"]
    assert found["tools"] == {"added": ["bash"], "removed": ["read"], "changed": [], "moved": []}
    assert "section 'instructions' changed (/w/AGENTS.md)" in run("talk", "drift", "t", "--tool", "read")[1]
    assert asked("talk", "turn", "t", "--tool", "read")["edition"] == 1  # looking changes nothing


@pytest.mark.parametrize(
    ("setting", "moved", "changed"),
    [
        ("join=\n", [], ["(between sections)"]),
        ("sections=instructions,identity,skills,guidance,boundaries,environment,plan", None, []),
    ],
)
def test_drift_sees_another_separator_and_another_order(run, asked, setting, moved, changed):
    asked("talk", "turn", "t", "--tool", "read")
    found = asked("talk", "drift", "t", "--tool", "read", "--set", setting)
    assert (found["changed"], found["sections"]["changed"]) == (True, changed)
    assert bool(found["sections"]["moved"]) == (moved is None) and found["tokens_lost"] > 0
    assert "; a rebuild would lose about" in run("talk", "drift", "t", "--tool", "read", "--set", setting)[1]


# template


def test_template_versions(tree, run, asked, monkeypatch):
    monkeypatch.setenv("USER", "ada")
    assert asked("template", "show") == {"template": DEFAULT}
    tree({"w/one.md": "One.\n", "w/two.md": "Two.\n"})
    assert run("template", "set", "one.md", "--note", "shorter")[0] == 0
    kept = asked("template", "set", "two.md", "--author", "bob")
    assert (kept["version"], kept["author"], kept["template"]) == (2, "bob", "Two.\n")
    assert run("template", "show") == (0, "Two.\n", "")
    restored = asked("template", "restore", "1")
    assert (restored["version"], restored["note"], restored["template"]) == (3, "Restored version 1", "One.\n")
    assert asked("template", "restore", "0", "--note", "as shipped")["template"] == DEFAULT
    history = asked("template", "history")
    assert [set(each) for each in history] == [{"version", "author", "time", "note", "syntax", "template"}] * 5
    assert [(each["version"], each["author"], each["note"]) for each in history] == [
        (4, "ada", "as shipped"),
        (3, "ada", "Restored version 1"),
        (2, "bob", ""),
        (1, "ada", "shorter"),
        (0, "foreword", "built in"),
    ]
    assert run("template", "history")[1].split()[:3] == ["4", "brackets", "ada"]


def test_a_new_template_reaches_new_conversations_at_once_and_others_at_their_compaction(tree, run, asked):
    tree({"w/one.md": "One.", "w/two.md": "Two."})
    run("template", "set", "one.md")
    assert asked("talk", "turn", "a", "--layout", "builder")["system"] == "One."
    run("template", "set", "two.md")
    assert asked("talk", "turn", "a", "--layout", "builder")["system"] == "One."
    assert asked("talk", "turn", "b", "--layout", "builder")["system"] == "Two."
    assert asked("talk", "compact", "a", "--layout", "builder")["system"].startswith("Two.\n\nSummarise")


# store


def test_verify_and_stats(tree, run, asked):
    asked("talk", "turn", "t", "--store", "here.db")
    assert run("store", "verify", "--store", "here.db")[0] == 0
    assert asked("store", "verify", "--store", "here.db") == {"wrong": []}
    stats = asked("store", "stats", "--store", "here.db")
    assert set(stats) == {"conversations", "editions", "texts", "bytes", "versions"}
    assert (stats["conversations"], stats["editions"], stats["versions"]) == (1, 1, 0)
    assert run("store", "stats", "--store", "here.db")[1].split()[:2] == ["conversations", "1"]


READ_ONLY = [
    ["store", "verify"],
    ["store", "stats"],
    ["talk", "list"],
    ["talk", "show", "t"],
    ["talk", "drift", "t"],
    ["template", "show"],
    ["template", "history"],
    ["diff", "talk:t", "talk:t"],
]


@pytest.mark.parametrize("arguments", READ_ONLY, ids=" ".join)
def test_what_only_reads_makes_no_store(tree, run, refused, arguments):
    if arguments[0] == "store":
        told = refused(*arguments, "--store", "typo.db")
        assert "the store typo.db does not exist; a first turn or `template set` creates it" in told
    run(*arguments, "--store", "typo.db")
    run(*arguments)
    assert [name for _, _, names in os.walk(tree.path("")) for name in names if ".db" in name] == []


def test_verify_says_what_is_wrong(tree, run, asked):
    asked("talk", "turn", "t", "--store", "here.db")
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
def test_where_the_store_is(tree, asked, monkeypatch, environment, option, file):
    for name, text in environment.items():
        monkeypatch.setenv(name, text.replace("{top}", tree.top))
    asked("talk", "turn", "t", *option)
    assert os.path.isfile(tree.path(file))
    assert [row["id"] for row in asked("talk", "list", *option)] == ["t"]


def test_the_users_settings_name_a_store_and_the_workspaces_may_not(tree, asked):
    tree({"w/.foreword/foreword.toml": 'store = "evil.db"\n'})
    asked_for = asked("talk", "list")
    assert asked_for == [] and not os.path.exists(tree.path("w/evil.db"))
    for named, file in ((tree.path("mine.db"), "mine.db"), ("~/my.db", "home/my.db"), ("my.db", f"{CONFIG}/my.db")):
        tree({f"{CONFIG}/foreword.toml": f'store = "{named}"\n'})
        asked("talk", "turn", "t")
        assert os.path.exists(tree.path(file))


# bad calls


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["talk", "tun", "t"], "unknown action 'tun' of foreword talk; did you mean 'turn'?"),
        (["talk", "turn"], "ID"),
        (["talk", "turn", ""], "the id of a conversation must have 1 to 512 characters, not 0"),
        (["talk", "turn", "a\nb"], "control characters"),
        (["talk", "turn", "t", "nowhere"], "nowhere"),
        (["talk", "turn", "t", "--layout", "zzz"], "zzz"),
        (["talk", "turn", "t", "--messages", "none.json"], "--messages none.json: the file does not exist"),
        (["talk", "turn", "t", "--messages", "text.json"], "the file is not JSON"),
        (["talk", "turn", "t", "--messages", "object.json"], "the file must hold a list of messages"),
        (["talk", "turn", "t", "--messages", "rows.json"], "the file must hold a list of messages"),
        (["talk", "turn", "t", "--home", "nowhere"], "--home nowhere: the directory does not exist"),
        (["talk", "turn", "t", "--pack", "x"], "--pack must be NAME=DIR"),
        (["talk", "show", "t"], "no conversation 't' in the store"),
        (["talk", "show", "t", "--edition", "x"], "--edition"),
        (["talk", "show", "known", "--edition", "7"], "no edition 7 of conversation 'known' in the store"),
        (["talk", "drift", "t"], "the conversation 't' has no edition yet; its first turn creates one"),
        (["talk", "list", "--store", "redis://x"], "unknown kind of store redis://"),
        (["talk", "list", "--store", "sqlite:x.db"], "sqlite: must be followed by slashes"),
        (["talk", "list", "--store", "AGENTS.md"], "the file is not a SQLite database"),
        (["store", "stats", "--store", "AGENTS.md/x.db"], "the store AGENTS.md/x.db does not exist"),
        (["talk", "turn", "t", "--store", "AGENTS.md/x.db"], "cannot be"),
        (["talk", "turn", "t", "--tool", "t\udcff"], "no provider accepts a tool named 't\\udcff'; a name must have 1 to 128 letters"),
        (["talk", "turn", "known", "--layout", "builder", "--tool", "t\udcff"], "no provider accepts a tool named"),
        (["talk", "turn", "t", "--model", "m\udcff"], "the model cannot be encoded as UTF-8: 'm\\udcff' has a lone surrogate"),
        (["talk", "turn", "t", "--provider", "\udcff"], "the provider cannot be encoded as UTF-8"),
        (["talk", "turn", "t", "--tools", "half.json"], "no provider accepts a tool named"),
        (["show", "--tools", "half.json"], "no provider accepts a tool named"),
        (["show", "--model", "m\udcff"], "the model cannot be encoded as UTF-8"),
        (["talk", "turn", "t", "--tools", "nan.json"], "--tools nan.json: the file is not JSON"),
        (["talk", "turn", "t", "--tools", "huge.json"], "the schema of the tool 'a' is not valid JSON: it contains NaN, an infinity or itself"),
        (["template", "set"], "FILE"),
        (["template", "set", "none.md"], "the file does not exist"),
        (["template", "restore", "9"], "the template has no version 9"),
        (["template", "restore", "x"], "N"),
        (["template", "show", "extra"], "unrecognized arguments: extra"),
        (["store", "verify", "--store", "AGENTS.md"], "the file is not a SQLite database"),
    ],
)  # fmt: skip
def test_bad_calls(tree, run, refused, arguments, sentence):
    tree({"w/text.json": "text", "w/object.json": "{}", "w/rows.json": '[{"content": "no role"}]'})
    tree({"w/half.json": '[{"name": "\\ud83d"}]', "w/nan.json": '[{"name": "a", "schema": {"x": NaN}}]'})
    tree({"w/huge.json": '[{"name": "a", "schema": {"x": 1e999}}]'})
    run("talk", "turn", "known", "--layout", "builder")
    assert sentence in refused(*arguments)


def test_a_template_that_cannot_be_rendered_is_refused_and_nothing_is_kept(tree, run):
    tree({"w/body.md": "{{ nope }}"})
    status, out, err = run("talk", "turn", "t", "--layout", "pod", "--base", "body.md")
    assert (status, out) == (2, "") and err.startswith("foreword: /w/body.md: nope is not defined")
    assert run("talk", "list") == (0, "", "no conversations\n")
