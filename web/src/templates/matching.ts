// Finds templates by name, and versions by what people remember of them.
import type { TemplateName, Version } from "../forms";

/** The templates whose name or label contains the text, in any case. */
export function matchingTemplates(templates: TemplateName[], text: string): TemplateName[] {
  return templates.filter(({ name, labels }) => contains([name, ...Object.keys(labels)], text));
}

/** The versions whose number, author, note or label contains the text, in any case. */
export function matchingVersions(versions: Version[], labels: Record<string, number>, text: string): Version[] {
  return versions.filter(({ version, author, note }) => contains([String(version), author, note, ...Object.keys(labels).filter((label) => labels[label] === version)], text));
}

function contains(fields: string[], text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return fields.some((field) => field.toLowerCase().includes(wanted));
}
