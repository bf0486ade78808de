"""Say in words which files an agent reads, from the lookups of its layout."""

from __future__ import annotations

from posixpath import basename

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Layout, Lookup, Pattern
    from .agents import AgentView, Verdict

_MAX_NAMES = 8


def rule_of(verdict: Verdict) -> str:
    """The rule behind a verdict: `it reads AGENTS.md in each directory from …`. Empty if there is none."""
    if verdict.rule is None:
        return ""
    lookup, pattern = verdict.rule
    group = next(each for each in lookup.groups if pattern in each)
    text = f"it reads {_group(group, lookup)}"
    if lookup.take == "nearest":
        text += "; only the nearest one counts"
    if lookup.rules.blank == "hide" and len(group) > 1:
        text += "; a blank file hides those after it"
    return text


def what_is_read(layout: Layout, path: str) -> str:
    """What a layout reads instead of a file: files of that name in other places, else the names of all its instruction files."""
    groups = [(lookup, group) for lookup in layout.lookups if lookup.kind == "text" for group in lookup.groups]
    name = basename(path)
    places = dict.fromkeys(
        f"{_name(rule)} {_place(rule, lookup)}".rstrip()
        for lookup, group in groups
        for rule in group
        if basename(rule.path) == name
    )
    names = dict.fromkeys(
        basename(rule.path) if "*" not in rule.path else rule.path for _, group in groups for rule in group
    )
    shown = list(places or names)
    return _listed(shown if len(shown) <= _MAX_NAMES else [*shown[:_MAX_NAMES], f"{len(shown) - _MAX_NAMES} more"])


def _group(group: Sequence[Pattern], lookup: Lookup) -> str:
    """The files of a group, with the place where they are looked for."""
    where = _place(group[0], lookup)
    names = list(dict.fromkeys(_name(rule) for rule in group))
    files = names[0] if len(names) == 1 else f"the first of {_listed(names)}"
    return f"{files} {where}".rstrip()


def _name(pattern: Pattern) -> str:
    """A pattern's path as a user writes it."""
    if pattern.place == "home":
        return f"~/{pattern.path}"
    if pattern.place == "config":
        return f"~/.config/{pattern.path}"
    if pattern.place == "env":
        return f"${pattern.variable}/{pattern.path}"
    return f"/{pattern.path}" if pattern.place == "system" else pattern.path


def _place(pattern: Pattern, lookup: Lookup) -> str:
    if pattern.place == "walk":
        return f"in each directory from {_top(lookup)} down to the working directory"
    if pattern.place == "between":
        return f"in each directory between {_top(lookup)} and the working directory"
    return {
        "cwd": "in the working directory",
        "root": "at the root of the repository",
        "above": "in the directory above the repository",
    }.get(pattern.place, "")


def _top(lookup: Lookup) -> str:
    if lookup.markers is not None:
        return f"the nearest one with {' or '.join(lookup.markers)}" if lookup.markers else "the working directory"
    return {
        "git": "the git root",
        "root": "the filesystem root",
        "git-or-root": "the git root (outside git, the filesystem root)",
    }[lookup.walk]


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def sentence_of(view: AgentView, path: str, verdict: Verdict) -> str:
    """What an agent does with a file, and why, in one sentence without the agent's name."""
    rule = rule_of(verdict)
    if verdict.name == "never":
        others = what_is_read(view.layout, path)
        return f"never loads it: it reads only {others}" if others else "never loads it"
    start = _STARTS[verdict.name].format(cut=verdict.cut)
    if verdict.name == "loaded" and verdict.reason:  # such as an import, which no rule is about
        rule = ""
    why = "; ".join(dict.fromkeys(part for part in (verdict.reason, rule) if part))
    return f"{start}: {why}" if why else start


_STARTS = {
    "loaded": "loads it",
    "cut": "loads it without {cut}% of its text",
    "on-touch": "does not load it at the start",
    "shadowed": "does not load it",
    "copy": "does not load it again",
    "blank": "loads nothing from it",
    "unused": "does not load it",
    "refused": "does not load it",
    "unreadable": "cannot load it",
    "elsewhere": "does not load it here",
    "absent": "would load it, but the file does not exist",
}
