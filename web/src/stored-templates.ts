// Requests about stored templates, their versions and labels. The empty name is the template that conversations use unless they name
// another one.
import { type Current, Problem, current, readTemplate, readUsage } from "./api";
import { call } from "./client";
import { DEFAULT_SYNTAX, type LabelMove, type Syntax, type TemplateHistory, type TemplateName, type Token, type Version } from "./forms";

/** The label of the version that conversations get. */
export const LIVE = "production";

/** What the service lets this page do. */
export function readToken(): Promise<Token> {
  return call((client) => client.readToken());
}

async function fullName(name: string): Promise<string> {
  return name || (await readToken()).default_template;
}

/** The live version. If none is live, the text is empty and the version is 0. */
export async function readLive(name: string): Promise<Current> {
  if (!name) return readTemplate();
  try {
    return await current((client, options) => client.readNamedTemplate(name, {}, options));
  } catch (error) {
    if (isMissing(error)) return { template: "", version: "0", syntax: DEFAULT_SYNTAX };
    throw error;
  }
}

/** Whether the service refused to make a template live because it has errors. It does so if `force` is set. */
export function isRefusedTemplate(error: unknown): boolean {
  return error instanceof Problem && error.status === 422;
}

function isMissing(error: unknown): boolean {
  return error instanceof Problem && error.status === 404;
}

export interface Saved {
  template: string;
  syntax: Syntax;
  author: string;
  note: string;
  /** Whether it becomes live even if it has errors. */
  force?: boolean;
}

function queryOf({ author, note, syntax, force }: Saved) {
  return { author, note, syntax: syntax as "brackets", ...(force && { force }) };
}

/** Save a version and make it live, if the version `after` still is. */
export async function saveLive(name: string, saved: Saved, after: string | null): Promise<Current> {
  const { template, syntax } = saved;
  const headers = after ? { "If-Match": `"${after}"` } : {};
  const { version } = await current((client, options) => {
    const all = { ...options, headers };
    return name ? client.saveNamedTemplate(name, { template }, queryOf(saved), all) : client.setTemplate({ template }, queryOf(saved), all);
  });
  return { template, version, syntax };
}

/** Save a version without changing which one is live. Returns its number. */
export async function saveVersion(name: string, saved: Saved): Promise<string | null> {
  const full = await fullName(name);
  return (await current((client, options) => client.addNamedVersion(full, { template: saved.template }, queryOf(saved), options))).version;
}

const PAGE_SIZE = 1000;

/** The templates in the store, by name. */
export async function listTemplates(): Promise<TemplateName[]> {
  const templates: TemplateName[] = [];
  let after: string | null = "";
  while (after !== null) {
    const start: string = after;
    const page = await call((client) => client.listTemplates({ limit: PAGE_SIZE, after: start }));
    templates.push(...page.templates);
    after = page.next;
  }
  return templates;
}

/** Every version without its text, the version of each label, and who moved the labels. */
export async function readHistory(name: string): Promise<TemplateHistory> {
  const full = await fullName(name);
  try {
    return await call((client) => client.listNamedVersions(full, { texts: false }));
  } catch (error) {
    if (isMissing(error)) return { versions: [], labels: {}, moves: [] };
    throw error;
  }
}

// A version never changes, so its text is read once. Only the texts that were read last are kept.
const texts = new Map<string, Promise<string>>();
const MAX_TEXTS = 20;

/** The text of a version. Version 0 is empty. */
export async function readVersion(name: string, version: number): Promise<string> {
  if (!version) return "";
  const full = await fullName(name);
  const key = `${full}@${version}`;
  const text = texts.get(key) ?? call((client) => client.readNamedVersion(full, version)).then(({ template }) => template);
  texts.delete(key);
  texts.set(key, text);
  text.catch(() => texts.delete(key));
  if (texts.size > MAX_TEXTS) texts.delete(texts.keys().next().value!);
  return text;
}

/** Save an old version as the newest, and make it live. */
export async function restore(name: string, { version, syntax }: Version, author: string, note: string, force = false): Promise<Current> {
  const template = await readVersion(name, version);
  return saveLive(name, { template, syntax, author, note: note || `Restored version ${version}`, force }, null);
}

/** Move a label to a version, if it still refers to the version `after`, which is 0 if the label is new. */
export async function moveLabel(name: string, label: string, version: number, after: number, author: string, note: string, force = false): Promise<LabelMove> {
  const full = await fullName(name);
  return call((client) => client.moveLabel(full, label, { version, after, author, note, force }));
}

/** Remove a label from a template. */
export async function removeLabel(name: string, label: string, author: string): Promise<void> {
  const full = await fullName(name);
  await call((client) => client.removeLabel(full, label, { author }));
}

/** Delete a template with all its versions and labels. Returns how many versions it had. */
export async function deleteTemplate(name: string): Promise<number> {
  return (await call((client) => client.deleteTemplate(name))).versions;
}

/** The first conversations that use a template, and how many there are. */
export async function listUsers(template: string, limit: number): Promise<{ ids: string[]; count: number; exact: boolean }> {
  const { conversations, total } = await call((client) => client.listConversations({ template, limit }));
  return { ids: conversations.map(({ id }) => id), ...total };
}

/** The number of conversations that use a version of a template, by its full name, or any version. */
export async function countUsers(template: string, version?: number): Promise<{ count: number; exact: boolean }> {
  return (await call((client) => client.listConversations({ template, ...(version && { version }), limit: 1 }))).total;
}

/** The number of conversations that use any version of a template. */
export async function countConversations(name: string): Promise<number> {
  if (name) return (await call((client) => client.listConversations({ template: name, limit: 1 }))).total.count;
  return [...(await readUsage()).values()].reduce((sum, conversations) => sum + conversations, 0);
}
