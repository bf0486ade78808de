"""Computes how providers cache a prompt: where the cached prefix can end, how much of it survives a change, and what that costs.

A request is a list of segments in the order in which the provider reads them. A provider reuses the prefix that two requests share,
or the part of that prefix up to the last breakpoint, if it has at least a minimum number of tokens.
"""

from __future__ import annotations

import json

from ..findings import finding
from ..text.words import common_prefix_length
from ..vocabulary import LIFETIMES, value
from .diff import describe_cause
from .prices import MILLION
from .sending import message_spans, sent_passages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..layout.model import Section
    from ..vocabulary import Finding, Passage, Prompt
    from .diff import SectionDiff
    from .own_part import OwnPart
    from .prices import Price, ProviderRules

    TokenCounter = Callable[[str], int]


# The segments of a request


@value
class Segment:
    """Part of a request: the argument it belongs to, a tool's name or a message's number, and whether a breakpoint follows it.

    For the text of a message that is part of the prompt, `argument` is `leading`; the segment before it is that message's role.
    """

    argument: str
    text: str
    name: str = ""
    has_breakpoint: bool = False


def segments_of(request: Mapping[str, Any], order: Sequence[str], leading: int = 0) -> list[Segment]:
    """Split a request into segments, in the order in which the provider reads them. The first `leading` messages are part of the prompt."""
    settings = request.get("config", request)
    # A deferred tool is not in the prompt.
    tools = [tool for tool in _flat_tools(settings.get("tools", ())) if not tool.get("defer_loading")]
    system = next((settings[key] for key in ("system", "instructions", "system_instruction") if key in settings), ())
    messages = next((request[key] for key in ("messages", "input", "contents") if key in request), ())
    parts = {
        "tools": [_segment("tools", tool, _tool_name(tool)) for tool in tools],
        "system": [_segment("system", block, "") for block in ((system,) if isinstance(system, str) else system)],
        "messages": [
            segment
            for number, message in enumerate(messages, 1)
            for segment in (
                _leading_segments(message, number)
                if number <= leading
                else [_segment("messages", message, str(number))]
            )
        ],
    }
    return [segment for part in order for segment in parts[part]]


def _leading_segments(message: Mapping[str, Any], number: int) -> Iterator[Segment]:
    """Yield the segments of a message that belongs to the prompt: its role, then its blocks of text."""
    yield Segment("messages", f"{message['role']}:", str(number))
    content = message.get("content", message.get("parts"))
    for block in (content,) if isinstance(content, str) else content or ():
        if isinstance(block, str):
            yield Segment("leading", block, str(number))
        else:
            text = block["text"] if "text" in block else json.dumps(block, ensure_ascii=False)
            yield Segment("leading", text, str(number), "cache_control" in block)


def _flat_tools(tools: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for tool in tools:
        yield from tool.get("function_declarations", (tool,))


def _tool_name(tool: Mapping[str, Any]) -> str:
    return str(tool.get("name") or tool.get("function", tool.get("custom", {})).get("name") or tool.get("type") or "")


def _segment(argument: str, content: Any, name: str) -> Segment:
    """Return a segment with the text that the provider compares: prompt text unchanged, everything else as JSON without its breakpoint."""
    if isinstance(content, str):
        return Segment(argument, content, name)
    has_breakpoint = "cache_control" in content
    fields = {key: field for key, field in content.items() if key != "cache_control"}
    text = fields["text"] if argument == "system" else json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return Segment(argument, text, name, has_breakpoint)


def with_last_breakpoint(segments: Sequence[Segment]) -> list[Segment]:
    """Add the breakpoint that callers set after the last message."""
    if not segments or segments[-1].argument != "messages":
        return list(segments)
    last = segments[-1]
    return [*segments[:-1], Segment(last.argument, last.text, last.name, True)]


# Where the cached prefix can end


@value
class Breakpoint:
    """A point where a cacheable prefix can end, after a section or tool, with the prefix's lifetime and number of tokens.

    `is_cacheable` is None if the model's minimum is unknown.
    """

    argument: str
    after: str
    lifetime: str
    tokens: int
    is_cacheable: bool | None


def breakpoints(
    segments: Sequence[Segment],
    prompt: Prompt,
    rules: ProviderRules,
    price: Price | None,
    count: TokenCounter,
    own: OwnPart | None = None,
) -> list[Breakpoint]:
    """Return where a cached prefix can end: at the request's breakpoints, or, if the provider caches any prefix, where a lifetime ends.

    `own` is what a mirrored program sends in addition.
    """
    ends = _explicit_ends(segments, prompt) if rules.caching == "breakpoints" else _implicit_ends(segments, prompt)
    points: list[Breakpoint] = []
    position = tokens = 0
    text = "".join(segment.text for segment in segments)
    for end, argument, after, lifetime in ends:
        tokens += count(text[position:end])
        position = end
        prefix = tokens + (own.before(argument, rules.order) if own else 0)
        points.append(Breakpoint(argument, after, lifetime, prefix, is_cacheable(prefix, price)))
    return points


def is_cacheable(tokens: int, price: Price | None) -> bool | None:
    """Whether a prefix of this many tokens is cached, or None if the minimum is unknown."""
    return None if price is None or price.minimum is None else tokens >= price.minimum


def _explicit_ends(segments: Sequence[Segment], prompt: Prompt) -> Iterator[tuple[int, str, str, str]]:
    position = sent = 0
    for segment in segments:
        position += len(segment.text)
        sent += len(segment.text) if segment.argument in PROMPT_SEGMENTS else 0
        if segment.has_breakpoint and segment.argument == "tools":
            yield position, "tools", segment.name, "release"
        elif segment.has_breakpoint and segment.argument in PROMPT_SEGMENTS:
            end = prompt_offset(prompt, sent)
            last = _last_passage_before(prompt, end)
            yield position, segment.argument, last.section if last else "", _shortest_lifetime(prompt, end)


PROMPT_SEGMENTS = ("system", "leading")


def _sent_spans(prompt: Prompt) -> list[tuple[int, int]]:
    """Return the spans of a prompt that are sent, in order: the system prompt, unless it is blank, and each message."""
    messages = [(start, end) for _, start, end in message_spans(sent_passages(prompt.passages))]
    if not messages:
        return [(0, len(prompt.text))]
    end = max((passage.end for passage in prompt.passages if not passage.message), default=0)
    return [(0, end), *messages] if prompt.text[:end].strip() else messages


def prompt_offset(prompt: Prompt, sent: int) -> int:
    """Return the offset in the prompt after this many sent characters. Separators between messages are not sent."""
    for start, end in _sent_spans(prompt):
        if sent <= end - start:
            return start + sent
        sent -= end - start
    return len(prompt.text)


def _sent_length(prompt: Prompt, offset: int) -> int:
    """Return how many characters of the prompt before this offset are sent."""
    return sum(max(min(end, offset) - start, 0) for start, end in _sent_spans(prompt))


def _implicit_ends(segments: Sequence[Segment], prompt: Prompt) -> Iterator[tuple[int, str, str, str]]:
    """Yield where each lifetime ends in the prompt, and where the tools end if they come after the prompt."""
    position = sent = 0
    ends = [(_sent_length(prompt, end), section, lifetime) for end, section, lifetime in _lifetime_ends(prompt)]
    for index, segment in enumerate(segments):
        if segment.argument in PROMPT_SEGMENTS:
            for end, section, lifetime in ends:
                if sent < end <= sent + len(segment.text):
                    yield position + end - sent, segment.argument, section, lifetime
            sent += len(segment.text)
        position += len(segment.text)
        is_last = index + 1 == len(segments) or segments[index + 1].argument != "tools"
        lifetime = _shortest_lifetime(prompt, len(prompt.text))
        if (
            segment.argument == "tools"
            and is_last
            and lifetime != "turn"
            and any(earlier.argument == "system" for earlier in segments[:index])
        ):
            yield position, "tools", segment.name, lifetime


def _lifetime_ends(prompt: Prompt) -> Iterator[tuple[int, str, str]]:
    """Yield where each lifetime except `turn` ends. No text stays cached longer than the text before it."""
    ranks: list[int] = []
    for passage in prompt.passages:
        ranks.append(max(LIFETIMES.index(passage.lifetime), ranks[-1] if ranks else 0))
    for index, passage in enumerate(prompt.passages):
        is_end = index + 1 == len(ranks) or ranks[index + 1] > ranks[index]
        if is_end and LIFETIMES[ranks[index]] != "turn":
            yield passage.end, passage.section, LIFETIMES[ranks[index]]
    if not ranks and prompt.text:
        yield len(prompt.text), "", "conversation"


def _last_passage_before(prompt: Prompt, end: int) -> Passage | None:
    return next((passage for passage in reversed(prompt.passages) if passage.start < end), None)


def _shortest_lifetime(prompt: Prompt, end: int) -> str:
    """Return the lifetime of a prefix of the prompt: the shortest lifetime among its passages."""
    ranks = [LIFETIMES.index(passage.lifetime) for passage in prompt.passages if passage.start < end]
    return LIFETIMES[max(ranks)] if ranks else "conversation"


# Sections in the wrong order


@value
class MisplacedSection:
    """A section with a shorter lifetime than sections after it, which are written to the cache again each time it changes."""

    section: str
    lifetime: str
    before: Sequence[str]
    tokens: int


def find_misplaced(prompt: Prompt, count: TokenCounter) -> list[MisplacedSection]:
    """Find the sections that come before longer-lived ones, with the names and total tokens of the latter."""
    rows: list[MisplacedSection] = []
    ranks = [LIFETIMES.index(passage.lifetime) for passage in prompt.passages]
    tokens: dict[int, int] = {}
    for number, passage in enumerate(prompt.passages):
        longer_lived = [index for index in range(number + 1, len(ranks)) if ranks[index] < ranks[number]]
        if longer_lived:
            names = [prompt.passages[index].section for index in longer_lived]
            tokens.update((index, count(prompt.passages[index].text)) for index in longer_lived if index not in tokens)
            rows.append(
                MisplacedSection(passage.section, passage.lifetime, names, sum(tokens[index] for index in longer_lived))
            )
        if len(rows) == _MAX_MISPLACED:
            break
    return rows


_MAX_MISPLACED = 100  # real prompts have far fewer sections, but a saved prompt may be untrusted


def best_order(prompt: Prompt) -> list[str]:
    """Return the sections in the best order for the cache: longest-lived first, otherwise in their current order."""
    return [
        passage.section for passage in sorted(prompt.passages, key=lambda passage: LIFETIMES.index(passage.lifetime))
    ]


def order_settings(sections: Sequence[Section]) -> list[tuple[str, list[str]]]:
    """Return the layout keys to set, and their values, so that every list of sections starts with the longest-lived ones."""
    settings: list[tuple[str, list[str]]] = []
    pending: list[tuple[str, Sequence[Section]]] = [("sections", sections)]
    while pending:
        key, inner = pending.pop(0)
        by_lifetime = sorted(inner, key=_lifetime_rank)
        if by_lifetime != list(inner):
            settings.append((key, [section.name for section in by_lifetime]))
        # The order inside a wrapper does not matter, because the wrapper is a single passage.
        pending += [
            (f"section.{section.name}.sections", section.sections)
            for section in inner
            if section.sections and not section.wrap
        ]
    return settings


def _lifetime_rank(section: Section) -> int:
    """Return the rank of a section's lifetime. A section that only groups others has the rank of the longest-lived of them."""
    if section.sections and not section.wrap:
        return min(map(_lifetime_rank, section.sections))
    return LIFETIMES.index(section.lifetime)


# Cost


def request_cost(tokens: int, cached: int, price: Price, is_read: bool) -> float:
    """Return the cost of a request in dollars. `cached` of its tokens are read from the cache (if `is_read`) or written to it."""
    return (cached * (price.read if is_read else price.write) + (tokens - cached) * price.input) / MILLION


# Findings


def order_findings(misplaced_sections: Sequence[MisplacedSection]) -> list[Finding]:
    """Return one finding for each group of misplaced sections that come before the same sections."""
    groups: dict[tuple[str, tuple[str, ...]], list[MisplacedSection]] = {}
    for section in misplaced_sections:
        groups.setdefault((section.lifetime, tuple(section.before)), []).append(section)
    findings: list[Finding] = []
    for (lifetime, before), group in groups.items():
        names = [f"'{section.section}'" for section in group]
        is_single = len(group) == 1
        subject = f"section {names[0]} lasts" if is_single else f"sections {_join_names(names)} last"
        come, it, them = ("comes", "it changes", "it") if is_single else ("come", "one of them changes", "them")
        later, last = _join_names([f"'{name}'" for name in before]), "lasts" if len(before) == 1 else "last"
        message = (
            f"{subject} for a {lifetime} and {come} before {later}, which {last} longer: each time {it}, {group[0].tokens:,} tokens "
            f"after {them} are written to the cache again"
        )
        findings.append(finding("cache-order", message))
    return findings


def instability_findings(
    rebuilds: Sequence[tuple[str, Sequence[SectionDiff]]], tokens_after: Sequence[int]
) -> list[Finding]:
    """Return one finding for each section that differs between builds. `tokens_after` counts the tokens after each build's first difference."""
    variations: dict[str, list[str]] = {}
    causes: dict[str, list[str]] = {}
    tokens_lost: dict[str, int] = {}
    for (variation, sections), tokens in zip(rebuilds, tokens_after, strict=True):
        for diff in sections:
            variations.setdefault(diff.section, []).append(variation)
            for cause in diff.causes:
                if describe_cause(cause) not in causes.setdefault(diff.section, []):
                    causes[diff.section].append(describe_cause(cause))
            tokens_lost[diff.section] = max(tokens_lost.get(diff.section, 0), tokens)
    return [
        finding(
            "cache-unstable",
            f"section '{section}' differs when the prompt is built {_join_names(names)} ({_join_names(causes.get(section, []))}): that ends "
            f"the cached prefix, and {tokens_lost[section]:,} tokens of the prompt and all messages are written to the cache again",
        )
        for section, names in variations.items()
    ]


def _join_names(names: Sequence[str]) -> str:
    items = [*names] if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more"]
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


# How much of the cache survives a change


def count_kept(
    old: Sequence[Segment],
    new: Sequence[Segment],
    rules: ProviderRules,
    price: Price | None,
    count: TokenCounter,
    own: OwnPart | None = None,
) -> tuple[int, int, int]:
    """Count the new request's tokens: all, those before the first difference, and those reused from the cache.

    `own` is what a mirrored program sends before everything else.
    """
    before, after = ("".join(segment.text for segment in segments) for segments in (old, new))
    start = common_prefix_length(before, after)
    end = start if rules.caching == "prefix" else _last_breakpoint(old, new, start)
    reused = count(after[:end]) + (own.total if own else 0)
    shared = reused if end == start else reused + count(after[end:start])
    total = shared + count(after[start:])
    minimum = price.minimum if price and price.minimum is not None else 0
    return total, shared, reused - reused % rules.step if reused >= minimum else 0


def _last_breakpoint(old: Sequence[Segment], new: Sequence[Segment], start: int) -> int:
    """Return the old request's last breakpoint before the first difference, at which a segment of the new request also ends."""
    ends: set[int] = set()
    position = 0
    for segment in new:
        position += len(segment.text)
        ends.add(position)
    position = last = 0
    for segment in old:
        position += len(segment.text)
        if segment.has_breakpoint and position <= start and position in ends:
            last = position
    return last
