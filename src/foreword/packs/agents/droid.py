"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, TextRules, Lookup, Section, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Droid's own instructions]", form=("[Droid's own instructions]", ), item=(), instead=('base', )), Section(name='instructions', lifetime='project', sections=(Section(name='note', lifetime='project', text="[Droid's skills and environment, for {cwd}]", form=("[Droid's skills and environment, for ", Field(name='cwd'), ']', ), item=()), Section(name='project', lifetime='project', list_name='project', item=('% cat ', Field(name='path'), '\n<coding_guidelines>\n', Field(name='text'), '\n</coding_guidelines>', ), trim=False, over='cut', bytes=80000, bytes_cut='last'), Section(name='user', lifetime='project', list_name='user', item=('% cat ', Field(name='path', filters=('tilde', )), '\n<coding_guidelines>\n', Field(name='text'), '\n</coding_guidelines>', ), trim=False, over='cut'), ), item=(), wrap=('<system-reminder>\n', Field(name=''), '\n</system-reminder>', ), trim=False, role='user'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='droid',
    address='$agents/droid',
    about="Droid: one user message with the files of each directory from the working directory up to the git root, then the user's.",
    lookups=(Lookup(name='project', groups=((Pattern(place='walk', path='CLAUDE.md'), ), (Pattern(place='walk', path='AGENTS.md'), Pattern(place='walk', path='agents.md'), ), (Pattern(place='walk', path='.factory/AGENTS.md'), ), (Pattern(place='walk', path='.agents/AGENTS.md'), ), ), copies='keep', rules=TextRules(trim='ends', blank='keep'), order='nearest', is_mirror=True), Lookup(name='user', groups=((Pattern(place='home', path='.factory/AGENTS.md'), ), (Pattern(place='home', path='.agents/AGENTS.md'), ), ), copies='keep', rules=TextRules(trim='ends', blank='keep'), is_mirror=True), ),
    on={'turn': 'announce'},
    mirrors='Droid 0.225.2',
    program={'command': 'droid'},
    raw=True,
    line_ends='keep',
    differs=("Droid's own instructions, its environment and its list of skills are replaced by notes in brackets.", "The limit of 80,000 applies to the bytes of the project's files; Droid counts the characters of all files, and puts a mark of its own.", 'An empty file counts as absent, and links to the same file are all read; Droid sends an empty item, and each file once.', ),
    detected_by=('.factory/', ),
    touch=Touch(sections=(Section(name='touched', lifetime='conversation', list_name='touched', item=('## ', Field(name='path'), '\n<coding_guidelines>\n', Field(name='text'), '\n</coding_guidelines>', ), wrap=('<system-reminder>\n', Field(name=''), '\n</system-reminder>', ), trim=False, over='cut', role='user'), ), lookups=(Lookup(name='touched', groups=((Pattern(place='down', path='CLAUDE.md'), ), (Pattern(place='down', path='AGENTS.md'), Pattern(place='down', path='agents.md'), ), (Pattern(place='down', path='.factory/AGENTS.md'), ), (Pattern(place='down', path='.agents/AGENTS.md'), ), ), copies='keep', rules=TextRules(trim='ends', blank='keep'), is_mirror=True), ), on=('read', 'edit', 'create', )),
    align={'files': ['AGENTS.md'], 'skills': '.factory/skills'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': "Droid: one user message with the files of each directory from the working directory up to the git root, then the user's.",
 'mirrors': 'Droid 0.225.2',
 'program': {'command': 'droid'},
 'detected_by': ['.factory/'],
 'copies': 'keep',
 'raw': True,
 'line_ends': 'keep',
 'sections': ['base', 'instructions'],
 'touch': {'sections': ['touched']},
 'on': {'turn': 'announce'},
 'differs': ["Droid's own instructions, its environment and its list of skills are replaced by notes in brackets.",
             "The limit of 80,000 applies to the bytes of the project's files; Droid counts the characters of all files, and puts a mark "
             'of its own.',
             'An empty file counts as absent, and links to the same file are all read; Droid sends an empty item, and each file once.'],
 'find': {'project': {'trim': 'ends',
                      'blank': 'keep',
                      'order': 'nearest',
                      'files': ['walk:CLAUDE.md',
                                ['walk:AGENTS.md', 'walk:agents.md'],
                                'walk:.factory/AGENTS.md',
                                'walk:.agents/AGENTS.md']},
          'user': {'trim': 'ends', 'blank': 'keep', 'files': ['home:.factory/AGENTS.md', 'home:.agents/AGENTS.md']},
          'touched': {'trim': 'ends',
                      'blank': 'keep',
                      'files': ['down:CLAUDE.md',
                                ['down:AGENTS.md', 'down:agents.md'],
                                'down:.factory/AGENTS.md',
                                'down:.agents/AGENTS.md']}},
 'section': {'base': {'text': "[Droid's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'instructions': {'sections': ['note', 'project', 'user'],
                              'role': 'user',
                              'lifetime': 'project',
                              'wrap': '<system-reminder>\n{}\n</system-reminder>'},
             'note': {'text': "[Droid's skills and environment, for {cwd}]"},
             'project': {'list': 'project',
                         'join': '\n\n',
                         'bytes': 80000,
                         'bytes_cut': 'last',
                         'item': '% cat {path}\n<coding_guidelines>\n{text}\n</coding_guidelines>'},
             'user': {'list': 'user', 'join': '\n\n', 'item': '% cat {path|tilde}\n<coding_guidelines>\n{text}\n</coding_guidelines>'},
             'touched': {'list': 'touched',
                         'join': '\n\n',
                         'item': '## {path}\n<coding_guidelines>\n{text}\n</coding_guidelines>',
                         'wrap': '<system-reminder>\n{}\n</system-reminder>'}},
 'align': {'files': ['AGENTS.md'], 'skills': '.factory/skills'}}
