// Loads everything the editor needs.
import { type Current, listLayouts, listRoots, listVariables, readTemplate } from "../api";
import { type Draft, findDraft } from "../draft";
import type { Layout, Syntax, Variable } from "../forms";

export interface EditorData {
  current: Current;
  draft: Draft | null;
  variables: Variable[];
  layouts: Layout[];
  languages: Syntax[];
  roots: string[];
}

export async function loadEditor(): Promise<EditorData> {
  const [current, draft, variables, { layouts, languages }, roots] = await Promise.all([
    readText(), findDraft(), listVariables(), listLayouts(), listRoots(),
  ]);
  const isDifferent = draft && (draft.template !== current.template || (draft.syntax ?? current.syntax) !== current.syntax);
  // Only layouts that use the stored template are offered: with any other, the preview would show a prompt that nobody gets.
  const usable = layouts.filter((layout) => layout.stored_template);
  return { current, draft: isDifferent ? draft : null, variables, layouts: usable, languages, roots };
}

/** The template with line feeds as line endings, which is what the editor uses. */
export async function readText(): Promise<Current> {
  const current = await readTemplate();
  return { ...current, template: current.template.replace(/\r\n?/g, "\n") };
}
