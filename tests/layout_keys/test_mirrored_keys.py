"""Keys that only mirrors may use: blank files that count, copies, which files may import, and filters."""

import pytest

from foreword.errors import LayoutError

MIRROR = {"mirrors": "Program 1.0"}
INSERT = {"place": "insert", "form": "<{text}>"}


@pytest.mark.parametrize("text", [" ", " \n\n"])
def test_a_mirror_may_keep_blank_files(notes, text):
    files, find = {"w/N.md": text, "w/x/N.md": "X"}, {"trim": "none", "blank": "keep"}
    prompt = notes.prompt(files, find, {"item": "[{text}]"}, cwd="w/x", **MIRROR)
    assert prompt.text == f"[{text}]\n[X]"
    assert notes.tree.fates(prompt) == [("/w/N.md", "used"), ("/w/x/N.md", "used")]
    assert notes.tree.messages(prompt) == [("file-blank", "/w/N.md contains only white space; this layout keeps it")]
    with pytest.raises(LayoutError, match=r"find.notes.blank: 'keep' is only for a layout that mirrors a program"):
        notes.prompt(files, find)


@pytest.mark.parametrize(("blank", "text"), [("keep", ""), ("all", "[]")])
def test_an_empty_file_is_kept_only_with_all(notes, blank, text):
    prompt = notes.prompt({"w/N.md": ""}, {"trim": "none", "blank": blank}, {"item": "[{text}]"}, **MIRROR)
    assert (prompt.text, notes.tree.fates(prompt)) == (text, [("/w/N.md", "blank")])


def test_an_empty_file_that_is_kept_is_joined(notes):
    files = {"w/a.md": "A", "w/b.md": "", "w/c.md": "C"}
    assert notes.text(files, {"files": ["cwd:*.md"], "trim": "none", "blank": "all"}, {"join": "+"}, **MIRROR) == "A++C"
    notes.tree({"w/x/N.md": "", "y.toml": "\n".join([
        'mirrors = "Own 1"', 'sections = ["a", "b", "c"]', "raw = true", 'join = "+"',
        *(f'[find.{name}]\nfiles = ["{path}"]\ntrim = "none"\nblank = "all"' for name, path in (("a", "cwd:a.md"), ("b", "cwd:x/N.md"), ("c", "cwd:c.md"))),
        *(f'[section.{name}]\nlist = "{name}"' for name in "abc"),
    ])})  # fmt: skip
    assert notes.tree.prompt(notes.tree.path("y.toml")).text == "A++C"


def test_a_lookup_rule_may_keep_copies_that_others_drop(notes):
    files = {"w/a.md": "A", "w/b.md": "A", "w/x/a.md": "A", "w/x/b.md": "A"}
    notes.tree(files)
    texts = """mirrors = "Own 1"
copies = "keep"
sections = ["notes", "more"]
[find]
notes = { copies = "first", files = ["root:*.md"] }
more = { files = ["root:x/*.md"] }
[section]
notes = { list = "notes", join = "+" }
more = { list = "more", join = "+" }
"""
    notes.tree({"x.toml": texts})
    assert notes.tree.prompt(notes.tree.path("x.toml")).text == "A\n\nA+A"


def test_where_may_name_a_setting_and_a_file_without_name_has_its_file_name(notes):
    files = {"w/a.md": "---\nname: two\n---\nA", "w/two.md": "B", "w/c.md": "C"}
    find = {"files": ["cwd:*.md"], "front": "drop", "where": {"name": "{style}"}}
    assert notes.text(files, find, settings={"style": "two"}) == "A\nB"


SKILLS = {
    f"{folder}/.s/{name}/SKILL.md": f"---\nname: {name}\ndescription: d\n---\n"
    for folder, name in (("w", "b"), ("w/x", "a"), ("home", "c"))
}
MENU = {"as": "skill", "files": ["walk:.s/*/SKILL.md", "home:.s/*/SKILL.md"]}


def test_a_menu_can_number_its_folders(notes):
    section = {
        "item": "{name} {path}",
        "folder": "{root} = {folder}",
        "roots": ["home:.own/", "up:.s", "home:.s", "walk:none"],
    }
    text = notes.text(SKILLS, MENU, section, cwd="w/x")
    assert text.split("\n") == [
        *("r0 = /home/.own", "r1 = /w/x/.s", "r2 = /w/.s", "r3 = /home/.s"),
        *("a r1/a/SKILL.md", "b r2/b/SKILL.md", "c r3/c/SKILL.md"),
    ]


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"roots": ["home:.s"]}, "roots needs `folder`"),
        ({"folder": "{folder}", "roots": ["home:*"]}, "must name a folder"),
    ],
)
def test_roots_that_cannot_be_numbered_are_errors(notes, section, message):
    with pytest.raises(LayoutError, match=message):
        notes.prompt(SKILLS, MENU, {"item": "{name}", **section})


def test_a_menu_can_be_sorted_by_directory(notes):
    more = {
        "w/.t/0/SKILL.md": "---\nname: z0\ndescription: d\n---\n",
        "w/.t/1/SKILL.md": "---\nname: a1\ndescription: d\n---\n",
    }
    find = {"as": "skill", "order": "directory", "files": ["walk:.s/*/SKILL.md", "walk:.t/*/SKILL.md"]}
    item = {"item": "{name} {directory|root-relative}"}
    assert notes.text({**SKILLS, **more}, find, item, cwd="w/x").split("\n") == ["a x", "a1 .", "b .", "z0 ."]


def test_a_mirror_may_keep_the_first_of_several_copies(notes):
    files, find = {"w/N.md": "A", "w/x/N.md": "A"}, {"files": ["walk:N.md"]}
    item = {"item": "{path|root-relative}: {text}"}
    assert notes.text(files, find, item, cwd="w/x") == "x/N.md: A"
    prompt = notes.prompt(files, find, item, cwd="w/x", copies="first", **MIRROR)
    assert prompt.text == "N.md: A"
    assert notes.tree.messages(prompt) == [("file-duplicate", "/w/x/N.md: the same text as /w/N.md")]
    with pytest.raises(
        LayoutError, match=r"^layout layout: copies: 'first' is only for a layout that mirrors a program"
    ):
        notes.prompt(files, find, copies="first")


def test_imports_can_be_limited_to_some_files(notes):
    files = {"w/N.md": "N @a.md", "w/M.md": "M @a.md", "w/a.md": "A @b.md", "w/b.md": "B"}
    find = {"files": ["cwd:N.md", "cwd:M.md"], "imports": {**INSERT, "files": ["M.md"]}}
    assert notes.text(files, find) == "N @a.md\nM @a.md<A @b.md<B>>"


def test_an_imported_file_is_still_an_item_if_imports_appear_once_per_file(notes):
    files = {"w/N.md": "N @M.md", "w/M.md": "M"}
    find = {"files": ["cwd:N.md", "cwd:M.md"], "imports": {**INSERT, "once": "file"}}
    assert notes.text(files, find, **MIRROR) == "N @M.md<M>\nM"


RULE = "---\nglobs: {0}\n---\nText.\n"


@pytest.mark.parametrize(
    ("globs", "listed"), [("a/**,b/**", "a/**, b/**"), ("[a, b]", "a, b"), ("'*.py'", "*.py"), ("' , x,,'", "x")]
)
def test_the_filter_list_joins_values(notes, globs, listed):
    find = {"front": "drop"}
    assert notes.text({"w/N.md": RULE.format(globs)}, find, {"item": "{front.globs|list}"}) == listed


def test_the_filter_shortest_shortens_paths(notes):
    files = {"w/N.md": "1", "w/x/N.md": "2", "home/N.md": "3"}
    find = {"files": ["home:N.md", "walk:N.md"]}
    item = {"item": "{path|shortest}"}
    assert notes.text(files, find, item, cwd="w/x").split() == ["/home/N.md", "N.md", "N.md"]
    assert notes.text({**files, "w/y/z/M.md": "4"}, {"files": ["root:y/**/M.md"]}, item, cwd="w/x") == "y/z/M.md"


def test_a_rule_that_is_only_listed_is_still_waiting(notes):
    files = {"w/N.md": RULE.format("'*.py'")}
    plain = {"files": ["cwd:N.md"], "front": "drop", "where": {"globs": ""}}
    row = {"item": "{front.globs}: {path|shortest}"}
    prompt = notes.prompt(files, {"front": "drop", "unless": {"globs": ""}}, row, user=plain)
    assert prompt.text == "*.py: N.md"
    assert [(candidate.fate, candidate.reason) for candidate in prompt.candidates] == [
        ("waiting", "it waits for a file that matches *.py (globs in its front matter)")
    ]


def test_a_mirror_may_send_files_in_any_encoding(notes):
    notes.tree({"w/N.md": b"\xef\xbb\xbfcaf\xe9\n"})
    texts = {encoding: notes.prompt({}, {}, encoding=encoding, **MIRROR).text for encoding in ("utf-8", "any", "raw")}
    assert texts == {"utf-8": "", "any": "caf\ufffd", "raw": "\ufeffcaf\ufffd"}
    assert [code for code, _ in notes.tree.messages(notes.prompt({}, {}, encoding="any", **MIRROR))] == [
        "file-not-utf8"
    ]
    with pytest.raises(LayoutError, match=r"encoding: 'any' is only for a layout that mirrors a program"):
        notes.prompt({}, {}, encoding="any")


@pytest.mark.parametrize(("own", "text"), [({}, "U\nP"), (MIRROR, "P\nU")])
def test_a_file_that_two_rules_find_belongs_to_the_nearer_one_and_in_a_mirror_to_the_first(notes, own, text):
    files = {"home/me/N.md": "U", "home/me/N2.md": "P", "home/me/w/.git": None}
    find, user = {"files": ["home:N.md"]}, {"walk": "root", "files": ["walk:N.md", "walk:N2.md"]}
    prompt = notes.prompt(files, find, cwd="home/me/w", user=user, options={"home": "home/me"}, join="\n", **own)
    assert prompt.text == text


@pytest.mark.parametrize(
    ("exclude", "text"),
    [
        ("N.md", "A @i.md\nI\nB"),
        ("x/N.md", "A @i.md\nI\nB"),
        ("**/N.md", ""),
        ("**/x/**", "A @i.md\nI"),
        ("**/@(x|y)/[N].md", "A @i.md\nI"),
        ("!**/N.md", "A @i.md\nB"),
        ("**/i.md", "A @i.md\nB"),
        ("/**/w/*.md", "B"),
    ],
)
def test_a_mirror_compares_globs_to_exclude_with_the_whole_path(notes, exclude, text):
    files, find = {"w/N.md": "A @i.md", "w/i.md": "I", "w/x/N.md": "B"}, {"imports": {}, "exclude": [exclude]}
    assert notes.text(files, find, cwd="w/x", **MIRROR) == text


def test_a_name_may_be_found_in_any_case(notes):
    files = {"w/n.md": "lower", "w/x/N.md": "exact", "w/x/n.md": "other"}
    find = {"files": ["walk:N.md"], "any_case": True}
    assert notes.text(files, find, cwd="w/x") == "lower\nexact"
    assert notes.text(files, {"files": ["walk:N.md"]}, cwd="w/x") == "exact"


def test_commas_in_braces_do_not_separate_items_and_bars_can_be_escaped(notes):
    files = {"w/N.md": "---\nglobs: 'a/*.{ts,js},b/@(c|d),\\[e\\]'\n---\nText.\n"}
    text = "a/*.{ts,js}, b/@(c\\|d), \\\\[e\\\\]"
    assert notes.text(files, {"front": "drop"}, {"item": "{front.globs|list|cell}"}) == text


def test_a_mirror_may_leave_out_invisible_characters(notes):
    files = {"w/N.md": "a\u200bb\u00adc\u202e\U000e0041d e\u0301 \u200d"}
    assert notes.text(files, encoding="visible", **MIRROR) == "abcd é \u200d"
    with pytest.raises(LayoutError, match="'visible' is only for a layout that mirrors a program"):
        notes.prompt(files, encoding="visible")


@pytest.mark.parametrize(("blank", "text"), [("keep", ""), ("all", "X"), ("hide", "X"), ("skip", "X")])
def test_a_folder_hides_other_files_only_where_blank_files_are_kept(notes, blank, text):
    files, find = {"w/N.md/x.md": "x", "w/X.md": "X"}, {"files": [["cwd:N.md", "cwd:X.md"]], "blank": blank}
    assert notes.text(files, {"trim": "none", **find}, **MIRROR) == text
