"""Which files a lookup takes and in which order: order, when, places, markers, hidden, exclude."""

import tomllib
from pathlib import Path

import pytest

from foreword import assemble
from foreword.errors import LayoutError
from foreword.layout.parse import parse
from foreword.sources.globs import alternatives, matches_glob
from foreword.vocabulary import replace

BASE = """
about = "Mine."
sections = ["project"]
[section.project]
of = "project"
item = "{text}"
join = " "
"""


@pytest.fixture
def shown(tree):
    """Return a function that returns the prompt of a layout with these lookups, as one line."""

    def shown(lookups, cwd="w", sections="", base=BASE, **options):
        tree({"own.toml": base + lookups + sections})
        shown.prompt = tree.prompt(tree.path("own.toml"), cwd, **options)
        return shown.prompt.text.strip()

    return shown


def invalid(lookups, message, base=BASE, untrusted=()):
    with pytest.raises(LayoutError) as refused:
        parse(tomllib.loads(base + lookups), "mine", untrusted=frozenset(untrusted))
    assert message in str(refused.value)


def fate(tree, shown, path):
    return next((each.fate, tree.short(each.reason)) for each in shown.prompt.candidates if each.path.endswith(path))


# order


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ("", "root notes apps deep"),
        ('order = "farthest"', "root notes apps deep"),
        ('order = "nearest"', "deep apps root notes"),
        ('order = "path"', "deep apps root notes"),
    ],
)
def test_order(tree, shown, order, text):
    tree({"w/.git": None, "w/A.md": "root", "w/B.md": "notes", "w/.APPS/A.md": "apps", "w/.APPS/.x/A.md": "deep"})
    assert shown(f'[find.project]\n{order}\nfiles = ["walk:A.md", "walk:B.md"]\n', "w/.APPS/.x") == text


def test_order_by_path_puts_a_file_between_its_folders(tree, shown):
    tree({"w/.git": None, "w/M.md": "root", "w/a/M.md": "small", "w/a/B/M.md": "big"})
    assert shown('[find.project]\norder = "path"\nfiles = ["walk:M.md"]\n', "w/a/B") == "root big small"


def test_order_by_path_is_by_code_unit(tree, shown):
    tree({"w/.git": None, "w/\uffee/\U0001f600.md": "emoji", "w/\uffee/\uffee.md": "form"})
    assert shown('[find.project]\norder = "path"\nfiles = ["root:\uffee/*.md"]\n') == "emoji form"


@pytest.mark.parametrize(("order", "text"), [("farthest", "sub"), ("nearest", "sub"), ("path", "sub")])
def test_only_the_nearest_in_every_order(tree, shown, order, text):
    tree({"w/.git": None, "w/AGENTS.md": "root", "w/sub/AGENTS.md": "sub"})
    find = f'[find.project]\norder = "{order}"\ntake = "nearest"\nfiles = ["walk:AGENTS.md"]\n'
    assert shown(find, "w/sub") == text


@pytest.mark.parametrize("order", ["farthest", "nearest", "path"])
def test_the_nearest_of_equal_texts_stays_in_every_order(tree, shown, order):
    tree({"w/.git": None, "w/AGENTS.md": "same", "w/sub/AGENTS.md": "same", "w/sub/x/y": ""})
    assert shown(f'[find.project]\norder = "{order}"\nfiles = ["walk:AGENTS.md"]\n', "w/sub/x") == "same"
    assert fate(tree, shown, "/w/sub/AGENTS.md")[0] == "used"
    assert fate(tree, shown, "/w/AGENTS.md")[0] == "duplicate"


# when, found:


CHAIN = """
[find.claude]
files = ["walk:CLAUDE.md"]
[find.agents]
files = ["walk:AGENTS.md"]
when = ["!found:claude"]
[find.project]
files = ["walk:NOTES.md"]
"""
LISTS = """
sections = ["claude", "agents", "project", "hint"]
about = "Mine."
[section.claude]
of = "claude"
[section.agents]
of = "agents"
[section.project]
of = "project"
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
def test_a_lookup_may_depend_on_another(tree, shown, files, text):
    tree({"w/.git": None, "w/sub": None, **files})
    assert shown(CHAIN, "w/sub", base=LISTS) == text


def test_a_hidden_file_says_what_hides_it(tree, shown):
    tree({"w/.git": None, "w/AGENTS.md": "A", "w/CLAUDE.md": "C"})
    shown(CHAIN, base=LISTS)
    reason = "it counts only without files such as /w/CLAUDE.md"
    assert fate(tree, shown, "/w/AGENTS.md") == ("shadowed", reason)
    assert ("file-shadowed", f"/w/AGENTS.md: {reason}") in tree.messages(shown.prompt)


def test_a_lookup_that_only_conditions_name_adds_nothing(tree, shown):
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
of = "other"
"""
    base = BASE.replace('["project"]', '["project", "other"]')
    assert shown(lookups, base=base) == "C R"
    assert fate(tree, shown, "/w/rule.md") == ("used", "")
    assert [path for code, path in tree.findings(shown.prompt) if code == "file-shadowed"] == ["/w/AGENTS.md"]
    (tree({"w/CLAUDE.md": ""}))
    assert shown(lookups, base=base) == "R\n\nA"


def test_a_lookup_may_depend_on_a_setting_and_the_platform(tree, shown):
    tree({"w/.git": None, "w/NOTES.md": "N"})
    find = (
        '[find.project]\nfiles = ["walk:NOTES.md"]\nwhen = ["set:notes", "platform:linux"]\n[settings]\nnotes = true\n'
    )
    assert shown(find) == "N"
    assert shown(find, set={"notes": False}) == "" and "set:notes" in fate(tree, shown, "NOTES.md")[1]
    assert shown(find, platform="darwin") == ""


def test_a_condition_is_seen_again_when_a_file_appears(tree):
    tree({"own.toml": LISTS + CHAIN, "w/.git": None, "w/AGENTS.md": "A"})
    from foreword.engine.assembler import Assembler

    assembler = Assembler(tree.workspace(), tree.path("own.toml"))
    assert assembler.prompt().text.strip() == "A"
    tree({"w/CLAUDE.md": "C"})
    assert assembler.prompt().text.strip() == "C\n\nHINT"


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("found:claud", "unknown lookup rule 'claud'; did you mean 'claude'?"),
        ("found:project", "unknown lookup rule 'project'"),  # itself
        ("found:last", "unknown lookup rule 'last'"),  # below it
        ("tools", "unknown condition 'tools'; conditions are found:NAME, set:NAME, platform:NAME"),
        ("tool:x", "unknown condition 'tool:x'"),
        ("found:", "unknown lookup rule ''"),
    ],
)
def test_an_invalid_condition_of_a_lookup(when, message):
    lookups = f'[find.claude]\nfiles = []\n[find.project]\nwhen = ["{when}"]\nfiles = []\n[find.last]\nfiles = []\n'
    invalid(lookups, message)


def test_a_section_may_name_any_lookup():
    invalid(
        'when = ["found:nothing"]\n[find.project]\nfiles = []\n', "section.project.when: unknown lookup rule 'nothing'"
    )


# Places


def test_between(tree, shown):
    tree({"w/.git": None, "w/A.md": "root", "w/a/A.md": "a", "w/a/b/A.md": "b", "w/a/b/c/A.md": "c"})
    assert shown('[find.project]\norder = "nearest"\nfiles = ["between:A.md"]\n', "w/a/b/c") == "b a"
    assert shown('[find.project]\nfiles = ["between:A.md"]\n', "w/a") == ""
    assert shown('[find.project]\nfiles = ["between:A.md"]\n') == ""
    assert shown('[find.project]\nfiles = ["cwd:A.md", "between:A.md", "root:A.md"]\n', "w/a/b") == "b a root"


def test_above(tree, shown):
    tree({"w/in/.git": None, "w/A.md": "above", "w/in/A.md": "root", "A.md": "too far"})
    find = '[find.project]\nfiles = ["above:A.md", "walk:A.md"]\n'
    assert shown(find, "w/in") == "above root"
    tree({"plain/x/A.md": "x", "plain/A.md": "p"})
    assert shown(find, "plain/x") == "x"


def test_above_is_not_for_a_workspace(tree):
    tree({"w/in/.git": None, "w/A.md": "above"})
    tree({"w/in/.foreword/prompts/own.toml": BASE + '[find.project]\nfiles = ["above:A.md"]\n'})
    prompt = tree.prompt("$workspace/own", "w/in")
    assert "above" not in prompt.text and "workspace-refused" in dict(tree.findings(prompt))


ENV = 'sections = ["project"]\n[section.project]\nof = "project"\n[env]\nAGENT_HOME = "~/.agent"\n'


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({}, "default"),
        ({"AGENT_HOME": "moved"}, "moved"),
        ({"AGENT_HOME": ""}, "default"),
        ({"AGENT_HOME": "none"}, ""),
    ],
)
def test_a_folder_moved_by_a_variable(tree, shown, environment, text):
    tree({"home/.agent/A.md": "default", "moved/A.md": "moved", "w/.git": None})
    find = '[find.project]\nfiles = ["env:AGENT_HOME/A.md"]\n'
    assert shown(find, base=ENV, environment=environment) == text
    if text:
        assert next(each.layer for each in shown.prompt.candidates if each.fate == "used") == "user"


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


def test_a_variable_that_leads_into_the_workspace_does_not_open_its_links(tree, shown):
    tree({"w/.git": None, "secret.md": "secret", "w/.agent/A.md": Path("../../secret.md")})
    assert (
        shown('[find.project]\nfiles = ["env:AGENT_HOME/A.md"]\n', base=ENV, environment={"AGENT_HOME": "w/.agent"})
        == ""
    )
    assert "link-refused" in dict(tree.findings(shown.prompt))


def test_a_variable_in_a_pattern_with_wildcards(tree, shown):
    tree({"home/.agent/rules/a/x.md": "x", "home/.agent/rules/y.md": "y"})
    assert shown('[find.project]\nfiles = ["env:AGENT_HOME/rules/**/*.md"]\n', base=ENV) == "x\n\ny"


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
        ("env:AGENT_HOME/../A.md", "leaves its place"),
        ("between:", "does not name a file"),
        ("system:/etc/A.md", "leaves its place"),
    ],
)
def test_an_invalid_place(pattern, message):
    invalid(f'[find.project]\nfiles = ["{pattern}"]\n', message, ENV)


def test_a_group_does_not_mix_walked_places():
    invalid('[find.project]\nfiles = [["walk:A.md", "between:A.md"]]\n', "'walk' and another cannot be alternatives")
    invalid('[find.project]\nfiles = [["between:A.md", "cwd:A.md"]]\n', "'between' and another cannot be alternatives")


def test_the_default_of_a_variable_is_text():
    invalid("AGENT_HOME = 1\n", "env.AGENT_HOME", "sections = []\n[env]\n")
    invalid('AGENT_HOME = ".agent"\n', "env.AGENT_HOME: '.agent' must start with '/' or '~/'", "sections = []\n[env]\n")


def test_files_of_the_administrator(tree, shown):
    tree({"etc/agent/A.md": "managed", "etc/agent/rules/b.md": "rule"})
    top = tree.top.lstrip("/")
    files = f'["system:{top}/etc/agent/A.md", "system:{top}/etc/agent/rules/**/*.md", "system:{top}/none/*.md"]'
    assert shown(f"[find.project]\nfiles = {files}\n") == "managed rule"
    assert tree.findings(shown.prompt) == []
    assert {each.layer for each in shown.prompt.candidates} == {"system"}


def test_a_folder_named_after_the_root(tree, shown):
    tree({"w/in.x/.git": None, "w/in.x/sub": None})
    slug = "".join(each if each.isalnum() else "-" for each in tree.path("w/in.x"))
    tree({f"home/notes/{slug}/A.md": "mine", f"home/notes/{slug}-sub/A.md": "other"})
    assert shown('[find.project]\nfiles = ["home:notes/{root|slug}/A.md"]\n', "w/in.x/sub") == "mine"


@pytest.mark.parametrize("field", ["{root|line}", "{cwd|slug}", "{|}"])
def test_an_unknown_field_of_a_pattern(field):
    invalid(f'[find.project]\nfiles = ["home:{field}/A.md"]\n', f"unknown field {field!r}")


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
def test_markers(tree, shown, markers, text):
    tree({"w/A.md": "top", "w/top.txt": "", "w/in/.git": None, "w/in/A.md": "git", "w/in/sub/package.json": ""})
    tree({"w/in/sub/A.md": "sub", "w/in/sub/x/A.md": "cwd"})
    find = f'[settings]\nmarks = ["package.json"]\n[find.project]\n{markers}\nfiles = ["walk:A.md"]\n'
    assert shown(find, "w/in/sub/x") == text


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
def test_an_invalid_marker(marker):
    invalid(f'[find.project]\nmarkers = ["{marker}"]\nfiles = []\n', f"{marker!r} is not the name of a file or folder")


@pytest.mark.parametrize("untrusted", ["find.project.markers", "settings.marks"])
def test_a_workspace_cannot_choose_its_root(untrusted):
    find = '[settings]\nmarks = ["x"]\n[find.project]\nmarkers = ["{marks}"]\nfiles = []\n'
    invalid(find, "a workspace may not choose what counts as the root", untrusted=[untrusted])


def test_unknown_settings_and_empty_words():
    invalid('[find.project]\nmarkers = ["{mark}"]\nfiles = []\n', "unknown setting 'mark'")
    invalid('[find.project]\nexclude = [" "]\nfiles = []\n', "find.project.exclude contains an empty string")


# hidden


def test_hidden_names(tree, shown):
    rules = {"a.md": "a", ".b.md": "hidden", "c/d/e.md": "deep", ".f/g.md": "below", "h.MD": "case", ".git/i.md": "git"}
    tree({"w/.git": None, **{f"w/rules/{name}": text for name, text in rules.items()}})
    assert shown('[find.project]\nfiles = ["walk:rules/**/*.md"]\n') == "a deep"
    tree({"w/rules/.git/x": ""})
    assert shown('[find.project]\nhidden = true\nfiles = ["walk:rules/**/*.md"]\n') == "hidden below a deep"


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
def test_exclude(tree, shown, glob, text):
    tree({"w/.git": None, "w/A.md": "root", "w/sub/A.md": "sub"})
    find = f'[settings]\nglobs = ["x/**", "**/sub/*"]\n[find.project]\nexclude = ["{glob}"]\nfiles = ["walk:A.md"]\n'
    assert shown(find, "w/sub") == text
    if text == "root":
        assert fate(tree, shown, "/w/sub/A.md")[1].startswith("it is excluded by '")


def test_an_excluded_file_gives_way_to_the_next_of_its_group(tree, shown):
    tree({"w/.git": None, "w/A.md": "a", "w/B.md": "b"})
    assert shown('[find.project]\nexclude = ["A.md"]\nfiles = [["walk:A.md", "walk:B.md"]]\n') == "b"


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
def test_globs(path, glob, matches):
    assert matches_glob(path, glob) == matches


def test_hostile_globs_end():
    assert not matches_glob("/" + "a/" * 500 + "b", "/" + "**/a*/" * 500 + "c")
    assert not matches_glob("/" + "a" * 5000, "/" + "*a" * 2000 + "b")
    assert len(alternatives("{a,b}" * 60)) <= 300
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
    ("words", "used"),
    [
        ('where = { paths = "" }', "always never none plain"),
        ('where = { paths = ["", "**"] }', "all always never none plain"),
        ("where = { alwaysApply = true }", "always"),
        ("where = { alwaysApply = [''] }", "all none plain scoped"),
        ('where = { alwaysApply = true, paths = "x" }', ""),
        ("unless = { alwaysApply = true }", "all never none plain scoped"),
        ('unless = { alwaysApply = false, paths = ["**"] }', "always none plain scoped"),
    ],
)
def test_where_and_unless(tree, shown, words, used):
    tree({"w/.git": None, **{f"w/rules/{name}": text for name, text in RULES.items()}})
    shown(f'[find.project]\nfiles = ["root:rules/*.md"]\n{words}\n')
    fates = {path.removeprefix("/w/rules/").removesuffix(".md"): fate for path, fate in tree.fates(shown.prompt)}
    assert sorted(name for name, fate in fates.items() if fate == "used") == used.split()
    assert set(fates) == {name.removesuffix(".md") for name in RULES}


@pytest.mark.parametrize("word", ['where = { paths = "" }', 'unless = { paths = "**/*.ts" }'])
def test_where_and_unless_apply_below_one_folder(tree, shown, word):
    scoped = "---\npaths: '**/*.ts'\n---\n"
    tree({"w/.git": None, "w/N.md": scoped + "N", "w/.x/rules/a.md": scoped + "A", "w/rules/b.md": scoped + "B"})
    files = 'files = ["root:N.md", "root:.x/rules/*.md", "root:rules/*.md"]'
    shown(f'[find.project]\n{files}\n{word}\nbelow = ".x/rules"\n')
    assert tree.fates(shown.prompt) == [("/w/N.md", "used"), ("/w/.x/rules/a.md", "waiting"), ("/w/rules/b.md", "used")]


@pytest.mark.parametrize(
    ("words", "name", "expected"),
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
        ("where = { alwaysApply = true }", "never", ("unused", "its front matter has alwaysApply: false")),
        ("where = { alwaysApply = true }", "plain", ("unused", "its front matter has no alwaysApply")),
    ],
)
def test_a_rule_that_is_left_out_says_what_it_waits_for(tree, shown, words, name, expected):
    tree({"w/.git": None, **{f"w/rules/{name}": text for name, text in RULES.items()}})
    shown(f'[find.project]\nfiles = ["root:rules/*.md"]\n{words}\n')
    assert fate(tree, shown, f"/w/rules/{name}.md") == expected


@pytest.mark.parametrize("front", ["paths: [a\n  b: }", "paths: 'x\n", "- a\n- b", "&a [*a]"])
def test_malformed_front_matter_is_a_finding_and_the_rest_loads(tree, shown, front):
    tree({"w/.git": None, "w/rules/a.md": f"---\n{front}\n---\nA", "w/rules/b.md": "B"})
    assert shown('[find.project]\nfiles = ["root:rules/*.md"]\nwhere = { alwaysApply = "" }\n').endswith("B")
    assert ("front-matter-invalid", "/w/rules/a.md") in tree.findings(shown.prompt)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("where = { paths = [] }", "find.project.where.paths can never fit"),
        ("where = { paths = 1 }", "where must be a table of strings"),
        ('where = "paths"', "where must be a table of strings"),
        ('below = "rules"', "find.project.below has no effect without where or unless"),
        ('unless = { "" = "x" }', "find.project.unless has a field without a name"),
        (
            'as = "skill"\nwhere = { paths = "" }',
            "find.project.where is only for files that are used as text, not as skill",
        ),
        ('as = "agent"\norder = "path"', "find.project.order is only for files that are used as text, not as agent"),
        ('as = "skill"\nexclude = ["x"]', "find.project.exclude is only for files"),
    ],
)
def test_invalid_fields(words, message):
    invalid(f"[find.project]\nfiles = []\n{words}\n", message, "sections = []\n")
