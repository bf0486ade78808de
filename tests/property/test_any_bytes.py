"""Arbitrary bytes in any file raise at most a one-line error in the caller's own files: no other exception, no hang."""

import faulthandler
import json
import os
import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foreword import Agent, Assembler, ForewordError, Tool, Workspace, assemble
from foreword.encoding.prompt import prompt_form
from foreword.layout.keys import EVENTS, FACTS, KEYS, LISTS
from foreword.layout.lookup_keys import PLACES
from foreword.text.tokens import Count

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
TOOLS = [Tool("read"), Tool("bash")]


@pytest.fixture(scope="module", autouse=True)
def hang_alarm():
    """Fail a hanging test with a traceback, after a delay that no slow machine reaches."""
    faulthandler.dump_traceback_later(1_200, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def write_workspace(module_tree):
    """Return a function that writes files to an otherwise empty workspace and home directory, and returns the workspace."""
    top = module_tree.path("current")

    def write_workspace(files, is_repository=False):
        shutil.rmtree(top, ignore_errors=True)
        for folder in ("w/a", "home"):
            os.makedirs(os.path.join(top, folder))
        if is_repository:
            subprocess.run(["git", "init", "-q", os.path.join(top, "w")], check=True)
        for name, content in files.items():
            path = os.path.join(os.fsencode(top), os.fsencode(name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        return Workspace(os.path.join(top, "w/a"), home=os.path.join(top, "home"), platform="linux", environment={})

    return write_workspace


def check(prompt):
    """Check that a prompt can be sent, printed and saved."""
    assert prompt.text.encode().decode() == prompt.text
    assert all(piece.text.encode() for passage in prompt.passages for piece in passage.pieces)
    count = Count(0, "none", False, 0.0)
    form = prompt_form(prompt, count, [count] * len(prompt.passages))
    assert json.loads(json.dumps(form)) == json.loads(json.dumps(form, ensure_ascii=False).encode())


def build_prompt(workspace, layout, **agent):
    check(assemble(workspace, Agent(tools=TOOLS, **agent), layout))


# Instruction files, skills and residents

FRAGMENTS = [
    b"---\n", b"---", b"name: x\n", b"name: ", b"description: ", b"description: |\n  ", b": ", b"\n", b"\r\n", b"\r", b" ", b"\t", b"&a ", b"*a",
    b"[", b"]", b"{", b"}", b"!!x ", b"%YAML 9\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0", b"\xc3", b"\xa9", b"\xe2\x80\xa8", b"\xf0\x9f",
    b"model_invokation: true\n", b"disable-model-invocation: yes\n", b"globs: x\n", b"```", b"<!--", b"-->", b"</skills>", b"<instructions ",
    b"<!-- include: ./AGENTS.md -->", b"<!-- include: ../../../../../../etc/passwd -->", b"<!-- include: \xc3\xa9 -->", b"<!-- include: ./. -->",
    b'<!-- if: model == "m" -->', b"<!-- else -->", b"<!-- endif -->", b"<!-- if: (((( -->", b"{{ cwd }}", b"{{", b"AGENTS.md", b"@CLAUDE.md",
    b"gitdir: ", b"gitdir: ..\n", b"ref: refs/heads/", b"[core]\n", b"bare = true\n", b"repositoryformatversion = 9\n", b"x" * 300, b"../" * 40,
]  # fmt: skip
fragments = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=3)), max_size=14).map(b"".join)
any_bytes = st.one_of(st.binary(max_size=60), fragments)
CONTENT = (
    "w/AGENTS.md w/CLAUDE.md w/a/AGENTS.override.md w/a/AGENTS.md w/a/AGENTS.local.md w/a/OPAL.md w/a/.sf/SYSTEM.md w/a/.sf/APPEND_SYSTEM.md"
    " home/.ion/AGENTS.md home/.config/agents/AGENTS.md home/.config/agents/rules/r.md home/.sf/agent/AGENTS.md w/a/.agents/skills/x/SKILL.md"
    " w/a/.agents/skills/x/y/SKILL.md w/a/.sf/skills/z/SKILL.md home/.agents/skills/x/SKILL.md w/a/.foreword/knowledge/k.md"
    " w/a/.foreword/workflow/f.md"
).split()


@given(files=st.fixed_dictionaries({}, optional=dict.fromkeys(CONTENT, any_bytes)))
def test_any_content_gives_a_prompt(write_workspace, files):
    workspace = write_workspace(files)
    for layout in LAYOUTS:
        build_prompt(workspace, layout, model="m")


@given(content=any_bytes)
def test_any_active_skill_gives_a_prompt_or_an_error(write_workspace, content):
    workspace = write_workspace({"w/a/.agents/skills/x/SKILL.md": b"---\nname: x\ndescription: D.\n---\n" + content})
    for layout in ("ion", "foreword", "opal", "pi"):
        try:
            build_prompt(workspace, layout, skill="x")
            assert Assembler(workspace, layout).skill_message("x").encode()
        except ForewordError as error:
            assert str(error).encode()


TAGS = ["[file:", "]", "[if ", "x", "\0", "\ud800", "/", "..", "[git:branch]", "é" * 200]


@given(text=st.one_of(st.text(), st.lists(st.sampled_from(TAGS)).map("".join)))
@example("[file:a\0b]")
@example("[file:\ud800]")
def test_any_text_from_the_caller_gives_a_prompt(write_workspace, text):
    workspace = write_workspace({"w/a/AGENTS.md": b"x"})
    options = dict.fromkeys("base plan".split(), text)
    options |= dict.fromkeys("session language model provider".split(), text.encode("utf-8", "replace").decode())
    for layout in ("foreword", "ion", "opal", "pi", "builder"):
        build_prompt(workspace, layout, docs=[(text, text)], **options)


# Names

unusual_names = st.one_of(
    st.binary(min_size=1, max_size=20),
    st.text(min_size=1, max_size=20).map(lambda text: text.encode("utf-8", "replace")),
)
unusual_names = unusual_names.map(lambda name: name.translate(None, b"\0/")).filter(lambda name: name.strip(b"."))


@given(names=st.lists(unusual_names, min_size=1, max_size=4, unique=True), content=any_bytes)
def test_any_file_names_give_a_prompt(write_workspace, names, content):
    front_matter = b"---\nname: x\ndescription: D.\nmodel_invokation: true\n---\n"
    files = {"w/.git/HEAD": b"ref: refs/heads/x"}
    for name in names:
        for folder in (b"w/a/.agents/skills", b"w/a/.sf/skills", b"w/" + name + b"/.agents/skills"):
            files[folder + b"/" + name + b"/SKILL.md"] = front_matter + content
        for folder in (b"home/.config/agents/rules", b"w/.foreword/knowledge", b"w/.foreword/workflow"):
            files[folder + b"/" + name + b".md"] = front_matter + content
        files[b"w/" + name + b"/AGENTS.md"] = b"<!-- include: ./part.md -->\n" + content
        files[b"w/" + name + b"/part.md"] = content
    workspace = write_workspace(files)
    subfolder = os.path.join(os.path.dirname(workspace.cwd), os.fsdecode(names[0]))
    for layout in LAYOUTS:
        build_prompt(workspace, layout)
        build_prompt(Workspace(subfolder, home=workspace.home, environment={}), layout)


# A repository

GIT = "w/.git/HEAD w/.git/config w/.git/commondir w/.git/config.worktree w/.git/index w/.git/refs/heads/x w/.gitattributes w/.gitignore".split()
TEMPLATE = "[git:branch] [if git:status]x[endif] [git:status]"


@settings(max_examples=25)
@given(
    files=st.one_of(
        st.fixed_dictionaries({"w/.git": any_bytes}),
        st.fixed_dictionaries({"w/a/.git": any_bytes, "w/.git/HEAD": any_bytes}),
        st.fixed_dictionaries({}, optional=dict.fromkeys(GIT, any_bytes)),
    ),
    is_repository=st.booleans(),
)
@example({"w/.git/config": b'[filter "x"]\nclean = cat\n[filter "\\"y"]\n'}, True)
def test_any_repository_gives_a_prompt(write_workspace, files, is_repository):
    workspace = write_workspace(files, is_repository=is_repository and "w/.git" not in files)
    build_prompt(workspace, "builder", base=TEMPLATE)
    build_prompt(workspace, "foreword")


# Settings, wording, layouts and templates

KEY_NAMES = sorted({word for key in KEYS for word in (key.name, key.table)})
KEY_NAMES += "identity skills context project body names dir for opal x wording".split()
SETTABLE_KEYS = [f"{key.table}.skills.{key.name}" for key in KEYS if key.table in ("find", "section")]
SETTABLE_KEYS += [key.name for key in KEYS if key.table == "layout"] + [f"on.{event}" for event in EVENTS]
SETTABLE_KEYS += "settings.names settings.dir settings.file_paths settings.file_secrets layout store wording.compaction guideline".split()
TEXTS = [
    *FACTS, *LISTS, "opal", "pi", "nothing", "$std/opal", "$workspace/x", "$user/x", "$x", "$std/../x", "./x.toml", "/etc/passwd", "{}", "{text}",
    "@x", "@names", "{names}", "{{", "}", "{path|xml}", "tool:x", "!tool:x|tools", "set:x", "cut", "shorten", "strict", "keep", "gather", "jinja",
    *(f"{place}:{path}" for place in PLACES for path in ("AGENTS.md", "**/x", "*", "../../*", "~/x", "/", "a\\u0000b", "{dir}/x", "{x}")),
]  # fmt: skip
NUMBERS = ["9" * 5_000, "0x" + "f" * 5_000, *"0 1 -1 9_999 1.5 nan inf true false 1979-05-27 [[[[]]]]".split()]

keys = st.lists(st.sampled_from(KEY_NAMES), min_size=1, max_size=3).map(".".join)
letters = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\'), max_size=6)
strings = st.one_of(st.sampled_from(TEXTS), letters).map('"{}"'.format)
values = st.recursive(
    st.one_of(strings, st.sampled_from(NUMBERS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(st.sampled_from(["text", "list", "say", "when", "from", "x"]), inner, max_size=2).map(
            lambda table: "{{ {} }}".format(", ".join(f"{key} = {content}" for key, content in table.items()))
        ),
    ),
    max_leaves=5,
)
rows = st.one_of(
    st.builds("{} = {}".format, st.one_of(st.sampled_from(SETTABLE_KEYS), keys), values),
    st.builds("[{}]".format, keys),
    st.just("[[guideline]]"),
    st.builds("say = {}".format, values),
)
toml_files = st.one_of(any_bytes, st.lists(rows, max_size=5).map("\n".join).map(str.encode))


@given(content=toml_files, layout=st.sampled_from(["", *LAYOUTS]))
@example(b"budget = " + b"9" * 5_000, "opal")
@example(b'layout = "nonsense"', "")
def test_workspace_settings_never_raise(write_workspace, content, layout):
    """A workspace is untrusted, so mistakes in its settings are findings."""
    build_prompt(write_workspace({"w/a/.foreword/foreword.toml": content}), layout)


@given(
    content=toml_files,
    name=st.sampled_from(
        ["home/.config/foreword/foreword.toml", "w/a/.foreword/prompts.toml", "home/.config/foreword/prompts.toml"]
    ),
)
@example(b"section = 3", "home/.config/foreword/foreword.toml")
def test_settings_and_wording_raise_only_our_own_errors(write_workspace, content, name):
    workspace = write_workspace({name: content})
    for layout in ("", "opal", "pod"):
        try:
            build_prompt(workspace, layout)
        except ForewordError as error:
            assert "\n" not in str(error) and str(error).encode()


@given(content=toml_files, base=st.sampled_from(["", "opal", "foreword", "pi", "ion", "pod", "builder"]))
@example(b"section = 3\nsections = []", "")
@example(b"guideline = 3\nsections = []", "")
@example(b'guideline = ["x"]\nsections = []', "")
@example(b"section = 3", "opal")
def test_a_layout_raises_only_our_own_errors(write_workspace, content, base):
    start = f'extends = "$std/{base}"\n'.encode() if base else b""
    workspace = write_workspace(
        {"w/a/x.toml": start + content, "w/a/.foreword/prompts/x.toml": start + content, "w/a/AGENTS.md": b"x"}
    )
    for layout in (os.path.join(workspace.cwd, "x.toml"), "$workspace/x"):
        try:
            build_prompt(workspace, layout)
        except ForewordError as error:
            assert str(error).encode()


PARTS = "{{ cwd }}|{{ x }}|{% if tools %}|{% endif %}|{% include 'y' %}|{% for x in tools %}|{% endfor %}|{{|%}|{#|é|\n".split(
    "|"
)
templates = st.one_of(
    any_bytes, st.lists(st.sampled_from(PARTS), max_size=8).map(lambda parts: "".join(parts).encode())
)


@given(body=templates, other=templates)
def test_a_template_raises_only_our_own_errors(write_workspace, body, other):
    workspace = write_workspace(
        {"home/.config/foreword/prompts/x.md": body, "home/.config/foreword/prompts/y.md": other}
    )
    for layout in ("pod", "builder"):
        try:
            check(assemble(workspace, Agent(tools=TOOLS), layout, assignments=[("body.text", "$user/x")]))
        except ForewordError as error:
            assert str(error).encode()
