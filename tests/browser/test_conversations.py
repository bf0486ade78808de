"""Conversations: the list, the edition each one uses, and drift."""

import re

import pytest
from editor import wait_for_answer
from playwright.sync_api import expect

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-views")


@pytest.fixture(scope="module")
def conversations(shared_site):
    """Some conversations, one of them with two editions."""
    shared_site.write("One.\n[file:AGENTS.md]\nIn [prompt:cwd].")
    for id in ("billing-1", "billing-2", "search/ü 3"):
        shared_site.construct(id.replace("/", "%2F").replace(" ", "%20").replace("ü", "%C3%BC"))
    shared_site.write("Two.\n[file:AGENTS.md]\nIn [prompt:cwd] on [system:os].")
    tools = [{"name": name, "description": "Does it."} for name in ("shell", "mcp__gh__issue", "mcp__gh__pull")]
    shared_site.call("POST", "/conversations/billing-2/reload", {"cwd": str(shared_site.shop), "tools": tools})
    usage = {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 50}
    shared_site.call("POST", "/conversations/billing-2/usage", {"usage": usage, "model": "claude-opus-5"})
    return shared_site


SEARCH = "Search for id, folder or model"


def rows_of(page):
    return page.get_by_role("region", name="Table of conversations").locator("tbody tr:not(.spacer)")


def test_conversations_are_listed_searched_and_sorted(open_page, conversations):
    page = open_page(f"{conversations.url}/#/conversations")
    rows = rows_of(page)
    expect(rows).to_have_count(3)
    page.get_by_label(SEARCH).fill("BILLING shop")  # words of the id and of the folder
    expect(rows).to_have_count(2)
    page.get_by_label(SEARCH).fill("no such")
    expect(rows).to_have_count(0)
    expect(page.get_by_text("No conversations match.")).to_be_visible()
    page.goto(f"{conversations.url}/#/conversations?template=other")
    expect(page.get_by_text("No conversations match.")).to_be_visible()
    page.get_by_role("button", name="Template other").click()
    expect(rows).to_have_count(3)
    names = rows.get_by_role("link")
    page.get_by_role("button", name="Conversation", exact=True).click()
    expect(names).to_have_text(["billing-1", "billing-2", "search/ü 3"])
    page.get_by_role("button", name="Conversation", exact=True).click()
    expect(names).to_have_text(["search/ü 3", "billing-2", "billing-1"])
    page.get_by_role("button", name="Cost", exact=True).click()
    expect(names.first).to_have_text("billing-2")
    expect(page.get_by_role("columnheader", name="Cost")).to_have_attribute("aria-sort", "descending")


def test_selected_conversations_are_rebuilt_after_a_sum_in_money(open_page, own_site):
    site = own_site()
    site.write("One.\n" + "Keep prices in cents. " * 400)
    usage = {"input_tokens": 100, "cache_read_input_tokens": 20_000, "output_tokens": 50}
    for id in ("a", "b", "c"):
        site.construct(id, model="claude-opus-5")
        site.call("POST", f"/conversations/{id}/usage", {"usage": usage, "model": "claude-opus-5"})
    site.write("Two.\n" + "Keep prices in cents. " * 400)
    site.construct("new")
    cost = sum(site.call("GET", f"/conversations/{id}/drift")["cost"] for id in ("a", "b"))
    page = open_page(f"{site.url}/#/conversations")
    expect(page.locator(".heading .total")).to_have_text("4 conversations, 3 behind")
    page.get_by_role("button", name="Behind", exact=True).first.click()
    expect(rows_of(page)).to_have_count(3)
    page.get_by_label("Select all that are behind").check()
    expect(page.get_by_role("button", name="Rebuild 3…")).to_be_visible()
    page.get_by_label("Select c", exact=True).uncheck()
    page.get_by_role("button", name="Rebuild 2…").click()
    dialog = page.get_by_role("dialog", name="Rebuild 2 conversations")
    expect(dialog).to_contain_text(f"${cost:.4f} once")
    dialog.get_by_role("button", name="Rebuild").click()
    expect(page.locator(".heading .total")).to_have_text("4 conversations, 1 behind")
    assert site.call("GET", "/conversations/a")["edition"] == 2
    assert site.call("GET", "/conversations/c")["edition"] == 1


def test_only_tokens_with_the_right_turn_can_rebuild(open_page, conversations):
    page = open_page("about:blank")
    token = {"name": "", "rights": ["read"], "team": "", "default_template": "default", "protected_labels": []}
    page.route("**/token", lambda route: route.fulfill(json=token))
    page.goto(f"{conversations.url}/#/conversations")
    page.get_by_label("Select billing-1").check()
    expect(page.get_by_role("button", name="Rebuild 1…")).to_be_disabled()
    expect(page.locator(".heading")).to_contain_text("Rebuilding needs the right “turn”")


def test_a_long_list_is_compared_in_the_background_and_drawn_as_it_scrolls(open_page, own_site):
    site = own_site()
    for number in range(70):
        site.construct(f"chat-{number:02}")
    page = open_page("about:blank", height=600)
    held, released = [], []
    page.route(re.compile("compare=true"), lambda route: route.continue_() if released else held.append(route))
    page.goto(f"{site.url}/#/conversations")
    expect(page.locator(".progress")).to_have_text("0 of 70 compared")
    assert rows_of(page).count() < 70
    expect(page.get_by_role("link", name="chat-00")).to_have_count(0)
    page.get_by_role("region", name="Table of conversations").evaluate(
        "(host) => { host.scrollTop = host.scrollHeight; }"
    )
    expect(page.get_by_role("link", name="chat-00")).to_be_visible()
    released.append(True)
    held[0].continue_()
    expect(page.locator(".progress")).to_have_count(0)
    expect(page.locator(".heading .total")).to_have_text("70 conversations, 0 behind")
    page.emulate_media(media="print")
    expect(rows_of(page)).to_have_count(70)
    page.emulate_media(media="screen")
    expect(page.get_by_role("link", name="chat-69")).to_have_count(0)


def test_going_back_restores_the_search_and_the_title_names_the_view(open_page, conversations):
    page = open_page(f"{conversations.url}/#/conversations")
    page.get_by_label(SEARCH).fill("billing")
    page.get_by_role("link", name=re.compile("^billing-1")).click()
    expect(page).to_have_title("billing-1 · Foreword")
    page.go_back()
    expect(page).to_have_title("Conversations · Foreword")
    expect(page.get_by_label(SEARCH)).to_have_value("billing")
    expect(rows_of(page)).to_have_count(2)


def test_a_conversation_shows_the_edition_in_use_and_its_prompt_by_origin(open_page, conversations):
    page = open_page(f"{conversations.url}/#/conversations")
    page.get_by_role("link", name=re.compile("^billing-2")).click()
    expect(page.get_by_role("heading", name="billing-2")).to_be_visible()
    prompt = page.get_by_role("group", name="Prompt with origins")
    expect(prompt.locator(".k-template").first).to_contain_text("Two.")
    expect(prompt.locator(".k-file")).to_contain_text("# Shop")
    prompt.locator(".k-file").click()
    expect(page.locator(".origin-info")).to_contain_text("AGENTS.md, line")
    tools = page.get_by_role("row", name=re.compile("^Tool "))
    expect(tools).to_have_text(
        [re.compile(r"gh: .*issue\d+$"), re.compile(r"gh: .*pull\d+$"), re.compile(r"shell\d+$")]
    )
    expect(page.locator(".facts")).to_contain_text(
        "1 call, 1,000 tokens in, 50 out, 90% of the input from the cache, $0."
    )
    items = page.get_by_role("region", name="Editions").locator(".timeline > li")
    expect(items.first).to_contain_text("reloaded on request")
    expect(items.first).to_contain_text("1 call, 1,000 tokens in, 50 out, 90% of the input from the cache")
    expect(page.get_by_role("region", name="Editions")).to_contain_text("In sum: 1 call, 1,000 tokens in")
    expect(items.last).to_contain_text("the conversation began")
    page.get_by_role("region", name="Prompt").get_by_label("Edition").select_option("1")
    expect(prompt.locator(".k-template").first).to_contain_text("One.")
    expect(tools).to_have_count(0)
    page.reload()
    expect(prompt.locator(".k-template").first).to_contain_text("One.")  # the edition is in the address


def test_a_finding_marks_its_place_below_the_line_it_is_about(open_page, own_site):
    site = own_site()
    site.write("Today is [prompt:date].\n")
    site.construct("dated")
    page = open_page(f"{site.url}/#/conversations/dated")
    finding = page.locator(".finding-list li", has_text="[prompt:date] is not a known prompt variable")
    expect(finding.locator("p").first).not_to_contain_text("^")
    expect(finding.locator("pre")).to_have_text(f"Today is [prompt:date].\n         {'^' * 13}")


def test_a_version_leads_to_the_conversations_that_use_it_and_what_they_cost(open_page, conversations):
    page = open_page(f"{conversations.url}/#/history/2")
    card = page.get_by_role("region", name="Version 2", exact=True)
    expect(card).to_contain_text("1 call, 1,000 tokens in, 50 out, 90% of the input from the cache, $0.")
    card.get_by_role("link", name="1 conversation uses this version").click()
    expect(rows_of(page).get_by_role("link")).to_have_text(["billing-2"])
    expect(page.get_by_role("button", name="Template default")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".conversations")).to_contain_text("1 conversation, 1 call, $0.")
    expect(page.locator(".view")).to_be_focused()  # the link is gone
    page.get_by_role("button", name="Version 2").click()
    expect(rows_of(page)).to_have_count(3)


def test_an_id_can_be_any_string(open_page, conversations):
    page = open_page(f"{conversations.url}/#/conversations")
    page.get_by_role("link", name="search/ü 3").click()
    expect(page.get_by_role("group", name="Prompt with origins")).to_contain_text("One.")


def test_drift_names_the_sections_that_changed(open_page, conversations):
    page = open_page(f"{conversations.url}/#/conversations/billing-2")
    drift = page.get_by_role("region", name="Compared with now")
    expect(drift).to_contain_text("A prompt built now would be the same.")
    page.goto(f"{conversations.url}/#/conversations/billing-1")
    expect(drift.get_by_role("listitem").first).to_contain_text("body changed")
    expect(drift).to_contain_text("variable system:os")
    expect(drift).to_contain_text(re.compile(r"Rebuilding now reads about [\d,]+ tokens again \("))


def test_the_cost_of_a_rebuild_is_a_sentence_with_money_in_the_view_and_in_the_dialog(open_page, own_site):
    site = own_site()
    site.write("One.\n" + "Keep prices in cents. " * 400)
    site.construct("chat", model="claude-opus-5")
    usage = {"input_tokens": 100, "cache_read_input_tokens": 20_000, "output_tokens": 50}
    site.call("POST", "/conversations/chat/usage", {"usage": usage, "model": "claude-opus-5"})
    site.write("Two.\n" + "Keep prices in cents. " * 400)
    drift = site.call("GET", "/conversations/chat/drift")
    prompt, history = [f"{part['tokens_lost']:,} {part['of']}" for part in drift["parts"] if part["tokens_lost"]]
    sentence = (
        f"about {drift['tokens_lost']:,} tokens again ({prompt}, {history}): ${drift['cost']:.4f} once. At the next"
    )
    page = open_page(f"{site.url}/#/conversations/chat")
    expect(page.get_by_role("region", name="Compared with now")).to_contain_text(sentence)
    expect(page.locator(".figures")).to_contain_text(f"${drift['cost']:.4f}")
    page.get_by_role("button", name="Rebuild…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(sentence)
    parts = dialog.get_by_role("list", name="Cached tokens by part of the request").get_by_role("listitem")
    expect(parts.last).to_have_text(re.compile(r"^History: [\d,]+ again$"))


def test_an_unknown_conversation_shows_an_error(open_page, conversations):
    page = open_page(f"{conversations.url}/#/conversations/nobody")
    expect(page.get_by_role("alert").first).to_contain_text("'nobody' has not been started")


def hold_requests(page, url):
    """Hold back requests to an address until `release` is called, which waits until the page has used the answers."""
    waiting = []
    page.route(url, lambda route: waiting.append(route))

    def release():
        for route in waiting:
            route.continue_()
            wait_for_answer(route.request)

    return release


def test_the_last_requested_edition_is_shown(open_page, conversations):
    page = open_page(f"{conversations.url}/#/conversations/billing-2")
    choice = page.get_by_role("region", name="Prompt").get_by_label("Edition")
    prompt = page.get_by_role("group", name="Prompt with origins")
    expect(prompt).to_contain_text("Two.")
    expect(page.get_by_role("region", name="Changes from edition 1 to 2")).to_be_visible()
    release = hold_requests(page, "**/editions/1")
    with page.expect_request("**/editions/1"):
        choice.select_option("1")
    choice.select_option("2")
    release()
    expect(prompt).to_contain_text("Two.")
