"""What an agent's tools can do, decided by their names: one table of the names that released agents and frameworks use. Pure.

Names are compared without case and separators, so `Read_File`, `readFile` and `read-file` are the same. A tool of an MCP server
(`mcp__server__read`) is not in the table, because nobody knows what it reads; for skills, `Tool.loads_skills` decides.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .tools import Tool

# The conditions `can:ABILITY` of a layout, and how reports describe a tool with the ability.
ABILITIES = {
    "read": "a tool that reads files",
    "edit": "a tool that edits files",
    "write": "a tool that writes files",
    "shell": "a shell tool",
    "skill": "a tool that loads skills by name",
    "load-skills": "a tool that can load skills",
}

# Editors with commands such as `view`, `create` and `str_replace`: Anthropic's text editor, OpenHands, SWE-agent, Augment, Goose, Strands.
_EDITORS = """
str_replace_based_edit_tool str_replace_editor str_replace_edit_tool file_editor planning_file_editor text_editor
developer__text_editor editor
"""
_NAMES = {
    "read": f"""
read read_file read_files read_many_files read_multiple_files read_text_file read_file_content read_file_contents read_file_range
read_local_file read_lines read_path read_tool open_file open_files view view_file view_files view_file_range
view_line_range view_lines view_range view_source show_file file_read file_view fs_read get_file_content get_file_contents
get_file_text get_file_text_by_path copilot_read_file mastra_workspace_read_file {_EDITORS}
""",
    "edit": f"""
edit edit_file edit_files edit_block edit_existing_file edit_file_fast_apply edit_tool edit_text_file file_edit multi_edit
multi_edit_file replace replace_in_file replace_file_content replace_string_in_file multi_replace_file_content
multi_replace_string_in_file replace_text replace_text_in_file replace_lines find_and_replace single_find_and_replace search_replace
search_and_replace str_replace str_replace_file str_replace_in_file string_replace insert_content insert_edit_into_file insert_lines
apply_diff apply_edit apply_edits apply_patch patch patch_file update_file modify_file fs_edit propose_code
mastra_workspace_edit_file {_EDITORS}
""",
    "write": """
write write_file write_to_file write_files write_text_file write_file_content write_file_contents write_new_file create create_file
create_new_file create_files create_text_file file_write file_create fs_write fs_append save_file overwrite_file new_file
mastra_workspace_write_file
""",
    "shell": """
shell bash zsh sh fish cmd powershell pwsh terminal local_shell container.exec exec execute exec_command exec_shell
exec_bash exec_cmd execute_bash execute_cmd execute_command execute_commands execute_pwsh execute_shell execute_shell_command
execute_terminal_command execute_in_terminal execute_cli bash_tool bash_command cmd_run run_bash run_bash_command run_cmd
run_cli run_command run_commands run_in_terminal run_shell run_shell_command run_terminal run_terminal_cmd
run_terminal_command run_zsh shell_command shell_exec shell_execute shell_tool terminal_command terminal_execute
unified_exec use_terminal launch_process start_process developer__shell interactive_bash
mastra_workspace_execute_command
""",
    "skill": """
skill skills use_skill load_skill load_skills get_skill get_skill_instructions read_skill open_skill activate_skill invoke_skill
fetch_skill view_skill skill_use skill_load skill_read skill_view skill_tool skills__load_skill
""",
}
_LOADING_ABILITIES = ("read", "shell", "skill")
_abilities_by_name: dict[str, frozenset[str]] = {}


def abilities_of(tool: Tool) -> frozenset[str]:
    """Return what a tool can do: some of `ABILITIES`. `Tool.loads_skills` decides about skills, if it is set."""
    abilities = _known_names().get(_normalize(tool.name), frozenset())
    if tool.loads_skills:
        return abilities | {"skill", "load-skills"}
    if tool.loads_skills is None and not abilities.isdisjoint(_LOADING_ABILITIES):
        return abilities | {"load-skills"}
    return abilities - {"skill"}


def tools_that_can(ability: str, tools: Iterable[Tool]) -> Iterator[str]:
    """Yield the names of the tools that have an ability."""
    return (tool.name for tool in tools if ability in abilities_of(tool))


def _known_names() -> dict[str, frozenset[str]]:
    """Return the abilities of each name in the table, without case and separators."""
    if not _abilities_by_name:
        for ability, names in _NAMES.items():
            for name in map(_normalize, names.split()):
                _abilities_by_name[name] = _abilities_by_name.get(name, frozenset()) | {ability}
    return _abilities_by_name


def _normalize(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
