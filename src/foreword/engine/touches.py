"""Read the instructions for touched files. Conversations in the same workspace share a reader, so that rules are compiled once."""

from __future__ import annotations

from _thread import allocate_lock

from ..building.build import build
from ..gathering.touched import RuleScopes, TouchedFile, gather_touched, locate
from ..layout.model import layout_for_touch
from ..vocabulary import Finding, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..layout.model import Layout, Touch
    from ..sources.reader import Reader
    from ..vocabulary import Agent, Inputs, Prompt
    from .assembler import Assembler

# Findings about the workspace, which the prompt has already reported.
_REPORTED_CODES = ("not-a-repository", "home-missing")


@value
class TouchReading:
    """What was read for touched files: the inputs, the files in the workspace, and findings about the other paths."""

    layout: Layout
    inputs: Inputs
    files: Sequence[TouchedFile]
    findings: Sequence[Finding]


class TouchReader:
    """Reads the instructions for touched files, for one assembler's layout and workspace."""

    def __init__(self, assembler: Assembler) -> None:
        self.assembler = assembler
        self._lock = allocate_lock()
        self._previous: tuple[Layout, Inputs] | None = None
        self.scopes = RuleScopes()

    def read(self, layout: Layout, touch: Touch, paths: Sequence[str]) -> TouchReading:
        """Read the instructions for these paths."""
        return self._read(layout, touch, paths)

    def read_folders(self, layout: Layout, touch: Touch, folders: Sequence[str]) -> Inputs:
        """Read everything that touches in these folders may send. Rules for certain paths are `waiting`, because no path is touched."""
        reader = self._reader(layout)
        files = [TouchedFile(folder, folder, ()) for folder in folders]
        # A touch in its own folder finds a file before those in other folders.
        lookups = [replace(lookup, take="all") if lookup.needs_touch else lookup for lookup in touch.lookups]
        touch_layout = layout_for_touch(layout, replace(touch, lookups=lookups))
        return gather_touched(touch_layout, self.assembler.plan().workspace, reader, files, self.scopes)

    def read_again(self, layout: Layout, touch: Touch, files: Collection[str]) -> TouchReading:
        """Reread these instruction files and rules, which earlier touches have sent."""
        return self._read(layout, touch, tuple(files), files)

    def _reader(self, layout: Layout) -> Reader:
        """Return a reader that reads files as this layout wants."""
        reader = self.assembler.reader()
        reader.trust = self.assembler.plan().trust
        reader.encoding, reader.line_ends = layout.encoding, layout.line_ends
        return reader

    def _read(
        self, layout: Layout, touch: Touch, paths: Sequence[str], only: Collection[str] | None = None
    ) -> TouchReading:
        reader = self._reader(layout)
        workspace = self.assembler.plan().workspace
        files: list[TouchedFile] = []
        findings: list[Finding] = []
        for path in dict.fromkeys(paths):
            located = locate(path, workspace, reader)
            if isinstance(located, Finding):
                findings += [located] if only is None else []
            else:
                files.append(located)
        with self._lock:
            previous = self._previous[1] if self._previous and self._previous[0] is layout else None
            is_chosen = None if only is None else lambda path: path in only
            touch_layout = layout_for_touch(layout, touch)
            inputs = gather_touched(touch_layout, workspace, reader, files, self.scopes, previous, is_chosen)
            self._previous = layout, inputs
        kept = [finding for finding in inputs.findings if finding.code not in _REPORTED_CODES]
        return TouchReading(touch_layout, replace(inputs, findings=kept), files, findings)


def build_touch(reading: TouchReading, inputs: Inputs, agent: Agent) -> Prompt:
    """Build the prompt that is sent for these inputs. Each of its sections is a message."""
    reduced_agent = replace(agent, base="", plan="", skill="", docs=(), residents=())
    return build(reading.layout, inputs, reduced_agent, None)
