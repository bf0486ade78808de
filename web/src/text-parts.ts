// Divides a long text into parts of whole lines.

const PART_SIZE = 4000;

/** The parts of a text, which are the text again if they are joined. Each ends with a line feed, except perhaps the last. */
export function partsOf(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start + PART_SIZE) + 1 || text.length;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}
