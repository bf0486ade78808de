// Asks for the name of a new template. The template exists once its first version is saved.
import { useState } from "preact/hooks";
import { Dialog } from "../dialog";
import { parseSource, whyNotName } from "../template-name";

interface Props {
  names: string[];
  /** The name to suggest for a copy, and what it is a copy of. Without it, the user chooses what to begin with. */
  copied?: { name: string; from: string };
  /** `from` is the template to begin with, or "". */
  onCreate(name: string, from: string): void;
  onCancel(): void;
}

export function NewTemplateDialog({ names, copied, onCreate, onCancel }: Props) {
  const [name, setName] = useState(copied?.name ?? "");
  const [from, setFrom] = useState(copied?.from ?? "");
  const [isTried, setTried] = useState(false);
  const problem = whyNotName(name, names);
  function submit(event: Event): void {
    event.preventDefault();
    setTried(true);
    if (!problem) onCreate(name, from);
  }
  const source = copied && parseSource(copied.from);
  const title = source ? `Duplicate ${source.name}` : "New template";
  return (
    <Dialog label={title} class="small" onCancel={onCancel}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {source && <p>The new template begins with the text of {source.number ? `version ${source.number}` : "the live version"}.</p>}
        <label>
          Name
          <input value={name} maxLength={200} autocomplete="off" spellcheck={false} data-first aria-invalid={isTried && problem !== ""}
            onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        {!copied && names.length > 0 && (
          <label>
            Begin with
            <select value={from} onInput={(event) => setFrom(event.currentTarget.value)}>
              <option value="">an empty text</option>
              {names.map((each) => <option key={each} value={each}>the live text of {each}</option>)}
            </select>
          </label>
        )}
        {isTried && problem && <p class="note wrong" role="alert">{problem}</p>}
        <p class="quiet">Agents choose it with <code>"template_name": "{name || "…"}"</code>. Nothing is stored until you save its text.</p>
        <p class="buttons">
          <button type="button" onClick={onCancel}>Cancel</button>
          <button type="submit" class="primary">{source ? "Edit the copy" : "Write it"}</button>
        </p>
      </form>
    </Dialog>
  );
}
