"""Find out why a request read less from the cache than the one before it. Pure.

The first thing that differs is the cause, if it explains what was lost. If nothing differs, the pause is compared with the lifetime of
the cache. Where the log does not show enough, the answer is `unknown`, with what is known: a wrong cause is worse than none.
"""

from __future__ import annotations

from typing import NamedTuple

from ..providers.request_parts import describe_tool_change
from .values import TOKEN_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .chains import Step
    from .costs import ModelRule
    from .values import LogPart

# Without these the request may differ in a place that the log does not show.
_MARGIN, _SHARE, _MOST = 512, 0.8, 1.25
# The cause that a change of such a part is, in the order in which the kinds are looked for.
_KINDS = {"file": "file", "server": "server", "clock": "clock", "skills": "setting", "skill": "setting"}


class CollapseCause(NamedTuple):
    """Why a prefix was not read again. `evidence` is a sentence."""

    cause: str
    evidence: str
    name: str = ""
    path: str = ""
    line: int | None = None
    pause: float | None = None


def find_cause(step: Step, rule: ModelRule, texts: Mapping[str, str] | None = None) -> CollapseCause:
    """Return the cause of a collapse. `texts` are the texts of parts by hash, from which the line of a difference is found."""
    request, previous = step.request, step.previous
    assert previous is not None
    pause = max(request.sent - previous.time, 0) if request.sent and previous.time else None
    if request.model != previous.model:
        return CollapseCause(
            "model", f"the model changed from {previous.model} to {request.model}", request.model, pause=pause
        )
    lifetime = max(previous.lifetime, rule.lifetime)
    is_expired = bool(lifetime and pause is not None and pause > lifetime)
    if _is_compacted(step) and (not is_expired or _keeps_the_beginning(step, rule)):
        return CollapseCause("compaction", "the conversation was compacted before this request", pause=pause)
    differs = 0 <= step.keep < step.old_length
    if differs and (_explains(step, rule) or not is_expired):
        return _difference(step, rule, texts or {})._replace(pause=pause)
    if is_expired:
        return CollapseCause("lifetime", f"{pause:,.0f} seconds passed, and the cache lasts {lifetime:,}", pause=pause)
    return _without_difference(step, pause, lifetime)


def _is_compacted(step: Step) -> bool:
    return any(event.kind == "compaction" for event in step.events)


def _keeps_the_beginning(step: Step, rule: ModelRule) -> bool:
    """Whether what a compaction keeps was read, as far as is known. If it was not, the pause emptied the cache."""
    return step.keep < 0 or _explains(step, rule)


def _without_difference(step: Step, pause: float | None, lifetime: int) -> CollapseCause:
    request, previous = step.request, step.previous
    assert previous is not None
    old, new = dict(previous.settings), dict(request.settings)
    for name in sorted(old.keys() | new.keys()) if old and new else ():
        if old.get(name) != new.get(name):
            return CollapseCause("setting", f"{name} changed", name, pause=pause)
    waited = (
        ""
        if pause is None
        else f", {pause:,.0f} {'second' if round(pause) == 1 else 'seconds'} after the previous request"
    )
    if step.keep >= 0 and request.made == previous.made == "rebuilt" and _is_whole(step):
        limit = f" (the cache lasts {lifetime:,})" if lifetime else ""
        if lifetime and pause is not None:
            return CollapseCause("provider", f"nothing differs from the previous request{waited}{limit}", pause=pause)
        missing = "when it was sent" if lifetime else "how long the cache lasts"
        what = f"nothing differs from the previous request{waited}; {missing} is not known"
        return CollapseCause("unknown", what, pause=pause)
    missing = _missing(step)
    return CollapseCause(
        "unknown", f"the log does not show {missing}{waited}; what it shows does not differ", pause=pause
    )


def _missing(step: Step) -> str:
    kinds = (("the tools", "tool"), ("the system prompt", "prompt"))
    names = [name for name, kind in kinds if not step.line.has(kind, step.length)]
    return " and ".join(names) or "the whole request"


def _is_whole(step: Step) -> bool:
    """Whether all of the previous request is known."""
    return step.old_line.has("tool", step.old_length) and not step.old_line.has("unknown", step.old_length)


def _explains(step: Step, rule: ModelRule) -> bool:
    """Whether the request read what comes before the first difference, so that nothing else is needed to explain the rest."""
    previous = step.previous
    assert previous is not None
    line, length, kept = step.old_line, step.old_length, step.keep
    if rule.caching == "breakpoints":  # there is at least one after the system prompt
        kept = first if step.keep >= (first := _first_message(line.parts)) else 0
    tokens, read = previous.tokens.input, step.request.tokens.read
    known = line.size(length)
    hidden = max(tokens * TOKEN_BYTES - known, 0) if line.has("unknown", length) else 0
    total = known + hidden
    before = line.size(kept) + (hidden if line.has("unknown", kept) else 0)
    expected = tokens * before / total if total else 0
    if read < _SHARE * expected - _MARGIN:
        return False
    # Where the log does not show the beginning, what follows the difference is all that can be compared.
    return not hidden or tokens - read <= _MOST * (tokens - expected) + _MARGIN


def _first_message(parts: Sequence[LogPart]) -> int:
    for index, part in enumerate(parts):
        if part.kind != "tool" and not (part.kind in ("prompt", "clock") and part.name in ("system", "")):
            return index
    return len(parts)


def _difference(step: Step, rule: ModelRule, texts: Mapping[str, str]) -> CollapseCause:
    """Return the cause that the first differing part is."""
    old = step.old_line.parts[step.keep]
    new = step.line.parts[step.keep] if step.keep < step.length else None
    if not _is_certain(step, old, rule):
        what = f"more was lost than what follows the first difference that the log shows ({_describe(old)})"
        return CollapseCause("unknown", what)
    kinds = {old.kind, new.kind if new else ""}
    if "tool" in kinds:
        return _tool_difference(step)
    for kind, cause in _KINDS.items():
        if kind in kinds:
            return _named(cause, old, new, old if old.kind == kind or new is None else new, texts)
    if old.kind == "prompt":
        what = old.name or "system"
        return CollapseCause("setting", f"the program's own text ({what}) changed", what)
    verb = "was removed" if new is None or new.kind == "unknown" else "was rewritten"
    return CollapseCause("message", f"{_describe(old)} {verb}", old.name)


def _is_certain(step: Step, old: LogPart, rule: ModelRule) -> bool:
    """Whether nothing that the log does not show can have been the first difference."""
    return old.kind == "tool" or _is_whole(step) or (old.kind != "unknown" and _explains(step, rule))


def _named(cause: str, old: LogPart, new: LogPart | None, part: LogPart, texts: Mapping[str, str]) -> CollapseCause:
    if cause == "setting":
        return CollapseCause(cause, f"the menu of skills changed at {part.name or 'its beginning'}", "skills")
    label = "the date or time" if cause == "clock" else part.path or part.name or cause
    line = None
    if new is not None and old.kind == new.kind == part.kind and old.path == new.path:
        before, after = texts.get(old.hash), texts.get(new.hash)
        if before is not None and after is not None:
            line = first_different_line(before, after)
        return CollapseCause(
            cause, f"{label} changed" + (f" in line {line}" if line else ""), part.name, part.path, line
        )
    verb = "is new" if part is new else "is no longer sent"
    return CollapseCause(cause, f"{label} {verb}", part.name, part.path)


def first_different_line(old: str, new: str) -> int:
    """Return the number of the first line in which two texts differ, from 1."""
    before, after = old.split("\n"), new.split("\n")
    for number, (mine, theirs) in enumerate(zip(before, after), 1):  # noqa: B905  one may be shorter
        if mine != theirs:
            return number
    return min(len(before), len(after)) + 1


def _tool_difference(step: Step) -> CollapseCause:
    old = [part.name for part in step.old_parts if part.kind == "tool"]
    new = [part.name for part in step.parts if part.kind == "tool"]
    if not new:
        return CollapseCause("tool", "the tools are no longer sent", old[0])
    if old and old[0].endswith(" tools"):  # the log has only their number
        return CollapseCause("tool", f"the number of tools changed from {old[0].split()[0]} to {new[0].split()[0]}")
    index = sum(part.kind == "tool" for part in step.old_line.parts[: step.keep])
    change = describe_tool_change(old, new, index)
    name = change.split("`")[1] if "`" in change else ""
    part = next((part for part in (*step.parts, *step.old_parts) if part.kind == "tool" and part.name == name), None)
    if part and part.path:
        return CollapseCause("server", f"the server {part.path} {change}", part.path)
    return CollapseCause("tool", f"the program {change}", name)


def _describe(part: LogPart) -> str:
    words = {
        "message": "a message",
        "answer": "an answer",
        "result": "a tool's result",
        "summary": "the summary",
        "prompt": "the program's own text",
    }
    label = words.get(part.kind, part.kind)
    return f"{label} of {part.name}" if part.kind == "result" and part.name else label
