// The one door to the service: every request, what can go wrong with it, and the token.
import type {
  ConversationRow, Drift, Edition, EditionRow, Entry, Finding, Layout, Previewed, Syntax, Variable, VariableValue, Version,
} from "./forms";
import { ofTab } from "./shelf";
import { Watched } from "./state";

/** What the service refused, in its own sentence. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors: { line?: number | null; column?: number | null; end_column?: number | null; message: string }[] = [],
  ) {
    super(message);
  }
}

/** Nobody answered. */
export class Gone extends Error {
  constructor() {
    super("The server does not answer. Your text is kept in this browser.");
  }
}

export const isGone = new Watched(false);

// The token

export interface Question {
  wasWrong: boolean;
  answer(token: string | null): void;
}

/** Set while the service wants a token that the page does not have. */
export const question = new Watched<Question | null>(null);

const TOKEN = "foreword.token";
let asking: Promise<boolean> | null = null;

/** Ask for the token, once for however many requests wait for it. False if none was given. */
function askToken(wasWrong: boolean): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    question.set({
      wasWrong,
      answer(token) {
        if (token !== null) ofTab.keep(TOKEN, token);
        asking = null;
        question.set(null);
        resolve(token !== null);
      },
    });
  });
  return asking;
}

// Requests

interface Answer<T> {
  body: T;
  version: string | null;
  syntax: Syntax;
}

interface Sending {
  method?: string;
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  match?: string | null;
  signal?: AbortSignal | undefined;
}

async function send<T>(path: string, sending: Sending = {}): Promise<Answer<T>> {
  const token = ofTab.read(TOKEN);
  const response = await reach(path, sending, token);
  if (response.status === 401) {
    const isStale = token !== ofTab.read(TOKEN); // another request has asked meanwhile
    if (isStale || (await askToken(token !== null))) return send(path, sending);
  }
  if (!response.ok) throw await problem(response);
  const tag = response.headers.get("ETag");
  const syntax = response.headers.get("Template-Syntax") === "jinja" ? "jinja" : "brackets";
  return { body: (await response.json()) as T, version: tag && tag.replace(/^(W\/)?"|"$/g, ""), syntax };
}

async function reach(path: string, sending: Sending, token: string | null): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (token) headers["Authorization"] = `Bearer ${token}`;
  if (sending.body !== undefined) headers["Content-Type"] = "application/json";
  if (sending.match) headers["If-Match"] = `"${sending.match}"`;
  try {
    const response = await fetch(path + query(sending.query), {
      method: sending.method ?? "GET",
      headers,
      body: sending.body === undefined ? null : JSON.stringify(sending.body),
      signal: sending.signal ?? null,
      cache: "no-store",
    });
    if (isGone.now) isGone.set(false);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    if (!isGone.now) waitForServer();
    throw new Gone();
  }
}

function query(given: Sending["query"] = {}): string {
  const pairs = Object.entries(given).filter(([, value]) => value !== undefined && value !== "");
  return pairs.length ? `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}` : "";
}

async function problem(response: Response): Promise<Problem> {
  const form = await response.json().catch(() => ({}));
  const told = form.detail || form.title || response.statusText || "The server gave no reason.";
  return new Problem(response.status, inWords(response.status, told), form.errors ?? []);
}

function inWords(status: number, told: string): string {
  if (status === 401) return "This service answers only with its token. The page asks for it again when you go on, or load it anew.";
  if (status === 503) return `${told} Your text is kept in this browser; try again in a moment.`;
  return told;
}

/** Say that the server is gone until it answers again. */
function waitForServer(): void {
  isGone.set(true);
  const timer = setInterval(() => {
    if (!isGone.now) clearInterval(timer);
    else fetch("/healthz", { cache: "no-store" }).then(() => isGone.set(false), () => {});
  }, 2000);
}

// What can be asked

export interface Choices {
  cwd: string;
  model: string;
  layout: string;
  tools: string;
}

function asAgent({ cwd, model, tools }: Choices): Record<string, unknown> {
  const names = tools.split(/[\s,]+/).filter(Boolean);
  return { ...(cwd && { cwd }), ...(model && { model }), ...(names.length && { tools: names.map((name) => ({ name })) }) };
}

const TEMPLATE = "/system-prompt";

export interface Current {
  template: string;
  /** None while the store is down: what is shown then is the default. */
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

/** How many conversations have a prompt from which version. */
export async function readUsage(): Promise<Map<number, number>> {
  type Usage = { versions: { version: number; conversations: number }[] };
  const { versions } = (await send<Usage>(`${TEMPLATE}/usage`)).body;
  return new Map(versions.map((each) => [each.version, each.conversations]));
}

export async function listVariables(): Promise<Variable[]> {
  return (await send<{ variables: Variable[] }>(`${TEMPLATE}/variables`)).body.variables;
}

export async function readValues({ cwd, model }: Choices): Promise<VariableValue[]> {
  const body = { ...(cwd && { cwd }), ...(model && { model }) };
  return (await send<{ values: VariableValue[] }>(`${TEMPLATE}/values`, { method: "POST", body })).body.values;
}

export async function preview(template: string, syntax: Syntax, choices: Choices, signal?: AbortSignal): Promise<Previewed> {
  const body = { template, syntax, ...asAgent(choices), ...(choices.layout && { layout: choices.layout }) };
  return (await send<Previewed>(`${TEMPLATE}/preview`, { method: "POST", body, signal })).body;
}

export async function check(template: string, syntax: string, cwd: string, signal?: AbortSignal): Promise<Finding[]> {
  const body = { template, syntax, ...(cwd && { cwd }) };
  return (await send<{ findings: Finding[] }>(`${TEMPLATE}/check`, { method: "POST", body, signal })).body.findings;
}

export async function listFiles(cwd: string, prefix: string, signal?: AbortSignal): Promise<Entry[]> {
  return (await send<{ entries: Entry[] }>("/files", { query: { cwd, prefix }, signal })).body.entries;
}

export async function listLayouts(): Promise<Layout[]> {
  return (await send<{ layouts: Layout[] }>("/layouts")).body.layouts;
}

export async function listRoots(): Promise<string[]> {
  return (await send<{ roots: string[] }>("/roots")).body.roots;
}

export async function listConversations(search: string, offset: number, signal?: AbortSignal): Promise<ConversationRow[]> {
  const query = { search, offset, limit: PAGE };
  return (await send<{ conversations: ConversationRow[] }>("/conversations", { query, signal })).body.conversations;
}

export const PAGE = 50;

function conversation(id: string): string {
  return `/conversations/${encodeURIComponent(id)}`;
}

export async function listEditions(id: string): Promise<EditionRow[]> {
  return (await send<{ editions: EditionRow[] }>(`${conversation(id)}/editions`)).body.editions;
}

export async function readEdition(id: string, number?: number): Promise<Edition> {
  return (await send<Edition>(number ? `${conversation(id)}/editions/${number}` : conversation(id))).body;
}

export async function readDrift(id: string): Promise<Drift> {
  return (await send<Drift>(`${conversation(id)}/drift`)).body;
}
