"""Which tests are a module's own: those with its name in theirs or importing it, then those of its package.

Tests in a browser and of the packaging are too slow to run once per fault.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

# The folders and files of tests for each package, the quickest and most specific first.
OF_PACKAGE = {
    "building": "layouts roles layout_keys hard test_layout_keys.py test_engine.py property",
    "cli": "cli test_docs.py",
    "conversation": "conversation roles providers service",
    "encoding": "encoding conversation roles store",
    "engine": "test_engine.py test_sandbox.py test_arguments.py layouts sources cli",
    "gathering": "layouts hard layout_keys sources test_layout_keys.py test_git.py conversation",
    "inspection": "inspection test_stability.py test_questions.py cli property",
    "integrations": "integrations",
    "layout": "test_layout_keys.py layout_keys layouts property cli",
    "packs": "layouts test_layout_keys.py agents cli",
    "programs": "test_questions.py test_stability.py test_watch.py inspection cli agents",
    "providers": "providers roles integrations",
    "service": "service",
    "sessions": "sessions",
    "sources": "sources hard test_git.py test_paths.py test_platforms.py layouts property cli",
    "store": "store conversation",
    "template": "template test_sandbox.py layouts property",
    "testing": "test_testing.py",
    "text": "test_markdown.py test_tokens.py test_toml.py hard template inspection property layouts",
    "vocabulary": "wire test_arguments.py providers encoding conversation layouts cli",
    "wire": "wire test_questions.py cli service",
    "": "test_arguments.py test_engine.py cli conversation layouts",
}
SLOW = ("browser", "packaging", "test_docs.py", "test_architecture.py")
# Tests of modules that are tested through others: files run with those that name the module, folders before those of its package.
MORE = {
    "cli/align": "align",
    "cli/effect": "effect",
    "cli/proxy": "proxy",
    "cli/review": "cli/test_review_command.py",
    "cli/session": "sessions",
    "programs/align/": "align",
    "programs/effect/": "effect",
    "programs/review": "cli/test_review_command.py",
    "programs/session": "sessions",
    "service/proxy/": "proxy",
    "service/mcp/": "mcp_server",
    "sources/git": "test_git.py",
    "sources/trust": "cli/test_trust_command.py cli/test_partial_trust.py cli/test_hostile_trust.py test_leaving_out.py",
    "sources/links.py": "hard/test_links.py",
    "sources/places.py": "hard/test_faults.py hard/test_links.py property/test_stamps.py cli/test_review_command.py",
    "sources/private_folder.py": "cli/test_review_command.py",
    "service/tokens.py": "service/test_teams.py",
    "conversation/assembling.py": "conversation/test_served_folders.py service/test_safety.py",
    "service/teams.py": "service/test_teams.py",
    "service/guard.py": "service/test_safety.py service/test_scope.py",
}


def own_tests(module: str, tests: Path) -> list[list[str]]:
    """The tests of a module such as `store/rows.py`, as paths for pytest: first the files that name or import it, then the folders of its package."""
    package = module.partition("/")[0] if "/" in module else ""
    words = " ".join(words for beginning, words in MORE.items() if module.startswith(beginning)).split()
    folders = [*(word for word in words if not word.endswith(".py")), *OF_PACKAGE[package].split()]
    name = "foreword." + module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    specific = _named_after(Path(module).stem, tests)
    specific += [word for word in words if word.endswith(".py")]
    specific += [path for path, imported in imports_of_tests(tests).items() if name in imported]
    specific = [path for path in specific if not path.startswith(SLOW)]
    return [group for group in (list(dict.fromkeys(specific)), folders) if group]


def _named_after(stem: str, tests: Path) -> list[str]:
    """The files of tests whose names contain the words of a module's name, those with the fewest other words first."""
    wanted = _words(stem)
    found = {path: _words(Path(path).stem.removeprefix("test_")) for path in imports_of_tests(tests)}
    return sorted((path for path in found if wanted <= found[path]), key=lambda path: len(found[path]))


def _words(name: str) -> set[str]:
    """The words of a module's name in the singular."""
    return {word.removesuffix("s") for word in name.strip("_").split("_")}


@cache
def imports_of_tests(tests: Path) -> dict[str, set[str]]:
    """The modules that each file of tests imports."""
    imported = {}
    for path in sorted(tests.rglob("test_*.py")):
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        imported[str(path.relative_to(tests))] = names
    return imported
