"""Parses the arguments of a command. Only `help.py` uses argparse, because importing it takes as long as building a prompt."""

from __future__ import annotations

from ..errors import CallError, show, suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any, NoReturn


class Namespace:
    """The values of a command's options and arguments, as attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


class Argument:
    """An option, or an argument that is recognized by its position. The fields mean the same as in argparse's `add_argument`.

    `action` may also be a function that takes the parser, the namespace and the words, and sets attributes of the namespace. `group` is
    the title in the help; the command's own options have none.
    """

    def __init__(
        self,
        *names: str,
        action: str | Callable[[Parser, Namespace, list[str]], None] = "",
        nargs: str | None = None,
        type: Callable[[str], Any] = str,
        default: Any = None,
        choices: Collection[str] = (),
        dest: str = "",
        metavar: str | None = None,
        help: str = "",
        group: str = "",
    ) -> None:
        self.option_strings = names if names[0].startswith("-") else ()
        self.dest = dest or names[-1].lstrip("-").replace("-", "_")
        self.action, self.nargs, self.is_flag = action, nargs, action == "store_true"
        self.type, self.choices = type, choices
        self.default = False if action == "store_true" else [] if nargs == "*" and default is None else default
        self.metavar, self.help, self.group = metavar, help, group

    @property
    def title(self) -> str:
        """What error messages call it."""
        return self.option_strings[-1] if self.option_strings else self.metavar or self.dest

    def parse(self, text: str) -> Any:
        """Return a word as the type of this argument. Raises a ValueError whose message says what is valid."""
        try:
            value = self.type(text)
        except ValueError:
            kind = "a whole number" if self.type is int else "a number"
            raise ValueError(f"{self.title} must be {kind}, not {show(text)}") from None
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.title} must be one of {', '.join(self.choices)}, not {show(text)}")
        return value


class Parser:
    """The options and arguments of a command. An invalid call raises `CallError` with a one-sentence message."""

    default_dir = "."

    def __init__(self, prog: str, description: str = "", epilog: str = "") -> None:
        self.prog, self.description, self.epilog = prog, description, epilog
        self._actions: list[Argument] = []
        self._options: dict[str, Argument] = {}
        self._defaults: dict[str, Any] = {}
        self.add_argument("-h", "--help", action="store_true", help="show this help message and exit")

    def add_argument(self, *names: str, **fields: Any) -> None:
        """Add an option, whose names begin with a hyphen, or an argument."""
        argument = Argument(*names, **fields)
        self._actions.append(argument)
        self._options.update(dict.fromkeys(argument.option_strings, argument))

    def set_defaults(self, **values: Any) -> None:
        """Set the values of what is not passed. They replace the arguments' own defaults."""
        self._defaults.update(values)

    def actions(self) -> list[Argument]:
        """Return the options and arguments, in the order in which they were added."""
        return self._actions

    def error(self, message: str) -> NoReturn:
        raise CallError(f"{message} (see {self.prog} --help)")

    def parse_args(self, arguments: Sequence[str]) -> Namespace:
        """Return the values of all options and arguments. Options may be anywhere; what follows `--` is not an option.

        With `--help`, only `help` is set, and the other arguments may be invalid.
        """
        args = Namespace(**{each.dest: each.default for each in self._actions})
        before = arguments[: arguments.index("--")] if "--" in arguments else arguments
        if "-h" in before or "--help" in before:
            args.help = True
            return args
        vars(args).update(self._defaults)
        options, words = self.split(arguments)
        try:
            for argument, text in options:
                self._store_option(args, argument, text)
            self._store_words(args, words)
        except ValueError as error:
            self.error(str(error))
        return args

    def split(self, arguments: Sequence[str]) -> tuple[list[tuple[Argument, str]], list[str]]:
        """Return the options with their values, and the other words."""
        options: list[tuple[Argument, str]] = []
        words: list[str] = []
        remaining = list(arguments)
        while remaining:
            word = remaining.pop(0)
            if word == "--":
                words += remaining
                break
            if word.startswith("-") and word.lstrip("-")[:1].isalpha():
                options.append(self._with_value(word, remaining))
            else:
                words.append(word)
        return options, words

    def _with_value(self, option: str, remaining: list[str]) -> tuple[Argument, str]:
        """Return the option with its value: what follows `=` or, if it takes a value, the next word.

        A metavar in brackets marks an optional value, which is an address: anything that ends in a colon and a number.
        """
        name, equals, text = option.partition("=")
        argument = self._options.get(name)
        if argument is None:
            self.error(f"unknown option {name!r}{suggestion(name, self._options)}")
        if argument.is_flag and equals:
            self.error(f"{name} takes no value; remove {show(equals + text)}")
        if argument.is_flag or equals:
            return argument, text
        metavar = argument.metavar or argument.dest.upper()
        if metavar.startswith("["):
            is_address = bool(remaining) and remaining[0].rpartition(":")[2].isdecimal() and ":" in remaining[0]
            return argument, remaining.pop(0) if is_address else ""
        if not remaining or self._is_option(remaining[0]):
            self.error(f"{name} needs a value, {metavar}")
        if _begins_like_an_option(remaining[0]):
            self.error(f"{name} needs a value, {metavar}; write {name}={show(remaining[0])} if that is the value")
        return argument, remaining.pop(0)

    def _is_option(self, word: str) -> bool:
        """Whether a word ends the options, or is one of this parser's, with or without a value."""
        return word == "--" or word.partition("=")[0] in self._options

    def _store_option(self, args: Namespace, argument: Argument, text: str) -> None:
        value = True if argument.action == "store_true" else argument.parse(text)
        setattr(args, argument.dest, [*getattr(args, argument.dest), value] if argument.action == "append" else value)

    def _store_words(self, args: Namespace, words: list[str]) -> None:
        """Assign the words to the arguments. An optional one takes what the required ones after it do not need."""
        positional = [each for each in self._actions if not each.option_strings]
        missing: list[str] = []
        for index, argument in enumerate(positional):
            needed = sum(each.nargs is None for each in positional[index + 1 :])
            free = max(len(words) - needed, 0)
            taken = words[: {None: 1, "?": min(free, 1), "*": free}[argument.nargs]]
            words = words[len(taken) :]
            values = [argument.parse(word) for word in taken]
            if callable(argument.action):
                argument.action(self, args, values)
            elif values:
                setattr(args, argument.dest, values if argument.nargs == "*" else values[0])
            elif argument.nargs is None:
                missing.append(argument.title)
        if missing:
            self.error(f"the following arguments are required: {', '.join(missing)}")
        if words:
            self.error(f"unrecognized arguments: {' '.join(words)}")


def _begins_like_an_option(word: str) -> bool:
    """Whether a word is probably a misspelled option. `-` is standard input, `-1` is a number, and `- a point` is text."""
    is_value = word == "-" or " " in word or word[1:].replace(".", "", 1).isdecimal()
    return word.startswith("-") and not is_value
