"""When something fails, the page says what happened and loses no text."""

import sqlite3
from contextlib import closing

import pytest
from editor import Editor
from playwright.sync_api import expect

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-saving")

TABLE = "foreword_templates"
UNSAVED_TEXT = "What I wrote while it was broken."


def try_to_save(editor):
    editor.page.keyboard.press("ControlOrMeta+s")
    dialog = editor.page.get_by_role("dialog", name="Save template")
    dialog.get_by_role("button", name="Save", exact=True).click()
    return dialog


def rename(site, name, to):
    with closing(sqlite3.connect(site.folder / "store.db")) as connection:
        connection.execute(f"ALTER TABLE {name} RENAME TO {to}")


def break_store(site):
    """Rename the tables of the store, so that every access fails."""
    rename(site, TABLE, "gone")


def repair_store(site):
    rename(site, "gone", TABLE)


def test_saving_while_the_store_is_down_loses_no_text(own_site, edit):
    site = own_site()
    site.write("Before.")
    editor = edit(site)
    editor.write(UNSAVED_TEXT)
    break_store(site)
    dialog = try_to_save(editor)
    expect(dialog.get_by_role("alert")).to_contain_text("Your text is kept in this browser")
    dialog.get_by_role("button", name="Keep editing").click()
    expect(editor.code).to_have_text(UNSAVED_TEXT)
    editor.wait_for_draft(UNSAVED_TEXT)
    repair_store(site)
    try_to_save(editor)
    expect(dialog).to_have_count(0)
    assert site.template() == UNSAVED_TEXT


def test_the_editor_opens_while_the_store_is_down(own_site, edit):
    site = own_site()
    site.write("Before.")
    break_store(site)
    editor = edit(site)
    expect(editor.dialog.get_by_text("The store is unavailable. This is the default template;")).to_be_visible()
    editor.write(UNSAVED_TEXT)
    dialog = try_to_save(editor)
    expect(dialog.get_by_role("alert")).to_contain_text("kept in this browser")
    repair_store(site)
    dialog.get_by_role("button", name="Save", exact=True).click()
    conflict = editor.page.get_by_role("dialog", name="Someone else saved")
    expect(conflict).to_contain_text("Before.")  # the stored version is not overwritten unseen
    conflict.get_by_role("button", name="Save mine anyway").click()
    expect(editor.dialog.get_by_text("unsaved changes")).to_have_count(0)
    expect(editor.dialog.get_by_text("The store is unavailable")).to_have_count(0)
    assert site.template() == UNSAVED_TEXT


def test_a_draft_from_when_the_store_was_down_is_shown_with_the_current_version(own_site, edit):
    site = own_site()
    site.write("Before.")
    break_store(site)
    editor = edit(site)
    editor.write(UNSAVED_TEXT)
    repair_store(site)
    editor.page.on("dialog", lambda dialog: dialog.accept())
    editor.page.reload()
    expect(editor.code).to_have_text(UNSAVED_TEXT)
    expect(editor.dialog.locator(".state")).to_have_text("version 1 unsaved changes")


def test_the_editor_keeps_its_text_while_the_server_is_gone(own_site, edit):
    site = own_site()
    editor = edit(site)
    site.stop()
    editor.write(UNSAVED_TEXT)
    notice = editor.dialog.get_by_role("alert").filter(has_text="The server is not responding")
    expect(notice.first).to_be_visible()
    dialog = try_to_save(editor)
    expect(dialog.get_by_role("alert")).to_contain_text("The server is not responding")
    dialog.get_by_role("button", name="Keep editing").click()
    expect(editor.code).to_have_text(UNSAVED_TEXT)
    site.start()
    expect(editor.dialog.locator(".offline")).to_be_empty()
    expect(editor.prompt).to_have_text(UNSAVED_TEXT)
    expect(editor.preview.get_by_role("alert")).to_have_count(0)
    try_to_save(editor)
    expect(dialog).to_have_count(0)
    assert site.template() == UNSAVED_TEXT


def test_the_page_asks_for_a_token_and_refuses_a_wrong_one(own_site, open_page):
    site = own_site(token="the-right-one")
    page = open_page(site.url)
    dialog = page.get_by_role("dialog", name="Token")
    expect(dialog.get_by_role("textbox", name="Token")).to_be_focused()
    page.keyboard.type("a wrong one")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Invalid token.")
    expect(dialog.get_by_label("Token")).to_be_focused()
    dialog.get_by_role("textbox", name="Token").fill("the-right-one")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("region", name="Current template")).to_contain_text("You are a helpful")
    page.reload()
    expect(page.get_by_role("region", name="Current template")).to_contain_text("You are a helpful")
    assert page.evaluate("JSON.stringify(localStorage)").count("the-right-one") == 0


def test_the_dialog_for_a_token_fits_into_a_phone_on_its_side(own_site, open_page):
    page = open_page(own_site(token="secret").url, width=740, height=360)
    dialog = page.get_by_role("dialog", name="Token")
    dialog.get_by_role("textbox", name="Token").fill("a wrong one")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_role("button", name="Continue")).to_be_in_viewport(ratio=1)


def test_without_the_token_every_view_asks_for_it(own_site, open_page):
    page = open_page(f"{own_site(token='secret').url}/#/history")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert").filter(has_text="This service requires a token.")).to_be_visible()


def test_a_token_that_becomes_invalid_loses_no_text(own_site, open_page, edit):
    site = own_site(token="old")
    page = open_page(f"{site.url}/#/edit")
    page.get_by_role("textbox", name="Token").fill("old")
    page.keyboard.press("Enter")
    code = page.locator(".cm-content")
    code.focus()
    with page.expect_response("**/system-prompt/preview"):
        page.keyboard.insert_text(UNSAVED_TEXT)
    # Wait for the requests sent while typing, which could otherwise ask for the token before saving.
    expect(page.get_by_role("group", name="Prompt with origins")).to_contain_text(UNSAVED_TEXT)
    site.stop()
    site.token = "new"
    site.start()
    page.keyboard.press("ControlOrMeta+s")
    dialog = page.get_by_role("dialog", name="Token")
    dialog.get_by_role("textbox", name="Token").fill("new")
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name="Save template").get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("unsaved changes")).to_have_count(0)
    assert UNSAVED_TEXT in site.template()


def test_a_megabyte_is_refused_with_a_reason_and_stays_in_the_editor(edit, site):
    editor = edit(site)
    line = "A line of a template that somebody has pasted by mistake. [git:branch]\n"
    text = line * (1_048_576 // len(line) + 1)
    editor.paste(text)
    expect(editor.preview.get_by_role("alert")).to_contain_text("the limit is")
    dialog = try_to_save(editor)
    expect(dialog.get_by_role("alert")).to_contain_text("the limit is")
    dialog.get_by_role("button", name="Keep editing").click()
    editor.eventually(editor.draft, text)


def test_the_largest_accepted_template_is_saved(edit, site):
    editor = edit(site)
    line = "A line of a long template.\n"
    text = line * (499_000 // len(line))
    editor.paste(text)
    dialog = try_to_save(editor)
    expect(dialog).to_have_count(0)
    assert site.template() == text


def test_a_template_can_insert_five_hundred_files(edit, site):
    folder = site.shop / "many"
    folder.mkdir(exist_ok=True)
    for number in range(500):
        (folder / f"{number:03}.md").write_text(f"Rule {number}." + " Follow it." * 20 + "\n")
    text = "\n".join(f"[file:many/{number:03}.md]" for number in range(500))
    editor = edit(site)
    editor.paste(text)
    expect(editor.prompt).to_contain_text("Rule 499.")
    assert 0 < editor.prompt.locator(".k-file").count() < 500  # text far from the screen has no colours yet
    editor.prompt.focus()
    editor.page.keyboard.press("End")
    expect(editor.prompt.locator(".k-file.selected")).to_contain_text("Rule 499.")
    expect(editor.preview.locator(".origin-info")).to_contain_text("499.md")
    editor.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(editor.prompt.locator(".k-file")).to_have_count(500)
    editor.page.keyboard.press("Enter")
    expect(editor.code.locator(".cm-line.cm-highlighted")).to_have_text("[file:many/499.md]")
    dialog = try_to_save(editor)
    expect(dialog).to_have_count(0)
    assert site.template() == text


@pytest.mark.parametrize(
    ("view", "seen"),
    [
        ("#/edit", "dialog .cm-content"),
        ("#/history", ".difference"),
        ("#/conversations/x", ".conversation .prompt"),
        ("#/", "pre.text, .rows a[href*=conversations]"),
    ],
)
def test_every_view_reports_a_missing_server_and_recovers(own_site, open_page, view, seen):
    site = own_site()
    site.write("Before.")
    site.construct("x")
    page = open_page(f"{site.url}/#/conversations/nobody")
    expect(page.get_by_role("heading", name="nobody")).to_be_visible()
    site.stop()
    page.evaluate("(where) => (location.hash = where)", view)
    notice = page.get_by_role("alert").filter(has_text="The server is not responding")
    expect(notice.first).to_be_visible()
    site.start()
    for one in seen.split(", "):
        expect(page.locator(one)).to_be_visible()
    expect(notice).to_have_count(0)


FILL_STORAGE = """() => {
    for (let size = 1 << 20, at = 0; size; at++) {
        try { localStorage.setItem(`fill${at}`, "x".repeat(size)); } catch { size >>= 1; }
    }
}"""

DISABLE_STORAGE = """() => {
    const refuse = () => { throw new DOMException("denied", "SecurityError"); };
    for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get: refuse });
    for (const name of ["request", "query"]) LockManager.prototype[name] = async () => refuse();
}"""


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (200, "Something else answered instead of the server, such as the sign-in page of a proxy."),
        (403, "A proxy in front of the server refused this request (status 403)."),
        (502, "The server, or a proxy in front of it, answered with an error (status 502)."),
    ],
)
def test_the_page_of_a_proxy_is_explained(open_page, shared_site, status, words):
    page = open_page(f"{shared_site.url}/#/nonsense")
    page.route("**/conversations?**", lambda route: route.fulfill(status=status, content_type="text/html", body="<h1>"))
    page.goto(f"{shared_site.url}/#/conversations")
    expect(page.get_by_role("alert")).to_contain_text(words)


def test_full_browser_storage_is_reported_and_saving_works(open_page, site):
    page = open_page(site.url)
    page.evaluate(FILL_STORAGE)
    page.get_by_role("link", name="Edit", exact=True).click()
    editor = Editor(page)
    editor.write(UNSAVED_TEXT)
    expect(editor.dialog.get_by_role("alert").filter(has_text="This browser cannot store unsaved text")).to_be_visible()
    page.keyboard.press("ControlOrMeta+s")
    dialog = page.get_by_role("dialog", name="Save template")
    dialog.get_by_label("Author").fill("Ada")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    assert site.template() == UNSAVED_TEXT


def test_the_page_works_without_browser_storage(own_site, open_page):
    site = own_site(token="secret")
    page = open_page(f"{site.url}/#/edit")
    page.add_init_script(f"({DISABLE_STORAGE})()")
    page.reload()
    page.get_by_role("textbox", name="Token").fill("secret")
    page.keyboard.press("Enter")
    editor = Editor(page)
    editor.write(UNSAVED_TEXT)
    try_to_save(editor)
    expect(editor.dialog.get_by_text("unsaved changes")).to_have_count(0)
    assert site.template() == UNSAVED_TEXT
