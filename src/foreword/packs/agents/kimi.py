"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, TextRules, Lookup, Section, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Kimi Code's own instructions]", form=("[Kimi Code's own instructions]", ), item=(), instead=('base', )), Section(name='instructions', lifetime='project', sections=(Section(name='user', lifetime='project', list_name='user', item=('<!-- From: ', Field(name='path'), ' -->\n', Field(name='text'), ), trim=False, over='cut'), Section(name='project', lifetime='project', list_name='project', item=('<!-- From: ', Field(name='path'), ' -->\n', Field(name='text'), ), trim=False, over='cut'), ), item=(), wrap=('`````````\n', Field(name=''), '\n`````````', ), trim=False), Section(name='skills', lifetime='project', list_name='skills', item=('- ', Field(name='name'), ': ', Field(name='description'), '\n  Path: ', Field(name='path'), ), join='\n', trim=False, over='shorten'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='kimi',
    address='$agents/kimi',
    about='Kimi Code: AGENTS.md of the user, then from the git root to the working directory, in the system prompt.',
    lookups=(Lookup(name='user', groups=((Pattern(place='env', path='AGENTS.md', variable='KIMI_CODE_HOME', default='~/.kimi-code'), ), (Pattern(place='home', path='.agents/AGENTS.md'), ), ), copies='keep', rules=TextRules(trim='ends'), is_mirror=True), Lookup(name='project', groups=((Pattern(place='walk', path='.kimi-code/AGENTS.md'), ), (Pattern(place='walk', path='AGENTS.md'), Pattern(place='walk', path='agents.md'), ), ), copies='keep', rules=TextRules(trim='ends'), is_mirror=True), Lookup(name='skills', groups=((Pattern(place='root', path='.kimi-code/skills/*/**/SKILL.md'), ), (Pattern(place='root', path='.agents/skills/*/**/SKILL.md'), ), (Pattern(place='env', path='skills/*/**/SKILL.md', variable='KIMI_CODE_HOME', default='~/.kimi-code'), ), (Pattern(place='home', path='.agents/skills/*/**/SKILL.md'), ), ), kind='skill', copies='keep', order='layer', hidden=True, skips=('yaml', 'no-name', 'no-text', ), longest=250, used_when='\n  When to use: {}', is_mirror=True), ),
    mirrors='Kimi Code 2.1.0',
    program={'command': 'kimi', 'prompt': 1848, 'tools': 16893},
    raw=True,
    line_ends='keep',
    differs=("Kimi Code's own instructions are replaced by notes in brackets, and its own skills are not listed.", 'Kimi Code puts the files into a code fence that is longer than any inside them; here it always has the same length.', 'Kimi Code also reads the field when-to-use, lists *.md files in the folder of skills, and leaves out skills of the type flow, and of names that differ only in case all but the first.', ),
    detected_by=('.kimi-code/', ),
    touch=Touch(sections=(Section(name='touched', lifetime='conversation', list_name='touched', item=('- ', Field(name='path'), ), join='\n', wrap=("<system-reminder>\n[Kimi Code's note on these files]\n", Field(name=''), '\n</system-reminder>', ), trim=False, over='cut', role='user'), ), lookups=(Lookup(name='touched', groups=((Pattern(place='down', path='.kimi-code/AGENTS.md'), ), (Pattern(place='down', path='AGENTS.md'), Pattern(place='down', path='agents.md'), ), ), copies='keep', rules=TextRules(trim='ends'), markers=('.git', ), is_mirror=True), ), on=('read', 'edit', 'create', )),
    align={'files': ['AGENTS.md'], 'skills': '.kimi-code/skills'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'Kimi Code: AGENTS.md of the user, then from the git root to the working directory, in the system prompt.',
 'mirrors': 'Kimi Code 2.1.0',
 'program': {'command': 'kimi', 'prompt': 1848, 'tools': 16893},
 'detected_by': ['.kimi-code/'],
 'copies': 'keep',
 'raw': True,
 'line_ends': 'keep',
 'sections': ['base', 'instructions', 'skills'],
 'touch': {'sections': ['touched']},
 'env': {'KIMI_CODE_HOME': '~/.kimi-code'},
 'differs': ["Kimi Code's own instructions are replaced by notes in brackets, and its own skills are not listed.",
             'Kimi Code puts the files into a code fence that is longer than any inside them; here it always has the same length.',
             'Kimi Code also reads the field when-to-use, lists *.md files in the folder of skills, and leaves out skills of the type '
             'flow, and of names that differ only in case all but the first.'],
 'find': {'user': {'trim': 'ends', 'files': ['env:KIMI_CODE_HOME/AGENTS.md', 'home:.agents/AGENTS.md']},
          'project': {'trim': 'ends', 'files': ['walk:.kimi-code/AGENTS.md', ['walk:AGENTS.md', 'walk:agents.md']]},
          'skills': {'as': 'skill',
                     'hidden': True,
                     'skips': ['yaml', 'no-name', 'no-text'],
                     'used_when': '\n  When to use: {}',
                     'longest': 250,
                     'order': 'layer',
                     'files': ['root:.kimi-code/skills/*/**/SKILL.md',
                               'root:.agents/skills/*/**/SKILL.md',
                               'env:KIMI_CODE_HOME/skills/*/**/SKILL.md',
                               'home:.agents/skills/*/**/SKILL.md']},
          'touched': {'trim': 'ends', 'markers': ['.git'], 'files': ['down:.kimi-code/AGENTS.md', ['down:AGENTS.md', 'down:agents.md']]}},
 'section': {'base': {'text': "[Kimi Code's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'instructions': {'sections': ['user', 'project'], 'lifetime': 'project', 'wrap': '`````````\n{}\n`````````'},
             'user': {'list': 'user', 'join': '\n\n', 'item': '<!-- From: {path} -->\n{text}'},
             'project': {'like': 'user', 'list': 'project'},
             'skills': {'list': 'skills', 'lifetime': 'project', 'item': '- {name}: {description}\n  Path: {path}'},
             'touched': {'list': 'touched',
                         'item': '- {path}',
                         'wrap': "<system-reminder>\n[Kimi Code's note on these files]\n{}\n</system-reminder>"}},
 'align': {'files': ['AGENTS.md'], 'skills': '.kimi-code/skills'}}
