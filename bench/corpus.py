"""A run over real repositories: every layout in many of their folders, every SKILL.md by both rules, and nothing may break.

    python bench/corpus.py FOLDER… [--places 50] [--layouts ion,opal]        or: make corpus FOLDERS="FOLDER …"

What lies below a FOLDER is walked. A directory with a `.git` is a repository, and so is the FOLDER itself. In each, at most
`--places` directories of either kind are worked in, the root among them:

    instructions    a directory with an AGENTS.md or its like, as it is
    skills          a directory whose folders hold a SKILL.md, with the layouts told to look for skills right there

Each SKILL.md is read by the strict and by the lenient rules; what the lenient ones load is also put into a prompt with its
whole body, as the active skill and as the plan. Of every prompt this is checked:

    covered     passages stand where they say, one after the other, with nothing but joins between them
    true        what has a file as its origin stands in that file, on those lines
    closed      tags around sections and texts come from the layout alone; a section is closed once
    placed      findings name lines that are there
    steady      asking again gives the same bytes

Whatever breaks one of these, or raises, is printed by its path, and the exit status is 1. Of what the files say, nothing is
printed. Times are of the processor: what else runs on the machine does not count.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from tempfile import TemporaryDirectory
from time import process_time
from traceback import extract_tb
from typing import Any, Literal, NamedTuple

from foreword import Agent, Assembler, Document, Prompt, Tool, Workspace
from foreword.engine.skills import with_body
from foreword.packs.packs import layout_names, shipped_layout
from foreword.sources.files import Reader
from foreword.sources.front_matter import read_skill
from foreword.text.lines import printable
from foreword.vocabulary import Finding, Piece, Skill

INSTRUCTIONS = {"AGENTS.md", "AGENTS.override.md", "AGENTS.local.md", "CLAUDE.md"}
PASSED_OVER = {".git", "node_modules"}
TOOLS = tuple(Tool(name) for name in ("read", "bash", "use_skill"))
NOW = datetime(2025, 1, 1, 12, tzinfo=UTC)
RULES: tuple[Literal["strict"], Literal["lenient"]] = ("strict", "lenient")
WITH_BODY = ("ion", "foreword")
SLOWEST, REASONS = 10, 10


# What there is


class Repository:
    """A tree of its own, and the directories in it that are worth working in."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.instructed: dict[str, int] = {}
        self.skilled: dict[str, int] = {}
        self.skills: list[str] = []

    def places(self, most: int) -> Iterator[tuple[str, bool]]:
        """Directories to work in, and whether skills are looked for right there."""
        yield self.top, False
        for place in spread([place for place in self.instructed if place != self.top], most - 1):
            yield place, False
        for place in spread(sorted(self.skilled, key=lambda place: (-self.skilled[place], place)), most):
            yield place, True


def spread(places: list[str], most: int) -> list[str]:
    """So many of them at most, evenly: the first and, as far as possible, one of each neighbourhood."""
    step = max(1, -(-len(places) // max(most, 1)))
    return places[::step]


def repositories(folder: str) -> Iterator[Repository]:
    """Every repository below a folder that holds a skill or an instruction file."""
    found: dict[str, Repository] = {}
    for here, below, names in os.walk(os.path.abspath(folder)):
        above = found.get(os.path.dirname(here))
        is_top = above is None or os.path.exists(os.path.join(here, ".git"))
        repository = found[here] = Repository(here) if is_top or above is None else above
        below[:] = sorted(name for name in below if name not in PASSED_OVER)
        if instructions := INSTRUCTIONS.intersection(names):
            repository.instructed[here] = len(instructions)
        if "SKILL.md" in names:
            repository.skills.append(os.path.join(here, "SKILL.md"))
            collection = os.path.dirname(here)
            if here != repository.top:
                repository.skilled[collection] = repository.skilled.get(collection, 0) + 1
    yield from (each for each in dict.fromkeys(found.values()) if each.instructed or each.skills)


# What must hold


def covered(prompt: Prompt) -> Iterator[str]:
    end = 0
    for passage in prompt.passages:
        between = prompt.text[end : passage.start]
        if passage.start < end or prompt.text[passage.start : passage.end] != passage.text:
            yield f"passage '{passage.section}' does not stand where it says"
        elif between.strip("\n -") or (between and not end):
            yield f"text before passage '{passage.section}' is in none"
        if "".join(piece.text for piece in passage.pieces) != passage.text:
            yield f"passage '{passage.section}' is not the sum of its pieces"
        end = passage.end
    if end != len(prompt.text):
        yield "text after the last passage is in none"


def true(prompt: Prompt) -> Iterator[str]:
    for piece in pieces(prompt):
        if piece.origin.kind == "file" and not stands(piece):
            yield f"not what {piece.origin.path} says on lines {piece.origin.lines}"


def stands(piece: Piece) -> bool:
    """Whether a piece stands in its file, from the first line it names to the last."""
    lines, told = lines_of(piece.origin.path), piece.origin.lines
    if lines is None or told is None:
        return lines is None and "\\x" in piece.origin.path  # the name of a file that no text can spell
    whole = "\n".join(lines[told[0] - 1 : told[1]])
    # A newline at the end belongs to its line, or begins an empty one.
    texts = (piece.text, piece.text.removesuffix("\n"))
    return any(text in whole and text.count("\n") == told[1] - told[0] for text in texts)


@lru_cache(256)
def lines_of(path: str) -> list[str] | None:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    except OSError:
        return None


def closed(prompt: Prompt) -> Iterator[str]:
    own = "".join(piece.text for piece in pieces(prompt) if piece.origin.path.startswith("$std/"))
    for name, is_whole in tags_of(prompt.layout).items():
        tag = re.compile(rf"<\s*/?\s*{re.escape(name)}(?=[\s/>])", re.IGNORECASE)
        if len(tag.findall(prompt.text)) != len(tag.findall(own)):
            yield f"content has the tag '{name}'"
        if is_whole and len(re.findall(rf"</{re.escape(name)}>", prompt.text, re.IGNORECASE)) > 1:
            yield f"section '{name}' is closed twice"


@lru_cache
def tags_of(layout: str) -> dict[str, bool]:
    """The tags that a shipped layout closes around a whole text (False) or a section (True)."""
    sections: Iterable[dict[str, Any]] = shipped_layout(layout).get("section", {}).values()
    tags: dict[str, bool] = {}
    for section in sections:
        if "{text}" in section.get("item", ""):
            tags.update(dict.fromkeys(re.findall(r"</([\w-]+)>", section["item"]), False))
        tags.update(dict.fromkeys(re.findall(r"</([\w-]+)>", section.get("wrap", "")), True))
    return tags


def placed(prompt: Prompt) -> Iterator[str]:
    for finding in prompt.findings:
        lines = lines_of(finding.path) if finding.line and os.path.isfile(finding.path) else None
        if lines is not None and not 1 <= (finding.line or 0) <= len(lines):
            yield f"{finding.code} names line {finding.line} of {finding.path}"


def pieces(prompt: Prompt) -> Iterator[Piece]:
    return (piece for passage in prompt.passages for piece in passage.pieces)


CHECKS = (covered, true, closed, placed)


# What is counted


class Turn(NamedTuple):
    """One prompt that was made, and how long it took."""

    milliseconds: float
    layout: str
    place: str


class Tally:
    """Everything that is counted on the way."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.findings: dict[str, dict[str, set[str]]] = {"prompts": {}, **{rule: {} for rule in RULES}}
        self.reasons: dict[str, Counter[str]] = {rule: Counter() for rule in RULES}
        self.turns: list[Turn] = []
        self.violations: dict[str, None] = {}
        self.seconds = 0.0

    def note(self, where: str, findings: Iterable[Finding]) -> None:
        """Count findings once for each file."""
        for each in findings:
            self.findings[where].setdefault(each.code, set()).add(each.path)

    def blame(self, where: str, what: str) -> None:
        self.violations[f"{where}: {what}"] = None

    def blame_error(self, where: str, error: Exception) -> None:
        """An exception by its kind and place: its words may quote a file."""
        last = extract_tb(error.__traceback__)[-1]
        self.blame(where, f"{type(error).__name__} at {os.path.basename(last.filename)}:{last.lineno}")


def check(prompt: Prompt, where: str, tally: Tally) -> None:
    for each in CHECKS:
        for wrong in each(prompt):
            tally.blame(where, wrong)
    tally.note("prompts", prompt.findings)


# Prompts


def work_in(place: str, repository: Repository, looks_here: bool, layouts: list[str], home: str, tally: Tally) -> None:
    """One prompt of each layout in one directory."""
    root = None if os.path.exists(os.path.join(repository.top, ".git")) else repository.top
    workspace = Workspace(place, root=root, home=home, environment={})
    tally.counts["workspaces"] += 1
    for layout in layouts:
        if looks_here and "skills" not in shipped_layout(layout).get("find", {}):
            continue
        here = [("skills.files", ["cwd:*/SKILL.md"])] if looks_here else []
        tally.counts["prompts"] += 1
        try:
            ask(Assembler(workspace, layout, assignments=here), f"{layout} in {printable(place)}", layout, place, tally)
        except Exception as error:
            tally.blame_error(f"{layout} in {printable(place)}", error)


def ask(assembler: Assembler, where: str, layout: str, place: str, tally: Tally) -> None:
    agent = Agent(tools=TOOLS)
    start = process_time()
    prompt = assembler.prompt(agent, NOW)
    tally.turns.append(Turn((process_time() - start) * 1000, layout, printable(place)))
    check(prompt, where, tally)
    if assembler.prompt(agent, NOW).text != prompt.text:
        tally.blame(where, "asking again gives other bytes")


# Skills


def read(path: str, tally: Tally) -> Skill | None:
    """One SKILL.md by both rules, as it is read for a menu; the skill, if the lenient ones load it."""
    start = process_time()
    reading = Reader().read_head(path)
    told = {rule: read_skill(reading.text, printable(path), rule) for rule in RULES} if reading.has_text else {}
    tally.seconds += process_time() - start
    tally.counts["skill files"] += 1
    tally.counts["skill files without text"] += not told
    for rule, (skill, findings) in told.items():
        tally.counts[rule] += skill is not None
        tally.note(rule, findings)
        if skill is None:
            tally.reasons[rule][nameless(findings[0].message)] += 1
    strict, lenient = (told[rule][0] if told else None for rule in RULES)
    if strict and strict != lenient:
        tally.blame(printable(path), "the strict and the lenient rules load different skills")
    return lenient if lenient and is_whole(lenient, path, tally) else None


def is_whole(skill: Skill, path: str, tally: Tally) -> bool:
    """Whether the whole file can be read too, and gives the same skill as its beginning."""
    whole = Reader().read_whole(path)
    if not whole.has_text:
        tally.blame(printable(path), f"listed by its beginning, and the whole of it cannot be read: {whole.code}")
    elif read_skill(whole.text, printable(path), "lenient")[0] != skill:
        tally.blame(printable(path), "the whole file gives another skill than its beginning")
    return whole.has_text


def nameless(message: str) -> str:
    """A message without what it quotes and counts, so that equal reasons are equal."""
    message = re.sub(r"'[^']*'|\"[^\"]*\"|(?<![-\w])\d[\d,]*(?![-\w])", "…", message)
    return re.sub(r"…(?:, …)+(?: and … more)?", "…", message)


def activate(skill: Skill, path: str, assemblers: list[Assembler], tally: Tally) -> None:
    """The skill with its body, as the active skill and as the plan."""
    snapshot = assemblers[0].snapshot()
    skill = skill if skill.path == path else Skill(skill.name, skill.description, path)
    skill = with_body(skill, snapshot.layout, snapshot.inputs.workspace)
    plan = Document(printable(path), skill.body, skill.hash, skill.body_line)
    for assembler in assemblers:
        prompt = assembler.prompt(Agent(tools=TOOLS, skill=skill, plan=plan), NOW)
        check(prompt, f"{prompt.layout} with {printable(path)}", tally)


def read_all(skills: list[str], home: str, tally: Tally) -> None:
    assemblers = [Assembler(Workspace(home, root=home, home=home, environment={}), layout) for layout in WITH_BODY]
    for path in skills:
        try:
            skill = read(path, tally)
            if skill:
                activate(skill, path, assemblers, tally)
        except Exception as error:
            tally.blame_error(printable(path), error)


# What is told


def share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if whole else f"{part:,}"


def print_tally(tally: Tally) -> None:
    counts, files = tally.counts, tally.counts["skill files"]
    for name in ("repositories", "instruction files", "workspaces", "prompts", "skill files"):
        print(f"{name:28} {counts[name]:,}")
    print(f"{'loaded, strict':28} {share(counts['strict'], files)}")
    print(f"{'loaded, lenient':28} {share(counts['lenient'], files)}")
    print(f"{'without text':28} {share(counts['skill files without text'], files)}")
    print(f"{'skill files a second':28} {files / tally.seconds if tally.seconds else 0:,.0f}, each by both rules")
    for where, codes in tally.findings.items():
        print(f"\nfindings, {where}: files")
        for code in sorted(codes, key=lambda code: -len(codes[code])):
            print(f"  {code:26} {len(codes[code]):,}")
    for rule, reasons in tally.reasons.items():
        print(f"\nnot loaded, {rule}: the first reason")
        for reason, number in reasons.most_common(REASONS):
            print(f"  {number:7,}  {reason}")


def print_times(turns: list[Turn]) -> None:
    turns = sorted(turns, reverse=True)
    if turns:
        print(f"\nmedian prompt {turns[len(turns) // 2].milliseconds:.1f} ms; the slowest:")
    for turn in turns[:SLOWEST]:
        print(f"  {turn.milliseconds:9,.1f} ms  {turn.layout} in {turn.place}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Run over trees of real repositories.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument(
        "--places", type=int, default=50, help="directories of either kind in one repository (default: 50)"
    )
    parser.add_argument("--layouts", default=",".join(layout_names()), help="default: all that are shipped")
    given = parser.parse_args()
    tally = Tally()
    with TemporaryDirectory(prefix="foreword-corpus-") as home:
        for repository in (each for folder in given.folders for each in repositories(folder)):
            tally.counts["repositories"] += 1
            tally.counts["instruction files"] += sum(repository.instructed.values())
            for place, looks_here in repository.places(given.places):
                work_in(place, repository, looks_here, given.layouts.split(","), home, tally)
            read_all(repository.skills, home, tally)
    print_tally(tally)
    print_times(tally.turns)
    print(f"\n{len(tally.violations):,} violations", *tally.violations, sep="\n")
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
