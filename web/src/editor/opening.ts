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
  const isOther = draft && (draft.template !== current.template || (draft.syntax ?? current.syntax) !== current.syntax);
  // Only layouts whose conversations read the stored template: under any other, a preview would show what nobody gets.
  const using = layouts.filter((each) => each.stored_template);
  return { current, draft: isOther ? draft : null, variables, layouts: using, roots };
}

/** The template as the editor has it, which knows only line feeds. */
export async function readText(): Promise<Current> {
  const current = await readTemplate();
  return { ...current, template: current.template.replace(/\r\n?/g, "\n") };
}
