"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, TextRules, Lookup, Section, Condition, Layout, with_inner_sections

_SECTIONS = (Section(name='system', lifetime='project', list_name='system', trim=False, over='cut'), Section(name='base', lifetime='release', text="[pi's own instructions]", form=("[pi's own instructions]", ), item=(), when=(Condition(facts=('found:system', ), negated=True), ), instead=('base', )), Section(name='append', lifetime='project', list_name='append', wrap=('<addendum>\n', Field(name=''), '\n</addendum>', ), trim=False, over='cut'), Section(name='context', lifetime='project', sections=(Section(name='user', lifetime='project', list_name='user', item=('<project_instructions path="', Field(name='path'), '">\n', Field(name='text'), '\n</project_instructions>', ), trim=False, over='cut'), Section(name='project', lifetime='project', list_name='project', item=('<project_instructions path="', Field(name='path'), '">\n', Field(name='text'), '\n</project_instructions>', ), trim=False, over='cut'), ), item=(), wrap=("<project_context>\n\n[pi's note on these files]\n\n", Field(name=''), '\n</project_context>', ), trim=False), Section(name='skills', lifetime='project', list_name='skills', item=('  <skill>\n    <name>', Field(name='name', filters=('xml-quotes', )), '</name>\n    <description>', Field(name='description', filters=('xml-quotes', )), '</description>\n    <location>', Field(name='path'), '</location>\n  </skill>', ), join='\n', wrap=("<skills>\n[pi's note on skills]\n<available_skills>\n", Field(name=''), '\n</available_skills>\n</skills>', ), trim=False, over='shorten'), Section(name='environment', lifetime='conversation', text="[pi's date and directory: {cwd}]", form=("[pi's date and directory: ", Field(name='cwd'), ']', ), item=()), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='pi-agent',
    address='$agents/pi-agent',
    about='pi as released: AGENTS.md from the filesystem root to the working directory in the system prompt.',
    lookups=(Lookup(name='user', groups=((Pattern(place='home', path='.pi/agent/AGENTS.override.md'), Pattern(place='home', path='.pi/agent/AGENTS.md'), Pattern(place='home', path='.pi/agent/AGENTS.MD'), Pattern(place='home', path='.pi/agent/CLAUDE.md'), Pattern(place='home', path='.pi/agent/CLAUDE.MD'), ), ), copies='keep', rules=TextRules(trim='none', blank='all'), is_mirror=True), Lookup(name='project', groups=((Pattern(place='walk', path='AGENTS.override.md'), Pattern(place='walk', path='AGENTS.md'), Pattern(place='walk', path='AGENTS.MD'), Pattern(place='walk', path='CLAUDE.md'), Pattern(place='walk', path='CLAUDE.MD'), ), ), walk='checkout', copies='keep', rules=TextRules(trim='none', blank='all'), is_mirror=True), Lookup(name='system', groups=((Pattern(place='home', path='.pi/agent/SYSTEM.md'), ), ), copies='keep', rules=TextRules(trim='none'), is_mirror=True), Lookup(name='append', groups=((Pattern(place='home', path='.pi/agent/APPEND_SYSTEM.md'), ), ), copies='keep', rules=TextRules(trim='none'), is_mirror=True), Lookup(name='skills', groups=((Pattern(place='home', path='.pi/agent/skills/**/SKILL.md'), ), (Pattern(place='home', path='.agents/skills/**/SKILL.md'), ), ), kind='skill', copies='keep', rules=TextRules(trim='none'), order='found', skips=('yaml', 'no-text', ), is_mirror=True), ),
    on={'turn': 'gather'},
    mirrors='pi 0.87.1',
    program={'command': 'pi', 'prompt': 629, 'tools': 609},
    raw=True,
    encoding='any',
    line_ends='keep',
    differs=("pi's own instructions and environment are replaced by notes in brackets.", "The project's skills are not listed, as in a project that the user does not trust.", ),
    detected_by=('AGENTS.md', 'AGENTS.override.md', '.pi/', ),
    align={'files': ['AGENTS.md']},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'pi as released: AGENTS.md from the filesystem root to the working directory in the system prompt.',
 'mirrors': 'pi 0.87.1',
 'program': {'command': 'pi', 'prompt': 629, 'tools': 609},
 'detected_by': ['AGENTS.md', 'AGENTS.override.md', '.pi/'],
 'copies': 'keep',
 'raw': True,
 'encoding': 'any',
 'line_ends': 'keep',
 'sections': ['system', 'base', 'append', 'context', 'skills', 'environment'],
 'on': {'turn': 'gather'},
 'differs': ["pi's own instructions and environment are replaced by notes in brackets.",
             "The project's skills are not listed, as in a project that the user does not trust."],
 'find': {'user': {'trim': 'none',
                   'blank': 'all',
                   'files': [['home:.pi/agent/AGENTS.override.md',
                              'home:.pi/agent/AGENTS.md',
                              'home:.pi/agent/AGENTS.MD',
                              'home:.pi/agent/CLAUDE.md',
                              'home:.pi/agent/CLAUDE.MD']]},
          'project': {'trim': 'none',
                      'blank': 'all',
                      'walk': 'checkout',
                      'files': [['walk:AGENTS.override.md', 'walk:AGENTS.md', 'walk:AGENTS.MD', 'walk:CLAUDE.md', 'walk:CLAUDE.MD']]},
          'system': {'trim': 'none', 'files': ['home:.pi/agent/SYSTEM.md']},
          'append': {'trim': 'none', 'files': ['home:.pi/agent/APPEND_SYSTEM.md']},
          'skills': {'as': 'skill',
                     'skips': ['yaml', 'no-text'],
                     'order': 'found',
                     'trim': 'none',
                     'files': ['home:.pi/agent/skills/**/SKILL.md', 'home:.agents/skills/**/SKILL.md']}},
 'section': {'base': {'text': "[pi's own instructions]", 'when': ['!found:system'], 'instead': ['base'], 'lifetime': 'release'},
             'system': {'list': 'system', 'lifetime': 'project'},
             'append': {'list': 'append', 'lifetime': 'project', 'wrap': '<addendum>\n{}\n</addendum>'},
             'context': {'sections': ['user', 'project'],
                         'lifetime': 'project',
                         'wrap': "<project_context>\n\n[pi's note on these files]\n\n{}\n</project_context>"},
             'user': {'list': 'user', 'join': '\n\n', 'item': '<project_instructions path="{path}">\n{text}\n</project_instructions>'},
             'project': {'like': 'user', 'list': 'project'},
             'environment': {'text': "[pi's date and directory: {cwd}]"},
             'skills': {'list': 'skills',
                        'lifetime': 'project',
                        'item': '  <skill>\n'
                                '    <name>{name|xml-quotes}</name>\n'
                                '    <description>{description|xml-quotes}</description>\n'
                                '    <location>{path}</location>\n'
                                '  </skill>',
                        'wrap': "<skills>\n[pi's note on skills]\n<available_skills>\n{}\n</available_skills>\n</skills>"}},
 'align': {'files': ['AGENTS.md']}}
