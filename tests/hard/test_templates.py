"""Edge cases of templates and variables, in each of the three languages."""

import itertools
import os
from pathlib import Path

import pytest

from foreword import Agent, Assembler
from foreword.errors import TemplateError

USER_PACK = "home/.config/foreword/prompts"


def body(tree, template, **options):
    """Render a template in the Jinja-like language, without the sections that pod appends."""
    return tree.text("pod", base=template, set={"sections": ["body"]}, **options)


def render_directives(tree, text, **options):
    """Render an instruction file with directives, as ion does."""
    return tree({"w/AGENTS.md": text}).text("ion", base="B", **options).removeprefix("B\n\n# Project Instructions\n")


# Values that contain a tag


@pytest.mark.parametrize("value", ["[prompt:cwd]", "[if prompt:cwd]x[endif]", "[file:x]", "[endif]", "[else]", r"\["])
def test_a_value_that_contains_a_tag_is_not_expanded(tree, value):
    tree({"w/x": value})
    template = "<[if prompt:cwd][file:x][else]no[endif]|[prompt:model]|[prompt:conversation_id]>"
    assert tree.text("builder", base=template, model=value, session=value) == f"<{value}|{value}|{value}>"


@pytest.mark.parametrize("value", ["{{ cwd }}", "{% if true %}x{% endif %}", "{# x #}", "{% raw %}", "{{ ghost }}"])
def test_a_value_that_contains_a_jinja_like_tag_is_not_expanded(tree, value):
    assert (
        body(tree, "<{{ language }}{% for t in tools %}|{{ t }}{% endfor %}>", language=value, tools=[]) == f"<{value}>"
    )


@pytest.mark.parametrize(
    "value", ["{{ cwd }}", "<!-- include: x.md -->", "<!-- endif -->", "<!-- if: model == 'x' -->"]
)
def test_a_value_that_contains_a_directive_is_not_expanded(tree, value):
    tree({"w/x.md": "INCLUDED"})
    assert render_directives(tree, "<{{ model }}|{{ provider }}>", model=value, provider=value) == f"<{value}|{value}>"


# Values that look like replacement patterns


@pytest.mark.parametrize("value", ["$&", "$1", "$$", r"\1", r"\g<0>", r"\n", "%s", "%(x)s", "%", "{}", "{0}", "{name}", "${x}", "$x"])  # fmt: skip
def test_values_are_literal(tree, value):
    tree({"w/x": value})
    assert tree.text("builder", base="<[file:x]|[prompt:model]>", model=value) == f"<{value}|{value}>"
    assert body(tree, "<{{ language }}>", language=value) == f"<{value}>"
    assert render_directives(tree, "<{{ model }}>", model=value) == f"<{value}>"


# Include cycles


@pytest.mark.parametrize(
    ("files", "chain"),
    [
        ({"a": "{% include 'a' %}"}, "includes a template that includes it: $user/a -> $user/a"),
        ({"a": "{% include '$user/a' %}"}, "includes a template that includes it: $user/a -> $user/a"),
        ({"a": "{% include 'b' %}", "b": "{% include 'a' %}"}, "includes a template that includes it: $user/a -> $user/b -> $user/a"),
        ({"a": "{% include 'b' %}", "b": "{% include 'c' %}", "c": "{% include 'b' %}"}, "includes a template that includes it: $user/b -> $user/c -> $user/b"),
        ({"a": "{% if false %}{% include 'b' %}{% endif %}", "b": "{% extends 'a' %}"}, "includes a template that includes it: $user/a -> $user/b -> $user/a"),
        (
            {"a": "{% include '1' %}", **{str(n): f"{{% include '{n + 1}' %}}" for n in range(1, 25)}},
            "is included more than 20 templates deep: $user/a -> " + " -> ".join(f"$user/{n}" for n in range(1, 21)),
        ),
    ],
    ids=["self", "self by its address", "two", "not the first", "in a branch that is not taken", "too deep"],
)  # fmt: skip
def test_an_include_cycle_error_shows_the_chain(tree, files, chain):
    tree({f"{USER_PACK}/{name}.md": text for name, text in files.items()})
    with pytest.raises(TemplateError) as raised:
        tree.prompt("pod", set={"body.text": "$user/a"})
    assert f" {chain} (line 1, column " in str(raised.value)


@pytest.mark.parametrize(
    ("files", "text", "code", "chain"),
    [
        ({"AGENTS": "A<!-- include: AGENTS.md -->"}, "A", "cycle", "includes a file that includes it: /w/AGENTS.md -> /w/AGENTS.md"),
        ({"AGENTS": "A<!-- include: b.md -->", "b": "B<!-- include: b.md -->"}, "AB", "cycle", "includes a file that includes it: /w/AGENTS.md -> /w/b.md -> /w/b.md"),
        ({"AGENTS": "A<!-- include: b.md -->", "b": "B<!-- include: c.md -->", "c": "C<!-- include: ./b.md -->"}, "ABC", "cycle", "includes a file that includes it: /w/AGENTS.md -> /w/b.md -> /w/c.md -> /w/b.md"),
        (
            {"AGENTS": "A<!-- include: 1.md -->", **{str(n): f"{n}<!-- include: {n + 1}.md -->" for n in range(1, 9)}},
            "A12345",
            "depth",
            "is nested more than 5 files deep: /w/AGENTS.md -> /w/1.md -> /w/2.md -> /w/3.md -> /w/4.md -> /w/5.md -> 6.md",
        ),
    ],
    ids=["self", "an included file, self", "two", "too deep"],
)  # fmt: skip
def test_the_finding_about_a_directive_cycle_shows_the_chain(tree, files, text, code, chain):
    tree({f"w/{name}.md": content for name, content in files.items()})
    prompt = tree.prompt("ion", base="B")
    assert tree.short(prompt.text) == f"B\n\n# Project Instructions\n{text}"
    assert [(found, message.partition("\n")[0].partition("> ")[2]) for found, message in tree.messages(prompt)] == [
        (f"directive-{code}", chain)
    ]  # fmt: skip


# Files outside the workspace


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "../../../../../../../../etc/passwd", "link", "folder/id_rsa", "$TOP/repo-evil/x", "../repo-evil/x", "evil/x"],
)  # fmt: skip
def test_a_file_outside_is_refused(tree, name):
    tree({
        "repo/.git": None, "repo-evil/x": "SECRET", "home/.ssh/id_rsa": "SECRET", "repo/link": Path("../home/.ssh/id_rsa"),
        "repo/folder": Path("../home/.ssh"), "repo/evil": Path("../repo-evil"),
    })  # fmt: skip
    prompt = tree.prompt("builder", "repo", base=f"<[file:{name.replace('$TOP', tree.top)}]>")
    assert prompt.text == "<>"
    assert [code for code, _ in tree.findings(prompt)] == ["variable-refused"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "link.md", "../repo-evil/x", "/etc/passwd", "$TOP/repo-evil/x"])
def test_an_include_from_outside_is_refused(tree, name):
    tree({"repo/.git": None, "repo-evil/x": "SECRET", "home/.ssh/id_rsa": "SECRET"})
    tree({"repo/link.md": Path("../home/.ssh/id_rsa")})
    tree({"repo/AGENTS.md": f"<<!-- include: {name.replace('$TOP', tree.top)} -->>"})
    prompt = tree.prompt("ion", "repo", base="B")
    assert prompt.text == "B\n\n# Project Instructions\n<>"
    assert tree.findings(prompt) == [("include-refused", "/repo/AGENTS.md")]


# Secrets


@pytest.mark.parametrize("name", [".env", "server.pem", ".git/config", ".npmrc"])
def test_secrets_are_refused_and_named_without_content(tree, name):
    tree({f"w/{name}": "TOKEN=s3cret", "w/AGENTS.md": f"<<!-- include: {name} -->>"})
    for layout, base in (("builder", f"<[file:{name}]>"), ("ion", "B")):
        prompt = tree.prompt(layout, base=base)
        assert "s3cret" not in prompt.text and prompt.text.endswith("<>")
        (sentence,) = [message for code, message in tree.messages(prompt) if code.endswith("-refused")]
        assert name in sentence and "s3cret" not in sentence


# Endless files


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "/proc/self/environ", "pipe", "zero", "environ"])
def test_endless_files_do_not_hang(tree, name):
    tree({"w/pipe": os.mkfifo, "w/zero": Path("/dev/zero"), "w/environ": Path("/proc/self/environ")})
    tree({"w/AGENTS.md": f"<<!-- include: {name} -->>"})
    for layout, base in (("builder", f"<[file:{name}]>"), ("ion", "B")):
        prompt = tree.prompt(layout, base=base)
        assert prompt.text.endswith("<>") and prompt.findings


# Malformed nesting


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("[if file:X]A[elseif file:Y]B[endif]", ""),
        ("[if prompt:cwd]A[elseif file:Y]B[endif]", "A[elseif file:Y]B"),
        ("[if prompt:cwd]A[elif file:Y]B[else]C[endif]", "A[elif file:Y]B"),
        ("[if prompt:cwd]A[else if file:Y]B[endif]", "A[else if file:Y]B"),
        ("[if prompt:cwd]A[else]B[else]C[endif]", "A"),
        ("[if file:X]A[else]B[else]C[endif]", "B[else]C"),
        ("[if prompt:cwd]A", "[if prompt:cwd]A"),
        ("A[else]B[endif]C", "A[else]B[endif]C"),
        ("[if prompt:cwd]A[endif]B[endif]", "AB[endif]"),
        ("[if prompt:cwd][if file:X]A[endif]B", "[if prompt:cwd]B"),
        ("[endif][if prompt:cwd]A[endif]", "[endif]A"),
        ("[if]A[endif]", "[if]A[endif]"),
        ("[if !]A[endif]", "[if !]A[endif]"),
        ("[if prompt:cwd file:X]A[endif]", ""),  # a name may contain blanks and colons; this one does not exist
        ("[if prompt:cwd", "[if prompt:cwd"),
        ("[if prompt:cwd\n]A[endif]", "[if prompt:cwd\n]A[endif]"),
        ("[IF prompt:cwd]A[ENDIF]", "[IF prompt:cwd]A[ENDIF]"),
        ("[if [prompt:cwd]]A[endif]", "[if /w]A[endif]"),
    ],
)
def test_malformed_nesting_is_left_as_text_or_treated_as_undefined(tree, template, text):
    prompt = tree.prompt("builder", base=template)
    assert tree.short(prompt.text) == text
    codes = {code for code, _ in tree.findings(prompt)}
    assert codes <= {"template-unmatched", "template-malformed", "template-unknown-name", "template-expression"} and (
        codes or "[" not in text
    )


def test_no_nesting_raises(tree):
    tags = ["[if file:X]", "[if !file:X]", "[else]", "[endif]", "[elseif file:X]", "A"]
    assembler = Assembler(tree.workspace(), "builder")
    for length in (1, 2, 3):
        for parts in itertools.product(tags, repeat=length):
            template = "".join(parts)
            text = assembler.prompt(Agent(base=template)).text
            assert len(text) <= len(template)


def test_deep_nesting_does_not_raise(tree):
    depth = 5_000
    assert tree.text("builder", base="[if prompt:cwd]" * depth + "x" + "[endif]" * depth) == "x"
    assert tree.text("builder", base="[if prompt:cwd]" * depth) == "[if prompt:cwd]" * depth
    nested = "<!-- if: model == 'm' -->" * depth + "x" + "<!-- endif -->" * depth
    assert render_directives(tree, nested, model="m") == "x"
