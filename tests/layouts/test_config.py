"""`[from]`: settings that a layout reads from the configuration files of the program it mirrors."""

import json
import tomllib
from pathlib import Path

import pytest

from foreword.engine.assembler import Assembler
from foreword.errors import LayoutError
from foreword.layout.parse import parse
from foreword.packs.config import without_comments

BASE = """
about = "A test."
sections = ["project"]
[section.project]
list = "project"
join = " "
item = "{text}"
[settings]
names = ["A.md"]
off = []
[env]
TOOL_HOME = "~/.tool"
[find.project]
files = ["walk:{names}"]
exclude = ["{off}"]
"""
FILES = {"w/.git": None, "w/A.md": "a", "w/B.md": "b", "w/C.md": "c"}


@pytest.mark.parametrize(
    ("path", "reference", "content", "text"),
    [
        ("home/.tool/config.toml", "env:TOOL_HOME/config.toml#names", 'names = ["B.md", "C.md"]', "b c"),
        ("home/.tool/config.toml", "home:.tool/config.toml#names", 'names = "B.md"', "b"),
        ("home/.config/t.json", "config:t.json#context.names", '{"context": {"names": ["C.md"]}}', "c"),
        ("w/t.jsonc", "root:t.jsonc#names", '// x\n{"names": /* y */ ["B.md",],}', "b"),
        ("w/t.json", "walk:t.json#names", '{"names": []}', ""),
        ("w/t.json", "root:t.json#names", '{"names": ["{B,C}.md", "A.md"]}', "b c a"),
        ("w/t.json", "cwd:t.json#other", '{"names": ["B.md"]}', "a"),
        ("w/t.json", "cwd:t.json#names.deeper", '{"names": ["B.md"]}', "a"),
        ("w/t.json", "cwd:t.json#names", " \n", "a"),
        ("w/other.json", "cwd:t.json#names", "{}", "a"),
    ],
)
def test_a_setting_is_read_from_a_file(tree, layout_text, path, reference, content, text):
    tree({**FILES, path: content})
    assert layout_text(f'[from]\nnames = ["{reference}"]\n') == text
    assert tree.findings(layout_text.prompt) == []


def test_an_environment_variable_moves_the_file(tree, layout_text):
    tree({**FILES, "home/.tool/c.toml": 'names = "B.md"', "moved/c.toml": 'names = "C.md"'})
    find = '[from]\nnames = ["env:TOOL_HOME/c.toml#names"]\n'
    assert layout_text(find, environment={"TOOL_HOME": "moved"}) == "c"
    assert layout_text(find) == "b"


def test_later_files_override_earlier_ones_and_settings_override_both(tree, layout_text):
    tree({**FILES, "home/t.json": '{"names": ["B.md"]}', "w/t.json": '{"names": ["C.md"]}', "w/x/t.json": "{}"})
    find = '[from]\nnames = ["home:t.json#names", "walk:t.json#names"]\n'
    assert layout_text(find) == "c" and layout_text(find, "w/x") == "c"
    assert layout_text(find, set={"names": ["A.md"]}) == "a"


def test_a_file_can_list_globs_to_exclude(tree, layout_text):
    tree({**FILES, "w/.tool/settings.json": json.dumps({"off": ["**/w/A.md"]})})
    assert layout_text('[from]\noff = ["root:.tool/settings.json#off"]\n') == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ('{"names": 7}', "names: it must be a list of strings, not int; it was ignored"),
        ('{"names": [1]}', "names: it must be a list of strings, not list; it was ignored"),
        ('{"names": ["../A.md"]}', "names: '../A.md' cannot be used"),
        ("[" * 100_000, "cannot be read"),
        (b"\xff", "cannot be read: byte 0xff"),
    ],
)
@pytest.mark.parametrize("place", ["home", "w"])
def test_an_invalid_file_is_reported(tree, layout_text, content, message, place):
    tree({**FILES, f"{place}/t.json": content})
    where = {"home": "home", "w": "root"}[place]
    layout_text(f'[from]\nnames = ["{where}:t.json#names"]\n')
    (problem,) = [text for code, text in tree.messages(layout_text.prompt) if code == "config-invalid"]
    assert problem.startswith(f"/{place}/t.json") and message in problem


def test_valid_values_in_a_list_are_kept(tree, layout_text):
    tree({**FILES, "home/t.json": '{"names": ["../A.md", "B.md", "", "C.md"]}'})
    assert layout_text('[from]\nnames = ["home:t.json#names"]\n') == "b c"
    assert "'../A.md', '' cannot be used" in str(tree.messages(layout_text.prompt))


@pytest.mark.parametrize("name", ["{outside}/secret.md", "~/secret.md"])
def test_a_project_may_name_only_files_inside_the_workspace(tree, layout_text, name):
    tree({**FILES, "secret.md": "secret", "home/secret.md": "secret"})
    tree({"w/t.json": json.dumps({"names": [name.replace("{outside}", tree.top), "B.md"]})})
    assert layout_text('[from]\nnames = ["root:t.json#names"]\n') == "b"
    assert "workspace-refused" in dict(tree.findings(layout_text.prompt))


@pytest.mark.parametrize("name", ["{outside}/own.md", "~/own.md"])
def test_a_user_may_name_any_file(tree, layout_text, name):
    tree({**FILES, "own.md": "own", "home/own.md": "own"})
    tree({"home/t.json": json.dumps({"names": [name.replace("{outside}", tree.top)]})})
    assert layout_text('[from]\nnames = ["home:t.json#names"]\n') == "own"


def test_a_variable_that_points_into_the_workspace_does_not_make_a_file_trusted(tree, layout_text):
    tree({**FILES, "secret.md": "secret", "w/.tool/c.json": json.dumps({"names": [tree.path("secret.md"), "B.md"]})})
    find = '[from]\nnames = ["env:TOOL_HOME/c.json#names"]\n'
    assert layout_text(find, environment={"TOOL_HOME": "w/.tool"}) == "b"


def test_values_beyond_the_limit_are_ignored(tree, layout_text):
    tree({**FILES, "w/t.json": json.dumps({"names": ["B.md", *(f"../{number}" for number in range(50_000))]})})
    assert layout_text('[from]\nnames = ["root:t.json#names"]\n') == "b"
    too_many, error = [text for code, text in tree.messages(layout_text.prompt) if code == "config-invalid"]
    assert too_many.endswith("names: only the first 200 of 50,001 values are used")
    assert "'../0', '../1', '../2' and 196 more cannot be used" in error


def test_a_project_cannot_choose_its_root(tree, layout_text):
    tree({"w/in/.git": None, "w/in/A.md": "in", "w/A.md": "out", "w/mark": "", "w/in/t.json": '{"marks": ["mark"]}'})
    base = BASE.replace('names = ["A.md"]', 'names = ["A.md"]\nmarks = [".git"]').replace(
        "exclude =", 'markers = ["{marks}"]\nexclude ='
    )
    assert layout_text('[from]\nmarks = ["root:t.json#marks"]\n', "w/in", base=base) == "in"
    assert "config-invalid" in dict(tree.findings(layout_text.prompt))
    tree({"home/t.json": '{"marks": ["mark"]}'})
    assert layout_text('[from]\nmarks = ["home:t.json#marks"]\n', "w/in", base=base) == "out in"


def test_a_link_that_leaves_the_workspace_is_not_read(tree, layout_text):
    tree({**FILES, "outside.json": '{"names": ["B.md"]}', "w/t.json": Path("../outside.json")})
    assert layout_text('[from]\nnames = ["root:t.json#names"]\n') == "a"


def test_a_changed_file_is_read_again(tree):
    tree({**FILES, "own.toml": BASE + '[from]\nnames = ["root:t.json#names"]\n'})
    assembler = Assembler(tree.workspace(), tree.path("own.toml"))
    assert assembler.prompt().text.strip() == "a"
    tree({"w/t.json": '{"names": ["B.md"]}'})
    assert assembler.prompt().text.strip() == "b"
    tree({"w/t.json": '{"names": ["B.md", "C.md"]}'})
    assert assembler.prompt().text.strip() == "b c"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('name = ["root:t.json#names"]', "from.name: unknown setting 'name'; did you mean 'names'?"),
        ('names = "root:t.json#names"', "from.names must be a list of 'place:path#key' or of tables"),
        ('names = ["root:t.json"]', "from.names: 'root:t.json' is not 'place:path#key'"),
        ('names = ["root:t.json#"]', "is not 'place:path#key'"),
        ('names = ["root:t.json#a..b"]', "is not 'place:path#key'"),
        ('names = ["roots:t.json#a"]', "did you mean 'root'"),
        ('names = ["root:*.json#a"]', "must name one file"),
        ('names = ["path:/t.json#a"]', "must name one file, in a place other than 'path'"),
        ('names = ["root:t.yaml#a"]', "must be a file ending in .toml, .json or .jsonc"),
        ('names = ["root:../t.json#a"]', "points outside its place"),
    ],
)
def test_invalid_rows_are_refused(row, message):
    with pytest.raises(LayoutError) as error:
        parse(tomllib.loads(f"{BASE}\n[from]\n{row}\n"), "mine")
    assert message in str(error.value)


def test_a_layout_in_the_workspace_may_read_only_its_own_files(tree):
    mapping = tomllib.loads(BASE + '[from]\nnames = ["home:t.json#names"]\n')
    with pytest.raises(LayoutError, match="may read only its own files"):
        parse(mapping, "mine", untrusted=frozenset({"from.names"}))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"a": 1}', {"a": 1}),
        ('// c\n{"a": "// no", "b": "/* no */"}', {"a": "// no", "b": "/* no */"}),
        ('{"a": [1, 2, /* x */ ], }', {"a": [1, 2]}),
        ('{"a": "\\\\", "b": "\\","}', {"a": "\\", "b": '",'}),
        ('{"a": ",]"}// end', {"a": ",]"}),
    ],
)
def test_json_with_comments_is_parsed(text, content):
    assert json.loads(without_comments(text)) == content


@pytest.mark.parametrize("text", ['{"a" 1}', "/* open", '"open', "", "[1,,]"])
def test_invalid_json_stays_invalid(text):
    with pytest.raises(json.JSONDecodeError):
        json.loads(without_comments(text))
