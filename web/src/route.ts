// The current route, from the part of the URL after `#`, and a guard against leaving with unsaved changes.
import { Observable } from "./state";

export type Route =
  | { view: "overview" }
  | { view: "edit" }
  | { view: "history"; version: number | null }
  | { view: "conversation"; id: string };

function parse(hash: string): Route {
  const [view, rest] = hash.replace(/^#\/?/, "").split("/");
  if (view === "edit") return { view };
  if (view === "history") return { view, version: rest ? Number(rest) : null };
  if (view === "conversations" && rest) return { view: "conversation", id: decode(rest) };
  return { view: "overview" };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const OVERVIEW = "#/";
export const EDIT = "#/edit";
export const HISTORY = "#/history";
export const conversationAt = (id: string) => `#/conversations/${encodeURIComponent(id)}`;
export const versionAt = (version: number) => `${HISTORY}/${version}`;

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
