// The current route, from the part of the URL after `#`, and a guard against leaving with unsaved changes.
import type { SessionChoice } from "./sessions/requests";
import { Observable } from "./state";

/** What the workspace view shows. */
export const TABS = ["agents", "prompt", "files", "lint", "skills"] as const;
export type Tab = (typeof TABS)[number];

/** The folder and the agent that the workspace view shows a prompt for. */
export interface Subject {
  cwd: string;
  layout: string;
  model: string;
  tools: string;
  /** The path that is asked about or touched. */
  with: string;
}

/** Which conversations are listed. Empty fields match everything; `since` is "day" or "week", and `drifted` is "true" or "false". */
export interface ConversationFilter {
  search: string;
  layout: string;
  model: string;
  /** The name of a stored template. */
  template: string;
  version: string;
  since: string;
  drifted: string;
}

const NO_FILTER: ConversationFilter = { search: "", layout: "", model: "", template: "", version: "", since: "", drifted: "" };

export type Route =
  | { view: "overview" }
  | { view: "workspace"; tab: Tab; subject: Subject }
  | { view: "conversations"; filter: ConversationFilter }
  | { view: "conversation"; id: string; edition: number | null }
  | { view: "template"; name: string }
  | { view: "edit"; name: string; version: number | null; from: string }
  | { view: "history"; name: string; version: number | null; with: string }
  | { view: "layouts" }
  | { view: "sessions"; choice: SessionChoice }
  | { view: "session"; id: string; cwd: string }
  | { view: "unknown" };

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view, rest] = path.split("/");
  if (view === "layouts") return { view };
  const values = new URLSearchParams(query);
  const [name, version] = [values.get("name") ?? "", rest ? Number(rest) : null];
  if (view === "template") return { view, name };
  if (view === "edit") return { view, name, version, from: values.get("from") ?? "" };
  if (view === "history") return { view, name, version, with: values.get("with") ?? "" };
  if (view === "conversations") return rest ? { view: "conversation", id: decode(rest), edition: Number(values.get("edition")) || null } : { view, filter: parseFilter(query) };
  if (view === "workspace") return { view, tab: TABS.find((tab) => tab === rest) ?? TABS[0], subject: parseSubject(query) };
  if (view === "sessions") {
    const cwd = values.get("cwd") ?? "";
    return rest ? { view: "session", id: decode(rest), cwd } : { view, choice: { cwd, since: values.get("since") ?? "" } };
  }
  return { view: view ? "unknown" : "overview" };
}

function parseFilter(query: string): ConversationFilter {
  const values = new URLSearchParams(query);
  return Object.fromEntries(Object.keys(NO_FILTER).map((name) => [name, values.get(name) ?? ""])) as unknown as ConversationFilter;
}

function parseSubject(query: string): Subject {
  const values = new URLSearchParams(query);
  const value = (name: string) => values.get(name) ?? "";
  return { cwd: value("cwd"), layout: value("layout"), model: value("model"), tools: value("tools"), with: value("with") };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const OVERVIEW = "#/";
export const CONVERSATIONS = "#/conversations";
export const TEMPLATE = "#/template";
export const EDIT = "#/edit";
export const HISTORY = "#/history";
export const LAYOUTS = "#/layouts";
export const sessionsAt = (choice: Partial<SessionChoice>) => withQuery("#/sessions", choice);
export const sessionAt = (id: string, cwd: string) => withQuery(`#/sessions/${encodeURIComponent(id)}`, { cwd });
export const conversationsAt = (filter: Partial<ConversationFilter>) => withQuery(CONVERSATIONS, filter);
/** A conversation, with the prompt of one of its editions, by default the current one. */
export const conversationAt = (id: string, edition?: number) => withQuery(`${CONVERSATIONS}/${encodeURIComponent(id)}`, { edition });

/** Addresses of a template, by name. The template that conversations use by default has no name. */
export const templateAt = (name: string) => withQuery(TEMPLATE, { name });
export const editAt = (name: string, version?: number) => withQuery(version ? `${EDIT}/${version}` : EDIT, { name });
/** The editor for a new template that begins with the live text of another one, or empty. */
export const writeAt = (name: string, from: string) => withQuery(EDIT, { name, from });
export const historyAt = (name: string, version?: number, compared = "") => withQuery(version ? `${HISTORY}/${version}` : HISTORY, { name, with: compared });

export function workspaceAt(tab: Tab, { cwd, layout, model, tools, with: path }: Partial<Subject> = {}): string {
  return withQuery(`#/workspace/${tab}`, { cwd, layout, model, tools, with: path });
}

function withQuery(path: string, fields: object): string {
  const values = new URLSearchParams(Object.entries(fields).filter(([, value]) => value));
  return values.size ? `${path}?${values}` : path;
}

let currentHash = location.hash;
export const route = new Observable<Route>(parse(currentHash));

type Guard = (to: string) => boolean;
let guard: Guard | null = null;

/** Set a function that may prevent navigation to another route. */
export function guardLeaving(newGuard: Guard | null): void {
  guard = newGuard;
}

addEventListener("hashchange", () => {
  const to = location.hash || OVERVIEW;
  if (to === currentHash) return;
  if (guard && !guard(to)) {
    history.pushState(null, "", currentHash);
    return;
  }
  currentHash = to;
  route.set(parse(to));
});

export function go(to: string): void {
  location.hash = to;
}

/** Change the address without adding an entry to the browser's history, for example while the user types. */
export function replace(to: string): void {
  history.replaceState(null, "", to);
  currentHash = to;
  route.set(parse(to));
}
