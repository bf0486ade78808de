"""Layouts as data: values of keys, inheritance, who may set what, and that no code depends on a layout's name."""

import ast
import copy
import importlib
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

import foreword
from foreword import CallError
from foreword.errors import LayoutError
from foreword.layout.keys import KEYS
from foreword.layout.merging import merge
from foreword.layout.model import with_inner_sections
from foreword.layout.parse import parse
from foreword.packs import compile as compiling
from foreword.packs import std
from foreword.packs.std import compiled

SOURCE = Path(foreword.__file__).parent
STD = SOURCE / "packs" / "std"
NAMES = ("builder", "foreword", "ion", "opal", "pi", "pod")

MINIMAL = {
    "sections": ["intro", "files"],
    "settings": {"dir": ".x", "shell": ["tool:bash", "tool:zsh"]},
    "find": {"notes": {"files": ["cwd:NOTES.md"]}, "skills": {"as": "skill", "files": ["cwd:{dir}/*/SKILL.md"]}},
    "section": {
        "intro": {"text": "In {cwd}."},
        "files": {"list": "notes", "wrap": "<notes>\n{}\n</notes>"},
        "menu": {"list": "skills", "item": "- {name}"},
    },
}


def layout_with(path, content):
    """The minimal layout with one key set, by its dotted path."""
    mapping = copy.deepcopy(MINIMAL)
    table = mapping
    *tables, last = path.split(".")
    for name in tables:
        table = table.setdefault(name, {})
    table[last] = content
    return mapping


def test_a_layout_needs_the_list_of_its_sections():
    mapping = {key: content for key, content in MINIMAL.items() if key != "sections"}
    with pytest.raises(LayoutError, match=r"^layout mine: the key 'sections' is missing; list the prompt's sections"):
        parse(mapping, "mine")


@pytest.mark.parametrize(
    "wrap",
    ["<a>\n{}\n</a>", "<a x='1'><b/>{}</a>", "Use `<a>`:\n{}", "1 < 2: {}", "```\n{}\n```", "<!-- {} -->", "<br>{}"],
)
def test_a_wrapper_that_closes_what_it_opens_is_accepted(wrap):
    assert parse(layout_with("section.files.wrap", wrap), "mine").sections


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("section.files.wrap", "<a>{}", "section.files.wrap must close what it opens: </a> is missing (in '<a>{}')"),
        ("section.files.wrap", "{}</a>", "must close what it opens: </a> closes a tag that is not open"),
        ("section.files.wrap", "<a><b>{}</a></b>", "must close what it opens: </a> closes a tag that is not open"),
        ("section.files.wrap", "<a x='1'>{}<a>", "must close what it opens: </a> is missing"),
        ("section.files.wrap", "```\n{}", "must close what it opens: a code fence is not closed"),
        ("section.files.wrap", "<!-- {}", "must close what it opens: a comment is not closed"),
        ("find.notes.files", ["root:../x.md"], "find.notes.files: 'root:../x.md' points outside its place"),
        ("find.notes.files", ["home:a/../../x.md"], "'home:a/../../x.md' points outside its place"),
        ("find.notes.files", [["cwd:../x.md"]], "'cwd:../x.md' points outside its place"),
    ],
)
def test_an_open_wrapper_or_a_path_outside_is_an_error(path, content, message):
    with pytest.raises(LayoutError) as error:
        parse(layout_with(path, content), "mine")
    assert message in str(error.value)


def test_a_pattern_may_leave_its_folder_only_by_path():
    files = ["path:../x.md", "cwd:./x.md"]
    assert parse(layout_with("find.notes.files", files), "mine").lookups


# Invalid keys and values


FACTS = "conditions are tool:NAME, can:NAME, set:NAME, found:NAME, provider:NAME, platform:NAME, tools, session, base, scope, main, sub"


@pytest.mark.parametrize(
    ("path", "content", "sentence"),
    [
        # keys
        ("abuot", "x", "unknown key 'abuot'; did you mean 'about'?"),
        ("sectoins", [], "unknown key 'sectoins'; did you mean 'sections'?"),
        ("settigns", {}, "unknown key 'settigns'; did you mean 'settings'?"),
        ("find.notes.wlak", "git", "find.notes: unknown key 'wlak'; did you mean 'walk'?"),
        ("section.intro.lifetmie", "turn", "section.intro: unknown key 'lifetmie'; did you mean 'lifetime'?"),
        ("on.trun", "keep", "on: unknown key 'trun'; did you mean 'turn'?"),
        ("compaction.undre", "kept", "compaction: unknown key 'undre'; did you mean 'under'?"),
        ("guideline", [{"wehn": []}], "guideline 1: unknown key 'wehn'; did you mean 'when'?"),
        # values
        ("about", 5, "about must be a string, not 5"),
        ("sections", "intro", "sections must be a list of strings, not 'intro'"),
        ("sections", [5], "sections must be a list of strings, not [5]"),
        ("budget", 0, "budget must be a whole number above zero, not 0"),
        ("budget", True, "budget must be a whole number above zero, not True"),
        ("budget", 1.5, "budget must be a whole number above zero, not 1.5"),
        ("over", "shorten", "over must be one of warn, cut, not 'shorten'"),
        ("find", [], "find must be a table of keys, not []"),
        ("find.notes", "x", "find.notes must be a table of keys, not 'x'"),
        ("find.notes.walk", "gti", "find.notes: walk must be one of root, checkout, git, git-or-root, not 'gti'; did you mean 'git'?"),
        ("find.notes.as", "file", "find.notes: as must be one of text, skill, resident, agent, command, not 'file'"),
        ("find.notes.files", "cwd:X", "find.notes: files must be a list of patterns, or of lists of patterns, not 'cwd:X'"),
        ("section.intro.trim", "no", "section.intro: trim must be true or false, not 'no'"),
        ("section.intro.lifetime", "day", "section.intro: lifetime must be one of release, project, conversation, turn, not 'day'"),
        ("on.turn", "gahter", "on: turn must be one of keep, warn, announce, append, format, gather, not 'gahter'; did you mean 'gather'?"),
        ("wording.x", 5, "wording.x must be a string, not 5"),
        # patterns
        ("find.notes.files", ["NOTES.md"], "find.notes.files: 'NOTES.md' is not a pattern 'place:path'; known: above, between, config, cwd, down, env, home, path, root, system, walk"),
        ("find.notes.files", ["wlak:X"], "find.notes.files: 'wlak:X' is not a pattern 'place:path'; did you mean 'walk'?"),
        ("find.notes.files", ["cwd:"], "find.notes.files: 'cwd:' does not name a file"),
        ("find.notes.files", ["cwd:{dri}/X"], "find.notes.files: unknown setting 'dri' (in 'cwd:{dri}/X'); did you mean 'dir'?"),
        ("find.notes.files", [["walk:X", "cwd:Y"]], "find.notes.files: the place 'walk' and another place cannot be in the same group"),
        # sections
        ("sections", ["intor"], "sections names 'intor', but [section.intor] does not exist; did you mean 'intro'?"),
        ("sections", ["intro", "intro"], "section 'intro' is used twice in the layout"),
        ("section.intro", {}, "[section.intro] must have exactly one of text, list, sections; it has none"),
        ("section.intro.list", "notes", "[section.intro] must have exactly one of text, list, sections; it has text, list"),
        ("section.files.list", "ntoes", "section.files.list: unknown lookup rule or list 'ntoes'; did you mean 'notes'?"),
        ("section.intro.instead", ["bsae"], "section.intro.instead: unknown lookup rule 'bsae'; did you mean 'base'?"),
        ("section.files.wrap", "<notes>", "section.files.wrap needs '{}' exactly once, for the content"),
        ("section.files.wrap", "{}{}", "section.files.wrap needs '{}' exactly once, for the content"),
        ("section.files.wrap", "@ntoes", "unknown wording 'ntoes'"),
        # forms
        ("section.intro.text", "{cwdd}", "section.intro.text: unknown field '{cwdd}'; did you mean 'cwd'?"),
        ("section.intro.text", "{cwd|xlm}", "section.intro.text: unknown filter 'xlm'; did you mean 'xml'?"),
        ("section.intro.text", "a { b", "section.intro.text: unpaired '{'; write '{{' for a brace"),
        ("section.files.item", "{name}", "section.files.item: unknown field '{name}'; known: cwd, home, path, platform, root, text"),
        # conditions
        ("section.intro.when", ["toosl"], "section.intro.when: unknown condition 'toosl'; " + FACTS),
        ("section.intro.when", ["platform:windows"], "section.intro.when: 'windows' is not the name of a platform as in sys.platform; did you mean 'win32'?"),
        ("section.intro.when", ["tool:"], "section.intro.when: unknown condition 'tool:'; " + FACTS),
        ("section.intro.when", ["can:raed"], "section.intro.when: unknown ability 'raed'; did you mean 'read'?"),
        ("section.intro.when", ["set:dri"], "section.intro.when: unknown setting 'dri'; did you mean 'dir'?"),
        ("section.intro.when", ["@shlel"], "section.intro.when: '@shlel' is not a list in the settings; did you mean 'shell'?"),
        # guidelines
        ("guideline", [{"say": ["a"], "from": "tools"}], "guideline 1 needs either say or from"),
        ("guideline", [{"say": ["a"]}, {}], "guideline 2 needs either say or from"),
        ("guideline", [{"from": "tolos"}], "guideline 1: from must be one of tools, extensions, inherited, not 'tolos'; did you mean 'tools'?"),
        ("guideline", [{"from": "inherited"}], 'guideline 1: from = "inherited" needs a layout that this one extends, and no other key in its row'),
        ("guideline", [{"say": ["{x}"]}], "guideline 1.say: unknown field '{x}'; known: any, edit, load-skills, read, shell, skill, write"),
        ("guideline", {"say": ["a"]}, "guideline must be a list of tables, not {'say': ['a']}"),
        ("guideline", ["a"], "guideline 1 must be a table of keys, not 'a'"),
    ],
)  # fmt: skip
def test_an_invalid_key_or_value_is_an_error(path, content, sentence):
    with pytest.raises(LayoutError) as error:
        parse(layout_with(path, content), "mine")
    assert str(error.value) == f"layout mine: {sentence}"


def test_a_section_that_contains_itself_is_an_error():
    mapping = layout_with("section.intro", {"sections": ["middle"]})
    mapping["section"]["middle"] = {"sections": ["intro"]}
    with pytest.raises(LayoutError, match=r"section 'intro' is used twice in the layout \(intro > middle > intro\)"):
        parse(mapping, "mine")


def test_very_deeply_nested_sections_are_an_error():
    deep = {f"s{number}": {"sections": [f"s{number + 1}"]} for number in range(3_000)} | {"s3000": {"text": "x"}}
    with pytest.raises(LayoutError):
        parse({"sections": ["s0"], "section": deep}, "mine")


def test_the_minimal_layout_is_valid():
    layout = parse(MINIMAL, "mine")
    assert [section.name for section in layout.all_sections] == ["intro", "files"]


@pytest.mark.parametrize("table", ["layout", "find", "section", "guideline", "on", "compaction"])
def test_every_key_is_described(table):
    keys = [key for key in KEYS if key.table == table]
    assert keys and all(key.about.endswith(".") for key in keys)
    assert len({key.name for key in keys}) == len(keys)


# Merging


@pytest.mark.parametrize(
    ("under", "over", "merged"),
    [
        ({"a": 1}, {}, {"a": 1}),
        ({"a": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
        ({"t": {"a": 1, "b": 2}}, {"t": {"b": 3}}, {"t": {"a": 1, "b": 3}}),
        ({"sections": ["a", "b"]}, {"sections": ["c"]}, {"sections": ["c"]}),
        ({"guideline": [{"say": ["a"]}]}, {"guideline": []}, {"guideline": []}),
        ({"guideline": [{"say": ["a"]}]}, {"guideline": [{"say": ["b"]}, {"from": "inherited"}, {"say": ["c"]}]}, {"guideline": [{"say": ["b"]}, {"say": ["a"]}, {"say": ["c"]}]}),
        ({"guideline": []}, {"guideline": [{"from": "inherited"}]}, {"guideline": []}),
        ({"guideline": [{"say": ["a"]}]}, {"guideline": [{"from": "inherited", "when": ["tools"]}]}, {"guideline": [{"from": "inherited", "when": ["tools"]}]}),
        ({"x": {"guideline": [1]}}, {"x": {"guideline": 5}}, {"x": {"guideline": 5}}),
        ({"section": {"x": {"text": "a", "wrap": "w"}}}, {"section": {"x": {"list": "tools"}}}, {"section": {"x": {"wrap": "w", "list": "tools"}}}),
        ({"t": {"a": 1}}, {"t": 5}, {"t": 5}),
        ({"t": 5}, {"t": {"a": 1}}, {"t": {"a": 1}}),
    ],
)  # fmt: skip
def test_tables_are_merged_and_other_values_are_replaced(under, over, merged):
    before = copy.deepcopy((under, over))
    assert merge(under, over) == merged
    assert (under, over) == before


# A custom layout


CUSTOM = """\
about = "A seventh."
sections = ["greeting", "notes", "house"]

[settings]
folder = "notes"

[find.notes]
files = ["root:{folder}/*.md"]

[section.greeting]
text = "You work in {cwd} on {platform}."
instead = ["base"]

[section.notes]
list = "notes"
item = "* {text}"
wrap = "NOTES\\n{}"

[section.house]
list = "guidelines"
item = "+ {text}"

[[guideline]]
when = ["tool:oven"]
say = ["Mind the oven."]
"""
CUSTOM_TEXT = "You work in /w on linux.\n\nNOTES\n* A\n* B\n\n+ Mind the oven."


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("lay/seventh.toml", "$TOP/lay/seventh.toml"),
        ("home/.config/foreword/prompts/seventh.toml", "$user/seventh"),
        ("home/.config/foreword/prompts/team/seventh.toml", "$user/team/seventh"),
        ("w/.foreword/prompts/seventh.toml", "$workspace/seventh"),
    ],
)
def test_a_custom_layout_is_named_by_path_or_address(tree, file, named):
    tree({file: CUSTOM, "w/.git": None, "w/notes/a.md": "A\n", "w/notes/b.md": "B\n"})
    prompt = tree.prompt(named.replace("$TOP", tree.top), tools="oven")
    assert (tree.short(prompt.text), prompt.layout.rpartition("/")[2]) == (CUSTOM_TEXT, "seventh")
    assert {piece.origin.kind for passage in prompt.passages for piece in passage.pieces} == {
        "layout",
        "environment",
        "file",
    }


def test_a_custom_layout_has_its_own_settings(tree):
    tree({"seventh.toml": CUSTOM, "w/.git": None, "w/other/a.md": "A"})
    text = tree.text(tree.path("seventh.toml"), base="BASE", set={"folder": "other", "notes.wrap": "[{}]"})
    assert text == "BASE\n\n[* A]"


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (
            {"team.toml": 'extends = "$std/ion"\nsections = ["base", "team"]\n[section.team]\ntext = "Team."\n'},
            "team.toml",
        ),
        ({"team.toml": 'extends = "ion"\nsections = ["base", "team"]\n[section.team]\ntext = "Team."\n'}, "team.toml"),
        (
            {
                "base/one.toml": 'extends = "$std/ion"\n[section.team]\ntext = "Team."\n',
                "deep/team.toml": 'extends = "../base/one.toml"\nsections = ["base", "team"]\n',
            },
            "deep/team.toml",
        ),
        (
            {
                "home/.config/foreword/prompts/one.toml": 'extends = "$std/ion"\n[section.team]\ntext = "Team."\n',
                "team.toml": 'extends = "$user/one"\nsections = ["base", "team"]\n',
            },
            "team.toml",
        ),
    ],
)
def test_a_layout_extends_another(tree, files, named):
    assert tree(files).text(tree.path(named), base="BASE") == "BASE\n\nTeam."


def test_a_layout_keeps_what_it_does_not_replace(tree):
    tree({"w/AGENTS.md": "P", "team.toml": 'extends = "$std/ion"\n[section.project]\nwrap = "# Ours\\n{}"\n'})
    assert tree.text(tree.path("team.toml"), base="BASE") == "BASE\n\n# Ours\nP"


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"a.toml": 'extends = "./a.toml"\n'}, "circular or too deep 'extends': $TOP/a.toml > $TOP/a.toml"),
        (
            {"a.toml": 'extends = "./b.toml"\n', "b.toml": 'extends = "./a.toml"\n'},
            "circular or too deep 'extends': $TOP/a.toml > $TOP/b.toml > $TOP/a.toml",
        ),
        ({"a.toml": "extends = 5\n"}, "extends must be an address or a file, not 5"),
        ({"a.toml": 'extends = "opel"\n'}, "$TOP/a.toml: extends: unknown layout 'opel'; did you mean 'opal'?"),
        ({"a.toml": 'extends = "./nowhere.toml"\n'}, "the file does not exist ($TOP/nowhere.toml)"),
        ({"a.toml": 'extends = "$acme/x"\n'}, "unknown pack 'acme'"),
        ({"a.toml": "sections = [\n"}, "$TOP/a.toml is not valid TOML"),
        ({"a.toml": ""}, "it is empty ($TOP/a.toml)"),
        ({"a.toml": b"\xff"}, "0xff at offset 0"),
        ({"a.toml": 'sections = ["x"]\nnope = 1\n'}, "layout a: unknown key 'nope'"),
    ],
)
def test_a_file_that_is_not_a_layout_is_an_error(tree, files, sentence):
    with pytest.raises((CallError, LayoutError)) as error:
        tree(files).prompt(tree.path("a.toml"))
    assert sentence.replace("$TOP", tree.top) in str(error.value)


# A layout from the workspace


def workspace_layout(files, walk="git"):
    return (
        f'sections = ["base", "found"]\n[find.found]\nwalk = "{walk}"\nfiles = {files}\n'
        '[section.base]\ntext = "BASE"\n[section.found]\nlist = "found"\n'
    )


@pytest.mark.parametrize(
    "pattern",
    [
        "home:SECRET.md",
        "config:SECRET.md",
        "path:~/SECRET.md",
        "path:$TOP/SECRET.md",
        "path:../../SECRET.md",
        "root:link/SECRET.md",
        "root:link.md",
        "root:li*.md",
        "root:up/**/SECRET.md",
    ],
)
def test_a_workspace_layout_may_not_read_outside(tree, pattern):
    tree({
        "w/.git": None,
        "w/a/x": "",
        "SECRET.md": "secret",
        "home/SECRET.md": "secret",
        "home/.config/SECRET.md": "secret",
        "w/link": Path(".."),
        "w/link.md": Path("../SECRET.md"),
        "w/up/link": Path("../.."),
        "w/.foreword/prompts/team.toml": workspace_layout(f'["{pattern.replace("$TOP", tree.top)}"]'),
    })  # fmt: skip
    prompt = tree.prompt("$workspace/team", "w/a")
    assert prompt.text == "BASE"
    assert "workspace-refused" in {code for code, _ in tree.findings(prompt)}


@pytest.mark.parametrize("pattern", ["cwd:../../SECRET.md", "root:a/../../SECRET.md", "walk:../../x", "root:../*.md"])
def test_a_pattern_may_not_leave_its_folder(tree, pattern):
    tree({"w/.foreword/prompts/team.toml": workspace_layout(f'["{pattern}"]')})
    with pytest.raises(LayoutError, match="points outside its place"):
        tree.prompt("$workspace/team")


def test_a_workspace_layout_may_not_search_above_the_workspace(tree):
    tree({"AGENTS.md": "secret", "w/.git": None, "w/AGENTS.md": "root", "w/a/AGENTS.md": "here"})
    tree({"w/.foreword/prompts/team.toml": workspace_layout('["walk:AGENTS.md"]', walk="root")})
    assert tree.text("$workspace/team", "w/a") == "BASE\n\nroot\n\nhere"


def test_a_workspace_layout_may_extend_a_shipped_one_and_keep_its_patterns(tree):
    tree({"w/.git": None, "home/.ion/AGENTS.md": "user", "w/AGENTS.md": "project"})
    tree({"w/.foreword/prompts/team.toml": 'extends = "$std/ion"\n[section.base]\ntext = "TEAM"\n'})
    assert tree.text("$workspace/team").startswith("TEAM\n\n# Ion Instructions\nuser")


@pytest.mark.parametrize(
    "below", ["$TOP/w/.foreword/prompts/wide.toml", "./wide.toml", "../../wide.toml", "$workspace/wide"]
)
def test_a_layout_extended_inside_the_workspace_is_untrusted_too(tree, below, monkeypatch):
    monkeypatch.chdir(tree.path("w"))
    text_with_more = workspace_layout('["home:SECRET.md"]')
    tree(
        {
            "home/SECRET.md": "secret",
            "w/.git": None,
            "w/wide.toml": text_with_more,
            "w/.foreword/prompts/wide.toml": text_with_more,
        }
    )
    tree({"w/.foreword/prompts/team.toml": f'extends = "{below.replace("$TOP", tree.top)}"\n'})
    try:
        text = tree.text("$workspace/team")
    except (CallError, LayoutError):
        text = ""
    assert "secret" not in text


def test_a_pack_may_not_leave_its_folder(tree):
    tree({"w/.git": None, "outside.toml": CUSTOM, "w/.foreword/prompts/team.toml": Path("../../../outside.toml")})
    with pytest.raises(CallError, match="points outside its pack"):
        tree.prompt("$workspace/team")


# Settings


USER_SETTINGS, WORKSPACE_SETTINGS = "home/.config/foreword/foreword.toml", "w/.foreword/foreword.toml"


@pytest.mark.parametrize(
    ("files", "passed", "text"),
    [
        ({}, {}, "Working directory: /w"),
        ({USER_SETTINGS: "environment.text = 'user'"}, {}, "user"),
        ({WORKSPACE_SETTINGS: "environment.text = 'workspace'"}, {}, "workspace"),
        (
            {USER_SETTINGS: "environment.text = 'user'", WORKSPACE_SETTINGS: "environment.text = 'workspace'"},
            {},
            "workspace",
        ),
        ({WORKSPACE_SETTINGS: "environment.text = 'workspace'"}, {"settings": "environment.text = 'named'"}, "named"),
        (
            {WORKSPACE_SETTINGS: "environment.text = 'workspace'"},
            {"settings": "environment.text = 'named'", "set": "set"},
            "set",
        ),
        ({USER_SETTINGS: "[for.opal]\nenvironment.text = 'opal'"}, {}, "opal"),
        ({USER_SETTINGS: "[for.ion]\nbase.text = 'ion'"}, {}, "Working directory: /w"),
        ({USER_SETTINGS: "environment.text = 'all'\n[for.opal]\nenvironment.text = 'opal'"}, {}, "opal"),
        ({USER_SETTINGS: "[section.environment]\ntext = 'table'"}, {}, "table"),
        ({USER_SETTINGS: "\n\n"}, {}, "Working directory: /w"),
    ],
)
def test_later_settings_win(tree, files, passed, text):
    tree({"w/.git": None, **files})
    settings = ""
    if "settings" in passed:
        tree({"named.toml": passed["settings"]})
        settings = tree.path("named.toml")
    assignments = [("environment.text", passed["set"])] if "set" in passed else []
    prompt = foreword.assemble(
        tree.workspace(), foreword.Agent(base="BASE"), "opal", settings=settings, assignments=assignments
    )
    assert tree.short(prompt.text) == f"BASE\n\n<environment>\n{text}\n</environment>"


CALLER_SETTINGS = "home/.config/foreword/prompts/mine.toml"
OPAL = "extends = '$std/opal'\n"


@pytest.mark.parametrize(
    ("files", "passed", "text", "origin"),
    [
        ({}, {}, "Working directory: ", ("builtin", "$std/opal/environment", (1, 1))),
        ({USER_SETTINGS: "environment.text = 'X'"}, {}, "X", ("setting", f"/{USER_SETTINGS}", None)),
        ({WORKSPACE_SETTINGS: "[for.opal]\nenvironment.text = 'X'"}, {}, "X", ("setting", f"/{WORKSPACE_SETTINGS}", None)),
        ({USER_SETTINGS: "environment.wrap = 'X{}'"}, {}, "X", ("setting", f"/{USER_SETTINGS}", None)),
        ({USER_SETTINGS: "environment.text = 'U'"}, {"environment.text": "X"}, "X", ("caller", "section.environment.text", None)),
        ({}, {"guideline": [{"say": ["X"]}]}, "X", ("caller", "guideline", None)),
        ({USER_SETTINGS: "[[guideline]]\nsay = ['X']"}, {}, "X", ("setting", f"/{USER_SETTINGS}", None)),
        ({USER_SETTINGS: "section.environment.text = '$user/x'", CALLER_SETTINGS.replace("mine.toml", "x.md"): "X"}, {}, "X", ("template", "$user/x", (1, 1))),
        ({CALLER_SETTINGS: OPAL}, {}, "Working directory: ", ("builtin", "$std/opal/environment", (1, 1))),
        ({CALLER_SETTINGS: f"{OPAL}section.environment.text = 'X'"}, {}, "X", ("layout", "$user/mine/environment", (1, 1))),
        ({CALLER_SETTINGS: f"{OPAL}section.environment.text = 'X'"}, {}, "<environment>\n", ("builtin", "$std/opal/environment", None)),
    ],
)  # fmt: skip
def test_text_from_settings_has_its_file_as_origin(tree, files, passed, text, origin):
    tree({"w/.git": None, **files})
    layout = "$user/mine" if CALLER_SETTINGS in files else "opal"
    prompt = foreword.assemble(tree.workspace(), foreword.Agent(base="B"), layout, assignments=list(passed.items()))
    origins = [piece.origin for passage in prompt.passages for piece in passage.pieces if piece.text == text]
    assert [(actual.kind, tree.short(actual.path), actual.lines) for actual in origins] == [origin]


def test_wording_has_its_file_as_origin(tree):
    tree({"w/.foreword/prompts.toml": "working_boundaries_section = 'X{}'"})
    pieces = [piece for passage in tree.prompt("pod").passages for piece in passage.pieces]
    (setting_origin,) = [piece.origin for piece in pieces if piece.text == "X"]
    assert (setting_origin.kind, tree.short(setting_origin.path)) == ("setting", "/w/.foreword/prompts.toml")


def test_the_guidelines_can_be_set_too(tree):
    rows = [{"say": ["Say it."]}]
    prompt = foreword.assemble(tree.workspace(), foreword.Agent(base="B"), "opal", assignments=[("guideline", rows)])
    assert prompt.text.endswith("<tool-guidelines>\n- Say it.\n</tool-guidelines>")
    tree({USER_SETTINGS: "[[for.opal.guideline]]\nsay = ['From a file.']\n"})
    assert "- From a file.\n</tool-guidelines>" in tree.text("opal")


ONE_MORE_ROW = """\
[[guideline]]
from = "inherited"
[[guideline]]
when = ["tool:lint"]
say = ["Run `lint` last."]
"""


@pytest.mark.parametrize("extends", ["opal", "pi", "foreword"])
def test_a_layout_adds_a_row_to_the_guidelines_that_it_inherits(tree, extends):
    now = datetime(2026, 3, 7, tzinfo=UTC)
    tools = "read_file read edit bash lint"
    tree({"w/one.toml": f'extends = "$std/{extends}"\n{ONE_MORE_ROW}'})
    tree({"w/two.toml": f'extends = "./one.toml"\n{ONE_MORE_ROW.replace("last", "twice")}'})
    before = tree.text(extends, tools=tools, now=now).splitlines()
    one, two = (tree.text(tree.path(f"w/{name}.toml"), tools=tools, now=now).splitlines() for name in ("one", "two"))
    assert [line for line in two if line not in before] == ["- Run `lint` last.", "- Run `lint` twice."]
    assert [line for line in one if line != "- Run `lint` last."] == before
    tree({USER_SETTINGS: ONE_MORE_ROW.replace("[[guideline]]", f"[[for.{extends}.guideline]]")})
    assert tree.text(extends, tools=tools, now=now).splitlines() == one


def test_a_common_key_that_only_other_layouts_have_is_ignored_and_reported(tree):
    tree({"w/.git": None})
    tree({USER_SETTINGS: "names = ['X.md']\nskills.validation = 'strict'\n", WORKSPACE_SETTINGS: "dir = '.x'"})
    assert tree.messages(tree.prompt("opal")) == [
        ("setting-unused", "/w/.foreword/foreword.toml: the layout opal does not have the key 'dir'; it was ignored")
    ]
    assert [code for code, _ in tree.messages(tree.prompt("pod"))] == ["setting-unused"] * 3


@pytest.mark.parametrize("text", ["no_such = 1", "[for.ion]\nskill_dirs = ['/x']"])
def test_a_key_that_no_layout_has_is_an_error(tree, text):
    tree({USER_SETTINGS: text})
    with pytest.raises(LayoutError, match="unknown key"):
        tree.prompt("ion")


@pytest.mark.parametrize(
    ("files", "layout"),
    [
        ({}, "foreword"),
        ({USER_SETTINGS: "layout = 'ion'"}, "ion"),
        ({WORKSPACE_SETTINGS: "layout = 'ion'"}, "ion"),
        ({USER_SETTINGS: "layout = 'pi'", WORKSPACE_SETTINGS: "layout = '$std/ion'"}, "ion"),
        ({USER_SETTINGS: "layout = '$user/mine'", "home/.config/foreword/prompts/mine.toml": CUSTOM}, "mine"),
        ({WORKSPACE_SETTINGS: "layout = '$workspace/ours'", "w/.foreword/prompts/ours.toml": CUSTOM}, "ours"),
    ],
)
def test_settings_choose_the_layout_unless_the_caller_does(tree, files, layout):
    tree({"w/.git": None, **files})
    assert tree.prompt("").layout.rpartition("/")[2] == layout
    assert tree.prompt("opal").layout == "opal"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not toml", "is not valid TOML"),
        ("nope = 1", "unknown key 'nope'"),
        ("skills.validation = 'loose'", "validation"),
        ("layout = 5", "layout must be a string"),
        ("layout = '/etc/layout.toml'", "a workspace may name only shipped layouts"),
        ("layout = '../x.toml'", "a workspace may name only shipped layouts"),
        ("layout = '$user/mine'", "a workspace may name only shipped layouts"),
        ("layout = 'nowhere'", "nowhere"),
        ("layout = '$workspace/nowhere'", "nowhere"),
        (b"\xff", "0xff at offset 0"),
        ("find.project.files = ['home:SECRET.md']", "home:SECRET.md"),
        ("skills.validation = 'lenient'", "validation"),
    ],
)
def test_invalid_workspace_settings_are_reported_and_work_continues(tree, text, words):
    tree({"home/SECRET.md": "secret", "w/.git": None, "w/AGENTS.md": "X", WORKSPACE_SETTINGS: text})
    prompt = tree.prompt("")
    assert prompt.layout == "foreword" and "secret" not in prompt.text
    assert [code for code, _ in tree.findings(prompt)] and words in " ".join(
        message for _, message in tree.messages(prompt)
    )


def test_a_workspace_may_make_validation_strict_but_not_lenient(tree):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": "---\nname: other\ndescription: D.\n---\n"})
    tree({WORKSPACE_SETTINGS: "[for.opal]\nskills.validation = 'lenient'\n[for.pi]\nskills.validation = 'strict'\n"})
    assert "**other**" not in tree.text("opal")
    assert "<name>other" not in tree.text("pi", tools="read")


@pytest.mark.parametrize(
    "setting",
    [
        "names = ['../SECRET.md']",
        "names = ['$TOP/SECRET.md']",
        "names = ['link.md']",
        "find.context.walk = 'root'",
        "skill_dirs = ['$TOP/home/mine']",
        "skill_dirs = ['~/mine']",
        "skill_dirs = ['../home/mine']",
        "skill_dirs = ['$TOP/w/../home/mine']",
        "skill_dirs = ['$TOP/w/link']",
        "skill_dirs = ['$TOP/*']",
    ],
)
def test_workspace_settings_cannot_allow_reading_more(tree, setting):
    tree({"SECRET.md": "secret", "home/mine/a/SKILL.md": "---\nname: a\ndescription: secret\n---\n", "w/.git": None})
    tree({"w/link.md": Path("../SECRET.md"), "w/link": Path("../home/mine")})
    tree({WORKSPACE_SETTINGS: setting.replace("$TOP", tree.top)})
    if "walk" in setting:
        tree({"AGENTS.md": "secret"})
    assert "secret" not in tree.text("opal")


@pytest.mark.parametrize(
    "folder", ["tools/skills", "./tools/skills/", "$TOP/w/tools/skills", "$TOP/w/x/../tools/skills/"]
)
def test_workspace_settings_may_add_files_and_folders_of_the_workspace(tree, skill, folder):
    tree({"w/.git": None, "w/TEAM.md": "team", "w/tools/skills/a/SKILL.md": skill("a")})
    folder = folder.replace("$TOP", tree.top)
    tree({WORKSPACE_SETTINGS: f"names = ['TEAM.md']\nskill_dirs = ['{folder}']\n"})
    text = tree.text("opal")
    assert "\nteam\n" in text and "- **a**: Does it." in text


# like


def test_like_copies_the_keys_of_another_rule_or_section():
    mapping = layout_with("find.more", {"like": "notes", "files": ["cwd:MORE.md"]})
    mapping["find"]["notes"] |= {"trim": "ends", "walk": "root", "label": {"a.md": "A", "b.md": "B"}}
    mapping["find"]["more"]["label"] = {"b.md": "C"}
    mapping["section"]["again"] = {"like": "files", "list": "more"}
    mapping["section"]["words"] = {"like": "files", "text": "Words."}
    mapping["sections"] = ["intro", "files", "again", "words"]
    layout = parse(mapping, "mine")
    notes, more = (lookup for lookup in layout.lookups if lookup.name in ("notes", "more"))
    assert (more.walk, more.rules.trim, more.groups[0][0].path) == ("root", "ends", "MORE.md")
    assert (notes.rules.label, more.rules.label) == ((("a.md", "A"), ("b.md", "B")), (("b.md", "C"),))
    files, again, words = layout.sections[1:]
    assert (again.list_name, again.wrap, words.text, words.list_name) == ("more", files.wrap, "Words.", None)


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("find.notes.like", "note", "find.notes.like: unknown lookup rule 'note'"),
        ("find.notes.like", "skill", "find.notes.like: unknown lookup rule 'skill'; did you mean 'skills'?"),
        ("find.notes.like", "notes", "find.notes.like: unknown lookup rule 'notes'"),
        ("find.notes.like", 3, "find.notes.like: unknown lookup rule 3"),
        ("section.files.like", "notes", "section.files.like: unknown section 'notes'"),
    ],
)
def test_an_invalid_like_is_an_error(path, content, message):
    with pytest.raises(LayoutError) as error:
        parse(layout_with(path, content), "mine")
    assert message in str(error.value)


def test_like_adds_keys_only_to_the_table_imports():
    mapping = layout_with("find.notes.where", {"kind": "a"})
    mapping["find"]["notes"] |= {"imports": {"depth": 2, "within": "cwd"}}
    mapping["find"]["more"] = {"like": "notes", "where": {}, "imports": {"depth": 3}}
    more = next(lookup for lookup in parse(mapping, "mine").lookups if lookup.name == "more")
    imports = more.rules.imports
    assert (more.where, imports.depth, imports.within) == ((), 3, "cwd")


def test_like_copies_what_the_other_rule_copies():
    mapping = layout_with("find.last", {"like": "more", "files": ["cwd:LAST.md"]})
    mapping["find"]["notes"]["trim"] = "ends"
    mapping["find"]["more"] = {"like": "notes", "walk": "root"}
    last = next(lookup for lookup in parse(mapping, "mine").lookups if lookup.name == "last")
    assert (last.rules.trim, last.walk, last.groups[0][0].path) == ("ends", "root", "LAST.md")


def test_a_circular_like_is_an_error():
    mapping = layout_with("find.more", {"like": "notes"})
    mapping["find"]["notes"]["like"] = "more"
    with pytest.raises(LayoutError, match=r"find.notes.like: circular or too long: notes > more > notes"):
        parse(mapping, "mine")


def test_a_workspace_that_copies_a_rule_stays_inside_the_workspace():
    mapping = layout_with("find.notes.files", ["home:NOTES.md"])
    mapping["find"]["more"] = {"like": "notes"}
    layout = parse(mapping, "mine", untrusted=frozenset({"find.more.like"}))
    assert [lookup.groups[0][0].confined for lookup in layout.lookups] == [False, False, True]


def test_what_a_workspace_sets_stays_inside_the_workspace_when_it_is_copied():
    mapping = layout_with("find.notes.files", ["home:NOTES.md"])
    mapping["find"] |= {
        "more": {"like": "notes"},
        "last": {"like": "more"},
        "own": {"like": "more", "files": ["home:O.md"]},
    }
    layout = parse(mapping, "mine", untrusted=frozenset({"find.notes.files"}))
    confined = {lookup.name: lookup.groups[0][0].confined for lookup in layout.lookups}
    assert confined == {"notes": True, "skills": False, "more": True, "last": True, "own": False}


# No code depends on a layout's name


def comparisons(tree):
    """String literals that a program compares, looks up or matches."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from (child for part in (node.left, *node.comparators) for child in ast.walk(part))
        elif isinstance(node, ast.MatchValue):
            yield node.value
        elif isinstance(node, ast.Dict):
            yield from (key for key in node.keys if key is not None)
        elif isinstance(node, ast.Subscript):
            yield node.slice
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("startswith", "endswith", "get")
        ):
            yield from node.args


@pytest.mark.parametrize(
    "file", sorted(path for path in SOURCE.rglob("*.py") if STD not in path.parents), ids=lambda path: path.stem
)
def test_no_code_branches_on_a_layouts_name(file):
    names = {text for name in NAMES for text in (name, f"$std/{name}")}
    texts = [node.value for node in comparisons(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Constant)]
    assert [value for value in texts if value in names] == []


# The compiled form


def test_every_shipped_layout_is_listed():
    assert std.NAMES == NAMES == tuple(sorted(path.stem for path in STD.glob("*.toml")))


@pytest.mark.parametrize("name", NAMES)
def test_the_compiled_form_matches_the_toml(name):
    with open(STD / f"{name}.toml", "rb") as file:
        assert getattr(compiled, name)() == tomllib.load(file)


def test_the_compiled_modules_are_current():
    written = [path for pack in ("std", "agents") for path in (SOURCE / "packs" / pack).glob("*.py")]
    written.append(SOURCE / "inspection" / "compiled_prices.py")
    assert {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in written} == compiling.sources()


@pytest.mark.parametrize("name", NAMES)
def test_a_layout_parsed_in_advance_matches_the_toml(name):
    layout = importlib.import_module(f"foreword.packs.std.{name}").LAYOUT
    assert layout == parse(getattr(compiled, name)(), name, f"$std/{name}")
    assert all(
        actual is section
        for actual, section in zip(layout.all_sections, with_inner_sections(layout.sections), strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_layouts_are_valid(name):
    layout = parse(getattr(compiled, name)(), name, f"$std/{name}")
    assert (layout.name, layout.address) == (name, f"$std/{name}") and layout.about.endswith(".")
