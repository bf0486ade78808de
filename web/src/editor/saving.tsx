// The dialogs around keeping a text: before it is saved, when another was faster, and when it would be left behind.
import { useEffect, useState } from "preact/hooks";
import { type Current, readUsage } from "../api";
import { Dialog } from "../dialog";
import { DifferenceView, plural } from "../difference-view";
import { ofBrowser } from "../shelf";

const AUTHOR = "foreword.author";

export function Signature({ author, note, onAuthor, onNote }: { author: string; note: string; onAuthor(text: string): void; onNote(text: string): void }) {
  return (
    <div class="signature">
      <label>
        Who
        <input value={author} maxLength={200} autocomplete="name" onInput={(event) => onAuthor(event.currentTarget.value)} />
      </label>
      <label>
        Why
        <input value={note} maxLength={2000} data-first onInput={(event) => onNote(event.currentTarget.value)} placeholder="what this change is for" />
      </label>
    </div>
  );
}

/** Who saves, as remembered in this browser, and why. */
export function useSignature() {
  const [author, setAuthor] = useState(ofBrowser.read(AUTHOR) ?? "");
  const [note, setNote] = useState("");
  const remember = () => ofBrowser.keep(AUTHOR, author);
  return { author, note, remember, fields: { author, note, onAuthor: setAuthor, onNote: setNote } };
}

/** How many conversations go on with an older text, in words. */
export function Followers() {
  const [many, setMany] = useState<number | null>(null);
  useEffect(() => {
    readUsage().then((usage) => setMany([...usage.values()].reduce((sum, each) => sum + each, 0)), () => setMany(-1));
  }, []);
  if (many === null) return <p class="quiet">Looking who uses the template…</p>;
  if (many < 0) return <p class="quiet">Who uses the template cannot be told at the moment.</p>;
  if (!many) return <p>No conversation uses the template yet. New ones start with this text.</p>;
  return (
    <p>
      <b>{many.toLocaleString("en")} {plural("conversation", many)}</b> {many === 1 ? "keeps its" : "keep their"} prompt until {many === 1 ? "its" : "their"} compaction.
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
  trial(): Promise<string>;
  onSave(author: string, note: string): void;
  onCancel(): void;
}

export function SaveDialog({ before, after, isBusy, problem, trial, onSave, onCancel }: SaveProps) {
  const { author, note, remember, fields } = useSignature();
  const [mistake, setMistake] = useState<string | null>(null);
  useEffect(() => void trial().then(setMistake), [after]);
  function submit(event: Event): void {
    event.preventDefault();
    remember();
    onSave(author, note);
  }
  return (
    <Dialog label="Save the template" onCancel={onCancel}>
      <form onSubmit={submit}>
        <h2>Save the template</h2>
        <DifferenceView before={before} after={after} label="What changes" />
        <Followers />
        <Signature {...fields} />
        {mistake && (
          <p class="note wrong" role="alert">
            <b>This template cannot be rendered:</b> {mistake}
            <br />
            Conversations that need it will fail until it is mended.
          </p>
        )}
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        <p class="buttons">
          <button type="button" class={mistake ? "primary" : ""} onClick={onCancel}>Go on editing</button>
          <button type="submit" class={mistake ? "danger" : "primary"} disabled={isBusy || mistake === null}>{mistake ? "Save anyway" : "Save"}</button>
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
    <Dialog label="Somebody else has saved" onCancel={onCancel}>
      <h2>Somebody else has saved meanwhile</h2>
      <p>Version {theirs.version} is newer than the one you began with. Nothing of yours is lost: this is how your text differs from it.</p>
      <DifferenceView before={theirs.template} after={mine} label="From their text to yours" />
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      <p class="buttons">
        <button type="button" onClick={onTakeTheirs}>Put theirs into the editor</button>
        <button type="button" onClick={onSaveMine}>Save mine on top</button>
        <button type="button" class="primary" onClick={onCancel} data-first>Go on editing mine</button>
      </p>
    </Dialog>
  );
}

export function LeaveDialog({ onSave, onDiscard, onCancel }: { onSave(): void; onDiscard(): void; onCancel(): void }) {
  return (
    <Dialog label="Unsaved text" class="small" onCancel={onCancel}>
      <h2>Your text is not saved</h2>
      <p>If you discard it, it is gone.</p>
      <p class="buttons">
        <button type="button" class="danger" onClick={onDiscard}>Discard it</button>
        <button type="button" onClick={onSave}>Save…</button>
        <button type="button" class="primary" onClick={onCancel} data-first>Go on editing</button>
      </p>
    </Dialog>
  );
}
