"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, ConfigValue, TextRules, Lookup, Section, Condition, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Kilo's own instructions and environment]", form=("[Kilo's own instructions and environment]", ), item=(), instead=('base', )), Section(name='instructions', lifetime='project', sections=(Section(name='user', lifetime='project', list_name='user', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='agents', lifetime='project', list_name='agents', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='claude', lifetime='project', list_name='claude', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='context', lifetime='project', list_name='context', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='rules', lifetime='project', list_name='rules', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='named', lifetime='project', list_name='named', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), ), item=(), join='\n', trim=False), Section(name='skills', lifetime='project', list_name='skills', item=('  <skill>\n    <name>', Field(name='name'), '</name>\n    <description>', Field(name='description'), '</description>\n    <location>', Field(name='path'), '</location>\n  </skill>', ), join='\n', wrap=("[Kilo's note on skills]\n<available_skills>\n", Field(name=''), '\n</available_skills>', ), trim=False, over='shorten'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='kilo',
    address='$agents/kilo',
    about='Kilo: one system message with the nearest instruction files first, then the rules of the working directory.',
    lookups=(Lookup(name='user', groups=((Pattern(place='config', path='kilo/AGENTS.md'), Pattern(place='home', path='.claude/CLAUDE.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep'), is_mirror=True), Lookup(name='agents', groups=((Pattern(place='walk', path='AGENTS.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', is_mirror=True), Lookup(name='claude', groups=((Pattern(place='walk', path='CLAUDE.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', when=(Condition(facts=('found:agents', ), negated=True), ), is_mirror=True), Lookup(name='context', groups=((Pattern(place='walk', path='CONTEXT.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', when=(Condition(facts=('found:agents', ), negated=True), Condition(facts=('found:claude', ), negated=True), ), is_mirror=True), Lookup(name='rules', groups=((Pattern(place='home', path='.kilo/rules/*.md'), ), (Pattern(place='home', path='.kilocode/rules/*.md'), ), (Pattern(place='cwd', path='.kilocode/rules/*.md'), ), (Pattern(place='cwd', path='.kilo/rules/*.md'), ), (Pattern(place='cwd', path='.kilocoderules'), ), (Pattern(place='cwd', path='.kilocode/rules-code/*.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', is_mirror=True), Lookup(name='named', groups=(), copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', is_mirror=True), Lookup(name='skills', groups=((Pattern(place='walk', path='.kilo/skills/**/SKILL.md'), ), (Pattern(place='walk', path='.claude/skills/**/SKILL.md'), ), (Pattern(place='walk', path='.agents/skills/**/SKILL.md'), ), (Pattern(place='config', path='kilo/skills/**/SKILL.md'), ), (Pattern(place='home', path='.claude/skills/**/SKILL.md'), ), (Pattern(place='home', path='.agents/skills/**/SKILL.md'), ), ), kind='skill', copies='keep', is_mirror=True), ),
    settings={'instructions': []},
    on={'turn': 'gather'},
    mirrors='Kilo 7.7.9',
    program={'command': 'kilo'},
    raw=True,
    line_ends='keep',
    differs=("Kilo's own instructions and environment are replaced by notes in brackets, and its own skills are not listed.", "A project's configuration names only files inside the workspace; Kilo reads any file it names.", 'The rules of other modes than code are not read.', ),
    detected_by=('.kilocode/', '.kilo/', '.kilocoderules', 'kilo.json', 'kilo.jsonc', ),
    config=(ConfigValue(setting='instructions', pattern=Pattern(place='walk', path='kilo.json'), key=('instructions', )), ConfigValue(setting='instructions', pattern=Pattern(place='walk', path='kilo.jsonc'), key=('instructions', ), add='after'), ),
    touch=Touch(sections=(Section(name='touched', lifetime='conversation', list_name='touched', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), wrap=('<system-reminder>\n', Field(name=''), '\n</system-reminder>', ), trim=False, over='cut', role='tool'), ), lookups=(Lookup(name='touched', groups=((Pattern(place='down', path='AGENTS.md'), Pattern(place='down', path='CLAUDE.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', within='cwd', is_mirror=True), ), on=('read', 'edit', 'create', )),
    align={'files': ['AGENTS.md'], 'rules': '.kilocode/rules/{name}.md', 'scope': 'paths'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'Kilo: one system message with the nearest instruction files first, then the rules of the working directory.',
 'mirrors': 'Kilo 7.7.9',
 'program': {'command': 'kilo'},
 'detected_by': ['.kilocode/', '.kilo/', '.kilocoderules', 'kilo.json', 'kilo.jsonc'],
 'copies': 'keep',
 'raw': True,
 'line_ends': 'keep',
 'sections': ['base', 'instructions', 'skills'],
 'touch': {'sections': ['touched']},
 'settings': {'instructions': []},
 'from': {'instructions': ['walk:kilo.json#instructions', {'at': 'walk:kilo.jsonc#instructions', 'add': 'after'}]},
 'on': {'turn': 'gather'},
 'differs': ["Kilo's own instructions and environment are replaced by notes in brackets, and its own skills are not listed.",
             "A project's configuration names only files inside the workspace; Kilo reads any file it names.",
             'The rules of other modes than code are not read.'],
 'find': {'user': {'trim': 'none', 'blank': 'keep', 'files': [['config:kilo/AGENTS.md', 'home:.claude/CLAUDE.md']]},
          'agents': {'trim': 'none', 'blank': 'keep', 'order': 'nearest', 'files': ['walk:AGENTS.md']},
          'claude': {'like': 'agents', 'files': ['walk:CLAUDE.md'], 'when': ['!found:agents']},
          'context': {'like': 'agents', 'files': ['walk:CONTEXT.md'], 'when': ['!found:agents', '!found:claude']},
          'rules': {'like': 'agents',
                    'files': ['home:.kilo/rules/*.md',
                              'home:.kilocode/rules/*.md',
                              'cwd:.kilocode/rules/*.md',
                              'cwd:.kilo/rules/*.md',
                              'cwd:.kilocoderules',
                              'cwd:.kilocode/rules-code/*.md']},
          'named': {'like': 'agents', 'files': ['walk:{instructions}']},
          'skills': {'as': 'skill',
                     'files': ['walk:.kilo/skills/**/SKILL.md',
                               'walk:.claude/skills/**/SKILL.md',
                               'walk:.agents/skills/**/SKILL.md',
                               'config:kilo/skills/**/SKILL.md',
                               'home:.claude/skills/**/SKILL.md',
                               'home:.agents/skills/**/SKILL.md']},
          'touched': {'like': 'agents', 'within': 'cwd', 'files': [['down:AGENTS.md', 'down:CLAUDE.md']]}},
 'section': {'base': {'text': "[Kilo's own instructions and environment]", 'instead': ['base'], 'lifetime': 'release'},
             'instructions': {'sections': ['user', 'agents', 'claude', 'context', 'rules', 'named'], 'join': '\n', 'lifetime': 'project'},
             'user': {'list': 'user', 'item': 'Instructions from: {path}\n{text}'},
             'agents': {'like': 'user', 'list': 'agents'},
             'claude': {'like': 'user', 'list': 'claude'},
             'context': {'like': 'user', 'list': 'context'},
             'rules': {'like': 'user', 'list': 'rules'},
             'named': {'like': 'user', 'list': 'named'},
             'skills': {'list': 'skills',
                        'lifetime': 'project',
                        'item': '  <skill>\n'
                                '    <name>{name}</name>\n'
                                '    <description>{description}</description>\n'
                                '    <location>{path}</location>\n'
                                '  </skill>',
                        'wrap': "[Kilo's note on skills]\n<available_skills>\n{}\n</available_skills>"},
             'touched': {'like': 'user',
                         'list': 'touched',
                         'role': 'tool',
                         'join': '\n\n',
                         'wrap': '<system-reminder>\n{}\n</system-reminder>'}},
 'align': {'files': ['AGENTS.md'], 'rules': '.kilocode/rules/{name}.md', 'scope': 'paths'}}
