// Who changes a template and why, and which conversations that affects.
import { useEffect, useState } from "preact/hooks";
import { browserStorage } from "../storage";
import { countConversations } from "../stored-templates";
import { plural } from "../words";

const AUTHOR_KEY = "foreword.author";

interface Fields {
  author: string;
  note: string;
  /** Whether the service records the name of the token as the author, whatever the page sends. */
  isAuthorFixed: boolean;
  onAuthor(text: string): void;
  onNote(text: string): void;
}

export function Signature({ author, note, isAuthorFixed, onAuthor, onNote }: Fields) {
  return (
    <div class="signature">
      <label>
        Author
        <input value={author} maxLength={200} autocomplete="name" readOnly={isAuthorFixed} title={isAuthorFixed ? "The name of your token" : ""} onInput={(event) => onAuthor(event.currentTarget.value)} />
      </label>
      <label>
        Note
        <input value={note} maxLength={2000} data-first onInput={(event) => onNote(event.currentTarget.value)} placeholder="Why you made this change" />
      </label>
    </div>
  );
}

/** The author, remembered in this browser, and the note. */
export function useSignature(tokenName: string) {
  const [author, setAuthor] = useState(tokenName || (browserStorage.read(AUTHOR_KEY) ?? ""));
  const [note, setNote] = useState("");
  const remember = () => {
    if (!tokenName) browserStorage.write(AUTHOR_KEY, author);
  };
  return { author, note, remember, fields: { author, note, isAuthorFixed: tokenName !== "", onAuthor: setAuthor, onNote: setNote } };
}

/** Shows how many conversations keep using an older version of a template. */
export function Usage({ name }: { name: string }) {
  const [count, setCount] = useState<number | null>(null);
  useEffect(() => {
    countConversations(name).then(setCount, () => setCount(-1));
  }, [name]);
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
