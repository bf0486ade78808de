"""The words about the text of a file: trim, blank, comments, front, label, and facts and filters in forms."""

import pytest

from foreword.errors import LayoutError

MIRROR = {"mirrors": "Program 1.0"}


@pytest.mark.parametrize(
    ("trim", "text"),
    [("lines", "[  a  \n b]"), ("ends", "[a  \n b]"), ("tail", "[\n  a  \n b]"), ("none", "[\n  a  \n b\n\n]")],
)
def test_trim(words, trim, text):
    assert words.text({"w/N.md": "\n  a  \n b\n\n"}, {"trim": trim}, {"item": "[{text}]"}) == text


@pytest.mark.parametrize("trim", ["lines", "ends", "tail", "none"])
def test_a_blank_file_adds_nothing_however_it_is_trimmed(words, trim):
    prompt = words.prompt({"w/N.md": " \n\n"}, {"trim": trim}, {"item": "[{text}]"})
    assert prompt.text == ""
    assert words.tree.fates(prompt) == [("/w/N.md", "blank")]


GROUP = {"files": [["walk:A.md", "walk:B.md"]]}


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_file_hides_the_others_of_its_group_in_a_mirror(words, blank):
    files = {"w/A.md": blank, "w/B.md": "B", "w/x/A.md": "A", "w/x/B.md": "C"}
    assert words.text(files, GROUP, cwd="w/x") == "B\nA"
    prompt = words.prompt(files, {**GROUP, "blank": "hide"}, cwd="w/x", **MIRROR)
    assert prompt.text == "A"
    assert words.tree.messages(prompt) == [
        ("file-shadowed", "/w/B.md: /w/A.md comes before it, although it is blank"),
        ("file-shadowed", "/w/x/B.md: /w/x/A.md comes before it"),
    ]
    with pytest.raises(LayoutError, match=r"find.notes.blank: 'hide' is only for a layout that mirrors a program"):
        words.prompt(files, {**GROUP, "blank": "hide"})


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("A\n\n<!-- x -->\n\nB", "A\n\nB"),
        ("A\n<!-- x -->\nB", "A\nB"),
        ("<!-- a\nb -->\nC", "C"),
        ("<!-- a --><!-- b -->\nC", "C"),
        ("A\n<!-- a --> tail\nB", "A\n tail\nB"),
        ("- a\n<!-- c -->\nb", "- a\nb"),
        ("a\n\n   <!-- b -->\nc", "a\n\nc"),
        ("<!---->a", "a"),
        ("A\n<x>\nB\n</x>\n<!-- c -->\nD", "A\n<x>\nB\n</x>\nD"),
        ("<!-- never closed\nx", "<!-- never closed\nx -->"),
        *(
            (text, text)
            for text in (
                "in a <!-- x --> line",
                "```\n<!-- c -->\n```",
                "A\n\n    <!-- code -->",
                "- a\n  <!-- in an item -->",
                "> <!-- in a quote -->",
                "text\n   <!-- indented below a line of text -->\ntext",
                "<!-->x",
                "<div>\n<!-- in HTML -->\n</div>",
                "<x>\n<!-- in HTML -->\n</x>",
            )
        ),
    ],
)
def test_comments_that_start_a_line_are_dropped(words, text, kept):
    assert words.text({"w/N.md": text}, {"comments": "drop"}) == kept
    assert words.text({"w/N.md": text}).startswith(text)


def test_text_around_a_comment_keeps_its_lines(words):
    prompt = words.prompt({"w/N.md": "a\n<!-- b\n-->\nc\n\n<!-- d -->\ne"}, {"comments": "drop"})
    pieces = [(piece.text, piece.origin.lines) for piece in prompt.passages[0].pieces]
    assert pieces == [("a\n", (1, 1)), ("c\n\n", (4, 5)), ("e", (7, 7))]


FRONT = "---\npaths: ['a', \"b\"]\ndescription: D.\nsize: 1.50\nnested: {a: 1}\n---\n\nBody\n"


def test_front_matter_is_dropped_and_its_fields_are_available(words):
    section = {"item": "{front.paths}|{front.description|xml}|{front.size}|{front.nested}|{front.none}|{text}"}
    prompt = words.prompt({"w/N.md": FRONT}, {"front": "drop"}, section)
    assert prompt.text == "a, b|D.|1.50|||Body"
    assert [piece.origin.lines for piece in prompt.passages[0].pieces][-1] == (8, 8)


def test_front_matter_stays_unless_it_is_dropped(words):
    assert words.text({"w/N.md": FRONT}) == FRONT.rstrip("\n")
    with pytest.raises(LayoutError, match=r"unknown field '\{front.x\}'"):
        words.prompt({}, {}, {"item": "{front.x}"})


def test_a_file_that_has_only_front_matter_is_blank(words):
    prompt = words.prompt({"w/N.md": "---\na: b\n---\n<!-- c -->\n"}, {"front": "drop", "comments": "drop"})
    assert (prompt.text, words.tree.fates(prompt)) == ("", [("/w/N.md", "blank")])


@pytest.mark.parametrize(
    ("front", "fields", "codes"),
    [
        ("---\nglobs: *.md\n---\nB", "*.md", ["front-matter-invalid"]),
        ("---\n- a\n---\nB", "", ["front-matter-invalid"]),
        ("---\nglobs: a\nB", "", ["front-matter-invalid"]),
        ("\n---\nglobs: a\n---\nB", "", []),
    ],
)
def test_front_matter_that_cannot_be_read_is_a_finding(words, front, fields, codes):
    prompt = words.prompt({"w/N.md": front}, {"front": "drop"}, {"item": "{front.globs}|{text}"})
    assert prompt.text.partition("|")[0] == fields
    assert [each.code for each in prompt.findings] == codes


def test_labels_go_by_file_name_or_place(words):
    files = {"w/N.md": "n", "w/N.local.md": "l", "w/O.md": "o", "home/N.md": "h"}
    labels = {"home:": "user", "*.local.md": "local", "N.md": "project"}
    find = {"files": ["home:N.md", "walk:N.md", "walk:N.local.md", "walk:O.md"], "label": labels}
    assert words.text(files, find, {"item": "{text} ({label})"}) == "h (user)\nn (project)\nl (local)\no ()"
    assert words.text(files, {"label": "x"}, {"item": "{text} ({label})"}) == "n (x)"


def test_facts_and_relative_paths_in_forms(words):
    files = {"w/N.md": "n", "w/a/b/N.md": "m"}
    section = {"item": "{path|relative} {path|root-relative} {root}", "wrap": "for {cwd} ({model}):\n{}"}
    assert words.text(files, {}, section, cwd="w/a", options={"model": "M"}) == "for /w/a (M):\n../N.md N.md /w"
    assert words.text(files, {}, section, cwd="w/a/b") == "for /w/a/b ():\n../../N.md N.md /w\nN.md a/b/N.md /w"


def test_a_fact_in_a_wrapper_has_its_own_origin_and_cannot_close_the_section(words):
    words.tree({"w/</x>": None})
    prompt = words.prompt({"w/N.md": "n"}, {}, {"wrap": "<x>{cwd}\n{}\n</x>"}, cwd="w/</x>")
    assert words.tree.short(prompt.text) == "<x>/w/<\\/x>\nn\n</x>"
    assert [each.origin.kind for each in prompt.passages[0].pieces][1:4] == ["environment", "mark", "environment"]


@pytest.mark.parametrize(
    ("find", "section", "message"),
    [
        ({"trim": "yes"}, {}, "find.notes: trim must be one of lines, ends, tail, none, not 'yes'"),
        ({"comments": True}, {}, "find.notes: comments must be one of keep, drop, not True"),
        ({"label": {"a/b.md": "x"}}, {}, "find.notes.label: 'a/b.md' is neither a file name nor a place such as 'home:'"),
        ({"label": {"hom:": "x"}}, {}, "find.notes.label: unknown place 'hom:'; did you mean 'home'?"),
        ({"label": {"a": 1}}, {}, "find.notes: label must be a string or a table of strings, not {'a': 1}"),
        ({}, {"item": "{label}"}, "section.notes.item: unknown field '{label}'"),
        ({"as": "skill", "trim": "none"}, {"item": "{name}"}, "find.notes.trim is only for files that are used as text, not as skill"),
        ({}, {"wrap": "{cwd}"}, "section.notes.wrap needs '{}' exactly once, for the content"),
        ({}, {"item": "{path|relativ}"}, "section.notes.item: unknown filter 'relativ'; did you mean 'relative'?"),
    ],
)  # fmt: skip
def test_values_that_cannot_work_are_errors(words, find, section, message):
    with pytest.raises(LayoutError) as refused:
        words.prompt({}, find, section)
    assert message in str(refused.value)


def test_a_file_that_a_condition_also_asks_for_is_used(words):
    words.tree({"w/.git": None, "w/N.md": "n"})
    words.tree({"x.toml": 'sections = ["notes"]\n[find.any]\nfiles = ["walk:N.md"]\n[find.notes]\nfiles = ["walk:N.md"]\nwhen = ["found:any"]\n[section.notes]\nof = "notes"'})  # fmt: skip
    prompt = words.tree.prompt(words.tree.path("x.toml"))
    assert (prompt.text, words.tree.fates(prompt)) == ("n", [("/w/N.md", "used")])
