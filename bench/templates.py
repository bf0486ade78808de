"""Compare template parsing and rendering, including the origin of every piece, with jinja2's sandbox, which does not track origins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from fixture import Fixture
from foreword.template import brackets, jinja, tags
from foreword.vocabulary import Document, Origin, Piece
from measure import Row, take_turns

SIZES = {"5 KB": (5_000, 40), "100 KB": (100_000, 8)}
TOOLS = ["read", "edit", "bash", "grep"]
VALUES = {"cwd": "/home/someone/project", "date": "2026-04-15", "status": " M src/main.py"}

# A section in each language, and the jinja2 equivalents of the bracket tags.
JINJA = """## Section

{% if "read" in tools -%}
Look with the tool for reading, not with a shell, when you want to see what is in {{ cwd }}.
{%- else -%}
There is no tool for reading.
{%- endif %}

{% for tool in tools %}- {{ loop.index }}. {{ tool }}: what it is for, in one line
{% endfor %}
At hand: {{ tools | join(", ") }}. Today is {{ date }}.

"""
BRACKETS = """## Section

[if git:status]
The tree is dirty: look at it before you change [prompt:cwd], and say so.
[git:status]
[else]
The tree is clean.
[endif]
[if !file:notes]There are no notes.[endif] Today is [system:date].

"""
AS_JINJA = {
    "[if git:status]": "{% if status %}",
    "[if !file:notes]": "{% if not notes %}",
    "[else]": "{% else %}",
    "[endif]": "{% endif %}",
    "[prompt:cwd]": "{{ cwd }}",
    "[git:status]": "{{ status }}",
    "[system:date]": "{{ date }}",
}


def rows(project: Fixture) -> list[Row]:
    """Time each language at each size."""
    return [row for size in SIZES for row in (brackets_row(size), jinja_row(size))]


def brackets_row(size: str) -> Row:
    text = repeat(BRACKETS, size)
    equivalent = text
    for tag, as_jinja in AS_JINJA.items():
        equivalent = equivalent.replace(tag, as_jinja)
    return row(
        f"brackets, {size}",
        size,
        partial(render_brackets, text),
        partial(render_with_jinja2, equivalent, {**VALUES, "notes": ""}),
    )


def jinja_row(size: str) -> Row:
    text = repeat(JINJA, size)
    values: Mapping[str, str | Sequence[str]] = {**VALUES, "tools": TOOLS}
    return row(f"jinja, {size}", size, partial(render_jinja, text, values), partial(render_with_jinja2, text, values))


def row(name: str, size: str, ours: partial[str], baseline: partial[str]) -> Row:
    if ours() != baseline():
        print(f"warning: {name}: the two engines render different text")
    times = take_turns({"ours": ours, "baseline": baseline}, rounds=SIZES[size][1])
    ours_label, baseline_label = "parse, render, origins", "jinja2 SandboxedEnvironment: from_string, render"
    return Row(f"template, {name}", times["ours"], times["baseline"], 1.0, ours_label, baseline_label)


def repeat(section: str, size: str) -> str:
    return section * (SIZES[size][0] // len(section) + 1)


def render_brackets(text: str) -> str:
    template = brackets.parse(text, ("file", "git", "prompt", "system"))
    pieces = brackets.render(template, look_up, Origin("template", "$user/bench"))
    return "".join(piece.text for piece in pieces)


def look_up(type: str, name: str) -> tuple[Piece, ...] | None:
    return (Piece(VALUES[name], Origin("variable", f"{type}:{name}")),) if name in VALUES else None


def render_jinja(text: str, values: Mapping[str, str | Sequence[str]]) -> str:
    tags.words.cache_clear()
    pieces = jinja.render("$user/bench", {"$user/bench": Document("", text)}, values)
    return "".join(piece.text for piece in pieces)


def render_with_jinja2(text: str, values: Mapping[str, str | Sequence[str]]) -> str:
    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(text).render(values)
