"""Rules for every layout: bytes, files and tags that no layout may get wrong."""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foreword import Agent, Tool, Workspace, assemble
from foreword.encoding.prompt import prompt_form
from foreword.text.tokens import count
from foreword.vocabulary import Document, digest

LAYOUTS = ["foreword", "ion", "opal", "pi"]
# For each layout, an instruction file that is farther away than the project's.
FARTHER = {
    "foreword": "home/.agents/AGENTS.md",
    "ion": "home/.ion/AGENTS.md",
    "opal": "AGENTS.md",
    "pi": "home/.sf/agent/AGENTS.md",
}
# The name that is tried if AGENTS.md is blank or missing; opal reads both.
FALLBACK = {"foreword": "CLAUDE.md", "ion": "CLAUDE.md", "opal": "OPAL.md", "pi": "CLAUDE.md"}

pytestmark = pytest.mark.parametrize("layout", LAYOUTS)


def text_with_content(tree, layout, content, **options):
    """The text of a prompt with this content in AGENTS.md."""
    return tree({"w/AGENTS.md": content}).text(layout, base="BASE", **options)


def write_full_workspace(tree, skill):
    """Write content for every section of every layout."""
    tree({
        "w/.git": None,
        "w/AGENTS.md": "\n\nRoot é.\n\nTwo.\n",
        "w/a/AGENTS.md": "\ufeffHere,\r\nwith a </skills> and <Identity>\r\nand </ plan > tag.\r\n",
        "w/a/CLAUDE.md": "Shadowed or not.",
        "w/a/OPAL.md": "Opal's.",
        "w/a/AGENTS.local.md": "Mine.\n```\nopen",
        "w/a/.sf/APPEND_SYSTEM.md": "Appended.\n\n- a\n- b\n",
        "home/.ion/AGENTS.md": "User's.",
        "home/.config/agents/AGENTS.md": "Everyone's.",
        "home/.config/agents/rules/a.md": "Rule a.",
        "home/.config/agents/rules/b.md": "  Rule b.",
        "home/.sf/agent/AGENTS.md": "Agent's.",
    })  # fmt: skip
    for folder in (".agents", ".sf", ".ion"):
        tree(
            {
                f"w/a/{folder}/skills/s{folder[1:]}/SKILL.md": skill(
                    f"s{folder[1:]}", "Does <it> & more.", body="\n\nOne.\n\nTwo."
                )
            }
        )


def full_prompt(tree, layout):
    tools = [Tool("read", guidelines=["Read it."]), Tool("bash", snippet="Run\n it"), Tool("read_file")]
    agent = {"skill": "sagents"} if layout == "ion" else {}
    return tree.prompt(layout, "w/a", tools=tools, session="s1", plan="Plan.\nTwo.", docs=[("Doc", "/d")], **agent)


# Same arguments, same bytes


def test_the_same_arguments_give_the_same_bytes(tree, skill, layout):
    write_full_workspace(tree, skill)
    assert full_prompt(tree, layout) == full_prompt(tree, layout)


def test_the_id_is_the_hash_of_the_text(tree, layout):
    prompt = tree.prompt(layout)
    assert prompt.id == digest(prompt.text)


# Bytes


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbfX\n", "X"),
        (b"\xef\xbb\xbf\xef\xbb\xbfX", "\ufeffX"),
        (b"a\r\nb\r\n", "a\nb"),
        (b"a\rb", "a\rb"),
        (b"\r\n\r\nX\r\n\r\n", "X"),
        (b"\n \n\t\nX\n\n \n", "X"),
        (b"    code\ntext  \n", "    code\ntext  "),
        (b"a\n\n\n\nb", "a\n\n\n\nb"),
        ("\u2028é \u200d 👩‍👩‍👧 \x0c x".encode(), "\u2028é \u200d 👩‍👩‍👧 \x0c x"),
        (b"no newline at the end", "no newline at the end"),
    ],
)
def test_only_bom_crlf_and_outer_blank_lines_change(tree, layout, content, text):
    surrounding_text = text_with_content(tree, layout, "MARKER")
    assert text_with_content(tree, layout, content) == surrounding_text.replace("MARKER", text)


@pytest.mark.parametrize(
    "content",
    [
        "{{ x }} {% include 'x' %} {# c #} {{",
        "${HOME} $HOME $& \\1 %s %(x)s",
        "[if git:branch] [file:AGENTS.md] [system:time] [endif]",
        "{cwd} {text} {path|xml} {} {{}} {0}",
        "@AGENTS.md and @other.md",
        "<?xml version='1.0'?> <![CDATA[ x ]]> &amp; &lt;",
    ],
)
def test_file_content_is_never_rendered_as_a_template(tree, layout, content):
    surrounding_text = text_with_content(tree, layout, "MARKER")
    assert text_with_content(tree, layout, content) == surrounding_text.replace("MARKER", content)


# Files that cannot be read


UNREADABLE = {
    "a directory": (None, "file-unreadable", "directory"),
    "a named pipe": (os.mkfifo, "file-unreadable", "pipe"),
    "NUL bytes": (b"text\x00", "file-binary", "NUL"),
    "UTF-16": ("text".encode("utf-16"), "file-not-utf8", "UTF-16"),
    "UTF-16 without a mark": ("text".encode("utf-16-le"), "file-binary", "NUL"),
    "Latin-1": (b"caf\xe9 au lait", "file-not-utf8", "offset 3"),
    "a broken link": (Path("nowhere"), "file-unreadable", "link"),
    "a link to itself": (Path("AGENTS.md"), "file-unreadable", "loop"),
    "a link to a directory": (Path("."), "file-unreadable", "directory"),
    "a device": (Path("/dev/null"), "link-refused", "link"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_unreadable_file_is_reported_and_the_others_load(tree, layout, kind):
    content, code, word = UNREADABLE[kind]
    tree({FARTHER[layout]: "Farther.", f"w/{FALLBACK[layout]}": "Second."})
    without_file = tree.prompt(layout, base="BASE")
    prompt = tree({"w/.git": None, "w/AGENTS.md": content}).prompt(layout, base="BASE")
    assert prompt.text == without_file.text
    assert [
        (finding.code, tree.short(finding.path)) for finding in prompt.findings if word in finding.message
    ] == [(code, "/w/AGENTS.md")]  # fmt: skip
    assert [path for path, fate in tree.fates(prompt) if fate == "used"] == [
        f"/{FARTHER[layout]}",
        f"/w/{FALLBACK[layout]}",
    ]


@pytest.mark.parametrize("blank", ["", "\n", " \t\n\n", "\ufeff", "\ufeff\r\n"])
def test_a_blank_file_counts_as_absent(tree, layout, blank):
    tree({f"w/{FALLBACK[layout]}": "Second."})
    without_file = tree.text(layout, base="BASE")
    prompt = tree({"w/AGENTS.md": blank}).prompt(layout, base="BASE")
    assert tree.short(prompt.text) == without_file
    assert ("/w/AGENTS.md", "blank") in tree.fates(prompt)


# Links


def test_a_link_is_followed_and_keeps_its_own_path(tree, layout):
    prompt = tree({"w/.git": None, "w/docs/agents.txt": "X", "w/AGENTS.md": Path("docs/agents.txt")}).prompt(layout)
    assert "X" in prompt.text.split("\n")
    assert ("/w/AGENTS.md", "used") in tree.fates(prompt)
    assert tree.findings(prompt) == []


def test_a_link_outside_the_workspace_may_point_anywhere(tree, layout):
    prompt = tree(
        {"w/.git": None, "dotfiles/agents.txt": "X", FARTHER[layout]: Path(tree.path("dotfiles/agents.txt"))}
    ).prompt(layout)
    assert "X" in prompt.text.split("\n")
    assert tree.findings(prompt) == []


@pytest.mark.parametrize("second", ["@AGENTS.md", "AGENTS.md\n", "@./AGENTS.md\n\n", Path("AGENTS.md"), "Text.\n"])
def test_a_pointer_link_or_copy_next_to_the_file_is_not_repeated(tree, layout, second):
    tree({"w/.git": None, "w/AGENTS.md": "Text."})
    prompt_alone = tree.text(layout, base="BASE")
    prompt = tree({f"w/{FALLBACK[layout]}": second}).prompt(layout, base="BASE")
    assert tree.short(prompt.text) == prompt_alone
    assert tree.findings(prompt) == [("file-duplicate", f"/w/{FALLBACK[layout]}")]


@pytest.mark.parametrize("content", ["@README.md", "README.md", "@docs.md\n"])
def test_a_file_that_points_to_a_non_candidate_is_text(tree, layout, content):
    """Otherwise the file it points at would not be in the prompt at all."""
    tree({"w/.git": None, "w/README.md": "For people.", "w/docs.md": "For people."})
    surrounding_text = text_with_content(tree, layout, "MARKER")
    assert text_with_content(tree, layout, content) == surrounding_text.replace("MARKER", content.rstrip())


def test_a_working_directory_reached_through_a_link_keeps_the_links_name(tree, layout):
    tree({"w/.git": None, "w/AGENTS.md": "X", "link": Path("w")})
    prompt = tree.prompt(layout, "link")
    assert ("/link/AGENTS.md", "used") in tree.fates(prompt)
    assert "/w/AGENTS.md" not in tree.short(prompt.text)
    paths = {
        piece.origin.path for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "file"
    }
    assert {tree.short(path) for path in paths} == {"/link/AGENTS.md"}


# Paths


def test_paths_are_absolute_in_any_working_directory(tree, layout, monkeypatch):
    tree({"w/AGENTS.md": "X", "w/a/x": ""})
    now = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)
    expected = tree.prompt(layout, base="BASE", now=now)
    for working_directory, cwd in (("w", "."), ("w", ""), ("home", "../w"), ("w/a", ".."), ("w", "./a/..")):
        monkeypatch.chdir(tree.path(working_directory))
        workspace = Workspace(cwd or ".", home=tree.path("home"), platform="linux", environment={})
        assert assemble(workspace, Agent(base="BASE"), layout, now=now) == expected


def test_bytes_in_a_path_that_are_not_utf8_are_escaped(tree, layout):
    folder = os.fsdecode(b"w/caf\xe9")
    tree({f"{folder}/.git": None, f"{folder}/AGENTS.md": "X", f"{folder}/{FALLBACK[layout]}": b"\x00"})
    prompt = tree.prompt(layout, folder)
    text = json.dumps(form(prompt), ensure_ascii=False)
    assert text.encode() and "caf\\\\xe9" in text
    assert ("/w/caf\\xe9/AGENTS.md", "used") in tree.fates(prompt)
    assert tree.findings(prompt) == [("file-binary", f"/w/caf\\xe9/{FALLBACK[layout]}")]


# Tags


OWN_TAGS = {
    "foreword": ["identity", "instructions", "instruction-file", "skills", "tool-guidance", "boundaries", "environment", "plan"],
    "ion": [],
    "opal": ["identity", "project-context", "skills", "environment", "tool-guidelines", "planning"],
    "pi": ["available_skills"],
}  # fmt: skip
SPELLINGS = [
    "</{}>",
    "<{}>",
    "</{} >",
    "</ {}>",
    "< / {} >",
    "< /{}\n>",
    "<{} x='y'>",
    "<{}/>",
    '</{} a="b">',
    "text</{}>text",
    "```\n</{}>\n```",
    "</{}",
]


def tags_in(text, names):
    """Every real tag of these names, in any case and with inner spaces."""
    return re.findall(rf"<\s*/?\s*(?:{'|'.join(names)})(?![\w.:-])", text, re.IGNORECASE) if names else []


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_content_can_neither_close_nor_open_a_section(tree, skill, layout, spelling, case):
    tree({"w/.agents/skills/a/SKILL.md": skill("a")})
    options = {"tools": "read read_file bash", "session": "s", "plan": "P"}
    harmless = text_with_content(tree, layout, "good", **options)
    hostile = "\n".join(spelling.format(case(name)) for name in OWN_TAGS[layout]) or "nothing"
    text = text_with_content(tree, layout, hostile, **options)
    assert tags_in(text, OWN_TAGS[layout]) == tags_in(harmless, OWN_TAGS[layout])
    assert text.replace("\\", "").count(case("skills")) >= hostile.count(case("skills"))


@pytest.mark.parametrize(
    "content",
    [
        "Vec<T>, Map<K, V> and a->b <- c",
        "<div class='x'>text</div>",
        "</project> <project> </section>",
        "1 < 2 && 3 > 2 << 4",
        "<!-- a comment -->",
        "<identity-provider> </skillset> <planner> <environments>",
        "<plan.md> <skills.toml> </identity.md> <environment:x>",
        "<https://example.org/skills> `<br>`",
        "<\\skills> &lt;/skills&gt; identity> /plan>",
        "<project_context> <available-skills> <instruction_file>",
    ],
)
def test_other_angle_brackets_are_unchanged(tree, layout, content):
    surrounding_text = text_with_content(tree, layout, "MARKER")
    assert text_with_content(tree, layout, content) == surrounding_text.replace("MARKER", content)


# Absent content


@pytest.mark.parametrize("tools", ["", "read", "bash", "x"])
@pytest.mark.parametrize(
    "files",
    [
        {},
        {"w/AGENTS.md": ""},
        {"w/AGENTS.md": "\n\n", "w/CLAUDE.md": " ", "w/OPAL.md": "\n", "w/AGENTS.local.md": "\n"},
        {"w/.agents/skills": None, "w/.sf/skills/a": None, "home/.config/agents/rules": None},
        {"w/.agents/skills/a/SKILL.md": "", "w/.sf/SYSTEM.md": "", "w/.sf/APPEND_SYSTEM.md": "\n"},
        {"w/.agents/skills/a/SKILL.md": "---\nname: a\ndescription: ''\n---\n"},
        {"w/AGENTS.md": "\n\nX\n\n"},
    ],
)
def test_absent_content_leaves_no_trace(tree, layout, files, tools):
    text = tree(files).text(layout, tools=tools)
    assert "\n\n\n" not in text
    assert text == text.strip()
    assert re.findall(r"<([\w-]+)[^<>]*>\s*</\1>", text) == []
    assert re.findall(r"(?m)^#+ .*\n\n(?=#|\Z|---)", text) == []


# The origin of every character


def form(prompt):
    return prompt_form(prompt, count(prompt.text), [count(passage.text) for passage in prompt.passages])


def test_passages_are_in_order_and_cover_all_but_separators(tree, skill, layout):
    write_full_workspace(tree, skill)
    saved = form(full_prompt(tree, layout))
    text, position, between = saved["text"], 0, []
    for passage in saved["passages"]:
        assert passage["start"] >= position and passage["end"] > passage["start"]
        between.append(text[position : passage["start"]])
        position = passage["end"]
    assert position == len(text)
    assert between[0] == "" and set(between[1:]) <= {"\n\n", "\n", "\n\n---\n\n"}


def test_origins_cover_their_passage_without_a_gap(tree, skill, layout):
    write_full_workspace(tree, skill)
    for passage in form(full_prompt(tree, layout))["passages"]:
        spans = [(origin["start"], origin["end"]) for origin in passage["origins"]]
        edges = [passage["start"], *(end for _, end in spans)]
        assert [start for start, _ in spans] == edges[:-1]
        assert edges[-1] == passage["end"] and all(start < end for start, end in spans)


def test_every_file_origin_matches_those_lines_of_the_file(tree, skill, layout):
    write_full_workspace(tree, skill)
    saved = form(full_prompt(tree, layout))
    origins = [origin for passage in saved["passages"] for origin in passage["origins"] if origin["kind"] == "file"]
    assert len({origin["path"] for origin in origins}) >= 2
    for origin in origins:
        first, last = origin["lines"]
        content = Path(origin["path"]).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        lines = content.split("\n")[first - 1 : last]
        span = saved["text"][origin["start"] : origin["end"]]
        assert span in "\n".join(lines)
        assert span.count("\n") == last - first


def test_all_text_of_a_file_has_the_file_as_origin(tree, skill, layout):
    """The joined spans of a file are its text: nothing is missing and nothing is repeated."""
    write_full_workspace(tree, skill)
    saved = form(full_prompt(tree, layout))
    spans = {}
    for passage in saved["passages"]:
        for origin in passage["origins"]:
            if origin["kind"] == "file":
                spans[origin["path"]] = spans.get(origin["path"], "") + saved["text"][origin["start"] : origin["end"]]
    for path, text in spans.items():
        content = Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        expected = content.split("---\n", 2)[2] if path.endswith("SKILL.md") else content
        assert text.strip("\n") == expected.strip("\n")


@pytest.mark.parametrize("content", ["RULES\n", "\n\nRULES"])
@pytest.mark.parametrize("copy", ["w/AGENTS.md", "copy.md", "link.md"])
@pytest.mark.parametrize("key", ["base", "plan"])
def test_text_from_the_caller_is_not_repeated(tree, layout, content, copy, key):
    tree({"w/.git": None, "w/AGENTS.md": content, "copy.md": "RULES", "link.md": Path("w/AGENTS.md")})
    document = Document(tree.path(copy), Path(tree.path(copy)).read_text())
    prompt = tree.prompt(layout, **{key: document})
    is_unused = any(code == "argument-unused" for code, _ in tree.findings(prompt))
    assert prompt.text.count("RULES") == 1
    if not is_unused:
        assert ("/w/AGENTS.md", "duplicate") in tree.fates(prompt)
        assert ("file-duplicate", "/w/AGENTS.md") in tree.findings(prompt)


def test_a_candidate_is_used_only_if_its_text_is_in_the_prompt(tree, skill, layout):
    write_full_workspace(tree, skill)
    prompt = full_prompt(tree, layout)
    origins = {piece.origin.path for passage in prompt.passages for piece in passage.pieces}
    for candidate in prompt.candidates:
        assert (candidate.path in origins) == (candidate.fate in ("used", "cut")), candidate
