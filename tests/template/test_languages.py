"""The table of template languages: a row is all that the rest of the program needs to know about a language."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from foreword.store.rows import TemplateVersion
from foreword.template.languages import DEFAULT, LANGUAGES, language_of
from foreword.vocabulary import Document

SRC = Path(__file__).parents[2] / "src" / "foreword"
# The default of a stored value, and files generated from the shipped layouts.
EXCEPTIONS = {
    "template/languages.py",
    "store/rows.py",
    "packs/std/compiled.py",
    "packs/std/builder.py",
    "packs/std/pod.py",
}


def test_no_other_module_names_a_language():
    named = {
        str(path.relative_to(SRC))
        for path in SRC.rglob("*.py")
        if any(name in (source := path.read_text("utf-8")) for name in LANGUAGES)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and node.value in LANGUAGES
    }
    assert named == EXCEPTIONS


def test_the_default_language_is_the_one_for_stored_templates():
    assert TemplateVersion(1, "").syntax == DEFAULT
    assert language_of(Document("", ""), DEFAULT).name == DEFAULT
    assert language_of(Document("", "", syntax="jinja"), DEFAULT).name == "jinja"


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
def test_an_empty_template_uses_and_needs_nothing(language):
    module, empty = language.module(), Document("base", "")
    assert module.referenced_variables(empty, ()) == ()
    assert module.load_all(empty, lambda address: None, lambda addresses: True) == {}


# A third language, as a contributor would add one: its only syntax is `<who>` for a variable.
TOY = """
import json, sys, types

from foreword.vocabulary import Origin, Piece
from foreword.template.languages import LANGUAGES, Language

def render_template(template, context):
    values = {name: text for name, text in context.inputs.values.items() if isinstance(text, str)}
    return (Piece(template.text.replace("<who>", values.get("who", "nobody")), Origin("template", template.path)),), ()

toy = types.SimpleNamespace(
    referenced_variables=lambda template, types: (),
    load_all=lambda template, load, may_parse: {},
    render_template=render_template,
    variables_used=lambda template, inputs: ["who"] if "<who>" in template.text else [],
    uses_clock=lambda template, inputs: False,
    include_tag=lambda address: None,
)
LANGUAGES["toy"] = Language("toy", lambda: toy, variable_form="name", is_sandboxed=False, trims=True)
"""


def run_with_toy(code, tmp_path):
    """Output of a program with the toy language, in a separate process because the table is read at import."""
    result = subprocess.run([sys.executable, "-c", TOY + code], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


COMMAND = "from foreword.cli import main; sys.exit(main({}))"


def test_a_new_row_is_enough_for_the_command_line(tmp_path):
    (tmp_path / "t.md").write_text("Hello <who>!\n")
    common = ["--syntax", "toy", "--home", str(tmp_path)]
    render = run_with_toy(COMMAND.format(["template", "render", "t.md", "--value", "who=Ada", *common]), tmp_path)
    assert render == "Hello Ada!\n"
    check = run_with_toy(COMMAND.format(["template", "check", "t.md", "--json", *common]), tmp_path)
    assert json.loads(check) == {"variables": ["who"], "findings": []}
    store = ["--store", f"sqlite:///{tmp_path}/s.db", "--home", str(tmp_path)]
    run_with_toy(COMMAND.format(["template", "set", "t.md", "--syntax", "toy", *store]), tmp_path)
    turn = run_with_toy(
        COMMAND.format(["conversation", "turn", "one", "--layout", "builder", "--json", *store]), tmp_path
    )
    assert "Hello nobody!" in json.loads(turn)["system"]


def test_a_new_row_is_enough_for_layouts_and_the_service(tmp_path):
    printed = run_with_toy(
        "from foreword.layout.keys import KEYS; from foreword.service.templates import CheckBody; import msgspec\n"
        "print(json.dumps([[key.choices for key in KEYS if key.name == 'language'],"
        " msgspec.json.schema(CheckBody)['$defs']['CheckBody']['properties']['syntax']['enum'],"
        " msgspec.convert({'template': '', 'syntax': 'toy'}, CheckBody).syntax]))",
        tmp_path,
    )
    assert json.loads(printed) == [[["brackets", "jinja", "toy", "directives"]], ["brackets", "jinja", "toy"], "toy"]
