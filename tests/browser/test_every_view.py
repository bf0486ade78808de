"""Every view: what axe says, whether it fits, and whether a keyboard reaches all of it."""

import subprocess

import pytest
from playwright.sync_api import expect
from served import Site
from test_everywhere import AXE, axe_violations
from tests.sessions.session_logs import ClaudeLog

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-sessions")
VIEWS = (
    "",
    "workspace/agents",
    "workspace/prompt",
    "workspace/files?with=CLAUDE.md",
    "workspace/lint",
    "workspace/skills?tools=read",
    "conversations",
    "conversations/checked",
    "conversations/nobody",
    "template",
    "template?name=support",
    "history",
    "layouts",
    "sessions",
    "sessions/11111111",
    "nonsense",
)
# Goes to a view, and returns when it has been drawn once.
GO = """(view) => new Promise((drawn) => {
  if (location.hash === `#/${view}`) return drawn();
  addEventListener("hashchange", () => requestAnimationFrame(() => requestAnimationFrame(drawn)), { once: true });
  location.hash = `#/${view}`;
})"""
# Begins to note what the focus reaches. An element that is drawn again counts as a new one.
BEGIN = "() => { document.activeElement.blur(); window.reached = new WeakSet(); }"
# Notes that the focus is here, and returns whether that shows (null: the focus is outside the page) and what Tab has not reached yet.
# An element that is not a tab stop is reached with the arrow keys.
REACH = """() => {
  const shows = (at) => {
    if (!at || at === document.body) return null;
    reached.add(at);
    let inner = at;
    while (inner.shadowRoot?.activeElement) inner = inner.shadowRoot.activeElement;
    const looks = [inner, at, at.parentElement].map((each) => getComputedStyle(each));
    return looks.some(({ outlineStyle, boxShadow }) => outlineStyle !== "none" || boxShadow !== "none") || at.outerHTML.slice(0, 120);
  };
  const isShown = shows(document.activeElement);
  const all = "a[href], button:enabled, input:enabled, select:enabled, summary, [tabindex]";
  const stops = [...document.querySelectorAll(all)].filter((each) => each.tabIndex >= 0 && each.checkVisibility({ visibilityProperty: true }));
  return { isShown, missed: stops.filter((each) => !reached.has(each)).map((each) => each.outerHTML.slice(0, 120)) };
}"""
MOST_STOPS = 400


@pytest.fixture(scope="module")
def full_site(tmp_path_factory):
    """A service with something to show in every view."""
    site = Site(tmp_path_factory.mktemp("site"), options=["--sessions"])
    (site.shop / "CLAUDE.md").write_text("See [the guide](missing.md).\n" * 3)
    subprocess.run(["git", "init", "-q"], cwd=site.shop, check=True)
    log = ClaudeLog(site.folder / "home", site.shop).snapshot()
    log.instructions(site.shop / "CLAUDE.md", "Be kind.\n" * 40).user().answer(written=90_000)
    log.user().answer(written=95_000, model="claude-sonnet-5-5").write()
    site.write("One.\n[file:AGENTS.md]\n", "Ada", "a beginning")
    site.construct("checked", layout="opal", tools=[{"name": "read"}])
    site.call("POST", "/conversations/checked/reload", {"cwd": str(site.shop), "model": "gpt-5", "layout": "pi"})
    site.write("Two.\n[file:AGENTS.md]\n", "Grace", "more")
    site.call("PUT", "/templates/support", {"template": "Be kind."})
    yield site
    site.stop()


def show(page, view):
    page.evaluate(GO, view)
    expect(page.locator("main h2").first).to_be_visible()
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_every_view_fits(open_page, full_site, scheme):
    page = open_page(full_site.url, height=740, bypass_csp=True, scheme=scheme, reduced_motion="reduce")
    page.evaluate(AXE.read_text())
    for view in VIEWS:
        show(page, view)
        for width in (1440, 768, 360):
            page.set_viewport_size({"width": width, "height": 740})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (view, width)
            assert (view, width, axe_violations(page)) == (view, width, [])


def test_the_navigation_is_one_row_on_a_phone_and_shows_the_current_view(open_page, full_site):
    page = open_page(f"{full_site.url}/#/sessions", width=360, height=740)
    links = page.get_by_role("navigation", name="Views").get_by_role("link")
    expect(links).to_have_count(6)
    expect(links.last).to_be_in_viewport(ratio=1)
    tops = links.evaluate_all("(links) => links.map((link) => link.getBoundingClientRect().top)")
    assert len(set(tops)) == 1


@pytest.mark.parametrize("width", [1440, 360])
def test_tab_reaches_everything_in_every_view_and_shows_where_it_is(open_page, full_site, width):
    page = open_page(full_site.url, width=width)
    for view in VIEWS:
        show(page, view)
        page.evaluate(BEGIN)
        for _ in range(MOST_STOPS):
            page.keyboard.press("Tab")
            step = page.evaluate(REACH)
            assert step["isShown"] in (True, None), (view, step)
            if not step["missed"]:
                break
        assert (view, step["missed"]) == (view, [])


def test_colours_that_a_user_forces_keep_what_is_chosen_visible(open_page, full_site):
    page = open_page(full_site.url, forced_colors="active")
    show(page, "workspace/agents")
    page.locator(".matrix tbody td").first.click()
    for element, property in (
        (".matrix td[aria-selected=true]", "outline-style"),
        (".popover", "border-top-style"),
        (".tabs a[aria-current]", "border-top-style"),
        (".chip[aria-pressed=true]", "border-top-style"),
        (".card", "border-top-style"),
        (".badge", "border-top-style"),
    ):
        expect(page.locator(element).first).to_have_css(property, "solid")


def test_nothing_moves_for_those_who_want_that(open_page, full_site):
    page = open_page(full_site.url, reduced_motion="reduce")
    show(page, "workspace/agents")
    page.get_by_role("button", name="Align…").click()
    moving = "document.getAnimations().filter(({ playState }) => playState === 'running').length"
    assert page.evaluate(moving) == 0
    transitions = "[...document.querySelectorAll('*')].filter((each) => getComputedStyle(each).transitionDuration !== '0s').length"
    assert page.evaluate(transitions) == 0


def test_paper_has_the_answers_and_not_the_controls(open_page, full_site):
    page = open_page(full_site.url, width=700)
    for view in ("workspace/agents", "conversations", "conversations/checked", "history", "sessions"):
        show(page, view)
        page.emulate_media(media="print")
        shown = page.locator(".side, .tabs, main button:not(.plain, .badge), main select, main input").filter(
            visible=True
        )
        assert (view, shown.evaluate_all("(all) => all.map((each) => each.outerHTML.slice(0, 100))")) == (view, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= 700, view
        page.emulate_media(media="screen")
