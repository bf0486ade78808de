"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, ConfigValue, TextRules, Lookup, Section, Condition, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[OpenCode's own instructions]", form=("[OpenCode's own instructions]", ), item=(), instead=('base', )), Section(name='environment', lifetime='conversation', text="[OpenCode's environment block, for {cwd}]", form=("[OpenCode's environment block, for ", Field(name='cwd'), ']', ), item=()), Section(name='instructions', lifetime='project', sections=(Section(name='user', lifetime='project', list_name='user', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='agents', lifetime='project', list_name='agents', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='claude', lifetime='project', list_name='claude', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='context', lifetime='project', list_name='context', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), Section(name='named', lifetime='project', list_name='named', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), join='\n', trim=False, over='cut'), ), item=(), join='\n', trim=False), Section(name='skills', lifetime='project', list_name='skills', item=('  <skill>\n    <name>', Field(name='name'), '</name>\n    <description>', Field(name='description'), '</description>\n    <location>', Field(name='path'), '</location>\n  </skill>', ), join='\n', wrap=("[OpenCode's note on skills]\n<available_skills>\n", Field(name=''), '\n</available_skills>', ), trim=False, over='shorten'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='opencode',
    address='$agents/opencode',
    about='OpenCode: one system message with the nearest instruction files first, then the files that its configuration names.',
    lookups=(Lookup(name='user', groups=((Pattern(place='config', path='opencode/AGENTS.md'), Pattern(place='home', path='.claude/CLAUDE.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep')), Lookup(name='agents', groups=((Pattern(place='walk', path='AGENTS.md'), ), ), walk='git-or-root', copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest'), Lookup(name='claude', groups=((Pattern(place='walk', path='CLAUDE.md'), ), ), walk='git-or-root', copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', when=(Condition(facts=('found:agents', ), negated=True), )), Lookup(name='context', groups=((Pattern(place='walk', path='CONTEXT.md'), ), ), walk='git-or-root', copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', when=(Condition(facts=('found:agents', ), negated=True), Condition(facts=('found:claude', ), negated=True), )), Lookup(name='named', groups=(), walk='git-or-root', copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest'), Lookup(name='skills', groups=((Pattern(place='walk', path='.opencode/skills/**/SKILL.md'), ), (Pattern(place='walk', path='.claude/skills/**/SKILL.md'), ), (Pattern(place='walk', path='.agents/skills/**/SKILL.md'), ), (Pattern(place='config', path='opencode/skills/**/SKILL.md'), ), (Pattern(place='home', path='.claude/skills/**/SKILL.md'), ), (Pattern(place='home', path='.agents/skills/**/SKILL.md'), ), ), kind='skill', copies='keep'), ),
    settings={'user_instructions': [], 'instructions': []},
    on={'turn': 'gather'},
    mirrors='OpenCode 1.18.33',
    raw=True,
    differs=("OpenCode's own instructions and environment are replaced by notes in brackets.", "A project's configuration names only files inside the workspace; OpenCode reads any file it names.", 'Files that match the same glob are sorted by path; OpenCode takes them in the order of the disk.', 'The recordings of version 1.18.33 were made with 1.18.18, because there is no newer build for arm64.', 'If several skills have the same name, the nearest is listed; in OpenCode, it varies.', ),
    detected_by=('AGENTS.md', 'opencode.json', 'opencode.jsonc', '.opencode/', ),
    config=(ConfigValue(setting='user_instructions', pattern=Pattern(place='config', path='opencode/opencode.json'), key='instructions'), ConfigValue(setting='user_instructions', pattern=Pattern(place='config', path='opencode/opencode.jsonc'), key='instructions'), ConfigValue(setting='instructions', pattern=Pattern(place='walk', path='opencode.json'), key='instructions'), ConfigValue(setting='instructions', pattern=Pattern(place='walk', path='opencode.jsonc'), key='instructions'), ),
    touch=Touch(sections=(Section(name='touched', lifetime='conversation', list_name='touched', item=('Instructions from: ', Field(name='path'), '\n', Field(name='text'), ), wrap=('<system-reminder>\n', Field(name=''), '\n</system-reminder>', ), trim=False, over='cut', role='tool'), ), lookups=(Lookup(name='touched', groups=((Pattern(place='down', path='AGENTS.md'), Pattern(place='down', path='CLAUDE.md'), ), ), walk='git-or-root', copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', within='cwd'), ), on=('read', 'edit', 'create', )),
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'OpenCode: one system message with the nearest instruction files first, then the files that its configuration names.',
 'mirrors': 'OpenCode 1.18.33',
 'detected_by': ['AGENTS.md', 'opencode.json', 'opencode.jsonc', '.opencode/'],
 'copies': 'keep',
 'raw': True,
 'sections': ['base', 'environment', 'instructions', 'skills'],
 'touch': {'sections': ['touched']},
 'on': {'turn': 'gather'},
 'differs': ["OpenCode's own instructions and environment are replaced by notes in brackets.",
             "A project's configuration names only files inside the workspace; OpenCode reads any file it names.",
             'Files that match the same glob are sorted by path; OpenCode takes them in the order of the disk.',
             'The recordings of version 1.18.33 were made with 1.18.18, because there is no newer build for arm64.',
             'If several skills have the same name, the nearest is listed; in OpenCode, it varies.'],
 'settings': {'user_instructions': [], 'instructions': []},
 'from': {'user_instructions': ['config:opencode/opencode.json#instructions', 'config:opencode/opencode.jsonc#instructions'],
          'instructions': ['walk:opencode.json#instructions', 'walk:opencode.jsonc#instructions']},
 'find': {'user': {'trim': 'none', 'blank': 'keep', 'files': [['config:opencode/AGENTS.md', 'home:.claude/CLAUDE.md']]},
          'agents': {'trim': 'none', 'blank': 'keep', 'walk': 'git-or-root', 'order': 'nearest', 'files': ['walk:AGENTS.md']},
          'claude': {'like': 'agents', 'files': ['walk:CLAUDE.md'], 'when': ['!found:agents']},
          'context': {'like': 'agents', 'files': ['walk:CONTEXT.md'], 'when': ['!found:agents', '!found:claude']},
          'named': {'like': 'agents', 'files': ['walk:{user_instructions}', 'walk:{instructions}']},
          'touched': {'like': 'agents', 'within': 'cwd', 'files': [['down:AGENTS.md', 'down:CLAUDE.md']]},
          'skills': {'as': 'skill',
                     'files': ['walk:.opencode/skills/**/SKILL.md',
                               'walk:.claude/skills/**/SKILL.md',
                               'walk:.agents/skills/**/SKILL.md',
                               'config:opencode/skills/**/SKILL.md',
                               'home:.claude/skills/**/SKILL.md',
                               'home:.agents/skills/**/SKILL.md']}},
 'section': {'base': {'text': "[OpenCode's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'environment': {'text': "[OpenCode's environment block, for {cwd}]"},
             'instructions': {'sections': ['user', 'agents', 'claude', 'context', 'named'], 'join': '\n', 'lifetime': 'project'},
             'user': {'list': 'user', 'item': 'Instructions from: {path}\n{text}'},
             'agents': {'like': 'user', 'list': 'agents'},
             'claude': {'like': 'user', 'list': 'claude'},
             'context': {'like': 'user', 'list': 'context'},
             'named': {'like': 'user', 'list': 'named'},
             'touched': {'like': 'user',
                         'list': 'touched',
                         'role': 'tool',
                         'join': '\n\n',
                         'wrap': '<system-reminder>\n{}\n</system-reminder>'},
             'skills': {'list': 'skills',
                        'item': '  <skill>\n'
                                '    <name>{name}</name>\n'
                                '    <description>{description}</description>\n'
                                '    <location>{path}</location>\n'
                                '  </skill>',
                        'wrap': "[OpenCode's note on skills]\n<available_skills>\n{}\n</available_skills>",
                        'lifetime': 'project'}}}
