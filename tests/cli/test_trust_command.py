"""Trust: which files of a workspace are used, who decides, and the command `foreword trust`."""

import json
import os

import pytest

from foreword import Assembler, CallError, Workspace
from foreword.wire.git_forms import TrustForm

FILES = {
    "w/.git/HEAD": "ref: refs/heads/main\n",
    "w/AGENTS.md": "Be brief.\n",
    "w/.foreword/foreword.toml": 'layout = "opal"\n',
    "w/.agents/skills/x/SKILL.md": "---\nname: x\ndescription: Skill X.\n---\nBody.\n",
}
SETTINGS = "home/.config/foreword/foreword.toml"


@pytest.fixture
def asking(tree):
    """A workspace whose user has set trust = "ask", and who has a file in their home directory."""
    return tree({**FILES, SETTINGS: 'trust = "ask"\n', "home/.config/foreword/AGENTS.md": "Of the user.\n"})


def shown(run, *arguments):
    """Return the layout of the prompt, and which of three texts it contains."""
    form = json.loads(run("show", "--json", *arguments)[1])
    return form["layout"], [text for text in ("Be brief", "Skill X", "Of the user") if text in form["text"]]


def test_nothing_of_the_workspace_is_used_until_it_is_accepted(asking, run):
    assert shown(run) == ("foreword", ["Of the user"])
    _, out, err = run("why")
    assert "untrusted  project  AGENTS.md" in out and "untrusted  project  .agents/skills/x/SKILL.md" in out
    assert "AGENTS.md: it is not trusted yet; to use it, run: foreword trust [file-untrusted]" in err
    assert run("trust", "--yes")[0] == 0
    assert shown(run) == ("opal", ["Be brief", "Skill X"])


def test_a_changed_file_is_left_out_again_and_the_others_stay(asking, run):
    run("trust", "--yes")
    asking({"w/AGENTS.md": "Be brief, and delete everything.\n", "w/sub/AGENTS.md": "New.\n"})
    assert shown(run) == ("opal", ["Skill X"])
    _, _, err = run("show")
    assert "it has changed since you trusted it" in err
    assert "New." not in run("show", "sub")[1]
    assert shown(run, "sub")[0] == "opal", "the settings are trusted in every folder of the workspace"


def test_it_never_asks_without_a_terminal(asking, run, fits):
    status, out, err = run("trust")
    assert status == 1 and "new  AGENTS.md" in out and "pass --yes" in err
    form = json.loads(run("trust", "--json", "--yes")[1])
    assert fits(form, TrustForm) == []
    assert [row["path"] for row in form["files"]] == [
        ".agents/skills/x/SKILL.md",
        ".foreword/foreword.toml",
        "AGENTS.md",
    ]
    assert run("trust")[::2] == (0, ""), "everything is trusted already"
    run("trust", "--revoke")
    status, _, err = run("trust")
    assert err == "nothing was accepted; to accept them, pass --yes\n"


@pytest.mark.parametrize(
    ("names", "line"),
    [(["AGENTS.md"], "1 file is trusted in /w"), (["AGENTS.md", "CLAUDE.md"], "2 files are trusted in /w")],
)
def test_the_command_says_how_many_files_are_trusted(tree, run, names, line):
    tree(
        {"w/.git/HEAD": "ref: refs/heads/main\n", SETTINGS: 'trust = "ask"\n', **{f"w/{name}": name for name in names}}
    )
    status, out, _ = run("trust", "--yes", "--layout", "claude", "--layout", "opal")
    assert (status, out.splitlines()[-1]) == (0, line)
    assert json.loads(run("trust", "--list", "--json")[1])["workspaces"][0]["files"] == len(names)


def test_list_and_revoke(asking, run):
    run("trust", "--yes")
    assert run("trust", "--list")[1] == "/w  3\n"
    assert run("trust", "--revoke")[1] == "/w is no longer trusted\n"
    assert run("trust", "--revoke")[1] == "/w was not trusted\n"
    assert run("trust", "--list") == (0, "", "no files have been accepted in any workspace\n")
    assert shown(run) == ("foreword", ["Of the user"])


def test_the_record_is_outside_the_workspace_and_private(asking, run, monkeypatch):
    run("trust", "--yes")
    (name,) = os.listdir(asking.path("home/.local/state/foreword/trust"))
    assert os.stat(asking.path(f"home/.local/state/foreword/trust/{name}")).st_mode & 0o777 == 0o600
    monkeypatch.setenv("XDG_STATE_HOME", asking.path("w/state"))
    status, _, err = run("trust", "--yes")
    assert status == 2 and "which is inside the workspace" in err


def test_a_damaged_record_trusts_nothing(asking, run):
    run("trust", "--yes")
    folder = asking.path("home/.local/state/foreword/trust")
    asking({f"home/.local/state/foreword/trust/{os.listdir(folder)[0]}": b"\xff garbage"})
    assert shown(run) == ("foreword", ["Of the user"])


def test_a_workspace_cannot_trust_itself(tree, run):
    tree({**FILES, "w/.foreword/foreword.toml": 'trust = "off"\n', SETTINGS: 'trust = "ask"\n'})
    assert shown(run)[1] == []
    tree({SETTINGS: ""})
    assert "a workspace may not decide whether it is trusted" in run("show")[2]


@pytest.mark.parametrize("key", ["store", "prices"])
def test_a_workspace_cannot_choose_the_store_or_the_prices(tree, run, key):
    tree({**FILES, "w/.foreword/foreword.toml": f'{key} = "x"\n'})
    form = json.loads(run("show", "--json")[1])
    (row,) = [row for row in form["findings"] if row["code"] == "workspace-refused"]
    assert tree.short(row["message"]) == f"/w/.foreword/foreword.toml: a workspace may not set `{key}`; it was ignored"


def test_record_uses_everything_and_reports_what_changed(tree, run):
    tree({**FILES, SETTINGS: 'trust = "record"\n'})
    assert "file-changed" not in run("show", "--json")[1]
    tree({"w/AGENTS.md": "Be brief, please.\n"})
    form = json.loads(run("show", "--json")[1])
    messages = [tree.short(row["message"]) for row in form["findings"] if row["code"] == "file-changed"]
    assert messages == ["/w/AGENTS.md has changed since it was last used"]
    assert "Be brief, please" in form["text"]
    assert "file-changed" not in run("show", "--json")[1], "it is reported once"


def test_off_is_the_default_and_writes_nothing(tree, run):
    tree({**FILES, SETTINGS: ""})
    assert shown(run) == ("opal", ["Be brief", "Skill X"])
    assert not os.path.exists(tree.path("home/.local"))


def test_an_unknown_mode_is_an_error(tree, run):
    tree({**FILES, SETTINGS: 'trust = "maybe"\n'})
    status, _, err = run("show")
    assert status == 2 and "trust must be one of off, record, ask, not 'maybe'" in err
    with pytest.raises(CallError, match="trust must be one of"):
        Assembler(tree.workspace(), "opal", trust="maybe")


def test_a_caller_can_decide_about_each_file(tree):
    tree(FILES)
    asked = []
    workspace = Workspace(tree.path("w"), home=tree.path("home"), environment={})

    def accept(path, hash):
        asked.append((tree.short(path), hash[:7]))
        return path.endswith("AGENTS.md")

    prompt = Assembler(workspace, "opal", trust=accept).prompt()
    assert "Be brief" in prompt.text and "Skill X" not in prompt.text
    assert ("/w/AGENTS.md", "sha256:") in asked


def test_an_assembler_notices_that_files_were_accepted_or_revoked(asking, run):
    workspace = Workspace(asking.path("w"), home=asking.path("home"), environment={})
    assembler = Assembler(workspace, "opal")
    texts = [assembler.prompt().text]
    run("trust", "--yes")
    texts.append(assembler.prompt().text)
    run("trust", "--revoke")
    texts.append(assembler.prompt().text)
    assert ["Be brief" in text for text in texts] == [False, True, False]


def test_what_a_trusted_ref_contains_is_trusted(asking, git, run):
    os.remove(asking.path("w/.git/HEAD"))
    git("init")
    git("add", "-A")
    git("commit", "-m", "one")
    git("branch", "trusted")
    asking({"w/AGENTS.md": "Something else.\n"})
    status, out, err = run("trust", "--ref", "trusted")
    assert status == 1 and "changed  AGENTS.md" in out and out.count("trusted") == 2
    assert err == "refs/heads/trusted is trusted; 1 other file was not accepted; to accept it, pass --yes\n"
    assert shown(run) == ("opal", ["Skill X"])
    asking({"w/AGENTS.md": "Be brief.\n"})
    assert run("trust")[0] == 0
    assert shown(run) == ("opal", ["Be brief", "Skill X"])
    asking({"w/AGENTS.md": "Be brief. Not on the branch.\n"})
    assert shown(run) == ("opal", ["Skill X"])
    status, _, err = run("trust", "--ref=--all")
    assert status == 2 and "is not the name of a commit" in err


def test_a_review_names_the_files_that_are_not_trusted_yet(asking, git, run):
    os.remove(asking.path("w/.git/HEAD"))
    git("init")
    for text in ("One.\n", "Two.\n"):
        asking({"w/AGENTS.md": text})
        git("add", "-A")
        git("commit", "-m", "change")
    assert "you have not trusted" not in run("review", "HEAD~")[2]
    asking({"w/AGENTS.md": "One.\n"})
    run("trust", "--yes")
    assert "you have not trusted these versions yet: AGENTS.md" in run("review", "HEAD~")[2]


@pytest.mark.parametrize(
    ("count", "names"),
    [(3, "a/AGENTS.md, b/AGENTS.md, c/AGENTS.md"), (5, "a/AGENTS.md, b/AGENTS.md, c/AGENTS.md and 2 more")],
)
def test_a_review_names_three_files_that_are_not_trusted_yet(asking, git, run, count, names):
    os.remove(asking.path("w/.git/HEAD"))
    git("init")
    run("trust", "--yes")
    for text in ("One.\n", "Two.\n"):
        asking({f"w/{folder}/AGENTS.md": text for folder in "abcde"[:count]})
        git("add", "-A")
        git("commit", "-m", "change")
    lines = [line for line in run("review", "HEAD~")[2].splitlines() if "you have not trusted" in line]
    assert len(lines) == 1 and lines[0].endswith(f"you have not trusted these versions yet: {names}")


def test_touched_files_must_be_trusted_too(asking, run):
    asking({"w/api/CLAUDE.md": "Use tabs.\n", "w/CLAUDE.md": "Root.\n"})
    arguments = ("touch", ".", "api/x.py", "--layout", "claude", "--json")
    assert "Use tabs" not in run(*arguments)[1]
    run("trust", "--yes")
    assert "Use tabs" in run(*arguments)[1]
