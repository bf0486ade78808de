"""How Claude Code's attachments and messages are split into parts, each with its kind, its name and its path."""

import json

import pytest

from foreword.sessions.readers.claude_parts import PartMaker
from foreword.sessions.readers.rows import PICTURE, Texts


class Parts:
    """A log whose parts are shown with their texts: `("file", "", "/w/CLAUDE.md", "Be brief.")`."""

    def __init__(self):
        self.texts = Texts(lambda part, text: True)
        self.maker = PartMaker(self.texts)

    def shown(self, parts):
        return [(part.kind, part.name, part.path, self.texts.texts[part.hash]) for part in parts]

    def attach(self, kind, *rendered, **fields):
        row = {"attachment": {"type": kind, **fields}, "rendered": [{"content": text} for text in rendered]}
        return self.shown(self.maker.attach(row))

    def message(self, role, content, **options):
        return self.shown(self.maker.message({"role": role, "content": content}, **options))


FILE = {"path": "/w/CLAUDE.md", "content": "Be brief.\n"}
OTHER = {"path": "/w/api/AGENTS.md", "content": "\nUse tabs.\n"}


@pytest.mark.parametrize(
    ("kind", "fields", "text", "parts"),
    [
        ("date", {}, "Today.", [("clock", "", "", "Today.")]),
        ("skill", {"name": "deploy"}, "Deploy.", [("skill", "deploy", "", "Deploy.")]),
        ("invoked_skills", {"skill": "deploy"}, "Deploy.", [("skill", "deploy", "", "Deploy.")]),
        ("skill", {}, "Deploy.", [("skill", "", "", "Deploy.")]),
        ("mcp_instructions", {"addedNames": ["git"]}, "Use git.", [("server", "git", "", "Use git.")]),
        ("mcp_instructions_delta", {"addedNames": ["git", "gh"]}, "Use them.", [("server", "", "", "Use them.")]),
        ("mcp_instructions", {"addedNames": [7]}, "Use it.", [("server", "", "", "Use it.")]),
        ("mcp_instructions", {}, "Use it.", [("server", "", "", "Use it.")]),
        ("file", {"filename": "a.py"}, "x = 1", [("result", "Read", "", "x = 1")]),
        ("todo", {}, "Nothing to do.", [("prompt", "todo", "", "Nothing to do.")]),
        # Instruction files, and what the program writes around them.
        ("instructions", {"files": [FILE]}, "Be brief.", [("file", "", "/w/CLAUDE.md", "Be brief.")]),
        (
            "instructions",
            {"files": [FILE, {"path": ""}, 7, OTHER]},
            "Rules:\nBe brief.\n\nand\nUse tabs.\nEnd.",
            [
                ("prompt", "instructions", "", "Rules:\n"),
                ("file", "", "/w/CLAUDE.md", "Be brief."),
                ("prompt", "instructions", "", "\n\nand\n"),
                ("file", "", "/w/api/AGENTS.md", "Use tabs."),
                ("prompt", "instructions", "", "\nEnd."),
            ],
        ),
        ("instructions", {"files": [FILE]}, "1 Be short.", [("file", "", "/w/CLAUDE.md", "1 Be short.")]),
        ("instructions", {"files": [FILE, OTHER]}, "Nothing.", [("prompt", "instructions", "", "Nothing.")]),
        ("instructions", {"files": "none"}, "Nothing.", [("prompt", "instructions", "", "Nothing.")]),
        ("nested_memory", {"content": FILE}, "Be brief.", [("file", "", "/w/CLAUDE.md", "Be brief.")]),
        ("nested_memory", {"path": "/w/x.md", "content": "Be brief."}, "Be brief.", [("file", "", "/w/x.md", "Be brief.")]),
        ("edited_text_file", {"filename": "C:\\w\\CLAUDE.md", "snippet": "New."}, "1 New.", [("prompt", "instructions", "", "1 "), ("file", "", "C:\\w\\CLAUDE.md", "New.")]),
        ("edited_text_file", {"filename": "/w/a.py", "snippet": "New."}, "1 New.", [("prompt", "edited_text_file", "", "1 New.")]),
        # The menu of skills, by its lines.
        (
            "skill_listing",
            {"names": ["a", "b"]},
            "Skills:\n- a: Does a.\n  And more.\n- not: one\n- b: Does b.\n</skills>\nEnd.",
            [
                ("prompt", "skill_listing", "", "Skills:"),
                ("skills", "a", "", "- a: Does a.\n  And more.\n- not: one"),
                ("skills", "b", "", "- b: Does b."),
                ("prompt", "skill_listing", "", "</skills>\nEnd."),
            ],
        ),
        ("skill_listing", {}, "- a: Does a.\n- b: Does b.", [("skills", "a", "", "- a: Does a."), ("skills", "b", "", "- b: Does b.")]),
    ],
)  # fmt: skip
def test_an_attachment_is_what_it_says_and_is_found_again_in_a_message(kind, fields, text, parts):
    log = Parts()
    assert log.attach(kind, text, **fields) == parts
    assert log.message("user", text) == log.message("system", text) == parts
    assert log.message("user", f"{text} ") == [("message", "", "", f"{text} ")]


def test_attachments_are_found_in_a_message_that_joins_them():
    log = Parts()
    texts = [f"{word} is what you should do in all of these cases." for word in ("One", "Two", "Three")]
    reminders = [f"<system-reminder>\n{text}\n</system-reminder>" for text in texts]
    for name, reminder in zip("abc", reminders, strict=True):
        assert log.attach("skill", reminder, name=name) == [("skill", name, "", reminder)]
        assert log.message("user", f"{reminder}\n") == [("skill", name, "", reminder)]
    joined = f"Before.\n\n{texts[0]}\n\n\n{texts[2]}\n\nBetween.\n\n{texts[1]}\n"
    assert log.message("system", joined) == [
        ("prompt", "system", "", "Before.\n\n"),
        ("skill", "a", "", reminders[0]),
        ("skill", "c", "", reminders[2]),
        ("prompt", "system", "", "\n\nBetween.\n\n"),
        ("skill", "b", "", reminders[1]),
    ]
    assert log.message("system", texts[1]) == [("skill", "b", "", reminders[1])]


def test_an_older_attachment_without_its_text_has_only_files():
    log = Parts()
    for kind, fields, parts in (
        ("nested_memory", {"content": FILE}, [("file", "", "/w/CLAUDE.md", "Be brief.\n")]),
        ("instructions", {"files": [FILE]}, [("file", "", "/w/CLAUDE.md", "Be brief.\n")]),
        ("date", {}, []),
    ):
        assert log.shown(log.maker.attach({"attachment": {"type": kind, **fields}})) == parts
    assert log.maker.attach({"attachment": "none", "rendered": []}) == ()
    assert log.maker.attach({"attachment": {"type": "date"}, "rendered": [7, {"content": 7}]}) == ()


IMAGE = {"type": "image", "source": {"type": "base64", "data": "x" * 5000}}


@pytest.mark.parametrize(
    ("role", "content", "parts"),
    [
        ("user", "Hi.", [("message", "", "", "Hi.")]),
        ("user", [{"type": "text", "text": "Hi."}], [("message", "", "", "Hi.")]),
        ("assistant", "Hello.", [("answer", "", "", "Hello.")]),
        ("assistant", [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hello."}], [("answer", "thinking", "", "Hm."), ("answer", "", "", "Hello.")]),
        ("assistant", [{"type": "tool_use", "id": "1", "name": "Read", "input": {"a": 1}}], [("answer", "Read", "", '{"a":1}')]),
        ("user", [{"type": "tool_result", "tool_use_id": "known", "content": "Done."}], [("result", "Bash", "", "Done.")]),
        ("user", [{"type": "tool_result", "tool_use_id": "new", "content": [{"text": "A"}, {"text": "B"}]}], [("result", "", "", "A\nB")]),
        ("user", [{"type": "tool_result", "tool_use_id": "known"}], [("result", "Bash", "", "")]),
        ("user", [{"type": "odd", "a": 1}], [("message", "", "", '{"type":"odd","a":1}')]),
        ("assistant", [{"type": "odd"}], [("answer", "", "", '{"type":"odd"}')]),
        ("user", [7, {"type": "text", "text": "Hi."}], [("message", "", "", "Hi.")]),
        ("user", 7, []),
        ("system", "Be kind.", [("prompt", "system", "", "Be kind.")]),
        ("user", "<system-reminder>\nNew.\n</system-reminder>", [("prompt", "reminder", "", "<system-reminder>\nNew.\n</system-reminder>")]),
    ],
)  # fmt: skip
def test_a_message_has_a_part_for_each_block(role, content, parts):
    log = Parts()
    log.maker.note_calls({"content": [{"type": "tool_use", "id": "known", "name": "Bash"}, {"type": "text"}, 7]})
    log.maker.note_calls({"content": "text"})
    assert log.message(role, content) == parts


def test_a_summary_is_a_part_of_its_own():
    assert Parts().message("user", "So far.", is_summary=True) == [("summary", "", "", "So far.")]


@pytest.mark.parametrize("block", [IMAGE, {"type": "tool_result", "content": [{"type": "text", "text": "A"}, IMAGE]}])
def test_a_picture_counts_with_a_size_of_its_own(block):
    (part,) = Parts().maker.message({"role": "user", "content": [block]})
    assert PICTURE < part.size < PICTURE + 200


def test_the_tools_and_the_system_prompt_come_first():
    log = Parts()
    tools = [
        {"name": "Read", "cache_control": {"type": "ephemeral"}},
        {"name": "mcp__git__log"},
        {"type": "web_search"},
        {"name": "late", "defer_loading": True},
        7,
    ]
    parts = [
        ("tool", "Read", "", json.dumps({"name": "Read"}, separators=(",", ":"))),
        ("tool", "mcp__git__log", "git", '{"name":"mcp__git__log"}'),
        ("tool", "web_search", "", '{"type":"web_search"}'),
    ]
    system = [("prompt", "system", "", "One."), ("prompt", "system", "", "Two.")]
    blocks = [{"type": "text", "text": "One."}, "Two.", {"text": ""}]
    assert log.shown(log.maker.shape({"tools": tools, "system": blocks})) == parts + system
    assert log.shown(log.maker.shape({"systemPrompt": "One."})) == system[:1]
    assert log.maker.shape({"tools": "none", "system": 7}) == ()


def test_a_message_that_the_log_does_not_have_is_unknown():
    part = Parts().maker.missing("abc")
    assert (part.kind, part.hash, part.size) == ("unknown", "abc", 0)
