"""Runs the commands of a transcript in this process, always in the same folder, at the same time and with the same environment.

A transcript consists of commands and what they print:

    # A comment.
    $ foreword why . AGENTS.md
      used  project  AGENTS.md
    ! what is printed to standard error
    [2]

`[2]` is the exit status, if it is not 0. `COLUMNS=60 foreword …` runs a command on a terminal of this width, and `LINES` is its height; `< FILE` and `> FILE`
are its standard input and output. Any line without `foreword` is run by `sh`. JSON is printed in several lines, and long texts in it
are replaced by their beginning, length and hash.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import itertools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from foreword import __version__
from foreword.cli import main
from foreword.engine.assembler import local_time

# Counts, hashes and line breaks depend on paths, so the folder is the same everywhere. A lock keeps other processes away.
TOP = "/tmp/answers"
START = 1_795_003_505  # 2026-11-18T06:05:05-06:00
LONGEST_LINE, LONGEST_TEXT = 150, 400
PROGRAMS = ("cat", "git", "ls", "mkdir", "rm", "sh")
ENVIRONMENT = {
    "PATH": f"{TOP}/bin",
    "HOME": f"{TOP}/home",
    "TMPDIR": f"{TOP}/tmp",
    "TZ": "CST6",
    "TERM": "dumb",
    "USER": "someone",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_DEFAULT_HASH": "sha1",
    "GIT_DEFAULT_REF_FORMAT": "files",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}


@contextlib.contextmanager
def empty_folder():
    """Create the folder in which commands run, and remove it afterwards."""
    descriptor = os.open(f"{TOP}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        shutil.rmtree(TOP, ignore_errors=True)
        for name in ("", "/bin", "/home", "/tmp", "/w"):
            os.mkdir(TOP + name, 0o700)
        for name in PROGRAMS:
            os.symlink(shutil.which(name), f"{TOP}/bin/{name}")
        yield
    finally:
        shutil.rmtree(TOP, ignore_errors=True)
        os.close(descriptor)


class Shell:
    """A shell in the folder `w`. Each command begins a minute after the one before."""

    def __init__(self, monkeypatch):
        self._patch, self._time = monkeypatch, START
        for name in list(os.environ):
            monkeypatch.delenv(name)
        for name, value in ENVIRONMENT.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(f"{TOP}/w")
        monkeypatch.setattr("tempfile.tempdir", None)
        monkeypatch.setattr(time, "time", lambda: self._time)
        monkeypatch.setattr(
            "foreword.cli.progress._DELAY", math.inf
        )  # how long a command takes does not change what it prints
        # Modules import this function by name, so only its code is replaced.
        monkeypatch.setattr(local_time, "__code__", _clock.__code__)

    def run(self, line):
        """Run a command, and return what it prints, as in a transcript."""
        self._time += 60
        words = shlex.split(line)
        variables = dict(itertools.takewhile(bool, map(_assignment, words)))
        words = words[len(variables) :]
        with self._patch.context() as patch:
            for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
                patch.setenv(name, f"{self._time} -0600")
            for name, value in variables.items():
                patch.setenv(name, value)
            is_foreword = words[:1] == ["foreword"]
            return _foreword(words[1:], "COLUMNS" in variables, patch) if is_foreword else _sh(line)


def _clock():
    """What replaces `local_time`, whose globals it has."""
    import time
    from datetime import datetime, timedelta, timezone

    return datetime.fromtimestamp(time.time(), timezone(timedelta(hours=-6), "CST"))


def _assignment(word):
    match = re.fullmatch(r"([A-Z_]+)=(.*)", word, re.DOTALL)
    return match and match.groups()


def _foreword(words, is_terminal, patch):
    """Run a command in this process."""
    words, files = list(words), {}
    while words[-2:-1] in (["<"], [">"]):
        *words, sign, files[sign] = words  # type: ignore[misc]
    out, err = Stream(is_terminal), Stream(is_terminal)
    size = os.terminal_size((int(os.environ.get("COLUMNS", "0")), int(os.environ.get("LINES", "0"))))
    patch.setattr(os, "get_terminal_size", lambda *_: size)
    stdin = io.TextIOWrapper(io.BytesIO(Path(files["<"]).read_bytes() if "<" in files else b""), "utf-8")
    for name, stream in (("stdin", stdin), ("stdout", out), ("stderr", err)):
        patch.setattr(sys, name, stream)
    try:
        status = main(words)
    except SystemExit as end:
        status = end.code or 0
    text = out.text()
    if ">" in files:
        Path(files[">"]).write_text(text)
        text = ""
    return _transcript(text, err.text(), status)


def _sh(line):
    done = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return _transcript(done.stdout, done.stderr, done.returncode)


class Stream(io.TextIOWrapper):
    """Standard output or standard error of a command."""

    def __init__(self, is_terminal):
        super().__init__(io.BytesIO(), "utf-8", errors="backslashreplace", newline="\n", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal

    def fileno(self):
        return 1

    def text(self):
        self.flush()
        return self.buffer.getvalue().decode("utf-8", "backslashreplace")


def _transcript(out, err, status):
    with contextlib.suppress(ValueError):
        out = "".join(_json(json.loads(out))) if out[:1] in ("{", "[") else out
    lines = [f"  {line}" for line in _lines(out)] + [f"! {line}" for line in _lines(err)]
    lines += [f"[{status}]"] if status else []
    return "".join(f"{line.rstrip(' ')}\n" for line in lines).replace(__version__, "<version>")


def _lines(text):
    """Return the lines of a text, with control characters and spaces at the end made visible."""
    lines = text.removesuffix("\n").split("\n") if text else []
    lines = [
        re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\ufeff]", lambda match: f"<{ord(match[0]):02x}>", line)
        for line in lines
    ]
    return [re.sub(r" $", "<20>", _shorten(line)) for line in lines]


def _shorten(text):
    """Return the text, or the beginning, length and hash of a long one."""
    if len(text) <= LONGEST_TEXT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    return f"{text[:60]}… ({len(text)} characters, {digest[:8]})"


def _json(value, indent=""):
    """Return a JSON value in lines that are not too long."""
    if not isinstance(value, dict | list):
        yield json.dumps(_shorten(value) if isinstance(value, str) else value, ensure_ascii=False)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    names = (
        [f"{json.dumps(name, ensure_ascii=False)}: " for name in value]
        if isinstance(value, dict)
        else [""] * len(value)
    )
    values = value.values() if isinstance(value, dict) else value
    texts = [name + "".join(_json(item, indent + "  ")) for name, item in zip(names, values, strict=True)]
    line = opening + ", ".join(texts) + closing
    if len(line) <= LONGEST_LINE and "\n" not in line:
        yield line
    else:
        yield f"{opening}\n{indent}  " + f",\n{indent}  ".join(texts) + f"\n{indent}{closing}"
