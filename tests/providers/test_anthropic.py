"""Anthropic: blocks and breakpoints, checked with the real client and types."""

from __future__ import annotations

import json

import pytest
from anthropic import Anthropic
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from hypothesis import given
from hypothesis import strategies as st

from foreword import Agent, CallError, Conversations
from foreword.packs.std import NAMES
from foreword.providers.anthropic import for_anthropic
from foreword.vocabulary import LIFETIMES, Turn, replace

CACHE_CONTROL = {"type": "ephemeral"}
MESSAGES = ({"role": "user", "content": "Hi."},)


def blocks(request):
    """The blocks of the system prompt, each as text and whether a breakpoint follows."""
    return [(block["text"], "cache_control" in block) for block in request.get("system", ())]


def marks(request):
    return [
        block["cache_control"]
        for key in ("tools", "system")
        for block in request.get(key, ())
        if "cache_control" in block
    ]


# Where lifetimes end


def test_each_lifetime_is_a_block_with_a_breakpoint(make_turn, all_lifetimes, schema):
    assert for_anthropic(make_turn(*all_lifetimes)) == {
        "tools": [
            {"name": "read_file", "description": "Reads a file – all of it.", "input_schema": schema},
            {"name": "status", "input_schema": {"type": "object", "properties": {}}},
        ],
        "system": [
            {"type": "text", "text": "You are an agent.", "cache_control": CACHE_CONTROL},
            {
                "type": "text",
                "text": "\n\n# Instructions\nSpeak plainly. ✓\n\n# Skills",
                "cache_control": CACHE_CONTROL,
            },
            {"type": "text", "text": "\n\nWorking directory: /w", "cache_control": CACHE_CONTROL},
            {"type": "text", "text": "\n\n# Plan"},
        ],
        "messages": [{"role": "user", "content": "Fix the “failing” test."}],
    }


RELEASE, PROJECT, CONVERSATION, TURN = LIFETIMES


@pytest.mark.parametrize(
    ("lifetimes", "expected", "is_on_tools"),
    [
        ([RELEASE], [("0", True)], False),
        ([CONVERSATION], [("0", True)], True),  # another conversation still reads the tools
        ([PROJECT, CONVERSATION], [("0", True), (" 1", True)], True),
        ([TURN], [("0", False)], True),
        ([RELEASE, TURN], [("0", True), (" 1", False)], False),
        ([RELEASE, RELEASE, PROJECT, PROJECT], [("0 1", True), (" 2 3", True)], False),
        ([CONVERSATION, RELEASE, PROJECT], [("0 1 2", True)], True),  # lasting text after text of the conversation
        ([PROJECT, RELEASE, TURN, CONVERSATION], [("0 1", True), (" 2 3", False)], True),
        ([TURN, RELEASE, PROJECT, CONVERSATION], [("0 1 2 3", False)], True),
        (
            [RELEASE, PROJECT, CONVERSATION, TURN, CONVERSATION],
            [("0", True), (" 1", True), (" 2", True), (" 3 4", False)],
            False,
        ),
    ],
)
def test_breakpoints_are_where_lifetimes_end(make_turn, lifetimes, expected, is_on_tools):
    turn = make_turn(*((lifetime, str(index)) for index, lifetime in enumerate(lifetimes)), separator=" ")
    request = for_anthropic(turn)
    assert blocks(request) == expected
    assert ["cache_control" in tool for tool in request["tools"]] == [False, is_on_tools]
    without_tools = for_anthropic(make_turn(*((lifetime, "x") for lifetime in lifetimes), tools=()))
    assert "tools" not in without_tools and len(marks(without_tools)) == sum(marked for _, marked in expected)


@pytest.mark.parametrize(
    ("length", "breakpoints", "expected"),
    [
        (4000, 3, ([], [True, True, True, False])),
        (5000, 3, (["status"], [False, True, True, False])),  # a late tool does not lose the others
        (5000, 4, (["status"], [True, True, True, False])),
        (5000, 2, ([], [False, True, True, False])),  # the last ones cover the most text
        (5000, 1, ([], [False, False, True, False])),
    ],
)
def test_long_tools_have_a_breakpoint_of_their_own(make_turn, all_lifetimes, length, breakpoints, expected):
    tools = [{"name": "read", "description": "x" * length}, {"name": "status"}]
    request = for_anthropic(make_turn(*all_lifetimes, tools=tools), breakpoints=breakpoints)
    names = [tool["name"] for tool in request["tools"] if "cache_control" in tool]
    assert (names, [is_marked for _, is_marked in blocks(request)]) == expected


def marked_blocks(request):
    """Return the numbers of the blocks, over all messages, that have a breakpoint."""
    contents = [message["content"] for message in request["messages"]]
    contents = [[{"text": content}] if isinstance(content, str) else content for content in contents]
    return [
        number
        for number, block in enumerate((block for blocks in contents for block in blocks), 1)
        if "cache_control" in block
    ]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1] * 15, []),
        ([1] * 16, [15]),
        ([1] * 30, [15]),
        ([1] * 31, [30]),
        ([1, 24, 24, 1], [45]),
        ([1], []),
    ],
)
def test_a_long_conversation_has_a_breakpoint_in_its_messages(make_turn, all_lifetimes, sizes, expected):
    """It is never more than 20 blocks after an earlier request's breakpoint, so that the API finds that one."""
    contents = ["x" if size == 1 else [{"type": "text", "text": "x"}] * size for size in sizes]
    messages = [{"role": "user", "content": content} for content in contents]
    request = for_anthropic(make_turn(*all_lifetimes, messages=messages), ttl="mixed")
    assert marked_blocks(request) == expected
    ttls = [mark["ttl"] for mark in all_marks(request)]
    assert ttls == (["1h", "5m", "5m"] if expected else ["1h", "1h", "5m"])
    bare = for_anthropic(make_turn(*all_lifetimes, messages=messages), breakpoints=0)
    assert list(all_marks(bare)) == [] and bare["messages"] == messages


@pytest.mark.parametrize(
    "messages",
    [
        [
            *[{"role": "user", "content": "x"}] * 14,
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]},
        ],
        [*[{"role": "user", "content": "x"}] * 14, {"role": "user", "content": [{"type": "strange"}]}],
    ],
)
def test_a_block_that_cannot_have_a_breakpoint_leaves_it_to_the_one_before(make_turn, messages):
    assert marked_blocks(for_anthropic(make_turn(messages=[*messages, *messages[:1]]))) == [14]
    assert marked_blocks(for_anthropic(make_turn(messages=[*messages[14:] * 15, *messages[:1]]))) == []


@pytest.mark.parametrize(
    ("system", "passages", "expected"),
    [
        ("", [], []),
        (" \n\n", [], []),
        (" \n", [(0, 2, "turn")], []),
        ("Given as a whole.", [], [("Given as a whole.", True)]),
        # Text that a request adds after the prompt is not cached with it.
        ("Base.\n\nSummarise.", [(0, 5, "conversation")], [("Base.", True), ("\n\nSummarise.", False)]),
        ("Base.\n", [(0, 5, "conversation")], [("Base.\n", True)]),
        # Blank passages are merged with adjacent ones.
        ("\n\nA", [(0, 1, "release"), (2, 3, "project")], [("\n\nA", True)]),
        ("A\n\n \n\nB", [(0, 1, "release"), (3, 4, "project"), (6, 7, "turn")], [("A", True), ("\n\n \n\nB", False)]),
        ("A\n\n ", [(0, 1, "release"), (3, 4, "turn")], [("A\n\n ", True)]),
        ("– A", [(2, 3, "project")], [("– A", True)]),
    ],
)
def test_no_block_is_blank_and_no_character_is_lost(system, passages, expected):
    assert blocks(for_anthropic(Turn("t", 1, True, system, MESSAGES, (), passages))) == expected


def test_without_a_prompt_there_is_no_system_key(make_turn):
    assert for_anthropic(make_turn(tools=())) == {"messages": [{"role": "user", "content": "Fix the “failing” test."}]}
    assert marks(for_anthropic(make_turn())) == [CACHE_CONTROL]


@pytest.mark.parametrize(
    ("ttl", "mark"),
    [(None, CACHE_CONTROL), ("5m", {**CACHE_CONTROL, "ttl": "5m"}), ("1h", {**CACHE_CONTROL, "ttl": "1h"})],
)
def test_the_cache_ttl_is_set(make_turn, all_lifetimes, ttl, mark):
    assert marks(for_anthropic(make_turn(*all_lifetimes), ttl=ttl)) == [mark] * 3


def test_an_unknown_cache_ttl_is_refused(make_turn):
    with pytest.raises(CallError, match=r"^unknown ttl '2h'; use '5m', '1h', 'mixed' or None$"):
        for_anthropic(make_turn(), ttl="2h")


def test_text_that_other_conversations_share_is_cached_for_an_hour(make_turn, all_lifetimes):
    hour, minutes = ({**CACHE_CONTROL, "ttl": ttl} for ttl in ("1h", "5m"))
    assert marks(for_anthropic(make_turn(*all_lifetimes), ttl="mixed")) == [hour, hour, minutes]
    assert marks(for_anthropic(make_turn(*all_lifetimes[1:]), ttl="mixed")) == [hour, hour, minutes]  # with the tools


# Never more than four


def marked(text, **ttl):
    return {"role": "user", "content": [{"type": "text", "text": text, "cache_control": {**CACHE_CONTROL, **ttl}}]}


def result(*texts):
    """The result of a tool, with a breakpoint in each block of its content."""
    content = [{"type": "text", "text": text, "cache_control": CACHE_CONTROL} for text in texts]
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": content}]}


def all_marks(content):
    """Every breakpoint anywhere in a request."""
    if isinstance(content, dict):
        own = [content["cache_control"]] if "cache_control" in content else []
        return own + all_marks(list(content.values()))
    return [mark for part in content for mark in all_marks(part)] if isinstance(content, list | tuple) else []


@pytest.mark.parametrize(
    ("messages", "breakpoints", "own", "theirs"),
    [
        ([], 3, 3, 0),
        ([], 4, 3, 0),
        ([], 2, 2, 0),
        ([], 0, 0, 0),
        ([marked("a")], 3, 3, 1),
        ([marked("a"), marked("b")], 3, 2, 2),
        ([marked("a"), result("b", "c")], 3, 1, 3),
        ([marked("a"), result("b", "c"), marked("d")], 3, 0, 4),
        ([marked("a"), result("b", "c", "d"), marked("e"), marked("f")], 3, 0, 4),  # the first two are removed
    ],
)
def test_a_request_never_has_more_than_four_breakpoints(
    is_typed, make_turn, all_lifetimes, messages, breakpoints, own, theirs
):
    turn = make_turn(*all_lifetimes, messages=messages or [{"role": "user", "content": "Hi."}])
    before = json.dumps(turn.messages)
    request = for_anthropic(turn, breakpoints=breakpoints)
    assert (len(marks(request)), len(all_marks(request["messages"]))) == (own, theirs)
    assert json.dumps(turn.messages) == before
    assert is_typed({**request, "model": "m", "max_tokens": 8}, MessageCreateParamsNonStreaming)


def test_the_first_breakpoints_are_dropped(make_turn, all_lifetimes):
    assert blocks(for_anthropic(make_turn(*all_lifetimes), breakpoints=1)) == [
        ("You are an agent.", False),
        ("\n\n# Instructions\nSpeak plainly. ✓\n\n# Skills", False),
        ("\n\nWorking directory: /w", True),
        ("\n\n# Plan", False),
    ]
    texts = [marked(letter) for letter in "abcde"]
    kept = for_anthropic(make_turn(messages=texts))["messages"]
    assert kept == [{"role": "user", "content": [{"type": "text", "text": "a"}]}, *texts[1:]]


def test_breakpoints_in_tools_and_documents_count_too(make_turn, all_lifetimes):
    control = {"cache_control": {"type": "ephemeral"}}
    tools = [{"name": f"t{number}", "description": "", "schema": {}, "options": control} for number in range(6)]
    turn = make_turn(*all_lifetimes, tools=tools)
    marked_tools = [name for name, tool in enumerate(for_anthropic(turn)["tools"]) if "cache_control" in tool]
    assert marked_tools == [2, 3, 4, 5]
    source = {"type": "content", "content": [{"type": "text", "text": str(number), **control} for number in range(3)]}
    document = {"role": "user", "content": [{"type": "document", "source": source, **control}]}
    request = for_anthropic(replace(turn, messages=[document]))
    assert len(all_marks([request["tools"], request["system"], request["messages"]])) == 4
    assert request["messages"] == [document] and document["content"][0]["source"] is source


def test_four_breakpoints_can_be_used(make_turn, all_lifetimes):
    turn = make_turn(*all_lifetimes[1:], separator="")
    turn = replace(turn, root_end=len("# Instructions\nSpeak plainly. ✓"))
    assert len(marks(for_anthropic(turn))) == 3
    assert len(marks(for_anthropic(turn, breakpoints=4))) == 4


@pytest.mark.parametrize("breakpoints", [-1, 5, True, "3", None])
def test_an_invalid_number_of_breakpoints_is_refused(make_turn, breakpoints):
    with pytest.raises(CallError, match=r"^breakpoints must be a number from 0 to 4, not "):
        for_anthropic(make_turn(), breakpoints=breakpoints)


@pytest.mark.parametrize("ttl", [None, "5m", "mixed"])
def test_an_hour_never_comes_after_five_minutes(make_turn, all_lifetimes, ttl):
    request = for_anthropic(make_turn(*all_lifetimes, messages=[marked("a", ttl="1h"), marked("b")]), ttl=ttl)
    assert [mark.get("ttl") for mark in all_marks(request)] == ["1h", "1h", "1h", None]


def test_changing_one_breakpoint_of_a_request_changes_no_other(make_turn, all_lifetimes):
    turn = make_turn(*all_lifetimes)
    request = for_anthropic(turn)
    request["system"][0]["cache_control"]["ttl"] = "1h"
    request["tools"][0]["name"] = "other"
    request["messages"].append({"role": "user", "content": "More."})
    assert marks(request) == [{**CACHE_CONTROL, "ttl": "1h"}, CACHE_CONTROL, CACHE_CONTROL]
    assert turn == make_turn(*all_lifetimes)


texts = st.text("ab \n✓", min_size=1, max_size=4)
drawn_passages = st.lists(st.tuples(texts, st.sampled_from(LIFETIMES), st.text(" \n-", max_size=3)), max_size=8)


@given(drawn_passages, st.text(" \nz", max_size=3), st.booleans())
def test_any_passages_become_valid_blocks(drawn, tail, has_tools):
    system, passages = "", []
    for text, lifetime, separator in drawn:
        passages.append((len(system), len(system) + len(text), lifetime))
        system += text + separator
    system += tail
    request = for_anthropic(Turn("t", 1, True, system, MESSAGES, [{"name": "n"}] if has_tools else (), passages))
    assert "".join(text for text, _ in blocks(request)) == (system if system.strip() else "")
    assert all(text.strip() for text, _ in blocks(request))
    assert len(marks(request)) <= 3
    assert_lifetimes_shorten(blocks(request), system, passages)


def assert_lifetimes_shorten(marked_blocks, system, passages):
    """Each block has a shorter lifetime than the one before, and a breakpoint unless it lasts a turn."""

    def lifetime_at(offset):
        """A separator lasts as long as the text after it; text after the last passage lasts a turn."""
        if not passages:
            return LIFETIMES.index(CONVERSATION)
        return LIFETIMES.index(next((lifetime for _, stop, lifetime in passages if offset < stop), TURN))

    words, end, ranks = len(system.rstrip()), 0, []
    for text, marked in marked_blocks:
        end = min(end + len(text), words)
        ranks.append(max(lifetime_at(offset) for offset in range(end)))
        assert marked == (LIFETIMES[ranks[-1]] != TURN)
    assert ranks == sorted(set(ranks))


@pytest.mark.parametrize("layout", NAMES)
def test_prompts_of_the_shipped_layouts_become_valid_blocks(tree, layout):
    tree(
        {
            "w/AGENTS.md": "Speak plainly.\n",
            "w/.git/HEAD": "",
            "w/.agents/skills/x/SKILL.md": "---\nname: x\ndescription: X\n---\n",
        }
    )
    prompt = tree.prompt(layout, tools="read read_file shell bash", session="s")
    passages = [(passage.start, passage.end, passage.lifetime) for passage in prompt.passages]
    request = for_anthropic(Turn("t", 1, True, prompt.text, MESSAGES, ({"name": "read"},), passages))
    assert "".join(text for text, _ in blocks(request)) == prompt.text
    assert 1 <= len(marks(request)) <= 3
    assert_lifetimes_shorten(blocks(request), prompt.text, passages)


# With the client


@pytest.fixture
def client(provider):
    with Anthropic(base_url=provider.url, api_key="none", max_retries=0) as client:
        yield client


def test_the_client_sends_the_request_unchanged(provider, client, make_turn, all_lifetimes, history):
    request = for_anthropic(make_turn(*all_lifetimes, messages=history), ttl="1h")
    response = client.messages.create(**request, model="claude-opus-5", max_tokens=8)
    assert response.content[0].text == "Done."
    assert provider.last_request == {**request, "model": "claude-opus-5", "max_tokens": 8}


def test_two_turns_of_a_conversation_send_the_same_prefix(provider, client, make_turn, all_lifetimes, history):
    for count in (1, 3, 6):
        request = for_anthropic(make_turn(*all_lifetimes, messages=history[:count]))
        client.messages.create(**request, model="claude-opus-5", max_tokens=8)
    for key in ("tools", "system"):
        assert provider.value_of(key, 0) == provider.value_of(key, 1) == provider.value_of(key, 2)
    lists = [provider.value_of("messages", number) for number in range(3)]
    assert lists[1].startswith(lists[0][:-1] + ",") and lists[2].startswith(lists[1][:-1] + ",")


def test_the_same_turn_gives_the_same_bytes(provider, client, make_turn, all_lifetimes):
    for _ in range(2):
        client.messages.create(**for_anthropic(make_turn(*all_lifetimes)), model="claude-opus-5", max_tokens=8)
    assert provider.bodies[0] == provider.bodies[1]
    assert json.dumps(for_anthropic(make_turn(*all_lifetimes))) == json.dumps(for_anthropic(make_turn(*all_lifetimes)))


@pytest.mark.parametrize("count", [1, 6])
def test_the_request_matches_the_types_of_the_sdk(is_typed, make_turn, all_lifetimes, history, count):
    request = for_anthropic(make_turn(*all_lifetimes, messages=history[:count]), ttl="5m")
    whole_request = {**request, "model": "claude-opus-5", "max_tokens": 8}
    assert is_typed(whole_request, MessageCreateParamsNonStreaming)
    assert not is_typed({**whole_request, "sistem": []}, MessageCreateParamsNonStreaming)


def test_a_system_message_passes_unchanged(provider, client, make_turn):
    messages = [{"role": "user", "content": "Hi."}, {"role": "system", "content": "A tool came."}]
    client.messages.create(**for_anthropic(make_turn(messages=messages)), model="claude-opus-5", max_tokens=8)
    assert provider.last_request["messages"] == messages


# After the root's instruction file


@pytest.mark.parametrize(
    ("lifetimes", "root_end", "expected"),
    [
        ([PROJECT], 3, [("0ab", True), ("cde", True)]),
        ([RELEASE, PROJECT, CONVERSATION], 8, None),  # already three breakpoints
        ([RELEASE, PROJECT], 9, [("0abcde", True), ("|1a", True), ("bcde", True)]),
        ([PROJECT], 6, None),  # that is where the prompt ends
        ([PROJECT], 0, None),
        ([TURN], 3, None),  # text with the lifetime of a turn is not cached
    ],
)
def test_a_spare_breakpoint_is_set_after_the_root_instructions(make_turn, lifetimes, root_end, expected):
    texts = [(lifetime, f"{index}abcde") for index, lifetime in enumerate(lifetimes)]
    turn = make_turn(*texts, tools=(), separator="|")
    request = for_anthropic(replace(turn, root_end=root_end))
    plain = for_anthropic(turn)
    assert blocks(request) == (expected or blocks(plain))
    assert "".join(text for text, _ in blocks(request)) == turn.system
    assert len(marks(request)) <= 3


def test_a_turn_says_where_the_root_instructions_end(tree):
    tree({"w/.git": None, "w/AGENTS.md": "Of the root.", "w/sub/AGENTS.md": "Of the folder."})
    tree({"home/.agents/AGENTS.md": "Of the user."})
    conversations = Conversations()
    try:
        turn = conversations.open("t", tree.workspace("w/sub"), Agent(), "foreword").turn("Hi.")
        assert turn.system[: turn.root_end].endswith("Of the root.")
        assert "Of the folder." in turn.system[turn.root_end :]
    finally:
        conversations.close()
