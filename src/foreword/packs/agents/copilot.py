"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, Imports, TextRules, Lookup, Section, Layout, with_inner

_SECTIONS = (Section(name='base', lifetime='release', text="[Copilot's own instructions]", form=("[Copilot's own instructions]", ), item=(), instead=('base', )), Section(name='skills', lifetime='project', sections=(Section(name='project', lifetime='project', of='project', item=('<skill>\n  <name>', Field(name='name'), '</name>\n  <description>', Field(name='description'), '</description>\n  <location>project</location>\n</skill>', ), join='\n', trim=False, over='shorten'), Section(name='user', lifetime='project', of='user', item=('<skill>\n  <name>', Field(name='name'), '</name>\n  <description>', Field(name='description'), '</description>\n  <location>user</location>\n</skill>', ), join='\n', trim=False, over='shorten'), ), item=(), join='\n', wrap=('<tools>\n<skill>\n<available_skills>\n', Field(name=''), '\n</available_skills>\n</skill>\n</tools>', ), trim=False), Section(name='instructions', lifetime='project', of='instructions', item=('<custom_instruction>\n', Field(name='text'), '\n</custom_instruction>', ), trim=False, over='cut'), Section(name='rules', lifetime='project', sections=(Section(name='root', lifetime='project', of='root', trim=False, over='cut'), Section(name='root-rules', lifetime='project', of='root-rules', trim=False, over='cut'), Section(name='cwd', lifetime='project', of='cwd', trim=False, over='cut'), Section(name='cwd-rules', lifetime='project', of='cwd-rules', trim=False, over='cut'), ), item=(), trim=False), Section(name='scoped', lifetime='project', sections=(Section(name='scoped-root', lifetime='project', of='scoped-root', item=('| ', Field(name='front.applyTo', filters=('list', )), " | '", Field(name='path', filters=('shortest', )), "' | ", Field(name='front.description'), ' |', ), join='\n', trim=False, over='cut'), Section(name='scoped-rules', lifetime='project', of='scoped-rules', item=('| ', Field(name='front.paths', filters=('list', )), " | '", Field(name='path', filters=('shortest', )), "' | ", Field(name='front.description'), ' |', ), join='\n', trim=False, over='cut'), Section(name='scoped-cwd', lifetime='project', of='scoped-cwd', item=('| ', Field(name='front.applyTo', filters=('list', )), " | '", Field(name='path', filters=('shortest', )), "' | ", Field(name='front.description'), ' |', ), join='\n', trim=False, over='cut'), Section(name='scoped-here', lifetime='project', of='scoped-here', item=('| ', Field(name='front.paths', filters=('list', )), " | '", Field(name='path', filters=('shortest', )), "' | ", Field(name='front.description'), ' |', ), join='\n', trim=False, over='cut'), ), item=(), join='\n', wrap=("[Copilot's note on scoped rules]\n| Pattern | File Path | Description |\n| ------- | --------- | ----------- |\n", Field(name=''), ), trim=False), )
LAYOUT = Layout(
    sections=_SECTIONS,
    every=tuple(with_inner(_SECTIONS)),
    name='copilot',
    address='$agents/copilot',
    about='Copilot CLI: the files of the root, of the working directory and of those between, then rules and a table of scoped rules.',
    lookups=(Lookup(name='instructions', groups=((Pattern(place='home', path='.copilot/copilot-instructions.md'), ), (Pattern(place='root', path='.github/copilot-instructions.md'), ), (Pattern(place='cwd', path='.github/copilot-instructions.md'), ), (Pattern(place='root', path='AGENTS.md'), ), (Pattern(place='root', path='CLAUDE.md'), ), (Pattern(place='root', path='GEMINI.md'), ), (Pattern(place='cwd', path='AGENTS.md'), ), (Pattern(place='cwd', path='CLAUDE.md'), ), (Pattern(place='cwd', path='GEMINI.md'), ), (Pattern(place='between', path='.github/copilot-instructions.md'), ), (Pattern(place='between', path='AGENTS.md'), ), (Pattern(place='between', path='CLAUDE.md'), ), (Pattern(place='between', path='.claude/CLAUDE.md'), ), (Pattern(place='between', path='GEMINI.md'), ), ), copies='first', rules=TextRules(trim='none', blank='keep', imports=Imports(depth=8, place='insert', tokens='punctuated', once='file', trim='tail', form=('\n\n<imported_custom_instruction source="', Field(name='path'), '">\n', Field(name='text'), '\n</imported_custom_instruction>', ), again=('\n\n<imported_custom_instruction source="', Field(name='path'), '" skipped="already-loaded" />', ), files=('AGENTS.md', 'CLAUDE.md', 'copilot-instructions.md', ))), order='nearest'), Lookup(name='project', groups=((Pattern(place='root', path='.agents/skills/*/SKILL.md'), ), (Pattern(place='root', path='.github/skills/*/SKILL.md'), ), (Pattern(place='root', path='.claude/skills/*/SKILL.md'), ), ), kind='skill', copies='first'), Lookup(name='user', groups=((Pattern(place='home', path='.agents/skills/*/SKILL.md'), ), (Pattern(place='home', path='.copilot/skills/*/SKILL.md'), ), ), kind='skill', copies='first'), Lookup(name='root', groups=((Pattern(place='home', path='.copilot/instructions/**/*.instructions.md'), ), (Pattern(place='root', path='.github/instructions/**/*.instructions.md'), ), ), copies='first', rules=TextRules(trim='none'), where=(('applyTo', ('', '**', ), ), )), Lookup(name='root-rules', groups=((Pattern(place='root', path='.claude/rules/**/*.md'), ), (Pattern(place='root', path='.claude/rules/**/*.MD'), ), ), copies='first', rules=TextRules(trim='none'), order='path', where=(('paths', ('', '**', ), ), )), Lookup(name='cwd', groups=((Pattern(place='cwd', path='.github/instructions/**/*.instructions.md'), ), ), copies='first', rules=TextRules(trim='none'), where=(('applyTo', ('', '**', ), ), )), Lookup(name='cwd-rules', groups=((Pattern(place='cwd', path='.claude/rules/**/*.md'), ), (Pattern(place='cwd', path='.claude/rules/**/*.MD'), ), ), copies='first', rules=TextRules(trim='none'), order='path', where=(('paths', ('', '**', ), ), )), Lookup(name='scoped-root', groups=((Pattern(place='home', path='.copilot/instructions/**/*.instructions.md'), ), (Pattern(place='root', path='.github/instructions/**/*.instructions.md'), ), ), copies='first', rules=TextRules(front='drop'), unless=(('applyTo', ('', '**', ), ), )), Lookup(name='scoped-rules', groups=((Pattern(place='root', path='.claude/rules/**/*.md'), ), (Pattern(place='root', path='.claude/rules/**/*.MD'), ), ), copies='first', rules=TextRules(front='drop'), order='path', unless=(('paths', ('', '**', ), ), )), Lookup(name='scoped-cwd', groups=((Pattern(place='cwd', path='.github/instructions/**/*.instructions.md'), ), ), copies='first', rules=TextRules(front='drop'), unless=(('applyTo', ('', '**', ), ), )), Lookup(name='scoped-here', groups=((Pattern(place='cwd', path='.claude/rules/**/*.md'), ), (Pattern(place='cwd', path='.claude/rules/**/*.MD'), ), ), copies='first', rules=TextRules(front='drop'), order='path', unless=(('paths', ('', '**', ), ), )), ),
    mirrors='Copilot CLI 1.0.102',
    raw=True,
    differs=("Copilot's own instructions are replaced by notes in brackets, and its own skills are not listed.", 'Sub-agents are in the description of a tool, which a layout does not show.', 'Lines end with LF; Copilot keeps CRLF.', ),
    signs=('.github/copilot-instructions.md', '.github/instructions/', 'AGENTS.md', ),
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'Copilot CLI: the files of the root, of the working directory and of those between, then rules and a table of scoped rules.',
 'mirrors': 'Copilot CLI 1.0.102',
 'signs': ['.github/copilot-instructions.md', '.github/instructions/', 'AGENTS.md'],
 'copies': 'first',
 'raw': True,
 'sections': ['base', 'skills', 'instructions', 'rules', 'scoped'],
 'differs': ["Copilot's own instructions are replaced by notes in brackets, and its own skills are not listed.",
             'Sub-agents are in the description of a tool, which a layout does not show.',
             'Lines end with LF; Copilot keeps CRLF.'],
 'find': {'instructions': {'trim': 'none',
                           'blank': 'keep',
                           'order': 'nearest',
                           'files': ['home:.copilot/copilot-instructions.md',
                                     'root:.github/copilot-instructions.md',
                                     'cwd:.github/copilot-instructions.md',
                                     'root:AGENTS.md',
                                     'root:CLAUDE.md',
                                     'root:GEMINI.md',
                                     'cwd:AGENTS.md',
                                     'cwd:CLAUDE.md',
                                     'cwd:GEMINI.md',
                                     'between:.github/copilot-instructions.md',
                                     'between:AGENTS.md',
                                     'between:CLAUDE.md',
                                     'between:.claude/CLAUDE.md',
                                     'between:GEMINI.md'],
                           'imports': {'files': ['AGENTS.md', 'CLAUDE.md', 'copilot-instructions.md'],
                                       'tokens': 'punctuated',
                                       'once': 'file',
                                       'depth': 8,
                                       'place': 'insert',
                                       'trim': 'tail',
                                       'form': '\n\n<imported_custom_instruction source="{path}">\n{text}\n</imported_custom_instruction>',
                                       'again': '\n\n<imported_custom_instruction source="{path}" skipped="already-loaded" />'}},
          'project': {'as': 'skill',
                      'files': ['root:.agents/skills/*/SKILL.md', 'root:.github/skills/*/SKILL.md', 'root:.claude/skills/*/SKILL.md']},
          'user': {'as': 'skill', 'files': ['home:.agents/skills/*/SKILL.md', 'home:.copilot/skills/*/SKILL.md']},
          'root': {'trim': 'none',
                   'files': ['home:.copilot/instructions/**/*.instructions.md', 'root:.github/instructions/**/*.instructions.md'],
                   'where': {'applyTo': ['', '**']}},
          'root-rules': {'trim': 'none',
                         'order': 'path',
                         'files': ['root:.claude/rules/**/*.md', 'root:.claude/rules/**/*.MD'],
                         'where': {'paths': ['', '**']}},
          'cwd': {'trim': 'none', 'files': ['cwd:.github/instructions/**/*.instructions.md'], 'where': {'applyTo': ['', '**']}},
          'cwd-rules': {'trim': 'none',
                        'order': 'path',
                        'files': ['cwd:.claude/rules/**/*.md', 'cwd:.claude/rules/**/*.MD'],
                        'where': {'paths': ['', '**']}},
          'scoped-root': {'front': 'drop',
                          'files': ['home:.copilot/instructions/**/*.instructions.md', 'root:.github/instructions/**/*.instructions.md'],
                          'unless': {'applyTo': ['', '**']}},
          'scoped-rules': {'front': 'drop',
                           'order': 'path',
                           'files': ['root:.claude/rules/**/*.md', 'root:.claude/rules/**/*.MD'],
                           'unless': {'paths': ['', '**']}},
          'scoped-cwd': {'front': 'drop', 'files': ['cwd:.github/instructions/**/*.instructions.md'], 'unless': {'applyTo': ['', '**']}},
          'scoped-here': {'front': 'drop',
                          'order': 'path',
                          'files': ['cwd:.claude/rules/**/*.md', 'cwd:.claude/rules/**/*.MD'],
                          'unless': {'paths': ['', '**']}}},
 'section': {'base': {'text': "[Copilot's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'skills': {'sections': ['project', 'user'],
                        'join': '\n',
                        'wrap': '<tools>\n<skill>\n<available_skills>\n{}\n</available_skills>\n</skill>\n</tools>',
                        'lifetime': 'project'},
             'project': {'of': 'project',
                         'item': '<skill>\n'
                                 '  <name>{name}</name>\n'
                                 '  <description>{description}</description>\n'
                                 '  <location>project</location>\n'
                                 '</skill>'},
             'user': {'of': 'user',
                      'item': '<skill>\n'
                              '  <name>{name}</name>\n'
                              '  <description>{description}</description>\n'
                              '  <location>user</location>\n'
                              '</skill>'},
             'instructions': {'of': 'instructions',
                              'item': '<custom_instruction>\n{text}\n</custom_instruction>',
                              'join': '\n\n',
                              'lifetime': 'project'},
             'rules': {'sections': ['root', 'root-rules', 'cwd', 'cwd-rules'], 'lifetime': 'project'},
             'root': {'of': 'root'},
             'root-rules': {'of': 'root-rules'},
             'cwd': {'of': 'cwd'},
             'cwd-rules': {'of': 'cwd-rules'},
             'scoped': {'sections': ['scoped-root', 'scoped-rules', 'scoped-cwd', 'scoped-here'],
                        'join': '\n',
                        'wrap': "[Copilot's note on scoped rules]\n"
                                '| Pattern | File Path | Description |\n'
                                '| ------- | --------- | ----------- |\n'
                                '{}',
                        'lifetime': 'project'},
             'scoped-root': {'of': 'scoped-root', 'item': "| {front.applyTo|list} | '{path|shortest}' | {front.description} |"},
             'scoped-rules': {'of': 'scoped-rules', 'item': "| {front.paths|list} | '{path|shortest}' | {front.description} |"},
             'scoped-cwd': {'of': 'scoped-cwd', 'item': "| {front.applyTo|list} | '{path|shortest}' | {front.description} |"},
             'scoped-here': {'of': 'scoped-here', 'item': "| {front.paths|list} | '{path|shortest}' | {front.description} |"}}}
