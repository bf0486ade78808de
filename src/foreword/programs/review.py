"""Review a pull request: what a change to a repository does to each agent's prompt, and what it costs.

Both trees are read from git and written, one after the other, into the same private temporary folder, so that the prompts differ only
if the files do. The user's own files are not part of a review.
"""

from __future__ import annotations

import os
import re

from ..errors import CallError, show
from ..inspection.agents import Verdict
from ..inspection.changes import find_changes, prompt_side
from ..inspection.diff import difference_of
from ..inspection.effects import effect_of
from ..inspection.lint.secrets import mask_in_place
from ..inspection.subject import Subject
from ..sources.checkout import Checkout
from ..sources.environment import resolve_workspace
from ..sources.git import require_git
from ..sources.git_trees import LINK, GitTrees, id_of, mode_of
from ..sources.links import Reach
from ..sources.reader import Reader
from ..sources.tree_listings import resolve_links
from ..sources.trust import Trust
from ..sources.trust_record import Record
from ..text.lines import printable
from ..text.tokens import estimator
from ..vocabulary import replace, value
from .align.broken import broken_alignment
from .project import fixed_time, working_folders
from .review_tree import TreeReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ..inspection.diff import Difference
    from ..inspection.effects import Effect
    from ..inspection.prices import Price
    from ..sources.git_trees import Tree
    from ..vocabulary import Finding, Prompt
    from ..wire.git_forms import PromptReviewForm, ReviewForm
    from .question import Question
    from .review_requests import SentRequests
    from .review_tree import TreeReading

TURNS = 30
_MAX_FOLDERS = 20
_MAX_CONVERSATIONS = 2_000


@value
class Revision:
    """One side of a change: the name that the caller used, and the id of the commit."""

    name: str
    commit: str


@value
class FileReview:
    """A changed file: what happened to it, and what each agent at the root does with it before and after, by the agent's name."""

    path: str
    change: str
    old_path: str = ""
    verdicts: Mapping[str, tuple[Verdict | None, Verdict | None]] = {}


@value
class PromptReview:
    """How the prompt of a layout in a folder changes. Paths in `old` and `new` are relative to the root, and secrets in their text are masked."""

    layout: str
    folder: str
    old: Prompt
    new: Prompt
    effect: Effect
    difference: Difference


@value
class Review:
    """What a change does.

    All paths are relative to the root. `unchanged` is the number of prompts that stay the same. Costs are calculated from `price`.
    `conversations` is the number of stored conversations in the repository, or None if no store was passed. `requests` are those that each
    agent has sent in the last 30 days, or None if its logs were not read.
    """

    base: Revision
    head: Revision
    files: Sequence[FileReview]
    prompts: Sequence[PromptReview]
    unchanged: int
    new_findings: Sequence[Finding]
    fixed_findings: Sequence[Finding]
    price: Price | None = None
    conversations: int | None = None
    notes: Sequence[str] = ()
    requests: Mapping[str, SentRequests] | None = None

    def cost(self, prompt: PromptReview) -> float | None:
        """Return what the change of this prompt costs in the agent's requests or, if they are not known, in 1,000 conversations.

        A conversation writes the prompt to the cache once and reads it in every later turn.
        """
        tokens = prompt.effect.after - prompt.effect.before
        if self.price is None:
            return None
        if self.requests is not None:
            sent = self.requests.get(prompt.layout)
            return sent.cost(tokens, self.price) if sent else None
        return tokens * (self.price.write + (TURNS - 1) * self.price.read) / 1_000


def review_change(question: Question) -> Review:
    """Review the change in the question's `range`: BASE, BASE..HEAD or BASE...HEAD."""
    reader = Reader()
    workspace = resolve_workspace(question.workspace, reader)
    git = require_git(workspace, reader, "review")
    objects = GitTrees(git)
    base, head = _resolve_range(objects, question.fields.get("range") or "")
    tree, differences = objects.tree(base.commit), objects.differences(base.commit, head.commit)
    with Checkout(objects, os.path.basename(git.root)) as checkout:
        comparison = _TreeComparison(question, git.root, checkout, tree, differences)
        return comparison.review(base, head)


def _resolve_range(objects: GitTrees, text: str) -> tuple[Revision, Revision]:
    """Return the two sides. Without `..`, the change starts at their common ancestor, as in a pull request."""
    separator = "..." if "..." in text else ".." if ".." in text else ""
    base, _, head = text.partition(separator) if separator else (text, "", "")
    if not base:  # usually an unset variable of a shell script
        raise CallError(f"the change {show(text)} has no base; pass BASE or BASE..HEAD, such as origin/main")
    names = base, head or "HEAD"
    ids = objects.resolve(names[0]), objects.resolve(names[1])
    start = ids[0] if separator == ".." else objects.merge_base(*ids)
    return Revision(names[0], start), Revision(names[1], ids[1])


class _TreeComparison:
    """Builds the prompts of both trees and compares them."""

    def __init__(
        self, question: Question, root: str, checkout: Checkout, base: Tree, differences: Mapping[str, str]
    ) -> None:
        self.question, self.root, self.checkout, self.base, self.differences = (
            question,
            root,
            checkout,
            base,
            differences,
        )
        portable = question.portable().with_fields(cwd=checkout.root, now=fixed_time())
        self.reader = TreeReader(portable, checkout, base, differences)
        self.changed = sorted(differences)
        self.old_links: set[str] = set()  # those that changed
        self.new_links: set[str] = set()
        self.notes: dict[str, None] = {}

    def review(self, base: Revision, head: Revision) -> Review:
        """Build, compare and check both trees."""
        folders = self._folders()
        old, new = self.reader.read(folders)
        self.notes.update(dict.fromkeys((*old.notes, *new.notes)))
        prompts = list(self._compare(old, new))
        self._note_limits()
        files = self._files(old, new)
        self._note_trust(files)
        return Review(
            base,
            head,
            files,
            [prompt for prompt in prompts if prompt.difference.is_changed],
            sum(not prompt.difference.is_changed for prompt in prompts),
            [*_only_in(new.findings, old.findings), *broken_alignment(old.alignment, new.alignment)],
            _only_in(old.findings, new.findings),
            self._price(),
            self._conversations(),
            list(self.notes),
            self._requests(),
        )

    def _folders(self) -> list[str]:
        """Return the root, as an empty string, and the folders with instruction files that changed."""
        files = [f"/{path}" for path in self.changed if path in self.reader.instruction_files]
        folders = list(dict.fromkeys(["", *(folder.lstrip("/") for folder in working_folders(files, ""))]))
        if len(folders) > _MAX_FOLDERS:
            self.notes[f"only the first {_MAX_FOLDERS} of {len(folders):,} folders were reviewed"] = None
        return folders[:_MAX_FOLDERS]

    def _compare(self, old: TreeReading, new: TreeReading) -> Iterator[PromptReview]:
        """Yield the prompts of both trees. A folder is left out if its prompt changes only as the root's does."""
        count = estimator(self.question.model, self.question.provider)
        for key in (key for key in old.prompts if key in new.prompts):
            layout, folder = key
            is_own = {*old.sources[key], *new.sources[key]} - {*old.sources[layout, ""], *new.sources[layout, ""]}
            if folder and not is_own:
                continue
            before, after = old.prompts[key], new.prompts[key]
            changes = find_changes(prompt_side(before), prompt_side(after))
            difference = difference_of(changes, Subject("before", before), Subject("after", after))
            effect = effect_of(changes, before, after, count)
            if difference.is_changed:  # a review is often published as a comment
                before, after = (replace(prompt, text=mask_in_place(prompt.text)) for prompt in (before, after))
            yield PromptReview(before.layout, printable(folder), before, after, effect, difference)

    def _files(self, old: TreeReading, new: TreeReading) -> list[FileReview]:
        """Return the changed files that an agent reads or that look like instructions, and other files that an agent now treats differently."""
        rows = list(self._changed_files(old, new))
        moved = {row.old_path for row in rows if row.old_path}
        rows = [row for row in rows if row.path not in moved]
        rows += self._links(old, new, {row.path for row in rows})
        for shown in sorted({*old.verdicts, *new.verdicts} - {row.path for row in rows} - moved):
            verdicts = self._verdicts(shown, "", old, new)
            if any(_outcome(before) != _outcome(after) for before, after in verdicts.values()):
                rows.append(FileReview(shown, "unchanged", "", verdicts))  # another file now hides or reveals it
        return rows

    def _changed_files(self, old: TreeReading, new: TreeReading) -> Iterator[FileReview]:
        by_id = {id_of(self.base[path]): path for path in self.changed if not self.differences[path]}
        read = {path for reading in (old, new) for paths in reading.sources.values() for path in paths}
        for path in self.changed:
            shown, before, after = printable(path), self.base.get(path), self.differences[path]
            is_link = self._note_link(shown, before or "", after)
            if path in self.reader.instruction_files or shown in read or (is_link and _below(shown, read)):
                source = printable(by_id.get(id_of(after), "")) if after and before is None else ""
                yield FileReview(
                    shown, self._describe_change(path, source), source, self._verdicts(shown, source, old, new)
                )

    def _note_link(self, path: str, before: str, after: str) -> bool:
        """Note that a changed path was or is a link, and return whether it was or is."""
        for entry, links in ((before, self.old_links), (after, self.new_links)):
            if mode_of(entry) == LINK:
                links.add(path)
        return LINK in (mode_of(before), mode_of(after))

    def _describe_change(self, path: str, source: str) -> str:
        if path not in self.base:
            return "renamed" if source else "added"
        if self.differences[path]:
            return "changed"
        target = resolve_links(path, self.checkout.links)
        # A link may have replaced one of its folders.
        return f"leads to {printable(target)}" if target in self.checkout.tree else "removed"

    def _links(self, old: TreeReading, new: TreeReading, listed: Collection[str]) -> Iterator[FileReview]:
        """Yield the links that did not change, but lead to a file that did. The folder has the files of the new tree."""
        root, changed = self.checkout.root, set(self.changed)
        for path in sorted(self.reader.instruction_files.intersection(self.checkout.links)):
            if printable(path) in listed:
                continue
            target = os.path.realpath(os.path.join(root, path))[len(root) + 1 :]
            if target in changed:
                verdicts = self._verdicts(printable(path), "", old, new)
                yield FileReview(printable(path), f"leads to {printable(target)}", "", verdicts)

    def _verdicts(
        self, path: str, old_path: str, old: TreeReading, new: TreeReading
    ) -> dict[str, tuple[Verdict | None, Verdict | None]]:
        before, after = old.verdicts.get(old_path or path, {}), new.verdicts.get(path, {})
        names = list(dict.fromkeys((*before, *after)))
        if names:
            return {name: (before.get(name), after.get(name)) for name in names}
        # A file that another one imports is not in the table of instruction files, and neither is a link to a folder of skills.
        verdicts = {
            new.prompts[key].layout: (
                _source_verdict(old_path or path, old.sources.get(key, {}), self.old_links),
                _source_verdict(path, new.sources[key], self.new_links),
            )
            for key in new.prompts
            if not key[1]
        }
        return {name: pair for name, pair in verdicts.items() if any(pair)}

    def _note_limits(self) -> None:
        if not self.checkout.is_complete:
            self.notes["the repository is very large, so checks for missing files may be wrong"] = None
        if self.reader.has_deep_files:
            self.notes["instruction files in deeply nested folders were left out"] = None
        if count := self.reader.left_out_count:
            self.notes[
                f"{count:,} of {count + len(self.reader.instruction_files):,} instruction files were left out"
            ] = None
        if skipped := list({**self.checkout.skipped_before, **self.checkout.skipped}):
            names = ", ".join(map(printable, skipped[:3])) + (f" and {len(skipped) - 3:,} more" if skipped[3:] else "")
            self.notes[
                f"not read, because of their names or sizes, or because this clone does not contain them: {names}"
            ] = None

    def _note_trust(self, files: Sequence[FileReview]) -> None:
        """Note the changed files that the user has not accepted, if they have accepted others in this repository."""
        workspace = resolve_workspace(self.question.workspace, Reader())
        try:
            record = Record(workspace)
        except CallError:  # there is no home directory
            return
        if not record.files and not record.ref:
            return
        trust = Trust(replace(workspace, root=self.checkout.root, cwd=self.checkout.root), "ask", record=record)
        reader = Reader()
        reader.trust = trust
        reach = Reach(self.checkout.root, self.checkout.root, can_be_allowed=False)
        paths = [row.path for row in files if row.change in ("added", "changed", "renamed")]
        new = [path for path in paths if reader.read(os.path.join(self.checkout.root, path), reach).fate == "untrusted"]
        if new:
            names = ", ".join(new[:3]) + (f" and {len(new) - 3:,} more" if new[3:] else "")
            self.notes[f"you have not trusted these versions yet: {names}"] = None

    def _price(self) -> Price | None:
        from ..inspection.price_list import read_prices

        fields = self.question.fields
        table = read_prices(fields.get("prices") or "", self.question.workspace, fields.get("settings") or "")
        if self.question.model or self.question.provider:
            rules, price, _ = table.rule_for(self.question.provider, self.question.model)
            return price if self.question.model else table.price_of(rules, "")
        return table.price_of(table.providers[0], "")

    def _requests(self) -> Mapping[str, SentRequests] | None:
        if not self.question.fields.get("sessions"):
            return None
        from .review_requests import count_requests

        return count_requests(self.question)

    def _conversations(self) -> int | None:
        if not self.question.fields.get("store"):
            return None
        from ..encoding.edition import target_of
        from ..sources.paths import is_inside
        from ..store.listing import ConversationQuery

        store, root, count = self.question.existing_store(), printable(self.root), 0
        page = store.conversations(ConversationQuery(newest=True, limit=_MAX_CONVERSATIONS))
        for row in page.rows:
            edition = store.current(row.id)
            count += edition is not None and is_inside(target_of(edition).cwd, root)
        if page.next:
            self.notes[f"only the newest {_MAX_CONVERSATIONS:,} stored conversations were counted"] = None
        return count


def group_by_text(prompts: Sequence[PromptReview]) -> list[list[PromptReview]]:
    """Group the prompts in which the texts of files change in the same way. Agents differ only in the words around them."""
    groups: dict[object, list[PromptReview]] = {}
    for prompt in prompts:
        before, after = _file_texts(prompt.old), _file_texts(prompt.new)
        changed = [(before.get(path, ""), after.get(path, "")) for path in {*before, *after}]
        # Without the path: one agent may read a file, and another one a link to it.
        key = prompt.folder, tuple(sorted({row for row in changed if row[0] != row[1]}))
        groups.setdefault(key, []).append(prompt)
    return list(groups.values())


def _file_texts(prompt: Prompt) -> dict[str, str]:
    texts: dict[str, str] = {}
    for piece in (piece for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "file"):
        texts[piece.origin.path] = texts.get(piece.origin.path, "") + piece.text
    return {path: text.strip() for path, text in texts.items()}


def _source_verdict(path: str, sources: Mapping[str, bool], links: Collection[str]) -> Verdict | None:
    """Return the verdict on a file that a prompt contains or lists, or on a link to a folder of such files. None for other files."""
    found = [path] if path in sources else _below(path, sources) if path in links else []
    return Verdict("loaded" if any(map(sources.__getitem__, found)) else "listed") if found else None


def _below(folder: str, paths: Iterable[str]) -> list[str]:
    return [path for path in paths if path.startswith(f"{folder}/")]


def _outcome(verdict: Verdict | None) -> tuple[str, int | None]:
    return (verdict.name, verdict.cut) if verdict else ("", None)


def _only_in(findings: Sequence[Finding], others: Sequence[Finding]) -> list[Finding]:
    """Return the findings that are not among the others. A changed line number or size alone is not a difference."""
    remaining: dict[tuple[str, ...], int] = {}
    for row in others:
        remaining[_identity(row)] = remaining.get(_identity(row), 0) + 1
    result = []
    for row in findings:
        if remaining.get(_identity(row)):
            remaining[_identity(row)] -= 1
        else:
            result.append(row)
    return result


def _identity(row: Finding) -> tuple[str, ...]:
    return row.code, row.path, re.sub(r"\d[\d,]*", "", row.message)


# JSON


def review_answer(review: Review) -> ReviewForm:
    """Return the JSON form of a review."""
    from ..encoding.prompt import finding_form
    from ..wire.differences import price_form

    return {
        "base": {"name": review.base.name, "commit": review.base.commit},
        "head": {"name": review.head.name, "commit": review.head.commit},
        "changed": bool(review.prompts),
        "files": [
            {
                "path": row.path,
                "change": row.change,
                "old_path": row.old_path or None,
                "agents": [
                    {
                        "agent": name,
                        "before": before.name if before else None,
                        "after": after.name if after else None,
                        "reason": after.reason if after else "",
                    }
                    for name, (before, after) in row.verdicts.items()
                ],
            }
            for row in review.files
        ],
        "prompts": [_prompt_form(review, prompt) for prompt in review.prompts],
        "unchanged": review.unchanged,
        "price": price_form(review.price) if review.price else None,
        "turns": TURNS,
        "new_findings": [finding_form(row) for row in review.new_findings],
        "fixed_findings": [finding_form(row) for row in review.fixed_findings],
        "conversations": review.conversations,
        "requests": None if review.requests is None else {name: sent.count for name, sent in review.requests.items()},
        "notes": list(review.notes),
    }


def _prompt_form(review: Review, prompt: PromptReview) -> PromptReviewForm:
    from ..wire.answers import changes_form
    from ..wire.differences import section_diff_form

    effect = prompt.effect
    return {
        **changes_form(prompt.difference),
        "layout": prompt.layout,
        "folder": prompt.folder or ".",
        "tokens_before": effect.before,
        "tokens_after": effect.after,
        "tokens_kept": effect.kept,
        "cost": review.cost(prompt),
        "details": [
            section_diff_form(section, prompt.old.text, prompt.new.text) for section in prompt.difference.sections
        ],
    }
