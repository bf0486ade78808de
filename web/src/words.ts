// Numbers and names in readable form.

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}${/(?:s|x|ch|sh)$/.test(word) ? "es" : "s"}`;
}

// Creating a format takes longer than using it.
const NUMBERS = new Intl.NumberFormat("en");
const AGES = new Intl.RelativeTimeFormat("en", { style: "short" });

/** A number with thousands separators. */
export function count(number: number): string {
  return NUMBERS.format(number);
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

/** The share that was read from a cache: 100% only if all of it was, however little was not. A dash if it is not known. */
export function cachedPercent(share: number | null | undefined): string {
  if (share == null) return "–";
  return share < 1 ? percent(Math.min(share, 0.99)) : "100%";
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

/** A path below a folder, relative to it. Other paths stay as they are. */
export function relative(path: string, root: string): string {
  return root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** The path of the folder. A relative one is below the first root. */
export function folderOf(cwd: string, roots: string[]): string {
  const path = cwd.startsWith("/") ? cwd : [roots[0], ...(cwd === "." ? [] : [cwd])].filter(Boolean).join("/");
  return path.replace(/\/+$/, "");
}

/** A text in which paths below a folder are relative to it. */
export function withRelativePaths(text: string, root: string): string {
  return root ? text.split(/(?<=[\s('"@])/).map((part) => relative(part, root)).join("") : text;
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [["year", 365 * 86400], ["month", 30 * 86400], ["week", 7 * 86400], ["day", 86400], ["hour", 3600], ["minute", 60]];

/** How long ago a time was, in its largest unit: "3 min ago". */
export function age(iso: string, now: number): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  const largest = UNITS.find(([, size]) => seconds >= size);
  if (!largest) return "just now";
  const [unit, size] = largest;
  return AGES.format(-Math.floor(seconds / size), unit).replace(".", "");
}

/** Names as a list in a sentence: "a", "a and b", "a, b and c". */
export function listed(names: string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
