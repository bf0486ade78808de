"""Options of `foreword serve` from the environment and a configuration file."""

from __future__ import annotations

import pytest

from foreword.cli.configuration import configured
from foreword.cli.serve import parser_for
from foreword.errors import CallError


def parse(arguments=(), file="", tmp_path=None, **environment):
    if file:
        (tmp_path / "serve.toml").write_text(file)
        arguments = [*arguments, "--config", str(tmp_path / "serve.toml")]
    parser = parser_for("serve")
    return parser.parse_args(configured(parser, list(arguments), environment))


@pytest.mark.parametrize(
    ("arguments", "environment", "file", "port"),
    [
        ([], {}, "", 8371),
        ([], {}, "port = 1", 1),
        ([], {"FOREWORD_PORT": "2"}, "port = 1", 2),
        (["--port", "3"], {"FOREWORD_PORT": "2"}, "port = 1", 3),
        (["--port=3"], {"FOREWORD_PORT": "2"}, "port = 1", 3),
        ([], {"FOREWORD_PORT": ""}, "port = 1", 8371),
    ],
)
def test_the_command_line_overrides_the_environment_which_overrides_the_file(
    tmp_path, arguments, environment, file, port
):
    assert parse(arguments, file, tmp_path, **environment).port == port


def test_every_kind_of_option_has_a_form_in_the_environment():
    args = parse(
        FOREWORD_ROOT="/a, /b",
        FOREWORD_SET='identity.when=["main", "sub"]\nlinks=follow',
        FOREWORD_TIME_LIMIT="1.5",
        FOREWORD_JSON="true",
        FOREWORD_LOG="json",
    )
    assert (args.root, args.set) == (["/a", "/b"], ['identity.when=["main", "sub"]', "links=follow"])
    assert (args.time_limit, args.json, args.log) == (1.5, True, "json")


def test_every_kind_of_option_has_a_form_in_the_file(tmp_path):
    file = 'root = ["/a", "/b"]\nset = {links = "follow"}\ntime-limit = 1.5\ntemplate_workers = 3\njson = false\nlayout = "opal"'
    args = parse(file=file, tmp_path=tmp_path)
    assert (args.root, args.set, args.time_limit) == (["/a", "/b"], ["links=follow"], 1.5)
    assert (args.template_workers, args.json, args.layout) == (3, False, "opal")


def test_the_environment_can_name_the_file(tmp_path):
    (tmp_path / "serve.toml").write_text("port = 4")
    assert parse(FOREWORD_CONFIG=str(tmp_path / "serve.toml")).port == 4


def test_a_repeated_option_replaces_the_configured_list(tmp_path):
    assert parse(["--root", "/c"], 'root = ["/a"]', tmp_path, FOREWORD_ROOT="/b").root == ["/c"]


@pytest.mark.parametrize(
    ("environment", "file", "message"),
    [
        ({"FOREWORD_PORT": "many"}, "", "FOREWORD_PORT: --port must be a whole number, not 'many'"),
        ({"FOREWORD_JSON": "maybe"}, "", "FOREWORD_JSON must be true or false, not 'maybe'"),
        ({}, "workrs = 1", "serve.toml: unknown key 'workrs'; did you mean 'workers'?"),
        ({}, "port = [1]", "serve.toml: port must be a string or a number, not [1]"),
        ({}, "port = 'many'", "serve.toml: port: --port must be a whole number, not 'many'"),
        ({}, "json = 'yes'", "serve.toml: json must be true or false, not 'yes'"),
        ({}, "port = ", "serve.toml: the file is not valid TOML"),
        ({"FOREWORD_CONFIG": "/no/such.toml"}, "", "--config /no/such.toml: No such file or directory"),
    ],
)
def test_an_invalid_value_is_reported_with_its_source(tmp_path, environment, file, message):
    with pytest.raises(CallError) as error:
        parse([], file, tmp_path, **environment)
    assert message in str(error.value)
