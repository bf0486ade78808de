"""The live view on a terminal, drawn in one write from the upper left corner so that it does not flicker.

It uses the terminal's alternate screen and always leaves it again, so that the previous contents return.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from .columns import clipped, padded, width_of
from .terminal import painted, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .news import News

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
# Terminals that support it show everything between these two at once.
_HOLD, _SHOW = "\x1b[?2026h", "\x1b[?2026l"
_MAX_LINES = 1_000
_BAR = 24


class Screen:
    """Sections, findings and the log of changes. `q` or Ctrl-C ends it."""

    tick = 100

    def __init__(self) -> None:
        self.news: News | None = None
        self.log: list[str] = []
        self.size = (0, 0)
        self.is_open = False
        self._attributes: Any = None
        self._previous_handler: Any = None

    def show(self, news: News) -> None:
        """Add a change to the log, and draw."""
        if not self.is_open:
            self._open()
        colour = {"error": "red", "same": "dim"}.get(news.event, "")
        first, *others = news.lines()
        self.log.append(f"{painted(f'{news.time:%H:%M:%S}', 'dim')}  {painted(first, colour)}")
        self.log += [f"        {line}" for line in others]
        del self.log[:-_MAX_LINES]
        if news.event != "error" or self.news is None:
            self.news = news
        self._draw()

    def refresh(self) -> bool:
        """Draw again if the window was resized. Returns whether a key asked to quit."""
        if _size() != self.size:
            self._draw()
        return _wants_to_quit()

    def close(self) -> None:
        """Restore the terminal."""
        if not self.is_open:
            return
        self.is_open = False
        _put(_LEAVE)
        if self._previous_handler is not None:
            signal.signal(signal.SIGTSTP, self._previous_handler)
        if self._attributes is not None:
            import termios

            termios.tcsetattr(sys.stdin.fileno(), termios.TCSAFLUSH, self._attributes)

    def _open(self) -> None:
        self.is_open = True
        self._attributes = _quiet_keys()
        if hasattr(signal, "SIGTSTP") and threading.current_thread() is threading.main_thread():
            self._previous_handler = signal.signal(signal.SIGTSTP, self._pause)
        _put(_ENTER)

    def _pause(self, *_: object) -> None:
        """Handle Ctrl-Z: return the screen to the shell, and draw again when resumed."""
        _put(_LEAVE)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._pause)
        _quiet_keys()
        _put(_ENTER)
        self._draw()

    def _draw(self) -> None:
        self.size = width, height = _size()
        lines = frame(self.news, self.log, width, height) if self.news else []
        _put(f"{_HOLD}\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in lines) + f"\x1b[J{_SHOW}")


def frame(news: News, log: Sequence[str], width: int, height: int) -> list[str]:
    """The lines of the view, clipped to the window."""
    sections = _sections(news, width)
    findings = news.finding_lines(news.prompt.findings)
    title = painted(f"foreword {visible(news.prompt.layout)}", "bold")
    header = f"{title}  {news.size()}  {painted(visible(news.folder), 'dim')}"
    shares = _shared(height - 4, [len(sections), len(findings) or 1, len(log)])
    parts = [_first(sections, shares[0]), _first(findings or ["no findings"], shares[1]), list(log[-shares[2] :])]
    lines = [header]
    for part in parts:
        lines += ["", *part] if part else []
    foot = painted("q or Ctrl-C quits", "dim")
    lines = [clipped(line, width) for line in lines[: height - 1]]
    return [*lines, *[""] * (height - 1 - len(lines)), clipped(foot, width)][-height:]


def _sections(news: News, width: int) -> list[str]:
    """One line for each section: name, lifetime, tokens, change of tokens, and a bar."""
    changed = {section.section: section for section in news.effect.sections} if news.effect else {}
    rows = list(zip(news.prompt.passages, news.each, strict=True))
    longest = min(max((width_of(visible(row.section)) for row, _ in rows), default=0), 30)
    longest = max(longest, len("section"))
    maximum = max((count.count for _, count in rows), default=0) or 1
    bar = max(min(_BAR, width - longest - 40), 0)
    header = f"{'section':<{longest}}  {'lifetime':<12}  {'tokens':>9}  {'change':>8}"
    lines = [painted(header, "dim")]
    for passage, count in rows:
        effect = changed.get(passage.section)
        change = f"{effect.after - effect.before:+,}" if effect else ""
        filled = "█" * max(round(count.count / maximum * bar), 1 if count.count and bar else 0)
        name = padded(clipped(visible(passage.section), longest), longest)
        lines.append(
            f"{painted(name, 'bold' if effect else '')}  {painted(f'{passage.lifetime:<12}', 'dim')}  {count.count:>9,}"
            f"  {painted(f'{change:>8}', 'yellow')}  {painted(filled, 'cyan')}".rstrip()
        )
    return lines


def _shared(room: int, wanted: Sequence[int]) -> list[int]:
    """The number of lines for each part: one each in turn, until all parts have enough or no lines are left."""
    shares = [0] * len(wanted)
    while sum(shares) < room and shares != list(wanted):
        for number, want in enumerate(wanted):
            if shares[number] < want and sum(shares) < room:
                shares[number] += 1
    return shares


def _first(lines: Sequence[str], room: int) -> list[str]:
    if len(lines) <= room:
        return list(lines)
    return [*lines[: room - 1], painted(f"… {len(lines) - room + 1} more", "dim")] if room > 0 else []


def _put(text: str) -> None:
    """Write to the terminal immediately."""
    sys.stdout.flush()
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(sys.stdout.fileno(), data) :]


def _size() -> tuple[int, int]:
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return 80, 24
    return max(size.columns, 1) if size.columns else 80, max(size.lines, 1) if size.lines else 24


def _quiet_keys() -> Any:
    """Turn off the echo of keys. Returns the previous terminal attributes, or None without a keyboard."""
    if not sys.stdin.isatty():
        return None
    try:
        import termios
    except ImportError:
        return None
    before = termios.tcgetattr(sys.stdin.fileno())
    quiet = termios.tcgetattr(sys.stdin.fileno())
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, quiet)
    return before


def _wants_to_quit() -> bool:
    if not sys.stdin.isatty() or os.name != "posix":
        return False
    import select

    ready, _, _ = select.select([sys.stdin], [], [], 0)
    return bool(ready) and b"q" in os.read(sys.stdin.fileno(), 1024)
