"""The functions that every template language's module implements, and the context in which a template is rendered."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Protocol, TypeAlias

    from ..vocabulary import Agent, Document, Finding, Inputs, Piece

    Pieces: TypeAlias = tuple[Piece, ...]
    Load: TypeAlias = Callable[[str], Document | None]
    Lookup: TypeAlias = Callable[[str, str], Pieces | None]
    Variables: TypeAlias = Mapping[str, str | Sequence[str]]
    RenderSandboxed: TypeAlias = Callable[[str, Mapping[str, Document], Variables], Pieces]

    class LanguageModule(Protocol):
        def referenced_variables(self, template: Document, types: Collection[str]) -> Sequence[tuple[str, str]]:
            """Return the type and name of each variable whose value must be read from the workspace before rendering."""

        def load_all(
            self, template: Document, load: Load, may_parse: Callable[[Iterable[str]], bool]
        ) -> dict[str, Document]:
            """Return the template and everything it includes, by address, or an empty dict if the language has no includes.

            They are parsed, to find errors early, only if `may_parse` accepts their addresses.
            """

        def render_template(self, template: Document, context: RenderContext) -> tuple[Pieces, Sequence[Finding]]:
            """Render a template. Returns the output and the findings."""

        def variables_used(self, template: Document, inputs: Inputs) -> list[str]:
            """Return the known variables that a template uses, as they are written in it."""

        def uses_clock(self, template: Document, inputs: Inputs) -> bool:
            """Whether the output depends on the date or time."""

        def include_tag(self, address: str) -> str | None:
            """Return the tag that includes the template at an address, or None if the language has no includes."""


@value
class RenderContext:
    """What a template may use while it is rendered.

    `lookup` returns a variable's value by type and name. `sandboxed`, if set, renders the template in the sandbox.
    """

    inputs: Inputs
    agent: Agent
    now: datetime
    lookup: Lookup
    limit: int
    sandboxed: RenderSandboxed | None = None
