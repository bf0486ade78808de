// Findings, the most severe first, with the file and line that each is about.
import type { Finding } from "./forms";
import { Visible } from "./visible";
import { relative, withRelativePaths } from "./words";

const ORDER = { error: 0, warning: 1, info: 2 };

interface Props {
  findings: Finding[];
  /** Whether the path of the file is already shown above. */
  isBelowPath?: boolean;
  /** The folder that paths are relative to. */
  root?: string;
  excerpt?: (finding: Finding) => string | null;
  /** Goes to the line that a finding is about. */
  onShow?: (finding: Finding) => void;
}

export function FindingList({ findings, isBelowPath = false, root = "", excerpt, onShow }: Props) {
  const sorted = [...findings].sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
  return (
    <ul class="finding-list">
      {sorted.map((finding, index) => {
        const text = excerpt?.(finding);
        const [sentence, ...picture] = messageOf(finding, isBelowPath, root).split("\n");
        return (
          <li key={index} class={finding.severity}>
            <p><span class={`badge ${finding.severity}`}>{finding.severity}</span> {sentence}</p>
            <p class="quiet place">
              {onShow && finding.path && finding.line !== null
                ? <button type="button" class="plain path" onClick={() => onShow(finding)}>{place(finding, root)}</button>
                : <span class="path">{isBelowPath ? lineOf(finding) : place(finding, root)}</span>}{" "}
              <code>{finding.code}</code>
            </p>
            {!text && picture.length > 0 && <pre class="excerpt"><Visible text={picture.join("\n")} /></pre>}
            {text && <pre class="excerpt"><span class="number">{finding.line}</span> <Visible text={text} /></pre>}
          </li>
        );
      })}
    </ul>
  );
}

function messageOf(finding: Finding, isBelowPath: boolean, root: string): string {
  const message = isBelowPath || withoutPath(finding) !== finding.message ? withoutPath(finding) : finding.message;
  return withRelativePaths(message, root);
}

/** The message without the path of its file, which some messages begin with. */
export function withoutPath({ message, path }: Pick<Finding, "message" | "path">): string {
  return path && message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}

function lineOf({ line, column }: Finding): string {
  if (line === null) return "";
  return column === null ? `line ${line}` : `line ${line}, column ${column}`;
}

function place({ path, line, column }: Finding, root: string): string {
  if (!path) return "";
  return relative(path, root) + (line === null ? "" : `:${line}`) + (line === null || column === null ? "" : `:${column}`);
}
