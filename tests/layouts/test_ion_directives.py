"""Directives of the `ion` layout: includes, conditions and four values in instruction files."""

import os
from pathlib import Path

import pytest

from foreword import Agent, Assembler
from foreword.sources.stamps import time
from foreword.vocabulary import Access, Scope


def ion(tree, cwd="w", **options):
    """The project instructions in the prompt, and the code and first line of each finding."""
    prompt = tree.prompt("ion", cwd, base="B", **options)
    text = tree.short(prompt.text).removeprefix("B").removeprefix("\n\n# Project Instructions\n")
    return text, [(code, message.partition("\n")[0]) for code, message in tree.messages(prompt)]


def include(target):
    return f"<!-- include: {target} -->"


# Text that stays unchanged


UNTOUCHED = """\
Text with {{ other }}, {{cwd.x}}, {{ CWD }}, {{{ cwd }}}, {% if %}, ${HOME}, [if file:x] and [prompt:cwd].

<!-- an ordinary comment -->
<!--
include: x.md
-->
`{{ cwd }}` and ``<!-- include: x.md -->`` and `<!-- if: model == "m" -->`

```md
{{ model }}
<!-- include: x.md -->
<!-- if: provider == "x" -->
```

~~~
<!-- endif -->
~~~

    {{ date

&lt;!-- include: x.md --&gt;
"""


def test_text_without_a_directive_is_unchanged(tree):
    tree({"w/AGENTS.md": UNTOUCHED, "w/x.md": "INCLUDED"})
    assert ion(tree, model="m", provider="x") == (UNTOUCHED.rstrip("\n"), [])


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("<!-- if: model == 'm' -->\nA", [("directive-unmatched", "<!-- if: model == 'm' --> has no endif and is left as text")]),
        ("A\n<!-- endif -->", [("directive-unmatched", "<!-- endif --> has no if and is left as text")]),
        ("A <!-- else --> B", [("directive-unmatched", "<!-- else --> has no if and is left as text")]),
        ("A <!-- require: x --> B", [("directive-unknown", "<!-- require: x --> is not one of the directives (include:, if:, else, endif) and is left as text")]),
        ("<!-- if: os == 'x' -->A<!-- endif -->", [("directive-malformed", "os is not valid here; expected one of provider, model, platform, cwd; the if is left as text, with its else and endif")]),
    ],
)  # fmt: skip
def test_an_unmatched_or_unknown_directive_is_left_as_text_and_reported(tree, text, reported):
    tree({"w/AGENTS.md": text})
    assert ion(tree, model="m") == (text, reported)


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi", "pod"])
def test_in_other_layouts_a_directive_is_text(tree, layout):
    text = "{{ cwd }} <!-- include: x.md --> <!-- if: model == 'm' -->A<!-- endif -->"
    tree({"w/.git": None, "w/AGENTS.md": text, "w/x.md": "INCLUDED"})
    assert text in tree.text(layout)


def test_in_base_plan_and_skill_a_directive_is_text(tree, skill):
    text = "{{ cwd }} <!-- include: x.md -->"
    tree({"w/x.md": "INCLUDED", "w/.ion/skills/s/SKILL.md": skill("s", body=text)})
    assert tree.text("ion", base=text, plan=text, skill="s") == (
        f"{text}\n\n# Active Skill: s\n{text}\n\n# Active Plan\n{text}"
    )


# Values


def test_the_four_values_are_replaced(tree):
    tree({"w/AGENTS.md": "{{ cwd }}|{{model}}|{{\tprovider }}|{{ date }}"})
    assert ion(tree, model="opus", provider="anthropic") == ("/w|opus|anthropic|2026-03-07", [])
    assert ion(tree) == ("/w|||2026-03-07", [])


def test_values_work_in_every_file(tree):
    folder = "home/.config/agents"
    tree({
        "home/.ion/AGENTS.md": "{{ model }}, ion",
        f"{folder}/AGENTS.md": "{{ model }}, global",
        f"{folder}/rules/r.md": "{{ model }}, rule",
        "w/CLAUDE.md": "{{ model }}, project",
    })  # fmt: skip
    assert tree.text("ion", base="B", model="opus") == (
        "B\n\n# Ion Instructions\nopus, ion\n\n---\n\n# Global Instructions\nopus, global\n\nopus, rule\n\n---\n\n"
        "# Project Instructions\nopus, project"
    )


# Conditions


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ('provider == "anthropic"', True),
        ("provider == 'openai'", False),
        ('provider != "openai"', True),
        ('model == "opus"', True),
        ('platform == "linux"', True),
        ('platform != "linux"', False),
        ('cwd == "$TOP/w"', True),
        ('cwd == "$TOP"', False),
        ('provider == "anthropic" and model == "opus"', True),
        ('provider == "openai" or model == "opus"', True),
        ('not provider == "openai"', True),
        ('not (provider == "openai" or model == "opus")', False),
        ('provider == "x" and model == "opus" or platform == "linux"', True),
        ('provider == "x" and (model == "opus" or platform == "linux")', False),
        ('not provider == "x" and not model == "x"', True),
    ],
)
def test_a_condition_chooses_a_branch(tree, condition, holds):
    condition = condition.replace("$TOP", tree.top)
    tree({"w/AGENTS.md": f"a\n<!-- if: {condition} -->\nyes\n<!-- else -->\nno\n<!-- endif -->\nb"})
    text, reported = ion(tree, model="opus", provider="anthropic")
    assert (text, reported) == (f"a\n{'yes' if holds else 'no'}\nb", [])


def test_conditions_work_within_a_line_and_nest(tree):
    inner = '<!-- if: model == "m" -->M<!-- else -->other<!-- endif -->'
    tree({"w/AGENTS.md": f'a <!-- if: provider == "p" -->[{inner}]<!-- endif --> b'})
    assert [ion(tree, provider=p, model=m)[0] for p, m in (("p", "m"), ("p", "x"), ("q", "m"))] == [
        "a [M] b",
        "a [other] b",
        "a  b",
    ]


def test_a_branch_that_is_not_taken_leaves_no_blank_lines(tree):
    tree({"w/AGENTS.md": 'a\n\n<!-- if: model == "x" -->\nX\n<!-- endif -->\n\nb'})
    assert ion(tree) == ("a\n\nb", [])


def test_a_file_that_renders_blank_leaves_no_trace(tree):
    tree({"w/AGENTS.md": '<!-- if: model == "x" -->\nX\n<!-- endif -->', "home/.ion/AGENTS.md": "I"})
    assert tree.text("ion", base="B", plan="P") == "B\n\n# Ion Instructions\nI\n\n# Active Plan\nP"


def test_different_agents_get_different_text_from_the_same_files(tree):
    tree({"w/AGENTS.md": '<!-- if: model == "a" -->A<!-- else -->other<!-- endif --> {{ model }}'})
    assembler = Assembler(tree.workspace(), "ion")
    texts = [assembler.prompt(Agent(base="B", model=model)).text.rpartition("\n")[2] for model in ("a", "b", "a")]
    assert texts == ["A a", "other b", "A a"]


# Includes: allowed paths


@pytest.mark.parametrize(
    ("cwd", "text", "files", "result"),
    [
        ("w", include("./x.md"), {"w/x.md": "X\n"}, "X"),
        ("w", include("x.md"), {"w/x.md": "\ufeffX\r\nY\r\n"}, "X\nY"),
        ("w", f"a {include('x.md')} b", {"w/x.md": "X\n"}, "a X b"),
        ("w", include("docs/a.md"), {"w/docs/a.md": f"A {include('b.md')}", "w/docs/b.md": "B", "w/b.md": "no"}, "A B"),
        ("w/sub", include("../x.md"), {"w/x.md": "X"}, "X"),
        ("w", include("$TOP/w/x.md"), {"w/x.md": "X"}, "X"),
        ("w", include("a name.txt"), {"w/a name.txt": "X"}, "X"),
        ("w", include("link.md"), {"w/link.md": Path("docs/x.md"), "w/docs/x.md": "X"}, "X"),
        ("w", include("linked/x.md"), {"w/linked": Path("docs"), "w/docs/x.md": "X"}, "X"),
        ("w", include("x.md"), {"w/x.md": "{{ model }} <!-- if: model == 'm' -->M<!-- endif -->"}, "m M"),
        ("w", f"```\n{include('x.md')}\n```", {"w/x.md": "X"}, f"```\n{include('x.md')}\n```"),
    ],
)  # fmt: skip
def test_a_project_file_may_include_files_of_the_workspace(tree, cwd, text, files, result):
    tree({"w/.git": None, **files, f"{cwd}/AGENTS.md": text.replace("$TOP", tree.top)})
    assert ion(tree, cwd, model="m") == (result, [])


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("../x.md", "it is outside /w"),
        ("../w-evil/x.md", "it is outside /w"),
        ("$TOP/x.md", "it is outside /w"),
        ("/etc/passwd", "it is outside /w"),
        ("~/x.md", "the file does not exist or is empty"),
        ("out.md", "it is outside /w"),
        ("far/x.md", "it is outside /w"),
        (".env", "its name suggests that it contains secrets"),
        ("notes.md", "its name suggests that it contains secrets"),
        ("keys/server.pem", "its name suggests that it contains secrets"),
        (".git/config", "its name suggests that it contains secrets"),
        ("no.md", "the file does not exist or is empty"),
        ("blank.md", "the file does not exist or is empty"),
        ("folder", "it is a directory, not a file"),
        ("pipe", "it is a named pipe, not a file"),
        ("binary", "it contains a NUL byte at offset 0"),
        ("latin", "byte 0xe9 at offset 0 is not UTF-8; save it as UTF-8"),
        ("circle", "its links form a loop"),
    ],
)
def test_a_project_file_may_not_include_other_files(tree, target, reason):
    tree({
        "x.md": "SECRET", "w-evil/x.md": "SECRET", "home/x.md": "SECRET",
        "w/.git/config": "SECRET", "w/.env": "SECRET", "w/keys/server.pem": "SECRET", "w/notes.md": Path(".env"),
        "w/out.md": Path("../x.md"), "w/far": Path("../home"),
        "w/blank.md": " \n", "w/folder": None, "w/pipe": os.mkfifo, "w/binary": b"\0", "w/latin": b"\xe9", "w/circle": Path("circle"),
    })  # fmt: skip
    target = target.replace("$TOP", tree.top)
    tree({"w/AGENTS.md": f"a\n{include(target)}\nb"})
    message = tree.short(f"/w/AGENTS.md includes {target!r}, which is left out: {reason}")
    assert ion(tree) == ("a\nb", [("include-refused", message)])


def test_outside_git_the_workspace_is_the_working_directory(tree):
    tree({"w/x.md": "X", "w/sub/AGENTS.md": f"a{include('../x.md')}b"})
    assert ion(tree, "w/sub")[0] == "ab"


@pytest.mark.parametrize(
    ("file", "heading", "target", "is_allowed"),
    [
        ("home/.ion/AGENTS.md", "Ion", "more.md", True),
        ("home/.ion/AGENTS.md", "Ion", "rules/more.md", True),
        ("home/.ion/AGENTS.md", "Ion", "../notes.md", False),
        ("home/.ion/AGENTS.md", "Ion", "../.config/agents/more.md", False),
        ("home/.ion/AGENTS.md", "Ion", "$TOP/w/more.md", False),
        ("home/.ion/AGENTS.md", "Ion", "out.md", False),
        ("home/.ion/AGENTS.md", "Ion", ".env", False),
        ("home/.config/agents/AGENTS.md", "Global", "more.md", True),
        ("home/.config/agents/AGENTS.md", "Global", "deep/more.md", True),
        ("home/.config/agents/rules/r.md", "Global", "../more.md", True),
        ("home/.config/agents/AGENTS.md", "Global", "../other/more.md", False),
        ("home/.config/agents/rules/r.md", "Global", "../../other/more.md", False),
    ],
)
def test_a_user_file_may_include_files_of_its_folder(tree, file, heading, target, is_allowed):
    folders = (
        "home/.ion",
        "home/.ion/rules",
        "home/.config/agents",
        "home/.config/agents/deep",
        "home/.config/other",
        "w",
    )
    tree({f"{folder}/more.md": "MORE" for folder in folders})
    tree({"home/notes.md": "MORE", "home/.ion/.env": "MORE", "home/.ion/out.md": Path("../notes.md")})
    tree({file: f"<{include(target.replace('$TOP', tree.top))}>"})
    prompt = tree.prompt("ion", base="B")
    assert tree.short(prompt.text) == f"B\n\n# {heading} Instructions\n<{'MORE' if is_allowed else ''}>"
    assert tree.findings(prompt) == ([] if is_allowed else [("include-refused", f"/{file}")])


def test_a_user_file_is_limited_to_its_folder_if_the_home_is_a_repository(tree):
    tree({"home/.git": None, "home/notes.md": "NOTES", "home/w": None})
    tree({"home/.ion/AGENTS.md": f"I{include('../notes.md')}{include('more.md')}", "home/.ion/more.md": "MORE"})
    prompt = tree.prompt("ion", "home/w", base="B")
    assert prompt.text == "B\n\n# Ion Instructions\nIMORE"
    assert tree.findings(prompt) == [("include-refused", "/home/.ion/AGENTS.md")]


PRIVATE = "it is outside what the scope may read"


@pytest.mark.parametrize(
    ("allow", "deny", "file", "reason"),
    [
        ("w", "", "w/AGENTS.md", ""),
        ("w", "w/private", "w/AGENTS.md", PRIVATE),
        ("w", "w/real", "w/AGENTS.md", PRIVATE),
        ("w/src", "", "w/AGENTS.md", PRIVATE),
        ("home", "", "w/AGENTS.md", PRIVATE),
        ("w", "", "home/.ion/AGENTS.md", ""),
        ("w", "home/.ion/real", "home/.ion/AGENTS.md", "the scope denies it"),
        ("w", "home", "home/.ion/AGENTS.md", "the scope denies it"),
    ],
)
def test_only_files_that_the_scope_may_read_are_included(tree, allow, deny, file, reason):
    folder = os.path.dirname(file)
    tree({"w/.git": None, f"{folder}/real/x.md": "X", f"{folder}/private": Path("real")})
    tree({file: f"<{include('private/x.md')}>"})
    scope = Scope([Access(tree.path(allow))], [Access(tree.path(deny))] if deny else [])
    prompt = tree.prompt("ion", base="B", scope=scope)
    assert prompt.text.rpartition("\n")[2] == ("<>" if reason else "<X>")
    message = f"/{file} includes 'private/x.md', which is left out: {reason}"
    assert tree.messages(prompt) == ([("include-refused", message)] if reason else [])


def test_a_different_scope_gives_a_different_prompt(tree):
    tree({"w/.git": None, "w/AGENTS.md": f"<{include('x.md')}>", "w/x.md": "X"})
    assembler = Assembler(tree.workspace(), "ion")
    scopes = [None, Scope([Access(tree.path("w/src"))]), None, Scope([Access(tree.path("w"))])]
    texts = [assembler.prompt(Agent(base="B", scope=scope)).text.rpartition("\n")[2] for scope in scopes]
    assert texts == ["<X>", "<>", "<X>", "<X>"]


def test_includes_of_a_linked_file_are_relative_to_the_link(tree):
    tree({"w/.git": None, "w/shared/A.md": include("x.md"), "w/shared/x.md": "SHARED", "w/x.md": "HERE"})
    tree({"w/AGENTS.md": Path("shared/A.md")})
    assert ion(tree) == ("HERE", [])


def test_includes_work_in_a_workspace_reached_through_a_link(tree):
    tree({"w/.git": None, "w/AGENTS.md": include("docs/x.md"), "w/docs/x.md": "X", "link": Path("w")})
    assert ion(tree, "link") == ("X", [])


# Includes: depth and repetition


def test_includes_may_be_five_files_deep(tree):
    tree({f"w/{n}.md": f"{n}{include(f'{n + 1}.md')}" for n in range(1, 8)})
    tree({"w/AGENTS.md": f"A{include('1.md')}Z"})
    text, reported = ion(tree)
    chain = " -> ".join(["/w/AGENTS.md", *(f"/w/{n}.md" for n in range(1, 6)), "6.md"])
    assert text == "A12345Z"
    assert reported == [("directive-depth", f"<!-- include: 6.md --> is nested more than 5 files deep: {chain}")]


def test_a_cycle_is_reported_with_its_chain(tree):
    tree({"w/AGENTS.md": f"A\n{include('b.md')}\nZ", "w/b.md": f"B\n{include('AGENTS.md')}"})
    chain = "/w/AGENTS.md -> /w/b.md -> /w/AGENTS.md"
    words = f"<!-- include: AGENTS.md --> includes a file that includes it: {chain}"
    assert ion(tree) == ("A\nB\nZ", [("directive-cycle", words)])


def test_a_file_is_included_once(tree):
    tree({"w/AGENTS.md": f"{include('x.md')}\n{include('./x.md')}\nend", "w/x.md": "X"})
    text, reported = ion(tree)
    assert (text, [code for code, _ in reported]) == ("X\nend", ["file-duplicate"])


@pytest.mark.parametrize("other", ["copy.md", "link.md"])
def test_a_copy_of_or_a_link_to_an_included_file_is_not_repeated(tree, other):
    tree({"w/AGENTS.md": f"{include('x.md')}\n{include(other)}\nend", "w/x.md": "X", "w/copy.md": "X"})
    tree({"w/link.md": Path("x.md")})
    assert ion(tree)[0] == "X\nend"


def test_an_included_file_that_is_also_found_is_not_repeated(tree):
    folder = "home/.config/agents"
    tree({f"{folder}/AGENTS.md": f"G\n\n{include('rules/a.md')}", f"{folder}/rules/a.md": "RULE"})
    assert tree.text("ion", base="B").count("RULE") == 1


RULES = include("./rules.md")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"home/.ion/AGENTS.md": RULES, "w/AGENTS.md": RULES, "home/.ion/rules.md": "user", "w/rules.md": "project"},
            {"Ion": "user", "Project": "project"},
        ),
        (
            {"home/.ion/AGENTS.md": RULES, "w/AGENTS.md": RULES, "home/.ion/rules.md": "same", "w/rules.md": "same"},
            {"Project": "same"},
        ),
        ({"home/.ion/AGENTS.md": RULES, "w/AGENTS.md": RULES, "home/.ion/rules.md": "user"}, {"Ion": "user"}),
        (
            {
                "w/AGENTS.md": include("a/x.md") + include("b/x.md"),
                "w/a/x.md": RULES, "w/b/x.md": RULES, "w/a/rules.md": "A", "w/b/rules.md": "B",
            },
            {"Project": "AB"},
        ),
        (
            {
                "w/AGENTS.md": include("a/x.md") + include("b/x.md"),
                "w/a/x.md": RULES, "w/b/x.md": RULES, "w/a/rules.md": "A", "w/b/rules.md": "A",
            },
            {"Project": "A"},
        ),
        (
            {"home/.ion/AGENTS.md": f"x{include('AGENTS.md')}", "w/AGENTS.md": f"x{include('AGENTS.md')}"},
            {"Project": "x"},
        ),
    ],
    ids=["different", "equal", "one is missing", "included", "included and equal", "itself"],
)  # fmt: skip
def test_files_with_includes_are_duplicates_if_their_expanded_text_is_equal(tree, files, expected):
    layers = [f"# {layer} Instructions\n{text}" for layer, text in expected.items()]
    assert tree(files).text("ion", base="B") == "B\n\n" + "\n\n---\n\n".join(layers)


def test_many_files_that_include_each_other_are_compared_quickly(tree):
    files = "".join(include(f"{number}.md") for number in range(20))
    for folder in ("home/.ion", "w"):
        tree({f"{folder}/{number}.md": f"{number}{files}" for number in range(20)})
        tree({f"{folder}/AGENTS.md": files})
    assert [path for path, fate in tree.fates(tree.prompt("ion")) if fate == "duplicate"] == ["/home/.ion/AGENTS.md"]


def test_a_file_and_its_includes_take_precedence_over_a_link_to_it(tree):
    folder = "home/.config/agents"
    tree({f"{folder}/AGENTS.md": f"G {include('x.md')}", f"{folder}/x.md": "X", f"{folder}/rules/a.md": "A"})
    tree({f"{folder}/rules/z.md": Path("../AGENTS.md")})
    prompt = tree.prompt("ion", base="B")
    assert prompt.text == "B\n\n# Global Instructions\nG X\n\nA"
    assert tree.findings(prompt) == [("file-duplicate", f"/{folder}/rules/z.md")]


def test_an_include_with_an_open_fence_does_not_swallow_the_rest(tree):
    tree({"w/AGENTS.md": f"{include('x.md')}\nrest", "w/x.md": "```\ncode"})
    prompt = tree.prompt("ion", base="B", plan="P")
    assert prompt.text.endswith("\n```\ncode\n```\nrest\n\n# Active Plan\nP")
    assert tree.findings(prompt) == [("file-fence", "/w/x.md")]


# Origins and rebuilding


def test_included_text_keeps_its_file_and_lines(tree):
    tree({"w/AGENTS.md": f"one\n{include('x.md')}\n{{{{ model }}}}", "w/x.md": "\n\nthree\nfour\n"})
    prompt = tree.prompt("ion", base="B", model="m")
    assert [
        (piece.text, piece.origin.kind, tree.short(piece.origin.path), piece.origin.lines)
        for piece in prompt.passages[-1].pieces
        if piece.origin.kind != "builtin"
    ] == [
        ("one\n", "file", "/w/AGENTS.md", (1, 1)),
        ("three\nfour", "file", "/w/x.md", (3, 4)),
        ("\n", "file", "/w/AGENTS.md", (2, 2)),
        ("m", "variable", "model", None),
    ]
    assert tree.fates(prompt) == [("/w/AGENTS.md", "used"), ("/w/x.md", "used")]


TOO_DEEP = {f"w/{n}.md": f"{n}{include(f'{n + 1}.md')}" for n in range(1, 7)}


@pytest.mark.parametrize(
    ("files", "agent", "fates"),
    [
        ({"w/AGENTS.md": f"a<!-- if: model == 'm' -->{include('x.md')}<!-- endif -->", "w/x.md": "X"}, {}, ["used", "unused"]),
        ({"w/AGENTS.md": f"a<!-- if: model == 'm' -->{include('x.md')}<!-- endif -->", "w/x.md": "X"}, {"model": "m"}, ["used", "used"]),
        ({"w/AGENTS.md": include("1.md"), **TOO_DEEP}, {}, ["unused", "used", "used", "used", "used", "used", "refused"]),
        ({"w/AGENTS.md": f"a{include('x.md')}{include('copy.md')}", "w/x.md": "X", "w/copy.md": "X"}, {}, ["used", "used", "duplicate"]),
        ({"w/AGENTS.md": f"a{include('x.md')}{include('link.md')}", "w/x.md": "X", "w/link.md": Path("x.md")}, {}, ["used", "used", "duplicate"]),
        ({"w/AGENTS.md": f"a{include('x.md')}{include('./x.md')}", "w/x.md": "X"}, {}, ["used", "used"]),
        ({"w/AGENTS.md": f"{'word ' * 12_000}\n{include('x.md')}", "w/x.md": "X"}, {}, ["cut", "cut"]),
        ({"w/AGENTS.md": "<!-- if: model == 'm' -->M<!-- endif -->"}, {}, ["unused"]),
        ({"w/AGENTS.md": f"a{include('x.md')}", "w/x.md": "<!-- if: model == 'm' -->M<!-- endif -->"}, {}, ["used", "unused"]),
        ({"w/AGENTS.md": f"a{include('.env')}{include('no.md')}", "w/.env": "X"}, {}, ["used", "refused"]),
    ],
    ids=["not taken", "taken", "too deep", "copy", "link", "twice", "cut", "nothing left", "nothing left of it", "refused"],
)  # fmt: skip
def test_only_files_in_the_prompt_are_used_candidates(tree, files, agent, fates):
    prompt = tree(files).prompt("ion", **agent)
    reported = tree.fates(prompt)
    assert [fate for _, fate in reported] == fates
    in_prompt = {tree.short(piece.origin.path) for passage in prompt.passages for piece in passage.pieces}
    assert [path in in_prompt for path, fate in reported] == [
        fate == "used" or (path, fate) == ("/w/AGENTS.md", "cut") for path, fate in reported
    ]


def test_an_included_candidate_names_the_file_that_includes_it(tree):
    tree({"w/AGENTS.md": f"a{include('b.md')}<!-- if: model == 'm' -->{include('x.md')}<!-- endif -->"})
    tree({"w/b.md": f"b{include('x.md')}", "w/x.md": "X"})
    reasons = {tree.short(candidate.path): tree.short(candidate.reason) for candidate in tree.prompt("ion").candidates}
    assert reasons["/w/x.md"] == "included by /w/b.md"


@pytest.mark.parametrize(
    ("files", "reported"),
    [
        ({"w/CLAUDE.md": "C", "w/AGENTS.md": include("CLAUDE.md")}, {"/w/AGENTS.md": "unused", "/w/CLAUDE.md": "used"}),
        ({"w/AGENTS.md": f"a{include('AGENTS.md')}"}, {"/w/AGENTS.md": "used"}),
        ({"w/AGENTS.md": "a", "home/.ion/AGENTS.md": f"i{include('../../w/AGENTS.md')}"}, {"/home/.ion/AGENTS.md": "used", "/w/AGENTS.md": "used"}),
        ({"home/.config/agents/AGENTS.md": " ", "home/.config/agents/rules/r.md": f"r{include('../AGENTS.md')}"},
         {"/home/.config/agents/AGENTS.md": "blank", "/home/.config/agents/rules/r.md": "used"}),
    ],
    ids=["shadowed", "itself", "out of reach", "blank"],
)  # fmt: skip
def test_a_file_that_is_found_and_included_is_one_candidate(tree, files, reported):
    prompt = tree(files).prompt("ion")
    assert sorted(tree.fates(prompt)) == sorted(reported.items())
    assert len({candidate.path for candidate in prompt.candidates}) == len(prompt.candidates)


def test_a_file_that_includes_itself_is_not_listed_as_included(tree):
    tree({"w/AGENTS.md": f"a{include('x.md')}", "w/x.md": f"x{include('AGENTS.md')}"})
    reasons = {tree.short(candidate.path): tree.short(candidate.reason) for candidate in tree.prompt("ion").candidates}
    assert (reasons["/w/AGENTS.md"], reasons["/w/x.md"]) == ("", "included by /w/AGENTS.md")


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ({"w/x.md": "X"}, {"w/x.md": "EDITED"}, "EDITED"),
        ({"w/x.md": "X"}, {"w/x.md": None}, ""),
        ({}, {"w/x.md": "NEW"}, "NEW"),
        ({"w/x.md": Path("../out.md")}, {"w/x.md": "NEW"}, "NEW"),
        ({"w/x.md": "X"}, {"w/x.md": Path("../out.md")}, ""),
        ({"w/x.md": Path("y.md"), "w/y.md": "Y", "w/z.md": "Z"}, {"w/x.md": Path("z.md")}, "Z"),
        ({"w/x.md": f"X {include('y.md')}", "w/y.md": "Y"}, {"w/y.md": "EDITED"}, "X EDITED"),
        ({"w/x.md": f"X{include('y.md')}"}, {"w/y.md": "NEW"}, "XNEW"),
    ],
    ids=[
        "edited",
        "removed",
        "created",
        "no longer refused",
        "refused",
        "relinked",
        "nested, edited",
        "nested, created",
    ],
)
def test_a_changed_included_file_is_read_again(tree, monkeypatch, before, after, text):
    monkeypatch.setattr(time, "time_ns", lambda now=time.time_ns: now() + 10_000_000_000)
    tree({"w/.git": None, "out.md": "SECRET", "w/AGENTS.md": f"<{include('x.md')}>", **before})
    assembler = Assembler(tree.workspace(), "ion")
    first = assembler.prompt(Agent(base="B"))
    for path in after:
        if os.path.lexists(tree.path(path)):
            os.remove(tree.path(path))
    tree({path: content for path, content in after.items() if content is not None})
    second = assembler.prompt(Agent(base="B"))
    assert second.text == f"B\n\n# Project Instructions\n<{text}>"
    assert second.id != first.id


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('First.\n<!-- if: provider == "p" -->\nLast.\n<!-- endif -->\n', "First.\nLast."),
        ('First.\n\n<!-- if: provider == "q" -->\nLast.\n<!-- endif -->\n', "First."),
        ('<!-- if: provider == "q" -->\nFirst.\n<!-- endif -->\n\nLast.\n', "Last."),
        ('<!-- if: provider == "q" -->\nAll.\n<!-- endif -->\n', None),
        ("First.\n\n{{ model }}\n\nLast.\n", "First.\n\nLast."),
        ("{{ model }}\n", None),
        ("{{ provider }} end  \n \n", "p end  "),
        ("  {{ provider }}\t\n", "  p\t"),
    ],
)
def test_text_that_is_left_out_neither_adds_nor_removes_blank_lines(tree, text, rest):
    prompt_text = tree({"w/AGENTS.md": text}).text("ion", base="B", provider="p")
    assert prompt_text == ("B" if rest is None else f"B\n\n# Project Instructions\n{rest}")
