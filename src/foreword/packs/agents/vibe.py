"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, TextRules, Lookup, Section, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Vibe's own instructions]", form=("[Vibe's own instructions]", ), item=(), instead=('base', )), Section(name='user', lifetime='project', list_name='user', item=('Contents of ', Field(name='path'), ' (user-level instructions):\n\n', Field(name='text'), ), join='\n', wrap=('## User instructions\n\n', Field(name=''), ), trim=False, over='cut'), Section(name='project', lifetime='project', list_name='project', item=('Contents of ', Field(name='path'), ':\n\n', Field(name='text'), ), wrap=('## Project instructions (checked into the codebase)\n\n', Field(name=''), ), trim=False, over='cut'), Section(name='skills', lifetime='project', list_name='skills', item=('  <skill>\n    <name>', Field(name='name', filters=('xml-quotes', )), '</name>\n    <description>', Field(name='description', filters=('xml-quotes', )), '</description>\n    <path>', Field(name='path'), '</path>\n  </skill>', ), join='\n', wrap=("[Vibe's note on skills]\n<available-skills>\n", Field(name=''), '\n</available-skills>', ), trim=False, over='shorten'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='vibe',
    address='$agents/vibe',
    about="Mistral Vibe: the user's AGENTS.md and those from the git root to the working directory in the system prompt.",
    lookups=(Lookup(name='user', groups=((Pattern(place='env', path='AGENTS.md', variable='VIBE_HOME', default='~/.vibe'), ), ), copies='keep', rules=TextRules(trim='ends', line_ends='all'), is_mirror=True), Lookup(name='project', groups=((Pattern(place='walk', path='AGENTS.md'), ), ), copies='keep', rules=TextRules(trim='ends', line_ends='all'), is_mirror=True), Lookup(name='skills', groups=((Pattern(place='cwd', path='.vibe/skills/*/SKILL.md'), ), (Pattern(place='cwd', path='.agents/skills/*/SKILL.md'), ), (Pattern(place='env', path='skills/*/SKILL.md', variable='VIBE_HOME', default='~/.vibe'), ), (Pattern(place='home', path='.agents/skills/*/SKILL.md'), ), ), kind='skill', copies='keep', rules=TextRules(trim='none'), order='found', hidden=True, skips=('yaml', 'no-name', 'no-text', 'long-name', 'spec-name', 'long-description', ), is_mirror=True), ),
    on={'turn': 'gather'},
    mirrors='Mistral Vibe 3.0.2',
    program={'command': 'vibe', 'prompt': 4247, 'tools': 2950},
    raw=True,
    line_ends='keep',
    differs=("A user's file that is not UTF-8 is left out; Vibe guesses its encoding.", "Vibe's own instructions are replaced by notes in brackets, and its own skills are not listed. Skills in one folder are sorted by name; Vibe takes them in the order of the disk.", 'Which folders the user trusts in Vibe is not known: files are read from the git root down, as if that were trusted; Vibe starts at the nearest trusted folder.', 'Vibe also leaves out skills with fields of another type than it expects, such as a license that is a list, and accepts fields with the same name.', ),
    detected_by=('AGENTS.md', '.vibe/', ),
    touch=Touch(sections=(Section(name='touched', lifetime='conversation', list_name='touched', item=('Contents of ', Field(name='path'), ' (project instructions for this directory):\n\n', Field(name='text'), ), wrap=('<vibe_warning>\n', Field(name=''), '\n</vibe_warning>', ), trim=False, over='cut', role='tool'), ), lookups=(Lookup(name='touched', groups=((Pattern(place='down', path='AGENTS.md'), ), ), copies='keep', rules=TextRules(trim='ends', line_ends='all'), within='cwd', is_mirror=True), ), on=('read', 'edit', 'create', )),
    align={'files': ['AGENTS.md'], 'skills': '.vibe/skills'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': "Mistral Vibe: the user's AGENTS.md and those from the git root to the working directory in the system prompt.",
 'mirrors': 'Mistral Vibe 3.0.2',
 'program': {'command': 'vibe', 'prompt': 4247, 'tools': 2950},
 'detected_by': ['AGENTS.md', '.vibe/'],
 'copies': 'keep',
 'raw': True,
 'line_ends': 'keep',
 'sections': ['base', 'user', 'project', 'skills'],
 'touch': {'sections': ['touched']},
 'on': {'turn': 'gather'},
 'differs': ["A user's file that is not UTF-8 is left out; Vibe guesses its encoding.",
             "Vibe's own instructions are replaced by notes in brackets, and its own skills are not listed. Skills in one folder are "
             'sorted by name; Vibe takes them in the order of the disk.',
             'Which folders the user trusts in Vibe is not known: files are read from the git root down, as if that were trusted; Vibe '
             'starts at the nearest trusted folder.',
             'Vibe also leaves out skills with fields of another type than it expects, such as a license that is a list, and accepts '
             'fields with the same name.'],
 'env': {'VIBE_HOME': '~/.vibe'},
 'find': {'user': {'trim': 'ends', 'line_ends': 'all', 'files': ['env:VIBE_HOME/AGENTS.md']},
          'project': {'trim': 'ends', 'line_ends': 'all', 'files': ['walk:AGENTS.md']},
          'skills': {'as': 'skill',
                     'hidden': True,
                     'skips': ['yaml', 'no-name', 'no-text', 'long-name', 'spec-name', 'long-description'],
                     'order': 'found',
                     'trim': 'none',
                     'files': ['cwd:.vibe/skills/*/SKILL.md',
                               'cwd:.agents/skills/*/SKILL.md',
                               'env:VIBE_HOME/skills/*/SKILL.md',
                               'home:.agents/skills/*/SKILL.md']},
          'touched': {'within': 'cwd', 'trim': 'ends', 'line_ends': 'all', 'files': ['down:AGENTS.md']}},
 'section': {'base': {'text': "[Vibe's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'user': {'list': 'user',
                      'lifetime': 'project',
                      'item': 'Contents of {path} (user-level instructions):\n\n{text}',
                      'wrap': '## User instructions\n\n{}'},
             'project': {'list': 'project',
                         'lifetime': 'project',
                         'join': '\n\n',
                         'item': 'Contents of {path}:\n\n{text}',
                         'wrap': '## Project instructions (checked into the codebase)\n\n{}'},
             'skills': {'list': 'skills',
                        'lifetime': 'project',
                        'item': '  <skill>\n'
                                '    <name>{name|xml-quotes}</name>\n'
                                '    <description>{description|xml-quotes}</description>\n'
                                '    <path>{path}</path>\n'
                                '  </skill>',
                        'wrap': "[Vibe's note on skills]\n<available-skills>\n{}\n</available-skills>"},
             'touched': {'list': 'touched',
                         'role': 'tool',
                         'join': '\n\n',
                         'item': 'Contents of {path} (project instructions for this directory):\n\n{text}',
                         'wrap': '<vibe_warning>\n{}\n</vibe_warning>'}},
 'align': {'files': ['AGENTS.md'], 'skills': '.vibe/skills'}}
