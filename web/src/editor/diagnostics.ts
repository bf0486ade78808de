// Findings as marks in the text. Where a finding stands is told at the end of its sentence: (line 3, column 8), and by carets below.
import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { Finding } from "../forms";

export function sentence(finding: Finding): string {
  return (finding.message.split("\n")[0] ?? "").replace(/ \(line \d+, column \d+\)$/, "");
}

export function diagnostics(doc: Text, findings: Finding[]): Diagnostic[] {
  return findings.flatMap((finding) => {
    if (finding.line === null || finding.line < 1 || finding.line > doc.lines) return [];
    const line = doc.line(finding.line);
    const column = Number(/\(line \d+, column (\d+)\)/.exec(finding.message)?.[1] ?? 0);
    const width = column ? (/^ *(\^+)$/m.exec(finding.message)?.[1]?.length ?? 1) : line.length;
    const from = Math.min(line.from + utf16(line.text, Math.max(column - 1, 0)), line.to);
    const to = Math.min(from + width, line.to);
    return [{ from, to, severity: finding.severity, message: sentence(finding), source: finding.code }];
  });
}

/** Columns are counted in characters, offsets in halves of them. */
function utf16(text: string, characters: number): number {
  return [...text.slice(0, 2 * characters)].slice(0, characters).join("").length;
}
