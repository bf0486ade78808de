// Tests of the editor's modules that need no browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shortValue } from "../src/editor/completion";
import { commandOf } from "../src/editor/keys";
import { jinja } from "../src/languages/jinja";
import { valuesByName } from "../src/languages/language";
import { type Match, type Query, findAll, indexOfMatch, nextMatch, parsePlace, replaceIn } from "../src/search";

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
