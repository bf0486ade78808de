"""From which object folders git may borrow, although the list of them comes with the workspace."""

import os
import types

import pytest

from foreword.sources.alternates import unsafe_alternate
from foreword.sources.reader import Reader

ADVICE = "; to copy the objects into this repository, run git repack -a -d and delete that file"


@pytest.fixture
def check(tree):
    """Returns why git must not borrow what `w` lists. `deep` contains a repository that `near` borrows from."""
    for name in ("w", "near", "deep", "evil"):
        tree({f"{name}/.git/objects/info": None, f"{name}/.git/refs": None})
    tree({"near/.git/objects/info/alternates": tree.path("deep/.git/objects") + "\n", "loose/objects": None})

    def check(lists, inside=(), reader=None):
        tree({"w/.git/objects/info/alternates": lists})
        reader = reader or Reader()
        checked = []

        def check_folder(path):
            checked.append(tree.short(path))
            return "it has a link" if "evil" in path else ""

        why = unsafe_alternate(tree.path("w/.git/objects"), reader, [tree.path(path) for path in inside], check_folder)
        return tree.short(why), checked

    return check


@pytest.mark.parametrize(
    ("lists", "reason", "checked"),
    [
        ("", "", ""),
        ("# /elsewhere/.git/objects\n\n", "", ""),
        ("../../../near/.git/objects\n", "", "near deep"),
        ("{top}/near/.git/objects\n", "", "near deep"),
        ("{top}/near/.git/objects", "", "near deep"),
        ("{top}/deep/.git/objects\n{top}/near/.git/objects\n", "", "deep near"),
        ("{top}/deep/.git/objects\n{top}/deep/.git/objects\n", "", "deep"),
        ("{top}/w/.git/objects\n", "", ""),
        ("{top}/missing/.git/objects\n", "", ""),
        ("{top}/evil/.git/objects\n", "it has a link", "evil"),
        ("{top}/loose/objects\n", "/loose/objects is not the object folder of a git repository", ""),
        ("{top}/near/.git\n", "/near/.git is not the object folder of a git repository", ""),
        ('"{top}/near/.git/objects"\n', '"/near/.git/objects" is in quotation marks', ""),
        ('"{top}/missing"\n', '"/missing" is in quotation marks', ""),
    ],
)
def test_objects_are_borrowed_only_from_the_object_folders_of_repositories(tree, check, lists, reason, checked):
    refers = f"/w/.git/objects/info/alternates refers to objects elsewhere: {reason}{ADVICE}"
    folders = [f"/{name}/.git/objects" for name in checked.split()]
    assert check(lists.replace("{top}", tree.top)) == (refers if reason else "", folders)


@pytest.mark.parametrize(("inside", "reason"), [(["w"], "near"), (["w", "near"], "deep"), (["w", "near", "deep"], "")])
def test_a_service_borrows_only_from_what_it_serves(tree, check, inside, reason):
    place = "w" if reason == "near" else "near"
    why = f"/{reason}/.git/objects is not in a folder that this service may read"
    expected = f"/{place}/.git/objects/info/alternates refers to objects elsewhere: {why}{ADVICE}"
    assert check(tree.path("near/.git/objects"), inside)[0] == (expected if reason else "")


def test_a_list_that_cannot_be_read_is_unsafe(tree, check):
    assert check("x" * 20_000_000)[0].startswith("/w/.git/objects/info/alternates: ")
    tree({"near/.git/objects/info/alternates.d": None})
    os.unlink(tree.path("near/.git/objects/info/alternates"))
    os.mkfifo(tree.path("near/.git/objects/info/alternates"))
    assert check("../../../near/.git/objects\n")[0].startswith("/near/.git/objects/info/alternates: ")


@pytest.mark.parametrize("count", [20, 21])
def test_at_most_twenty_folders_are_listed(tree, check, count):
    for number in range(count):
        tree({f"many/{number}/objects": None, f"many/{number}/refs": None})
    why, checked = check("".join(f"{tree.path(f'many/{number}/objects')}\n" for number in range(count)))
    assert ("it lists too many folders" in why, len(checked)) == (count > 20, count)


class OwnedBy:
    """The disk, on which the files of one repository belong to this user."""

    def __init__(self, user):
        self.user = user

    def __getattr__(self, name):
        return getattr(os, name)

    def stat(self, path):
        status = os.stat(path)
        fields = {name: getattr(status, name) for name in dir(status) if name.startswith("st_")}
        return types.SimpleNamespace(**fields | ({"st_uid": self.user} if "/deep/" in path else {}))


@pytest.mark.parametrize(
    ("user", "owner", "is_refused"),
    [(1000, 1000, False), (1000, 0, False), (1000, 1001, True), (0, 1000, True), (None, 1001, False)],
)
def test_the_folder_must_belong_to_this_user_or_to_root(check, monkeypatch, user, owner, is_refused):
    if user is None:
        monkeypatch.delattr(os, "geteuid")
    else:
        monkeypatch.setattr(os, "geteuid", lambda: user)
    why, _ = check("../../../deep/.git/objects\n", reader=Reader(disk=OwnedBy(owner)))
    assert ("belongs to another user" in why) is is_refused
