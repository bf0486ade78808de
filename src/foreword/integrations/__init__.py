"""Adapters for agent frameworks: one module per framework, which imports it.

A framework sends its own text, tools and messages. An adapter changes each request to a model just before it is sent: the prompt of the
conversation's edition comes first, tools keep the edition's order, late changes are sent in the provider's own form, and there are never
more cache breakpoints than the provider accepts. The framework's history stays as it is.

    prompting.py   what every adapter does with a request, without any framework
    forms.py       the requests of each API: what a framework has put into one, and the same with a turn's prompt
    clients.py     clients of the Anthropic and OpenAI SDKs whose requests have the prompt
"""
