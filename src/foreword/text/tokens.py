"""Count or estimate the tokens in a string, and say how reliable the number is.

`estimate` is for budgets: one fixed formula, so that the same workspace gives the same bytes whatever is installed. `count` is
for reports: exact if the model's tokenizer is available, otherwise scaled or estimated, and it always says which.
"""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any


@value
class Count:
    """A number of tokens, how it was counted, and its error.

    `error` is relative, and holds for 95 of 100 texts. It is 0.0 if the count is exact.
    """

    count: int
    method: str
    exact: bool
    error: float


# The estimate


# In hundredths of a token, fitted to o200k on six thousand pieces of instructions, documentation, code and other languages, then
# adjusted on paths, tables, data and runs of one letter. `tests/test_tokens.py` checks the stated error for each kind of text, and
# `bench/calibrate_tokens.py` measures it on any folder.
#
# Two tested properties keep budgets simple. Appending never lowers the cost, so a string never costs less than its beginning. Two
# adjacent characters add at most 100 together, so joined texts cost at most one token more than separate ones.

ESTIMATE_ERROR = 0.2

BYTE = 2
WORD, NUMBER, SIGNS = 85, 100, 100  # a run of letters, of digits, of other signs and line breaks
DIGIT = 31
RARE_LETTER = 37  # words with these letters are rarer, and split into more tokens
# With `a` for small and `A` for capital letters, `.` for other signs: line beginnings, and capitals within a word.
COMPOUND = -70
PATTERNS = ((b"\n", 4), (b"\n ", 75), (b"\n.", 88), (b"aA", 84), (b"AA", 34))
# Blanks that align columns within a line: the first of them after a letter, a capital, a digit and another sign.
COLUMNS, COLUMN = (b"a  ", b"A  ", b"w  ", b".  "), 60

SMALL, CAPITAL, DIGITS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
RARE = b"jkqvwxzJKQVWXZ"
# In UTF-8, the first byte of a character indicates the script, and the following bytes have a separate range.
ACCENTED = bytes(range(0xC3, 0xC8))
VIETNAMESE = b"\xe1"
WIDE = bytes(range(0xC2, 0x100))
FOLLOWING = bytes(range(0x80, 0xC0))
NARROW = bytes(range(0xC0))
NO_LETTER = bytes(byte for byte in range(256) if byte not in SMALL + CAPITAL)
SAME = bytes(3)
# The cost of a letter after three equal ones, by default 50. Vocabularies have long runs of some letters only.
REPEATED = {
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
# Box-drawing characters begin like arrows and dashes, but a rule is a run that costs next to nothing, and a branch includes its blanks.
STROKES = (("─━═█░", -102), ("│├└", 118))


def _kinds(others: str, members: dict[str, bytes]) -> bytes:
    """A table for `bytes.translate` that turns each byte into the letter of its kind."""
    table = bytearray(others.encode() * 256)
    for kind, kind_bytes in members.items():
        for byte in kind_bytes:
            table[byte] = ord(kind)
    return bytes(table)


IN_WORDS = _kinds(" ", {"x": SMALL + CAPITAL + ACCENTED + VIETNAMESE})
IN_NUMBERS = _kinds(" ", {"x": DIGITS})
# `_` and `.` are part of the token of the next word, as a space is, so they count as spaces.
IN_SIGNS = _kinds("x", {" ": SMALL + CAPITAL + DIGITS + b" \t_." + FOLLOWING + WIDE})
# A slash or hyphen inside a path or a compound is part of the token of the next word.
IN_COMPOUNDS = _kinds(".", {"a": SMALL + CAPITAL + DIGITS, "-": b"/-"})
IN_LINES = _kinds(".", {"a": SMALL + ACCENTED, "A": CAPITAL, "w": DIGITS + WIDE + b"\r", " ": b" \t", "\n": b"\n"})


def estimate(text: str) -> int:
    """An estimate of the tokens in a string; 0 only if it is empty. Budgets use it, because it is the same on every machine.

    Within 20 % for prose in 16 languages, code, paths, JSON, tables, base64, hexadecimal digits, emoji and runs of one letter; on
    average 5 % off for instructions and code. Text without words is farther off: random letters have four times the tokens, a
    list of words in capitals two thirds of them, a run of one emoji half.
    """
    if not text:
        return 0
    raw, repeated = _without_repeats(text.encode("utf-8", "surrogatepass"))
    following = b"" if text.isascii() else FOLLOWING
    numbers = raw.translate(IN_NUMBERS)
    lines = raw.translate(IN_LINES, following)
    cost = (
        repeated
        + BYTE * len(raw)
        + WORD * _runs(raw.translate(IN_WORDS, following))
        + NUMBER * _runs(numbers)
        + DIGIT * numbers.count(b"x")
        + SIGNS * _runs(raw.translate(IN_SIGNS))
        + RARE_LETTER * (len(raw) - len(raw.translate(None, RARE)))
        + sum(weight * lines.count(pattern) for pattern, weight in PATTERNS)
        + COLUMN * sum(map(lines.count, COLUMNS))
        + COMPOUND * raw.translate(IN_COMPOUNDS).count(b"a-a")
    )
    if following:
        cost += _cost_of_scripts(raw)
    return -(-cost // 100)


def _without_repeats(raw: bytes) -> tuple[bytes, int]:
    """The text with each run of one letter shortened to three, and the cost of what was removed."""
    letters = raw.translate(None, NO_LETTER)
    number = int.from_bytes(letters, "big")
    # A quick check: a byte equal to the one before it is zero here. Hardly any text has four equal letters in a row.
    if SAME not in (number ^ (number >> 8)).to_bytes(len(letters), "big"):
        return raw, 0
    from re import sub

    cost = 0

    def shortened(run: re.Match[bytes]) -> bytes:
        nonlocal cost
        cost += (len(run[0]) - 3) * REPEATED.get(run[1], 50)
        return run[1] * 3

    return sub(rb"([A-Za-z])\1{3,}", shortened, raw), cost


def _runs(kinds: bytes) -> int:
    return (b" " + kinds).count(b" x")


def _cost_of_scripts(raw: bytes) -> int:
    """The cost of non-ASCII characters, by script."""
    wide = raw.translate(None, NARROW)
    cost = sum(weight * (len(wide) - len(wide.translate(None, leads))) for leads, weight in SCRIPTS)
    return cost + sum(weight * raw.count(stroke.encode()) for strokes, weight in STROKES for stroke in strokes)


# The count


# Claude's vocabulary is not public. o200k times these leaves a mean error of 4 to 5 %, 12 % at the 95th percentile.
CLAUDE_SCALES = (((4, 7), 1.647), ((3, 0), 1.185))
CLAUDE_ERROR = 0.12
# Without a version the newest Claude is assumed; for an old one, the count is too high by this.
CLAUDE_UNVERSIONED_ERROR = 0.56
# How far o200k is from the farthest of eight current vocabularies at the 95th percentile of the pieces above.
UNKNOWN_MODEL_ERROR = 0.25

# The vocabulary of each model. For each family whose key occurs in "provider/model", the first matching row counts; an error above 0
# means that the vocabulary is only similar. OpenAI as in tiktoken's model.py, Gemini as in the local tokenizer of
# google-genai (unchecked, so only similar), the others as in the list of splintr.
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

# A tokenizer that returns other counts is not trusted. The last text must be counted as text, not as control tokens.
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
NAMES_IN_SPLINTR = {"o200k": "o200k_base", "cl100k": "cl100k_base"}


@value
class CountingRule:
    """How to count a model's tokens: the vocabulary, a factor, and the error."""

    vocabulary: str = "o200k"
    scale: float = 1.0
    error: float = 0.0


def count(text: str, model: str = "", provider: str = "") -> Count:
    """The tokens in a string for a model, as exactly as possible; without a model, in o200k.

    The first call loads the tokenizer, which takes a third of a second, so this is for reports. Without the extra `tokens` the
    result is an estimate, and `method` says so.
    """
    rule = counting_rule(model, provider)
    tokens_in, method = _tokenizer(rule.vocabulary)
    number = tokens_in(text)
    error = rule.error if tokens_in is not estimate else _error_of_estimate(rule)
    if rule.scale != 1.0:
        number = round(number * rule.scale)
        method = f"{method} x{rule.scale}"
    return Count(number, method, error == 0.0, error)


def estimate_count(text: str, model: str = "", provider: str = "") -> Count:
    """The estimated tokens of a text for a model, without loading a tokenizer."""
    rule = counting_rule(model, provider)
    return Count(round(estimate(text) * rule.scale), "estimate", False, _error_of_estimate(rule))


def counting_rule(model: str, provider: str) -> CountingRule:
    """How to count for a model, whose name may have any form that providers and gateways use."""
    from re import search

    name = f"{provider}/{model}".lower()
    if name == "/":
        return CountingRule()
    if search("claude|/(?:sonnet|opus|haiku)", name):
        return _rule_for_claude(name)
    # Only the patterns of matching families: compiling all of them takes longer than reading the prompt's files.
    for pattern, vocabulary, error in (row for family, rows in MODELS.items() if family in name for row in rows):
        if search(pattern, name):
            return CountingRule(vocabulary, 1.0, error)
    if "anthropic" in name:
        return _rule_for_claude(name)
    return CountingRule(error=UNKNOWN_MODEL_ERROR)


def _rule_for_claude(name: str) -> CountingRule:
    """By version, before or after the family; dates (20250514), `v1:0` and `1m` are not versions."""
    from re import search

    version = search(r"(?<![\dv])(\d{1,2})(?:[.-](\d{1,2}))?(?![\da-z])", name.partition("claude")[2] or name)
    if not version:
        return CountingRule("o200k", CLAUDE_SCALES[0][1], CLAUDE_UNVERSIONED_ERROR)
    number = int(version[1]), int(version[2] or 0)
    for since, scale in CLAUDE_SCALES:
        if number >= since:
            return CountingRule("o200k", scale, CLAUDE_ERROR)
    return CountingRule("o200k", CLAUDE_SCALES[-1][1], UNKNOWN_MODEL_ERROR)


def _error_of_estimate(rule: CountingRule) -> float:
    """The estimate is for o200k: for another vocabulary, the error of o200k is added to its own."""
    near = rule.error if rule.vocabulary == "o200k" else UNKNOWN_MODEL_ERROR
    return round((1 + near) * (1 + ESTIMATE_ERROR) - 1, 2)


_loaded: dict[str, tuple[Callable[[str], int], str]] = {}


def _tokenizer(vocabulary: str) -> tuple[Callable[[str], int], str]:
    """The counting function for a vocabulary and its name: the estimate if the tokenizer is missing or fails its self-check."""
    if vocabulary not in _loaded:
        _loaded[vocabulary] = _load(vocabulary)
    return _loaded[vocabulary]


def count_exactly(model: str, provider: str) -> Callable[[str], int]:
    """A function that counts the tokens of this model as exactly as possible."""
    return lambda text: count(text, model, provider).count


def estimate_for(model: str, provider: str) -> Callable[[str], int]:
    """A function that estimates the tokens of this model without a tokenizer."""
    scale = counting_rule(model, provider).scale
    return lambda text: round(estimate(text) * scale)


def unload_others(model: str, provider: str) -> None:
    """Drop all tokenizers but the one for this model: each takes about 40 MB, and few reports need two at a time."""
    needed = counting_rule(model, provider).vocabulary
    for vocabulary in [each for each in _loaded if each != needed]:
        del _loaded[vocabulary]


def _load(vocabulary: str) -> tuple[Callable[[str], int], str]:
    from importlib import import_module

    try:
        splintr = import_module("splintr")
    except ImportError:
        return estimate, "estimate"
    try:
        tokens_in = _counter(splintr.Tokenizer.from_pretrained(NAMES_IN_SPLINTR.get(vocabulary, vocabulary)))
        is_right = tuple(map(tokens_in, GOLDEN_TEXTS)) == GOLDEN_COUNTS[vocabulary]
    except Exception:  # another version may fail in any way, and the report should still be written
        is_right = False
    return (tokens_in, vocabulary) if is_right else (estimate, f"estimate ({vocabulary} failed its self-check)")


def _counter(tokenizer: Any) -> Callable[[str], int]:
    """Counts with `encode_ordinary`, the only method that treats `<|endoftext|>` as text."""

    def tokens_in(text: str) -> int:
        try:
            return len(tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:  # a lone surrogate, which cannot be sent to a provider either
            return len(tokenizer.encode_ordinary(text.encode("utf-8", "replace").decode()))

    return tokens_in
