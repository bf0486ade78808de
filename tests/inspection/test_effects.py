"""The effect of a change on a prompt: sections, tokens, the prefix, findings."""

from foreword import Agent, Assembler
from foreword.inspection.changes import BETWEEN, Names
from foreword.inspection.effects import Effect, SectionEffect, effect


def effect_of(tree, before, after):
    """The effect of a change of files, counting characters as tokens."""
    old = tree(before).prompt("ion", base="B.")
    new = tree(after).prompt("ion", base="B.")
    return old, new, effect(old, new, len)


def test_a_changed_section_breaks_the_prefix_where_it_differs(tree):
    old, new, found = effect_of(tree, {"w/AGENTS.md": "One."}, {"w/AGENTS.md": "One. And two."})
    path = tree.path("w/AGENTS.md")
    before = len("# Project Instructions\nOne.")
    assert found.sections == (SectionEffect("project", ("changed",), before, before + 9, [path]),)
    assert (found.before, found.after) == (len(old.text), len(new.text))
    assert (found.kept, found.breaks) == (len(old.text), "")  # the old text is still the prefix


def test_a_change_in_the_middle_loses_the_rest_of_the_prefix(tree):
    files = {"home/.ion/AGENTS.md": "Ion.", "w/AGENTS.md": "Project."}
    old, _, found = effect_of(tree, files, {"home/.ion/AGENTS.md": "Iron."})
    assert [(section.section, *section.kinds, section.after - section.before) for section in found.sections] == [
        ("ion-local", "changed", 1)
    ]
    assert (found.kept, found.breaks) == (old.text.index("on.\n"), "ion-local")


def test_added_and_removed_sections_are_reported(tree):
    old, _, found = effect_of(tree, {"w/AGENTS.md": "Project."}, {"home/.ion/AGENTS.md": "Ion."})
    assert [(section.section, *section.kinds, section.before) for section in found.sections] == [
        ("ion-local", "added", 0)
    ]
    assert found.breaks == "project" and found.kept == old.text.index("Project Instructions")
    back = effect(tree.prompt("ion", base="B."), old, len)
    assert [(section.section, *section.kinds, section.after) for section in back.sections] == [
        ("ion-local", "removed", 0)
    ]


def test_new_and_fixed_findings_without_a_change_of_the_text(tree):
    _, _, found = effect_of(tree, {"w/AGENTS.md": "X"}, {"w/CLAUDE.md": "Y"})
    assert not found.is_changed
    assert ([finding.code for finding in found.new_findings], found.fixed_findings) == (["file-shadowed"], ())


def test_an_equal_prompt_has_no_effect(tree):
    prompt = tree({"w/AGENTS.md": "X"}).prompt("ion")
    size = len(prompt.text)
    assert effect(prompt, prompt, len) == Effect((), Names(), size, size, size, "", (), ())


def with_setting(tree, key, content):
    return Assembler(tree.workspace(), "ion", assignments=[(key, content)]).prompt(Agent(base="B."))


def test_a_changed_order_or_separator_is_an_effect(tree):
    tree({"w/AGENTS.md": "X", "home/.ion/AGENTS.md": "Y"})
    old = tree.prompt("ion", base="B.")
    names = [passage.section for passage in old.passages]
    found = effect(old, with_setting(tree, "sections", names[::-1]), len)
    assert found.is_changed and len(found.section_names.moved) == len(names) - 1
    assert found.kept == 0
    found = effect(old, with_setting(tree, "join", "\n"), len)
    assert [(section.section, *section.kinds) for section in found.sections] == [(BETWEEN, "changed")]


def test_changed_tools_lose_the_entire_prefix(tree):
    prompt = tree({"w/AGENTS.md": "X"}).prompt("ion")
    found = effect(prompt, prompt, len, ([{"name": "a"}], [{"name": "b"}]))
    assert (found.is_changed, found.tools, found.kept, found.breaks) == (True, Names(["b"], ["a"]), 0, "(tools)")
