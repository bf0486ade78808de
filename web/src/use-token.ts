// What the page's token allows.
import type { Token } from "./forms";
import { readToken } from "./stored-templates";
import { useLatest } from "./use-latest";

/** Null until the service has answered. */
export function useToken(): Token | null {
  return useLatest(readToken, []).value;
}
