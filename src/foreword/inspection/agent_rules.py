"""Describes in words which files an agent reads, based on its layout's lookup rules."""

from __future__ import annotations

from posixpath import basename

from .agents import OWN_REFUSAL, WORKSPACE_PLACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Layout, Lookup, Pattern
    from .agents import AgentView, Verdict

_MAX_NAMES = 8


def describe_rule(verdict: Verdict) -> str:
    """Describe the rule behind a verdict, for example `it reads AGENTS.md in each directory from …`, or return empty if there is none."""
    if verdict.rule is None:
        return ""
    lookup, pattern = verdict.rule
    group = next(patterns for patterns in lookup.groups if pattern in patterns)
    text = f"it reads {_describe_group(group, lookup)}"
    if lookup.take == "nearest":
        text += "; only the nearest one counts"
    if lookup.rules.blank == "hide" and len(group) > 1:
        text += "; a blank file hides those after it"
    return text


def describe_reads(layout: Layout, path: str) -> str:
    """Describe what a layout reads instead of a file: files with the same name in other places, otherwise all its instruction files."""
    places = describe_places(layout, path)
    return places or _shorten(_file_names([pattern for _, group in _text_groups(layout) for pattern in group]))


def describe_places(layout: Layout, path: str) -> str:
    """Describe the places in which a layout reads files with this name, or return empty if there are none."""
    name = basename(path)
    places = dict.fromkeys(
        f"{_path_as_written(pattern)} {_describe_place(pattern, lookup)}".rstrip()
        for lookup, group in _text_groups(layout)
        for pattern in group
        if basename(pattern.path) == name
    )
    return _shorten(list(places))


def _text_groups(layout: Layout) -> list[tuple[Lookup, Sequence[Pattern]]]:
    return [(lookup, group) for lookup in layout.lookups if lookup.kind == "text" for group in lookup.groups]


def _shorten(names: Sequence[str]) -> str:
    return _join(names if len(names) <= _MAX_NAMES else [*names[:_MAX_NAMES], f"{len(names) - _MAX_NAMES} more"])


def _file_names(patterns: Sequence[Pattern]) -> list[str]:
    """Return the names of the files that patterns find, with those in the workspace first. A pattern with a wildcard is listed unchanged."""
    names: list[str] = []
    for rule in sorted(patterns, key=lambda pattern: pattern.place not in WORKSPACE_PLACES):
        name = rule.path if "*" in rule.path else basename(rule.path)
        if not any(name == other or name.endswith(f"/{other}") for other in names):
            names.append(name)
    return names


def _describe_group(group: Sequence[Pattern], lookup: Lookup) -> str:
    """Describe the files in a group, and where the agent looks for them."""
    where = _describe_place(group[0], lookup)
    names = list(dict.fromkeys(_path_as_written(pattern) for pattern in group))
    files = names[0] if len(names) == 1 else f"the first of {_join(names)}"
    return f"{files} {where}".rstrip()


def _path_as_written(pattern: Pattern) -> str:
    """Return a pattern's path as a user would write it."""
    if pattern.place == "home":
        return f"~/{pattern.path}"
    if pattern.place == "config":
        return f"~/.config/{pattern.path}"
    if pattern.place == "env":
        return f"${pattern.variable}/{pattern.path}"
    return f"/{pattern.path}" if pattern.place == "system" else pattern.path


def _describe_place(pattern: Pattern, lookup: Lookup) -> str:
    if pattern.place == "walk":
        return f"in each directory from {_describe_top(lookup)} down to the working directory"
    if pattern.place == "between":
        return f"in each directory between {_describe_top(lookup)} and the working directory"
    return {
        "cwd": "in the working directory",
        "root": "at the root of the repository",
        "above": "in the directory above the repository",
        "down": "in each directory above a file that it touches",
    }.get(pattern.place, "")


def _describe_top(lookup: Lookup) -> str:
    if lookup.markers is not None:
        return f"the nearest one with {' or '.join(lookup.markers)}" if lookup.markers else "the working directory"
    return {
        "git": "the git root",
        "root": "the filesystem root",
        "checkout": "the filesystem root",
        "git-or-root": "the git root (outside git, the filesystem root)",
    }[lookup.walk]


def _join(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def describe_verdict(view: AgentView, path: str, verdict: Verdict) -> str:
    """Describe what an agent does with a file, and why, in a sentence whose subject, the agent, is left out."""
    rule = describe_rule(verdict)
    if verdict.name == "never" and verdict.reason:
        return f"never loads it: {verdict.reason}"
    if verdict.name == "never":
        others = describe_reads(view.layout, path)
        return f"never loads it: it reads only {others}" if others else "never loads it"
    if verdict.name == "absent" and verdict.rule is None:
        return f"would not load it: the file does not exist, and it reads only {describe_reads(view.layout, path)}"
    if verdict.name == "listed":
        assert verdict.rule is not None
        return f"lists it as a {_KIND_NAMES[verdict.rule[0].kind]}, with its name and description; {rule}"
    outcome = _describe_outcome(view, verdict)
    if verdict.reason.startswith(OWN_REFUSAL):
        return f"{': '.join(filter(None, (outcome, rule)))}. {verdict.reason}"
    if verdict.name == "loaded" and verdict.reason:  # such as an import, which no rule describes
        rule = ""
    explanation = "; ".join(dict.fromkeys(part for part in (verdict.reason, rule) if part))
    return f"{outcome}: {explanation}" if explanation else outcome


def _describe_outcome(view: AgentView, verdict: Verdict) -> str:
    """Describe what an agent does with a file, without the reason."""
    if verdict.name == "unreadable" and "not UTF-8" in verdict.reason and view.layout.mirrors:
        return "may load it or not, which was not tested"
    return "loads nothing from it" if verdict.cut == 100 else _OUTCOMES[verdict.name].format(cut=verdict.cut)


_KIND_NAMES = {"text": "rule", "skill": "skill", "resident": "resident", "agent": "sub-agent", "command": "command"}
_OUTCOMES = {
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
