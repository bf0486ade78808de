"""How programs repair front matter that is not valid YAML, which the key `repair` of a mirror names."""

import pytest

from foreword.sources.front_matter import load_yaml
from foreword.sources.repairs import repair_front_matter

COLON = "name: a\ndescription: Use it: now"
ENDS_WITH_COLON = "name: a\ndescription: These:"
COMMENTED = "name: a\ndescription: Use it: now # later"
STAR = "name: a\ndescription: **bold** text"
LIST = "name: a\nargument-hint: [a] [b]\ndescription: A."
QUOTED = "name: a\ndescription: 'a' and b"
TWICE = "name: a\ndescription: A.\ndescription: B."
BLOCK = "name: a\ndescription: |\n  Use it: now\nlicense: see: it"
MORE_LINES = "name: a\ndescription: Use it: now\n  and then"
CONTROL = "name: a\ndescription: A\x07B"
WINDOWS = "name: a\r\ndescription: Use it: now\r"


@pytest.mark.parametrize(
    ("repair", "head", "description"),
    [
        ("symbols", COLON, "Use it: now"),
        ("symbols", ENDS_WITH_COLON, None),
        ("symbols", COMMENTED, "Use it: now # later"),
        ("symbols", STAR, "**bold** text"),
        ("symbols", LIST, "A."),
        ("symbols", QUOTED, None),
        ("symbols", TWICE, "B."),
        ("symbols", BLOCK, None),
        ("symbols", MORE_LINES, None),
        ("symbols", CONTROL, "A B"),
        ("symbols", WINDOWS, None),
        ("colons", COLON, "Use it: now"),
        ("colons", ENDS_WITH_COLON, "These:"),
        ("colons", COMMENTED, "Use it: now # later"),
        ("colons", STAR, None),
        ("colons", LIST, None),
        ("colons", TWICE, None),
        ("colons", MORE_LINES, "Use it: now\nand then"),
        ("values", COLON, "Use it: now"),
        ("values", ENDS_WITH_COLON, None),
        ("values", COMMENTED, "Use it: now"),
        ("values", STAR, None),
        ("values", LIST, "A."),
        ("values", QUOTED, None),
        ("values", TWICE, None),
        ("values", BLOCK, "Use it: now\n"),
        ("rows", COLON, "Use it: now"),
        ("rows", QUOTED, "'a' and b"),
        ("rows", TWICE, "B."),
        ("rows", MORE_LINES, "Use it: now"),
        ("rows", WINDOWS, "Use it: now"),
        ("fields", COLON, "Use it: now"),
        ("fields", QUOTED, "'a' and b"),
        ("fields", TWICE, "B."),
        ("fields", MORE_LINES, "Use it: now and then"),
        ("fields", "name: a\ndescription: 7", "7"),
        ("fields", "name: a\ndescription:", ""),
        ("fields", "name: a\ndescription: [b, c]", "[b, c]"),
        ("fields", "name: a", None),
    ],
)
def test_a_program_repairs_front_matter(repair, head, description):
    loaded, error = load_yaml(repair_front_matter(head, repair))
    assert not error and (loaded or {}).get("description") == description


@pytest.mark.parametrize("repair", ["symbols", "colons", "values", "fields", "rows"])
def test_valid_front_matter_is_unchanged(repair):
    head = "name: 'a: b'\ndescription: >\n  A: b\n  c.\n# a: b: c\n"
    assert repair_front_matter(head, repair) == head
