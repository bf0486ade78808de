// Which names a template or a label can have. The service has the same rules.

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Why a new template cannot have this name, or "". */
export function whyNotName(name: string, names: string[]): string {
  if (!name) return "Enter a name.";
  if (name !== name.trim()) return "Remove the spaces around the name.";
  if (name.includes("@")) return "A name cannot contain @, which comes before a label.";
  if (CONTROL.test(name)) return "A name cannot contain control characters.";
  return names.includes(name) ? "There is already a template with this name." : "";
}

/** The template and the version in NAME or NAME@NUMBER. Number 0 is the live version. */
export function parseSource(source: string): { name: string; number: number } {
  const [name = "", number = ""] = source.split("@");
  return { name, number: Number(number) || 0 };
}

/** An unused name for a copy of a template. */
export function copyName(name: string, names: string[]): string {
  const base = `${name}-copy`;
  let copy = base;
  for (let number = 2; names.includes(copy); number += 1) copy = `${base}-${number}`;
  return copy;
}

/** Why a label cannot have this name, or "". */
export function whyNotLabel(label: string): string {
  if (!label) return "Enter a label.";
  return /^[A-Za-z][A-Za-z0-9_.-]*$/.test(label) ? "" : "A label begins with a letter and has only letters, digits, dots, dashes and underscores.";
}
