"""The functions of a template language's module, and the context in which it renders a template."""

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
        def wanted_values(self, template: Document, types: Collection[str]) -> Sequence[tuple[str, str]]:
            """The variables, as type and name, whose values have to be read from the workspace before rendering."""

        def load_all(
            self, template: Document, load: Load, may_parse: Callable[[Iterable[str]], bool]
        ) -> dict[str, Document]:
            """The template and everything it includes, by address, parsed if `may_parse`; empty without includes."""

        def render_template(self, template: Document, context: RenderContext) -> tuple[Pieces, Sequence[Finding]]:
            """The output of a template, and findings about it."""

        def variables_used(self, template: Document, inputs: Inputs) -> list[str]:
            """The known variables that a template uses, as it writes them."""

        def uses_clock(self, template: Document, inputs: Inputs) -> bool:
            """Whether the output depends on the date or time."""

        def include_tag(self, address: str) -> str | None:
            """The tag that includes the template at an address; None if the language has no includes."""


@value
class RenderContext:
    """What a template may use while it is rendered.

    `lookup` returns the value of a variable by type and name. `sandboxed`, if set, renders instead of this process.
    """

    inputs: Inputs
    agent: Agent
    now: datetime
    lookup: Lookup
    limit: int
    sandboxed: RenderSandboxed | None = None
