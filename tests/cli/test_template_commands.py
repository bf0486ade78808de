"""template show, check, render and variables, with and without --json."""

import io
import json
import os
import re
from pathlib import Path

import pytest

from foreword import Conversations, Workspace
from foreword.errors import MissingError
from foreword.store.rows import TemplateVersion
from foreword.vocabulary import digest

DEFAULT = """\
You are a helpful coding assistant.

[if file:AGENTS.md]
[file:AGENTS.md]
[endif]

The current working directory is [prompt:cwd].
"""
NOW = "2026-03-07T08:55:05-06:00"


def sentence(output):
    """The error message of a failed call, whose location may be printed below it."""
    status, out, err = output
    assert (status, out) == (2, "")
    first, *location = err.rstrip("\n").split("\n")
    assert first.startswith("foreword: ") and len(location) in (0, 2)
    return first.removeprefix("foreword: ")


# show and variables


def test_show_prints_the_built_in_template_word_for_word(run):
    assert run("template", "show") == (0, DEFAULT, "")
    status, out, err = run("template", "show", "--json")
    assert (status, json.loads(out), err) == (0, {"template": DEFAULT}, "")


CATALOG = [
    ("system", "time"), ("system", "date"), ("system", "os"), ("system", "hostname"),
    ("prompt", "cwd"), ("prompt", "model"), ("prompt", "conversation_id"),
    ("git", "branch"), ("git", "status"),
    ("file", "<path>"),
]  # fmt: skip


def test_variables_lists_the_catalog(run):
    status, out, err = run("template", "variables")
    assert (status, err) == (0, "")
    assert [line.split("  ")[0] for line in out.splitlines()] == [f"[{type_}:{name}]" for type_, name in CATALOG]


def test_variables_as_json_match_the_response_of_the_service(run):
    status, out, err = run("template", "variables", "--json")
    rows = json.loads(out)["variables"]
    assert (status, err, list(json.loads(out))) == (0, "", ["variables"])
    assert [(row["type"], row["name"]) for row in rows] == CATALOG
    assert all(row["description"] for row in rows)
    assert [row.get("dynamic") for row in rows] == [None] * 9 + [True]
    assert all(set(row) <= {"type", "name", "description", "dynamic"} for row in rows)


# render


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        (DEFAULT, [], "You are a helpful coding assistant.\n\n\nX\n\n\nThe current working directory is /w.\n"),
        ("[system:time] [system:date]", ["--now", NOW], "2026-03-07T14:55:05.000Z 2026-03-07"),
        ("[prompt:model] [prompt:conversation_id]", ["--model", "opus", "--session", "t1"], "opus t1"),
        ("[prompt:model]", ["--value", "prompt:model=given"], "given"),
        ("[prompt:model]", ["--model", "opus", "--value", "prompt:model="], ""),
        ("[file:AGENTS.md] [file:no]", ["--value", "file:AGENTS.md=A", "--value", "file:no=N"], "A N"),
        ("[git:branch] [if git:status]dirty[endif]", ["--value", "git:branch=main", "--value", "git:status= M x"], "main dirty"),
        ("[team:name]", ["--value", "team:name=a=b [prompt:cwd]"], "a=b [prompt:cwd]"),
        ("  \n\n[prompt:cwd]\n\n  ", [], "  \n\n/w\n\n  "),
        (" ", [], " "),
        ("[file:no]", [], ""),
        ("", [], ""),
    ],
)  # fmt: skip
def test_render_prints_the_text_unchanged(tree, run, template, arguments, text):
    tree({"w/AGENTS.md": "X\n", "t.txt": template})
    status, out, err = run("template", "render", tree.path("t.txt"), "--json", *arguments)
    form = json.loads(out)
    assert (status, form["layout"], form["text"], form["findings"], err) == (0, "builder", text, [], "")
    assert form["passages"] if text else form["passages"] == []
    status, out, err = run("template", "render", tree.path("t.txt"), *arguments)
    assert (status, out, err) == (0, text if text.endswith("\n") or not text else text + "\n", "")


def test_render_as_json_has_the_form_of_show(tree, run):
    tree({"t.txt": "a\n[file:x]!", "w/x": "X\n"})
    _, rendered, _ = run("template", "render", "../t.txt", "--json")
    _, prompt, _ = run("show", "--layout", "builder", "--base", "../t.txt", "--json")
    assert rendered == prompt
    form = json.loads(rendered)
    assert (form["id"], form["text"]) == (digest("a\nX!"), "a\nX!")
    (passage,) = form["passages"]
    assert [(origin["kind"], origin["path"], origin["lines"]) for origin in passage["origins"]] == [
        ("template", "/t.txt", [1, 1]),
        ("file", "/w/x", [1, 1]),
        ("template", "/t.txt", [2, 2]),
    ]


def test_render_takes_a_directory(tree, run):
    tree({"w/t.txt": "[prompt:cwd] [file:x]", "w/sub/x": "SUB", "w/x": "HERE"})
    assert run("template", "render", "t.txt", "sub")[1] == "/w/sub SUB\n"
    assert run("template", "render", "t.txt")[1] == "/w HERE\n"


def test_render_reports_findings(tree, run):
    tree({"t.txt": "a\n[if prompt:cwd]b [x:y] [file:.env]", "w/.env": "SECRET"})
    status, out, err = run("template", "render", "../t.txt")
    assert (status, out) == (0, "a\n[if prompt:cwd]b  \n")
    assert re.findall(r" \[([a-z-]+)\]$", err, re.MULTILINE) == [
        "template-unmatched",
        "variable-refused",
        "template-unknown-type",
    ]


def test_render_reads_only_what_the_scope_allows(tree, run):
    tree(
        {
            "t.txt": "[file:x]",
            "w/x": "X",
            "w/scope.json": json.dumps({"allow": [{"path": "."}], "deny": [{"path": "x"}]}),
        }
    )
    assert run("template", "render", "../t.txt")[1] == "X\n"
    status, out, err = run("template", "render", "../t.txt", "--scope", "scope.json")
    assert (status, out) == (0, "") and "[variable-refused]" in err


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        ("{{ cwd }} {{ tools | join(',') }}\n", ["--tool", "read", "--tool", "edit"], "/w read,edit\n"),
        ("{{ date }} {{ time }} {{ datetime }}", ["--now", NOW], "2026-03-07 14:55:05 2026-03-07T14:55:05Z"),
        ("{{ language }}", ["--language", "Deutsch"], "Deutsch"),
        ("{{ language }}", ["--value", "language=given"], "given"),
        ("{{ team }}", ["--value", "team={{ cwd }}"], "{{ cwd }}"),
        ("\n\n {{ cwd }} \n\n", [], "\n\n /w \n\n"),
        ("[prompt:cwd]", [], "[prompt:cwd]"),
        ("{% include '$std/common/tool-usage' %}", [], None),
        ("{# nothing #}", [], ""),
        ("", [], ""),
    ],
)  # fmt: skip
def test_render_accepts_the_jinja_like_language(tree, run, template, arguments, text):
    tree({"t.md": template})
    status, out, err = run("template", "render", "../t.md", "--syntax", "jinja", "--json", *arguments)
    form = json.loads(out)
    assert (status, form["layout"], form["findings"], err) == (0, "builder", [], "")
    assert text in (None, form["text"])


@pytest.mark.parametrize(("layout", "syntax"), [("pod", "brackets"), ("builder", "jinja")])
def test_the_syntax_option_overrides_the_layout(tree, run, layout, syntax):
    tree({"t.md": "[prompt:cwd] {{ cwd }}", "w/.git": None})
    text = {"brackets": "/w {{ cwd }}\n", "jinja": "[prompt:cwd] /w\n"}[syntax]
    assert run("template", "render", "../t.md", "--layout", layout, "--syntax", syntax) == (0, text, "")


def test_a_prompt_is_shown_with_the_global_template(tree, run):
    tree({"t.md": "Mine, in [prompt:cwd].\n", "base.md": "The caller's."})
    before = run("show", "--layout", "builder")[1]
    run("template", "set", "../t.md", "--store", "s.db")
    assert run("show", "--layout", "builder")[1] == before
    for command in ("show", "blame"):
        assert "Mine, in /w." in run(command, "--layout", "builder", "--store", "s.db")[1]
    assert "Mine" not in run("show", "--layout", "builder", "--store", "s.db", "--base", "../base.md")[1]
    assert "Mine" not in run("show", "--layout", "opal", "--store", "s.db")[1]
    prompt = json.loads(run("show", "--layout", "builder", "--store", "s.db", "--json")[1])
    turn = json.loads(run("conversation", "turn", "t", "--layout", "builder", "--store", "s.db", "--json")[1])
    assert prompt["text"] == turn["system"]


def test_a_template_is_read_from_standard_input(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfIn [prompt:cwd]\r\n")))
    assert run("template", "render", "-") == (0, "In /w\n", "")
    assert run("template", "set", "-")[0] == 0, "standard input can be read twice"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\xff")))
    status, out, message = run("template", "check", "-")
    assert (status, out) == (2, "") and "FILE -: byte 0xff at offset 1 is not UTF-8" in message


# Templates that cannot be parsed or rendered


@pytest.mark.parametrize("command", ["check", "render"])
@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ cwd", "/t.md: {{ is a tag that is never closed (line 1, column 1)"),
        ("a\n{% if cwd %}", "/t.md: {% if cwd %} has no {% endif %} (line 2, column 1)"),
        ("{{ ghost }}", "/t.md: ghost is not defined; known: cwd, date, datetime, language, time, tools (line 1, column 4)"),
        ("{% include 'x' %}", "/t.md: 'x' cannot be included: 'x' has no prefix, and /t.md is not in a pack; an address is $prefix/path, such as $user/review (line 1, column 12)"),
        ("{% include '$acme/x' %}", "/t.md: '$acme/x' cannot be included: unknown pack 'acme'; known packs: agents, std, user, workspace (line 1, column 12)"),
        ("{{ cwd | nofilter }}", "/t.md: nofilter uses an unknown filter (line 1, column 10)"),
        ("{% for i in range(1000000) %}{% endfor %}", "/t.md: "),
        ('{{ "%9999999999d" | format(1) }}', "/t.md "),
    ],
)  # fmt: skip
def test_a_template_that_cannot_be_rendered_is_reported_in_one_sentence(tree, run, command, form, template, words):
    tree({"t.md": template})
    message = sentence(run("template", command, "../t.md", "--syntax", "jinja", *form))
    assert message.startswith(words)
    tree({"t.md": "next {{ cwd }}"})
    assert run("template", "render", "../t.md", "--syntax", "jinja") == (0, "next /w\n", "")


@pytest.mark.parametrize("command", ["check", "render"])
def test_a_template_over_the_limit_is_reported_in_one_sentence(tree, run, command):
    tree({"t.txt": "[if x:y]" * 70_000})
    assert sentence(run("template", command, "../t.txt")).endswith(
        " has 560,000 characters; at most 500,000 are accepted"
    )


@pytest.mark.parametrize("command", ["check", "render"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no.txt"], "FILE no.txt: the file does not exist"),
        (["folder"], "FILE folder: it is a directory, not a file"),
        (["pipe"], "FILE pipe: it is a named pipe, not a file"),
        (["binary"], "FILE binary: it contains a NUL byte at offset 1"),
        (["latin"], "FILE latin: byte 0xe9 at offset 0 is not UTF-8; save it as UTF-8"),
        (["link"], "FILE link: it is a broken link"),
        (["t.txt", "--value", "nothing"], "--value must be type:name=TEXT, not 'nothing'"),
        (["t.txt", "--value", "=x"], "--value must be type:name=TEXT, not '=x'"),
        (["t.txt", "nowhere"], "the working directory nowhere does not exist; pass an existing directory"),
        (["t.txt", "--layout", "nope"], None),
        (["t.txt", "--layout", "opal"], None),
        (["t.txt", "--syntax", "liquid"], None),
        (["t.txt", "--scope", "t.txt"], "--scope t.txt: the file is not valid JSON (line 1, column 1)"),
        ([], None),
    ],
)  # fmt: skip
def test_an_invalid_call_is_reported_in_one_sentence(tree, run, command, arguments, words):
    tree({"w/t.txt": "x", "w/folder": None, "w/pipe": os.mkfifo, "w/binary": b"a\0", "w/latin": b"\xe9"})
    tree({"w/link": Path("nowhere")})
    message = sentence(run("template", command, *arguments))
    assert message == (words or message) and message


def test_an_unknown_action_lists_the_known_ones(run):
    assert sentence(run("template", "chek")) == "unknown action 'chek' for foreword template; did you mean 'check'?"


# check


@pytest.mark.parametrize(
    ("template", "arguments", "variables", "findings"),
    [
        ("plain", [], [], []),
        ("", [], [], []),
        (DEFAULT, [], ["file:AGENTS.md", "prompt:cwd"], []),
        ("[if !git:status]x[endif] [git:branch] [git:branch]", [], ["git:status", "git:branch"], []),
        ("[x:y]", [], [], [("template-unknown-type", 1)]),
        ("[x:y]", ["--value", "x:y=z"], ["x:y"], []),
        ("a\n\n[if file:x]", [], [], [("template-unmatched", 3)]),
        ("a\n[elseif file:x]", [], [], [("template-malformed", 2)]),
        ("[file:.env] [file:../../x]", [], ["file:.env", "file:../../x"], [("variable-refused", None)] * 2),
        ("[file:pipe]", [], ["file:pipe"], [("file-unreadable", None)]),
    ],
)
def test_check_lists_variables_and_findings(tree, run, template, arguments, variables, findings):
    tree({"t.txt": template, "w/.env": "SECRET", "w/pipe": os.mkfifo})
    status, out, err = run("template", "check", "../t.txt", "--json", *arguments)
    form = json.loads(out)
    has_error = any(code == "template-unmatched" for code, _ in findings)
    assert (status, err, list(form)) == (int(has_error), "", ["variables", "findings"])
    assert form["variables"] == variables
    assert [(finding["code"], finding["line"]) for finding in form["findings"]] == findings


BROKEN = [("[if file:x] a", "brackets"), ("a [endif]", "brackets"), ("a [else] b", "brackets"), ("{% if x %}", "jinja")]


@pytest.mark.parametrize(("template", "syntax"), BROKEN)
def test_a_template_with_errors_becomes_live_only_by_force(tree, run, template, syntax):
    tree({"t.txt": template, "good.txt": "Hello"})
    assert run("template", "set", "../good.txt")[0] == 0
    status, out, err = run("template", "set", "../t.txt", "--syntax", syntax)
    assert (status, out) == (2, "") and "error: " in err
    assert "nothing was changed, because the template has 1 error; --force makes it live anyway" in err
    assert run("template", "show")[1] == "Hello\n"
    status, out, err = run("template", "set", "../t.txt", "--syntax", syntax, "--draft")
    assert status == 0 and "error: " in err and "not live" in out
    assert run("template", "label", "production", "2")[0] == run("template", "restore", "2")[0] == 2
    assert run("template", "show")[1] == "Hello\n"
    assert run("template", "label", "production", "2", "--force")[0] == 0
    assert run("template", "restore", "2", "--force", "--json")[0] == 0
    assert run("template", "show")[1] == template + "\n"


def test_set_prints_warnings_and_saves(tree, run):
    tree({"t.txt": "[x:y]"})
    status, out, err = run("template", "set", "../t.txt", "--name", "other")
    assert status == 0 and "version 1 is now the template other" in out and "[template-unknown-type]" in err


def test_check_shows_the_location(tree, run):
    tree({"t.txt": "one\nand [if file:x] so"})
    assert run("template", "check", "../t.txt") == (
        1,
        "",
        "error: /t.txt:2:5: [if file:x] has no [endif] and is left as text\n"
        "    and [if file:x] so\n"
        "        ^^^^^^^^^^^ [template-unmatched]\n"
        "1 finding, 0 variables\n",
    )


@pytest.mark.parametrize(
    ("template", "variables"),
    [("plain", []), ("{{ cwd }} {% for t in tools %}{{ t }}{% endfor %}", ["cwd", "tools"]), ("", [])],
)
def test_check_accepts_the_jinja_like_language(tree, run, template, variables):
    tree({"t.md": template})
    status, out, err = run("template", "check", "../t.md", "--syntax", "jinja", "--json")
    assert (status, json.loads(out), err) == (0, {"variables": variables, "findings": []}, "")


def test_a_warning_is_not_a_failure_even_with_strict(tree, run):
    tree({"t.txt": "[x:y]"})
    assert [run("template", command, "../t.txt", "--strict")[0] for command in ("check", "render")] == [0, 0]


def test_an_error_finding_fails_check_and_strict(tree, run):
    tree({"t.txt": "one two three four five six seven eight nine ten"})
    over_budget = ["--set", "budget=1", "--set", "over=cut"]
    assert run("template", "render", "../t.txt", *over_budget)[0] == 0
    assert run("template", "render", "../t.txt", *over_budget, "--strict")[0] == 1


# layouts without a template, or with another template section


@pytest.mark.parametrize("action", [["show"], ["history"], ["check", "t.md"], ["render", "t.md"]])
def test_a_layout_without_a_template_is_rejected(tree, run, action):
    tree({"w/t.md": "Hello."})
    assert (
        sentence(run("template", *action, "--layout", "opal"))
        == "the layout 'opal' has no template; use --layout builder"
    )


def test_a_template_replaces_the_template_of_the_layout(tree, run):
    layout = 'sections = ["intro"]\n[section.intro]\ntext = "Hi."\ninstead = ["base"]\nlanguage = "brackets"\n'
    tree({"w/t.md": "You are in [prompt:cwd].\n", "w/mine.toml": layout})
    assert run("template", "show", "--layout", "mine.toml")[:2] == (0, "Hi.\n")
    assert run("template", "render", "t.md", "--layout", "mine.toml")[:2] == (0, "You are in /w.\n")


def test_a_version_records_its_language(tree, run):
    tree({"w/t.md": "In {{ cwd }}"})
    assert run("template", "set", "t.md", "--syntax", "jinja", "--author", "me")[0] == 0
    assert run("show", "--layout", "builder")[1] == "In /w\n"
    assert run("conversation", "turn", "c", "--layout", "builder")[1] == "In /w\n"
    assert run("template", "set", "t.md")[0] == 0
    assert run("show", "--layout", "builder")[1] == "In {{ cwd }}\n"
    assert run("template", "restore", "1")[0] == 0
    rows = [line.replace("production", "").split()[:2] for line in run("template", "history")[1].splitlines()]
    assert rows == [["3", "jinja"], ["2", "brackets"], ["1", "jinja"], ["0", "brackets"]]


def test_a_label_is_created_moved_and_removed_and_a_wrong_name_is_suggested(tree, run):
    tree({"w/t.md": "Hi."})
    for _ in range(2):
        run("template", "set", "t.md", "--name", "support")
    label = lambda *words: run("template", "label", *words, "--name", "support")  # noqa: E731
    assert label("staging", "1")[1] == "created the label staging of template support at version 1\n"
    assert label("staging", "2")[1] == "moved the label staging of template support from version 1 to version 2\n"
    assert label("staging", "2")[1] == "the label staging of template support already refers to version 2\n"
    removed = run("template", "label", "staging", "--remove", "--name", "support")
    assert removed[:2] == (0, "removed the label staging from version 2 of template support\n")
    assert "has no label 'staging'" in run("template", "label", "staging", "--remove", "--name", "support")[2]
    assert "cannot be removed; move it" in run("template", "label", "production", "--remove", "--name", "support")[2]
    assert "template 'support' has no version 9" in label("staging", "9")[2]
    for command in (["label", "production", "1"], ["show"], ["history"], ["restore", "1"]):
        status, _, error = run("template", *command, "--name", "suport")
        assert (status, "no template 'suport' in the store; did you mean 'support'?" in error) == (2, True), command


def test_a_saved_template_is_used_by_conversations_that_name_it(tree, run):
    tree({"w/t.txt": "You are brief."})
    users = "new conversations that name it use it immediately, existing ones after compaction"
    assert run("template", "set", "t.txt", "--name", "chat") == (
        0,
        f"version 1 is now the template chat: {users}\n",
        "",
    )


def test_a_template_is_deleted_by_name(tree, run):
    tree({"w/t.md": "Hi."})
    assert run("template", "list") == (0, "", "no stored templates; store one with foreword template set FILE\n")
    run("template", "set", "t.md", "--name", "support", "--note", "a note")
    assert "a note" in run("template", "history", "--name", "support")[1]
    assert run("template", "delete", "support")[:2] == (0, "deleted template support with 1 version\n")
    assert "no template 'support' in the store" in run("template", "delete", "support")[2]
    assert "the template 'default' cannot be deleted" in run("template", "delete", "default")[2]


def test_deleting_a_template_says_how_many_conversations_used_it(tree, run):
    with Conversations("s.db") as conversations:
        conversations.store.add_template(TemplateVersion(0, "Hi.", name="support"))
        for id in ("one", "two"):
            conversations.open(id, Workspace("."), layout="builder", template="support").turn("go")
        status, _, error = run("template", "delete", "support", "--store", "s.db")
        kept = "2 conversations that were built from it keep their prompts"
        assert (status, error) == (0, f"{kept}, but cannot be rebuilt without naming another template\n")
        again = conversations.open("one", Workspace("."), layout="builder")
        assert again.turn("go").system == "Hi."
        with pytest.raises(
            MissingError, match="the template 'support' that this conversation was built from no longer exists"
        ):
            again.reload()
        assert conversations.open("one", Workspace("."), layout="builder", template="default").reload().system
