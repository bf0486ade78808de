"""`foreword effect` with real clones and commands: arms, results, interruptions, and what stays untouched."""

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
from argparse import Namespace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from foreword.cli import effect, main
from foreword.cli.schema import schema_of
from foreword.programs.effect.experiment import Estimate

AGENTS = "# Project\n\n## Greeting\n\nSay hello.\n\n## Colour\n\nUse blue.\n"
# A pretend agent: it succeeds if it reads the greeting.
AGENT = """
    import os, sys
    text = open("AGENTS.md").read() if os.path.exists("AGENTS.md") else ""
    sys.exit(0 if "hello" in text else 1)
"""


def git(folder, *arguments):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    command = ["git", *names, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, env=environment).stdout


class Toy:
    """A repository `w`, a command, and a temporary folder for clones."""

    def __init__(self, tree):
        self.tree, self.root, self.temporary = tree, tree.path("w"), tree.path("tmp")
        tree({"w/AGENTS.md": AGENTS, "w/CLAUDE.md": "@AGENTS.md\n", "w/sub/x.txt": "x", "tmp": None})
        git(self.root, "init", "-q", "-b", "trunk")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "First")
        self.script(AGENT)

    def script(self, text):
        self.tree({"agent.py": textwrap.dedent(text)})

    def arguments(self, *options):
        results = ["--results", self.tree.path("results.jsonl")]
        command = ["--", sys.executable, "-I", "-S", self.tree.path("agent.py")]
        return ["effect", self.root, "--home", self.tree.path("home"), *results, "--seed", "1", *options, *command]

    def records(self):
        lines = Path(self.tree.path("results.jsonl")).read_text().splitlines()
        return [json.loads(line) for line in lines[1:]]

    def clones(self):
        """Return what is left of the clones."""
        tops = os.listdir(self.temporary)
        return [name for top in tops for name in os.listdir(os.path.join(self.temporary, top))]

    def state(self):
        """Return everything in the repository, with its content and time."""
        paths = [path for path in Path(self.root).rglob("*") if path.is_file()]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


@pytest.fixture
def toy(tree, monkeypatch):
    toy = Toy(tree)
    monkeypatch.setenv("TMPDIR", toy.temporary)
    monkeypatch.setattr("tempfile.tempdir", None)
    return toy


@pytest.fixture
def run(toy, capsys):
    def run(*options):
        status = main(toy.arguments(*options))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_the_section_that_matters_is_found(toy, run):
    before = toy.state()
    status, out, err = run("--arms", "sections", "--runs", "20", "--jobs", "2", "--json")
    form = json.loads(out)
    assert status == 0 and "at most 100 runs" in err
    assert Draft202012Validator(schema_of("effect")).is_valid(form)
    rows = {row["arm"]: row["verdict"] for row in form["arms"]}
    assert rows == {"AGENTS.md#Greeting": "helps", "AGENTS.md#Colour": "no-difference", "nothing": "helps"}
    assert form["everything"]["rate"] == 1.0 and form["seed"] == 1
    assert form["arms"][0]["path"] == "AGENTS.md" and form["arms"][0]["lines"] == [3, 5]
    assert toy.state() == before and toy.clones() == []
    _, out, _ = run("--arms", "sections", "--runs", "20", "--resume", "--markdown", "--svg", toy.tree.path("p.svg"))
    assert "| without AGENTS.md#Greeting | 10 | 0% | -100 (" in out and "| **helps** |" in out
    assert "no instructions at all" in Path(toy.tree.path("p.svg")).read_text()
    _, out, _ = run("--arms", "sections", "--runs", "20", "--resume")
    assert "AGENTS.md#Greeting" in out and "helps" in out


def test_a_clone_has_the_working_tree_its_history_and_nothing_else(toy, run):
    toy.tree(
        {"w/AGENTS.md": AGENTS + "\nNew.\n", "w/untracked.txt": "u", "w/data/big.bin": "b", "w/.gitignore": "data\n"}
    )
    git(toy.root, "remote", "add", "origin", "https://example.com/x.git")
    toy.tree({"w/.git/hooks/post-commit": "#!/bin/sh\ntouch /tmp/never\n"})
    toy.script(
        """
        import json, os, subprocess, sys
        def git(*words):
            return subprocess.run(["git", *words], capture_output=True, text=True).stdout.strip()
        root = git("rev-parse", "--show-toplevel")
        facts = {
            "status": git("status", "--short"), "remotes": git("remote"), "branch": git("branch", "--show-current"),
            "log": git("log", "--format=%s").split("\\n"), "files": sorted(os.listdir(root)), "cwd": os.path.relpath(os.getcwd(), root),
            "new": "New." in open(os.path.join(root, "AGENTS.md")).read() if os.path.exists(os.path.join(root, "AGENTS.md")) else None,
            "claude": os.path.exists(os.path.join(root, "CLAUDE.md")), "home": os.environ["HOME"], "arm": os.environ["FOREWORD_ARM"],
            "name": os.path.basename(root), "data": os.path.exists(os.path.join(root, "data", "big.bin")),
        }
        with open(os.environ["FACTS"], "a") as file:
            file.write(json.dumps(facts) + "\\n")
        """
    )
    os.environ["FACTS"] = toy.tree.path("facts.jsonl")
    try:
        arguments = toy.arguments("--runs", "4", "--with", toy.tree.path("w/data"))
        arguments[1] = toy.tree.path("w/sub")
        assert main(arguments) == 0
    finally:
        del os.environ["FACTS"]
    rows = [json.loads(line) for line in Path(toy.tree.path("facts.jsonl")).read_text().splitlines()]
    everything = next(row for row in rows if row["arm"] == "everything")
    assert everything == {
        "status": "", "remotes": "", "branch": "trunk", "log": ["The working tree", "First"], "cwd": "sub", "new": True,
        "files": [".git", "AGENTS.md", "CLAUDE.md", "data", "sub"], "claude": True, "home": toy.tree.path("home"),
        "arm": "everything", "name": "w", "data": True,
    }  # fmt: skip
    without = next(row for row in rows if row["arm"] == "AGENTS.md")
    assert (without["new"], without["claude"], without["status"]) == (None, False, "")


def test_what_the_arms_do_not_have_is_said_before_the_first_run(toy, run):
    toy.tree({"w/CLAUDE.local.md": "Mine.\n", "home/.claude/CLAUDE.md": "At home.\n"})
    _, _, err = run("--runs", "4")
    assert "git does not track CLAUDE.local.md, so no arm has it; copy it with --with CLAUDE.local.md" in err
    assert "every arm still has" in err and ".claude/CLAUDE.md, which is outside the repository (claude" in err
    assert "trust, approvals, memory and settings that an agent keeps for a folder" in err


def test_an_untracked_instruction_file_can_be_copied(toy, run):
    toy.tree({"w/CLAUDE.local.md": "Mine.\n"})
    _, out, _ = run("--runs", "4", "--with", toy.tree.path("w/CLAUDE.local.md"), "--json")
    assert [row["arm"] for row in json.loads(out)["arms"]] == ["AGENTS.md", "CLAUDE.local.md", "nothing"]


def test_submodules_are_copied_only_if_they_are_named(toy, run):
    toy.tree({"other/a.txt": "a"})
    git(toy.tree.path("other"), "init", "-q")
    git(toy.tree.path("other"), "add", "-A")
    git(toy.tree.path("other"), "commit", "-q", "-m", "Other")
    git(toy.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", toy.tree.path("other"), "module")
    toy.script("import os, sys; sys.exit(0 if os.path.exists('module/a.txt') else 1)")
    _, out, err = run("--runs", "4", "--json")
    assert "the submodule module is empty in every arm; copy its files with --with module" in err
    assert json.loads(out)["everything"]["rate"] == 0.0
    os.unlink(toy.tree.path("results.jsonl"))
    _, out, err = run("--runs", "4", "--with", toy.tree.path("w/module"), "--json")
    assert "submodule" not in err and json.loads(out)["everything"]["rate"] == 1.0


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 12\n"


@pytest.mark.parametrize("content", [POINTER, "twelve bytes"], ids=["pointer", "downloaded"])
def test_large_files_are_copied_as_they_are_in_the_checkout(toy, run, monkeypatch, content):
    """The user's git runs git-lfs, which would download the file. No arm does, and git sees no changes in it."""
    toy.tree({"w/.gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "w/big.bin": POINTER})
    git(toy.root, "add", "-A")
    git(toy.root, "commit", "-q", "-m", "A large file")
    toy.tree({"w/big.bin": content})
    program = f'"touch {toy.tree.path("downloaded")}; exit 1"'
    filters = f"clean = {program}\nsmudge = {program}\nprocess = {program}\nrequired = true\n"
    toy.tree({"gitconfig": f'[filter "lfs"]\n{filters}'})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", toy.tree.path("gitconfig"))
    toy.script(
        f"""
        import subprocess, sys
        def git(*words):
            return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout
        same = open("big.bin").read() == {content!r} and git("status", "--short") == ""
        git("stash", "list"), git("checkout", "-q", "--", "big.bin"), git("add", "big.bin")
        open("AGENTS.md", "a").write("More."), git("add", "-A"), git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "x")
        sys.exit(0 if same and open("big.bin").read() == {content!r} else 1)
        """
    )
    _, out, err = run("--runs", "4", "--json")
    form = json.loads(out)
    assert [row["rate"] for row in (form["everything"], *form["arms"])] == [1.0, 1.0], err
    assert not os.path.exists(toy.tree.path("downloaded"))


def test_absolute_links_do_not_lead_back_to_the_repository(toy, run):
    os.symlink(toy.tree.path("w/sub/x.txt"), toy.tree.path("w/link"))
    git(toy.root, "add", "-A")
    toy.script("open('link', 'w').write('changed')")
    run("--runs", "4")
    assert Path(toy.tree.path("w/sub/x.txt")).read_text() == "x"


def test_runs_without_a_result_are_retried_and_counted(toy, run):
    toy.script(
        """
        import os, sys
        sys.exit(3 if os.environ["FOREWORD_ARM"] == "AGENTS.md#Colour" else 0)
        """
    )
    _, out, _ = run("--arms", "sections", "--runs", "4", "--retries", "1", "--json")
    form = json.loads(out)
    colour = next(row for row in form["arms"] if row["arm"] == "AGENTS.md#Colour")
    assert (colour["runs"], colour["no_result"], colour["verdict"], colour["rate"]) == (4, 4, "undecided", None)
    assert [each["code"] for each in form["findings"]] == ["effect-no-result"]
    assert sum(record["arm"] == "AGENTS.md#Colour" for record in toy.records()) == 8


def test_it_stops_if_the_first_runs_have_no_result(toy, run):
    toy.script("import sys; sys.exit('no key is set') if 0 else sys.stderr.write('no key is set\\n'); sys.exit(7)")
    status, _, err = run("--runs", "20")
    assert status == 2 and "the first 3 runs had no result: it ended with status 7" in err and "no key is set" in err
    assert len(toy.records()) == 3 and toy.clones() == []


def test_a_run_that_takes_too_long_is_ended_with_its_children(toy, run):
    toy.script(
        """
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open(sys.argv[0] + ".pids", "a").write(f"{child.pid}\\n")
        time.sleep(600)
        """
    )
    status, _, err = run("--runs", "4", "--timeout", "1s", "--jobs", "3")
    assert status == 2 and "it took longer than 1 seconds" in err
    for pid in Path(toy.tree.path("agent.py.pids")).read_text().split():
        assert not is_running(int(pid))


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_money_is_limited(toy, run):
    toy.script("print('{\"cost\": 1.0}')")
    _, out, err = run("--runs", "20", "--max-cost", "7.5", "--json")
    assert sum(record["cost"] for record in toy.records()) == 7.0
    assert [each["message"] for each in json.loads(out)["findings"]] == [
        "the experiment was stopped: the next run would exceed --max-cost 7.5"
    ]
    assert "$3.00 spent, at most about $37.00 more" in err
    _, out, _ = run("--runs", "20", "--resume", "--json", "--arms", "files")
    assert json.loads(out)["arms"][0]["verdict"] == "no-difference"


@pytest.mark.parametrize(("typed", "goes_on"), [("\n", True), ("y\n", True), ("no\n", False), ("", False)])
def test_it_asks_before_it_spends_more_than_the_first_runs(monkeypatch, typed, goes_on):
    monkeypatch.setattr("foreword.cli.effect.is_terminal", lambda stream: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    listener = effect._Listener(Namespace(yes=False), None)
    assert listener.confirms(Estimate(3, 40, 60.0, 1.5, 18.5)) is goes_on


# A command that tells the test when it runs, and waits until it is killed. The first runs end at once.
WAITING = """
    import os, sys, time
    if int(os.environ["FOREWORD_RUN"]) < 3:
        sys.exit(0)
    os.write(os.open(os.environ["READY"], os.O_WRONLY), f"{os.getpid()}\\n".encode())
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killing_it_loses_no_finished_run_and_leaves_nothing_behind(toy, run, number):
    toy.script(WAITING)
    os.mkfifo(toy.tree.path("ready"))
    ready = os.open(toy.tree.path("ready"), os.O_RDWR)
    launch = "import sys; from foreword.cli import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", launch, *toy.arguments("--runs", "20")],
        env={**os.environ, "READY": toy.tree.path("ready")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    agent = int(os.read(ready, 100).split()[0])
    os.kill(process.pid, number)
    process.wait()
    os.close(ready)
    wait_until(lambda: not is_running(agent) and toy.clones() == [])
    finished = toy.records()
    assert len(finished) >= 4 and all(record["score"] == 1.0 for record in finished)
    toy.script(AGENT)
    status, out, _ = run("--runs", "20", "--resume", "--json")
    assert status == 0 and toy.records()[: len(finished)] == finished
    assert {(record["arm"], record["run"]) for record in toy.records()} >= {("everything", 10)}
    assert json.loads(out)["seed"] == 1 and toy.clones() == []


def wait_until(is_true):
    """Wait for another process, which reports nothing when it has ended."""
    import time

    for _ in range(3_000):
        if is_true():
            return
        time.sleep(0.02)
    raise AssertionError("it never happened")


def test_what_a_killed_experiment_left_behind_is_removed_by_the_next(toy, run):
    stale = Path(toy.temporary) / f"foreword-effect-{os.getuid()}" / "old"
    (stale / "1" / "w").mkdir(parents=True)
    stale.parent.chmod(0o700)
    (stale / "lock").write_text("")
    (stale / "1" / "w" / "file").write_text("x")
    run("--runs", "4")
    assert not stale.exists()


def test_the_folder_of_another_user_is_refused(toy, run):
    top = Path(toy.temporary) / f"foreword-effect-{os.getuid()}"
    top.mkdir()
    top.chmod(0o777)
    status, _, err = run("--runs", "4")
    assert status == 2 and "others can write to it" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--runs", "3"], "--runs must be a whole number from 4 on, not '3'"),
        (["--timeout", "soon"], "--timeout must be a time such as 90s, 30m or 2h, not 'soon'"),
        (["--margin", "0"], "--margin must be a number from 1 to 100, not '0'"),
        (["--with", "/etc/hosts"], "the path must be in the repository"),
        (["--with", "nothing"], "--with 'nothing': the path does not exist"),
        (["--arms", "AGENT.md"], "did you mean 'AGENTS.md'?"),
        (["--resume"], "cannot be read: No such file or directory"),
    ],
)
def test_invalid_calls(run, options, message):
    status, _, err = run(*options)
    assert status == 2 and message in err


def test_results_in_the_repository_are_refused(toy, capsys):
    assert main(["effect", toy.root, "--results", toy.tree.path("w/r.jsonl"), "--", "true"]) == 2
    assert "is in the repository; choose a file outside of it" in capsys.readouterr().err
    assert main(["effect", toy.root]) == 2
    assert "effect needs the command that runs your agent" in capsys.readouterr().err
    assert main(["effect", toy.root, "true"]) == 2
    assert "write -- before the command" in capsys.readouterr().err


def test_another_experiment_cannot_be_continued(toy, run):
    run("--runs", "4")
    toy.tree({"w/AGENTS.md": "Changed.\n"})
    status, _, err = run("--runs", "4", "--resume")
    assert status == 2 and "another experiment" in err


def test_power(run, capsys):
    status, out, _ = run("--power")
    assert status == 0 and "20 points" in out and "with --runs 40: at most 80 runs in all" in out
    _, out, _ = run("--power", "--json")
    assert Draft202012Validator(schema_of("effect")).is_valid(json.loads(out))
