// Finds characters that act on a text without being seen, so that they can be drawn: those that `foreword lint` reports, and closed isolates.

const FLAG = "\\u{1F3F4}[\\u{E0061}-\\u{E007A}\\u{E0030}-\\u{E0039}]{2,8}\\u{E007F}";
const HIDDEN = [
  "[\\u{E0000}-\\u{E007F}]+",
  "[\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}]{2,}",
  "[\\u202A-\\u202E\\u2066-\\u2069]+",
  "[\\u200B\\u2060-\\u2065\\u206A-\\u206F\\uFEFF\\u180E\\u115F\\u1160\\u3164\\uFFA0]+",
  "(?<=[A-Za-z0-9])[\\u200C\\u200D]+(?=[A-Za-z0-9])",
  "[\\x01-\\x08\\x0B\\x0E-\\x1F\\x7F-\\x84\\x86-\\x9F]+",
];
const RUN = new RegExp(`${FLAG}|(?<hidden>${HIDDEN.join("|")})`, "gu");

export interface TextRun {
  text: string;
  /** What is drawn instead of hidden characters; empty for visible text. */
  mark: string;
}

/** A text divided into visible text and runs of hidden characters. */
export function textRuns(text: string): TextRun[] {
  const found: TextRun[] = [];
  let end = 0;
  for (const match of text.matchAll(RUN)) {
    const hidden = match.groups!["hidden"];
    if (!hidden) continue; // a flag
    if (match.index > end) found.push({ text: text.slice(end, match.index), mark: "" });
    found.push({ text: hidden, mark: markOf(hidden) });
    end = match.index + hidden.length;
  }
  if (end < text.length || !found.length) found.push({ text: text.slice(end), mark: "" });
  return found;
}

function markOf(hidden: string): string {
  const characters = [...hidden];
  const code = characters[0]!.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return `U+${code}${characters.length > 1 ? ` ×${characters.length}` : ""}`;
}
