"""The keys that decide which files a lookup rule uses, and in which order: order, when, places, markers, hidden, exclude."""

import tomllib
from pathlib import Path

import pytest

from foreword import assemble
from foreword.engine.assembler import Assembler
from foreword.errors import LayoutError
from foreword.layout.parse import parse
from foreword.sources.globs import expand_braces, matches_glob
from foreword.vocabulary import replace

BASE = """
about = "Mine."
sections = ["project"]
[section.project]
list = "project"
item = "{text}"
join = " "
"""


def assert_invalid(lookups, message, base=BASE, untrusted=()):
    with pytest.raises(LayoutError) as error:
        parse(tomllib.loads(base + lookups), "mine", untrusted=frozenset(untrusted))
    assert message in str(error.value)


def fate_of(tree, layout_text, path):
    return next(
        (candidate.fate, tree.short(candidate.reason))
        for candidate in layout_text.prompt.candidates
        if candidate.path.endswith(path)
    )


# order


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ("", "root notes apps notes2 deep"),
        ('order = "farthest"', "root notes apps notes2 deep"),
        ('order = "nearest"', "deep apps notes2 root notes"),
        ('order = "pattern"', "deep apps root notes2 notes"),
        ('order = "path"', "deep apps notes2 root notes"),
    ],
)
def test_files_are_in_order(tree, layout_text, order, text):
    tree({"w/.git": None, "w/A.md": "root", "w/B.md": "notes", "w/.APPS/A.md": "apps", "w/.APPS/B.md": "notes2"})
    tree({"w/.APPS/.x/A.md": "deep"})
    assert layout_text(f'[find.project]\n{order}\nfiles = ["walk:A.md", "walk:B.md"]\n', "w/.APPS/.x") == text


def test_order_by_path_puts_a_file_between_its_folders(tree, layout_text):
    tree({"w/.git": None, "w/M.md": "root", "w/a/M.md": "small", "w/a/B/M.md": "big"})
    assert layout_text('[find.project]\norder = "path"\nfiles = ["walk:M.md"]\n', "w/a/B") == "root big small"


def test_order_by_path_is_by_code_unit(tree, layout_text):
    tree({"w/.git": None, "w/\uffee/\U0001f600.md": "emoji", "w/\uffee/\uffee.md": "form"})
    assert layout_text('[find.project]\norder = "path"\nfiles = ["root:\uffee/*.md"]\n') == "emoji form"


@pytest.mark.parametrize(
    ("order", "text"), [("farthest", "sub"), ("nearest", "sub"), ("pattern", "sub"), ("path", "sub")]
)
def test_only_the_nearest_file_is_used_in_every_order(tree, layout_text, order, text):
    tree({"w/.git": None, "w/AGENTS.md": "root", "w/sub/AGENTS.md": "sub"})
    table = f'[find.project]\norder = "{order}"\ntake = "nearest"\nfiles = ["walk:AGENTS.md"]\n'
    assert layout_text(table, "w/sub") == text


@pytest.mark.parametrize("order", ["farthest", "nearest", "path"])
def test_the_nearest_of_several_copies_is_kept_in_every_order(tree, layout_text, order):
    tree({"w/.git": None, "w/AGENTS.md": "same", "w/sub/AGENTS.md": "same", "w/sub/x/y": ""})
    assert layout_text(f'[find.project]\norder = "{order}"\nfiles = ["walk:AGENTS.md"]\n', "w/sub/x") == "same"
    assert fate_of(tree, layout_text, "/w/sub/AGENTS.md")[0] == "used"
    assert fate_of(tree, layout_text, "/w/AGENTS.md")[0] == "duplicate"


# when, found:


CHAINED_RULES = """
[find.claude]
files = ["walk:CLAUDE.md"]
[find.agents]
files = ["walk:AGENTS.md"]
when = ["!found:claude"]
[find.project]
files = ["walk:NOTES.md"]
"""
CHAINED_SECTIONS = """
sections = ["claude", "agents", "project", "hint"]
about = "Mine."
[section.claude]
list = "claude"
[section.agents]
list = "agents"
[section.project]
list = "project"
[section.hint]
text = "HINT"
when = ["found:claude", "!found:agents"]
"""


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"w/AGENTS.md": "A"}, "A"),
        ({"w/AGENTS.md": "A", "w/CLAUDE.md": "C"}, "C\n\nHINT"),
        ({"w/AGENTS.md": "A", "w/CLAUDE.md": " \n"}, "A"),
        ({"w/sub/AGENTS.md": "A", "w/CLAUDE.md": "C"}, "C\n\nHINT"),
        ({}, ""),
    ],
)
def test_a_rule_may_depend_on_another(tree, layout_text, files, text):
    tree({"w/.git": None, "w/sub": None, **files})
    assert layout_text(CHAINED_RULES, "w/sub", base=CHAINED_SECTIONS) == text


def test_a_shadowed_file_says_what_shadows_it(tree, layout_text):
    tree({"w/.git": None, "w/AGENTS.md": "A", "w/CLAUDE.md": "C"})
    layout_text(CHAINED_RULES, base=CHAINED_SECTIONS)
    reason = "it counts only without files such as /w/CLAUDE.md"
    assert fate_of(tree, layout_text, "/w/AGENTS.md") == ("shadowed", reason)
    assert ("file-shadowed", f"/w/AGENTS.md: {reason}") in tree.messages(layout_text.prompt)


def test_a_rule_that_is_only_used_in_conditions_adds_no_files(tree, layout_text):
    tree({"w/.git": None, "w/CLAUDE.md": "C", "w/rule.md": "R", "w/AGENTS.md": "A"})
    lookups = """
[find.claude]
files = ["walk:CLAUDE.md"]
[find.project]
when = ["found:claude"]
files = ["walk:CLAUDE.md", "walk:rule.md"]
[find.other]
when = ["!found:claude"]
files = ["walk:rule.md", "walk:AGENTS.md"]
[section.other]
list = "other"
"""
    base = BASE.replace('["project"]', '["project", "other"]')
    assert layout_text(lookups, base=base) == "C R"
    assert fate_of(tree, layout_text, "/w/rule.md") == ("used", "")
    assert [path for code, path in tree.findings(layout_text.prompt) if code == "file-shadowed"] == ["/w/AGENTS.md"]
    (tree({"w/CLAUDE.md": ""}))
    assert layout_text(lookups, base=base) == "R\n\nA"


def test_a_rule_may_depend_on_a_setting_and_the_platform(tree, layout_text):
    tree({"w/.git": None, "w/NOTES.md": "N"})
    table = (
        '[find.project]\nfiles = ["walk:NOTES.md"]\nwhen = ["set:notes", "platform:linux"]\n[settings]\nnotes = true\n'
    )
    assert layout_text(table) == "N"
    assert layout_text(table, set={"notes": False}) == "" and "set:notes" in fate_of(tree, layout_text, "NOTES.md")[1]
    assert layout_text(table, platform="darwin") == ""


def test_a_condition_is_evaluated_again_when_a_file_appears(tree):
    tree({"own.toml": CHAINED_SECTIONS + CHAINED_RULES, "w/.git": None, "w/AGENTS.md": "A"})
    assembler = Assembler(tree.workspace(), tree.path("own.toml"))
    assert assembler.prompt().text.strip() == "A"
    tree({"w/CLAUDE.md": "C"})
    assert assembler.prompt().text.strip() == "C\n\nHINT"


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("found:claud", "unknown lookup rule 'claud'; did you mean 'claude'?"),
        ("found:project", "unknown lookup rule 'project'"),  # itself
        ("found:last", "the lookup rule 'last' comes after this one; move [find.last] above it"),
        ("tools", "unknown condition 'tools'; conditions are found:NAME, set:NAME, platform:NAME"),
        ("tool:x", "unknown condition 'tool:x'"),
        ("found:", "unknown lookup rule ''"),
    ],
)
def test_an_invalid_condition_is_an_error(when, message):
    lookups = f'[find.claude]\nfiles = []\n[find.project]\nwhen = ["{when}"]\nfiles = []\n[find.last]\nfiles = []\n'
    assert_invalid(lookups, message)


def test_a_section_may_depend_on_any_rule():
    assert_invalid(
        'when = ["found:nothing"]\n[find.project]\nfiles = []\n', "section.project.when: unknown lookup rule 'nothing'"
    )


# Places


def test_between_is_every_folder_between_root_and_working_directory(tree, layout_text):
    tree({"w/.git": None, "w/A.md": "root", "w/a/A.md": "a", "w/a/b/A.md": "b", "w/a/b/c/A.md": "c"})
    assert layout_text('[find.project]\norder = "nearest"\nfiles = ["between:A.md"]\n', "w/a/b/c") == "b a"
    assert layout_text('[find.project]\nfiles = ["between:A.md"]\n', "w/a") == ""
    assert layout_text('[find.project]\nfiles = ["between:A.md"]\n') == ""
    assert layout_text('[find.project]\nfiles = ["cwd:A.md", "between:A.md", "root:A.md"]\n', "w/a/b") == "b a root"


def test_above_is_the_folder_above_the_repository(tree, layout_text):
    tree({"w/in/.git": None, "w/A.md": "above", "w/in/A.md": "root", "A.md": "too far"})
    table = '[find.project]\nfiles = ["above:A.md", "walk:A.md"]\n'
    assert layout_text(table, "w/in") == "above root"
    tree({"plain/x/A.md": "x", "plain/A.md": "p"})
    assert layout_text(table, "plain/x") == "x"


def test_a_layout_in_the_workspace_cannot_use_above(tree):
    tree({"w/in/.git": None, "w/A.md": "above"})
    tree({"w/in/.foreword/prompts/own.toml": BASE + '[find.project]\nfiles = ["above:A.md"]\n'})
    prompt = tree.prompt("$workspace/own", "w/in")
    assert "above" not in prompt.text and "workspace-refused" in dict(tree.findings(prompt))


ENV = 'sections = ["project"]\n[section.project]\nlist = "project"\n[env]\nAGENT_HOME = "~/.agent"\n'


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({}, "default"),
        ({"AGENT_HOME": "moved"}, "moved"),
        ({"AGENT_HOME": ""}, "default"),
        ({"AGENT_HOME": "none"}, ""),
    ],
)
def test_an_environment_variable_moves_a_folder(tree, layout_text, environment, text):
    tree({"home/.agent/A.md": "default", "moved/A.md": "moved", "w/.git": None})
    table = '[find.project]\nfiles = ["env:AGENT_HOME/A.md"]\n'
    assert layout_text(table, base=ENV, environment=environment) == text
    if text:
        assert (
            next(candidate.layer for candidate in layout_text.prompt.candidates if candidate.fate == "used") == "user"
        )


def test_a_variable_that_is_not_an_absolute_path_is_ignored(tree):
    tree(
        {
            "own.toml": ENV + '[find.project]\nfiles = ["env:AGENT_HOME/A.md"]\n',
            "w/A.md": "w",
            "home/.agent/A.md": "mine",
        }
    )
    workspace = replace(tree.workspace(), environment={"AGENT_HOME": "."})
    assert assemble(workspace, layout=tree.path("own.toml")).text.strip() == "mine"


def test_a_variable_that_points_into_the_workspace_does_not_allow_its_links(tree, layout_text):
    tree({"w/.git": None, "secret.md": "secret", "w/.agent/A.md": Path("../../secret.md")})
    assert (
        layout_text(
            '[find.project]\nfiles = ["env:AGENT_HOME/A.md"]\n', base=ENV, environment={"AGENT_HOME": "w/.agent"}
        )
        == ""
    )
    assert "link-refused" in dict(tree.findings(layout_text.prompt))


def test_a_variable_may_be_used_with_wildcards(tree, layout_text):
    tree({"home/.agent/rules/a/x.md": "x", "home/.agent/rules/y.md": "y"})
    assert layout_text('[find.project]\nfiles = ["env:AGENT_HOME/rules/**/*.md"]\n', base=ENV) == "x\n\ny"


def test_a_workspace_cannot_use_a_variable(tree):
    tree({"w/.git": None, "home/.agent/A.md": "secret"})
    tree({"w/.foreword/prompts/own.toml": ENV + '[find.project]\nfiles = ["env:AGENT_HOME/A.md"]\n'})
    prompt = tree.prompt("$workspace/own")
    assert "secret" not in prompt.text and "workspace-refused" in dict(tree.findings(prompt))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("env:AGENT_HOM/A.md", "'env:AGENT_HOM/A.md' needs 'AGENT_HOM' in [env]; did you mean 'AGENT_HOME'?"),
        ("env:AGENT_HOME", "does not name a file"),
        ("env:AGENT_HOME/../A.md", "points outside its place"),
        ("between:", "does not name a file"),
        ("system:/etc/A.md", "points outside its place"),
    ],
)
def test_an_invalid_place_is_an_error(pattern, message):
    assert_invalid(f'[find.project]\nfiles = ["{pattern}"]\n', message, ENV)


def test_a_group_does_not_mix_walked_places():
    assert_invalid(
        '[find.project]\nfiles = [["walk:A.md", "between:A.md"]]\n',
        "'walk' and another place cannot be in the same group",
    )
    assert_invalid(
        '[find.project]\nfiles = [["between:A.md", "cwd:A.md"]]\n',
        "'between' and another place cannot be in the same group",
    )


def test_the_default_of_a_variable_must_be_a_path():
    assert_invalid("AGENT_HOME = 1\n", "env.AGENT_HOME", "sections = []\n[env]\n")
    assert_invalid(
        'AGENT_HOME = ".agent"\n', "env.AGENT_HOME: '.agent' must start with '/' or '~/'", "sections = []\n[env]\n"
    )


def test_files_of_the_administrator_are_found(tree, layout_text):
    tree({"etc/agent/A.md": "managed", "etc/agent/rules/b.md": "rule"})
    top = tree.top.lstrip("/")
    files = f'["system:{top}/etc/agent/A.md", "system:{top}/etc/agent/rules/**/*.md", "system:{top}/none/*.md"]'
    assert layout_text(f"[find.project]\nfiles = {files}\n") == "managed rule"
    assert tree.findings(layout_text.prompt) == []
    assert {candidate.layer for candidate in layout_text.prompt.candidates} == {"system"}


def test_a_folder_can_be_named_after_the_root(tree, layout_text):
    tree({"w/in.x/.git": None, "w/in.x/sub": None})
    slug = "".join(character if character.isalnum() else "-" for character in tree.path("w/in.x"))
    tree({f"home/notes/{slug}/A.md": "mine", f"home/notes/{slug}-sub/A.md": "other"})
    assert layout_text('[find.project]\nfiles = ["home:notes/{root|slug}/A.md"]\n', "w/in.x/sub") == "mine"


@pytest.mark.parametrize("field", ["{root|line}", "{cwd|slug}", "{|}"])
def test_an_unknown_field_in_a_pattern_is_an_error(field):
    assert_invalid(f'[find.project]\nfiles = ["home:{field}/A.md"]\n', f"unknown field {field!r}")


# markers


@pytest.mark.parametrize(
    ("markers", "text"),
    [
        ('markers = [".git"]', "git sub cwd"),
        ('markers = [".hg", "package.json"]', "sub cwd"),
        ('markers = ["top.txt"]', "top git sub cwd"),
        ('markers = ["none"]', "cwd"),
        ("markers = []", "cwd"),
        ('markers = ["{marks}"]', "sub cwd"),
    ],
)
def test_markers_decide_where_the_walk_starts(tree, layout_text, markers, text):
    tree({"w/A.md": "top", "w/top.txt": "", "w/in/.git": None, "w/in/A.md": "git", "w/in/sub/package.json": ""})
    tree({"w/in/sub/A.md": "sub", "w/in/sub/x/A.md": "cwd"})
    table = f'[settings]\nmarks = ["package.json"]\n[find.project]\n{markers}\nfiles = ["walk:A.md"]\n'
    assert layout_text(table, "w/in/sub/x") == text


def test_a_new_marker_is_noticed(tree):
    tree(
        {
            "own.toml": BASE + '[find.project]\nmarkers = ["mark"]\nfiles = ["walk:A.md"]\n',
            "w/A.md": "top",
            "w/x/A.md": "x",
        }
    )
    from foreword.engine.assembler import Assembler

    assembler = Assembler(tree.workspace("w/x"), tree.path("own.toml"))
    assert assembler.prompt().text.strip() == "x"
    tree({"w/mark": ""})
    assert assembler.prompt().text.strip() == "top x"


@pytest.mark.parametrize("marker", [".", "..", "a/b", "*.md", "/"])
def test_an_invalid_marker_is_an_error(marker):
    assert_invalid(
        f'[find.project]\nmarkers = ["{marker}"]\nfiles = []\n', f"{marker!r} is not the name of a file or folder"
    )


@pytest.mark.parametrize("untrusted", ["find.project.markers", "settings.marks"])
def test_a_workspace_cannot_choose_its_root(untrusted):
    table = '[settings]\nmarks = ["x"]\n[find.project]\nmarkers = ["{marks}"]\nfiles = []\n'
    assert_invalid(table, "a workspace may not choose what counts as the root", untrusted=[untrusted])


def test_unknown_settings_and_empty_strings_are_errors():
    assert_invalid('[find.project]\nmarkers = ["{mark}"]\nfiles = []\n', "unknown setting 'mark'")
    assert_invalid('[find.project]\nexclude = [" "]\nfiles = []\n', "find.project.exclude contains an empty string")


# hidden


def test_hidden_files_are_found_only_if_the_layout_asks(tree, layout_text):
    rules = {"a.md": "a", ".b.md": "hidden", "c/d/e.md": "deep", ".f/g.md": "below", "h.MD": "case", ".git/i.md": "git"}
    tree({"w/.git": None, **{f"w/rules/{name}": text for name, text in rules.items()}})
    assert layout_text('[find.project]\nfiles = ["walk:rules/**/*.md"]\n') == "a deep"
    tree({"w/rules/.git/x": ""})
    assert layout_text('[find.project]\nhidden = true\nfiles = ["walk:rules/**/*.md"]\n') == "hidden below a deep"


# exclude


@pytest.mark.parametrize(
    ("glob", "text"),
    [
        ("sub/A.md", "root"),
        ("**/sub/A.md", "root"),
        ("**/sub/**", "root"),
        ("~/**", "root sub"),
        ("{sub,other}/*.md", "root"),
        ("*.md", "sub"),
        ("sub", "root sub"),
        ("{globs}", "root"),
    ],
)
def test_excluded_files_are_left_out(tree, layout_text, glob, text):
    tree({"w/.git": None, "w/A.md": "root", "w/sub/A.md": "sub"})
    table = f'[settings]\nglobs = ["x/**", "**/sub/*"]\n[find.project]\nexclude = ["{glob}"]\nfiles = ["walk:A.md"]\n'
    assert layout_text(table, "w/sub") == text
    if text == "root":
        assert fate_of(tree, layout_text, "/w/sub/A.md")[1].startswith("it is excluded by '")


def test_the_next_of_a_group_replaces_an_excluded_file(tree, layout_text):
    tree({"w/.git": None, "w/A.md": "a", "w/B.md": "b"})
    assert layout_text('[find.project]\nexclude = ["A.md"]\nfiles = [["walk:A.md", "walk:B.md"]]\n') == "b"


@pytest.mark.parametrize(
    ("path", "glob", "matches"),
    [
        ("/a/b.md", "/a/*.md", True),
        ("/a/b/c.md", "/a/*.md", False),
        ("/a/b/c.md", "/a/**/*.md", True),
        ("/a/c.md", "/a/**/*.md", True),
        ("/a/b/c", "/a/**", True),
        ("/a", "/a/**", True),
        ("/a/bcb.md", "/a/b*b.md", True),
        ("/a/bcd.md", "/a/b*b.md", False),
        ("/a/b.md", "/a/?.md", True),
        ("/a/x.ts", "/a/*.{ts,tsx}", True),
        ("/a/x.js", "/a/*.{ts,tsx}", False),
        ("/a/xy/z.js", "/a/{x{y,z},q}/*.js", True),
        ("/a/b", "**", True),
        ("/a/b", "", False),
        ("/a/{b", "/a/{b", True),
    ],
)
def test_globs_match_paths(path, glob, matches):
    assert matches_glob(path, glob) == matches


def test_matching_hostile_globs_ends():
    assert not matches_glob("/" + "a/" * 500 + "b", "/" + "**/a*/" * 500 + "c")
    assert not matches_glob("/" + "a" * 5000, "/" + "*a" * 2000 + "b")
    assert len(expand_braces("{a,b}" * 60)) <= 300
    assert not matches_glob("/a", "/a" + "{" + "," * 500_000 + "}" + "x" * 500_000)


# where, unless


RULES = {
    "plain.md": "plain",
    "scoped.md": '---\npaths:\n  - "src/**/*.ts"\n  - lib/*.ts\n---\nscoped',
    "all.md": '---\npaths: "**"\n---\nall',
    "none.md": "---\npaths: []\n---\nnone",
    "always.md": "---\nalwaysApply: true\nglobs: x/**\n---\nalways",
    "never.md": "---\nalwaysApply: false\ndescription: By hand.\n---\nnever",
}


@pytest.mark.parametrize(
    ("keys", "used"),
    [
        ('where = { paths = "" }', "always never none plain"),
        ('where = { paths = ["", "**"] }', "all always never none plain"),
        ("where = { alwaysApply = true }", "always"),
        ("where = { alwaysApply = [''] }", "all none plain scoped"),
        ('where = { alwaysApply = true, paths = "x" }', ""),
        ('alias = { globs = "paths" }\nwhere = { paths = "" }', "never none plain"),
        ('alias = { globs = "paths" }\nunless = { paths = "x/**" }', "all never none plain scoped"),
        ("unless = { alwaysApply = true }", "all never none plain scoped"),
        ('unless = { alwaysApply = false, paths = ["**"] }', "always none plain scoped"),
    ],
)
def test_where_and_unless_select_files_by_front_matter(tree, layout_text, keys, used):
    tree({"w/.git": None, **{f"w/rules/{name}": text for name, text in RULES.items()}})
    layout_text(f'[find.project]\nfiles = ["root:rules/*.md"]\n{keys}\n')
    fates = {path.removeprefix("/w/rules/").removesuffix(".md"): fate for path, fate in tree.fates(layout_text.prompt)}
    assert sorted(name for name, fate in fates.items() if fate == "used") == used.split()
    assert set(fates) == {name.removesuffix(".md") for name in RULES}


@pytest.mark.parametrize("key", ['where = { paths = "" }', 'unless = { paths = "**/*.ts" }'])
def test_where_and_unless_apply_below_one_folder(tree, layout_text, key):
    scoped = "---\npaths: '**/*.ts'\n---\n"
    tree({"w/.git": None, "w/N.md": scoped + "N", "w/.x/rules/a.md": scoped + "A", "w/rules/b.md": scoped + "B"})
    files = 'files = ["root:N.md", "root:.x/rules/*.md", "root:rules/*.md"]'
    layout_text(f'[find.project]\n{files}\n{key}\nbelow = [".x/rules"]\n')
    assert tree.fates(layout_text.prompt) == [
        ("/w/N.md", "used"),
        ("/w/.x/rules/a.md", "waiting"),
        ("/w/rules/b.md", "used"),
    ]


@pytest.mark.parametrize(
    ("keys", "name", "expected"),
    [
        (
            'where = { paths = "" }',
            "scoped",
            ("waiting", "it waits for a file that matches src/**/*.ts, lib/*.ts (paths in its front matter)"),
        ),
        (
            "where = { alwaysApply = false }",
            "always",
            ("waiting", "it waits for a file that matches x/** (globs in its front matter)"),
        ),
        (
            'where = { paths = "" }\nalias = { globs = "paths" }',
            "always",
            ("waiting", "it waits for a file that matches x/** (globs in its front matter)"),
        ),
        ("where = { alwaysApply = true }", "never", ("unused", "its front matter has alwaysApply: false")),
        ("where = { alwaysApply = true }", "plain", ("unused", "its front matter has no alwaysApply")),
    ],
)
def test_a_rule_that_is_left_out_says_what_it_waits_for(tree, layout_text, keys, name, expected):
    tree({"w/.git": None, **{f"w/rules/{name}": text for name, text in RULES.items()}})
    layout_text(f'[find.project]\nfiles = ["root:rules/*.md"]\n{keys}\n')
    assert fate_of(tree, layout_text, f"/w/rules/{name}.md") == expected


@pytest.mark.parametrize("front", ["paths: [a\n  b: }", "paths: 'x\n", "- a\n- b", "&a [*a]"])
def test_malformed_front_matter_is_reported_and_other_files_load(tree, layout_text, front):
    tree({"w/.git": None, "w/rules/a.md": f"---\n{front}\n---\nA", "w/rules/b.md": "B"})
    assert layout_text('[find.project]\nfiles = ["root:rules/*.md"]\nwhere = { alwaysApply = "" }\n').endswith("B")
    assert ("front-matter-invalid", "/w/rules/a.md") in tree.findings(layout_text.prompt)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("where = { paths = [] }", "find.project.where.paths can never match"),
        ("alias = { paths = true }", "find.project.alias.paths must be the name of another field, not True"),
        ("where = { paths = 1 }", "where must be a table of strings"),
        ('where = "paths"', "where must be a table of strings"),
        ('where = { paths = "" }\nbelow = ["/"]', "find.project.below contains an empty name"),
        ('below = ["rules"]', "find.project.below has no effect without where, unless or match"),
        ('unless = { "" = "x" }', "find.project.unless has a field without a name"),
        (
            'as = "skill"\nwhere = { paths = "" }',
            "find.project.where is only for files that are used as text, not as skill",
        ),
        (
            'as = "agent"\nmatch = ["paths"]',
            "find.project.match is only for text and skills, not for files that are used as agent",
        ),
        (
            'as = "skill"\nmatch = ["globs"]',
            'find.project.match: a skill names its files in paths; write match = ["paths"]',
        ),
        ('as = "agent"\nscoped = "wait"', "find.project.scoped is only for skills; with match, it must be 'list'"),
        (
            'as = "skill"\nmatch = ["paths"]\nscoped = "wait"',
            "find.project.scoped is only for skills; with match, it must be 'list'",
        ),
        (
            'as = "agent"\norder = "path"',
            "find.project.order of files that are used as agent must be one of name, layer, found, directory, not 'path'",
        ),
        ('as = "skill"\nexclude = ["x"]', "find.project.exclude is only for files"),
    ],
)
def test_invalid_conditions_on_front_matter_are_errors(keys, message):
    assert_invalid(f"[find.project]\nfiles = []\n{keys}\n", message, "sections = []\n")
