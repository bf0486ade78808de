"""Rules of the architecture: allowed imports, pure modules, size limits, and what start-up loads.

Each rule is a table; the test below it reads the source and lists every violation.
"""

import ast
import graphlib
import posixpath
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.syntax_trees import syntax_tree, walk

import foreword
from foreword.findings import CODES
from foreword.packs import agents
from foreword.packs.std import NAMES
from foreword.service.responses import PROBLEMS

pytestmark = pytest.mark.xdist_group("source")

SRC = Path(__file__).parents[1] / "src"
GENERATED = ("packs.std", "packs.agents", "inspection.compiled_prices")
SCRIPTS = ("src", "tests", "bench", "docs", "examples", "peers")


def module_name(path):
    parts = path.relative_to(SRC / "foreword").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "__init__"


PATHS = {module_name(path): path for path in sorted((SRC / "foreword").rglob("*.py"))}


def trees():
    """Return the syntax tree of every module."""
    return {name: syntax_tree(path) for name, path in PATHS.items()}


def hand_written():
    return {name: tree for name, tree in trees().items() if not name.startswith(GENERATED)}


@cache
def nodes_at_run_time(tree):
    """Return every node except those under `if TYPE_CHECKING`."""
    nodes, pending = [], [tree]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
                pending.append(ast.Module(child.orelse, []))
            else:
                nodes.append(child)
                pending.append(child)
    return tuple(nodes)


def imports(name, is_package, nodes):
    """Yield the full names these nodes import, each with its line; imports inside functions count."""
    package = ["foreword", *(name.split(".") if name != "__init__" else [])]
    package = package if is_package else package[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            start = [*above, *(node.module or "").split(".")] if node.module else above
            yield from ((".".join([*start, alias.name]), node.lineno) for alias in node.names)


def imports_of(name, nodes):
    return imports(name, PATHS[name].name == "__init__.py", nodes)


def module_of(target):
    """Return the module of this package that a full name belongs to, or None."""
    parts = target.split(".")[1:]
    while parts:
        if ".".join(parts) in PATHS:
            return ".".join(parts)
        parts.pop()
    return "__init__"


def import_edges():
    """Yield the importer, imported and line of every import within this package, including types and imports in functions.

    Any module may import the version, which the package defines before everything else.
    """
    for name, tree in trees().items():
        for target, line in imports_of(name, walk(tree)):
            if target.split(".")[0] == "foreword" and target != "foreword.__version__" and module_of(target) != name:
                yield name, module_of(target), line


def package_of(name):
    return name.split(".")[0]


SAMPLE = """
import os.path
from . import cousin
from ..errors import CallError
from .. import gathering
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:
    import enum
def late():
    from foreword.building.build import build
"""


def test_the_import_reader_sees_types_and_late_imports():
    all_targets = [target for target, _ in imports("template.sample", False, ast.walk(ast.parse(SAMPLE)))]
    assert sorted(all_targets) == sorted(
        [
            "os.path",
            "foreword.template.cousin",
            "foreword.errors.CallError",
            "foreword.gathering",
            "typing.Any",
            "enum",
            "foreword.building.build.build",
        ]
    )
    run_time_targets = [target for target, _ in imports("template.sample", False, nodes_at_run_time(ast.parse(SAMPLE)))]
    assert set(all_targets) - set(run_time_targets) == {"typing.Any"}


# Allowed imports

# A package may import the packages above it in this list; those on one line do not import each other.
ORDER = """
    errors
    shapes vocabulary
    findings
    extensions
    text
    template
    layout
    sources
    packs
    gathering
    building
    store
    providers
    inspection
    encoding
    engine
    sessions
    conversation
    integrations
    wire
    programs
    service testing
    cli
"""
LEVELS = {name: index for index, line in enumerate(ORDER.split("\n")) for name in line.split()}
UNRESTRICTED = ("__init__", "__main__")  # these may import all others


def test_every_package_is_in_the_order():
    assert {package_of(name) for name in PATHS} - set(UNRESTRICTED) == set(LEVELS)


def test_packages_import_only_packages_above_them():
    assert [
        f"{name}:{line} imports {imported}"
        for name, imported, line in import_edges()
        if package_of(name) not in UNRESTRICTED
        and package_of(name) != package_of(imported)
        and LEVELS.get(package_of(imported), 99) >= LEVELS[package_of(name)]
    ] == []


def test_no_other_package_imports_the_adapters_for_frameworks():
    users = {package_of(name) for name, imported, _ in import_edges() if package_of(imported) == "integrations"}
    assert users == {"integrations"}


def test_there_are_no_import_cycles():
    graph = graphlib.TopologicalSorter()
    for name, imported, _ in import_edges():
        if name not in UNRESTRICTED and imported not in UNRESTRICTED:
            graph.add(name, imported)
    graph.prepare()


def page_imports():
    """Yield each file of the web page, and each file that it imports, for types too."""
    folder = SRC.parent / "web/src"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.ts*")}
    for name in sorted(files):
        for target in re.findall(r'(?:from|import\()\s*"(\.[^"]+)"', (folder / name).read_text()):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            yield from ((name, path + end) for end in ("", ".ts", ".tsx") if path + end in files)


def test_the_files_of_the_page_have_no_import_cycles():
    graph, count = graphlib.TopologicalSorter(), 0
    for name, imported in page_imports():
        graph.add(name, imported)
        count += 1
    assert count > 300
    graph.prepare()


def test_few_modules_are_directly_in_the_package():
    assert len([entry for entry in (SRC / "foreword").iterdir() if entry.name != "__pycache__"]) <= 30


def test_the_map_in_agents_md_names_every_package():
    text = (SRC.parent / "AGENTS.md").read_text()
    named = {word for code in re.findall(r"`([\w./*]+)`", text) for word in re.split(r"\W", code)}
    assert {package_of(name) for name in PATHS} - named - {"__main__"} == set()


# Importing by name hides a dependency.
IMPORTED_BY_NAME = {
    "__init__": "a public name is loaded when it is first used",
    "cli": "only the module of the requested command is loaded",
    "cli.compile": "the tables of all commands are in their modules",
    "extensions": "an extension is found by its entry point",
    "packs.shipped": "only the layout in use is loaded",
    "providers": "the module of a provider has its name",
    "sources.ryaml_adapter": "the YAML parser is loaded without its package, which would load typing",
    "text.tokens": "the tokenizer is an extra, which may not be installed",
}


def test_modules_are_imported_by_name_only_where_declared():
    users = {
        name
        for name, tree in trees().items()
        for target, _ in imports_of(name, nodes_at_run_time(tree))
        if target.split(".")[0] in ("importlib", "pkgutil", "runpy")
    }
    users |= {name for name, tree in trees().items() if calls(tree, {"__import__"})}
    assert users - set(IMPORTED_BY_NAME) == set()


# Pure modules

# A pure module never touches the disk, the clock or the environment. These packages are pure except for the listed modules.
PURE_PACKAGES = {
    "vocabulary": (),
    "errors": (),
    "shapes": (),
    "findings": (),
    "text": (),
    "layout": (),
    "template": (),
    "building": (),
    "inspection": ("inspection.price_list", "inspection.requests"),
    "encoding": (),
    "wire": (),
}
PURE_MODULES = (
    "gathering.conditions",
    "sources.globs",
    "sources.paths",
    "conversation.accounts",
    "conversation.announcing",
    "conversation.choice",
    "conversation.decide",
    "conversation.leading",
    "conversation.notices",
    "conversation.state",
    "conversation.tools",
    "programs.align.copies",
    "programs.align.edits",
    "programs.align.model",
    "programs.align.proposals",
    "programs.align.search",
    "programs.align.upkeep",
    "providers.converse_form",
    "providers.existing_breakpoints",
    "providers.request_parts",
    "programs.effect.arms",
    "programs.effect.design",
    "programs.effect.markdown",
    "programs.effect.picture",
    "programs.effect.report",
    "programs.effect.stages",
    "programs.effect.statistics",
    "sessions.advice",
    "sessions.attribution",
    "sessions.causes",
    "sessions.chains",
    "sessions.costs",
    "sessions.in_force",
    "sessions.joining",
    "sessions.pages",
    "sessions.records",
    "sessions.surprises",
    "sessions.values",
)
SIDE_EFFECTS = {"os", "pathlib", "subprocess", "sqlite3", "socket", "time", "random"}


def is_pure(name):
    return name in PURE_MODULES or (package_of(name) in PURE_PACKAGES and name not in PURE_PACKAGES[package_of(name)])


def test_pure_modules_import_nothing_with_side_effects():
    assert [
        f"{name}:{line} imports {target}"
        for name, tree in trees().items()
        if is_pure(name)
        for target, line in imports_of(name, nodes_at_run_time(tree))
        if target.split(".")[0] in SIDE_EFFECTS
    ] == []


def test_pure_modules_import_only_pure_modules():
    assert [
        f"{name}:{line} imports {imported}"
        for name, tree in trees().items()
        if is_pure(name)
        for target, line in imports_of(name, nodes_at_run_time(tree))
        if target.split(".")[0] == "foreword"
        for imported in [module_of(target)]
        if not is_pure(imported)
    ] == []


def calls(tree, names):
    """Return the lines on which one of these built-in functions is called."""
    return [node.lineno for node in walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names]


def test_pure_modules_open_nothing():
    calls_by_module = {name: calls(tree, {"open", "input"}) for name, tree in trees().items() if is_pure(name)}
    assert {name: lines for name, lines in calls_by_module.items() if lines} == {}


# compile.py is a development tool, run as `python -m foreword.packs.compile`.
PRINTERS = ("packs.compile",)


def test_only_the_command_line_prints():
    printed = {
        name: calls(tree, {"print"}) for name, tree in trees().items() if package_of(name) not in ("cli", "__main__")
    }
    assert {name: lines for name, lines in printed.items() if lines and name not in PRINTERS} == {}


# Start-up

# Standard library modules that importing the engine may load, directly; their own imports are allowed too.
LIGHT_MODULES = "__future__ bisect errno itertools os re stat sys threading time"
# None of these is loaded before it is needed, not even by a complete `foreword show`.
HEAVY_MODULES = set(
    "typing dataclasses pathlib tomllib minijinja ryaml rich hashlib _hashlib subprocess json datetime sqlite3 socket"
    " asyncio logging inspect difflib contextlib tempfile random uuid urllib email msgspec starlette uvicorn".split()
)

# Our own modules that a shipped layout does not need unless there are settings, templates or tight budgets.
RARELY_NEEDED_MODULES = {
    f"foreword.{name}"
    for name in (
        "building.budget engine.bodies engine.skills gathering.conditions gathering.includes gathering.values layout.lookup_keys layout.lookups layout.forms layout.key layout.keys layout.merging layout.parse packs.packs"
        " packs.config packs.settings packs.std.compiled packs.wording programs.explain sources.ryaml_adapter template.contract template.languages template.limits"
        " text.hidden text.tokens"
    ).split()
}


def loaded_by(code):
    """Return the modules that this code loads, except those that a bare interpreter has already loaded."""
    script = f"import sys; at_start = set(sys.modules); sys.path.insert(0, {str(SRC)!r})\n{code}\n"
    script += "sys.stderr.write('\\n'.join(sorted(set(sys.modules) - at_start)))"
    result = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return set(result.stderr.split())


def test_importing_the_package_imports_nothing():
    assert loaded_by("import foreword") == {"__future__", "foreword"}


def test_importing_the_command_line_imports_nothing():
    assert loaded_by("import foreword.cli") == {"__future__", "foreword", "foreword.cli", "foreword.cli.commands"}


def test_importing_the_engine_imports_nothing_heavy():
    loaded = {name for name in loaded_by("import foreword.engine.assembler") if package_of(name) != "foreword"}
    assert loaded - loaded_by("import " + ", ".join(LIGHT_MODULES.split())) == set()
    assert loaded & HEAVY_MODULES == set()


@pytest.mark.parametrize(
    "call",
    [
        "import foreword.cli; foreword.cli.main(['--version'])",
        "import foreword.cli; foreword.cli.main(['show', '.', '--home', '.'])",
        "import foreword; foreword.assemble(foreword.Workspace('.', home='.'), layout='opal')",
    ],
)
def test_the_usual_calls_load_nothing_heavy(call, tmp_path):
    (tmp_path / "AGENTS.md").write_text("Speak plainly.\n")
    skill = tmp_path / ".agents" / "skills" / "greet" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: greet\ndescription: How to greet.\n---\n")
    assert (
        loaded_by(f"import os; os.chdir({str(tmp_path)!r}); {call}") & (HEAVY_MODULES | RARELY_NEEDED_MODULES) == set()
    )


def test_a_table_of_agents_needs_no_pattern(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "AGENTS.md").write_text("Speak plainly.\n")
    call = f"import foreword.cli; foreword.cli.main(['agents', {str(tmp_path)!r}, '--home', {str(tmp_path)!r}])"
    assert loaded_by(call) & {*HEAVY_MODULES, "re", "functools", "foreword.gathering.imports"} == set()


# Size limits


def functions(tree):
    return (node for node in walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_functions_are_short():
    assert [
        f"{name}:{node.lineno} {node.name}: {length} lines"
        for name, tree in hand_written().items()
        for node in functions(tree)
        for length in [node.end_lineno - node.lineno + 1]
        if length > 60
    ] == []


# Names


def test_every_public_name_exists():
    assert [name for name in foreword.__all__ if getattr(foreword, name, None) is None] == []


def test_a_type_checker_sees_the_same_public_names():
    typed, loads = (node for node in trees()["__init__"].body if isinstance(node, ast.If))
    declared = {alias.name for node in typed.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert declared == {*foreword.__all__}
    assert ast.unparse(loads.test) == "not TYPE_CHECKING", "a checker would accept any name"


def test_no_module_has_a_catch_all_name():
    words = {word for name in PATHS for part in name.split(".") for word in part.lower().split("_")}
    assert words & set("core common util utils helper helpers misc manager managers registry".split()) == set()


def texts(tree):
    return {node.value for node in walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def branches(tree):
    """Yield the nodes that branch on a value: comparisons, cases, `startswith` and similar, tables and look-ups."""
    for node in walk(tree):
        if isinstance(node, ast.Compare | ast.MatchValue):
            yield node, texts(node)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("startswith", "endswith", "get"):
            yield node, {text for argument in node.args for text in texts(argument)}
        elif isinstance(node, ast.Subscript):
            yield node, texts(node.slice)
        elif isinstance(node, ast.Dict):
            yield node, {text for key in node.keys if key for text in texts(key)}


# Families of models have these names too.
MODELS = {"gemini", "kimi", "qwen"}


def test_no_branch_on_a_layouts_name():
    known = {
        *NAMES,
        *set(agents.NAMES) - MODELS,
        *(f"$std/{name}" for name in NAMES),
        *(f"$agents/{name}" for name in agents.NAMES),
    }
    violations = [
        f"{name}:{node.lineno} branches on {', '.join(sorted(violations & known))}"
        for name, tree in hand_written().items()
        for node, violations in branches(tree)
        if violations & known
    ]
    assert violations == []


# Regular expressions

# In Python 3.11.2, which Debian 12 ships, a possessive repetition of a group that begins with a look-ahead never matches.
ESCAPE_OR_SET = re.compile(r"(?s)\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]")
POSSESSIVE = re.compile(r"[*+?]\+|\{[0-9]*,?[0-9]*\}\+|\(\?>")


def is_possessive(pattern):
    """Return whether a pattern contains a possessive repetition or an atomic group."""
    return bool(POSSESSIVE.search(ESCAPE_OR_SET.sub("x", pattern)))


def patterns(tree):
    """Yield every string of a module except docstrings, with its line; an f-string expression counts as one character."""
    nodes = list(walk(tree))
    skipped = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    skipped |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            yield "".join(parts), node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value, node.lineno


def uses_re(tree):
    return any(
        alias.name.partition(".")[0] == "re"
        for node in walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    )


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a*+", True),
        ("a++b", True),
        ("a?+", True),
        ("`{3,}+", True),
        ("(?:a){2}+", True),
        ("(?>a)", True),
        (r"[]a]*+", True),
        (r"\[*+", True),
        (r"[*+]", False),
        (r"[]*+]", False),
        (r"[\]*+]", False),
        (r"\*+", False),
        (r"a\?+b", False),
        (r"(?=a)b*?c+", False),
        (r"\{\}+", False),
    ],
)
def test_the_pattern_reader_finds_possessive_repetitions(pattern, expected):
    assert is_possessive(pattern) is expected


def test_no_pattern_is_possessive():
    root = SRC.parent
    files = [root / "hatch_build.py", *(path for folder in SCRIPTS for path in sorted((root / folder).rglob("*.py")))]
    sources = {path: path.read_text() for path in files if path != Path(__file__)}
    with_re = [path for path, source in sources.items() if re.search(r"\bimport\b.*\bre\b", source)]
    suspects = [path for path in with_re if re.search(r"[*+?}]\+|\(\?>", sources[path])]
    searched = {path: tree for path in suspects if uses_re(tree := ast.parse(sources[path]))}
    violations = [
        f"{path.relative_to(root)}:{line} {text!r}"
        for path, tree in searched.items()
        for text, line in patterns(tree)
        if is_possessive(text)
    ]
    assert len(with_re) > 20
    assert violations == []


# Findings

FAMILIES = "|".join(sorted({code.partition("-")[0] for code in CODES}))


def codes_in(tree):
    """Yield every string, or pattern of an f-string, that is the code of a finding."""
    for text in texts(tree):
        if re.fullmatch(rf"(?:{FAMILIES})(?:-[a-z0-9]+)+", text):
            yield text
    for node in walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "finding":
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield first.value
            elif isinstance(first, ast.JoinedStr):
                parts = [re.escape(part.value) if isinstance(part, ast.Constant) else "[a-z]+" for part in first.values]
                yield from (code for code in CODES if re.fullmatch("".join(parts), code))


def test_findings_and_their_table_agree():
    reported = {code for name, tree in hand_written().items() if name != "findings" for code in codes_in(tree)}
    assert reported - set(CODES) - set(PROBLEMS) == set(), "codes missing from the table"
    assert set(CODES) - reported == set(), "unused codes"
