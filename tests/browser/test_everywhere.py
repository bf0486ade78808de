"""Small and large screens, dark and light, keyboard only, screen readers, and no network."""

import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from editor import accept_completion
from playwright.sync_api import expect

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-views")

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (360, 768, 1440)
WITH_ERROR = "Two.\n[file:AGENTS.md]\nOn [git:branch] in [prompt:cwd].\n[endif]\n"


@pytest.fixture(scope="module")
def used_site(shared_site):
    """A service with versions, conversations, drift and findings."""
    shared_site.write("One.\n[file:AGENTS.md]\n", "Ada", "a beginning")
    shared_site.construct("chat-1")
    shared_site.write(WITH_ERROR, "Grace", "say where we are", force=True)
    shared_site.construct("chat-2")
    shared_site.call("PUT", "/templates/support", {"template": "Be kind."})
    shared_site.call("PUT", "/templates/support/labels/staging", {"version": 1})
    return shared_site


def wait_for_editor(page):
    expect(page.locator("section.preview")).to_have_attribute("aria-busy", "false")
    expect(page.get_by_role("region", name="Findings")).to_contain_text("1 finding")


def show_overview(page):
    expect(page.get_by_role("link", name=re.compile("^chat-2"))).to_be_visible()


def show_history(page):
    expect(page.get_by_role("region", name=re.compile("Changes in version"))).to_be_visible()


def show_conversation(page):
    expect(page.get_by_role("region", name="Compared with now")).to_contain_text("body changed")
    expect(page.get_by_role("group", name="Prompt with origins")).to_be_visible()


def show_completion(page):
    wait_for_editor(page)
    page.locator(".cm-content").focus()
    page.keyboard.type("[")
    expect(page.get_by_role("listbox", name="Completions")).to_be_visible()


def show_outdated_preview(page):
    wait_for_editor(page)
    page.get_by_label("Syntax").select_option("jinja")
    page.locator(".cm-content").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("{% if %}")
    expect(page.get_by_text("The prompt below is outdated")).to_be_visible()


def show_saving(page):
    wait_for_editor(page)
    page.locator(".cm-content").focus()
    page.keyboard.type("Three. ")
    page.keyboard.press("ControlOrMeta+s")
    expect(page.get_by_role("dialog", name="Save template").get_by_text(re.compile("until"))).to_be_visible()


def show_leaving(page):
    wait_for_editor(page)
    page.locator(".cm-content").focus()
    page.keyboard.type("Three. ")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Unsaved changes")).to_be_visible()


def show_restoring(page):
    page.get_by_role("link", name=re.compile("a beginning")).click()
    page.get_by_role("button", name="Restore…").click()
    expect(page.get_by_role("dialog", name=re.compile("Restore")).get_by_text(re.compile("until"))).to_be_visible()


def show_protected_labels(page):
    token = {"name": "", "rights": ["read", "template"], "team": "", "default_template": "default"}
    page.route("**/token", lambda route: route.fulfill(json={**token, "protected_labels": ["production", "staging"]}))
    page.reload()
    expect(page.get_by_role("img", name="protected")).to_have_count(2)


def show_duplicating(page):
    page.get_by_role("button", name="Duplicate…").click()
    expect(page.get_by_role("dialog", name="Duplicate support")).to_be_visible()


def show_deleting(page):
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("dialog", name="Delete support").get_by_text("No conversation uses it.")).to_be_visible()


VIEWS = {
    "overview": ("#/", show_overview),
    "editor": ("#/edit", wait_for_editor),
    "completion": ("#/edit", show_completion),
    "outdated preview": ("#/edit", show_outdated_preview),
    "saving": ("#/edit", show_saving),
    "leaving": ("#/edit", show_leaving),
    "history": ("#/history", show_history),
    "restoring": ("#/history", show_restoring),
    "protected labels": ("#/template?name=support", show_protected_labels),
    "duplicating": ("#/template?name=support", show_duplicating),
    "deleting": ("#/template?name=support", show_deleting),
    "conversation": ("#/conversations/chat-1", show_conversation),
}


def axe_violations(page):
    """Return what axe reports about the page, also about the size of what is clicked, which it does not check by default."""
    options = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    violations = page.evaluate("async (options) => (await axe.run(document, options)).violations", options)
    return [
        (problem["id"], [(node["html"][:120], node["failureSummary"][:300]) for node in problem["nodes"][:3]])
        for problem in violations
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_and_nothing_is_cut_off(open_page, used_site, view):
    path, show = VIEWS[view]
    page = open_page(f"{used_site.url}/{path}", bypass_csp=True, reduced_motion="reduce")
    show(page)
    page.evaluate(AXE.read_text())
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe_violations(page) == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        outside = page.evaluate(
            """() => [...document.querySelectorAll("dialog button, dialog a, main a, main button")]
                .filter((element) => element.checkVisibility() && (element.getBoundingClientRect().right > innerWidth + 1 || element.getBoundingClientRect().left < -1))
                .map((element) => element.outerHTML.slice(0, 120))"""
        )
        assert outside == []
    page.set_viewport_size({"width": WIDTHS[0], "height": 740})
    assert axe_violations(page) == []


def test_axe_finds_nothing_in_the_token_form(own_site, open_page):
    page = open_page(own_site(token="secret").url, bypass_csp=True, reduced_motion="reduce")
    expect(page.get_by_role("dialog", name="Token")).to_be_visible()
    page.evaluate(AXE.read_text())
    assert axe_violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_line_numbers_have_enough_contrast(open_page, used_site, scheme):
    """axe ignores line numbers, as a screen reader does."""
    page = open_page(f"{used_site.url}/#/edit", scheme=scheme)
    wait_for_editor(page)
    contrast_colour = page.locator("dialog .state .quiet").first.evaluate(
        "(element) => getComputedStyle(element).color"
    )
    expect(page.locator(".cm-lineNumbers .cm-gutterElement").last).to_have_css("color", contrast_colour)


def test_on_a_small_screen_all_three_panes_can_be_reached(open_page, used_site):
    page = open_page(f"{used_site.url}/#/edit", width=360, height=740)
    wait_for_editor(page)
    switch = page.get_by_role("group", name="View")
    expect(page.locator(".cm-content")).to_be_visible()
    switch.get_by_role("button", name="variables").click()
    expect(page.locator(".cm-content")).not_to_be_visible()
    page.get_by_role("button", name=re.compile("insert git:branch")).click()
    expect(page.locator(".cm-content")).to_be_focused()  # inserting switches back to the template pane
    switch.get_by_role("button", name="preview").click()
    expect(page.get_by_role("group", name="Prompt with origins")).to_be_visible()


def test_the_colour_scheme_is_remembered(open_page, used_site):
    page = open_page(used_site.url, scheme="light")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(background)
    page.get_by_label("Theme").select_option("Dark")
    expect(page.locator("html")).not_to_have_css("background-color", light)
    dark = page.evaluate(background)
    page.reload()
    expect(page.get_by_label("Theme")).to_have_value("dark")
    expect(page.locator("html")).to_have_css("background-color", dark)


def reached_by_tab(page, limit=80):
    """Return the names of all elements that Tab reaches in one round; each must show its focus."""
    names = []
    for _ in range(limit):
        page.keyboard.press("Tab")
        name, is_shown = page.evaluate(
            """() => {
                let at = document.activeElement;
                while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
                if (!at || at === document.body) return ["", true];
                const style = getComputedStyle(at);
                const host = at.getRootNode().host;
                const isShown = style.outlineStyle !== "none" || (host && getComputedStyle(host).boxShadow !== "none");
                return [at.getAttribute("aria-label") || at.labels?.[0]?.textContent || at.textContent.slice(0, 40) || at.tagName, !!isShown];
            }"""
        )
        assert is_shown, f"{name} does not show its focus"
        if name and name in names:
            break
        names.append(name)
    return [name.strip() for name in names]


def test_everything_can_be_reached_by_keyboard_and_shows_its_focus(open_page, used_site):
    page = open_page(f"{used_site.url}/#/edit")
    wait_for_editor(page)
    reached = " | ".join(reached_by_tab(page))
    for name in (
        "Close",
        "History",
        "insert system:date",
        "File path to insert",
        "wrap the selection",
        "Template",
        "Folder",
        "Layout",
        "Model",
        "Tools",
        "Line 4",
    ):
        assert name in reached, f"{name} not in {reached}"


def test_a_version_can_be_written_and_saved_with_the_keyboard_alone(open_page, used_site):
    page = open_page(used_site.url)
    show_overview(page)
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Edit":
            break
    page.keyboard.press("Enter")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("By keyboard. On [git:br")
    accept_completion(page)
    page.keyboard.press("ControlOrMeta+s")
    expect(page.get_by_role("textbox", name="Note")).to_be_focused()
    page.keyboard.type("no mouse")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_text("Saved as version")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Edit", exact=True)).to_be_focused()
    assert used_site.template() == "By keyboard. On [git:branch]"
    used_site.write(WITH_ERROR, force=True)


def test_elements_have_accessible_names_and_roles(open_page, used_site):
    page = open_page(f"{used_site.url}/#/edit")
    wait_for_editor(page)
    expect(page.get_by_role("dialog", name="Template editor")).to_match_aria_snapshot(
        """
        - banner:
          - heading "Template" [level=1]
          - navigation "Editor":
            - link "History"
            - button /Save/
            - button /Close/
        - region "Variables":
          - group "system":
            - heading "system" [level=2]
            - button /insert system:time/
        - region "Template text":
          - textbox "Template"
          - region "Findings":
            - heading "1 finding" [level=2]
            - button /Next/
            - list:
              - listitem:
                - button /Line 4/
        - region "Preview":
          - form "Preview settings"
          - region "Tokens"
          - list "Origins in this prompt"
          - group "Prompt with origins"
        """
    )


def test_the_page_has_no_links_to_other_machines():
    """In addition, `open_page` fails every test that sends a request to another machine."""
    text = "".join(
        path.read_text()
        for path in (ROOT / "src/foreword/service/static").iterdir()
        if path.suffix in (".js", ".css", ".html")
    )
    assert (
        set(re.findall(r"(?:src|href)=\W?https?://[^\s\"']+|url\(\W?https?:[^)]*\)|@import[^;]*http[^;]*", text))
        == set()
    )


def test_the_page_loads_less_than_200_kilobytes_compressed(open_page, used_site):
    names = ["/", *re.findall(r'(?:src|href)="(/static/[^"]+)"', urllib.request.urlopen(used_site.url).read().decode())]
    sizes = {}
    for name in names:
        request = urllib.request.Request(used_site.url + name, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as response:
            sizes[name] = len(response.read())
    assert len(sizes) == 4
    assert sum(sizes.values()) < 200_000, sizes


def test_the_code_of_the_views_is_in_few_files_that_browsers_keep(used_site):
    names = [path.name for path in (ROOT / "src/foreword/service/static").glob("*.js")]
    assert 2 <= len(names) <= 10
    for name in names:
        kept = urllib.request.urlopen(f"{used_site.url}/static/{name}").headers["Cache-Control"]
        assert kept == ("no-cache" if name == "app.js" else "public, max-age=31536000, immutable")


def test_the_page_works_with_the_services_strict_policy(open_page, used_site):
    policy = urllib.request.urlopen(used_site.url).headers["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy
    page = open_page(f"{used_site.url}/#/edit")  # where a violation fails the test
    wait_for_editor(page)
    sheets = "document.querySelector('.code').shadowRoot.adoptedStyleSheets.length"
    assert page.evaluate(sheets) > 0


def test_a_page_that_is_not_built_explains_how_to_build_it(own_site, open_page, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("static", "__pycache__"))
    site = own_site(source=str(tmp_path / "src"))
    expect(open_page(site.url).locator("body")).to_contain_text("make page")
    assert (
        "this installation does not include the web page: run `make page`" in (site.folder / "service.log").read_text()
    )


def test_the_browser_writes_nothing_below_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    program = "import sys; sys.path.insert(0, sys.argv[1])\nfrom served import browser\nwith browser() as chrome: chrome.new_page()"
    subprocess.run([sys.executable, "-c", program, str(ROOT / "tests/browser")], check=True)
    assert list(tmp_path.rglob("*")) == []


def test_the_editor_completes_the_jinja_variables():
    from foreword.template.jinja import VARIABLES

    source = (ROOT / "web/src/languages/jinja.ts").read_text()
    assert dict(re.findall(r'^  \["(\w+)", "([^"]+)"\],$', source, re.MULTILINE)) == VARIABLES
