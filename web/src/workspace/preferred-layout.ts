import type { Layout } from "../forms";

/** The name of the layout that the workspace shows first. */
export function preferredLayout(layouts: Layout[]): string {
  const preferred = layouts.find(({ name }) => name === "foreword") ?? layouts[0];
  return preferred?.name ?? "";
}
