"""A pass-through between a program and its provider, which reports what happens to the provider's cache.

    http1.py           parses HTTP/1.1 framing; bytes pass through unchanged
    fingerprint.py     represents a request as hashes and token counts, and finds the first difference between two
    conversations.py   finds the conversation that a request continues, and counts its tokens
    answers.py         reads the usage in a response: JSON or an event stream, compressed or not
    observer.py        collects what is reported about each call
    server.py          handles connections, and forwards every byte as soon as it arrives

API keys and text are neither logged nor stored. Headers are only forwarded, and all that remains of a request's body after the call are
hashes with a random key, token counts, and the names of tools and models.
"""
