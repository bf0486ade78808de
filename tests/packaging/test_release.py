"""The files that a release is made with. `make release-check` builds and installs everything; these are the parts that need no network."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import ryaml

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))

from release import notes, owner, tools, workflows  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = {path.stem: ryaml.loads(path.read_text()) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}


def steps():
    for workflow in WORKFLOWS.values():
        for job in workflow["jobs"].values():
            yield from job.get("steps", ())


def test_only_tested_versions_and_systems_are_claimed():
    required = WORKFLOWS["tests"]["jobs"]["linux"]
    claimed = [name.rpartition(" :: ")[2] for name in PROJECT["classifiers"] if ":: Python :: 3." in name]
    assert claimed == required["strategy"]["matrix"]["python"]
    assert [name for name in PROJECT["classifiers"] if name.startswith("Operating System")] == [
        "Operating System :: POSIX :: Linux"
    ]
    assert required["runs-on"] == "ubuntu-latest" and "continue-on-error" not in required


def test_systems_on_trial_do_not_stop_a_release():
    trial = WORKFLOWS["tests"]["jobs"]["trial"]
    assert trial["continue-on-error"] is True
    assert {row["os"] for row in trial["strategy"]["matrix"]["include"]} == {
        "macos-latest",
        "windows-latest",
        "ubuntu-latest",
    }


def test_every_action_is_pinned_to_a_commit_with_its_version():
    text = "".join(path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml"))
    used = [line for line in re.findall(r"uses: (.*)", text) if not line.startswith("./")]
    assert used and [line for line in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", line)] == []
    assert len({line.partition("@")[0] for line in used}) == len(set(used)), "one version of each action"


def test_no_expression_becomes_part_of_a_command():
    assert [step["run"] for step in steps() if "${{" in step.get("run", "")] == []


def test_no_password_is_stored():
    assert "secrets." not in "".join(path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("script", [script for _, script in workflows.scripts() if script.startswith("make ")])
def test_every_make_target_of_a_workflow_exists(script):
    target = script.split()[1]
    assert re.search(rf"^{target}:.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("script", sorted({script for _, script in workflows.scripts()}))
def test_every_command_of_a_workflow_is_a_valid_script(script):
    assert subprocess.run(["bash", "-n", "-c", script]).returncode == 0


def test_a_release_needs_its_tests_and_checks():
    jobs = WORKFLOWS["release"]["jobs"]
    assert jobs["tests"]["uses"] == "./.github/workflows/tests.yml" and jobs["build"]["needs"] == "tests"
    assert {name: jobs[name]["needs"] for name in ("pypi", "npm", "image", "docs")} == dict.fromkeys(
        ("pypi", "npm", "image", "docs"), "build"
    )


def test_only_jobs_that_publish_may_write():
    permissions = {name: job["permissions"] for name, job in WORKFLOWS["release"]["jobs"].items()}
    writers = {name for name, rights in permissions.items() if rights.get("contents") == "write"}
    assert writers == {"announce"} and WORKFLOWS["release"]["permissions"] == {}


def test_a_command_that_publishes_is_never_run(tmp_path):
    environment = {"PATH": str(tmp_path)}
    shutil.copy(shutil.which("bash"), tmp_path / "bash")
    done = workflows.check_command(f"gh release create; touch {tmp_path}/ran", tmp_path, environment)
    assert done.endswith("(syntax only)") and not (tmp_path / "ran").exists()


def test_a_command_that_fails_stops_the_check(tmp_path):
    with pytest.raises(tools.CheckError, match=r"no-such-program.* failed"):
        workflows.check_command("no-such-program", tmp_path, {"PATH": "/usr/bin:/bin"})


def test_the_owner_is_filled_in_everywhere(tmp_path):
    files = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    naming = [name for name in files if re.search(r"\bOWNER/|//OWNER\b", text_of(ROOT / name))]
    assert sorted(naming) == sorted(name for name in owner.FILES)
    for name in owner.FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    assert owner.fill_in(tmp_path, "acme", "security@acme.example") == list(owner.FILES)
    left = [name for name in owner.FILES if re.search(r"\bOWNER/|//OWNER\b|CONTACT", (tmp_path / name).read_text())]
    assert left == []
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["urls"]
    assert urls["Homepage"] == "https://github.com/acme/foreword"


def text_of(path):
    """The text of a file, or nothing if it is an image, a link to a folder, or this test."""
    try:
        return "" if path == Path(__file__) else path.read_text()
    except (UnicodeDecodeError, OSError):
        return ""


@pytest.mark.parametrize(
    ("name", "contact"), [("", "a@b.example"), ("acme", ""), ("-x", "a@b.example"), ("a/b", "a@b")]
)
def test_an_owner_that_cannot_be_one_is_refused(name, contact, capsys):
    assert owner.main([name, contact]) == 2
    assert capsys.readouterr().err.startswith("usage: make owner ")


def test_the_notes_of_a_version_are_its_section():
    changelog = (
        "# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [0.2.0] - 2027-01-01\n\n- Two.\n\n## [0.1.0]\n\n- One.\n"
    )
    assert notes.notes(changelog, "0.2.0") == "- Two.\n"
    assert notes.notes(changelog, "0.1.0") == "- One.\n"
    assert notes.notes(changelog, "0.1") is None


def test_the_page_on_releasing_names_every_workflow_and_target():
    text = (ROOT / "RELEASING.md").read_text()
    assert "release.yml" in text and "tests.yml" in text
    for target in re.findall(r"`make ([a-z-]+)", text):
        assert re.search(rf"^{target}:.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE), target
    assert len(text.splitlines()) <= 80
