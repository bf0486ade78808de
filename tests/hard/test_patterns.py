"""Files matched by a layout's patterns, and patterns rejected when the layout is read."""

import pytest

from foreword.errors import LayoutError

LAYOUT = """
sections = ["all"]
[find.all]
files = [{pattern!r}]
[section.all]
list = "all"
item = "{{path}}"
"""


@pytest.fixture
def find_files(tree):
    """Return a function that lists the files a pattern in the caller's layout matches in the workspace."""

    def find(pattern):
        tree({"own.toml": LAYOUT.format(pattern=pattern)})
        prompt = tree.prompt(tree.path("own.toml"))
        return tree.short(prompt.text).replace("/w/", "").split("\n"), tree.findings(prompt)

    return find


FILES = [
    "N.md", "a/N.md", "a/b/N.md", "rules/z.md", "rules/a/b.md", "rules/a.txt", "rules/a/.hidden.md", ".hidden/N.md", ".hidden/a/N.md",
    "node_modules/N.md", "a/node_modules/x/N.md", "nested/N.md", "nested/deep/N.md", "app/[id]/M.md", "app/(shop)/M.md", "{{x.slug}}/M.md",
]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("cwd:rules/**/*.md", ["rules/a/b.md", "rules/z.md"]),
        ("cwd:./N.md", ["N.md"]),
        ("cwd:a//./b/N.md", ["a/b/N.md"]),
        ("path:./a/./N.md", ["a/N.md"]),
        ("cwd:rules/**", ["rules/a.txt", "rules/a/b.md", "rules/z.md"]),
        ("cwd:**/N.md", ["N.md", "a/N.md", "a/b/N.md"]),
        ("cwd:**/b/N.md", ["a/b/N.md"]),
        ("cwd:**/a/**/N.md", ["a/N.md", "a/b/N.md"]),
        ("cwd:*/N.md", ["a/N.md", "nested/N.md", "node_modules/N.md"]),
        ("cwd:**/.hidden/N.md", [".hidden/N.md"]),
        ("cwd:.hidden/**/N.md", [".hidden/N.md", ".hidden/a/N.md"]),
        ("root:nested/**/N.md", ["nested/N.md", "nested/deep/N.md"]),
        ("path:rules/**/*.md", ["rules/a/b.md", "rules/z.md"]),
        ("walk:rules/*/*.md", ["rules/a/b.md"]),
        ("cwd:**/nothing.md", [""]),
        ("cwd:rules/**/*.{md,txt}", ["rules/a/b.md", "rules/z.md", "rules/a.txt"]),
        ("cwd:{a,rules/{z,none}}{/N,}.md", ["a/N.md", "rules/z.md"]),
        ("cwd:app/[id]/*.md", ["app/[id]/M.md"]),
        ("cwd:app/[*]/M.md", ["app/[id]/M.md"]),
        ("cwd:app/(shop)/*.md", ["app/(shop)/M.md"]),
        ("cwd:{{x.slug}}/*.md", ["{{x.slug}}/M.md"]),
    ],
)
def test_pattern_matches(tree, find_files, pattern, expected):
    tree({"w/.git": None, "w/nested/.git": None, **{f"w/{name}": name for name in FILES}})
    assert find_files(pattern) == (expected, [])


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("cwd:../AGENTS.md", "points outside its place"),
        ("home:a/../../x.md", "points outside its place"),
        ("cwd:**/../x.md", "points outside its place"),
        ("root:/etc/passwd", "points outside its place"),
        ("cwd:", "does not name a file"),
        ("cwd:.", "does not name a file"),
        ("cwd:rules/", "does not name a file"),
        ("cwd:**/", "does not name a file"),
        ("path:..", "does not name a file"),
        ("cwd:**.md", "must be a whole segment"),
        ("cwd:rules/a**/x.md", "must be a whole segment"),
        ("path:*/../x.md", "cannot follow a wildcard"),
        ("cwd:rules/*.??", "'\\?' is not a wildcard here; write"),
        ("cwd:rules/*.[mt]*", "'\\[ab\\]' is not supported in a name with"),
        ("cwd:rules/*.(md|txt)", "write '{a,b}'"),
        ("cwd:rules/*.{md,txt", "has an unpaired brace; write alternatives"),
        ("cwd:rules/*.{md,{dir}}", "write one pattern for each alternative"),
        ("cwd:" + "{a,b}" * 30, "has more than 100 alternatives"),
    ],
)
def test_an_invalid_pattern_is_an_error(find_files, pattern, word):
    with pytest.raises(LayoutError, match=word):
        find_files(pattern)


RULES = """
sections = ["all", "more"]
[find.all]
files = ["root:.rules", {more}]
[find.more]
files = ["walk:OTHER.md", {below}]
[section.all]
list = "all"
[section.more]
list = "more"
"""


@pytest.mark.parametrize(
    ("more", "below", "fates"),
    [
        ('"root:.rules/*.md"', "", [("/w/.rules/a.md", "used")]),
        ('"root:*", "root:*/b.md"', '"walk:.rules/**/*.md"', [("/w/.rules/a.md", "used")]),
        ('"home:.rules/*.md"', '"root:.rules2/*.md"', [("/w/.rules", "unreadable")]),
    ],
)
def test_a_folder_that_another_pattern_searches_is_not_reported(tree, more, below, fates):
    tree({"w/.git": None, "w/.rules/a.md": "A", "own.toml": RULES.format(more=more, below=below)})
    prompt = tree.prompt(tree.path("own.toml"))
    assert [pair for pair in tree.fates(prompt) if pair[1] != "absent"] == fates
    assert [code for code, _ in tree.findings(prompt)] == ["file-unreadable"] * (fates[0][1] == "unreadable")


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("A.{md,txt}", []),
        (f"{{{','.join('x' * 101)}}}.md", ["pattern-literal"] * 3),
        ("A?.md", ["pattern-literal"] * 3),
        ("[a].md", []),
    ],
)
def test_a_setting_with_a_wildcard_that_is_taken_literally_is_reported(tree, name, codes):
    tree({"w/.git": None})
    assert [code for code, _ in tree.findings(tree.prompt("opal", set={"names": [name]}))] == codes


def test_a_setting_that_names_a_missing_folder_is_reported(tree, skill):
    tree({"w/.git": None, "extra/a/SKILL.md": skill("a"), "file": "x"})
    existing = tree.prompt("opal", set={"skill_dirs": [tree.path("extra")]})
    assert (tree.findings(existing), "**a**" in existing.text) == ([], True)
    for name in ("missing", "file"):
        prompt = tree.prompt("opal", set={"skill_dirs": [tree.path(name)]})
        assert tree.findings(prompt) == [("folder-missing", f"/{name}")]


# White space around sections


TRIMMED_LAYOUT = """
sections = ["first", "own", "last"]
[section.first]
text = "FIRST"
[section.last]
text = "LAST"
[section.own]
{own}
[section.inner]
text = "  inner  "
trim = false
[find.all]
files = ["cwd:AGENTS.md"]
"""


@pytest.mark.parametrize(
    ("own", "between"),
    [
        ('text = "  "', None),
        ('text = " \\n\\t\\n "', None),
        ('text = "  x  "', "  x"),
        ('text = "\\n  x\\n y \\n\\n"', "  x\n y"),
        ('text = "{model}  "', None),
        ('text = "Model: {model}"', "Model:"),
        ('text = "  x  "\ntrim = false', "  x  "),
        ('text = "  "\nwrap = "<a>\\n{}\\n</a>"', None),
        ('sections = ["inner"]', "  inner  "),
        ('sections = ["inner"]\nwrap = " {} "\ntrim = true', "   inner"),
        ('list = "all"\nitem = "  - {text}  "', "  - x  "),
        ('list = "all"\nitem = "  - {text}  "\ntrim = true', "  - x"),
    ],
)
def test_trim_removes_white_space_around_sections(tree, own, between):
    tree({"w/AGENTS.md": "x", "own.toml": TRIMMED_LAYOUT.replace("{own}", own)})
    expected = ["FIRST", *([between] if between is not None else []), "LAST"]
    assert tree.prompt(tree.path("own.toml")).text == "\n\n".join(expected)
