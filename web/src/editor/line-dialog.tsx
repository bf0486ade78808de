// Asks for a line to go to.
import { useState } from "preact/hooks";
import { Dialog } from "../dialog";
import { parsePlace } from "../search";
import { count } from "../words";

interface Props {
  line: number;
  lines: number;
  onGo(line: number, column: number): void;
  onCancel(): void;
}

export function LineDialog({ line, lines, onGo, onCancel }: Props) {
  const [text, setText] = useState(String(line));
  const place = parsePlace(text);
  const isValid = place !== null && place.line >= 1 && place.line <= lines;
  function submit(event: Event): void {
    event.preventDefault();
    if (isValid) onGo(place.line, place.column);
  }
  return (
    <Dialog label="Go to line" class="small" onCancel={onCancel}>
      <form onSubmit={submit}>
        <h2>Go to line</h2>
        <label>
          Line, from 1 to {count(lines)}
          <input value={text} inputMode="numeric" autocomplete="off" data-first aria-invalid={!isValid} aria-describedby="line-hint"
            onFocus={(event) => event.currentTarget.select()} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <p class="quiet" id="line-hint" role="status">{isValid ? "Add a column after a colon, as in 12:5." : `Enter a number from 1 to ${count(lines)}.`}</p>
        <p class="buttons">
          <button type="button" onClick={onCancel}>Cancel</button>
          <button type="submit" class="primary" disabled={!isValid}>Go</button>
        </p>
      </form>
    </Dialog>
  );
}
