// Find and replace, above the text. Enter goes to the next match, Shift Enter to the previous one, and Escape closes the panel.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Query } from "../search";
import { announce, useObservable } from "../state";
import { count, counted } from "../words";
import type { CodeEditor } from "./code";

interface Props {
  code: CodeEditor;
  /** The query of the last search, which is changed here. */
  last: { current: Query };
  /** Changes whenever the user asks for the panel, even if it is already open. */
  request: number;
  onLine(): void;
  onClose(): void;
}

export function SearchPanel({ code, last, request, onLine, onClose }: Props) {
  const [query, setQuery] = useState(last.current);
  const [replacement, setReplacement] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const { current, total } = useObservable(code.found);

  useLayoutEffect(() => {
    const selected = code.selectedText();
    if (selected && !selected.includes("\n")) setQuery((before) => ({ ...before, text: selected }));
    field.current!.focus();
    field.current!.select();
  }, [request]);
  useEffect(() => {
    last.current = query;
    code.search(query);
  }, [query]);
  useEffect(() => () => code.search(null), []);

  function key(event: KeyboardEvent): void {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement) || event.target.type === "checkbox") return;
    event.preventDefault();
    if (event.target === field.current) code.nextMatch(event.shiftKey ? -1 : 1);
    else code.replaceMatch(replacement);
  }

  function replaceAll(): void {
    const replaced = code.replaceMatches(replacement);
    announce(replaced ? `Replaced ${counted(replaced, "match")}.` : "No matches.");
  }

  const check = (name: "matchCase" | "wholeWords", text: string) => (
    <label class="check">
      <input type="checkbox" checked={query[name]} onInput={(event) => setQuery({ ...query, [name]: event.currentTarget.checked })} /> {text}
    </label>
  );
  return (
    <div class="search-panel" role="search" aria-label="Find and replace" onKeyDown={key}>
      <div class="line">
        <input ref={field} aria-label="Find" placeholder="Find" value={query.text} spellcheck={false} autocomplete="off" aria-invalid={!total && query.text !== ""}
          onInput={(event) => setQuery({ ...query, text: event.currentTarget.value })} />
        <span class="quiet" role="status">{query.text && (total ? `${current ? count(current) : "–"} of ${count(total)}` : "No matches")}</span>
        <span class="buttons">
          <button type="button" aria-label="Previous match" title="Previous match (Shift Enter)" onClick={() => code.nextMatch(-1)}>↑</button>
          <button type="button" aria-label="Next match" title="Next match (Enter)" onClick={() => code.nextMatch(1)}>↓</button>
          <button type="button" aria-label="Close find and replace" title="Close (Escape)" onClick={onClose}>✕</button>
        </span>
      </div>
      <div class="line">
        <input aria-label="Replace with" placeholder="Replace with" value={replacement} spellcheck={false} autocomplete="off" onInput={(event) => setReplacement(event.currentTarget.value)} />
        <span class="buttons">
          <button type="button" onClick={() => code.replaceMatch(replacement)}>Replace</button>
          <button type="button" onClick={replaceAll}>Replace all</button>
        </span>
      </div>
      <div class="line options">{check("matchCase", "Match case")}{check("wholeWords", "Whole words")}
        <button type="button" class="plain" onClick={onLine} aria-keyshortcuts="Control+G">Go to line… <kbd>Ctrl G</kbd></button>
      </div>
    </div>
  );
}
