"""Behaviour of minijinja that the adapter relies on: if a new version differs, these tests fail first."""

import ast
import importlib
import tomllib
from pathlib import Path

import minijinja
import pytest

from foreword.template import engine

SRC = Path(__file__).parents[2] / "src" / "foreword"


def error_of(templates, name="p0", **variables):
    """Return the error that the engine raises for these templates."""
    environment = engine._create_environment(lambda name, parent: name)
    try:
        for key, text in templates.items():
            environment.add_template(key, text)
        environment.render_template(name, **variables)
    except minijinja.TemplateError as error:
        return error
    raise AssertionError("the engine raised no error")


def test_the_version_is_bounded_above():
    project = tomllib.loads((SRC.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    (bound,) = [dependency for dependency in project["dependencies"] if dependency.startswith("minijinja")]
    assert "<" in bound


def test_only_the_adapter_imports_minijinja():
    importers = {
        path.name
        for path in SRC.rglob("*.py")
        if "minijinja" in (source := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Import) and any(alias.name.startswith("minijinja") for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("minijinja"))
    }
    assert importers == {"engine.py"}


def test_errors_have_kind_name_line_and_a_range_of_bytes():
    error = error_of({"p0": "é\n{{ missing }}"})
    assert (error.kind, error.name, error.line) == ("UndefinedError", "p0", 2)
    assert "é\n{{ missing }}".encode()[slice(*error.range)] == b"missing"


def test_syntax_errors_have_a_detail():
    error = error_of({"p0": "{% if %}"})
    assert (error.kind, error.line) == ("SyntaxError", 1)
    assert error.detail and "missing" not in error.detail


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{{ missing }}", "UndefinedError"),
        ("{{ 1 | nope }}", "UnknownFilter"),
        ("{{ 1 is nope }}", "UnknownTest"),
        ("{{ nope() }}", "UnknownFunction"),
        ("{{ 'a'.nope() }}", "UnknownMethod"),
        ("{{ 'a' | upper(1, 2) }}", "TooManyArguments"),
        ("{{ 'a' | replace }}", "MissingArgument"),
        ("{% for a, b in [1] %}{% endfor %}", "CannotUnpack"),
    ],
)
def test_an_error_inside_an_include_names_its_kind_template_and_line(text, kind):
    assert error_of({"p0": text}).kind == kind
    error = error_of({"p0": "{% include 'p1' %}", "p1": f"\n{text}"})
    assert error.kind == "BadInclude"
    words, detail, number, line = engine._CAUSE.findall(str(error))[-1]
    if kind != "CannotUnpack":  # reported without its kind, as an error that cannot be evaluated
        assert engine._normalize_kind(engine._KINDS_BY_WORDS[words], detail) == kind
    assert (number, line) == ("1", "2")


def test_running_out_of_fuel_is_a_separate_error():
    environment = engine._create_environment(lambda name, parent: name)
    environment.fuel = 10
    environment.add_template("p0", "{% for each in range(100) %}{{ each }}{% endfor %}")
    with pytest.raises(minijinja.TemplateError) as raised:
        environment.render_template("p0")
    assert raised.value.kind == "OutOfFuel"


def test_messages_never_contain_values():
    error = error_of({"p0": "{{ secret + missing }}"}, secret="hunter2")
    assert "hunter2" not in str(error)


def test_globals_lists_everything_that_can_be_removed():
    environment = engine._create_environment(lambda name, parent: name)
    assert set(environment.globals) == engine._GLOBALS
    assert "debug" in minijinja.Environment().globals
    assert error_of({"p0": "{{ debug() }}"}).kind == "UnknownFunction"
    assert error_of({"p0": "{{ [1, 2] | random }}"}).kind == "UnknownFilter"


def test_the_parent_decides_what_a_name_refers_to():
    calls = []
    environment = engine._create_environment(lambda name, parent: calls.append((name, parent)) or "p1")
    environment.add_template("p0", "{% include 'sibling' %}")
    environment.add_template("p1", "found")
    assert environment.render_template("p0") == "found"
    assert calls == [("sibling", "p0")]


def test_a_final_newline_is_kept():
    environment = engine._create_environment(lambda name, parent: name)
    environment.add_template("p0", "a\n")
    assert environment.render_template("p0") == "a\n"


def test_the_compiled_module_can_be_loaded_beforehand():
    engine.preload()
    assert importlib.import_module("minijinja._internal").__file__
    assert Path(engine.package_file()).name == "__init__.py"


def test_a_panic_is_an_error_and_other_exceptions_pass():
    PanicException = type("PanicException", (BaseException,), {})

    def panic():
        raise PanicException

    def stop():
        raise KeyboardInterrupt

    document = type("Template", (), {"document": type("Document", (), {"path": "/t", "text": ""}), "includes": ()})
    running_engine = engine.Engine({"/t": document})
    with pytest.raises(engine.TemplateError, match=r"^/t crashed the template engine$"):
        running_engine.attempt(panic, {})
    with pytest.raises(KeyboardInterrupt):
        running_engine.attempt(stop, {})
