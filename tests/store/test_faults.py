"""What is wrong with the rows of a store, when they are changed by something else."""

import pytest

from foreword.store.contents import content_hash
from foreword.store.faults import faults
from foreword.store.texts import hash_of, id_of, pack

HASHES = {1: hash_of("a"), 2: hash_of("b")}
COUNTS = "the counts of conversations and editions are wrong"


def rows():
    """The rows of two conversations, the first of which has two editions, and of two templates."""
    return {
        "texts": {number: [number, *pack(text)] for number, text in ((1, "a"), (2, "b"))},
        "contents": {
            1: [1, content_hash([HASHES[1]] * 6), 7, 1, 1, 1, 1, 1, 1],
            2: [2, content_hash([HASHES[1]] * 5 + [HASHES[2]]), 8, 1, 1, 1, 1, 1, 2],
        },
        "unused": {},
        "editions": {"a1": ["a", 1, 1, None], "a2": ["a", 2, 2, 8], "b1": ["b", 1, 1, 7]},
        "counts": {7: [7, 1, 2], 8: [8, 1, 1], 9: [9, 0, 0]},
        "deleted": {"t": ["t", 4]},
        "templates": {"s1": ["s", 1, 1], "t1": ["t", 1, 1], "t2": ["t", 2, 2], "t5": ["t", 5, 2], "t6": ["t", 6, 2]},
        "labels": {"t": ["t", "production", 6]},
    }


@pytest.mark.parametrize(
    ("table", "row", "content", "problems"),
    [
        ("texts", 2, [2, HASHES[2], 0, b"c"], [f"text 2 does not match its hash {id_of(HASHES[2])}"]),
        ("texts", 2, [2, HASHES[2], 1, b"c"], [f"text 2 ({id_of(HASHES[2])}) cannot be decoded"]),
        ("texts", 3, [3, *pack("c")], ["text 3 is not used by any edition or template; run foreword store prune to remove it"]),
        (
            "texts",
            2,
            None,
            [
                "edition 2 of conversation 'a' has no built_for: text 2 is missing",
                *(f"version {number} of template 't' has no text: text 2 is missing" for number in (2, 5, 6)),
            ],
        ),
        ("contents", 2, [2, content_hash([HASHES[1]] * 6), 8, 1, 1, 1, 1, 1, 2], ["the texts of content 2 do not match its hash"]),
        ("contents", 3, [3, content_hash([HASHES[2]] * 6), 7, *[2] * 6], ["content 3 is not used by any edition; run foreword store prune to remove it"]),
        ("contents", 2, None, ["edition 2 of conversation 'a' has no content: content 2 is missing", COUNTS]),
        (
            "contents",
            1,
            None,
            [
                "edition 1 of conversation 'a' has no content: content 1 is missing",
                "edition 1 of conversation 'b' has no content: content 1 is missing",
                COUNTS,
            ],
        ),
        ("unused", 1, [1], []),
        ("editions", "a1", None, [COUNTS]),
        ("editions", "a2", None, ["conversation 'a' has no edition in use", "content 2 is not used by any edition; run foreword store prune to remove it", COUNTS]),
        ("editions", "a2", ["a", 3, 2, 8], ["edition 3 of conversation 'a' comes after edition 1"]),
        ("editions", "a1", ["a", 1, 1, 7], ["edition 1 of conversation 'a' is in use, but it is not the newest", COUNTS]),
        ("editions", "a2", ["a", 2, 2, None], ["conversation 'a' has no edition in use", COUNTS]),
        ("editions", "b1", ["b", 1, 1, None], ["conversation 'b' has no edition in use", COUNTS]),
        ("editions", "b1", ["b", 1, 1, 8], ["edition 1 of conversation 'b' has the wrong kind"]),
        ("counts", 7, [7, 2, 2], [COUNTS]),
        ("counts", 8, [8, 1, 2], [COUNTS]),
        ("counts", 9, [9, 0, 1], [COUNTS]),
        ("counts", 9, [9, 1, 0], [COUNTS]),
        ("deleted", "t", None, ["version 5 of template 't' comes after version 2"]),
        ("templates", "t1", None, ["version 2 of template 't' comes after version 0"]),
        ("templates", "s1", ["s", 2, 1], ["version 2 of template 's' comes after version 0"]),
        ("labels", "t", ["t", "production", 7], ["label 'production' of template 't' refers to version 7, which is missing"]),
        ("labels", "t", ["s", "beta", 2], ["label 'beta' of template 's' refers to version 2, which is missing"]),
    ],
)  # fmt: skip
def test_each_row_that_is_wrong_or_missing_is_found(table, row, content, problems):
    changed = rows()
    changed[table][row] = content
    assert list(faults(*([row for row in table.values() if row] for table in changed.values()))) == problems


def test_intact_rows_have_no_problems():
    assert list(faults(*(table.values() for table in rows().values()))) == []
    assert list(faults(*[[]] * 8)) == []
