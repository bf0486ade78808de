"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, TextRules, Lookup, Section, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[gptme's own instructions]", form=("[gptme's own instructions]", ), item=(), instead=('base', )), Section(name='files', lifetime='project', sections=(Section(name='user', lifetime='project', list_name='user', item=('````', Field(name='path'), '\n', Field(name='text'), '\n````', ), trim=False, over='cut'), Section(name='project', lifetime='project', list_name='project', item=('````', Field(name='path'), '\n', Field(name='text'), '\n````', ), trim=False, over='cut'), ), item=(), trim=False), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='gptme',
    address='$agents/gptme',
    about="gptme: every instruction file it knows, from the user's folder and the filesystem root down to the working directory.",
    lookups=(Lookup(name='user', groups=((Pattern(place='config', path='gptme/AGENTS.md'), ), (Pattern(place='config', path='gptme/CLAUDE.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep'), is_mirror=True), Lookup(name='project', groups=((Pattern(place='walk', path='AGENTS.md'), ), (Pattern(place='walk', path='CLAUDE.md'), ), (Pattern(place='walk', path='COPILOT.md'), ), (Pattern(place='walk', path='GEMINI.md'), ), (Pattern(place='walk', path='.github/copilot-instructions.md'), ), (Pattern(place='walk', path='.cursorrules'), ), (Pattern(place='walk', path='.windsurfrules'), ), ), walk='root', copies='keep', rules=TextRules(trim='none', blank='keep'), is_mirror=True), ),
    on={'turn': 'gather'},
    mirrors='gptme 0.35.1',
    program={'command': 'gptme'},
    raw=True,
    differs=("gptme's own instructions and its list of files are replaced by notes in brackets, and the user's skills are not listed.", 'Files are read from the filesystem root down; if the working directory is below the home directory, gptme starts there.', 'README.md and .cursor/rules, which gptme adds as files of the project, are not read. A file is not cut after 100,000 characters.', 'An empty file counts as absent, and on a touch all files are sent; gptme sends an empty item, and at most three files a touch.', ),
    detected_by=('gptme.toml', ),
    touch=Touch(sections=(Section(name='touched', lifetime='conversation', list_name='touched', item=('````', Field(name='path'), '\n', Field(name='text'), '\n````', ), trim=False, over='cut'), ), lookups=(Lookup(name='touched', groups=((Pattern(place='down', path='AGENTS.md'), ), (Pattern(place='down', path='CLAUDE.md'), ), (Pattern(place='down', path='COPILOT.md'), ), (Pattern(place='down', path='GEMINI.md'), ), (Pattern(place='down', path='.github/copilot-instructions.md'), ), (Pattern(place='down', path='.cursorrules'), ), (Pattern(place='down', path='.windsurfrules'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep'), order='nearest', is_mirror=True), ), on=('read', 'edit', 'create', )),
    align={'files': ['AGENTS.md']},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': "gptme: every instruction file it knows, from the user's folder and the filesystem root down to the working directory.",
 'mirrors': 'gptme 0.35.1',
 'program': {'command': 'gptme'},
 'detected_by': ['gptme.toml'],
 'copies': 'keep',
 'raw': True,
 'sections': ['base', 'files'],
 'touch': {'sections': ['touched']},
 'on': {'turn': 'gather'},
 'differs': ["gptme's own instructions and its list of files are replaced by notes in brackets, and the user's skills are not listed.",
             'Files are read from the filesystem root down; if the working directory is below the home directory, gptme starts there.',
             'README.md and .cursor/rules, which gptme adds as files of the project, are not read. A file is not cut after 100,000 '
             'characters.',
             'An empty file counts as absent, and on a touch all files are sent; gptme sends an empty item, and at most three files a '
             'touch.'],
 'find': {'user': {'trim': 'none', 'blank': 'keep', 'files': ['config:gptme/AGENTS.md', 'config:gptme/CLAUDE.md']},
          'project': {'trim': 'none',
                      'blank': 'keep',
                      'walk': 'root',
                      'files': ['walk:AGENTS.md',
                                'walk:CLAUDE.md',
                                'walk:COPILOT.md',
                                'walk:GEMINI.md',
                                'walk:.github/copilot-instructions.md',
                                'walk:.cursorrules',
                                'walk:.windsurfrules']},
          'touched': {'trim': 'none',
                      'blank': 'keep',
                      'order': 'nearest',
                      'files': ['down:AGENTS.md',
                                'down:CLAUDE.md',
                                'down:COPILOT.md',
                                'down:GEMINI.md',
                                'down:.github/copilot-instructions.md',
                                'down:.cursorrules',
                                'down:.windsurfrules']}},
 'section': {'base': {'text': "[gptme's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'files': {'sections': ['user', 'project'], 'lifetime': 'project'},
             'user': {'list': 'user', 'join': '\n\n', 'item': '````{path}\n{text}\n````'},
             'project': {'like': 'user', 'list': 'project'},
             'touched': {'like': 'user', 'list': 'touched', 'role': 'system'}},
 'align': {'files': ['AGENTS.md']}}
