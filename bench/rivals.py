"""Compare align with rulesync and ruler on the same five tasks, judged by the mirrors of seven agents.

python bench/rivals.py                   install the released packages from npm, and print the table

Each program gets the task in its own form, and writes files for the same agents. The table counts the files that it writes or removes,
and the pairs of an agent and a line of instructions that the agent does not read, or reads more than once.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from foreword.packs.shipped import shipped_mirror
from foreword.programs.align.reading import Mirrors
from foreword.sources.shared_files import shared_files

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
    "a skill": {"Use pnpm.": ("start", ""), "release": ("skills", "")},
    "files that diverged": dict.fromkeys(("Use pnpm.", "Be brief.", "Ask first.", "Name the ticket."), ("start", "")),
}


def main() -> int:
    """Run every program on every task, and print a row for each task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", default="", metavar="DIR", help="where to install them (a temporary folder)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        packages = Path(args.packages or scratch).resolve()
        commands = [_align(), _rulesync(packages), _ruler(packages)]
        print(f"| task | `foreword align` | {RULESYNC} | {RULER} |\n|---|---|---|---|")
        for number, (name, forms) in enumerate(TASKS.items()):
            cells = []
            for index, (files, command) in enumerate(zip(forms, commands, strict=True)):
                root = Path(scratch, f"task-{number}-{index}", "repo").resolve()
                cells.append(_judge(root, files, command, LINES[name]))
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0


def _align() -> list[str]:
    agents = [word for name in AGENTS for word in ("--agent", name)]
    return [sys.executable, "-m", "foreword", "align", ".", *agents, "--merge", "--write"]


def _rulesync(packages: Path) -> list[str]:
    program = _install(packages / "a", RULESYNC) / "rulesync"
    return [str(program), "generate", "--targets", RULESYNC_TARGETS, "--features", "rules,skills"]


def _ruler(packages: Path) -> list[str]:
    program = _install(packages / "b", RULER) / "ruler"
    return [str(program), "apply", "--agents", RULER_TARGETS, "--no-gitignore", "--no-backup", "--skills"]


def _install(folder: Path, package: str) -> Path:
    """Install a package from npm without running its scripts, and return the folder of its programs."""
    programs = folder / "node_modules/.bin"
    if not programs.exists():
        folder.mkdir(parents=True)
        arguments = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
        subprocess.run(["npm", "install", *arguments, package], check=True, capture_output=True)
    return programs


def _judge(root: Path, files: Files, command: list[str], lines: Mapping[str, tuple[str, str]]) -> str:
    """Let a program write its files, and count them and what the agents miss or repeat."""
    for path, text in {**files, "x.ts": "", "api/x.py": ""}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    _run(root, "git", "init", "-q")
    _run(root, "git", "add", "-A", "-f")
    _run(root, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x")
    _run(root, *command)
    written = len(_run(root, "git", "status", "--porcelain", "-uall", "--no-renames").splitlines())
    shared, _ = shared_files(str(root), True)
    mirrors = Mirrors(shared, {name: shipped_mirror(name) for name in AGENTS}, (), {})
    counts = []
    for agent in AGENTS:
        for line, (how, place) in lines.items():
            texts = mirrors.views.read(agent, how, place, {})
            is_skill = how == "skills"
            counts.append(
                sum(f"/{line}/" in path for path in texts)
                if is_skill
                else sum(row.strip() == line for text in texts.values() for row in text.split("\n"))
            )
    missing, repeated = counts.count(0), sum(count > 1 for count in counts)
    return f"{written} files, {missing} missing, {repeated} repeated"


def _run(root: Path, *command: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
