"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, ConfigValue, TextRules, Lookup, Section, Condition, Layout, with_inner_sections

_SECTIONS = (Section(name='base', lifetime='release', text="[Codex's own instructions and permissions]", form=("[Codex's own instructions and permissions]", ), item=(), instead=('base', )), Section(name='skills', lifetime='project', list_name='skills', item=('- ', Field(name='name'), ': ', Field(name='description', filters=('line', )), ' (file: ', Field(name='path'), ')', ), join='\n', wrap=('<skills_instructions>\n', Field(name=''), '\n</skills_instructions>', ), trim=False, over='shorten', role='developer'), Section(name='instructions', lifetime='project', sections=(Section(name='user', lifetime='project', list_name='user', trim=False, over='cut'), Section(name='project', lifetime='project', list_name='project', trim=False, over='cut', bytes=32768, bytes_cut='last', mark=False), ), item=(), join='\n\n--- project-doc ---\n\n', wrap=('# AGENTS.md instructions for ', Field(name='cwd'), '\n\n<INSTRUCTIONS>\n', Field(name=''), '\n</INSTRUCTIONS>', ), when=(Condition(facts=('found:project', )), ), trim=False, role='user'), Section(name='user-only', lifetime='project', list_name='user', wrap=('# AGENTS.md instructions\n\n<INSTRUCTIONS>\n', Field(name=''), '\n</INSTRUCTIONS>', ), when=(Condition(facts=('found:project', ), negated=True), ), trim=False, over='cut', role='user'), Section(name='environment', lifetime='conversation', text="[Codex's environment block, for {cwd}]", form=("[Codex's environment block, for ", Field(name='cwd'), ']', ), item=(), role='user'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='codex',
    address='$agents/codex',
    about='Codex CLI: one user message with every AGENTS.md from the git root to the working directory.',
    lookups=(Lookup(name='user', groups=((Pattern(place='env', path='AGENTS.override.md', variable='CODEX_HOME', default='~/.codex'), Pattern(place='env', path='AGENTS.md', variable='CODEX_HOME', default='~/.codex'), ), ), copies='keep', rules=TextRules(trim='ends')), Lookup(name='project', groups=((Pattern(place='walk', path='AGENTS.override.md'), Pattern(place='walk', path='AGENTS.md'), ), ), copies='keep', rules=TextRules(trim='none', blank='hide'), markers=('.git', ), when=(Condition(facts=('set:untrusted', ), negated=True), )), Lookup(name='skills', groups=((Pattern(place='walk', path='.agents/skills/**/SKILL.md'), ), (Pattern(place='walk', path='.codex/skills/**/SKILL.md'), ), (Pattern(place='home', path='.agents/skills/**/SKILL.md'), ), (Pattern(place='env', path='skills/**/SKILL.md', variable='CODEX_HOME', default='~/.codex'), ), ), kind='skill', copies='keep', order='layer', same_name='all'), ),
    settings={'trusted_root': False, 'trusted': False, 'untrusted': False, 'fallback': [], 'markers': ['.git'], 'max_bytes': 32768},
    on={'turn': 'announce'},
    mirrors='Codex CLI 0.166.0',
    program={'command': 'codex', 'prompt': 4184, 'tools': 3616},
    raw=True,
    encoding='raw',
    differs=('A file with NUL bytes is left out; Codex sends it.', "Codex's own instructions, permissions and environment are replaced by notes in brackets.", 'Skills are listed with their full paths; Codex shortens them with a table of folders, and lists its own skills too.', 'A folder between the root and the working directory is trusted if the root is; in Codex, it can be trusted by itself.', ),
    detected_by=('AGENTS.md', 'AGENTS.override.md', '.codex/', ),
    config=(ConfigValue(setting='trusted_root', pattern=Pattern(place='env', path='config.toml', variable='CODEX_HOME', default='~/.codex'), key=('projects', '{root}', 'trust_level', ), equals='trusted'), ConfigValue(setting='untrusted', pattern=Pattern(place='env', path='config.toml', variable='CODEX_HOME', default='~/.codex'), key=('projects', '{root}', 'trust_level', ), equals='untrusted'), ConfigValue(setting='untrusted', pattern=Pattern(place='env', path='config.toml', variable='CODEX_HOME', default='~/.codex'), key=('projects', '{cwd}', 'trust_level', ), equals='untrusted'), ConfigValue(setting='trusted', pattern=Pattern(place='env', path='config.toml', variable='CODEX_HOME', default='~/.codex'), key=('projects', '{root}', 'trust_level', ), equals='trusted'), ConfigValue(setting='trusted', pattern=Pattern(place='env', path='config.toml', variable='CODEX_HOME', default='~/.codex'), key=('projects', '{cwd}', 'trust_level', ), equals='trusted'), ConfigValue(setting='fallback', pattern=Pattern(place='env', path='config.toml', variable='CODEX_HOME', default='~/.codex'), key=('project_doc_fallback_filenames', ), only='names'), ConfigValue(setting='fallback', pattern=Pattern(place='walk', path='.codex/config.toml'), key=('project_doc_fallback_filenames', ), when=(Condition(facts=('set:trusted_root', )), ), only='names'), ConfigValue(setting='fallback', pattern=Pattern(place='cwd', path='.codex/config.toml'), key=('project_doc_fallback_filenames', ), when=(Condition(facts=('set:trusted', )), ), only='names'), ConfigValue(setting='markers', pattern=Pattern(place='env', path='config.toml', variable='CODEX_HOME', default='~/.codex'), key=('project_root_markers', )), ConfigValue(setting='max_bytes', pattern=Pattern(place='env', path='config.toml', variable='CODEX_HOME', default='~/.codex'), key=('project_doc_max_bytes', )), ConfigValue(setting='max_bytes', pattern=Pattern(place='walk', path='.codex/config.toml'), key=('project_doc_max_bytes', ), when=(Condition(facts=('set:trusted_root', )), )), ConfigValue(setting='max_bytes', pattern=Pattern(place='cwd', path='.codex/config.toml'), key=('project_doc_max_bytes', ), when=(Condition(facts=('set:trusted', )), )), ),
    align={'files': ['AGENTS.md'], 'skills': '.agents/skills'},
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mapping() -> dict[str, Any]:
    return {'about': 'Codex CLI: one user message with every AGENTS.md from the git root to the working directory.',
 'mirrors': 'Codex CLI 0.166.0',
 'program': {'command': 'codex', 'prompt': 4184, 'tools': 3616},
 'detected_by': ['AGENTS.md', 'AGENTS.override.md', '.codex/'],
 'copies': 'keep',
 'raw': True,
 'encoding': 'raw',
 'sections': ['base', 'skills', 'instructions', 'user-only', 'environment'],
 'on': {'turn': 'announce'},
 'env': {'CODEX_HOME': '~/.codex'},
 'settings': {'trusted_root': False, 'trusted': False, 'untrusted': False, 'fallback': [], 'markers': ['.git'], 'max_bytes': 32768},
 'differs': ['A file with NUL bytes is left out; Codex sends it.',
             "Codex's own instructions, permissions and environment are replaced by notes in brackets.",
             'Skills are listed with their full paths; Codex shortens them with a table of folders, and lists its own skills too.',
             'A folder between the root and the working directory is trusted if the root is; in Codex, it can be trusted by itself.'],
 'from': {'trusted_root': ['env:CODEX_HOME/config.toml#projects.{root}.trust_level=trusted'],
          'untrusted': ['env:CODEX_HOME/config.toml#projects.{root}.trust_level=untrusted',
                        'env:CODEX_HOME/config.toml#projects.{cwd}.trust_level=untrusted'],
          'trusted': ['env:CODEX_HOME/config.toml#projects.{root}.trust_level=trusted',
                      'env:CODEX_HOME/config.toml#projects.{cwd}.trust_level=trusted'],
          'fallback': [{'at': 'env:CODEX_HOME/config.toml#project_doc_fallback_filenames', 'only': 'names'},
                       {'at': 'walk:.codex/config.toml#project_doc_fallback_filenames', 'only': 'names', 'when': ['set:trusted_root']},
                       {'at': 'cwd:.codex/config.toml#project_doc_fallback_filenames', 'only': 'names', 'when': ['set:trusted']}],
          'markers': ['env:CODEX_HOME/config.toml#project_root_markers'],
          'max_bytes': ['env:CODEX_HOME/config.toml#project_doc_max_bytes',
                        {'at': 'walk:.codex/config.toml#project_doc_max_bytes', 'when': ['set:trusted_root']},
                        {'at': 'cwd:.codex/config.toml#project_doc_max_bytes', 'when': ['set:trusted']}]},
 'find': {'user': {'trim': 'ends', 'files': [['env:CODEX_HOME/AGENTS.override.md', 'env:CODEX_HOME/AGENTS.md']]},
          'project': {'when': ['!set:untrusted'],
                      'trim': 'none',
                      'blank': 'hide',
                      'markers': ['{markers}'],
                      'files': [['walk:AGENTS.override.md', 'walk:AGENTS.md', 'walk:{fallback}']]},
          'skills': {'as': 'skill',
                     'same_name': 'all',
                     'order': 'layer',
                     'files': ['walk:.agents/skills/**/SKILL.md',
                               'walk:.codex/skills/**/SKILL.md',
                               'home:.agents/skills/**/SKILL.md',
                               'env:CODEX_HOME/skills/**/SKILL.md']}},
 'section': {'base': {'text': "[Codex's own instructions and permissions]", 'instead': ['base'], 'lifetime': 'release'},
             'skills': {'list': 'skills',
                        'role': 'developer',
                        'item': '- {name}: {description|line} (file: {path})',
                        'wrap': '<skills_instructions>\n{}\n</skills_instructions>',
                        'lifetime': 'project'},
             'instructions': {'sections': ['user', 'project'],
                              'role': 'user',
                              'lifetime': 'project',
                              'when': ['found:project'],
                              'join': '\n\n--- project-doc ---\n\n',
                              'wrap': '# AGENTS.md instructions for {cwd}\n\n<INSTRUCTIONS>\n{}\n</INSTRUCTIONS>'},
             'user': {'list': 'user'},
             'project': {'list': 'project', 'join': '\n\n', 'bytes': '{max_bytes}', 'bytes_cut': 'last', 'mark': False},
             'user-only': {'list': 'user',
                           'role': 'user',
                           'lifetime': 'project',
                           'when': ['!found:project'],
                           'wrap': '# AGENTS.md instructions\n\n<INSTRUCTIONS>\n{}\n</INSTRUCTIONS>'},
             'environment': {'text': "[Codex's environment block, for {cwd}]", 'role': 'user'}},
 'align': {'files': ['AGENTS.md'], 'skills': '.agents/skills'}}
