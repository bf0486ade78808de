"""What holds for every layout at work: facts about bytes, files and tags that no layout may get wrong."""

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
# A file of each layout that is farther than the project's own.
FARTHER = {
    "foreword": "home/.agents/AGENTS.md",
    "ion": "home/.ion/AGENTS.md",
    "opal": "AGENTS.md",
    "pi": "home/.sf/agent/AGENTS.md",
}
# The name that is tried when AGENTS.md gives nothing; opal takes both.
SECOND = {"foreword": "CLAUDE.md", "ion": "CLAUDE.md", "opal": "OPAL.md", "pi": "CLAUDE.md"}

pytestmark = pytest.mark.parametrize("layout", LAYOUTS)


def with_content(tree, layout, content, **options):
    """The prompt's text with such an AGENTS.md."""
    return tree({"w/AGENTS.md": content}).text(layout, base="BASE", **options)


def rich(tree, skill):
    """A workspace with something for every section of every layout."""
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
    for place in (".agents", ".sf", ".ion"):
        tree(
            {
                f"w/a/{place}/skills/s{place[1:]}/SKILL.md": skill(
                    f"s{place[1:]}", "Does <it> & more.", body="\n\nOne.\n\nTwo."
                )
            }
        )


def rich_prompt(tree, layout):
    tools = [Tool("read", guidelines=["Read it."]), Tool("bash", snippet="Run\n it"), Tool("read_file")]
    agent = {"skill": "sagents"} if layout == "ion" else {}
    return tree.prompt(layout, "w/a", tools=tools, session="s1", plan="Plan.\nTwo.", docs=[("Doc", "/d")], **agent)


# Same arguments, same bytes


def test_the_same_again(tree, skill, layout):
    rich(tree, skill)
    assert rich_prompt(tree, layout) == rich_prompt(tree, layout)


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
    around = with_content(tree, layout, "MARKER")
    assert with_content(tree, layout, content) == around.replace("MARKER", text)


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
def test_content_is_never_run_through_a_template(tree, layout, content):
    around = with_content(tree, layout, "MARKER")
    assert with_content(tree, layout, content) == around.replace("MARKER", content)


# Files that cannot be read


UNREADABLE = {
    "a directory": (None, "file-unreadable", "directory"),
    "a named pipe": (os.mkfifo, "file-unreadable", "pipe"),
    "NUL bytes": (b"text\x00", "file-binary", "NUL"),
    "UTF-16": ("text".encode("utf-16"), "file-not-utf8", "UTF-16"),
    "UTF-16 without a mark": ("text".encode("utf-16-le"), "file-binary", "NUL"),
    "Latin-1": (b"caf\xe9 au lait", "file-not-utf8", "offset 3"),
    "a link to nothing": (Path("nowhere"), "file-unreadable", "link"),
    "a link to itself": (Path("AGENTS.md"), "file-unreadable", "circle"),
    "a link to a directory": (Path("."), "file-unreadable", "directory"),
    "a device": (Path("/dev/null"), "link-refused", "link"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_a_finding_and_the_others_load(tree, layout, kind):
    content, code, word = UNREADABLE[kind]
    tree({FARTHER[layout]: "Farther.", f"w/{SECOND[layout]}": "Second."})
    without = tree.prompt(layout, base="BASE")
    prompt = tree({"w/.git": None, "w/AGENTS.md": content}).prompt(layout, base="BASE")
    assert prompt.text == without.text
    assert [
        (finding.code, tree.short(finding.path)) for finding in prompt.findings if word in finding.message
    ] == [(code, "/w/AGENTS.md")]  # fmt: skip
    assert [path for path, fate in tree.fates(prompt) if fate == "used"] == [
        f"/{FARTHER[layout]}",
        f"/w/{SECOND[layout]}",
    ]


@pytest.mark.parametrize("blank", ["", "\n", " \t\n\n", "\ufeff", "\ufeff\r\n"])
def test_a_blank_file_counts_as_absent(tree, layout, blank):
    tree({f"w/{SECOND[layout]}": "Second."})
    without = tree.text(layout, base="BASE")
    prompt = tree({"w/AGENTS.md": blank}).prompt(layout, base="BASE")
    assert tree.short(prompt.text) == without
    assert ("/w/AGENTS.md", "blank") in tree.fates(prompt)


# Links


def test_a_link_is_followed_and_keeps_its_own_path(tree, layout):
    prompt = tree({"w/.git": None, "w/docs/agents.txt": "X", "w/AGENTS.md": Path("docs/agents.txt")}).prompt(layout)
    assert "X" in prompt.text.split("\n")
    assert ("/w/AGENTS.md", "used") in tree.fates(prompt)
    assert tree.findings(prompt) == []


def test_a_link_outside_the_workspace_may_lead_anywhere(tree, layout):
    prompt = tree(
        {"w/.git": None, "dotfiles/agents.txt": "X", FARTHER[layout]: Path(tree.path("dotfiles/agents.txt"))}
    ).prompt(layout)
    assert "X" in prompt.text.split("\n")
    assert tree.findings(prompt) == []


@pytest.mark.parametrize("second", ["@AGENTS.md", "AGENTS.md\n", "@./AGENTS.md\n\n", Path("AGENTS.md"), "Text.\n"])
def test_a_pointer_link_or_copy_beside_the_file_is_no_second_text(tree, layout, second):
    tree({"w/.git": None, "w/AGENTS.md": "Text."})
    alone = tree.text(layout, base="BASE")
    prompt = tree({f"w/{SECOND[layout]}": second}).prompt(layout, base="BASE")
    assert tree.short(prompt.text) == alone
    assert tree.findings(prompt) == [("file-duplicate", f"/w/{SECOND[layout]}")]


@pytest.mark.parametrize("content", ["@README.md", "README.md", "@docs.md\n"])
def test_a_file_that_points_at_no_candidate_is_text(tree, layout, content):
    """Nothing else brings what it points at into the prompt."""
    tree({"w/.git": None, "w/README.md": "For people.", "w/docs.md": "For people."})
    around = with_content(tree, layout, "MARKER")
    assert with_content(tree, layout, content) == around.replace("MARKER", content.rstrip())


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


def test_paths_are_absolute_wherever_the_caller_stands(tree, layout, monkeypatch):
    tree({"w/AGENTS.md": "X", "w/a/x": ""})
    now = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)
    whole = tree.prompt(layout, base="BASE", now=now)
    for here, cwd in (("w", "."), ("w", ""), ("home", "../w"), ("w/a", ".."), ("w", "./a/..")):
        monkeypatch.chdir(tree.path(here))
        workspace = Workspace(cwd or ".", home=tree.path("home"), platform="linux", environment={})
        assert assemble(workspace, Agent(base="BASE"), layout, now=now) == whole


def test_bytes_that_are_no_text_in_a_path_are_printed_as_numbers(tree, layout):
    folder = os.fsdecode(b"w/caf\xe9")
    tree({f"{folder}/.git": None, f"{folder}/AGENTS.md": "X", f"{folder}/{SECOND[layout]}": b"\x00"})
    prompt = tree.prompt(layout, folder)
    text = json.dumps(form(prompt), ensure_ascii=False)
    assert text.encode() and "caf\\\\xe9" in text
    assert ("/w/caf\\xe9/AGENTS.md", "used") in tree.fates(prompt)
    assert tree.findings(prompt) == [("file-binary", f"/w/caf\\xe9/{SECOND[layout]}")]


# Tags


OWN = {
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
    good = with_content(tree, layout, "good", **options)
    hostile = "\n".join(spelling.format(case(name)) for name in OWN[layout]) or "nothing"
    text = with_content(tree, layout, hostile, **options)
    assert tags_in(text, OWN[layout]) == tags_in(good, OWN[layout])
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
def test_no_other_angle_bracket_is_touched(tree, layout, content):
    around = with_content(tree, layout, "MARKER")
    assert with_content(tree, layout, content) == around.replace("MARKER", content)


# Nothing is left behind


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
def test_what_is_absent_leaves_nothing_behind(tree, layout, files, tools):
    text = tree(files).text(layout, tools=tools)
    assert "\n\n\n" not in text
    assert text == text.strip()
    assert re.findall(r"<([\w-]+)[^<>]*>\s*</\1>", text) == []
    assert re.findall(r"(?m)^#+ .*\n\n(?=#|\Z|---)", text) == []


# The account of every character


def form(prompt):
    return prompt_form(prompt, count(prompt.text), [count(passage.text) for passage in prompt.passages])


def test_passages_are_in_order_and_cover_all_but_separators(tree, skill, layout):
    rich(tree, skill)
    given = form(rich_prompt(tree, layout))
    text, position, between = given["text"], 0, []
    for passage in given["passages"]:
        assert passage["start"] >= position and passage["end"] > passage["start"]
        between.append(text[position : passage["start"]])
        position = passage["end"]
    assert position == len(text)
    assert between[0] == "" and set(between[1:]) <= {"\n\n", "\n", "\n\n---\n\n"}


def test_origins_cover_their_passage_without_a_gap(tree, skill, layout):
    rich(tree, skill)
    for passage in form(rich_prompt(tree, layout))["passages"]:
        spans = [(origin["start"], origin["end"]) for origin in passage["origins"]]
        edges = [passage["start"], *(end for _, end in spans)]
        assert [start for start, _ in spans] == edges[:-1]
        assert edges[-1] == passage["end"] and all(start < end for start, end in spans)


def test_every_file_origin_stands_in_that_file_at_those_lines(tree, skill, layout):
    rich(tree, skill)
    given = form(rich_prompt(tree, layout))
    origins = [origin for passage in given["passages"] for origin in passage["origins"] if origin["kind"] == "file"]
    assert len({origin["path"] for origin in origins}) >= 2
    for origin in origins:
        first, last = origin["lines"]
        content = Path(origin["path"]).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        lines = content.split("\n")[first - 1 : last]
        span = given["text"][origin["start"] : origin["end"]]
        assert span in "\n".join(lines)
        assert span.count("\n") == last - first


def test_all_that_came_from_a_file_is_said_to(tree, skill, layout):
    """The spans of a file, put together, are its text: nothing is missing and nothing is in it twice."""
    rich(tree, skill)
    given = form(rich_prompt(tree, layout))
    spans = {}
    for passage in given["passages"]:
        for origin in passage["origins"]:
            if origin["kind"] == "file":
                spans[origin["path"]] = spans.get(origin["path"], "") + given["text"][origin["start"] : origin["end"]]
    for path, text in spans.items():
        content = Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        whole = content.split("---\n", 2)[2] if path.endswith("SKILL.md") else content
        assert text.strip("\n") == whole.strip("\n")


@pytest.mark.parametrize("content", ["RULES\n", "\n\nRULES"])
@pytest.mark.parametrize("copy", ["w/AGENTS.md", "copy.md", "link.md"])
@pytest.mark.parametrize("given", ["base", "plan"])
def test_what_the_caller_gave_does_not_enter_twice(tree, layout, given, copy, content):
    tree({"w/.git": None, "w/AGENTS.md": content, "copy.md": "RULES", "link.md": Path("w/AGENTS.md")})
    document = Document(tree.path(copy), Path(tree.path(copy)).read_text())
    prompt = tree.prompt(layout, **{given: document})
    has_no_place = any(code == "agent-unused" for code, _ in tree.findings(prompt))
    assert prompt.text.count("RULES") == 1
    if not has_no_place:
        assert ("/w/AGENTS.md", "duplicate") in tree.fates(prompt)
        assert ("file-duplicate", "/w/AGENTS.md") in tree.findings(prompt)


def test_used_candidates_are_those_whose_text_is_in_the_prompt(tree, skill, layout):
    rich(tree, skill)
    prompt = rich_prompt(tree, layout)
    origins = {piece.origin.path for passage in prompt.passages for piece in passage.pieces}
    for candidate in prompt.candidates:
        assert (candidate.path in origins) == (candidate.fate in ("used", "cut")), candidate
