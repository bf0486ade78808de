"""Entries of `[from]` that are tables, environment variables, and conditions between settings."""

import tomllib

import pytest

from foreword.errors import LayoutError
from foreword.layout.parse import parse

BASE = """
about = "A test."
sections = ["project"]
[section.project]
list = "project"
join = " "
item = "{text}"
[settings]
names = ["A.md"]
more = []
is_on = false
limit = 7
[env]
TOOL_HOME = ""
[find.project]
files = ["walk:{names}", "path:{more}"]
"""
FILES = {"w/.git": None, "w/A.md": "a", "w/B.md": "b", "w/C.md": "c"}


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ('{ at = "home:t.json#names", add = "after" }', "a b"),
        ('{ at = "home:t.json#names", add = "before" }', "b a"),
        ('{ at = "home:t.json#all", add = "before" }', "c a"),
        ('{ at = "home:t.json#names" }', "b"),
        ('{ at = "home:t.json#paths", only = "names" }', "c"),
        ('{ at = "home:t.json#names", when = ["set:is_on"] }', "a"),
        ('{ at = "home:t.json#names", when = ["!set:is_on"] }', "b"),
    ],
)
def test_an_entry_can_be_a_table(tree, layout_text, entries, text):
    tree({**FILES, "home/t.json": '{"names": ["B.md"], "all": ["C.md", "A.md"], "paths": ["x/B.md", "C.md"]}'})
    assert layout_text(f"[from]\nnames = [{entries}]\n") == text
    assert tree.findings(layout_text.prompt) == []


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('[projects."{root}"]\nlevel = "yes"\n', "b"),
        ('[projects."{root}"]\nlevel = "no"\n', "a"),
        ('[projects."{root}/x"]\nlevel = "yes"\n', "a"),
    ],
)
def test_a_setting_can_depend_on_the_value_of_a_key_for_this_root(tree, layout_text, content, text):
    tree({**FILES, "home/c.toml": content.replace("{root}", tree.path("w")), "w/t.json": '{"names": ["B.md"]}'})
    find = '[from]\nis_on = ["home:c.toml#projects.{root}.level=yes"]\nnames = [{ at = "cwd:t.json#names", when = ["set:is_on"] }]\n'
    assert layout_text(find) == text


@pytest.mark.parametrize(("folder", "text"), [("{root}", "b"), ("{root}/x", "c"), ("{root}/x/y", "a")])
def test_a_file_can_count_only_in_folders_that_the_user_trusts(tree, layout_text, folder, text):
    trusted = folder.replace("{root}", tree.path("w"))
    tree({**FILES, "home/c.toml": f'[projects."{trusted}"]\nlevel = "yes"\n'})
    tree({"w/t.json": '{"names": ["B.md"]}', "w/x/t.json": '{"names": ["C.md"]}'})
    entry = '{ at = "walk:t.json#names", trusted_by = "home:c.toml#projects.{folder}.level=yes" }'
    assert layout_text(f"[from]\nnames = [{entry}]\n", cwd="w/x") == text


@pytest.mark.parametrize(
    ("variable", "text"), [("B.md, C.md", "b c"), ("B.md,", "b"), ("", "a"), (None, "a"), ("/no/such.md", "")]
)
def test_a_list_can_be_read_from_an_environment_variable(tree, layout_text, variable, text):
    tree(FILES)
    environment = {} if variable is None else {"TOOL_NAMES": variable}
    assert layout_text('[from]\nnames = ["env:TOOL_NAMES"]\n', variables=environment) == text


@pytest.mark.parametrize(
    ("variable", "text"), [("1", "b"), ("true", "b"), ("0", "a"), ("false", "a"), ("FALSE", "a"), ("", "a")]
)
def test_a_switch_can_be_read_from_an_environment_variable(tree, layout_text, variable, text):
    tree({**FILES, "home/t.json": '{"names": ["B.md"]}'})
    find = '[from]\nis_on = ["env:TOOL_ON"]\nnames = [{ at = "home:t.json#names", when = ["set:is_on"] }]\n'
    assert layout_text(find, variables={"TOOL_ON": variable}) == text


def test_an_invalid_variable_is_reported(tree, layout_text):
    tree(FILES)
    assert layout_text('[from]\nlimit = ["env:TOOL_LIMIT"]\n', variables={"TOOL_LIMIT": "many"}) == "a"
    assert tree.messages(layout_text.prompt) == [
        ("config-invalid", "$TOOL_LIMIT: limit: it must be of the same type as 7, not str; it was ignored")
    ]


def test_a_variable_can_name_the_file(tree, layout_text):
    tree({**FILES, "other/my.conf": '{"names": ["B.md"]}', "w/own.json": '{"names": ["{top}/secret.md", "C.md"]}'})
    find = '[from]\nnames = ["env:TOOL_FILE#names"]\n'
    assert layout_text(find, environment={"TOOL_FILE": "other/my.conf"}) == "b"
    assert layout_text(find, variables={"TOOL_FILE": "other/my.conf"}) == "a"  # relative
    assert layout_text(find, environment={"TOOL_FILE": "w/own.json"}) == "c"  # the workspace's own


def test_values_can_be_files_beside_the_configuration_file(tree, layout_text):
    tree({**FILES, "home/e/one/e.json": "{}", "home/e/one/X.md": "one"})
    tree({"home/e/two/e.json": '{"name": ["Y.md", "Z.md"]}', "home/e/two/Y.md": "y", "home/e/two/Z.md": "z"})
    find = '[from]\nmore = [{ at = "home:e/*/e.json#name", beside = "X.md", add = "after" }]\n'
    assert layout_text(find) == "a one y z"


def test_a_folder_without_default_is_searched_only_if_its_variable_is_set(tree, layout_text):
    tree({**FILES, "other/D.md": "d"})
    base = BASE.replace('"path:{more}"', '"env:TOOL_HOME/D.md"')
    assert layout_text("", base=base) == "a" and tree.findings(layout_text.prompt) == []
    assert layout_text("", base=base, environment={"TOOL_HOME": "other"}) == "a d"


def test_a_pattern_can_combine_two_lists(tree, layout_text):
    tree({**FILES, "one/A.md": "1a", "one/B.md": "1b", "two/B.md": "2b"})
    base = BASE.replace('"path:{more}"', '"path:{more}/{names}"').replace('["A.md"]', '["A.md", "B.md"]')
    folders = [tree.path("one"), tree.path("two")]
    assert layout_text("", base=base, set={"more": folders}) == "a b 1a 1b 2b"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('names = [{ add = "after" }]', "from.names: the key 'at' is missing"),
        ('names = [{ at = "home:t.json#a", ad = "x" }]', "unknown key 'ad'"),
        ('limit = [{ at = "home:t.json#a", add = "after" }]', "from.limit: add is only for lists"),
        ('names = [{ at = "home:*/t.json#a" }]', "must name one file"),
        ('names = [{ at = "root:*/t.json#a", beside = "x" }]', "must name one file"),
        ('names = [{ at = "home:t.json#a", when = ["tool:x"] }]', "unknown condition 'tool:x'"),
        ('names = ["home:t.json#a.{home}"]', "unknown field '{home}' in a key"),
        ('names = [{ at = "cwd:t.json#a", trusted_by = "root:t.json#b=c" }]', "trusted_by must be"),
        ('names = ["env:a-b"]', "is not 'place:path#key' or 'env:NAME'"),
    ],
)
def test_invalid_entries_are_refused(row, message):
    with pytest.raises(LayoutError) as error:
        parse(tomllib.loads(f"{BASE}\n[from]\n{row}\n"), "mine")
    assert message in str(error.value)


@pytest.mark.parametrize("reference", ["env:SECRET", "env:SECRET#key"])
def test_a_layout_in_the_workspace_may_not_read_the_environment(reference):
    mapping = tomllib.loads(f'{BASE}[from]\nnames = ["{reference}"]\n')
    with pytest.raises(LayoutError, match="may read only its own files"):
        parse(mapping, "mine", untrusted=frozenset({"from.names"}))
