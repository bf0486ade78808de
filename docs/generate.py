"""Writes the reference pages from the tables in the code, so that they cannot say anything else.

python docs/generate.py          write docs/reference/
python docs/generate.py --check  say which pages are not what the code gives, and fail
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import foreword
from foreword import extensions
from foreword.cli.commands import COMMANDS
from foreword.cli.options import Parser, new_parser
from foreword.findings import CODES
from foreword.inspection.lint.sizes import LIMITS
from foreword.inspection.lint.table import CHECKS, KEY, SHOWN_KEY, Check, Example
from foreword.layout import keys, merging, model
from foreword.packs.std import compiled
from foreword.template.catalog import CATALOG
from foreword.template.jinja import VARIABLES
from foreword.vocabulary import ORIGINS

FOLDER = Path(__file__).parent / "reference"
HEAD = "<!-- Made by docs/generate.py; edit {source} instead. -->"

# What the tables of layout/keys.py name without saying what it is. A name that is missing here stops the generator.
TAKES = {
    "text": "text",
    "form": "text with `{field}`",
    "name": "a name",
    "switch": "`true` or `false`",
    "count": "a number above zero",
    "names": "a list of texts",
    "conditions": "a list of facts",
    "groups": "a list of patterns, or of lists of patterns",
}
FACTS = {
    "cwd": "the working directory",
    "root": "the workspace's root",
    "home": "the home directory, `~` where none is known",
    "platform": "the platform, as Python names it: `linux`, `darwin`, `win32`",
    "session": "the session's id",
    "model": "the model's name",
    "provider": "the provider's name",
    "role": "`main` or `sub`",
    "language": "the language the agent answers in",
    "now.long": "`Saturday, March 7, 2026 at 08:55:05 AM CST`",
    "now.date": "`2026-03-07`",
    "now.iso": "`2026-03-07T08:55:05-06:00`",
}
FILTERS = {
    "line": "puts a value on one line: every run of white space becomes one space",
    "xml": 'escapes `&`, `<`, `>` and `"`',
}
LISTS = {
    "tools": "the agent's tools; `line` is the snippet, else the wording `tool.NAME`, else the name",
    "guidelines": "what the rows of `[[guideline]]` say for these tools",
    "active_skill": "the active skill with its body",
    "plan": "the active plan",
    "docs": "documentation of the agent itself",
    "readable": "paths the agent may read; `mark` is ` [non-recursive]` where that is so",
    "writable": "paths the agent may write",
    "denied": "paths the agent may not touch",
}
FOUND = {
    "text": "the text of each file",
    "skill": "what the front matter of each SKILL.md says, by name",
    "resident": "what the front matter of each file that asks to be resident says, by name",
}
CONDITIONS = {
    "tool:NAME": "the agent has this tool",
    "tools": "the agent has any tool",
    "set:NAME": "the setting is neither empty, nor zero, nor `false`",
    "session": "there is a session",
    "main": "the agent is the main agent",
    "sub": "the agent is a sub-agent",
    "provider:NAME": "the provider has this name",
    "platform:NAME": "the platform has this name",
    "!x": "`x` does not hold",
    "a|b": "`a` or `b` holds",
    "@setting": "one of the facts in this list of the settings holds",
}
STEPS = {
    "keep": "the edition stays as it is",
    "warn": "it stays, and a finding says what has changed",
    "append": "the prompt stays, and a message says what has changed; a new tool is added behind the others, in an edition with a new number",
    "format": "it is built anew from what was found before, for the agent of this turn",
    "gather": "everything is looked for again, and it is built anew",
}

# The settings and the wording of the shipped layouts.
SETTINGS = {
    "context": "whether instruction files are looked for and listed",
    "dir": "the name of the folder that this agent keeps its files in",
    "file_paths": "folders that `file:` may read beside what the scope allows; not for a workspace to set",
    "file_secrets": "whether `file:` may read files whose name says that they hold secrets; not for a workspace to set",
    "loaders": "facts of which one must hold for skills to be listed: tools with which one can be loaded",
    "names": "the names of instruction files",
    "residents": "whether resident knowledge and workflows are listed",
    "shell": "facts of which one holds for an agent with a shell",
    "skill_dirs": "further folders of skills",
    "skills": "whether skills are listed",
}
WORDING = {
    "agents_md_section": "around the project's instructions",
    "compaction": "the request for a summary",
    "resident_knowledge_section": "around the list of resident knowledge",
    "resident_workflows_section": "around the list of resident workflows",
    "skill_active_message": "the answer when a skill is active already",
    "skill_message": "the message that activates a skill",
    "tool.bash": "the line of this tool, where the tool has no snippet of its own",
    "tool.edit": "the line of this tool",
    "tool.find": "the line of this tool",
    "tool.grep": "the line of this tool",
    "tool.ls": "the line of this tool",
    "tool.read": "the line of this tool",
    "tool.write": "the line of this tool",
    "working_boundaries_section": "around the readable, writable and denied paths",
}
# What calls give that is not imported by name; with the functions that a program imports from elsewhere than `foreword`.
GIVEN = {
    "vocabulary": ("Passage", "Piece", "Origin", "Candidate", "Finding", "Skill", "Edition"),
    "conversation.decide": ("Drift",),
    "inspection.changes": ("SectionChange", "Names"),
    "inspection.prices": ("CacheRule",),
    "programs.watching": ("Watching",),
    "extensions": ("About", "Start", "Resources"),
    "findings": ("finding",),
    "programs.proofread": ("proofread", "Report"),
}
IMPORTED = {
    "extensions": ("About", "Start", "Resources"),
    "findings": ("finding",),
    "programs.proofread": ("proofread",),
}


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with --check compare them."""
    given = argparse.ArgumentParser(description="The reference pages, made from the code.")
    given.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is stale")
    if not given.parse_args(arguments).check:
        FOLDER.mkdir(exist_ok=True)
        for name, text in pages().items():
            (FOLDER / name).write_text(text, encoding="utf-8")
        return 0
    wrong = stale()
    for name in wrong:
        print(f"docs/reference/{name} is stale: run python docs/generate.py")
    return 1 if wrong else 0


def pages() -> dict[str, str]:
    """Every reference page, by file name."""
    return {
        "checks.md": checks_page(),
        "commands.md": commands_page(),
        "extensions.md": extensions_page(),
        "findings.md": findings_page(),
        "http.md": http_page(),
        "keys.md": keys_page(),
        "layouts.md": layouts_page(),
        "origins.md": origins_page(),
        "python.md": python_page(),
        "variables.md": variables_page(),
    }


def stale() -> list[str]:
    """The pages that are not what the code gives, and files in the folder that no code gives."""
    made = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} if FOLDER.is_dir() else {}
    return sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))


def page(title: str, source: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", HEAD.format(source=source), *parts]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table. A bar inside a cell is escaped, or it would end the cell."""
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    lines += [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def code(text: str) -> str:
    return f"`{text}`"


def codes(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))


def told(names: Iterable[str], words: Mapping[str, str]) -> list[tuple[str, str]]:
    """Rows of names with what they are; a name nobody described stops the generator."""
    return [(code(name), words[name]) for name in names]


# Layout keys


def keys_page() -> str:
    """The vocabulary of layouts, from the tables of layout/keys.py."""
    parts = [
        "A layout is a TOML file. Every key, place, list and fact that it may name stands on this page; anything else is an error that"
        " suggests what was meant. [Writing a layout](../writing-a-layout.md) goes through one step by step.",
    ]
    for name, about in keys.TABLES.items():
        parts += [f"## {heading(name)}", about]
        parts += [keys_of(name)] if name in {key.table for key in keys.KEYS} else []
        parts += EXTRAS.get(name, [])
    return page("Keys of a layout", "src/foreword/layout/keys.py", *parts)


def keys_of(name: str) -> str:
    if name == "on":
        return table(("event", "is"), [(code(event), about) for event, about in keys.EVENTS.items()])
    rows = [(code(key.name), takes(key), key.about) for key in keys.KEYS if key.table == name]
    return table(("key", "takes", "means"), rows)


def heading(name: str) -> str:
    known = {"layout": "Top of the file", "find": "[find.NAME]", "section": "[section.NAME]"}
    return known.get(name, f"[[{name}]]" if name == "guideline" else f"[{name}]")


def takes(key: keys.Key) -> str:
    return f"one of {codes(key.choices)}" if key.choices else TAKES[key.takes]


def fields_of(lists: Mapping[str, Sequence[str]], words: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [(code(name), words[name], codes(f"{{{field}}}" for field in fields)) for name, fields in lists.items()]


EXTRAS = {
    "find": [
        "### Places",
        "A pattern is `place:path`. In the path `*` stands for one level, `**` for any depth (but not below a match), and `{name}` for a"
        " setting; a setting that is a list repeats its pattern.",
        table(("place", "is"), [(code(name), about) for name, about in keys.PLACES.items()]),
        "Texts come farthest first, skills and residents by name. Of two skills with one name the first that was found stays.",
        f"Unless given, `walk` is `{model.Find.walk}`, `take` is `{model.Find.take}`, `as` is `{model.Find.kind}` and `validation` is"
        f" `{model.Find.validation}`.",
    ],
    "section": [
        f"Inner sections inherit {codes(keys.INHERITED)}. A section with nothing inside leaves nothing behind.",
        "Unless given, `lifetime` is `conversation`, and over a budget files are cut, menus shortened, and all else is only said.",
        "In `instead`, `base` is the caller's own text and `template` the newest version of the global template.",
        "### Lists",
        "`of` names a find, whose fields go by its `as`:",
        table(("as", "lists", "fields"), fields_of(keys.FOUND, FOUND)),
        "or one of the agent's own lists:",
        table(("of", "lists", "fields"), fields_of(keys.LISTS, LISTS)),
        "### Facts in a text",
        "A `text` may hold these in braces; `{{` and `}}` are braces themselves.",
        table(("fact", "is"), told(keys.FACTS, FACTS)),
        "### Filters",
        "`{name|line}` or `{name|xml}`, in a `text`, `item` or `short`.",
        table(("filter", "does"), told(keys.FILTERS, FILTERS)),
        "### Facts of `when`",
        "All terms of the list must hold.",
        table(("term", "holds when"), told(CONDITIONS, CONDITIONS)),
    ],
    "settings": [
        "[Layouts, rule by rule](layouts.md#settings) lists those of the shipped layouts; [Settings](../settings.md) says how they are set.",
    ],
    "wording": [
        "They are overridden by files [`prompts.toml`](../settings.md#wording). [Layouts, rule by rule](layouts.md#wording) lists the keys of the"
        " shipped layouts.",
    ],
    "on": [
        "### Steps",
        table(("step", "means"), told(keys.STEPS, STEPS)),
        "An event that is not named keeps the edition; of several at once the strongest step counts, in the order of this table."
        " `foreword layouts NAME` shows what a layout does.",
    ],
}


# Findings and origins


def findings_page() -> str:
    """Every code of a finding."""
    return page(
        "Findings",
        "src/foreword/findings.py",
        "A finding is something a person should know. Work goes on: the prompt is made all the same. `show` prints findings to standard"
        " error, `show --json` lists them under `findings`.",
        table(
            ("severity", "means"),
            [
                ("error", "the prompt is not what was asked for; with `--strict` the exit status is 1"),
                ("warning", "something a person wrote is not in the prompt, or not as they wrote it"),
                ("info", "all is well, but worth knowing"),
            ],
        ),
        table(("code", "severity", "means"), [(code(name), *row) for name, row in CODES.items()]),
        f"`foreword lint` tells {judged_otherwise()} with a [severity of its own](checks.md): it is asked what a file's author should mend,"
        " and judges that more strictly than a prompt that is made all the same.",
    )


def judged_otherwise() -> str:
    """The codes that lint tells with another severity."""
    return codes(each.id for each in CHECKS if each.id in CODES and CODES[each.id][0] != each.severity)


def origins_page() -> str:
    """Every kind of origin."""
    return page(
        "Origins",
        "src/foreword/vocabulary.py",
        "Every character of a prompt that is not a separator between sections has an origin. `foreword blame` shows it line by line;"
        " `foreword show --json` gives it as spans, under `passages`, with `start` and `end` counted in code points of `text`. An origin"
        " has a kind, a path or address, the first and last line there where lines make sense, and a hash.",
        table(("kind", "is"), [(code(kind), about) for kind, about in ORIGINS.items()]),
    )


def variables_page() -> str:
    """Every variable of the template languages."""
    return page(
        "Variables",
        "src/foreword/template/catalog.py and jinja.py",
        "## Brackets",
        "What a template in the bracket language may name, as `[type:name]` or `[if type:name]`. Only those that it uses are looked up.",
        table(("variable", "is"), [(code(f"{row.type}:{row.name}"), row.description) for row in CATALOG]),
        "## Jinja-like",
        "What a template in the Jinja-like language may name, as `{{ name }}`. Any other name is an error.",
        table(("variable", "is"), [(code(name), about) for name, about in VARIABLES.items()]),
    )


# The shipped layouts


def layouts_page() -> str:
    """What each shipped layout looks for, says and does, from its own data."""
    parts = [
        "What the shipped layouts hold, read off their data. [Layouts](../layouts.md) says the same in words, one page to a layout; the"
        " keys are explained in [Keys of a layout](keys.md)."
    ]
    for name in compiled.NAMES:
        data: dict[str, Any] = getattr(compiled, name)()
        parts += [f"## {name}", data["about"], *finds_of(data), *sections_of(data), *rules_of(data), *events_of(data)]
    parts += [
        "## Settings",
        "What a caller, a user or a workspace may [set](../settings.md), beside any other key of a layout:",
        table(("setting", "of", "is there", "is"), named_in("settings", SETTINGS)),
        "## Wording",
        "What a file [`prompts.toml`](../settings.md#wording) may override. A text that has lost what it must hold is refused.",
        table(("wording", "of", "must hold", "is"), named_in("wording", WORDING)),
    ]
    return page("Layouts, rule by rule", "src/foreword/packs/std", *parts)


def named_in(kind: str, words: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """The settings or the wording of all shipped layouts, by name: whose they are, and their value or what they must hold."""
    found: dict[str, dict[str, Any]] = {}
    for layout in compiled.NAMES:
        for name, content in merging.flat(getattr(compiled, layout)().get(kind, {})).items():
            found.setdefault(name, {})[layout] = content
    return [
        (code(name), codes(of), (settled if kind == "settings" else held)(next(iter(of.values()))), words[name])
        for name, of in sorted(found.items())
    ]


def settled(content: object) -> str:
    return code(json.dumps(content))


def held(text: str) -> str:
    return codes(each for each in ("{}", "{name}", "{text}") if each in text)


def finds_of(data: Mapping[str, Any]) -> list[str]:
    rows = [
        (code(name), str(find.get("as", "text")), groups(find["files"]), str(find.get("walk", model.Find.walk)))
        for name, find in data.get("find", {}).items()
    ]
    return [table(("looks for", "as", "files, in this order", "walk from"), rows)] if rows else []


def groups(files: Iterable[str | Sequence[str]]) -> str:
    """Patterns in a cell: of several in one group the first is taken."""
    return "; ".join(code(each) if isinstance(each, str) else " or ".join(map(code, each)) for each in files)


def sections_of(data: Mapping[str, Any]) -> list[str]:
    rows = []
    for name, row in data["section"].items():
        content = f"list of {code(row['of'])}" if "of" in row else codes(row.get("sections", ())) or "text"
        rows.append((code(name), content, str(row.get("lifetime", "")), codes(row.get("when", ())), budget_of(row)))
    return [table(("section", "holds", "lifetime", "only when", "budget"), rows)]


def budget_of(row: Mapping[str, Any]) -> str:
    return f"{row['budget']:,}" if "budget" in row else ""


def rules_of(data: Mapping[str, Any]) -> list[str]:
    """The guidelines: what is said to an agent with which tools."""
    rows = [
        (codes(row.get("when", ())) or "always", " ".join(row["say"]) if "say" in row else f"those of {row['from']}")
        for row in data.get("guideline", ())
    ]
    return [table(("guideline when", "says"), rows)] if rows else []


def events_of(data: Mapping[str, Any]) -> list[str]:
    rows = [(code(event), code(data.get("on", {}).get(event, "keep"))) for event in keys.EVENTS]
    under, say = data.get("compaction", {}).get("under", "kept"), data.get("compaction", {}).get("say", "system")
    told = f"A summary is asked for under the {under} prompt, in {'a message' if say == 'message' else 'the system prompt'}."
    return [table(("event", "step"), rows), told]


# Extensions and the library


def extensions_page() -> str:
    """Every field of an extension, and what its functions may give."""
    rows = [
        (code(name), code(takes), extensions.EVENTS[name])
        for name, takes in fields_in("extensions", "Extension")
        if name != "name"
    ]
    parts = [
        "An `Extension` has a name and any of these. [Writing an extension](../writing-an-extension.md) goes through them.",
        table(("field", "takes", "is called, or used"), rows),
    ]
    parts += [
        "## Events",
        "What `listen` is told, after it has happened. Its second argument holds "
        + " and ".join(f"{code(name)} ({about})" for name, about in extensions.CARRIED.items())
        + ".",
        table(("event", "says"), [(code(name), about) for name, about in extensions.HEARD.items()]),
    ]
    for name in ("About", "Start", "Resources"):
        parts += [
            f"## {name}",
            about("extensions", name),
            table(("field", "takes"), coded(fields_in("extensions", name))),
        ]
    return page("Extensions", "src/foreword/extensions.py", *parts)


def python_page() -> str:
    """The public face, and what hangs on it."""
    parts = [
        "What a program imports stands in `foreword` itself, and is loaded when it is first used. Beside it there are "
        + ", ".join(f"{codes(names)} in `foreword.{home}`" for home, names in IMPORTED.items())
        + ". Values cannot change; make another with other fields. What is wrong in a call is a `ForewordError` with one sentence."
    ]
    homes = {name: home for home, names in foreword._HOMES.items() for name in names}
    for name in [*foreword.__all__, "Conversation"]:
        parts += [f"## {name}", *described(homes.get(name, "conversation.conversations"), name)]
    parts += [
        "## What calls give",
        "Values that come back from the calls above, and what the modules beside `foreword` hold.",
        table(("where it says", "it is one of"), kinds()),
    ]
    for home, names in GIVEN.items():
        for name in names:
            parts += [f"### {name}", f"In `foreword.{home}`.", *described(home, name, is_made=False)]
    return page("Library", "src/foreword/__init__.py and the docstrings", *parts)


def described(home: str, name: str, is_made: bool = True) -> list[str]:
    """A function with its signature, a value with its fields, or a class with its methods; `is_made` if programs make one."""
    node = node_of(home, name)
    if isinstance(node, ast.FunctionDef):
        return [code(signature(node)), about(home, name)]
    fields = fields_in(home, name) if "value" in [getattr(each, "id", "") for each in node.decorator_list] else []
    functions = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    public = [each for each in functions if each.name[0] != "_"]
    properties = [each for each in public if "property" in [getattr(it, "id", "") for it in each.decorator_list]]
    fields += [(each.name, ast.unparse(each.returns)) for each in properties if each.returns]
    methods = [each for each in public if each not in properties and ast.get_docstring(each)]
    start = [each for each in functions if is_made and each.name == "__init__"]
    rows = [(code(signature(each)), " ".join((ast.get_docstring(each) or "").split())) for each in methods]
    return [
        *(code(signature(each, name)) for each in start),
        about(home, name),
        *([table(("field", "takes"), coded(fields))] if fields else []),
        *([table(("method", "does"), rows)] if rows else []),
    ]


def kinds() -> list[tuple[str, str]]:
    """The names that stand for one of several words."""
    tree = ast.parse((Path(foreword.__file__).parent / "vocabulary.py").read_text(encoding="utf-8"))
    rows = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Literal["):
            words = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            rows.append((code(ast.unparse(node.targets[0])), codes(map(str, words))))
    return rows


def node_of(home: str, name: str) -> ast.ClassDef | ast.FunctionDef:
    """The definition of a public name, from the source of the module it lives in."""
    file = Path(foreword.__file__).parent / (home.replace(".", "/") + ".py")
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    return next(each for each in nodes if isinstance(each, ast.ClassDef | ast.FunctionDef) and each.name == name)


def about(home: str, name: str) -> str:
    return "\n\n".join(" ".join(each.split()) for each in (ast.get_docstring(node_of(home, name)) or "").split("\n\n"))


def fields_in(home: str, name: str) -> list[tuple[str, str]]:
    """The fields of a value, with what they take."""
    return [
        (each.target.id, ast.unparse(each.annotation))
        for each in node_of(home, name).body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]


def coded(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(code(first), code(second)) for first, second in rows]


def signature(node: ast.FunctionDef, name: str = "") -> str:
    """How a function is called. `self` is nobody's argument."""
    arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and not name else ""
    return f"{name or node.name}({arguments}){returns}"


# Checks of lint


def checks_page() -> str:
    """Every check, with the two examples that are also its test."""
    listed = [
        (f"[`{each.id}`](#{each.id})", each.severity, "yes" if each.is_guard else "", each.about) for each in CHECKS
    ]
    parts = [
        "What [`foreword lint`](../lint.md) asks of a prompt. A guard cannot be silenced by a comment in a file. Findings of the prompt itself"
        " are told as well, under [their own codes](findings.md).",
        f"{judged_otherwise()} are also findings of the prompt, with another severity: lint judges more strictly, as it is asked what the author"
        " of a file should mend, while the prompt is made all the same.",
        table(("check", "severity", "guard", "finds"), listed),
    ]
    for each in CHECKS:
        parts += [f"## {each.id}", each.about + " " + each.why, *extra_of(each)]
        parts += ["Found:", *example(each.bad), "Not found:", *example(each.good)]
    return page("Checks", "src/foreword/inspection/lint/table.py", *parts)


def extra_of(check: Check) -> list[str]:
    """The limits, with who says so: they are dated."""
    if check.id != "over-limit":
        return []
    rows = [
        (
            each.agent,
            codes(each.names),
            f"{each.most:,} {each.unit}{', together' if each.together else ''}",
            each.outcome,
            each.source,
            each.seen,
        )
        for each in LIMITS
    ]
    return [table(("of", "files", "at most", "over it", "source", "seen"), rows)]


def example(shown: Example) -> list[str]:
    """The files of an example, each with its text. What nobody sees is spelt out, and what repeats itself is shortened."""
    parts = []
    for name, text in shown.files.items():
        text = text.replace(KEY, SHOWN_KEY).replace("\u202e", "<U+202E>")
        lines = [
            line if len(line) <= 240 else line[:120] + " … and so on, for " + f"{len(line):,} characters"
            for line in text.splitlines()
        ]
        parts += [f"`{name}`", "```markdown\n" + "\n".join(lines) + "\n```"]
    return parts


# Commands


def parser_of(command: str) -> Parser:
    """The parser of a command, from its family."""
    parser: Parser = import_module(f"foreword.cli.{COMMANDS[command][0]}").parser_for(command)
    return parser


def options_of(command: str) -> list[argparse.Action]:
    """The options that only this command has."""
    known = {each.option_strings[0] for each in shared_options()}
    return [each for each in parser_of(command)._actions if each.option_strings and each.option_strings[0] not in known]


def shared_options() -> list[argparse.Action]:
    """The options that every command has."""
    return [each for each in new_parser("show")._actions if each.option_strings]


def arguments_of(command: str) -> list[argparse.Action]:
    return [each for each in parser_of(command)._actions if not each.option_strings]


def commands_page() -> str:
    """The commands with their arguments, from the parsers themselves."""
    parts = [
        "`foreword COMMAND [options]`. Options follow the command. `foreword --version` prints the version, `foreword COMMAND --help`"
        " what a command takes.",
        table(
            ("command", "does"),
            [
                (f"[`{usage(name)}`](#foreword-{name.replace(chr(32), chr(45))})", row[1])
                for name, row in COMMANDS.items()
            ],
        ),
        "Exit status: 0 when all is well; 1 with `--strict` and an error finding; 2 for a wrong call, with one sentence on standard error"
        " that says what would be right. Without `--strict`, 1 also comes from `lint` if there is an error (or what `--fail` says), from"
        " `template check` if a template has one, from `store verify` if anything is wrong, and from `diff` and `cache` with `--exit-code`.",
    ]
    for name in COMMANDS:
        rows = [*map(row_of, arguments_of(name)), *map(row_of, options_of(name))]
        parts += [f"## foreword {name}", f"`{usage(name)}`: {COMMANDS[name][1]}."]
        parts += [table(("argument", "is"), rows)] if rows else []
    parts += ["## Options of every command", table(("option", "is"), map(row_of, shared_options()))]
    return page("Commands", "src/foreword/cli", *parts)


def http_page() -> str:
    """Every route with its parameters and types, from the OpenAPI document."""
    from foreword.service.openapi import document
    from foreword.service.responses import PROBLEMS
    from foreword.service.routes import ROUTES

    described = document(ROUTES)
    schemas = described["components"]["schemas"]
    parts = [
        "The routes of `foreword serve`; [the guide](../service.md) explains how to start and protect it. A running service describes them"
        " at `/openapi.json`. Request and response bodies are JSON.",
        table(
            ("route", "does"),
            [
                (f"[`{method.upper()} {path}`](#{operation['operationId']})", operation["summary"])
                for path, methods in described["paths"].items()
                for method, operation in methods.items()
            ],
        ),
    ]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            parts += [f"## {operation['operationId']}", f"`{method.upper()} {path}`", operation["summary"]]
            rows = [(code(each["name"]), each["in"], kind_of_parameter(each)) for each in operation["parameters"]]
            parts += [table(("parameter", "in", "type"), rows)] if rows else []
            for what, content in (("body", operation.get("requestBody")), ("response", operation["responses"]["200"])):
                schema = next(iter(content["content"].values()))["schema"] if content else {}
                if "$ref" in schema:
                    name = schema["$ref"].rpartition("/")[2]
                    parts.append(f"The {what} is [`{name}`](#{name.lower()}).")
            statuses = ", ".join(status for status in operation["responses"] if status != "200")
            parts.append(f"Problems: {statuses}.")
    parts += ["## Types"]
    for name, schema in schemas.items():
        needed = schema.get("required", ())
        rows = [
            (code(key), kind_of(each), "yes" if key in needed else "")
            for key, each in schema.get("properties", {}).items()
        ]
        parts += [f"### {name}", table(("field", "type", "required"), rows)]
    parts += [
        "## Problems",
        table(
            ("type", "status", "title"),
            [(code(f"urn:foreword:problem:{kind}"), str(status), title) for kind, (status, title) in PROBLEMS.items()],
        ),
    ]
    return page("HTTP", "src/foreword/service", *parts)


def kind_of_parameter(parameter: Mapping[str, Any]) -> str:
    if "content" in parameter:
        return f"{kind_of(parameter['content']['application/json']['schema'])}, as JSON"
    return kind_of(parameter["schema"])


def kind_of(schema: Mapping[str, object]) -> str:
    """A JSON schema in a few words."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f"[`{name}`](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(kind_of(each) for each in schema["anyOf"])  # type: ignore[attr-defined]
    if "enum" in schema:
        return " or ".join(code(str(each)) for each in schema["enum"])  # type: ignore[attr-defined]
    if schema.get("type") == "array":
        items = schema.get("items")
        return f"list of {kind_of(items)}" if isinstance(items, dict) and items else "list"
    named = {"string": "text", "integer": "number", "null": "null", "boolean": "`true` or `false`", "object": "object"}
    kind = named.get(str(schema.get("type")), "anything")
    return "time" if schema.get("format") == "date-time" else kind


def usage(command: str) -> str:
    words = [f"[{each.metavar}]" if each.nargs == "?" else str(each.metavar) for each in arguments_of(command)]
    return " ".join(["foreword", command, *words])


def row_of(action: argparse.Action) -> tuple[str, str]:
    """An argument or option with what it takes and what it is for."""
    about = str(action.help)
    if not action.option_strings:
        return code(str(action.metavar)), about
    takes = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    again = "; may be given more than once" if isinstance(action, argparse._AppendAction) else ""
    return ", ".join(code(each + takes) for each in action.option_strings), about + again


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
