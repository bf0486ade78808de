// Tests of the views' pure modules, and of the client they use.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CacheReusesForm, Foreword } from "../../clients/typescript/index.js";
import { authorsOf, lineAuthors } from "../src/authors";
import { keptShare, lossOf, triggerInWords } from "../src/conversations/change-words";
import { nextRows, type Range } from "../src/conversations/drawn-rows";
import { inOrder, matching, rebuildSum } from "../src/conversations/matching";
import { namesIn } from "../src/conversations/team";
import { rebuildInWords, rebuildPrice } from "../src/conversations/rebuild-words";
import { totalInWords, usageInWords } from "../src/conversations/usage-words";
import { dayName, daysOf, everyNth } from "../src/days";
import type { AuthoredLine, Drift, ListedConversation, TemplateName, Version } from "../src/forms";
import { cellAfter } from "../src/grid-keys";
import { matchingTemplates, matchingVersions } from "../src/templates/matching";
import { turnCode } from "../src/use-code";
import { sorted } from "../src/sort-heading";
import { age } from "../src/words";
import { alignCommand, readingWords } from "../src/workspace/align-words";
import { answerTo } from "../src/workspace/why-words";

test("a chart has a bar for each day, at least two weeks and at most thirty days", () => {
  const long = daysOf(["2026-11-16", "2026-09-01"]);
  assert.deepEqual([long.length, long[0], long.at(-1)], [30, "2026-10-18", "2026-11-16"]);
  const short = daysOf(["2026-11-16"]);
  assert.deepEqual([short.length, short[0], short.at(-1)], [14, "2026-11-03", "2026-11-16"]);
  assert.equal(daysOf(["2026-11-16", "2026-10-31"]).length, 17);
  assert.deepEqual(daysOf([]), []);
  assert.equal(dayName("2026-11-05"), "5 Nov 2026");
  assert.deepEqual([1, 10, 11, 30].map((number) => everyNth(number, 10)), [1, 1, 2, 3]);
});

test("a table adds few rows in a frame: at first those at the top of the screen, then those around them", () => {
  const drawnFrom = (before: Range, wanted: Range, top: number) => {
    const frames = [before];
    while (frames.at(-1)!.join() !== wanted.join()) frames.push(nextRows(frames.at(-1)!, wanted, top));
    return frames.slice(1);
  };
  assert.deepEqual(drawnFrom([0, 0], [0, 21], 0), [[0, 10], [0, 20], [0, 21]]);
  assert.deepEqual(drawnFrom([0, 21], [94, 121], 100), [[100, 110], [100, 120], [94, 121]]); // a jump
  assert.deepEqual(drawnFrom([94, 121], [97, 124], 103), [[97, 124]]);
  assert.deepEqual(drawnFrom([94, 121], [80, 107], 86), [[84, 107], [80, 107]]);
  assert.deepEqual(drawnFrom([94, 121], [0, 3], 0), [[0, 3]]); // a search leaves three
  assert.deepEqual(nextRows([0, 3], [0, 0], 5), [0, 0]);
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
  assert.equal(keptShare(loss(other, { ...provider, lost: 3000 }), "claude-opus-5"), 0.25);
  assert.equal(keptShare(loss({ ...provider, kept: 0, lost: 0 })), null);
  assert.equal(lossOf(loss({ ...provider, cacheable: 0, lost: 0 })), "The prompt is too short for the cache of anthropic.");
});

test("the authors of a file are listed by their lines", () => {
  const line = (author: string, fields: Partial<AuthoredLine>): AuthoredLine => ({ number: 1, text: "", section: "a", kind: "file", path: "/w/A.md", line: 1, committed: true, commit: "c1d2e3f4a5", author, email: "", time: "2026-06-01T10:00:00Z", ...fields });
  const lines = [line("Ada", {}), line("Grace", { time: "2026-11-16T11:00:00Z", commit: "0123456789" }), line("Grace", {}), line("", { committed: null, kind: "builtin" })];
  const now = Date.parse("2026-11-16T12:00:00Z");
  const authors = lineAuthors(lines);
  assert.deepEqual([...authors.keys()], ["/w/A.md"]);
  assert.equal(authorsOf(authors.get("/w/A.md"), false, now), "Grace, Ada · 1 hr ago");
  assert.equal(authorsOf(lines.slice(1, 2), true, now), "Grace · 1 hr ago · 01234567");
  assert.equal(authorsOf([line("", { committed: false, commit: null, time: null })], true, now), "Not committed");
  assert.equal(authorsOf(undefined), "");
});

test("the answer to why is in sentences", () => {
  const row = { path: "/w/packages/web/CLAUDE.md", layer: "project", fate: "shadowed", reason: "/w/AGENTS.override.md comes before it; also read by claude, copilot", target: null, readers: ["claude", "copilot"], advice: "move its text into /w/AGENTS.override.md" };
  assert.equal(answerTo(row, "/w"), "packages/web/CLAUDE.md is not in this prompt: AGENTS.override.md comes before it. Claude and copilot read it. To include it: move its text into AGENTS.override.md.");
  assert.equal(answerTo({ ...row, fate: "used", reason: "", readers: [], advice: "" }, "/w"), "packages/web/CLAUDE.md is in this prompt.");
  assert.equal(answerTo({ ...row, fate: "absent", reason: "", readers: ["pi"], advice: "create it" }, ""), "/w/packages/web/CLAUDE.md is not in this prompt: absent. Pi reads it. To include it: create it.");
});

test("what an agent reads is in the words of the command, which is quoted for a shell", () => {
  const reading = { read: ["AGENTS.md"], missing: ["a", "b", "c", "d", "e"], repeated: [], cut: ["f"] };
  assert.equal(readingWords(reading), "reads 1 of 7; misses a, b, c and 2 more; cuts f");
  assert.equal(readingWords({ read: [], missing: [], repeated: ["g"], cut: [] }), "repeats g");
  assert.equal(readingWords({ read: [], missing: [], repeated: [], cut: [] }), "reads 0 of 0");
  assert.equal(alignCommand("/w/shop", { merge: false, links: true }), "foreword align /w/shop --links --write");
  assert.equal(alignCommand("/it's mine", { merge: true, links: false }), `foreword align '/it'"'"'s mine' --merge --write`);
});

test("rows are sorted by figures or names, and equal rows stay in order", () => {
  const rows = [{ name: "b", tokens: 2 }, { name: "a", tokens: 2 }, { name: "c", tokens: 10 }];
  assert.deepEqual(sorted(rows, "descending", ({ tokens }) => tokens).map(({ name }) => name), ["c", "b", "a"]);
  assert.deepEqual(sorted(rows, "ascending", ({ name }) => name).map(({ name }) => name), ["a", "b", "c"]);
});

test("an age is in its largest unit", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  assert.deepEqual(["2026-11-16T11:59:50Z", "2026-11-16T09:00:00Z", "2026-06-01T10:00:00Z", "2027-01-01T00:00:00Z"].map((iso) => age(iso, now)), ["just now", "3 hr ago", "5 mo ago", "just now"]);
});

test("conversations are found by id, folder and model, and sorted by any column", () => {
  const row = (id: string, fields: Partial<ListedConversation>): ListedConversation => ({ id, editions: 1, prompt: "", layout: "$std/opal", created: "2026-11-16T11:00:00Z", model: "gpt-5", template: null, version: null, team: "", cwd: "/w/shop", tokens: 10, usage: null, last_call: null, ...fields });
  const drift = { changed: true, sources: ["/w/shop/AGENTS.md"], tokens_lost: 500, cost: 0.25, basis: "call" };
  const rows = [row("billing-1", { drift }), row("search-2", { model: "claude-opus-5", cwd: "/w/web", tokens: 300 }), row("old-3", { created: "2026-01-01T00:00:00Z", template: "support", version: 2, drift: { ...drift, cost: null, basis: "prompt" } })];
  const now = Date.parse("2026-11-16T12:00:00Z");
  const found = (filter: object) => matching(rows, filter, now).map(({ id }) => id);
  assert.deepEqual([found({ search: "SHOP gpt" }), found({ search: "claude" }), found({ search: "bill" }), found({})], [["billing-1", "old-3"], ["search-2"], ["billing-1"], ["billing-1", "search-2", "old-3"]]);
  assert.deepEqual([found({ drifted: "true" }), found({ drifted: "false" }), found({ since: "week" }), found({ template: "support", version: "2" }), found({ layout: "opal", model: "gpt-5" })], [["billing-1", "old-3"], ["search-2"], ["billing-1", "search-2"], ["old-3"], ["billing-1", "old-3"]]);
  assert.deepEqual(inOrder(rows, { by: "tokens", direction: "descending" }).map(({ id }) => id), ["search-2", "billing-1", "old-3"]);
  assert.deepEqual(rebuildSum(rows), { cost: 0.25, unknown: 1 });
});

test("the arrow keys move between the cells of a table and stop at its edges", () => {
  const size = { row: 3, column: 4 };
  const after = (key: string, row: number, column: number, isControl = false) => Object.values(cellAfter(key, isControl, { row, column }, size) ?? {});
  assert.deepEqual(after("ArrowRight", 1, 1), [1, 2]);
  assert.deepEqual(after("ArrowRight", 1, 3), [1, 3]);
  assert.deepEqual(after("ArrowLeft", 1, 0), [1, 0]);
  assert.deepEqual(after("ArrowDown", 2, 1), [2, 1]);
  assert.deepEqual(after("ArrowUp", 2, 1), [1, 1]);
  assert.deepEqual(after("Home", 2, 2), [2, 0]);
  assert.deepEqual(after("End", 0, 0, true), [2, 3]);
  assert.equal(cellAfter("a", false, { row: 0, column: 0 }, size), null);
});

test("usage is described by its calls, tokens, hit rate and cost", () => {
  const usage = { calls: 2, input: 1000, read: 900, written: 0, output: 50, cost: 1.5, hit_rate: 0.9, unreported: 0 };
  assert.equal(usageInWords(usage), "2 calls, 1,000 tokens in, 50 out, 90% of the input from the cache, $1.50");
  assert.equal(usageInWords({ ...usage, cost: null, hit_rate: null }), "2 calls, 1,000 tokens in, 50 out, cached part unknown");
  assert.equal(usageInWords({ ...usage, cost: null, unreported: 1 }), "2 calls, 1,000 tokens in, 50 out, 90% of the input from the cache (1 call did not say)");
  assert.equal(usageInWords({ ...usage, calls: 0 }), "");
  const total = { total: { ...usage, cost: null, hit_rate: null }, conversations: 1000, days: [], next: "x" };
  assert.equal(totalInWords(total), "2 calls, 1,000 tokens in, 50 out, cached part unknown, in the newest 1,000 conversations");
});

test("an edition says what it was built for", () => {
  assert.equal(triggerInWords("compaction"), "built after a compaction");
  assert.equal(triggerInWords("something new"), "built for something new");
});

test("a rebuild never loses nothing if that is not known", () => {
  const cache = { provider: null, model: null, caching: "prefix", step: 1, minimum: null, assumed: true };
  const names = { added: [], removed: [], changed: [], moved: [] };
  const drift: Drift = { conversation: "t", changed: true, sections: names, tools: names, details: [], system: "", tokens_kept: 500, tokens_lost: 90000, cost: 0.207, basis: "call", expired: false, cache, parts: [{ of: "tools", tokens_kept: 500, tokens_lost: 0 }, { of: "prompt", tokens_kept: 0, tokens_lost: 318 }, { of: "history", tokens_kept: 0, tokens_lost: 89682 }] };
  assert.equal(rebuildInWords(drift), "Rebuilding now reads about 90,000 tokens again (318 prompt, 89,682 history): $0.2070 once. At the next compaction that builds the prompt: nothing extra.");
  assert.match(rebuildInWords({ ...drift, cost: null, parts: [], basis: "prompt" }), /again \(history unknown, because no call of this edition is recorded\)\. At/);
  assert.equal(rebuildPrice(drift), "Costs $0.2070: 90,000 cached tokens");
  assert.match(rebuildInWords({ ...drift, tokens_kept: 0, tokens_lost: 0, basis: "prompt" }), /unknown, because no call of this edition is recorded/);
  assert.equal(rebuildPrice({ ...drift, cost: null, basis: "prompt" }), "Costs 90,000 cached tokens and the messages");
  assert.equal(rebuildInWords({ ...drift, tokens_kept: 0, tokens_lost: 0 }), "The last recorded call left nothing in the provider's cache.");
  assert.equal(rebuildInWords({ ...drift, tokens_kept: 38, tokens_lost: 0, basis: "prompt" }), "The cached part of the prompt stays the same. What a rebuild costs with the messages is unknown, because no call of this edition is recorded.");
  assert.match(rebuildInWords({ ...drift, expired: true }), /probably dropped/);
  assert.equal(rebuildPrice({ ...drift, changed: false }), "");
});

test("code for an agent names the template and reads the token from the environment", () => {
  const choices = { origin: "http://localhost:8371", hasToken: false, id: "42", template: "" };
  assert.equal(turnCode("curl", choices), `curl -s http://localhost:8371/conversations/42/turn -d '{"cwd": ".", "message": "Hello"}'`);
  const named = { ...choices, hasToken: true, template: "ada's@staging" };
  assert.equal(turnCode("curl", named), `curl -s http://localhost:8371/conversations/42/turn -H "Authorization: Bearer $FOREWORD_TOKEN" -d '{"cwd": ".", "message": "Hello", "template_name": "ada'\\''s@staging"}'`);
  assert.match(turnCode("Python", named), /import os\n.*"template_name": "ada's@staging"}.*os\.environ\['FOREWORD_TOKEN'\]/s);
  assert.match(turnCode("TypeScript", named), /token: process\.env\.FOREWORD_TOKEN .*template_name: "ada's@staging" }\);$/s);
});

test("templates and versions are found by what people remember of them", () => {
  const templates: TemplateName[] = [{ name: "support", newest: 2, labels: { staging: 2 } }, { name: "Search", newest: 1, labels: {} }];
  assert.deepEqual(matchingTemplates(templates, " sea").map(({ name }) => name), ["Search"]);
  assert.deepEqual(matchingTemplates(templates, "stag").map(({ name }) => name), ["support"]);
  const version = (version: number, author: string, note: string): Version => ({ version, author, note, syntax: "brackets", time: null });
  const versions = [version(12, "Ada", "shorter"), version(2, "Grace", "")];
  const found = (text: string) => matchingVersions(versions, { canary: 2 }, text).map(({ version }) => version);
  assert.deepEqual([found("2"), found("ada"), found("short"), found("canary"), found("")], [[12, 2], [12], [12], [2], [12, 2]]);
});

test("a list of several teams names them, and its links open their pages", () => {
  const rows = [{ team: "", id: "1" }, { team: "a b", id: "1" }] as ListedConversation[];
  const { nameOf, pageOf } = namesIn(rows);
  assert.deepEqual(rows.map(nameOf), ["1", "a b · 1"]);
  assert.deepEqual(rows.map(pageOf), ["/?team=", "/?team=a%20b"]);
  const single = namesIn([rows[1]!]);
  assert.deepEqual([single.nameOf(rows[1]!), single.pageOf(rows[1]!)], ["1", ""]);
});

test("a client names its team in every request", async () => {
  const urls: string[] = [];
  const fetch = async (url: unknown) => (urls.push(String(url)), new Response("{}"));
  await new Foreword({ url: "http://x", team: "a b", fetch: fetch as typeof globalThis.fetch }).readConversation("1");
  await new Foreword({ url: "http://x", team: "", fetch: fetch as typeof globalThis.fetch }).listConversations({ limit: 1 });
  await new Foreword({ url: "http://x", fetch: fetch as typeof globalThis.fetch }).readConversation("1");
  assert.deepEqual(urls, ["http://x/conversations/1?team=a+b", "http://x/conversations?limit=1&team=", "http://x/conversations/1"]);
});
