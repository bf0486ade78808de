"""LiteLLM with Foreword's prompt, against a provider on this machine."""

from __future__ import annotations

import pytest

from foreword import CallError
from foreword.integrations.litellm import ForewordCompletions


def tool_of(function):
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {
        "type": "function",
        "function": {"name": function.__name__, "description": function.__doc__, "parameters": schema},
    }


@pytest.mark.parametrize(
    ("model", "is_async", "late"),
    [
        ("anthropic/claude-sonnet-5-5", False, "in the messages"),
        ("anthropic/claude-sonnet-5-5", True, "in the messages"),
        ("anthropic/claude-sonnet-5", False, "use_tool"),
        ("openai/gpt-6.1-sol", False, "use_tool"),
        ("openai/gpt-6.1-sol", True, "use_tool"),
        ("openai/gpt-6.1-sol", False, "last tool"),
    ],
)
def test_ten_turns_keep_the_prefix(ten_turns, model, is_async, late):
    completions = ForewordCompletions(ten_turns.conversation, use_tool=late == "use_tool")

    async def ask(message, functions, history):
        history = [*(history or ()), {"role": "user", "content": message}]
        tools = [tool_of(function) for function in functions]
        while True:
            arguments = {"model": model, "messages": history, "tools": tools}
            response = await completions.acompletion(**arguments) if is_async else completions.completion(**arguments)
            reply = response.choices[0].message
            history.append({key: field for key, field in reply.model_dump(exclude_none=True).items() if key in KEPT})
            if not reply.tool_calls:
                return history
            for call in reply.tool_calls:
                name, arguments = ten_turns.conversation.resolve_call(call.function.name, call.function.arguments)
                history.append({"role": "tool", "tool_call_id": call.id, "content": FUNCTIONS[name](**arguments)})

    FUNCTIONS = {"read_file": lambda path: (ten_turns.folder / path).read_text(), "open_issue": lambda title: "#1"}
    KEPT = ("role", "content", "tool_calls")
    ten_turns.run(ask, compacted=lambda _: [{"role": "user", "content": "A summary."}])
    ten_turns.check(late)


def test_other_providers_are_refused(ten_turns):
    completions = ForewordCompletions(ten_turns.conversation)
    with pytest.raises(CallError, match="the model 'gemini/gemini-3-pro' is served by 'gemini'"):
        completions.completion("gemini/gemini-3-pro", [{"role": "user", "content": "Hello."}])
    with pytest.raises(CallError, match="do not pass a client"):
        completions.completion("openai/gpt-6.1-sol", [], client=object())


def test_a_sub_agent_has_its_task_and_the_parents_instructions(ten_turns):
    completions = ForewordCompletions(ten_turns.conversation, task="Review the change.")
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Look."}]
    for model in ("anthropic/claude-sonnet-5-5", "openai/gpt-6.1-sol"):
        completions.completion(model, messages)
        assert all(text in ten_turns.requests[-1].prompt for text in ("Review the change.", "make test", "Be kind."))
