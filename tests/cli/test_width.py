"""The output of commands on terminals of several widths, and in a pipe."""

import io
import json
import os
import pty
import re
import subprocess
import sys
import termios

import pytest

from foreword.cli.columns import clip, display_width, shorten_middle, wrap
from foreword.cli.paths import ShortPaths
from foreword.cli.terminal import terminal_height

SERVICE = "home/projects/a-customer-with-a-long-name/services/billing-and-invoicing-service"
WEB = f"{SERVICE}/packages/frontend/web-application"
RULE = "Use the invoice numbering of docs/numbering.md and never invent your own, because auditors compare them.\n"
CHINESE = "- 请始终使用简体中文回复用户的问题并且在提交之前运行所有的测试用例以确保没有任何回归问题发生谢谢\n"
EMOJI = "- 🚀 Ship it 🎉 when it is green ✅ 👩‍👩‍👧 ❤️ every time that the continuous integration pipeline says so\n"
SKILL = "---\nname: {}\ndescription: {}\n---\nBody.\n"
NOTES = "Writes release notes from the history, grouped by component, with links to all requests and authors. " * 3
JAPANESE = "ユーザーインターフェースの文字列を日本語に翻訳するためのスキルです。用語集に従って統一してください。"
LAYOUT = """
[section.a-section-with-a-name-that-goes-on-and-on-for-a-long-time]
text = "One two three."
[section.b]
text = "Four."
"""
COMMANDS = {
    "why": ["why"],
    "why --all": ["why", "--all"],
    "blame": ["blame", "--tool", "read_file"],
    "skills": ["skills"],
    "tokens": ["tokens", "--tool", "read_file"],
    "tokens with long names": ["tokens", "--layout", "../../../long.toml"],
    "layouts": ["layouts"],
    "layouts opal": ["layouts", "opal"],
    "diff": ["diff", "../../..", "."],
    "cache": ["cache"],
    "cache OLD NEW": ["cache", "../../..", "."],
    "lint": ["lint"],
    "conversation list": ["conversation", "list"],
    "template history": ["template", "history"],
    "template variables": ["template", "variables"],
    "store stats": ["store", "stats"],
    "help": ["--help"],
    "help for a command": ["why", "--help"],
    "wrong": ["why", "--layuot", "ion"],
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """The folder and environment of a workspace with long paths, long names, wide characters and emoji."""
    top = tmp_path_factory.mktemp("w")
    files = {
        f"{SERVICE}/.git/HEAD": "ref: refs/heads/main\n",
        f"{SERVICE}/AGENTS.md": "# Billing\n\n" + RULE * 2 + "\n" + CHINESE + EMOJI + "- Use tabs.\n",
        f"{SERVICE}/long.toml": LAYOUT,
        f"{SERVICE}/.agents/skills/writing-of-release-notes/SKILL.md": SKILL.format("writing-of-release-notes", NOTES),
        f"{SERVICE}/.agents/skills/翻訳/SKILL.md": SKILL.format("翻訳", JAPANESE),
        f"{WEB}/AGENTS.md": "# Web\n\nSee docs/a-style-guide-that-is-missing.md.\n\tIndented.\n",
        f"{WEB}/CLAUDE.md": "Other.\n",
        "home/.config/foreword/AGENTS.md": "Of the user.\n",
        "t.txt": "Hello [system:date]",
    }
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "PWD")}
    environment |= {"TERM": "xterm", "HOME": str(top / "home"), "FOREWORD_STORE": f"sqlite:///{top}/store.db"}
    shop = top, environment
    for id in ("0b1c2d3e-aaaa-bbbb-cccc-123456789abc", "会話-1"):
        run_piped(shop, ["conversation", "turn", id, "--message", "Hi."])
    run_piped(shop, ["template", "set", str(top / "t.txt"), "--note", "Say hello first, as support asked for. 🙂 " * 3])
    return shop


def run_piped(shop, arguments):
    top, environment = shop
    command = [sys.executable, "-m", "foreword", *arguments]
    result = subprocess.run(command, cwd=top / WEB, env=environment, capture_output=True, text=True)
    return result.stdout


# Runs a command once for each width of its terminal, in one process because most of the time is the start.
SCRIPT = """
import contextlib, fcntl, struct, sys, termios
from foreword.cli import main
for columns in map(int, sys.argv[1].split(",")):
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with contextlib.suppress(SystemExit):
        main(sys.argv[2:])
    print("\\x1e", end="", flush=True)
"""


def run_on_terminal(shop, columns, arguments, **more):
    """The output of a command on a terminal of this width, without colours."""
    return run_on_terminals(shop, [columns], arguments, **more)[0]


def run_on_terminals(shop, widths, arguments, **more):
    """The outputs of a command on terminals of these widths, without colours."""
    top, environment = shop
    own_end, program_end = pty.openpty()
    command = [sys.executable, "-c", SCRIPT, ",".join(map(str, widths)), *arguments]
    with subprocess.Popen(
        command, cwd=top / WEB, stdin=subprocess.DEVNULL, stdout=program_end, stderr=program_end, env=environment | more
    ):
        os.close(program_end)
        data = b""
        while True:
            try:
                chunk = os.read(own_end, 65536)
            except OSError:
                break
            if not chunk:
                break
            data += chunk
    os.close(own_end)
    *outputs, rest = re.sub(r"\x1b\[[\d;]*m", "", data.decode().replace("\r\n", "\n")).split("\x1e")
    assert (len(outputs), rest) == (len(widths), "")
    return outputs


def words(text):
    """The words that must not be broken: all except Chinese and those longer than a line."""
    unbroken_words = re.findall(r"\S+", re.sub(r"[^\x00-\x7f…]", " ", text))
    return {word.strip("│█") for word in unbroken_words if "…" not in word and not set("/-_.") & set(word)}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_line_fits_and_no_word_is_broken(shop, name):
    widths = (60, 80, 120, 200)
    wide_output, *outputs = run_on_terminals(shop, (2000, *widths), COMMANDS[name])
    unbroken = words(wide_output)
    for columns, output in zip(widths, outputs, strict=True):
        assert [line for line in output.splitlines() if display_width(line) > columns] == [], columns
        # A path longer than a line is broken after a slash or a hyphen.
        assert [
            word for word in words(output) - unbroken if not re.search(f"[-/.]{re.escape(word)}", wide_output)
        ] == [], columns


def test_lines_also_fit_on_a_terminal_without_colours(shop):
    for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        lines = run_on_terminal(shop, 60, ["skills"], **more).splitlines()
        assert max(map(display_width, lines)) <= 60 and lines[0].split() == ["skill", "file", "description"]


def test_the_environment_may_set_the_width(shop):
    lines = run_on_terminal(shop, 200, ["skills"], COLUMNS="60").splitlines()
    assert max(map(display_width, lines)) <= 60


def test_blame_leaves_most_of_the_line_for_the_prompt(shop):
    lines = run_on_terminal(shop, 80, ["blame"]).splitlines()
    assert {line.index("│") for line in lines if "│" in line} == {27}


def test_paths_are_shortened(shop):
    lines = [line.split()[:3] for line in run_on_terminal(shop, 200, ["why"]).splitlines()]
    assert lines[1:5] == [
        ["used", "user", "~/.config/foreword/AGENTS.md"],
        ["used", "project", "../../../AGENTS.md"],
        ["used", "project", "AGENTS.md"],
        ["shadowed", "project", "CLAUDE.md"],
    ]


def test_piped_output_is_neither_wrapped_nor_truncated(shop):
    rows = [line for line in run_piped(shop, ["skills"]).splitlines() if line]
    assert len(rows) == 2 and NOTES.strip() in rows[0] and JAPANESE in rows[1]
    assert "../../../.agents/skills/writing-of-release-notes/SKILL.md" in rows[0]
    assert "…" not in run_piped(shop, ["blame"]) and RULE.strip() in run_piped(shop, ["blame"])


def test_json_keeps_absolute_paths(shop):
    assert all(candidate["path"].startswith("/") for candidate in json.loads(run_piped(shop, ["why", "--json"])))


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/h/repo/sub/a.md", "a.md"),
        ("/h/repo/sub", "."),
        ("/h/repo/a.md", "../a.md"),
        ("/h/repo/other/a.md", "../other/a.md"),
        ("/h/a.md", "~/a.md"),
        ("/h/repository/a.md", "~/repository/a.md"),
        ("/etc/a.md", "/etc/a.md"),
        ("$std/ion/base", "$std/ion/base"),
    ],
)
def test_a_path_is_relative_to_the_workspace(path, shown):
    assert ShortPaths("/h/repo/sub", "/h/repo", "/h").shorten(path) == shown


def test_paths_in_a_sentence_are_shortened():
    paths = ShortPaths("/w", "/w", "/h")
    assert paths.shorten_in("/w/b.md: /w/a.md comes before it, '/h/x' and /x/w/a.md do not") == (
        "b.md: a.md comes before it, '~/x' and /x/w/a.md do not"
    )


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("  one two", 6, ["  one", "two"]),
        ("a  b", 9, ["a  b"]),
        ("", 5, [""]),
        ("one\ntwo", 9, ["one", "two"]),
        ("日本語です。", 6, ["日本語", "です。"]),
        ("see docs/of/the/thing", 10, ["see docs/", "of/the/", "thing"]),
        ("e\u0301e\u0301 e\u0301e\u0301", 2, ["e\u0301e\u0301", "e\u0301e\u0301"]),
        ("\x1b[31mred word\x1b[0m", 4, ["\x1b[31mred\x1b[0m", "\x1b[31mword\x1b[0m"]),
        ("abcdef", 1, list("abcdef")),
        ("日", 1, ["日"]),
    ],
)
def test_lines_are_wrapped_at_the_width(text, width, lines):
    assert wrap(text, width) == lines


def test_wide_characters_count_twice():
    assert [
        display_width(text) for text in ("a", "é", "e\u0301", "日", "🚀", "❤", "❤️", "\u200b", "\x1b[1mx\x1b[0m")
    ] == [*(1, 1, 1, 2, 2, 1, 2, 0, 1)]
    assert clip("日本", 3) == "日" and shorten_middle("a/long/path/to/x.md", 12) == "a/l…/to/x.md"


@pytest.mark.parametrize(("lines", "height"), [(24, 24), (0, None)])
def test_a_terminal_may_not_report_its_height(lines, height):
    master, slave = pty.openpty()
    with open(master, "wb", closefd=True), open(slave, "w", closefd=True) as stream:
        termios.tcsetwinsize(slave, (lines, 80))
        assert terminal_height(stream) == height
    assert terminal_height(io.StringIO()) is None
