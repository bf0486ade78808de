"""The `builder` layout: one template in the bracket language. Its git variables are tested in test_git.py."""

import os
import socket
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from foreword import Access, Agent, Assembler, Document, Scope, assemble
from foreword.errors import TemplateError
from foreword.sources.reader import LIMIT
from foreword.sources.stamps import time

DEFAULT = """\
You are a helpful coding assistant.

[if file:AGENTS.md]
[file:AGENTS.md]
[endif]

The current working directory is [prompt:cwd].
"""


def render_template(tree, template, cwd="w", **options):
    """The rendered text of a template, and the code and message of each finding."""
    prompt = tree.prompt("builder", cwd, base=template, **options)
    return tree.short(prompt.text), [
        (code, message.partition("\n")[0]) for code, message in tree.messages(prompt) if code != "not-a-repository"
    ]


def access(tree, *rows):
    return [Access(tree.path(path), *more) for path, *more in rows]


# The template


def test_the_default_template_never_changes(tree):
    assert Assembler(tree.workspace(), "builder").layout().sections[0].text == DEFAULT
    assert tree.text("builder") == "You are a helpful coding assistant.\n\n\n\nThe current working directory is /w.\n"
    tree({"w/AGENTS.md": "\nX\n\n"})
    assert tree.text("builder") == (
        "You are a helpful coding assistant.\n\n\n\nX\n\n\n\nThe current working directory is /w.\n"
    )


def test_the_callers_template_comes_first_then_the_global_one_then_the_default(tree):
    assembler = Assembler(tree.workspace(), "builder")
    assert tree.short(assembler.prompt().text).startswith("You are a helpful coding assistant.\n")
    template = Document("", "GLOBAL")
    assert assembler.prompt(template=template).text == "GLOBAL"
    assert assembler.prompt(Agent(base="CALLER"), template=template).text == "CALLER"


@pytest.mark.parametrize("template", [" \n", "\n\n  a  \n\n", "a", "\ta\t\n", "a\r\nb", "\N{NO-BREAK SPACE}"])
def test_template_and_result_are_never_trimmed(tree, template):
    assert tree.text("builder", base=template) == template
    assert tree.text("builder", base=f"[if file:no]x[endif]{template}[file:no]") == template


def test_an_empty_template_gives_an_empty_prompt(tree):
    assembler = Assembler(tree.workspace(), "builder")
    for prompt in (
        assembler.prompt(template=Document("", "")),
        assembler.prompt(Agent(base=Document("empty.md", ""))),
        tree.prompt("builder", set={"body.text": ""}),
        tree.prompt("builder", base="[file:no][prompt:model]"),
    ):
        assert (prompt.text, prompt.passages) == ("", ())


def test_none_does_not_mean_an_empty_template(tree):
    assert tree.text("builder", base="") == tree.text("builder")


def test_a_template_over_the_limit_is_an_error(tree):
    with pytest.raises(TemplateError, match="at most 500,000 are accepted"):
        tree.prompt("builder", base="x" * 500_001)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("[if prompt:cwd]yes[endif]", "yes"),
        ("[if !prompt:cwd]no[endif]", ""),
        ("[if file:no]no[else]other[endif]", "other"),
        ("[if !file:no]missing[else]no[endif]", "missing"),
        ("[if prompt:cwd]a[if file:no]b[else]c[if prompt:cwd]d[endif][endif]e[endif]f", "acdef"),
        ("[if prompt:cwd]\nline\n[endif]\n", "\nline\n\n"),
        ("[ prompt:cwd ][if  ! file:no ]x[ endif ]", "/wx"),
        ("[if file:empty]no[else]empty[endif]", "empty"),
        ("[if file:newline]no[else]empty[endif]", "empty"),
        ("[if file:blank]blank[endif]", "blank"),
        ("[if prompt:model]no[else]unnamed[endif]", "unnamed"),
        (r"\[prompt:cwd] \[if x] \n \\[prompt:cwd]", r"[prompt:cwd] [if x] \n \[prompt:cwd]"),
        ("[TODO: fix] [12:30] [https://x] [note:a](b) [x] [File:x]", "[TODO: fix] [12:30] [https://x] [note:a](b) [x] [File:x]"),
    ],
)  # fmt: skip
def test_a_template_is_rendered(tree, template, text):
    tree({"w/empty": "", "w/newline": "\n", "w/blank": " "})
    assert tree.text("builder", base=template) == text


@pytest.mark.parametrize(
    ("template", "text", "findings"),
    [
        ("a[unknown:foo]b", "ab", [("template-unknown-type", "[unknown:foo] has an unknown type and is treated as undefined; known types: file, git, prompt, system")]),
        ("[if unknown:foo]a[else]b[endif]", "b", [("template-unknown-type", "[if unknown:foo] has an unknown type and is treated as undefined; known types: file, git, prompt, system")]),
        ("a[system:tme]b", "ab", [("template-unknown-name", "[system:tme] is not a known system variable and is treated as undefined; did you mean 'time'?")]),
        ("[if git:zzz]a[else]b[endif]", "b", [("template-unknown-name", "[if git:zzz] is not a known git variable and is treated as undefined; known: branch, status")]),
        ("a\n[if file:x]b", "a\n[if file:x]b", [("template-unmatched", "[if file:x] has no [endif] and is left as text")]),
        ("a[endif]b", "a[endif]b", [("template-unmatched", "[endif] has no [if] and is left as text")]),
    ],
)  # fmt: skip
def test_mistakes_in_a_template_are_reported(tree, template, text, findings):
    assert render_template(tree, template) == (text, findings)


def test_a_name_with_a_passed_value_is_known(tree):
    assembler = Assembler(tree.workspace(), "builder", values={"system:mood": "calm"})
    prompt = assembler.prompt(Agent(base="[system:mood] [system:moo]"))
    assert prompt.text == "calm "
    assert [code for code, _ in tree.findings(prompt) if code.startswith("template")] == ["template-unknown-name"]


# Variables


@pytest.mark.parametrize(
    ("now", "time"),
    [
        (datetime(2026, 4, 15, 9, 30, tzinfo=UTC), "2026-04-15T09:30:00.000Z"),
        (datetime(2026, 4, 15, 9, 30, 5, 123_999, tzinfo=UTC), "2026-04-15T09:30:05.123Z"),
        (datetime(2026, 4, 15, 23, 30, tzinfo=timezone(timedelta(hours=-6))), "2026-04-16T05:30:00.000Z"),
        (datetime(2026, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))), "2025-12-31T18:45:00.000Z"),
    ],
)
def test_time_and_date_are_utc(tree, now, time):
    assert tree.text("builder", base="[system:time] [system:date]", now=now) == f"{time} {time[:10]}"


def test_spaces_after_the_colon_are_ignored(tree):
    base = "[system: time]|[system:\tdate]|[prompt: cwd]|[if system: date]x[endif]"
    assert tree.text("builder", base=base) == "2026-03-07T14:55:05.000Z|2026-03-07|/w|x"


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_system_variables_describe_the_machine(tree, platform, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "box.example")
    base = "[system:os] [system:hostname]"
    assert tree.text("builder", base=base, platform=platform) == f"{platform} box.example"


def test_conversation_variables_describe_the_agent(tree):
    tree({"w/a b": None})
    base = "[prompt:cwd]|[prompt:model]|[prompt:conversation_id]"
    assert tree.text("builder", "w/a b", base=base, model="opus", session="talk-42") == "/w/a b|opus|talk-42"
    assert tree.text("builder", base=base) == "/w||"


@pytest.mark.parametrize("name", ["system:nope", "prompt:nope", "git:nope", "git:branch", "git:status", "file:nope"])
def test_a_variable_that_fails_is_treated_as_undefined(tree, name):
    assert tree.text("builder", base=f"<[{name}]>[if {name}]yes[else]no[endif]") == "<>no"


@pytest.mark.parametrize(
    "value", ["[prompt:cwd]", "[if file:x]", "[endif]", r"$& \1 \g<0> %s {0} {} {{ cwd }}", r"\[", "a\nb"]
)
def test_a_value_is_never_parsed_again(tree, value):
    tree({"w/x": value})
    assert tree.text("builder", base="<[file:x]|[prompt:model]>", model=value) == f"<{value}|{value}>"


def test_only_the_variables_that_are_used_are_resolved(tree, monkeypatch):
    def never(*_):
        raise AssertionError("this variable is not used")

    monkeypatch.setattr(socket, "gethostname", never)
    monkeypatch.setattr("subprocess.Popen", never)
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/AGENTS.md": os.mkfifo})
    prompt = tree.prompt("builder", base="[system:os] [git:branch]")
    assert (prompt.text, prompt.findings, prompt.candidates) == ("linux main", (), ())


def test_the_clock_matters_only_if_the_time_is_used(tree):
    assembler = Assembler(tree.workspace(), "builder")
    now = datetime(2026, 4, 15, tzinfo=UTC)
    for template, is_same in (("[prompt:cwd]", True), ("[system:date]", False), ("[system:time]", False)):
        prompts = [assembler.prompt(Agent(base=template), now + timedelta(days=days)) for days in (0, 1)]
        assert (prompts[0].id == prompts[1].id) == is_same


# Files that are included


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("X", "X"),
        ("X\n", "X"),
        ("X\n\n", "X\n"),
        ("\n X \n", "\n X "),
        ("\ufeffX\r\nY\r\n", "X\nY"),
        ("\ufeff", ""),
        ("", ""),
        ("a\rb", "a\rb"),
        ("<!-- x -->\n```\n", "<!-- x -->\n```"),
        ("é\N{SNAKE}\u2028", "é\N{SNAKE}\u2028"),
    ],
)
def test_a_file_is_included_without_its_final_newline(tree, content, value):
    tree({"w/x": content})
    assert render_template(tree, "<[file:x]>") == (f"<{value}>", [])


@pytest.mark.parametrize(
    "name",
    ["x", "./x", "sub/../x", "deep/er/x", "a b/x y", "é", "$TOP/w/x", "$TOP/w/../w/x", ".env.example", "key.pub", "a:b", "..x"],
)  # fmt: skip
def test_a_file_is_relative_to_the_working_directory_or_absolute(tree, name):
    path = name.replace("$TOP", tree.top)
    tree({"w/sub": None, os.path.normpath(os.path.join(tree.path("w"), path)): "X"})
    assert render_template(tree, f"[file:{path}]") == ("X", [])


def test_the_entire_workspace_may_be_read_from_a_subfolder(tree):
    tree({"w/.git": None, "w/x": "X", "w/a/b": None, "w/c/y": "Y"})
    assert render_template(tree, "[file:../../x] [file:../../c/y]", "w/a/b") == ("X Y", [])


def test_text_from_a_file_has_its_path_and_lines_as_origin(tree):
    tree({"w/x": "one\ntwo\n"})
    prompt = tree.prompt(
        "builder", base=Document(tree.path("t.txt"), "a\n[file:x] [prompt:model]b", "sha256:t"), model="m"
    )
    assert [
        (piece.text, piece.origin.kind, tree.short(piece.origin.path), piece.origin.lines)
        for piece in prompt.passages[0].pieces
    ] == [
        ("a\n", "template", "/t.txt", (1, 1)),
        ("one\ntwo", "file", "/w/x", (1, 2)),
        (" ", "template", "/t.txt", (2, 2)),
        ("m", "variable", "prompt:model", None),
        ("b", "template", "/t.txt", (2, 2)),
    ]


def test_a_file_over_the_read_limit_is_truncated_with_a_marker_and_a_finding(tree):
    tree({"w/x": "x" * (LIMIT + 10)})
    text, findings = render_template(tree, "[file:x]")
    assert text == "x" * LIMIT + f"\n[foreword: cut here; the file has {LIMIT + 10:,} bytes]"
    assert findings == [
        ("file-cut", f"/w/x: it has {LIMIT + 10:,} bytes; everything after the first {LIMIT:,} is left out")
    ]


# Files that are refused


OUTSIDE = "it is outside what the scope may read (the setting file_paths widens it)"
SECRET = "its name suggests that it contains secrets (the setting file_secrets allows it)"
NO_FILE = "it is not a file of a project"


def is_rejected(tree, name, reason, cwd="w", **options):
    """Whether a file is rejected for this reason: it renders blank, is false in a condition, and its finding does not quote it."""
    name = name.replace("$TOP", tree.top)
    text, findings = render_template(tree, f"<[file:{name}]>[if file:{name}]yes[else]no[endif]", cwd, **options)
    return (text, findings) == ("<>no", [("variable-refused", tree.short(f"[file:{name}] is not read: {reason}"))])


@pytest.mark.parametrize(
    "name",
    [
        "../x", "../w-evil/x", "$TOP/x", "$TOP/w-evil/x", "$TOP/home/x", "a/../../x", "../../../../../../etc/passwd", "/etc/passwd",
        "link", "folder/x", "hop", "/", "..",
    ],
)  # fmt: skip
def test_files_outside_the_workspace_are_rejected(tree, name):
    tree({
        "x": "SECRET", "home/x": "SECRET", "w-evil/x": "SECRET", "w/.git": None, "w/a": None,
        "w/link": Path("../x"), "w/folder": Path("../home"), "w/hop": Path("link"),
    })  # fmt: skip
    assert is_rejected(tree, name, OUTSIDE)


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".env.local", "prod.env", ".envrc", "sub/.env", ".ENV", "server.pem", "server.key", "cert.p12", "id_rsa", "id_ed25519",
        ".ssh/config", ".ssh/known_hosts", ".git/config", ".git/HEAD", ".npmrc", ".pypirc", ".netrc", ".git-credentials",
        ".aws/credentials", "credentials", "secrets.yaml", "credentials.yml", ".docker/config.json", "main.tfstate", ".htpasswd", "$TOP/w/.env",
    ],
)  # fmt: skip
def test_files_with_secrets_are_rejected(tree, name):
    tree({os.path.join("w", name.replace("$TOP/w/", "")): "SECRET"})
    assert is_rejected(tree, name, SECRET)
    assert render_template(tree, f"[file:{name.replace('$TOP', tree.top)}]", set={"file_secrets": True}) == (
        "SECRET",
        [],
    )


def test_a_link_to_a_secret_is_rejected(tree):
    tree({"w/.env": "SECRET", "w/notes": Path(".env"), "w/plain": "plain", "w/.npmrc": Path("plain")})
    assert is_rejected(tree, "notes", SECRET)
    assert is_rejected(tree, ".npmrc", SECRET)


@pytest.mark.parametrize(
    "name", ["/proc/self/environ", "/proc/version", "/dev/zero", "/dev/stdin", "/sys/kernel/notes", "link"]
)
def test_files_that_do_not_belong_to_a_project_are_rejected_in_any_scope(tree, name):
    tree({"w/link": Path("/proc/self/environ")})
    everything = {"scope": Scope([Access("/")]), "set": {"file_paths": ["/"], "file_secrets": True}}
    assert is_rejected(tree, name, NO_FILE, **everything)


def test_a_workspace_in_dev_shm_may_read_its_own_files(tree, monkeypatch):
    tree({"w/a.md": "A", "w/link": Path("a.md"), "other": Path("w")})
    monkeypatch.setattr("foreword.sources.links._SYSTEM_FOLDERS", (tree.top,))
    for cwd in ("w", "other"):
        assert render_template(tree, "[file:a.md] [file:link]", cwd) == ("A A", [])


@pytest.mark.parametrize(
    ("make", "code", "reason"),
    [
        (os.mkfifo, "file-unreadable", "it is a named pipe, not a file"),
        (None, "file-unreadable", "it is a directory, not a file"),
        (Path("nowhere"), "file-unreadable", "it is a broken link"),
        (Path("x"), "file-unreadable", "its links form a loop"),
        (b"a\0b", "file-binary", "it contains a NUL byte at offset 1"),
        (b"a\xe9", "file-not-utf8", "byte 0xe9 at offset 1 is not UTF-8; save it as UTF-8"),
        (b"\xff\xfea\0", "file-not-utf8", "it is UTF-16, not UTF-8; save it as UTF-8"),
    ],
    ids=["pipe", "directory", "broken link", "circle", "binary", "latin-1", "utf-16"],
)
def test_an_unreadable_file_counts_as_missing_and_is_reported(tree, make, code, reason):
    tree({"w/x": make})
    assert render_template(tree, "<[file:x]>[if !file:x]missing[endif]") == ("<>missing", [(code, f"/w/x: {reason}")])


@pytest.mark.parametrize("name", ["missing", "no/such/folder", "x/below", "a" * 300])
def test_a_missing_file_is_empty_and_false(tree, name):
    tree({"w/x": "X"})
    text, findings = render_template(tree, f"<[file:{name}]>[if file:{name}]yes[endif]")
    assert text == "<>"
    assert findings == ([("file-unreadable", f"/w/{name}: its name is too long")] if len(name) > 255 else [])


def test_an_impossible_file_name_counts_as_missing(tree):
    assert render_template(tree, "<[file:\ud800]>") == (
        "<>",
        [("variable-refused", "[file:\\ud800] is not read: it is not a valid file name")],
    )


# Files: the scope


@pytest.mark.parametrize(
    ("allow", "deny", "readable"),
    [
        ([("w",)], [], "x a/x"),
        ([("w", "read")], [], "x a/x"),
        ([("w", "write", False)], [], "x"),
        ([("w/a", "read")], [], "a/x"),
        ([("w/a/x", "read", False)], [], "a/x"),
        ([("w",), ("q", "read")], [], "x a/x ../q/x"),
        ([("w",), ("q", "read", False)], [], "x a/x ../q/x"),
        ([("",)], [], "x a/x ../q/x ../w-evil/x"),
        ([], [], ""),
        ([("w",)], [("w/a", "read")], "x"),
        ([("w",)], [("w/a",)], "x"),
        ([("w",)], [("w/a", "write")], "x a/x"),
        ([("w",)], [("w/a", "read", False)], "x"),
        ([("w",)], [("w", "read", False)], "a/x"),
        ([("w",), ("w/a", "read")], [("w", "read")], ""),
        ([("w",)], [("w-evil", "read")], "x a/x"),
    ],
)
def test_only_files_that_the_scope_may_read_are_included(tree, allow, deny, readable):
    tree({"w/.git": None, "w/x": "X", "w/a/x": "X", "q/x": "X", "w-evil/x": "X"})
    scope = Scope(access(tree, *allow), access(tree, *deny))
    names = ["x", "a/x", "../q/x", "../w-evil/x"]
    prompt = tree.prompt("builder", base="".join(f"[if file:{name}]{name} [endif]" for name in names), scope=scope)
    assert prompt.text.split() == readable.split()
    assert [code for code, _ in tree.findings(prompt)] == ["variable-refused"] * (len(names) - len(readable.split()))


def test_links_in_a_scope_are_resolved(tree):
    tree({"real/x": "X", "w/.git": None, "w/link": Path("../real"), "w/secret": "S", "w/alias": Path("secret")})
    scope = Scope(access(tree, ("w",), ("w/link", "read")), access(tree, ("w/alias", "read")))
    text, findings = render_template(tree, "[file:link/x][file:../real/x][file:secret][file:alias]", scope=scope)
    assert (text, [code for code, _ in findings]) == ("XX", ["variable-refused"] * 2)


def test_a_relative_scope_starts_at_the_working_directory(tree):
    tree({"w/.git": None, "w/a/x": "A", "w/b/x": "B", "home/x": "H"})
    scope = Scope([Access("."), Access("~/x", "read")], [Access("b")])
    text, findings = render_template(tree, f"[file:a/x][file:b/x][file:{tree.path('home/x')}]", scope=scope)
    assert (text, [code for code, _ in findings]) == ("AH", ["variable-refused"])


# Files: settings that allow more


@pytest.mark.parametrize(
    ("folder", "readable"),
    [("$TOP/q", "../q/x"), ("../q", "../q/x"), ("~/notes", "../home/notes/x"), ("$TOP/q/x", "../q/x"), ("$TOP/q/", "../q/x")],
)  # fmt: skip
def test_a_setting_adds_readable_folders(tree, folder, readable):
    tree({"w/.git": None, "q/x": "X", "q-evil/x": "E", "home/notes/x": "X"})
    names = ["../q/x", "../q-evil/x", "../home/notes/x"]
    template = "".join(f"[if file:{name}]{name} [endif]" for name in names)
    settings = {"file_paths": [folder.replace("$TOP", tree.top)]}
    assert tree.text("builder", base=template, set=settings).split() == readable.split()


def test_an_added_folder_exposes_neither_secrets_nor_denied_files(tree):
    tree({"w/.git": None, "q/.env": "S", "q/x": "X", "q/no/x": "N"})
    scope = Scope(access(tree, ("w",)), access(tree, ("q/no", "read")))
    text, findings = render_template(
        tree, "[file:../q/.env][file:../q/x][file:../q/no/x]", scope=scope, set={"file_paths": ["../q"]}
    )
    assert (text, [code for code, _ in findings]) == ("X", ["variable-refused"] * 2)


@pytest.mark.parametrize("setter", ["home/.config/foreword/foreword.toml", "w/named.toml", "w/.foreword/foreword.toml"])
@pytest.mark.parametrize("spelling", ["{}", "settings.{}", "[for.builder]\n{}"])
def test_user_and_caller_may_add_readable_folders_but_a_workspace_may_not(tree, setter, spelling):
    widening = [
        spelling.format(f"file_paths = ['{tree.path('q')}']"),
        spelling.format("file_secrets = true").rpartition("]\n")[2],
    ]
    tree({"w/.git": None, "w/.env": "S", "q/x": "X", setter: "\n".join(widening)})
    settings = tree.path(setter) if "named" in setter else ""
    prompt = assemble(tree.workspace(), Agent(base="<[file:.env][file:../q/x]>"), "builder", settings=settings)
    if setter.startswith("w/.foreword"):
        path = "/w/.foreword/foreword.toml"
        assert prompt.text == "<>"
        assert tree.messages(prompt) == [
            ("workspace-refused", f"{path}: a workspace may not set settings.file_paths; the key was ignored"),
            ("workspace-refused", f"{path}: a workspace may not set settings.file_secrets; the key was ignored"),
            ("variable-refused", f"[file:.env] is not read: {SECRET}"),
            ("variable-refused", f"[file:../q/x] is not read: {OUTSIDE}"),
        ]
    else:
        assert (prompt.text, prompt.findings) == ("<SX>", ())


def test_a_workspace_layout_may_not_add_readable_folders(tree):
    own_layout = "extends = '$std/builder'\n[settings]\nfile_paths = ['/']\nfile_secrets = true\n[section.body]\ntext = '<[file:.env][file:../x]>'\n"
    tree({"w/.git": None, "w/.env": "S", "x": "X", "w/.foreword/prompts/own.toml": own_layout})
    prompt = tree.prompt("$workspace/own")
    assert prompt.text == "<>"
    assert [code for code, _ in tree.findings(prompt)] == ["workspace-refused"] * 2 + ["variable-refused"] * 2


# Rebuilding


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ({"w/a/x": "X"}, {"w/a/x": "EDITED"}, "EDITED"),
        ({}, {"w/a/x": "NEW"}, "NEW"),
        ({"w/a/x": os.mkfifo}, {"w/a/x": "NEW"}, "NEW"),
        ({"w/a/x": Path("../../outside")}, {"w/a/x": "NEW"}, "NEW"),
        ({"w/a/x": "X"}, {"w/a/x": Path("../../outside")}, ""),
    ],
    ids=["edited", "created", "replaces a pipe", "no longer refused", "refused"],
)
def test_a_changed_file_is_read_again(tree, monkeypatch, before, after, text):
    monkeypatch.setattr(time, "time_ns", lambda now=time.time_ns: now() + 10_000_000_000)
    tree({"w/.git": None, "w/sub": None, "outside": "SECRET", **before})
    assemblers = [
        (Assembler(tree.workspace(cwd), "builder"), f"[file:{to}a/x]") for cwd, to in (("w", ""), ("w/sub", "../"))
    ]
    for assembler, template in assemblers:
        assembler.prompt(Agent(base=template))
    for path in after:
        if os.path.lexists(tree.path(path)):
            os.remove(tree.path(path))
    tree(after)
    for assembler, template in assemblers:
        assert assembler.prompt(Agent(base=template)).text == text


def test_a_different_scope_gives_a_different_prompt(tree):
    tree({"w/.git": None, "w/x": "X"})
    assembler = Assembler(tree.workspace(), "builder")
    texts = [assembler.prompt(Agent(base="[file:x]", scope=scope)).text for scope in (None, Scope(), None)]
    assert texts == ["X", "", "X"]


# Candidates


@pytest.mark.parametrize(
    ("template", "fate", "reason"),
    [
        ("[file:x.md]", "used", "asked for by [file:x.md]"),
        ("[file:./x.md]", "used", "asked for by [file:./x.md]"),
        ("[if file:x.md]yes[endif]", "unused", "asked for by [file:x.md]; none of its text is in the prompt"),
        ("[file:blank.md]", "blank", "asked for by [file:blank.md]"),
        ("[file:no.md]", "absent", "asked for by [file:no.md]"),
        ("[file:binary]", "binary", "asked for by [file:binary]; it contains a NUL byte at offset 0"),
        ("[file:folder]", "unreadable", "asked for by [file:folder]; it is a directory, not a file"),
        ("[file:../out.md]", "refused", "asked for by [file:../out.md]; it is outside what the scope may read (the setting file_paths widens it)"),
        ("[file:.env]", "refused", "asked for by [file:.env]; its name suggests that it contains secrets (the setting file_secrets allows it)"),
    ],
)  # fmt: skip
def test_a_file_used_by_a_template_is_a_candidate(tree, template, fate, reason):
    tree({"w/x.md": "X", "w/blank.md": "", "w/binary": b"\0", "w/folder": None, "out.md": "SECRET", "w/.env": "SECRET"})
    (candidate,) = tree.prompt("builder", base=template).candidates
    assert (candidate.layer, candidate.fate, candidate.reason) == ("variable", fate, reason)


def test_hidden_characters_in_a_file_are_reported_once(tree):
    tree({"w/AGENTS.md": "a\u200bb\n\U000e0041"})
    prompt = tree.prompt("builder", base="[file:AGENTS.md][if file:AGENTS.md][file:AGENTS.md][endif]")
    hidden = [finding for finding in prompt.findings if finding.code == "hidden-characters"]
    assert [(finding.severity, tree.short(finding.path), finding.line) for finding in hidden] == [
        ("warning", "/w/AGENTS.md", 1),
        ("error", "/w/AGENTS.md", 2),
    ]
