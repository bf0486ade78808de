"""Any saved form is compared or rejected without a traceback, and every comparison is correct."""

from __future__ import annotations

import itertools
import json
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from foreword.conversation.decide import drift
from foreword.encoding.prompt import account_form, prompt_from
from foreword.errors import CallError
from foreword.inspection.cache import best_order, breakpoints, count_kept, find_misplaced, segments_of
from foreword.inspection.diff import Edit, compare
from foreword.inspection.effects import measure_effect
from foreword.inspection.hunks import changed_lines, find_hunks, split_hunk
from foreword.inspection.prices import Price, ProviderRules
from foreword.inspection.rebuilding import RebuildCost, cache_reuse
from foreword.inspection.subject import Subject
from foreword.providers import request_for
from foreword.text.tokens import Count
from foreword.text.words import changed_spans
from foreword.vocabulary import LIFETIMES, Edition, Turn
from foreword.wire.answers import changes_form
from foreword.wire.differences import difference_form

words = st.text("ab \n<>é😀\ud800\0", max_size=12)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["start", "end", "kind", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def forms(draw):
    """Draw a form as `show --json` prints it, with any sections and origins; names may repeat."""
    text, passages = "", []
    for _ in range(draw(st.integers(0, 5))):
        text += "\n\n" if passages else ""
        start, origins = len(text), []
        for _ in range(draw(st.integers(0, 3))):
            position, piece = len(text), draw(words)
            text += piece
            kind = draw(st.sampled_from(["file", "builtin", "environment", "tool", "odd"]))
            path = draw(st.sampled_from(["/a", "/b", "now.long", ""]))
            lines = [1, 1 + piece.count("\n")] if kind == "file" else None
            origins.append(
                {"kind": kind, "path": path, "lines": lines, "start": position, "end": len(text), "hash": ""}
            )
        if draw(st.booleans()):
            text += draw(words)  # text outside every section
        lifetime, section = draw(st.sampled_from(LIFETIMES)), draw(st.sampled_from("stu"))
        passages.append(
            {"section": section, "start": start, "end": len(text), "lifetime": lifetime, "origins": origins}
        )
    return {"text": text, "layout": "x", "passages": passages}


@given(forms(), st.sampled_from(["text", "passages", "candidates", "layout"]), any_json, st.integers(0, 4), any_json)
def test_any_form_is_read_or_rejected(form, key, content, number, other):
    form = {**form, key: content}
    if (
        isinstance(form["passages"], list)
        and len(form["passages"]) > number
        and isinstance(form["passages"][number], dict)
    ):
        form["passages"][number] = {**form["passages"][number], "origins": [other], "start": other}
    try:
        prompt = prompt_from(json.loads(json.dumps(form)), "it")
    except CallError as error:
        assert str(error).startswith(("it: ", "it has no text"))
    else:
        assert all(passage.text == prompt.text[passage.start : passage.end] for passage in prompt.passages)


def apply_edits(old, new, edits):
    text, position = "", 0
    for edit in edits:
        text += old[position : edit.old[0]] + new[edit.new[0] : edit.new[1]]
        position = edit.old[1]
    return text + old[position:]


tools = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from("xyz")},
        optional={"description": st.sampled_from(["", "d"]), "schema": st.sampled_from([{}, {"a": 1}, {"a": True}])},
    ),
    max_size=4,
)
other_joins = st.sampled_from(["", "\n", "\n\n", " "])


@st.composite
def reordered(draw, form):
    """Draw the same sections in another order, with another separator and text after them."""
    join = draw(other_joins)
    text, passages = "", []
    for passage in draw(st.permutations(form["passages"])):
        text += join if passages else ""
        shift = len(text) - passage["start"]
        text += form["text"][passage["start"] : passage["end"]]
        origins = [
            {**origin, "start": origin["start"] + shift, "end": origin["end"] + shift} for origin in passage["origins"]
        ]
        passages.append(
            {**passage, "start": passage["start"] + shift, "end": passage["end"] + shift, "origins": origins}
        )
    return {**form, "text": text + draw(st.sampled_from(["", " ", "\n"])), "passages": passages}


pairs = forms().flatmap(lambda form: st.tuples(st.just(form), forms() | reordered(form)))


@given(pairs, tools, tools)
def test_comparisons_are_correct(forms, old_tools, new_tools):
    """A comparison reports a change exactly if the text or the tools sent differ, and all comparisons agree."""
    old = Subject("o", prompt_from(forms[0], "o"), old_tools)
    new = Subject("n", prompt_from(forms[1], "n"), new_tools)
    comparison = compare(old, new)
    assert bool(comparison.sections) == (old.prompt.text != new.prompt.text)
    assert comparison.tools.has_any == (_sent(old_tools) != _sent(new_tools))
    for section in comparison.sections:
        if section.edits and section.old and section.new:
            (a, b), (c, d) = section.old, section.new
            whole = apply_edits(old.prompt.text[:b], new.prompt.text, section.edits)[a:]
            assert whole == new.prompt.text[c:d] or section.section[0] == "("
    assert not compare(old, old).is_changed
    effects = measure_effect(old.prompt, new.prompt, len, (old_tools, new_tools))
    drifted = drift(*(_edition(form) for form in (old, new)))
    expected = changes_form(comparison)
    assert changes_form(effects) == changes_form(drifted) == expected
    json.dumps(difference_form(old, new, (Count(1, "x", True, 0.0),) * 2, comparison, RebuildCost(0, 0)))


def _sent(tools):
    """Return the bytes that a provider receives."""
    return json.dumps(request_for("openai", Turn("", 1, False, "", (), tools)).get("tools", []))


def _edition(subject):
    return Edition(1, subject.prompt.text, json.dumps(subject.tools), json.dumps(account_form(subject.prompt)))


RULES = (
    (
        partial(request_for, "anthropic"),
        ProviderRules("anthropic", ("tools", "system", "messages"), "breakpoints", 1, "m"),
    ),
    (partial(request_for, "openai"), ProviderRules("openai", ("system", "tools", "messages"), "prefix", 3, "m")),
)
PRICE = Price("m", "x", 1.0, 1.25, 0.1, 4)


@given(forms(), forms(), st.sampled_from(RULES))
def test_the_cached_part_is_a_common_prefix(first_form, second_form, rules):
    make, provider = rules
    tools = [{"name": "a", "description": "", "schema": {}}]
    subjects = [Subject("s", prompt_from(form, "s"), tools) for form in (first_form, second_form)]
    old, new = (segments_of(make(subject.turn), provider.order) for subject in subjects)
    total, shared, tokens = count_kept(old, new, provider, PRICE, len)
    before, after = ("".join(segment.text for segment in segments) for segments in (old, new))
    assert 0 <= tokens <= shared <= total == len(after)
    assert before[:shared] == after[:shared]
    reuse = cache_reuse((subjects[0], old), (subjects[1], new), provider, PRICE, len)
    assert reuse.rebuild.tokens_lost >= 0 and (reuse.first is None) <= (before == after)
    cuts = breakpoints(new, subjects[1].prompt, provider, PRICE, len)
    assert [cut.tokens for cut in cuts] == sorted(cut.tokens for cut in cuts)
    assert sorted(best_order(subjects[1].prompt)) == sorted(passage.section for passage in subjects[1].prompt.passages)
    assert len(find_misplaced(subjects[1].prompt, len)) <= len(subjects[1].prompt.passages)


lines = st.lists(st.sampled_from(["", "a", "b b", "c d e", "f"]), max_size=8).map("\n".join)


@given(lines, lines)
def test_hunks_and_their_parts_share_no_line_and_contain_every_change(old, new):
    edits = [Edit((a, b), (c, d)) for a, b, c, d in changed_spans(old, new)]
    hunks = find_hunks(edits, old, new)
    parts = [part for hunk in hunks for part in split_hunk(hunk, old, new)]
    for rows in (hunks, parts):
        for before, after in itertools.pairwise(rows):
            assert before.old[1] < after.old[0] and before.new[1] < after.new[0]
        assert [edit for row in rows for edit in row.edits] == edits
        assert all(changed_lines(row, old, new) != ([], []) for row in rows)
    assert sum(len(removed) - len(added) for removed, added in (changed_lines(row, old, new) for row in parts)) == (
        old.count("\n") - new.count("\n")
    )
