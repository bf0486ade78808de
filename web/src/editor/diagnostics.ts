// Shows findings as marks in the editor, at their lines and columns.
import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { Finding } from "../forms";

export function sentence(finding: Finding): string {
  return finding.message.split("\n")[0] ?? "";
}

export function diagnostics(doc: Text, findings: Finding[]): Diagnostic[] {
  return findings.flatMap((finding) => {
    if (finding.line === null || finding.line < 1 || finding.line > doc.lines) return [];
    const line = doc.line(finding.line);
    const offset = (column: number) => Math.min(line.from + utf16(line.text, column - 1), line.to);
    const from = finding.column === null ? line.from : offset(finding.column);
    const to = finding.end_column === null ? line.to : offset(finding.end_column);
    return [{ from, to, severity: finding.severity, message: sentence(finding), source: finding.code }];
  });
}

/** Columns count code points; offsets in the editor count UTF-16 code units. */
function utf16(text: string, characters: number): number {
  return [...text.slice(0, 2 * characters)].slice(0, characters).join("").length;
}
