"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, TextRules, Lookup, Section, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Grok's own instructions]", form=("[Grok's own instructions]", ), item=(), instead=('base', )), Section(name='rules', lifetime='project', sections=(Section(name='project', lifetime='project', list_name='project', item=('<always_applied_workspace_rule name="', Field(name='path'), '">\n', Field(name='text'), '\n</always_applied_workspace_rule>', ), trim=False, over='cut'), Section(name='user', lifetime='project', list_name='user', item=('<user_rule>\n', Field(name='text'), '\n</user_rule>', ), trim=False, over='cut'), ), item=(), wrap=('<rules>\n', Field(name=''), '\n</rules>', ), trim=False, role='user'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='grok',
    address='$agents/grok',
    about="Grok Build: one user message with the files and rules of each directory from the git root down, then the user's.",
    lookups=(Lookup(name='project', groups=((Pattern(place='walk', path='Agents.md'), ), (Pattern(place='walk', path='CLAUDE.md'), ), (Pattern(place='walk', path='CLAUDE.local.md'), ), (Pattern(place='walk', path='AGENT.md'), ), (Pattern(place='walk', path='AGENTS.md'), ), (Pattern(place='walk', path='.claude/CLAUDE.md'), ), (Pattern(place='walk', path='.grok/rules/*.md'), ), (Pattern(place='walk', path='.claude/rules/*.md'), ), (Pattern(place='walk', path='.cursor/rules/*.md'), ), ), copies='keep', rules=TextRules(trim='ends'), is_mirror=True), Lookup(name='user', groups=((Pattern(place='home', path='.grok/AGENTS.md'), ), (Pattern(place='home', path='.grok/rules/*.md'), ), (Pattern(place='home', path='.claude/CLAUDE.md'), ), (Pattern(place='home', path='.claude/rules/*.md'), ), (Pattern(place='home', path='.cursor/AGENTS.md'), ), (Pattern(place='home', path='.cursor/rules/*.md'), ), ), copies='keep', rules=TextRules(trim='ends'), is_mirror=True), ),
    on={'turn': 'announce'},
    mirrors='Grok Build 1.0.41',
    program={'command': 'grok'},
    raw=True,
    line_ends='keep',
    differs=("Grok's own instructions are replaced by notes in brackets, and its skills are not listed.", "The project's files are read as if the user had passed --trust; otherwise, Grok reads only the user's.", 'An empty file counts as absent, and links to the same file are all read; Grok sends an empty item, and each file once.', ),
    detected_by=('.grok/', ),
    align={'files': ['AGENTS.md'], 'rules': '.grok/rules/{name}.md', 'scope': 'paths', 'skills': '.grok/skills'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': "Grok Build: one user message with the files and rules of each directory from the git root down, then the user's.",
 'mirrors': 'Grok Build 1.0.41',
 'program': {'command': 'grok'},
 'detected_by': ['.grok/'],
 'copies': 'keep',
 'raw': True,
 'line_ends': 'keep',
 'sections': ['base', 'rules'],
 'on': {'turn': 'announce'},
 'differs': ["Grok's own instructions are replaced by notes in brackets, and its skills are not listed.",
             "The project's files are read as if the user had passed --trust; otherwise, Grok reads only the user's.",
             'An empty file counts as absent, and links to the same file are all read; Grok sends an empty item, and each file once.'],
 'find': {'project': {'trim': 'ends',
                      'front': 'keep',
                      'files': ['walk:Agents.md',
                                'walk:CLAUDE.md',
                                'walk:CLAUDE.local.md',
                                'walk:AGENT.md',
                                'walk:AGENTS.md',
                                'walk:.claude/CLAUDE.md',
                                'walk:.grok/rules/*.md',
                                'walk:.claude/rules/*.md',
                                'walk:.cursor/rules/*.md']},
          'user': {'trim': 'ends',
                   'files': ['home:.grok/AGENTS.md',
                             'home:.grok/rules/*.md',
                             'home:.claude/CLAUDE.md',
                             'home:.claude/rules/*.md',
                             'home:.cursor/AGENTS.md',
                             'home:.cursor/rules/*.md']}},
 'section': {'base': {'text': "[Grok's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'rules': {'sections': ['project', 'user'], 'role': 'user', 'lifetime': 'project', 'wrap': '<rules>\n{}\n</rules>'},
             'project': {'list': 'project',
                         'join': '\n\n',
                         'item': '<always_applied_workspace_rule name="{path}">\n{text}\n</always_applied_workspace_rule>'},
             'user': {'list': 'user', 'join': '\n\n', 'item': '<user_rule>\n{text}\n</user_rule>'}},
 'align': {'files': ['AGENTS.md'], 'rules': '.grok/rules/{name}.md', 'scope': 'paths', 'skills': '.grok/skills'}}
