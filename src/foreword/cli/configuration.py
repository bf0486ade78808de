"""Options from the environment and from a configuration file, for `foreword serve`.

An option on the command line takes precedence over its environment variable (`FOREWORD_PORT` for `--port`), and that over the file. Both
are converted to arguments, so that they are checked in the same way.
"""

from __future__ import annotations

from ..errors import CallError, show, suggestion
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .arguments import Argument, Parser

_OPTION = "--config"
_TRUE_WORDS = ("1", "true", "yes", "on")
_FALSE_WORDS = ("0", "false", "no", "off", "")
# The value of a key may contain commas.
_ONE_PER_LINE = ("--set",)
_PREFIX = "FOREWORD_"
# Secrets, which would be visible to other users as options.
_OTHER_VARIABLES = ("FOREWORD_TOKEN", "FOREWORD_HOOK_SECRET")


def configured(parser: Parser, arguments: list[str], environment: Mapping[str, str]) -> list[str]:
    """Return the arguments, preceded by the options that only the environment or the configuration file sets."""
    options = {action.option_strings[-1]: action for action in parser.actions() if action.option_strings}
    options.pop("--help", None)
    set_by_caller = {argument.partition("=")[0] for argument in arguments}
    path = _value_of(_OPTION, arguments) or environment.get(_variable(_OPTION), "")
    content = _read(path, options) if path else {}
    added: list[str] = []
    for name, action in options.items():
        if name in set_by_caller or name == _OPTION:
            continue
        variable = _variable(name)
        if variable in environment:
            added += _checked(parser, _from_environment(name, action, environment[variable]), variable)
        elif name in content:
            key = f"{printable(path)}: {name[2:]}"
            added += _checked(parser, _from_file(name, action, content[name], key), key)
    parser.set_defaults(unused_variables=_unused_variables(environment, [_variable(name) for name in options]))
    return [*added, *arguments]


def _unused_variables(environment: Mapping[str, str], known: Sequence[str]) -> list[str]:
    """Return a warning for each variable that looks like an option but is none, such as a misspelled `FOREWORD_STORE`."""
    names = sorted(name for name in environment if name.startswith(_PREFIX) and name not in (*known, *_OTHER_VARIABLES))
    return [f"the environment variable {printable(name)} has no effect{suggestion(name, known)}" for name in names]


def _variable(option: str) -> str:
    return _PREFIX + option[2:].replace("-", "_").upper()


def _value_of(option: str, arguments: list[str]) -> str:
    """Return the last value of an option in the arguments, or an empty string."""
    found = ""
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == option:
            found = value if equals else "".join(arguments[index + 1 : index + 2])
    return found


def _read(path: str, options: Mapping[str, Argument]) -> dict[str, Any]:
    """Return the content of a configuration file, by option."""
    import tomllib

    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise CallError(f"{_OPTION} {printable(path)}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CallError(f"{_OPTION} {printable(path)}: the file is not valid TOML: {error}") from None
    by_option = {"--" + key.replace("_", "-"): value for key, value in content.items()}
    for option in by_option:
        if option not in options or option == _OPTION:
            names = [name[2:] for name in options if name != _OPTION]
            raise CallError(f"{printable(path)}: unknown key {show(option[2:])}{suggestion(option[2:], names)}")
    return by_option


def _from_environment(option: str, action: Argument, text: str) -> list[str]:
    """Return the arguments for the value of an environment variable."""
    if action.is_flag:
        if text.lower() not in _TRUE_WORDS + _FALSE_WORDS:
            raise CallError(f"{_variable(option)} must be true or false, not {show(text)}")
        return [option] if text.lower() in _TRUE_WORDS else []
    if isinstance(action.default, list):
        parts = text.split("\n") if option in _ONE_PER_LINE or "\n" in text else text.split(",")
        return [f"{option}={part.strip()}" for part in parts if part.strip()]
    return [f"{option}={text}"] if text else []


def _from_file(option: str, action: Argument, value: Any, name: str) -> list[str]:
    """Return the arguments for a value in the file. A table is a list of NAME=VALUE."""
    if action.is_flag:
        if not isinstance(value, bool):
            raise CallError(f"{name} must be true or false, not {show(value)}")
        return [option] if value else []
    if isinstance(action.default, list):
        if isinstance(value, dict):
            value = [f"{key}={_text(part, name)}" for key, part in value.items()]
        return [f"{option}={_text(part, name)}" for part in (value if isinstance(value, list) else [value])]
    return [f"{option}={_text(value, name)}"]


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CallError(f"{name} must be a string or a number, not {show(value)}")
    return str(value)


def _checked(parser: Parser, arguments: list[str], name: str) -> list[str]:
    """Return the arguments. Raises a CallError that names their source if the parser rejects them."""
    try:
        parser.parse_args(arguments)
    except CallError as error:
        raise CallError(f"{name}: {error}") from None
    return arguments
