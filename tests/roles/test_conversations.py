"""Sections sent as messages: they come first in every call, change only with the edition, and are never in the history."""

import pytest

from foreword import Agent, Extension, Workspace, assemble
from foreword.errors import CallError
from foreword.extensions import Start
from foreword.providers.anthropic import for_anthropic
from foreword.providers.gemini import for_gemini
from foreword.providers.openai import for_openai_chat, for_openai_responses
from foreword.vocabulary import replace

HI = {"role": "user", "content": "hi"}
HELLO = {"role": "assistant", "content": "hello"}
SUMMARY = {"role": "user", "content": "Summarise."}


def test_a_turn_begins_with_the_messages_of_the_prompt(open_conversation, prompt_messages):
    conversation = open_conversation()
    turn = conversation.turn("hi")
    assert turn.system == "You are an agent."
    assert list(turn.messages) == [*prompt_messages("Be kind."), HI]
    assert list(turn.history) == [HI]
    assert [len(message) for message in turn.leading] == [1, 2, 1]
    assert turn.passages == ((0, len(turn.system), "release"),)


def test_construct_returns_only_the_messages_of_the_prompt(open_conversation, prompt_messages):
    conversation = open_conversation()
    assert (
        list(conversation.construct().messages) == list(conversation.reload().messages) == prompt_messages("Be kind.")
    )


def test_the_messages_stay_byte_identical_until_the_edition_changes(tree, open_conversation, prompt_messages):
    first = open_conversation().turn("hi")
    tree({"w/AGENTS.md": "Be rude.\n"})
    later = open_conversation().turn("more", first.history)
    assert (later.edition, list(later.messages)[:3]) == (1, prompt_messages("Be kind."))
    conversation = open_conversation()
    assert conversation.reload().edition == 2
    assert list(conversation.turn("more", first.history).messages) == [
        *prompt_messages("Be rude."),
        HI,
        {**HI, "content": "more"},
    ]


def test_the_stored_prompt_is_the_whole_text(tree, open_conversation, layout):
    conversation = open_conversation()
    conversation.turn("hi")
    assert conversation.shared.prompt("t") == assemble(tree.workspace(), Agent(), layout).text


def test_construct_and_get_return_the_whole_text(tree, layout):
    from foreword import Conversations

    with Conversations() as conversations:
        text = conversations.construct("t", tree.workspace(), Agent(), layout)
        assert text == conversations.get("t") == assemble(tree.workspace(), Agent(), layout).text


# A caller that passes back what it sent


CONVERTERS = {
    "turn": lambda turn: turn.messages,
    "anthropic": lambda turn: for_anthropic(turn)["messages"],
    "responses": lambda turn: for_openai_responses(turn)["input"],
    "chat": lambda turn: for_openai_chat(turn)["messages"][1:],
    "gemini": lambda turn: for_gemini(turn)["contents"],
    "some": lambda turn: turn.messages[2:],
}


@pytest.mark.parametrize("sent", CONVERTERS.values(), ids=CONVERTERS)
def test_messages_that_are_passed_back_are_not_sent_twice(open_conversation, prompt_messages, sent):
    first = open_conversation().turn("hi")
    second = open_conversation().turn("more", [*sent(first), HELLO])
    assert [message["role"] for message in second.messages] == [
        "developer",
        "user",
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert list(second.messages)[:3] == prompt_messages("Be kind.")
    assert len(second.history) == 3


def test_messages_of_earlier_editions_are_not_sent_again(tree, open_conversation, prompt_messages):
    messages = open_conversation().turn("hi").messages
    for text in ("Be rude.", "Be odd."):
        tree({"w/AGENTS.md": text})
        conversation = open_conversation()
        conversation.reload()
        assert list(conversation.turn(messages=messages).messages) == [*prompt_messages(text), HI]
    assert list(open_conversation().turn(messages=messages).history) == [HI]


def test_notices_keep_their_position_if_all_messages_are_passed_back(open_conversation):
    first = open_conversation(tools="read").turn("hi")
    second = open_conversation(tools="read write").turn("more", [*first.messages, HELLO])
    third = open_conversation(tools="read write").turn("again", [*second.messages, HELLO])
    assert list(third.messages)[: len(second.messages)] == list(second.messages)
    assert sum("New tools" in message["content"] for message in third.messages) == 1
    own = open_conversation(tools="read write").turn("again", [*second.history, HELLO])
    assert list(own.messages) == list(third.messages)


def test_prompt_messages_do_not_count_as_a_new_user_request(open_conversation):
    hook_calls = []

    def start(prompt, message, about):
        hook_calls.append((prompt, message))

    conversation = open_conversation(extensions=[Extension("x", before_agent_start=start)])
    first = conversation.turn()
    conversation.turn(messages=first.messages, new_prompt=True)
    conversation.turn(messages=[*first.messages, HI], new_prompt=True)
    assert hook_calls == [("You are an agent.", ""), ("You are an agent.", "hi")]


# Hooks, compaction, sub-agents


def test_before_agent_start_replaces_only_the_system_prompt(open_conversation, prompt_messages):
    hook = Extension("x", before_agent_start=lambda prompt, message, about: Start(f"{prompt} Now.", "And this."))
    turn = open_conversation(extensions=[hook]).turn("hi")
    assert (turn.system, turn.passages) == ("You are an agent. Now.", ())
    assert list(turn.messages) == [*prompt_messages("Be kind."), HI, {"role": "user", "content": "And this."}]
    assert open_conversation(extensions=[hook]).turn(messages=turn.history).system == "You are an agent. Now."


def test_context_hooks_see_only_the_history(open_conversation, prompt_messages):
    received = []

    def context(messages, about):
        received.append(messages)
        return []

    turn = open_conversation(extensions=[Extension("x", context=context)]).turn("hi")
    assert received == [[HI]]
    assert list(turn.messages) == prompt_messages("Be kind.")


def test_a_summary_can_be_requested_with_the_kept_messages(tree, open_conversation, prompt_messages):
    conversation = open_conversation()
    history = conversation.turn("hi").history
    tree({"w/AGENTS.md": "Be rude.\n"})
    compact = conversation.compact(messages=[*history, HELLO])
    assert list(compact.messages) == [*prompt_messages("Be kind."), HI, HELLO, SUMMARY]
    assert list(compact.history) == [HI, HELLO]
    assert list(conversation.turn("on").messages)[:3] == prompt_messages("Be rude.")


def test_a_summary_can_be_requested_with_new_messages(tree, open_conversation, prompt_messages):
    settings = {"compaction.under": "new", "compaction.say": "system"}
    conversation = open_conversation(set=settings)
    sent = conversation.turn("hi").messages
    tree({"w/AGENTS.md": "Be rude.\n"})
    compact = conversation.compact(messages=[*sent, HELLO])
    assert compact.system == "You are an agent.\n\nSummarise."
    assert list(compact.messages) == [*prompt_messages("Be rude."), HI, HELLO]


def test_a_sub_agent_has_the_messages_of_its_own_prompt(tree, open_conversation, prompt_messages):
    tree({"w/below": None})
    conversation = open_conversation(set={"identity.instead": ["base"]})
    turn = conversation.sub_agent("Review it.", workspace=Workspace(tree.path("w/below")), message="hi")
    expected = [*prompt_messages("Be kind.")[:2], {"role": "system", "content": f"You are in {tree.path('w/below')}."}]
    assert (turn.system, list(turn.messages)) == ("Review it.", [*expected, HI])
    repeated = conversation.sub_agent("Review it.", workspace=Workspace(tree.path("w/below")), messages=turn.messages)
    assert (list(repeated.messages), list(repeated.history)) == (list(turn.messages), [HI])


# Drift


def test_drift_names_a_section_of_a_message(tree, open_conversation):
    conversation = open_conversation()
    conversation.turn("hi")
    tree({"w/AGENTS.md": "Be rude.\n"})
    drift = conversation.drift()
    assert list(drift.section_names.changed) == ["files"]
    assert drift.tokens_kept > 0


def test_an_announced_change_leaves_the_messages_of_the_prompt_alone(tree, open_conversation, prompt_messages):
    settings = {"on.turn": "announce"}
    first = open_conversation(set=settings).turn("hi")
    tree({"w/AGENTS.md": "Be rude.\n"})
    turn = open_conversation(set=settings).turn("more", first.history)
    assert list(turn.messages)[:4] == list(first.messages)
    assert [finding.code for finding in turn.findings] == ["drift"]
    assert "Be rude." in turn.messages[-1]["content"] + turn.messages[-2]["content"]


def test_a_different_role_gives_a_new_edition(tree, open_conversation, prompt_messages):
    first = open_conversation().turn("hi")
    conversation = open_conversation(set={"rules.role": "user"})
    assert list(conversation.drift().section_names.changed) == ["rules"]
    turn = conversation.reload()
    assert (first.edition, turn.edition) == (1, 2)
    assert [message["role"] for message in turn.messages] == ["user", "user", "system"]
    assert conversation.reload().edition == 2


def test_a_different_division_into_messages_gives_a_new_edition(open_conversation):
    open_conversation().turn("hi")
    conversation = open_conversation(set={"rules.role": "system"})
    assert conversation.drift().is_changed
    turn = conversation.reload()
    assert (turn.edition, turn.system) == (2, "You are an agent.\n\nAnswer briefly.")


# Cache breakpoints


def test_lifetimes_end_in_messages(open_conversation):
    request = for_anthropic(open_conversation(plan="Test it.").turn("hi"))
    marks = [
        [block.get("cache_control") is not None for block in content]
        for content in [request["system"], *(message["content"] for message in request["messages"][:-1])]
    ]
    # the release lifetime ends after rules, project after instructions, conversation after environment; the plan is for this turn
    assert marks == [[False], [True], [True], [True], [False]]
    assert [message["role"] for message in request["messages"]] == ["user"] * 5
    assert request["messages"][-1] == HI


def test_the_same_project_has_the_same_prefix_up_to_the_environment(open_conversation):
    one, other = (for_anthropic(open_conversation(id, cwd="w").turn("hi")) for id in "ab")
    assert one == other
    elsewhere = for_anthropic(open_conversation("c", cwd="v").turn("hi"))
    assert elsewhere["system"] == one["system"]
    assert elsewhere["messages"][0] == one["messages"][0] and elsewhere["messages"][1] != one["messages"][1]


def test_a_spare_breakpoint_is_set_after_the_root_file_inside_a_message(tree, open_conversation):
    tree({"w/sub/AGENTS.md": "Below.\n"})
    settings = {"sections": ["identity", "instructions"], "identity.lifetime": "project"}
    turn = open_conversation(cwd="w/sub", set=settings).turn("hi")
    blocks = for_anthropic(turn)["messages"][0]["content"]
    assert [block["text"].endswith("Be kind.") for block in blocks] == [True, False]
    assert all("cache_control" in block for block in blocks)
    assert "".join(block["text"] for block in blocks) == turn.messages[0]["content"]


@pytest.mark.parametrize("ttl", [None, "1h"])
def test_at_most_three_breakpoints_are_used(open_conversation, ttl):
    request = for_anthropic(open_conversation(plan="Test it.", tools="read").turn("hi"), ttl=ttl)
    assert str(request).count("cache_control") == 3


def test_no_breakpoint_is_set_after_text_that_is_for_this_turn_only(open_conversation):
    """A request for a summary in the system prompt is for this turn only, and so is everything after it."""
    settings = {"compaction.under": "new", "compaction.say": "system"}
    request = for_anthropic(open_conversation(set=settings).compact(messages=[HI]))
    assert "cache_control" in request["system"][0]
    assert "cache_control" not in str(request["messages"])


# Roles that a provider does not support


def test_each_provider_gets_only_roles_it_supports(open_conversation):
    turn = open_conversation().turn("hi")
    late = {"role": "system", "content": "Later."}
    turn = replace(turn, messages=(*turn.messages, late))
    roles = {
        "anthropic": [message["role"] for message in for_anthropic(turn)["messages"]],
        "responses": [message["role"] for message in for_openai_responses(turn)["input"]],
        "chat": [message["role"] for message in for_openai_chat(turn)["messages"]],
        "gemini": [content["role"] for content in for_gemini(turn)["contents"]],
    }
    assert roles == {
        "anthropic": ["user", "user", "user", "user", "system"],  # the last one is the caller's own
        "responses": ["developer", "user", "system", "user", "system"],
        "chat": ["system", "system", "user", "system", "user", "system"],
        "gemini": ["user"] * 5,
    }
    assert for_gemini(turn)["config"]["system_instruction"] == "You are an agent."


def test_the_cache_key_depends_on_messages_that_outlive_the_turn(open_conversation):
    keys = [
        for_openai_responses(open_conversation(f"{cwd}{plan}", cwd=cwd, plan=plan).turn("hi"), cache_scope="prompt")[
            "prompt_cache_key"
        ]
        for cwd, plan in (("w", ""), ("w", "Test it."), ("v", ""))
    ]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("convert", [for_openai_chat, for_openai_responses])
def test_messages_of_the_prompt_have_breakpoints_too(open_conversation, convert):
    turn = open_conversation(model="gpt-5.6-sol").turn("hi")
    assert turn.model == "gpt-5.6-sol"
    key = "input" if convert is for_openai_responses else "messages"
    marked, plain = (convert(turn, breakpoints=count)[key] for count in (3, 0))
    assert 1 <= str(marked).count("prompt_cache_breakpoint") <= 3
    joined = [
        {
            **message,
            "content": message["content"]
            if isinstance(message["content"], str)
            else "".join(block["text"] for block in message["content"]),
        }
        for message in marked
    ]
    assert joined[-len(turn.messages) :] == plain[-len(turn.messages) :]


@pytest.mark.parametrize("convert", [for_anthropic, for_openai_chat, for_openai_responses, for_gemini])
@pytest.mark.parametrize("messages", [[HI], [{"role": "user", "content": [{"type": "text", "text": "x"}]}] * 3])
def test_a_turn_that_lost_the_messages_of_its_prompt_is_refused(open_conversation, convert, messages):
    turn = replace(open_conversation().turn("hi"), messages=messages)
    with pytest.raises(CallError, match=r"the first 3 messages of the turn must be those of its prompt"):
        convert(turn)
    assert convert(replace(turn, leading=()))


def test_a_caller_may_change_the_messages_of_a_turn(prompt_messages, open_conversation):
    conversation = open_conversation()
    conversation.turn("hi").messages[0]["content"] = "changed by the caller"
    assert list(conversation.turn("hi").messages) == [*prompt_messages("Be kind."), HI]
