"""Budgets are only exceeded with a finding, and nothing is cut without one."""

import re
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from foreword import Access, Agent, Scope, Tool, Workspace
from foreword.building.build import build
from foreword.layout.merging import assign
from foreword.layout.parse import parse
from foreword.packs.packs import shipped_layout
from foreword.text.tokens import estimate
from foreword.vocabulary import Candidate, Document, Inputs, Resident, Skill, digest

NOW = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)
WORKSPACE = Workspace("/w/a", "/w", "/home", "linux", {}, True)
AGENT = Agent(tools=[Tool("read"), Tool("bash")], plan="The plan.", scope=Scope([Access("/w", "write")]))

LAYOUT = {
    "about": "Two lookups of files, two menus, and sections that are never cut.",
    "sections": ["base", "files", "skills", "residents", "boundaries"],
    "find": {
        "far": {"files": ["home:x/*.md"]},
        "near": {"files": ["cwd:*.md"]},
        "skills": {"as": "skill", "files": ["cwd:skills/*/SKILL.md"]},
        "residents": {"as": "resident", "files": ["cwd:residents/*.md"]},
    },
    "section": {
        "base": {"text": "You are an agent of few words.", "wrap": "<base>\n{}\n</base>"},
        "files": {"sections": ["far", "near"], "wrap": "<files>\n{}\n</files>", "over": "cut"},
        "far": {"list": "far", "item": '<file path="{path|xml}">\n{text}\n</file>', "join": "\n\n"},
        "near": {"list": "near", "item": '<file path="{path|xml}">\n{text}\n</file>', "join": "\n\n"},
        "skills": {"list": "skills", "item": "- {name|xml}: {description|xml}", "short": "- {name|xml}", "wrap": "<skills>\n{}\n</skills>"},
        "residents": {"list": "residents", "item": "* {name}: {description|line}", "wrap": "<residents>\n{}\n</residents>"},
        "boundaries": {"list": "readable", "item": "  - {path}{mark}", "wrap": "<boundaries>\n{}\n</boundaries>"},
    },
}  # fmt: skip

# Files and menus

words = st.sampled_from(
    ["word", "Wort", "x", "日本語", "é", "👩‍👩‍👧", "a_b.c(1)", "</files>", "<file", "</filesystem>", "&amp;", "<", "`"]
)
lines = st.lists(words, max_size=12).map(" ".join)
blocks = st.one_of(lines, st.sampled_from(["```\ncode\n```", "```", "<!--", "", "# Title"]))
texts = st.builds(
    lambda parts, times: "\n".join(parts * times).strip("\n"),
    st.lists(blocks, min_size=1, max_size=8),
    st.integers(1, 12),
)
names = st.lists(st.text(st.sampled_from("abcdef&<"), min_size=1, max_size=8), max_size=30, unique=True)
descriptions = st.builds(
    lambda text, times: " ".join((text * times).split()),
    st.text(st.sampled_from('ab c.&<>"é日'), min_size=1, max_size=30),
    st.integers(1, 9),
)


@st.composite
def any_inputs(draw, files=st.lists(texts, max_size=5), skills=names, residents=names):
    """Draw the content of a workspace for the layout above."""
    documents = [Document(f"/{index}.md", text, digest(text)) for index, text in enumerate(draw(files)) if text.strip()]
    division = draw(st.integers(0, len(documents)))
    listed = [Skill(name, draw(descriptions) or "x", f"/s/{name}/SKILL.md") for name in sorted(draw(skills))]
    known = [Resident(name, draw(descriptions) or "x", f"/r/{name}.md") for name in sorted(draw(residents))]
    entries_by_rule = {
        "far": documents[:division],
        "near": documents[division:],
        "skills": listed,
        "residents": known,
    }
    candidates = tuple(Candidate(entry.path, "project", "used") for entry in (*documents, *listed, *known))
    return Inputs(WORKSPACE, {name: tuple(entries) for name, entries in entries_by_rule.items()}, candidates)


budgets = st.one_of(st.integers(1, 60), st.integers(1, 600), st.integers(1, 3_000))


def build_prompt(inputs, assignments=None, mapping=LAYOUT, name="own"):
    for key, content in (assignments or {}).items():
        mapping = assign(mapping, key, content)
    return build(parse(mapping, name, f"$std/{name}"), inputs, AGENT, None)


def passage_text(prompt, section):
    return next((passage.text for passage in prompt.passages if passage.section == section), "")


def file_texts(prompt):
    """Return the text of each file in the prompt, including its marks."""
    return dict(re.findall(r'<file path="([^"]*)">\n(.*?)\n</file>', prompt.text, re.DOTALL))


def kept_text(prompt):
    """Return the characters of each file that the prompt keeps, without marks."""
    own_text = {}
    for piece in (piece for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "file"):
        own_text[piece.origin.path] = own_text.get(piece.origin.path, "") + piece.text
    return own_text


def budget_codes(prompt):
    return [finding.code for finding in prompt.findings if finding.code.startswith("budget")]


def all_documents(inputs):
    return [*inputs.found["far"], *inputs.found["near"]]


MARK = r"\[foreword: cut here, about [\d,]+ tokens left out\]"


def check_cuts(before, after):
    """Check that each file is complete, cut with a mark, or gone, that the last two have findings, and that the farthest go first."""
    findings = {finding.path: finding.message for finding in after.findings if finding.code == "budget-file"}
    fates = {candidate.path: candidate.fate for candidate in after.candidates}
    may_be_whole = True
    for path, text in reversed(file_texts(before).items()):
        own_text, now = kept_text(after).get(path, ""), file_texts(after).get(path, "")
        assert kept_text(before)[path].startswith(own_text)
        if now == text:
            assert path not in findings and fates[path] == "used"
        else:
            assert findings[path].startswith(f"{path}: cut from {estimate(text):,} to {estimate(now):,} tokens; ")
            assert fates[path] == "cut"
            assert not now or re.search(rf"(?:\A|\n){MARK}\Z", now)
            assert estimate(now) < estimate(text)
        may_be_whole = check_order(text, now, own_text, may_be_whole)
    assert findings.keys() <= file_texts(before).keys()
    own_text = [piece.text for passage in after.passages for piece in passage.pieces if piece.origin.kind == "builtin"]
    assert tags(after.text) == [tag for text in own_text for tag in tags(text)]


def tags(text):
    """Return all tags around files; a cut must not create one from the beginning of a longer word."""
    return re.findall(r"<\s*/?\s*files?(?=[\s/>]|\Z)", text)


def check_order(text, now, own_text, may_be_whole):
    """Check that a farther file kept nothing if this one was cut, unless it is no longer than its mark."""
    is_short = estimate(text) <= estimate(f"[foreword: cut here, about {estimate(text):,} tokens left out]")
    assert may_be_whole or not own_text or (is_short and now == text)
    return may_be_whole and now == text


# The whole prompt


@given(inputs=any_inputs(), budget=budgets)
def test_the_prompt_keeps_its_budget_or_reports_what_is_too_large(inputs, budget):
    before, after = build_prompt(inputs), build_prompt(inputs, {"budget": budget})
    if estimate(before.text) <= budget:
        assert after == before
        return
    nearest = all_documents(inputs)[-1:]
    floor = "\n\n".join(filter(None, smallest_sections(inputs, before, nearest)))
    assert (estimate(floor) > budget) == ("budget-exceeded" in budget_codes(after)) == (estimate(after.text) > budget)
    if estimate(floor) > budget:
        assert after.text == floor
    assert {finding.severity for finding in after.findings if finding.code == "budget-exceeded"} <= {"error"}
    for section in ("base", "boundaries"):
        assert passage_text(after, section) == passage_text(before, section)
    for document in nearest:
        assert file_texts(after)[document.path] == file_texts(before)[document.path]
    check_cuts(before, after)


def smallest_sections(inputs, before, nearest):
    """Return the sections left after every cut. A menu is reduced to its counting line, or to its names if they are shorter."""
    is_nearest = bool(inputs.found["near"])
    entries_by_rule = {
        "far": () if is_nearest else nearest,
        "near": nearest if is_nearest else (),
        "skills": (),
        "residents": (),
    }
    smallest_prompt = build_prompt(
        Inputs(WORKSPACE, {name: tuple(entries) for name, entries in entries_by_rule.items()})
    )
    yield passage_text(before, "base")
    yield passage_text(smallest_prompt, "files")
    for names in (menu_of_names, menu_of_residents):
        if inputs.found["skills" if names is menu_of_names else "residents"]:
            yield min(names(inputs, None), names(inputs, 0), key=estimate)
    yield passage_text(before, "boundaries")


@given(inputs=any_inputs(), budget=budgets)
def test_menus_are_cut_before_files_before_residents_before_names(inputs, budget):
    before, after = build_prompt(inputs), build_prompt(inputs, {"budget": budget})
    far_files = {document.path for document in all_documents(inputs)[:-1]}
    if file_texts(after) != file_texts(before):
        assert passage_text(after, "skills") in ("", menu_of_names(inputs, None)) or "more left out" in passage_text(
            after, "skills"
        )
    if passage_text(after, "residents") != passage_text(before, "residents"):
        assert all(is_mark_or_short(before, after, path) for path in far_files)
    if "more left out" in passage_text(after, "skills"):
        residents = passage_text(after, "residents")
        assert residents in ("", menu_of_residents(inputs, None)) or "more left out" in residents
    if far_files - file_texts(after).keys():
        for section, names in (("skills", menu_of_names), ("residents", menu_of_residents)):
            assert passage_text(after, section) in ("", names(inputs, None), names(inputs, 0))


def is_mark_or_short(before, after, path):
    """Return whether only the mark of a file is left; a file no longer than its mark is not cut."""
    text = file_texts(before)[path]
    is_short = estimate(text) <= estimate(f"[foreword: cut here, about {estimate(text):,} tokens left out]")
    return not kept_text(after).get(path) or is_short


def amounts(inputs, prompt):
    """Return the remaining amount of everything that can be cut."""
    own_text = kept_text(prompt)
    yield from (len(own_text.get(document.path, "")) for document in all_documents(inputs))
    for section in ("skills", "residents"):
        words = "".join(
            piece.text
            for passage in prompt.passages
            if passage.section == section
            for piece in passage.pieces
            if piece.origin.kind in ("skill", "resident")
        )
        yield len(words)


@given(inputs=any_inputs(), key=st.sampled_from(["budget", "files.budget", "skills.budget"]), data=st.data())
def test_a_larger_budget_never_keeps_less(inputs, key, data):
    full_size = estimate(build_prompt(inputs).text)
    small = data.draw(st.integers(1, full_size))
    large = data.draw(st.one_of(st.integers(small, small + 5), st.integers(small, full_size + 1)))
    smaller, larger = (tuple(amounts(inputs, build_prompt(inputs, {key: budget}))) for budget in (small, large))
    assert [one for one, other in zip(smaller, larger, strict=True) if one > other] == []


@given(inputs=any_inputs(), budget=budgets)
def test_entries_missing_from_the_list_are_reported_as_cut(inputs, budget):
    after = build_prompt(inputs, {"budget": budget})
    present_paths = {piece.origin.path for passage in after.passages for piece in passage.pieces}
    entries = {entry.path for name in ("skills", "residents") for entry in inputs.found[name]}
    reason = f"left out of the list; the budget of the whole prompt is {budget:,} tokens"
    for candidate in (candidate for candidate in after.candidates if candidate.path in entries):
        assert (candidate.fate, candidate.reason) == (
            ("used", "") if candidate.path in present_paths else ("cut", reason)
        )


@given(inputs=any_inputs(), budget=budgets)
def test_a_prompt_budget_that_only_warns_cuts_nothing(inputs, budget):
    before, after = build_prompt(inputs), build_prompt(inputs, {"budget": budget, "over": "warn"})
    assert after.text == before.text
    assert budget_codes(after) == (["budget-prompt"] if estimate(before.text) > budget else [])


# A section of files


@given(inputs=any_inputs(skills=st.just([])), budget=budgets, over=st.sampled_from(["cut", "shorten"]))
def test_a_file_section_keeps_its_budget(inputs, budget, over):
    before, after = build_prompt(inputs), build_prompt(inputs, {"files.budget": budget, "files.over": over})
    assert estimate(passage_text(after, "files")) <= budget
    assert "budget-section" not in budget_codes(after)
    if estimate(passage_text(before, "files")) <= budget:
        assert after == before
    for section in ("base", "residents", "boundaries"):
        assert passage_text(after, section) == passage_text(before, section)
    check_cuts(before, after)


@given(inputs=any_inputs(skills=st.just([]), residents=st.just([])), budget=budgets)
def test_the_farthest_files_are_dropped_first(inputs, budget):
    after = build_prompt(inputs, {"files.budget": budget})
    paths = [document.path for document in all_documents(inputs)]
    assert list(file_texts(after)) == paths[len(paths) - len(file_texts(after)) :]


@given(inputs=any_inputs(), budget=budgets)
def test_a_section_budget_that_only_warns_cuts_nothing(inputs, budget):
    before, after = (
        build_prompt(inputs),
        build_prompt(inputs, {"files.budget": budget, "files.over": "warn", "near.over": "warn"}),
    )
    assert after.text == before.text
    assert budget_codes(after) == (["budget-section"] if estimate(passage_text(before, "files")) > budget else [])


# One file


@given(inputs=any_inputs(), budget=budgets)
def test_every_file_keeps_its_budget(inputs, budget):
    before, after = build_prompt(inputs), build_prompt(inputs, {"files.file_budget": budget})
    for path, text in file_texts(before).items():
        now = file_texts(after).get(path, "")
        assert estimate(now) <= budget
        assert (now == text) == (estimate(text) <= budget)
        assert [
            finding.path for finding in after.findings if finding.path == path and finding.code == "budget-file"
        ] == ([] if now == text else [path])
    for section in ("base", "skills", "residents", "boundaries"):
        assert passage_text(after, section) == passage_text(before, section)


# A menu


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def shorten(text, length):
    """Return the first `length` characters including the ellipsis, without splitting an escape."""
    if len(text) <= length:
        return text
    start = text[: length - 1]
    return re.sub(r"&[a-z]*\Z", "", start) + "…"


def menu_text(lines_of_menu):
    return "<skills>\n{}\n</skills>".format("\n".join(lines_of_menu))


def menu_with_descriptions(inputs, length):
    return menu_text(
        f"- {escape(skill.name)}: {shorten(escape(skill.description), length)}" for skill in inputs.found["skills"]
    )


def with_count(entries, count):
    """Return the first `count` entries and a line that counts the rest."""
    left = 0 if count is None else len(entries) - count
    return [*entries[:count], *([f"[foreword: {left:,} more left out]"] if left else [])]


def menu_of_names(inputs, count):
    return menu_text(with_count([f"- {escape(skill.name)}" for skill in inputs.found["skills"]], count))


def menu_of_residents(inputs, count):
    lines = with_count([f"* {resident.name}: " for resident in inputs.found["residents"]], count)
    return "<residents>\n{}\n</residents>".format("\n".join(lines))


@given(inputs=any_inputs(files=st.just([])), budget=budgets, over=st.sampled_from(["cut", "shorten"]))
@example(
    Inputs(
        WORKSPACE,
        {"far": (), "near": (), "residents": (), "skills": tuple(Skill(f"s{n}", "&" * 40, f"/{n}") for n in range(9))},
    ),
    95,
    "shorten",
)
def test_a_menu_shortens_evenly_then_keeps_names_then_counts(inputs, budget, over):
    before, after = build_prompt(inputs), build_prompt(inputs, {"skills.budget": budget, "skills.over": over})
    shown_menu, total = passage_text(after, "skills"), len(inputs.found["skills"])
    if estimate(passage_text(before, "skills")) <= budget:
        assert after == before
        return
    is_over = estimate(shown_menu) > budget
    assert budget_codes(after) == ["budget-list", *["budget-section"] * is_over]
    (message,) = [finding.message for finding in after.findings if finding.code == "budget-list"]
    cost = f"of {total:,} {'entry' if total == 1 else 'entries'} (from {estimate(passage_text(before, 'skills')):,} to {estimate(shown_menu):,} tokens); the budget of section 'skills' is {budget:,} tokens"
    assert message.endswith(cost)
    longest = max(len(escape(skill.description)) for skill in inputs.found["skills"])

    def fits(text):
        return estimate(text) <= budget

    if length := re.search(r"descriptions were shortened to ([\d,]+) characters", message):
        length = int(length[1].replace(",", ""))
        assert shown_menu == menu_with_descriptions(inputs, length) and fits(shown_menu)
        assert not fits(menu_with_descriptions(inputs, length + 1))
    elif is_over:
        assert shown_menu == min(menu_of_names(inputs, total), menu_of_names(inputs, 0), key=estimate)
    elif "only names were kept" in message:
        assert shown_menu == menu_of_names(inputs, total)
        assert longest <= 24 or not fits(menu_with_descriptions(inputs, 24))
    elif count := re.search(r"only the first ([\d,]+) names were kept", message):
        count = int(count[1].replace(",", ""))
        assert shown_menu == menu_of_names(inputs, count) and fits(shown_menu)
        assert not fits(menu_of_names(inputs, count + 1)) and not fits(menu_of_names(inputs, total))
    else:
        assert shown_menu == menu_of_names(inputs, 0) and not fits(menu_of_names(inputs, 1))
    for section in ("base", "residents", "boundaries"):
        assert passage_text(after, section) == passage_text(before, section)


@given(inputs=any_inputs(files=st.just([])), first=budgets, second=budgets)
def test_the_tighter_of_two_budgets_limits_a_menu(inputs, first, second):
    """The second budget counts names against the full menu, not against what the first budget left."""
    after = build_prompt(inputs, {"skills.budget": first, "budget": second})
    shown_menu, total = passage_text(after, "skills"), len(inputs.found["skills"])
    assert estimate(shown_menu) <= max(
        first, estimate(min(menu_of_names(inputs, 0), menu_of_names(inputs, total), key=estimate))
    )
    if left := re.search(r"\[foreword: ([\d,]+) more left out\]", shown_menu):
        assert shown_menu.count("\n- ") + int(left[1].replace(",", "")) == total
    findings = [finding.message.partition(":")[0] for finding in after.findings if finding.code == "budget-list"]
    assert sorted(findings) == sorted(
        {f"section '{name}'" for name in ("skills", "residents") if any(name in finding for finding in findings)}
    )


# Everything together


LAYOUTS = {
    "foreword": ({"project": "files", "user": "far"}, ["instructions", "project", "user", "skills", "identity", "boundaries"]),
    "ion": ({"project": "files", "global": "far"}, ["project", "global", "instructions", "base", "plan"]),
    "opal": ({"context": "files"}, ["context", "skills", "identity", "environment"]),
    "pi": ({"context": "files", "append": "far"}, ["context", "append", "skills", "tools", "guidelines"]),
    "pod": ({"project": "files"}, ["project", "knowledge", "workflows", "boundaries", "readable"]),
}  # fmt: skip


@st.composite
def tasks(draw):
    """Draw a shipped layout, something for each of its lookups, and random budgets."""
    layout = draw(st.sampled_from(list(LAYOUTS)))
    drawn = draw(any_inputs())
    mapping = shipped_layout(layout)
    entries_by_rule = dict.fromkeys(mapping.get("find", {}), ())
    for name, source in LAYOUTS[layout][0].items():
        entries_by_rule[name] = drawn.found["near" if source == "files" else "far"]
    entries_by_rule |= {name: drawn.found["skills"] for name in ("skills",) if name in entries_by_rule}
    entries_by_rule |= {name: drawn.found["residents"] for name in ("knowledge",) if name in entries_by_rule}
    sections = st.sampled_from(LAYOUTS[layout][1])
    keys = st.one_of(
        st.tuples(sections.map("section.{}.budget".format), budgets),
        st.tuples(sections.map("section.{}.file_budget".format), budgets),
        st.tuples(sections.map("section.{}.over".format), st.sampled_from(["warn", "cut", "shorten"])),
        st.tuples(st.just("budget"), budgets),
        st.tuples(st.just("over"), st.sampled_from(["warn", "cut"])),
    )
    return (
        layout,
        Inputs(WORKSPACE, entries_by_rule, drawn.candidates),
        dict(draw(st.lists(keys, min_size=1, max_size=6))),
    )


@given(task=tasks())
def test_any_budget_is_kept_in_any_layout(task):
    layout, inputs, assignments = task
    mapping = shipped_layout(layout)
    for key, content in assignments.items():
        mapping = assign(mapping, key, content)
    parsed = parse(mapping, layout, f"$std/{layout}")
    agent = AGENT if layout != "pi" else Agent(tools=AGENT.tools)
    after = build(parsed, inputs, agent, NOW)
    if parsed.budget and estimate(after.text) > parsed.budget:
        assert {"budget-exceeded", "budget-prompt"} & set(budget_codes(after))
    messages = [finding.message for finding in after.findings if finding.code == "budget-section"]
    for section in parsed.all_sections:
        text = passage_text(after, section.name)
        if section.budget and estimate(text) > section.budget:
            assert any(f"section '{section.name}'" in message for message in messages)
    boundaries = [passage.text for passage in after.passages if passage.section == "boundaries"]
    assert all("/w" in text for text in boundaries) and len(boundaries) == (layout in ("foreword", "pod"))
    assert after == build(parsed, inputs, agent, NOW)
