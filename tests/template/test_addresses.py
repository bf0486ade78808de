"""Addresses: `$prefix/path`. One module parses them and decides whether a name is one."""

import re
from pathlib import Path

import pytest

from foreword.errors import CallError
from foreword.template.addresses import has_prefix, is_address, is_file_path, is_only_address, resolve

SRC = Path(__file__).parents[2] / "src" / "foreword"


@pytest.mark.parametrize(
    ("name", "is_an_address", "is_a_file"),
    [
        ("opal", False, False),
        ("$user/mine", True, False),
        ("$user/mine.toml", True, False),
        ("$user", True, False),
        ("mine.toml", False, True),
        ("./mine", False, True),
        ("a\\mine", False, True),
        (".", False, True),
        ("..", False, True),
        ("", False, False),
    ],
)
def test_a_name_is_an_address_a_file_or_a_plain_name(name, is_an_address, is_a_file):
    assert (is_address(name), is_file_path(name)) == (is_an_address, is_a_file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$user/greet", True),
        (" $user/greet\n", True),
        ("$user", False),
        ("$user/greet them", False),
        ("", False),
        (1, False),
    ],
)
def test_an_address_is_recognised_if_it_is_the_whole_text(text, expected):
    assert is_only_address(text) is expected


def test_the_prefix_ends_at_the_slash():
    assert has_prefix("$std/a", "std") and has_prefix("$std/a", "user", "std")
    assert not has_prefix("$standard/a", "std") and not has_prefix("$std", "std") and not has_prefix("std/a", "std")


def test_no_other_module_looks_for_the_dollar_sign():
    pattern = re.compile(r"""(?:startswith|removeprefix|partition)\(\(?["']\$""")
    found = {path.name for path in SRC.rglob("*.py") if pattern.search(path.read_text("utf-8"))}
    assert found - {"targets.py"} == {"addresses.py"}, "in a Makefile it is a variable"


@pytest.mark.parametrize(
    ("name", "current", "address"),
    [
        ("$user/a", "", "$user/a"),
        ("$user/a/b", "$std/x", "$user/a/b"),
        ("a", "$user/x", "$user/a"),
        ("a/b", "$user/x/y/z", "$user/x/y/a/b"),
        ("a b.c", "$my-pack/x", "$my-pack/a b.c"),
        ("...", "$user/x", "$user/..."),
    ],
)
def test_a_name_resolves_to_an_address(name, current, address):
    assert resolve(name, current) == address


@pytest.mark.parametrize(
    ("name", "current", "message"),
    [
        (
            "a",
            "",
            "'a' has no prefix, and it is not included by a template in a pack; an address is $prefix/path",
        ),
        ("a", "/w/x.md", "'a' has no prefix, and /w/x.md is not in a pack"),
        ("", "$user/x", "'': an address cannot contain '.', '..' or an empty segment"),
        ("a/", "$user/x", "cannot contain '.', '..' or an empty segment"),
        ("a//b", "$user/x", "cannot contain '.', '..' or an empty segment"),
        ("/a", "$user/x", "cannot contain '.', '..' or an empty segment"),
        ("a/../b", "$user/x", "cannot contain '.', '..' or an empty segment"),
        (".", "$user/x", "cannot contain '.', '..' or an empty segment"),
        ("$user/../x", "$user/x", "cannot contain '.', '..' or an empty segment"),
        ("..\\x", "$user/x", "use '/' instead of a backslash"),
        ("$user\\x", "$user/x", "'$user\\\\x': use '/' instead of a backslash in an address"),
        ("$user", "$user/x", "'$user' is not a valid address; an address is $prefix/path, such as $user/review"),
        ("$user/", "$user/x", "is not a valid address"),
        ("$/x", "$user/x", "is not a valid address"),
        ("$", "$user/x", "is not a valid address"),
        ("a\nb", "$user/x", "cannot contain control characters"),
        ("a\0", "$user/x", "cannot contain control characters"),
        ("x" * 500 + "/..", "$user/x", "x…': an address cannot contain"),
    ],
)
def test_an_invalid_address_is_an_error_that_says_why(name, current, message):
    with pytest.raises(CallError) as raised:
        resolve(name, current)
    assert message in str(raised.value)
    assert len(str(raised.value)) < 250
