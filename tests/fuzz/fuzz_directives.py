"""Fuzz the directives: python tests/fuzz/fuzz_directives.py --seconds 20"""

from __future__ import annotations

import sys

from harness import fuzz

from foreword.findings import finding
from foreword.template.directives import includes, render
from foreword.vocabulary import Document

FACTS = {"cwd": "/w", "model": "{{ cwd }}", "provider": "anthropic", "platform": "", "date": "2026-04-15"}
WORDS = ["<!-- if: cwd == '/w' -->", "<!-- if: not (cwd != '/w') -->", "<!-- if: ", "<!-- else -->", "<!-- endif -->"]
WORDS += ["<!--", "-->", "<!-- x: -->", "<!-- include: a -->", "<!-- include: b -->", "{{ cwd }}", "{{ model }}", "{{"]
WORDS += ["}}", "`", "``", "```\n", "~~~\n", "> ", "- ", "# ", "|", "(", ")", "not ", " and ", " or ", "'", '"']
WORDS += ["\n", "\n\n", " ", "\t", "\\", "é", "\r\n", "\0"]


def check(text):
    """Check that rendering succeeds and every piece of a file has the right lines; the file includes its own first half."""
    texts = {"a": text, "b": text[: len(text) // 2]}
    known = {path: set(includes(text)) for path, text in texts.items()}

    def load(path, target):
        assert target in known[path]
        return Document(target, texts[target]) if target in texts else finding("file-unreadable", "no", target)

    pieces, findings = render(Document("a", text), FACTS, load)
    for piece in pieces:
        if piece.origin.kind == "file":
            first, last = piece.origin.lines
            lines = texts[piece.origin.path].split("\n")
            assert piece.text and piece.text in "\n".join([*lines[first - 1 : last], ""]), piece
    for reported in findings:
        assert (
            reported.path not in texts or reported.line is None or reported.line <= texts[reported.path].count("\n") + 1
        ), reported
    if "<!--" not in text and "{{" not in text:
        assert "".join(piece.text for piece in pieces) == text and len(pieces) <= 1


if __name__ == "__main__":
    sys.exit(fuzz(check, "directives", WORDS))
