"""The figures of the page are those that the commands print, in the views that `test_views.py` does not compare."""

import json
import re
import subprocess

import pytest
from playwright.sync_api import expect
from served import Site
from tests.sessions.session_logs import ClaudeLog

from foreword.cli import main
from foreword.text.shares import cached_percent

# Run these in one worker, so that the service and the browser start only once.
pytestmark = pytest.mark.xdist_group("browser-sessions")
LONG = "Keep prices in cents. " * 400


@pytest.fixture(scope="module")
def used_site(tmp_path_factory):
    """A service with a session, versions of a template, and conversations with usage, some of which are behind."""
    site = Site(tmp_path_factory.mktemp("site"), options=["--sessions"])
    (site.shop / "CLAUDE.md").write_text("Be kind.\n" * 40)
    subprocess.run(["git", "init", "-q"], cwd=site.shop, check=True)
    log = ClaudeLog(site.folder / "home", site.shop).snapshot()
    log.instructions(site.shop / "CLAUDE.md", "Be kind.\n" * 40).user().answer(written=90_000)
    for number in range(3):
        log.user().answer(read=90_000 + 1000 * number, written=1000, fresh=3, out=700)
    log.user().answer(written=95_000, model="claude-sonnet-5-5").write()
    site.write(f"One.\n{LONG}")
    for number, id in enumerate(("first", "second", "unused")):
        site.construct(id, model="claude-opus-5")
        usage = {"input_tokens": 1_000 + number, "cache_read_input_tokens": 20_000 * number, "output_tokens": 50}
        if id != "unused":
            site.call("POST", f"/conversations/{id}/usage", {"usage": usage, "model": "claude-opus-5"})
    site.write(f"Two.\n{LONG}", "Ada", "shorter")
    site.call("POST", "/conversations/second/reload", {"cwd": str(site.shop), "model": "claude-opus-5"})
    site.construct("new", layout="opal")
    yield site
    site.stop()


@pytest.fixture
def printed(used_site, monkeypatch, capsys):
    """A function that returns what a command prints with `--json`, for the same folder, home and store."""
    monkeypatch.chdir(used_site.shop)
    monkeypatch.setenv("HOME", str(used_site.folder / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOREWORD_STORE", used_site.store)

    def run(*arguments):
        main([*arguments, "--json"])
        return json.loads(capsys.readouterr().out)

    return run


def in_cents(amount):
    """A cost as the views of sessions show it."""
    return f"${amount:,.2f}" if amount >= 0.01 or not amount else f"${amount:.4f}"


def in_dollars(amount):
    """A cost as the other views show it."""
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}"


def usage_words(usages):
    calls, input, output, read = (sum(usage[name] for usage in usages) for name in ("calls", "input", "output", "read"))
    cost = in_dollars(sum(usage["cost"] for usage in usages))
    return f"{calls} call{'s' * (calls > 1)}, {input:,} tokens in, {output:,} out, {cached_percent(read / input)} of the input from the cache, {cost}"


def table(page, name):
    return page.get_by_role("region", name=name, exact=True).locator("tbody tr")


def cells(*values):
    return [f"{value:,}" if isinstance(value, int) else value for value in values]


def test_conversations(open_page, used_site, printed):
    page = open_page(f"{used_site.url}/#/conversations")
    expect(page.locator(".progress")).to_have_count(0)
    listed = printed("conversation", "list")
    expect(table(page, "Table of conversations")).to_have_count(len(listed))
    behind, usages = 0, []
    for row in listed:
        edition, drift = (printed("conversation", action, row["id"]) for action in ("show", "drift"))
        usage = edition.get("usage")
        sources = list(dict.fromkeys(source for detail in drift["details"] for source in detail["sources"]))
        behind += drift["changed"]
        usages += [usage] if usage else []
        shown = table(page, "Table of conversations").filter(has=page.get_by_role("link", name=row["id"], exact=True))
        expect(shown.locator("td")).to_have_text(
            [
                "",
                "/".join(edition["built_for"]["cwd"].split("/")[-2:]),
                row["model"] or "–",
                *cells(row["editions"], printed("tokens", f"conversation:{row['id']}")["tokens"]["count"]),
                in_dollars(usage["cost"]) if usage else "–",
                cached_percent(usage["hit_rate"]) if usage else "–",
                re.compile(re.escape(sources[0].rpartition("/")[2])) if drift["changed"] else "",
                re.compile("just now|ago"),
            ]
        )
    assert behind == 2 and len(usages) == 2
    expect(page.locator(".heading .total")).to_have_text(f"{len(listed)} conversations, {behind} behind")
    calls, cost, read, input = (sum(usage[name] for usage in usages) for name in ("calls", "cost", "read", "input"))
    total = f"{calls} calls, {in_dollars(cost)}, {cached_percent(read / input)} of the input from the cache"
    expect(page.locator(".conversations").get_by_role("status")).to_have_text(total)


def test_drift_and_usage_of_a_conversation(open_page, used_site, printed):
    page = open_page(f"{used_site.url}/#/conversations/first")
    drift = printed("conversation", "drift", "first")
    figure = page.locator(".figure", has_text="A rebuild costs")
    expect(figure).to_contain_text(f"{drift['tokens_lost']:,} tokens read again")
    expect(figure.locator(".number")).to_have_text(in_dollars(drift["cost"]))
    page.goto(f"{used_site.url}/#/conversations/second")
    words = usage_words([printed("conversation", "show", "second")["usage"]])
    expect(page.get_by_role("region", name="Editions")).to_contain_text(f"In sum: {words}")


def test_versions_of_a_template(open_page, used_site, printed):
    page = open_page(f"{used_site.url}/#/history")
    versions = [row for row in printed("template", "history") if row["version"]]  # 0 is the default
    expect(page.get_by_role("navigation", name="Versions").get_by_role("link")).to_have_count(len(versions))
    [live] = [row["labels"]["production"] for row in printed("template", "list") if row["name"] == "default"]
    expect(page.locator("main > header .total")).to_have_text(
        f"{len(versions)} versions of default, version {live} is live"
    )
    listed = printed("conversation", "list")
    for version in versions:
        users = [row["id"] for row in listed if row["version"] == version["version"]]
        page.goto(f"{used_site.url}/#/history/{version['version']}")
        card = page.get_by_role("region", name=f"Version {version['version']}", exact=True)
        expect(card).to_contain_text(f"{len(users)} conversation{'s use' if len(users) > 1 else ' uses'} this version")
    page.goto(f"{used_site.url}/#/template")
    users = [row["id"] for row in listed if row["template"] == "default"]
    usages = [usage for id in users if (usage := printed("conversation", "show", id).get("usage"))]
    expect(page.locator("main .total")).to_have_text(
        f"{len(users)} conversations use this template · {usage_words(usages)}"
    )


def test_files(open_page, used_site, printed):
    page = open_page(f"{used_site.url}/#/workspace/files?layout=foreword")
    found = [row for row in printed("why", ".", "--layout", "foreword", "--all") if row["fate"] != "absent"]
    used = [row for row in found if row["fate"] == "used"]
    files = page.get_by_role("region", name="Files", exact=True)
    expect(files.locator(".total")).to_have_text(f"{len(used)} of {len(found)} files in the prompt")
    expect(files.locator(".tree").first.locator(".badge")).to_have_count(len(found))


def test_sessions(open_page, used_site, printed):
    page = open_page(f"{used_site.url}/#/sessions")
    answer = printed("sessions", ".")
    total, tokens = answer["total"], answer["total"]["tokens"]
    input = tokens["fresh"] + tokens["written"] + tokens["read"]
    lost = sum(cost or 0 for cost in total["collapse_cost"].values())
    numbers = [in_cents(total["cost"]), f"{tokens['read'] / input:.0%}", in_cents(lost), f"{total['requests']:,}"]
    expect(page.locator(".figures .number")).to_have_text(numbers)
    (row,) = answer["sessions"]
    expect(table(page, "Sessions").locator("td")).to_have_text(
        [
            in_cents(row["cost"]),
            re.compile(r"\d{4}, \d\d:\d\d"),
            row["agent"],
            *cells(row["requests"], numbers[1], row["collapses"]),
            ", ".join(row["models"]),
        ]
    )
    page.get_by_text("As a table").click()
    for name, by in (("Cost by day", "day"), ("Causes of collapses", "cause"), ("Files", "file")):
        rows = [row for row in printed("sessions", ".", "--by", by, "--utc")["rows"] if row["key"] != "no collapse"]
        expect(table(page, name)).to_have_count(len(rows))
        for row in rows:
            key = "Nov 2026" if by == "day" else row["key"].rpartition("/")[2]
            shown = table(page, name).filter(has=page.get_by_role("rowheader", name=key))
            expected = [f"{row['times']:,}", in_cents(row["cost"])]
            if by == "file":
                expected += [f"{row['tokens'][kind]:,}" for kind in ("read", "written", "fresh")]
            assert set(expected) <= set(shown.locator("td").all_inner_texts()), (name, row)


def test_a_session(open_page, used_site, printed):
    answer = printed("sessions", ".", "--id", "11111111")
    page = open_page(f"{used_site.url}/#/sessions/11111111")
    rows = table(page, "Table of requests")
    expect(rows).to_have_count(len(answer["requests"]))
    for shown, request in zip(rows.all(), answer["requests"], strict=True):
        tokens = [request["tokens"][kind] for kind in ("read", "written", "fresh", "out")]
        expect(shown.locator("td.figure")).to_have_text([*cells(*tokens), in_cents(request["cost"])])
    expect(page.locator(".figures .number").first).to_have_text(in_cents(answer["cost"]))
    page.get_by_label("Instruction").fill("CLAUDE.md:3")
    page.get_by_role("button", name="Look it up").click()
    (span,) = printed("sessions", ".", "--id", "11111111", "--in-force", "CLAUDE.md:3")["spans"]
    shown = table(page, "When it was in force").locator("td.figure").last
    expect(shown).to_have_text(f"{span['distance']:,}")


def test_align(open_page, used_site, printed):
    plan = printed("align", ".")
    page = open_page(f"{used_site.url}/#/workspace/agents")
    page.get_by_role("button", name="Align…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("region", name=re.compile("^Changes in "))).to_have_count(len(plan["changes"]))
    rows = table(page, "What each agent reads")
    expect(rows).to_have_count(len(plan["before"]))
    for name, reading in plan["after"].items():
        total = sum(len(paths) for paths in reading.values())
        shown = rows.filter(has=page.get_by_role("rowheader", name=name, exact=True)).locator("td").last
        expect(shown).to_have_text(re.compile(rf"^reads {len(reading['read'])} of {total}\b"))
