"""Touching files: which instruction files and rules are sent, once, in which order, and what happens when things go wrong."""

import math
import os
import re
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

from foreword import Agent, CallError, Conversations, Workspace
from foreword.errors import StoreError
from foreword.gathering import gather as gather_module
from foreword.gathering import touched as gathering
from foreword.programs.question import Question
from foreword.programs.touch import touched_by
from foreword.sources import stamps

RULE = "---\npaths: '{}'\n---\n{}\n"
TREE = {
    "w/.git": None,
    "w/AGENTS.md": "root",
    "w/a/AGENTS.md": "in a",
    "w/a/b/AGENTS.md": "in b",
    "w/a/b/c/z.py": "print()",
    "w/.claude/rules/python.md": RULE.format("**/*.py", "for python"),
    "w/.claude/rules/web.md": RULE.format("web/**", "for the web"),
}


def files_in(touched):
    """The paths in the messages, relative to the workspace, with whether they are marked as changed."""
    paths = re.findall(r'<(?:instruction-file|rule) path="[^"]*/w/([^"]*)"( changed="yes")?>', touched.text)
    return [path + (" changed" if changed else "") for path, changed in paths]


@pytest.fixture
def conversation(tree, open_conversation):
    tree(TREE)
    return open_conversation()


ALL = ["a/AGENTS.md", "a/b/AGENTS.md", ".claude/rules/python.md"]


def test_a_touch_sends_nested_files_outermost_first_and_then_matching_rules_once(conversation):
    touched = conversation.touch(["a/b/c/z.py"])
    assert files_in(touched) == ALL
    assert [message["role"] for message in touched.messages] == ["user"]
    assert conversation.touch(["a/b/c/z.py"]).messages == ()
    assert conversation.touch(["a/b/other.py"]).messages == ()
    assert files_in(conversation.touch(["web/index.html"])) == [".claude/rules/web.md"]


def test_candidates_say_what_happened_to_each_file(conversation):
    fates = {
        candidate.path.rpartition("/w/")[2]: candidate.fate for candidate in conversation.touch(["a/z.py"]).candidates
    }
    assert fates == {
        "a/AGENTS.md": "used",
        ".claude/rules/python.md": "used",
        ".claude/rules/web.md": "waiting",
    }
    fates = {
        candidate.path.rpartition("/w/")[2]: candidate.fate for candidate in conversation.touch(["a/b/z.py"]).candidates
    }
    assert fates["a/AGENTS.md"] == "duplicate"


def test_every_kind_of_rule_applies_by_its_own_field(tree, open_conversation):
    tree(
        {
            "w/.git": None,
            "w/.agents/rules/a.md": RULE.format("src/**", "agents"),
            "w/.claude/rules/b.md": RULE.format("src/**", "claude"),
            "w/.github/instructions/c.instructions.md": "---\napplyTo: 'src/**,lib/**'\n---\ngithub",
            "w/.cursor/rules/d.mdc": "---\nglobs: src/**/*.ts,*.tsx\nalwaysApply: false\n---\ncursor",
            "w/.cursor/rules/e.mdc": "---\nalwaysApply: true\n---\nalways",
            "w/.cursor/rules/f.mdc": "---\ndescription: by hand\n---\nnever",
            "w/.claude/rules/g.md": "for every file",
            "w/src/.cursor/rules/h.mdc": "---\nglobs: x.ts\n---\nnested",
        }
    )
    sent = files_in(open_conversation().touch(["src/x.ts"]))
    assert sent == [
        ".agents/rules/a.md",
        ".claude/rules/b.md",
        ".claude/rules/g.md",
        ".github/instructions/c.instructions.md",
        ".cursor/rules/d.mdc",
        ".cursor/rules/e.mdc",
        "src/.cursor/rules/h.mdc",
    ]
    assert files_in(open_conversation(id="u").touch(["other.md"])) == [".claude/rules/g.md", ".cursor/rules/e.mdc"]


@pytest.mark.parametrize(
    ("globs", "path", "applies"),
    [
        ("src/**", "web/src/x.ts", True),
        ("web/src/**", "web/src/x.ts", True),
        ("src/**", "src/x.ts", False),
        ("web/src/**", "src/x.ts", False),
        ("*.ts, !web/src/gen/**", "web/src/gen/x.ts", False),
        ("*.ts, !src/gen/**", "web/src/gen/x.ts", False),
        ("*.css; *.ts; !*.test.ts", "web/x.ts", True),
        ("*.css; *.ts; !*.test.ts", "web/x.test.ts", False),
    ],
)
def test_globs_of_a_rule_in_a_subfolder_are_relative_to_it_or_to_the_root(
    tree, open_conversation, globs, path, applies
):
    tree({"w/.git": None, "w/web/.cursor/rules/r.mdc": f"---\nglobs: {globs}\n---\nnested"})
    assert files_in(open_conversation().touch([path])) == ["web/.cursor/rules/r.mdc"] * applies


SKILL = "---\nname: {0}\ndescription: About {0}.\n{1}---\nThe body of {0}.\n"


@pytest.fixture
def with_skills(tree, open_conversation):
    """A conversation in a workspace with a skill for every file and two for some."""
    scopes = {"any": "", "all": "paths: '**'\n", "py": "paths: ['*.py', 'lib']\n", "web": "paths: web/**\n"}
    files = {f"w/.claude/skills/{name}/SKILL.md": SKILL.format(name, paths) for name, paths in scopes.items()}
    tree({**files, "w/.git": None})
    return open_conversation(tools="read_file")


def test_a_skill_with_paths_is_listed_when_such_a_file_is_touched(with_skills, contents):
    system = with_skills.turn("hello").system
    assert [name for name in ("any", "all", "py", "web") if f"About {name}." in system] == ["any", "all"]
    assert with_skills.touch(["README.md"]).messages == ()
    touched = with_skills.touch(["lib/x.txt"])
    assert re.findall(r"- (.*) \(.*/w/(.*)\)", touched.text) == [("py: About py.", ".claude/skills/py/SKILL.md")]
    assert {
        candidate.path.rpartition("/")[0].rpartition("/")[2]: candidate.fate for candidate in touched.candidates
    } == {
        "py": "used",
        "web": "waiting",
    }
    assert with_skills.touch(["a.py"]).messages == ()
    with_skills.compact()
    returned = contents(with_skills.turn("go on", [{"role": "summary", "content": "so far"}]).messages)
    assert [text for text in returned if "About py." in text] and "About web." not in str(returned)


def test_a_skill_that_waits_can_be_used_by_name(with_skills):
    assert "The body of web." in with_skills.use_skill("web")["content"]


def test_a_skill_is_not_listed_for_an_agent_that_cannot_load_one(with_skills, open_conversation):
    touched = open_conversation(id="u").touch(["a.py"])
    assert touched.messages == ()
    assert [finding.code for finding in touched.findings] == ["skills-unlisted"]


def test_a_layout_may_list_skills_with_paths_from_the_start(tree, with_skills):
    prompt = tree.prompt("foreword", tools="read_file", set={"find.skills.scoped": "list"})
    assert "About web." in prompt.text
    ignored = [message for code, message in tree.messages(prompt) if code == "skill-field"]
    assert ignored == ["its paths are ignored: this layout lists every skill from the start"] * 2


def test_a_changed_file_is_sent_again_once_and_says_so(tree, conversation):
    conversation.touch(["a/b/c/z.py"])
    tree({"w/a/AGENTS.md": "in a, but longer"})
    assert files_in(conversation.touch(["a/b/c/z.py"])) == ["a/AGENTS.md changed"]
    assert conversation.touch(["a/b/c/z.py"]).messages == ()


def test_a_compaction_sends_touched_files_again_with_the_next_turn(tree, open_conversation, contents):
    tree(TREE)
    before = open_conversation()
    before.touch(["a/b/c/z.py"])
    before.compact()
    tree({"w/a/AGENTS.md": "in a, newer"})
    after = open_conversation()
    turn = after.turn("go on", [{"role": "summary", "content": "so far"}])
    returned = "\n".join(contents(turn.messages))
    assert "in a, newer" in returned and "in b" in returned and "for python" in returned
    assert "for the web" not in returned
    assert open_conversation().touch(["a/b/c/z.py"]).messages == ()
    assert contents(open_conversation().turn("more", turn.history).messages)[: len(turn.messages)] == contents(
        turn.messages
    )


def test_a_touch_after_a_compaction_sends_a_file_only_once(conversation, contents):
    conversation.touch(["a/z.py"])
    conversation.compact()
    touched = conversation.touch(["a/z.py"])
    assert files_in(touched) == ["a/AGENTS.md", ".claude/rules/python.md"]
    assert contents(conversation.turn("go on", touched.messages).messages) == [*contents(touched.messages), "go on"]


def test_a_file_in_the_prompt_is_not_sent_again(tree, open_conversation):
    tree({**TREE, "w/a/b/CLAUDE.md": "other", "w/x/AGENTS.md": "root"})
    conversation = open_conversation(cwd="w/a/b")
    assert files_in(conversation.touch(["c/z.py"])) == [".claude/rules/python.md"]
    assert files_in(conversation.touch(["../../x/z.txt"])) == []  # the same text as the root's file


def test_a_copy_of_a_file_in_the_prompt_is_reported_instead_of_sent(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": "Root.", "w/a/AGENTS.md": "\r\nRoot.\n", "w/a/b/AGENTS.md": "B."})
    touched = open_conversation().touch(["a/b/x"])
    assert "Root." not in touched.text
    assert "B." in touched.text
    assert tree.messages(touched) == [
        ("file-duplicate", "/w/a/AGENTS.md: the same text as /w/AGENTS.md, which is in the prompt")
    ]
    assert [tree.short(item.target) for item in touched.candidates if item.fate == "duplicate"] == ["/w/AGENTS.md"]


def test_touching_a_file_beside_the_working_directory_sends_its_folders_instructions(tree, open_conversation):
    tree({**TREE, "w/web": None})
    assert files_in(open_conversation(cwd="w/web").touch(["../a/z.txt"])) == ["a/AGENTS.md"]


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../outside.py", "link/x.py", "\0", "", "a/../../x", pytest.param("a/" * 2048 + "z", id="long")],
)
def test_a_path_outside_the_workspace_adds_only_a_finding(tree, open_conversation, path):
    tree({**TREE, "out/AGENTS.md": "outside", "out/x.py": ""})
    os.symlink(tree.path("out"), tree.path("w/link"))
    touched = open_conversation().touch([path])
    assert touched.messages == ()
    assert [finding.code for finding in touched.findings] == ["touch-outside"]


def test_a_working_directory_that_was_deleted_is_an_error_of_the_call(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(CallError, match="the working directory no longer exists; pass an existing directory"):
        Conversations().open("t", Workspace("."), Agent()).touch(["x"])


def test_a_link_inside_the_workspace_counts_as_the_file_it_leads_to(tree, open_conversation):
    tree({**TREE, "w/.agents/rules/l.md": RULE.format("short/**", "for the link")})
    os.symlink(tree.path("w/a/b"), tree.path("w/short"))
    sent = files_in(open_conversation().touch(["short/c/z.py"]))
    assert sent == ["a/AGENTS.md", "a/b/AGENTS.md", ".agents/rules/l.md", ".claude/rules/python.md"]


def test_deleted_and_new_files_are_matched_by_their_paths(tree, conversation):
    assert files_in(conversation.touch(["a/new/deep/file.py"], "create")) == ["a/AGENTS.md", ".claude/rules/python.md"]
    os.remove(tree.path("w/a/AGENTS.md"))
    assert conversation.touch(["a/other/file.py"]).messages == ()


def test_instructions_in_other_peoples_code_are_not_sent(tree, open_conversation):
    tree({"w/.git": None, "w/node_modules/x/AGENTS.md": "theirs", "w/a/AGENTS.md": "ours"})
    assert files_in(open_conversation().touch(["node_modules/x/index.js", "a/x.js"])) == ["a/AGENTS.md"]


def messages_of_findings(touched):
    return [
        finding.message.partition(": ")[2] for finding in touched.findings if finding.code == "front-matter-invalid"
    ]


@pytest.mark.parametrize(
    ("paths", "problem"),
    [
        ("{a: b}", "its paths is a set of fields, not text or a list, and is ignored"),
        ("5", "its paths is a single value, not text or a list, and is ignored"),
        ("[{a: b}]", "its paths contains a set of fields, which is ignored; put quotes around each glob"),
        (f"'lib/**, {'x' * 1001}'", "a glob of 1,001 characters is ignored; the limit is 1,000"),
        (f"'lib/**{', x' * 1000}'", "only the first 1,000 of its 1,001 globs are used"),
        (
            f"'lib/**, {'{a,b}' * 30}'",
            f"its glob {'{a,b}' * 11}{{a,b… has more than 100 alternatives in braces; some of them are ignored",
        ),
    ],
)
def test_globs_that_are_ignored_are_reported(tree, open_conversation, paths, problem):
    tree({"w/.git": None, "w/.claude/rules/r.md": f"---\npaths: {paths}\n---\nR"})
    touched = open_conversation().touch(["lib/x.py"])
    assert messages_of_findings(touched) == [problem]
    assert files_in(touched) == [".claude/rules/r.md"]


def test_nested_lists_of_globs_are_flattened(tree, open_conversation):
    tree({"w/.git": None, "w/.claude/rules/r.md": "---\npaths: [[lib/**], x]\n---\nR"})
    assert files_in(open_conversation().touch(["lib/x.py"])) == [".claude/rules/r.md"]


def test_front_matter_that_is_too_long_still_limits_a_rule(tree, open_conversation):
    long = f"---\nnote: '{'x' * 33_000}'\npaths: 'web/**'\n---\nR"
    tree({"w/.git": None, "w/.claude/rules/r.md": long})
    conversation = open_conversation()
    [problem] = messages_of_findings(conversation.touch(["lib/x.py"]))
    assert problem.endswith("more than 32,768; it was read line by line")
    assert files_in(conversation.touch(["web/x.py"])) == [".claude/rules/r.md"]


@pytest.mark.parametrize(
    ("paths", "how"),
    [("a.py", "read"), (["a.py"], "write"), ([1], "read"), ({"a"}, "read"), (["a.py"] * 1001, "read")],
)
def test_an_invalid_call_is_an_error(conversation, paths, how):
    with pytest.raises(CallError):
        conversation.touch(paths, how)


def test_a_layout_without_touch_sends_nothing(tree, open_conversation):
    tree(TREE)
    assert open_conversation("opal").touch(["a/b/c/z.py"]).messages == ()


def test_a_layout_may_react_to_only_some_kinds_of_touches(tree, open_conversation):
    tree(TREE)
    conversation = open_conversation(set={"touch.on": ["edit"]})
    assert conversation.touch(["a/z.py"]).messages == ()
    assert files_in(conversation.touch(["a/z.py"], "edit")) == ["a/AGENTS.md", ".claude/rules/python.md"]


def test_what_does_not_fit_the_budget_is_sent_by_later_touches(tree, open_conversation):
    tree({**TREE, "w/a/AGENTS.md": "first line\n" * 400, "w/a/b/AGENTS.md": "second line\n" * 400})
    conversation = open_conversation(set={"touch.budget": 1500})
    sent = [files_in(conversation.touch(["a/b/c/z.py"])) for _ in range(4)]
    assert sum(map(len, sent)) == len(ALL)
    assert {path for batch in sent for path in batch} == set(ALL)
    assert conversation.touch(["a/b/c/z.py"]).messages == ()


def test_what_an_unavailable_store_prevents_is_sent_later(tree, open_conversation, monkeypatch, contents):
    tree(TREE)
    conversation = open_conversation()
    conversation.turn("hello")
    store = conversation.shared.store
    with monkeypatch.context() as patch:

        def fail(*_, **__):
            raise StoreError("the store is down")

        for name in ("current", "save_state", "publish"):
            patch.setattr(store, name, fail)
        touched = conversation.touch(["a/z.py"])
        assert touched.messages == ()
        assert [finding.code for finding in touched.findings][-1] == "touch-later"
        conversation.touch(["a/b/z.txt"])
    turn = conversation.turn("go on")
    assert "in a" in contents(turn.messages)[0] and "in b" in contents(turn.messages)[0]
    assert conversation.touch(["a/z.py", "a/b/z.txt"]).messages == ()


@pytest.mark.parametrize("layout", ["opal", "foreword"])
def test_touches_that_send_nothing_do_not_wait_for_the_store(tree, open_conversation, monkeypatch, layout):
    tree(TREE)
    conversation = open_conversation(layout, set={"touch.on": ["edit"]} if layout == "foreword" else {})
    conversation.turn("hello")
    with monkeypatch.context() as patch:

        def fail(*_, **__):
            raise StoreError("the store is down")

        for name in ("current", "save_state", "publish"):
            patch.setattr(conversation.shared.store, name, fail)
        assert [finding.code for finding in conversation.touch(["a/z.py"]).findings] == ["store-down"]
    assert len(conversation.turn("go on").messages) == 1


def test_instructions_that_the_caller_has_added_to_its_messages_are_its_own(tree, open_conversation, contents):
    """They are not sent again, not even when the caller removes them."""
    tree(TREE)
    conversation = open_conversation()
    conversation.turn("hello")
    history = [{"role": "user", "content": "hello"}, *conversation.touch(["a/z.py"]).messages]
    texts = contents(conversation.turn("go on", messages=history).messages)
    assert sum("in a" in text for text in texts) == 1
    texts = contents(conversation.turn("and on", messages=history[:1]).messages)
    assert sum("in a" in text for text in texts) == 0


def test_what_waits_for_the_store_still_waits_after_an_interruption(tree, open_conversation, monkeypatch, contents):
    tree(TREE)
    conversation = open_conversation()
    conversation.turn("hello")

    def fail(error):
        def call(*_, **__):
            raise error

        return call

    for error in (StoreError("the store is down"), KeyboardInterrupt()):
        with monkeypatch.context() as patch:
            for name in ("current", "save_state", "publish"):
                patch.setattr(conversation.shared.store, name, fail(error))
            with suppress(KeyboardInterrupt):
                conversation.touch(["a/z.py"])
    assert "in a" in contents(conversation.turn("go on").messages)[0]


def test_a_known_path_costs_at_most_three_stat_calls(tree, conversation, monkeypatch):
    conversation.touch(["a/b/c/z.py"])
    calls = []

    def counted(original):
        def call(*args, **more):
            calls.append(original.__name__)
            return original(*args, **more)

        return call

    for name in ("stat", "lstat", "fstat", "scandir", "listdir", "open"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    counts = []
    for _ in range(10):
        calls.clear()
        conversation.touch(["a/b/c/z.py"])
        counts.append(len(calls))
    assert max(counts) <= 3


def test_a_change_to_any_file_is_noticed_after_some_touches_of_a_known_path(tree, open_conversation):
    tree({**TREE, **{f"w/.agents/rules/{n}.md": RULE.format("**/*.py", f"rule {n}") for n in range(9)}})
    conversation = open_conversation()
    count = len(files_in(conversation.touch(["a/b/c/z.py"])))
    tree({"w/.agents/rules/7.md": RULE.format("**/*.py", "rule seven")})
    touches = 2 * math.ceil(count / 3)
    sent = [path for _ in range(touches) for path in files_in(conversation.touch(["a/b/c/z.py"]))]
    assert (count, sent) == (12, [".agents/rules/7.md changed"])


@pytest.mark.parametrize("number", [9, 250])
def test_a_change_is_noticed_by_the_first_touch_after_a_turn(tree, open_conversation, number):
    tree({**TREE, **{f"w/.agents/rules/{n}.md": RULE.format("*.py", f"rule {n}") for n in range(9)}})
    tree({f"w/.agents/rules/x{n}.md": RULE.format("web/**", f"other {n}") for n in range(number - 9)})
    conversation = open_conversation()
    paths = ["a/b/c/z.py", "a/z.py", "z.py"]
    for path in paths:
        conversation.touch([path])
    tree({"w/.agents/rules/7.md": RULE.format("*.py", "rule seven")})
    conversation.turn("go on")
    assert [files_in(conversation.touch([path])) for path in paths] == [[".agents/rules/7.md changed"], [], []]


def test_a_rule_that_starts_to_apply_to_a_known_path_is_sent_after_a_new_path(tree, conversation):
    conversation.touch(["a/z.py"])
    tree({"w/.claude/rules/web.md": RULE.format("**", "for all")})
    assert files_in(conversation.touch(["a/b/z.txt"])) == ["a/b/AGENTS.md", ".claude/rules/web.md"]
    tree({"w/.claude/rules/later.md": RULE.format("a/z.py", "for one")})
    conversation.touch(["a/y.txt"])
    assert files_in(conversation.touch(["a/z.py"])) == [".claude/rules/later.md"]


def test_a_path_in_another_folder_does_not_search_for_the_same_rules_again(tree, conversation, monkeypatch):
    searched = []
    original = gather_module.TextSearch
    later = SimpleNamespace(time_ns=lambda: time.time_ns() + 10**10)  # by then, all files are old enough to be trusted
    monkeypatch.setattr(stamps, "time", later)
    monkeypatch.setattr(
        gather_module, "TextSearch", lambda lookup, *rest: (searched.append(lookup.name), original(lookup, *rest))[1]
    )
    conversation.touch(["a/z.py"])
    first = set(searched)
    searched.clear()
    conversation.touch(["a/b/z.py"])
    assert {"rules", "nested"} <= first
    assert set(searched) == {"nested", "nested_rules", "nested_cursor"}


def test_two_thousand_rules_are_compiled_once(tree, open_conversation, monkeypatch):
    rules = {f"w/.claude/rules/{n:05}.md": RULE.format(f"d{n}/**", f"rule {n}") for n in range(2_000)}
    tree({"w/.git": None, **rules})
    compiled = []
    original = gathering.scope_of
    monkeypatch.setattr(gathering, "scope_of", lambda *args: (compiled.append(1), original(*args))[1])
    conversation = open_conversation()
    for number in (5, 77, 1_999):
        assert files_in(conversation.touch([f"d{number}/x.py"])) == [f".claude/rules/{number:05}.md"]
    assert len(compiled) == 2_000


def test_many_touches_of_known_paths_do_not_grow_the_conversation(conversation):
    conversation.touch(["a/z.py"])
    before = conversation.shared.store.current("t")
    for number in range(2_000):
        conversation.touch(["a/z.py", f"a/z{number % 7}.py"])
    assert conversation.shared.store.current("t") == before


@pytest.mark.parametrize("layout", ["foreword", "claude", "copilot", "cursor", "gemini"])
@pytest.mark.parametrize("path", ["a/b/c/z.py", "web/index.html", "/etc/passwd"])
def test_the_question_about_a_touch_answers_as_a_new_conversation_does(tree, layout, path):
    tree(
        {**TREE, "w/CLAUDE.md": "root", "w/a/CLAUDE.md": "root", "w/.cursor/rules/p.mdc": "---\nglobs: '*.py'\n---\nx"}
    )
    workspace = Workspace(tree.path("w"), home=tree.path("home"))
    question = Question({"cwd": tree.path("w"), "home": tree.path("home"), "layout": layout, "paths": [path]})
    with Conversations() as conversations:
        conversation = conversations.open("one", workspace, layout=layout, mirror=True)
        assert touched_by(question) == conversation.touch([path])
