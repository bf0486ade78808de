"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""

# ruff: noqa
from __future__ import annotations

from ...layout.model import Field, Pattern, Lookup, Section, Condition, Layout, with_inner_sections

_SECTIONS = (Section(name='body', lifetime='conversation', text='$std/default', item=(), instead=('base', ), language='jinja'), Section(name='boundaries', lifetime='conversation', sections=(Section(name='readable', lifetime='conversation', list_name='readable', item=('  - ', Field(name='path'), Field(name='mark'), ), join='\n', wrap=('Readable:\n', Field(name=''), ), trim=False), Section(name='writable', lifetime='conversation', list_name='writable', item=('  - ', Field(name='path'), Field(name='mark'), ), join='\n', wrap=('Writable:\n', Field(name=''), ), trim=False), Section(name='denied', lifetime='conversation', list_name='denied', item=('  - ', Field(name='path'), Field(name='mark'), ), join='\n', wrap=('Denied:\n', Field(name=''), ), trim=False), ), item=(), join='\n', wrap=('---\n## Working boundaries\n\n', Field(name=''), ), none='You may not read or write any files.'), Section(name='project', lifetime='project', list_name='project', wrap=('---\n## Project instructions (AGENTS.md)\n\n', Field(name=''), ), over='cut'), Section(name='knowledge', lifetime='project', list_name='knowledge', item=('- ', Field(name='name'), ': ', Field(name='description', filters=('line', )), ), short=('- ', Field(name='name'), ), join='\n', wrap=('---\n## Resident knowledge\n\n', Field(name=''), ), when=(Condition(facts=('set:residents', )), ), over='shorten'), Section(name='workflows', lifetime='project', list_name='workflow', item=('- ', Field(name='name'), ': ', Field(name='description', filters=('line', )), ), short=('- ', Field(name='name'), ), join='\n', wrap=('---\n## Resident workflows\n\n', Field(name=''), ), when=(Condition(facts=('set:residents', )), ), over='shorten'), )
LAYOUT = Layout(
    sections=_SECTIONS,
    all_sections=tuple(with_inner_sections(_SECTIONS)),
    name='pod',
    address='$std/pod',
    about='pod: A strict template for the body, then sections that no template can remove.',
    lookups=(Lookup(name='project', groups=((Pattern(place='walk', path='AGENTS.md'), ), ), take='nearest'), Lookup(name='knowledge', groups=((Pattern(place='root', path='.foreword/knowledge/*.md'), ), ), kind='resident'), Lookup(name='workflow', groups=((Pattern(place='root', path='.foreword/workflow/*.md'), ), ), kind='resident'), ),
    settings={'residents': True, 'folder': '.foreword'},
    wording={'working_boundaries_section': '---\n## Working boundaries\n\n{}', 'agents_md_section': '---\n## Project instructions (AGENTS.md)\n\n{}', 'resident_knowledge_section': '---\n## Resident knowledge\n\n{}', 'resident_workflows_section': '---\n## Resident workflows\n\n{}', 'compaction': 'Summarise the conversation so that the work can continue from the summary alone: the task, what has been done, what has been learned, and what to do next. Answer with the summary only, and do not call any tools.', 'skill_message': "The skill '{name}' is now active. Follow these instructions:\n\n{text}", 'skill_active_message': "The skill '{name}' is already active."},
)
