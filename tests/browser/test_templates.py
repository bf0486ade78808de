"""Templates are duplicated, downloaded, opened from a file and deleted, and a protected label stays where it is."""

from urllib.parse import quote

import pytest
from editor import Editor
from playwright.sync_api import expect

from foreword.service.tokens import hash_token

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-editing")


def test_a_template_is_deleted_after_naming_the_conversations_that_use_it(open_page, site):
    for text in ("One", "Two"):
        site.call("PUT", "/templates/old%20help", {"template": text})
    for number in range(6):
        site.construct(f"chat-{number}", layout="builder", template_name="old help")
    page = open_page(f"{site.url}/#/template?name={quote('old help')}")
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete old help")
    expect(dialog).to_contain_text("6 conversations were built from it. They keep their prompts")
    expect(dialog.get_by_role("link")).to_have_text(
        [*(f"chat-{number}" for number in range(5)), "1 other conversation"]
    )
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Deleted old help with 2 versions.")).to_be_visible()
    expect(page.locator("#template-name")).to_have_text("default")
    expect(page.get_by_role("navigation", name="Templates").get_by_role("link", name="old help")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete…")).to_have_count(0)
    page.goto(f"{site.url}/#/conversations/chat-0")
    expect(
        page.get_by_text("the template 'old help' that this conversation was built from no longer exists")
    ).to_be_visible()
    site.call("PUT", "/templates/old%20help", {"template": "Three"})
    page.goto(f"{site.url}/#/history?name={quote('old help')}")
    page.get_by_text("2 moves of labels").click()
    expect(page.get_by_role("list", name="Label moves")).to_contain_text(
        "The template was deleted, with its versions up to 2"
    )
    expect(page.get_by_role("heading", name="Version 3")).to_be_visible()


def test_any_version_is_duplicated_under_a_new_name(open_page, site):
    for text in ("One {{ cwd }}", "Two {{ cwd }}"):
        site.call("PUT", "/templates/source?syntax=jinja", {"template": text})
    page = open_page(f"{site.url}/#/history/1?name=source")
    page.get_by_role("button", name="Duplicate…").click()
    dialog = page.get_by_role("dialog", name="Duplicate source")
    expect(dialog).to_contain_text("begins with the text of version 1")
    expect(dialog.get_by_label("Name")).to_have_value("source-copy")
    page.keyboard.press("Enter")
    editor = Editor(page)
    expect(editor.code).to_have_text("One {{ cwd }}")
    expect(editor.dialog.get_by_label("Syntax")).to_have_value("jinja")
    page.keyboard.press("ControlOrMeta+s")
    page.get_by_role("dialog", name="Save template").get_by_role("button", name="Save", exact=True).click()
    expect(editor.dialog.locator(".state")).to_have_text("version 1 saved")
    assert site.call("GET", "/templates/source-copy")["template"] == "One {{ cwd }}"
    page.goto(f"{site.url}/#/template")
    page.get_by_role("button", name="Duplicate…").click()
    page.get_by_role("dialog", name="Duplicate default").get_by_label("Name").fill("from default")
    page.keyboard.press("Enter")
    expect(Editor(page).code).to_contain_text("You are a helpful coding assistant.")


def test_a_version_is_downloaded_and_a_file_is_opened_in_the_editor(open_page, site, tmp_path):
    text = "Grüße 😀\n[prompt:cwd]\n"
    site.call("PUT", "/templates/to%20keep", {"template": text})
    page = open_page(f"{site.url}/#/template?name={quote('to keep')}")
    with page.expect_download() as shown:
        page.get_by_role("button", name="Download").click()
    page.goto(f"{site.url}/#/history/1?name={quote('to keep')}&with=text")
    with page.expect_download() as old:
        page.get_by_role("button", name="Download").click()
    for download in (shown.value, old.value):
        assert download.suggested_filename == "to-keep-1.md"
        download.save_as(tmp_path / "saved.md")
        assert (tmp_path / "saved.md").read_text(encoding="utf-8") == text
    page.goto(f"{site.url}/#/edit?name={quote('to keep')}")
    editor = Editor(page)
    (tmp_path / "mine.md").write_bytes(b"From a file.\r\n")
    (tmp_path / "picture.png").write_bytes(bytes(range(256)))

    def open_file(name):
        with page.expect_file_chooser() as chooser:
            editor.dialog.get_by_role("button", name="Open file…").click()
        chooser.value.set_files(tmp_path / name)

    open_file("picture.png")
    expect(editor.dialog.get_by_text("picture.png is not a UTF-8 text file.")).to_be_visible()
    open_file("mine.md")
    expect(editor.dialog.get_by_text("The text of mine.md is in the editor.")).to_be_visible()
    assert editor.text() == "From a file.\n"
    editor.code.focus()
    page.keyboard.press("ControlOrMeta+z")
    expect(editor.code).to_contain_text("Grüße 😀")


def test_a_label_is_removed(open_page, site):
    site.call("PUT", "/templates/labelled", {"template": "Hi."})
    site.call("PUT", "/templates/labelled/labels/stagin", {"version": 1})
    page = open_page(f"{site.url}/#/template?name=labelled")
    page.get_by_role("button", name="Remove the label stagin").click()
    page.get_by_role("dialog", name="Remove the label stagin").get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("Removed the label stagin.")).to_be_visible()
    expect(page.get_by_role("list", name="Labels")).to_have_count(0)
    assert site.call("GET", "/templates/labelled/versions")["labels"] == {"production": 1}


def test_a_protected_label_has_a_lock_and_says_which_right_is_needed(open_page, own_site, tmp_path):
    entry = '[[token]]\nname = "Writer"\nhash = "{}"\nrights = ["read", "turn", "template"]\n'
    (tmp_path / "tokens.toml").write_text(entry.format(hash_token(b"writer").decode()))
    site = own_site(token="admin", options=["--protect-label", "production", "--tokens", str(tmp_path / "tokens.toml")])
    for text in ("One", "Two"):
        site.call("PUT", "/templates/support", {"template": text})
    page = open_page(f"{site.url}/#/template?name=support")
    page.get_by_role("textbox", name="Token").fill("writer")
    page.keyboard.press("Enter")
    expect(page.get_by_role("img", name="protected")).to_be_visible()
    expect(page.get_by_role("button", name="Delete…")).to_be_disabled()
    page.goto(f"{site.url}/#/edit?name=support")
    editor = Editor(page)
    editor.write("Three")
    page.keyboard.press("ControlOrMeta+s")
    dialog = page.get_by_role("dialog", name="Save template")
    expect(dialog.get_by_label("Make it live now")).to_be_disabled()
    expect(dialog).to_contain_text("The label “production” is protected: changing its version needs the right “admin”")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(editor.dialog.get_by_text("Saved as version 3, which is not live.")).to_be_visible()
    page.goto(f"{site.url}/#/history/1?name=support")
    expect(page.get_by_role("button", name="Restore…")).to_be_disabled()
    page.get_by_role("button", name="Move label…").click()
    dialog = page.get_by_role("dialog", name="Move a label to version 1")
    dialog.get_by_label("Label").fill("production")
    expect(dialog.get_by_role("button", name="Move label", exact=True)).to_be_disabled()
    expect(dialog).to_contain_text("needs the right “admin”")
    dialog.get_by_label("Label").fill("staging")
    dialog.get_by_role("button", name="Move label", exact=True).click()
    expect(page.get_by_role("navigation", name="Versions").get_by_role("link").last).to_contain_text("staging")
    assert site.call("GET", "/templates/support")["template"] == "Two"
