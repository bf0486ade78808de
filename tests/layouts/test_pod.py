"""The `pod` layout: a strict template for the body, then sections that no template can remove."""

import json
import os
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from foreword import Access, Agent, Assembler, Conversations, Scope, assemble
from foreword.cli import main
from foreword.engine import sandbox
from foreword.errors import CallError, LayoutError, TemplateError, TemplateRenderError, TemplateSyntaxError
from foreword.layout.keys import KEYS
from foreword.packs.packs import STD, layout_names, shipped_layout
from foreword.sources.stamps import time

USER_PACK, WORKSPACE_PACK = "home/.config/foreword/prompts", "w/.foreword/prompts"
BOUNDARIES = "---\n## Working boundaries\n\nReadable:\n  - /w\nWritable:\n  - /w"


def body(tree, address, **options):
    """The body rendered from the template at this address: everything before the boundaries."""
    text = tree.text("pod", set={"body.text": address}, **options)
    assert text == BOUNDARIES or text.endswith(f"\n\n{BOUNDARIES}")
    return text.removesuffix(BOUNDARIES).removesuffix("\n\n")


def error_message(tree, address="", **options):
    """The error message for an invalid body, without its location."""
    with pytest.raises((CallError, TemplateError)) as raised:
        tree.prompt("pod", **({"set": {"body.text": address}} if address else {}), **options)
    return tree.short(str(raised.value)).partition("\n")[0]


# The entire prompt


def test_the_example_from_the_specification_is_rendered(tree):
    tree({"w/AGENTS.md": "X", "p": None})
    assert tree.text("pod", base="BODY", scope=Scope([Access(tree.path("p"))])) == (
        "BODY\n\n---\n## Working boundaries\n\nReadable:\n  - /p\nWritable:\n  - /p\n\n"
        "---\n## Project instructions (AGENTS.md)\n\nX"
    )


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("model_invokation: maybe", "its model_invokation is neither true nor false but 'maybe'"),
        ("model_invokation: [true]", "its model_invokation is neither true nor false but [True]"),
        ("model-invocation: 1", "its model-invocation is neither true nor false but 1"),
        ("model_invocaton: true", "its field 'model_invocaton' is unknown; did you mean 'model_invocation'?"),
        ("modelInvocation: true", "its field 'modelInvocation' is unknown; did you mean 'model_invocation'?"),
        ("model_invocation: false", ""),
        ("disable-model-invocation: true", ""),
    ],
)
def test_a_mistake_that_keeps_a_resident_out_of_the_list_is_reported(tree, field, message):
    prompt = tree({"w/.git": None, "w/.foreword/knowledge/k.md": f"---\ndescription: K\n{field}\n---\n"}).prompt("pod")
    assert "- k: K" not in prompt.text
    assert [text.partition("; the file")[0].partition(" The file")[0] for _, text in tree.messages(prompt)] == [
        text for text in [message] if text
    ]


@pytest.mark.parametrize("base", ["$user/two words", "$user", "$std/default please"])
def test_a_base_that_almost_is_an_address_is_reported(tree, base):
    prompt = tree({"w/.git": None}).prompt("pod", base=base)
    assert prompt.text.startswith(base)
    assert tree.messages(prompt) == [
        (
            "base-file-name",
            f"the base {base!r} is used as text; the address of a template is $prefix/path, without spaces",
        )
    ]


def test_a_backslash_in_a_base_that_is_an_address_is_an_error(tree):
    assert error_message(tree, base="$user\\greet") == (
        "'$user\\\\greet': use '/' instead of a backslash in an address"
    )


def test_every_section_is_in_order(tree):
    resident = "---\ndescription: {}\nmodel_invokation: true\n---\n"
    tree({
        "w/.git": None,
        "w/AGENTS.md": "\n\nX\n\n",
        "w/.foreword/knowledge/release.md": resident.format("How we release"),
        "w/.foreword/workflow/review.md": resident.format("How we review"),
    })  # fmt: skip
    prompt = tree.prompt("pod", base="BODY\n\n \n")
    assert tree.short(prompt.text) == (
        f"BODY\n\n{BOUNDARIES}\n\n"
        "---\n## Project instructions (AGENTS.md)\n\nX\n\n"
        "---\n## Resident knowledge\n\n- release: How we release\n\n"
        "---\n## Resident workflows\n\n- review: How we review"
    )
    assert [(passage.section, passage.lifetime) for passage in prompt.passages] == [
        ("body", "conversation"),
        ("boundaries", "conversation"),
        ("project", "project"),
        ("knowledge", "project"),
        ("workflows", "project"),
    ]
    assert prompt.findings == ()


@pytest.mark.parametrize("blank", ["", "\n", " \n\t\n", "{# nothing #}", "{% if false %}x{% endif %}\n"])
def test_no_body_removes_the_boundaries(tree, blank):
    tree({f"{USER_PACK}/blank.md": blank})
    assert tree.text("pod", set={"body.text": "$user/blank"}) == BOUNDARIES


@pytest.mark.parametrize("body", ["  - a\n  - b", "\tmake test", "{% if true %}    code{% endif %}"])
def test_the_first_line_of_a_body_keeps_its_indentation(tree, body):
    rendered = body.replace("{% if true %}", "").replace("{% endif %}", "")
    assert tree.text("pod", base=f"\n \n{body}  \n\n") == f"{rendered}\n\n{BOUNDARIES}"
    tree({f"{USER_PACK}/own.md": body})
    assert tree.text("pod", set={"body.text": "$user/own"}) == f"{rendered}\n\n{BOUNDARIES}"
    assert tree.text("pod", set={"body.text": body}) == f"{rendered}\n\n{BOUNDARIES}"


def test_content_is_not_rendered_as_a_template(tree):
    content = "{{ ghost }} {% include 'x' %} ${HOME} [file:x] {# #}"
    tree({"w/AGENTS.md": content})
    tree({"w/.foreword/knowledge/k.md": "---\ndescription: '{{ ghost }} {}'\nmodel_invocation: true\n---\n"})
    text = tree.text("pod", base="B")
    assert text.endswith(f"(AGENTS.md)\n\n{content}\n\n---\n## Resident knowledge\n\n- k: {{{{ ghost }}}} {{}}")


# Addresses


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("$user/greet", "USER"),
        ("$workspace/greet", "WORKSPACE"),
        ("$user/team/de/greet", "GUTEN TAG"),
        ("$user/v1.2", "DOTS"),
        ("$user/two words", "BLANK"),
    ],
)
def test_a_template_is_addressed_by_prefix_and_path(tree, address, text):
    tree({
        f"{USER_PACK}/greet.md": "USER",
        f"{USER_PACK}/greet": "without extension",
        f"{USER_PACK}/greet.toml": "no template",
        f"{USER_PACK}/team/de/greet.md": "GUTEN TAG",
        f"{USER_PACK}/v1.2.md": "DOTS",
        f"{USER_PACK}/two words.md": "BLANK",
        f"{WORKSPACE_PACK}/greet.md": "WORKSPACE",
    })  # fmt: skip
    assert body(tree, address) == text


def test_the_users_pack_follows_the_configuration_folder(tree):
    tree({f"{USER_PACK}/a.md": "HOME", "xdg/foreword/prompts/a.md": "XDG"})
    assert body(tree, "$user/a", environment={"XDG_CONFIG_HOME": "xdg"}) == "XDG"
    assert body(tree, "$user/a") == "HOME"


def test_the_workspaces_pack_is_at_its_root(tree):
    tree({"w/.git": None, f"{WORKSPACE_PACK}/a.md": "ROOT", "w/sub/.foreword/prompts/a.md": "SUB"})
    assert body(tree, "$workspace/a", cwd="w/sub") == "ROOT"


@pytest.mark.parametrize("folder", ["team", "team/", "./w/../team", "/team", "/team/", "//team"])
def test_a_pack_from_the_caller_has_its_own_prefix_for_any_spelling_of_its_folder(tree, monkeypatch, folder):
    monkeypatch.chdir(tree.top)
    tree({"team/review.md": "{% include 'tone' %} REVIEW", "team/tone.md": "KIND", "team/prompts.toml": ""})
    packs = {"team": tree.top + folder if folder.startswith("/") else folder}
    prompt = assemble(tree.workspace(), Agent(), "pod", packs=packs, assignments=[("body.text", "$team/review")])
    assert tree.short(prompt.text) == f"KIND REVIEW\n\n{BOUNDARIES}"


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("$user/no", "the template '$user/no' does not exist (/home/.config/foreword/prompts/no.md)"),
        ("$user/there.md", "the template '$user/there.md' does not exist (/home/.config/foreword/prompts/there.md.md)"),
        ("$std/no", f"the template '$std/no' does not exist ({STD}/no.md)"),
        ("$user/folder", "the template '$user/folder' cannot be read: it is a directory, not a file (/home/.config/foreword/prompts/folder.md)"),
        ("$user/latin", "the template '$user/latin' cannot be read: byte 0xe9 at offset 0 is not UTF-8; save it as UTF-8 (/home/.config/foreword/prompts/latin.md)"),
        ("$workspace/there", "the pack 'workspace' has no folder (in '$workspace/there'): /w/.foreword/prompts does not exist"),
        ("$acme/there", "unknown pack 'acme'; known packs: agents, std, user, workspace"),
        ("$user/./there", "'$user/./there': an address cannot contain '.', '..' or an empty segment"),
        ("$user/a/../there", "'$user/a/../there': an address cannot contain '.', '..' or an empty segment"),
        ("$user//there", "'$user//there': an address cannot contain '.', '..' or an empty segment"),
        ("$user/there/", "'$user/there/': an address cannot contain '.', '..' or an empty segment"),
        ("$user/a\\there", "'$user/a\\\\there': use '/' instead of a backslash in an address"),
        ("$user", "'$user' is not a valid address; an address is $prefix/path, such as $user/review"),
        ("$/there", "'$/there' is not a valid address; an address is $prefix/path, such as $user/review"),
        ("$user/out", "the template '$user/out' is a link that points outside its pack"),
        ("$user/far/there", "the template '$user/far/there' is a link that points outside its pack"),
        ("$user/nowhere", "the template '$user/nowhere' cannot be read: it is a broken link (/home/.config/foreword/prompts/nowhere.md)"),
    ],
)  # fmt: skip
def test_an_invalid_address_is_an_error_that_says_why(tree, address, sentence):
    tree({
        f"{USER_PACK}/there.md": "THERE",
        f"{USER_PACK}/folder.md": None,
        f"{USER_PACK}/latin.md": b"\xe9",
        f"{USER_PACK}/out.md": Path("../../../../outside/there.md"),
        f"{USER_PACK}/far": Path("../../../../outside"),
        f"{USER_PACK}/nowhere.md": Path("gone.md"),
        "outside/there.md": "OUTSIDE",
    })  # fmt: skip
    assert error_message(tree, address) == sentence


def test_without_a_home_the_users_pack_has_no_folder(tree):
    assert error_message(tree, "$user/a", home=None) == (
        "the pack 'user' has no folder: the home directory is unknown (set HOME or pass --home)"
    )


@pytest.mark.parametrize("prefix", ["user", "workspace", "std"])
def test_a_template_missing_from_one_pack_is_not_searched_for_in_another(tree, prefix):
    folders = {"user": USER_PACK, "workspace": WORKSPACE_PACK}
    tree({f"{folder}/only/a.md": "elsewhere" for name, folder in folders.items() if name != prefix})
    tree({f"{folder}/x.md": "" for folder in folders.values()})
    assert error_message(tree, f"${prefix}/only/a").startswith(f"the template '${prefix}/only/a' does not exist (")


def test_links_inside_a_pack_are_followed(tree):
    tree({f"{USER_PACK}/real.md": "REAL", f"{USER_PACK}/a/link.md": Path("../real.md"), f"{USER_PACK}/b": Path("a")})
    assert [body(tree, f"$user/{path}") for path in ("a/link", "b/link")] == ["REAL", "REAL"]


def test_the_user_pack_may_be_a_link(tree):
    tree({"dotfiles/a.md": "LINKED", "home/.config/foreword/prompts": Path("../../../dotfiles")})
    assert body(tree, "$user/a") == "LINKED"


@pytest.mark.parametrize("link", [WORKSPACE_PACK, "w/.foreword"])
def test_the_workspace_pack_may_not_be_a_link(tree, link):
    tree({"home/private/prompts/a.md": "PRIVATE", "home/private/a.md": "PRIVATE", "w/.git": None})
    tree({link: Path(tree.path("home/private"))})
    assert error_message(tree, "$workspace/a") == "the template '$workspace/a' is a link that points outside its pack"


# Includes


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("$user/parent", "PARENT, SIBLING"),
        ("$user/below", "HEADER, NESTED"),
        ("$user/common/header", "HEADER, NESTED"),
        ("$user/prefixed", "OURS, SIBLING"),
        ("$workspace/main", "OURS"),
    ],
)
def test_an_include_is_relative_to_its_file_unless_it_has_a_prefix(tree, address, text):
    tree({
        f"{USER_PACK}/parent.md": "PARENT, {% include 'sibling' %}",
        f"{USER_PACK}/sibling.md": "SIBLING\n",
        f"{USER_PACK}/nested.md": "the wrong one",
        f"{USER_PACK}/below.md": "{% include 'common/header' %}",
        f"{USER_PACK}/common/header.md": "HEADER, {% include 'nested' %}",
        f"{USER_PACK}/common/nested.md": "NESTED",
        f"{USER_PACK}/prefixed.md": "{% include '$workspace/main' %}, {% include '$user/sibling' %}",
        f"{WORKSPACE_PACK}/main.md": "OURS",
    })  # fmt: skip
    assert body(tree, address) == text


def test_a_shipped_template_includes_shipped_templates(tree):
    tree({f"{folder}/common/tool-usage.md": "not this" for folder in (USER_PACK, WORKSPACE_PACK)})
    assert "not this" not in tree.text("pod")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{% include './b' %}", "$user/main: './b' cannot be included: './b': an address cannot contain '.', '..' or an empty segment (line 1, column 12)"),
        ("\n{% include '../b' %}", "$user/main: '../b' cannot be included: '../b': an address cannot contain '.', '..' or an empty segment (line 2, column 12)"),
        ("{% include 'a//b' %}", "$user/main: 'a//b' cannot be included: 'a//b': an address cannot contain '.', '..' or an empty segment (line 1, column 12)"),
        ("{% include 'a\\b' %}", "$user/main: 'a\\b' cannot be included: 'a\\\\b': use '/' instead of a backslash in an address (line 1, column 12)"),
        ("{% include '$acme/b' %}", "$user/main: '$acme/b' cannot be included: unknown pack 'acme'; known packs: agents, std, user, workspace (line 1, column 12)"),
        ("{% include '$workspace/b' %}", "$user/main: '$workspace/b' cannot be included: the pack 'workspace' has no folder (in '$workspace/b'): /w/.foreword/prompts does not exist (line 1, column 12)"),
        ("{% include 'no' %}", "$user/main: 'no' includes a template that does not exist: $user/no (line 1, column 12)"),
        ("{% include 'a.md' %}", "$user/main: 'a.md' includes a template that does not exist: $user/a.md (an address is written without .md) (line 1, column 12)"),
        ("{% include '$user' %}", "$user/main: '$user' cannot be included: '$user' is not a valid address; an address is $prefix/path, such as $user/review (line 1, column 12)"),
        ("{% include 'out' %}", "$user/main: 'out' cannot be included: the template '$user/out' is a link that points outside its pack (line 1, column 12)"),
        ("{% include cwd %}", "$user/main: {% include cwd %} must name the template to include as a plain string, so that it can be checked before rendering (line 1, column 1)"),
        ("{% include 'main' %}", "$user/main: 'main' includes a template that includes it: $user/main -> $user/main (line 1, column 12)"),
        ("{% include 'a' %}", "$user/b: 'a' includes a template that includes it: $user/a -> $user/b -> $user/a (line 2, column 12)"),
    ],
)  # fmt: skip
def test_an_invalid_include_is_an_error_that_says_why(tree, text, sentence):
    tree({
        f"{USER_PACK}/main.md": text,
        f"{USER_PACK}/a.md": "{% include 'b' %}",
        f"{USER_PACK}/b.md": "\n{% include 'a' %}",
        f"{USER_PACK}/out.md": Path("../../../../outside.md"),
        "outside.md": "OUTSIDE",
    })  # fmt: skip
    assert error_message(tree, "$user/main") == sentence


def test_an_unqualified_name_needs_a_current_file(tree):
    tree({f"{USER_PACK}/a.md": "A", "w/a.md": "A", "w/base.md": "{% include 'a' %}"})
    assert error_message(tree, base="{% include 'a' %}") == (
        "base: 'a' cannot be included: 'a' has no prefix, and base is not in a pack; "
        "an address is $prefix/path, such as $user/review (line 1, column 12)"
    )
    assert tree.text("pod", base="{% include '$user/a' %}") == f"A\n\n{BOUNDARIES}"


def test_includes_nested_too_deeply_are_an_error_that_shows_the_chain(tree):
    tree({f"{USER_PACK}/{number}.md": f"{{% include '{number + 1}' %}}" for number in range(1, 30)})
    sentence = error_message(tree, "$user/1")
    assert "is included more than 20 templates deep: $user/1 -> $user/2 -> $user/3" in sentence


def test_an_optional_include_may_be_missing(tree):
    tree(
        {
            f"{USER_PACK}/main.md": "[{% include 'no' ignore missing %}{% include ['no', 'b'] %}]",
            f"{USER_PACK}/b.md": "B",
        }
    )
    assert body(tree, "$user/main") == "[B]"


# Strict parsing up front


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ unclosed", "is a tag that is never closed (line 1, column 1)"),
        ("{% if tools %}", "has no {% endif %} (line 1, column 1)"),
        ("{% if false %}\n{{ 1 + }}{% endif %}", "cannot be parsed"),
        ("{% if false %}{% include '$std/no' %}{% endif %}", "includes a template that does not exist"),
        ("{% endfor %}", "closes nothing (line 1, column 1)"),
    ],
)
def test_a_mistake_is_an_error_before_the_first_turn(tree, text, words):
    with pytest.raises(TemplateError) as raised:
        Assembler(tree.workspace(), "pod").snapshot(Agent(base=text))
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"main": "\n\n  {{ ghost }}"}, "$user/main: ghost is not defined; known: cwd, date, datetime, language, time, tools (line 3, column 6)"),
        ({"main": "{{ tols }}"}, "$user/main: tols is not defined; did you mean 'tools'? (line 1, column 4)"),
        ({"main": "{% if ghost %}x{% endif %}"}, "$user/main: ghost is not defined; known: cwd, date, datetime, language, time, tools (line 1, column 7)"),
        ({"main": "{% for x in ghost %}x{% endfor %}"}, "$user/main: ghost is not defined; known: cwd, date, datetime, language, time, tools (line 1, column 13)"),
        ({"main": "{% include 'part' %}", "part": "a\n{{ ghost }}"}, "$user/part: ghost is not defined; known: cwd, date, datetime, language, time, tools (line 2, column 4)"),
        ({"main": "{{ agents_md }} {{ scope }}"}, "$user/main: agents_md is not defined; known: cwd, date, datetime, language, time, tools (line 1, column 4)"),
    ],
)  # fmt: skip
def test_an_undefined_variable_is_an_error_that_names_it_with_file_and_line(tree, files, sentence):
    tree({f"{USER_PACK}/{name}.md": text for name, text in files.items()})
    assert error_message(tree, "$user/main") == sentence


@pytest.mark.parametrize("text", ["{{ ghost | default('x') }}", "{% if ghost is defined %}no{% else %}x{% endif %}"])
def test_a_template_may_test_whether_a_variable_is_defined(tree, text):
    assert tree.text("pod", base=text) == f"x\n\n{BOUNDARIES}"


# Variables


@pytest.mark.parametrize(
    ("now", "date", "time"),
    [
        (datetime(2026, 4, 15, 9, 30, tzinfo=UTC), "2026-04-15", "09:30:00"),
        (datetime(2026, 4, 15, 23, 30, 5, 999_999, tzinfo=timezone(timedelta(hours=-6))), "2026-04-16", "05:30:05"),
        (datetime(2026, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))), "2025-12-31", "18:45:00"),
        (datetime(999, 2, 3, 4, 5, 6, tzinfo=UTC), "0999-02-03", "04:05:06"),
    ],
)
def test_the_time_is_in_utc(tree, now, date, time):
    text = tree.text("pod", base="{{ date }}|{{ time }}|{{ datetime }}", now=now)
    assert text == f"{date}|{time}|{date}T{time}Z\n\n{BOUNDARIES}"


def test_other_variables_describe_the_agent(tree):
    tree({"w/.git": None, "w/a b": None})
    text = tree.text(
        "pod",
        "w/a b",
        base="{{ cwd }}|{{ language }}|{{ tools | join(',') }}|{{ tools | length }}",
        tools="read shell",
        language="Deutsch",
    )
    assert text == f"/w/a b|Deutsch|read,shell|2\n\n{BOUNDARIES}"


@pytest.mark.parametrize("value", ["{{ ghost }}", "{% include 'x' %}", "{# x #}", r"$& \1 %s {0} {}", "a\nb"])
def test_a_value_is_never_parsed_again(tree, value):
    assert tree.text("pod", base="<{{ language }}>", language=value) == f"<{value}>\n\n{BOUNDARIES}"


# The shipped default


def test_the_default_template_states_the_language_policy_and_explains_tools(tree):
    text = body(tree, "$std/default")
    assert tree.text("pod") == f"{text}\n\n{BOUNDARIES}"
    assert "\n\n## Language\n\n`language`: `match the user's language`\n\n" in text
    assert "\n\n## Language\n\n`language`: `Deutsch`\n\n" in tree.text("pod", language="Deutsch")
    assert text.endswith("\n\n" + body(tree, "$std/common/tool-usage"))


@pytest.mark.parametrize("tools", ["", "read_file", "read_file shell"])
def test_the_tool_usage_depends_on_the_tools(tree, tools):
    text = body(tree, "$std/common/tool-usage", tools=tools)
    named = [name for name in ("read_file", "shell", "edit_file", "grep") if name in text]
    assert named == tools.split()
    assert ("You have no tools" in text) == (not tools)
    assert text in tree.text("pod", tools=tools)


# Boundaries


@pytest.mark.parametrize(
    ("allow", "deny", "text"),
    [
        ([("p",)], [], "Readable:\n  - /p\nWritable:\n  - /p"),
        ([("p", "read")], [], "Readable:\n  - /p"),
        ([("p", "read"), ("q",)], [], "Readable:\n  - /p\n  - /q\nWritable:\n  - /q"),
        ([("q",), ("p", "read")], [], "Readable:\n  - /q\n  - /p\nWritable:\n  - /q"),
        ([("p", "write", False)], [], "Readable:\n  - /p [non-recursive]\nWritable:\n  - /p [non-recursive]"),
        ([("p", "read", False), ("q",)], [], "Readable:\n  - /p [non-recursive]\n  - /q\nWritable:\n  - /q"),
        ([("p",), ("p", "read")], [], "Readable:\n  - /p\nWritable:\n  - /p"),
        ([("p",)], [("p/s", "read")], "Readable:\n  - /p\nWritable:\n  - /p\nDenied:\n  - /p/s"),
        ([("p",)], [("p/s", "read", False)], "Readable:\n  - /p\nWritable:\n  - /p\nDenied:\n  - /p/s [non-recursive]"),
        ([("p",), ("q", "read")], [("p", "read")], "Readable:\n  - /q\nDenied:\n  - /p"),
        ([("p/a",), ("q", "read")], [("p", "read")], "Readable:\n  - /q\nDenied:\n  - /p"),
        ([("p",)], [("p", "write")], "Readable:\n  - /p\nDenied:\n  - /p"),
        ([("p",)], [("p", "read", False)], "Readable:\n  - /p\nWritable:\n  - /p\nDenied:\n  - /p [non-recursive]"),
        ([("p-evil",)], [("p", "read")], "Readable:\n  - /p-evil\nWritable:\n  - /p-evil\nDenied:\n  - /p"),
        ([("p",)], [("p", "read")], "Denied:\n  - /p"),
        ([("p",)], [("p",)], "Denied:\n  - /p"),  # a deny without permissions denies everything
        ([("p",), ("q",)], [("p",)], "Readable:\n  - /q\nWritable:\n  - /q\nDenied:\n  - /p"),
    ],
)  # fmt: skip
def test_the_boundaries_describe_the_scope(tree, allow, deny, text):
    scope = Scope(*([Access(tree.path(path), *more) for path, *more in rows] for rows in (allow, deny)))
    assert tree.text("pod", base="B", scope=scope) == f"B\n\n---\n## Working boundaries\n\n{text}"


@pytest.mark.parametrize(
    ("body", "mark", "what"),
    [
        ("A\n```sh\nmake", "\n```", "a code fence"),
        ("A\n~~~~\nmake", "\n~~~~", "a code fence"),
        ("A <!-- note", " -->", "a comment"),
        ("{{ '```' }}\nmake", "\n```", "a code fence"),
    ],
)
def test_a_body_with_an_open_fence_does_not_swallow_the_boundaries(tree, body, mark, what):
    prompt = tree.prompt("pod", base=body)
    rendered = body.replace("{{ '```' }}", "```")
    assert tree.short(prompt.text) == f"{rendered}{mark}\n\n{BOUNDARIES}"
    assert ("file-fence", f"base ends inside {what}; it was closed") in tree.messages(prompt)


def test_a_body_without_sections_after_it_is_unchanged(tree):
    assert tree.text("builder", base="A\n```sh\nmake\n") == "A\n```sh\nmake\n"


def test_without_a_scope_the_workspace_is_writable(tree):
    tree({"w/a/b": None})
    assert tree.text("pod", "w/a", base="B") == "B\n\n" + BOUNDARIES.replace("/w", "/w/a")
    tree({"w/.git": None})
    assert tree.text("pod", "w/a", base="B") == f"B\n\n{BOUNDARIES}"


def test_a_scope_without_any_access_is_described(tree):
    assert "## Working boundaries" in tree.text("pod", base="B", scope=Scope())


@pytest.mark.parametrize(
    ("path", "printed"),
    [
        ("sub", "/w/sub"),
        (".", "/w"),
        ("./sub/", "/w/sub"),
        ("../p", "/p"),
        ("~/notes", "/home/notes"),
        ("~", "/home"),
        ("//p", "/p"),
    ],
)
def test_paths_of_a_scope_are_printed_as_absolute(tree, path, printed):
    assert tree.text("pod", base="B", scope=Scope([Access(path, "read")])).endswith(f"Readable:\n  - {printed}")


def test_a_denied_path_takes_precedence_in_any_spelling(tree):
    text = tree.text("pod", base="B", scope=Scope([Access("sub/")], [Access("./sub")]))
    assert text.endswith("## Working boundaries\n\nDenied:\n  - /w/sub")


# The nearest AGENTS.md


@pytest.mark.parametrize(
    ("files", "nearest"),
    [
        ({"w/AGENTS.md": "ROOT", "w/a/AGENTS.md": "MIDDLE", "w/a/b/AGENTS.md": "HERE"}, "HERE"),
        ({"w/AGENTS.md": "ROOT", "w/a/AGENTS.md": "MIDDLE"}, "MIDDLE"),
        ({"w/AGENTS.md": "ROOT"}, "ROOT"),
        ({"w/AGENTS.md": "ROOT", "w/a/AGENTS.md": " \n"}, "ROOT"),
        ({"w/AGENTS.md": "ROOT", "w/a/AGENTS.md": b"\xff"}, "ROOT"),
        ({"w/AGENTS.md": "ROOT", "w/a/AGENTS.md": None}, "ROOT"),
        ({"AGENTS.md": "above the root", "home/AGENTS.md": "user's", "w/CLAUDE.md": "another name"}, None),
        ({"w/a/b/c/AGENTS.md": "below"}, None),
    ],
)
def test_only_the_nearest_instructions_up_to_the_workspaces_root_are_used(tree, files, nearest):
    tree({"w/.git": None, "w/a/b/c": None, **files})
    tail = f"\n\n---\n## Project instructions (AGENTS.md)\n\n{nearest}" if nearest else ""
    assert tree.text("pod", "w/a/b", base="B") == f"B\n\n{BOUNDARIES}{tail}"


def test_outside_git_the_workspace_is_the_working_directory(tree):
    tree({"w/AGENTS.md": "ABOVE", "w/a": None})
    assert "ABOVE" not in tree.text("pod", "w/a", base="B")


# Residents


RESIDENT = "---\ndescription: D\n{}\n---\nA body that is not in the prompt."


@pytest.mark.parametrize("folder", ["knowledge", "workflow"])
@pytest.mark.parametrize(
    ("field", "is_resident"),
    [
        ("model_invokation: true", True),
        ("model-invocation: true", True),
        ("model_invocation: true", True),
        ("model_invocation: 'true'", True),
        ("model_invocation: false", False),
        ("model_invocation:", False),
        ("model_invocation: [true]", False),
        ("invocation: true", False),
        ("other: 1", False),
    ],
)
def test_residents_opt_in_with_any_of_three_spellings(tree, folder, field, is_resident):
    tree({f"w/.foreword/{folder}/slug.md": RESIDENT.format(field)})
    heading = {"knowledge": "Resident knowledge", "workflow": "Resident workflows"}[folder]
    tail = f"\n\n---\n## {heading}\n\n- slug: D" if is_resident else ""
    assert tree.text("pod", base="B") == f"B\n\n{BOUNDARIES}{tail}"


def test_residents_are_sorted_by_slug_one_per_line(tree):
    yes = "model_invocation: true"
    folder = "w/.foreword/knowledge"
    tree({
        f"{folder}/{name}": RESIDENT.format(yes)
        for name in ("b.md", "a.md", "Z.md", "10.md", "9.md", "é.md", "note.txt", "deep/c.md", ".hidden.md")
    })  # fmt: skip
    tree({f"{folder}/folded.md": f"---\ndescription: |\n  One\n  two\n{yes}\n---\n"})
    tree({f"{folder}/windows.md": f'---\r\ndescription: "One\\r\\ntwo"\r\n{yes}\r\n---\r\n'})
    entries = ["10: D", "9: D", "Z: D", "a: D", "b: D", "folded: One two", "windows: One two", "é: D"]
    tail = "".join(f"\n- {entry}" for entry in entries)
    assert tree.text("pod", base="B") == f"B\n\n{BOUNDARIES}\n\n---\n## Resident knowledge\n{tail}"


def test_an_invalid_resident_is_reported_and_the_others_are_listed(tree):
    yes = "model_invocation: true"
    folder = "w/.foreword/workflow"
    tree({
        "w/.git": None,
        f"{folder}/good.md": RESIDENT.format(yes),
        f"{folder}/none.md": f"---\n{yes}\n---\n",
        f"{folder}/open.md": f"---\ndescription: D\n{yes}\n",
        f"{folder}/plain.md": "no front matter at all",
        f"{folder}/latin.md": b"---\ndescription: \xe9\nmodel_invocation: true\n---\n",
        f"{folder}/folder.md": None,
        f"{folder}/pipe.md": os.mkfifo,
        f"{folder}/colon.md": f"---\ndescription: Use when: asked\n{yes}\n---\n",
    })  # fmt: skip
    prompt = tree.prompt("pod", base="B")
    assert tree.short(prompt.text).endswith("\n\n- colon: Use when: asked\n- good: D")
    assert sorted(tree.findings(prompt)) == [
        ("file-not-utf8", f"/{folder}/latin.md"),
        ("file-unreadable", f"/{folder}/folder.md"),
        ("file-unreadable", f"/{folder}/pipe.md"),
        ("resident-invalid", f"/{folder}/open.md"),
        ("resident-no-description", f"/{folder}/none.md"),
        ("resident-repaired", f"/{folder}/colon.md"),
    ]


@pytest.mark.parametrize(
    ("files", "listed", "incomplete"),
    [
        ({"knowledge/k.md": "D", "knowledge/a.md": Path("k.md")}, ["k"], "knowledge/a.md"),
        ({"knowledge/k.md": "D", "knowledge/z.md": Path("k.md")}, ["k"], "knowledge/z.md"),
        ({"knowledge/k.md": "D", "workflow/w.md": Path("../knowledge/k.md")}, ["k"], "workflow/w.md"),
        ({"workflow/w.md": "D", "knowledge/k.md": Path("../workflow/w.md")}, ["w"], "knowledge/k.md"),
        ({"outside.md": "D", "knowledge/k.md": Path("../outside.md"), "workflow/w.md": Path("../outside.md")}, ["k"], "workflow/w.md"),
    ],
)  # fmt: skip
def test_a_resident_with_two_names_is_listed_once_and_reported(tree, files, listed, incomplete):
    text = RESIDENT.format("model_invocation: true")
    tree(
        {
            "w/.git": None,
            **{f"w/.foreword/{path}": text if content == "D" else content for path, content in files.items()},
        }
    )
    prompt = tree.prompt("pod", base="B")
    assert re.findall(r"^- (\w+): D$", prompt.text, re.MULTILINE) == listed
    assert tree.findings(prompt) == [("file-duplicate", f"/w/.foreword/{incomplete}")]
    assert (f"/w/.foreword/{incomplete}", "duplicate") in tree.fates(prompt)


def test_residents_are_found_at_the_root_of_the_workspace(tree):
    tree({"w/.git": None, "w/a": None, "w/.foreword/knowledge/k.md": RESIDENT.format("model_invocation: true")})
    tree({"w/a/.foreword/knowledge/no.md": RESIDENT.format("model_invocation: true")})
    assert tree.text("pod", "w/a", base="B").endswith("## Resident knowledge\n\n- k: D")


def test_an_agent_may_opt_out_of_both_kinds_of_residents(tree):
    for folder in ("knowledge", "workflow"):
        tree({f"w/.foreword/{folder}/k.md": RESIDENT.format("model_invocation: true")})
    prompt = tree.prompt("pod", base="B", set={"residents": False})
    assert tree.short(prompt.text) == f"B\n\n{BOUNDARIES}"
    assert tree.fates(prompt) == [
        ("/w/.foreword/knowledge/k.md", "unused"),
        ("/w/.foreword/workflow/k.md", "unused"),
    ]


# Wording


WORDING = {
    "working_boundaries_section": f"B\n\n{BOUNDARIES}",
    "agents_md_section": "---\n## Project instructions (AGENTS.md)\n\nX",
    "resident_knowledge_section": "---\n## Resident knowledge\n\n- k: D",
    "resident_workflows_section": "---\n## Resident workflows\n\n- k: D",
}
WORDING_FILES = {"user": "home/.config/foreword/prompts.toml", "workspace": "w/.foreword/prompts.toml", "pack": "pack/prompts.toml"}  # fmt: skip


def full_workspace(tree):
    """A workspace with content for every section whose wording can be changed."""
    resident = RESIDENT.format("model_invocation: true")
    tree({"w/.git": None, "w/AGENTS.md": "X", "pack": None})
    return tree({"w/.foreword/knowledge/k.md": resident, "w/.foreword/workflow/k.md": resident})


def prompt_with_packs(tree, **packs):
    packs = {name: tree.path(folder) for name, folder in packs.items()}
    return assemble(tree.workspace(), Agent(base="B"), "pod", packs=packs)


def test_the_shipped_wording_is_used(tree):
    assert tree.short(prompt_with_packs(full_workspace(tree)).text) == "\n\n".join(WORDING.values())


@pytest.mark.parametrize("key", WORDING)
def test_wording_is_overridden_key_by_key(tree, key):
    full_workspace(tree)({WORDING_FILES["user"]: f"{key} = '## Mine\n{{}}\n{{{{end}}}}'".replace("'", '"""')})
    inside = WORDING[key].partition("\n\n---\n" if "B\n" in WORDING[key] else "---\n")[2].partition("\n\n")[2]
    own_wording = f"## Mine\n{inside}\n{{end}}"
    expected = {**WORDING, key: f"B\n\n{own_wording}" if key == "working_boundaries_section" else own_wording}
    prompt = prompt_with_packs(tree)
    assert (tree.short(prompt.text), prompt.findings) == ("\n\n".join(expected.values()), ())


@pytest.mark.parametrize("key", WORDING)
@pytest.mark.parametrize("padding", ["{}\n", "\n{}\n\n", "{}  \n\t\n", "{} "])
def test_trailing_white_space_of_wording_is_removed(tree, key, padding):
    shipped = shipped_layout("pod")["wording"][key]
    full_workspace(tree)({WORDING_FILES["workspace"]: f"{key} = {json.dumps(padding.format(shipped))}"})
    prompt = prompt_with_packs(tree)
    assert tree.short(prompt.text) == "\n\n".join(WORDING.values())
    assert all("".join(piece.text for piece in passage.pieces) == passage.text for passage in prompt.passages)


@pytest.mark.parametrize("text", ["X   ", "X\t\n \n", "\n\nX \n"])
def test_trailing_white_space_of_a_file_is_removed(tree, text):
    prompt = prompt_with_packs(full_workspace(tree)({"w/AGENTS.md": text}))
    assert tree.short(prompt.text) == "\n\n".join(WORDING.values())
    (piece,) = [piece for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "file"]
    line = text.count("\n", 0, text.index("X")) + 1
    assert (piece.text, piece.origin.lines) == ("X", (line, line))


@pytest.mark.parametrize(
    ("sources", "winner"),
    [
        ("user", "user"),
        ("workspace", "workspace"),
        ("pack", "pack"),
        ("user workspace", "workspace"),
        ("user pack", "pack"),
        ("workspace pack", "pack"),
        ("user workspace pack", "pack"),
    ],
)
def test_the_later_wording_wins(tree, sources, winner):
    full_workspace(tree)(
        {WORDING_FILES[setter]: f"agents_md_section = 'of the {setter}: {{}}'" for setter in sources.split()}
    )
    text = tree.short(prompt_with_packs(tree, p="pack").text)
    assert text == "\n\n".join({**WORDING, "agents_md_section": f"of the {winner}: X"}.values())


def test_each_key_comes_from_the_strongest_source_that_has_it(tree):
    keys = list(WORDING)
    full_workspace(tree)({
        WORDING_FILES["user"]: "".join(f"{key} = 'user {{}}'\n" for key in keys[1:]),
        WORDING_FILES["workspace"]: "".join(f"{key} = 'workspace {{}}'\n" for key in keys[2:]),
        WORDING_FILES["pack"]: f"{keys[3]} = 'pack {{}}'\n",
    })  # fmt: skip
    text = tree.short(prompt_with_packs(tree, p="pack").text)
    assert text == f"B\n\n{BOUNDARIES}\n\nuser X\n\nworkspace - k: D\n\npack - k: D"


def test_the_last_of_several_packs_wins(tree):
    full_workspace(tree)(
        {"one/prompts.toml": "agents_md_section = 'one {}'", "two/prompts.toml": "agents_md_section = 'two {}'"}
    )
    assert "\n\ntwo X\n\n" in prompt_with_packs(tree, a="one", b="two").text
    assert "\n\none X\n\n" in prompt_with_packs(tree, b="two", a="one").text


@pytest.mark.parametrize("setter", WORDING_FILES)
@pytest.mark.parametrize("key", WORDING)
@pytest.mark.parametrize("incomplete", ["", "nothing", "{x}", "{{}}", "{} and {}", "{", "{ }"])
def test_wording_without_its_placeholder_is_an_error(tree, setter, key, incomplete):
    tree({"pack": None, WORDING_FILES[setter]: f"{key} = '{incomplete}'"})
    with pytest.raises(LayoutError) as raised:
        prompt_with_packs(tree, p="pack")
    assert key in str(raised.value) and "\n" not in str(raised.value)
    if incomplete in ("", "nothing"):
        path = f"/{WORDING_FILES[setter]}"
        assert tree.short(str(raised.value)) == f"{path}: {key} needs '{{}}' exactly once, for its value"


@pytest.mark.parametrize("text", ["agents_md_section = 5", "agents_md_section = ['{}']", "agents_md_section", "\ufffd"])
def test_invalid_wording_is_an_error_that_names_the_file(tree, text):
    tree({WORDING_FILES["user"]: text})
    with pytest.raises(LayoutError, match=r"prompts\.toml"):
        prompt_with_packs(tree)


@pytest.mark.parametrize("words", ["{x} {}", "{} {", "{} }"])
def test_wording_with_an_unknown_placeholder_is_an_error_that_names_the_file(tree, words):
    tree({WORDING_FILES["workspace"]: f"agents_md_section = '{words}'"})
    with pytest.raises(LayoutError, match=r"prompts\.toml: agents_md_section: "):
        prompt_with_packs(tree)


@pytest.mark.parametrize("padding", ["<!--\\n{}\\n-->", "```\\n{}\\n```", "Only an example. <!-- {} -->"])
@pytest.mark.parametrize("key", ["working_boundaries_section", "agents_md_section"])
def test_workspace_wording_may_not_hide_the_text_it_wraps(tree, padding, key):
    tree({WORDING_FILES["workspace"]: f'{key} = "{padding}"'})
    with pytest.raises(LayoutError, match=r"prompts\.toml: \w+ puts its value into a "):
        prompt_with_packs(tree)
    full_workspace(tree)({WORDING_FILES["workspace"]: f'{key} = "<!-- a note --> {{}}"'})
    assert "<!-- a note --> " in prompt_with_packs(tree).text


@pytest.mark.parametrize("layout", layout_names())
@pytest.mark.parametrize("content", ["not TOML", b"\xff", b"\0", None])
def test_unreadable_workspace_wording_is_reported(tree, layout, content):
    tree({WORDING_FILES["workspace"]: content})
    assert ("settings-invalid", f"/{WORDING_FILES['workspace']}") in tree.findings(tree.prompt(layout))


@pytest.mark.parametrize(
    ("key", "content", "message"),
    [
        ("wording.compaction", " ", "layout pod: wording.compaction must not be blank"),
        ("skill_active_message", "", "layout pod: wording.skill_active_message must not be blank"),
        (
            "skill_message",
            "Done.",
            "layout pod: wording.skill_message needs '{text}' exactly once, for the skill's body",
        ),
    ],
)
def test_wording_that_would_lose_a_request_or_a_body_is_an_error_wherever_it_is_set(tree, key, content, message):
    with pytest.raises(LayoutError, match=f"^{re.escape(message)}$"):
        tree.prompt("pod", set={key: content})
    tree({"w/.git": None, "w/.foreword/foreword.toml": f"{key} = {json.dumps(content)}"})
    assert tree.findings(tree.prompt("pod")) == [("workspace-refused", "/w/.foreword/foreword.toml")]


def test_compaction_instructions_cannot_be_blank(tree):
    tree({WORDING_FILES["workspace"]: "compaction = ' '"})
    with pytest.raises(LayoutError, match="compaction must not be blank"):
        prompt_with_packs(tree)


@pytest.mark.parametrize("setter", WORDING_FILES)
def test_an_unknown_key_is_reported(tree, setter):
    full_workspace(tree)({WORDING_FILES[setter]: "agents_md_sektion = '{}'\n[nested]\nkey = 'x'\n"})
    prompt = prompt_with_packs(tree, p="pack")
    assert tree.short(prompt.text) == "\n\n".join(WORDING.values())
    path = f"/{WORDING_FILES[setter]}"
    assert tree.messages(prompt)[0] == (
        "wording-unknown",
        f"{path}: unknown wording 'agents_md_sektion'; did you mean 'agents_md_section'?",
    )
    assert tree.findings(prompt) == [("wording-unknown", path)] * 2


def test_a_key_of_another_layout_is_known(tree):
    others = [key for key in shipped_layout("pi")["wording"] if key not in shipped_layout("pod")["wording"]]
    full_workspace(tree)(
        {WORDING_FILES["user"]: "".join(f"{json.dumps(key)} = 'x'\n" for key in others if key != "tool")}
    )
    assert prompt_with_packs(tree).findings == ()


def test_the_compaction_request_is_wording_too(tree):
    tree({WORDING_FILES["user"]: "compaction = 'Say what happened.'"})
    assert Assembler(tree.workspace(), "pod").layout().wording["compaction"] == "Say what happened."


# What a workspace may not do


HOSTILE = {
    "text": ["", "x", "{}"],
    "form": ["", "x", "{}", "@compaction"],
    "name": ["tools", "denied"],
    "names": [[], ["body"], ["readable"], ["base"]],
    "groups": [[], ["home:x"]],
    "conditions": [["session"], ["!main"], ["set:residents"]],
    "switch": [True, False],
    "count": [0, 1],
}


def settable_keys(table):
    """Every key that `foreword.toml` could set in one table of the layout, with a harmful value."""
    name = table.partition(".")[0] or "layout"
    for key in KEYS:
        if key.table == name and key.name != "extends":
            yield from ((f"{table}.{key.name}".lstrip("."), value) for value in HOSTILE.get(key.takes, key.choices))
    if table in ("settings", "wording"):
        yield from (
            (f"{table}.{key}", value) for key in shipped_layout("pod")[table] for value in ("", "x", "{}", False)
        )


TABLES = ["", "settings", "wording", "on", "compaction", *(f"{table}.{name}" for table in ("find", "section") for name in shipped_layout("pod")[table])]  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_workspace_settings_cannot_remove_the_boundaries(tree, table):
    tree({"w/.git": None, "w/AGENTS.md": "X"})
    scope = Scope([Access(tree.path("w"))], [Access(tree.path("w/secret"), "read")])
    rows = "Readable:\n  - /w\nWritable:\n  - /w\nDenied:\n  - /w/secret"
    removed = []
    for key, content in settable_keys(table):
        tree({"w/.foreword/foreword.toml": f"{key} = {json.dumps(content)}"})
        if rows not in tree.text("pod", base="B", scope=scope):
            removed.append((key, content))
    assert removed == []


@pytest.mark.parametrize(
    ("key", "content"),
    [
        ("working_boundaries_section", "<!-- {} -->"),
        ("wording.working_boundaries_section", "```\n{}\n```"),
        ("section.boundaries.wrap", "<!-- {} -->"),
        ("section.boundaries.role", "user"),
        ("join", "\n\n<!--\n\n"),
        ("join", "\n~~~\n"),
    ],
)
def test_workspace_settings_cannot_hide_the_boundaries(tree, key, content):
    tree({"w/.git": None, "w/.foreword/foreword.toml": f"{key} = {json.dumps(content)}"})
    prompt = tree.prompt("pod", base="B")
    assert tree.short(prompt.text) == f"B\n\n{BOUNDARIES}"
    assert tree.findings(prompt) == [("workspace-refused", "/w/.foreword/foreword.toml")]


def test_a_workspace_may_word_the_heading_of_its_boundaries(tree):
    tree({"w/.git": None, "w/.foreword/foreword.toml": 'working_boundaries_section = "<!-- note --> Limits:\\n{}"'})
    assert tree.text("pod", base="B").startswith("B\n\n<!-- note --> Limits:\nReadable:\n  - /w\n")


def test_a_setting_that_removes_all_items_of_a_section_is_rejected(tree):
    tree({"w/.git": None, "w/AGENTS.md": "X", "w/.foreword/foreword.toml": "section.project.list = ''"})
    prompt = tree.prompt("pod", base="B")
    assert tree.short(prompt.text) == f"B\n\n{BOUNDARIES}\n\n---\n## Project instructions (AGENTS.md)\n\nX"
    assert tree.findings(prompt) == [("workspace-refused", "/w/.foreword/foreword.toml")]


def test_a_key_that_would_change_the_boundaries_is_ignored_and_reported(tree):
    tree({"w/.git": None, "w/.foreword/foreword.toml": "[for.pod]\nsections = ['body']\nresidents = false\n"})
    prompt = tree.prompt("pod", base="B")
    assert tree.short(prompt.text) == f"B\n\n{BOUNDARIES}"
    path = "/w/.foreword/foreword.toml"
    message = f"{path}: a workspace may not change its own boundaries (sections); the key was ignored"
    assert tree.messages(prompt) == [("workspace-refused", message)]


@pytest.mark.parametrize("setter", ["home/.config/foreword/foreword.toml", "w/mine.toml"])
def test_user_and_caller_may_leave_the_boundaries_out(tree, setter):
    tree({"w/.git": None, setter: "sections = ['body']"})
    prompt = assemble(
        tree.workspace(), Agent(base="B"), "pod", settings=tree.path(setter) if setter.startswith("w/") else ""
    )
    assert (prompt.text, prompt.findings) == ("B", ())


def test_a_workspace_may_not_use_user_templates(tree):
    tree(
        {
            "w/.git": None,
            f"{USER_PACK}/private.md": "PRIVATE",
            "w/.foreword/foreword.toml": "body.text = '$user/private'",
        }
    )
    tree({f"{WORKSPACE_PACK}/own.toml": "extends = '$std/pod'\n[section.body]\ntext = '$user/private'\n"})
    for layout, path in (("pod", "/w/.foreword/foreword.toml"), ("$workspace/own", "")):
        prompt = tree.prompt(layout)
        assert "PRIVATE" not in prompt.text and tree.short(prompt.text).endswith(BOUNDARIES)
        assert ("workspace-refused", path) in tree.findings(prompt)


# Untrusted templates


DOUBLING = (
    '{% set n = namespace(x="a") %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x | length }}'
)
FORMAT = '{{ "%9999999999d" | format(1) }}'
STEPS = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"
BRANCHES = "{% if false %}" + "{% elif false %}" * 5_000 + "{% endif %}"


@pytest.mark.parametrize("text", [DOUBLING, FORMAT, STEPS, BRANCHES], ids=["doubling", "format", "steps", "branches"])
def test_a_hostile_workspace_template_is_an_error_and_the_next_one_renders(tree, text, monkeypatch, capsys):
    monkeypatch.setenv("HOME", tree.path("home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    tree({"w/.git": None, f"{WORKSPACE_PACK}/hostile.md": text, f"{WORKSPACE_PACK}/kind.md": "Hello {{ cwd }}"})
    tree({f"{USER_PACK}/mine.md": "{% include '$workspace/hostile' %}"})
    for address in ("$workspace/hostile", "$user/mine"):
        assert main(["show", tree.path("w"), "--layout", "pod", "--base", address]) == 2
        out, err = capsys.readouterr()
        first, *location = err.rstrip("\n").split("\n")
        assert out == "" and first.startswith("foreword: $") and len(location) in (0, 2)
    assert body(tree, "$workspace/kind") == "Hello /w"


@pytest.mark.parametrize(("included", "has_worker"), [("$workspace/kind", True), ("kind", False)])
def test_a_user_template_with_an_untrusted_include_is_parsed_in_the_worker(tree, included, has_worker):
    tree({"w/.git": None, f"{WORKSPACE_PACK}/kind.md": "Hello {{ cwd }}", f"{USER_PACK}/kind.md": "Hello {{ cwd }}"})
    tree({f"{USER_PACK}/mine.md": f"{{% include '{included}' %}}"})
    assembler = Assembler(tree.workspace(), "pod")
    sandbox.close()
    assembler.snapshot(Agent(base=assembler.template("$user/mine")))
    assert (sandbox.process_ids() != []) is has_worker


def test_a_template_in_workspace_settings_is_untrusted(tree):
    tree({"w/.git": None, "w/.foreword/foreword.toml": f"body.text = {json.dumps(DOUBLING)}"})
    with pytest.raises(TemplateError, match=r"memory|took longer"):
        tree.prompt("pod")
    tree({"w/.foreword/foreword.toml": "body.text = '{{ cwd }}'"})
    assert tree.text("pod") == f"/w\n\n{BOUNDARIES}"


def test_errors_are_the_same_with_and_without_the_sandbox(tree):
    tree({f"{folder}/a.md": "x\n{{ ghost }}" for folder in (USER_PACK, WORKSPACE_PACK)})
    assert error_message(tree, "$workspace/a") == error_message(tree, "$user/a").replace("$user", "$workspace")


# Origins and rebuilding


def test_every_character_of_the_body_has_its_template_as_origin(tree):
    tree({f"{USER_PACK}/main.md": "A\n{% include 'part' %} {{ cwd }}\n", f"{USER_PACK}/part.md": "B\n"})
    prompt = tree.prompt("pod", set={"body.text": "$user/main"})
    assert [
        (piece.text.replace(tree.top, ""), piece.origin.kind, piece.origin.path, piece.origin.lines)
        for piece in prompt.passages[0].pieces
    ] == [
        ("A\n", "template", "$user/main", (1, 1)),
        ("B", "template", "$user/part", (1, 1)),
        (" ", "template", "$user/main", (2, 2)),
        ("/w", "variable", "cwd", None),
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (f"{USER_PACK}/part.md", "EDITED"),
        (f"{USER_PACK}/main.md", "EDITED"),
        (WORDING_FILES["user"], "working_boundaries_section = 'EDITED {}'"),
        ("w/AGENTS.md", "EDITED"),
        ("w/.foreword/knowledge/k.md", "---\ndescription: EDITED\nmodel_invocation: true\n---\n"),
    ],
)
def test_an_assembler_notices_a_change_to_any_file_it_used(tree, monkeypatch, path, text):
    monkeypatch.setattr(time, "time_ns", lambda now=time.time_ns: now() + 10_000_000_000)
    tree({"w/.git": None, f"{USER_PACK}/main.md": "{% include 'part' %}", f"{USER_PACK}/part.md": "PART"})
    assembler = Assembler(tree.workspace(), "pod", assignments=[("body.text", "$user/main")])
    assert tree.short(assembler.prompt().text) == f"PART\n\n{BOUNDARIES}"
    tree({path: text})
    assert "EDITED" in assembler.prompt().text


# Errors


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("{{ unclosed", TemplateSyntaxError),
        ("{% if %}", TemplateSyntaxError),
        ("{% include '$std/nowhere' %}", TemplateSyntaxError),
        ("{% include 'sibling' %}", TemplateSyntaxError),
        ("{{ ghost }}", TemplateRenderError),
        ("{{ cwd / 2 }}", TemplateRenderError),
        ("{% for _ in range(10000000) %}x{% endfor %}", TemplateRenderError),
    ],
)
@pytest.mark.parametrize("is_trusted", [True, False])
def test_parsing_and_rendering_raise_different_errors_when_a_conversation_is_opened(tree, body, kind, is_trusted):
    tree({"w/.git": None, "w/.foreword/prompts/body.md": body})
    agent = Agent(base=body if is_trusted else "$workspace/body")
    with closing(Conversations(":memory:")) as conversations, pytest.raises(TemplateError) as raised:
        conversations.open("new", tree.workspace(), agent, "pod")
    assert type(raised.value) is kind


def test_an_existing_conversation_is_opened_without_rendering(tree):
    with closing(Conversations(f"sqlite:///{tree.path('store.db')}")) as conversations:
        first = conversations.open("old", tree.workspace(), Agent(base="Body."), "pod").turn("hi")
        again = conversations.open("old", tree.workspace(), Agent(base="{{ ghost }}"), "pod")
        assert again.turn("hi").system == first.system
