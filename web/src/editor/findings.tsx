// The findings about the template, with line and message.
import type { Finding } from "../forms";
import { sentence } from "./diagnostics";

interface Props {
  findings: Finding[];
  onGoTo(line: number): void;
  onNext(): void;
}

const SIGNS: Record<Finding["severity"], string> = { error: "✕", warning: "!", info: "i" };

export function Findings({ findings, onGoTo, onNext }: Props) {
  return (
    <section class="findings" aria-label="Findings">
      <header>
        <h2 aria-live="polite">{findings.length === 1 ? "1 finding" : `${findings.length || "No"} findings`}</h2>
        {findings.length > 0 && <button type="button" class="plain" onClick={onNext} aria-keyshortcuts="F8">Next <kbd>F8</kbd></button>}
      </header>
      {findings.length > 0 && (
        <ul>
          {findings.map((each, at) => (
            <li key={at} class={each.severity}>
              <span class="sign" aria-hidden="true">{SIGNS[each.severity]}</span>
              <span class="visually-hidden">{each.severity}: </span>
              {each.line !== null && isAboutTemplate(each)
                ? <button type="button" class="plain" onClick={() => onGoTo(each.line!)}><b>Line {each.line}</b> {sentence(each)}</button>
                : <span>{sentence(each)}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Whether a finding is about the text in the editor rather than a file. */
export function isAboutTemplate(finding: Finding): boolean {
  return !finding.path || !finding.path.includes("/");
}
