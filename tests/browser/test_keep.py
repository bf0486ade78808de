"""No text is lost, whoever closes, crashes or saves first."""

import re

import pytest
from editor import Editor
from playwright.sync_api import expect

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-saving")


def save(editor, note=""):
    editor.page.keyboard.press("ControlOrMeta+s")
    dialog = editor.page.get_by_role("dialog", name="Save template")
    dialog.get_by_role("textbox", name="Note").fill(note)
    dialog.get_by_role("button", name="Save", exact=True).click()


@pytest.fixture
def unsaved_editor(editor):
    editor.write("Not saved yet.")
    expect(editor.dialog.get_by_text("unsaved changes")).to_be_visible()
    return editor


# Leaving with unsaved text


@pytest.mark.parametrize("how_to_leave", ["Escape", "the button", "back", "a link"])
def test_leaving_with_unsaved_text_asks_first(open_page, site, how_to_leave):
    page = open_page(site.url)
    page.get_by_role("link", name="Edit", exact=True).click()
    code = page.locator(".cm-content")
    code.focus()
    page.keyboard.insert_text("Mine. ")
    expect(page.get_by_text("unsaved changes")).to_be_visible()
    ways = {
        "Escape": lambda: page.keyboard.press("Escape"),
        "the button": lambda: page.get_by_role("button", name="Close").click(),
        "back": lambda: page.evaluate("history.back()"),
        "a link": lambda: page.get_by_role("link", name="History").last.click(),
    }
    ways[how_to_leave]()
    dialog = page.get_by_role("dialog", name="Unsaved changes")
    expect(dialog.get_by_role("button", name="Keep editing")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(code).to_contain_text("Mine. You are")
    assert page.url.endswith("#/edit")


def test_discarding_leaves_and_deletes_the_draft(unsaved_editor, site):
    unsaved_editor.page.keyboard.press("Escape")
    unsaved_editor.page.get_by_role("button", name="Discard").click()
    expect(unsaved_editor.dialog).to_have_count(0)
    unsaved_editor.page.get_by_role("link", name="Edit", exact=True).click()
    expect(unsaved_editor.code).to_contain_text("You are a helpful coding assistant.")
    assert unsaved_editor.draft() is None


def test_saving_in_the_leave_dialog_leaves_afterwards(unsaved_editor, site):
    unsaved_editor.page.keyboard.press("Escape")
    leaving = unsaved_editor.page.get_by_role("dialog", name="Unsaved changes")
    leaving.get_by_role("button", name="Save…").click()
    unsaved_editor.page.get_by_role("dialog", name="Save template").get_by_role(
        "button", name="Save", exact=True
    ).click()
    expect(unsaved_editor.dialog).to_have_count(0)
    assert site.template() == "Not saved yet."


def test_a_reload_with_unsaved_text_asks_first_and_restores_it(unsaved_editor):
    dialog_types = []
    unsaved_editor.page.on("dialog", lambda dialog: (dialog_types.append(dialog.type), dialog.accept()))
    unsaved_editor.page.reload()
    assert dialog_types == ["beforeunload"]
    expect(unsaved_editor.code).to_have_text("Not saved yet.")
    expect(unsaved_editor.dialog.get_by_text(re.compile("Restored your unsaved text from"))).to_be_visible()
    unsaved_editor.dialog.get_by_role("button", name="Use the saved text instead").click()
    expect(unsaved_editor.code).to_contain_text("You are a helpful coding assistant.")
    unsaved_editor.page.keyboard.press("ControlOrMeta+z")
    expect(unsaved_editor.code).to_contain_text("Not saved yet.")


def test_a_reload_does_not_ask_when_everything_is_saved(editor):
    dialog_types = []
    editor.page.on("dialog", lambda dialog: (dialog_types.append(dialog.type), dialog.accept()))
    editor.page.reload()
    assert dialog_types == []
    expect(editor.code).to_be_visible()


def test_unsaved_text_survives_a_crash_of_the_tab(unsaved_editor, site):
    profile = unsaved_editor.page.context
    unsaved_editor.page.wait_for_function(
        "() => Object.keys(localStorage).some((name) => name.startsWith('foreword.draft.'))"
    )
    with unsaved_editor.page.expect_event("crash"):
        crash(unsaved_editor.page)
    new_tab = profile.new_page()
    new_tab.goto(f"{site.url}/#/edit")
    expect(new_tab.locator(".cm-content")).to_have_text("Not saved yet.")


def crash(page):
    """Kill the process of the tab, as running out of memory would."""
    try:
        page.goto("chrome://crash", timeout=5_000)
    except Exception as error:
        assert "crash" in str(error).lower() or "Timeout" in str(error)


def test_each_tab_keeps_its_own_draft(unsaved_editor, site):
    other = unsaved_editor.page.context.new_page()
    other.goto(f"{site.url}/#/edit")
    expect(other.locator(".cm-content")).to_contain_text("You are a helpful coding assistant.")


def test_choosing_the_saved_text_over_an_old_draft_edits_the_newest_version(unsaved_editor, site):
    unsaved_editor.page.wait_for_function(
        "() => Object.keys(localStorage).some((name) => name.startsWith('foreword.draft.'))"
    )
    profile = unsaved_editor.page.context
    unsaved_editor.page.close()
    site.write("Saved by somebody else.")
    page = profile.new_page()
    page.goto(f"{site.url}/#/edit")
    editor = Editor(page)
    page.get_by_role("button", name="Use the saved text instead").click()
    newest = site.call("GET", "/system-prompt/versions")["versions"][0]["version"]
    expect(editor.dialog.locator(".state")).to_have_text(f"version {newest} saved")
    editor.write("Written on top of it.")
    save(editor)
    expect(editor.dialog.get_by_text("unsaved changes")).to_have_count(0)
    assert site.template() == "Written on top of it."


# Two people


def test_the_second_person_to_save_sees_the_difference(edit, site):
    one, two = edit(site), edit(site)
    one.write("From one.")
    two.write("From two.")
    save(one, "first")
    expect(one.dialog.get_by_text("unsaved changes")).to_have_count(0)
    save(two, "second")
    dialog = two.page.get_by_role("dialog", name="Someone else saved")
    difference = dialog.get_by_role("region", name="Changes from their text to yours")
    expect(difference.locator("tr.removed .text")).to_have_text("removed: From one.")
    expect(difference.locator("tr.added .text")).to_have_text("added: From two.")
    dialog.get_by_role("button", name="Keep editing").click()
    expect(two.code).to_have_text("From two.")
    assert site.template() == "From one."
    save(two, "second again")
    expect(two.dialog.get_by_text("unsaved changes")).to_have_count(0)
    assert site.template() == "From two."
    notes = [version["note"] for version in site.call("GET", "/system-prompt/versions")["versions"]]
    assert notes[:2] == ["second again", "first"]


def test_the_second_person_can_overwrite_immediately(edit, site):
    one, two = edit(site), edit(site)
    one.write("From one.")
    two.write("From two.")
    save(one)
    expect(one.dialog.get_by_text("unsaved changes")).to_have_count(0)
    save(two, "on top")
    two.page.get_by_role("button", name="Save mine anyway").click()
    expect(two.page.get_by_role("dialog", name="Someone else saved")).to_have_count(0)
    expect(two.dialog.get_by_text("unsaved changes")).to_have_count(0)
    versions = site.call("GET", "/system-prompt/versions")["versions"]
    assert [(version["template"], version["note"]) for version in versions[:2]] == [
        ("From two.", "on top"),
        ("From one.", ""),
    ]


def test_the_second_person_can_load_the_other_version_and_undo_that(edit, site):
    one, two = edit(site), edit(site)
    one.write("From one.")
    two.write("From two.")
    save(one)
    expect(one.dialog.get_by_text("unsaved changes")).to_have_count(0)
    save(two)
    two.page.get_by_role("button", name="Use theirs").click()
    expect(two.code).to_have_text("From one.")
    two.page.keyboard.press("ControlOrMeta+z")
    expect(two.code).to_have_text("From two.")


def test_the_other_version_can_have_different_line_endings(edit, site):
    editor = edit(site)
    editor.write("Mine.")
    site.write("One\r\ntwo\r\n")
    save(editor)
    editor.page.get_by_role("button", name="Use theirs").click()
    expect(editor.dialog.get_by_text("unsaved changes")).to_have_count(0)


def test_a_named_template_is_written_merged_labelled_and_compared(open_page, site):
    page = open_page(f"{site.url}/#/template")
    page.get_by_role("button", name="New template…").click()
    page.keyboard.type("support")
    page.keyboard.press("Enter")
    editor = Editor(page)
    editor.write("One\ntwo\nthree\nfour\n")
    save(editor, "a beginning")
    expect(editor.dialog.locator(".state")).to_have_text("version 1 saved")
    site.call("PUT", "/templates/support?author=Grace&note=greet", {"template": "Hello\ntwo\nthree\nfour\n"})
    editor.write("One\ntwo\nthree\nfour, five\n")
    save(editor, "count on")
    dialog = page.get_by_role("dialog", name="Someone else saved")
    expect(dialog).to_contain_text(re.compile("Grace saved version 2 on .*: “greet”"))
    dialog.get_by_role("button", name="Merge both").click()
    assert editor.text() == "Hello\ntwo\nthree\nfour, five\n"
    page.keyboard.press("ControlOrMeta+s")
    dialog = page.get_by_role("dialog", name="Save template")
    dialog.get_by_label("Make it live now").uncheck()
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(
        editor.dialog.get_by_role("status").filter(has_text="Saved as version 3, which is not live.")
    ).to_be_visible()
    assert site.call("GET", "/templates/support")["template"] == "Hello\ntwo\nthree\nfour\n"
    editor.dialog.get_by_role("link", name="History").click()
    versions = page.get_by_role("navigation", name="Versions")
    expect(versions.get_by_role("link").nth(1)).to_contain_text(re.compile("Version 2 live.*greet.*Grace"))
    page.get_by_label("Compare with").select_option("1")
    changes = page.get_by_role("region", name="Changes from version 1 to version 3")
    expect(changes.locator("tr.added mark")).to_have_text([", five"])
    page.get_by_role("button", name="Whole text").click()
    expect(page.get_by_role("region", name="Text of version 3")).to_have_text("Hello\ntwo\nthree\nfour, five\n")
    page.get_by_role("button", name="Move label…").click()
    dialog = page.get_by_role("dialog", name="Move a label to version 3")
    expect(dialog).to_contain_text("The label production moves from version 2 to version 3. Version 3 becomes live.")
    dialog.get_by_role("button", name="Move label", exact=True).click()
    expect(versions.get_by_role("link").first).to_contain_text("Version 3 live")
    assert site.call("GET", "/templates/support")["template"] == "Hello\ntwo\nthree\nfour, five\n"
    token = {"name": "reader", "rights": ["read"], "team": "", "default_template": "default", "protected_labels": []}
    page.route("**/token", lambda route: route.fulfill(json=token))
    page.reload()
    expect(page.get_by_role("button", name="Move label…")).to_be_disabled()
    expect(page.get_by_text("it needs the right “template”")).to_be_visible()
    page.unroute("**/token")
    page.goto(f"{site.url}/#/template?name=support")
    page.get_by_text("Use it in an agent").click()
    expect(page.get_by_role("region", name="Code")).to_contain_text('"template_name": "support"')
    page.get_by_role("button", name="New template…").click()
    page.keyboard.type("help desk")
    page.get_by_label("Begin with").select_option("support")
    page.get_by_role("button", name="Write it").click()
    expect(editor.code).to_have_text("Hellotwothreefour, five")
    expect(editor.dialog).to_contain_text("unsaved changes")


# Before saving, and history


def test_saving_shows_the_changes_and_the_conversations_that_keep_the_old_text(editor, site):
    for number in range(3):
        site.construct(f"keeps-{number}")
    used = sum(version["conversations"] for version in site.call("GET", "/system-prompt/usage")["versions"])
    editor.put_caret(1)
    editor.page.keyboard.type("Be brief. ")
    editor.page.keyboard.press("ControlOrMeta+s")
    dialog = editor.page.get_by_role("dialog", name="Save template")
    changes = dialog.get_by_role("region", name="Changes", exact=True)
    expect(changes.locator("tr.removed .text")).to_have_text("removed: You are a helpful coding assistant.")
    expect(changes.locator("tr.added .text")).to_have_text("added: Be brief. You are a helpful coding assistant.")
    expect(dialog).to_contain_text(f"{used} conversations keep their prompt until they are compacted.")
    assert used >= 3
    dialog.get_by_label("Author").fill("Ada")
    dialog.get_by_role("textbox", name="Note").fill("shorter answers")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(editor.dialog.get_by_role("status").filter(has_text="Saved as version")).to_be_visible()
    newest = site.call("GET", "/system-prompt/versions")["versions"][0]
    assert (newest["author"], newest["note"]) == ("Ada", "shorter answers")
    assert newest["template"].startswith("Be brief. You are")


@pytest.fixture
def save_before_check(editor):
    """Write text and open the save dialog while the check of the text is held back. Return the dialog, and a function that releases the check."""

    def open_dialog(text, syntax="brackets"):
        editor.dialog.get_by_label("Syntax").select_option(syntax)
        editor.write(text)
        editor.wait_for_preview()
        routes = []
        editor.page.route("**/system-prompt/preview", lambda route: routes.append(route))
        with editor.page.expect_request("**/system-prompt/preview"):
            editor.page.keyboard.press("ControlOrMeta+s")
        dialog = editor.page.get_by_role("dialog", name="Save template")
        expect(dialog.get_by_role("textbox", name="Note")).to_be_focused()
        return dialog, lambda: [route.continue_() for route in routes]

    return open_dialog


def press_enter(dialog):
    dialog.page.keyboard.press("Enter")


def click_twice(dialog):
    dialog.get_by_role("button", name="Save", exact=True).dblclick()


@pytest.mark.parametrize("ask", [press_enter, click_twice])
def test_saving_before_the_text_is_checked_saves_it_after_the_check(save_before_check, site, ask):
    dialog, release = save_before_check("Saved early.")
    newest = site.call("GET", "/system-prompt/versions")["versions"][0]["version"]
    ask(dialog)
    expect(dialog.get_by_role("status")).to_have_text("Checking the template before saving it…")
    dialog.get_by_role("textbox", name="Note").fill("a note finished late")
    release()
    expect(dialog).to_have_count(0)
    saved = site.call("GET", "/system-prompt/versions")["versions"][0]
    assert (saved["version"], saved["template"], saved["note"]) == (newest + 1, "Saved early.", "a note finished late")


def test_saving_before_the_check_asks_first_if_the_text_cannot_be_rendered(save_before_check, site):
    before = site.template()
    dialog, release = save_before_check("{% if %}", "jinja")
    press_enter(dialog)
    expect(dialog.get_by_role("status")).not_to_be_empty()
    release()
    expect(dialog.get_by_role("alert")).to_contain_text("This template cannot be rendered")
    expect(dialog.get_by_role("status")).to_be_empty()
    assert site.template() == before
    press_enter(dialog)
    expect(dialog).to_have_count(0)
    assert site.template() == "{% if %}"


def test_cancelling_a_save_that_waits_for_the_check_saves_nothing(save_before_check, editor, site):
    before = site.template()
    dialog, release = save_before_check("Never saved.")
    press_enter(dialog)
    expect(dialog.get_by_role("status")).not_to_be_empty()
    editor.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    with editor.page.expect_response("**/system-prompt/preview"):
        release()
    expect(editor.dialog.get_by_text("unsaved changes")).to_be_visible()
    assert site.template() == before


def test_history_shows_each_version_with_its_difference_and_restores_one(open_page, site):
    site.write("One\ntwo\n", "Ada", "the first")
    site.write("One\nthree\n", "Grace", "the second")
    first = site.call("GET", "/system-prompt/versions")["versions"][1]["version"]
    page = open_page(f"{site.url}/#/history")
    versions = page.get_by_role("navigation", name="Versions")
    expect(versions.get_by_role("link").first).to_contain_text("the second")
    changes = page.get_by_role("region", name=f"Changes in version {first + 1}")
    expect(changes.locator("tr.removed .text")).to_have_text("removed: two")
    expect(changes.locator("tr.added .text")).to_have_text("added: three")
    versions.get_by_role("link", name=re.compile("the first")).click()
    expect(page.get_by_role("region", name=f"Version {first}", exact=True)).to_be_visible()
    page.get_by_label("Compare with").select_option("the newest version")
    expect(page.get_by_role("region", name=f"Changes since version {first}").locator("tr.added .text")).to_have_text(
        "added: three"
    )
    page.get_by_role("button", name="Restore…").click()
    dialog = page.get_by_role("dialog", name=f"Restore version {first}")
    expect(dialog.locator("tr.added .text")).to_have_text("added: two")
    dialog.get_by_role("button", name="Restore", exact=True).dblclick()
    expect(page.get_by_role("status").filter(has_text=f"Restored version {first} as version")).to_be_visible()
    expect(versions.get_by_role("link").first).to_contain_text(f"Version {first + 2}")
    expect(page.get_by_role("heading", name=f"Version {first + 2}")).to_be_focused()
    assert site.template() == "One\ntwo\n"


# Languages, and templates that cannot be rendered


def test_a_template_is_saved_in_its_language_and_conversations_render_it(editor, site):
    editor.dialog.get_by_label("Syntax").select_option("jinja")
    editor.write("We are in {{ cwd }}.")
    save(editor)
    expect(editor.dialog.get_by_role("status").filter(has_text="Saved as version")).to_be_visible()
    newest = site.call("GET", "/system-prompt/versions")["versions"][0]
    assert (newest["template"], newest["syntax"]) == ("We are in {{ cwd }}.", "jinja")
    turn = site.call("POST", "/conversations/of-jinja/turn", {"cwd": str(site.shop), "message": "Hi."})
    assert turn["system"] == f"We are in {site.shop}."
    editor.page.reload()
    editor.wait_for_preview()
    expect(editor.dialog.get_by_label("Syntax")).to_have_value("jinja")


def test_changing_only_the_language_is_a_change_to_save(editor):
    expect(editor.dialog.get_by_text("unsaved changes")).to_have_count(0)
    editor.dialog.get_by_label("Syntax").select_option("jinja")
    expect(editor.dialog.get_by_text("unsaved changes")).to_be_visible()
    editor.dialog.get_by_label("Syntax").select_option("brackets")
    expect(editor.dialog.get_by_text("unsaved changes")).to_have_count(0)


def test_saving_a_template_that_cannot_be_rendered_asks_first(editor, site):
    before = site.template()
    editor.dialog.get_by_label("Syntax").select_option("jinja")
    editor.write("{% if %}")
    editor.page.keyboard.press("ControlOrMeta+s")
    dialog = editor.page.get_by_role("dialog", name="Save template")
    expect(dialog.get_by_role("alert")).to_contain_text("This template cannot be rendered")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_have_count(0)
    dialog.get_by_role("button", name="Keep editing").click()
    assert site.template() == before
    editor.page.keyboard.press("ControlOrMeta+s")
    dialog.get_by_role("button", name="Save anyway").click()
    expect(editor.dialog.get_by_role("status").filter(has_text="Saved as version")).to_be_visible()
    assert site.template() == "{% if %}"
