"""Reports files of which an agent reads only a part, because it reads at most a number of bytes of all of them."""

from __future__ import annotations

from posixpath import basename, dirname, join

from ...text.lines import printable
from ...vocabulary import Document
from .agent_facts import Place, summarize
from .targets import parse_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...layout.model import Layout
    from .agent_facts import Facts, Visit
    from .source_text import SourceText

_MAX_QUOTE = 60
# Less than this many bytes, a line or two, is not worth a word.
_MIN_LOST = 256


def byte_limit(layout: Layout) -> int | None:
    """Return how many bytes of a repository's files a layout reads together, or None if it has no such limit."""
    return next((section.bytes for section in layout.all_sections if section.bytes is not None), None)


class _Worst:
    """Where an agent loses most: in how many bytes, the message, and how many files it names. `cut` are the files that are cut anywhere."""

    def __init__(self) -> None:
        self.loss, self.message, self.named = 0, "", 0
        self.cut: set[str] = set()


class CutFiles:
    """Reports the first file that exceeds an agent's limit, or the large one that leaves no room for it. The files after it are dropped too."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        # By the file to shorten and the agent.
        self._worst: dict[tuple[str, str], _Worst] = {}

    def visit(self, visit: Visit) -> None:
        limit = byte_limit(visit.layout)
        source = _first_cut_file(visit) if limit is not None else None
        if source is None or limit is None:
            return
        sizes = dict(visit.sizes)
        size, left = _size_of(source, visit), sizes.pop(source.path, 0)
        if size - left < _MIN_LOST:
            return
        largest = max(sizes, key=sizes.__getitem__, default="")
        is_to_blame = largest and sizes[largest] > max(size, limit // 4)
        worst = self._worst.setdefault((largest if is_to_blame else source.path, visit.agent), _Worst())
        dropped = _dropped_files(visit, source.path)
        worst.cut.update((source.path, *dropped))
        loss = size - left + sum(_byte_length(other.text) for other in map(visit.read, dropped) if other)
        if loss <= worst.loss:
            return
        name, pronoun = (source.path, "this one") if is_to_blame else ("this one", "it")
        what = f"{_describe_kept(size, left)} of {name}{_describe_lost_line(source.text, visit.loaded.get(source.path, ''))}"
        nothing_of = f", and nothing of {summarize(dropped, 'file')}" if dropped else ""
        worst.loss, worst.named = loss, 1 + len(dropped)
        worst.message = (
            f"{{agents}} read{{s}} at most {limit:,} bytes of these files, and {what}{nothing_of}{{others}}; shorten {pronoun},"
            " or move details into files that are read when needed"
        )
        self.facts.news.append(None)

    def report(self) -> None:
        """Report each file to shorten, with the file of which most is lost. Of folders that are alike, only a few were visited."""
        for (path, agent), worst in self._worst.items():
            others = len(worst.cut) - worst.named
            also = (
                f"; in other folders, at least {others:,} more file{'s are' if others > 1 else ' is'} cut"
                if others
                else ""
            )
            self.facts.add("cut-file", Place(path), worst.message.replace("{others}", also), agent)


def _first_cut_file(visit: Visit) -> SourceText | None:
    """Return the first file that is cut, or None if none is, or if that one is for others."""
    sources = (visit.read(candidate.path) for candidate in visit.candidates_in_repository("cut"))
    source = next(filter(None, sources), None)
    return None if source is None or _is_published(source, visit) else source


def _is_published(source: SourceText, visit: Visit) -> bool:
    """Whether a file is for the users of a package: the package.json beside it lists the file among those to publish."""
    package = visit.read(join(dirname(source.path), "package.json"))
    files = (parse_object(package.text) or {}).get("files") if package else None
    return isinstance(files, list) and any(
        isinstance(name, str) and name.removeprefix(".").removeprefix("/") == basename(source.path) for name in files
    )


def _describe_kept(size: int, left: int) -> str:
    return f"only {left:,} of the {size:,} bytes" if left else f"nothing of the {size:,} bytes"


def _describe_lost_line(text: str, kept: str) -> str:
    """Return a clause about the first line that is lost, or its rest if it is cut, or an empty string if everything is lost."""
    if not kept:
        return ""
    start = len(kept) if text.startswith(kept) else text.find("\n", min(len(kept), len(text))) + 1
    lost = next((line for line in text[start:].split("\n") if line.strip()), "") if start else ""
    if not lost:
        return ""
    position = text.index(lost, start)
    is_cut = text[text.rfind("\n", 0, position) + 1 : position].strip() != ""
    number = text.count("\n", 0, position) + 1
    shown = lost.strip() if len(lost.strip()) <= _MAX_QUOTE else f"{lost.strip()[:_MAX_QUOTE]}…"
    return f" (lost from {'the middle of ' if is_cut else ''}line {number:,}: {shown})"


def _dropped_files(visit: Visit, path: str) -> list[str]:
    """Return the files of which nothing is read, beside the one with this path."""
    cut = [candidate.path for candidate in visit.candidates_in_repository("cut")]
    return [other for other in cut if other != path and not visit.loaded.get(other)]


def _size_of(source: SourceText, visit: Visit) -> int:
    """Return the size of a file's text as the layout reads it: some layouts keep the blank lines around it."""
    documents = (
        document for found in visit.inputs.found.values() for document in found if isinstance(document, Document)
    )
    texts = (document.text for document in documents if printable(document.path) == source.path)
    return _byte_length(next(texts, source.text))


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
