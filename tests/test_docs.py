"""The documentation is correct: reference pages match the code, and every example and command line runs.

A page runs from top to bottom in a small workspace (`docs/sample.py`). A fenced block with a title is a file of that
name, `sh` contains command lines, `python` is a program; a `text` block right after one of the two is its output, from standard
error if there is no other. `pytest --accept` rewrites these blocks; read the diff before you commit it. Calls to a provider go to a
fake one (`examples/pretend.py`). A `py` block needs a framework, and is run by `tests/integrations/test_frameworks_page.py`.
"""

import argparse
import ast
import contextlib
import importlib.util
import inspect
import itertools
import json
import os
import pydoc
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import ryaml

import foreword
from foreword import cli, extensions, vocabulary
from foreword.cli import commands
from foreword.conversation import decide, transitions
from foreword.findings import CODES
from foreword.inspection import origins
from foreword.inspection.lint.table import CHECKS
from foreword.layout import keys, lookup_keys, merging
from foreword.packs import settings
from foreword.packs.std import NAMES, compiled
from foreword.programs import proofread, watching
from foreword.service.metrics import Metrics
from foreword.service.routes import ROUTES
from foreword.template import jinja
from foreword.template.catalog import CATALOG

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
# Its commands set up a clone from scratch: tests/packaging/test_first_steps.py runs them in a shell.
FIRST_STEPS = DOCS / "first-steps.md"
# It begins in the checkout, and creates the project that the other pages use.
GUIDE = DOCS / "guide.md"


def load(path):
    """Import a Python file outside any package."""
    loaded = sys.modules.get(path.stem)
    if loaded is None or loaded.__file__ != str(path):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        loaded = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
    return loaded


sample = load(DOCS / "sample.py")
pretend = load(ROOT / "examples/pretend.py")
generate = load(DOCS / "generate.py")
picture = load(DOCS / "picture.py")


def text_of(name):
    return (DOCS / name).read_text()


def page_id(page):
    return page.relative_to(ROOT).as_posix()


# Generated reference pages


def test_reference_pages_are_current():
    assert generate.stale() == [], "run python docs/generate.py"


def test_a_stale_page_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(generate, "FOLDER", tmp_path / "reference")
    monkeypatch.setattr(generate, "pages", lambda: {"keys.md": "keys", "layouts.md": "layouts"})
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "reference" / "keys.md").write_text("old")
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().out == "docs/reference/keys.md is stale: run python docs/generate.py\n"


def rows(name, below=""):
    """Return the name and description from the tables of a reference page. If a name has two rows, the shorter description counts."""
    descriptions, text = {}, text_of(f"reference/{name}")
    for line in re.findall(r"^\| .*$", text[text.index(below) :], re.MULTILINE):
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        key = re.sub(r"^\[?`|`(?:\]\(.*\))?$", "", cells[0])
        descriptions[key] = min(descriptions.get(key, cells[-1]), cells[-1], key=len)
    return descriptions


KEYS = [key.name for key in keys.KEYS]
NAMES_BY_PAGE = [
    *lookup_keys.PLACES,
    *keys.LISTS,
    *keys.LOOKUP_FIELDS,
    *keys.FACTS,
    *keys.FILTERS,
    *keys.EVENTS,
    *keys.STEPS,
]


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("findings.md", list(CODES)),
        ("origins.md", list(origins.ORIGINS)),
        ("variables.md", [*(f"{row.type}:{row.name}" for row in CATALOG), *jinja.VARIABLES]),
        ("extensions.md", [name for name in extensions.Extension.__annotations__ if name != "name"]),
        ("keys.md", [*KEYS, *NAMES_BY_PAGE]),
    ],
)
def test_every_name_is_described(page, names):
    descriptions = rows(page)
    assert [name for name in names if len(descriptions.get(name, "")) < 3] == []


@pytest.mark.parametrize("kind", ["settings", "wording"])
def test_every_setting_and_wording_of_a_shipped_layout_is_described(kind):
    descriptions = rows("layouts.md", below="## Settings")
    names = {name for layout in NAMES for name in merging.flatten(getattr(compiled, layout)().get(kind, {}))}
    assert sorted(name for name in names if len(descriptions.get(name, "")) < 3) == []


def test_every_event_of_listen_is_described():
    descriptions = rows("extensions.md")
    assert {name: descriptions.get(name) for name in extensions.EVENTS} == extensions.EVENTS


def test_every_published_event_is_an_event_of_listen():
    calls = [node for node in ast.walk(ast.parse(Path(transitions.__file__).read_text())) if isinstance(node, ast.Call)]
    events = [node.args[0] for node in calls if ast.unparse(node.func) == "self._hooks.notify"]
    published = {node.value for event in events for node in ast.walk(event) if isinstance(node, ast.Constant)} - {None}
    assert published | set(keys.STEPS) - {"keep"} == set(extensions.EVENTS)


def test_every_table_of_a_layout_is_described():
    assert [about for about in keys.TABLES.values() if about not in text_of("reference/keys.md")] == []


def test_every_route_is_described():
    descriptions = rows("http.md")
    routes = [f"{route.method} {route.path}" for route in ROUTES if route.response is not None]
    assert [route for route in routes if len(descriptions.get(route, "")) < 3] == []
    assert {route.path for route in ROUTES if route.response is None} == {"/", "/static/{name}"}


@pytest.mark.parametrize("command", commands.COMMANDS)
def test_every_command_and_option_is_described(command):
    text = text_of("reference/commands.md")
    assert f"\n## foreword {command}\n" in text
    actions = generate.parser_of(command).actions()
    named = [option for action in actions for option in action.option_strings] or [action.metavar for action in actions]
    assert [name for name in named if not re.search(rf"`{re.escape(name)}[` ]", text)] == []
    assert [action.dest for action in actions if not action.help] == []


PUBLIC_NAMES = {name: home for home, names in foreword._MODULES.items() for name in names if name[0].isupper()}
PUBLIC_NAMES |= {name: home for home, names in generate.RETURNED.items() for name in names if name[0].isupper()}


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_every_field_of_a_public_class_is_described(name):
    descriptions = generate.meanings(PUBLIC_NAMES[name], name)
    assert list(descriptions) == [field for field, _, _ in generate.fields_in(PUBLIC_NAMES[name], name)]
    assert [field for field, meaning in descriptions.items() if len(meaning) < 8] == []


@pytest.mark.parametrize("kind", [foreword.Agent, foreword.Tool, foreword.Finding, foreword.Extension])
def test_help_shows_the_fields_with_their_defaults(kind):
    parameters = inspect.signature(kind).parameters
    assert list(parameters) == list(kind.__annotations__)
    assert {
        name: parameter.default for name, parameter in parameters.items() if parameter.default is not parameter.empty
    } == {name: vars(kind)[name] for name in kind.__annotations__ if name in vars(kind)}
    help_text = re.sub(
        r"[\s|]+", "", pydoc.render_doc(kind, renderer=pydoc.plaintext)
    )  # newer versions wrap the signature
    assert f"{kind.__name__}({next(iter(parameters))}:" in help_text


def test_every_public_name_is_described():
    parts = re.split(r"^## ", text_of("reference/python.md"), flags=re.MULTILINE)[1:]
    descriptions = {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}
    assert [name for name in foreword.__all__ if len(descriptions.get(name, "")) < 20] == []


def test_every_return_value_of_a_call_is_described():
    text = text_of("reference/python.md")
    modules = (vocabulary, decide, watching, proofread, extensions)
    own_types = {name for module in modules for name, value in vars(module).items() if isinstance(value, type)}
    return_type = " ".join(re.findall(r"^(?:\| )?`(.*)`", text, re.MULTILINE))
    named_types = {word for word in re.findall(r"\b[A-Z]\w+", return_type) if word in own_types}
    assert {"Passage", "Candidate", "Finding", "Drift", "Watching"} <= named_types
    assert sorted(name for name in named_types if f"\n## {name}\n" not in text and f"\n### {name}\n" not in text) == []


# Hand-written pages match the code


def variables_in(path):
    """Return the environment variables that a module reads. If a name is not a literal, any string of the module counts."""
    tree = ast.parse(path.read_text())
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    for node in ast.walk(tree):
        receiver = None
        if isinstance(node, ast.Subscript):
            receiver, name = node.value, node.slice
        elif (
            isinstance(node, ast.Call)
            and node.args
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "get"
        ):
            receiver, name = node.func.value, node.args[0]
        if receiver is not None and re.search(r"\benviron(ment)?$", ast.unparse(receiver)):
            yield from [name.value] if isinstance(name, ast.Constant) else filter(VARIABLE.fullmatch, texts)


VARIABLE = re.compile(r"[A-Z][A-Z0-9]+(_[A-Z0-9]+)*")
SOURCES = sorted(Path(foreword.__file__).parent.rglob("*.py"))


def test_every_environment_variable_is_described():
    descriptions = set(re.findall(r"`([A-Z_]+)(?:=\w+)?`", text_of("settings.md").partition("\n## Environment\n")[2]))
    sources = [path for path in SOURCES if "environ" in path.read_text()]
    used_variables = {name for path in sources for name in variables_in(path)} - NOT_VARIABLES
    assert {"HOME", "PWD", "FOREWORD_STORE", "FOREWORD_TOKEN", "TERM"} <= used_variables
    assert sorted(used_variables - descriptions) == []


# Strings in these modules that look like names of variables.
NOT_VARIABLES = {
    "ADDRESS",
    "DIR",
    "FILE",
    "FORMAT",
    "LABEL",
    "LEVEL",
    "MB",
    "NAME",
    "ORIGIN",
    "POST",
    "SECONDS",
    "SIGHUP",
}


def test_the_page_on_the_service_names_every_series():
    table = text_of("service-running.md").partition("\n## Monitoring\n")[2].partition("\n## ")[0]
    series = re.findall(r"^# TYPE (\w+)", Metrics(ROUTES).text(), re.MULTILINE)
    assert series and [name for name in series if not re.search(rf"`{name}[`{{]", table)] == []


def test_the_page_on_lint_names_every_check():
    assert [check.id for check in CHECKS if f"(reference/checks.md#{check.id})" not in text_of("lint.md")] == []


@pytest.mark.parametrize("name", [name for name in extensions.Extension.__annotations__ if name != "name"])
def test_the_page_on_extensions_shows_every_field(name):
    assert re.search(rf"\b{name}=", text_of("writing-an-extension.md"))


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("command", ["make run", "make setup", "make test"])
def test_the_readme_shows_the_first_commands(command):
    assert re.search(rf"^{command}$|`{command}`", (ROOT / "README.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_every_layout_has_its_page_with_its_sections_in_order_and_a_prompt(name):
    text = text_of(f"layouts/{name}.md")
    order = re.search(r"^Order: (.*)\.$", text, re.MULTILINE)
    assert order and re.findall(r"`([\w-]+)`", order[1]) == getattr(compiled, name)()["sections"]
    examples = [match for match in FENCE.finditer(text) if match[1] == "sh" and "foreword show" in match[3]]
    assert examples and text[examples[-1].end() :].startswith("\n\n```text\n"), "the page shows a complete prompt"


@pytest.mark.parametrize("key", settings.FOREWORD_KEYS)
def test_every_setting_of_foreword_itself_is_described(key):
    assert f"\n| `{key}` | " in text_of("settings.md")


def test_the_glossary_explains_every_public_value():
    tree = ast.parse(Path(vocabulary.__file__).read_text())
    values = {node.name for node in tree.body if isinstance(node, ast.ClassDef)} & set(foreword.__all__)
    assert {"Agent", "Prompt", "Turn"} <= values
    assert sorted(name for name in values if f"**{name}**" not in text_of("glossary.md")) == []


def test_the_map_for_agents_is_short():
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 80


def test_the_changelog_says_what_is_unreleased():
    assert "\n## [Unreleased]\n" in (ROOT / "CHANGELOG.md").read_text()


def test_the_page_on_costs_matches_the_benchmarks():
    table = text_of("costs.md").partition("\n## What it costs\n")[2].partition("\n## ")[0]
    row_names = re.findall(r"^\| (?!work|---)([^|]+) \|", table.replace("|---|", "| --- |"), re.MULTILINE)
    benches = " ".join(path.read_text() for path in (ROOT / "bench").glob("*.py"))
    filled = re.compile(r"\{[^}\n]*\}|\d[\d,]*|SQLite|PostgreSQL")  # filled in by a benchmark: numbers, and the store
    bench_names = filled.sub("#", benches)
    assert row_names and [name for name in row_names if filled.sub("#", name) not in bench_names] == []
    assert re.search(r"`make bench` on \d{4}-\d\d-\d\d", table)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_named_files_exist(page):
    named = re.findall(r"`((?:tests|examples|docs|src|bench)/[\w./-]*\w)/?`", page.read_text())
    assert [path for path in named if not (ROOT / path).exists()] == []


# The site and its images


@pytest.mark.xdist_group("site")
def test_the_site_builds_without_a_network(site_build):
    folder, result = site_build
    assert (result.returncode, result.stderr) == (0, "")
    pages = {
        path.relative_to(folder).with_suffix(".md").as_posix(): path.read_text() for path in folder.rglob("*.html")
    }
    assert {page.relative_to(DOCS).as_posix() for page in PAGES if page.parent != ROOT} == pages.keys() - {"404.md"}
    fetched = [
        tag for text in pages.values() for tag in re.findall(r"<(?:script|link|img)\b[^>]*https?://[^>]*>", text)
    ]
    assert fetched == []
    assert [path for path in folder.rglob("*") if path.name == "__pycache__" or path.suffix in (".py", ".pyc")] == []


def test_the_site_navigation_matches_the_index():
    nav = load(DOCS / "site.py").navigation(text_of("index.md"))
    listed = [page for section in nav[1:] for pages in section.values() for entry in pages for page in entry.values()]
    assert sorted(listed) == sorted(set(listed))
    assert {DOCS / page for page in listed} | {DOCS / "index.md"} == {page for page in PAGES if page.parent != ROOT}


@pytest.mark.parametrize("name", picture.PICTURES)
def test_images_match_the_output_of_commands(name):
    assert picture.is_current(name), "run python docs/picture.py"


# Links


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_have_targets(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    for link in (link for link in links if "://" not in link):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert DOCS not in page.parents or DOCS in target.parents, f"{link} points outside the site"
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_linked_from_the_index():
    linked = {(DOCS / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", text_of("index.md"))}
    assert {page for page in PAGES if page.parent != ROOT} - linked == {DOCS / "index.md"}


# Examples

FENCE = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.fixture
def home(monkeypatch):
    """A home with the workspace `shop` as working directory, and a fake provider."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "FOREWORD_STORE", "FOREWORD_TOKEN", "PWD", "PYTHONSTARTUP"):
        monkeypatch.delenv(name, raising=False)
    with sample.home() as folder, pretend.Provider() as provider:
        monkeypatch.chdir(folder / "shop")
        monkeypatch.setenv("HOME", str(folder))
        for name, value in pretend.environment(provider.url).items():
            monkeypatch.setenv(name, value)
        thread = threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder
        provider.shutdown()
        thread.join()


# The usual ports of the commands that are servers.
PORTS = {"serve": 8371, "proxy": 8372, "mcp": 8373}


class Shell:
    """Runs the command lines of a page. A service that it starts runs until the end of the page, on a free port."""

    def __init__(self):
        self.services = []
        self.page_address = ""
        self.exported = {}

    def run(self, line):
        """Run one command line and return its exit status. Commands of a checkout run there, and `make` is a dry run."""
        words = [self.expand(word) for word in shlex.split(line, comments=True)]
        assert not {"|", "<", "&&", ";", "&"} & set(words), f"too complex to be checked: {line}"
        if ">" in words:
            with open(words[-1], "w") as file, contextlib.redirect_stdout(file):
                return self.run(shlex.join(words[: words.index(">")]))
        handlers = {"foreword": self.foreword, "make": self.make, "python": self.python, "node": self.run_program}
        handlers |= {"curl": self.curl, "mkdir": self.run_program, "git": self.run_program, "pip": self.pip}
        handlers |= {"cd": self.cd, "export": self.export, ".venv/bin/python": self.python}
        assert not words or words[0] in handlers, f"no way to check {line!r}"
        return handlers[words[0]](words) if words else 0

    def expand(self, word):
        """Expand a word like a shell: the home, and variables set by the page. Any other `$` is an address."""
        known = {**self.exported, "PWD": os.getcwd(), "PATH": os.environ["PATH"]}
        return re.sub(r"\$(\w+)", lambda name: known.get(name[1], name[0]), os.path.expanduser(word))

    def cd(self, words):
        os.chdir(words[1])
        return 0

    def export(self, words):
        self.exported |= dict(word.split("=", 1) for word in words[1:])
        return 0

    def foreword(self, words):
        return self.serve(words) if words[1] in PORTS else cli.main(words[1:])

    def serve(self, words):
        """Start a server and print its first line; if it exits instead, return its status."""
        self.page_address = f"http://127.0.0.1:{PORTS[words[1]]}"
        port = ["127.0.0.1:0"] if words[-1] == "--http" else ["--port", "0"]
        command = [sys.executable, "-m", "foreword", *words[1:], *port]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first_line = service.stdout.readline()
        if not first_line:
            print(service.communicate()[1], end="", file=sys.stderr)
            return service.returncode
        self.services.append((service, first_line.split()[-1].removesuffix("/mcp")))
        print(self.with_page_address(first_line), end="")
        return 0

    def run_program(self, words):
        result = subprocess.run(
            [self.with_real_address(word) for word in words], capture_output=True, text=True, env=self.environment()
        )
        print(self.with_page_address(result.stdout), end="")
        print(result.stderr, end="", file=sys.stderr)
        return result.returncode

    def curl(self, words):
        """Send a request like `curl -s ADDRESS [-d BODY]`, which need not be installed."""
        parser = argparse.ArgumentParser("curl")
        parser.add_argument("-s", action="store_true", required=True)
        parser.add_argument("-d")
        parser.add_argument("address")
        args = parser.parse_args([self.with_real_address(word) for word in words[1:]])
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(args.address, args.d.encode() if args.d else None) as answer:
                print(self.with_page_address(answer.read().decode()))
        except urllib.error.HTTPError as error:
            print(self.with_page_address(error.read().decode()))
        return 0

    def python(self, words):
        is_ours = words[1] == "-m" or (ROOT / words[1]).exists()
        words = [sys.executable if word in ("python", ".venv/bin/python") else word for word in words]
        cwd = ROOT if is_ours and not words[1].startswith("/") else None
        return subprocess.run(words, cwd=cwd, env=self.environment()).returncode

    def make(self, words):
        return subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, stdout=subprocess.DEVNULL).returncode

    def pip(self, words):
        """Check that the command installs this project with existing extras; tests/packaging really installs it."""
        target, _, extras = words[2].rstrip("]").partition("[")
        known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        return (
            0
            if (words[1], target) == ("install", "/path/to/foreword") and set(extras.split(",")) <= {"", *known}
            else 1
        )

    def environment(self):
        return {**os.environ, **self.exported, **({"FOREWORD_URL": self.services[-1][1]} if self.services else {})}

    def with_real_address(self, word):
        """Replace the address on the page with the real one."""
        return (
            re.sub(r"(?:http://)?(?:localhost|127\.0\.0\.1):8371", self.services[-1][1], word)
            if self.services
            else word
        )

    def with_page_address(self, text):
        """Replace the real address with the one on the page."""
        return text.replace(self.services[-1][1], self.page_address) if self.services else text

    def close(self):
        for service, _ in self.services:
            service.terminate()
            service.communicate()


def run(shell, language, text, names):
    """Run a block and return the highest exit status of its commands."""
    if language == "sh":
        return max(shell.run(line) for line in text.replace("\\\n", " ").splitlines())
    if language == "python":
        exec(compile(text, "<example>", "exec"), names)
    if language == "toml":
        tomllib.loads(text)
    if language == "json":
        json.loads(text)
    return 0


@pytest.mark.parametrize("page", [page for page in PAGES if page != FIRST_STEPS], ids=page_id)
def test_examples_match_their_page(page, home, capfd, request):
    with contextlib.closing(Shell()) as shell:
        run_page(page, home, capfd, request, shell)


def run_page(page, home, capfd, request, shell):
    """Run a page from top to bottom; with --accept, write what was printed."""
    if page == GUIDE:
        shutil.rmtree(home / "shop")
        os.chdir(home / "foreword")
    names = {"__name__": "__main__"}
    accepted = page.read_text()
    blocks = [match.groups() for match in FENCE.finditer(accepted)]
    for (language, title, text), (following, following_title, expected) in itertools.pairwise([*blocks, ("", "", "")]):
        if title:
            sample.write(Path(title.replace("~", str(home), 1) if title.startswith("~") else title), text)
        status = run(shell, language, text, names)
        printed = capfd.readouterr()
        has_expected_output = following == "text" and not following_title and language in ("sh", "python")
        is_expected_error = has_expected_output and status in (1, 2)
        assert status == 0 or is_expected_error, f"{text}{printed.err}"
        if has_expected_output and sys.platform == "linux":
            output = (printed.out or printed.err).replace(str(home), sample.HOME)
            if request.config.getoption("--accept"):
                accepted = accepted.replace(
                    f"{text}```\n\n```text\n{expected}```", f"{text}```\n\n```text\n{output}```", 1
                )
            else:
                assert output == expected
    if request.config.getoption("--accept"):
        page.write_text(accepted)


def test_the_guide_creates_the_project_of_the_other_pages():
    files = {}
    for _, title, text in FENCE.findall(GUIDE.read_text()):
        files |= {title: text} if title and title not in files else {}
    assert files == {name: text for name, text in sample.FILES.items() if name != ".git/HEAD"}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_block_has_a_known_kind(page):
    text = page.read_text()
    kinds = [match[1] for match in FENCE.finditer(text)]
    # Blocks `pycon` come from docstrings: tests/test_public_examples.py runs them.
    assert set(kinds) <= {"sh", "python", "py", "pycon", "js", "toml", "json", "text", "markdown"}
    assert len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(kinds)
    assert not re.search(r"^```text\n(?:(?!```).*\n)*\$ ", text, re.MULTILINE), "put commands in a block `sh`"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_in_sentences_exist(page):
    for command_line in re.findall(r"(?<!`)`(foreword [a-z][^`\n]*)`", FENCE.sub("", page.read_text())):
        words = command_line.split()[1:]
        name = " ".join(words[:2]) if " ".join(words[:2]) in commands.COMMANDS else words[0]
        groups = {command.split()[0] for command in commands.COMMANDS}
        assert name in commands.COMMANDS or (name in groups and len(words) == 1), command_line
        if name in commands.COMMANDS:
            known = {option for action in generate.parser_of(name)._actions for option in action.option_strings}
            assert {word.strip("[]") for word in words if word.strip("[]").startswith("-")} - {"--"} <= known, (
                command_line
            )


# Issue forms


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.name
)
def test_an_issue_template_is_a_valid_form(path):
    form = ryaml.loads(path.read_text())
    assert form["name"] and form["description"]
    assert [node["attributes"]["label"] for node in form["body"]] and {node["type"] for node in form["body"]} <= {
        "textarea",
        "input",
    }
    assert len({node["id"] for node in form["body"]}) == len(form["body"])
