"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

NAMES = ('claude', 'codex', 'copilot', 'cursor', 'gemini', 'opencode', 'pi-agent', 'qwen', 'vibe')
