// Tests of the views' pure modules, and of the client they use.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Foreword } from "../../clients/typescript/index.js";
import { dailyBars } from "../src/overview/bars";
import { targetIn, targetName } from "../src/target";

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
