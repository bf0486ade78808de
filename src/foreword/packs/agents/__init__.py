"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

NAMES = ('claude', 'codex', 'continue', 'copilot', 'cursor', 'droid', 'gemini', 'gptme', 'grok', 'kilo', 'kimi', 'opencode', 'pi-agent', 'qwen', 'vibe')
