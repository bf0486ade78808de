"""The protocol of objects that confirm cached editions for an event loop, used only by the type checker."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class EditionReader(Protocol):
        """Confirms cached editions for an event loop."""

        async def confirm(self, team: str, conversation: str) -> object:
            """Return a moment at which the cached edition was in use, or None if that is not known."""

        async def close(self) -> None:
            """Close the connection."""
