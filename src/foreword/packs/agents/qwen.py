"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, ConfigValue, Imports, TextRules, Lookup, Section, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Qwen Code's own instructions]", form=("[Qwen Code's own instructions]", ), item=(), instead=('base', )), Section(name='context', lifetime='project', sections=(Section(name='files', lifetime='project', list_name='context', item=('--- Context from: ', Field(name='path', filters=('relative', )), ' ---\n', Field(name='text'), '\n--- End of Context from: ', Field(name='path', filters=('relative', )), ' ---', ), trim=False, over='cut'), Section(name='language', lifetime='project', list_name='language', item=('--- Context from: ', Field(name='path', filters=('relative', )), ' ---\n', Field(name='text'), '\n--- End of Context from: ', Field(name='path', filters=('relative', )), ' ---', ), none="[Qwen Code's note on the language]", trim=False, over='cut'), Section(name='local', lifetime='project', list_name='local', item=('--- Context from: ', Field(name='path', filters=('relative', )), ' ---\n', Field(name='text'), '\n--- End of Context from: ', Field(name='path', filters=('relative', )), ' ---', ), trim=False, over='cut'), Section(name='rules', lifetime='project', list_name='rules', item=('--- Rule from: ', Field(name='path', filters=('root-relative', )), ' ---\n', Field(name='text'), '\n--- End of Rule from: ', Field(name='path', filters=('root-relative', )), ' ---', ), trim=False, over='cut'), ), item=(), wrap=('---\n\n', Field(name=''), '\n\n---', ), trim=False), Section(name='skills', lifetime='project', list_name='skills', item=('<skill>\n<name>\n', Field(name='name', filters=('xml-quotes', )), '\n</name>\n<description>\n', Field(name='description', filters=('xml-quotes', )), ' (', Field(name='layer'), ')\n</description>\n<location>\n', Field(name='layer'), '\n</location>\n</skill>', ), join='\n', wrap=("<system-reminder>\n[Qwen Code's note on skills]\n<available_skills>\n", Field(name=''), '\n</available_skills>\n</system-reminder>', ), trim=False, over='shorten', menu_limit=2143, menu_cut='line', role='user'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='qwen',
    address='$agents/qwen',
    about='Qwen Code: every QWEN.md, then every AGENTS.md, from one directory above the git root down, in the system prompt.',
    lookups=(Lookup(name='context', groups=((Pattern(place='env', path='QWEN.md', variable='QWEN_HOME', default='~/.qwen'), ), (Pattern(place='above', path='QWEN.md'), ), (Pattern(place='walk', path='QWEN.md'), ), (Pattern(place='env', path='AGENTS.md', variable='QWEN_HOME', default='~/.qwen'), ), (Pattern(place='above', path='AGENTS.md'), ), (Pattern(place='walk', path='AGENTS.md'), ), ), walk='git-or-root', copies='texts', rules=TextRules(trim='ends', imports=Imports(place='replace', once='chain', trim='none', form=('<!-- Imported from: ', Field(name='name'), ' -->\n', Field(name='text'), '\n<!-- End of import from: ', Field(name='name'), ' -->', ), outside=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), repeated=('<!-- File already processed: ', Field(name='name'), ' -->', )), repair='rows'), is_mirror=True), Lookup(name='language', groups=((Pattern(place='env', path='output-language.md', variable='QWEN_HOME', default='~/.qwen'), ), ), copies='keep', rules=TextRules(trim='ends', repair='rows'), is_mirror=True), Lookup(name='local', groups=((Pattern(place='root', path='.qwen/QWEN.local.md'), ), ), copies='keep', rules=TextRules(trim='ends', repair='rows'), is_mirror=True), Lookup(name='rules', groups=((Pattern(place='env', path='rules/**/*.md', variable='QWEN_HOME', default='~/.qwen'), ), (Pattern(place='root', path='.qwen/rules/**/*.md'), ), ), copies='keep', rules=TextRules(trim='ends', comments='all', front='drop', line_ends='all', repair='rows'), where=(('paths', ('', ), ), ), is_mirror=True), Lookup(name='skills', groups=((Pattern(place='cwd', path='.qwen/skills/*/SKILL.md'), ), (Pattern(place='cwd', path='.agents/skills/*/SKILL.md'), ), (Pattern(place='env', path='skills/*/SKILL.md', variable='QWEN_HOME', default='~/.qwen'), ), (Pattern(place='home', path='.agents/skills/*/SKILL.md'), ), ), kind='skill', copies='keep', rules=TextRules(trim='none', repair='rows'), hidden=True, scoped='wait', skips=('no-name', 'symbol-name', ), is_mirror=True), ),
    settings={'names': ['QWEN.md', 'AGENTS.md']},
    on={'turn': 'gather'},
    mirrors='Qwen Code 0.24.4',
    program={'command': 'qwen', 'prompt': 7350, 'tools': 5827},
    raw=True,
    encoding='any',
    line_ends='keep',
    differs=("Qwen Code's own instructions are replaced by notes in brackets, and its own skills are not listed.", 'The comment for an import that was refused gives the reason in different words.', 'Outside a repository, a file above the working directory cannot import files above it; Qwen Code inserts them.', "If a project's settings name the files, only the project's are read; Qwen Code also reads the user's files with these names.", 'On a touch, a glob with !(…), ?(…) or *(…) inside a path matches only what is written like that; in Qwen Code, these are patterns.', 'Qwen Code also lists skills whose name or description is a list, and none whose paths are text; it adds when_to_use while its list of skills is short.', ),
    detected_by=('QWEN.md', '.qwen/', ),
    config=(ConfigValue(setting='names', pattern=Pattern(place='env', path='settings.json', variable='QWEN_HOME', default='~/.qwen'), key=('context', 'fileName', )), ConfigValue(setting='names', pattern=Pattern(place='cwd', path='.qwen/settings.json'), key=('context', 'fileName', )), ),
    touch=Touch(sections=(Section(name='reminder', lifetime='conversation', sections=(Section(name='touched', lifetime='conversation', list_name='touched', item=('--- Rule from: ', Field(name='path', filters=('root-relative', )), ' ---\n', Field(name='text'), '\n--- End of Rule from: ', Field(name='path', filters=('root-relative', )), ' ---', ), trim=False, over='cut', role='user'), Section(name='touched_skills', lifetime='conversation', list_name='touched_skills', item=('<skill>\n<name>\n', Field(name='name', filters=('xml-quotes', )), '\n</name>\n<description>\n', Field(name='description', filters=('xml-quotes', )), ' (', Field(name='layer'), ')\n</description>\n<location>\n', Field(name='layer'), '\n</location>\n</skill>', ), join='\n', wrap=("[Qwen Code's note on skills]\n<available_skills>\n", Field(name=''), '\n</available_skills>', ), trim=False, over='shorten', role='user'), ), item=(), wrap=('<system-reminder>\n', Field(name=''), '\n</system-reminder>', ), trim=False, role='tool'), ), lookups=(Lookup(name='touched_skills', groups=((Pattern(place='cwd', path='.qwen/skills/*/SKILL.md'), ), (Pattern(place='cwd', path='.agents/skills/*/SKILL.md'), ), (Pattern(place='env', path='skills/*/SKILL.md', variable='QWEN_HOME', default='~/.qwen'), ), (Pattern(place='home', path='.agents/skills/*/SKILL.md'), ), ), kind='skill', copies='keep', rules=TextRules(trim='none', repair='rows'), hidden=True, match=('paths', ), unscoped='skip', globs='paths', skips=('no-name', 'symbol-name', ), is_mirror=True), Lookup(name='touched', groups=((Pattern(place='env', path='rules/**/*.md', variable='QWEN_HOME', default='~/.qwen'), ), (Pattern(place='root', path='.qwen/rules/**/*.md'), ), ), copies='keep', rules=TextRules(trim='ends', comments='all', front='drop', line_ends='all', repair='rows'), match=('paths', ), unscoped='skip', globs='paths', is_mirror=True), ), on=('read', 'edit', 'create', )),
    align={'files': ['QWEN.md'], 'import': '@{path}', 'rules': '.qwen/rules/{name}.md', 'scope': 'paths', 'skills': '.qwen/skills'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'Qwen Code: every QWEN.md, then every AGENTS.md, from one directory above the git root down, in the system prompt.',
 'mirrors': 'Qwen Code 0.24.4',
 'program': {'command': 'qwen', 'prompt': 7350, 'tools': 5827},
 'detected_by': ['QWEN.md', '.qwen/'],
 'copies': 'keep',
 'raw': True,
 'encoding': 'any',
 'line_ends': 'keep',
 'repair': 'rows',
 'sections': ['base', 'context', 'skills'],
 'touch': {'sections': ['reminder']},
 'on': {'turn': 'gather'},
 'differs': ["Qwen Code's own instructions are replaced by notes in brackets, and its own skills are not listed.",
             'The comment for an import that was refused gives the reason in different words.',
             'Outside a repository, a file above the working directory cannot import files above it; Qwen Code inserts them.',
             "If a project's settings name the files, only the project's are read; Qwen Code also reads the user's files with these names.",
             'On a touch, a glob with !(…), ?(…) or *(…) inside a path matches only what is written like that; in Qwen Code, these are '
             'patterns.',
             'Qwen Code also lists skills whose name or description is a list, and none whose paths are text; it adds when_to_use while '
             'its list of skills is short.'],
 'settings': {'names': ['QWEN.md', 'AGENTS.md']},
 'env': {'QWEN_HOME': '~/.qwen'},
 'from': {'names': ['env:QWEN_HOME/settings.json#context.fileName', 'cwd:.qwen/settings.json#context.fileName']},
 'find': {'context': {'trim': 'ends',
                      'copies': 'texts',
                      'walk': 'git-or-root',
                      'files': ['env:QWEN_HOME/{names}', 'above:{names}', 'walk:{names}'],
                      'imports': {'depth': 5,
                                  'place': 'replace',
                                  'once': 'chain',
                                  'trim': 'none',
                                  'form': '<!-- Imported from: {name} -->\n{text}\n<!-- End of import from: {name} -->',
                                  'outside': '<!-- Import failed: {name} - {reason} -->',
                                  'repeated': '<!-- File already processed: {name} -->'}},
          'language': {'trim': 'ends', 'files': ['env:QWEN_HOME/output-language.md']},
          'local': {'trim': 'ends', 'files': ['root:.qwen/QWEN.local.md']},
          'rules': {'trim': 'ends',
                    'line_ends': 'all',
                    'front': 'drop',
                    'comments': 'all',
                    'files': ['env:QWEN_HOME/rules/**/*.md', 'root:.qwen/rules/**/*.md'],
                    'where': {'paths': ''}},
          'skills': {'as': 'skill',
                     'hidden': True,
                     'scoped': 'wait',
                     'skips': ['no-name', 'symbol-name'],
                     'trim': 'none',
                     'files': ['cwd:.qwen/skills/*/SKILL.md',
                               'cwd:.agents/skills/*/SKILL.md',
                               'env:QWEN_HOME/skills/*/SKILL.md',
                               'home:.agents/skills/*/SKILL.md']},
          'touched_skills': {'as': 'skill',
                             'hidden': True,
                             'globs': 'paths',
                             'skips': ['no-name', 'symbol-name'],
                             'trim': 'none',
                             'match': ['paths'],
                             'unscoped': 'skip',
                             'files': ['cwd:.qwen/skills/*/SKILL.md',
                                       'cwd:.agents/skills/*/SKILL.md',
                                       'env:QWEN_HOME/skills/*/SKILL.md',
                                       'home:.agents/skills/*/SKILL.md']},
          'touched': {'globs': 'paths',
                      'trim': 'ends',
                      'line_ends': 'all',
                      'front': 'drop',
                      'comments': 'all',
                      'match': ['paths'],
                      'unscoped': 'skip',
                      'files': ['env:QWEN_HOME/rules/**/*.md', 'root:.qwen/rules/**/*.md']}},
 'section': {'base': {'text': "[Qwen Code's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'context': {'sections': ['files', 'language', 'local', 'rules'], 'lifetime': 'project', 'wrap': '---\n\n{}\n\n---'},
             'files': {'list': 'context',
                       'join': '\n\n',
                       'item': '--- Context from: {path|relative} ---\n{text}\n--- End of Context from: {path|relative} ---'},
             'language': {'like': 'files', 'list': 'language', 'none': "[Qwen Code's note on the language]"},
             'local': {'like': 'files', 'list': 'local'},
             'rules': {'list': 'rules',
                       'join': '\n\n',
                       'item': '--- Rule from: {path|root-relative} ---\n{text}\n--- End of Rule from: {path|root-relative} ---'},
             'skills': {'list': 'skills',
                        'menu_limit': 2143,
                        'menu_cut': 'line',
                        'role': 'user',
                        'join': '\n',
                        'lifetime': 'project',
                        'item': '<skill>\n'
                                '<name>\n'
                                '{name|xml-quotes}\n'
                                '</name>\n'
                                '<description>\n'
                                '{description|xml-quotes} ({layer})\n'
                                '</description>\n'
                                '<location>\n'
                                '{layer}\n'
                                '</location>\n'
                                '</skill>',
                        'wrap': '<system-reminder>\n'
                                "[Qwen Code's note on skills]\n"
                                '<available_skills>\n'
                                '{}\n'
                                '</available_skills>\n'
                                '</system-reminder>'},
             'reminder': {'sections': ['touched', 'touched_skills'],
                          'role': 'tool',
                          'join': '\n\n',
                          'wrap': '<system-reminder>\n{}\n</system-reminder>'},
             'touched': {'like': 'rules', 'list': 'touched'},
             'touched_skills': {'list': 'touched_skills',
                                'join': '\n',
                                'item': '<skill>\n'
                                        '<name>\n'
                                        '{name|xml-quotes}\n'
                                        '</name>\n'
                                        '<description>\n'
                                        '{description|xml-quotes} ({layer})\n'
                                        '</description>\n'
                                        '<location>\n'
                                        '{layer}\n'
                                        '</location>\n'
                                        '</skill>',
                                'wrap': "[Qwen Code's note on skills]\n<available_skills>\n{}\n</available_skills>"}},
 'align': {'files': ['QWEN.md'], 'import': '@{path}', 'rules': '.qwen/rules/{name}.md', 'scope': 'paths', 'skills': '.qwen/skills'}}
