// What the editor needs before it can open.
import { type Current, listLayouts, listRoots, listVariables, readTemplate } from "../api";
import { type Draft, findDraft } from "../draft";
import type { Layout, Variable } from "../forms";

export interface Opened {
  current: Current;
  draft: Draft | null;
  variables: Variable[];
  layouts: Layout[];
  roots: string[];
}

export async function open(): Promise<Opened> {
  const [current, draft, variables, layouts, roots] = await Promise.all([
    readTemplate(), findDraft(), listVariables(), listLayouts(), listRoots(),
  ]);
  const template = withLineFeeds(current.template);
  return { current: { ...current, template }, draft: draft && draft.template !== template ? draft : null, variables, layouts, roots };
}

/** The editor knows only line feeds. */
function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}
