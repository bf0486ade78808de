"""The agent's own lists: its tools, guidelines, active skill, plan, documentation and scope, as rows for a section.

A row contains a value, of one or more pieces, for each field that the section's `item` may use.
"""

from __future__ import annotations

from ..findings import WrongType, finding, list_of
from ..sources.paths import absolute_path, absolute_scope
from ..text.lines import end_of_whole_characters, printable
from ..text.pieces import strip_blank_lines
from ..vocabulary import Document, Origin, Piece, Skill
from ..vocabulary.abilities import tools_that_can
from .conditions import holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..layout.model import Guideline, Layout
    from ..vocabulary import Access, Agent, Finding, Scope, Workspace

    Pieces = tuple[Piece, ...]
    Row = dict[str, Piece | Pieces]
    Rule = Callable[[frozenset[str]], str | list[str] | None]
    Content = Callable[[Document, str], Pieces]


_MAX_INSTRUCTIONS = 2048  # characters of one MCP server's instructions


class Lists:
    """The lists of one agent. `content` turns a document into pieces that are safe in the prompt."""

    def __init__(
        self,
        layout: Layout,
        agent: Agent,
        facts: frozenset[str],
        workspace: Workspace,
        rules: Sequence[Rule],
        guideline_origin: Origin,
        content: Content,
        findings: list[Finding],
        folders: Sequence[Access] = (),
    ) -> None:
        self.guideline_rows, self.wording = layout.guidelines, layout.wording
        self.agent, self.facts, self.workspace, self.rules = agent, facts, workspace, rules
        self.guideline_origin, self.content, self.findings = guideline_origin, content, findings
        self.folders = folders
        self.active_path = self.blank_path = ""

    @property
    def scope(self) -> Scope:
        """The paths that the agent may access."""
        return absolute_scope(self.agent.scope, self.workspace)

    def depends_on_tools_alone(self, name: str) -> bool:
        """Whether a list is the same for the same tools and facts. Extension rules may return something else each time."""
        return name == "tools" or (name == "guidelines" and not self.rules)

    def tools(self) -> Iterator[Row]:
        for tool in self.agent.tools or ():
            line = tool.snippet.strip() or self.wording.get(f"tool.{tool.name}", "") or tool.name
            origin = Origin("tool", tool.name)
            yield {
                "name": Piece(tool.name, origin),
                "line": Piece(line, origin),
                "description": Piece(tool.description, origin),
            }

    def guidelines(self) -> Iterator[Row]:
        seen: set[str] = set()
        for piece in self._guidelines():
            text = piece.text.strip()
            if text and text not in seen:
                seen.add(text)
                yield {"text": Piece(text, piece.origin)}

    def _guidelines(self) -> Iterator[Piece]:
        for row in self.guideline_rows:
            if not all(holds(condition, self.facts) for condition in row.when):
                continue
            if row.source == "tools":
                yield from self._tool_guidelines()
            elif row.source == "extensions":
                yield from self._rule_guidelines()
            else:
                yield from self._layout_guidelines(row)

    def _tool_guidelines(self) -> Iterator[Piece]:
        for tool in self.agent.tools or ():
            yield from (Piece(text, Origin("tool", tool.name)) for text in tool.guidelines)

    def _layout_guidelines(self, row: Guideline) -> Iterator[Piece]:
        """Yield the sentences of a layout's guideline, with the names of the tools that matched its conditions filled in."""
        for sentence in row.say:
            texts = [part if isinstance(part, str) else self._tool_names(part.name, row) for part in sentence]
            yield Piece("".join(texts), self.guideline_origin)

    def _tool_names(self, field: str, row: Guideline) -> str:
        """Return the tools that a field of a guideline stands for: those that match a choice (`any`), or those with an ability."""
        if field == "any":
            facts = [fact for term in row.when if term.is_choice for fact in term.facts if fact in self.facts]
            return _join_words([fact.partition(":")[2] for fact in facts], "and")
        return _join_words([f"`{name}`" for name in tools_that_can(field, self.agent.tools or ())], "or")

    def _rule_guidelines(self) -> Iterator[Piece]:
        """Yield the sentences of extension rules. A rule that raises an exception or returns the wrong type is skipped and reported."""
        names = frozenset(tool.name for tool in self.agent.tools or ())
        for rule in self.rules:
            name = getattr(rule, "__name__", "rule")
            try:
                yield from [Piece(text, Origin("extension", name)) for text in _sentences(rule(names))]
            except Exception as error:
                outcome = f"returned {error}" if isinstance(error, WrongType) else f"raised {type(error).__name__}"
                self.findings.append(finding("extension-failed", f"the rule {name!r} {outcome} and was skipped"))

    def active_skill(self) -> Iterator[Row]:
        """Yield the active skill with its body. If the body is blank, report that instead."""
        skill = self.agent.skill
        if isinstance(skill, Skill) and not skill.body.strip():
            self.blank_path = shown = printable(skill.path)
            message = f"the active skill {skill.name!r} has a blank body and is left out ({shown})"
            self.findings.append(finding("skill-blank", message, shown))
        elif isinstance(skill, Skill):
            self.active_path = skill.path
            body = Document(printable(skill.path), skill.body, skill.hash, skill.body_line)
            origin = Origin("skill", printable(skill.path), skill.lines)
            yield {
                "name": Piece(skill.name, origin),
                "path": Piece(body.path, origin),
                "text": self.content(body, "skill"),
            }

    def plan(self) -> Iterator[Row]:
        document = strip_blank_lines(self.agent.plan)
        if document.text:
            yield {"text": self.content(document, "plan"), "path": Piece(document.path, Origin("caller", "plan"))}

    def docs(self) -> Iterator[Row]:
        for label, path in self.agent.docs:
            target = path if "://" in path else absolute_path(path, self.workspace)
            yield {
                "name": Piece(label, Origin("caller", "docs")),
                "path": Piece(printable(target), Origin("caller", "docs")),
            }

    def servers(self) -> Iterator[Row]:
        """Yield the instructions of MCP servers, sorted by name. Long ones are cut, because their author is not the user."""
        for name, instructions in sorted((self.agent.servers or {}).items()):
            text = instructions.strip()
            if not text:
                continue
            label = f"server {name}"
            end = end_of_whole_characters(text, _MAX_INSTRUCTIONS)
            pieces = self.content(Document("", text[:end]), label)
            if len(text) > _MAX_INSTRUCTIONS:
                mark = f"\n[foreword: cut here; the instructions have {len(text):,} characters]"
                pieces = (*pieces, Piece(mark, Origin("mark")))
                message = f"the instructions of the MCP server {name!r} have {len(text):,} characters; {_MAX_INSTRUCTIONS:,} are used"
                self.findings.append(finding("server-cut", message))
            yield {"name": Piece(name, Origin("caller", label)), "text": pieces}

    def readable(self) -> Iterator[Row]:
        from . import boundaries

        return self._paths(boundaries.readable(self.scope, self.folders))

    def writable(self) -> Iterator[Row]:
        from . import boundaries

        return self._paths(boundaries.writable(self.scope))

    def denied(self) -> Iterator[Row]:
        return self._paths(self.scope.deny)

    def _paths(self, rows: Iterable[Access]) -> Iterator[Row]:
        seen: set[tuple[str, bool]] = set()
        for row in rows:
            if (row.path, row.recursive) not in seen:
                seen.add((row.path, row.recursive))
                origin = Origin("scope", printable(row.path))
                mark = "" if row.recursive else " [non-recursive]"
                yield {"path": Piece(printable(row.path), origin), "mark": Piece(mark, origin)}


def _join_words(words: Sequence[str], conjunction: str) -> str:
    """Join words as in a sentence: `a, b and c`."""
    return f" {conjunction} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _sentences(result: object) -> list[str]:
    if result is None or isinstance(result, str):
        return [result] if result else []
    return list_of(result, str, "a string or a list of strings")
