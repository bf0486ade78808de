// Tests of the modules that need no browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { difference } from "../src/difference";
import { explanation, fileTree } from "../src/file-tree";
import { withoutPath } from "../src/finding-list";
import { textRuns } from "../src/hidden-characters";
import type { Candidate, Passage } from "../src/forms";
import { tableAt } from "../src/languages/toml";
import { lineFinder } from "../src/line-finder";
import { blocks, estimatedLines, isSame } from "../src/preview/blocks";
import { type Segment, compactSegments, segments } from "../src/preview/segments";
import { partsOf } from "../src/text-parts";
import { wordDifference } from "../src/word-difference";
import { cachedPercent, counted, lineCount } from "../src/words";

type Span = Passage["origins"][number];

function origin(kind: string, path: string, start: number, end: number, lines: [number, number] | null = null): Span {
  return { kind, path, start, end, lines, hash: "" };
}

function passage(section: string, start: number, end: number, origins: Span[], tokens = 0): Passage {
  return { section, start, end, lifetime: "project", tokens, origins };
}

function candidate(path: string, fate = "used"): Candidate {
  return { path, fate, layer: "project", reason: "", target: null };
}

test("folders with one folder are joined, and files keep their order", () => {
  const [top, ...others] = fileTree([candidate("/home/me/shop/AGENTS.md"), candidate("/home/me/shop/api/AGENTS.md"), candidate("/home/me/shop/AGENTS.md", "duplicate")]);
  assert.equal(others.length, 0);
  assert.equal(top?.name, "/home/me/shop");
  assert.deepEqual(top?.children.map(({ name }) => name), ["AGENTS.md", "api"]);
  assert.deepEqual(top?.children[0]?.candidates.map(({ fate }) => fate), ["used", "duplicate"]);
});

test("an explanation names a pattern or another file once", () => {
  const waiting = { layer: "project", reason: "it waits for a file that matches api/**", target: "api/**" };
  assert.equal(explanation(waiting), "project · it waits for a file that matches api/**");
  assert.equal(explanation({ ...waiting, reason: "it is included" }), "project · it is included → api/**");
  assert.equal(explanation({ layer: "user", reason: "", target: "" }), "user");
});

test("a finding's message does not repeat the path above it", () => {
  assert.equal(withoutPath({ path: "/shop/CLAUDE.md", message: "/shop/CLAUDE.md: /shop/AGENTS.md comes before it" }), "/shop/AGENTS.md comes before it");
  assert.equal(withoutPath({ path: "/shop/CLAUDE.md", message: "/shop/package.json has no script 'test'" }), "/shop/package.json has no script 'test'");
  assert.equal(withoutPath({ path: null, message: "no path" }), "no path");
});

test("a share is 100% only if it is everything", () => {
  const shares = [null, 0, 0.004, 0.125, 0.8, 0.99497, 0.9999999, 1];
  assert.deepEqual(shares.map(cachedPercent), ["–", "0%", "0%", "13%", "80%", "99%", "99%", "100%"]);
});

test("words that differ are marked", () => {
  const pair = wordDifference("Prices are in cents.", "Prices are always in cents.");
  assert.deepEqual(pair?.[0], [{ text: "Prices are in cents.", isChanged: false }]);
  assert.equal(pair?.[1].filter(({ isChanged }) => isChanged).map(({ text }) => text).join("").trim(), "always");
  assert.equal(wordDifference("entirely other", "nothing alike here"), null);
});

test("a difference lists lines of both texts in order", () => {
  assert.deepEqual(difference("a\nb\nc", "a\nx\nc").map(({ mark, text }) => mark[0] + text), ["sa", "rb", "ax", "sc"]);
});

test("a missing line feed at the end is a difference of the last line", () => {
  const found = (before: string, after: string) => difference(before, after).map(({ mark, text, isUnended }) => mark[0] + text + (isUnended ? "!" : ""));
  assert.deepEqual(found("a\nb\n", "a\nb"), ["sa", "rb", "ab!"]);
  assert.deepEqual(found("a\n", "a\nb\n"), ["sa", "ab"]);
  assert.deepEqual(found("", "a\n"), ["aa"]);
  assert.deepEqual(found("", "a"), ["aa!"]);
  assert.deepEqual(found("a", "a"), ["sa"]);
  assert.deepEqual(found("a\nb", "a\nc"), ["sa", "rb", "ac"]);
});

test("segments count code points", () => {
  const found = segments("😀ab\n\nc", [passage("a", 0, 3, [origin("file", "/w/A.md", 0, 3)]), passage("b", 5, 6, [origin("file", "/w/B.md", 5, 6)])]);
  assert.deepEqual(found.map(({ text }) => text), ["😀ab", "\n\n", "c"]);
});

test("a compact prompt has an origin for six numbers", () => {
  const passages = [{ section: "a", role: "system", lifetime: "project", tokens: 1, start: 0, end: 3, spans: [2, 1, 0, 0, 4, 5, 1, 0, 7, 7, 0, 0] }];
  const found = compactSegments({ text: "😀ab!", passages, sources: [{ kind: "file", path: "/w/A.md" }, { kind: "variable", path: "cwd" }] });
  assert.deepEqual(found, [
    { text: "😀a", origin: { kind: "variable", path: "cwd", lines: null }, section: "a", isFirst: true, lines: [4, 5] },
    { text: "b", origin: { kind: "file", path: "/w/A.md", lines: [7, 7] }, section: "a", isFirst: false, lines: null },
    { text: "!", origin: null, section: "", isFirst: false, lines: null },
  ]);
});

/** A prompt with one section of one origin for each text. */
function parts(...texts: string[]): Segment[] {
  return texts.map((text, index) => ({ text, origin: origin("file", `/w/${index}.md`, 0, 0), section: `s${index}`, isFirst: true, lines: null }));
}

const TEXT = Array.from({ length: 900 }, (_, line) => `Rule ${line}.\n${line % 7 ? "" : "\n"}`).join("");

test("blocks contain the whole text, and end with a section or a line", () => {
  const found = blocks(parts("Be brief.", TEXT));
  assert.equal(found.flatMap(({ pieces }) => pieces.map(({ text }) => text)).join(""), `Be brief.${TEXT}`);
  assert.deepEqual(found.slice(0, 3).map(({ section }) => section), ["s0", "s1", null]);
  assert.ok(found.slice(1).every(({ pieces }) => pieces.at(-1)!.text.endsWith("\n")));
  assert.ok(found.length > 3 && found.every((block) => estimatedLines(block) < 500));
  assert.deepEqual(found.slice(1).map(({ pieces: [piece] }) => TEXT.slice(piece!.offset, piece!.offset + 4)), found.slice(1).map(({ pieces: [piece] }) => piece!.text.slice(0, 4)));
});

test("a change in one block leaves the other blocks as they are", () => {
  const [before, after] = [blocks(parts(TEXT)), blocks(parts(TEXT.replace("Rule 300.", "Rule 300, changed.")))];
  assert.equal(before.length, after.length);
  assert.equal(before.filter((block, index) => !isSame(block, after[index]!)).length, 1);
});

test("a line without an end is one block, however long it is", () => {
  assert.equal(blocks(parts("x".repeat(50_000))).length, 1);
  assert.deepEqual(blocks([]), []);
});

test("a line of a file is found in the prompt that contains it", () => {
  const line = lineFinder({ text: "# Shop\nBe brief.\n", passages: [passage("a", 0, 17, [origin("file", "/w/A.md", 0, 17, [1, 2])])] });
  assert.equal(line("/w/A.md", 2), "Be brief.");
  assert.equal(line("/w/A.md", 3), null);
  assert.equal(line("/w/B.md", 1), null);
});

test("the table around the caret decides which keys are offered", () => {
  const text = 'sections = ["a"]\n[section.a]\ntext = ""\n[find.b.imports]\n';
  assert.equal(tableAt(text, 3), "layout");
  assert.equal(tableAt(text, text.indexOf("text")), "section");
  assert.equal(tableAt(text, text.length), "imports");
});

test("numbers agree with their nouns", () => {
  assert.deepEqual([counted(1, "line"), counted(1200, "line")], ["1 line", "1,200 lines"]);
});

test("the parts of a text are whole lines", () => {
  const text = Array.from({ length: 2000 }, (_, number) => `line ${number}\n`).join("") + "end";
  const parts = partsOf(text);
  assert.equal(parts.join(""), text);
  assert.ok(parts.length > 3 && parts.slice(0, -1).every((part) => part.endsWith("\n")));
  assert.deepEqual(partsOf(""), []);
});

test("a line feed at the end of a text does not begin another line", () => {
  assert.deepEqual(["", "\n", "a", "a\n", "a\nb\n", "a\n\n"].map(lineCount), [0, 1, 1, 1, 2, 2]);
});

test("hidden characters are marked, and what needs them is not", () => {
  const marks = (text: string) => textRuns(text).filter(({ mark }) => mark).map(({ mark }) => mark);
  assert.deepEqual(marks("a\u202eb\u202c \u200b\u200b \x1b[31m pa\u200dss"), ["U+202E", "U+202C", "U+200B ×2", "U+001B", "U+200D"]);
  assert.deepEqual(marks("👩‍👩‍👧 ❤️ \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} می‌خواهم\ttab\r\n"), []);
  const text = "x\u{E0041}\u{E0042}y";
  assert.equal(textRuns(text).map(({ text }) => text).join(""), text);
});
