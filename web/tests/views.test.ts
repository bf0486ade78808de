// Tests of the views' pure modules, and of the client they use.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CacheReusesForm, Foreword } from "../../clients/typescript/index.js";
import { lossOf } from "../src/conversations/change-words";
import { filterQuery } from "../src/conversations/filter-query";
import type { AuthoredLine } from "../src/forms";
import { dailyBars } from "../src/overview/bars";
import { targetIn, targetName } from "../src/target";
import { age, runs } from "../src/workspace/authorship";

test("a target has a name that can be in an address", () => {
  for (const target of [{ section: "context" }, { section: "context", kind: "file", path: "/my shop/AGENTS.md" }, { section: "a", kind: "caller", path: "" }]) {
    assert.deepEqual(targetIn(targetName(target)), target);
  }
  assert.equal(targetIn(""), null);
});

test("a chart has a bar for each day, with gaps on days without calls", () => {
  const usage = { calls: 1, input: 10, read: 5, written: 0, output: 1, cost: null, hit_rate: 0.5 };
  const days = ["2026-10-01", "2026-11-14", "2026-11-16"].map((day) => ({ day, usage }));
  const bars = dailyBars(days, 4, 100);
  assert.deepEqual(bars.map(({ day, rate, left }) => [day, rate, left]), [["2026-11-13", null, 0], ["2026-11-14", 0.5, 25], ["2026-11-15", null, 50], ["2026-11-16", 0.5, 75]]);
  assert.deepEqual(dailyBars([], 4, 100), []);
});

test("the client reads events from a stream however it is divided", async () => {
  const bytes = new TextEncoder().encode('data: {"a": 1}\n\n: \n\nevent: x\ndata: {"é":\ndata: 2}\n\ndata: unfinished');
  for (const size of [1, 3, 1000]) {
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const client = new Foreword({ url: "", fetch: async () => new Response(stream) });
    const found: unknown[] = [];
    for await (const event of client.watch()) found.push(event);
    assert.deepEqual(found, [{ a: 1 }, { é: 2 }]);
  }
});

test("an edition's cost uses the model's provider", () => {
  const provider = { provider: "anthropic", kept: 1000, lost: 200, cacheable: 1200, rewrite: 0.5, price: { model: "claude-opus-5" } };
  const loss = (...providers: object[]) => ({ providers }) as unknown as CacheReusesForm;
  const other = { ...provider, provider: "openai", price: { model: "gpt-5" } };
  assert.equal(lossOf(loss(other, provider), "claude-opus-5"), "Kept 1,000 tokens in the cache and lost 200, which cost $0.5000 more (anthropic).");
  assert.equal(lossOf(loss({ ...provider, rewrite: null })), "Kept 1,000 tokens in the cache and lost 200 (anthropic).");
  assert.equal(lossOf(loss({ ...provider, lost: 0 })), "All cached tokens were kept.");
  assert.equal(lossOf(loss({ ...provider, cacheable: 0, lost: 0 })), "The prompt is too short for the cache of anthropic.");
});

test("lines of one commit are one run, and empty lines between sections belong to the run before", () => {
  const line = (text: string, fields: Partial<AuthoredLine>): AuthoredLine => ({ number: 1, text, section: "a", kind: "file", path: "/w/A.md", line: 1, committed: true, commit: "c1", author: "Ada", email: "", time: "2026-06-01T10:00:00Z", ...fields });
  const found = runs([line("# Shop", {}), line("", { kind: null, path: null, committed: null, commit: null }), line("Be brief.", {}), line("New.", { committed: false, commit: null, time: null }), line("Built in.", { committed: null, kind: "builtin", commit: null })]);
  assert.deepEqual(found.map(({ name, text }) => [name, text]), [["Ada", "# Shop\n\nBe brief."], ["Not committed", "New."], ["Built-in text", "Built in."]]);
});

test("an age is in its largest unit", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  assert.deepEqual(["2026-11-16T11:59:50Z", "2026-11-16T09:00:00Z", "2026-06-01T10:00:00Z", "2027-01-01T00:00:00Z"].map((iso) => age(iso, now)), ["0 minutes ago", "3 hours ago", "5 months ago", "0 minutes ago"]);
});

test("empty filters are left out, and days are included whole", () => {
  assert.deepEqual(filterQuery({ search: "", layout: "opal", version: "0", drifted: "false" }), { layout: "opal", version: 0, drifted: false });
  const { since, until } = filterQuery({ since: "2026-11-16", until: "2026-11-16" });
  assert.deepEqual([since, until], [new Date(2026, 10, 16).toISOString(), new Date(2026, 10, 17).toISOString()]);
});
