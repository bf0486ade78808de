"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, TextRules, Lookup, Section, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Continue's own instructions]", form=("[Continue's own instructions]", ), item=(), instead=('base', )), Section(name='rules', lifetime='project', sections=(Section(name='project', lifetime='project', list_name='project', trim=False, over='cut'), Section(name='own', lifetime='project', list_name='rules', trim=False, over='cut'), Section(name='user', lifetime='project', list_name='user', trim=False, over='cut'), ), item=(), wrap=('<context name="userRules">\n', Field(name=''), '\n</context>', ), trim=False), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='continue',
    address='$agents/continue',
    about="Continue: the instruction file and the rules of the working directory, then the user's rules, in the system prompt.",
    lookups=(Lookup(name='project', groups=((Pattern(place='cwd', path='AGENTS.md'), Pattern(place='cwd', path='AGENT.md'), Pattern(place='cwd', path='CLAUDE.md'), Pattern(place='cwd', path='CODEX.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='keep', fences='sections'), is_mirror=True), Lookup(name='rules', groups=((Pattern(place='cwd', path='.continue/rules/**/*.md'), ), ), copies='keep', rules=TextRules(trim='none', front='drop-ends', line_ends='lf', fences='sections'), hidden=True, where=(('globs', ('', ), ), ('regex', ('', ), ), ('alwaysApply', ('', 'true', ), ), ('invokable', ('', 'false', 'False', 'FALSE', ), ), ), unless=(('alwaysApply', ('false', ), ), ('invokable', ('true', ), ), ), always=(('alwaysApply', ('true', ), ), ), is_mirror=True), Lookup(name='user', groups=((Pattern(place='home', path='.continue/rules/**/*.md'), ), ), copies='keep', rules=TextRules(trim='none', front='drop-ends', line_ends='lf', fences='sections'), hidden=True, where=(('globs', ('', ), ), ('regex', ('', ), ), ('alwaysApply', ('', 'true', ), ), ('invokable', ('', 'false', 'False', 'FALSE', ), ), ), unless=(('alwaysApply', ('false', ), ), ('invokable', ('true', ), ), ), always=(('alwaysApply', ('true', ), ), ), is_mirror=True), ),
    on={'turn': 'gather'},
    mirrors='Continue 1.5.47',
    program={'command': 'cn', 'prompt': 282, 'tools': 1280},
    raw=True,
    encoding='raw',
    line_ends='keep',
    differs=("Continue's own instructions are replaced by notes in brackets, and its skills are not listed.", 'A rule with alwaysApply in quotes or without a value, or with an empty list of globs, is sent; Continue leaves it out.', ),
    detected_by=('.continue/', ),
    align={'files': ['AGENTS.md'], 'rules': '.continue/rules/{name}.md', 'scope': 'globs'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': "Continue: the instruction file and the rules of the working directory, then the user's rules, in the system prompt.",
 'mirrors': 'Continue 1.5.47',
 'program': {'command': 'cn', 'prompt': 282, 'tools': 1280},
 'detected_by': ['.continue/'],
 'copies': 'keep',
 'raw': True,
 'encoding': 'raw',
 'line_ends': 'keep',
 'fences': 'sections',
 'sections': ['base', 'rules'],
 'on': {'turn': 'gather'},
 'differs': ["Continue's own instructions are replaced by notes in brackets, and its skills are not listed.",
             'A rule with alwaysApply in quotes or without a value, or with an empty list of globs, is sent; Continue leaves it out.'],
 'find': {'project': {'trim': 'none', 'blank': 'keep', 'files': [['cwd:AGENTS.md', 'cwd:AGENT.md', 'cwd:CLAUDE.md', 'cwd:CODEX.md']]},
          'rules': {'hidden': True,
                    'trim': 'none',
                    'line_ends': 'lf',
                    'front': 'drop-ends',
                    'files': ['cwd:.continue/rules/**/*.md'],
                    'where': {'globs': '', 'regex': '', 'alwaysApply': ['', 'true'], 'invokable': ['', 'false', 'False', 'FALSE']},
                    'always': {'alwaysApply': True},
                    'unless': {'alwaysApply': False, 'invokable': True}},
          'user': {'like': 'rules', 'files': ['home:.continue/rules/**/*.md']}},
 'section': {'base': {'text': "[Continue's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'rules': {'sections': ['project', 'own', 'user'], 'lifetime': 'project', 'wrap': '<context name="userRules">\n{}\n</context>'},
             'project': {'list': 'project', 'join': '\n\n'},
             'own': {'list': 'rules', 'join': '\n\n'},
             'user': {'list': 'user', 'join': '\n\n'}},
 'align': {'files': ['AGENTS.md'], 'rules': '.continue/rules/{name}.md', 'scope': 'globs'}}
