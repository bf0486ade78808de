"""A turn as the request of a provider: one leaf file each, which knows its wire form and imports no SDK.

Each function is pure and gives the keyword arguments of the provider's own client:

    client.messages.create(**for_anthropic(turn), model=…, max_tokens=…)
    client.responses.create(**for_openai_responses(turn), model=…)
    client.chat.completions.create(**for_openai_chat(turn), model=…)
    client.models.generate_content(**for_gemini(turn), model=…)

The same turn gives the same bytes, and a later turn of the conversation begins with the bytes of the turn before: nothing is
counted, dated or reordered here, and messages are never merged (no provider asks for it). A blank prompt is no prompt: its key is
left out. A message is `{"role", "content"}`; its content is a text, or a list in which texts stand as `{"type": "text", "text": …}`.
Whatever else stands in the list is in the provider's own form already and goes through as it is.
"""
