"""A pass-through between a program and its provider, which reports what happens to the provider's cache.

    http1.py           the framing of HTTP/1.1 messages; bytes pass through unchanged
    fingerprint.py     a request as hashes and token counts, and the first difference between two
    conversations.py   which earlier request a request continues, and the counters of each conversation
    answers.py         the usage in a response, JSON or a stream of events, compressed or not
    server.py          connections: forwards every byte as soon as it arrives

Keys and texts are neither logged nor kept: headers are only forwarded, and of a request's body only hashes with a random key, token
counts and the names of tools and models outlive the call.
"""
