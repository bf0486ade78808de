// All requests to the service, their errors, and the access token.
import {
  type ConversationPage, DEFAULT_SYNTAX, type Drift, type Edition, type EditionRow, type Entry, type Layout, type LayoutKey, type Previewed,
  type Syntax, type Variable, type VariableValue, type Version,
} from "./forms";
import { tabStorage } from "./storage";
import { Observable } from "./state";

/** An error response from the service, with its message. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors: { line?: number | null; column?: number | null; end_column?: number | null; message: string }[] = [],
  ) {
    super(message);
  }
}

/** The server could not be reached. */
export class Unreachable extends Error {
  constructor() {
    super("The server is not responding. Your text is kept in this browser.");
  }
}

export const isOffline = new Observable(false);

// The token

export interface TokenRequest {
  wasInvalid: boolean;
  respond(token: string | null): void;
}

/** Set while the page needs the token from the user. */
export const tokenRequest = new Observable<TokenRequest | null>(null);

const TOKEN_KEY = "foreword.token";
let pendingAnswer: Promise<boolean> | null = null;

/** Ask for the token, once for all waiting requests. Returns false if the user cancels. */
function askForToken(wasInvalid: boolean): Promise<boolean> {
  pendingAnswer ??= new Promise<boolean>((resolve) => {
    tokenRequest.set({
      wasInvalid,
      respond(token) {
        if (token !== null) tabStorage.write(TOKEN_KEY, token);
        pendingAnswer = null;
        tokenRequest.set(null);
        resolve(token !== null);
      },
    });
  });
  return pendingAnswer;
}

// Requests

interface Reply<T> {
  body: T;
  version: string | null;
  syntax: Syntax;
}

interface SendOptions {
  method?: string;
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  match?: string | null;
  signal?: AbortSignal | undefined;
}

export async function send<T>(path: string, options: SendOptions = {}): Promise<Reply<T>> {
  const token = tabStorage.read(TOKEN_KEY);
  const response = await fetchResponse(path, options, token);
  if (response.status === 401) {
    const isStale = token !== tabStorage.read(TOKEN_KEY); // the user has entered it for another request in the meantime
    if (isStale || (await askForToken(token !== null))) return send(path, options);
  }
  if (!response.ok) throw await readProblem(response);
  const tag = response.headers.get("ETag");
  const syntax = response.headers.get("Template-Syntax") ?? DEFAULT_SYNTAX;
  return { body: (await response.json()) as T, version: tag && tag.replace(/^(W\/)?"|"$/g, ""), syntax };
}

/** Open the stream of changes. Throws an error if the service does not offer one. */
export async function openEvents(watched: Record<string, string>, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const token = tabStorage.read(TOKEN_KEY);
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  const response = await fetch(`/events?${new URLSearchParams(watched)}`, { headers, signal, cache: "no-store" });
  if (!response.ok || !response.body) throw await readProblem(response);
  return response.body;
}

async function fetchResponse(path: string, options: SendOptions, token: string | null): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (token) headers["Authorization"] = `Bearer ${token}`;
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  if (options.match) headers["If-Match"] = `"${options.match}"`;
  try {
    const response = await fetch(path + query(options.query), {
      method: options.method ?? "GET",
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal ?? null,
      cache: "no-store",
    });
    if (isOffline.value) isOffline.set(false);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    if (!isOffline.value) waitForServer();
    throw new Unreachable();
  }
}

function query(parameters: SendOptions["query"] = {}): string {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  return pairs.length ? `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}` : "";
}

async function readProblem(response: Response): Promise<Problem> {
  const form = await response.json().catch(() => ({}));
  const detail = form.detail || form.title || response.statusText || "The server did not give a reason.";
  return new Problem(response.status, explain(response.status, detail), form.errors ?? []);
}

function explain(status: number, detail: string): string {
  if (status === 401) return "This service requires a token. Try again or reload the page to enter it.";
  if (status === 503) return `${detail.replace(/\.?$/, ".")} Your text is kept in this browser; try again in a moment.`;
  return detail;
}

/** Mark the server as offline until it responds again. */
export function waitForServer(): void {
  isOffline.set(true);
  const timer = setInterval(() => {
    if (!isOffline.value) clearInterval(timer);
    else fetch("/healthz", { cache: "no-store" }).then(() => isOffline.set(false), () => {});
  }, 2000);
}

// Routes

export interface Choices {
  cwd: string;
  model: string;
  layout: string;
  tools: string;
}

export function agentBody({ cwd, model, tools }: Choices): Record<string, unknown> {
  const names = tools.split(/[\s,]+/).filter(Boolean);
  return { ...(cwd && { cwd }), ...(model && { model }), ...(names.length && { tools: names.map((name) => ({ name })) }) };
}

const TEMPLATE = "/system-prompt";

export interface Current {
  template: string;
  /** Null while the store is down. The template is then the default template. */
  version: string | null;
  syntax: Syntax;
}

export async function readTemplate(): Promise<Current> {
  const { body, version, syntax } = await send<{ template: string }>(TEMPLATE);
  return { template: body.template, version, syntax };
}

export async function saveTemplate(template: string, syntax: Syntax, after: string | null, author: string, note: string): Promise<Current> {
  const { version } = await send(TEMPLATE, { method: "PUT", body: { template }, match: after, query: { author, note, syntax } });
  return { template, version, syntax };
}

export async function restoreVersion(number: number, author: string, note: string): Promise<Current> {
  const path = `${TEMPLATE}/versions/${number}/restore`;
  const { body, version, syntax } = await send<{ template: string }>(path, { method: "POST", query: { author, note } });
  return { template: body.template, version, syntax };
}

export async function listVersions(): Promise<Version[]> {
  return (await send<{ versions: Version[] }>(`${TEMPLATE}/versions`)).body.versions;
}

/** The number of conversations that use each version. */
export async function readUsage(): Promise<Map<number, number>> {
  type Usage = { versions: { version: number; conversations: number }[] };
  const { versions } = (await send<Usage>(`${TEMPLATE}/usage`)).body;
  return new Map(versions.map(({ version, conversations }) => [version, conversations]));
}

export async function listVariables(): Promise<Variable[]> {
  return (await send<{ variables: Variable[] }>(`${TEMPLATE}/variables`)).body.variables;
}

export async function readValues({ cwd, model }: Choices): Promise<VariableValue[]> {
  const body = { ...(cwd && { cwd }), ...(model && { model }) };
  return (await send<{ values: VariableValue[] }>(`${TEMPLATE}/values`, { method: "POST", body })).body.values;
}

export async function preview(template: string, syntax: Syntax, choices: Choices, signal?: AbortSignal): Promise<Previewed> {
  const body = { template, syntax, ...agentBody(choices), ...(choices.layout && { layout: choices.layout }) };
  return (await send<Previewed>(`${TEMPLATE}/preview`, { method: "POST", body, signal })).body;
}

export async function listFiles(cwd: string, prefix: string, signal?: AbortSignal): Promise<Entry[]> {
  return (await send<{ entries: Entry[] }>("/files", { query: { cwd, prefix }, signal })).body.entries;
}

export async function listLayouts(): Promise<{ layouts: Layout[]; languages: Syntax[] }> {
  return (await send<{ layouts: Layout[]; languages: Syntax[] }>("/layouts")).body;
}

export async function listLayoutKeys(): Promise<LayoutKey[]> {
  return (await send<{ keys: LayoutKey[] }>("/layouts/keys")).body.keys;
}

export async function listRoots(): Promise<string[]> {
  return (await send<{ roots: string[] }>("/roots")).body.roots;
}

/** Empty fields match everything. `since` is a day. */
export interface ConversationFilter {
  search: string;
  layout: string;
  model: string;
  version: string;
  since: string;
}

/** A page of conversations, newest first. `after` is the `next` of the page before. */
export async function listConversations(filter: Partial<ConversationFilter>, after = "", signal?: AbortSignal): Promise<ConversationPage> {
  const query = { ...filter, since: filter.since && `${filter.since}T00:00:00Z`, sort: "newest", after, limit: PAGE_SIZE };
  return (await send<ConversationPage>("/conversations", { query, signal })).body;
}

const PAGE_SIZE = 50;

function conversationPath(id: string): string {
  return `/conversations/${encodeURIComponent(id)}`;
}

export async function listEditions(id: string): Promise<EditionRow[]> {
  return (await send<{ editions: EditionRow[] }>(`${conversationPath(id)}/editions`)).body.editions;
}

export async function readEdition(id: string, number?: number): Promise<Edition> {
  return (await send<Edition>(number ? `${conversationPath(id)}/editions/${number}` : conversationPath(id))).body;
}

export async function readDrift(id: string): Promise<Drift> {
  return (await send<Drift>(`${conversationPath(id)}/drift`)).body;
}

/** Build the prompt again for the same agent. Returns the number of the edition in use afterwards. */
export async function rebuild({ conversation, built_for }: Edition): Promise<number> {
  const { cwd, model, provider } = built_for;
  const body = { ...(cwd && { cwd }), ...(model && { model }), ...(provider && { provider }) };
  return (await send<{ edition: number }>(`${conversationPath(conversation)}/reload`, { method: "POST", body })).body.edition;
}

export async function forgetConversation(id: string): Promise<void> {
  await send(conversationPath(id), { method: "DELETE" });
}
