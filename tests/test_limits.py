"""Each limit on what callers and files may contain: as much as the limit is accepted, and one more is not.

The numbers are written out, because error messages and the documentation promise them.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import msgspec
import pytest

from foreword import Tool, Workspace
from foreword.engine.touched import check_touch
from foreword.errors import ForewordError, check_id, is_id
from foreword.findings import Finding
from foreword.gathering.touched import locate
from foreword.layout.merging import resolve_likes
from foreword.layout.parse import parse
from foreword.layout.patterns import expand_alternatives
from foreword.providers.usage import reported_tokens
from foreword.service import bodies
from foreword.sources.globs import has_too_many_alternatives, matches_glob
from foreword.sources.path_globs import compile_globs, describe_ignored_globs
from foreword.sources.paths import is_file_name
from foreword.sources.reader import Reader
from foreword.store.rows import check_label, check_limit, check_name, check_team
from foreword.template import brackets
from foreword.template.tags import scan
from foreword.text.toml import load_toml
from foreword.vocabulary import Document

WORKSPACE = Workspace(cwd="/w", root="/w", home="/home")


def body_text(form):
    return lambda size: msgspec.convert("x" * size, form)


def nested(levels):
    content = {"x": 1}
    for _ in range(levels - 1):
        content = {"x": content}
    return content


def nested_sections(levels):
    names = [f"s{number}" for number in range(levels)]
    tables = {name: {"sections": [inner]} for name, inner in pairwise(names)}
    return {"sections": names[:1], "section": {**tables, names[-1]: {"text": "x"}}}


def likes(count):
    return {f"a{number}": {"like": f"a{number + 1}"} for number in range(count)} | {f"a{count}": {"files": ["x"]}}


def template(text):
    return scan(Document("", text))


# What each raises is an error of Foreword or a ValueError, which says what the limit is.
RAISED = [
    ("the id of a conversation", 512, lambda size: check_id("x" * size)),
    ("the name of a team", 100, lambda size: check_team("x" * size)),
    ("the name of a template", 200, lambda size: check_name("x" * size)),
    ("a label", 200, lambda size: check_label("x" * size)),
    ("the limit of a list", 2**31 - 1, check_limit),
    ("the name of a tool", 128, lambda size: Tool("x" * size, "")),
    ("reported tokens", 1_000_000_000, lambda count: reported_tokens({"input_tokens": count, "output_tokens": 0})),
    ("touched paths", 1_000, lambda count: check_touch(["a"] * count, "read")),
    ("sections inside each other", 50, lambda levels: parse(nested_sections(levels), "t")),
    ("tables that are like another", 50, lambda count: resolve_likes(likes(count), "lookup")),
    ("alternatives of a pattern", 100, lambda count: expand_alternatives(f"{{{','.join(map(str, range(count)))}}}", "files")),
    ("dots in a line of TOML", 200, lambda count: load_toml("a = [" + "1.0," * count + "]")),
    ("levels of TOML, with the file", 100, lambda levels: load_toml("a = " + "[" * (levels - 1) + "]" * (levels - 1))),
    ("characters of a template with brackets", 500_000, lambda size: brackets.parse("x" * size, ())),
    ("variables of a template with brackets", 1_000, lambda count: brackets.parse("".join(f"[file:{number}]" for number in range(count)), {"file"})),
    ("characters of a template", 500_000, lambda size: template("x" * size)),
    ("lines of a template", 65_000, lambda lines: template("\n" * (lines - 1))),
    ("tags of a template", 10_000, lambda count: template("{{a}}" * count)),
    ("characters of a tag", 10_000, lambda size: template("{{" + "a" * size + "}}")),
    ("characters of a tag with brackets inside each other", 10_000, lambda size: template("{{((" + "a" * (size - 4) + "))}}")),
    ("operators of a tag", 200, lambda count: template("{{a" + "+a" * count + "}}")),
    ("blocks inside each other", 100, lambda levels: template("{% if a %}" * levels + "{% endif %}" * levels)),
    ("levels of a request's body", 100, lambda levels: bodies.check_depth(nested(levels), "x")),
    ("text in a body", 1_000_000, body_text(bodies.Text)),
    ("short text in a body", 16_000, body_text(bodies.ShortText)),
    ("a name in a body", 512, body_text(bodies.Name)),
    ("a label in a body", 512, body_text(bodies.Label)),
    ("plain text in a body", 512, body_text(bodies.Plain)),
    ("the name of a server in a body", 512, body_text(bodies.ServerName)),
    ("the name of a tool in a body", 128, body_text(bodies.ToolName)),
    ("the type of a tool in a body", 128, body_text(bodies.ToolType)),
    ("a path in a body", 4096, body_text(bodies.Path)),
    ("the name of a pack in a body", 128, body_text(bodies.PackName)),
    ("the name of a template in a body", 200, body_text(bodies.TemplateName)),
    ("a label of a template in a body", 200, lambda size: msgspec.convert("t@" + "x" * size, bodies.TemplateName)),
    ("a version of a template in a body", 9, lambda size: msgspec.convert("t@" + "1" * size, bodies.TemplateName)),
    ("a user's message in a body", 1_000_000, body_text(bodies.UserText)),
]  # fmt: skip


@pytest.mark.parametrize(("limit", "accept"), [row[1:] for row in RAISED], ids=[row[0] for row in RAISED])
def test_a_limit_is_accepted_and_one_more_is_an_error(limit, accept):
    accept(limit)
    with pytest.raises((ForewordError, ValueError)):
        accept(limit + 1)


# What each returns is whether it accepts as much.
RETURNED = [
    ("the id of a conversation", 512, lambda size: is_id("x" * size)),
    ("the path of a touched file", 4096, lambda size: not isinstance(locate("a/" * (size // 2) + "b" * (size % 2), WORKSPACE, Reader()), Finding)),
    ("the name of a file in settings", 400, lambda size: is_file_name("x" * (size - 3) + ".md")),
    ("characters of a glob in settings", 1_000, lambda size: matches_glob("x" * size, "x" * size)),
    ("alternatives of a glob", 100, lambda count: not has_too_many_alternatives(f"{{{','.join(map(str, range(count)))}}}")),
    ("characters of a rule's glob", 1_000, lambda size: compile_globs("x" * size).globs != ()),
    ("characters of a rule's glob that are not reported", 1_000, lambda size: not describe_ignored_globs("x" * size)),
    ("globs of a rule", 1_000, lambda count: len(compile_globs("x," * count).globs) == count),
    ("globs of a rule that are not reported", 1_000, lambda count: not describe_ignored_globs("x," * count)),
]  # fmt: skip


@pytest.mark.parametrize(("limit", "accepts"), [row[1:] for row in RETURNED], ids=[row[0] for row in RETURNED])
def test_a_limit_is_accepted_and_one_more_is_not(limit, accepts):
    assert (accepts(limit), accepts(limit + 1)) == (True, False)


@pytest.mark.parametrize(
    "accept",
    [
        check_id,
        check_name,
        check_label,
        lambda name: Tool(name, ""),
        *(partial(msgspec.convert, type=form) for form in (bodies.Name, bodies.ToolName, bodies.ServerName, bodies.PackName)),
    ],
)  # fmt: skip
def test_a_name_has_at_least_one_character(accept):
    accept("x")
    with pytest.raises((ForewordError, ValueError)):
        accept("")


def test_an_id_has_at_least_one_character():
    assert (is_id("x"), is_id("")) == (True, False)


def test_a_list_may_be_asked_for_nothing():
    check_limit(0)
    with pytest.raises(ForewordError, match=r"^limit must be from 0 to 2147483647, not -1$"):
        check_limit(-1)
