// Tests of the modules of the templates view that need no browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabelMove, Token } from "../src/forms";
import { moveInWords } from "../src/history/move-words";
import { isProtected, whyNoDeletion, whyNoLabel, whyNoTemplates } from "../src/rights";
import { copyName, parseSource } from "../src/template-name";
import { fileNameOf, readTextFile, textOf } from "../src/text-file";

function token(...rights: string[]): Token {
  return { name: "", rights, team: "", default_template: "default", protected_labels: ["production"] };
}

test("what a token does not allow is explained", () => {
  assert.deepEqual([whyNoTemplates(null), whyNoTemplates(token("template"))], ["", ""]);
  assert.match(whyNoTemplates(token("read")), /needs the right “template”/);
  assert.deepEqual([whyNoDeletion(null, "support"), whyNoDeletion(token("admin"), "support")], ["", ""]);
  assert.match(whyNoDeletion(token("template"), "support"), /needs the right “admin”/);
  assert.match(whyNoDeletion(token("admin"), ""), /cannot be deleted/);
});

test("only the right admin moves a protected label", () => {
  assert.deepEqual([isProtected(null, "production"), isProtected(token(), "production"), isProtected(token(), "staging")], [false, true, false]);
  assert.match(whyNoLabel(token("template"), "production"), /“production” is protected: .* right “admin”/);
  assert.deepEqual([whyNoLabel(null, "production"), whyNoLabel(token("admin"), "production"), whyNoLabel(token("template"), "staging")], ["", "", ""]);
});

test("a move says whether a label was moved or removed, or the template deleted", () => {
  const move = (label: string, previous: number | null, version: number): LabelMove => ({ template: "t", label, previous, version, author: "", time: null, note: "" });
  assert.deepEqual([move("a", null, 1), move("a", 1, 2), move("a", 2, 0), move("", 7, 0)].map(moveInWords), [
    "to version 1", "from version 1 to version 2", "removed from version 2", "was deleted, with its versions up to 7",
  ]);
});

test("a copy has a new name, and a source may name a version", () => {
  assert.deepEqual([copyName("a", []), copyName("a", ["a-copy", "a-copy-2"])], ["a-copy", "a-copy-3"]);
  assert.deepEqual([parseSource("a"), parseSource("a@12"), parseSource("a@x")], [{ name: "a", number: 0 }, { name: "a", number: 12 }, { name: "a", number: 0 }]);
});

test("the name of a file contains no path", () => {
  assert.deepEqual([fileNameOf("support", 3), fileNameOf("team a/../größe ", "12"), fileNameOf("../..", null), fileNameOf("default", "0")], [
    "support-3.md", "team-a-..-größe-12.md", "template.md", "default.md",
  ]);
});

test("a file is read as text, or refused with a reason", async () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  assert.equal(textOf(bytes("\uFEFFOne\r\ntwo\rthree"), "a.md"), "One\ntwo\nthree");
  assert.throws(() => textOf(new Uint8Array([0xff, 0xfe, 0x00]), "a.png"), /a\.png is not a UTF-8 text file/);
  assert.throws(() => textOf(bytes("a\0b"), "a.bin"), /a\.bin is not a text file/);
  assert.throws(() => textOf(bytes("x".repeat(500_001)), "a.md"), /500,001 characters; a template may have at most 500,000/);
  assert.equal(textOf(bytes("😀".repeat(500_000)), "a.md").length, 1_000_000);
  await assert.rejects(readTextFile(new File(["x".repeat(2_000_001)], "big.md")), /big\.md is too large/);
  assert.equal(await readTextFile(new File(["Hi.\r\n"], "a.md")), "Hi.\n");
});
