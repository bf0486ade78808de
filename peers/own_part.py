"""Count the tokens of a program's own prompt and tools: what it sends from a repository without instruction files."""

from __future__ import annotations

import json
import shutil

from foreword.text.tokens import count

from .install import Installed
from .programs import PROMPT, Program, send
from .recordings import Case
from .tree import Tree
from .wires import messages

MODEL = "gpt-5"  # its vocabulary is o200k, in which the layouts state these sizes
TOLERANCE = 0.02  # paths, dates and ids have other lengths on another machine

Sizes = dict[str, int]


def own_part(program: Program, installed: Installed, base: str) -> Sizes:
    """Return the tokens of the program's own texts and of its tools."""
    case = Case("own part", "repo", "start", Tree({}))
    shutil.rmtree(base, ignore_errors=True)
    case.data.write(base)
    path, body = send(program, installed, case, base)[0]
    texts = [text for role, parts in messages(path, body) if role != "tools" for text in parts if text != PROMPT]
    tools = json.dumps(body.get("tools"), ensure_ascii=False, separators=(",", ":"))
    return {"prompt": sum(count(text, MODEL).count for text in texts), "tools": count(tools, MODEL).count}


def is_same_size(recorded: Sizes, measured: Sizes) -> bool:
    return recorded.keys() == measured.keys() and all(
        abs(recorded[name] - measured[name]) <= TOLERANCE * recorded[name] for name in recorded
    )
