"""The texts of editions are parsed once, within a limit."""

import json
import weakref

import pytest

from foreword.encoding.edition import EditionTarget, ParseCache, account_of, agent_row, target_form, target_of, tools_of
from foreword.vocabulary import Edition, digest


def test_equal_texts_share_one_value():
    one, other = (Edition(number, "text", tools='[{"name": "shell"}]', built_for='{"cwd": "/w"}') for number in (1, 2))
    assert target_of(one) is target_of(other)
    assert (tools_of(one), account_of(one), target_of(one)) == (({"name": "shell"},), {}, EditionTarget("/w"))


def test_reading_the_agent_of_an_edition_does_not_change_the_shared_values():
    tools = '[{"name": "b", "description": "B"}, {"name": "a", "description": "A"}]'
    agent = '{"cwd": "/w", "model": "m", "agent": {"tools": {"a": {"snippet": "s"}}, "language": "en"}, "tool_order": ["b", "a"]}'
    edition = Edition(1, "text", tools=tools, built_for=agent)
    expected = {
        "cwd": "/w",
        "model": "m",
        "provider": "",
        "language": "en",
        "tools": {"b": {"description": "B"}, "a": {"description": "A", "snippet": "s"}},
    }
    assert agent_row(edition) == agent_row(edition) == expected
    assert list(agent_row(edition)["tools"]) == ["b", "a"]


def test_the_oldest_values_are_dropped():
    parsed = []
    cache = ParseCache(lambda text: parsed.append(text) or text.upper(), max_characters=10)
    assert [cache[text] for text in ("aaaa", "bbbb", "aaaa", "cccc", "bbbb", "aaaa")] == [
        "AAAA",
        "BBBB",
        "AAAA",
        "CCCC",
        "BBBB",
        "AAAA",
    ]
    assert parsed == ["aaaa", "bbbb", "cccc", "aaaa"]
    assert cache["x" * 50] == "X" * 50, "a text over the limit is parsed too"


def test_forgotten_and_dropped_texts_leave_memory():
    class Text(str):  # weak references to plain strings are not possible
        pass

    cache = ParseCache(len, max_characters=10)
    texts = [Text("aaaa"), Text("bbbb"), Text("cccc")]
    references = [weakref.ref(text) for text in texts]
    cache[texts[0]], cache[texts[1]]
    cache.forget([bytes.fromhex(digest("bbbb")[7:])])
    cache[texts[2]], cache.forget([]), cache["dddd"]
    texts.clear()
    assert [reference() for reference in references] == [None, None, "cccc"]


@pytest.mark.parametrize(
    "target",
    [
        EditionTarget(),
        EditionTarget("/w", "m", "p", 0),
        EditionTarget("/w", "m", "p", 3, {"language": "en"}, ["b", "a"]),
    ],
)
def test_built_for_survives_writing_and_reading(target):
    assert target_of(Edition(1, "text", built_for=json.dumps(target_form(target)))) == target
