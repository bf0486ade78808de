"""Project links are followed inside the workspace and refused if they leave it. They never expose secrets or an entire disk."""

import os
from pathlib import Path

import pytest

from foreword.errors import LayoutError
from foreword.sources import places
from foreword.sources.links import Reach
from foreword.sources.places import Places
from foreword.sources.reader import Reader

LAYOUTS = ["foreword", "ion", "opal", "pi", "pod"]
LAYOUTS_WITH_SKILLS = ["foreword", "opal", "pi"]
SECRET_TEXT = "PRIVATE"


def fate_of(tree, prompt, path):
    return dict(tree.fates(prompt)).get(path)


def refused_links(tree, prompt):
    """Return the refused links, one entry per finding."""
    return [tree.short(finding.path) for finding in prompt.findings if finding.code == "link-refused"]


# Project links that leave the workspace


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind_of_link", ["relative", "absolute", "chained", "through a folder"])
def test_a_link_that_leaves_the_workspace_is_refused(tree, layout, kind_of_link):
    tree({"w/.git": None, "elsewhere/notes.md": SECRET_TEXT, "w/CLAUDE.md": "Second.", "w/OPAL.md": "Second."})
    target = {
        "relative": Path("../elsewhere/notes.md"),
        "absolute": Path(tree.path("elsewhere/notes.md")),
        "chained": Path("docs/hop.md"),
        "through a folder": Path("docs/out/notes.md"),
    }[kind_of_link]
    tree(
        {
            "w/docs/hop.md": Path("../../elsewhere/notes.md"),
            "w/docs/out": Path("../../elsewhere"),
            "w/AGENTS.md": target,
        }
    )
    prompt = tree.prompt(layout)
    assert SECRET_TEXT not in prompt.text
    assert fate_of(tree, prompt, "/w/AGENTS.md") == "refused"
    (finding,) = [finding for finding in prompt.findings if finding.code == "link-refused"]
    assert (finding.severity, tree.short(finding.path)) == ("warning", "/w/AGENTS.md")
    assert 'links = "follow"' in finding.message
    assert ("Second." in prompt.text) == (layout != "pod")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("allowed_by", ["caller", "user", "file"])
def test_user_and_caller_can_allow_outside_links(tree, layout, allowed_by):
    tree({"w/.git": None, "elsewhere/notes.md": SECRET_TEXT, "w/AGENTS.md": Path("../elsewhere/notes.md")})
    from foreword import Agent, assemble

    tree({"named.toml": "links = 'follow'"})
    if allowed_by == "user":
        tree({"home/.config/foreword/foreword.toml": "links = 'follow'"})
    prompt = assemble(
        tree.workspace(),
        Agent(),
        layout,
        settings=tree.path("named.toml") if allowed_by == "file" else "",
        assignments=[("links", "follow")] if allowed_by == "caller" else (),
    )
    assert SECRET_TEXT in prompt.text
    assert ("file-outside", "/w/AGENTS.md") in tree.findings(prompt)


def test_a_link_in_the_home_directory_leads_anywhere_without_a_finding(tree):
    """As dotfiles do; with the setting too, because nothing of the user is outside."""
    tree({"w/.git": None, "dotfiles/AGENTS.md": "OF THE USER", "home/.config/foreword": None})
    tree({"home/.config/foreword/AGENTS.md": Path("../../../dotfiles/AGENTS.md")})
    for links in ("inside", "follow"):
        prompt = tree.prompt("foreword", set={"links": links})
        assert ("OF THE USER" in prompt.text, tree.findings(prompt)) == (True, [])


@pytest.mark.parametrize(("bound", "leads_out"), [(None, False), ("w", True), ("", False)])
def test_nothing_leads_out_of_a_reach_without_a_bound(tree, bound, leads_out):
    tree({"elsewhere/notes.md": "", "w/AGENTS.md": Path("../elsewhere/notes.md")})
    reach = Reach(tree.path("w"), None if bound is None else tree.path(bound).rstrip("/"))
    assert reach.leads_out(Places(), tree.path("w/AGENTS.md")) is leads_out


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_workspace_cannot_allow_outside_links(tree, layout):
    tree({"w/.git": None, "elsewhere/notes.md": SECRET_TEXT, "w/AGENTS.md": Path("../elsewhere/notes.md")})
    tree({"w/.foreword/foreword.toml": "links = 'follow'"})
    prompt = tree.prompt(layout)
    assert SECRET_TEXT not in prompt.text
    assert ("workspace-refused", "/w/.foreword/foreword.toml") in tree.findings(prompt)


def test_a_workspace_layout_cannot_allow_outside_links(tree):
    tree({"w/.git": None, "elsewhere/notes.md": SECRET_TEXT, "w/AGENTS.md": Path("../elsewhere/notes.md")})
    tree({"w/.foreword/prompts/own.toml": 'extends = "$std/foreword"\nlinks = "follow"'})
    prompt = tree.prompt("$workspace/own")
    assert SECRET_TEXT not in prompt.text
    assert "workspace-refused" in [finding.code for finding in prompt.findings]


def test_the_key_links_accepts_only_two_values(tree):
    with pytest.raises(LayoutError, match="links must be one of inside, follow, not 'always'"):
        tree.prompt("foreword", set={"links": "always"})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_a_subdirectory_a_link_can_lead_anywhere_in_the_repository(tree, layout):
    tree({"w/.git": None, "w/docs/agents.md": "SHARED", "w/a/b/AGENTS.md": Path("../../docs/agents.md")})
    prompt = tree.prompt(layout, "w/a/b")
    assert "SHARED" in prompt.text
    assert refused_links(tree, prompt) == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_root_reached_through_a_link_is_not_a_project_link(tree, layout):
    tree({"w/.git": None, "w/docs/x.md": "INSIDE", "w/AGENTS.md": Path("docs/x.md"), "other/name": Path("../w")})
    prompt = tree.prompt(layout, "other/name")
    assert "INSIDE" in prompt.text
    assert refused_links(tree, prompt) == []


def test_a_hard_link_counts_as_a_file(tree):
    tree({"w/.git": None, "elsewhere/notes.md": "SHARED"})
    os.link(tree.path("elsewhere/notes.md"), tree.path("w/AGENTS.md"))
    assert "SHARED" in tree.prompt("foreword").text


# Above the workspace


@pytest.mark.parametrize("layout", ["opal", "pi"])
def test_above_the_workspace_a_link_must_stay_in_its_folder(tree, layout):
    tree({"top/w/.git": None, "top/docs/a.md": "NEAR", "top/AGENTS.md": Path("docs/a.md")})
    assert "NEAR" in tree.prompt(layout, "top/w").text
    os.unlink(tree.path("top/AGENTS.md"))
    tree({"elsewhere/b.md": SECRET_TEXT, "top/AGENTS.md": Path("../elsewhere/b.md")})
    prompt = tree.prompt(layout, "top/w")
    assert SECRET_TEXT not in prompt.text
    assert refused_links(tree, prompt) == ["/top/AGENTS.md"]


@pytest.mark.parametrize("layout", ["opal", "pi"])
def test_a_link_in_the_home_directory_belongs_to_the_user(tree, layout):
    tree({"home/src/w/.git": None, "dotfiles/a.md": "MINE", "home/AGENTS.md": Path("../dotfiles/a.md")})
    prompt = tree.prompt(layout, "home/src/w")
    assert "MINE" in prompt.text
    assert refused_links(tree, prompt) == []


# Skills


@pytest.mark.parametrize("layout", LAYOUTS_WITH_SKILLS)
@pytest.mark.parametrize("link", ["w/.agents", "w/.agents/skills", "w/.agents/skills/a", "w/.agents/skills/a/SKILL.md"])
def test_a_skill_linked_from_outside_is_refused_once(tree, skill, layout, link):
    tail = "w/.agents/skills/a/SKILL.md".removeprefix(link).strip("/")
    tree({"w/.git": None, os.path.join("elsewhere", tail or "SKILL.md"): skill("a", SECRET_TEXT)})
    tree({link: Path(tree.path("elsewhere" if tail else "elsewhere/SKILL.md"))})
    prompt = tree.prompt(layout, tools="read")
    assert SECRET_TEXT not in prompt.text
    assert refused_links(tree, prompt) == [f"/{link}"]
    assert "refused" in [candidate.fate for candidate in prompt.candidates]
    assert SECRET_TEXT in tree.prompt(layout, tools="read", set={"links": "follow"}).text


@pytest.mark.parametrize("layout", LAYOUTS_WITH_SKILLS)
@pytest.mark.parametrize("link", ["home/.agents", "home/.agents/skills", "home/.agents/skills/a"])
def test_user_skills_can_be_links(tree, skill, layout, link):
    tail = "home/.agents/skills/a/SKILL.md".removeprefix(link).strip("/")
    tree({"w/.git": None, os.path.join("dotfiles", tail): skill("a", "MINE"), link: Path(tree.path("dotfiles"))})
    prompt = tree.prompt(layout, tools="read")
    assert "MINE" in prompt.text
    assert refused_links(tree, prompt) == []


@pytest.mark.parametrize("layout", LAYOUTS_WITH_SKILLS)
@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize("target", ["/", "/proc", "/proc/self", "/sys", "/dev", ".."])
@pytest.mark.parametrize("link", ["w/.agents/skills", "w/.agents/skills/all", "home/.agents/skills/all"])
def test_a_link_does_not_cause_a_scan_of_the_disk(tree, layout, link, target, follow):
    tree({"w/.git": None, "w/.agents": None, link: Path(tree.top if target == ".." else target)})
    prompt = tree.prompt(layout, tools="read", set={"links": "follow"} if follow else {})
    assert refused_links(tree, prompt) == [f"/{link}"]
    assert len(prompt.candidates) < 100
    assert not [
        candidate for candidate in prompt.candidates if candidate.path.count("/all/") and candidate.fate != "refused"
    ]


@pytest.mark.parametrize("link", ["w/.agents/skills/many", "home/.agents/skills/many"])
def test_the_walk_through_links_is_limited(tree, link, monkeypatch):
    from foreword.sources import search

    monkeypatch.setattr(search, "_MAX_LINKED_FOLDERS", 50)
    tree({f"shared/{number}": None for number in range(60)})
    tree({"w/.git": None, link: Path(tree.path("shared"))})
    prompt = tree.prompt("foreword", tools="read", set={"links": "follow"})
    assert [code for code, _ in tree.findings(prompt)] == ["scan-limit"]


def test_the_matches_of_a_pattern_are_limited(tree, monkeypatch):
    from foreword.sources import search

    monkeypatch.setattr(search, "_MAX_MATCHES", 5)
    skill = "---\nname: x\ndescription: y\n---\n"
    tree({"w/.git": None, **{f"w/.claude/skills/s{number}/SKILL.md": skill for number in range(9)}})
    prompt = tree.prompt("claude")
    assert ("scan-limit", "/w/.claude/skills") in tree.findings(prompt)
    assert sum(candidate.path.endswith("SKILL.md") for candidate in prompt.candidates) == 5


# Secrets


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize(
    "secret",
    ["w/.env", "w/conf/prod.env", "home/.ssh/id_ed25519", "home/.aws/credentials", "w/.git/config", "w/tls/server.key", "elsewhere/.netrc",
     "etc/shadow", "home/.claude/.credentials.json", "home/gcloud/application_default_credentials.json", "home/.codex/auth.json"],
)  # fmt: skip
def test_no_setting_lets_a_link_reach_a_secret(tree, layout, follow, secret):
    tree({"w/.git": None, secret: SECRET_TEXT, "w/AGENTS.md": Path(tree.path(secret))})
    prompt = tree.prompt(layout, set={"links": "follow"} if follow else {})
    assert SECRET_TEXT not in prompt.text
    assert refused_links(tree, prompt) == ["/w/AGENTS.md"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", ["/proc/self/environ", "/dev/zero", "home/.ssh/id_ed25519"])
def test_no_setting_is_suggested_for_a_link_that_none_allows(tree, layout, target):
    tree({"w/.git": None, "home/.ssh/id_ed25519": SECRET_TEXT, "w/AGENTS.md": Path(tree.path(target))})
    messages = dict(tree.messages(tree.prompt(layout)))
    assert "links" not in messages["link-refused"]


@pytest.mark.parametrize(
    ("layout", "own"), [("foreword", ".agents/AGENTS.md"), ("ion", ".ion/AGENTS.md"), ("pi", ".sf/agent/AGENTS.md")]
)
def test_user_links_cannot_reach_a_secret(tree, layout, own):
    tree({"w/.git": None, "home/.ssh/id_ed25519": SECRET_TEXT, f"home/{own}": Path(tree.path("home/.ssh/id_ed25519"))})
    prompt = tree.prompt(layout)
    assert SECRET_TEXT not in prompt.text
    assert refused_links(tree, prompt) == [f"/home/{own}"]


def test_a_workspace_can_be_inside_a_folder_with_a_secret_name(tree):
    tree({"w/.aws/p/.git": None, "w/.aws/p/docs/x.md": "INSIDE", "w/.aws/p/AGENTS.md": Path("docs/x.md")})
    assert "INSIDE" in tree.prompt("foreword", "w/.aws/p").text


# Files that a workspace's own settings ask for


@pytest.mark.parametrize("files", ["notes.md", "notes/*.md", "path:notes.md", "path:../w/notes.md"])
@pytest.mark.parametrize("set", [{}, {"links": "follow"}])
def test_a_link_that_leaves_the_workspace_that_asked_for_it_is_untrusted(tree, files, set):
    pattern = files if ":" in files else f"walk:{files}"
    tree({"w/.git": None, "w/.foreword/foreword.toml": f"find.project.files = [{pattern!r}]"})
    tree({"elsewhere/notes.md": SECRET_TEXT})
    path = "notes/a.md" if "/*" in files else "notes.md"
    tree({f"w/{path}": Path(tree.path("elsewhere/notes.md"))})
    prompt = tree.prompt("foreword", set=set)
    assert SECRET_TEXT not in prompt.text
    message = f"/w/{path}: it is outside the workspace that asked for it"
    assert tree.messages(prompt) == [("workspace-refused", message)]
    assert tree.fates(prompt) == [(f"/w/{path}", "untrusted")]
    assert SECRET_TEXT in tree.prompt("foreword", set={**set, "find.project.files": [pattern], "links": "follow"}).text


@pytest.mark.parametrize(
    "pattern", ["path:/elsewhere/*.md", "path:~/*.md", "home:*.md", "system:elsewhere/*.md", "above:*.md"]
)
def test_a_workspace_cannot_ask_for_files_elsewhere(tree, pattern):
    tree({"w/.git": None, "elsewhere/notes.md": SECRET_TEXT, "home/notes.md": SECRET_TEXT, "notes.md": SECRET_TEXT})
    pattern = pattern.replace("/elsewhere", tree.path("elsewhere"))
    tree({"w/.foreword/foreword.toml": f"find.project.files = [{pattern!r}]"})
    prompt = tree.prompt("foreword")
    assert SECRET_TEXT not in prompt.text
    message = f"the workspace's own layout or settings may search only the workspace, not {pattern!r}"
    assert prompt.findings[0].message == message


@pytest.mark.parametrize(
    "pattern", ["path:docs/*.md", "path:/w/docs/*.md", "path:/w/api/*.md", "cwd:*.md", "root:docs/*.md"]
)
def test_a_workspace_can_ask_for_its_own_files(tree, pattern):
    tree({"w/.git": None, "w/docs/notes.md": "MINE", "w/api/notes.md": "MINE", "w/api/docs/notes.md": "MINE"})
    pattern = pattern.replace("/w", tree.path("w"))
    tree({"w/.foreword/foreword.toml": f"find.project.files = [{pattern!r}]"})
    prompt = tree.prompt("foreword", "w/api")
    assert ("MINE" in prompt.text, tree.findings(prompt)) == (True, [])


# Other files of a workspace


@pytest.mark.parametrize(
    ("layout", "name", "content"),
    [
        ("pi", ".sf/SYSTEM.md", SECRET_TEXT),
        ("pi", ".sf/APPEND_SYSTEM.md", SECRET_TEXT),
        ("pod", ".foreword/knowledge/k.md", f"---\ndescription: {SECRET_TEXT}\nmodel_invocation: true\n---\n"),
        ("pod", ".foreword/workflow/k.md", f"---\ndescription: {SECRET_TEXT}\nmodel_invocation: true\n---\n"),
        ("pod", ".foreword/prompts.toml", f"agents_md_section = '{SECRET_TEXT} {{}}'"),
        ("opal", ".foreword/foreword.toml", f"wording.skill_message = '{SECRET_TEXT}'\nsection.environment.text = '{SECRET_TEXT}'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("depth", [0, 1])
def test_links_to_all_kinds_of_files_are_checked(tree, layout, name, content, depth):
    folder, base = os.path.split(name)
    tree({"w/.git": None, "w/AGENTS.md": "x", f"elsewhere/{base}": content})
    tree(
        {f"w/{name}": Path(tree.path(f"elsewhere/{base}"))}
        if not depth
        else {f"w/{folder}": Path(tree.path("elsewhere"))}
    )
    prompt = tree.prompt(layout)
    assert SECRET_TEXT not in prompt.text
    assert [finding.code for finding in prompt.findings if finding.code in ("link-refused", "settings-invalid")]


# Files that change between the check and the open


def change_before_open(disk, path, change):
    """Run a change just before a path is opened, after all checks."""
    original = disk.open

    def open_changed(opened_path, flags):
        if opened_path == path:
            disk.open = original
            change()
        return original(opened_path, flags)

    disk.open = open_changed


@pytest.mark.parametrize("kind_of_link", ["/proc", "none"])
@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_a_folder_swapped_for_a_link_before_its_file_is_opened_is_refused(
    tree, disk, layout, kind_of_link, monkeypatch
):
    if kind_of_link == "none":
        monkeypatch.setattr(places, "path_of_open_file", lambda descriptor: "")
    tree({"w/.git": None, "w/a/AGENTS.md": "mine", "elsewhere/AGENTS.md": SECRET_TEXT})

    def change():
        os.rename(tree.path("w/a"), tree.path("w/b"))
        os.symlink(tree.path("elsewhere"), tree.path("w/a"))

    change_before_open(disk, tree.path("w/a/AGENTS.md"), change)
    prompt = tree.prompt(layout, "w/a", disk=disk)
    assert SECRET_TEXT not in prompt.text
    assert fate_of(tree, prompt, "/w/a/AGENTS.md") == "refused"


@pytest.mark.parametrize("layout", LAYOUTS_WITH_SKILLS)
def test_a_folder_swapped_for_a_link_before_it_is_listed_is_refused(tree, skill, disk, layout):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a"), "elsewhere/secret-name/SKILL.md": skill("b")})

    def change():
        os.rename(tree.path("w/.agents/skills"), tree.path("w/.agents/was"))
        os.symlink(tree.path("elsewhere"), tree.path("w/.agents/skills"))

    change_before_open(disk, tree.path("w/.agents/skills"), change)
    prompt = tree.prompt(layout, tools="read", disk=disk)
    assert "secret-name" not in prompt.text + str(prompt.candidates) + str(prompt.findings)
    assert refused_links(tree, prompt) == ["/w/.agents/skills"]


def test_without_proc_the_path_must_still_name_the_open_file(tree, disk, monkeypatch):
    monkeypatch.setattr(places, "path_of_open_file", lambda descriptor: "")
    tree({"w/AGENTS.md": "mine", "w/other": "x"})
    reach = Reach(tree.path("w"), tree.path("w"))
    assert Reader(disk=disk).read(tree.path("w/AGENTS.md"), reach).text == "mine"
    original = disk.open

    def open_and_swap(path, flags):
        descriptor = original(path, flags)
        os.replace(tree.path("w/other"), tree.path("w/AGENTS.md"))
        return descriptor

    disk.open = open_and_swap
    reading = Reader(disk=disk).read(tree.path("w/AGENTS.md"), reach)
    assert (reading.fate, reading.reason) == ("unreadable", places.REPLACED[1])


# Served folders


def swap_working_directory(tree):
    os.rename(tree.path("served/a"), tree.path("served/b"))
    os.symlink(tree.path("elsewhere"), tree.path("served/a"))


@pytest.fixture
def served(tree):
    """A working directory outside any repository, which makes it its own root, and a folder elsewhere to swap it for."""
    files = {"AGENTS.md": "{}", "CLAUDE.md": "{}", "OPAL.md": "{}", ".git/HEAD": "ref: refs/heads/{}\n"}
    tree({f"elsewhere/{name}": text.format(SECRET_TEXT) for name, text in files.items()})
    tree({f"served/a/{name}": text.format("fine") for name, text in files.items() if name != ".git/HEAD"})
    return tree


@pytest.mark.parametrize("layout", [*LAYOUTS, "builder"])
@pytest.mark.parametrize("when", ["before it is looked at", "before it is opened"])
def test_a_working_directory_swapped_for_a_link_is_not_read(served, disk, layout, when, monkeypatch):
    from foreword import Agent, Workspace
    from foreword.engine.assembler import Assembler
    from foreword.errors import ForewordError

    workspace = Workspace(
        served.path("served/a"), home=served.path("home"), environment={}, inside=(served.path("served"),)
    )
    assembler = Assembler(workspace, layout)
    assembler.reader = lambda: Reader(disk=disk)
    if when == "before it is looked at":
        swap_working_directory(served)
    else:
        change_before_open(disk, served.path("served/a/AGENTS.md"), lambda: swap_working_directory(served))
    agent = Agent(base="[file:AGENTS.md] [git:branch]" if layout == "builder" else "")
    try:
        prompt = assembler.prompt(agent)
    except ForewordError as error:
        assert when == "before it is looked at" and "not inside the folders that are served" in str(error)
    else:
        assert SECRET_TEXT not in prompt.text + str(prompt.candidates)


def test_a_link_removed_while_being_resolved_is_dangling(monkeypatch):
    def raise_not_found(path):
        raise FileNotFoundError(2, "No such file or directory", path)

    monkeypatch.setattr(os.path, "realpath", raise_not_found)
    nowhere = places.real_path("/a/b")
    assert not places.is_inside(nowhere, "/a") and not places.is_inside("/a/b", nowhere)


def test_real_paths_match_the_standard_library(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c (deleted)").write_text("C")
    os.mkfifo(tmp_path / "a/pipe")
    for name, target in {"l": "a/b", "m": "l/../pipe", "loop": "loop", "dangling": "a/none"}.items():
        (tmp_path / name).symlink_to(target)
    names = (
        "",
        "l",
        "l/c (deleted)",
        "l/..",
        "m",
        "loop",
        "loop/x",
        "dangling",
        "a//b/.",
        "none/l",
        "a/pipe",
        "l/none",
    )
    for path in (*(f"{tmp_path}/{name}" for name in names), "", ".", "/", "//", "a" * 5000):
        assert places.real_path(path) == os.path.realpath(path), path


def test_the_real_path_of_an_open_file_is_the_same_after_it_is_deleted(tmp_path):
    folders = Reader()
    for name in ("AGENTS.md", "AGENTS.md (deleted)"):
        path = str(tmp_path / name)
        with open(path, "w") as file:
            before = folders.real_path_of(file.fileno(), path)
            os.unlink(path)
            assert (before, folders.real_path_of(file.fileno(), path)) == (path, path)


def test_the_real_path_of_a_removed_folder_is_not_a_name_that_could_exist(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    (tmp_path / "a").rmdir()
    with pytest.raises(FileNotFoundError):
        os.getcwd()
    assert not places.real_path(".").endswith(" (deleted)")
