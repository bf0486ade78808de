"""`check_request`: the first change that loses the cache, and who made it."""

import copy

import pytest

from foreword import CallError, check_request, for_anthropic, for_gemini, for_openai_chat, for_openai_responses
from foreword.vocabulary import replace

CONVERTERS = pytest.mark.parametrize("convert", [for_anthropic, for_openai_chat, for_openai_responses, for_gemini])
NAMES = ("base", "instructions", "skills", "environment", "plan")
MARK = {"type": "ephemeral"}


@pytest.fixture
def turn(make_turn, all_lifetimes):
    tools = [{"name": f"t{number}", "description": "Does it. " * 20, "schema": {}} for number in range(1, 10)]
    return replace(make_turn(*all_lifetimes, tools=tools), sections=NAMES)


def messages_of(findings):
    return [(finding.code, finding.message) for finding in findings]


def changed(sentence):
    return [("request-changed", sentence)]


@CONVERTERS
def test_a_request_that_nobody_changed_has_no_findings(convert, turn, history):
    first = convert(turn)
    assert check_request(first, turn) == []
    later = replace(turn, messages=history)
    assert check_request(convert(later), later, first) == []


def test_openai_breakpoints_are_not_a_change(turn):
    for convert in (for_openai_chat, for_openai_responses):
        marked = convert(replace(turn, model="gpt-5.6-sol"))
        assert check_request(marked, turn) == []
        assert check_request(marked, turn, convert(turn)) == []


def tools_of(request):
    tools = request.get("config", request)["tools"]
    return tools[0].get("function_declarations", tools)


@CONVERTERS
@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda tools: tools.insert(2, tools.pop(8)), "moved tool `t9` from position 9 to 3"),
        (lambda tools: tools.insert(8, tools.pop(2)), "moved tool `t3` from position 3 to 9"),
        (lambda tools: tools.insert(2, tools.pop(3)), "moved tool `t4` from position 4 to 3"),
        (lambda tools: tools.pop(4), "removed tool `t5` from position 5"),
        (lambda tools: tools.pop(), "removed tool `t9` from position 9"),
        (lambda tools: tools.append({"name": "own"}), "added tool `own` at position 10"),
        (
            lambda tools: tools[1].get("function", tools[1]).update(description="Else."),
            "changed the definition of tool `t2` at position 2",
        ),
    ],
)
def test_the_first_changed_tool_is_named(convert, turn, edit, what):
    before, request = convert(turn), copy.deepcopy(convert(turn))
    edit(tools_of(request))
    assert messages_of(check_request(request, turn)) == changed(f"the caller {what}")
    ((_, message),) = messages_of(check_request(request, turn, before))
    start, _, end = message.partition("; about ")
    assert start == f"the caller {what}" and int(end.split()[0]) > 10
    assert check_request(request, turn, request) == []  # the same again loses nothing


def test_the_earlier_a_tool_changes_the_more_is_lost(turn):
    def lost(index):
        request = copy.deepcopy(for_anthropic(turn))
        del request["tools"][index]
        ((_, message),) = messages_of(check_request(request, turn, for_anthropic(turn)))
        return int(message.partition("; about ")[2].split()[0].replace(",", ""))

    assert lost(0) > lost(4) > lost(8) > 0


def test_another_edition_is_named_as_the_cause(turn):
    newer = replace(turn, edition=2, tools=turn.tools[:-1])
    ((_, message),) = messages_of(check_request(for_anthropic(newer), newer, for_anthropic(turn)))
    assert message.startswith("edition 2 removed tool `t9` from position 9; about ")
    text = turn.system.replace("plainly", "briefly")
    edited = replace(turn, edition=3, system=text)
    ((_, message),) = messages_of(check_request(for_anthropic(edited), edited, for_anthropic(turn)))
    assert message.startswith("edition 3 changed the text of section instructions; about ")


@CONVERTERS
def test_a_changed_section_is_named(convert, turn):
    edited = convert(replace(turn, system=turn.system.replace("plainly", "briefly")))
    assert messages_of(check_request(edited, turn)) == changed("the caller changed the text of section instructions")
    ((_, message),) = messages_of(check_request(edited, turn, convert(turn)))
    assert message.startswith("the caller changed the text of section instructions; about ")


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda text: "X" + text, "changed the text of section base"),
        (lambda text: text + "\nToday.", "changed the text of section plan"),
        (lambda text: text.replace("# Skills", "# Skill"), "changed the text of section skills"),
        (lambda text: "", "changed the text of section base"),
    ],
)
def test_the_section_is_where_the_text_first_differs(turn, edit, what):
    request = {**for_anthropic(turn), "system": edit(turn.system)}
    assert messages_of(check_request(request, turn)) == changed(f"the caller {what}")


def test_without_sections_the_position_is_named(turn):
    turn = replace(turn, passages=(), sections=())
    request = {**for_anthropic(turn), "system": "You are a bot."}
    assert messages_of(check_request(request, turn)) == changed("the caller changed the system prompt at character 10")


@CONVERTERS
def test_a_changed_message_is_named(convert, turn, history):
    before = convert(replace(turn, messages=history))
    later = replace(turn, messages=[*history[:2], {"role": "user", "content": "Else."}])
    ((_, message),) = messages_of(check_request(convert(later), later, before))
    assert message.startswith("the caller changed message 3 (user); about ")
    shorter = replace(turn, messages=history[:5])
    ((_, message),) = messages_of(check_request(convert(shorter), shorter, before))
    assert message.startswith("the caller removed message 6 (user); about ")


def marked_message(**ttl):
    return {"role": "user", "content": [{"type": "text", "text": "Hi.", "cache_control": {**MARK, **ttl}}]}


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ({}, []),
        ({"cache_control": MARK}, []),
        (
            {"cache_control": MARK, "messages": [marked_message()]},
            ["the request has 5 cache breakpoints; the provider rejects more than 4"],
        ),
        (
            {"messages": [marked_message(ttl="1h")]},
            ["cache breakpoint 4 lasts an hour but comes after one that lasts five minutes"],
        ),
    ],
)
def test_cache_breakpoints_are_counted(turn, added, expected):
    findings = check_request({**for_anthropic(turn), **added}, turn)
    assert [finding.message for finding in findings if finding.code == "cache-breakpoints"] == expected


def test_openai_breakpoints_are_counted(turn):
    block = {"type": "input_text", "text": "Hi.", "prompt_cache_breakpoint": {"mode": "explicit"}}
    request = {**for_openai_responses(turn), "input": [{"role": "user", "content": [block] * 5}]}
    sentences = [finding.message for finding in check_request(request, turn) if finding.code == "cache-breakpoints"]
    assert sentences == ["the request has 5 cache breakpoints; the provider writes at most 4"]


@pytest.mark.parametrize(
    ("convert", "before", "after", "what"),
    [
        (for_anthropic, {"model": "claude-opus-5"}, {"model": "claude-sonnet-5"}, "changed model"),
        (for_openai_chat, {"prompt_cache_key": "a"}, {"prompt_cache_key": "b"}, "changed prompt_cache_key"),
        (for_anthropic, {}, {"thinking": {"type": "enabled", "budget_tokens": 2000}}, "changed thinking"),
        (for_anthropic, {"tool_choice": {"type": "any"}}, {"tool_choice": {"type": "auto"}}, "changed tool_choice"),
        (for_anthropic, {"tool_choice": {"type": "auto"}}, {}, ""),
        (for_anthropic, {}, {"model": "claude-sonnet-5"}, ""),
        (for_openai_chat, {"max_tokens": 1}, {"max_tokens": 2}, ""),
    ],
)
def test_a_setting_that_invalidates_the_cache_is_named(turn, history, convert, before, after, what):
    longer = replace(turn, messages=history)
    findings = messages_of(check_request({**convert(longer), **after}, longer, {**convert(turn), **before}))
    assert [message.partition(";")[0] for _, message in findings] == ([f"the caller {what}"] if what else [])


def in_camel_case(request):
    """A request of Gemini's client as it is sent over HTTP."""
    config = request["config"]
    tools = [{**tool, "parametersJsonSchema": tool.pop("parameters_json_schema", {})} for tool in tools_of(request)]
    return {
        "systemInstruction": {"role": "user", "parts": [{"text": config["system_instruction"]}]},
        "tools": [{"functionDeclarations": tools}],
        "contents": request["contents"],
    }


def test_a_gemini_request_over_http_is_the_same(turn):
    assert check_request(in_camel_case(for_gemini(turn)), turn, for_gemini(turn)) == []


def test_a_schema_key_is_not_a_cache_breakpoint(turn):
    call = {"type": "tool_use", "id": "c", "name": "t1", "input": {"cache_control": [{"cache_control": MARK}] * 9}}
    request = for_anthropic(replace(turn, messages=[{"role": "assistant", "content": [call]}]))
    assert check_request(request, turn) == []


@CONVERTERS
def test_findings_do_not_quote_text(convert, turn):
    secret = replace(
        turn, system=turn.system.replace("plainly", "hunter2"), messages=[{"role": "user", "content": "hunter2"}]
    )
    for request, previous in (
        (convert(secret), None),
        (convert(secret), convert(turn)),
        (convert(turn), convert(secret)),
    ):
        assert "hunter2" not in str(check_request(request, turn, previous))


def test_nothing_is_changed(turn):
    request = for_anthropic(turn)
    before = copy.deepcopy(request)
    check_request(request, turn, request)
    assert request == before


@pytest.mark.parametrize(("request_", "previous"), [("{}", None), (None, None), ({}, [])])
def test_a_request_that_is_not_a_dict_is_refused(turn, request_, previous):
    with pytest.raises(CallError, match=r"^check_request: \w+ must be a dict with the client's arguments, not "):
        check_request(request_, turn, previous)


def nested(depth):
    content = []
    for _ in range(depth):
        content = [content]
    return content


@pytest.mark.parametrize(
    "key", ["system", "tools", "messages", "input", "config", "model", "tool_choice", "cache_control"]
)
def test_anything_in_a_request_is_compared_or_refused(turn, key):
    odd = [
        0, 1.5, "\ud800", b"x", {1: 2}, {(1, 2): 3}, {"a": 1}, [None], [5], [[]], object(), {"content": 5}, {"parts": 5}, range(3),
        [{"function_declarations": 5}], [{"function_declarations": [5]}], [{"type": "function", "function": 5}],
        [{"name": ["x"], "input_schema": 5, "options": "abc", "allowed_callers": 5}], [{"cache_control": "x"}], [{"role": {"a": 1}}],
        {"type": "allowed_tools", "allowed_tools": "x"}, [{"role": "user", "content": [{"type": "text", "text": 5}]}],
    ]  # fmt: skip
    for content in odd:
        request = {**for_anthropic(turn), key: content}
        is_list = isinstance(content, list) or (key == "messages" and isinstance(content, str))
        is_refused = key in ("tools", "messages") and bool(content) and not is_list
        for previous in (None, for_anthropic(turn), request):
            try:
                codes = {finding.code for finding in check_request(request, turn, previous)}
            except CallError as error:
                assert is_refused and str(error).startswith(f"the {key} of a request must be a list, not ")
            else:
                assert not is_refused and codes <= {"request-changed", "cache-breakpoints"}


@pytest.mark.parametrize("request_", [{"messages": nested(100_000)}, {"tools": [{"name": "t", "x": nested(100_000)}]}])
def test_a_request_that_is_nested_too_deeply_is_refused(turn, request_):
    with pytest.raises(CallError, match="nested too deeply"):
        check_request({}, turn, request_)
