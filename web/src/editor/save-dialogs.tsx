// The dialogs for saving, and for leaving with unsaved changes.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { Dialog } from "../dialog";
import { DifferenceView } from "../difference-view";
import { Lock } from "../lock";
import { LIVE } from "../stored-templates";
import { Signature, Usage, useSignature } from "./signature";

interface SaveProps {
  /** The name of the template, or "". */
  name: string;
  /** The name of the token, which the service records as the author, or "". */
  tokenName: string;
  /** Why the version cannot be made live, or "". */
  whyNotLive: string;
  before: string;
  after: string;
  isBusy: boolean;
  problem: string;
  /** Whether the service refused the text because it has errors, so that it must be told to save it anyway. */
  isRefused: boolean;
  /** Why the text cannot be rendered; empty if it can be. */
  tryRender(): Promise<string>;
  onSave(author: string, note: string, isLive: boolean, force: boolean): void;
  onCancel(): void;
}

export function SaveDialog({ name, tokenName, whyNotLive, before, after, isBusy, problem, isRefused, tryRender, onSave, onCancel }: SaveProps) {
  const { author, note, remember, fields } = useSignature(tokenName);
  const [renderError, setRenderError] = useState<string | null>(null);
  const [isRequested, setRequested] = useState(false);
  const [isLive, setLive] = useState(!whyNotLive);
  const isDoubtful = Boolean(renderError) || isRefused;
  useEffect(() => void tryRender().then(setRenderError), [after]);
  // Saving waits until the text has been checked. If it cannot be rendered, the user must confirm.
  useLayoutEffect(() => {
    if (!isRequested || renderError === null) return;
    setRequested(false);
    if (!renderError) save();
  }, [isRequested, renderError]);
  function save(): void {
    remember();
    onSave(author, note, isLive, isDoubtful);
  }
  function submit(event: Event): void {
    event.preventDefault();
    if (renderError === null) setRequested(true);
    else save();
  }
  return (
    <Dialog label="Save template" onCancel={onCancel}>
      <form onSubmit={submit}>
        <h2>Save template</h2>
        <DifferenceView before={before} after={after} label="Changes" />
        {isLive ? <Usage name={name} /> : <p>Conversations keep using the live version. {whyNotLive ? "Someone else" : "You"} can make this one live in the history.</p>}
        <Signature {...fields} />
        <label class="check"><input type="checkbox" checked={isLive} disabled={whyNotLive !== ""} onInput={(event) => setLive(event.currentTarget.checked)} /> Make it live now{whyNotLive && <Lock label={LIVE} />}</label>
        {whyNotLive && <p class="quiet">{whyNotLive}</p>}
        {renderError && (
          <p class="note wrong" role="alert">
            <b>This template cannot be rendered:</b> {renderError}
            <br />
            {isLive ? "Conversations that use it will fail until it is fixed." : "Fix it before you make it live."}
          </p>
        )}
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        <p class="buttons">
          <span class="quiet" role="status">{isRequested && "Checking the template before saving it…"}</span>
          <button type="button" class={isDoubtful ? "primary" : ""} onClick={onCancel}>Keep editing</button>
          <button type="submit" class={isDoubtful ? "danger" : "primary"} disabled={isBusy}>{isDoubtful ? "Save anyway" : "Save"}</button>
        </p>
      </form>
    </Dialog>
  );
}

export function LeaveDialog({ onSave, onDiscard, onCancel }: { onSave(): void; onDiscard(): void; onCancel(): void }) {
  return (
    <Dialog label="Unsaved changes" class="small" onCancel={onCancel}>
      <h2>Save your changes?</h2>
      <p>If you discard them, they are lost.</p>
      <p class="buttons">
        <button type="button" class="danger" onClick={onDiscard}>Discard</button>
        <button type="button" onClick={onSave}>Save…</button>
        <button type="button" class="primary" onClick={onCancel} data-first>Keep editing</button>
      </p>
    </Dialog>
  );
}
