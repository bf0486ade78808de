"""The line ends of files in mirrors: kept or replaced, with front matter, comments, limits and touches."""

import pytest

from foreword import Agent, Conversations, Workspace
from foreword.errors import LayoutError
from foreword.text.pieces import with_newlines, without_all_comments
from foreword.vocabulary import Origin, Piece

MIRROR = {"mirrors": "Program 1.0"}
KEEP = {**MIRROR, "line_ends": "keep"}
MIXED = "a\r\nb\nc\rd\r\r\n\r\ne\r"
FRONT = "---\r\nglobs: '*.py'\r\nlist:\r\n  - x\r\n---\r\n\r\n  Text\r\n\r\n"


@pytest.mark.parametrize(
    ("find", "text"),
    [
        ({"trim": "none"}, MIXED),
        ({"trim": "ends"}, MIXED[:-1]),
        ({"trim": "none", "line_ends": "lf"}, "a\nb\nc\rd\r\n\ne\r"),
        ({"trim": "none", "line_ends": "all"}, "a\nb\nc\nd\n\n\ne\n"),
    ],
)
def test_a_mirror_may_keep_line_ends(notes, find, text):
    assert notes.prompt({"w/N.md": MIXED.encode()}, find, **KEEP).text == text


def test_only_a_mirror_may_keep_line_ends(notes):
    assert notes.text({"w/N.md": b"a\r\nb\r\n"}, {"trim": "none"}) == "a\nb\n"
    with pytest.raises(LayoutError, match="line_ends: 'keep' is only for a layout that mirrors a program"):
        notes.prompt({}, line_ends="keep")


@pytest.mark.parametrize("line_ends", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("front", "text"),
    [
        ("drop", "\n  Text\n\n"),
        ("drop-space", "Text\n\n"),
        ("drop-ends", "Text"),
    ],
)
def test_front_matter_may_have_any_line_ends(notes, front, text, line_ends):
    files = {"w/N.md": FRONT.replace("\r\n", line_ends).encode()}
    item = {"item": "[{front.globs} {front.list}]{text}"}
    found = notes.prompt(files, {"trim": "none", "front": front}, item, **KEEP).text
    assert found == "[*.py x]" + text.replace("\n", line_ends)


@pytest.mark.parametrize("front", ["drop", "drop-space", "drop-ends"])
def test_white_space_stays_if_there_is_no_front_matter(notes, front):
    assert notes.text({"w/N.md": "\n Text\n\n"}, {"trim": "none", "front": front}) == "\n Text\n\n"
    assert notes.text({"w/N.md": "---\nno end\n"}, {"trim": "none", "front": front}) == "---\nno end\n"


@pytest.mark.parametrize(
    ("comments", "text", "expected"),
    [
        ("drop", "a\r\nb\rc", "a\r\nb\rc"),
        ("drop", "a\r\n<!-- x -->\r\n\r\nb\rc", "a\nb\nc"),
        ("drop", "a `<!-- x -->`\r\nb", "a `<!-- x -->`\nb"),
        ("all", "a `<!-- x -->`\r\n<!-- <!-- x --> -->b <!-- y -->c\r\n<!-- d", "a ``\r\n -->b c\r\n d"),
    ],
)
def test_a_program_that_drops_comments_replaces_line_ends_if_there_are_any(notes, comments, text, expected):
    assert notes.prompt({"w/N.md": text.encode()}, {"trim": "none", "comments": comments}, **KEEP).text == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [("abc\nabc\n", "abc\nabc\n"), ("abc\r\nabc\r\n", "abc\r\nabc"), ("abc\r\nab\r\nc", "abc\r\nab\r")],
)
def test_a_limit_counts_the_bytes_that_are_sent(notes, text, kept):
    prompt = notes.prompt(
        {"w/N.md": text.encode()}, {"trim": "none"}, {"bytes": 8, "bytes_cut": "last", "mark": False}, **KEEP
    )
    assert prompt.text == kept


def test_lines_are_counted_before_their_ends_are_replaced(notes):
    text = "ab\r\n" * 5
    find = {"max_bytes": 11, "line_ends": "all", "trim": "ends"}
    assert notes.prompt({"w/N.md": text.encode()}, find, **KEEP).text == (
        "ab\nab\nab\n\n[foreword: cut here, 2 lines left out]"
    )
    assert notes.prompt({"w/N.md": text.replace("\r", "").encode()}, find, **KEEP).text == (
        "ab\nab\nab\nab\n\n[foreword: cut here, 1 lines left out]"
    )
    assert notes.prompt({"w/N.md": text.encode()}, {**find, "max_bytes": 10}, **KEEP).text == (
        "ab\nab\n\n[foreword: cut here, 3 lines left out]"
    )


def test_imports_are_found_at_any_line_end(notes):
    files = {
        "w/N.md": b"see @a.md\r\n```\r\n@b.md\r\n```\r\n@c.md\r",
        "w/a.md": b"A\r\n",
        "w/b.md": b"B\r\n",
        "w/c.md": b"C",
    }
    find = {"trim": "none", "imports": {"place": "replace", "trim": "none", "form": "<{text}>"}}
    assert notes.prompt(files, find, **KEEP).text == "see <A\r\n>\r\n```\r\n@b.md\r\n```\r\n<C>\r"


def test_a_touch_reads_files_like_the_start(tree):
    content = b"\xef\xbb\xbfa\r\nb \xe9\r\n"
    tree({"w/.git/HEAD": "", "w/AGENTS.md": content, "w/x/AGENTS.md": content, "w/x/z.py": ""})
    workspace = Workspace(tree.path("w"), home=tree.path("home"), platform="linux", environment={})
    conversation = Conversations().open("one", workspace, Agent(), "opencode", mirror=True)
    touch = conversation.touch([tree.path("w/x/z.py")]).messages
    assert "AGENTS.md\na\r\nb \ufffd\r\n" in conversation.turn("Hello.").system
    assert ["AGENTS.md\na\r\nb \ufffd\r\n" in message["content"] for message in touch] == [True]


ORIGIN = Origin("file", "/w/N.md", (1, 2))


@pytest.mark.parametrize(
    ("texts", "single_returns", "expected"),
    [
        (("a\r", "\nb"), True, "a\nb"),
        (("a\r", "\nb"), False, "a\nb"),
        (("a\r", "b\r"), True, "a\nb\n"),
        (("a\r", "b\r"), False, "a\rb\r"),
        (("\r", "\n"), False, "\n"),
    ],
)
def test_a_line_end_may_be_in_two_pieces(texts, single_returns, expected):
    pieces = tuple(Piece(text, ORIGIN) for text in texts)
    assert "".join(piece.text for piece in with_newlines(pieces, single_returns=single_returns)) == expected


def test_removing_a_comment_may_make_another_one():
    pieces = (Piece("a <!<!-- x", ORIGIN), Piece(" -->-- y --> b <!<!----", ORIGIN))
    assert "".join(piece.text for piece in without_all_comments(pieces)) == "a  b <!--"
