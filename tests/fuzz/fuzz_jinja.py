"""Fuzz the Jinja-like language: python tests/fuzz/fuzz_jinja.py --seconds 20

The engine must reject what the scanner rejects, templates that both accept must render the same with and without traces, and no
input may raise anything but a TemplateError. Templates without a size limit render in the sandbox.
"""

from __future__ import annotations

import sys

import minijinja
from harness import fuzz

from foreword.engine import sandbox
from foreword.errors import TemplateError
from foreword.template import jinja, tags
from foreword.vocabulary import Document

WORDS = ["{{ cwd }}", "{{ tools | join(', ') }}", "{{- date -}}", "{{ t }}", "{{ loop.index }}", "{{ x }}", "{#", "#}"]
WORDS += ["{% if tools %}", "{% if cwd == '/w' %}", "{% else %}", "{% elif 1 %}", "{% endif %}", "{% endfor -%}"]
WORDS += ["{%- for t in tools %}", "{% raw %}", "{% endraw %}", "{% include 'part' %}", "{% include '", "{% set x = "]
WORDS += ["{% set x %}", "{% endset %}", "{% filter upper %}", "{% endfilter %}", "{% block b %}", "{% endblock %}"]
WORDS += ["{% extends 'part' %}", "{{", "}}", "{%", "%}", "-", "+", "'", '"', "\\", "(", ")", "[", "]", "{", "}", "|"]
WORDS += ["~", ".", ",", "=", "==", " is ", " not ", " in ", " if ", " else ", "e-", "0x1e-", "1.", "\n", " ", "\t"]
WORDS += ["\r\n", "\0", "\x0b", "\xa0", "\u2028", "é", "\ue000"]
VARIABLES = {"cwd": "/w {{ date }}\n", "date": "\ue0000:", "language": "", "tools": ["read", "<b>"]}
LIMITS = ("are accepted", "branches deep", "in one tag")
PART = Document("", "part {{ cwd }}\n{% if tools %}\n {{- date }}{% endif %}\n", "sha256:0")


def check(text):
    templates = {"$t/main": Document("", text, "sha256:0"), "$t/part": PART}
    reason = rejection(templates["$t/main"])
    if reason:
        assert any(limit in reason for limit in LIMITS) or not is_parsed(text), reason
        return
    try:
        pieces = sandbox.render("$t/main", templates, VARIABLES, is_trusted=True)
        plain = sandbox.render("$t/main", templates, VARIABLES, is_trusted=True, trace=False)
    except TemplateError:
        return
    assert "".join(piece.text for piece in pieces) == "".join(piece.text for piece in plain)
    for piece in pieces:
        check_origin(piece, templates)
    if "{{" not in text and "{%" not in text and "{#" not in text:
        assert "".join(piece.text for piece in pieces) == text
    assert jinja.names_used("$t/main", templates) is not None


def rejection(template):
    try:
        tags.scan(template)
    except TemplateError as error:
        return str(error)
    return ""


def is_parsed(text):
    try:
        minijinja.Environment(debug=False).add_template("t", text)
    except minijinja.TemplateError:
        return False
    return True


def check_origin(piece, templates):
    """Check that text of a template has the right lines, unless a tag there produced it."""
    assert piece.text
    origin = piece.origin
    if origin.kind == "variable":
        assert set(origin.path.split(", ")) <= set(VARIABLES), piece
        return
    first, last = origin.lines
    lines = templates[origin.path].text.split("\n")
    assert 1 <= first <= last <= len(lines), piece
    source = "\n".join([*lines[first - 1 : last], ""])
    assert piece.text in source or "{{" in source or "{%" in source, piece


if __name__ == "__main__":
    sys.exit(fuzz(check, "jinja", WORDS))
