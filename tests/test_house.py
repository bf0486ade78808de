"""Keeps the house true: who may know whom, what a pure room may not touch, what importing costs, what things are called.

A rule is a table, and the test below it reads the source and names every place that breaks it. A new room needs a floor.
"""

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import foreword
from foreword.findings import CODES
from foreword.packs.std.compiled import NAMES
from foreword.service.answers import PROBLEMS

SRC = Path(__file__).parents[1] / "src"
GENERATED = "packs.std.compiled"
SCRIPTS = ("src", "tests", "bench", "docs", "examples")


def module_name(path):
    return ".".join(path.relative_to(SRC / "foreword").with_suffix("").parts)


MODULES = {module_name(path): ast.parse(path.read_text()) for path in sorted((SRC / "foreword").rglob("*.py"))}
WRITTEN = {name: tree for name, tree in MODULES.items() if name != GENERATED}


def nodes(tree):
    """Everything in a tree that runs: what stands under `if TYPE_CHECKING` is for the type checker only."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
            yield from nodes(ast.Module(child.orelse, []))
        else:
            yield child
            yield from nodes(child)


def imports(name, tree):
    """The full names that a module imports when it runs, late imports included, each with its line."""
    package = ["foreword", *name.split(".")[:-1]]
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            below = package[: len(package) - node.level + 1] if node.level else []
            start = [*below, *(node.module or "").split(".")] if node.module else below
            yield from ((".".join([*start, alias.name]), node.lineno) for alias in node.names)


def room(name):
    return name.split(".")[0]


def arrows():
    """Every import from one room of the house to another: who, whom, and where."""
    for name, tree in MODULES.items():
        for target, line in imports(name, tree):
            if target.split(".")[0] == "foreword":
                whom = target.split(".")[1] if target.count(".") else "__init__"
                whom = whom if whom in FLOOR else "__init__"
                if whom != room(name):
                    yield room(name), whom, f"{name}:{line}"


SAMPLE = """
import os.path
from . import cousin
from ..errors import CallError
from .. import gather
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:
    import enum
def late():
    from foreword.build import build
"""


def test_the_reader_of_imports_sees_all_that_runs():
    assert [target for target, _ in imports("template.sample", ast.parse(SAMPLE))] == [
        "os.path",
        "foreword.template.cousin",
        "foreword.errors.CallError",
        "foreword.gather",
        "enum",
        "foreword.build.build",
    ]


# Who may know whom

# Top to bottom. A room may know every floor below its own; a room that is not built yet may have its floor already.
FLOORS = (
    ("__main__", "__init__"),
    ("cli", "service"),
    ("talk", "stability", "watching", "proofread"),
    ("explain",),
    ("engine",),
    ("gather", "build", "skills", "store", "sandbox", "prices", "hooks"),
    ("collect", "clock", "includes"),
    ("template", "sources", "packs", "conversation", "providers", "extensions", "settings", "wording"),
    ("layout", "wire", "tokens", "budget", "drafts", "lists", "inspection", "places", "menus", "notices"),
    ("findings", "errors", "arguments", "vocabulary", "forms", "markdown", "version", "waits"),
)
FLOOR = {name: number for number, floor in enumerate(FLOORS) for name in floor}

# Rooms on one floor do not know each other, but for these.
NEIGHBOURS = {
    ("settings", "packs"): "a setting changes a layout as it was written, before it is parsed",
    ("wording", "packs"): "wording is changed in a layout as it was written, before it is parsed",
    ("wording", "sources"): "the folders of packs are taken in any spelling",
    ("settings", "sources"): "foreword.toml is read by the one careful reader, in the folders of the workspace",
    ("packs", "sources"): "a layout is read by the one careful reader, in the folders of the workspace",
    ("drafts", "layout"): "a draft is a section of the layout on its way into the prompt",
    ("budget", "drafts"): "what gives way is an item of a draft",
    ("budget", "layout"): "which lists hold files is told by the fields of their items",
    ("budget", "tokens"): "a budget counts by the one fixed estimate",
    ("menus", "drafts"): "a folder is named above an item of a draft",
    ("menus", "layout"): "how a folder is named is a form of the layout",
    ("menus", "places"): "folders are in order of their distance",
    ("lists", "drafts"): "a plan is trimmed as any text of the caller's",
    ("lists", "places"): "what a scope names is meant from the working directory",
    ("collect", "clock"): "a section may tell the time",
    ("findings", "vocabulary"): "a finding is a value",
    ("arguments", "errors"): "a wrong argument is an error of the caller's",
    ("vocabulary", "arguments"): "a value refuses fields that cannot be right",
    ("vocabulary", "errors"): "a value refuses fields that cannot be right",
    ("cli", "service"): "a command starts the service",
}


def test_every_room_has_a_floor():
    assert {room(name) for name in MODULES} - set(FLOOR) == set()


def test_arrows_point_down():
    assert [f"{place} knows {whom}" for who, whom, place in arrows() if FLOOR[who] > FLOOR[whom]] == []


def test_neighbours_know_each_other_only_where_declared():
    real = {(who, whom): place for who, whom, place in arrows() if FLOOR[who] == FLOOR[whom]}
    assert {pair: place for pair, place in real.items() if pair not in NEIGHBOURS} == {}
    assert set(NEIGHBOURS) - set(real) == set(), "declared, and no longer so"


def test_neighbours_do_not_know_each_other_in_a_circle():
    graph = graphlib.TopologicalSorter()
    for who, whom in NEIGHBOURS:
        graph.add(who, whom)
    graph.prepare()


def test_the_map_names_every_room():
    told = (SRC.parent / "AGENTS.md").read_text()
    named = {name for path in re.findall(r"`([\w./*]+)`", told) for name in re.split(r"\W", path)}
    assert {room(name) for name in MODULES} - named - {"__main__", "version"} == set()


# Importing by name hides an arrow.
BY_NAME = {
    "__init__": "a public name is loaded when it is first used",
    "cli.__init__": "only the family of the command that is asked for is loaded",
    "extensions": "an extension is found by its entry point",
    "sources.skills": "the parser of YAML is loaded without its package, which would load typing",
    "tokens": "the tokenizer is an extra, which may not be installed",
}


def test_modules_are_imported_by_name_only_where_declared():
    users = {
        name
        for name, tree in MODULES.items()
        for target, _ in imports(name, tree)
        if target.split(".")[0] in ("importlib", "pkgutil", "runpy")
    }
    assert users - set(BY_NAME) == set()


# What a pure room may not touch

PURE = set(
    "vocabulary errors arguments findings markdown places wire layout drafts lists clock collect budget tokens template inspection conversation menus notices"
    " build".split()
)
WORLD = {"os", "pathlib", "subprocess", "sqlite3", "socket", "time", "random"}


def test_pure_rooms_import_nothing_of_the_world():
    touched = [
        f"{name}:{line} imports {target}"
        for name, tree in MODULES.items()
        if room(name) in PURE
        for target, line in imports(name, tree)
        if target.split(".")[0] in WORLD
    ]
    assert touched == []


def test_pure_rooms_know_only_pure_rooms():
    known = [f"{place} knows {whom}" for who, whom, place in arrows() if who in PURE and whom not in PURE]
    assert known == []


def calls(tree, names):
    """The lines on which one of these built-in functions is called."""
    return [
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names
    ]


def test_pure_rooms_open_nothing():
    opened = {name: calls(tree, {"open", "input"}) for name, tree in MODULES.items() if room(name) in PURE}
    assert {name: lines for name, lines in opened.items() if lines} == {}


# compile.py is a tool of the developers, run as `python -m foreword.packs.compile`.
PRINTERS = ("packs.compile",)


def test_only_the_command_line_prints():
    printed = {name: calls(tree, {"print"}) for name, tree in MODULES.items() if room(name) not in ("cli", "__main__")}
    assert {name: lines for name, lines in printed.items() if lines and name not in PRINTERS} == {}


# What importing costs

# What importing the engine may load of the standard library: these, and what they load themselves.
LIGHT = "__future__ bisect errno itertools os re stat sys threading time"
# None of these is loaded before it is needed, not even by a whole `foreword show`.
HEAVY = set(
    "typing dataclasses pathlib tomllib minijinja ryaml rich hashlib _hashlib subprocess json datetime sqlite3 socket"
    " asyncio logging inspect difflib contextlib tempfile random uuid urllib email msgspec starlette uvicorn".split()
)


def loaded_by(code):
    """The modules that a bare interpreter has after running this, beyond what it starts with."""
    script = f"import sys; at_start = set(sys.modules); sys.path.insert(0, {str(SRC)!r})\n{code}\n"
    script += "sys.stderr.write('\\n'.join(sorted(set(sys.modules) - at_start)))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_importing_the_package_imports_nothing():
    assert loaded_by("import foreword") == {"__future__", "foreword"}


def test_importing_the_command_line_imports_nothing():
    assert loaded_by("import foreword.cli") == {"__future__", "foreword", "foreword.cli"}


def test_importing_the_engine_imports_nothing_heavy():
    loaded = {name for name in loaded_by("import foreword.engine") if room(name) != "foreword"}
    assert loaded - loaded_by("import " + ", ".join(LIGHT.split())) == set()
    assert loaded & HEAVY == set()


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
    assert loaded_by(f"import os; os.chdir({str(tmp_path)!r}); {call}") & HEAVY == set()


# What things are called, and how long they are


def test_the_public_face_is_small_and_whole():
    assert len(foreword.__all__) <= 20
    assert [name for name in foreword.__all__ if getattr(foreword, name, None) is None] == []


def test_the_public_face_is_the_same_for_a_type_checker():
    typed, loads = (node for node in MODULES["__init__"].body if isinstance(node, ast.If))
    declared = {alias.name for each in typed.body if isinstance(each, ast.ImportFrom) for alias in each.names}
    assert declared == {*foreword.__all__, "__version__"}
    assert ast.unparse(loads.test) == "not TYPE_CHECKING", "a checker would let any name pass"


def test_no_room_is_called_everything():
    words = {word for name in MODULES for part in name.split(".") for word in part.lower().split("_")}
    assert words & set("core common util utils helper helpers misc manager managers registry".split()) == set()


def test_every_function_is_short():
    long = [
        f"{name}:{node.lineno} {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for name, tree in WRITTEN.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno >= 60
    ]
    assert long == []


def texts(tree):
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def questions(tree):
    """What decides by a value: comparisons, cases, `startswith` and its like, tables and look-ups."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.MatchValue):
            yield node, texts(node)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("startswith", "endswith", "get"):
            yield node, {text for argument in node.args for text in texts(argument)}
        elif isinstance(node, ast.Subscript):
            yield node, texts(node.slice)
        elif isinstance(node, ast.Dict):
            yield node, {text for key in node.keys if key for text in texts(key)}


def test_no_branch_on_a_layouts_name():
    known = {*NAMES, *(f"$std/{name}" for name in NAMES)}
    asked = [
        f"{name}:{node.lineno} asks for {', '.join(sorted(found & known))}"
        for name, tree in WRITTEN.items()
        for node, found in questions(tree)
        if found & known
    ]
    assert asked == []


# Regular expressions

# In Python 3.11.2, which Debian 12 ships, a possessive repetition of a group that begins with a look-ahead never matches.
ESCAPE_OR_SET = re.compile(r"(?s)\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]")
POSSESSIVE = re.compile(r"[*+?]\+|\{[0-9]*,?[0-9]*\}\+|\(\?>")


def is_possessive(pattern):
    """Whether a pattern, or a part of one, has a possessive repetition or an atomic group."""
    return bool(POSSESSIVE.search(ESCAPE_OR_SET.sub("x", pattern)))


def patterns(tree):
    """Every text of a module but its docstrings, with its line; what is put into an f-string counts as one character."""
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            yield "".join(parts), node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner | docs:
            yield node.value, node.lineno


def uses_re(tree):
    return any(
        alias.name.partition(".")[0] == "re"
        for node in ast.walk(tree)
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
def test_the_reader_of_patterns_knows_a_possessive_repetition(pattern, expected):
    assert is_possessive(pattern) is expected


def test_no_pattern_is_possessive():
    root = SRC.parent
    files = [root / "hatch_build.py", *(path for folder in SCRIPTS for path in sorted((root / folder).rglob("*.py")))]
    trees = {path: ast.parse(path.read_text()) for path in files if path != Path(__file__)}
    searched = {path: tree for path, tree in trees.items() if uses_re(tree)}
    found = [
        f"{path.relative_to(root)}:{line} {text!r}"
        for path, tree in searched.items()
        for text, line in patterns(tree)
        if is_possessive(text)
    ]
    assert len(searched) > 20
    assert found == []


# Findings

FAMILIES = "|".join(sorted({code.partition("-")[0] for code in CODES}))


def codes_in(tree):
    """Every text that is, or as an f-string stands for, the code of a finding."""
    for text in texts(tree):
        if re.fullmatch(rf"(?:{FAMILIES})(?:-[a-z0-9]+)+", text):
            yield text
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "finding":
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield first.value
            elif isinstance(first, ast.JoinedStr):
                parts = [re.escape(part.value) if isinstance(part, ast.Constant) else "[a-z]+" for part in first.values]
                yield from (code for code in CODES if re.fullmatch("".join(parts), code))


def test_findings_and_their_table_agree():
    used = {code for name, tree in WRITTEN.items() if name != "findings" for code in codes_in(tree)}
    assert used - set(CODES) - set(PROBLEMS) == set(), "codes that the table lacks"
    assert set(CODES) - used == set(), "codes that nothing uses"
