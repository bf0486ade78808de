"""Compare align with rulesync and ruler on the same five tasks, judged by the released agents.

python -m peers --rivals          install the packages from npm, and print the table

Each program gets the task in its own form, and writes files for the same agents, which are then started on them. The table counts the files
that it writes or removes, and the pairs of an agent and a line of instructions that the agent does not send, or sends more than once. Cursor
cannot be run unattended, so its mirror is asked instead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foreword.packs.shipped import shipped_mirror
from foreword.programs.align.reading import Mirrors
from foreword.sources.shared_files import shared_files

from .install import Installed
from .programs import Program, ask
from .recordings import Case
from .tree import Tree

RULESYNC, RULER = "rulesync@17.0.0", "@intellectronica/ruler@0.3.44"
AGENTS = ("claude", "codex", "copilot", "cursor", "gemini", "opencode", "qwen")
RULESYNC_TARGETS = "claudecode,codexcli,copilotcli,cursor,geminicli,opencode,qwencode"
RULER_TARGETS = "claude,codex,copilot,cursor,gemini-cli,opencode,qwen"
ROOT, NESTED, SCOPED = "Use pnpm.\n", "Validate every field.\n", "No any.\n"
SKILL = "---\nname: release\ndescription: How to release.\n---\nTag the commit.\n"
ROOT_HEAD = '---\nroot: true\ntargets: ["*"]\nglobs: ["**/*"]\n---\n'
DIVERGED = {
    "CLAUDE.md": "Use pnpm.\nBe brief.\n",
    "GEMINI.md": "Use pnpm.\nAsk first.\n",
    ".github/copilot-instructions.md": "Use pnpm.\nName the ticket.\n",
}

# The files of each task: as align reads them, and in the forms of rulesync and ruler.
Files = Mapping[str, str]
TASKS: dict[str, tuple[Files, Files, Files]] = {
    "a rule at the root": (
        {"AGENTS.md": ROOT},
        {".rulesync/rules/overview.md": ROOT_HEAD + ROOT},
        {".ruler/AGENTS.md": ROOT},
    ),
    "a rule for a folder": (
        {"AGENTS.md": ROOT, "api/AGENTS.md": NESTED},
        {
            ".rulesync/rules/overview.md": ROOT_HEAD + ROOT,
            ".rulesync/rules/api.md": '---\ntargets: ["*"]\nglobs: ["api/**"]\nagentsmd:\n  subprojectPath: "api"\n---\n'
            + NESTED,
        },
        {".ruler/AGENTS.md": ROOT, "api/.ruler/AGENTS.md": NESTED, ".ruler/ruler.toml": "nested = true\n"},
    ),
    "a rule for *.ts": (
        {"AGENTS.md": ROOT, ".agents/rules/ts.md": '---\npaths: ["**/*.ts"]\n---\n' + SCOPED},
        {
            ".rulesync/rules/overview.md": ROOT_HEAD + ROOT,
            ".rulesync/rules/ts.md": '---\ntargets: ["*"]\nglobs: ["**/*.ts"]\n---\n' + SCOPED,
        },
        {".ruler/AGENTS.md": ROOT, ".ruler/ts.md": SCOPED},
    ),
    "a skill": (
        {"AGENTS.md": ROOT, ".agents/skills/release/SKILL.md": SKILL},
        {".rulesync/rules/overview.md": ROOT_HEAD + ROOT, ".rulesync/skills/release/SKILL.md": SKILL},
        {".ruler/AGENTS.md": ROOT, ".ruler/skills/release/SKILL.md": SKILL},
    ),
    "files that diverged": (
        DIVERGED,
        {**DIVERGED, ".rulesync/rules/overview.md": ROOT_HEAD + ROOT},
        {**DIVERGED, ".ruler/AGENTS.md": ROOT},
    ),
}


# The lines of each task, and when an agent needs them: when it starts, when it touches a path, or in its list of skills.
LINES = {
    "a rule at the root": {"Use pnpm.": ("start", "")},
    "a rule for a folder": {"Use pnpm.": ("start", ""), "Validate every field.": ("touch", "api/x.py")},
    "a rule for *.ts": {"Use pnpm.": ("start", ""), "No any.": ("touch", "x.ts")},
    "a skill": {"Use pnpm.": ("start", ""), "How to release.": ("skills", "")},
    "files that diverged": dict.fromkeys(("Use pnpm.", "Be brief.", "Ask first.", "Name the ticket."), ("start", "")),
}


def write_rivals(scratch: Path) -> None:
    """Let every program do every task, each in a folder of its own. This may need the network."""
    shutil.rmtree(scratch / "tasks", ignore_errors=True)
    commands = [_align(), _rulesync(scratch), _ruler(scratch)]
    for root, _, files, command in _results(scratch, commands):
        for path, text in {**files, "x.ts": "x\n", "api/x.py": "x\n"}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        _run(root, "git", "init", "-q")
        _run(root, "git", "add", "-A", "-f")
        _run(root, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x")
        _run(root, *command)


def judge_rivals(programs: Sequence[tuple[Program, Installed]], scratch: Path) -> bool:
    """Start the agents on what `write_rivals` has written, and print a row for each task. Return whether all of them ran."""
    print(
        "judged by",
        ", ".join(f"{program.title} {program.version}" for program, _ in programs),
        "and mirrors",
        flush=True,
    )
    print(f"| task | `foreword align` | {RULESYNC} | {RULER} |\n|---|---|---|---|")
    cells: dict[str, list[str]] = {}
    for root, task, _, _ in _results(scratch, [[], [], []]):
        cells.setdefault(task, []).append(_judge(root, LINES[task], programs, scratch))
        if len(cells[task]) == 3:
            print(f"| {task} | " + " | ".join(cells[task]) + " |", flush=True)
    return {program.name for program, _ in programs} >= set(AGENTS) - {"cursor"}


def _results(scratch: Path, commands: Sequence[list[str]]) -> Iterator[tuple[Path, str, Files, list[str]]]:
    """Yield the folder of each result with its task, the files of the task and the command."""
    for number, (task, forms) in enumerate(TASKS.items()):
        for index, (files, command) in enumerate(zip(forms, commands, strict=True)):
            yield scratch / "tasks" / f"{number}-{index}" / "repo", task, files, command


def _align() -> list[str]:
    agents = [word for name in AGENTS for word in ("--agent", name)]
    return [sys.executable, "-m", "foreword", "align", ".", *agents, "--merge", "--write"]


def _rulesync(packages: Path) -> list[str]:
    program = _install(packages / "rulesync", RULESYNC) / "rulesync"
    return [str(program), "generate", "--targets", RULESYNC_TARGETS, "--features", "rules,skills"]


def _ruler(packages: Path) -> list[str]:
    program = _install(packages / "ruler", RULER) / "ruler"
    return [str(program), "apply", "--agents", RULER_TARGETS, "--no-gitignore", "--no-backup", "--skills"]


def _install(folder: Path, package: str) -> Path:
    """Install a package from npm without running its scripts, and return the folder of its programs."""
    programs = folder / "node_modules/.bin"
    if not programs.exists():
        folder.mkdir(parents=True)
        arguments = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
        subprocess.run(["npm", "install", *arguments, package], check=True, capture_output=True)
    return programs


def _judge(
    root: Path, lines: Mapping[str, tuple[str, str]], programs: Sequence[tuple[Program, Installed]], scratch: Path
) -> str:
    """Return how many files were written, and how often the agents miss or repeat a line."""
    written = len(_run(root, "git", "status", "--porcelain", "-uall", "--no-renames").splitlines())
    installed = {program.name: (program, place) for program, place in programs}
    counts: list[int] = []
    for agent in AGENTS:
        if agent in installed:
            counts += _sent(root, lines, *installed[agent], scratch)
        else:
            counts += _mirrored(root, lines, agent)
    return f"{written} files, {counts.count(0)} missing, {sum(count > 1 for count in counts)} repeated"


def _sent(
    root: Path, lines: Mapping[str, tuple[str, str]], program: Program, installed: Installed, scratch: Path
) -> list[int]:
    """Return how often a program sends each line, when it has touched the file that a line belongs to."""
    touched = [f"repo/{place}" for how, place in lines.values() if how == "touch"]
    touch = touched[0] if touched and shipped_mirror(program.name).touch is not None else ""
    base = scratch / "runs" / program.name
    shutil.rmtree(base, ignore_errors=True)
    files = {
        f"repo/{path.relative_to(root).as_posix()}": path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }
    tree = Tree(files, touch=touch)
    tree.write(str(base))
    request = ask(program, installed, Case("rivals", "repo", "touch" if touch else "start", tree), str(base))[-1]
    every = [text for _, texts in request for text in texts]
    told = [row.strip() for role, texts in request if role != "tools" for text in texts for row in text.split("\n")]
    return [
        sum(text.count(line) for text in every) if how == "skills" else told.count(line)
        for line, (how, _) in lines.items()
    ]


def _mirrored(root: Path, lines: Mapping[str, tuple[str, str]], agent: str) -> list[int]:
    """Return how often an agent's mirror reads each line."""
    shared, _ = shared_files(str(root), True)
    views = Mirrors(shared, {agent: shipped_mirror(agent)}, (), {}).views
    counts = []
    for line, (how, place) in lines.items():
        texts = views.read(agent, how, place, {})
        rows = [row.strip() for text in texts.values() for row in text.split("\n")]
        counts.append(sum("/release/" in path for path in texts) if how == "skills" else rows.count(line))
    return counts


def _run(root: Path, *command: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout
