// What the page's token allows.
import type { Token } from "./forms";
import { readToken } from "./stored-templates";
import { useLatest } from "./use-latest";

/** Null until the service has answered. */
export function useToken(): Token | null {
  return useLatest(readToken, []).value;
}

/** Why this token cannot change templates, or "" if it can. */
export function whyNoTemplates(token: Token | null): string {
  if (!token || token.rights.includes("template")) return "";
  return "Your token does not allow changing templates: it needs the right “template”.";
}
