// The top of the editor: what is being edited, its language, and the buttons.
import type { Syntax } from "../forms";
import { historyAt } from "../route";
import { versionName } from "../words";

const MODIFIER = navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl";

interface Props {
  name: string;
  canSave: boolean;
  version: string | null;
  isDirty: boolean;
  syntax: Syntax;
  languages: Syntax[];
  onSyntax(syntax: Syntax): void;
  onFind(): void;
  onOpenFile(): void;
  onSave(): void;
  onClose(): void;
}

export function Toolbar({ name, canSave, version, isDirty, syntax, languages, onSyntax, onFind, onOpenFile, onSave, onClose }: Props) {
  return (
    <header>
      <h1>{name || "Template"}</h1>
      <p class="state">
        <span class="quiet">{versionName(version, name)}</span>{" "}
        <span class={isDirty ? "unsaved" : "quiet"}>{isDirty ? "unsaved changes" : "saved"}</span>
      </p>
      <div class="text-options">
        <label class="inline">
          Syntax{" "}
          <select value={syntax} onInput={(event) => onSyntax(event.currentTarget.value)}>
            {[...new Set([...languages, syntax])].map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <button type="button" onClick={onOpenFile}>Open file…</button>
      </div>
      <nav class="buttons" aria-label="Editor">
        <button type="button" onClick={onFind} aria-keyshortcuts="Control+F">Find <kbd>{MODIFIER} F</kbd></button>
        <a class="button" href={historyAt(name)}>History</a>
        <button type="button" class="primary" onClick={onSave} disabled={!canSave} aria-keyshortcuts="Control+S">Save… <kbd>{MODIFIER} S</kbd></button>
        <button type="button" onClick={onClose} aria-keyshortcuts="Escape">Close <kbd>Esc</kbd></button>
      </nav>
    </header>
  );
}

/** Says that the text comes from the browser's storage. */
export function DraftNotice({ time, onDiscard, onDismiss }: { time: number; onDiscard(): void; onDismiss(): void }) {
  return (
    <div class="note" role="status">
      <span>Restored your unsaved text from {new Date(time).toLocaleString()}.</span>{" "}
      <button type="button" onClick={onDiscard}>Use the saved text instead</button>{" "}
      <button type="button" onClick={onDismiss}>Dismiss</button>
    </div>
  );
}
