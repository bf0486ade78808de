"""Files of an untrusted git tree are created only in a private folder, whatever their names are."""

import os
import stat
import tempfile

import pytest

from foreword.sources.private_folder import PrivateFolder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = PrivateFolder("w")
    yield folder
    folder.delete()


def everything(tmp_path):
    """The files below a folder, each with its content, or with its target if it is a link."""
    found = {}
    for place, folders, names in os.walk(tmp_path):
        for name in (*names, *folders):
            path = os.path.join(place, name)
            if os.path.islink(path):
                found[os.path.relpath(path, tmp_path)] = f"-> {os.readlink(path)}"
            elif os.path.isfile(path):
                with open(path) as file:
                    found[os.path.relpath(path, tmp_path)] = file.read()
    return found


def test_the_folder_is_new_and_only_for_this_user(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    first, second = PrivateFolder("w"), PrivateFolder("my repo")
    assert first.top != second.top and os.path.dirname(first.top) == str(tmp_path)
    assert [stat.S_IMODE(os.stat(each.top).st_mode) for each in (first, second)] == [0o700, 0o700]
    assert (first.root, second.root) == (f"{first.top}/w", f"{second.top}/repository")
    assert os.path.isdir(f"{first.root}/.git") and not os.path.exists(first.outside)
    assert (first.files, first.folders) == (set(), {""})
    first.delete()
    second.delete()
    assert os.listdir(tmp_path) == []


def test_without_a_usable_folder_for_temporary_files_another_one_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = PrivateFolder("w")
    assert os.path.dirname(folder.top) == str(tmp_path)
    assert stat.S_IMODE(os.stat(folder.top).st_mode) == 0o700
    folder.delete()


def test_files_and_links_are_created(folder):
    assert folder.write("a/b/c.md", b"Text", 4) and folder.write("d.md", b"", 0) and folder.link("e", b"a/b")
    assert (folder.files, folder.folders) == ({"a/b/c.md", "d.md", "e"}, {"", "a", "a/b"})
    assert everything(folder.root) == {"a/b/c.md": "Text", "d.md": "", "e": "-> a/b"}
    assert stat.S_IMODE(os.stat(f"{folder.root}/d.md").st_mode) == 0o600
    assert stat.S_IMODE(os.stat(f"{folder.root}/a/b").st_mode) == 0o700


def test_a_file_has_its_size_without_all_of_its_content(folder):
    assert folder.write("large.md", b"Start", 5_000_000)
    assert os.stat(f"{folder.root}/large.md").st_size == 5_000_000
    assert folder.write("cut.md", b"Start", 3)
    assert everything(folder.root)["cut.md"] == "Start"


@pytest.mark.parametrize(
    "path",
    ["../a", "a/../../b", "..", ".", "./a", "", "/a", "a//b", "a/", ".git/hooks/x", ".GIT/config", "a/.git/config", "git~1/x", "a\0b", "x" * 300],
)  # fmt: skip
def test_a_path_that_is_not_safe_is_refused(folder, tmp_path, path):
    assert (folder.write(path, b"Text", 4), folder.link(path, b"target")) == (False, False)
    assert (everything(tmp_path), folder.files) == ({}, set())
    assert os.listdir(f"{folder.root}/.git") == []


@pytest.mark.parametrize("target", ["{far}", "..", "/etc"])
def test_nothing_is_written_through_a_link(folder, tmp_path, target):
    (tmp_path / "far").mkdir()
    assert folder.link("out", target.format(far=tmp_path / "far").encode())
    assert not folder.write("out/a.md", b"Text", 4)
    assert not folder.write("out/deep/a.md", b"Text", 4)
    assert not folder.write("out", b"Text", 4)
    assert not folder.link("out", b"elsewhere")
    assert (os.listdir(tmp_path / "far"), folder.files) == ([], {"out"})


def test_a_file_is_neither_replaced_nor_a_folder(folder):
    assert folder.write("a", b"One", 3)
    assert not folder.write("a", b"Two", 3)
    assert not folder.write("a/b", b"Two", 3)
    assert everything(folder.root) == {"a": "One"}


def test_a_folder_that_exists_already_is_used(folder):
    os.mkdir(f"{folder.root}/a")
    assert folder.write("a/b.md", b"Text", 4)
    assert everything(folder.root) == {"a/b.md": "Text"}


def test_files_and_empty_folders_are_removed(folder):
    for path in ("a/b/c.md", "a/d/e.md", "f/g.md"):
        assert folder.write(path, b"Text", 4)
    folder.remove("a/b/c.md")
    folder.remove("f/g.md")
    folder.remove("never/there.md")
    folder.remove_folders({"", "f"})
    assert (folder.files, folder.folders) == ({"a/d/e.md"}, {"", "a", "a/d", "f"})
    assert not os.path.exists(f"{folder.root}/a/b") and os.path.isdir(f"{folder.root}/f")


def test_deleting_the_folder_follows_no_link(folder, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "kept.md").write_text("Kept.")
    folder.link("out", str(tmp_path / "far").encode())
    folder.link("gone", b"nowhere")
    folder.write("a/b/c.md", b"Text", 4)
    folder.delete()
    assert everything(tmp_path) == {"far/kept.md": "Kept."}
    assert not os.path.exists(folder.top)
