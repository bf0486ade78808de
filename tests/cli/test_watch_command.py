"""The process `foreword watch`: lines in a pipe, JSON lines, and the live view on a terminal."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

TIMEOUT = 300


class Process:
    """A running `foreword watch`, whose output is read as it arrives."""

    def __init__(self, tree, *arguments, terminal=None, paths=()):
        command = [
            sys.executable,
            "-m",
            "foreword",
            "watch",
            tree.path("w"),
            *paths,
            "--home",
            tree.path("home"),
            *arguments,
        ]
        environment = {**os.environ, "TERM": "xterm", "HOME": tree.path("home")}
        environment = {name: text for name, text in environment.items() if name not in ("NO_COLOR", "XDG_CONFIG_HOME")}
        self.output = ""
        if terminal is None:
            self.reading, writing = os.pipe()
            streams = {"stdin": subprocess.DEVNULL}
        else:
            self.reading, writing = pty.openpty()
            self.resize(*terminal)
            streams = {"stdin": writing}
        # Tests that run in the background of a shell or under nohup ignore signals, and the process would inherit that.
        before = {
            number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
        }
        self.process = subprocess.Popen(
            command, stdout=writing, stderr=subprocess.PIPE, env=environment, process_group=0, **streams
        )
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(writing)

    def resize(self, columns, lines):
        fcntl.ioctl(self.reading, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, pattern):
        """Read until the output since the last call matches the pattern, and return that output."""
        end = time.monotonic() + TIMEOUT
        while not re.search(pattern, self.output):
            ready, _, _ = select.select([self.reading], [], [], max(end - time.monotonic(), 0))
            data = self.read_more() if ready else ""
            assert data, f"{pattern!r} was not printed: {self.output!r} {self.process.poll()}"
            self.output += data
        output, self.output = self.output, ""
        return output

    def read_more(self):
        try:
            return os.read(self.reading, 65536).decode()
        except OSError:  # the other end of the terminal is closed
            return ""

    def stop(self, number=signal.SIGINT):
        """Send a signal; return the exit status, the remaining output and standard error."""
        self.process.send_signal(number)
        return self.read_rest()

    def read_rest(self):
        output = ""
        end = time.monotonic() + TIMEOUT
        while select.select([self.reading], [], [], max(end - time.monotonic(), 0))[0] and (data := self.read_more()):
            output += data
        return self.process.wait(TIMEOUT), output, self.process.stderr.read().decode()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.reading)


@pytest.fixture
def start(tree):
    processes = []

    def start(*arguments, **options):
        processes.append(Process(tree, *arguments, **options))
        return processes[-1]

    yield start
    for process in processes:
        process.close()


def save(tree, name, text):
    """Replace a file atomically, as careful editors do."""
    tree({name + ".new": text})
    os.rename(tree.path(name + ".new"), tree.path(name))


# Lines


def test_lines_describe_the_effect_of_each_save(tree, start):
    tree({"w/AGENTS.md": "One.", "w/base.md": "B."})
    process = start("--layout", "ion", "--base", tree.path("w/base.md"))
    first = process.read_until(r"\n")
    assert re.fullmatch(r"\d\d:\d\d:\d\d  ion: 2 sections, \d+ tokens by \S+\n", first)
    save(tree, "w/AGENTS.md", "One. And two.")
    assert re.search(
        r"  AGENTS.md: project \+\d+; \d+ of \d+ tokens of the prefix are unchanged", process.read_until(r"\n")
    )
    save(tree, "w/AGENTS.md", "One. And two.")
    assert process.read_until(r"\n").endswith("  AGENTS.md: the prompt is the same\n")
    save(tree, "w/CLAUDE.md", "Other.")
    output = process.read_until(r"--min-severity info\n")
    assert (
        f"CLAUDE.md: the text is the same\n  + 1 info; see foreword lint {tree.path('w')} --layout ion --min-severity info\n"
        in output
    )
    os.remove(tree.path("w/CLAUDE.md"))
    assert "  - 1 info\n" in process.read_until(r"1 info\n")
    assert process.stop() == (0, "", "")


def test_files_named_by_options_are_watched(tree, start):
    tree({"w/plan.md": "1. Look.", "w/tools.json": '[{"name": "read_file"}]', "w/base.md": "B."})
    options = ["--plan", tree.path("w/plan.md"), "--base", tree.path("w/base.md"), "--tools", tree.path("w/tools.json")]
    process = start("--layout", "ion", *options)
    process.read_until(r"\n  1 tool, \d+ tokens\n")
    save(tree, "w/plan.md", "1. Look. 2. Think.")
    assert "plan.md: plan +" in process.read_until(r"\n")
    save(tree, "w/base.md", "Another base.")
    assert "base.md: base +" in process.read_until(r"\n")
    save(tree, "w/tools.json", "[")
    assert "error: tools.json: --tools" in process.read_until(r"\n")
    save(tree, "w/tools.json", "[]")
    assert re.search(r"tools.json: tool read_file removed -\d+; 0 of", process.read_until(r"\n"))


def test_a_template_named_by_address_is_watched(tree, start):
    tree({"home/.config/foreword/prompts/mine.md": "Mine."})
    process = start("--layout", "ion", "--base", "$user/mine")
    process.read_until(r"\n")
    save(tree, "home/.config/foreword/prompts/mine.md", "Mine, and more.")
    assert "mine.md: base +" in process.read_until(r"\n")


def test_control_characters_in_a_name_are_escaped(tree, start):
    process = start("--layout", "opal")
    process.read_until(r"\n")
    tree({"w/.agents/skills/\x1b]0;x\x07/SKILL.md": "no front matter"})
    assert "\x1b" not in process.read_until(r"SKILL.md.*\n")


def test_an_error_is_reported_and_watching_continues(tree, start):
    tree({"w/AGENTS.md": "One.", "home/.config/foreword/foreword.toml": ""})
    process = start("--layout", "ion")
    process.read_until(r"\n")
    save(tree, "home/.config/foreword/foreword.toml", "sections = [")
    assert "  error: ~/.config/foreword/foreword.toml: " in process.read_until(r"\n")
    save(tree, "home/.config/foreword/foreword.toml", "")
    assert "the prompt is the same" in process.read_until(r"\n")


def test_an_invalid_call_is_rejected(tree, start):
    status, _, err = start("--layout", "opel").read_rest()
    assert status == 2 and err.startswith("foreword: unknown layout 'opel'; did you mean 'opal'?")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("terminal", [None, (80, 24)])
def test_a_signal_decides_the_exit_status(start, number, status, terminal):
    process = start("--layout", "ion", terminal=terminal)
    process.read_until(r"tokens")
    exit_status, _, err = process.stop(number)
    assert (exit_status, err) == (status, "")


def test_strict_exits_with_status_one_if_the_last_prompt_has_an_error_finding(tree, start):
    tree({"w/.git": None, "w/AGENTS.md": "A long instruction. " * 50})
    process = start("--layout", "foreword", "--strict", "--set", "budget=20")
    process.read_until(r"budget-exceeded")
    assert process.stop()[0] == 1


# JSON


def test_json_is_one_object_per_line(tree, start):
    tree({"w/AGENTS.md": "One.", "w/base.md": "B."})
    process = start("--layout", "ion", "--json", "--base", tree.path("w/base.md"), "--tool", "mcp__gh__issue")
    first = json.loads(process.read_until(r"\n"))
    [tool] = first["tools"]
    assert (tool["name"], tool["server"]) == ("mcp__gh__issue", "gh") and tool["tokens"] > 0
    assert (first["event"], first["files"], first["error"], first["effect"]) == ("start", [], None, None)
    assert [passage["section"] for passage in first["passages"]] == ["base", "project"]
    save(tree, "w/AGENTS.md", "Two two.")
    second = json.loads(process.read_until(r"\n"))
    assert sorted(second) == [
        "effect", "error", "event", "files", "findings", "id", "layout", "passages", "time", "tokens", "tools", "touched"
    ]  # fmt: skip
    assert (second["event"], second["files"]) == ("change", [tree.path("w/AGENTS.md")])
    (section,) = second["effect"]["details"]
    assert (section["section"], section["changes"], section["sources"]) == (
        "project",
        ["changed"],
        [tree.path("w/AGENTS.md")],
    )
    assert second["effect"]["breaks_in"] == "project"
    assert 0 < second["effect"]["tokens_kept"] < second["effect"]["tokens_before"] == first["tokens"]["count"]
    assert second["id"] != first["id"]
    os.rename(tree.path("w"), tree.path("away"))
    assert json.loads(process.read_until(r"\n"))["event"] == "error"


def test_what_a_touch_would_add_is_shown_and_watched(tree, start):
    tree({"w/.git": None, "w/AGENTS.md": "One.", "w/web/AGENTS.md": "For the web."})
    process = start("--layout", "foreword", paths=["web/x.ts", "a", "\x1b", "/etc/passwd"])
    paths = "web/x.ts, a, \\x1b and 1 more"
    begun = process.read_until(r"touch-outside.*\n")
    assert re.search(rf"\n  touching {re.escape(paths)} adds web/AGENTS.md \(\d+ tokens\)\n", begun)
    assert "\n    info: /etc/passwd is outside the workspace" in begun
    tree({"w/.claude/rules/ts.md": "---\npaths: {a: b}\n---\nFor TypeScript."})
    added = process.read_until(r"front-matter-invalid.*\n")
    assert f"the text is the same\n  touching {paths} adds web/AGENTS.md, .claude/rules/ts.md (" in added
    assert "\n    warning: .claude/rules/ts.md: its paths is a set of fields" in added and "outside" not in added
    save(tree, "w/AGENTS.md", "One and two.")
    assert "a touch" not in process.read_until(r"are unchanged.*\n")
    assert process.stop()[0] == 0


def test_json_has_what_a_touch_would_add(tree, start):
    tree({"w/.git": None, "w/web/AGENTS.md": "For the web."})
    process = start("--layout", "foreword", "--json", paths=["web/x.ts"])
    touched = json.loads(process.read_until(r"\n"))["touched"]
    assert touched.keys() == {"messages", "candidates", "findings"}
    assert "For the web." in touched["messages"][0]["content"]


# The live view

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def last_frame(output):
    """The lines of the last complete frame, without colours."""
    frame = re.findall(r"\x1b\[H(.*?)\x1b\[J", output, re.DOTALL)[-1]
    return [re.sub(r"\x1b\[[\d;?]*[a-zA-Z]|\r", "", line) for line in frame.split("\n")]


def test_the_view_is_redrawn_and_the_terminal_restored(tree, start):
    tree({"w/AGENTS.md": "One."})
    process = start("--layout", "ion", "--tool", "mcp__gh__issue", terminal=(70, 12))
    output = process.read_until(r"quits.*\x1b\[J")
    assert output.startswith(ENTER + "\x1b[?25l")
    lines = last_frame(output)
    assert len(lines) == 12 and max(map(len, lines)) <= 70
    assert re.match(r"foreword ion  \d+ tokens by ", lines[0])
    assert [line.split()[:2] for line in lines[3:5]] == [["base", "release"], ["project", "project"]]
    assert re.match(r"1 tool, \d+ tokens: gh \d+", lines[5])
    save(tree, "w/AGENTS.md", "One. \x1b]0;title\x07 two.")
    output = process.read_until(r"warning[\s\S]*\x1b\[J")
    assert ENTER not in output and "\x1b]0" not in output
    lines = last_frame(output)
    assert re.match(r"project +project +\d+ +\+\d+ +█+", lines[4])
    assert [line for line in lines if "AGENTS.md: project +" in line], lines
    assert [line for line in lines if line.startswith("warning: AGENTS.md contains control characters")], lines
    status, rest, _ = process.stop()
    assert status == 0 and rest.endswith("\x1b[?25h" + LEAVE)


def test_resizing_the_window_redraws_the_view(tree, start):
    process = start("--layout", "ion", terminal=(70, 12))
    process.read_until(r"quits.*\x1b\[J")
    for columns, lines in ((100, 30), (20, 5), (3, 1)):
        process.resize(columns, lines)
        rows = last_frame(process.read_until(r"\x1b\[H[\s\S]*\x1b\[J"))
        assert len(rows) == lines and max(map(len, rows)) <= columns


def test_keys_are_not_echoed_and_q_quits(start):
    process = start("--layout", "ion", terminal=(70, 12))
    process.read_until(r"quits.*\x1b\[J")
    os.write(process.reading, b"xyz")
    os.write(process.reading, b"q")
    status, rest, err = process.read_rest()
    assert (status, rest, err) == (0, "\x1b[?25h" + LEAVE, "")


def test_an_error_at_the_start_never_opens_the_view(tree, start):
    process = start("--layout", "nope", terminal=(70, 12))
    status, output, err = process.read_rest()
    assert (status, output) == (2, "") and "unknown layout 'nope'" in err


def test_suspending_restores_the_terminal_until_it_is_resumed(tree, start):
    tree({"w/AGENTS.md": "One."})
    process = start("--layout", "ion", terminal=(70, 12))
    process.read_until(r"quits.*\x1b\[J")
    process.process.send_signal(signal.SIGTSTP)
    process.read_until(re.escape(LEAVE))
    end = time.monotonic() + TIMEOUT
    while os.waitpid(process.process.pid, os.WUNTRACED | os.WNOHANG) == (0, 0):
        assert time.monotonic() < end, "the process did not stop"
    process.process.send_signal(signal.SIGCONT)
    assert len(last_frame(process.read_until(re.escape(ENTER) + r"[\s\S]*quits.*\x1b\[J"))) == 12
    save(tree, "w/AGENTS.md", "One and two.")
    process.read_until(r"project \+")
    assert process.stop()[0] == 0
