"""Mistakes in a layout's table `[touch]`."""

import tomllib

import pytest

from foreword.errors import LayoutError
from foreword.layout.parse import parse

LAYOUT = """
about = "A test."
sections = ["project"]
[section.project]
list = "project"
[section.rules]
list = "rules"
[section.fixed]
text = "Always."
[find.project]
files = ["walk:A.md"]
[find.rules]
files = ["walk:rules/*.md"]
match = ["paths"]
[find.below]
files = ["down:A.md"]
[section.below]
list = "below"
"""


def errors(changes):
    """Return the message and the key of the error in a layout."""
    mapping = tomllib.loads(LAYOUT)
    for name, content in changes.items():
        table, _, key = name.partition(".")
        if key:
            mapping.setdefault(table, {})[key] = content
        else:
            mapping[table] = content
    try:
        return parse(mapping, "test", "$user/test").touch
    except LayoutError as error:
        return str(error)


LISTED = {"touch.sections": ["rules", "below"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"touch.on": ["read"]}, "touch.on has no effect without touch.sections"),
        ({"touch.budget": 5, "touch.sections": []}, "touch.budget has no effect without touch.sections"),
        ({**LISTED, "touch.on": ["red"]}, "touch.on: unknown kind of touch 'red'; did you mean 'read'?"),
        ({"touch.sections": ["rules", "below", "fixed"]}, "section.fixed: a section of [touch] has list or sections, not text or instead"),
        ({**LISTED, "section.rules": {"list": "tools", "item": "{name}"}}, "section.rules.list: a section of [touch] lists a lookup rule, not 'tools'"),
        ({"touch.sections": ["rules"], "sections": ["project", "below"]}, "find.below.files: the place 'down' is only for lookup rules that are listed only in [touch]"),
        ({"touch.sections": ["below"], "sections": ["project", "rules"]}, "find.rules.match is only for lookup rules that are listed only in [touch]"),
        ({**LISTED, "sections": ["project", "rules"]}, "section 'rules' is used twice in the layout"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_key(changes, message):
    assert message in errors(changes)


def test_a_correct_table_lists_sections_and_their_lookup_rules():
    touch = errors(LISTED)
    assert [section.name for section in touch.sections] == ["rules", "below"]
    assert [(lookup.name, lookup.is_probe) for lookup in touch.lookups] == [("rules", False), ("below", False)]
    assert (touch.on, touch.budget, touch.changed) == (("read", "edit", "create"), None, "")
    touch = errors({**LISTED, "touch.on": ["edit"], "touch.budget": 900, "touch.changed": "again"})
    assert (touch.on, touch.budget, touch.changed) == (("edit",), 900, "again")


def test_a_rule_in_a_condition_is_looked_up_without_its_texts():
    touch = errors(
        {**LISTED, "find.rules": {"files": ["walk:rules/*.md"], "match": ["paths"], "when": ["found:project"]}}
    )
    assert [(lookup.name, lookup.is_probe) for lookup in touch.lookups] == [
        ("project", True),
        ("rules", False),
        ("below", False),
    ]
