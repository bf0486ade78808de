"""What others rely on: public names, commands, JSON forms, routes, layout keys and codes, compared with a recorded list.

A removed or changed line breaks somebody's program: docs/stability.md says when that is allowed. A new line is an addition, and must be
recorded before a release: `make release-check` sets FOREWORD_RELEASE. `pytest --accept` writes the lists; read the diff, and write the
change down in CHANGELOG.md.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
from pathlib import Path

import pytest

import foreword
from foreword.cli import commands
from foreword.cli.commands import COMMANDS
from foreword.cli.schema import schema_of
from foreword.findings import CODES
from foreword.inspection.lint.table import CHECKS
from foreword.layout import keys
from foreword.packs import settings
from foreword.packs.std import NAMES
from foreword.service.routes import ROUTES
from foreword.store import versions

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests/golden/public"


def parameters(call):
    """The parameters of a call as they are passed. One with a default has `=` after its name."""
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = [parameter for parameter in inspect.signature(call).parameters.values() if parameter.name != "self"]
    is_keyword_only = [parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in found]
    words = [
        marks.get(parameter.kind, "") + parameter.name + ("" if parameter.default is parameter.empty else "=")
        for parameter in found
    ]
    if True in is_keyword_only and not any(word.startswith("*") and not word.startswith("**") for word in words):
        words.insert(is_keyword_only.index(True), "*")
    return f"({', '.join(words)})"


def python_names():
    for name in sorted(foreword.__all__):
        value = getattr(foreword, name)
        if isinstance(value, type) and issubclass(value, Exception):
            yield f"{name}({value.__base__.__name__})"
            continue
        yield name + (parameters(value) if callable(value) and not getattr(value, "_is_protocol", False) else "")
        if not isinstance(value, type):
            continue
        for member in sorted(vars(value)):
            if not member.startswith("_") and callable(getattr(value, member)):
                yield f"{name}.{member}{parameters(getattr(value, member))}"
            elif isinstance(vars(value)[member], property) and not member.startswith("_"):
                yield f"{name}.{member}"


def command_names():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for command in sorted(commands.COMMANDS):
        for action in generate.parser_of(command)._actions:
            yield f"{command} {'|'.join(action.option_strings) or action.metavar or action.dest}"


def json_keys():
    for command in sorted(COMMANDS):
        schema = schema_of(command)
        yield f"{command} --json: {type_of(schema)}"
        for name, form in schema.get("$defs", {}).items():
            required = form.get("required", ())
            for key, kind in form.get("properties", {}).items():
                yield f"{name}.{key}{'' if key in required else '?'}: {type_of(kind)}"


def type_of(schema):
    """A schema in a few words."""
    if "anyOf" in schema:
        return " or ".join(type_of(one) for one in schema["anyOf"])
    if "enum" in schema:
        return "|".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


LISTS = {
    "python": python_names,
    "commands": command_names,
    "json": json_keys,
    "layout": lambda: [
        *(f"{key.table}.{key.name}: {key.takes}" for key in keys.KEYS),
        *(f"event {name}" for name in keys.EVENTS),
        *(f"step {name}" for name in keys.STEPS),
        *(f"setting {name}" for name in settings.FOREWORD_KEYS),
        *(f"shipped {name}" for name in NAMES),
    ],
    "http": lambda: [f"{route.method} {route.path}" for route in ROUTES if route.response is not None],
    "codes": lambda: [*(f"finding {code}" for code in CODES), *(f"check {check.id}" for check in CHECKS)],
    "store": lambda: [f"schema {versions.LATEST}"],
}


@pytest.mark.parametrize("name", LISTS)
def test_what_others_rely_on_has_not_changed(name, request):
    path, current = FOLDER / f"{name}.txt", sorted(set(LISTS[name]()))
    if request.config.getoption("--accept"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in current))
    recorded = path.read_text().splitlines()
    removed, added = sorted(set(recorded) - set(current)), sorted(set(current) - set(recorded))
    assert not removed, f"this breaks programs that use it; docs/stability.md says what to do: {removed} (new: {added})"
    assert not added or "FOREWORD_RELEASE" not in os.environ, (
        f"new public names; check their spelling, then run pytest tests/test_public.py --accept: {added}"
    )


def test_the_policy_names_every_list():
    text = (ROOT / "docs/stability.md").read_text()
    assert [name for name in LISTS if f"`{name}.txt`" not in text] == []
