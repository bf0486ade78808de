"""The Jinja-like language, case by case: tests/cases/jinja has the inputs and outputs."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from foreword.errors import CallError, TemplateError
from foreword.template import inclusion, tags
from foreword.template.addresses import split
from foreword.template.bounded import is_bounded
from foreword.template.jinja import VARIABLES, builtin_variables, check, names_used, render
from foreword.template.limits import SOURCE_LIMIT
from foreword.vocabulary import Document, Origin, Piece

VALUES = builtin_variables(
    datetime(2026, 4, 15, 11, 30, tzinfo=timezone(timedelta(hours=2))), "/w", "English", ["read", "edit"]
)

TABLES = sorted((Path(__file__).parent.parent / "cases" / "jinja").glob("*.toml"))
CASES = [
    pytest.param(case, id=f"{table.stem}: {case['name']}")
    for table in TABLES
    for case in tomllib.loads(table.read_text("utf-8"))["case"]
]


def documents(texts):
    return {address: Document(f"/disk/{address}.md", text, f"sha256:{address}") for address, text in texts.items()}


def loader(templates):
    def load(address):
        if split(address)[0] == "acme":
            raise CallError("unknown pack 'acme'; known packs: std, user, workspace")
        return templates.get(address)

    return load


def format_origin(piece):
    """An origin as `variable NAME` or `KIND ADDRESS FIRST-LAST`."""
    origin = piece.origin
    if origin.lines is None:
        return [piece.text, f"{origin.kind} {origin.path}"]
    return [piece.text, f"{origin.kind} {origin.path} {origin.lines[0]}-{origin.lines[1]}"]


def text_of(pieces):
    return "".join(piece.text for piece in pieces)


@pytest.mark.parametrize("case", CASES)
def test_a_case_renders_as_expected(case):
    root = case.get("root", "$user/main")
    sources = documents({**({root: case["template"]} if "template" in case else {}), **case.get("files", {})})
    variables = {**VALUES, **case.get("variables", {})}
    if "output" not in case:
        with pytest.raises(TemplateError) as raised:
            render(root, check(root, loader(sources) if root.startswith("$") else sources.get), variables)
        first, *shown = str(raised.value).split("\n")
        assert first == case["error"] if "error" in case else case["error_has"] in first
        assert not shown or set(shown[1].strip()) == {"^"}
        return
    templates = check(root, loader(sources) if root.startswith("$") else sources.get)
    pieces = render(root, templates, variables)
    assert text_of(pieces) == case["output"]
    assert text_of(render(root, templates, variables, trace=False)) == case["output"]
    if "pieces" in case:
        assert [format_origin(piece) for piece in pieces] == case["pieces"]


def test_a_third_of_the_cases_are_errors():
    assert 3 * sum("output" not in case.values[0] for case in CASES) >= len(CASES)


# Includes


def test_includes_have_names_and_targets():
    text = "{% include 'a' %}\n{% include ['b', '$std/c'] ignore missing %}{% import 'd' as e %}"
    document = Document("$user/x/y", text)
    found = inclusion.find_includes(document, tags.scan(document))
    assert [(tag.word, tag.names, tag.targets, tag.is_optional) for tag in found] == [
        ("include", ("a",), ("$user/x/a",), False),
        ("include", ("b", "$std/c"), ("$user/x/b", "$std/c"), True),
        ("import", ("d",), ("$user/x/d",), False),
    ]


def test_check_returns_all_templates_as_loaded_the_root_first():
    sources = documents({"$user/main": "{% include 'a' %}{% include ['no', 'b'] %}", "$user/a": "{% include 'b' %}\n"})
    sources |= documents({"$user/b": "B\n", "$user/c": "C"})
    loaded = []

    def load(address):
        loaded.append(address)
        return sources.get(address)

    assert list(check("$user/main", load).items()) == [
        (address, sources[address]) for address in ("$user/main", "$user/a", "$user/b")
    ]
    assert loaded == ["$user/main", "$user/a", "$user/b", "$user/no"]


def chain_of(length):
    return documents(
        {f"$user/{n}": f"{n} {{% include '{n + 1}' %}}" for n in range(length - 1)} | {f"$user/{length - 1}": ""}
    )


def test_includes_may_be_as_deep_as_the_limit_and_no_deeper():
    limit = inclusion.MAX_DEPTH
    sources = chain_of(limit)
    assert text_of(render("$user/0", sources, VALUES)) == "".join(f"{n} " for n in range(limit - 1))
    with pytest.raises(TemplateError, match=rf"deep: \$user/0 -> \$user/1 -> .* -> \$user/{limit} \(line 1"):
        check("$user/0", chain_of(limit + 1).get)


def test_depth_is_the_length_of_the_longest_chain():
    limit = inclusion.MAX_DEPTH
    sources = chain_of(limit)
    sources |= documents({"$user/root": "{% include '1' %}{% include '0' %}"})
    with pytest.raises(TemplateError, match=rf"more than {limit} templates deep: \$user/root -> \$user/0"):
        check("$user/root", sources.get)


def test_more_templates_than_the_limit_are_an_error():
    sources = documents({f"$user/{n}": "" for n in range(300)})
    sources |= documents({"$user/main": "".join(f"{{% include '{n}' %}}" for n in range(300))})
    with pytest.raises(TemplateError, match=r"^\$user/main and its includes have more than 200 templates, "):
        check("$user/main", sources.get)


@pytest.mark.parametrize("excess", [0, 1])
@pytest.mark.parametrize("limit", ["templates", "characters", "tags"])
def test_as_much_as_the_limit_may_be_included(limit, excess):
    if limit == "templates":
        texts = {f"$user/{n}": "" for n in range(inclusion.MAX_TEMPLATES - 1 + excess)}
        texts["$user/main"] = "".join(f"{{% include '{n}' %}}" for n in range(len(texts)))
    else:
        texts = {"$user/main": "{% include 'a' %}"}
        if limit == "characters":
            texts = {"$user/main": "{% include 'a' %}{% include 'b' %}", "$user/b": "x" * 500_000}
            texts["$user/a"] = "x" * (inclusion.MAX_TOTAL - 500_000 - len(texts["$user/main"]) + excess)
        else:
            texts["$user/a"] = "{{ a }}" * (inclusion.MAX_TAGS - 1 + excess)
    load = documents(texts).get
    if excess:
        with pytest.raises(TemplateError, match=r"^\$user/main and its includes have more than 200 templates, "):
            check("$user/main", load)
    else:
        check("$user/main", load)


def test_names_used_includes_the_names_in_every_template():
    sources = documents(
        {"$user/main": "{% if tools %}{% include 'a' %}{% endif %}", "$user/a": "{{ cwd.x | y(z=date) }}"}
    )
    assert names_used("$user/main", sources) == {"tools", "cwd", "date"}
    assert names_used("$user/main", documents({"$user/main": "{% for a in b recursive %}{% endfor %}"})) == {"a", "b"}


# Limits


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("x" * (SOURCE_LIMIT + 1), "has 500,001 characters; at most 500,000 are accepted"),
        ("{% if" * 2_097_152, "has 10,485,760 characters; at most 500,000 are accepted"),
        ("{% if a %}{% elif a %}" * 10_000, "has 20,000 tags; at most 10,000 are accepted"),
        ("\n" * tags.MAX_LINES, "has 65,001 lines; at most 65,000 are accepted"),
        ("{{ 1 }}" * 10_001, "has 10,001 tags; at most 10,000 are accepted"),
        ("{{ '" + "x" * tags.MAX_TAG_LENGTH + "' }}", "has more than 10,000 characters in one tag"),
        ("{{ [" + "1, " * tags.MAX_TAG_LENGTH + "] }}", "has more than 10,000 characters in one tag"),
        ("{{ (((" + "1, " * tags.MAX_TAG_LENGTH, "has more than 10,000 characters in one tag"),
        ("{{ " + "a+" * 300 + "a }}", "has 300 operators in one tag; at most 200 are accepted"),
        ("{{ " + "not " * 300 + "a }}", "has 300 operators in one tag"),
        ("{{ " + "a" + "|upper" * 300 + " }}", "has 300 operators in one tag"),
        ("{% set " + "(" * 300 + "a" + ")" * 300 + " = 1 %}", "has 301 operators in one tag"),
        ("{% if a %}" + "{% elif a %}" * 9_000 + "{% endif %}", "is more than 100 blocks and elif branches deep"),
        ("{% if a %}" * 4_000 + "{% endif %}" * 4_000, "is more than 100 blocks and elif branches deep"),
        ("{% if a %}x{% elif a %}" * 60, "is more than 100 blocks and elif branches deep"),
        ("{{ " + "[" * 180 + "]" * 180 + " }}", "cannot be parsed: template exceeds maximum recursion limits"),
        ("a \ud800 b", "is a lone surrogate and cannot be encoded (line 1, column 3)"),
    ],
)
def test_limits_are_checked_before_the_engine_sees_a_template(template, message):
    with pytest.raises(TemplateError) as raised:
        check("$user/main", documents({"$user/main": template}).get)
    assert str(raised.value).startswith("$user/main") and message in str(raised.value)
    assert len(str(raised.value)) < 400


def test_templates_at_the_limits_render():
    deep = "{% if cwd %}" * 50 + "x" + "{% elif cwd %}y" * 50 + "{% endif %}" * 50
    long = "{{ " + "~".join(["cwd"] * 200) + " }}"
    wide = "{{ [" + "1, " * 3_000 + "] | length }}"
    lines = "\n" * 60_000 + "{{ cwd }}"
    sources = documents({"$user/main": deep + long + wide + lines})
    pieces = render("$user/main", sources, VALUES)
    assert text_of(pieces) == "x" + "/w" * 200 + "3000" + "\n" * 60_000 + "/w"
    assert pieces[-2].origin.lines == (1, 60_000)


def test_output_is_limited():
    sources = documents({"$user/main": "{% for i in range(20000) %}" + "x" * 201 + "{% endfor %}"})
    with pytest.raises(TemplateError, match=r"^\$user/main writes more than 4,000,000 bytes"):
        render("$user/main", sources, VALUES)


# Variables


def test_facts_are_in_utc():
    assert set(VARIABLES) == set(VALUES)
    assert VALUES == {
        "date": "2026-04-15",
        "time": "09:30:00",
        "datetime": "2026-04-15T09:30:00Z",
        "cwd": "/w",
        "language": "English",
        "tools": ("read", "edit"),
    }
    assert (
        builtin_variables(datetime(999, 1, 2, 3, 4, 5, tzinfo=UTC), "/w", "", [])["datetime"] == "0999-01-02T03:04:05Z"
    )
    assert builtin_variables(datetime(2026, 1, 1, tzinfo=UTC), "/w", "", [])["language"] == "match the user's language"


def test_a_template_cannot_change_the_callers_variables():
    tools = ["read"]
    sources = documents({"$user/main": "{{ tools.append('x') }}{{ tools }}"})
    for _ in range(2):
        assert text_of(render("$user/main", sources, {"tools": tools})) == "None['read', 'x']"
    assert tools == ["read"]


def test_variables_are_copied_without_their_methods():
    class Loud(str):
        def shout(self):
            return "boo"

        def __html__(self):
            return "boo"

        def __str__(self):
            return "boo"

    sources = documents({"$user/main": "{{ a }}{{ b }}"})
    assert text_of(render("$user/main", sources, {"a": Loud("x"), "b": [Loud("y")]})) == "x['y']"
    with pytest.raises(TemplateError, match="calls an unknown method"):
        render("$user/main", documents({"$user/main": "{{ a.shout() }}"}), {"a": Loud("x")})


@pytest.mark.parametrize("name", ["self", "function", "name", "template_name", "action", "loop"])
def test_a_variable_may_have_any_name(name):
    sources = documents({"$user/main": f"{{{{ {name} }}}}"})
    assert text_of(render("$user/main", sources, {name: "x"})) == "x"


def test_a_variable_that_is_not_text_is_refused():
    with pytest.raises(CallError, match=r"^variable 'x' must be a string or a list of strings, not dict$"):
        render("$user/main", documents({"$user/main": ""}), {"x": {}})


def test_a_lone_surrogate_in_a_value_is_escaped():
    assert text_of(render("$user/main", documents({"$user/main": "{{ a }}"}), {"a": "x\ud800"})) == "x\\ud800"


def test_lines_count_from_where_the_text_begins_in_its_file():
    sources = {"$user/main": Document("/x", "a\n{{ cwd }}\nb{{ ghost | default('') }}", line=11)}
    assert [piece.origin.lines for piece in render("$user/main", sources, VALUES)] == [(11, 11), None, (12, 13)]
    with pytest.raises(TemplateError, match=r"line 11, column 4"):
        render("$user/main", {"$user/main": Document("/x", "{{ ghost }}", line=11)}, VALUES)


def test_output_without_trace_is_one_piece_from_the_root():
    sources = documents({"$user/main": "a\n{{ cwd }}\n"})
    assert render("$user/main", sources, VALUES, trace=False) == (
        Piece("a\n/w\n", Origin("template", "$user/main", (1, 2))),
    )


# Bounded templates


@pytest.mark.parametrize(
    "template",
    [
        "text",
        "{{ cwd }} {{ tools | join(', ') | upper }}",
        "{% if 'read' in tools and not (cwd == '/' or tools) %}a{% elif cwd is defined %}b{% else %}c{% endif %}",
        "{% for t in tools %}{{ loop.index }} {{ t }}{% if not loop.last %}, {% endif %}{% endfor %}",
        "{% include 'b' %}{% include ['no', 'b'] ignore missing %}",
        "{{ tools[0] ~ cwd }}{{ cwd | default('x') }}{# c #}{% raw %}{{ x() }}{% endraw %}",
    ],
)
def test_a_template_without_repetition_is_bounded(template):
    sources = documents({"$user/main": template, "$user/b": "{{ cwd }}\n"})
    assert is_bounded(inclusion.collect("$user/main", sources.get), VALUES)


@pytest.mark.parametrize(
    "template",
    [
        "{% set a = 'x' %}",
        "{% set a %}x{% endset %}",
        "{% with a = cwd %}{% endwith %}",
        "{% macro m() %}{% endmacro %}",
        "{% for i in range(3) %}{% endfor %}",
        "{% for i in tools | sort %}{% endfor %}",
        "{{ 'x' * 9 }}",
        "{{ 2 ** 9 }}",
        "{{ 1 - 1 }}",
        "{{ cwd.upper() }}",
        "{{ (cwd)() }}",
        "{{ range(3) }}",
        "{{ '%99999d' | format(1) }}",
        "{{ cwd | indent(9999) }}",
        "{{ cwd | join(cwd) | join(cwd) }}",
        "{{ cwd | upper | upper | upper | upper | upper }}",
        "{{ {'a': 1} }}",
        "{% filter upper %}{% endfilter %}",
        "{% for a in tools %}" * 30 + "{% endfor %}" * 30,
        "{% include 'double' %}",
        "{% extends 'b' %}",
        "{% block x %}{% endblock %}",
    ],
)
def test_a_template_that_can_repeat_is_not_bounded(template):
    sources = {f"$user/{n}": f"{{% include '{n + 1}' %}}" * 5 for n in range(15)}
    sources |= {"$user/15": "x", "$user/double": "{% include '0' %}", "$user/b": ""}
    together = documents({"$user/main": template, **sources})
    assert not is_bounded(inclusion.collect("$user/main", together.get), VALUES)


def test_a_loop_is_bounded_by_its_iterable():
    sources = documents(
        {"$user/main": "{% for a in tools %}{% for b in tools %}" + "x" * 1000 + "{% endfor %}{% endfor %}"}
    )
    collected = inclusion.collect("$user/main", sources.get)
    assert is_bounded(collected, {"tools": ["x"] * 20})
    assert not is_bounded(collected, {"tools": ["x"] * 200})
