"""The key `imports`: which tokens are imports, where the imported text goes, and what may be imported."""

import os
from pathlib import Path

import pytest

from foreword import Access, Scope
from foreword.errors import LayoutError
from foreword.text.imports import import_tokens

ITEM = {"imports": {}}
REPLACE = {
    "imports": {
        "place": "replace",
        "trim": "none",
        "form": "<{name}>\n{text}\n</{name}>",
        "missing": "[missing {name}]",
        "outside": "[outside {name}]",
        "repeated": "[again {name}]",
    }
}
SECTION = {"item": "{path|root-relative}: {text}"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@a.md", ["a.md"]),
        ("see @a.md and @./b/c.txt\n@../d.md", ["a.md", "./b/c.txt", "../d.md"]),
        ("@~/x.md @/etc/y.md @LICENSE", ["~/x.md", "/etc/y.md", "LICENSE"]),
        ("**@a.md** _@b.md_ [@c.md]", []),
        ("- @a.md\n> @b.md\n| @c.md |", ["a.md", "b.md", "c.md"]),
        ("@a.md, @b.md.", ["a.md,", "b.md."]),
        ('(@a.md) me@b.md "@c.md" @@d.md @#e @(f)', []),
        ("`@a.md` ``x @b.md``\n```\n@c.md\n```\n", []),
        ("x\n\n    @a.md\n\n@1.md @_b.md @-c.md", []),
        ("~~~\n@a.md\n~~~\n@b.md\n```\n@c.md\n", ["b.md"]),
        ("\\`@a.md", []),
        ("**@a.md", []),
    ],
)
def test_import_tokens_are_found(text, names):
    assert [token.name for token in import_tokens(text)] == names


@pytest.mark.parametrize(
    ("tokens", "text", "names"),
    [
        ("markdown", "**@a.md** _@b.md_ ***@c.md*** @d.md", ["a.md", "b.md", "c.md", "d.md"]),
        ("markdown", "**@a.md (@b.md) @c.md, `@d.md` ~~@e.md~~ [@f.md]", ["c.md,"]),
        ("markdown", "x\n\n    @a.md\n\n@1.md @_b.md @-c.md", ["1.md", "_b.md", "-c.md"]),
        ("markdown", "x[@a.md](b) *@c.md* [@d.md](#e)", ["a.md", "c.md", "d.md"]),
        (
            "markdown",
            "<p>@a.md</p>\n\n@b.md\n<x>\n@c.md\n\n<!-- @d.md\n\n@e.md --> @f.md\n\n[g]: @g.md 'x'\n[h]: @h.md x",
            ["b.md", "c.md", "f.md", "h.md"],
        ),
        ("markdown", "<x>\n@a.md\n</x>\n\n@b.md <!-- @c.md -->", ["b.md"]),
        ("loose", "<p>@a.md</p>\n<!-- @b.md -->\n[c]: @c.md", ["b.md", "c.md"]),
        ("punctuated", '(@a.md) and @b.md, "@c.md". [@d.md] @e.md', ["a.md", "b.md", "c.md", "d.md", "e.md"]),
        ("punctuated", "<b>@a.md</b> [@b.md](c) x\n\n    @d.md", ["a.md", "b.md](c", "d.md"]),
        ("markdown", "<b>@a.md</b> x->@b.md <i class='c'>@d.md", ["a.md", "d.md"]),
        ("loose", "x\n\n    @a.md\n\n~~~\n@b.md\n~~~\n```\n@c.md\n```\n", ["a.md", "b.md"]),
        ("loose", "````\n@a.md\n```\n@b.md\n````\n@c.md\n```\n@d.md\n", ["c.md", "d.md"]),
        ("punctuated", "````\n@a.md\n```\n@b.md\n````\n@c.md\n", ["b.md"]),
        ("punctuated", "~~~\n@a.md\n```\n@b.md\n~~~\n@c.md\n", ["c.md"]),
        ("punctuated", "see:@a.md \\@b.md #@c.md", ["a.md", "b.md", "c.md"]),
        ("punctuated", "@é.md ü@b.md 語 @c-é.md", ["é.md", "b.md", "c-é.md"]),
        ("punctuated", "<@a.md> @@b.md -@c.md x/@d.md", ["a.md", "d.md"]),
        ("punctuated", "**@a.md** @/b.md @~/c.md x@d.md `(@e.md)` @!", []),
    ],
)
def test_each_kind_of_token_has_its_own_rules(tokens, text, names):
    tokens_found = list(import_tokens(text, tokens))
    assert [token.name for token in tokens_found] == names
    assert [text[token.start : token.end] for token in tokens_found] == [f"@{name}" for name in names]


def test_a_path_in_markdown_may_have_spaces_and_a_fragment():
    text = "see @a\\ b.md and @c.md#part\\ 2 and @d.md# and @#x"
    tokens_found = list(import_tokens(text, "markdown"))
    assert [token.name for token in tokens_found] == ["a b.md", "c.md", "d.md"]
    assert [text[token.start : token.end] for token in tokens_found] == ["@a\\ b.md", "@c.md#part\\ 2", "@d.md#"]


def test_each_file_follows_its_importer_once_depth_first(notes):
    files = {
        "w/N.md": "@a.md @sub/c.md @a.md",
        "w/a.md": "A @sub/b.md",
        "w/sub/b.md": "B @../N.md @c.md",
        "w/sub/c.md": "C",
    }
    prompt = notes.prompt(files, {**ITEM, "label": "L"}, {"item": "{path|root-relative} ({label}): {text}"})
    assert prompt.text == (
        "N.md (L): @a.md @sub/c.md @a.md\na.md (L): A @sub/b.md\nsub/b.md (L): B @../N.md @c.md\nsub/c.md (L): C"
    )
    assert notes.tree.messages(prompt) == [
        ("import-cycle", "/w/sub/b.md imports '../N.md' in a cycle: N.md -> a.md -> b.md -> N.md")
    ]
    assert [(notes.tree.short(candidate.path), candidate.layer, candidate.fate, notes.tree.short(candidate.reason)) for candidate in prompt.candidates] == [
        ("/w/N.md", "project", "used", ""),
        ("/w/a.md", "import", "used", "imported by /w/N.md"),
        ("/w/sub/b.md", "import", "used", "imported by /w/a.md"),
        ("/w/sub/c.md", "import", "used", "imported by /w/sub/b.md"),
    ]  # fmt: skip


@pytest.mark.parametrize(("relative_to", "text"), [("link", "@x.md\nnear"), ("target", "@x.md\nfar")])
def test_relative_paths_in_a_link_start_at_the_link_or_at_its_target(notes, relative_to, text):
    files = {"w/d/n.md": "@x.md", "w/d/x.md": "far", "w/x.md": "near", "w/N.md": Path("d/n.md")}
    assert notes.text(files, {"imports": {"relative_to": relative_to}}) == text


def test_a_file_that_is_imported_and_found_appears_where_it_comes_first(notes):
    files = {"w/N.md": "@x/N.md", "w/x/N.md": "X"}
    assert notes.text(files, ITEM, SECTION, cwd="w/x") == "N.md: @x/N.md\nx/N.md: X"
    files = {"w/N.md": "W", "w/x/N.md": "@../N.md"}
    assert notes.text(files, ITEM, SECTION, cwd="w/x") == "N.md: W\nx/N.md: @../N.md"


def test_a_file_that_only_points_to_another_stays_if_it_imports_it(notes):
    find = {"files": ["walk:CLAUDE.md", "walk:AGENTS.md"], **ITEM}
    assert notes.text({"w/CLAUDE.md": "@AGENTS.md", "w/AGENTS.md": "A"}, find) == "@AGENTS.md\nA"


def test_imported_text_can_replace_its_token(notes):
    files = {"w/N.md": "a @x.md b", "w/x.md": "X\n@y.md\n", "w/y.md": "Y\n"}
    prompt = notes.prompt(files, REPLACE)
    assert prompt.text == "a <x.md>\nX\n<y.md>\nY\n\n</y.md>\n\n</x.md> b"
    origins = [
        (piece.text, notes.tree.short(piece.origin.path).rpartition("/")[2], piece.origin.lines)
        for piece in prompt.passages[0].pieces
        if piece.origin.kind == "file"
    ]
    assert [origin for origin in origins if origin[2]] == [
        ("a ", "N.md", (1, 1)),
        ("X\n", "x.md", (1, 1)),
        ("Y\n", "y.md", (1, 1)),
        ("\n", "x.md", (2, 2)),
        (" b", "N.md", (1, 1)),
    ]
    assert notes.tree.fates(prompt) == [("/w/N.md", "used"), ("/w/x.md", "used"), ("/w/y.md", "used")]


def test_imported_text_can_follow_its_token(notes):
    find = {"imports": {"place": "insert", "form": '\n<x source="{path}">\n{text}\n</x>'}}
    files = {"w/N.md": "a @x.md b @no.md", "w/x.md": "\nX\n\n"}
    assert notes.text(files, find) == 'a @x.md\n<x source="/w/x.md">\nX\n</x> b @no.md'


def test_a_missing_or_outside_file_is_replaced_by_its_text(notes):
    files = {"w/N.md": "@no.md @nobody @../out.md @/etc/passwd @~/x @N.md @d", "out.md": "OUT", "w/d/x": "X"}
    assert notes.text(files, REPLACE) == (
        "[missing no.md] [missing nobody] [outside ../out.md] [outside /etc/passwd] @~/x [again N.md] [outside d]"
    )
    bare = {"imports": {"place": "replace"}}
    assert notes.text(files, bare) == "@no.md @nobody @../out.md @/etc/passwd @~/x @N.md @d"
    empty = {"imports": {"place": "replace", "missing": "", "outside": "", "repeated": ""}}
    assert notes.text(files, empty, {"item": "[{text}]"}) == "[    @~/x  ]"


def test_a_blank_file_is_imported_as_it_is(notes):
    files = {"w/N.md": "@blank.md then @empty.md", "w/blank.md": "\n\n", "w/empty.md": ""}
    prompt = notes.prompt(files, REPLACE)
    assert prompt.text == "<blank.md>\n\n\n\n</blank.md> then <empty.md>\n\n</empty.md>"
    assert [fate for _, fate in notes.tree.fates(prompt)] == ["used", "used", "blank"]
    assert notes.text(files, ITEM) == "@blank.md then @empty.md"


def test_only_tokens_that_look_like_text_files_are_reported(notes):
    text = "@no.md, @nobody @scope/package @/components/Button @../out.md @src/x.ts"
    prompt = notes.prompt({"w/N.md": text, "out.md": "OUT"}, ITEM)
    assert notes.tree.messages(prompt) == [
        ("import-missing", "/w/N.md imports 'no.md,', which does not exist"),
        ("import-outside", "/w/N.md imports '../out.md', which is left out: it is outside /w"),
    ]


def test_findings_point_to_the_import(notes):
    text = "---\nx: 1\n---\n<!-- gone -->\nRead @../out.md first.\n\n- also\n  @no.md\n"
    prompt = notes.prompt({"w/N.md": text, "out.md": "OUT"}, {**ITEM, "front": "drop", "comments": "drop"})
    places = [(finding.line, finding.column, finding.end_column) for finding in prompt.findings]
    lines = text.split("\n")
    assert places == [(5, 6, 16), (8, 3, 9)]
    assert [lines[line - 1][start - 1 : end - 1] for line, start, end in places] == ["@../out.md", "@no.md"]


@pytest.mark.parametrize(("depth", "kept"), [(1, "a"), (2, "ab"), (4, "abcd")])
def test_the_depth_of_imports_is_limited(notes, depth, kept):
    files = {
        "w/N.md": "@a.md",
        "w/a.md": "a @b.md",
        "w/b.md": "b @c.md",
        "w/c.md": "c @d.md",
        "w/d.md": "d @e.md",
        "w/e.md": "e",
    }
    prompt = notes.prompt(files, {"imports": {"depth": depth}}, {"item": "{text|line}", "join": ""})
    assert [
        letter for letter in "abcde" if f"/{letter}.md" in str([c.path for c in prompt.candidates if c.fate == "used"])
    ] == list(kept)
    assert [finding.code for finding in prompt.findings] == ["import-depth"]
    assert notes.text({"w/N.md": "@a.md @b.md"}, {"imports": {"depth": depth}}).startswith("@a.md @b.md")


@pytest.mark.parametrize(
    ("within", "kept"),
    [
        ("cwd", ["x/a.md"]),
        ("root", ["b.md", "x/a.md"]),
        ("folder", ["b.md", "x/a.md"]),
        ("anywhere", ["b.md", "x/a.md"]),
    ],
)
def test_within_limits_where_imports_may_point(notes, within, kept):
    files = {"w/N.md": "@b.md @x/a.md @../out.md", "w/b.md": "B", "w/x/a.md": "A", "out.md": "OUT"}
    prompt = notes.prompt(files, {"imports": {"within": within}}, {"item": "{path|root-relative}"}, cwd="w/x")
    assert prompt.text.split("\n") == ["N.md", *kept]


def test_a_project_never_imports_from_outside_but_the_user_may(notes):
    anywhere = {"imports": {"within": "anywhere"}}
    files = {"w/N.md": "@../out.md @~/y.md @link.md", "w/link.md": Path("../out.md"), "home/N.md": "@~/y.md @../out.md", "home/y.md": "Y", "out.md": "OUT"}  # fmt: skip
    prompt = notes.prompt(files, anywhere, SECTION, user=anywhere, mirrors="Program 1.0")
    assert notes.tree.short(prompt.text).split("\n") == [
        "../home/N.md: @~/y.md @../out.md", "../home/y.md: Y", "../out.md: OUT", "", "N.md: @../out.md @~/y.md @link.md",
    ]  # fmt: skip
    reason = "which is left out: a project's file imports nothing outside /w; Program 1.0 would read it"
    assert notes.tree.messages(prompt) == [
        ("import-refused", f"/w/N.md imports '../out.md', {reason}"),
        ("import-refused", f"/w/N.md imports '~/y.md', {reason}"),
        ("import-refused", f"/w/N.md imports 'link.md', {reason}"),
    ]


def test_a_users_file_may_import_only_from_its_own_folder_by_default(notes):
    files = {"home/N.md": "@y.md @../out.md", "home/y.md": "Y", "out.md": "OUT"}
    assert notes.text(files, user=ITEM).split("\n") == ["@y.md @../out.md", "Y"]


@pytest.mark.parametrize("name", [".env", "id_rsa", ".ssh/config"])
@pytest.mark.parametrize("home", [True, False])
def test_secrets_are_never_imported(notes, name, home):
    anywhere = {"imports": {"within": "anywhere"}}
    place = "home" if home else "w"
    prompt = notes.prompt({f"{place}/N.md": f"@{name}", f"{place}/{name}": "SECRET"}, anywhere, user=anywhere)
    assert "SECRET" not in prompt.text
    assert [finding.code for finding in prompt.findings] == ["import-refused"]


def test_the_scope_limits_imports(notes):
    files = {"w/N.md": "@a/x.md @b/x.md", "w/a/x.md": "A", "w/b/x.md": "B"}
    scope = Scope([Access(notes.tree.path("w"))], [Access(notes.tree.path("w/b"))])
    assert notes.text(files, ITEM, options={"scope": scope}) == "@a/x.md @b/x.md\nA"


def test_an_unreadable_import_is_a_candidate_and_the_others_load(notes):
    prompt = notes.prompt({"w/N.md": "@a.png @b.md @c.md", "w/a.png": b"\0\1", "w/b.md": " \n", "w/c.md": "C"}, ITEM)
    assert prompt.text == "@a.png @b.md @c.md\nC"
    assert notes.tree.fates(prompt) == [
        ("/w/N.md", "used"),
        ("/w/a.png", "binary"),
        ("/w/b.md", "blank"),
        ("/w/c.md", "used"),
    ]
    assert notes.tree.findings(prompt) == [("file-binary", "/w/a.png")]


def test_imports_in_dropped_comments_and_front_matter_are_ignored(notes):
    files = {
        "w/N.md": "---\nx: '@a.md'\n---\n<!-- @a.md -->\n@b.md",
        "w/a.md": "A",
        "w/b.md": "---\ny: 1\n---\nB<!-- c -->\n<!-- d -->",
    }
    assert notes.text(files, {**ITEM, "front": "drop", "comments": "drop"}) == "@b.md\nB<!-- c -->"


def test_imported_text_appears_once_unless_a_mirror_keeps_copies(notes):
    files = {"w/N.md": "@a.md @b.md", "w/a.md": "@b.md", "w/b.md": "B"}
    imports = {"place": "replace", "form": "<{text}>", "repeated": "again"}
    assert notes.text(files, {"imports": imports}) == "<<B>> again"
    for once, text in {"chain": "<<B>> <B>", "file": "<<B>> again"}.items():
        assert notes.text(files, {"imports": {**imports, "once": once}}, mirrors="Program 1.0") == text


def test_an_import_appears_once_per_file_or_once_per_prompt(notes):
    files = {"w/N.md": "@a.md", "w/x/N.md": "@../a.md", "w/a.md": "A"}
    imports = {"place": "insert", "form": "<{text}>", "repeated": "[{path|root-relative} again]"}
    text = notes.text(files, {"imports": imports}, cwd="w/x")
    assert text == "@a.md<A>\n@../a.md[a.md again]"
    text = notes.text(files, {"imports": {**imports, "once": "file"}}, cwd="w/x", mirrors="Program 1.0")
    assert text == "@a.md<A>\n@../a.md<A>"


def test_a_file_that_is_found_twice_appears_once_even_without_an_import(notes, tree):
    tree({"w/N.md": "A"})
    os.makedirs(tree.path("w/x"))
    os.link(tree.path("w/N.md"), tree.path("w/x/N.md"))
    imports = {"place": "insert", "form": "<{text}>"}
    keys = {"mirrors": "Program 1.0", "copies": "keep"}
    assert notes.text({}, {"imports": imports}, cwd="w/x", **keys) == "A"
    assert notes.text({}, {"imports": {**imports, "once": "file"}}, cwd="w/x", **keys) == "A\nA"


def test_imports_that_multiply_are_limited(notes):
    files = {"w/N.md": "@f0.md", **{f"w/f{n}.md": f"@f{n + 1}.md " * 40 + "x" * 400 for n in range(8)}, "w/f8.md": "x"}
    find = {"imports": {"place": "replace", "depth": 20, "once": "chain"}}
    prompt = notes.prompt(files, find, mirrors="Program 1.0", template_limit=100_000)
    assert len(prompt.text) < 200_000
    assert {finding.code for finding in prompt.findings} == {"import-limit"}


def test_short_files_that_import_each_other_are_limited(notes):
    imports = " ".join(f"@f{number}.md" for number in range(20))
    files = {"w/N.md": imports, **{f"w/f{number}.md": imports for number in range(20)}}
    find = {"imports": {"place": "replace", "depth": 20, "once": "chain"}}
    prompt = notes.prompt(files, find, mirrors="Program 1.0")
    assert len(prompt.text) < 50_000
    (limit,) = [finding.message for finding in prompt.findings if finding.code == "import-limit"]
    assert limit.endswith(".md has imports that are ignored, because 3,000 imports were followed before them")


def test_the_number_of_imports_is_limited(notes):
    prompt = notes.prompt({"w/N.md": "@a " * 1_500}, {"imports": {"place": "replace", "missing": "-"}})
    assert prompt.text.count("-") == 1_000
    assert [finding.code for finding in prompt.findings] == ["import-missing", "import-limit"]  # each of them once


def test_a_change_in_an_imported_file_is_noticed(notes):
    files = {"w/N.md": "@a.md @b.md", "w/a.md": "A"}
    assert notes.text(files, ITEM) == "@a.md @b.md\nA"
    notes.tree({"w/b.md": "B"})
    assert notes.text({"w/a.md": "AA"}, ITEM) == "@a.md @b.md\nAA\nB"


@pytest.mark.parametrize(
    ("imports", "message"),
    [
        ({"depth": 0}, "find.notes.imports: depth must be a whole number above zero, not 0"),
        ({"places": "item"}, "find.notes.imports: unknown key 'places'; did you mean 'place'?"),
        ({"place": "behind"}, "find.notes.imports: place must be one of item, replace, insert, not 'behind'"),
        ({"form": "{text}"}, "find.notes.imports.form needs place = 'replace' or 'insert'"),
        (
            {"place": "replace", "form": "x"},
            "find.notes.imports.form needs '{text}', for the text of the imported file",
        ),
        ({"place": "replace", "missing": "{text}"}, "find.notes.imports.missing: unknown field '{text}'"),
        (
            {"once": "chain", "place": "insert"},
            "find.notes.imports.once: 'chain' is only for a layout that mirrors a program",
        ),
        (
            {"place": "insert", "form": "{text|xmml}"},
            "find.notes.imports.form: unknown filter 'xmml'; did you mean 'xml'?",
        ),
        (True, "find.notes: imports must be a table of keys, not True"),
    ],
)
def test_invalid_values_are_errors(notes, imports, message):
    with pytest.raises(LayoutError) as error:
        notes.prompt({}, {"imports": imports})
    assert message in str(error.value)


def test_a_workspace_cannot_let_the_users_files_import_from_anywhere(notes):
    files = {
        "home/N.md": "@../out.md",
        "out.md": "OUT",
        "w/.foreword/foreword.toml": '[find.user.imports]\nwithin = "anywhere"',
    }
    prompt = notes.prompt(files, user=ITEM)
    assert prompt.text == "@../out.md"
    error = "/w/.foreword/foreword.toml: a workspace may not set find.user.imports.within; the key was ignored"
    assert ("workspace-refused", error) in notes.tree.messages(prompt)
    prompt = notes.prompt({**files, "w/.foreword/foreword.toml": '[find.user.imports]\nwithin = "cwd"'}, user=ITEM)
    assert [code for code, _ in notes.tree.findings(prompt)] == ["import-outside"]


def test_a_workspace_layout_cannot_let_them_either(notes):
    notes.layout({}, user={"imports": {"within": "folder"}})
    own = 'extends = "$user/base"\n[find.user.imports]\nwithin = "anywhere"'
    with open(notes.tree.path("layout.toml")) as file:
        notes.tree({"home/.config/foreword/prompts/base.toml": file.read(), "w/.foreword/prompts/own.toml": own})
    prompt = notes.tree({"w/.git": None, "home/N.md": "@../out.md", "out.md": "OUT"}).prompt("$workspace/own")
    assert "OUT" not in prompt.text
    message = "layout own: a workspace may not set find.user.imports.within; it stays 'root'"
    assert ("workspace-refused", message) in notes.tree.messages(prompt)


def test_text_that_was_imported_into_a_cut_file_is_cut(notes):
    files = {"w/N.md": "word " * 200 + "@a.md", "w/a.md": "Imported."}
    prompt = notes.prompt(files, REPLACE, {"file_budget": 50})
    assert [fate for _, fate in notes.tree.fates(prompt)] == ["cut", "cut"]
    reason = prompt.candidates[-1].reason
    assert reason.startswith("imported by ") and "; " in reason


def test_only_files_with_certain_extensions_are_imported(notes):
    files = {"w/N.md": "@a.mdc @b.MD @LICENSE", "w/a.mdc": "A", "w/b.MD": "B", "w/LICENSE": "L"}
    prompt = notes.prompt(files, {"imports": {"file_extensions": ["md"]}})
    assert prompt.text == "@a.mdc @b.MD @LICENSE\nB\nL"
    message = "/w/N.md imports 'a.mdc', which is left out: files with the extension 'mdc' are not imported"
    assert notes.tree.messages(prompt) == [("import-extension", message)]


def test_a_setting_may_list_the_extensions(notes):
    files = {"w/N.md": "@a.mdc @b.md @c.txt", "w/a.mdc": "A", "w/b.md": "B", "w/c.txt": "C"}
    find = {"imports": {"file_extensions": ["{extensions}", "txt"]}}
    assert notes.text(files, find, settings={"extensions": ["md"]}) == "@a.mdc @b.md @c.txt\nB\nC"
