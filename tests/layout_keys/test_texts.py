"""Keys for the text of a file (trim, blank, comments, front, label), and values and filters in `item` and `wrap`."""

import pytest

from foreword.errors import LayoutError

MIRROR = {"mirrors": "Program 1.0"}


@pytest.mark.parametrize(
    ("trim", "text"),
    [("lines", "[  a  \n b]"), ("ends", "[a  \n b]"), ("tail", "[\n  a  \n b]"), ("none", "[\n  a  \n b\n\n]")],
)
def test_text_is_trimmed(notes, trim, text):
    assert notes.text({"w/N.md": "\n  a  \n b\n\n"}, {"trim": trim}, {"item": "[{text}]"}) == text


@pytest.mark.parametrize("trim", ["lines", "ends", "tail", "none"])
def test_a_blank_file_adds_nothing_with_any_trim(notes, trim):
    prompt = notes.prompt({"w/N.md": " \n\n"}, {"trim": trim}, {"item": "[{text}]"})
    assert prompt.text == ""
    assert notes.tree.fates(prompt) == [("/w/N.md", "blank")]


GROUP = {"files": [["walk:A.md", "walk:B.md"]]}


@pytest.mark.parametrize("blank", ["", " \n"])
def test_in_a_mirror_a_blank_file_can_hide_the_others_of_its_group(notes, blank):
    files = {"w/A.md": blank, "w/B.md": "B", "w/x/A.md": "A", "w/x/B.md": "C"}
    assert notes.text(files, GROUP, cwd="w/x") == "B\nA"
    prompt = notes.prompt(files, {**GROUP, "blank": "hide"}, cwd="w/x", **MIRROR)
    assert prompt.text == "A"
    assert notes.tree.messages(prompt) == [
        ("file-shadowed", "/w/B.md: /w/A.md comes before it, although it is blank"),
        ("file-shadowed", "/w/x/B.md: /w/x/A.md comes before it"),
    ]
    with pytest.raises(LayoutError, match=r"find.notes.blank: 'hide' is only for a layout that mirrors a program"):
        notes.prompt(files, {**GROUP, "blank": "hide"})


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
        ("A\n\n[x]: y 'z'\n[w]: v\n\n[q]: r s\n\n<!-- c -->\nB", "A\n\n[q]: r s\n\nB"),
        ("[x]: y\n\nA", "[x]: y\n\nA"),
        ("A\n[x]: y\n\n<!-- c -->\n```\n\n[z]: y\n```", "A\n[x]: y\n\n```\n\n[z]: y\n```"),
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
def test_comments_that_start_a_line_are_dropped(notes, text, kept):
    assert notes.text({"w/N.md": text}, {"comments": "drop"}) == kept
    assert notes.text({"w/N.md": text}).startswith(text)


def test_text_around_a_comment_keeps_its_line_numbers(notes):
    prompt = notes.prompt({"w/N.md": "a\n<!-- b\n-->\nc\n\n<!-- d -->\ne"}, {"comments": "drop"})
    pieces = [(piece.text, piece.origin.lines) for piece in prompt.passages[0].pieces]
    assert pieces == [("a\n", (1, 1)), ("c\n\n", (4, 5)), ("e", (7, 7))]


FRONT = "---\npaths: ['a', \"b\"]\ndescription: D.\nsize: 1.50\nnested: {a: 1}\n---\n\nBody\n"


def test_front_matter_is_dropped_and_its_fields_are_available(notes):
    section = {"item": "{front.paths}|{front.description|xml}|{front.size}|{front.nested}|{front.none}|{text}"}
    prompt = notes.prompt({"w/N.md": FRONT}, {"front": "drop"}, section)
    assert prompt.text == "a, b|D.|1.50|||Body"
    assert [piece.origin.lines for piece in prompt.passages[0].pieces][-1] == (8, 8)


def test_front_matter_stays_unless_it_is_dropped(notes):
    assert notes.text({"w/N.md": FRONT}) == FRONT.rstrip("\n")
    with pytest.raises(LayoutError, match=r"unknown field '\{front.x\}'"):
        notes.prompt({}, {}, {"item": "{front.x}"})


def test_a_file_that_has_only_front_matter_is_blank(notes):
    prompt = notes.prompt({"w/N.md": "---\na: b\n---\n<!-- c -->\n"}, {"front": "drop", "comments": "drop"})
    assert (prompt.text, notes.tree.fates(prompt)) == ("", [("/w/N.md", "blank")])


@pytest.mark.parametrize(
    ("front", "fields", "codes"),
    [
        ("---\nglobs: *.md\n---\nB", "*.md", []),
        ("---\nglobs: **/*.md, {a,b}/*.md\nalwaysApply: false\n---\nB", "**/*.md, {a,b}/*.md", []),
        ("---\nx: a: b\nglobs: *.md\n---\nB", "*.md", ["front-matter-invalid"]),
        ("---\n- a\n---\nB", "", ["front-matter-invalid"]),
        ("---\nglobs: a\nB", "", ["front-matter-invalid"]),
        ("\n---\nglobs: a\n---\nB", "", []),
    ],
)
def test_invalid_front_matter_is_reported(notes, front, fields, codes):
    prompt = notes.prompt({"w/N.md": front}, {"front": "drop"}, {"item": "{front.globs}|{text}"})
    assert prompt.text.partition("|")[0] == fields
    assert [finding.code for finding in prompt.findings] == codes


def test_a_label_depends_on_the_file_name_or_place(notes):
    files = {"w/N.md": "n", "w/N.local.md": "l", "w/O.md": "o", "home/N.md": "h"}
    labels = {"home:": "user", "*.local.md": "local", "N.md": "project"}
    find = {"files": ["home:N.md", "walk:N.md", "walk:N.local.md", "walk:O.md"], "label": labels}
    assert notes.text(files, find, {"item": "{text} ({label})"}) == "h (user)\nn (project)\nl (local)\no ()"
    assert notes.text(files, {"label": "x"}, {"item": "{text} ({label})"}) == "n (x)"


def test_items_and_wrappers_may_use_values_and_relative_paths(notes):
    files = {"w/N.md": "n", "w/a/b/N.md": "m"}
    section = {"item": "{path|relative} {path|root-relative} {root}", "wrap": "for {cwd} ({model}):\n{}"}
    assert notes.text(files, {}, section, cwd="w/a", options={"model": "M"}) == "for /w/a (M):\n../N.md N.md /w"
    assert notes.text(files, {}, section, cwd="w/a/b") == "for /w/a/b ():\n../../N.md N.md /w\nN.md a/b/N.md /w"


def test_a_path_in_the_home_directory_may_be_written_with_a_tilde(notes):
    files = {"home/x/N.md": "h", "w/N.md": "n"}
    find, section = {"files": ["home:x/N.md", "walk:N.md"]}, {"item": "{path|tilde}"}
    assert notes.text(files, find, section) == "~/x/N.md\n/w/N.md"


def test_a_value_in_a_wrapper_has_its_own_origin_and_cannot_close_the_section(notes):
    notes.tree({"w/</x>": None})
    prompt = notes.prompt({"w/N.md": "n"}, {}, {"wrap": "<x>{cwd}\n{}\n</x>"}, cwd="w/</x>")
    assert notes.tree.short(prompt.text) == "<x>/w/<\\/x>\nn\n</x>"
    assert [piece.origin.kind for piece in prompt.passages[0].pieces][1:4] == ["environment", "mark", "environment"]


@pytest.mark.parametrize(
    ("find", "section", "message"),
    [
        ({"trim": "yes"}, {}, "find.notes: trim must be one of lines, ends, tail, none, fence, not 'yes'"),
        ({"comments": True}, {}, "find.notes: comments must be one of keep, drop, all, not True"),
        ({"label": {"a/b.md": "x"}}, {}, "find.notes.label: 'a/b.md' is neither a file name nor a place such as 'home:'"),
        ({"label": {"hom:": "x"}}, {}, "find.notes.label: unknown place 'hom:'; did you mean 'home'?"),
        ({"label": {"a": 1}}, {}, "find.notes: label must be a string or a table of strings, not {'a': 1}"),
        ({}, {"item": "{label}"}, "section.notes.item: unknown field '{label}'"),
        ({"as": "agent", "front": "drop"}, {"item": "{name}"}, "find.notes.front is only for files that are used as text, not as agent"),
        ({}, {"wrap": "{cwd}"}, "section.notes.wrap needs '{}' exactly once, for the content"),
        ({}, {"item": "{path|relativ}"}, "section.notes.item: unknown filter 'relativ'; did you mean 'relative'?"),
    ],
)  # fmt: skip
def test_invalid_values_are_errors(notes, find, section, message):
    with pytest.raises(LayoutError) as error:
        notes.prompt({}, find, section)
    assert message in str(error.value)


def test_a_file_that_is_also_tested_by_a_condition_is_used(notes):
    notes.tree({"w/.git": None, "w/N.md": "n"})
    notes.tree({"x.toml": 'sections = ["notes"]\n[find.any]\nfiles = ["walk:N.md"]\n[find.notes]\nfiles = ["walk:N.md"]\nwhen = ["found:any"]\n[section.notes]\nlist = "notes"'})  # fmt: skip
    prompt = notes.tree.prompt(notes.tree.path("x.toml"))
    assert (prompt.text, notes.tree.fates(prompt)) == ("n", [("/w/N.md", "used")])
