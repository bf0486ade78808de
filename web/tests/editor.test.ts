// Tests of the editor's modules that need no browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseKey } from "../src/draft";
import { shortValue } from "../src/editor/completion";
import { places } from "../src/editor/conflict-dialog";
import { commandOf } from "../src/editor/keys";
import type { Version } from "../src/forms";
import { compared } from "../src/history/compared";
import { jinja } from "../src/languages/jinja";
import { valuesByName } from "../src/languages/language";
import { merge } from "../src/merge";
import { type Match, type Query, findAll, indexOfMatch, nextMatch, parsePlace, replaceIn } from "../src/search";
import { whyNotLabel, whyNotName } from "../src/template-name";

test("matches are found in order, with or without case and word boundaries", () => {
  const found = (text: string, wanted: string, options: Partial<Query> = {}) =>
    findAll(text, { text: wanted, matchCase: false, wholeWords: false, ...options }).map(({ from, to }) => text.slice(from, to));
  assert.deepEqual(found("Be brief. be kind, maybe.", "be"), ["Be", "be", "be"]);
  assert.deepEqual(found("Be brief. be kind, maybe.", "be", { matchCase: true }), ["be", "be"]);
  assert.deepEqual(found("Be brief. be kind, maybe.", "be", { wholeWords: true }), ["Be", "be"]);
  assert.deepEqual(found("[a.b] axb (x|y) \\", "a.b"), ["a.b"]);
  assert.deepEqual(found("a [file:x] \\ {2} /", "[file:x] \\ {2} /"), ["[file:x] \\ {2} /"]);
  assert.deepEqual(found("größe Größe", "GRÖSSE"), []);
  assert.deepEqual(found("über Über drüber", "über", { wholeWords: true }), ["über", "Über"]);
  assert.deepEqual(found("aaaa", "aa"), ["aa", "aa"]);
  assert.deepEqual(found("a", ""), []);
});

test("the next match follows the selection, and starts again at the other end", () => {
  const matches = findAll("x_x_x", { text: "x", matchCase: true, wholeWords: false });
  const from = (selection: Match, direction: 1 | -1) => nextMatch(matches, selection, direction)?.from;
  assert.deepEqual([from({ from: 0, to: 1 }, 1), from({ from: 1, to: 1 }, 1), from({ from: 4, to: 5 }, 1)], [2, 2, 0]);
  assert.deepEqual([from({ from: 0, to: 1 }, -1), from({ from: 3, to: 3 }, -1)], [4, 2]);
  assert.equal(nextMatch([], { from: 0, to: 0 }, 1), null);
  assert.deepEqual([indexOfMatch(matches, { from: 2, to: 3 }), indexOfMatch(matches, { from: 2, to: 2 })], [1, -1]);
});

test("every match is replaced in a part of the text", () => {
  const text = "a cat, a Cat";
  const matches = findAll(text, { text: "cat", matchCase: false, wholeWords: false });
  assert.equal(replaceIn(text, matches, 0, "dog"), "a dog, a dog");
  assert.equal(replaceIn(text.slice(2), matches, 2, ""), ", a ");
});

test("a place is a line, or a line and a column", () => {
  assert.deepEqual(parsePlace(" 12 "), { line: 12, column: 1 });
  assert.deepEqual(parsePlace("12:5"), { line: 12, column: 5 });
  assert.deepEqual(["", "x", "-1", "1:", "1:2:3"].map(parsePlace), [null, null, null, null, null]);
});

test("keys of the editor", () => {
  const pressed = (key: string, ...held: ("ctrlKey" | "metaKey" | "altKey" | "shiftKey")[]) => {
    const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
    return commandOf({ key, code: `Key${key.toUpperCase()}`, ...none, ...Object.fromEntries(held.map((name) => [name, true])) });
  };
  assert.deepEqual([pressed("f", "ctrlKey"), pressed("F", "metaKey"), pressed("f"), pressed("f", "ctrlKey", "altKey")], ["find", "find", null, null]);
  assert.deepEqual([pressed("g", "ctrlKey"), pressed("g", "altKey"), pressed("g", "metaKey")], ["go to line", "go to line", null]);
  assert.deepEqual([pressed("F8"), pressed("F8", "shiftKey"), pressed("s", "ctrlKey")], ["next finding", "previous finding", "save"]);
});

test("values are shown on one line", () => {
  assert.deepEqual([shortValue(null), shortValue(" \n"), shortValue("main"), shortValue("one\ntwo")], ["not available here", "not available here", "main", "one…"]);
  assert.equal(shortValue("x".repeat(100)).length, 49);
});

test("a variable of Jinja has the value of the same variable in brackets", () => {
  const values = [{ type: "system", name: "date", value: "2026-01-01" }, { type: "prompt", name: "cwd", value: null }];
  assert.equal(valuesByName(jinja, values).get("date"), "2026-01-01");
  assert.equal(valuesByName(jinja, values).get("cwd"), null);
  assert.equal(valuesByName(jinja, values).get("tools"), undefined);
});

test("changes to different lines are merged", () => {
  const base = "one\ntwo\nthree\nfour\nfive";
  const text = (mine: string, theirs: string) => {
    const merged = merge(base, mine, theirs);
    return "text" in merged ? merged.text : merged.conflicts;
  };
  assert.equal(text("ONE\ntwo\nthree\nfour\nfive", "one\ntwo\nthree\nfour\nFIVE"), "ONE\ntwo\nthree\nfour\nFIVE");
  assert.equal(text("zero\none\ntwo\nthree\nfour\nfive", "one\ntwo\nthree\nfive"), "zero\none\ntwo\nthree\nfive");
  assert.equal(text(base, "other"), "other");
  assert.equal(text("other", base), "other");
  assert.equal(text("one\nTWO\nthree\nfour\nfive", "one\nTWO\nthree\nfour\nFIVE"), "one\nTWO\nthree\nfour\nFIVE"); // both made the same change
});

test("changes to the same or adjacent lines are not merged", () => {
  const base = "one\ntwo\nthree\nfour";
  assert.deepEqual(merge(base, "one\n2\nthree\nfour", "one\nTWO\nthree\nfour"), { conflicts: [[2, 2]] });
  assert.deepEqual(merge(base, "zero\none\n2\nthree\nfour", "one\ntwo\n3\nfour"), { conflicts: [[3, 3]] });
  assert.deepEqual(merge(base, `${base}\nmine`, `${base}\ntheirs`), { conflicts: [[5, 5]] });
  assert.deepEqual(merge(base, "one\nthree\nfour", "one\nTWO\nthree\nfour"), { conflicts: [[2, 2]] });
  assert.deepEqual(merge(base, "a", "b"), { conflicts: [[1, 1]] });
});

test("a merge of texts without overlapping changes contains both", () => {
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`);
  for (let mine = 0; mine < 60; mine += 7) {
    for (let theirs = 0; theirs < 60; theirs += 5) {
      if (Math.abs(mine - theirs) < 2) continue;
      const changed = (...numbers: number[]) => lines.map((line, index) => (numbers.includes(index) ? `changed ${index}\nand more` : line)).join("\n");
      assert.deepEqual(merge(lines.join("\n"), changed(mine), changed(theirs)), { text: changed(mine, theirs) });
    }
  }
});

test("lines that both have changed are listed", () => {
  assert.equal(places([[3, 3]]), "line 3");
  assert.equal(places([[3, 3], [7, 9]]), "lines 3 and 7–9");
  assert.equal(places([[1, 1], [3, 3], [5, 5], [7, 7], [9, 9]]), "lines 1, 3, 5, 7 and others");
});

test("a version is compared with the one before it, the newest, the live one or any other", () => {
  const versions = [3, 2, 1].map((version) => ({ version, author: "", time: null, note: "", syntax: "brackets" }));
  const [newest, middle, oldest] = versions as [Version, Version, Version];
  assert.deepEqual(compared(versions, middle, "", 3), { before: 1, after: 2, label: "Changes in version 2" });
  assert.deepEqual(compared(versions, oldest, "", 3), { before: 0, after: 1, label: "Changes in version 1" });
  assert.deepEqual(compared(versions, oldest, "newest", 2), { before: 1, after: 3, label: "Changes since version 1" });
  assert.deepEqual(compared(versions, newest, "live", 1), { before: 1, after: 3, label: "Changes from version 1 to version 3" });
  assert.deepEqual(compared(versions, oldest, "2", 1), { before: 1, after: 2, label: "Changes from version 1 to version 2" });
  assert.deepEqual(compared(versions, middle, "9", 1), compared(versions, middle, "", 1)); // an old address
});

test("names of templates and labels follow the rules of the service", () => {
  assert.deepEqual(["support", "a b", "größe", "x/y"].map((name) => whyNotName(name, [])), ["", "", "", ""]);
  assert.ok(["", " a", "a@b", "a\nb", "taken"].every((name) => whyNotName(name, ["taken"])));
  assert.deepEqual(["production", "v1.2_x-y"].map(whyNotLabel), ["", ""]);
  assert.ok(["", "1", "a b", "é"].every(whyNotLabel));
});

test("a draft belongs to a tab and a template", () => {
  assert.deepEqual(parseKey("foreword.draft.abc"), ["foreword.draft.abc", ""]);
  assert.deepEqual(parseKey("foreword.draft.abc/team/support"), ["foreword.draft.abc", "team/support"]);
});
