"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, TextRules, Lookup, Section, Touch, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Cursor's own instructions]", form=("[Cursor's own instructions]", ), item=(), instead=('base', )), Section(name='rules', lifetime='project', list_name='rules', item=('[Rule ', Field(name='path', filters=('shortest', )), ']\n', Field(name='text'), ), trim=False, over='cut'), Section(name='legacy', lifetime='project', list_name='legacy', trim=False, over='cut'), Section(name='instructions', lifetime='project', list_name='project', item=('[Instructions ', Field(name='path', filters=('shortest', )), ']\n', Field(name='text'), ), trim=False, over='cut'), Section(name='menu', lifetime='project', list_name='menu', item=('- ', Field(name='path', filters=('shortest', )), ': ', Field(name='front.description', filters=('line', )), ), join='\n', wrap=('[Rules that the agent may read]\n', Field(name=''), ), trim=False, over='cut'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='cursor',
    address='$agents/cursor',
    about='Cursor: rules that always apply, the instruction files of the project, and a menu of rules from which the agent chooses.',
    lookups=(Lookup(name='rules', groups=((Pattern(place='walk', path='.cursor/rules/**/*.mdc'), ), ), rules=TextRules(front='drop'), where=(('alwaysApply', ('true', ), ), ), is_mirror=True), Lookup(name='menu', groups=((Pattern(place='walk', path='.cursor/rules/**/*.mdc'), ), ), rules=TextRules(front='drop'), where=(('alwaysApply', ('', 'false', ), ), ('globs', ('', ), ), ), unless=(('description', ('', ), ), ), is_mirror=True), Lookup(name='legacy', groups=((Pattern(place='root', path='.cursorrules'), ), ), is_mirror=True), Lookup(name='project', groups=((Pattern(place='walk', path='AGENTS.md'), ), ), is_mirror=True), ),
    mirrors='Cursor, as documented in November 2026',
    differs=("This layout follows Cursor's documentation. It was not compared with what Cursor sends: order, headings and trimming are ours.", "Team rules and the user's rules are not files, so they are missing.", 'Rules that are attached by hand are never in the prompt.', "Cursor's own instructions are replaced by a note in brackets.", ),
    detected_by=('.cursor/', '.cursorrules', ),
    touch=Touch(sections=(Section(name='touched', lifetime='conversation', sections=(Section(name='touched_files', lifetime='project', list_name='touched', item=('[Instructions ', Field(name='path', filters=('shortest', )), ']\n', Field(name='text'), ), trim=False, over='cut', role='user'), Section(name='touched_rules', lifetime='project', list_name='touched_rules', item=('[Rule ', Field(name='path', filters=('shortest', )), ']\n', Field(name='text'), ), trim=False, over='cut', role='user'), ), item=(), trim=False, role='user'), ), lookups=(Lookup(name='touched', groups=((Pattern(place='down', path='AGENTS.md'), ), ), is_mirror=True), Lookup(name='touched_rules', groups=((Pattern(place='walk', path='.cursor/rules/**/*.mdc'), ), (Pattern(place='down', path='.cursor/rules/**/*.mdc'), ), ), rules=TextRules(front='drop'), unless=(('alwaysApply', ('true', ), ), ), match=('globs', ), unscoped='skip', is_mirror=True), ), on=('read', 'edit', 'create', )),
    align={'files': ['AGENTS.md', '.cursorrules'], 'rules': '.cursor/rules/{name}.mdc', 'scope': 'globs'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'Cursor: rules that always apply, the instruction files of the project, and a menu of rules from which the agent chooses.',
 'mirrors': 'Cursor, as documented in November 2026',
 'detected_by': ['.cursor/', '.cursorrules'],
 'sections': ['base', 'rules', 'legacy', 'instructions', 'menu'],
 'touch': {'sections': ['touched']},
 'differs': ["This layout follows Cursor's documentation. It was not compared with what Cursor sends: order, headings and trimming are "
             'ours.',
             "Team rules and the user's rules are not files, so they are missing.",
             'Rules that are attached by hand are never in the prompt.',
             "Cursor's own instructions are replaced by a note in brackets."],
 'find': {'rules': {'files': ['walk:.cursor/rules/**/*.mdc'], 'front': 'drop', 'where': {'alwaysApply': True}},
          'menu': {'files': ['walk:.cursor/rules/**/*.mdc'],
                   'front': 'drop',
                   'where': {'alwaysApply': ['', 'false'], 'globs': ''},
                   'unless': {'description': ''}},
          'legacy': {'files': ['root:.cursorrules']},
          'project': {'files': ['walk:AGENTS.md']},
          'touched': {'files': ['down:AGENTS.md']},
          'touched_rules': {'files': ['walk:.cursor/rules/**/*.mdc', 'down:.cursor/rules/**/*.mdc'],
                            'front': 'drop',
                            'match': ['globs'],
                            'unscoped': 'skip',
                            'unless': {'alwaysApply': True}}},
 'section': {'touched': {'sections': ['touched_files', 'touched_rules']},
             'touched_files': {'like': 'instructions', 'list': 'touched'},
             'touched_rules': {'like': 'rules', 'list': 'touched_rules'},
             'base': {'text': "[Cursor's own instructions]", 'instead': ['base'], 'lifetime': 'release'},
             'rules': {'list': 'rules', 'item': '[Rule {path|shortest}]\n{text}', 'join': '\n\n', 'lifetime': 'project'},
             'legacy': {'list': 'legacy', 'lifetime': 'project'},
             'instructions': {'list': 'project', 'item': '[Instructions {path|shortest}]\n{text}', 'join': '\n\n', 'lifetime': 'project'},
             'menu': {'list': 'menu',
                      'item': '- {path|shortest}: {front.description|line}',
                      'wrap': '[Rules that the agent may read]\n{}',
                      'lifetime': 'project'}},
 'align': {'files': ['AGENTS.md', '.cursorrules'], 'rules': '.cursor/rules/{name}.mdc', 'scope': 'globs'}}
