"""TOML that would take a long time to parse, or is too deep for the code that reads it, is refused."""

import pytest

from foreword.text.toml import load_toml

DEEP = ".a" * 300


@pytest.mark.parametrize(
    "text",
    [f"a{DEEP} = 1", f"[a{DEEP}]", f"x = {{a{DEEP} = 1}}", f"x = {{a = '''\ny = \"''', a{DEEP} = 1, b = '''\"\n'''}}"],
)
def test_a_key_with_many_parts_is_refused(text):
    with pytest.raises(ValueError, match=r"a line has more than 200 dots \(at line [12], column 1\)"):
        load_toml(text)


def test_deep_tables_are_refused():
    with pytest.raises(ValueError, match="nested more than 100 levels deep"):
        load_toml("a" + ".a" * 120 + " = 1")
    assert load_toml("a" + ".a" * 90 + " = 1")


@pytest.mark.parametrize("content", ["A sentence. " * 300, "." * 300])
def test_a_long_string_may_have_dots(content):
    assert load_toml(f'x.y = "{content}"') == {"x": {"y": content}}
    assert load_toml('x = """\n' + "." * 300 + '"""') == {"x": "." * 300}
