"""The effect of a change on a prompt: sections, tokens, the prefix, findings."""

from foreword import Agent, Assembler
from foreword.inspection.changes import BETWEEN_SECTIONS, Names
from foreword.inspection.effects import Effect, SectionEffect, measure_effect


def effect_of(tree, before, after):
    """Return the prompts before and after files change, and the effect, counting characters as tokens."""
    old = tree(before).prompt("ion", base="B.")
    new = tree(after).prompt("ion", base="B.")
    return old, new, measure_effect(old, new, len)


def test_a_changed_section_breaks_the_prefix_where_it_differs(tree):
    old, new, result = effect_of(tree, {"w/AGENTS.md": "One."}, {"w/AGENTS.md": "One. And two."})
    path = tree.path("w/AGENTS.md")
    before = len("# Project Instructions\nOne.")
    assert result.sections == (SectionEffect("project", ("changed",), before, before + 9, [path]),)
    assert (result.before, result.after) == (len(old.text), len(new.text))
    assert (result.kept, result.breaks) == (len(old.text), "")  # the old text is still the prefix


def test_a_change_in_the_middle_loses_the_rest_of_the_prefix(tree):
    files = {"home/.ion/AGENTS.md": "Ion.", "w/AGENTS.md": "Project."}
    old, _, result = effect_of(tree, files, {"home/.ion/AGENTS.md": "Iron."})
    assert [(section.section, *section.kinds, section.after - section.before) for section in result.sections] == [
        ("ion-local", "changed", 1)
    ]
    assert (result.kept, result.breaks) == (old.text.index("on.\n"), "ion-local")


def test_added_and_removed_sections_are_reported(tree):
    old, _, result = effect_of(tree, {"w/AGENTS.md": "Project."}, {"home/.ion/AGENTS.md": "Ion."})
    assert [(section.section, *section.kinds, section.before) for section in result.sections] == [
        ("ion-local", "added", 0)
    ]
    assert result.breaks == "project" and result.kept == old.text.index("Project Instructions")
    reverse = measure_effect(tree.prompt("ion", base="B."), old, len)
    assert [(section.section, *section.kinds, section.after) for section in reverse.sections] == [
        ("ion-local", "removed", 0)
    ]


def test_new_and_fixed_findings_are_reported_even_if_the_text_is_unchanged(tree):
    _, _, result = effect_of(tree, {"w/AGENTS.md": "X"}, {"w/CLAUDE.md": "Y"})
    assert not result.is_changed
    assert ([finding.code for finding in result.new_findings], result.fixed_findings) == (["file-shadowed"], ())


def test_an_unchanged_prompt_has_no_effect(tree):
    prompt = tree({"w/AGENTS.md": "X"}).prompt("ion")
    size = len(prompt.text)
    assert measure_effect(prompt, prompt, len) == Effect((), Names(), size, size, size, "", (), ())


def with_setting(tree, key, content):
    return Assembler(tree.workspace(), "ion", assignments=[(key, content)]).prompt(Agent(base="B."))


def test_a_changed_order_or_separator_is_an_effect(tree):
    tree({"w/AGENTS.md": "X", "home/.ion/AGENTS.md": "Y"})
    old = tree.prompt("ion", base="B.")
    names = [passage.section for passage in old.passages]
    result = measure_effect(old, with_setting(tree, "sections", names[::-1]), len)
    assert result.is_changed and len(result.section_names.moved) == len(names) - 1
    assert result.kept == 0
    result = measure_effect(old, with_setting(tree, "join", "\n"), len)
    assert [(section.section, *section.kinds) for section in result.sections] == [(BETWEEN_SECTIONS, "changed")]


def test_changed_tools_lose_the_entire_prefix(tree):
    prompt = tree({"w/AGENTS.md": "X"}).prompt("ion")
    result = measure_effect(prompt, prompt, len, ([{"name": "a"}], [{"name": "b"}]))
    assert (result.is_changed, result.tools, result.kept, result.breaks) == (True, Names(["b"], ["a"]), 0, "(tools)")
