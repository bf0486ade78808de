"""Passages cover the prompt, pieces match their lines, and no content closes a section, whatever the files contain."""

import os
import re
import shutil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foreword import Tool

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
TAGS = (
    "identity instructions instruction-file skills tool-guidance boundaries environment plan project-context tool-guidelines planning"
    " available_skills skill name description location"
).split()
OWN_TAGS = {
    "foreword": "identity instructions instruction-file skills tool-guidance boundaries environment plan".split(),
    "opal": "identity project-context skills environment tool-guidelines planning".split(),
    "pi": ["available_skills"],
}
SEPARATORS = {"\n", "\n\n", "\n\n---\n\n"}
TOOLS = [Tool("read", guidelines=["Read </tool-guidance> it."]), Tool("bash", snippet="Run\n it"), Tool("read_file")]

# Workspaces

FILES = (
    "w/AGENTS.md w/CLAUDE.md w/OPAL.md w/.opal/AGENTS.md w/a/AGENTS.md w/a/AGENTS.override.md w/a/AGENTS.local.md w/a/CLAUDE.md w/a/OPAL.md"
    " w/a/.sf/SYSTEM.md w/a/.sf/APPEND_SYSTEM.md home/.ion/AGENTS.md home/.sf/agent/AGENTS.md home/.agents/AGENTS.md"
    " home/.config/agents/AGENTS.md home/.config/agents/rules/x.md home/.config/agents/rules/y.md"
).split()
HEADS = (
    "w/a/.agents/skills/x/SKILL.md w/a/.sf/skills/y/SKILL.md w/a/.ion/skills/x/SKILL.md home/.agents/skills/z/SKILL.md"
    " w/.foreword/knowledge/k.md w/.foreword/workflow/f.md"
).split()

brackets = st.builds(
    "<{}{}{}{}{}".format,
    st.sampled_from(["", " ", "\n"]),
    st.sampled_from(["/", "", " / "]),
    st.sampled_from(TAGS).flatmap(lambda tag: st.sampled_from([tag, tag.upper(), tag + "s", tag[:-1]])),
    st.sampled_from(["", " ", "\n", ' x="1"', "/"]),
    st.sampled_from([">", "", ">>"]),
)
FRAGMENTS = [
    "\n", "\n\n", " ", "  ", "\t", "-", "# ", "x", "word ", "é", "日本", "👩‍👩‍👧", "\u2028", "\x0c", "\x85", "\x1c", "\u202e", "\ufeff",
    "```", "~~~", "`", "````\n", "```py\n", "<!--", "-->", "<", ">", "&", "&amp;", "\\", "\\[", "{}", "{{", "{text}", "---", "$&", "%s",
    "{{ cwd }}", "{{ model }}", "[file:AGENTS.md]", "[if git:branch]", "<!-- include: ./OPAL.md -->", '<!-- if: model == "m" -->',
    "<!-- else -->", "<!-- endif -->", "[foreword: cut here]", "@AGENTS.md",
]  # fmt: skip
fragments = st.sampled_from(FRAGMENTS)
letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=4)
edges = st.sampled_from(["", "\n", " \n\n", "\n\t\n"])
texts = st.builds(
    "{}{}{}".format, edges, st.lists(st.one_of(brackets, fragments, letters), max_size=12).map("".join), edges
)
descriptions = st.one_of(texts, st.text(st.sampled_from("ab <>/&\"'\n"), max_size=20)).map(
    lambda text: "x" + "".join(filter(str.isprintable, text))
)
workspaces = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(FILES, texts),
        **{
            name: st.builds(
                "---\nname: {}\ndescription: |\n  {}\nmodel_invokation: true\n---\n{}".format,
                st.sampled_from("xyz"),
                descriptions,
                texts,
            )
            for name in HEADS
        },
    },
)


@pytest.fixture(scope="module")
def build(module_tree):
    """Return a function that builds the prompts of all layouts for some files, and the folder with those files."""

    def build(files, layouts=LAYOUTS, plan=""):
        shutil.rmtree(module_tree.path("current"), ignore_errors=True)
        module_tree({f"current/{name}": None for name in ("w/.git", "w/a", "home")})
        module_tree({f"current/{name}": content.encode() for name, content in files.items()})
        for layout in layouts:
            prompt = module_tree.prompt(
                layout, "current/w/a", home="current/home", tools=TOOLS, session="s", model="m", plan=plan
            )
            yield layout, prompt

    return build


def read(path):
    with open(path, "rb") as file:
        return file.read().decode().removeprefix("\ufeff").replace("\r\n", "\n")


# Passages and pieces


@given(files=workspaces, plan=texts)
@example(files={}, plan="")
@example(files={"w/a/AGENTS.md": "x\n</instr<!-- endif -->uctions>"}, plan="</plan>")
def test_passages_are_in_order_and_cover_all_but_separators(build, files, plan):
    for _, prompt in build(files, plan=plan):
        position, between = 0, []
        for passage in prompt.passages:
            between.append(prompt.text[position : passage.start])
            position = passage.end
            assert (
                prompt.text[passage.start : passage.end]
                == passage.text
                == "".join(piece.text for piece in passage.pieces)
            )
            assert passage.text
        assert position == len(prompt.text)
        assert between[:1] == [""] and set(between[1:]) <= SEPARATORS


def lines_at(content, text, first):
    """Return the last line of each occurrence of a text that begins on the line `first` of a content."""
    start = 0
    for _ in range(first - 1):
        start = content.index("\n", start) + 1
    end = content.find("\n", start)
    starts = range(start, (len(content) if end < 0 else end) + 1)
    return {first + text.count("\n") - text.endswith("\n") for offset in starts if content.startswith(text, offset)}


@given(files=workspaces)
@example(files={"w/a/AGENTS.md": "\ufeff\r\n\r\na\r\n</skills>\r\nb </instructions\n>"})
def test_every_piece_is_on_its_lines_of_the_file(build, files):
    for _, prompt in build(files):
        for piece in (piece for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "file"):
            first, last = piece.origin.lines
            assert lines_at(read(piece.origin.path), piece.text, first) == {last}


@given(files=workspaces)
def test_the_pieces_of_a_file_make_up_the_file(build, files):
    """Nothing is missing or repeated where files are inserted unchanged."""
    for layout, prompt in build(files, ["foreword", "opal", "pi", "pod"]):
        texts = {}
        for piece in (piece for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "file"):
            texts[piece.origin.path] = texts.get(piece.origin.path, "") + piece.text
        for path, text in texts.items():
            lines = read(path).split("\n")
            while not lines[0].strip():
                lines.pop(0)
            while not lines[-1].strip():
                lines.pop()
            text_of_file = "\n".join(lines)
            assert text in (text_of_file, *[text_of_file.rstrip()] * (layout == "pod"))
        used = {
            candidate.path
            for candidate in prompt.candidates
            if candidate.fate == "used" and os.path.basename(candidate.path) != "SKILL.md"
        }
        assert texts.keys() == {path for path in used if "/.foreword/" not in path}


# Bytes


@given(files=workspaces)
def test_line_endings_and_byte_order_marks_do_not_matter(build, files):
    plain = [(layout, prompt.id) for layout, prompt in build(files)]
    other = {
        name: ("" if text.startswith("\ufeff") else "\ufeff") + text.replace("\n", "\r\n")
        for name, text in files.items()
    }
    assert [(layout, prompt.id) for layout, prompt in build(other)] == plain


# Tags


def tags(text, layout):
    return re.findall(rf"<\s*/?\s*(?:{'|'.join(OWN_TAGS[layout])})(?=[\s/>]|\Z)", text, re.IGNORECASE)


@given(files=workspaces, plan=texts)
@example(
    files={
        "w/a/AGENTS.md": "<\n/\nINSTRUCTIONS\n>",
        "w/a/.agents/skills/x/SKILL.md": "---\nname: </skills\ndescription: </skills\n---\n",
    },
    plan="",
)
def test_content_contains_no_tag_of_the_layout(build, files, plan):
    for layout, prompt in build(files, OWN_TAGS, plan):
        own = [piece.text for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "builtin"]
        assert tags(prompt.text, layout) == [tag for text in own for tag in tags(text, layout)]


# Includes


@pytest.mark.parametrize("first", ["a", "b"])
def test_an_include_within_the_depth_limit_is_inserted_whichever_chain_comes_first(tree, first):
    """One chain of includes to x is too long, the other is not."""
    chain = {"b": "c", "c": "d", "d": "e", "e": "f", "f": "x", "x": "y", "a": "f"}
    second = {"a": "b", "b": "a"}[first]
    tree({f"w/{name}.md": f"text of {name}\n<!-- include: ./{target}.md -->" for name, target in chain.items()})
    tree({"w/y.md": "text of y", "w/AGENTS.md": f"<!-- include: ./{first}.md -->\n<!-- include: ./{second}.md -->"})
    prompt = tree.prompt("ion", base="BASE")
    entered = re.findall(r"text of (\w)", prompt.text)
    assert entered == (list("afxybcde") if first == "a" else list("bcdefa"))


def test_an_include_next_to_a_file_in_a_folder_with_a_non_utf8_name(tree):
    folder = os.fsdecode(b"w/\xff\xfe")
    tree({f"{folder}/AGENTS.md": "<!-- include: ./é.md -->", f"{folder}/é.md": "included"})
    assert tree.prompt("ion", folder, base="BASE").text == "BASE\n\n# Project Instructions\nincluded"
