// The dialogs for saving, for conflicts, and for leaving with unsaved changes.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { type Current, readUsage } from "../api";
import { Dialog } from "../dialog";
import { DifferenceView } from "../difference-view";
import { plural } from "../words";
import { browserStorage } from "../storage";

const AUTHOR_KEY = "foreword.author";

export function Signature({ author, note, onAuthor, onNote }: { author: string; note: string; onAuthor(text: string): void; onNote(text: string): void }) {
  return (
    <div class="signature">
      <label>
        Author
        <input value={author} maxLength={200} autocomplete="name" onInput={(event) => onAuthor(event.currentTarget.value)} />
      </label>
      <label>
        Note
        <input value={note} maxLength={2000} data-first onInput={(event) => onNote(event.currentTarget.value)} placeholder="Why you made this change" />
      </label>
    </div>
  );
}

/** The author, remembered in this browser, and the note. */
export function useSignature() {
  const [author, setAuthor] = useState(browserStorage.read(AUTHOR_KEY) ?? "");
  const [note, setNote] = useState("");
  const remember = () => browserStorage.write(AUTHOR_KEY, author);
  return { author, note, remember, fields: { author, note, onAuthor: setAuthor, onNote: setNote } };
}

/** Shows how many conversations keep using an older version. */
export function Usage() {
  const [count, setCount] = useState<number | null>(null);
  useEffect(() => {
    readUsage().then((usage) => setCount([...usage.values()].reduce((sum, conversations) => sum + conversations, 0)), () => setCount(-1));
  }, []);
  if (count === null) return <p class="quiet">Checking which conversations use the template…</p>;
  if (count < 0) return <p class="quiet">Could not check which conversations use the template.</p>;
  if (!count) return <p>No conversations use the template yet. New ones start with this text.</p>;
  return (
    <p>
      <b>{count.toLocaleString("en")} {plural("conversation", count)}</b> {count === 1 ? "keeps its" : "keep their"} prompt until {count === 1 ? "it is" : "they are"} compacted.
      New ones start with this text.
    </p>
  );
}

interface SaveProps {
  before: string;
  after: string;
  isBusy: boolean;
  problem: string;
  /** Why the text cannot be rendered; empty if it can be. */
  tryRender(): Promise<string>;
  onSave(author: string, note: string): void;
  onCancel(): void;
}

export function SaveDialog({ before, after, isBusy, problem, tryRender, onSave, onCancel }: SaveProps) {
  const { author, note, remember, fields } = useSignature();
  const [renderError, setRenderError] = useState<string | null>(null);
  const [isRequested, setRequested] = useState(false);
  useEffect(() => void tryRender().then(setRenderError), [after]);
  // Saving waits until the text has been checked. If it cannot be rendered, the user must confirm.
  useLayoutEffect(() => {
    if (!isRequested || renderError === null) return;
    setRequested(false);
    if (!renderError) save();
  }, [isRequested, renderError]);
  function save(): void {
    remember();
    onSave(author, note);
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
        <Usage />
        <Signature {...fields} />
        {renderError && (
          <p class="note wrong" role="alert">
            <b>This template cannot be rendered:</b> {renderError}
            <br />
            Conversations that use it will fail until it is fixed.
          </p>
        )}
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        <p class="buttons">
          <span class="quiet" role="status">{isRequested && "Checking the template before saving it…"}</span>
          <button type="button" class={renderError ? "primary" : ""} onClick={onCancel}>Keep editing</button>
          <button type="submit" class={renderError ? "danger" : "primary"} disabled={isBusy}>{renderError ? "Save anyway" : "Save"}</button>
        </p>
      </form>
    </Dialog>
  );
}

interface ConflictProps {
  theirs: Current;
  mine: string;
  problem: string;
  onSaveMine(): void;
  onTakeTheirs(): void;
  onCancel(): void;
}

export function ConflictDialog({ theirs, mine, problem, onSaveMine, onTakeTheirs, onCancel }: ConflictProps) {
  return (
    <Dialog label="Someone else saved" onCancel={onCancel}>
      <h2>Someone else saved a new version</h2>
      <p>Version {theirs.version} is newer than the one you started from. Your text is not lost. This is how it differs from theirs:</p>
      <DifferenceView before={theirs.template} after={mine} label="Changes from their text to yours" />
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      <p class="buttons">
        <button type="button" onClick={onTakeTheirs}>Use theirs</button>
        <button type="button" onClick={onSaveMine}>Save mine anyway</button>
        <button type="button" class="primary" onClick={onCancel} data-first>Keep editing</button>
      </p>
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
