"""Simulate providers' caches: what each request reads, writes and costs, calculated from its bytes by the documented rules.

With breakpoints (Anthropic), an entry is written at each breakpoint and lasts for its `ttl`. A request reads the longest entry that
ends at one of its breakpoints or at most 19 blocks before one. With prefixes (OpenAI, Gemini), a request reads the longest prefix that
it shares with an earlier one, rounded down to a whole number of steps. In both cases there is a minimum size, reading an entry renews
it, every model has its own cache, and tokens that are neither read nor written cost the input price.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from foreword.inspection.prices import MILLION, Price, ProviderRules
from foreword.text.words import common_prefix_length

LOOKBACK = 20  # positions that a breakpoint checks, including its own
TTLS = {"5m": 300, "1h": 3600, "30m": 1800, "12h": 12 * 3600}
BREAKPOINT_KEYS = ("cache_control", "prompt_cache_breakpoint")


class Block(NamedTuple):
    """One block of a request as the provider compares it, and the lifetime of the breakpoint after it in seconds (0 without a breakpoint)."""

    text: str
    lifetime: int = 0
    is_system: bool = False


class Charge(NamedTuple):
    """One request's token counts, and its cost in dollars."""

    tokens: int
    read: int
    written: int
    dollars: float


class Model(NamedTuple):
    """A model: its provider's rules, its price, and a function that counts tokens."""

    rules: ProviderRules
    price: Price
    count: Callable[[str], int]


def blocks_of(request: Mapping[str, Any], rules: ProviderRules) -> list[Block]:
    """Return the blocks of a request in the order in which the provider reads them, with the automatic breakpoint."""
    settings = request.get("config", request)
    tools: Sequence[Any] = settings.get("tools", ())
    if tools and "function_declarations" in tools[0]:
        tools = tools[0]["function_declarations"]
    system = next((settings[key] for key in ("system", "instructions", "system_instruction") if key in settings), ())
    messages = next(request[key] for key in ("messages", "input", "contents") if key in request)
    if not system and messages and messages[0].get("role") in ("developer", "system"):
        system, messages = messages[0]["content"], messages[1:]
    parts = {
        "tools": [_block(tool, rules) for tool in tools],
        "system": [_block(block, rules)._replace(is_system=True) for block in _as_blocks(system)],
        "messages": list(_message_blocks(messages, rules)),
    }
    blocks = [block for part in rules.order for block in parts[part]]
    if request.get("cache_control"):
        blocks[-1] = blocks[-1]._replace(lifetime=_lifetime(request["cache_control"], rules))
    return blocks


def _message_blocks(messages: Sequence[Any], rules: ProviderRules) -> Iterator[Block]:
    for message in messages:
        content = message.get("content", message.get("parts"))
        if content is None:
            yield _block(message, rules)
        for index, block in enumerate(_as_blocks(content or ())):
            yield _block(block, rules, "" if index else f"\n{message.get('role')}: ")


def _as_blocks(content: Any) -> Sequence[Any]:
    return ({"type": "text", "text": content},) if isinstance(content, str) else content


def _block(content: Mapping[str, Any], rules: ProviderRules, start: str = "") -> Block:
    control = next((content[key] for key in BREAKPOINT_KEYS if key in content), None)
    fields = {key: field for key, field in content.items() if key not in BREAKPOINT_KEYS}
    is_text = set(fields) <= {"type", "text"}
    text = fields["text"] if is_text else json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return Block(start + text, _lifetime(control, rules) if control else 0)


def _lifetime(control: Mapping[str, Any], rules: ProviderRules) -> int:
    return TTLS[control["ttl"]] if control.get("ttl") else rules.lifetime


class ProviderCache:
    """One account's cache at one provider."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], tuple[int, int]] = {}  # when the entry expires, and its lifetime
        self._requests: list[tuple[str, str, int]] = []

    def send(self, request: Mapping[str, Any], model: Model, now: int) -> Charge:
        """Send a request at the time `now`, in seconds, and return what it costs."""
        blocks = blocks_of(request, model.rules)
        send = self._with_breakpoints if model.rules.caching == "breakpoints" else self._with_prefix
        return send(blocks, model, now)

    def _with_breakpoints(self, blocks: Sequence[Block], model: Model, now: int) -> Charge:
        name, minimum = model.price.name, model.price.minimum or 0
        counts = _token_counts(blocks, model.count)
        ends = [sum(counts[: index + 1]) for index in range(len(blocks))]
        keys = [(name, prefix) for prefix in _prefixes(blocks)]
        marked = [index for index, block in enumerate(blocks) if block.lifetime and ends[index] >= minimum]
        checked = {position for number in marked for position in range(max(number - LOOKBACK + 1, 0), number + 1)}
        hits = [position for position in checked if self._entries.get(keys[position], (0, 0))[0] > now]
        hit = max(hits, default=-1)
        for position in range(hit + 1):
            expires, lifetime = self._entries.get(keys[position], (0, 0))
            if expires > now:
                self._entries[keys[position]] = now + lifetime, lifetime
        read = written_to = ends[hit] if hits else 0
        written_long = 0
        for number in marked:
            if number > hit:
                lifetime = blocks[number].lifetime
                written_long += (ends[number] - written_to) * (lifetime > model.rules.lifetime)
                written_to = ends[number]
                self._entries[keys[number]] = now + lifetime, lifetime
        return _charge(ends[-1], read, written_to - read, model, written_long)

    def _with_prefix(self, blocks: Sequence[Block], model: Model, now: int) -> Charge:
        name, minimum = model.price.name, model.price.minimum or 0
        blocks = _with_one_system(blocks)
        text, total = "".join(block.text for block in blocks), sum(model.count(block.text) for block in blocks)
        lifetime = model.rules.lifetime or TTLS["5m"]
        shared = max(
            (
                common_prefix_length(text, earlier_text)
                for earlier_name, earlier_text, time in self._requests
                if earlier_name == name and now - time < lifetime
            ),
            default=0,
        )
        tokens = _tokens_up_to(blocks, shared, model.count)
        read = tokens // model.rules.step * model.rules.step if tokens >= minimum else 0
        self._requests.append((name, text, now))
        return _charge(total, read, total - read if total >= minimum else 0, model)


def _charge(total: int, read: int, written: int, model: Model, written_long: int = 0) -> Charge:
    """Return the charge for a request. `written_long` of the `written` tokens are cached for longer than the default.

    Each kind of token is added up before it is multiplied by its price, so that equal numbers of tokens cost exactly the same.
    """
    price = model.price
    long_price = model.rules.long_write * price.input
    written_cost = (written - written_long) * price.write + written_long * long_price
    dollars = read * price.read + written_cost + (total - read - written) * price.input
    return Charge(total, read, written, dollars / MILLION)


def _token_counts(blocks: Sequence[Block], count: Callable[[str], int]) -> list[int]:
    """Return the tokens of each block. The system prompt is counted as a whole, no matter how it is divided."""
    counts: list[int] = []
    system, tokens = "", 0
    for block in blocks:
        if block.is_system:
            system, before = system + block.text, tokens
            tokens = count(system)
            counts.append(tokens - before)
        else:
            counts.append(count(block.text))
    return counts


def _with_one_system(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with those of the system prompt merged into one."""
    merged: list[Block] = []
    for block in blocks:
        if block.is_system and merged and merged[-1].is_system:
            merged[-1] = block._replace(text=merged[-1].text + block.text)
        else:
            merged.append(block)
    return merged


def _prefixes(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the hash of each prefix that ends after a block."""
    running = sha256()
    for block in blocks:
        running.update(f"{len(block.text)}{block.text}".encode())
        yield running.hexdigest()


def _tokens_up_to(blocks: Sequence[Block], length: int, count: Callable[[str], int]) -> int:
    tokens = 0
    for block in blocks:
        if length < len(block.text):
            return tokens + count(block.text[:length])
        tokens += count(block.text)
        length -= len(block.text)
    return tokens
