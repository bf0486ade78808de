// A place in a prompt: a section, or what a source contributes to it. It has a name for the address of a view.

export interface Target {
  section: string;
  kind?: string;
  path?: string;
}

export function targetName({ section, kind, path }: Target): string {
  return kind ? `${section} ${kind} ${path ?? ""}` : section;
}

/** The place with this name, or null without a name. */
export function targetIn(name: string): Target | null {
  const [, section = "", kind, path = ""] = /^(\S+)(?: (\S+) (.*))?$/s.exec(name) ?? [];
  if (!section) return null;
  return kind ? { section, kind, path } : { section };
}
