"""Adapters for agent frameworks: one module per framework, and only that module imports the framework.

A framework sends its own text, tools and messages. An adapter changes each request to a model just before it is sent: the prompt of the
conversation's edition comes first, tools keep the edition's order, late changes are sent in the provider's own format, and there are never
more cache breakpoints than the provider accepts. The framework's history is not changed.

    rewriting.py   what every adapter does with a request, independent of any framework
    forms.py       reads the requests that a framework sends to each API, and adds a turn's prompt to them
    clients.py     Anthropic and OpenAI SDK clients that add the prompt to their requests
"""
