"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Section, Layout, with_inner_sections

_SECTIONS = (Section(name='body', lifetime='conversation', text='You are a helpful coding assistant.\n\n[if file:AGENTS.md]\n[file:AGENTS.md]\n[endif]\n\nThe current working directory is [prompt:cwd].\n', item=(), instead=('base', 'template', ), language='brackets', trim=False), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='builder',
    address='$std/builder',
    about='builder: One bracket template, built on the first turn and again at compaction.',
    lookups=(),
    settings={'file_paths': [], 'file_secrets': False},
    wording={'compaction': 'Summarise the conversation so that the work can continue from the summary alone: what the user asked for, what has been done, what remains to be done, and which files matter. Answer with the summary only, and do not call any tools.', 'skill_message': "The skill '{name}' is now active. Follow these instructions:\n\n{text}", 'skill_active_message': "The skill '{name}' is already active."},
    on={'reload': 'gather', 'compaction': 'gather'},
    compaction={'under': 'new', 'say': 'system'},
)
