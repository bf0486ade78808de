// Where in the page one is: the part of the address after `#`, and who may hold one back from leaving.
import { Watched } from "./state";

export type Route =
  | { at: "overview" }
  | { at: "edit" }
  | { at: "history"; version: number | null }
  | { at: "conversation"; id: string };

function parse(hash: string): Route {
  const [at, rest] = hash.replace(/^#\/?/, "").split("/");
  if (at === "edit") return { at };
  if (at === "history") return { at, version: rest ? Number(rest) : null };
  if (at === "conversations" && rest) return { at: "conversation", id: decoded(rest) };
  return { at: "overview" };
}

function decoded(text: string): string {
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

let here = location.hash;
export const route = new Watched<Route>(parse(here));

type Guard = (to: string) => boolean;
let guard: Guard | null = null;

/** Let `may` decide whether one may leave for somewhere else; it is told where to. */
export function guardLeaving(may: Guard | null): void {
  guard = may;
}

addEventListener("hashchange", () => {
  const to = location.hash || OVERVIEW;
  if (to === here) return;
  if (guard && !guard(to)) {
    history.pushState(null, "", here);
    return;
  }
  here = to;
  route.set(parse(to));
});

export function go(to: string): void {
  location.hash = to;
}
