"""What a provider's prompt cache makes of a prompt: where it can be cut, what a change count_kept, and what that costs.

A request is looked at as the provider reads it: segments of bytes in its own order. What was sent before is kept as far as the bytes
are the same; where a provider caches at breakpoints, up to the last of those, and everywhere only from a minimum on.
"""

from __future__ import annotations

import json

from ..findings import finding
from ..text.words import common_start
from ..vocabulary import LIFETIMES, value
from .diff import Cause, cause_of, describe_cause
from .prices import MILLION
from .subject import OriginIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from ..layout.model import Section
    from ..vocabulary import Finding, Passage, Prompt
    from .diff import SectionDiff
    from .prices import Price, ProviderRules
    from .subject import Subject

    Counting = Callable[[str], int]


# A request as it is read


@value
class Segment:
    """A run of a request: which argument it belongs to, the name of a tool or the number of a message, and whether a breakpoint follows."""

    of: str
    text: str
    name: str = ""
    has_breakpoint: bool = False


def segments_of(request: Mapping[str, Any], order: Sequence[str]) -> list[Segment]:
    """A provider's request as segments, in the order in which the provider reads it."""
    settings = request.get("config", request)
    tools = settings.get("tools", ())
    if tools and "function_declarations" in tools[0]:
        tools = tools[0]["function_declarations"]
    system = next((settings[key] for key in ("system", "instructions", "system_instruction") if key in settings), ())
    messages = next((request[key] for key in ("messages", "input", "contents") if key in request), ())
    found = {
        "tools": [_segment("tools", tool, _name(tool)) for tool in tools],
        "system": [_segment("system", each, "") for each in ((system,) if isinstance(system, str) else system)],
        "messages": [_segment("messages", each, str(number)) for number, each in enumerate(messages, 1)],
    }
    return [segment for part in order for segment in found[part]]


def _name(tool: Mapping[str, Any]) -> str:
    return str(tool.get("name") or tool.get("function", {}).get("name", ""))


def _segment(of: str, content: Any, name: str) -> Segment:
    """The bytes that count: the text of the prompt as it is, everything else as JSON without its breakpoint."""
    if isinstance(content, str):
        return Segment(of, content, name)
    has_breakpoint = "cache_control" in content
    kept = {key: each for key, each in content.items() if key != "cache_control"}
    text = kept["text"] if of == "system" else json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    return Segment(of, text, name, has_breakpoint)


def with_last_breakpoint(segments: Sequence[Segment]) -> list[Segment]:
    """The segments with the caller's own breakpoint, behind the last message."""
    if not segments or segments[-1].of != "messages":
        return list(segments)
    last = segments[-1]
    return [*segments[:-1], Segment(last.of, last.text, last.name, True)]


# Where it can be cut


@value
class Breakpoint:
    """Where what stands before can be kept: behind which section or tool, how long that lives, and its tokens.

    `is_cacheable` is None where the model's minimum is not known.
    """

    of: str
    after: str
    lifetime: str
    tokens: int
    is_cacheable: bool | None


def breakpoints(
    segments: Sequence[Segment], prompt: Prompt, rules: ProviderRules, price: Price | None, count: Counting
) -> list[Breakpoint]:
    """Where a provider can keep the beginning: at the request's breakpoints, or by itself where a lifetime ends."""
    cuts = _marked(segments, prompt) if rules.caching == "breakpoints" else _ends(segments, prompt)
    found: list[Breakpoint] = []
    at = tokens = 0
    whole = "".join(segment.text for segment in segments)
    for end, of, after, lifetime in cuts:
        tokens += count(whole[at:end])
        at = end
        found.append(Breakpoint(of, after, lifetime, tokens, is_cacheable(tokens, price)))
    return found


def is_cacheable(tokens: int, price: Price | None) -> bool | None:
    """Whether so many tokens are enough to be cached; None if nobody knows."""
    return None if price is None or price.minimum is None else tokens >= price.minimum


def _marked(segments: Sequence[Segment], prompt: Prompt) -> Iterator[tuple[int, str, str, str]]:
    at = in_system = 0
    for segment in segments:
        at += len(segment.text)
        in_system += len(segment.text) if segment.of == "system" else 0
        if segment.has_breakpoint:
            last = _last_before(prompt, in_system)
            if segment.of == "tools":
                yield at, "tools", segment.name, "release"
            elif segment.of == "system":
                yield at, "system", last.section if last else "", _shortest(prompt, in_system)


def _ends(segments: Sequence[Segment], prompt: Prompt) -> Iterator[tuple[int, str, str, str]]:
    """Where a lifetime ends in the prompt, and where the tools end, if they are read after it."""
    at = 0
    for number, segment in enumerate(segments):
        if segment.of == "system":
            yield from ((at + end, "system", section, lifetime) for end, section, lifetime in _lifetime_ends(prompt))
        at += len(segment.text)
        is_last = number + 1 == len(segments) or segments[number + 1].of != "tools"
        lifetime = _shortest(prompt, len(prompt.text))
        if (
            segment.of == "tools"
            and is_last
            and lifetime != "turn"
            and any(each.of == "system" for each in segments[:number])
        ):
            yield at, "tools", segment.name, lifetime


def _lifetime_ends(prompt: Prompt) -> Iterator[tuple[int, str, str]]:
    """Where each lifetime but the turn's ends: text is only as lasting as what stands before it."""
    ranks: list[int] = []
    for passage in prompt.passages:
        ranks.append(max(LIFETIMES.index(passage.lifetime), ranks[-1] if ranks else 0))
    for number, passage in enumerate(prompt.passages):
        is_end = number + 1 == len(ranks) or ranks[number + 1] > ranks[number]
        if is_end and LIFETIMES[ranks[number]] != "turn":
            yield passage.end, passage.section, LIFETIMES[ranks[number]]
    if not ranks and prompt.text:
        yield len(prompt.text), "", "conversation"


def _last_before(prompt: Prompt, end: int) -> Passage | None:
    return next((each for each in reversed(prompt.passages) if each.start < end), None)


def _shortest(prompt: Prompt, end: int) -> str:
    """How long the beginning of a prompt lives: as long as the passage in it that lives shortest."""
    ranks = [LIFETIMES.index(each.lifetime) for each in prompt.passages if each.start < end]
    return LIFETIMES[max(ranks)] if ranks else "conversation"


# What stands in the wrong order


@value
class Misplaced:
    """A section that lives shorter than sections behind it: whenever it changes, they are written again."""

    section: str
    lifetime: str
    before: Sequence[str]
    tokens: int


def misplaced(prompt: Prompt, count: Counting) -> list[Misplaced]:
    """The sections that stand before longer-lived ones, with those and what they cost."""
    found: list[Misplaced] = []
    ranks = [LIFETIMES.index(each.lifetime) for each in prompt.passages]
    tokens: dict[int, int] = {}
    for number, passage in enumerate(prompt.passages):
        outlived = [later for later in range(number + 1, len(ranks)) if ranks[later] < ranks[number]]
        if outlived:
            names = [prompt.passages[later].section for later in outlived]
            tokens.update((later, count(prompt.passages[later].text)) for later in outlived if later not in tokens)
            found.append(Misplaced(passage.section, passage.lifetime, names, sum(tokens[later] for later in outlived)))
        if len(found) == _MOST:
            break
    return found


_MOST = 100  # a prompt of a person's has far fewer sections; a saved form may come from anyone


def best_order(prompt: Prompt) -> list[str]:
    """The sections in the order that would keep most: the longest-lived first, otherwise as they snapshot."""
    return [each.section for each in sorted(prompt.passages, key=lambda each: LIFETIMES.index(each.lifetime))]


def order_settings(sections: Sequence[Section]) -> list[tuple[str, list[str]]]:
    """The keys of a layout to set, and to what, so that in every list of sections the longest-lived stand first."""
    found: list[tuple[str, list[str]]] = []
    waiting: list[tuple[str, Sequence[Section]]] = [("sections", sections)]
    while waiting:
        key, inner = waiting.pop(0)
        mended = sorted(inner, key=_rank)
        if mended != list(inner):
            found.append((key, [each.name for each in mended]))
        # Inside a wrapper order does not count: the section is one passage.
        waiting += [
            (f"section.{each.name}.sections", each.sections) for each in inner if each.sections and not each.wrap
        ]
    return found


def _rank(section: Section) -> int:
    """How long a section lives; one that only orders others, as long as its longest-lived."""
    if section.sections and not section.wrap:
        return min(map(_rank, section.sections))
    return LIFETIMES.index(section.lifetime)


# What a request costs


def request_cost(tokens: int, kept: int, price: Price, is_read: bool) -> float:
    """What a request of so many tokens costs, of which so many are read from the cache, or written to it."""
    return (kept * (price.read if is_read else price.write) + (tokens - kept) * price.input) / MILLION


# What a person should know


def order_findings(found: Sequence[Misplaced]) -> list[Finding]:
    """A finding for each section that stands too early, or for several that stand before the same ones."""
    together: dict[tuple[str, tuple[str, ...]], list[Misplaced]] = {}
    for each in found:
        together.setdefault((each.lifetime, tuple(each.before)), []).append(each)
    findings: list[Finding] = []
    for (lifetime, before), group in together.items():
        names = [f"'{each.section}'" for each in group]
        who = f"section {names[0]} lives" if len(group) == 1 else f"sections {_listed(names)} live"
        stands, it = ("stands", "it changes") if len(group) == 1 else ("stand", "one of them changes")
        behind, lives = _listed([f"'{name}'" for name in before]), "lives" if len(before) == 1 else "live"
        findings.append(
            finding(
                "cache-order",
                f"{who} for a {lifetime} and {stands} before {behind}, which {lives} longer: whenever {it}, {group[0].tokens:,} "
                "tokens behind are written again",
            )
        )
    return findings


def instability_findings(
    rebuilt: Sequence[tuple[str, Sequence[SectionDiff]]], tokens_behind: Sequence[int]
) -> list[Finding]:
    """One finding for each section that reads otherwise, with all the builds in which it does; tokens are those from there on."""
    ways: dict[str, list[str]] = {}
    causes: dict[str, list[str]] = {}
    most: dict[str, int] = {}
    for (how, sections), tokens in zip(rebuilt, tokens_behind, strict=True):
        for each in sections:
            ways.setdefault(each.section, []).append(how)
            for cause in each.causes:
                if describe_cause(cause) not in causes.setdefault(each.section, []):
                    causes[each.section].append(describe_cause(cause))
            most[each.section] = max(most.get(each.section, 0), tokens)
    return [
        finding(
            "cache-moved",
            f"built {_listed(hows)}, section '{section}' reads otherwise ({_listed(causes.get(section, []))}): that breaks the "
            f"prefix, and {most[section]:,} tokens of the prompt and all messages behind it are written again",
        )
        for section, hows in ways.items()
    ]


def _listed(names: Sequence[str]) -> str:
    shown = [*names] if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


# What a change keeps


@value
class FirstDifference:
    """Where two requests begin to differ: in which argument, which section, tool or message, and who wrote it."""

    of: str
    name: str
    offset: int
    causes: Sequence[Cause] = ()


@value
class CacheReuse:
    """What of a request a provider still has from the one before, and what the rest costs.

    `total` are all its tokens, `most` those that would be kept had nothing changed, `shared` those up to the first difference, `tokens`
    those that are kept. `rewrite` is what it costs more to write what is lost than to read it; None without a price.
    """

    provider: str
    total: int
    most: int
    shared: int
    tokens: int
    rewrite: float | None
    first: FirstDifference | None

    @property
    def lost(self) -> int:
        return self.most - self.tokens


def count_kept(
    old: Sequence[Segment], new: Sequence[Segment], rules: ProviderRules, price: Price | None, count: Counting
) -> tuple[int, int, int]:
    """The tokens of the new request, those up to the first difference, and those that the provider has kept."""
    before, after = ("".join(segment.text for segment in each) for each in (old, new))
    start = common_start(before, after)
    end = start if rules.caching == "prefix" else _last_breakpoint(old, new, start)
    kept = count(after[:end])
    shared = kept if end == start else kept + count(after[end:start])
    total = shared + count(after[start:])
    minimum = price.minimum if price and price.minimum is not None else 0
    return total, shared, kept - kept % rules.step if kept >= minimum else 0


def _last_breakpoint(old: Sequence[Segment], new: Sequence[Segment], start: int) -> int:
    """The last breakpoint of the old request before the first difference at which a segment of the new one ends, too."""
    ends: set[int] = set()
    at = 0
    for segment in new:
        at += len(segment.text)
        ends.add(at)
    at = kept = 0
    for segment in old:
        at += len(segment.text)
        if segment.has_breakpoint and at <= start and at in ends:
            kept = at
    return kept


def cache_reuse(
    old: tuple[Subject, Sequence[Segment]],
    new: tuple[Subject, Sequence[Segment]],
    rules: ProviderRules,
    price: Price | None,
    count: Counting,
) -> CacheReuse:
    """What a provider keeps of the old request when it is sent the new one."""
    total, shared, tokens = count_kept(old[1], new[1], rules, price, count)
    _, _, most = count_kept(new[1], new[1], rules, price, count)
    rewrite = max(most - tokens, 0) * (price.write - price.read) / MILLION if price else None
    return CacheReuse(rules.name, total, max(most, tokens), shared, tokens, rewrite, _first(old, new))


def _first(old: tuple[Subject, Sequence[Segment]], new: tuple[Subject, Sequence[Segment]]) -> FirstDifference | None:
    """The first difference; None if one request only goes on where the other ends, or they are the same."""
    before, after = ("".join(segment.text for segment in each[1]) for each in (old, new))
    start = common_start(before, after)
    if start in (len(before), len(after)) and all(_of(each[1], start) in ("messages", "") for each in (old, new)):
        return None
    subject, segments = new if start < len(after) else old
    at = in_system = 0
    for segment in segments:
        if start < at + len(segment.text):
            if segment.of != "system":
                cause = Cause("tool" if segment.of == "tools" else "message", segment.name)
                return FirstDifference(segment.of, segment.name, start - at, [cause])
            return _in_prompt(subject, in_system + start - at)
        at += len(segment.text)
        in_system += len(segment.text) if segment.of == "system" else 0
    return None


def _of(segments: Sequence[Segment], at: int) -> str:
    """Which argument the segment at this place belongs to; empty behind the end."""
    for segment in segments:
        if at < len(segment.text):
            return segment.of
        at -= len(segment.text)
    return ""


def _in_prompt(subject: Subject, offset: int) -> FirstDifference:
    places = OriginIndex(subject.prompt).of(offset, offset + 1)
    if not places:
        return FirstDifference("system", "", offset)
    causes = [cause_of(each) for each in places if each.origin.kind]
    return FirstDifference("system", places[0].section, offset, causes)
