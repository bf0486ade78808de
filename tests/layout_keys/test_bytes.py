"""A section's keys `bytes`, `bytes_cut` and `mark`, and a layout's key `raw`."""

import pytest

from foreword.errors import LayoutError

MIRROR = {"mirrors": "Program 1.0"}
FILES = {"w/N.md": "a" * 10, "w/x/N.md": "b" * 10, "w/x/y/N.md": "c" * 10}
UNMARKED = {"bytes_cut": "last", "mark": False}


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        (30, ["a" * 10, "b" * 10, "c" * 10]),
        (29, ["a" * 10, "b" * 10, "c" * 9]),
        (15, ["a" * 10, "b" * 5]),
        (10, ["a" * 10]),
        (1, ["a"]),
        (0, []),
    ],
)
def test_a_mirror_cuts_the_last_files_at_the_exact_byte(notes, limit, kept):
    prompt = notes.prompt(FILES, {}, {"bytes": limit, **UNMARKED}, cwd="w/x/y", **MIRROR)
    assert prompt.text.split("\n") == (kept or [""])


def test_what_was_cut_is_reported(notes):
    prompt = notes.prompt(FILES, {}, {"bytes": 15, "wrap": "<x>{}</x>", **UNMARKED}, cwd="w/x/y", **MIRROR)
    reason = "the limit of section 'notes' is 15 bytes"
    assert notes.tree.messages(prompt) == [
        ("budget-file", f"/w/x/N.md: cut from 10 to 5 bytes; {reason}"),
        ("budget-file", f"/w/x/y/N.md: cut from 10 to 0 bytes; nothing is left of it; {reason}"),
    ]
    assert notes.tree.fates(prompt) == [("/w/N.md", "used"), ("/w/x/N.md", "cut"), ("/w/x/y/N.md", "cut")]


@pytest.mark.parametrize(
    ("limit", "text"), [(1, "x"), (2, "x\ufffd"), (3, "xé"), (4, "xé\ufffd"), (6, "xé\ufffd"), (7, "xé😀")]
)
def test_a_character_that_is_cut_in_two_is_replaced(notes, limit, text):
    prompt = notes.prompt({"w/N.md": "xé😀y"}, {}, {"bytes": limit, **UNMARKED}, **MIRROR)
    assert prompt.text == text


def test_separators_and_wrappers_do_not_count(notes):
    section = {"bytes": 30, "item": "## {path}\n\n{text}", "wrap": "<x>\n{}\n</x>"}
    assert notes.prompt(FILES, {}, section, cwd="w/x/y").findings == ()


LONG = {"w/N.md": "é" * 100, "w/x/N.md": "b" * 200}
MARK = "\n[foreword: cut here, {} bytes left out]"


def test_the_first_files_are_cut_by_default_and_the_marker_counts(notes):
    text = notes.text(LONG, {}, {"bytes": 300}, cwd="w/x")
    kept = (100 - len(MARK.format(148))) // 2
    assert text == "é" * kept + MARK.format(200 - 2 * kept) + "\n" + "b" * 200


def test_a_file_without_room_for_a_marker_is_left_out(notes):
    prompt = notes.prompt(LONG, {}, {"bytes": 210}, cwd="w/x")
    assert prompt.text == "b" * 200
    assert notes.tree.fates(prompt) == [("/w/N.md", "cut"), ("/w/x/N.md", "used")]


def test_a_cut_fence_is_closed_and_a_cut_tag_cannot_close_the_section(notes):
    text = notes.text({"w/N.md": "```\n" + "a" * 200}, {}, {"bytes": 100, "wrap": "<x>\n{}\n</x>"})
    assert "\n```\n[foreword: cut here" in text and len(text.encode()) <= 100 + len("<x>\n\n</x>")
    for limit in range(60, 80):
        text = notes.text({"w/N.md": "a" * 20 + "</x y" * 20}, {}, {"bytes": limit, "wrap": "<x>\n{}\n</x>"})
        assert text.count("</x>") == 1 and "</x\n" not in text


@pytest.mark.parametrize("limit", [0, 15])
def test_the_limit_can_be_a_setting(notes, limit):
    section = {"bytes": "{limit}", **UNMARKED}
    prompt = notes.prompt(FILES, {}, section, cwd="w/x/y", **MIRROR, settings={"limit": 30})
    assert prompt.findings == ()
    prompt = notes.prompt(
        FILES, {}, section, cwd="w/x/y", options={"set": {"limit": limit}}, **MIRROR, settings={"limit": 30}
    )
    assert len(prompt.text.replace("\n", "")) == limit


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"bytes": -1}, "section.notes: bytes must be a whole number, or a setting such as '{limit}', not -1"),
        ({"bytes": "many"}, "section.notes: bytes must be a whole number, or a setting such as '{limit}', not 'many'"),
        ({"bytes": "{lim}"}, "section.notes.bytes: unknown setting 'lim'"),
        ({"bytes": "{word}"}, "section.notes.bytes: the setting word must be a whole number, not 'x'"),
        ({"bytes": 1, "list": "tools", "item": "{name}"}, "only a section that lists the text of files can have a limit in bytes"),
        ({"bytes": 1, "mark": False}, "section.notes.mark: False is only for a layout that mirrors a program"),
    ],
)  # fmt: skip
def test_invalid_values_are_errors(notes, section, message):
    with pytest.raises(LayoutError) as error:
        notes.prompt(FILES, {}, section, settings={"word": "x"})
    assert message in str(error.value)


def test_a_mirror_may_leave_raw_text_unchanged(notes):
    text = "</x> <X>\n```\ncode"
    section = {"wrap": "<x>\n{}\n</x>"}
    prompt = notes.prompt({"w/N.md": text}, {}, section, raw=True, **MIRROR)
    assert prompt.text == f"<x>\n{text}\n</x>"
    assert notes.tree.messages(prompt) == [
        ("file-neutralised", "/w/N.md contains a tag that wraps a section; it was left as it is"),
        ("file-fence", "/w/N.md ends inside a code fence; it was left as it is"),
    ]
    with pytest.raises(LayoutError, match="raw: True is only for a layout that mirrors a program"):
        notes.prompt({}, {}, section, raw=True)
