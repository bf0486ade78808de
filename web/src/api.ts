// The requests of the page, through the generated client.
import type { AgentBody, Foreword, PreviewBody, RequestOptions } from "../../clients/typescript/index.js";
import { call } from "./client";
import {
  type ConversationPage, DEFAULT_SYNTAX, type Drift, type Edition, type EditionRow, type Entry, type Layout, type LayoutKey, type Previewed,
  type Syntax, type UsageTotal, type Variable, type VariableValue, type Version,
} from "./forms";

export { Problem, tokenRequest } from "./client";

export interface Choices {
  cwd: string;
  model: string;
  layout: string;
  tools: string;
}

/** The names of tools in a list that is separated by commas or spaces. */
export function toolNames(tools: string): string[] {
  return tools.split(/[\s,]+/).filter(Boolean);
}

/** The agent that these choices describe. Without a folder, the service uses its first root. */
export function agentBody({ cwd, model, tools }: Choices): Partial<AgentBody> {
  const names = toolNames(tools);
  return { ...(cwd && { cwd }), ...(model && { model }), ...(names.length && { tools: names.map((name) => ({ name })) }) };
}

// The template

export interface Current {
  template: string;
  /** Null while the store is down. The template is then the default template. */
  version: string | null;
  syntax: Syntax;
}

/** The template in a response, with the version and the syntax that its headers name. */
export async function current(request: (client: Foreword, options: RequestOptions) => Promise<{ template: string }>): Promise<Current> {
  let headers = new Headers();
  const { template } = await call((client) => request(client, { onResponse: (response) => (headers = response.headers) }));
  const tag = headers.get("ETag");
  return { template, version: tag && tag.replace(/^(W\/)?"|"$/g, ""), syntax: headers.get("Template-Syntax") ?? DEFAULT_SYNTAX };
}

export async function readTemplate(): Promise<Current> {
  return current((client, options) => client.readTemplate(options));
}

export async function listVersions(): Promise<Version[]> {
  return (await call((client) => client.listVersions({ texts: false }))).versions;
}

/** The number of conversations that use each version. */
export async function readUsage(): Promise<Map<number, number>> {
  const { versions } = await call((client) => client.countUses());
  return new Map(versions.map(({ version, conversations }) => [version, conversations]));
}

export async function listVariables(): Promise<Variable[]> {
  return (await call((client) => client.listVariables())).variables;
}

export async function readValues({ cwd, model }: Choices): Promise<VariableValue[]> {
  return (await call((client) => client.listValues({ ...(cwd && { cwd }), ...(model && { model }) }))).values;
}

export async function preview(template: string, syntax: Syntax, choices: Choices, signal?: AbortSignal): Promise<Previewed> {
  const body = { template, syntax, compact: true, ...agentBody(choices), ...(choices.layout && { layout: choices.layout }) } as PreviewBody;
  return (await call((client) => client.preview(body, { signal }))) as Previewed;
}

// The workspace

export async function listFiles(cwd: string, prefix: string, signal?: AbortSignal): Promise<Entry[]> {
  return (await call((client) => client.listFiles({ cwd, prefix }, { signal }))).entries;
}

export async function listLayouts(): Promise<{ layouts: Layout[]; languages: Syntax[]; models: string[] }> {
  return call((client) => client.listLayouts());
}

export async function listLayoutKeys(): Promise<LayoutKey[]> {
  return (await call((client) => client.listLayoutKeys())).keys;
}

export async function listRoots(): Promise<string[]> {
  return (await call((client) => client.listRoots())).roots;
}

// Conversations

type ListQuery = Parameters<Foreword["listConversations"]>[0] & object;

/** A page of conversations, newest first. `after` is the `next` of the page before. */
export async function listConversations(query: ListQuery, signal?: AbortSignal): Promise<ConversationPage> {
  return call((client) => client.listConversations({ sort: "newest", ...query }, { signal }));
}

/** The usage of the newest conversations, or of those that use a version of a template. */
export async function readTotalUsage(query: { template?: string; version?: number } = {}, signal?: AbortSignal): Promise<UsageTotal> {
  return call((client) => client.readUsage({ ...query, sort: "newest", limit: 1000 }, { signal }));
}

export async function listEditions(id: string): Promise<EditionRow[]> {
  return (await call((client) => client.listEditions(id))).editions;
}

export async function readEdition(id: string, number?: number): Promise<Edition> {
  return (await call((client) => (number ? client.readEdition(id, number) : client.readConversation(id)))) as Edition;
}

export async function readDrift(id: string): Promise<Drift> {
  return (await call((client) => client.readDrift(id))) as Drift;
}

/** Build the prompt again for the same agent. Returns the number of the edition in use afterwards. */
export async function rebuild({ conversation, built_for }: Edition): Promise<number> {
  const { cwd = "", model, provider } = built_for;
  return (await call((client) => client.reload(conversation, { cwd, ...(model && { model }), ...(provider && { provider }) }))).edition;
}

export async function forgetConversation(id: string): Promise<void> {
  await call((client) => client.forget(id));
}
