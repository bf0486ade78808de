"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, Lookup, Section, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="You are ion, a fast coding agent that runs in the terminal. Work efficiently, keep your answers concise, and use your tools to carry out the user's requests.", form=("You are ion, a fast coding agent that runs in the terminal. Work efficiently, keep your answers concise, and use your tools to carry out the user's requests.", ), item=(), instead=('base', ), budget=100), Section(name='instructions', lifetime='project', sections=(Section(name='ion-local', lifetime='project', list_name='ion-local', wrap=('# Ion Instructions\n', Field(name=''), ), language='directives', trim=False, budget=1000, file_budget=10000), Section(name='global', lifetime='project', list_name='global', wrap=('# Global Instructions\n', Field(name=''), ), language='directives', trim=False, budget=2000, file_budget=10000), Section(name='project', lifetime='project', list_name='project', wrap=('# Project Instructions\n', Field(name=''), ), language='directives', trim=False, budget=5000, file_budget=10000), ), item=(), join='\n\n---\n\n', language='directives', trim=False, file_budget=10000), Section(name='skill', lifetime='turn', list_name='active_skill', item=('# Active Skill: ', Field(name='name', filters=('line', )), '\n', Field(name='text'), ), join='\n', trim=False, budget=2000, file_budget=10000), Section(name='plan', lifetime='turn', list_name='plan', wrap=('# Active Plan\n', Field(name=''), ), trim=False, budget=500, file_budget=10000), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='ion',
    address='$std/ion',
    about='Ion: A base, three layers of instructions that add up, the active skill and the active plan.',
    lookups=(Lookup(name='ion-local', groups=((Pattern(place='home', path='.ion/AGENTS.md'), ), ), layer='ion-local'), Lookup(name='global', groups=((Pattern(place='config', path='agents/AGENTS.md'), ), (Pattern(place='config', path='agents/rules/*.md'), ), ), layer='global'), Lookup(name='project', groups=((Pattern(place='cwd', path='AGENTS.md'), Pattern(place='cwd', path='CLAUDE.md'), ), )), Lookup(name='skills', groups=((Pattern(place='cwd', path='.ion/skills/*/SKILL.md'), ), (Pattern(place='cwd', path='.agents/skills/*/SKILL.md'), ), (Pattern(place='home', path='.ion/skills/*/SKILL.md'), ), (Pattern(place='home', path='.agents/skills/*/SKILL.md'), ), (Pattern(place='config', path='agents/skills/*/SKILL.md'), ), ), kind='skill'), ),
    budget=9600,
    over='warn',
    wording={'compaction': 'Summarise the conversation so that the work can continue from the summary alone: the goal, what has been done, what remains to be done, and which files matter. Answer with the summary only, and do not call any tools.', 'skill_message': "The skill '{name}' is now active. Follow these instructions:\n\n{text}", 'skill_active_message': "The skill '{name}' is already active."},
    on={'turn': 'gather'},
)
