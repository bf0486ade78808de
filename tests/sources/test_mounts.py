"""Which paths are on disks of this machine, according to the system's table of mounted file systems."""

import pytest

from foreword.sources.mounts import are_local

TABLE = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 8:1 / / rw,relatime shared:1 - {root} /dev/sda1 rw
31 27 0:40 / {top}/remote rw,relatime shared:2 master:1 - nfs4 server:/export rw,addr=10.0.0.1
32 27 0:41 / {top}/my\\040files rw - fuse.sshfs me@server: rw
33 31 8:2 / {top}/remote/disk rw - xfs /dev/sdb1 rw
34 27 0:42 / {top}/scratch rw shared:3 - tmpfs tmpfs rw
"""


@pytest.fixture
def table(tmp_path):
    def write(root="ext4"):
        path = tmp_path / "mountinfo"
        path.write_text(TABLE.format(top=tmp_path, root=root))
        return str(path)

    return write


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], True),
        (["", "w", "scratch/w", "remote-not", "my"], True),
        (["remote"], False),
        (["w", "remote/w"], False),
        (["my files/w"], False),
        (["remote/disk/w"], False),  # the way to it is remote
        (["link"], False),
        (["link/w"], False),
    ],
)
def test_paths_are_local_unless_one_is_on_a_remote_file_system(tmp_path, table, paths, expected):
    (tmp_path / "link").symlink_to(tmp_path / "remote")
    (tmp_path / "remote/w").mkdir(parents=True)
    assert are_local([str(tmp_path / path) for path in paths], table()) is expected


def test_nothing_is_local_if_the_root_is_not(tmp_path, table):
    assert not are_local([str(tmp_path)], table(root="9p"))


@pytest.mark.parametrize("content", [None, "27 1 8:1 / \n", "not a table of mounts\n"])
def test_nothing_is_local_if_the_system_does_not_say_so(tmp_path, content):
    path = tmp_path / "mountinfo"
    if content is not None:
        path.write_text(content)
    assert not are_local([str(tmp_path)], str(path))
