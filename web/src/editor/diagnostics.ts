// Shows findings as marks in the editor, at their lines and columns.
import type { Diagnostic } from "@codemirror/lint";
import type { Line, Text } from "@codemirror/state";
import type { Finding } from "../forms";

export function sentence(finding: Finding): string {
  return finding.message.split("\n")[0] ?? "";
}

export function diagnostics(doc: Text, findings: Finding[]): Diagnostic[] {
  return findings.flatMap((finding) => {
    if (finding.line === null || finding.line < 1 || finding.line > doc.lines) return [];
    const line = doc.line(finding.line);
    const from = finding.column === null ? line.from : offsetOf(line, finding.column);
    const to = finding.end_column === null ? line.to : offsetOf(line, finding.end_column);
    return [{ from, to, severity: finding.severity, message: sentence(finding), source: finding.code }];
  });
}

/** The offset of a column, from 1. Columns count code points; offsets in the editor count UTF-16 code units. */
export function offsetOf(line: Line, column: number): number {
  const characters = Math.max(column - 1, 0);
  const before = [...line.text.slice(0, 2 * characters)].slice(0, characters).join("");
  return Math.min(line.from + before.length, line.to);
}
