"""Draw terminal screenshots: run a command in a pseudo-terminal and write its output as SVG.

python docs/picture.py          write docs/images/
python docs/picture.py --check  list outdated pictures and exit with status 1 if there are any
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import sample

FOLDER = Path(__file__).parent / "images"
# The folder of the sample in which a command runs, and the command.
PICTURES = {
    "agents.svg": ("monorepo", "foreword agents --layout claude --layout codex --layout copilot --layout cursor"),
    "blame.svg": ("shop", "foreword blame api --set sections=instructions,environment"),
}
COLOURS = {"2": "#8b949e", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff", "1": "#ffffff"}
PLAIN, BACKGROUND, PROMPT = "#e6edf3", "#0d1117", "#7ee787"
WIDE, HIGH, EDGE = 8.4, 20, 16


def main(arguments: Sequence[str]) -> int:
    """Write the pictures, or with --check compare them."""
    parser = argparse.ArgumentParser(description="Draw terminal screenshots by running the commands.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with status 1 if a picture is outdated"
    )
    is_check = parser.parse_args(arguments).check
    FOLDER.mkdir(exist_ok=True)
    outdated = [name for name in PICTURES if is_check and not is_current(name)]
    for name in outdated:
        print(f"docs/images/{name} is outdated; run python docs/picture.py")
    for name in PICTURES if not is_check else ():
        (FOLDER / name).write_text(draw(*PICTURES[name]), encoding="utf-8")
    return 1 if outdated else 0


def is_current(name: str) -> bool:
    file = FOLDER / name
    return file.exists() and file.read_text(encoding="utf-8") == draw(*PICTURES[name])


def draw(folder: str, command: str) -> str:
    """Run a command in a folder of the sample and return its terminal output as SVG."""
    lines = [[("$ ", PROMPT), (command, PLAIN)], *map(list, map(runs, run_in_terminal(folder, command).splitlines()))]
    width = max(sum(len(text) for text, _ in line) for line in lines) * WIDE + 2 * EDGE
    height = len(lines) * HIGH + 2 * EDGE
    rows = [row(line, EDGE + HIGH * (index + 0.75)) for index, line in enumerate(lines)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">',
            f"<title>{escape(command)}</title>",
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
            '<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">',
            *rows,
            "</g>",
            "</svg>\n",
        ]
    )


def row(line: Sequence[tuple[str, str]], y: float) -> str:
    """One line as SVG. Each run has an explicit position and length, so that columns align in any font."""
    spans, column = [], 0
    for run, colour in line:
        text = run.strip()
        x, length = EDGE + (column + len(run) - len(run.lstrip())) * WIDE, len(text) * WIDE
        spans += (
            [f'<tspan x="{x:.1f}" textLength="{length:.1f}" fill="{colour}">{escape(text)}</tspan>'] if text else []
        )
        column += len(run)
    return f'<text y="{y:.0f}">{"".join(spans)}</text>'


def runs(line: str) -> Iterator[tuple[str, str]]:
    """Split a line of terminal output into runs of text with their colours."""
    colour = PLAIN
    for text in re.split(r"(\x1b\[\d*m)", line):
        code = re.fullmatch(r"\x1b\[(\d*)m", text)
        if code:
            colour = COLOURS.get(code[1], PLAIN)
        elif text:
            yield text, colour


def run_in_terminal(folder: str, command: str) -> str:
    """Terminal output of a command that runs in a folder of the sample."""
    with sample.home() as home:
        controller, terminal = pty.openpty()
        environment = {"HOME": str(home), "TERM": "xterm", "PATH": str(Path(sys.executable).parent)}
        process = subprocess.Popen(
            command.split(), cwd=home / folder, env=environment, stdout=terminal, stderr=subprocess.DEVNULL
        )
        os.close(terminal)
        text = b"".join(chunks(controller)).decode()
        os.close(controller)
        assert process.wait() == 0, command
        return text.replace("\r\n", "\n").replace(str(home), sample.HOME)


def chunks(terminal: int) -> Iterator[bytes]:
    """Read until the other end is closed, which Linux reports as an error."""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            return
        if not chunk:
            return
        yield chunk


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
