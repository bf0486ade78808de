"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Pattern, Find, Section, Layout, with_inner

_SECTIONS = (Section(name='base', lifetime='release', text="[Codex's own instructions]", form=("[Codex's own instructions]", ), item=(), instead=('base', )), Section(name='instructions', lifetime='project', sections=(Section(name='user', lifetime='project', of='user', trim=False, over='cut'), Section(name='project', lifetime='project', of='project', trim=False, over='cut'), ), item=(), trim=False), )
LAYOUT = Layout(
    sections=_SECTIONS,
    every=tuple(with_inner(_SECTIONS)),
    name='codex',
    address='$agents/codex',
    about='Codex CLI: one user message with every AGENTS.md from the git root to the working directory.',
    finds=(Find(name='user', groups=((Pattern(place='home', path='.codex/AGENTS.override.md'), Pattern(place='home', path='.codex/AGENTS.md'), ), ), copies='keep'), Find(name='project', groups=((Pattern(place='walk', path='AGENTS.override.md'), Pattern(place='walk', path='AGENTS.md'), ), ), copies='keep'), ),
    mirrors='Codex CLI 0.166.0',
    differs=("The agent's own instructions are replaced by a note in brackets.", ),
    signs=('AGENTS.md', 'AGENTS.override.md', '.codex/', ),
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'Codex CLI: one user message with every AGENTS.md from the git root to the working directory.',
 'mirrors': 'Codex CLI 0.166.0',
 'differs': ["The agent's own instructions are replaced by a note in brackets."],
 'signs': ['AGENTS.md', 'AGENTS.override.md', '.codex/'],
 'copies': 'keep',
 'sections': ['base', 'instructions'],
 'find': {'user': {'files': [['home:.codex/AGENTS.override.md', 'home:.codex/AGENTS.md']]},
          'project': {'walk': 'git', 'files': [['walk:AGENTS.override.md', 'walk:AGENTS.md']]}},
 'section': {'base': {'text': "[Codex's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'instructions': {'sections': ['user', 'project'], 'lifetime': 'project'},
             'user': {'of': 'user'},
             'project': {'of': 'project'}}}
