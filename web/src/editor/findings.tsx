// The list of findings about the template, with lines and messages.
import { useRef } from "preact/hooks";
import type { Finding } from "../forms";
import { useKeptFocus } from "../use-kept-focus";
import { sentence } from "./diagnostics";

interface Props {
  findings: Finding[];
  onGoTo(line: number, column: number): void;
  onNext(): void;
}

const SIGNS: Record<Finding["severity"], string> = { error: "✕", warning: "!", info: "i" };

export function Findings({ findings, onGoTo, onNext }: Props) {
  const host = useRef<HTMLElement>(null);
  useKeptFocus(host, findings);
  return (
    <section class="findings" aria-label="Findings" ref={host} tabIndex={-1}>
      <header>
        <h2 aria-live="polite">{findings.length === 1 ? "1 finding" : `${findings.length || "No"} findings`}</h2>
        {findings.length > 0 && <button type="button" class="plain" onClick={onNext} aria-keyshortcuts="F8">Next <kbd>F8</kbd></button>}
      </header>
      {findings.length > 0 && (
        <ul>
          {findings.map((finding, index) => (
            <li key={index} class={finding.severity}>
              <span class="sign" aria-hidden="true">{SIGNS[finding.severity]}</span>
              <span class="visually-hidden">{finding.severity}: </span>
              {finding.line !== null && isAboutTemplate(finding)
                ? <button type="button" class="plain" onClick={() => onGoTo(finding.line!, finding.column ?? 1)}><b>{placeOf(finding)}</b> {sentence(finding)}</button>
                : <span>{sentence(finding)}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function placeOf({ line, column }: Finding): string {
  return column === null ? `Line ${line}` : `Line ${line}, column ${column}`;
}

/** Whether a finding is about the text in the editor rather than a file. */
export function isAboutTemplate(finding: Finding): boolean {
  return !finding.path || !finding.path.includes("/");
}
