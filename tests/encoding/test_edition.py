"""The texts of editions are parsed once, within a limit."""

from foreword.encoding.agent import made_for
from foreword.encoding.edition import ParseCache, account_of, state_of, tools_of
from foreword.vocabulary import Edition


def test_equal_texts_share_one_value():
    one, other = (Edition(number, "text", tools='[{"name": "shell"}]', state='{"x": 1}') for number in (1, 2))
    assert state_of(one) is state_of(other)
    assert (tools_of(one), account_of(one), state_of(one)) == ([{"name": "shell"}], {}, {"x": 1})


def test_reading_whom_an_edition_was_made_for_leaves_the_shared_values_alone():
    tools = '[{"name": "b", "description": "B"}, {"name": "a", "description": "A"}]'
    agent = '{"cwd": "/w", "model": "m", "agent": {"tools": {"a": {"snippet": "s"}}, "language": "en"}, "tool_order": ["b", "a"]}'
    edition = Edition(1, "text", tools=tools, made_for=agent)
    expected = {
        "cwd": "/w",
        "model": "m",
        "language": "en",
        "tools": {"b": {"description": "B"}, "a": {"description": "A", "snippet": "s"}},
    }
    assert made_for(edition) == made_for(edition) == expected
    assert list(made_for(edition)["tools"]) == ["b", "a"]


def test_the_oldest_values_are_dropped():
    parsed = []
    cache = ParseCache(lambda text: parsed.append(text) or text.upper(), max_characters=10)
    assert [cache.get(text) for text in ("aaaa", "bbbb", "aaaa", "cccc", "bbbb", "aaaa")] == [
        "AAAA",
        "BBBB",
        "AAAA",
        "CCCC",
        "BBBB",
        "AAAA",
    ]
    assert parsed == ["aaaa", "bbbb", "cccc", "aaaa"]
    assert cache.get("x" * 50) == "X" * 50, "a text over the limit is parsed too"
