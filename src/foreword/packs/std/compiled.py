"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def builder() -> dict[str, Any]:
    return {'about': 'builder: One bracket template, built on the first turn and again at compaction.',
 'sections': ['body'],
 'settings': {'file_paths': [], 'file_secrets': False},
 'section': {'body': {'instead': ['base', 'template'],
                      'language': 'brackets',
                      'trim': False,
                      'lifetime': 'conversation',
                      'text': 'You are a helpful coding assistant.\n'
                              '\n'
                              '[if file:AGENTS.md]\n'
                              '[file:AGENTS.md]\n'
                              '[endif]\n'
                              '\n'
                              'The current working directory is [prompt:cwd].\n'}},
 'on': {'reload': 'gather', 'compaction': 'gather'},
 'compaction': {'under': 'new', 'say': 'system'},
 'wording': {'compaction': 'Summarise the conversation so far so that the work can go on from the summary alone: what was asked for, what '
                           'has been done, what remains, and which files matter.',
             'skill_message': "The skill '{name}' is now active. Its instructions:\n\n{text}",
             'skill_active_message': "The skill '{name}' is active already."}}


def foreword() -> dict[str, Any]:
    return {'about': "Foreword's own layout: stable text first, each section in its own tag, no clock.",
 'sections': ['identity', 'instructions', 'skills', 'guidance', 'servers', 'boundaries', 'environment', 'plan'],
 'settings': {'servers': True,
              'shell': ['tool:shell', 'tool:bash', 'tool:zsh', 'tool:cmd', 'tool:powershell'],
              'loaders': ['tool:read',
                          'tool:read_file',
                          'tool:use_skill',
                          'tool:shell',
                          'tool:bash',
                          'tool:zsh',
                          'tool:cmd',
                          'tool:powershell']},
 'find': {'user': {'files': ['config:foreword/AGENTS.md', 'config:agents/AGENTS.md', 'home:.agents/AGENTS.md']},
          'project': {'walk': 'git', 'files': [['walk:AGENTS.override.md', 'walk:AGENTS.md', 'walk:CLAUDE.md'], 'walk:AGENTS.local.md']},
          'skills': {'as': 'skill',
                     'validation': 'lenient',
                     'scoped': 'wait',
                     'walk': 'git',
                     'files': ['walk:.foreword/skills/**/SKILL.md',
                               'walk:.agents/skills/**/SKILL.md',
                               'walk:.claude/skills/**/SKILL.md',
                               'walk:.github/skills/**/SKILL.md',
                               'home:.foreword/skills/**/SKILL.md',
                               'home:.agents/skills/**/SKILL.md',
                               'home:.claude/skills/**/SKILL.md',
                               'home:.github/skills/**/SKILL.md']},
          'nested': {'files': [['down:AGENTS.override.md', 'down:AGENTS.md', 'down:CLAUDE.md'], 'down:AGENTS.local.md']},
          'rules': {'front': 'drop',
                    'match': ['paths', 'globs', 'applyTo', 'alwaysApply'],
                    'globs_from': 'both',
                    'files': ['walk:.agents/rules/**/*.md',
                              'walk:.claude/rules/**/*.md',
                              'walk:.github/instructions/**/*.instructions.md']},
          'cursor': {'like': 'rules', 'unscoped': 'skip', 'files': ['walk:.cursor/rules/**/*.mdc']},
          'nested_rules': {'like': 'rules',
                           'files': ['down:.agents/rules/**/*.md',
                                     'down:.claude/rules/**/*.md',
                                     'down:.github/instructions/**/*.instructions.md']},
          'nested_cursor': {'like': 'rules', 'unscoped': 'skip', 'files': ['down:.cursor/rules/**/*.mdc']},
          'touched_skills': {'like': 'skills', 'scoped': 'list', 'match': ['paths'], 'unscoped': 'skip'}},
 'section': {'identity': {'instead': ['base'],
                          'lifetime': 'release',
                          'wrap': '<identity>\n{}\n</identity>',
                          'text': "You are a coding agent at work in a user's project, through the tools you are given.\n"
                                  '\n'
                                  '- Find out before you change: read the code that a change touches, and the tests beside it.\n'
                                  '- Make the smallest change that does the whole task, in the manner of the code around it.\n'
                                  '- Check what you did: run the tests or the program, and read what they say.\n'
                                  '- Report what is so. If something failed or was not tried, say that; never invent output.\n'
                                  '- Ask only when the answer changes what you would do and you cannot find it yourself.\n'
                                  '- What the user asks for now outranks the instructions below; of those, the later ones outrank the '
                                  'earlier.\n'},
             'instructions': {'sections': ['user', 'project'],
                              'wrap': '<instructions>\n{}\n</instructions>',
                              'lifetime': 'project',
                              'over': 'cut'},
             'user': {'list': 'user', 'item': '<instruction-file path="{path|xml}">\n{text}\n</instruction-file>', 'join': '\n\n'},
             'project': {'list': 'project', 'item': '<instruction-file path="{path|xml}">\n{text}\n</instruction-file>', 'join': '\n\n'},
             'skills': {'list': 'skills',
                        'when': ['@loaders'],
                        'item': '- {name|line}: {description|line}{location}',
                        'short': '- {name|line}{location}',
                        'folder': 'In {folder}:',
                        'wrap': '<skills>\n'
                                'A skill is a file of instructions for one kind of task: NAME/SKILL.md in the folder named above it, or '
                                'the path in parentheses. A folder that starts with ./ is inside the last full one. When a task fits a '
                                'description, load that file before you start; paths in it are relative to its folder.\n'
                                '\n'
                                '{}\n'
                                '</skills>',
                        'lifetime': 'project',
                        'budget': 8000,
                        'over': 'shorten'},
             'guidance': {'list': 'guidelines',
                          'item': '- {text}',
                          'wrap': '<tool-guidance>\n{}\n</tool-guidance>',
                          'lifetime': 'conversation'},
             'servers': {'list': 'servers',
                         'when': ['set:servers'],
                         'item': '<server name="{name|xml}">\n{text}\n</server>',
                         'join': '\n\n',
                         'wrap': '<mcp-servers>\n'
                                 'These are the instructions of the MCP servers that provide some of your tools. They say how to use those '
                                 'tools, and outrank nothing above.\n'
                                 '\n'
                                 '{}\n'
                                 '</mcp-servers>',
                         'budget': 8000,
                         'over': 'shorten',
                         'lifetime': 'conversation'},
             'boundaries': {'sections': ['readable', 'writable', 'denied'],
                            'join': '\n',
                            'none': 'Nothing may be read or written.',
                            'wrap': '<boundaries>\n{}\n</boundaries>',
                            'lifetime': 'conversation'},
             'readable': {'list': 'readable', 'item': '  - {path}{mark}', 'wrap': 'Readable:\n{}'},
             'writable': {'list': 'writable', 'item': '  - {path}{mark}', 'wrap': 'Writable:\n{}'},
             'denied': {'list': 'denied', 'item': '  - {path}{mark}', 'wrap': 'Denied:\n{}'},
             'environment': {'text': 'Working directory: {cwd}\nPlatform: {platform}',
                             'wrap': '<environment>\n{}\n</environment>',
                             'lifetime': 'conversation'},
             'plan': {'list': 'plan', 'wrap': '<plan>\n{}\n</plan>', 'lifetime': 'turn'},
             'touched': {'sections': ['nested', 'rules', 'cursor', 'nested_rules', 'nested_cursor'],
                         'wrap': '<path-instructions>\n'
                                 'These instructions are for files that you are working on now. They outrank more general ones.\n'
                                 '\n'
                                 '{}\n'
                                 '</path-instructions>'},
             'nested': {'list': 'nested',
                        'item': '<instruction-file path="{path|xml}"{changed}>\n{text}\n</instruction-file>',
                        'join': '\n\n'},
             'rules': {'list': 'rules', 'item': '<rule path="{path|xml}"{changed}>\n{text}\n</rule>', 'join': '\n\n'},
             'cursor': {'like': 'rules', 'list': 'cursor'},
             'nested_rules': {'like': 'rules', 'list': 'nested_rules'},
             'nested_cursor': {'like': 'rules', 'list': 'nested_cursor'},
             'touched_skills': {'list': 'touched_skills',
                                'when': ['@loaders'],
                                'item': '- {name|line}: {description|line} ({path})',
                                'wrap': '<path-skills>\n'
                                        'These skills are for files that you are working on now. When a task fits a description, load that '
                                        'file before you start; paths in it are relative to its folder.\n'
                                        '\n'
                                        '{}\n'
                                        '</path-skills>'}},
 'guideline': [{'when': ['tool:read', '@shell'], 'say': ['Read files with `read` rather than through the shell.']},
               {'when': ['tool:read_file', '@shell'], 'say': ['Read files with `read_file` rather than through the shell.']},
               {'when': ['tool:edit', '@shell'], 'say': ['Change files with `edit` rather than through the shell.']},
               {'when': ['tool:edit_file', '@shell'], 'say': ['Change files with `edit_file` rather than through the shell.']},
               {'from': 'tools'},
               {'from': 'extensions'}],
 'on': {'turn': 'keep', 'tools': 'append', 'reload': 'gather', 'compaction': 'gather'},
 'touch': {'sections': ['touched', 'touched_skills'], 'changed': ' changed="yes"', 'budget': 8000},
 'compaction': {'under': 'kept', 'say': 'message'},
 'wording': {'compaction': 'Write a summary from which this work can go on without the messages above: what the user wants and why, what '
                           'has been done and found, what was decided, what is still open, and which files matter.',
             'skill_message': "The skill '{name}' is now active. Its instructions:\n\n{text}",
             'skill_active_message': "The skill '{name}' is active already."}}


def ion() -> dict[str, Any]:
    return {'about': 'Ion: A base, three layers of instructions that add up, the active skill and the active plan.',
 'sections': ['base', 'instructions', 'skill', 'plan'],
 'budget': 9600,
 'over': 'warn',
 'find': {'ion-local': {'layer': 'ion-local', 'files': ['home:.ion/AGENTS.md']},
          'global': {'layer': 'global', 'files': ['config:agents/AGENTS.md', 'config:agents/rules/*.md']},
          'project': {'files': [['cwd:AGENTS.md', 'cwd:CLAUDE.md']]},
          'skills': {'as': 'skill',
                     'validation': 'lenient',
                     'files': ['cwd:.ion/skills/*/SKILL.md',
                               'cwd:.agents/skills/*/SKILL.md',
                               'home:.ion/skills/*/SKILL.md',
                               'home:.agents/skills/*/SKILL.md',
                               'config:agents/skills/*/SKILL.md']}},
 'section': {'base': {'instead': ['base'],
                      'text': 'You are ion, a coding agent in the terminal. Work fast, say little, and get things done with the tools at '
                              'hand.',
                      'lifetime': 'release',
                      'budget': 100},
             'instructions': {'sections': ['ion-local', 'global', 'project'],
                              'join': '\n\n---\n\n',
                              'language': 'directives',
                              'lifetime': 'project',
                              'file_budget': 10000,
                              'over': 'warn'},
             'ion-local': {'list': 'ion-local', 'wrap': '# Ion Instructions\n{}', 'budget': 1000},
             'global': {'list': 'global', 'wrap': '# Global Instructions\n{}', 'budget': 2000},
             'project': {'list': 'project', 'wrap': '# Project Instructions\n{}', 'budget': 5000},
             'skill': {'list': 'active_skill',
                       'item': '# Active Skill: {name|line}\n{text}',
                       'lifetime': 'turn',
                       'budget': 2000,
                       'file_budget': 10000},
             'plan': {'list': 'plan', 'wrap': '# Active Plan\n{}', 'lifetime': 'turn', 'budget': 500, 'file_budget': 10000}},
 'on': {'turn': 'gather'},
 'wording': {'compaction': 'Summarise the conversation so far: the goal, what is done, what is left, and the files that matter.',
             'skill_message': "The skill '{name}' is now active. Its instructions:\n\n{text}",
             'skill_active_message': "The skill '{name}' is active already."}}


def opal() -> dict[str, Any]:
    return {'about': 'Opal: Six tagged sections; files are found once per conversation, the prompt is formatted on every turn.',
 'sections': ['identity', 'context', 'skills', 'skill_files', 'skill_names', 'environment', 'guidelines', 'planning'],
 'settings': {'context': True,
              'names': ['AGENTS.md', 'OPAL.md'],
              'skills': True,
              'skill_dirs': [],
              'shell': ['tool:shell', 'tool:bash', 'tool:zsh', 'tool:cmd', 'tool:powershell'],
              'known': ['tool:read_file',
                        'tool:edit_file',
                        'tool:write_file',
                        'tool:shell',
                        'tool:bash',
                        'tool:zsh',
                        'tool:cmd',
                        'tool:powershell'],
              'readers': ['tool:read_file', 'tool:shell', 'tool:bash', 'tool:zsh', 'tool:cmd', 'tool:powershell']},
 'find': {'context': {'walk': 'root', 'files': ['walk:{names}', 'walk:.agents/{names}', 'walk:.opal/{names}']},
          'skills': {'as': 'skill',
                     'validation': 'strict',
                     'files': ['cwd:.agents/skills/*/SKILL.md',
                               'cwd:.github/skills/*/SKILL.md',
                               'home:.agents/skills/*/SKILL.md',
                               'home:.opal/skills/*/SKILL.md',
                               'path:{skill_dirs}/*/SKILL.md']}},
 'section': {'identity': {'instead': ['base'],
                          'wrap': '<identity>\n{}\n</identity>',
                          'lifetime': 'release',
                          'text': 'You are Opal, a coding assistant who works beside the user in their project.\n'
                                  '\n'
                                  '## Principles\n'
                                  '- Be direct: answer in as few words as the matter allows\n'
                                  '- Act: when it is clear what is wanted, use the tools rather than ask\n'
                                  '- Verify: look for errors, run the tests, read the result\n'
                                  '- Be honest: never make up output or claim what you did not see\n'
                                  '- Respect boundaries: stay inside the working directory\n'
                                  '- Stay on task: change nothing that nobody asked you to change\n'},
             'context': {'list': 'context',
                         'when': ['set:context'],
                         'item': '<project-context source="{path|xml}">\n{text}\n</project-context>',
                         'join': '\n\n',
                         'lifetime': 'project'},
             'skills': {'list': 'skills',
                        'when': ['set:skills', 'tool:use_skill'],
                        'item': '- **{name|line}**: {description|line}',
                        'short': '- **{name|line}**',
                        'wrap': '<skills>\n'
                                'When a task fits one of these skills, call the `use_skill` tool to get its full instructions.\n'
                                '\n'
                                '{}\n'
                                '</skills>',
                        'lifetime': 'project'},
             'skill_files': {'like': 'skills',
                             'when': ['set:skills', '!tool:use_skill', '@readers'],
                             'item': '- **{name|line}**: {description|line} (`{path}`)',
                             'short': '- **{name|line}** (`{path}`)',
                             'wrap': '<skills>\n'
                                     'If one of these skills is relevant to a task, read its file for the full instructions.\n'
                                     '\n'
                                     '{}\n'
                                     '</skills>'},
             'skill_names': {'like': 'skills',
                             'when': ['set:skills', '!tool:use_skill', '!@readers'],
                             'wrap': '<skills>\n'
                                     'You have no tool that can load these skills. If one of them is relevant to a task, ask the user for '
                                     'its instructions.\n'
                                     '\n'
                                     '{}\n'
                                     '</skills>'},
             'environment': {'text': 'Working directory: {cwd}', 'wrap': '<environment>\n{}\n</environment>', 'lifetime': 'conversation'},
             'guidelines': {'list': 'guidelines',
                            'item': '- {text}',
                            'wrap': '<tool-guidelines>\n{}\n</tool-guidelines>',
                            'lifetime': 'turn'},
             'planning': {'when': ['session', 'main'],
                          'wrap': '<planning>\n{}\n</planning>',
                          'lifetime': 'conversation',
                          'text': 'For a task of several steps, keep a plan in this file:\n'
                                  '{home}/.opal/sessions/{session|line}/plan.md\n'
                                  '\n'
                                  'Write it before you start and keep it current as steps are done. The user can read it at any time.\n'}},
 'guideline': [{'when': ['tool:read_file', '@shell'],
                'say': ['Read files with `read_file`; do not use `cat`, `head`, `tail` or `less` for that.',
                        'Give `read_file` an `offset` and a `limit` when you need only some lines.']},
               {'when': ['tool:edit_file', '@shell'],
                'say': ['Change files with `edit_file`; do not use `sed`, `awk`, `perl -i` or shell redirects for that.']},
               {'when': ['tool:write_file'], 'say': ['Create files with `write_file`; do not use shell redirects or `tee` for that.']},
               {'when': ['@shell'], 'say': ['Say what you did in plain text; do not `cat` or `echo` files to show them.']},
               {'when': ['@shell', '!tool:read_file'], 'say': ['Explore files with `cat`, `grep`, `find` and `ls`.']},
               {'when': ['@known'],
                'say': ['Before each major step write a status tag of under six words: `<status>Running the tests</status>`.']},
               {'from': 'extensions'}],
 'on': {'turn': 'format', 'reload': 'gather'},
 'compaction': {'skills': 'drop'},
 'wording': {'compaction': 'Summarise the conversation so far so that it can go on from the summary: the goal, the state of the work, open '
                           'questions, and the files involved.',
             'skill_message': "[System] The skill '{name}' is now active. Its instructions:\n\n{text}",
             'skill_active_message': "The skill '{name}' is active already."}}


def pi() -> dict[str, Any]:
    return {'about': 'pi: A base prompt or a SYSTEM.md, appended text, project context, skills, date and directory.',
 'sections': ['base', 'append', 'context', 'skills', 'last'],
 'settings': {'dir': '.sf'},
 'find': {'system': {'files': [['cwd:{dir}/SYSTEM.md', 'home:{dir}/agent/SYSTEM.md']]},
          'append': {'files': [['cwd:{dir}/APPEND_SYSTEM.md', 'home:{dir}/agent/APPEND_SYSTEM.md']]},
          'context': {'walk': 'root', 'files': ['home:{dir}/agent/AGENTS.md', ['walk:AGENTS.md', 'walk:CLAUDE.md']]},
          'skills': {'as': 'skill',
                     'validation': 'lenient',
                     'walk': 'git-or-root',
                     'files': ['cwd:{dir}/skills/**/SKILL.md',
                               'walk:.agents/skills/**/SKILL.md',
                               'home:{dir}/agent/skills/**/SKILL.md',
                               'home:.agents/skills/**/SKILL.md']}},
 'section': {'base': {'instead': ['base', 'system'],
                      'sections': ['identity', 'tools', 'note', 'guidelines', 'docs'],
                      'lifetime': 'conversation'},
             'identity': {'text': 'You are a coding agent that works towards a stated purpose: settle what is wanted, pin it down in a '
                                  'test that fails, then write the code that makes it pass. You read files, run commands, edit code and '
                                  'write new files for the user.',
                          'lifetime': 'release'},
             'tools': {'list': 'tools', 'item': '- {name|line}: {line|line}', 'none': '(none)', 'wrap': 'Available tools:\n{}'},
             'note': {'text': 'Besides these, the project may bring custom tools of its own.'},
             'guidelines': {'list': 'guidelines', 'item': '- {text}', 'wrap': 'Guidelines:\n{}'},
             'docs': {'list': 'docs',
                      'item': '- {name|line}: {path}',
                      'wrap': 'Documentation of this agent (read it only when the user asks about the agent itself):\n{}'},
             'append': {'list': 'append', 'lifetime': 'project'},
             'context': {'list': 'context',
                         'item': '## {path}\n\n{text}',
                         'join': '\n\n',
                         'wrap': '# Project Context\n\nInstructions and guidelines that belong to this project:\n\n{}',
                         'lifetime': 'project'},
             'skills': {'list': 'skills',
                        'when': ['tool:read'],
                        'item': '  <skill>\n'
                                '    <name>{name|xml}</name>\n'
                                '    <description>{description|xml}</description>\n'
                                '    <location>{path|xml}</location>\n'
                                '  </skill>',
                        'short': '  <skill>\n    <name>{name|xml}</name>\n    <location>{path|xml}</location>\n  </skill>',
                        'wrap': 'Each of these skills holds instructions for a particular kind of task. When a task fits a description, '
                                "load the skill's file with the read tool. Relative paths in a skill are meant from the skill's own "
                                'directory: resolve them against it.\n'
                                '\n'
                                '<available_skills>\n'
                                '{}\n'
                                '</available_skills>',
                        'lifetime': 'project'},
             'last': {'sections': ['clock', 'cwd'], 'join': '\n'},
             'clock': {'text': 'Current date and time: {now.long}', 'lifetime': 'turn'},
             'cwd': {'text': 'Current working directory: {cwd}', 'lifetime': 'conversation'}},
 'guideline': [{'when': ['tool:bash', '!tool:grep|tool:find|tool:ls'],
                'say': ['Use bash to look around, with commands such as ls, rg and find']},
               {'when': ['tool:bash', 'tool:grep|tool:find|tool:ls'], 'say': ['Look around with {any} rather than bash']},
               {'when': ['tool:read', 'tool:edit'], 'say': ['Read a file with read before you edit it']},
               {'when': ['tool:edit'], 'say': ['Use edit for precise changes; the old text has to match exactly']},
               {'when': ['tool:write'], 'say': ['Use write only for new files and complete rewrites']},
               {'when': ['tool:edit|tool:write'], 'say': ['Sum up what you did in plain text; do not print files to show it']},
               {'from': 'tools'},
               {'from': 'extensions'},
               {'say': ['Be concise', 'Show file paths clearly']}],
 'wording': {'compaction': 'Summarise the conversation so far so that the work can go on from the summary: purpose, progress, decisions, '
                           'what is open, and the files involved.',
             'skill_message': "The skill '{name}' is now active. Its instructions:\n\n{text}",
             'skill_active_message': "The skill '{name}' is active already.",
             'tool': {'read': 'Read the contents of a file',
                      'bash': 'Run shell commands',
                      'edit': 'Replace an exact text in a file by another',
                      'write': 'Create a file, or replace all of it',
                      'grep': 'Search the contents of files',
                      'find': 'Find files by name',
                      'ls': 'List a directory'}},
 'on': {'tools': 'format', 'registry': 'format', 'resources': 'gather', 'reload': 'gather'}}


def pod() -> dict[str, Any]:
    return {'about': 'pod: A strict template for the body, then sections that no template can remove.',
 'sections': ['body', 'boundaries', 'project', 'knowledge', 'workflows'],
 'settings': {'residents': True},
 'find': {'project': {'walk': 'git', 'take': 'nearest', 'files': ['walk:AGENTS.md']},
          'knowledge': {'as': 'resident', 'files': ['root:.foreword/knowledge/*.md']},
          'workflows': {'as': 'resident', 'files': ['root:.foreword/workflow/*.md']}},
 'section': {'body': {'text': '$std/default', 'instead': ['base'], 'language': 'jinja', 'lifetime': 'conversation'},
             'boundaries': {'sections': ['readable', 'writable', 'denied'],
                            'join': '\n',
                            'none': 'Nothing may be read or written.',
                            'wrap': '@working_boundaries_section',
                            'trim': True,
                            'lifetime': 'conversation'},
             'readable': {'list': 'readable', 'item': '  - {path}{mark}', 'wrap': 'Readable:\n{}'},
             'writable': {'list': 'writable', 'item': '  - {path}{mark}', 'wrap': 'Writable:\n{}'},
             'denied': {'list': 'denied', 'item': '  - {path}{mark}', 'wrap': 'Denied:\n{}'},
             'project': {'list': 'project', 'wrap': '@agents_md_section', 'trim': True, 'lifetime': 'project'},
             'knowledge': {'list': 'knowledge',
                           'when': ['set:residents'],
                           'item': '- {name}: {description|line}',
                           'short': '- {name}',
                           'wrap': '@resident_knowledge_section',
                           'trim': True,
                           'lifetime': 'project'},
             'workflows': {'list': 'workflows',
                           'when': ['set:residents'],
                           'item': '- {name}: {description|line}',
                           'short': '- {name}',
                           'wrap': '@resident_workflows_section',
                           'trim': True,
                           'lifetime': 'project'}},
 'wording': {'working_boundaries_section': '---\n## Working boundaries\n\n{}',
             'agents_md_section': '---\n## Project instructions (AGENTS.md)\n\n{}',
             'resident_knowledge_section': '---\n## Resident knowledge\n\n{}',
             'resident_workflows_section': '---\n## Resident workflows\n\n{}',
             'compaction': 'Summarise the conversation so far so that it can go on from the summary: the task, what was done, what was '
                           'learnt, and what comes next.',
             'skill_message': "The skill '{name}' is now active. Its instructions:\n\n{text}",
             'skill_active_message': "The skill '{name}' is active already."}}
