"""Words that mirrors need beside those of `test_texts` and `test_imports`: blank files that count, copies, who imports, filters."""

import pytest

from foreword.errors import LayoutError

MIRROR = {"mirrors": "Program 1.0"}
INSERT = {"place": "insert", "form": "<{text}>"}


@pytest.mark.parametrize("text", [" ", " \n\n"])
def test_a_blank_file_counts_in_a_mirror(words, text):
    files, find = {"w/N.md": text, "w/x/N.md": "X"}, {"trim": "none", "blank": "keep"}
    prompt = words.prompt(files, find, {"item": "[{text}]"}, cwd="w/x", **MIRROR)
    assert prompt.text == f"[{text}]\n[X]"
    assert words.tree.fates(prompt) == [("/w/N.md", "used"), ("/w/x/N.md", "used")]
    assert words.tree.messages(prompt) == [("file-blank", "/w/N.md contains only white space; this layout keeps it")]
    with pytest.raises(LayoutError, match=r"find.notes.blank: 'keep' is only for a layout that mirrors a program"):
        words.prompt(files, find)


def test_a_file_without_any_character_never_counts(words):
    prompt = words.prompt({"w/N.md": ""}, {"trim": "none", "blank": "keep"}, **MIRROR)
    assert (prompt.text, words.tree.fates(prompt)) == ("", [("/w/N.md", "blank")])


def test_the_first_of_equal_texts_stays_in_a_mirror(words):
    files, find = {"w/N.md": "A", "w/x/N.md": "A"}, {"files": ["walk:N.md"]}
    item = {"item": "{path|root-relative}: {text}"}
    assert words.text(files, find, item, cwd="w/x") == "x/N.md: A"
    prompt = words.prompt(files, find, item, cwd="w/x", copies="first", **MIRROR)
    assert prompt.text == "N.md: A"
    assert words.tree.messages(prompt) == [("file-duplicate", "/w/x/N.md: the same text as /w/N.md")]
    with pytest.raises(
        LayoutError, match=r"^layout layout: copies: 'first' is only for a layout that mirrors a program"
    ):
        words.prompt(files, find, copies="first")


def test_only_some_files_import(words):
    files = {"w/N.md": "N @a.md", "w/M.md": "M @a.md", "w/a.md": "A @b.md", "w/b.md": "B"}
    find = {"files": ["cwd:N.md", "cwd:M.md"], "imports": {**INSERT, "files": ["M.md"]}}
    assert words.text(files, find) == "N @a.md\nM @a.md<A @b.md<B>>"


def test_a_file_that_another_imports_is_still_an_item_if_each_file_imports_once(words):
    files = {"w/N.md": "N @M.md", "w/M.md": "M"}
    find = {"files": ["cwd:N.md", "cwd:M.md"], "imports": {**INSERT, "once": "file"}}
    assert words.text(files, find, **MIRROR) == "N @M.md<M>\nM"


RULE = "---\nglobs: {0}\n---\nText.\n"


@pytest.mark.parametrize(
    ("globs", "shown"), [("a/**,b/**", "a/**, b/**"), ("[a, b]", "a, b"), ("'*.py'", "*.py"), ("' , x,,'", "x")]
)
def test_a_filter_for_lists(words, globs, shown):
    find = {"front": "drop"}
    assert words.text({"w/N.md": RULE.format(globs)}, find, {"item": "{front.globs|list}"}) == shown


def test_a_filter_for_paths_inside(words):
    files = {"w/N.md": "1", "w/x/N.md": "2", "home/N.md": "3"}
    find = {"files": ["home:N.md", "walk:N.md"]}
    item = {"item": "{path|shortest}"}
    assert words.text(files, find, item, cwd="w/x").split() == ["/home/N.md", "N.md", "N.md"]
    assert words.text({**files, "w/y/z/M.md": "4"}, {"files": ["root:y/**/M.md"]}, item, cwd="w/x") == "y/z/M.md"


def test_a_rule_that_the_prompt_only_names_still_waits(words):
    files = {"w/N.md": RULE.format("'*.py'")}
    plain = {"files": ["cwd:N.md"], "front": "drop", "where": {"globs": ""}}
    row = {"item": "{front.globs}: {path|shortest}"}
    prompt = words.prompt(files, {"front": "drop", "unless": {"globs": ""}}, row, user=plain)
    assert prompt.text == "*.py: N.md"
    assert [(each.fate, each.reason) for each in prompt.candidates] == [
        ("waiting", "it waits for a file that matches *.py (globs in its front matter)")
    ]
