// Findings, the most severe first, with the file and line that each is about.
import type { Finding } from "./forms";

const ORDER = { error: 0, warning: 1, info: 2 };

interface Props {
  findings: Finding[];
  /** Whether the path of the file is already shown above. */
  isBelowPath?: boolean;
  excerpt?: (finding: Finding) => string | null;
}

export function FindingList({ findings, isBelowPath = false, excerpt }: Props) {
  const sorted = [...findings].sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
  return (
    <ul class="finding-list">
      {sorted.map((finding, index) => {
        const text = excerpt?.(finding);
        return (
          <li key={index} class={finding.severity}>
            <p><span class={`badge ${finding.severity}`}>{finding.severity}</span> {isBelowPath ? withoutPath(finding) : finding.message}</p>
            <p class="quiet place"><span class="path">{isBelowPath || withoutPath(finding) !== finding.message ? lineOf(finding) : place(finding)}</span> <code>{finding.code}</code></p>
            {text && <pre class="excerpt"><span class="number">{finding.line}</span> {text}</pre>}
          </li>
        );
      })}
    </ul>
  );
}

/** The message without the path of its file, which some messages begin with. */
export function withoutPath({ message, path }: Pick<Finding, "message" | "path">): string {
  return path && message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}

function lineOf({ line, column }: Finding): string {
  if (line === null) return "";
  return column === null ? `line ${line}` : `line ${line}, column ${column}`;
}

function place({ path, line, column }: Finding): string {
  if (!path) return "";
  return path + (line === null ? "" : `:${line}`) + (line === null || column === null ? "" : `:${column}`);
}
