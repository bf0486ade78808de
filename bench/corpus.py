"""Build prompts with every layout in real repositories, parse every SKILL.md with both sets of rules, and check the results.

    python bench/corpus.py FOLDER… [--directories 50] [--layouts ion,opal]        or: make corpus FOLDERS="FOLDER …"

Each FOLDER is searched for repositories: directories with a `.git`, and the FOLDER itself. In each repository, prompts are built in
at most `--directories` directories of each kind, including the root:

    instructions    directories with an AGENTS.md or a similar file
    skills          directories whose folders contain a SKILL.md, with the layouts configured to look for skills there

Each SKILL.md is parsed with the strict and the lenient rules. A skill that the lenient rules accept is also put into a prompt with
its full body, as the active skill and as the plan. Every prompt is checked:

    coverage    passages are at their recorded positions, in order, with only separators between them
    origins     a piece whose origin is a file matches those lines of the file
    tags        tags around sections and texts come only from the layout, and a section is closed only once
    findings    the lines of findings exist
    stability   building the prompt again gives the same bytes

Violations and exceptions are printed with the path, and the exit status is then 1. File contents are never printed. Times are CPU
times.
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
from foreword.sources.front_matter import read_skill
from foreword.sources.reader import Reader
from foreword.text.lines import printable
from foreword.vocabulary import Finding, Piece, Skill

INSTRUCTIONS = {"AGENTS.md", "AGENTS.override.md", "AGENTS.local.md", "CLAUDE.md"}
SKIPPED_FOLDERS = {".git", "node_modules"}
TOOLS = tuple(Tool(name) for name in ("read", "bash", "use_skill"))
NOW = datetime(2025, 1, 1, 12, tzinfo=UTC)
RULE_SETS: tuple[Literal["strict"], Literal["lenient"]] = ("strict", "lenient")
LAYOUTS_WITH_BODY = ("ion", "foreword")
MAX_SLOWEST, MAX_REASONS = 10, 10


# Repositories


class Repository:
    """A repository and the directories in it that have instruction files or skills."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.instruction_counts: dict[str, int] = {}
        self.skill_counts: dict[str, int] = {}
        self.skills: list[str] = []

    def directories(self, limit: int) -> Iterator[tuple[str, bool]]:
        """Yield working directories, each with whether to look for skills directly in it."""
        yield self.top, False
        for folder in sample_evenly([folder for folder in self.instruction_counts if folder != self.top], limit - 1):
            yield folder, False
        for folder in sample_evenly(
            sorted(self.skill_counts, key=lambda folder: (-self.skill_counts[folder], folder)), limit
        ):
            yield folder, True


def sample_evenly(directories: list[str], limit: int) -> list[str]:
    """Return at most `limit` of the directories, evenly spaced."""
    step = max(1, -(-len(directories) // max(limit, 1)))
    return directories[::step]


def repositories(folder: str) -> Iterator[Repository]:
    """Yield every repository below a folder that contains a skill or an instruction file."""
    repositories_by_directory: dict[str, Repository] = {}
    for directory, subdirectories, names in os.walk(os.path.abspath(folder)):
        parent = repositories_by_directory.get(os.path.dirname(directory))
        is_top = parent is None or os.path.exists(os.path.join(directory, ".git"))
        repository = repositories_by_directory[directory] = (
            Repository(directory) if is_top or parent is None else parent
        )
        subdirectories[:] = sorted(name for name in subdirectories if name not in SKIPPED_FOLDERS)
        if instructions := INSTRUCTIONS.intersection(names):
            repository.instruction_counts[directory] = len(instructions)
        if "SKILL.md" in names:
            repository.skills.append(os.path.join(directory, "SKILL.md"))
            collection = os.path.dirname(directory)
            if directory != repository.top:
                repository.skill_counts[collection] = repository.skill_counts.get(collection, 0) + 1
    unique = dict.fromkeys(repositories_by_directory.values())
    yield from (repository for repository in unique if repository.instruction_counts or repository.skills)


# Checks


def check_coverage(prompt: Prompt) -> Iterator[str]:
    end = 0
    for passage in prompt.passages:
        between = prompt.text[end : passage.start]
        if passage.start < end or prompt.text[passage.start : passage.end] != passage.text:
            yield f"passage '{passage.section}' is not at its recorded position"
        elif between.strip("\n -") or (between and not end):
            yield f"text before passage '{passage.section}' is not in any passage"
        if "".join(piece.text for piece in passage.pieces) != passage.text:
            yield f"passage '{passage.section}' is not the sum of its pieces"
        end = passage.end
    if end != len(prompt.text):
        yield "text after the last passage is not in any passage"


def check_origins(prompt: Prompt) -> Iterator[str]:
    for piece in pieces(prompt):
        if piece.origin.kind == "file" and not matches_file(piece):
            yield f"differs from {piece.origin.path}, lines {piece.origin.lines}"


def matches_file(piece: Piece) -> bool:
    """Whether a piece matches the lines of the file in its origin."""
    lines, span = lines_of(piece.origin.path), piece.origin.lines
    if lines is None or span is None:
        return lines is None and "\\x" in piece.origin.path  # a file name that is not valid UTF-8
    expected = "\n".join(lines[span[0] - 1 : span[1]])
    # A trailing newline either ends a line or starts an empty one.
    texts = (piece.text, piece.text.removesuffix("\n"))
    return any(text in expected and text.count("\n") == span[1] - span[0] for text in texts)


@lru_cache(256)
def lines_of(path: str) -> list[str] | None:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    except OSError:
        return None


def check_tags(prompt: Prompt) -> Iterator[str]:
    layout_text = "".join(piece.text for piece in pieces(prompt) if piece.origin.path.startswith("$std/"))
    for name, wraps_section in tags_of(prompt.layout).items():
        tag = re.compile(rf"<\s*/?\s*{re.escape(name)}(?=[\s/>])", re.IGNORECASE)
        if len(tag.findall(prompt.text)) != len(tag.findall(layout_text)):
            yield f"the content contains the tag '{name}'"
        if wraps_section and len(re.findall(rf"</{re.escape(name)}>", prompt.text, re.IGNORECASE)) > 1:
            yield f"section '{name}' is closed twice"


@lru_cache
def tags_of(layout: str) -> dict[str, bool]:
    """Return the tags that a shipped layout puts around text (False) or a section (True)."""
    sections: Iterable[dict[str, Any]] = shipped_layout(layout).get("section", {}).values()
    tags: dict[str, bool] = {}
    for section in sections:
        if "{text}" in section.get("item", ""):
            tags.update(dict.fromkeys(re.findall(r"</([\w-]+)>", section["item"]), False))
        tags.update(dict.fromkeys(re.findall(r"</([\w-]+)>", section.get("wrap", "")), True))
    return tags


def check_finding_lines(prompt: Prompt) -> Iterator[str]:
    for finding in prompt.findings:
        lines = lines_of(finding.path) if finding.line and os.path.isfile(finding.path) else None
        if lines is not None and not 1 <= (finding.line or 0) <= len(lines):
            yield f"{finding.code} refers to line {finding.line} of {finding.path}, which does not exist"


def pieces(prompt: Prompt) -> Iterator[Piece]:
    return (piece for passage in prompt.passages for piece in passage.pieces)


CHECKS = (check_coverage, check_origins, check_tags, check_finding_lines)


# Counts


class BuildTime(NamedTuple):
    """How long it took to build one prompt."""

    milliseconds: float
    layout: str
    folder: str


class Tally:
    """A run's counts, findings, times and violations."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.findings: dict[str, dict[str, set[str]]] = {"prompts": {}, **{rule: {} for rule in RULE_SETS}}
        self.reasons: dict[str, Counter[str]] = {rule: Counter() for rule in RULE_SETS}
        self.build_times: list[BuildTime] = []
        self.violations: dict[str, None] = {}
        self.seconds = 0.0

    def add_findings(self, subject: str, findings: Iterable[Finding]) -> None:
        """Add findings, counting each code once per file."""
        for finding in findings:
            self.findings[subject].setdefault(finding.code, set()).add(finding.path)

    def report(self, subject: str, problem: str) -> None:
        self.violations[f"{subject}: {problem}"] = None

    def report_error(self, subject: str, error: Exception) -> None:
        """Report an exception by type and location, because its message may quote a file."""
        last = extract_tb(error.__traceback__)[-1]
        self.report(subject, f"{type(error).__name__} at {os.path.basename(last.filename)}:{last.lineno}")


def check(prompt: Prompt, subject: str, tally: Tally) -> None:
    for check_prompt in CHECKS:
        for problem in check_prompt(prompt):
            tally.report(subject, problem)
    tally.add_findings("prompts", prompt.findings)


# Prompts


def build_prompts(
    folder: str, repository: Repository, finds_skills_here: bool, layouts: list[str], home: str, tally: Tally
) -> None:
    """Build one prompt with each layout in one directory."""
    root = None if os.path.exists(os.path.join(repository.top, ".git")) else repository.top
    workspace = Workspace(folder, root=root, home=home, environment={})
    tally.counts["workspaces"] += 1
    for layout in layouts:
        if finds_skills_here and "skills" not in shipped_layout(layout).get("find", {}):
            continue
        assignments = [("skills.files", ["cwd:*/SKILL.md"])] if finds_skills_here else []
        tally.counts["prompts"] += 1
        try:
            build(
                Assembler(workspace, layout, assignments=assignments),
                f"{layout} in {printable(folder)}",
                layout,
                folder,
                tally,
            )
        except Exception as error:
            tally.report_error(f"{layout} in {printable(folder)}", error)


def build(assembler: Assembler, subject: str, layout: str, folder: str, tally: Tally) -> None:
    agent = Agent(tools=TOOLS)
    start = process_time()
    prompt = assembler.prompt(agent, NOW)
    tally.build_times.append(BuildTime((process_time() - start) * 1000, layout, printable(folder)))
    check(prompt, subject, tally)
    if assembler.prompt(agent, NOW).text != prompt.text:
        tally.report(subject, "building again gives different bytes")


# Skills


def read(path: str, tally: Tally) -> Skill | None:
    """Parse a SKILL.md's front matter with both sets of rules. Returns the skill if the lenient rules accept it."""
    start = process_time()
    reading = Reader().read_head(path)
    results = {rule: read_skill(reading.text, printable(path), rule) for rule in RULE_SETS} if reading.has_text else {}
    tally.seconds += process_time() - start
    tally.counts["skill files"] += 1
    tally.counts["skill files without text"] += not results
    for rule, (skill, findings) in results.items():
        tally.counts[rule] += skill is not None
        tally.add_findings(rule, findings)
        if skill is None:
            tally.reasons[rule][generalize(findings[0].message)] += 1
    strict, lenient = (results[rule][0] if results else None for rule in RULE_SETS)
    if strict and strict != lenient:
        tally.report(printable(path), "the strict and the lenient rules return different skills")
    return lenient if lenient and can_read_whole(lenient, path, tally) else None


def can_read_whole(skill: Skill, path: str, tally: Tally) -> bool:
    """Whether the entire file can be read. Reports a violation if it defines a different skill than its front matter alone."""
    file = Reader().read(path, trim=False)
    if not file.has_text:
        tally.report(printable(path), f"the front matter can be read, but not the entire file: {file.code}")
    elif read_skill(file.text, printable(path), "lenient")[0] != skill:
        tally.report(printable(path), "the entire file defines a different skill than its front matter alone")
    return file.has_text


def generalize(message: str) -> str:
    """Return a message with quoted text and numbers replaced, so that messages with the same reason are equal."""
    message = re.sub(r"'[^']*'|\"[^\"]*\"|(?<![-\w])\d[\d,]*(?![-\w])", "…", message)
    return re.sub(r"…(?:, …)+(?: and … more)?", "…", message)


def activate(skill: Skill, path: str, assemblers: list[Assembler], tally: Tally) -> None:
    """Build prompts with the skill's full body, as the active skill and as the plan."""
    snapshot = assemblers[0].snapshot()
    skill = skill if skill.path == path else Skill(skill.name, skill.description, path)
    skill = with_body(skill, snapshot.layout, snapshot.inputs.workspace)
    plan = Document(printable(path), skill.body, skill.hash, skill.body_line)
    for assembler in assemblers:
        prompt = assembler.prompt(Agent(tools=TOOLS, skill=skill, plan=plan), NOW)
        check(prompt, f"{prompt.layout} with {printable(path)}", tally)


def read_all(skills: list[str], home: str, tally: Tally) -> None:
    assemblers = [
        Assembler(Workspace(home, root=home, home=home, environment={}), layout) for layout in LAYOUTS_WITH_BODY
    ]
    for path in skills:
        try:
            skill = read(path, tally)
            if skill:
                activate(skill, path, assemblers, tally)
        except Exception as error:
            tally.report_error(printable(path), error)


# Output


def with_share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if whole else f"{part:,}"


def print_tally(tally: Tally) -> None:
    counts, files = tally.counts, tally.counts["skill files"]
    for name in ("repositories", "instruction files", "workspaces", "prompts", "skill files"):
        print(f"{name:28} {counts[name]:,}")
    print(f"{'loaded, strict':28} {with_share(counts['strict'], files)}")
    print(f"{'loaded, lenient':28} {with_share(counts['lenient'], files)}")
    print(f"{'without text':28} {with_share(counts['skill files without text'], files)}")
    print(
        f"{'skill files per second':28} {files / tally.seconds if tally.seconds else 0:,.0f}, each with both sets of rules"
    )
    for where, codes in tally.findings.items():
        print(f"\nfindings, {where}: files")
        for code in sorted(codes, key=lambda code: -len(codes[code])):
            print(f"  {code:26} {len(codes[code]):,}")
    for rule, reasons in tally.reasons.items():
        print(f"\nnot loaded, {rule}: first reason")
        for reason, number in reasons.most_common(MAX_REASONS):
            print(f"  {number:7,}  {reason}")


def print_times(build_times: list[BuildTime]) -> None:
    build_times = sorted(build_times, reverse=True)
    if build_times:
        print(f"\nmedian prompt {build_times[len(build_times) // 2].milliseconds:.1f} ms; the slowest:")
    for build_time in build_times[:MAX_SLOWEST]:
        print(f"  {build_time.milliseconds:9,.1f} ms  {build_time.layout} in {build_time.folder}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Check Foreword against real repositories.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument(
        "--directories", type=int, default=50, help="directories of each kind per repository (default: 50)"
    )
    parser.add_argument("--layouts", default=",".join(layout_names()), help="default: all shipped layouts")
    args = parser.parse_args()
    tally = Tally()
    with TemporaryDirectory(prefix="foreword-corpus-") as home:
        for repository in (repository for folder in args.folders for repository in repositories(folder)):
            tally.counts["repositories"] += 1
            tally.counts["instruction files"] += sum(repository.instruction_counts.values())
            for folder, finds_skills_here in repository.directories(args.directories):
                build_prompts(folder, repository, finds_skills_here, args.layouts.split(","), home, tally)
            read_all(repository.skills, home, tally)
    print_tally(tally)
    print_times(tally.build_times)
    print(f"\n{len(tally.violations):,} violations", *tally.violations, sep="\n")
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
