"""Editing the global template in both languages, with buttons for every variable."""

import re

import pytest
from editor import accept_completion
from playwright.sync_api import expect

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-editing")

# A mark may span several tokens, so join adjacent ones.
MARKED_TEXTS = """() => {
    const marks = [...document.querySelector(".code").shadowRoot.querySelectorAll(".cm-matching-tag")];
    const texts = [];
    for (const mark of marks) {
        if (mark.previousSibling === marks[marks.indexOf(mark) - 1]) texts.push(texts.pop() + mark.textContent);
        else texts.push(mark.textContent);
    }
    return texts;
}"""


def colours(editor, words):
    """Return the colour of each of these words."""
    colours_by_word = {}
    for word in words:
        token = editor.code.locator("span", has_text=re.compile(f"^{re.escape(word)}$")).first
        colours_by_word[word] = token.evaluate("(element) => getComputedStyle(element).color")
    return colours_by_word


def test_the_editor_is_a_dialog_that_opens_and_closes(open_page, site):
    page = open_page(site.url)
    page.get_by_role("link", name="Edit", exact=True).press("Enter")
    dialog = page.get_by_role("dialog", name="Template editor")
    expect(dialog.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("link", name="Edit", exact=True)).to_be_focused()
    assert page.url.endswith("#/template")


def test_the_editor_shows_the_global_template(editor, site):
    assert editor.text() == site.template()
    expect(editor.dialog.locator(".state")).to_contain_text("saved")


def test_the_bracket_language_is_highlighted(kept_editor):
    editor = kept_editor
    editor.write("[if !file:notes.md]\nPlain [git:branch] and \\[text] and [TODO: fix]\n[endif]")
    colours_seen = colours(editor, ["if", "file", "notes.md", "endif"])
    plain = editor.code.evaluate("(element) => getComputedStyle(element).color")
    assert colours_seen["if"] == colours_seen["endif"]
    assert len({plain, *colours_seen.values()}) == 4
    assert editor.code.locator("span", has_text=re.compile("^TODO")).count() == 0


def test_the_jinja_language_is_highlighted_if_selected(kept_editor):
    editor = kept_editor
    editor.dialog.get_by_label("Syntax").select_option("jinja")
    editor.write("{# a note #}\n{% if tools %}{{ cwd }}{% endif %} Plain")
    colours_seen = colours(editor, ["if", "tools", "{# a note #}"])
    assert len(set(colours_seen.values())) == 3
    editor.button("insert date$").click()
    expect(editor.code).to_contain_text("{{ date }}")


def test_a_language_that_only_the_service_supports_is_edited_as_plain_text(open_page, site):
    def add_language(route):
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "languages": ["brackets", "jinja", "other"]})

    page = open_page(site.url)
    page.route("**/layouts", add_language)
    page.get_by_role("link", name="Edit", exact=True).click()
    dialog = page.get_by_role("dialog", name="Template editor")
    syntax = dialog.get_by_label("Syntax")
    expect(syntax.locator("option")).to_have_text(["brackets", "jinja", "other"])
    code = dialog.locator(".cm-content")
    expect(code.locator("span").first).to_be_visible()
    syntax.select_option("other")
    expect(code.locator("span")).to_have_count(0)
    expect(code).not_to_be_empty()


@pytest.mark.parametrize(
    ("caret", "marked"),
    [
        ((1, 2), ["[if git:branch]", "[else]", "[endif]"]),  # the outer one, from its beginning
        ((3, 2), ["[if git:branch]", "[else]", "[endif]"]),  # from its middle
        ((2, 3), ["[if git:status]", "[endif]"]),  # the inner one
        ((3, 9), []),  # outside both
    ],
)
def test_matching_tags_are_marked(kept_editor, caret, marked):
    editor = kept_editor
    editor.write("[if git:branch]\n[if git:status]dirty[endif]\n[else] clean\n[endif]")
    editor.put_caret(*caret)
    expect(editor.code.locator(".cm-matching-tag").first).to_be_visible(visible=bool(marked))
    shown = editor.page.evaluate(MARKED_TEXTS)
    assert shown == marked


def test_variables_are_completed_with_their_values(kept_editor, site):
    editor = kept_editor
    editor.write("In ")
    editor.page.keyboard.type("[prompt:cw")
    option = editor.dialog.get_by_role("option", name=re.compile("prompt:cwd"))
    expect(option).to_contain_text(str(site.shop)[:40])
    accept_completion(editor.page, "Tab")
    expect(editor.code).to_have_text("In [prompt:cwd]")
    editor.page.keyboard.press("Tab")  # without a list, it leaves the editor
    expect(editor.code).not_to_be_focused()


def test_the_completion_list_is_fully_visible_at_the_end_of_a_long_text(kept_editor):
    editor = kept_editor
    editor.paste("A line.\n" * 200)
    editor.page.keyboard.type("[sys")
    listed = editor.page.get_by_role("listbox", name="Completions")
    expect(listed).to_be_in_viewport()  # until it has been measured, the list is far above the window
    box, pane = listed.bounding_box(), editor.dialog.locator(".code").bounding_box()
    assert pane["y"] <= box["y"] and box["y"] + box["height"] <= pane["y"] + pane["height"]


def test_paths_are_completed_in_the_text(kept_editor):
    editor = kept_editor
    editor.write("")
    editor.page.keyboard.type("[file:AG")
    expect(editor.dialog.get_by_role("option", name="AGENTS.md", exact=True)).to_be_visible()
    accept_completion(editor.page)
    expect(editor.code).to_have_text("[file:AGENTS.md]")


def test_findings_appear_while_typing_with_position_and_reason(kept_editor):
    editor = kept_editor
    editor.write("One\nand so [endif] on\nand [file:.env] too")
    findings = editor.dialog.get_by_role("region", name="Findings")
    expect(findings).to_contain_text("Line 2")
    expect(findings).to_contain_text("[endif] has no [if] and is left as text")
    expect(findings).to_contain_text(".env")
    expect(editor.code.locator(".cm-lintRange")).to_have_text("[endif]")
    waiting = []
    editor.page.route("**/preview", lambda route: waiting.append(route))
    with editor.page.expect_request("**/preview"):
        editor.write("One\nand so on")
    findings.get_by_role("button", name="Line 2").focus()
    waiting[-1].continue_()
    expect(findings).to_contain_text("No findings")
    expect(findings).to_be_focused()  # the focus does not leave the list with the finding that had it
    expect(editor.code.locator(".cm-lintRange")).to_have_count(0)
    editor.page.unroute("**/preview")


def test_a_jinja_syntax_error_has_a_position(kept_editor):
    editor = kept_editor
    editor.dialog.get_by_label("Syntax").select_option("jinja")
    editor.write("Fine\n{% if %}\n")
    expect(editor.dialog.get_by_role("region", name="Findings")).to_contain_text("Line 2")
    expect(editor.preview.get_by_role("alert")).to_contain_text("2")


def test_every_variable_has_a_button_in_the_group_of_its_type_with_its_value(kept_editor, site):
    editor = kept_editor
    values = {
        (value["type"], value["name"]): value["value"]
        for value in site.call("POST", "/system-prompt/values", {})["values"]
    }
    for variable in site.call("GET", "/system-prompt/variables")["variables"]:
        group = editor.dialog.get_by_role("group", name=variable["type"], exact=True)
        if variable.get("dynamic"):
            expect(group.get_by_label("File path to insert")).to_be_visible()
            continue
        button = group.get_by_role("button", name=f"insert {variable['type']}:{variable['name']}")
        expect(button).to_be_visible()
        value = values[variable["type"], variable["name"]]
        if variable["name"] != "time":  # which has changed in the meantime
            expect(button.locator(".value")).to_have_text(
                value.strip().split("\n")[0] if value else "not available here"
            )


def test_a_button_inserts_at_the_caret_replaces_a_selection_and_can_be_undone(kept_editor):
    editor = kept_editor
    editor.write("On X today")
    editor.put_caret(1, 10)
    editor.button("insert system:date").click()
    expect(editor.code).to_have_text("On X today[system:date]")
    expect(editor.code).to_be_focused()
    editor.put_caret(1, 3)
    editor.select(1)
    editor.button("insert git:branch").click()
    expect(editor.code).to_have_text("On [git:branch] today[system:date]")
    editor.page.keyboard.press("ControlOrMeta+z")
    expect(editor.code).to_have_text("On X today[system:date]")
    editor.page.keyboard.press("ControlOrMeta+z")
    expect(editor.code).to_have_text("On X today")
    editor.page.keyboard.press("ControlOrMeta+y")
    expect(editor.code).to_have_text("On X today[system:date]")


def test_the_path_field_completes_and_inserts(kept_editor):
    editor = kept_editor
    editor.write("")
    field = editor.dialog.get_by_label("File path to insert")
    field.fill("docs/")
    offered = editor.dialog.locator("form.path-field datalist option")
    expect(offered).to_have_count(1)
    assert offered.first.get_attribute("value") == "docs/style.md"
    field.fill("docs/style.md")
    field.press("Enter")
    expect(editor.code).to_have_text("[file:docs/style.md]")
    expect(editor.prompt).to_have_text("Write short sentences.")


@pytest.mark.parametrize(
    ("negated", "button", "after"),
    [
        (False, r"wrap the selection in \S+ \S+ and", "a [if git:status]dirty[endif] tree"),
        (True, r"wrap the selection in \S+ \S+ and", "a [if !git:status]dirty[endif] tree"),
        (False, r"wrap .*\[else\]", "a [if git:status]dirty[else]+[endif] tree"),
    ],
)
def test_buttons_wrap_the_selection_in_a_condition(kept_editor, negated, button, after):
    editor = kept_editor
    editor.write("a dirty tree")
    editor.put_caret(1, 2)
    editor.select(5)
    condition = editor.dialog.get_by_role("group", name="Wrap the selection in a condition")
    condition.get_by_label("Condition variable").fill("git:status")
    condition.get_by_label("if it has no value").set_checked(negated)
    condition.get_by_role("button", name=re.compile(button)).click()
    if "else" in button:
        editor.page.keyboard.type("+")  # the caret is in the other branch
    expect(editor.code).to_have_text(after)
    editor.page.keyboard.press("ControlOrMeta+z")
    if "else" in button:
        editor.page.keyboard.press("ControlOrMeta+z")
    expect(editor.code).to_have_text("a dirty tree")


def test_full_lines_are_wrapped_on_separate_lines(kept_editor):
    editor = kept_editor
    editor.write("one\ntwo\nthree")
    editor.put_caret(1)
    editor.page.keyboard.press("Shift+ArrowDown")
    editor.page.keyboard.press("Shift+ArrowDown")
    condition = editor.dialog.get_by_role("group", name="Wrap the selection in a condition")
    condition.get_by_label("Condition variable").fill("git:branch")
    condition.get_by_label("if it has no value").uncheck()
    condition.get_by_role("button", name=re.compile(r"\[else\]")).click()
    expect(editor.code.locator(".cm-line").nth(5)).to_have_text("[endif]")
    assert editor.text() == "[if git:branch]\none\ntwo\n[else]\n\n[endif]\nthree"


def test_text_is_found_and_replaced_with_the_keyboard_and_lines_are_reached(kept_editor):
    editor = kept_editor
    page = editor.page
    editor.write("Be brief. be kind.\nMaybe 😀 [endif]\n" * 40)
    page.keyboard.press("ControlOrMeta+Home")
    page.keyboard.press("ControlOrMeta+f")
    panel = page.get_by_role("search", name="Find and replace")
    status = panel.get_by_role("status")
    page.keyboard.type("be")
    expect(status).to_have_text("1 of 120")
    page.keyboard.press("Shift+Enter")
    expect(status).to_have_text("120 of 120")
    panel.get_by_label("Match case").check()
    expect(status).to_have_text("80 of 80")
    panel.get_by_label("Whole words").check()
    expect(status).to_have_text("1 of 40")
    panel.get_by_label("Replace with").fill("are")
    page.keyboard.press("Enter")
    expect(status).to_have_text("1 of 39")
    panel.get_by_role("button", name="Replace all").press("Enter")
    expect(status).to_have_text("No matches")
    expect(editor.code).not_to_contain_text(". be kind")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(editor.code).to_be_focused()
    page.keyboard.press("ControlOrMeta+z")  # one step undoes all but the first replacement
    expect(editor.code.locator(".cm-line").nth(2)).to_have_text("Be brief. be kind.")
    expect(editor.code.locator(".cm-line").first).to_have_text("Be brief. are kind.")
    finding = page.get_by_role("region", name="Findings").get_by_role("button", name="Line 2, column 9").first
    finding.click()
    page.keyboard.type("!")
    expect(editor.code.locator(".cm-line").nth(1)).to_have_text("Maybe 😀 ![endif]")
    page.keyboard.press("Control+g")
    page.keyboard.type("4:7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Go to line")).to_have_count(0)
    expect(editor.code).to_be_focused()
    page.keyboard.type("?")
    expect(editor.code.locator(".cm-line").nth(3)).to_have_text("Maybe ?😀 [endif]")


def test_keys_save_go_to_the_next_finding_and_close(editor):
    editor.write("[endif]\nfine\n[else]")
    expect(editor.code.locator(".cm-lintRange")).to_have_count(2)
    editor.put_caret(2)
    editor.page.keyboard.press("F8")
    assert (
        editor.page.evaluate("() => document.querySelector('.code').shadowRoot.getSelection().toString()") == "[else]"
    )
    expect(editor.dialog.get_by_role("status").filter(has_text="[else] has no [if]")).to_be_visible()
    editor.page.keyboard.press("F8")
    expect(editor.dialog.get_by_role("status").filter(has_text="[endif] has no [if]")).to_be_visible()
    editor.page.keyboard.press("ControlOrMeta+s")
    save = editor.page.get_by_role("dialog", name="Save template")
    expect(save.get_by_role("textbox", name="Note")).to_be_focused()
    editor.page.keyboard.type("so that it is kept")
    editor.page.keyboard.press("Enter")
    expect(save.get_by_role("alert")).to_contain_text("the template has errors: [endif] has no [if]")
    expect(save.get_by_role("button", name="Save anyway")).to_be_enabled()
    editor.page.keyboard.press("Enter")
    expect(save).to_have_count(0)
    expect(editor.code).to_be_focused()
    editor.page.keyboard.press("Escape")
    expect(editor.dialog).to_have_count(0)
