// Loads everything the editor needs.
import { type Current, listLayouts, listRoots, listVariables } from "../api";
import { type Draft, findDraft } from "../draft";
import type { Layout, Syntax, Token, Variable } from "../forms";
import { readHistory, readLive, readToken, readVersion } from "../stored-templates";
import { parseSource } from "../template-name";

export interface EditorData {
  /** The name of the template, or "" for the one that conversations use by default. */
  name: string;
  /** The text to edit, and the version to save after, which is live. */
  current: Current;
  /** Whether the text is the live version's. */
  isLive: boolean;
  draft: Draft | null;
  /** Whether the draft is the text of another template, and not what the user wrote before. */
  isCopy: boolean;
  variables: Variable[];
  layouts: Layout[];
  models: string[];
  languages: Syntax[];
  roots: string[];
  token: Token;
}

/**
 * Load the live version of a template, or the text of another version to continue with. A new template begins with the text of
 * `from`, which is NAME or NAME@NUMBER.
 */
export async function loadEditor(name: string, version: number | null, from = ""): Promise<EditorData> {
  const [live, draft, variables, { layouts, languages, models }, roots, token] = await Promise.all([
    readText(name), findDraft(name), listVariables(), listLayouts(), listRoots(), readToken(),
  ]);
  const isLive = version === null || String(version) === live.version;
  const current = isLive ? live : { ...live, ...(await readOld(name, version)) };
  const isDifferent = draft && (draft.template !== current.template || (draft.syntax ?? current.syntax) !== current.syntax);
  // Only layouts that use the stored template are offered: with any other, the preview would show a prompt that nobody gets.
  const usable = layouts.filter((layout) => layout.stored_template);
  const unsaved = isDifferent ? draft : from && live.version === "0" ? await copyOf(from, live.version, token.default_template) : null;
  return { name, current, isLive, draft: unsaved, isCopy: !isDifferent && unsaved !== null, variables, layouts: usable, languages, models, roots, token };
}

async function copyOf(from: string, version: string, defaultName: string): Promise<Draft> {
  const { name, number } = parseSource(from);
  const source = name === defaultName ? "" : name; // the default template has a text even if it was never saved
  const { template, syntax } = number ? await readOld(source, number) : await readText(source);
  return { template, syntax, version, time: Date.now() };
}

/** The live version with line feeds as line endings, which is what the editor uses. */
export async function readText(name: string): Promise<Current> {
  const current = await readLive(name);
  return { ...current, template: lines(current.template) };
}

async function readOld(name: string, version: number): Promise<{ template: string; syntax: Syntax }> {
  const { versions } = await readHistory(name);
  const found = versions.find((candidate) => candidate.version === version);
  if (!found) throw new Error(`This template has no version ${version}. Open its history to see which ones it has.`);
  return { template: lines(await readVersion(name, version)), syntax: found.syntax };
}

export function lines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}
