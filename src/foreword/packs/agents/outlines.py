"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

OUTLINES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    'claude': (('CLAUDE.md', 'CLAUDE.local.md', '.claude/'), ('.claude/CLAUDE.md', '.claude/rules/**/*.md', 'CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md', '.claude/AGENTS.md', '.claude/projects/{root|slug}/memory/MEMORY.md', '.claude/output-styles/*.md')),
    'codex': (('AGENTS.md', 'AGENTS.override.md', '.codex/'), ('.codex/AGENTS.override.md', '.codex/AGENTS.md', 'AGENTS.override.md', 'AGENTS.md')),
    'continue': (('.continue/',), ('AGENTS.md', 'AGENT.md', 'CLAUDE.md', 'CODEX.md', '.continue/rules/**/*.md')),
    'copilot': (('.github/copilot-instructions.md', '.github/instructions/', 'AGENTS.md'), ('.copilot/copilot-instructions.md', '.github/copilot-instructions.md', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.claude/CLAUDE.md', '.copilot/instructions/**/*.instructions.md', '.github/instructions/**/*.instructions.md', '.claude/rules/**/*.md', '.claude/rules/**/*.MD')),
    'cursor': (('.cursor/', '.cursorrules'), ('.cursor/rules/**/*.mdc', '.cursorrules', 'AGENTS.md')),
    'droid': (('.factory/',), ('CLAUDE.md', 'AGENTS.md', 'agents.md', '.factory/AGENTS.md', '.agents/AGENTS.md')),
    'gemini': (('GEMINI.md', '.gemini/'), ('.gemini/GEMINI.md', 'GEMINI.md')),
    'gptme': (('gptme.toml',), ('AGENTS.md', 'CLAUDE.md', 'COPILOT.md', 'GEMINI.md', '.github/copilot-instructions.md', '.cursorrules', '.windsurfrules')),
    'grok': (('.grok/',), ('Agents.md', 'CLAUDE.md', 'CLAUDE.local.md', 'AGENT.md', 'AGENTS.md', '.claude/CLAUDE.md', '.grok/rules/*.md', '.claude/rules/*.md', '.cursor/rules/*.md', '.grok/AGENTS.md', '.cursor/AGENTS.md')),
    'kilo': (('.kilocode/', '.kilo/', '.kilocoderules', 'kilo.json', 'kilo.jsonc'), ('.claude/CLAUDE.md', 'AGENTS.md', 'CLAUDE.md', 'CONTEXT.md', '.kilo/rules/*.md', '.kilocode/rules/*.md', '.kilocoderules', '.kilocode/rules-code/*.md')),
    'kimi': (('.kimi-code/',), ('.kimi-code/AGENTS.md', '.agents/AGENTS.md', 'AGENTS.md', 'agents.md')),
    'opencode': (('AGENTS.md', 'opencode.json', 'opencode.jsonc', '.opencode/'), ('AGENTS.md', '.claude/CLAUDE.md', 'CLAUDE.md', 'CONTEXT.md')),
    'pi-agent': (('AGENTS.md', 'AGENTS.override.md', '.pi/'), ('.pi/agent/AGENTS.override.md', '.pi/agent/AGENTS.md', '.pi/agent/AGENTS.MD', '.pi/agent/CLAUDE.md', '.pi/agent/CLAUDE.MD', 'AGENTS.override.md', 'AGENTS.md', 'AGENTS.MD', 'CLAUDE.md', 'CLAUDE.MD', '.pi/agent/SYSTEM.md', '.pi/agent/APPEND_SYSTEM.md')),
    'qwen': (('QWEN.md', '.qwen/'), ('.qwen/QWEN.md', 'QWEN.md', '.qwen/AGENTS.md', 'AGENTS.md', '.qwen/output-language.md', '.qwen/QWEN.local.md', '.qwen/rules/**/*.md')),
    'vibe': (('AGENTS.md', '.vibe/'), ('.vibe/AGENTS.md', 'AGENTS.md')),
}
