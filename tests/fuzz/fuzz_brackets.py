"""Fuzz the bracket language: python tests/fuzz/fuzz_brackets.py --seconds 20"""

from __future__ import annotations

import sys

from harness import fuzz

from foreword.template.brackets import parse, render
from foreword.vocabulary import Origin, Piece

WORDS = ["[", "]", "\\[", "[if ", "[if !", "[else]", "[endif]", "[file:a]", "[git:b]", "[nix:c]", ":", "!", "("]
WORDS += ["[if file:a]", "[if !git:b]", "[ endif ]", "[IF file:a]", "[file:", "[if\n", "\r\n", "\0", "\u2028"]
WORDS += ["\n", " ", "\t", "é"]
VALUE = Piece("[if file:a]\\[[endif]", Origin("variable", "file:a"))


def check(text):
    """Check that parsing succeeds, text has the right lines, the value is unchanged, and an escaped template renders as itself."""
    template = parse(text, ("file", "git"))
    lines = text.split("\n")
    for lookup in (lambda type, name: (VALUE,), lambda type, name: None):
        for piece in render(template, lookup, Origin("template", "t")):
            if piece is not VALUE:
                first, last = piece.origin.lines
                assert piece.text in "\n".join([*lines[first - 1 : last], ""]).replace("\\[", "["), piece
    for finding in template.findings:
        assert finding.line is None or 1 <= finding.line <= len(lines), finding
        assert all(line.isprintable() for line in finding.message.split("\n")), finding
    if "\\" not in text:
        escaped = render(
            parse(text.replace("[", "\\["), ("file", "git")), lambda type, name: None, Origin("template", "t")
        )
        assert "".join(piece.text for piece in escaped) == text


if __name__ == "__main__":
    sys.exit(fuzz(check, "brackets", WORDS))
