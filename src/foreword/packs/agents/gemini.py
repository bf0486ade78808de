"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, ConfigValue, Imports, TextRules, Lookup, Section, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Gemini CLI's own instructions]", form=("[Gemini CLI's own instructions]", ), item=(), instead=('base', )), Section(name='skills', lifetime='project', list_name='skills', item=('  <skill>\n    <name>', Field(name='name', filters=('portable', )), '</name>\n    <description>', Field(name='description'), '</description>\n    <location>', Field(name='path'), '</location>\n  </skill>', ), join='\n', wrap=('<available_skills>\n', Field(name=''), '\n</available_skills>', ), trim=False, over='shorten'), Section(name='user', lifetime='project', list_name='user', item=('--- Context from: ', Field(name='path'), ' ---\n', Field(name='text'), '\n--- End of Context from: ', Field(name='path'), ' ---', ), wrap=('<loaded_context>\n', Field(name=''), '\n</loaded_context>', ), trim=False, over='cut'), Section(name='session', lifetime='project', sections=(Section(name='environment', lifetime='project', text="[Gemini CLI's date, platform and tree of folders, for {cwd}]", form=("[Gemini CLI's date, platform and tree of folders, for ", Field(name='cwd'), ']', ), item=()), Section(name='loaded', lifetime='project', sections=(Section(name='extensions', lifetime='project', list_name='extensions', item=('--- Context from: ', Field(name='path'), ' ---\n', Field(name='text'), '\n--- End of Context from: ', Field(name='path'), ' ---', ), wrap=('<extension_context>\n', Field(name=''), '\n</extension_context>', ), trim=False, over='cut'), Section(name='project', lifetime='project', list_name='project', item=('--- Context from: ', Field(name='path'), ' ---\n', Field(name='text'), '\n--- End of Context from: ', Field(name='path'), ' ---', ), wrap=('<project_context>\n', Field(name=''), '\n</project_context>', ), trim=False, over='cut'), ), item=(), join='\n', wrap=('<loaded_context>\n', Field(name=''), '\n</loaded_context>', ), trim=False), ), item=(), join='\n', wrap=('<session_context>\n', Field(name=''), '\n</session_context>', ), trim=False, role='user'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='gemini',
    address='$agents/gemini',
    about="Gemini CLI: the user's GEMINI.md in the system prompt, those from the git root to the working directory in the first user message.",
    lookups=(Lookup(name='user', groups=((Pattern(place='home', path='.gemini/GEMINI.md'), ), ), copies='texts', rules=TextRules(trim='ends', imports=Imports(place='replace', tokens='loose', once='chain', trim='none', form=('<!-- Imported from: ', Field(name='name'), ' -->\n', Field(name='text'), '\n<!-- End of import from: ', Field(name='name'), ' -->', ), missing=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), outside=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), repeated=('<!-- File already processed: ', Field(name='name'), ' -->', )), repair='fields'), is_mirror=True), Lookup(name='project', groups=((Pattern(place='walk', path='GEMINI.md'), ), ), copies='texts', rules=TextRules(trim='ends', imports=Imports(place='replace', tokens='loose', once='chain', trim='none', form=('<!-- Imported from: ', Field(name='name'), ' -->\n', Field(name='text'), '\n<!-- End of import from: ', Field(name='name'), ' -->', ), missing=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), outside=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), repeated=('<!-- File already processed: ', Field(name='name'), ' -->', )), repair='fields'), order='path', markers=('.git', ), is_mirror=True), Lookup(name='extensions', groups=(), copies='texts', rules=TextRules(trim='ends', imports=Imports(place='replace', tokens='loose', once='chain', trim='none', form=('<!-- Imported from: ', Field(name='name'), ' -->\n', Field(name='text'), '\n<!-- End of import from: ', Field(name='name'), ' -->', ), missing=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), outside=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), repeated=('<!-- File already processed: ', Field(name='name'), ' -->', )), repair='fields'), is_mirror=True), Lookup(name='skills', groups=((Pattern(place='home', path='.gemini/skills/*/SKILL.md'), ), (Pattern(place='home', path='.agents/skills/*/SKILL.md'), ), (Pattern(place='cwd', path='.gemini/skills/*/SKILL.md'), ), (Pattern(place='cwd', path='.agents/skills/*/SKILL.md'), ), ), kind='skill', copies='texts', rules=TextRules(trim='none', repair='fields'), order='found', same_name='last', described='empty', skips=('no-name', ), disabled='list', is_mirror=True), ),
    settings={'names': ['GEMINI.md'], 'project_names': ['GEMINI.md'], 'markers': ['.git'], 'directories': [], 'own_directories': [], 'extensions': []},
    on={'turn': 'gather'},
    mirrors='Gemini CLI 0.61.0',
    program={'command': 'gemini', 'prompt': 5299, 'tools': 1461},
    raw=True,
    encoding='any',
    line_ends='keep',
    differs=("Gemini CLI's own instructions, the date and the tree of folders are replaced by notes in brackets.", 'The comment for an import that failed gives the reason in different words.', "Gemini CLI's own skills are not listed. Skills in one folder are sorted by name; Gemini CLI takes them in the order of the disk.", "Names in a project's settings apply only to the project's files; in Gemini CLI, they also apply to the user's files. Folders that they include must be inside the workspace, and their boundary markers are ignored.", 'The setting importFormat and disabled extensions are ignored.', ),
    detected_by=('GEMINI.md', '.gemini/', ),
    config=(ConfigValue(setting='names', pattern=Pattern(place='home', path='.gemini/settings.json'), key=('context', 'fileName', ), add='before'), ConfigValue(setting='project_names', pattern=Pattern(place='home', path='.gemini/settings.json'), key=('context', 'fileName', ), add='before'), ConfigValue(setting='project_names', pattern=Pattern(place='cwd', path='.gemini/settings.json'), key=('context', 'fileName', ), add='before'), ConfigValue(setting='markers', pattern=Pattern(place='home', path='.gemini/settings.json'), key=('context', 'memoryBoundaryMarkers', )), ConfigValue(setting='directories', pattern=Pattern(place='home', path='.gemini/settings.json'), key=('context', 'includeDirectories', )), ConfigValue(setting='own_directories', pattern=Pattern(place='cwd', path='.gemini/settings.json'), key=('context', 'includeDirectories', )), ConfigValue(setting='extensions', pattern=Pattern(place='home', path='.gemini/extensions/*/gemini-extension.json'), key=('contextFileName', ), add='after', beside='GEMINI.md'), ),
    touch=Touch(sections=(Section(name='touched', lifetime='project', list_name='touched', item=('--- Context from: ', Field(name='path'), ' ---\n', Field(name='text'), '\n--- End of Context from: ', Field(name='path'), ' ---', ), wrap=('--- Newly Discovered Project Context ---\n', Field(name=''), '\n--- End Project Context ---', ), trim=False, over='cut', role='tool'), ), lookups=(Lookup(name='touched', groups=((Pattern(place='down', path='GEMINI.md'), ), ), copies='texts', rules=TextRules(trim='ends', imports=Imports(place='replace', tokens='loose', once='chain', trim='none', form=('<!-- Imported from: ', Field(name='name'), ' -->\n', Field(name='text'), '\n<!-- End of import from: ', Field(name='name'), ' -->', ), missing=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), outside=('<!-- Import failed: ', Field(name='name'), ' - ', Field(name='reason'), ' -->', ), repeated=('<!-- File already processed: ', Field(name='name'), ' -->', )), repair='fields'), within='cwd', is_mirror=True), ), on=('read', 'edit', 'create', )),
    align={'files': ['GEMINI.md'], 'import': '@{path}', 'setting': '.gemini/settings.json#context.fileName', 'skills': '.gemini/skills'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': "Gemini CLI: the user's GEMINI.md in the system prompt, those from the git root to the working directory in the first user "
          'message.',
 'mirrors': 'Gemini CLI 0.61.0',
 'program': {'command': 'gemini', 'prompt': 5299, 'tools': 1461},
 'detected_by': ['GEMINI.md', '.gemini/'],
 'copies': 'texts',
 'raw': True,
 'encoding': 'any',
 'line_ends': 'keep',
 'repair': 'fields',
 'sections': ['base', 'skills', 'user', 'session'],
 'touch': {'sections': ['touched']},
 'on': {'turn': 'gather'},
 'differs': ["Gemini CLI's own instructions, the date and the tree of folders are replaced by notes in brackets.",
             'The comment for an import that failed gives the reason in different words.',
             "Gemini CLI's own skills are not listed. Skills in one folder are sorted by name; Gemini CLI takes them in the order of the "
             'disk.',
             "Names in a project's settings apply only to the project's files; in Gemini CLI, they also apply to the user's files. Folders "
             'that they include must be inside the workspace, and their boundary markers are ignored.',
             'The setting importFormat and disabled extensions are ignored.'],
 'settings': {'names': ['GEMINI.md'],
              'project_names': ['GEMINI.md'],
              'markers': ['.git'],
              'directories': [],
              'own_directories': [],
              'extensions': []},
 'from': {'names': [{'at': 'home:.gemini/settings.json#context.fileName', 'add': 'before'}],
          'project_names': [{'at': 'home:.gemini/settings.json#context.fileName', 'add': 'before'},
                            {'at': 'cwd:.gemini/settings.json#context.fileName', 'add': 'before'}],
          'markers': ['home:.gemini/settings.json#context.memoryBoundaryMarkers'],
          'directories': ['home:.gemini/settings.json#context.includeDirectories'],
          'own_directories': ['cwd:.gemini/settings.json#context.includeDirectories'],
          'extensions': [{'at': 'home:.gemini/extensions/*/gemini-extension.json#contextFileName', 'beside': 'GEMINI.md', 'add': 'after'}]},
 'find': {'user': {'trim': 'ends',
                   'files': ['home:.gemini/{names}'],
                   'imports': {'tokens': 'loose',
                               'depth': 5,
                               'place': 'replace',
                               'once': 'chain',
                               'trim': 'none',
                               'form': '<!-- Imported from: {name} -->\n{text}\n<!-- End of import from: {name} -->',
                               'missing': '<!-- Import failed: {name} - {reason} -->',
                               'outside': '<!-- Import failed: {name} - {reason} -->',
                               'repeated': '<!-- File already processed: {name} -->'}},
          'project': {'like': 'user',
                      'order': 'path',
                      'markers': ['{markers}'],
                      'files': ['walk:{project_names}', 'path:{directories}/{project_names}', 'path:{own_directories}/{project_names}']},
          'extensions': {'like': 'user', 'files': ['path:{extensions}']},
          'skills': {'as': 'skill',
                     'skips': ['no-name'],
                     'described': 'empty',
                     'disabled': 'list',
                     'order': 'found',
                     'trim': 'none',
                     'same_name': 'last',
                     'files': ['home:.gemini/skills/*/SKILL.md',
                               'home:.agents/skills/*/SKILL.md',
                               'cwd:.gemini/skills/*/SKILL.md',
                               'cwd:.agents/skills/*/SKILL.md']},
          'touched': {'within': 'cwd', 'like': 'user', 'files': ['down:{project_names}']}},
 'section': {'base': {'text': "[Gemini CLI's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'skills': {'list': 'skills',
                        'lifetime': 'project',
                        'item': '  <skill>\n'
                                '    <name>{name|portable}</name>\n'
                                '    <description>{description}</description>\n'
                                '    <location>{path}</location>\n'
                                '  </skill>',
                        'wrap': '<available_skills>\n{}\n</available_skills>'},
             'user': {'list': 'user',
                      'lifetime': 'project',
                      'item': '--- Context from: {path} ---\n{text}\n--- End of Context from: {path} ---',
                      'join': '\n\n',
                      'wrap': '<loaded_context>\n{}\n</loaded_context>'},
             'session': {'sections': ['environment', 'loaded'],
                         'role': 'user',
                         'lifetime': 'project',
                         'join': '\n',
                         'wrap': '<session_context>\n{}\n</session_context>'},
             'environment': {'text': "[Gemini CLI's date, platform and tree of folders, for {cwd}]"},
             'loaded': {'sections': ['extensions', 'project'], 'join': '\n', 'wrap': '<loaded_context>\n{}\n</loaded_context>'},
             'extensions': {'like': 'user', 'list': 'extensions', 'wrap': '<extension_context>\n{}\n</extension_context>'},
             'project': {'like': 'user', 'list': 'project', 'wrap': '<project_context>\n{}\n</project_context>'},
             'touched': {'like': 'user',
                         'list': 'touched',
                         'role': 'tool',
                         'wrap': '--- Newly Discovered Project Context ---\n{}\n--- End Project Context ---'}},
 'align': {'files': ['GEMINI.md'], 'import': '@{path}', 'setting': '.gemini/settings.json#context.fileName', 'skills': '.gemini/skills'}}
