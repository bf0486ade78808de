"""Messages of the prompt in conversations: at the front of every call, with the bytes of the edition, and never in the history."""

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


def test_a_turn_begins_with_the_messages_of_the_prompt(opened, leading):
    talk = opened()
    turn = talk.turn("hi")
    assert turn.system == "You are an agent."
    assert list(turn.messages) == [*leading("Be kind."), HI]
    assert list(turn.history) == [HI]
    assert [len(each) for each in turn.leading] == [1, 2, 1]
    assert turn.passages == ((0, len(turn.system), "release"),)


def test_a_construction_has_only_the_messages_of_the_prompt(opened, leading):
    talk = opened()
    assert list(talk.construct().messages) == list(talk.reload().messages) == leading("Be kind.")


def test_the_messages_keep_their_bytes_until_the_edition_changes(tree, opened, leading):
    first = opened().turn("hi")
    tree({"w/AGENTS.md": "Be rude.\n"})
    later = opened().turn("more", first.history)
    assert (later.edition, list(later.messages)[:3]) == (1, leading("Be kind."))
    talk = opened()
    assert talk.reload().edition == 2
    assert list(talk.turn("more", first.history).messages) == [*leading("Be rude."), HI, {**HI, "content": "more"}]


def test_the_stored_prompt_is_the_whole_text(tree, opened, layout):
    talk = opened()
    talk.turn("hi")
    assert talk.shared.prompt("t") == assemble(tree.workspace(), Agent(), layout).text


def test_construct_and_get_return_the_whole_text(tree, layout):
    from foreword import Conversations

    with Conversations() as talks:
        text = talks.construct("t", tree.workspace(), Agent(), layout)
        assert text == talks.get("t") == assemble(tree.workspace(), Agent(), layout).text


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
def test_messages_that_are_passed_back_are_not_sent_twice(opened, leading, sent):
    first = opened().turn("hi")
    second = opened().turn("more", [*sent(first), HELLO])
    assert [each["role"] for each in second.messages] == ["developer", "user", "system", "user", "assistant", "user"]
    assert list(second.messages)[:3] == leading("Be kind.")
    assert len(second.history) == 3


def test_messages_of_earlier_editions_are_not_sent_again(tree, opened, leading):
    messages = opened().turn("hi").messages
    for text in ("Be rude.", "Be odd."):
        tree({"w/AGENTS.md": text})
        talk = opened()
        talk.reload()
        assert list(talk.turn(messages=messages).messages) == [*leading(text), HI]
    assert list(opened().turn(messages=messages).history) == [HI]


def test_notices_keep_their_place_if_all_messages_are_passed_back(opened):
    first = opened(tools="read").turn("hi")
    second = opened(tools="read write").turn("more", [*first.messages, HELLO])
    third = opened(tools="read write").turn("again", [*second.messages, HELLO])
    assert list(third.messages)[: len(second.messages)] == list(second.messages)
    assert sum("New tools" in each["content"] for each in third.messages) == 1
    own = opened(tools="read write").turn("again", [*second.history, HELLO])
    assert list(own.messages) == list(third.messages)


def test_a_new_prompt_is_not_a_message_of_the_prompt(opened):
    asked = []

    def start(prompt, message, about):
        asked.append((prompt, message))

    talk = opened(extensions=[Extension("x", before_agent_start=start)])
    first = talk.turn()
    talk.turn(messages=first.messages, new_prompt=True)
    talk.turn(messages=[*first.messages, HI], new_prompt=True)
    assert asked == [("You are an agent.", ""), ("You are an agent.", "hi")]


# Hooks, compaction, sub-agents


def test_before_agent_start_replaces_only_the_system_prompt(opened, leading):
    hook = Extension("x", before_agent_start=lambda prompt, message, about: Start(f"{prompt} Now.", "And this."))
    turn = opened(extensions=[hook]).turn("hi")
    assert (turn.system, turn.passages) == ("You are an agent. Now.", ())
    assert list(turn.messages) == [*leading("Be kind."), HI, {"role": "user", "content": "And this."}]
    assert opened(extensions=[hook]).turn(messages=turn.history).system == "You are an agent. Now."


def test_context_hooks_see_only_the_history(opened, leading):
    seen = []

    def context(messages, about):
        seen.append(messages)
        return []

    turn = opened(extensions=[Extension("x", context=context)]).turn("hi")
    assert seen == [[HI]]
    assert list(turn.messages) == leading("Be kind.")


def test_a_summary_is_requested_under_the_kept_messages(tree, opened, leading):
    talk = opened()
    history = talk.turn("hi").history
    tree({"w/AGENTS.md": "Be rude.\n"})
    compact = talk.compact(messages=[*history, HELLO])
    assert list(compact.messages) == [*leading("Be kind."), HI, HELLO, SUMMARY]
    assert list(compact.history) == [HI, HELLO]
    assert list(talk.turn("on").messages)[:3] == leading("Be rude.")


def test_a_summary_is_requested_under_the_new_messages(tree, opened, leading):
    settings = {"compaction.under": "new", "compaction.say": "system"}
    talk = opened(set=settings)
    sent = talk.turn("hi").messages
    tree({"w/AGENTS.md": "Be rude.\n"})
    compact = talk.compact(messages=[*sent, HELLO])
    assert compact.system == "You are an agent.\n\nSummarise."
    assert list(compact.messages) == [*leading("Be rude."), HI, HELLO]


def test_a_sub_agent_has_the_messages_of_its_own_prompt(tree, opened, leading):
    tree({"w/below": None})
    talk = opened(set={"identity.instead": ["base"]})
    turn = talk.sub_agent("Review it.", workspace=Workspace(tree.path("w/below")), message="hi")
    expected = [*leading("Be kind.")[:2], {"role": "system", "content": f"You are in {tree.path('w/below')}."}]
    assert (turn.system, list(turn.messages)) == ("Review it.", [*expected, HI])
    again = talk.sub_agent("Review it.", workspace=Workspace(tree.path("w/below")), messages=turn.messages)
    assert (list(again.messages), list(again.history)) == (list(turn.messages), [HI])


# Drift


def test_drift_names_a_section_of_a_message(tree, opened):
    talk = opened()
    talk.turn("hi")
    tree({"w/AGENTS.md": "Be rude.\n"})
    drift = talk.drift()
    assert list(drift.section_names.changed) == ["files"]
    assert drift.tokens_kept > 0


def test_an_appended_change_leaves_the_messages_of_the_prompt_alone(tree, opened, leading):
    settings = {"on.turn": "append"}
    first = opened(set=settings).turn("hi")
    tree({"w/AGENTS.md": "Be rude.\n"})
    turn = opened(set=settings).turn("more", first.history)
    assert list(turn.messages)[:4] == list(first.messages)
    assert [each.code for each in turn.findings] == ["drift"]
    assert "Be rude." in turn.messages[-1]["content"] + turn.messages[-2]["content"]


def test_another_role_is_another_edition(tree, opened, leading):
    first = opened().turn("hi")
    talk = opened(set={"rules.role": "user"})
    assert list(talk.drift().section_names.changed) == ["rules"]
    turn = talk.reload()
    assert (first.edition, turn.edition) == (1, 2)
    assert [each["role"] for each in turn.messages] == ["user", "user", "system"]
    assert talk.reload().edition == 2


def test_another_division_into_messages_is_another_edition(opened):
    opened().turn("hi")
    talk = opened(set={"rules.role": "system"})
    assert talk.drift().is_changed
    turn = talk.reload()
    assert (turn.edition, turn.system) == (2, "You are an agent.\n\nAnswer briefly.")


# Cache breakpoints


def test_lifetimes_end_in_messages(opened):
    request = for_anthropic(opened(plan="Test it.").turn("hi"))
    marks = [
        [each.get("cache_control") is not None for each in content]
        for content in [request["system"], *(each["content"] for each in request["messages"][:-1])]
    ]
    # rules end the release, instructions the project and the environment the conversation; the plan is for this turn
    assert marks == [[False], [True], [True], [True], [False]]
    assert [each["role"] for each in request["messages"]] == ["user"] * 5
    assert request["messages"][-1] == HI


def test_the_same_project_has_the_same_prefix_up_to_the_environment(opened):
    one, other = (for_anthropic(opened(id, cwd="w").turn("hi")) for id in "ab")
    assert one == other
    elsewhere = for_anthropic(opened("c", cwd="v").turn("hi"))
    assert elsewhere["system"] == one["system"]
    assert elsewhere["messages"][0] == one["messages"][0] and elsewhere["messages"][1] != one["messages"][1]


def test_a_spare_breakpoint_follows_the_roots_file_inside_a_message(tree, opened):
    tree({"w/sub/AGENTS.md": "Below.\n"})
    settings = {"sections": ["identity", "instructions"], "identity.lifetime": "project"}
    turn = opened(cwd="w/sub", set=settings).turn("hi")
    blocks = for_anthropic(turn)["messages"][0]["content"]
    assert [each["text"].endswith("Be kind.") for each in blocks] == [True, False]
    assert all("cache_control" in each for each in blocks)
    assert "".join(each["text"] for each in blocks) == turn.messages[0]["content"]


@pytest.mark.parametrize("ttl", [None, "1h"])
def test_at_most_three_breakpoints_are_used(opened, ttl):
    request = for_anthropic(opened(plan="Test it.", tools="read").turn("hi"), cache_ttl=ttl)
    assert str(request).count("cache_control") == 3


def test_replaced_text_of_the_turn_ends_the_breakpoints(opened):
    """A request for a summary in the system prompt is for this turn only, and so is everything after it."""
    settings = {"compaction.under": "new", "compaction.say": "system"}
    request = for_anthropic(opened(set=settings).compact(messages=[HI]))
    assert "cache_control" in request["system"][0]
    assert "cache_control" not in str(request["messages"])


# Roles that a provider does not have


def test_each_provider_gets_the_roles_it_has(opened):
    turn = opened().turn("hi")
    late = {"role": "system", "content": "Later."}
    turn = replace(turn, messages=(*turn.messages, late))
    roles = {
        "anthropic": [each["role"] for each in for_anthropic(turn)["messages"]],
        "responses": [each["role"] for each in for_openai_responses(turn)["input"]],
        "chat": [each["role"] for each in for_openai_chat(turn)["messages"]],
        "gemini": [each["role"] for each in for_gemini(turn)["contents"]],
    }
    assert roles == {
        "anthropic": ["user", "user", "user", "user", "system"],  # the last one is the caller's own
        "responses": ["developer", "user", "system", "user", "system"],
        "chat": ["system", "system", "user", "system", "user", "system"],
        "gemini": ["user"] * 5,
    }
    assert for_gemini(turn)["config"]["system_instruction"] == "You are an agent."


def test_the_cache_key_depends_on_messages_that_outlive_the_turn(opened):
    keys = [
        for_openai_responses(opened(f"{cwd}{plan}", cwd=cwd, plan=plan).turn("hi"))["prompt_cache_key"]
        for cwd, plan in (("w", ""), ("w", "Test it."), ("v", ""))
    ]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("convert", [for_anthropic, for_openai_chat, for_openai_responses, for_gemini])
@pytest.mark.parametrize("messages", [[HI], [{"role": "user", "content": [{"type": "text", "text": "x"}]}] * 3])
def test_a_turn_that_lost_the_messages_of_its_prompt_is_refused(opened, convert, messages):
    turn = replace(opened().turn("hi"), messages=messages)
    with pytest.raises(CallError, match=r"the first 3 messages of the turn must be those of its prompt"):
        convert(turn)
    assert convert(replace(turn, leading=()))
