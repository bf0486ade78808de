"""The views of a folder, of layouts and of editions: what they show is what the service answers."""

import json
import re
import subprocess

import pytest
from playwright.sync_api import expect
from test_everywhere import reached_by_tab

from foreword.cli import main
from foreword.inspection.agents import READ_VERDICTS

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-views")
BODY = {"cwd": ".", "layout": "foreword", "tools": [{"name": "read"}]}
CHOICES = "layout=foreword&tools=read"


@pytest.fixture(scope="module")
def seen_site(shared_site):
    """A service with rules, a mistake in a file, and a conversation with two editions."""
    (shared_site.shop / ".claude/rules").mkdir(parents=True)
    (shared_site.shop / ".claude/rules/api.md").write_text('---\npaths: "api/**"\n---\nValidate every input.\n')
    shared_site.construct("seen", layout="opal", model="claude-opus-4-5", tools=[{"name": "read"}])
    (shared_site.shop / "AGENTS.md").write_text("# Shop\n\nRun `make check`.\nSee [the guide](missing.md).\n")
    shared_site.call("POST", "/conversations/seen/reload", {"cwd": str(shared_site.shop)})
    usage = {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 50}
    shared_site.call("POST", "/conversations/seen/usage", {"usage": usage, "model": "claude-opus-5"})
    by_ada = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    for arguments in (("init", "-q"), ("add", "AGENTS.md"), (*by_ada, "commit", "-qm", "Say how to check")):
        subprocess.run(["git", *arguments], cwd=shared_site.shop, check=True)
    return shared_site


@pytest.fixture
def printed(seen_site, monkeypatch, capsys):
    """A function that returns what a command prints with `--json`, for the same folder, home and store."""
    monkeypatch.chdir(seen_site.shop)
    monkeypatch.setenv("HOME", str(seen_site.folder / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("FOREWORD_STORE", seen_site.store)

    def run(*arguments):
        main([*arguments, "--json"])
        return json.loads(capsys.readouterr().out)

    return run


def region(page, name):
    return page.get_by_role("region", name=name, exact=True)


def test_the_prompt_and_its_tokens_match_the_service(open_page, seen_site):
    prompt = seen_site.call("POST", "/show", BODY)
    page = open_page(f"{seen_site.url}/#/workspace/prompt?{CHOICES}")
    text = page.get_by_role("group", name="Prompt with origins")
    expect(text).to_have_text(prompt["text"], use_inner_text=False)
    sections = [passage["section"] for passage in prompt["passages"]]
    expect(text.get_by_role("heading")).to_have_count(len(sections))
    assert text.get_by_role("heading").evaluate_all("(all) => all.map((one) => one.ariaLabel)") == sections
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("ControlOrMeta+c")
    assert page.evaluate("navigator.clipboard.readText()") == prompt["text"]
    text.locator(".k-file").first.click()
    page.get_by_role("link", name="Show in files").click()
    expect(page.locator(".file[aria-current]")).to_contain_text("AGENTS.md")
    page.go_back()
    tokens = region(page, "Where the tokens go")
    expect(tokens.locator(".total")).to_contain_text(f"{prompt['tokens']['count']:,} tokens")
    for passage in prompt["passages"]:
        row = tokens.get_by_role("row", name=re.compile(f"^{passage['section']}"))
        expect(row.locator(".figure").first).to_have_text(f"{passage['tokens']:,}")
    counts = tokens.locator("tbody tr:not(.source) .count")
    tokens.get_by_role("button", name="Tokens", exact=True).click()
    expect(tokens.get_by_role("columnheader", name="Tokens")).to_have_attribute("aria-sort", "descending")
    largest = [int(text.replace(",", "")) for text in counts.all_inner_texts()]
    assert largest == sorted(largest, reverse=True)


def test_findings_are_in_the_margin_and_hidden_characters_are_marks(open_page, own_site):
    site = own_site()
    hidden = "".join(map(chr, (0x202E, 0x61, 0xE0041, 0xE0042, 0x62, 0x200B, 0x63, 0x1B, 0x64, 0x2066)))
    text = f"# Shop\n\nSee [the guide](missing.md).\nPrices {hidden} are integers. 👩\u200d👩\u200d👧\n"
    (site.shop / "AGENTS.md").write_text(text)
    page = open_page(f"{site.url}/#/workspace/prompt?{CHOICES}")
    prompt = page.get_by_role("group", name="Prompt with origins")
    expect(prompt.locator(".hidden-character")).to_have_count(len(find_runs(text)))
    assert prompt.evaluate("(element) => element.textContent") == site.call("POST", "/show", BODY)["text"]
    marks = prompt.locator(".margin-mark")
    expect(marks.filter(visible=True).first).to_have_attribute("title", re.compile("missing.md does not exist"))
    guide, mark = prompt.get_by_text("See [the guide]").bounding_box(), marks.first.bounding_box()
    assert mark["x"] + mark["width"] <= guide["x"]
    listed = region(page, "Where the tokens go").get_by_role("list").last.get_by_role("listitem")
    expect(listed.filter(has_text="missing.md does not exist").get_by_role("button")).to_have_text("AGENTS.md:3")
    listed.filter(has_text="missing.md does not exist").get_by_role("button").click()
    expect(page.locator(".prompt .origin.selected")).to_be_in_viewport()
    # An override acts only inside its mark: the words after it are still to its right.
    prices, are = (
        prompt.evaluate(
            "(host, word) => { const walker = document.createTreeWalker(host, 4); while (walker.nextNode()) { const at = walker.currentNode.data.indexOf(word); if (at >= 0) { const range = document.createRange(); range.setStart(walker.currentNode, at); range.setEnd(walker.currentNode, at + word.length); return range.getBoundingClientRect().left; } } }",
            word,
        )
        for word in ("Prices", "are integers")
    )
    assert prices < are


def find_runs(text):
    """Return the runs of hidden characters that lint reports."""
    from foreword.text.hidden import _runs

    return list(_runs(text, 1))


def test_why_answers_for_any_path(open_page, own_site):
    site = own_site()
    (site.shop / "api/CLAUDE.md").write_text("Be careful.\n")
    page = open_page(f"{site.url}/#/workspace/files?{CHOICES}")
    box = page.get_by_label("Path of a file, relative to the folder")
    answer = page.get_by_role("list", name="Answer")
    box.fill("api/CLAUDE.md")
    expect(answer).to_have_text(
        "api/CLAUDE.md is not in this prompt: api/AGENTS.md comes before it. Claude, copilot, droid, gptme and grok read it."
        " To include it: move its text into api/AGENTS.md."
    )
    box.fill("docs/style.md")
    expect(answer).to_contain_text("docs/style.md is not in this prompt: the layout 'foreword' does not read it")
    page.get_by_role("button", name="AGENTS.md", exact=True).click()
    expect(answer).to_contain_text("AGENTS.md is in this prompt.")
    expect(box).to_have_value("AGENTS.md")
    expect(page.get_by_text("AGENTS.override.md")).not_to_be_visible()  # folded, because it does not exist
    page.get_by_text(re.compile("that would be read, if they existed")).click()
    expect(page.get_by_text("AGENTS.override.md")).to_be_visible()


def test_lint_says_how_many_files_it_did_not_check(open_page, own_site):
    site = own_site()
    (site.shop / "api/AGENTS.md").write_text("See [the guide](gone.md).\n")
    page = open_page(f"{site.url}/#/workspace/lint?{CHOICES}")
    lint = region(page, "Lint")
    expect(lint).to_contain_text("1 instruction file in other folders was not checked.")
    lint.get_by_role("button", name="Check it too").click()
    expect(lint).to_contain_text("gone.md does not exist")
    expect(lint).not_to_contain_text("not checked")


def test_every_number_matches_the_command(open_page, seen_site, printed):
    page = open_page(f"{seen_site.url}/#/workspace/prompt?layout=foreword")
    counted = printed("tokens", ".", "--layout", "foreword")
    expect(page.locator(".source-table .total")).to_contain_text(f"{counted['tokens']['count']:,} tokens")
    numbers = [row["tokens"] for passage in counted["passages"] for row in (passage, *passage["sources"])]
    expect(page.locator(".source-table tbody td.count")).to_have_text([f"{number:,}" for number in numbers])
    adds_up = sum(passage["tokens"] for passage in counted["passages"]) == counted["tokens"]["count"] and all(
        sum(source["tokens"] for source in passage["sources"]) == passage["tokens"] for passage in counted["passages"]
    )
    expect(page.get_by_text("counted on its own")).to_have_count(0 if adds_up else 1)
    authors = printed("blame", ".", "--layout", "foreword", "--git", "--by", "author")["sums"]
    expect(page.locator(".author-sums li")).to_have_text(
        [f"{author['name']} {author['tokens']:,}" for author in authors]
    )
    expect(page.locator("tr.fill-file")).to_contain_text(re.compile(r"Ada · (just now|\d+ min ago)"))
    page.get_by_role("link", name="Lint").click()
    counts = printed("lint", ".", "--layout", "foreword")["counts"]
    expect(region(page, "Lint")).to_contain_text(f"{counts['error']} errors, {counts['warning']} warning")
    page.get_by_role("link", name="Agents").click()
    agents = printed("agents", ".")["agents"]
    tokens = page.locator(".matrix thead tr", has_text="Tokens").locator("td")
    expect(tokens).to_have_text([f"{agent['tokens']['count']:,}" for agent in agents])
    skills = printed("tokens", ".", "--layout", "foreword", "--tool", "bash")["passages"]
    (source,) = [row for passage in skills for row in passage["sources"] if row["kind"] == "skill"]
    page.goto(f"{seen_site.url}/#/workspace/skills?layout=foreword&tools=bash")
    expect(page.get_by_role("list", name="In the prompt")).to_contain_text(f"{source['tokens']} tokens")

    page.goto(f"{seen_site.url}/#/conversations/seen")
    current = printed("diff", "conversation:seen", "conversation:seen")["new"]
    expect(page.locator(".figure", has_text="Tokens in use").locator(".number")).to_have_text(
        f"{current['tokens']['count']:,}"
    )
    tokens = region(page, "Where the tokens go")
    for edition in (2, 1):
        region(page, "Prompt").get_by_label("Edition").select_option(str(edition))
        counted = printed("tokens", f"conversation:seen@{edition}")
        expect(tokens.locator(".total")).to_contain_text(f"{counted['tokens']['count']:,} tokens")
        numbers = [row["tokens"] for passage in counted["passages"] for row in (passage, *passage["sources"])]
        tools = [tool["tokens"] for tool in counted["tools"]]
        expect(tokens.locator("tbody td.count")).to_have_text(
            [f"{number:,}" for number in (*numbers, sum(tools), *tools)]
        )
        expect(tokens.locator(".total")).to_contain_text(f"plus {sum(tools)} for tools")
    losses = printed("cache", "conversation:seen@1", "conversation:seen@2")["providers"]
    assert losses[0]["cacheable"] == 0
    expect(region(page, "Editions")).to_contain_text(f"too short for the cache of {losses[0]['provider']}.")
    usage = printed("conversation", "show", "seen")["usage"]
    expect(page.locator(".facts")).to_contain_text(f"{usage['input']:,} tokens in, {usage['output']:,} out, 90% of")

    page.goto(f"{seen_site.url}/#/")
    figures = {
        "Cache hit rate": "90%",
        "Cost": f"${usage['cost']:.4f}",
        "Conversations": str(len(printed("conversation", "list"))),
        "Behind": "0",
    }
    for name, number in figures.items():
        expect(page.locator(".figure", has_text=name).locator(".number")).to_have_text(number)
    found = printed("lint", str(seen_site.shop), "--layout", "foreword")["findings"]
    expect(page.locator(".figure", has_text="Findings").locator(".number")).to_have_text(str(len(found)))


ODD = "\r\n".join(
    ("# Odd", "\ttab and trailing spaces  ", "line\u2028separator\u2029", "👩‍👩‍👧 e\u0301 \U0010ffff", "\u202eright to left\u202c \u200b\ufeff", "<b>&amp;</b>", "\x01\x1b[31m\x7f\x85", "x" * 200_000, "", "")
)  # fmt: skip


def test_the_prompt_on_the_page_is_the_prompt_byte_for_byte(open_page, seen_site):
    folder = seen_site.shop / "odd"
    folder.mkdir()
    (folder / "AGENTS.md").write_bytes(ODD.encode())
    seen_site.call("POST", "/conversations/odd/construct", {"cwd": str(folder), "layout": "opal"})
    served = {
        "workspace/prompt?cwd=odd&layout=opal": seen_site.call("POST", "/show", {"cwd": "odd", "layout": "opal"})[
            "text"
        ],
        "conversations/odd": seen_site.call("GET", "/conversations/odd")["system"],
    }
    page = open_page(seen_site.url)
    for view, text in served.items():
        assert "x" * 200_000 in text
        page.goto(f"{seen_site.url}/#/{view}")
        prompt = page.get_by_role("group", name="Prompt with origins")
        expect(prompt).to_contain_text("trailing spaces")
        assert prompt.evaluate("(element) => element.textContent") == text
    seen_site.call("DELETE", "/conversations/odd")
    (folder / "AGENTS.md").unlink()


def test_the_heads_of_the_table_of_agents_stay_above_its_rows(open_page, seen_site):
    page = open_page(f"{seen_site.url}/#/workspace/agents", width=500, height=160)
    # Scroll until the name of the first file is where the head is.
    covering = """table => {
        const [head, row] = [table.tHead.rows[0].cells[0], table.tBodies[0].rows[0].cells[0]];
        table.scrollIntoView();
        table.parentElement.scrollTop = row.offsetTop;
        const { left, top, width, height } = head.getBoundingClientRect();
        return [table.parentElement.scrollTop, document.elementFromPoint(left + width / 2, top + height / 2).closest("th").textContent];
    }"""
    scrolled, name = page.locator(".matrix").evaluate(covering)
    assert scrolled > 0
    assert name == "File"


def test_the_workspace_opens_with_the_agents_and_folds_files_that_none_reads(open_page, own_site):
    site = own_site()
    rule = site.shop / ".cursor/rules/money.mdc"
    rule.parent.mkdir(parents=True)
    rule.write_text("\n")
    page = open_page(f"{site.url}/#/workspace")
    files = page.locator(".matrix tbody th")
    expect(files.filter(has_text=re.compile("^AGENTS.md$"))).to_be_visible()
    expect(files.filter(has_text="money")).to_have_count(0)
    page.get_by_role("button", name="Show 1 file that no agent reads").click()
    expect(files.last).to_have_text(".cursor/rules/money.mdc")
    agents = page.get_by_role("columnheader")
    expect(agents.filter(has_text="gemini")).to_have_count(0)
    page.get_by_role("group", name="Agents").get_by_role("button", name="gemini", exact=True).click()
    expect(agents.filter(has_text="gemini")).to_have_count(1)
    page.get_by_role("group", name="Agents").get_by_role("button", name="codex", exact=True).click()
    expect(agents.filter(has_text="codex")).to_have_count(0)


def test_an_unknown_address_says_so(open_page, seen_site):
    page = open_page(f"{seen_site.url}/#/nonsense")
    expect(page.get_by_role("heading", name="There is nothing at this address")).to_be_visible()
    expect(page.locator("main")).to_contain_text("#/nonsense is not the address of a view.")
    expect(page).to_have_title("Unknown address · Foreword")
    page.get_by_role("link", name="Go to the overview").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def test_each_tab_shows_its_answer(open_page, seen_site):
    page = open_page(f"{seen_site.url}/#/workspace/files?{CHOICES}")
    for candidate in seen_site.call("POST", "/why", BODY):
        name = candidate["path"].rsplit("/", 1)[1]
        row = page.locator(".file", has_text=name).filter(has_text=candidate["fate"])
        expect(row.first).to_contain_text(candidate["layer"])
    page.get_by_role("link", name="Agents").click()
    table = seen_site.call("POST", "/agents", {"cwd": "."})
    heads = [f"{agent['name']} {agent['mirrors']}" for agent in table["agents"]]
    expect(page.get_by_role("columnheader")).to_have_text(["File", *heads])
    own = [f"{agent['own']['prompt'] + agent['own']['tools']:,}" if agent["own"] else "–" for agent in table["agents"]]
    figures = page.locator(".matrix thead td")
    expect(figures).to_have_text([*(f"{agent['tokens']['count']:,}" for agent in table["agents"]), *own])
    read = [file for file in table["files"] if any(verdict["verdict"] in READ_VERDICTS for verdict in file["verdicts"])]
    verdicts = [verdict["verdict"].replace("-", " ") for file in read for verdict in file["verdicts"]]
    cells = page.locator(".matrix tbody td")
    expect(cells).to_have_text(verdicts)
    legend = page.get_by_role("list", name="Verdicts")
    expect(legend.get_by_text("all of it is in the prompt")).to_be_visible()
    expect(page.locator(".matrix [tabindex='0']")).to_have_count(1)  # not one tab stop for each cell
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    expect(cells.nth(1)).to_be_focused()
    expect(region(page, "Files by agent").get_by_role("status")).to_contain_text(table["agents"][1]["name"])
    page.get_by_role("link", name="Lint").click()
    lint = region(page, "Lint")
    expect(lint).to_contain_text("missing.md does not exist")
    expect(lint.locator(".excerpt").first).to_contain_text("4 See [the guide](missing.md).")
    page.get_by_role("link", name="Skills").click()
    unlisted = region(page, "Not in the prompt")
    expect(region(page, "Skills")).to_contain_text("1 of 1 in the prompt")
    expect(unlisted).to_have_count(0)
    page.get_by_label("Tools").fill("Edit")
    expect(unlisted).to_contain_text("the list needs a tool that can load skills · .agents/skills/release/SKILL.md")
    page.get_by_label("Tools").fill("Bash, Edit")
    expect(unlisted).to_have_count(0)
    page.get_by_text("Cuts a release of the shop.").click()
    expect(region(page, "What activating release sends")).to_contain_text("Tag it.")
    page.get_by_label("Layout").select_option("claude")
    page.get_by_label("Path, relative to the folder").fill("api/x.py")
    expect(region(page, "Message 1")).to_contain_text("Validate every input.")
    page.reload()
    expect(region(page, "Message 1")).to_contain_text("Validate every input.")  # the path is in the address


def test_a_layout_is_tried_as_it_is_written_and_its_errors_are_at_their_line(open_page, seen_site):
    page = open_page(f"{seen_site.url}/#/layouts")
    code = page.locator(".cm-content")

    def write(text):
        code.focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.press("Delete")
        page.keyboard.insert_text(text)

    layout = 'sections = ["a"]\n\n[section.a]\ntext = "Hello from {cwd}."\n'
    write(layout)
    expect(page.get_by_role("group", name="Prompt with origins")).to_contain_text("Hello from")
    write(f"{layout}texts = 1\n")
    expect(page.get_by_role("alert")).to_contain_text("texts")
    expect(page.locator(".cm-lintRange-error")).to_have_count(1)
    write(layout)
    expect(page.get_by_role("alert")).to_have_count(0)
    page.keyboard.press("ControlOrMeta+f")
    page.keyboard.type("hello")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 of 1")
    page.keyboard.press("Escape")
    expect(page.get_by_role("search")).to_have_count(0)
    expect(code).to_be_focused()
    page.reload()
    expect(code).to_contain_text("Hello from")  # nothing typed is lost


def test_a_source_in_the_table_leads_to_its_text(open_page, seen_site):
    page = open_page(f"{seen_site.url}/#/conversations/seen", width=360, height=740)
    tokens = region(page, "Where the tokens go")
    section = seen_site.call("POST", "/tokens", {"cwd": ".", "prompt": "conversation:seen"})["passages"][-1]["section"]
    expect(tokens.get_by_role("row", name=re.compile(rf"^{section} \d+"))).to_be_visible()
    tokens.get_by_role("button", name=re.compile("^File .*AGENTS.md")).click()
    expect(page.locator(".prompt .origin.selected")).to_be_in_viewport()


def test_a_conversation_can_be_read_with_the_keyboard_alone(open_page, seen_site):
    page = open_page(f"{seen_site.url}/#/conversations")
    expect(page.get_by_role("link", name=re.compile("^seen"))).to_be_visible()
    while "seen" not in page.evaluate("document.activeElement.textContent.slice(0, 4)"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="seen")).to_be_visible()
    expect(page.get_by_role("button", name="Copy prompt")).to_be_visible()
    expect(page.get_by_label("Compare edition").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Section and source"))).to_be_visible()
    expect(page.get_by_role("group", name="Prompt with origins")).to_be_visible()
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)
    reached = reached_by_tab(page)
    names = [
        "← Conversations",
        "Forget…",
        "Rebuild…",
        "Compare edition",
        "Section and source",
        "Edition",
        "Copy prompt",
    ]
    positions = [next(at for at, name in enumerate(reached) if name.startswith(start)) for start in names]
    assert positions == sorted(positions), reached
    assert "Prompt with origins" in reached[positions[-1] :]


def test_the_panes_of_the_playground_fit_into_the_window(open_page, seen_site):
    page = open_page(f"{seen_site.url}/#/layouts")
    panes = page.locator(".playground > section")
    prompt = page.get_by_role("group", name="Prompt with origins")
    expect(prompt).to_be_visible()
    layout, text = (panes.nth(index).bounding_box() for index in (0, 1))
    assert layout["y"] == text["y"] and layout["x"] + layout["width"] < text["x"]
    assert layout["height"] == text["height"] <= 900 - layout["y"]
    assert prompt.evaluate("(pane) => pane.scrollHeight > pane.clientHeight && pane.clientHeight > 200")
    page.set_viewport_size({"width": 740, "height": 360})
    layout, text = (panes.nth(index).bounding_box() for index in (0, 1))
    assert layout["y"] + layout["height"] < text["y"]
    assert prompt.evaluate("(pane) => pane.clientHeight") < 360


def test_the_navigation_is_one_row_on_a_phone(open_page, seen_site):
    page = open_page(seen_site.url, width=360, height=740)
    tops = (
        page.get_by_role("navigation", name="Views")
        .get_by_role("link")
        .evaluate_all("(links) => links.map((link) => link.getBoundingClientRect().top)")
    )
    assert len(tops) == 5 and len(set(tops)) == 1


def test_editions_are_compared_rebuilt_and_forgotten(open_page, seen_site):
    page = open_page(f"{seen_site.url}/#/conversations/seen")
    editions = region(page, "Editions")
    expect(editions).to_contain_text(re.compile(r"Edition 2 .*context changed \(shop/AGENTS\.md\)"))
    expect(editions.locator("tr.removed mark").first).to_have_text("test")
    expect(editions.locator("tr.added mark").first).to_have_text("check")
    (seen_site.shop / "AGENTS.md").write_text("# Shop\n\nRun `make all`.\nSee [the guide](missing.md).\n")
    page.reload()
    expect(region(page, "Compared with now").locator("tr.added mark").first).to_have_text("all")
    page.get_by_role("button", name="Rebuild…").click()
    page.get_by_role("dialog").get_by_role("button", name="Rebuild").click()
    expect(region(page, "Compared with now")).to_contain_text("would be the same")
    expect(editions.get_by_text("Edition 3")).to_be_visible()
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page).to_have_title("Conversations · Foreword")
    expect(page.get_by_text("No conversations have been started yet.")).to_be_visible()
