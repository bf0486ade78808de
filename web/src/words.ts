// Numbers and names in readable form.

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}${/(?:s|x|ch|sh)$/.test(word) ? "es" : "s"}`;
}

/** A number with thousands separators. */
export function count(number: number): string {
  return number.toLocaleString("en");
}

/** A number and its noun: "1 line", "1,200 lines". */
export function counted(number: number, word: string): string {
  return `${count(number)} ${plural(word, number)}`;
}

/** The number of lines of a text. A line feed at its end does not begin another line. */
export function lineCount(text: string): number {
  return text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
}

/** What to call a version. Version 0 of a template without a name is the text that Foreword comes with. */
export function versionName(version: string | null, template = ""): string {
  if (version === null) return "store unavailable";
  return version !== "0" ? `version ${version}` : template ? "not live yet" : "default";
}

export function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}

export function dollars(cost: number): string {
  return `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}

export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The end of a path that people recognise a file by: its folder and its name. */
export function lastParts(path: string): string {
  return path.split("/").slice(-2).join("/");
}
