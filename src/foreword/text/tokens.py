"""Counts or estimates the tokens in a string, and returns the error of the result.

`estimate` is for budgets: a fixed formula, so that the same workspace always gives the same prompt, whatever is installed. `count`
is for reports: it is exact if the model's tokenizer is available and otherwise scaled or estimated, and it returns the method used.
"""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable
    from typing import Any


@value
class Count:
    """A number of tokens, how it was counted, and its error.

    `error` is relative: 95 of 100 texts are within it. It is 0.0 if the count is exact.
    """

    count: int
    method: str
    exact: bool
    error: float


# The estimate


# Costs are in hundredths of a token. They were fitted to o200k on six thousand samples of instructions, documentation, code and
# other languages, then adjusted for paths, tables, data and runs of one letter. `tests/test_tokens.py` checks the error for each
# kind of text, and `bench/calibrate_tokens.py` measures it on any folder.
#
# Two properties, which are tested, keep budgets simple. Appending never lowers the cost, so a string never costs less than one of its
# prefixes. The boundary between two characters adds at most 100, so joined texts cost at most one token more than separate ones.

ESTIMATE_ERROR = 0.2

BYTE_COST = 2
WORD_COST, NUMBER_COST, SYMBOLS_COST = 85, 100, 100  # a run of letters, of digits, of other signs and line breaks
DIGIT_COST = 31
RARE_LETTER_COST = 37  # words with these letters are rarer, and split into more tokens
# Line beginnings, and capitals within a word: `a` is a lower-case letter, `A` an upper-case letter, `.` any other symbol.
COMPOUND_COST = -70
PATTERNS = ((b"\n", 4), (b"\n ", 75), (b"\n.", 88), (b"aA", 84), (b"AA", 34))
# Blanks that align columns within a line: the first two after a lower-case letter, an upper-case letter, a digit or another symbol.
COLUMNS, COLUMN_COST = (b"a  ", b"A  ", b"w  ", b".  "), 60

LOWER_CASE, UPPER_CASE, DIGITS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
RARE_LETTERS = b"jkqvwxzJKQVWXZ"
# In UTF-8, a character's first byte indicates the script, and continuation bytes have their own range.
ACCENTED = bytes(range(0xC3, 0xC8))
VIETNAMESE = b"\xe1"
NON_ASCII_LEADS = bytes(range(0xC2, 0x100))
CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
ASCII_AND_CONTINUATION = bytes(range(0xC0))
NON_LETTERS = bytes(byte for byte in range(256) if byte not in LOWER_CASE + UPPER_CASE)
THREE_ZEROS = bytes(3)
# The cost of each letter after three equal letters; the default is 50. Vocabularies contain long runs of only some letters.
REPEATED_COSTS = {
    bytes((letter,)): cost
    for letters, cost in ((b"afloxAF", 12), (b"bcdehikmrsvyBCEILMOY", 25), (b"X", 6))
    for letter in letters
}
SCRIPTS = (
    (b"\xc3\xc7", 78),  # Western Europe
    (b"\xc4\xc5", 170),  # Polish, Czech, Turkish and others
    (bytes(range(0xD0, 0xD5)), 21),  # Cyrillic
    (bytes(range(0xD5, 0xE0)), 38),  # Hebrew, Arabic
    (bytes(range(0xC8, 0xD0)) + b"\xe0", 33),  # Greek, Indic, Thai and others
    (b"\xc6", 20),  # Vietnamese; its other letters cost no more than their bytes
    (bytes(range(0xE3, 0xEE)), 62),  # Chinese, Japanese, Korean
    (b"\xc2\xe2\xef", 102),  # arrows, dashes, wide punctuation
    (b"\xee" + bytes(range(0xF0, 0xF5)), 213),  # emoji
)
# Box-drawing characters begin with the same bytes as arrows and dashes, but a horizontal rule costs next to nothing, and the branch
# of a tree includes its blanks.
BOX_DRAWING = (("─━═█░", -102), ("│├└", 118))


def _byte_table(default: str, members: dict[str, bytes]) -> bytes:
    """Return a table for `bytes.translate` that maps each byte to the character of its kind."""
    table = bytearray(default.encode() * 256)
    for kind, kind_bytes in members.items():
        for byte in kind_bytes:
            table[byte] = ord(kind)
    return bytes(table)


WORD_TABLE = _byte_table(" ", {"x": LOWER_CASE + UPPER_CASE + ACCENTED + VIETNAMESE})
NUMBER_TABLE = _byte_table(" ", {"x": DIGITS})
# `_` and `.` belong to the next word's token, as a space does, so they count as spaces.
SIGN_TABLE = _byte_table("x", {" ": LOWER_CASE + UPPER_CASE + DIGITS + b" \t_." + CONTINUATION_BYTES + NON_ASCII_LEADS})
# A slash or hyphen inside a path or a compound word belongs to the next word's token.
COMPOUND_TABLE = _byte_table(".", {"a": LOWER_CASE + UPPER_CASE + DIGITS, "-": b"/-"})
LINE_TABLE = _byte_table(
    ".", {"a": LOWER_CASE + ACCENTED, "A": UPPER_CASE, "w": DIGITS + NON_ASCII_LEADS + b"\r", " ": b" \t", "\n": b"\n"}
)


def estimate(text: str) -> int:
    """Estimate the number of tokens in a string. Only an empty string has none. Budgets use this because it is the same on every machine.

    The error is at most 20% for prose in 16 languages, code, paths, JSON, tables, base64, hexadecimal digits, emoji and runs of one
    letter, and 5% on average for instructions and code. It is larger for text without words: random letters have four times as many
    tokens as estimated, a list of words in capitals two thirds, and a run of one emoji half.
    """
    return -(-_cost_of(text) // 100)


def estimate_joined(texts: Iterable[str], costs: dict[str, int]) -> int:
    """Return what `estimate` returns for the joined texts. `costs` remembers the costs of lines, for other prompts with the same files.

    Whatever has a cost of its own ends with its line, so lines cost the same in any text in which they follow a line break.
    """
    total, rest = 0, []
    for text in texts:
        start, end = text.find("\n") + 1, text.rfind("\n", 0, -1) + 1
        if not 0 < start < end:
            rest.append(text)
            continue
        lines = text[start:end]
        if lines not in costs:
            costs[lines] = _cost_of("\n" + lines) - _cost_of("\n")
        total += costs[lines]
        rest += [text[:start], text[end:]]
    return -(-(total + _cost_of("".join(rest))) // 100)


def _cost_of(text: str) -> int:
    raw, repeat_cost = _shorten_repeats(text.encode("utf-8", "surrogatepass"))
    continuation = b"" if text.isascii() else CONTINUATION_BYTES
    numbers = raw.translate(NUMBER_TABLE)
    lines = raw.translate(LINE_TABLE, continuation)
    cost = (
        repeat_cost
        + BYTE_COST * len(raw)
        + WORD_COST * _count_runs(raw.translate(WORD_TABLE, continuation))
        + NUMBER_COST * _count_runs(numbers)
        + DIGIT_COST * numbers.count(b"x")
        + SYMBOLS_COST * _count_runs(raw.translate(SIGN_TABLE))
        + RARE_LETTER_COST * (len(raw) - len(raw.translate(None, RARE_LETTERS)))
        + sum(weight * lines.count(pattern) for pattern, weight in PATTERNS)
        + COLUMN_COST * sum(map(lines.count, COLUMNS))
        + COMPOUND_COST * raw.translate(COMPOUND_TABLE).count(b"a-a")
    )
    if continuation:
        cost += _script_cost(raw)
    return cost


def _shorten_repeats(raw: bytes) -> tuple[bytes, int]:
    """Return the text with each run of one letter shortened to three letters, and the cost of the letters that were removed."""
    letters = raw.translate(None, NON_LETTERS)
    number = int.from_bytes(letters, "big")
    # A quick check: a letter equal to the one before it becomes a zero byte. Hardly any text has four equal letters in a row.
    if THREE_ZEROS not in (number ^ (number >> 8)).to_bytes(len(letters), "big"):
        return raw, 0
    from re import sub

    cost = 0

    def shorten(run: re.Match[bytes]) -> bytes:
        nonlocal cost
        cost += (len(run[0]) - 3) * REPEATED_COSTS.get(run[1], 50)
        return run[1] * 3

    return sub(rb"([A-Za-z])\1{3,}", shorten, raw), cost


def _count_runs(kinds: bytes) -> int:
    return (b" " + kinds).count(b" x")


def _script_cost(raw: bytes) -> int:
    """Return the cost of non-ASCII characters, by script."""
    lead_bytes = raw.translate(None, ASCII_AND_CONTINUATION)
    cost = sum(weight * (len(lead_bytes) - len(lead_bytes.translate(None, leads))) for leads, weight in SCRIPTS)
    return cost + sum(weight * raw.count(stroke.encode()) for strokes, weight in BOX_DRAWING for stroke in strokes)


# The count


# Claude's vocabulary is not public. An o200k count times one of these factors has a mean error of 4 to 5%, and 12% at the 95th
# percentile.
CLAUDE_SCALES = (((4, 7), 1.647), ((3, 0), 1.185))
CLAUDE_ERROR = 0.12
# Without a version, the newest Claude is assumed; for an old one, the count is too high by this fraction.
CLAUDE_UNVERSIONED_ERROR = 0.56
# The largest difference between o200k and eight current vocabularies, at the 95th percentile of the samples above.
UNKNOWN_MODEL_ERROR = 0.25

# The vocabulary of each model. In each family whose key occurs in "provider/model", the first matching row is used. An error above 0
# means that the vocabulary is only similar. The rows for OpenAI come from tiktoken's model.py, those for Gemini from google-genai's
# local tokenizer (not verified, so only similar), and the others from splintr's list.
MODELS = {
    "distill-": ((r"distill-llama", "llama3", 0.0), (r"distill-qwen", "qwen3", 0.0)),
    "gpt": (
        (r"gpt-oss|gpt-?4o|gpt-4\.[15]|gpt-?5", "o200k", 0.0),
        (r"gpt-?4(?![.\d])|gpt-3\.?5", "cl100k", 0.0),
    ),
    "o": ((r"[/:.]o[134](?![a-z\d])|openai/$", "o200k", 0.0),),
    "gemini": ((r"gemini-1", "gemma2", UNKNOWN_MODEL_ERROR), (r"gemini", "gemma3", UNKNOWN_MODEL_ERROR)),
    "google": ((r"google/$", "gemma3", UNKNOWN_MODEL_ERROR),),
    "gemma": (
        (r"gemma-?2(?!\d)", "gemma2", 0.0),
        (r"gemma-?3(?!\d)", "gemma3", 0.0),
        (r"gemma-?4(?!\d)", "gemma4", 0.0),
    ),
    "llama": (
        (r"code-?llama", "codellama", 0.0),
        (r"llama-?2(?!\d)|tinyllama", "llama2", 0.0),
        (r"llama-?v?3(?!\d)", "llama3", 0.0),
    ),
    "deepseek": ((r"deepseek-(?:v3|r1)", "deepseek_v3", 0.0), (r"deepseek", "deepseek_v3", UNKNOWN_MODEL_ERROR)),
    "qwen": ((r"qwen-?(?:2|2\.5|3)(?![.\d])", "qwen3", 0.0), (r"qwen", "qwen3", UNKNOWN_MODEL_ERROR)),
    "glm": ((r"glm-?4(?:\.5)?(?![.\d])", "glm4", 0.0), (r"glm", "glm4", UNKNOWN_MODEL_ERROR)),
    "kimi": (
        (r"kimi-?k2", "kimi_k2", 0.0),
        (r"kimi-?k3", "kimi_k3", 0.0),
        (r"kimi", "kimi_k2", UNKNOWN_MODEL_ERROR),
    ),
    "phi": ((r"phi-?4(?!-m)", "phi4", 0.0),),
    "olmo": ((r"olmo-?2(?!\d)", "olmo2", 0.0),),
    "tral": (
        (r"mistral-nemo|pixtral-12b", "mistral_v3", 0.0),
        (r"mixtral-8x22b|mistral-7b-.*v0\.3|codestral-22b", "mistral_v2", 0.0),
        (r"mixtral-8x7b|mistral-7b-.*v0\.[12]", "mistral_v1", 0.0),
        (r"(?:mis|minis|magis|devs|codes|pix)tral", "mistral_v3", UNKNOWN_MODEL_ERROR),
    ),
}

# A tokenizer that returns other counts is not used. The last text must be counted as text, not as control tokens.
GOLDEN_TEXTS = (
    "Read the file first; don't guess.\n\n- run `make test`\n",
    "    def f(x):\n\t\treturn [x_1, 1234567]  # 10 %\n",
    "naïve 你好，世界 🙂 Привет",
    "<|endoftext|><|im_start|>",
)
GOLDEN_COUNTS = {
    "o200k": (14, 22, 10, 12),
    "cl100k": (15, 22, 14, 12),
    "gemma2": (18, 30, 10, 12),
    "gemma3": (18, 30, 10, 12),
    "gemma4": (18, 30, 10, 12),
    "llama2": (19, 31, 16, 13),
    "codellama": (19, 31, 16, 13),
    "llama3": (15, 22, 11, 12),
    "deepseek_v3": (15, 22, 9, 12),
    "qwen3": (15, 27, 11, 12),
    "glm4": (15, 23, 10, 12),
    "kimi_k2": (14, 22, 10, 12),
    "kimi_k3": (14, 22, 10, 12),
    "phi4": (15, 22, 14, 12),
    "olmo2": (15, 22, 14, 12),
    "mistral_v1": (19, 31, 13, 13),
    "mistral_v2": (19, 31, 13, 13),
    "mistral_v3": (15, 27, 12, 12),
}
SPLINTR_NAMES = {"o200k": "o200k_base", "cl100k": "cl100k_base"}


@value
class CountingRule:
    """How to count a model's tokens: the vocabulary, a factor, and the error."""

    vocabulary: str = "o200k"
    scale: float = 1.0
    error: float = 0.0


def count(text: str, model: str = "", provider: str = "") -> Count:
    """Count the tokens in a string for a model, as exactly as possible. Without a model, o200k is used.

    The first call loads the tokenizer, which takes a third of a second, so this is for reports. If the `tokens` extra is not
    installed, the result is an estimate, and its `method` is "estimate".
    """
    rule = counting_rule(model, provider)
    count_tokens, method = _tokenizer(rule.vocabulary)
    number = count_tokens(text)
    error = rule.error if count_tokens is not estimate else _estimate_error(rule)
    if rule.scale != 1.0:
        number = round(number * rule.scale)
        method = f"{method} x{rule.scale}"
    return Count(number, method, error == 0.0, error)


def estimate_count(text: str, model: str = "", provider: str = "") -> Count:
    """Estimate the tokens in a string for a model, without loading a tokenizer."""
    return estimated_count(estimate(text), model, provider)


def estimated_count(number: int, model: str = "", provider: str = "") -> Count:
    """Return a number of tokens that `estimate` has returned as the count for a model."""
    rule = counting_rule(model, provider)
    return Count(round(number * rule.scale), "estimate", False, _estimate_error(rule))


def counting_rule(model: str, provider: str) -> CountingRule:
    """Return the rule for a model, whose name may be in any form that providers and gateways use."""
    name = f"{provider}/{model}".lower()
    if name == "/":
        return CountingRule()
    from re import search

    if search("claude|/(?:sonnet|opus|haiku)", name):
        return _rule_for_claude(name)
    # Only matching families are tried: compiling all patterns takes longer than reading the prompt's files.
    for pattern, vocabulary, error in (row for family, rows in MODELS.items() if family in name for row in rows):
        if search(pattern, name):
            return CountingRule(vocabulary, 1.0, error)
    if "anthropic" in name:
        return _rule_for_claude(name)
    return CountingRule(error=UNKNOWN_MODEL_ERROR)


def _rule_for_claude(name: str) -> CountingRule:
    """Return the rule for the version of a Claude model, which may come before or after the family. Dates, `v1:0` and `1m` are not versions."""
    from re import search

    version = search(r"(?<![\dv])(\d{1,2})(?:[.-](\d{1,2}))?(?![\da-z])", name.partition("claude")[2] or name)
    if not version:
        return CountingRule("o200k", CLAUDE_SCALES[0][1], CLAUDE_UNVERSIONED_ERROR)
    number = int(version[1]), int(version[2] or 0)
    for first_version, scale in CLAUDE_SCALES:
        if number >= first_version:
            return CountingRule("o200k", scale, CLAUDE_ERROR)
    return CountingRule("o200k", CLAUDE_SCALES[-1][1], UNKNOWN_MODEL_ERROR)


def _estimate_error(rule: CountingRule) -> float:
    """Return the error of an estimate. Estimates are calibrated for o200k; for another vocabulary, its difference from o200k is added."""
    vocabulary_error = rule.error if rule.vocabulary == "o200k" else UNKNOWN_MODEL_ERROR
    return round((1 + vocabulary_error) * (1 + ESTIMATE_ERROR) - 1, 2)


_tokenizers: dict[str, tuple[Callable[[str], int], str]] = {}


def _tokenizer(vocabulary: str) -> tuple[Callable[[str], int], str]:
    """Return the counting function for a vocabulary, and its name: `estimate` if the tokenizer is missing or fails its self-check."""
    if vocabulary not in _tokenizers:
        _tokenizers[vocabulary] = _load(vocabulary)
    return _tokenizers[vocabulary]


def exact_counter(model: str, provider: str) -> Callable[[str], int]:
    """Return a function that counts this model's tokens as exactly as possible."""
    return lambda text: count(text, model, provider).count


def estimator(model: str, provider: str) -> Callable[[str], int]:
    """Return a function that estimates this model's tokens without a tokenizer."""
    scale = counting_rule(model, provider).scale
    return lambda text: round(estimate(text) * scale)


def unload_other_tokenizers(model: str, provider: str) -> None:
    """Drop all tokenizers except the one for this model: each takes about 40 MB, and few reports need two at a time."""
    needed = counting_rule(model, provider).vocabulary
    for vocabulary in [loaded_name for loaded_name in _tokenizers if loaded_name != needed]:
        del _tokenizers[vocabulary]


def _load(vocabulary: str) -> tuple[Callable[[str], int], str]:
    from importlib import import_module

    try:
        splintr = import_module("splintr")
    except ImportError:
        return estimate, "estimate"
    try:
        count_tokens = _counting_function(splintr.Tokenizer.from_pretrained(SPLINTR_NAMES.get(vocabulary, vocabulary)))
        is_correct = tuple(map(count_tokens, GOLDEN_TEXTS)) == GOLDEN_COUNTS[vocabulary]
    except Exception:  # another version may fail in any way, and the report should still be written
        is_correct = False
    return (count_tokens, vocabulary) if is_correct else (estimate, f"estimate ({vocabulary} failed its self-check)")


def _counting_function(tokenizer: Any) -> Callable[[str], int]:
    """Return a function that counts with `encode_ordinary`, the only method that treats `<|endoftext|>` as text."""

    def count_tokens(text: str) -> int:
        try:
            return len(tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:  # a lone surrogate, which cannot be sent to a provider either
            return len(tokenizer.encode_ordinary(text.encode("utf-8", "replace").decode()))

    return count_tokens
