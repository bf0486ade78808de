// A place in a prompt: a section, or what a source contributes to it. Its name is part of a view's address.

export interface Target {
  section: string;
  kind?: string;
  path?: string;
}

export function targetName({ section, kind, path }: Target): string {
  return kind ? `${section} ${kind} ${path ?? ""}` : section;
}

/** The place with this name, or null if the name is empty. */
export function targetIn(name: string): Target | null {
  const [, section = "", kind, path = ""] = /^(\S+)(?: (\S+) (.*))?$/s.exec(name) ?? [];
  if (!section) return null;
  return kind ? { section, kind, path } : { section };
}
