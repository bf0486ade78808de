"""The live preview of the template, and the origin of each character."""

import re

import pytest
from editor import wait_for_answer
from playwright.sync_api import expect

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-editing")

TEMPLATE = """Be kind.

[if file:AGENTS.md]
[file:AGENTS.md]
[else]
There are no rules.
[endif]
On [git:branch], in [prompt:cwd].
"""


def show_template(editor):
    editor.write(TEMPLATE)
    expect(editor.prompt).to_contain_text("Prices are integers")
    editor.wait_for_preview()
    return editor


@pytest.fixture
def editor_with_preview(kept_editor):
    """The template and its preview, in an editor that may remember an earlier origin that had the focus."""
    return show_template(kept_editor)


@pytest.fixture
def new_editor_with_preview(editor):
    return show_template(editor)


def test_the_preview_is_the_prompt_of_the_service(editor_with_preview, site):
    preview = site.call("POST", "/system-prompt/preview", {"template": TEMPLATE})
    assert editor_with_preview.prompt.evaluate("(element) => element.textContent") == preview["text"]


def test_the_preview_follows_typing_after_a_pause(editor_with_preview):
    urls = []
    editor_with_preview.page.on(
        "request", lambda request: urls.append(request.url) if request.url.endswith("/preview") else None
    )
    editor_with_preview.put_caret(1)
    editor_with_preview.type_without_pause("Always. ")
    expect(editor_with_preview.prompt).to_contain_text("Always. Be kind.")
    assert len(urls) == 1


def test_a_stale_response_never_overwrites_a_newer_one(editor):
    held = []

    def hold_the_first(route):
        if "slow" in route.request.post_data:
            held.append((route, route.fetch()))  # answered by the service, but held back
        else:
            route.continue_()

    editor.page.route("**/system-prompt/preview", hold_the_first)
    editor.write("slow")
    editor.eventually(lambda: len(held), 1)
    editor.write("quick")
    expect(editor.prompt).to_have_text("quick")
    for route, response in held:
        try:
            route.fulfill(response=response)
        except Exception as error:  # the page may already have cancelled it
            assert "Request" in str(error) or "route" in str(error).lower()
        wait_for_answer(route.request)
    expect(editor.prompt).to_have_text("quick")


def test_every_span_shows_its_origin_by_more_than_colour(editor_with_preview):
    looks = {}
    for kind in ("template", "file", "variable"):
        span = editor_with_preview.prompt.locator(f".k-{kind}").first
        looks[kind] = span.evaluate(
            "(element) => [getComputedStyle(element).backgroundColor, getComputedStyle(element).textDecorationStyle + getComputedStyle(element).textDecorationLine]"
        )
    assert len({look[0] for look in looks.values()}) == 3
    assert len({look[1] for look in looks.values()}) == 3
    legend = editor_with_preview.preview.get_by_role("list", name="Origins in this prompt")
    expect(legend.get_by_role("listitem")).to_have_text(["Template", "File", "Value"])


def test_ligatures_are_disabled(editor_with_preview):
    for text in (editor_with_preview.prompt, editor_with_preview.code):
        expect(text).to_have_css("font-variant-ligatures", "none")


def test_hover_shows_file_and_line(editor_with_preview, site):
    box = editor_with_preview.prompt.locator(".k-file").first.bounding_box()
    info = editor_with_preview.preview.locator(".origin-info")
    editor_with_preview.page.mouse.move(box["x"] + 5, box["y"] + 5)
    expect(info).to_have_text(f"File {site.shop}/AGENTS.md, line 1")
    editor_with_preview.page.mouse.move(box["x"] + 5, box["y"] + box["height"] - 5)
    expect(info).to_have_text(f"File {site.shop}/AGENTS.md, line 4")


def test_focus_shows_file_and_line_and_arrow_keys_move_between_origins(new_editor_with_preview, site):
    info = new_editor_with_preview.preview.locator(".origin-info")
    new_editor_with_preview.prompt.focus()
    expect(info).to_have_text(re.compile("^Template template, lines? 1"))
    labels = []
    for _ in range(9):
        new_editor_with_preview.page.keyboard.press("ArrowRight")
        labels.append(info.inner_text())
    assert any(f"{site.shop}/AGENTS.md, lines 1–4" in label for label in labels)
    assert any("prompt:cwd" in label for label in labels)
    expect(new_editor_with_preview.prompt).to_be_focused()
    expect(new_editor_with_preview.prompt.locator("[tabindex], [role]")).to_have_count(0)  # text, not buttons
    spoken = new_editor_with_preview.preview.get_by_role("status")
    expect(spoken).to_contain_text(re.compile(r"^Template template, line 8: \."))
    new_editor_with_preview.page.keyboard.press("Home")
    expect(spoken).to_have_text("Template template, lines 1–2: Be kind.")


@pytest.mark.parametrize(
    ("line", "highlighted"),
    [
        (1, ["Be kind."]),
        (4, ["# Shop\n\nRun `make test` before you say that you are done.\nPrices are integers, in cents."]),
        (6, []),  # the skipped branch
        (8, ["On ", "{shop}", ", in ", "."]),
    ],
)
def test_a_template_line_highlights_its_output(editor_with_preview, site, line, highlighted):
    editor_with_preview.code.locator(".cm-line").nth(line - 1).click()
    expected = [text.replace("{shop}", str(site.shop)) for text in highlighted]
    editor_with_preview.eventually(
        lambda: sorted(text for text in editor_with_preview.highlighted_text() if text.strip()), sorted(expected)
    )


@pytest.mark.parametrize(
    ("kind", "text", "line"),
    [
        ("template", "Be kind.", "Be kind."),
        ("file", "Shop", "[file:AGENTS.md]"),
        ("variable", "/", "On [git:branch], in [prompt:cwd]."),
    ],
)
def test_output_highlights_its_template_line(editor_with_preview, kind, text, line):
    span = editor_with_preview.prompt.locator(f".k-{kind}", has_text=text).first
    span.click(position={"x": 4, "y": 6})
    expect(editor_with_preview.code.locator(".cm-line.cm-highlighted")).to_have_text(line)
    editor_with_preview.eventually(lambda: bool(editor_with_preview.highlighted_text()), True)


def test_enter_highlights_the_template_line(new_editor_with_preview):
    new_editor_with_preview.prompt.focus()
    new_editor_with_preview.page.keyboard.press("ArrowRight")
    new_editor_with_preview.page.keyboard.press("Enter")
    expect(new_editor_with_preview.code.locator(".cm-line.cm-highlighted")).to_have_text("[file:AGENTS.md]")


def test_tokens_per_section_are_shown_as_a_bar_and_depend_on_the_model(editor, site):
    tokens = editor.preview.get_by_role("region", name="Tokens")
    preview = site.call("POST", "/system-prompt/preview", {})
    for passage in preview["passages"]:
        expect(
            tokens.get_by_role("button", name=re.compile(rf"^{passage['section']} {passage['tokens']} "))
        ).to_be_visible()
    widths = tokens.locator(".bar span").evaluate_all(
        "(all) => all.map((element) => element.getBoundingClientRect().width)"
    )
    largest = max(preview["passages"], key=lambda passage: passage["tokens"])
    assert widths.index(max(widths)) == preview["passages"].index(largest)
    editor.dialog.get_by_label("Model", exact=True).fill("claude-opus-4-7")
    scaled = site.call("POST", "/system-prompt/preview", {"model": "claude-opus-4-7"})
    assert scaled["tokens"]["count"] != preview["tokens"]["count"]
    expect(tokens).to_contain_text(f"{scaled['tokens']['count']:,} tokens")


def test_folder_and_tools_can_be_chosen(editor, site):
    editor.write("[file:AGENTS.md]")
    editor.dialog.get_by_label("Folder").fill(str(site.shop / "api"))
    expect(editor.prompt).to_have_text("Handlers stay thin; rules live in `domain/`.")
    editor.dialog.get_by_label("Syntax").select_option("jinja")
    editor.write("{% for tool in tools %}- {{ tool }}\n{% endfor %}end")
    expect(editor.prompt).to_have_text("end")
    editor.dialog.get_by_role("textbox", name="Tools").fill("read_file, shell")
    expect(editor.prompt).to_contain_text("- read_file")


def test_only_layouts_that_use_the_stored_template_are_offered(kept_editor, site):
    editor = kept_editor
    layouts = site.call("GET", "/layouts")["layouts"]
    expected = [layout["name"] for layout in layouts if layout["stored_template"]]
    assert expected and len(expected) < len(layouts)
    expect(editor.dialog.get_by_label("Layout").locator("option")).to_have_text(expected)


def test_a_value_highlights_its_own_tag_and_not_another_of_the_same_name(kept_editor):
    editor = kept_editor
    editor.write("One [file:AGENTS.md]\ntwo [file:./AGENTS.md]\nthree")
    expect(editor.prompt.locator(".k-file")).to_have_count(2)
    for steps, line in ((3, "two [file:./AGENTS.md]"), (1, "One [file:AGENTS.md]")):
        editor.prompt.focus()
        for key in ("Home", *["ArrowRight"] * steps, "Enter"):
            editor.page.keyboard.press(key)
        expect(editor.code.locator(".cm-line.cm-highlighted")).to_have_text(line)


def test_a_jinja_value_highlights_its_tag(kept_editor):
    editor = kept_editor
    editor.dialog.get_by_label("Syntax").select_option("jinja")
    editor.write("In\n{{ cwd }}\nto work")
    expect(editor.prompt).to_contain_text("to work")
    editor.prompt.locator(".k-variable").click()
    expect(editor.code.locator(".cm-line.cm-highlighted")).to_have_text("{{ cwd }}")


def test_after_a_failed_render_the_old_prompt_is_marked_as_outdated(kept_editor):
    editor = kept_editor
    editor.dialog.get_by_label("Syntax").select_option("jinja")
    editor.write("Fine {{ cwd }}")
    expect(editor.prompt).to_contain_text("Fine /")
    expect(editor.preview.locator(".outdated")).to_have_count(0)
    editor.write("Broken {% if %}")
    expect(editor.preview.get_by_role("alert")).to_contain_text("The prompt below is outdated")
    expect(editor.preview.locator(".outdated")).to_contain_text("Fine /")
    editor.write("Mended {{ cwd }}")
    expect(editor.prompt).to_contain_text("Mended /")
    expect(editor.preview.locator(".outdated")).to_have_count(0)
    expect(editor.preview.get_by_role("alert")).to_have_count(0)


def test_choices_made_for_another_service_are_discarded(editor, site):
    editor.dialog.get_by_label("Model", exact=True).fill("gpt-5")
    editor.page.wait_for_function("localStorage.getItem('foreword.choices')?.includes('gpt-5')")
    editor.page.evaluate(
        """() => {
            const choices = JSON.parse(localStorage.getItem("foreword.choices"));
            localStorage.setItem("foreword.choices", JSON.stringify({ ...choices, cwd: "/elsewhere", layout: "$user/theirs" }));
        }"""
    )
    editor.page.reload()
    editor.wait_for_preview()
    expect(editor.dialog.get_by_label("Folder")).to_have_value("")
    expect(editor.dialog.get_by_label("Layout")).to_have_value("builder")
    expect(editor.dialog.get_by_label("Model", exact=True)).to_have_value("gpt-5")
    expect(editor.preview.get_by_role("alert")).to_have_count(0)


def test_a_folder_that_is_not_served_shows_an_error(editor):
    editor.dialog.get_by_label("Folder").fill("/etc")
    expect(editor.preview.get_by_role("alert")).to_contain_text("outside the served folders")
    expect(editor.prompt).to_contain_text("You are a helpful coding assistant.")
