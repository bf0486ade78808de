"""The live view on a terminal. Each frame is drawn in one write, from the top left corner, so that it does not flicker.

The view uses the terminal's alternate screen and always leaves it at the end, which restores the previous contents.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from ..text.lines import escape_controls
from .columns import clip, display_width, pad
from .terminal import describe_tools, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .change_report import ChangeReport

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
# Terminals that support synchronized output show everything between these two at once.
_BEGIN_UPDATE, _END_UPDATE = "\x1b[?2026h", "\x1b[?2026l"
_MAX_LINES = 1_000
_MAX_BAR_WIDTH = 24


class Screen:
    """Shows sections, findings and a log of changes. `q` or Ctrl-C quits."""

    tick = 100

    def __init__(self) -> None:
        self.report: ChangeReport | None = None
        self.log: list[str] = []
        self.size = (0, 0)
        self.is_open = False
        self._attributes: Any = None
        self._previous_handler: Any = None

    def show(self, report: ChangeReport) -> None:
        """Add a change to the log, and redraw."""
        if not self.is_open:
            self._open()
        colour = {"error": "red", "same": "dim"}.get(report.event, "")
        first, *others = report.lines()
        self.log.append(f"{paint(f'{report.time:%H:%M:%S}', 'dim')}  {paint(first, colour)}")
        self.log += [f"        {line}" for line in others]
        del self.log[:-_MAX_LINES]
        if report.event != "error" or self.report is None:
            self.report = report
        self._draw()

    def refresh(self) -> bool:
        """Redraw if the window was resized. Returns whether the user pressed `q`."""
        if _window_size() != self.size:
            self._draw()
        return _pressed_quit()

    def close(self) -> None:
        """Restore the terminal."""
        if not self.is_open:
            return
        self.is_open = False
        _write_now(_LEAVE)
        if self._previous_handler is not None:
            signal.signal(signal.SIGTSTP, self._previous_handler)
        if self._attributes is not None:
            import termios

            termios.tcsetattr(sys.stdin.fileno(), termios.TCSAFLUSH, self._attributes)

    def _open(self) -> None:
        self.is_open = True
        self._attributes = _turn_off_echo()
        if hasattr(signal, "SIGTSTP") and threading.current_thread() is threading.main_thread():
            self._previous_handler = signal.signal(signal.SIGTSTP, self._pause)
        _write_now(_ENTER)

    def _pause(self, *_: object) -> None:
        """Handle Ctrl-Z: restore the shell's screen, and redraw when resumed."""
        _write_now(_LEAVE)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._pause)
        _turn_off_echo()
        _write_now(_ENTER)
        self._draw()

    def _draw(self) -> None:
        self.size = width, height = _window_size()
        lines = frame(self.report, self.log, width, height) if self.report else []
        _write_now(f"{_BEGIN_UPDATE}\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in lines) + f"\x1b[J{_END_UPDATE}")


def frame(report: ChangeReport, log: Sequence[str], width: int, height: int) -> list[str]:
    """Return the lines of one frame, clipped to the window."""
    sections = [*_sections(report, width), *_tools(report)]
    findings = report.finding_lines(report.prompt.findings)
    title = paint(f"foreword {escape_controls(report.prompt.layout)}", "bold")
    header = f"{title}  {report.size()}  {paint(escape_controls(report.folder), 'dim')}"
    shares = _share_lines(height - 4, [len(sections), len(findings) or 1, len(log)])
    parts = [_truncate(sections, shares[0]), _truncate(findings or ["no findings"], shares[1]), list(log[-shares[2] :])]
    lines = [header]
    for part in parts:
        lines += ["", *part] if part else []
    footer = paint("q or Ctrl-C quits", "dim")
    lines = [clip(line, width) for line in lines[: height - 1]]
    return [*lines, *[""] * (height - 1 - len(lines)), clip(footer, width)][-height:]


def _sections(report: ChangeReport, width: int) -> list[str]:
    """Return a header, and a line for each section: name, lifetime, tokens, change in tokens, and a bar."""
    changed = {section.section: section for section in report.effect.sections} if report.effect else {}
    rows = list(zip(report.prompt.passages, report.section_counts, strict=True))
    longest = min(max((display_width(escape_controls(row.section)) for row, _ in rows), default=0), 30)
    longest = max(longest, len("section"))
    maximum = max((count.count for _, count in rows), default=0) or 1
    bar = max(min(_MAX_BAR_WIDTH, width - longest - 40), 0)
    header = f"{'section':<{longest}}  {'lifetime':<12}  {'tokens':>9}  {'change':>8}"
    lines = [paint(header, "dim")]
    for passage, count in rows:
        effect = changed.get(passage.section)
        change = f"{effect.after - effect.before:+,}" if effect else ""
        filled = "█" * max(round(count.count / maximum * bar), 1 if count.count and bar else 0)
        name = pad(clip(escape_controls(passage.section), longest), longest)
        lines.append(
            f"{paint(name, 'bold' if effect else '')}  {paint(f'{passage.lifetime:<12}', 'dim')}  {count.count:>9,}"
            f"  {paint(f'{change:>8}', 'yellow')}  {paint(filled, 'cyan')}".rstrip()
        )
    return lines


def _tools(report: ChangeReport) -> list[str]:
    """Return a line about the tools, if there are any: they are sent with the prompt, but are not part of it."""
    return [paint(escape_controls(describe_tools(report.tool_counts)), "dim")] if report.tool_counts else []


def _share_lines(room: int, needed: Sequence[int]) -> list[int]:
    """Return how many lines each part gets: one at a time in turn, until every part has enough or no lines are left."""
    shares = [0] * len(needed)
    while sum(shares) < room and shares != list(needed):
        for number, count in enumerate(needed):
            if shares[number] < count and sum(shares) < room:
                shares[number] += 1
    return shares


def _truncate(lines: Sequence[str], room: int) -> list[str]:
    if len(lines) <= room:
        return list(lines)
    return [*lines[: room - 1], paint(f"… {len(lines) - room + 1} more", "dim")] if room > 0 else []


def _write_now(text: str) -> None:
    """Write to the terminal immediately."""
    sys.stdout.flush()
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(sys.stdout.fileno(), data) :]


def _window_size() -> tuple[int, int]:
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return 80, 24
    return max(size.columns, 1) if size.columns else 80, max(size.lines, 1) if size.lines else 24


def _turn_off_echo() -> Any:
    """Stop echoing keys. Returns the previous terminal attributes, or None if standard input is not a terminal."""
    if not sys.stdin.isatty():
        return None
    try:
        import termios
    except ImportError:
        return None
    previous = termios.tcgetattr(sys.stdin.fileno())
    attributes = termios.tcgetattr(sys.stdin.fileno())
    attributes[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, attributes)
    return previous


def _pressed_quit() -> bool:
    if not sys.stdin.isatty() or os.name != "posix":
        return False
    import select

    ready, _, _ = select.select([sys.stdin], [], [], 0)
    return bool(ready) and b"q" in os.read(sys.stdin.fileno(), 1024)
