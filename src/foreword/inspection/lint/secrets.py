"""Finds secrets by their issuer's prefix. Only the prefix and the length are ever printed.

The prefix must be followed by characters from the issuer's alphabet, in the right number, so that words are not mistaken for keys.
Examples in documentation are skipped: repeated or ascending characters, words such as `example`, or an ellipsis at the end.
"""

from __future__ import annotations

import re

from ...vocabulary import value
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@value
class Issuer:
    """An issuer of secrets: what it issues, the prefix, a pattern for the rest, and a rare substring (`hint`) to search for first."""

    description: str
    prefix: str
    rest: str
    hint: str


ISSUERS = (
    Issuer("an Anthropic key", "sk-ant-", r"(?:api|admin|oat|ort|sid)\d\d-[\w-]{80,120}", "sk-ant-"),
    Issuer("an OpenAI key", "sk-proj-", r"[\w-]{40,200}", "sk-proj-"),
    Issuer("an OpenAI key", "sk-svcacct-", r"[\w-]{40,200}", "sk-svcacct-"),
    Issuer("an OpenAI key", "sk-admin-", r"[\w-]{40,200}", "sk-admin-"),
    Issuer("an OpenAI key", "sk-", r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}", "T3BlbkFJ"),
    Issuer("an OpenRouter key", "sk-or-v1-", r"[0-9a-f]{64}", "sk-or-v1-"),
    Issuer("a GitHub token", "ghp_", r"[A-Za-z0-9]{36,255}", "ghp_"),
    Issuer("a GitHub token", "gho_", r"[A-Za-z0-9]{36,255}", "gho_"),
    Issuer("a GitHub token", "ghu_", r"[A-Za-z0-9]{36,255}", "ghu_"),
    Issuer("a GitHub token", "ghs_", r"[A-Za-z0-9]{36,255}", "ghs_"),
    Issuer("a GitHub token", "ghr_", r"[A-Za-z0-9]{36,255}", "ghr_"),
    Issuer("a GitHub token", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", "github_pat_"),
    Issuer("a GitLab token", "glpat-", r"[\w-]{20,60}", "glpat-"),
    Issuer("an AWS access key", "AKIA", r"[A-Z2-7]{16}", "AKIA"),
    Issuer("an AWS access key", "ASIA", r"[A-Z2-7]{16}", "ASIA"),
    Issuer("a Google key", "AIza", r"[\w-]{35}", "AIza"),
    Issuer("a Google OAuth secret", "GOCSPX-", r"[\w-]{28}", "GOCSPX-"),
    Issuer("a Slack token", "xoxb-", r"\d{8,14}-[\w-]{20,100}", "xoxb-"),
    Issuer("a Slack token", "xoxp-", r"\d{8,14}-[\w-]{20,100}", "xoxp-"),
    Issuer("a Slack token", "xoxe.xoxp-", r"\d-[\w-]{40,200}", "xoxe.xoxp-"),
    Issuer("a Slack app token", "xapp-", r"\d-[A-Z0-9]{8,14}-\d{10,14}-[a-f0-9]{64}", "xapp-"),
    Issuer(
        "a Slack webhook",
        "https://hooks.slack.com/services/",
        r"T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24}",
        "https://hooks.slack.com/services/",
    ),
    Issuer(
        "a Discord webhook",
        "https://discord.com/api/webhooks/",
        r"\d{17,20}/[\w-]{60,72}",
        "https://discord.com/api/webhooks/",
    ),
    Issuer("a Stripe key", "sk_live_", r"[A-Za-z0-9]{24,128}", "sk_live_"),
    Issuer("a Stripe key", "rk_live_", r"[A-Za-z0-9]{24,128}", "rk_live_"),
    Issuer("an npm token", "npm_", r"[A-Za-z0-9]{36}", "npm_"),
    Issuer("a PyPI token", "pypi-AgEIcHlwaS5vcmc", r"[\w-]{50,250}", "pypi-AgEIcHlwaS5vcmc"),
    Issuer("a SendGrid key", "SG.", r"[\w-]{22}\.[\w-]{43}", "SG."),
    Issuer("a Hugging Face token", "hf_", r"[A-Za-z]{34}", "hf_"),
    Issuer("a Groq key", "gsk_", r"[A-Za-z0-9]{52}", "gsk_"),
    Issuer("an xAI key", "xai-", r"[A-Za-z0-9]{80}", "xai-"),
    Issuer("a Replicate token", "r8_", r"[A-Za-z0-9]{37}", "r8_"),
    Issuer("a DigitalOcean token", "dop_v1_", r"[a-f0-9]{64}", "dop_v1_"),
    Issuer("a DigitalOcean token", "doo_v1_", r"[a-f0-9]{64}", "doo_v1_"),
    Issuer("a Shopify token", "shpat_", r"[a-fA-F0-9]{32}", "shpat_"),
    Issuer("a Linear key", "lin_api_", r"[A-Za-z0-9]{40}", "lin_api_"),
    Issuer("a Notion token", "ntn_", r"[A-Za-z0-9]{46}", "ntn_"),
    Issuer("a Databricks token", "dapi", r"[a-f0-9]{32}", "dapi"),
    Issuer("a Tailscale key", "tskey-", r"(?:auth|api|client)-[A-Za-z0-9]{10,24}-[A-Za-z0-9]{20,40}", "tskey-"),
    Issuer("a Telegram bot token", "", r"\d{8,10}:AA[\w-]{33}", ":AA"),
    Issuer(
        "a private key",
        "-----BEGIN ",
        r"(?:[A-Z]{2,10} )?PRIVATE KEY-----(?:\s{1,4}[A-Za-z0-9+/=]{40,})+",
        "PRIVATE KEY-----",
    ),
)
_compiled: dict[Issuer, re.Pattern[str]] = {}


def _pattern(issuer: Issuer) -> re.Pattern[str]:
    """Return the issuer's pattern, compiled when its hint is first found."""
    if issuer not in _compiled:
        _compiled[issuer] = re.compile(re.escape(issuer.prefix) + issuer.rest + r"(?![A-Za-z0-9_])")
    return _compiled[issuer]


def _matches(text: str) -> Iterator[tuple[Issuer, re.Match[str]]]:
    for issuer in ISSUERS:
        if issuer.hint in text:
            for match in _pattern(issuer).finditer(text):
                if not re.match(r"[A-Za-z0-9_+/-]", text[match.start() - 1 : match.start()]):
                    yield issuer, match


_PLACEHOLDER = lazy_pattern(
    r"example|placeholder|your|fake|dummy|sample|redact|secret|token|replace|insert|change|test|demo|todo|xxx|abcdef"
    r"|123456|0123|12345|98765|deadbeef|qwerty|foobar",
    re.IGNORECASE,
)
_CUT = lazy_pattern(r"\s{0,4}(?:\.\.\.|…)")
_MAX_LENGTH = 260
_REPEATS = lazy_pattern(r"(.)\1{4}|(..)\2{3}|(.{3,8})\3\3")


@value
class Secret:
    """Something that looks like a secret: its offset, what it is, and a summary that is safe to print."""

    start: int
    description: str
    summary: str


def find_secrets(text: str) -> list[Secret]:
    """Return everything in the text that looks like a secret, in order."""
    results = [
        Secret(match.start(), issuer.description, f"{issuer.prefix}…, {len(match[0])} characters")
        for issuer, match in _random_matches(text)
    ]
    return sorted(results, key=lambda secret: secret.start)


def mask_in_place(text: str) -> str:
    """Return the text with an asterisk for each character of a secret after its prefix, so that offsets and lines stay the same."""
    for issuer, match in list(_random_matches(text)):
        start, end = match.start() + len(issuer.prefix), match.end()
        text = text[:start] + re.sub(r"\S", "*", text[start:end]) + text[end:]
    return text


def _random_matches(text: str) -> Iterator[tuple[Issuer, re.Match[str]]]:
    for issuer, match in _matches(text):
        body = match[0][len(issuer.prefix) :].rpartition("-----")[2]
        if _is_random(body) and not _CUT.match(text, match.end()):
            yield issuer, match


def _is_random(body: str) -> bool:
    """Whether a string looks randomly generated, rather than like an example that a person typed."""
    if len(body) > _MAX_LENGTH:
        body = body[len(body) // 2 :][:64]  # all private keys begin with the same bytes
    if _PLACEHOLDER.search(body) or _REPEATS.search(body):
        return False
    letters = re.sub(r"[^A-Za-z0-9]", "", body)
    return len(set(letters)) >= min(10, len(letters) // 2)


def mask_secrets(text: str) -> str:
    """Return the text with everything that starts like a secret masked, even examples and truncated secrets."""
    for issuer in ISSUERS:
        if issuer.hint in text:
            rest = r"(?=[\w./-]*[A-Z0-9])[\w./-]{8,}" if issuer.prefix == issuer.hint else issuer.rest
            text = re.sub(re.escape(issuer.prefix) + rest, f"{issuer.prefix}…", text)
    return text
