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
    readText(), findDraft(), listVariables(), listLayouts(), listRoots(),
  ]);
  return { current, draft: draft && draft.template !== current.template ? draft : null, variables, layouts, roots };
}

/** The template as the editor has it, which knows only line feeds. */
export async function readText(): Promise<Current> {
  const { template, version } = await readTemplate();
  return { template: template.replace(/\r\n?/g, "\n"), version };
}
